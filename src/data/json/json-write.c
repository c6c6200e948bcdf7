#include "json.h"

#include "ascii.h"
#include "buf.h"
#include "limits.h"
#include "number.h"
#include "utf8.h"

#include <math.h>
#if defined(__SSE2__) && !defined(WEFT_PORTABLE)
#include <emmintrin.h>
#endif

#define STEP  16         /* bytes that scans and copies take at once */
#define BLOCK (4 * STEP) /* the same where a text is long */

/* How a byte of a string is written: as it is, as a backslash and the given letter, as \u00XX, or as the full character
 * requires. */
enum {
        PLAIN = 0,
        AS_CODE = 1,
        AS_CODE_FOR_HTML = 2,
        NOT_ASCII = 3,
};

static const unsigned char treatment[256] = {
        [0 ... 7] = AS_CODE,
        [11] = AS_CODE,
        [14 ... 0x1f] = AS_CODE,
        ['\b'] = 'b',
        ['\f'] = 'f',
        ['\n'] = 'n',
        ['\r'] = 'r',
        ['\t'] = 't',
        ['"'] = '"',
        ['\\'] = '\\',
        ['<'] = AS_CODE_FOR_HTML,
        ['>'] = AS_CODE_FOR_HTML,
        ['&'] = AS_CODE_FOR_HTML,
        [0x80 ... 0xff] = NOT_ASCII,
};

static bool is_plain(unsigned char c, unsigned flags)
{
        return treatment[c] == PLAIN || (treatment[c] == AS_CODE_FOR_HTML && !(flags & JSON_ESCAPE_HTML));
}

#if defined(__SSE2__) && !defined(WEFT_PORTABLE)
/* All bits are set in each of the sixteen bytes that is not plain. */
static inline __m128i find_specials(__m128i v, unsigned flags)
{
        /* Signed comparison: control characters and everything beyond ASCII are below the space. */
        __m128i special = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(' ')),
                                       _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                                    _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));

        if (flags & JSON_ESCAPE_HTML)
                special = _mm_or_si128(special, _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('&')),
                                                             _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('<')),
                                                                          _mm_cmpeq_epi8(v, _mm_set1_epi8('>')))));
        return special;
}

/* One bit for each of the sixteen bytes that is not plain. */
static inline unsigned specials(__m128i v, unsigned flags)
{
        return (unsigned)_mm_movemask_epi8(find_specials(v, flags));
}

static inline __m128i load(const char *p)
{
        return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void store(char *p, __m128i v)
{
        _mm_storeu_si128((__m128i *)(void *)p, v);
}

/* Copies BLOCK bytes; false if not all of them are plain. */
static inline bool copy_block(char *out, const char *p, unsigned flags)
{
        __m128i a = load(p), b = load(p + STEP), c = load(p + 2 * STEP), d = load(p + 3 * STEP);

        store(out, a);
        store(out + STEP, b);
        store(out + 2 * STEP, c);
        store(out + 3 * STEP, d);
        return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(find_specials(a, flags), find_specials(b, flags)),
                                              _mm_or_si128(find_specials(c, flags), find_specials(d, flags)))) == 0;
}

/* Copies n < STEP bytes if all are plain, by two words that overlap in the middle. */
static inline bool copy_short(char *out, const char *p, size_t n, unsigned flags)
{
        uint64_t low = 0, high = 0;

        if (n >= 8) {
                memcpy(&low, p, 8);
                memcpy(&high, p + n - 8, 8);
                memcpy(out, &low, 8);
                memcpy(out + n - 8, &high, 8);
        } else if (n >= 4) {
                memcpy(&low, p, 4);
                memcpy(&high, p + n - 4, 4);
                memcpy(out, &low, 4);
                memcpy(out + n - 4, &high, 4);
                low |= high << 32;
                high = low;
        } else {
                return false;
        }
        return specials(_mm_set_epi64x((long long)high, (long long)low), flags) == 0;
}
#endif

/* Copies plain bytes from p until one that is not, and returns it (or the end). out has room for end - p + STEP bytes. */
static inline const char *copy_plain(const char *p, const char *end, char **out, unsigned flags)
{
        char *o = *out;

#if defined(__SSE2__) && !defined(WEFT_PORTABLE)
        while (end - p >= BLOCK && copy_block(o, p, flags)) {
                p += BLOCK;
                o += BLOCK;
        }
        for (; end - p >= STEP; p += STEP, o += STEP) {
                __m128i v = load(p);
                unsigned stops = specials(v, flags);

                store(o, v);
                if (stops) {
                        *out = o + __builtin_ctz(stops);
                        return p + __builtin_ctz(stops);
                }
        }
        if (copy_short(o, p, (size_t)(end - p), flags)) {
                *out = o + (end - p);
                return end;
        }
#endif
        while (p < end && is_plain((unsigned char)*p, flags))
                *o++ = *p++;
        *out = o;
        return p;
}

