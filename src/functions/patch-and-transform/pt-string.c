/* The string transform. Values that are not strings are formatted like Go's %v. */
#include "pt-transform.h"

#include "base64.h"
#include "buf.h"
#include "digest.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"
#include "regex.h"
#include "sha1.h"
#include "utf8.h"

/* --- Convert --- */

static struct str text_of(struct arena *a, const struct value *in)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (value_is_string(in))
                return value_str(in);
        go_append_value(&b, in);
        return buf_to_arena(&b, a);
}

static int append_json(struct buf *b, const struct value *in, struct err *err)
{
        int r;

        if (in == &pt_nil_object || in == &pt_nil_array)
                in = &value_null;
        r = json_write(b, in, JSON_GO, err);
        return r < 0 ? err_wrap(err, "cannot marshal to JSON") : 0;
}

/* Appends the bytes to hash: those of a string, or the JSON of any other value. */
static int append_hashed(struct buf *b, const struct value *in, struct err *err)
{
        if (!value_is_string(in))
                return append_json(b, in, err);
        buf_append_str(b, value_str(in));
        return 0;
}

static int to_upper(struct transform *t, const struct value *in, struct buf *b)
{
        go_append_mapped(b, text_of(t->arena, in), go_to_upper);
        return 0;
}

static int to_lower(struct transform *t, const struct value *in, struct buf *b)
{
        go_append_mapped(b, text_of(t->arena, in), go_to_lower);
        return 0;
}

static int to_base64(struct transform *t, const struct value *in, struct buf *b)
{
        base64_encode(b, text_of(t->arena, in), BASE64_STD);
        return 0;
}

static int from_base64(struct transform *t, const struct value *in, struct buf *b)
{
        int r = base64_decode(b, text_of(t->arena, in), BASE64_STD, t->err);

        return r < 0 ? err_wrap(t->err, "string is not valid base64") : 0;
}

static int to_json(struct transform *t, const struct value *in, struct buf *b)
{
        return append_json(b, in, t->err);
}

static void append_sha1(struct buf *b, struct str s)
{
        uint8_t digest[SHA1_BYTES];
        struct sha1 h;

        sha1_init(&h);
        sha1_update(&h, s);
        sha1_finish(&h, digest);
        for (size_t i = 0; i < sizeof(digest); i++)
                buf_appendf(b, "%02x", digest[i]);
}

static void append_adler32(struct buf *b, struct str s)
{
        uint32_t low = 1, high = 0;

        for (size_t i = 0; i < s.n; i++) {
                low = (low + (uint8_t)s.p[i]) % 65521;
                high = (high + low) % 65521;
        }
        buf_append_uint(b, (uint64_t)high << 16 | low);
}

static int hash(struct transform *t, const struct value *in, void (*append)(struct buf *b, struct str s),
                const char *problem, struct buf *b)
{
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);

        if (append_hashed(&bytes, in, t->err) < 0)
                return err_wrap(t->err, "%s", problem);
        append(b, buf_str(&bytes));
        return 0;
}

static int to_sha1(struct transform *t, const struct value *in, struct buf *b)
{
        return hash(t, in, append_sha1, "cannot generate hash", b);
}

static int to_sha256(struct transform *t, const struct value *in, struct buf *b)
{
        return hash(t, in, sha256_append_hex, "cannot generate hash", b);
}

static int to_sha512(struct transform *t, const struct value *in, struct buf *b)
{
        return hash(t, in, sha512_append_hex, "cannot generate hash", b);
}

static int to_adler32(struct transform *t, const struct value *in, struct buf *b)
{
        return hash(t, in, append_adler32, "unable to generate Adler checksum", b);
}

static const struct {
        const char *name;
        int (*run)(struct transform *t, const struct value *in, struct buf *b);
} conversions[] = {
        { "ToUpper", to_upper },   { "ToLower", to_lower },       { "ToJson", to_json },
        { "ToBase64", to_base64 }, { "FromBase64", from_base64 }, { "ToSha1", to_sha1 },
        { "ToSha256", to_sha256 }, { "ToSha512", to_sha512 },     { "ToAdler32", to_adler32 },
};

static int convert(struct transform *t, const struct value *in, struct buf *b)
{
        struct str name = t->transform->string->convert;

        for (size_t i = 0; i < ARRAY_SIZE(conversions); i++)
                if (str_equal(name, str_from(conversions[i].name)))
                        return conversions[i].run(t, in, b);
        return err_set(t->err, ERR_INVALID, "type %.*s is not supported for string convert", STR_ARG(name));
}

/* --- The other types --- */

static int format(struct transform *t, const struct value *in, struct buf *b)
{
        go_sprintf(b, t->transform->string->format, &in, 1, GO_FORMAT_INTEGRAL_DOUBLES);
        return 0;
}

