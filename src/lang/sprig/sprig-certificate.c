/* Keys and certificates. In templates a certificate is a struct of two texts, Cert and Key, both PEM. */
#include "sprig.h"

#include "base64.h"
#include "certificate.h"
#include "clock.h"
#include "random.h"

#include <arpa/inet.h>

/* Steps that generating a key costs, in proportion to its time. */
#define STEPS_KEY      (1u << 19)
#define STEPS_SLOW_KEY (1u << 21)

struct certificate {
        struct gt_object object;
        struct str cert, key;
};

/* --- The type --- */

static bool certificate_field(struct gt_context *c, const struct gt_object *o, struct str name, struct gt_value *ret)
{
        const struct certificate *certificate = (const struct certificate *)o;

        if (str_equal(name, STR("Cert")))
                *ret = gt_string(certificate->cert);
        else if (str_equal(name, STR("Key")))
                *ret = gt_string(certificate->key);
        else
                return false;
        return true;
}

static void print_certificate(struct gt_context *c, const struct gt_object *o, struct buf *b)
{
        const struct certificate *certificate = (const struct certificate *)o;

        buf_append_char(b, '{');
        buf_append_str(b, certificate->cert);
        buf_append_char(b, ' ');
        buf_append_str(b, certificate->key);
        buf_append_char(b, '}');
}

static bool certificates_are_equal(const struct gt_object *a, const struct gt_object *b)
{
        const struct certificate *x = (const struct certificate *)a, *y = (const struct certificate *)b;

        return str_equal(x->cert, y->cert) && str_equal(x->key, y->key);
}

static struct gt_value as_map(struct gt_context *c, const struct gt_object *o, struct str cert_key, struct str key_key)
{
        const struct certificate *certificate = (const struct certificate *)o;
        struct gt_value map = gt_map_new(c, GT_MAP);

        gt_map_set(c, map, cert_key, gt_boxed(gt_string(certificate->cert)));
        gt_map_set(c, map, key_key, gt_boxed(gt_string(certificate->key)));
        return map;
}

static int certificate_to_json(struct gt_context *c, const struct gt_object *o, struct value *ret, struct err *err)
{
        return gt_to_value(c, as_map(c, o, STR("Cert"), STR("Key")), ret, err);
}

static struct gt_value certificate_to_yaml(struct gt_context *c, const struct gt_object *o)
{
        return as_map(c, o, STR("cert"), STR("key"));
}

static const struct gt_class certificate_class = {
        .type_name = STR_INIT("sprig.certificate"),
        .kind = GT_KIND_STRUCT,
        .field = certificate_field,
        .print = print_certificate,
        .equal = certificates_are_equal,
        .to_json = certificate_to_json,
        .to_yaml = certificate_to_yaml,
        .is_comparable = true,
};

static struct gt_value make_certificate(struct gt_context *c, struct str cert, struct str key)
{
        struct certificate *certificate = ARENA_NEW(c->arena, struct certificate);

        certificate->object.class_of = &certificate_class;
        certificate->cert = arena_copy(c->arena, cert);
        certificate->key = arena_copy(c->arena, key);
        return gt_object(&certificate->object);
}

/* --- Keys --- */

/* For an unknown type the result is a text that names the type. */
SPRIG(gen_private_key)
{
        static const struct {
                struct str name;
                enum private_key_type type;
        } types[] = {
                { STR_INIT(""), PRIVATE_KEY_RSA_4096 },       { STR_INIT("rsa"), PRIVATE_KEY_RSA_4096 },
                { STR_INIT("dsa"), PRIVATE_KEY_DSA_2048 },    { STR_INIT("ecdsa"), PRIVATE_KEY_ECDSA_P256 },
                { STR_INIT("ed25519"), PRIVATE_KEY_ED25519 },
        };
        _cleanup_private_key_ struct private_key *key = NULL;
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        _cleanup_err_ struct err err = { 0 };
        struct str name = gt_str(arguments[0]);
        int r = gt_spend(c, STEPS_SLOW_KEY);
        size_t i = 0;

        if (r < 0)
                return r;
        while (i < ARRAY_SIZE(types) && !str_equal(types[i].name, name))
                i++;
        if (i == ARRAY_SIZE(types))
                return sprig_return_text(ARENA_CONCAT(c->arena, STR("Unknown type "), name), ret);
        if (private_key_generate(types[i].type, &key, &err) < 0)
                return gt_fail(c, "failed to generate private key: %s", err_message(&err));
        private_key_append(&b, key);
        return gt_take_text(c, &b, ret);
}

