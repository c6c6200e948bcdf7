/* Signatures and attestations that cosign v3.0.6 made (tests/interop/signature/run with RECORD), and the same with changes. */
#include "test.h"

#include "arena.h"
#include "base64.h"
#include "buf.h"
#include "input.h"
#include "json.h"
#include "public-key.h"
#include "signature-content.h"
#include "signature.h"

#include <dirent.h>
#include <unistd.h>

#define DIRECTORY TEST_SOURCE_DIR "/tests/golden/signature"

struct signed_case {
        struct str document, signature, digest, predicate;
        struct public_key *key;
        enum signature_hash hash;
        bool is_envelope;
};

static struct str read_part(struct arena *a, const char *name, const char *part)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str path = arena_printf(a, "%s/%s/%s", DIRECTORY, name, part);

        if (access(path.p, F_OK) == 0)
                ASSERT_INT(input_read(path.p, &b, NULL), 0);
        return buf_to_arena(&b, a);
}

static void read_case(struct arena *a, const char *name, struct signed_case *ret)
{
        _cleanup_buf_ struct buf signature = BUF_INIT(0);
        struct str text = read_part(a, name, "signature");

        *ret = (struct signed_case) { .document = read_part(a, name, "document"),
                                      .digest = read_part(a, name, "digest"),
                                      .predicate = read_part(a, name, "predicate"),
                                      .is_envelope = text.n == 0 };
        ASSERT_INT(base64_decode(&signature, text, BASE64_STD, NULL), 0);
        ret->signature = buf_to_arena(&signature, a);
        ASSERT(signature_hash_from_name(read_part(a, name, "hash"), &ret->hash));
        ASSERT_INT(public_key_parse(read_part(a, name, "key.pub"), &ret->key, NULL), 0);
}

static bool is_good(struct arena *a, const struct signed_case *c)
{
        struct signature_envelope e;

        if (!c->is_envelope)
                return public_key_verifies(c->key, c->hash, c->document, c->signature) &&
                       signature_payload_check(a, c->document, c->digest, NULL) == 0;
        return signature_envelope_parse(a, c->document, &e, NULL) == 0 && e.n_signatures == 1 &&
               public_key_verifies(c->key, c->hash, e.signed_text, e.signatures[0]) &&
               signature_statement_check(a, e.payload, c->digest, c->predicate, NULL) == 0;
}

/* The text with one bit of byte i changed. */
static struct str spoilt(struct arena *a, struct str s, size_t i)
{
        char *p = arena_cstring(a, s);

        p[i] ^= 1;
        return str_make(p, s.n);
}

static void check_case(const char *name)
{
        _cleanup_arena_ struct arena a;
        struct signed_case c, bad;

        arena_init(&a, "signature", 0);
        read_case(&a, name, &c);
        ASSERT_CASE(name, is_good(&a, &c));
        bad = c;
        bad.digest = spoilt(&a, c.digest, c.digest.n - 1);
        ASSERT_CASE(name, !is_good(&a, &bad));
        for (size_t i = 0; i < c.signature.n; i += 7) {
                bad = c;
                bad.signature = spoilt(&a, c.signature, i);
                ASSERT_CASE(name, !is_good(&a, &bad));
        }
        for (size_t i = 0; !c.is_envelope && i < c.document.n; i += 7) {
                bad = c;
                bad.document = spoilt(&a, c.document, i);
                ASSERT_CASE(name, !is_good(&a, &bad));
        }
        bad = c;
        bad.predicate = STR("https://example.org/other");
        ASSERT_CASE(name, !c.is_envelope || !is_good(&a, &bad));
        public_key_free(c.key);
}

TEST(what_cosign_signed)
{
        DIR *d = opendir(DIRECTORY);
        size_t n = 0;

        ASSERT(d);
        for (struct dirent *e; (e = readdir(d));)
                if (e->d_name[0] != '.') {
                        check_case(e->d_name);
                        n++;
                }
        closedir(d);
        ASSERT(n >= 12);
}

