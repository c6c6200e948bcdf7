/* Content negotiation (docs/spec/apiserver 8.1, 8.3): which form of an answer the Accept header asks for. */
#pragma once

#include "err.h"
#include "str.h"

enum answer_form {
        ANSWER_OBJECT,        /* the object or list itself */
        ANSWER_TABLE,         /* a Table */
        ANSWER_METADATA,      /* a PartialObjectMetadata */
        ANSWER_METADATA_LIST, /* a PartialObjectMetadataList */
};

/* Sets of forms. */
#define FORM_SET(form) (1u << (form))
#define FORMS_OF_ONE   (FORM_SET(ANSWER_OBJECT) | FORM_SET(ANSWER_TABLE) | FORM_SET(ANSWER_METADATA))
#define FORMS_OF_LIST  (FORM_SET(ANSWER_OBJECT) | FORM_SET(ANSWER_TABLE) | FORM_SET(ANSWER_METADATA_LIST))

struct accepted {
        enum answer_form form;
        bool is_yaml;
        bool is_pretty;
        struct str meta_version; /* of a Table or metadata: `v1` or `v1beta1`; borrowed from the header or static */
};

/* The forms that a request may have its answer in, and the texts of the refusal when it accepts none of them. */
struct acceptable {
        unsigned forms;
        bool is_watch;  /* no YAML */
        bool is_list;   /* of this path there are watches, too */
        bool is_custom; /* the kind is */
};

/* Takes the first clause, by q and then by order, that asks for JSON (or YAML) in one of the allowed forms. An empty header is any.
 * Otherwise the API's 406. */
int accept_negotiate(struct str accept, const struct acceptable *allowed, struct accepted *ret, struct err *err);

/* True if a comma-separated header (Accept-Encoding) has the token with a q above 0. */
bool accept_has_token(struct str header, struct str token);
