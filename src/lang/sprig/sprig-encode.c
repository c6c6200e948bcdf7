/* Encodings and digests. On an error the result of a decoder is the error text. */
#include "sprig.h"

#include "base64.h"
#include "digest.h"
#include "json.h"
#include "sha1.h"

/* --- Base64 and base32 --- */

SPRIG(b64enc)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        base64_encode(&b, gt_str(arguments[0]), BASE64_STD);
        return gt_take_text(c, &b, ret);
}

SPRIG(b64dec)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        _cleanup_err_ struct err err = { 0 };

        if (base64_decode(&b, gt_str(arguments[0]), BASE64_STD, &err) < 0)
                return sprig_return_text(arena_copy(c->arena, str_from(err_message(&err))), ret);
        return gt_take_text(c, &b, ret);
}

static const char base32_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

SPRIG(b32enc)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);

        for (size_t i = 0; i < s.n && !b.has_failed; i += 5) {
                size_t n_bytes = MIN(s.n - i, (size_t)5), n_digits = (n_bytes * 8 + 4) / 5;
                uint64_t group = 0;

                for (size_t j = 0; j < 5; j++)
                        group = group << 8 | (j < n_bytes ? (unsigned char)s.p[i + j] : 0);
                for (size_t j = 0; j < 8; j++)
                        buf_append_char(&b, j < n_digits ? base32_digits[group >> (35 - 5 * j) & 31] : '=');
        }
        return gt_take_text(c, &b, ret);
}

struct base32 {
        struct str text; /* without line breaks */
        size_t at;
        bool is_done; /* padding was read */
};

/* Reads up to eight digits of one group into *ret. Returns their number, or -1 with the offset of the error. */
static int base32_group(struct base32 *d, uint64_t *ret, size_t *ret_error)
{
        static const bool may_end[] = { false, false, true, false, true, true, false, true };
        size_t start = d->at;
        int n = 0;

        *ret = 0;
        *ret_error = start;
        while (n < 8) {
                const char *digit;
                char byte;

                if (d->at == d->text.n) {
                        *ret_error = start;
                        return n == 0 ? 0 : -1;
                }
                byte = d->text.p[d->at++];
                if (byte == '=' && n >= 2 && d->text.n - d->at < 8) {
                        size_t n_missing = (size_t)(7 - n);

                        *ret_error = d->text.n;
                        if (d->text.n - d->at < n_missing)
                                return -1;
                        for (size_t i = 0; i < n_missing; i++)
                                if (d->text.p[d->at + i] != '=') {
                                        *ret_error = d->at + i - 1;
                                        return -1;
                                }
                        *ret_error = d->at - 1;
                        d->is_done = true;
                        return may_end[n] ? n : -1;
                }
                digit = byte ? strchr(base32_digits, byte) : NULL;
                if (!digit) {
                        *ret_error = d->at - 1;
                        return -1;
                }
                *ret |= (uint64_t)(digit - base32_digits) << (35 - 5 * n++);
        }
        return n;
}

/* False with the offset of the error if the text is not base32. */
static bool base32_decode(struct buf *b, struct str text, size_t *ret_error)
{
        struct base32 d = { .text = text };

        while (!d.is_done && d.at < text.n && !b->has_failed) {
                uint64_t group;
                int n = base32_group(&d, &group, ret_error);

                if (n < 0)
                        return false;
                for (int i = 0; i < n * 5 / 8; i++)
                        buf_append_char(b, (char)(group >> (32 - 8 * i)));
        }
        return true;
}

SPRIG(b32dec)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c)), text = BUF_INIT(0);
        struct str s = gt_str(arguments[0]);
        size_t error;

        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] != '\r' && s.p[i] != '\n')
                        buf_append_char(&text, s.p[i]);
        if (!base32_decode(&b, buf_str(&text), &error))
                return sprig_return_text(arena_printf(c->arena, "illegal base32 data at input byte %zu", error), ret);
        return gt_take_text(c, &b, ret);
}

/* --- Digests --- */

SPRIG(sha1sum)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        uint8_t digest[SHA1_BYTES];
        struct sha1 h;

        sha1_init(&h);
        sha1_update(&h, gt_str(arguments[0]));
        sha1_finish(&h, digest);
        for (size_t i = 0; i < sizeof(digest); i++)
                buf_appendf(&b, "%02x", digest[i]);
        return gt_take_text(c, &b, ret);
}

SPRIG(sha256sum)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        sha256_append_hex(&b, gt_str(arguments[0]));
        return gt_take_text(c, &b, ret);
}

SPRIG(sha512sum)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        sha512_append_hex(&b, gt_str(arguments[0]));
        return gt_take_text(c, &b, ret);
}

SPRIG(adler32sum)
{
        struct str s = gt_str(arguments[0]);
        uint32_t a = 1, b = 0;

        for (size_t i = 0; i < s.n; i++) {
                a = (a + (unsigned char)s.p[i]) % 65521;
                b = (b + a) % 65521;
        }
        return sprig_return_text(arena_printf(c->arena, "%u", b << 16 | a), ret);
}

/* --- JSON --- */

static int to_json(struct gt_context *c, struct gt_value v, unsigned flags, struct gt_value *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct value json;
        int r = gt_to_value(c, v, &json, err);

        if (r == 0)
                r = json_write(&b, &json, flags, err); /* maps are sorted already, and structs have their own order */
        if (r < 0)
                return r;
        return gt_take_text(c, &b, ret);
}

/* Returns the empty text if the value cannot be written as JSON. */
static int to_json_or_nothing(struct gt_context *c, struct gt_value v, unsigned flags, struct gt_value *ret)
{
        _cleanup_err_ struct err err = { 0 };

        if (to_json(c, v, flags, ret, &err) < 0)
                return sprig_return_text(STR(""), ret);
        return 0;
}

static int to_json_or_fail(struct gt_context *c, struct gt_value v, unsigned flags, struct gt_value *ret)
{
        _cleanup_err_ struct err err = { 0 };

        if (to_json(c, v, flags, ret, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        return 0;
}

SPRIG(to_json)
{
        return to_json_or_nothing(c, arguments[0], JSON_ESCAPE_HTML, ret);
}

SPRIG(must_to_json)
{
        return to_json_or_fail(c, arguments[0], JSON_ESCAPE_HTML, ret);
}

SPRIG(to_pretty_json)
{
        return to_json_or_nothing(c, arguments[0], JSON_ESCAPE_HTML | JSON_PRETTY, ret);
}

SPRIG(must_to_pretty_json)
{
        return to_json_or_fail(c, arguments[0], JSON_ESCAPE_HTML | JSON_PRETTY, ret);
}

/* Unlike toJson it panics in sprig if the value cannot be written, which fails the template. */
SPRIG(to_raw_json)
{
        return to_json_or_fail(c, arguments[0], 0, ret);
}

SPRIG(must_to_raw_json)
{
        return to_json_or_fail(c, arguments[0], 0, ret);
}

static int from_json(struct gt_context *c, struct str text, struct gt_value *ret, struct err *err)
{
        struct json_read_options options = { .numbers_as_double = true, .is_kubernetes = true };
        const struct value *v;
        int r = json_parse(c->arena, text, &options, &v, err);

        if (r == 0)
                *ret = gt_from_value(c, v);
        return r;
}

SPRIG(from_json)
{
        if (from_json(c, gt_str(arguments[0]), ret, NULL) < 0)
                *ret = gt_nil();
        return 0;
}

SPRIG(must_from_json)
{
        _cleanup_err_ struct err err = { 0 };

        if (from_json(c, gt_str(arguments[0]), ret, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        return 0;
}