static int trim_prefix(struct transform *t, const struct value *in, struct buf *b)
{
        struct str text = text_of(t->arena, in);

        str_cut_prefix(&text, t->transform->string->trim);
        buf_append_str(b, text);
        return 0;
}

static int trim_suffix(struct transform *t, const struct value *in, struct buf *b)
{
        struct str text = text_of(t->arena, in);

        str_cut_suffix(&text, t->transform->string->trim);
        buf_append_str(b, text);
        return 0;
}

static int find_group(struct transform *t, const struct value *in, struct buf *b)
{
        struct pt_regexp *regexp = t->transform->string->regexp;
        struct str text = text_of(t->arena, in), quoted, *groups;
        int64_t group = regexp->group.value;
        size_t n;

        if (pt_compile(t->arena, &regexp->match, t->err) < 0)
                return err_wrap(t->err, "could not compile regexp");
        n = regex_group_count(regexp->match.compiled) + 1;
        if (group >= 0 && (uint64_t)group < n) {
                groups = ARENA_NEW_ARRAY(t->arena, struct str, n);
                if (regex_find(regexp->match.compiled, text, 0, groups, n)) {
                        buf_append_str(b, groups[group]);
                        return 0;
                }
        }
        quoted = go_quote(t->arena, regexp->match.text);
        return err_set(t->err, ERR_INVALID, "regexp %.*s had no matches for group %lld", STR_ARG(quoted),
                       (long long)group);
}

/* Upstream appends the separator to every element and then removes one byte at the end, even if the separator is longer. This must
 * stay, because resource names depend on it. */
static int join(struct transform *t, const struct value *in, struct buf *b)
{
        struct str separator = t->transform->string->join->separator;

        if (!value_is_array(in))
                return err_set(t->err, ERR_INVALID, "could not parse input array");
        VALUE_FOREACH_ITEM (item, in) {
                go_append_value(b, item);
                buf_append_str(b, separator);
        }
        if (separator.n && value_count(in) && !b->has_failed)
                b->n--;
        return 0;
}

static int replace(struct transform *t, const struct value *in, struct buf *b)
{
        const struct pt_replace *replace = t->transform->string->replace;
        struct str text = text_of(t->arena, in);

        if (replace->search.n == 0) {
                /* Insert between all characters, as strings.ReplaceAll does. */
                while (text.n) {
                        size_t width;

                        utf8_decode(text, &width);
                        buf_append_str(b, replace->replace);
                        buf_append_str(b, str_first(text, width));
                        text = str_skip(text, width);
                }
                buf_append_str(b, replace->replace);
                return 0;
        }
        for (ptrdiff_t at; (at = str_find(text, replace->search)) >= 0;) {
                buf_append_str(b, str_first(text, (size_t)at));
                buf_append_str(b, replace->replace);
                text = str_skip(text, (size_t)at + replace->search.n);
        }
        buf_append_str(b, text);
        return 0;
}

static const struct {
        const char *missing; /* name of the member that the type needs */
        size_t offset;       /* of a pointer that must be set, in a str or on its own */
        int (*run)(struct transform *t, const struct value *in, struct buf *b);
} types[PT_N_STRING_TYPES] = {
        [PT_FORMAT] = { "fmt", offsetof(struct pt_string, format.p), format },
        [PT_CONVERT] = { "convert", offsetof(struct pt_string, convert.p), convert },
        [PT_TRIM_PREFIX] = { "trim", offsetof(struct pt_string, trim.p), trim_prefix },
        [PT_TRIM_SUFFIX] = { "trim", offsetof(struct pt_string, trim.p), trim_suffix },
        [PT_REGEXP] = { "regexp", offsetof(struct pt_string, regexp), find_group },
        [PT_JOIN] = { "join", offsetof(struct pt_string, join), join },
        [PT_REPLACE] = { "replace", offsetof(struct pt_string, replace), replace },
};

int pt_transform_string(struct transform *t, const struct value *in, const struct value **ret)
{
        const struct pt_string *string = t->transform->string;
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_TRANSFORM_BYTES);
        int type = pt_find(string->type, pt_string_names, PT_N_STRING_TYPES), r;

        if (type < 0)
                return err_set(t->err, ERR_INVALID, "type %.*s is not supported for string transform type",
                               STR_ARG(string->type));
        if (!*(const void *const *)((const char *)string + types[type].offset))
                return err_set(t->err, ERR_INVALID, "string transform of type %s %s is not set", pt_string_names[type],
                               types[type].missing);
        r = types[type].run(t, in, &b);
        if (r >= 0)
                r = buf_check(&b, "the result of a string transform", t->err);
        if (r < 0)
                return r;
        *ret = value_put(t->arena, value_of_str(buf_to_arena(&b, t->arena)));
        return 0;
}
