/* The content of a cosign signature: simple signing payloads, and DSSE envelopes around in-toto statements. Texts come from
 * registries. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;

/* 0 if the simple signing payload is about the manifest with this digest. */
int signature_payload_check(struct arena *a, struct str payload, struct str digest, struct err *err);

/* A DSSE envelope, or a sigstore bundle that has one. Texts are in the arena. */
struct signature_envelope {
        struct str payload;           /* decoded */
        struct str signed_text;       /* what was signed: the pre-authentication encoding */
        const struct str *signatures; /* decoded */
        size_t n_signatures;
};
int signature_envelope_parse(struct arena *a, struct str json, struct signature_envelope *ret, struct err *err);

/* 0 if the in-toto statement is about the manifest and has the predicate type. */
int signature_statement_check(struct arena *a, struct str statement, struct str digest, struct str predicate_type,
                              struct err *err);

/* The address of a predicate type, from cosign's short names: `slsaprovenance`, `spdx`, ... Others stay. */
struct str signature_predicate_type(struct str name);