TEST(payloads_that_are_refused)
{
#define HEX "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        static const struct {
                const char *payload, *error;
        } cases[] = {
                { "", "cannot read the payload of the signature: unexpected end of JSON input" },
                { "[]", "cannot read the payload of the signature: it is no JSON object" },
                { "{\"critical\":{\"type\":\"x\",\"image\":{\"docker-manifest-digest\":\"" HEX "\"}}}",
                  "the payload of the signature is of type \"x\", not an image's" },
                { "{\"critical\":{\"type\":\"cosign container image signature\"}}",
                  "the signature is of , not of " HEX },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;

                arena_init(&a, "signature", 0);
                ASSERT(signature_payload_check(&a, str_from(cases[i].payload), STR(HEX), &err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].error);
        }
}

TEST(envelopes_that_are_refused)
{
        static const struct {
                const char *envelope, *error;
        } cases[] = {
                { "{}", "the envelope holds \"\", not an in-toto statement" },
                { "{\"payloadType\":\"text/plain\"}", "the envelope holds \"text/plain\", not an in-toto statement" },
                { "{\"payloadType\":\"application/vnd.in-toto+json\"}", "the envelope has no payload" },
                { "{\"payloadType\":\"application/vnd.in-toto+json\",\"payload\":\"e30=\",\"signatures\":[{}]}",
                  "the envelope has no signature" },
                { "{\"payload\":\"a\",\"payload\":\"b\"}", "cannot read the envelope: " },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct signature_envelope e;
                _cleanup_arena_ struct arena a;

                arena_init(&a, "signature", 0);
                ASSERT(signature_envelope_parse(&a, str_from(cases[i].envelope), &e, &err) < 0);
                ASSERT(str_starts_with(str_from(err_message(&err)), str_from(cases[i].error)));
        }
}

TEST(keys_that_are_refused)
{
        static const struct {
                const char *pem, *error;
        } cases[] = {
                { "", "PEM decoding failed" },
                { "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                  "unknown Public key PEM file type: CERTIFICATE. Are you passing the correct public key?" },
                { "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "the public key cannot be read" },
                { "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAiuBG4DbhQcp2ntiE0QBdhRTzWR+t+DPSVIu9nt8gzWY=\n-----END "
                  "PUBLIC KEY-----\n",
                  "the public key is neither RSA of at least 1024 bits, nor ECDSA on P-256, P-384 or P-521, nor "
                  "Ed25519" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct public_key *key = NULL;

                ASSERT(public_key_parse(str_from(cases[i].pem), &key, &err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].error);
        }
}

static int no_secret(void *context, struct str secret, struct str key, struct str *ret, struct err *err)
{
        return err_set(err, ERR_NOT_FOUND, "no secret %.*s", STR_ARG(secret));
}

/* These need no registry. */
TEST(authorities_that_cannot_be_used)
{
        static const struct {
                const char *verification, *error;
        } cases[] = {
                { "{\"cosign\":{\"authorities\":[]}}", "no authorities are given: nobody could have signed the image" },
                { "{\"cosign\":{\"authorities\":[{\"name\":\"a\",\"keyless\":{\"identities\":[]}}]}}",
                  "no authority accepts " HEX ": authority \"a\": keyless signatures are not supported: give the "
                  "authority a key (key.secretRef), signatures are checked with keys only" },
                { "{\"cosign\":{\"authorities\":[{\"name\":\"a\",\"key\":{\"secretRef\":{\"name\":\"s\",\"key\":\"k\"}}"
                  "}"
                  ",{\"name\":\"b\",\"key\":{\"hashAlgorithm\":\"md5\"}}]}}",
                  "no authority accepts " HEX
                  ": authority \"a\": no secret s; authority \"b\": hash algorithm \"md5\" is "
                  "not known: give sha224, sha256, sha384 or sha512" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct oci_reference ref = { .registry = STR("reg.io"), .repository = STR("acme/a") };
                _cleanup_err_ struct err err = { 0 };
                const struct value *v;
                _cleanup_arena_ struct arena a;

                arena_init(&a, "signature", 0);
                ASSERT_INT(json_parse(&a, str_from(cases[i].verification), NULL, &v, NULL), 0);
                ASSERT(signature_verify(NULL, &a, &ref, STR(HEX), v, no_secret, NULL, OCI_WAIT_NONE, &err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].error);
        }
}