static int new_key(struct gt_context *c, struct private_key **ret)
{
        _cleanup_err_ struct err err = { 0 };
        int r = gt_spend(c, STEPS_KEY);

        if (r < 0)
                return r;
        if (private_key_generate(PRIVATE_KEY_RSA_2048, ret, &err) < 0)
                return gt_fail(c, "error generating rsa key: %s", err_message(&err));
        return 0;
}

/* The key that the template passes, or a new key if it passes none. */
static int key_of(struct gt_context *c, const struct gt_value *pem, struct private_key **ret)
{
        _cleanup_err_ struct err err = { 0 };

        if (!pem)
                return new_key(c, ret);
        if (private_key_parse(gt_str(*pem), ret, &err) < 0)
                return gt_fail(c, "parsing private key: %s", err_message(&err));
        return 0;
}

/* --- Requests --- */

static int fail_no_text(struct gt_context *c, const char *what, struct gt_value v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        gt_append_text(c, &b, v);
        return gt_fail(c, "%s: %.*s is not a string", what, STR_ARG(buf_str(&b)));
}

static bool parse_address(struct str text, struct certificate_address *ret)
{
        char name[INET6_ADDRSTRLEN + 1];

        if (text.n >= sizeof(name) || str_find_char(text, '\0') >= 0)
                return false;
        *ret = (struct certificate_address) { 0 };
        memcpy(name, text.n ? text.p : "", text.n);
        name[text.n] = '\0';
        if (inet_pton(AF_INET, name, ret->bytes) == 1) {
                ret->n = 4;
                return true;
        }
        ret->n = 16;
        return inet_pton(AF_INET6, name, ret->bytes) == 1;
}

/* Go writes IPv4-mapped IPv6 addresses as IPv4. */
static void shorten_address(struct certificate_address *a)
{
        static const uint8_t prefix[12] = { [10] = 0xFF, [11] = 0xFF };

        if (a->n != 16 || memcmp(a->bytes, prefix, sizeof(prefix)) != 0)
                return;
        memmove(a->bytes, a->bytes + sizeof(prefix), 4);
        a->n = 4;
}

static int read_addresses(struct gt_context *c, struct gt_value list, struct certificate_request *ret)
{
        size_t n = gt_list_count(list);
        struct certificate_address *addresses = ARENA_NEW_ARRAY(c->arena, struct certificate_address, n + 1);

        for (size_t i = 0; i < n; i++) {
                struct gt_value v = gt_list_at(c, list, i);

                if (v.type != GT_STRING)
                        return fail_no_text(c, "error parsing ip", v);
                if (!parse_address(gt_str(v), &addresses[i]))
                        return gt_fail(c, "error parsing ip: %.*s", STR_ARG(gt_str(v)));
                shorten_address(&addresses[i]);
        }
        ret->addresses = addresses;
        ret->n_addresses = n;
        return 0;
}

static int read_names(struct gt_context *c, struct gt_value list, struct certificate_request *ret)
{
        size_t n = gt_list_count(list);
        struct str *names = ARENA_NEW_ARRAY(c->arena, struct str, n + 1);

        for (size_t i = 0; i < n; i++) {
                struct gt_value v = gt_list_at(c, list, i);

                if (v.type != GT_STRING)
                        return fail_no_text(c, "error processing alternate dns name", v);
                names[i] = gt_str(v);
        }
        ret->dns_names = names;
        ret->n_dns_names = n;
        return 0;
}

/* Days are converted to nanoseconds with wrap-around, as in Go's durations. */
static void set_validity(struct certificate_request *request, int64_t days)
{
        uint64_t ns_per_day = 86400ull * (uint64_t)NS_PER_SECOND;
        struct instant now = clock_wall();

        request->not_before = now.seconds;
        request->not_after = now.seconds + (int64_t)((uint64_t)days * ns_per_day) / (int64_t)NS_PER_SECOND;
}

static int make_request(struct gt_context *c, struct str common_name, struct gt_value addresses, struct gt_value names,
                        int64_t days, struct certificate_request *ret)
{
        int r;

        *ret = (struct certificate_request) { .common_name = common_name };
        r = gt_spend(c, gt_list_count(addresses) + gt_list_count(names));
        if (r == 0)
                r = read_addresses(c, addresses, ret);
        if (r == 0)
                r = read_names(c, names, ret);
        set_validity(ret, days);
        random_system(ret->serial, sizeof(ret->serial));
        return r;
}

/* --- Certificates --- */

