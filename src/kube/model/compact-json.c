/* JSON from compact bytes in one walk, without a tree: lists write thousands of objects that are not decoded. */
#include "buf.h"
#include "compact-format.h"
#include "compact.h"
#include "json.h"
#include "limits.h"
#include "number.h"

struct reader {
        const unsigned char *next;
        const unsigned char *end;
        struct buf *out;
        uint64_t version; /* the value of metadata.resourceVersion; 0: as encoded */
        bool has_version;
};

/* These return false for bytes that compact_decode refuses, and for objects whose version has no place of its own: the caller decodes. */

static bool take_varint(struct reader *r, uint64_t *ret)
{
        uint64_t u = 0;

        for (unsigned shift = 0; shift < 64 && r->next < r->end; shift += 7) {
                unsigned char byte = *r->next++;

                u |= (uint64_t)(byte & 0x7f) << shift;
                if (byte < 0x80) {
                        *ret = u;
                        return true;
                }
        }
        return false;
}

static bool take_bytes(struct reader *r, uint64_t n, struct str *ret)
{
        if (n > (size_t)(r->end - r->next))
                return false;
        *ret = str_make((const char *)r->next, (size_t)n);
        r->next += n;
        return true;
}

static bool write_value(struct reader *r, unsigned depth);

/* Words need no escapes. */
static void write_word(struct buf *b, struct str word)
{
        if (!buf_reserve(b, word.n + 2))
                return;
        b->p[b->n] = '"';
        memcpy(b->p + b->n + 1, word.p, word.n);
        b->p[b->n + 1 + word.n] = '"';
        b->n += word.n + 2;
}

static bool take_key(struct reader *r, struct str *ret, bool *ret_is_word)
{
        unsigned char byte;
        uint64_t n;

        if (r->next == r->end)
                return false;
        byte = *r->next++;
        *ret_is_word = byte >= KEY_WORD;
        if (byte >= KEY_WORD) {
                size_t i = byte - (byte >= KEY_FIELD_WORD ? KEY_FIELD_WORD : KEY_WORD);

                if (i >= compact_n_words)
                        return false;
                *ret = byte >= KEY_FIELD_WORD ? compact_words[i] : str_skip(compact_words[i], 2);
                return true;
        }
        if (byte < KEY_LONG)
                return take_bytes(r, byte, ret);
        if (!take_varint(r, &n))
                return false;
        *ret_is_word = n < KEY_LONG;
        return n < KEY_LONG ? compact_far_key(n, ret) : take_bytes(r, n, ret);
}

static bool write_items(struct reader *r, uint64_t n, unsigned depth)
{
        buf_append_char(r->out, '[');
        for (uint64_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_char(r->out, ',');
                if (!write_value(r, depth + 1))
                        return false;
        }
        buf_append_char(r->out, ']');
        return true;
}

/* Appends the version behind the other members of metadata, as value_with does. */
static void write_version(struct reader *r, bool is_first)
{
        if (!is_first)
                buf_append_char(r->out, ',');
        buf_append_literal(r->out, "\"resourceVersion\":\"");
        buf_append_uint(r->out, r->version);
        buf_append_char(r->out, '"');
        r->has_version = true;
}

enum place {
        PLACE_ROOT,
        PLACE_METADATA,
        PLACE_OTHER,
};

static bool write_members(struct reader *r, uint64_t n, unsigned depth, enum place place);

/* The metadata of the root, which must be an object. */
static bool write_metadata(struct reader *r)
{
        uint64_t n;
        unsigned char tag;

        if (r->next == r->end)
                return false;
        tag = *r->next++;
        n = tag - (unsigned)TAG_SHORT_OBJECT;
        if (tag == TAG_OBJECT ? !take_varint(r, &n) : tag < TAG_SHORT_OBJECT || tag >= TAG_SHORT_INT)
                return false;
        return write_members(r, n, 1, PLACE_METADATA);
}