/* A character that is not written as it is; p is at it. Returns the position after it. */
static const char *write_special(struct buf *b, const char *p, const char *end, unsigned flags)
{
        static const char digits[] = ASCII_HEX_LOWER;
        unsigned char c = (unsigned char)*p;
        char code[6] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };
        uint32_t rune;
        size_t width;

        if (treatment[c] == AS_CODE || treatment[c] == AS_CODE_FOR_HTML) {
                buf_append(b, code, sizeof(code));
                return p + 1;
        }
        if (treatment[c] != NOT_ASCII) {
                buf_append_char(b, '\\');
                buf_append_char(b, (char)treatment[c]);
                return p + 1;
        }
        rune = utf8_decode(str_make(p, (size_t)(end - p)), &width);
        if (rune == RUNE_ERROR && width == 1)
                buf_append_literal(b, "\\ufffd");
        else if ((rune == 0x2028 || rune == 0x2029) && !(flags & JSON_RAW_SEPARATORS))
                buf_append(b, rune == 0x2028 ? "\\u2028" : "\\u2029", 6);
        else
                buf_append(b, p, width);
        return p + width;
}

/* The same without extra room, for a buffer near its maximum. */
static void write_tight(struct buf *b, const char *p, const char *end, unsigned flags)
{
        while (p < end && !b->has_failed) {
                if (is_plain((unsigned char)*p, flags))
                        buf_append_char(b, *p++);
                else
                        p = write_special(b, p, end, flags);
        }
        buf_append_char(b, '"');
}

void json_write_string(struct buf *b, struct str s, unsigned flags)
{
        const char *p = s.n ? s.p : "", *end = p + s.n;
        size_t max = b->max_bytes ? b->max_bytes : LIMIT_BUFFER_BYTES;

        buf_append_char(b, '"');
        for (;;) {
                size_t wanted = (size_t)(end - p) + STEP + 1;
                char *out;

                if (UNLIKELY(wanted > max - b->n || !buf_reserve(b, wanted))) {
                        write_tight(b, p, end, flags);
                        return;
                }
                out = b->p + b->n;
                p = copy_plain(p, end, &out, flags);
                b->n = (size_t)(out - b->p);
                if (p == end)
                        break;
                p = write_special(b, p, end, flags);
        }
        b->p[b->n++] = '"';
}

struct writer {
        struct buf *buf;
        struct arena scratch; /* sorted copies of objects */
        unsigned flags;
        struct err *err;
};

static void start_line(struct writer *w, unsigned depth)
{
        if (!(w->flags & JSON_PRETTY))
                return;
        buf_append_char(w->buf, '\n');
        buf_append_repeat(w->buf, ' ', 2 * (size_t)depth);
}

static int write_value(struct writer *w, const struct value *v, unsigned depth);

static int write_array(struct writer *w, const struct value *v, unsigned depth)
{
        buf_append_char(w->buf, '[');
        for (uint32_t i = 0; i < v->n; i++) {
                int r;

                if (i > 0)
                        buf_append_char(w->buf, ',');
                start_line(w, depth + 1);
                r = write_value(w, &v->items[i], depth + 1);
                if (r < 0)
                        return r;
        }
        if (v->n > 0)
                start_line(w, depth);
        buf_append_char(w->buf, ']');
        return 0;
}

static int write_object(struct writer *w, const struct value *v, unsigned depth)
{
        if (w->flags & JSON_SORT_KEYS)
                v = value_sorted(&w->scratch, v);
        buf_append_char(w->buf, '{');
        for (uint32_t i = 0; i < v->n; i++) {
                int r;

                if (i > 0)
                        buf_append_char(w->buf, ',');
                start_line(w, depth + 1);
                json_write_string(w->buf, v->members[i].key, w->flags);
                buf_append_char(w->buf, ':');
                if (w->flags & JSON_PRETTY)
                        buf_append_char(w->buf, ' ');
                r = write_value(w, &v->members[i].value, depth + 1);
                if (r < 0)
                        return r;
        }
        if (v->n > 0)
                start_line(w, depth);
        buf_append_char(w->buf, '}');
        return 0;
}

static int write_double(struct writer *w, double d)
{
        if (UNLIKELY(!isfinite(d)))
                return err_set(w->err, ERR_INVALID, "json: unsupported value: %s",
                               isnan(d) ? "NaN"
                               : d > 0  ? "+Inf"
                                        : "-Inf");
        number_append_json(w->buf, d);
        return 0;
}

static int write_value(struct writer *w, const struct value *v, unsigned depth)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                buf_append_literal(w->buf, "null");
                return 0;
        case VALUE_BOOL:
                buf_append_str(w->buf, v->boolean ? STR("true") : STR("false"));
                return 0;
        case VALUE_INT:
                buf_append_int(w->buf, v->integer);
                return 0;
        case VALUE_DOUBLE:
                return write_double(w, v->number);
        case VALUE_STRING:
                json_write_string(w->buf, value_str(v), w->flags);
                return 0;
        case VALUE_ARRAY:
                return write_array(w, v, depth);
        case VALUE_OBJECT:
                return write_object(w, v, depth);
        }
        return 0;
}

int json_write(struct buf *b, const struct value *v, unsigned flags, struct err *err)
{
        struct writer w = { .buf = b, .flags = flags, .err = err };
        int r;

        arena_init(&w.scratch, "JSON writer", 0);
        r = write_value(&w, v, 0);
        arena_done(&w.scratch);
        if (r < 0)
                return r;
        return buf_check(b, "JSON text", err);
}

int json_to_str(struct arena *a, const struct value *v, unsigned flags, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        r = json_write(&b, v, flags, err);
        if (r < 0)
                return r;
        *ret = buf_to_arena(&b, a);
        return 0;
}