static int finish(struct gt_context *c, const struct certificate_request *request, const struct private_key *key,
                  const struct certificate_signer *signer, struct gt_value *ret)
{
        _cleanup_buf_ struct buf cert = BUF_INIT(gt_max_text(c)), key_text = BUF_INIT(gt_max_text(c));
        _cleanup_err_ struct err err = { 0 };

        if (certificate_append(&cert, request, key, signer, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        private_key_append(&key_text, key);
        *ret = make_certificate(c, buf_str(&cert), buf_str(&key_text));
        return 0;
}

static int gen_ca(struct gt_context *c, const struct gt_value *arguments, const struct gt_value *pem,
                  struct gt_value *ret)
{
        _cleanup_private_key_ struct private_key *key = NULL;
        struct certificate_request request;
        int r = key_of(c, pem, &key);

        if (r == 0)
                r = make_request(c, gt_str(arguments[0]), gt_nil_of(GT_LIST), gt_nil_of(GT_LIST), arguments[1].integer,
                                 &request);
        if (r < 0)
                return r;
        request.is_authority = true;
        return finish(c, &request, key, &(struct certificate_signer) { .key = key }, ret);
}

SPRIG(gen_ca)
{
        return gen_ca(c, arguments, NULL, ret);
}

SPRIG(gen_ca_with_key)
{
        return gen_ca(c, arguments, &arguments[2], ret);
}

static int gen_self_signed(struct gt_context *c, const struct gt_value *arguments, const struct gt_value *pem,
                           struct gt_value *ret)
{
        _cleanup_private_key_ struct private_key *key = NULL;
        struct certificate_request request;
        int r = key_of(c, pem, &key);

        if (r == 0)
                r = make_request(c, gt_str(arguments[0]), arguments[1], arguments[2], arguments[3].integer, &request);
        return r < 0 ? r : finish(c, &request, key, &(struct certificate_signer) { .key = key }, ret);
}

SPRIG(gen_self_signed_cert)
{
        return gen_self_signed(c, arguments, NULL, ret);
}

SPRIG(gen_self_signed_cert_with_key)
{
        return gen_self_signed(c, arguments, &arguments[4], ret);
}

static int read_signer(struct gt_context *c, struct gt_value ca, struct str *ret_certificate, struct private_key **ret)
{
        const struct certificate *certificate = (const struct certificate *)ca.object;
        _cleanup_err_ struct err err = { 0 };

        if (certificate_check(certificate->cert, "decodedSignerCert.Bytes", &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        if (private_key_parse(certificate->key, ret, &err) < 0)
                return gt_fail(c, "error parsing private key: %s", err_message(&err));
        *ret_certificate = certificate->cert;
        return 0;
}

static int gen_signed(struct gt_context *c, const struct gt_value *arguments, const struct gt_value *pem,
                      struct gt_value *ret)
{
        _cleanup_private_key_ struct private_key *key = NULL, *signer_key = NULL;
        struct certificate_signer signer = { 0 };
        struct certificate_request request;
        int r = key_of(c, pem, &key);

        if (r == 0)
                r = read_signer(c, arguments[4], &signer.certificate, &signer_key);
        if (r == 0)
                r = make_request(c, gt_str(arguments[0]), arguments[1], arguments[2], arguments[3].integer, &request);
        if (r < 0)
                return r;
        signer.key = signer_key;
        return finish(c, &request, key, &signer, ret);
}

SPRIG(gen_signed_cert)
{
        return gen_signed(c, arguments, NULL, ret);
}

SPRIG(gen_signed_cert_with_key)
{
        return gen_signed(c, arguments, &arguments[5], ret);
}

/* --- Certificates from outside --- */

static int check_pair(struct gt_context *c, struct str cert, struct str key)
{
        _cleanup_private_key_ struct private_key *parsed = NULL;
        _cleanup_err_ struct err err = { 0 };

        if (certificate_check(cert, "decodedCert.Bytes", &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        if (private_key_parse(key, &parsed, &err) < 0)
                return gt_fail(c, "error parsing private key: %s", err_message(&err));
        return 0;
}

SPRIG(build_custom_cert)
{
        _cleanup_buf_ struct buf cert = BUF_INIT(gt_max_text(c)), key = BUF_INIT(gt_max_text(c));
        int r;

        if (base64_decode(&cert, gt_str(arguments[0]), BASE64_STD, NULL) < 0)
                return gt_fail(c, "unable to decode base64 certificate");
        if (base64_decode(&key, gt_str(arguments[1]), BASE64_STD, NULL) < 0)
                return gt_fail(c, "unable to decode base64 private key");
        r = check_pair(c, buf_str(&cert), buf_str(&key));
        if (r < 0)
                return r;
        *ret = make_certificate(c, buf_str(&cert), buf_str(&key));
        return 0;
}
