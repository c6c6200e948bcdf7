/* Our check of signatures as a program, for tests/interop/signature.
 *
 *   signature-check REF KEY.pem HASH [PREDICATE-TYPE]    prints `ok`, or why nobody accepts the image */
#include "buf.h"
#include "input.h"
#include "signature.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>

static int read_secret(void *context, struct str secret, struct str key, struct str *ret, struct err *err)
{
        struct arena *a = context;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = input_read(arena_cstring(a, secret), &b, err);

        *ret = buf_to_arena(&b, a);
        return r;
}

static const struct value *text_member(struct arena *a, const struct value *object, const char *key, const char *text)
{
        struct value v = value_of_str(str_from(text));

        return value_with(a, object, str_from(key), &v);
}

static const struct value *verification_of(struct arena *a, char **argv, int argc)
{
        const struct value *ref = text_member(a, text_member(a, &value_empty_object, "key", "pem"), "name", argv[2]);
        const struct value *key =
                value_with(a, text_member(a, &value_empty_object, "hashAlgorithm", argv[3]), STR("secretRef"), ref);
        const struct value *authority =
                value_with(a, text_member(a, &value_empty_object, "name", "test"), STR("key"), key);
        const struct value *list;

        if (argc > 4) {
                list = value_with_appended(a, &value_empty_array,
                                           text_member(a, text_member(a, &value_empty_object, "name", "att"),
                                                       "predicateType", argv[4]));
                authority = value_with(a, authority, STR("attestations"), list);
        }
        list = value_with_appended(a, &value_empty_array, authority);
        return value_with(a, &value_empty_object, STR("cosign"),
                          value_with(a, &value_empty_object, STR("authorities"), list));
}

int main(int argc, char **argv)
{
        _cleanup_(oci_client_unrefp)
        struct oci_client *client = NULL;
        struct oci_client_options options = { .ignores_environment = true };
        struct oci_descriptor found;
        struct oci_reference ref;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "signature", 0);
        if (argc < 4)
                return 2;
        r = oci_client_new(&options, &client, &err);
        if (r >= 0)
                r = oci_reference_parse(&a, str_from(argv[1]), OCI_NEEDS_REGISTRY, &ref, &err);
        if (r >= 0)
                r = oci_resolve(client, &a, &ref, OCI_WAIT_NONE, &found, &err);
        if (r >= 0)
                r = signature_verify(client, &a, &ref, found.digest, verification_of(&a, argv, argc), read_secret, &a,
                                     OCI_WAIT_NONE, &err);
        printf("%s\n", r < 0 ? err_message(&err) : "ok");
        return r < 0;
}
