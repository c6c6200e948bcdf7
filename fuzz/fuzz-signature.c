/* A simple signing payload, an envelope or a bundle, a statement, and a public key: what is accepted is what its header promises. */
#include "fuzz.h"

#include "arena.h"
#include "public-key.h"
#include "signature-content.h"

#define DIGEST "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        _cleanup_public_key_ struct public_key *key = NULL;
        _cleanup_err_ struct err err = { 0 };
        struct signature_envelope e;
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "fuzz", 0);
        r = signature_payload_check(&a, text, STR(DIGEST), &err);
        assert(r == err.code);
        if (r == 0)
                assert(str_find(text, STR("e3b0c44298fc1c")) >= 0 || str_find_char(text, '\\') >= 0);
        if (signature_envelope_parse(&a, text, &e, NULL) == 0) {
                assert(str_starts_with(e.signed_text, STR("DSSEv1 28 application/vnd.in-toto+json ")));
                assert(str_ends_with(e.signed_text, e.payload));
                signature_statement_check(&a, e.payload, STR(DIGEST), STR("https://slsa.dev/provenance/v1"), NULL);
        }
        signature_statement_check(&a, text, STR(DIGEST), STR("https://slsa.dev/provenance/v1"), NULL);
        if (public_key_parse(text, &key, NULL) == 0)
                assert(!public_key_verifies(key, SIGNATURE_SHA256, STR("text"), STR("no signature")));
        return 0;
}