static bool write_member(struct reader *r, unsigned depth, enum place place)
{
        struct str key;
        bool is_word;

        if (!take_key(r, &key, &is_word))
                return false;
        if (is_word)
                write_word(r->out, key);
        else
                json_write_string(r->out, key, 0);
        buf_append_char(r->out, ':');
        if (r->version && place == PLACE_ROOT && str_equal(key, STR("metadata")))
                return write_metadata(r);
        if (place == PLACE_METADATA && str_equal(key, STR("resourceVersion")))
                return false;
        return write_value(r, depth + 1);
}

static bool write_members(struct reader *r, uint64_t n, unsigned depth, enum place place)
{
        buf_append_char(r->out, '{');
        for (uint64_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_char(r->out, ',');
                if (!write_member(r, depth, place))
                        return false;
        }
        if (place == PLACE_METADATA)
                write_version(r, n == 0);
        buf_append_char(r->out, '}');
        return true;
}

static bool write_string(struct reader *r, uint64_t n)
{
        struct str s;

        if (!take_bytes(r, n, &s))
                return false;
        json_write_string(r->out, s, 0);
        return true;
}

static bool write_double(struct reader *r)
{
        uint64_t bits = 0;
        double number;
        struct str s;

        if (!take_bytes(r, 8, &s))
                return false;
        for (int i = 0; i < 8; i++)
                bits |= (uint64_t)(unsigned char)s.p[i] << (8 * i);
        memcpy(&number, &bits, sizeof(number));
        if (!__builtin_isfinite(number))
                return false;
        number_append_json(r->out, number);
        return true;
}

static bool write_long(struct reader *r, unsigned tag, unsigned depth)
{
        uint64_t u;

        if (tag == TAG_DOUBLE)
                return write_double(r);
        if (!take_varint(r, &u))
                return false;
        if (tag == TAG_STRING)
                return write_string(r, u);
        if (tag == TAG_ARRAY)
                return write_items(r, u, depth);
        if (tag == TAG_OBJECT)
                return write_members(r, u, depth, depth == 0 ? PLACE_ROOT : PLACE_OTHER);
        buf_append_int(r->out, (int64_t)((u >> 1) ^ (u & 1 ? UINT64_MAX : 0)));
        return true;
}

static bool write_value(struct reader *r, unsigned depth)
{
        unsigned tag;

        if (r->next == r->end || depth > LIMIT_DEPTH)
                return false;
        tag = *r->next++;
        if (tag >= TAG_WORD) {
                if (tag - TAG_WORD >= compact_n_words)
                        return false;
                write_word(r->out, str_skip(compact_words[tag - TAG_WORD], 2));
                return true;
        }
        if (tag >= TAG_SHORT_STRING)
                return write_string(r, tag - TAG_SHORT_STRING);
        if (tag >= TAG_SHORT_INT) {
                buf_append_int(r->out, tag - TAG_SHORT_INT);
                return true;
        }
        if (tag >= TAG_SHORT_OBJECT)
                return write_members(r, tag - TAG_SHORT_OBJECT, depth, depth == 0 ? PLACE_ROOT : PLACE_OTHER);
        if (tag >= TAG_SHORT_ARRAY)
                return write_items(r, tag - TAG_SHORT_ARRAY, depth);
        if (tag >= TAG_INT)
                return tag <= TAG_OBJECT && write_long(r, tag, depth);
        buf_append_str(r->out, tag == TAG_NULL ? STR("null") : tag == TAG_TRUE ? STR("true") : STR("false"));
        return true;
}

static bool take_format(struct reader *r)
{
        unsigned char version = r->next < r->end ? *r->next++ : 0;

        return version >= FIRST_FORMAT_VERSION && version <= FORMAT_VERSION;
}

bool compact_append_json(struct buf *b, struct str bytes, uint64_t version)
{
        struct reader r = { .next = (const unsigned char *)bytes.p,
                            .end = (const unsigned char *)bytes.p + bytes.n,
                            .out = b,
                            .version = version };
        size_t begin = b->n;

        if (take_format(&r) && write_value(&r, 0) && r.next == r.end && (!version || r.has_version))
                return true;
        b->n = begin;
        return false;
}
