#include "jwt.h"

#include "base64.h"
#include "buf.h"
#include "digest.h"
#include "json.h"
#include "jws.h"

static int malformed(struct err *err)
{
        return err_set(err, ERR_INVALID, "the token is no JSON Web Token");
}

static int decode_part(struct arena *a, struct str text, struct str *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(JWT_BYTES);
        int r = base64_decode(&b, text, BASE64_RAW_URL, NULL);

        if (r == 0)
                *ret = buf_to_arena(&b, a);
        return r;
}

static int parse_part(struct arena *a, struct str text, const struct value **ret)
{
        static const struct json_read_options options = { .duplicates = JSON_DUPLICATES_REFUSE,
                                                          .max_depth = JWT_DEPTH,
                                                          .max_bytes = JWT_BYTES };
        struct str json;
        int r = decode_part(a, text, &json);

        if (r == 0)
                r = json_parse(a, json, &options, ret, NULL);
        return r == 0 && !value_is_object(*ret) ? ERR_INVALID : r;
}

int jwt_parse(struct arena *a, struct str token, struct jwt *ret, struct err *err)
{
        struct str rest = token, header_text, claims_text, signature_text;
        const struct value *header;

        if (token.n > JWT_BYTES)
                return malformed(err);
        if (!str_split(&rest, '.', &header_text) || !str_split(&rest, '.', &claims_text))
                return malformed(err);
        signature_text = rest;
        if (str_find_char(signature_text, '.') >= 0)
                return malformed(err);
        *ret = (struct jwt) { .signed_text = str_first(token, header_text.n + 1 + claims_text.n) };
        if (parse_part(a, header_text, &header) < 0 || parse_part(a, claims_text, &ret->claims) < 0 ||
            decode_part(a, signature_text, &ret->signature) < 0)
                return malformed(err);
        if (value_get(header, STR("crit"))) /* extensions that a reader has to know; this one knows none */
                return malformed(err);
        ret->algorithm = value_str(value_get(header, STR("alg")));
        ret->key_id = value_str(value_get(header, STR("kid")));
        return 0;
}

bool jwt_is_signed(const struct jwt *t, const struct private_key *key, struct str key_id)
{
        if (!str_equal(t->algorithm, jws_algorithm(key)))
                return false;
        if (t->key_id.n && !str_equal(t->key_id, key_id))
                return false;
        return jws_is_signed(key, t->signed_text, t->signature);
}

static int append_part(struct buf *b, struct arena *a, const struct value *v, struct err *err)
{
        struct str json;
        int r = json_to_str(a, v, JSON_GO, &json, err);

        if (r == 0)
                base64_encode(b, json, BASE64_RAW_URL);
        return r;
}

int jwt_make(struct arena *a, const struct value *claims, const struct private_key *key, struct str key_id,
             struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(JWT_BYTES), signature = BUF_INIT(0);
        struct object_builder header;
        struct value v;
        int r;

        object_builder_init(&header, a, 2);
        object_builder_add(&header, STR("alg"), value_of_str(jws_algorithm(key)));
        object_builder_add(&header, STR("kid"), value_of_str(key_id));
        v = object_builder_finish(&header);
        r = append_part(&b, a, &v, err);
        if (r == 0) {
                buf_append_char(&b, '.');
                r = append_part(&b, a, claims, err);
        }
        if (r == 0)
                r = jws_sign(key, buf_str(&b), &signature, err);
        if (r < 0)
                return r;
        buf_append_char(&b, '.');
        base64_encode(&b, buf_str(&signature), BASE64_RAW_URL);
        r = buf_check(&b, "a token", err);
        if (r == 0)
                *ret = buf_to_arena(&b, a);
        return r;
}

struct str jwt_key_id(struct arena *a, const struct private_key *key)
{
        _cleanup_buf_ struct buf der = BUF_INIT(0), text = BUF_INIT(0);
        uint8_t digest[SHA256_BYTES];

        private_key_append_public(&der, key);
        sha256(buf_str(&der), digest);
        base64_encode(&text, str_make((const char *)digest, sizeof(digest)), BASE64_RAW_URL);
        return buf_to_arena(&text, a);
}
