/* The reader goes over the text once and recurses only for containers, so LIMIT_DEPTH bounds its stack. Members and items of
 * open containers wait on a scratch stack; when a container closes they are copied into the arena at once, so a finished
 * tree has no slack in it.
 *
 * String bytes are copied into chunks of the arena sixteen at a time; keys go through a small table of recent ones, so that
 * the thousands of `metadata` of a list share their bytes. Keys in ascending order, which is how maps are printed, prove
 * themselves free of duplicates; others are told apart by a set of hash bits, and only a doubtful one is searched.
 *
 * What errors need (line, column, path) is found by a second walk over the text up to the error. */
#include "json.h"

#include "buf.h"
#include "limits.h"
#include "number.h"
#include "path.h"
#include "source.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define STEP              16 /* bytes that scans and copies take at once */
#define FIRST_CHUNK_BYTES 1024u
#define MAX_CHUNK_BYTES   32768u
#define INITIAL_UNITS     512
#define SMALL_TEXT_BYTES  8192
#define SMALL_CACHE_BITS  6
#define LARGE_CACHE_BITS  8
#define FILTERED_MEMBERS  48 /* beyond this many members the hash bits say nothing any more */

/* Half a member, or an item. */
union unit {
        struct str key;
        struct value value;
};

_Static_assert(sizeof(struct member) == 2 * sizeof(union unit), "a member is a key unit and a value unit");
_Static_assert(offsetof(struct member, value) == sizeof(union unit), "a member is a key unit and a value unit");

/* An open container, on the C stack of the function that reads it. */
struct frame {
        struct frame *parent;
        size_t base; /* its first unit */
        bool is_object;
};

struct reader {
        struct arena *arena;
        const char *start;
        const char *end;
        union unit *units; /* members and items of the open containers */
        union unit *initial_units;
        size_t n_units;
        size_t capacity;
        char *chunk; /* piece of the arena for string bytes */
        char *room;  /* its free space */
        char *room_end;
        size_t chunk_bytes; /* of the next chunk */
        struct str *keys;   /* recent keys, by hash */
        unsigned key_shift;
        struct frame *frame; /* the innermost open container */
        unsigned depth;
        unsigned max_depth;
        unsigned duplicates_told;
        bool is_between; /* for errors: behind a value, not in one */
        struct json_read_options options;
        struct str bad_number; /* the first number beyond double; syntax errors go before it */
        char *bad_number_path; /* heap */
        struct err *err;
        int result;
};

static struct position source_position_local(struct str text, size_t offset)
{
        struct position position = { .line = 1, .offset = offset };
        size_t start = 0;

        for (size_t i = 0; i < offset; i++) {
                if (text.p[i] == '\n') {
                        position.line++;
                        start = i + 1;
                }
        }
        position.column = 1 + (uint32_t)utf8_count(str_make(text.p + start, offset - start));
        return position;
}

/* Errors. All return NULL, the end of reading. */

/* The path of what is being read: its containers, each with the key or the index where its next unit would go. */
static size_t list_segments(const struct reader *r, struct path_segment *segments)
{
        size_t n = r->depth, top = r->n_units;

        for (const struct frame *f = r->frame; f; f = f->parent) {
                struct path_segment *s = &segments[--n];

                *s = (struct path_segment) { .index = (uint32_t)(top - f->base), .is_index = !f->is_object };
                if (f->is_object && (top - f->base) % 2)
                        s->key = r->units[top - 1].key;
                top = f->base;
        }
        return r->depth;
}

static void append_path(const struct reader *r, struct buf *b)
{
        _cleanup_free_ struct path_segment *segments = xcalloc(r->depth + 1u, sizeof(*segments));
        struct path path = { segments, list_segments(r, segments) };

        /* Between the members of an object, or behind an item, the container itself is meant. */
        if (r->frame && (r->is_between || (r->frame->is_object && (r->n_units - r->frame->base) % 2 == 0)))
                path.n--;
        path_append(b, &path);
}

static void locate(const struct reader *r, const char *at)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        if (!r->err)
                return;
        err_set_position(r->err, source_position_local(str_make(r->start, (size_t)(r->end - r->start)),
                                                       (size_t)(at - r->start)));
        append_path(r, &path);
        err_set_path(r->err, buf_str(&path));
}

static const char *fail_at(struct reader *r, const char *at, int code, const char *message)
{
        r->result = err_set(r->err, code, "%s", message);
        locate(r, at);
        return NULL;
}

static const char *fail_end(struct reader *r)
{
        return fail_at(r, r->end, ERR_INVALID, "unexpected end of JSON input");
}

/* A byte as Go shows it: a character of Latin-1 in single quotes. */
static void append_byte(struct buf *b, unsigned char c)
{
        static const char names[] = "abtnvfr";
        char rune[4];

        buf_append_char(b, '\'');
        if (c == '\'' || c == '\\')
                buf_appendf(b, "\\%c", c);
        else if (c >= 7 && c <= 13)
                buf_appendf(b, "\\%c", names[c - 7]);
        else if (c < ' ' || c == 0x7f)
                buf_appendf(b, "\\x%02x", c);
        else if ((c >= 0x80 && c <= 0xa0) || c == 0xad)
                buf_appendf(b, "\\u%04x", c);
        else
                buf_append(b, rune, utf8_encode(c, rune));
        buf_append_char(b, '\'');
}

static const char *fail_character(struct reader *r, const char *at, unsigned char c, const char *where)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "invalid character ");
        append_byte(&b, c);
        buf_append_char(&b, ' ');
        buf_append_str(&b, str_from(where));
        return fail_at(r, at, ERR_INVALID, buf_cstring(&b));
}

/* Where white space may stand, so that the end of the text is just an end. */
static const char *fail_between(struct reader *r, const char *at, const char *where)
{
        if (at >= r->end)
                return fail_end(r);
        return fail_character(r, at, (unsigned char)*at, where);
}

/* Inside a token. Go meets the end of the text there as a space. */
static const char *fail_inside(struct reader *r, const char *at, const char *where)
{
        return fail_character(r, at, at < r->end ? (unsigned char)*at : ' ', where);
}

/* Units */

static _noinline_ void grow_units(struct reader *r)
{
        size_t capacity = r->capacity * 2;

        if (r->units == r->initial_units) {
                r->units = xmalloc(capacity * sizeof(*r->units));
                memcpy(r->units, r->initial_units, r->n_units * sizeof(*r->units));
        } else {
                r->units = xrealloc(r->units, capacity * sizeof(*r->units));
        }
        r->capacity = capacity;
}

static inline union unit *push_unit(struct reader *r)
{
        if (UNLIKELY(r->n_units == r->capacity))
                grow_units(r);
        return &r->units[r->n_units++];
}

/* Two stores of eight bytes, never one of sixteen: what was just written in halves is slow to read as a whole. */
static inline void push_value(struct reader *r, struct value v)
{
        push_unit(r)->value = v;
}

/* String bytes */

static uint64_t load8(const char *p)
{
        uint64_t word;

        memcpy(&word, p, sizeof(word));
        return word;
}

static uint32_t load4(const char *p)
{
        uint32_t word;

        memcpy(&word, p, sizeof(word));
        return word;
}

static bool is_plain(char c)
{
        return c != '"' && c != '\\' && (unsigned char)c >= 0x20;
}

/* The first byte at or behind p that is a quote, a backslash or a control character, or the end. *has_high is set when a
 * byte before it is not ASCII. */
static inline const char *scan_plain(const char *p, const char *end, bool *has_high)
{
        unsigned char high = 0;

#if defined(__SSE2__)
        const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);

        for (; end - p >= STEP; p += STEP) {
                __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
                __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                               _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
                unsigned stops = (unsigned)_mm_movemask_epi8(special), highs = (unsigned)_mm_movemask_epi8(v);

                if (stops) {
                        *has_high |= (highs & (stops - 1) & ~stops) != 0;
                        return p + __builtin_ctz(stops);
                }
                *has_high |= highs != 0;
        }
#else
        const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

        for (; end - p >= 8; p += 8) {
                uint64_t word = load8(p), quotes = word ^ ones * '"', backslashes = word ^ ones * '\\';

                if ((((quotes - ones) & ~quotes) | ((backslashes - ones) & ~backslashes) |
                     ((word - ones * 0x20) & ~word)) &
                    tops)
                        break;
                *has_high |= (word & tops) != 0;
        }
#endif
        for (; p < end && is_plain(*p); p++)
                high |= (unsigned char)*p;
        *has_high |= high >= 0x80;
        return p;
}

static bool bytes_equal(const char *a, const char *b, size_t n)
{
        if (n > 16)
                return memcmp(a, b, n) == 0;
        if (n >= 8)
                return load8(a) == load8(b) && load8(a + n - 8) == load8(b + n - 8);
        if (n >= 4)
                return load4(a) == load4(b) && load4(a + n - 4) == load4(b + n - 4);
        for (size_t i = 0; i < n; i++)
                if (a[i] != b[i])
                        return false;
        return true;
}

/* Room for n string bytes and a step behind them. */
static _noinline_ void add_chunk(struct reader *r, size_t n)
{
        size_t size = MAX(n + STEP, r->chunk_bytes);

        r->chunk = r->room = arena_alloc_aligned(r->arena, size, 1);
        r->room_end = r->room + size;
        r->chunk_bytes = MIN(r->chunk_bytes * 2, MAX_CHUNK_BYTES);
}

/* A string too long for the rest of the chunk gets a piece of its own unless a new chunk serves it well. */
static _noinline_ const char *keep_bytes_slow(struct reader *r, const char *p, size_t n)
{
        char *copy;

        if (n > r->chunk_bytes / 4) {
                copy = arena_alloc_aligned(r->arena, n, 1);
        } else {
                if ((size_t)(r->room_end - r->room) < n)
                        add_chunk(r, n);
                copy = r->room;
                r->room += n;
        }
        memcpy(copy, p, n);
        return copy;
}

/* Copies bytes of the text into the arena. */
static inline const char *keep_bytes(struct reader *r, const char *p, size_t n)
{
        char *copy = r->room;

        if (UNLIKELY((size_t)(r->room_end - copy) < n + STEP || (size_t)(r->end - p) < n + STEP || n > 256))
                return n ? keep_bytes_slow(r, p, n) : "";
        for (size_t i = 0; i < n; i += STEP)
                memcpy(copy + i, p + i, STEP);
        r->room += n;
        return copy;
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \uXXXX at p, or -1 after an error. */
static int32_t read_unit(struct reader *r, const char *p)
{
        int32_t unit = 0;

        for (int i = 0; i < 4; i++, p++) {
                int digit = p < r->end ? hex_digit(*p) : -1;

                if (digit < 0) {
                        fail_inside(r, p, "in \\u hexadecimal character escape");
                        return -1;
                }
                unit = unit << 4 | digit;
        }
        return unit;
}

/* The low half of a surrogate pair, if one stands at p; otherwise 0. */
static uint32_t peek_low_surrogate(const struct reader *r, const char *p)
{
        uint32_t unit = 0;

        if (r->end - p < 6 || p[0] != '\\' || p[1] != 'u')
                return 0;
        for (int i = 2; i < 6; i++) {
                if (hex_digit(p[i]) < 0)
                        return 0;
                unit = unit << 4 | (uint32_t)hex_digit(p[i]);
        }
        return unit >= 0xDC00 && unit < 0xE000 ? unit : 0;
}

/* \uXXXX, p behind the u. */
static const char *read_unicode_escape(struct reader *r, const char *p, char **out)
{
        int32_t unit = read_unit(r, p);
        uint32_t rune, low;

        if (unit < 0)
                return NULL;
        rune = (uint32_t)unit;
        p += 4;
        if (rune >= 0xD800 && rune < 0xE000) {
                low = rune < 0xDC00 ? peek_low_surrogate(r, p) : 0;
                if (low) {
                        rune = 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00);
                        p += 6;
                } else if (r->options.is_kubernetes) {
                        rune = RUNE_ERROR;
                } else {
                        return fail_at(r, p - 6, ERR_INVALID, "unpaired surrogate in \\u hexadecimal character escape");
                }
        }
        *out += utf8_encode(rune, *out);
        return p;
}

/* An escape, p at its backslash. */
static const char *read_escape(struct reader *r, const char *p, char **out)
{
        static const char meaning[256] = {
                ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
        };

        p++;
        if (p < r->end && *p == 'u')
                return read_unicode_escape(r, p + 1, out);
        if (p >= r->end || !meaning[(unsigned char)*p])
                return fail_inside(r, p, "in string escape code");
        *(*out)++ = meaning[(unsigned char)*p];
        return p + 1;
}

/* A run of bytes that are not all ASCII, from p to end. */
static bool append_checked(struct reader *r, const char *p, const char *end, char **out)
{
        while (p < end) {
                struct str rest = str_make(p, (size_t)(end - p));
                size_t valid = utf8_valid_prefix(rest);

                memcpy(*out, p, valid);
                *out += valid;
                p += valid;
                if (p == end)
                        break;
                if (!r->options.is_kubernetes) {
                        fail_at(r, p, ERR_INVALID, "invalid UTF-8 in string literal");
                        return false;
                }
                *out += utf8_encode(RUNE_ERROR, *out);
                p++;
        }
        return true;
}

/* The closing quote of the string that p stands in, or the end of the text. */
static const char *find_quote(const char *p, const char *end, bool *has_high)
{
        for (;;) {
                p = scan_plain(p, end, has_high);
                if (p >= end || *p == '"')
                        return p;
                p += *p == '\\' && end - p > 1 ? 2 : 1;
        }
}

/* Copies to where there is room for a step more than n bytes. */
static inline void copy_run(const struct reader *r, char *out, const char *p, size_t n)
{
        if (n > 64 || (size_t)(r->end - p) < n + STEP) {
                memcpy(out, p, n);
                return;
        }
        for (size_t i = 0; i < n; i += STEP)
                memcpy(out + i, p + i, STEP);
}

/* A string with escapes or bytes beyond ASCII that are not all valid; p is behind its opening quote. */
static _noinline_ const char *read_string_slow(struct reader *r, const char *p, struct str *ret)
{
        bool has_bad = false;
        size_t n = (size_t)(find_quote(p, r->end, &has_bad) - p);
        size_t most = has_bad && r->options.is_kubernetes ? 3 * n : n; /* a bad byte becomes the three of U+FFFD */
        char *copy, *out;

        if (most > LIMIT_STRING_BYTES)
                return fail_at(r, p, ERR_LIMIT, "string is larger than the limit of 2147483648 bytes");
        if ((size_t)(r->room_end - r->room) < most + STEP)
                add_chunk(r, most);
        copy = out = r->room;
        for (;;) {
                bool has_high = false;
                const char *stop = scan_plain(p, r->end, &has_high);

                if (has_high) {
                        if (!append_checked(r, p, stop, &out))
                                return NULL;
                } else {
                        copy_run(r, out, p, (size_t)(stop - p));
                        out += stop - p;
                }
                p = stop;
                if (p >= r->end)
                        return fail_end(r);
                if (*p == '"')
                        break;
                if (*p != '\\')
                        return fail_inside(r, p, "in string literal");
                p = read_escape(r, p, &out);
                if (!p)
                        return NULL;
        }
        r->room = out;
        *ret = str_make(copy, (size_t)(out - copy));
        return p + 1;
}

static inline void push_string(struct reader *r, const char *bytes, size_t n)
{
        push_value(r, (struct value) { .type = VALUE_STRING, .n = (uint32_t)n, .bytes = bytes });
}

static const char *read_string(struct reader *r, const char *p)
{
        bool has_high = false;
        const char *stop;
        struct str slow;

        p++;
        stop = scan_plain(p, r->end, &has_high);
        if (LIKELY(stop < r->end && *stop == '"' && (!has_high || utf8_is_valid(str_make(p, (size_t)(stop - p)))))) {
                size_t n = (size_t)(stop - p);

                push_string(r, r->options.borrows_text ? p : keep_bytes(r, p, n), n);
                return stop + 1;
        }
        p = read_string_slow(r, p, &slow);
        if (p)
                push_string(r, slow.p, slow.n);
        return p;
}

/* Numbers */

static const char *skip_digits(const struct reader *r, const char *p)
{
        while (p < r->end && *p >= '0' && *p <= '9')
                p++;
        return p;
}

static void note_bad_number(struct reader *r, struct str text)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        append_path(r, &path);
        r->bad_number = text;
        r->bad_number_path = buf_take(&path);
}

/* The rest of a number that is no plain integer in range; p is at its first byte and `digits_end` behind its integer part. */
static _noinline_ const char *read_double(struct reader *r, const char *p, const char *digits_end)
{
        const char *q = digits_end;
        struct str text;
        double d;

        if (q < r->end && *q == '.') {
                if (q + 1 >= r->end || q[1] < '0' || q[1] > '9')
                        return fail_inside(r, q + 1, "after decimal point in numeric literal");
                q = skip_digits(r, q + 1);
        }
        if (q < r->end && (*q | 0x20) == 'e') {
                q++;
                if (q < r->end && (*q == '+' || *q == '-'))
                        q++;
                if (q >= r->end || *q < '0' || *q > '9')
                        return fail_inside(r, q, "in exponent of numeric literal");
                q = skip_digits(r, q);
        }
        text = str_make(p, (size_t)(q - p));
        d = number_from_decimal(text);
        if (isinf(d) && !r->bad_number.p)
                note_bad_number(r, text);
        push_value(r, value_of_double(d));
        return q;
}

static const char *read_number(struct reader *r, const char *p)
{
        const char *q = p + (*p == '-');
        const char *digits = q;
        uint64_t u = 0;

        if (q >= r->end || *q < '0' || *q > '9')
                return fail_inside(r, q, "in numeric literal");
        if (*q == '0')
                q++;
        else
                for (; q < r->end && *q >= '0' && *q <= '9'; q++)
                        u = u * 10 + (uint64_t)(*q - '0');
        /* Up to 18 digits always fit; 19 may, and do not wrap around. */
        if (UNLIKELY(q < r->end && (*q == '.' || *q == 'e' || *q == 'E')) || q - digits > 19 ||
            u > (uint64_t)INT64_MAX + (digits > p))
                return read_double(r, p, q);
        if (UNLIKELY(r->options.numbers_as_double))
                push_value(r, value_of_double(digits > p ? -(double)u : (double)u));
        else
                push_value(r, value_of_int((int64_t)(digits > p ? -u : u)));
        return q;
}

static const char *read_literal(struct reader *r, const char *p)
{
        static const char *const words[] = { "true", "false", "null" };
        const char *word = words[*p == 't' ? 0 : *p == 'f' ? 1 : 2];
        char where[48];

        for (size_t i = 1; word[i]; i++) {
                if (p + i < r->end && p[i] == word[i])
                        continue;
                snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, word[i]);
                return fail_inside(r, p + i, where);
        }
        push_value(r, *p == 'n' ? value_of_null() : value_of_bool(*p == 't'));
        return p + strlen(word);
}

/* Containers */

static inline const char *skip_space(const char *p, const char *end)
{
        while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
                p++;
        return p;
}

static const char *read_array(struct reader *r, const char *p);
static const char *read_object(struct reader *r, const char *p);

/* A value; p is at its first byte, if there is one. */
static inline const char *read_value(struct reader *r, const char *p)
{
        if (UNLIKELY(p >= r->end))
                return fail_end(r);
        switch (*p) {
        case '"':
                return read_string(r, p);
        case '{':
                return read_object(r, p);
        case '[':
                return read_array(r, p);
        case 't':
        case 'f':
        case 'n':
                return read_literal(r, p);
        case '-':
        case '0' ... '9':
                return read_number(r, p);
        default:
                return fail_between(r, p, "looking for beginning of value");
        }
}

static inline bool enter(struct reader *r, struct frame *f, const char *p)
{
        char message[64];

        if (LIKELY(r->depth < r->max_depth)) {
                f->parent = r->frame;
                f->base = r->n_units;
                r->frame = f;
                r->depth++;
                return true;
        }
        snprintf(message, sizeof(message), "exceeded max depth of %u", r->max_depth);
        fail_at(r, p, ERR_LIMIT, message);
        return false;
}

/* Puts the finished container in the place of its units and looks at the budget. */
static inline const char *leave(struct reader *r, const struct frame *f, const char *p, struct value v)
{
        r->n_units = f->base;
        r->frame = f->parent;
        r->depth--;
        push_value(r, v);
        if (UNLIKELY(r->arena->is_over_budget)) {
                r->result = arena_check(r->arena, r->err);
                return NULL;
        }
        return p + 1;
}

static const char *read_array(struct reader *r, const char *p)
{
        struct frame f = { .is_object = false };

        if (!enter(r, &f, p))
                return NULL;
        p = skip_space(p + 1, r->end);
        if (p < r->end && *p == ']')
                return leave(r, &f, p, value_empty_array);
        for (;;) {
                p = read_value(r, p);
                if (!p)
                        return NULL;
                p = skip_space(p, r->end);
                if (p >= r->end || *p != ',')
                        break;
                p = skip_space(p + 1, r->end);
        }
        if (UNLIKELY(p >= r->end || *p != ']')) {
                r->is_between = true;
                return fail_between(r, p, "after array element");
        }
        return leave(r, &f, p, value_of_items(r->arena, &r->units[f.base].value, r->n_units - f.base));
}

/* An object while its members are read. */
struct open_object {
        struct frame frame;
        uint64_t prefix;     /* of the last key */
        uint64_t hash_bits;  /* of all keys */
        uint32_t *slots;     /* heap; hash table of member numbers + 1, for many keys that are not sorted */
        size_t n_slots;      /* a power of two, or 0 */
        bool is_sorted;      /* strictly ascending so far, so without duplicates too */
        bool has_duplicates; /* each key's last value counts, at the place of its first */
};

static size_t count_keys(const struct reader *r, const struct open_object *o)
{
        return (r->n_units - o->frame.base) / 2;
}

static struct str key_at(const struct reader *r, const struct open_object *o, size_t i)
{
        return r->units[o->frame.base + 2 * i].key;
}

/* The first eight bytes as a number that compares like the text, as far as it goes. */
static inline uint64_t prefix_of(struct str key, const char *readable_end)
{
        uint64_t prefix = 0;

        if (LIKELY(readable_end - key.p >= 8)) {
                prefix = __builtin_bswap64(load8(key.p));
                return key.n >= 8 ? prefix : prefix & ~(UINT64_MAX >> (8 * key.n));
        }
        for (size_t i = 0; i < 8; i++)
                prefix = prefix << 8 | (i < key.n ? (unsigned char)key.p[i] : 0);
        return prefix;
}

static inline uint64_t hash_of(struct str key, uint64_t prefix)
{
        uint64_t tail = key.n > 8 ? load8(key.p + key.n - 8) : 0;

        return (prefix ^ (tail << 1) ^ (tail >> 29) ^ key.n) * 0x9e3779b97f4a7c15u;
}

/* The key's bytes in the arena, shared with an earlier equal key if it is remembered. */
static inline struct str keep_key(struct reader *r, struct str key, uint64_t hash)
{
        struct str *known = &r->keys[hash >> r->key_shift];

        if (UNLIKELY(key.n == 0))
                return STR("");
        if (LIKELY(known->n == key.n && bytes_equal(known->p, key.p, key.n)))
                return *known;
        key.p = keep_bytes(r, key.p, key.n);
        *known = key;
        return key;
}

/* Duplicates */

static void append_key_path(const struct reader *r, struct buf *b, struct str key)
{
        _cleanup_free_ struct path_segment *segments = xcalloc(r->depth + 1u, sizeof(*segments));
        struct path path = { segments, list_segments(r, segments) };

        segments[path.n - 1] = (struct path_segment) { .key = key };
        path_append(b, &path);
}

static bool fail_duplicate(struct reader *r, const char *at, struct str key)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        append_key_path(r, &path, key);
        r->result = err_set(r->err, ERR_INVALID, "duplicate field \"%s\"", buf_cstring(&path));
        locate(r, at);
        err_set_path(r->err, buf_str(&path));
        return false;
}

static void tell_duplicate(struct reader *r, struct str key)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        if (!r->options.on_duplicate || r->duplicates_told >= LIMIT_JSON_DUPLICATES)
                return;
        r->duplicates_told++;
        append_path(r, &path);
        r->options.on_duplicate(r->options.context, buf_str(&path), key);
}

/* The slot that holds the key, or the free one where it goes. */
static uint32_t *find_slot(const struct reader *r, const struct open_object *o, uint32_t *slots, size_t n_slots,
                           struct str key)
{
        size_t i = str_hash(key) & (n_slots - 1);

        while (slots[i] && !str_equal(key_at(r, o, slots[i] - 1), key))
                i = (i + 1) & (n_slots - 1);
        return &slots[i];
}

static void grow_slots(const struct reader *r, struct open_object *o)
{
        o->n_slots = o->n_slots ? 2 * o->n_slots : 128;
        while (o->n_slots < 3 * count_keys(r, o))
                o->n_slots *= 2;
        free(o->slots);
        o->slots = xcalloc(o->n_slots, sizeof(*o->slots));
        for (size_t i = 0; i < count_keys(r, o); i++) {
                uint32_t *slot = find_slot(r, o, o->slots, o->n_slots, key_at(r, o, i));

                if (!*slot)
                        *slot = (uint32_t)i + 1;
        }
}

/* Whether the object has the key already; enters it in the table if it has one. */
static _noinline_ bool has_key(const struct reader *r, struct open_object *o, struct str key)
{
        size_t n = count_keys(r, o);
        uint32_t *slot;

        if (n < FILTERED_MEMBERS) {
                for (size_t i = 0; i < n; i++)
                        if (str_equal(key_at(r, o, i), key))
                                return true;
                return false;
        }
        if (2 * n >= o->n_slots)
                grow_slots(r, o);
        slot = find_slot(r, o, o->slots, o->n_slots, key);
        if (*slot)
                return true;
        *slot = (uint32_t)n + 1;
        return false;
}

/* Leaves each key once, at its first place with its last value. */
static void remove_duplicates(struct reader *r, struct open_object *o)
{
        union unit *units = r->units + o->frame.base;
        size_t n = count_keys(r, o), n_slots = 64, kept = 0;
        _cleanup_free_ uint32_t *slots = NULL;

        while (n_slots < 2 * n)
                n_slots *= 2;
        slots = xcalloc(n_slots, sizeof(*slots));
        for (size_t i = 0; i < n; i++) {
                uint32_t *slot = find_slot(r, o, slots, n_slots, units[2 * i].key);

                if (*slot) {
                        units[2 * (*slot - 1) + 1] = units[2 * i + 1];
                        continue;
                }
                units[2 * kept] = units[2 * i];
                units[2 * kept + 1] = units[2 * i + 1];
                *slot = (uint32_t)++kept;
        }
        r->n_units = o->frame.base + 2 * kept;
}

/* Takes a key into account that is not above the one before it; false after an error. */
static bool note_unsorted_key(struct reader *r, struct open_object *o, struct str key, uint64_t bit, const char *at)
{
        if (count_keys(r, o) < FILTERED_MEMBERS && !(o->hash_bits & bit))
                return true;
        if (!has_key(r, o, key))
                return true;
        if (r->options.duplicates == JSON_DUPLICATES_REFUSE)
                return fail_duplicate(r, at, key);
        o->has_duplicates = true;
        tell_duplicate(r, key);
        return true;
}

/* Takes the key into account, before it is pushed; false after an error. */
static inline bool note_key(struct reader *r, struct open_object *o, struct str key, uint64_t prefix, uint64_t hash,
                            const char *at)
{
        uint64_t bit = 1ull << (hash >> 58);
        size_t n = count_keys(r, o);

        if (n > 0 && o->is_sorted) {
                if (prefix != o->prefix)
                        o->is_sorted = prefix > o->prefix;
                else
                        o->is_sorted = str_compare(key_at(r, o, n - 1), key) < 0;
        }
        if (UNLIKELY(!o->is_sorted) && !note_unsorted_key(r, o, key, bit, at))
                return false;
        o->prefix = prefix;
        o->hash_bits |= bit;
        return true;
}

/* A key with its colon; p is at its quote. */
static inline const char *read_key(struct reader *r, const char *p, struct open_object *o)
{
        const char *at = p, *stop;
        bool has_high = false;
        uint64_t prefix, hash;
        struct str key, slow;

        if (UNLIKELY(p >= r->end || *p != '"'))
                return fail_between(r, p, "looking for beginning of object key string");
        p++;
        stop = scan_plain(p, r->end, &has_high);
        key = str_make(p, (size_t)(stop - p));
        if (LIKELY(stop < r->end && *stop == '"' && (!has_high || utf8_is_valid(key)))) {
                prefix = prefix_of(key, r->end);
                hash = hash_of(key, prefix);
                if (!r->options.borrows_text)
                        key = keep_key(r, key, hash);
                p = stop + 1;
        } else {
                p = read_string_slow(r, p, &slow);
                if (!p)
                        return NULL;
                key = slow;
                prefix = prefix_of(key, key.p + key.n);
                hash = hash_of(key, prefix);
        }
        if (!note_key(r, o, key, prefix, hash, at))
                return NULL;
        push_unit(r)->key = key;
        p = skip_space(p, r->end);
        if (UNLIKELY(p >= r->end || *p != ':'))
                return fail_between(r, p, "after object key");
        return skip_space(p + 1, r->end);
}

/* The members and the closing brace; p is at the first key. Returns where the brace stands. */
static inline const char *read_members(struct reader *r, const char *p, struct open_object *o)
{
        for (;;) {
                p = read_key(r, p, o);
                if (!p)
                        return NULL;
                p = read_value(r, p);
                if (!p)
                        return NULL;
                p = skip_space(p, r->end);
                if (p >= r->end || *p != ',')
                        break;
                p = skip_space(p + 1, r->end);
        }
        if (UNLIKELY(p >= r->end || *p != '}'))
                return fail_between(r, p, "after object key:value pair");
        if (UNLIKELY(o->has_duplicates))
                remove_duplicates(r, o);
        return p;
}

static const char *read_object(struct reader *r, const char *p)
{
        struct open_object o = { .frame.is_object = true, .is_sorted = true };
        const struct member *members;

        if (!enter(r, &o.frame, p))
                return NULL;
        p = skip_space(p + 1, r->end);
        if (p < r->end && *p == '}')
                return leave(r, &o.frame, p, value_empty_object);
        p = read_members(r, p, &o);
        if (UNLIKELY(o.slots))
                free(o.slots);
        if (!p)
                return NULL;
        members = (const struct member *)&r->units[o.frame.base];
        return leave(r, &o.frame, p, value_of_members(r->arena, members, count_keys(r, &o), o.is_sorted));
}

/* Texts */

static int fail_number(struct reader *r)
{
        r->result = err_set(r->err, ERR_INVALID, "json: cannot unmarshal number %.*s into Go value of type float64",
                            STR_ARG(r->bad_number));
        locate(r, r->bad_number.p);
        err_set_path(r->err, str_from(r->bad_number_path));
        return r->result;
}

/* Reads the value at p, with nothing but white space behind it if is_whole. */
static const char *read_text(struct reader *r, const char *p, bool is_whole, const struct value **ret)
{
        p = read_value(r, p);
        if (p && is_whole) {
                p = skip_space(p, r->end);
                if (p < r->end)
                        p = fail_between(r, p, "after top-level value");
        }
        if (p && r->bad_number.p)
                fail_number(r);
        if (r->room_end - r->room > 1)
                arena_shrink(r->arena, r->chunk, (size_t)(r->room_end - r->chunk), (size_t)(r->room - r->chunk));
        if (r->result < 0)
                return NULL;
        *ret = value_put(r->arena, r->units[0].value);
        return p;
}

static int parse(struct arena *a, struct str text, const struct json_read_options *options, bool is_whole,
                 const struct value **ret, size_t *ret_consumed, struct err *err)
{
        bool is_small = text.n <= SMALL_TEXT_BYTES;
        unsigned cache_bits = is_small ? SMALL_CACHE_BITS : LARGE_CACHE_BITS;
        union unit initial_units[INITIAL_UNITS];
        struct str keys[1 << LARGE_CACHE_BITS];
        char no_room[1];
        struct reader r = {
                .arena = a,
                .start = text.n ? text.p : "",
                .units = initial_units,
                .initial_units = initial_units,
                .capacity = INITIAL_UNITS,
                .chunk = no_room,
                .room = no_room,
                .room_end = no_room,
                .chunk_bytes = (size_t)MIN(text.n + STEP, FIRST_CHUNK_BYTES),
                .keys = keys,
                .key_shift = 64 - cache_bits,
                .err = err,
        };
        const char *p;
        size_t max;

        if (options)
                r.options = *options;
        r.max_depth = r.options.max_depth ? MIN(r.options.max_depth, (uint32_t)LIMIT_DEPTH) : LIMIT_DEPTH;
        max = r.options.max_bytes ? MIN(r.options.max_bytes, LIMIT_STRING_BYTES) : LIMIT_DOCUMENT_BYTES;
        if (text.n > max)
                return err_set(err, ERR_LIMIT, "JSON text is larger than the limit of %zu bytes", max);
        r.end = r.start + text.n;
        memset(keys, 0, sizeof(*keys) << cache_bits);
        p = skip_space(r.start, r.end);
        if (!is_whole && p == r.end)
                return err_set(err, ERR_NOT_FOUND, "EOF");
        p = read_text(&r, p, is_whole, ret);
        if (r.units != initial_units)
                free(r.units);
        free(r.bad_number_path);
        if (!p)
                return r.result;
        if (ret_consumed)
                *ret_consumed = (size_t)(p - r.start);
        return 0;
}

int json_parse(struct arena *a, struct str text, const struct json_read_options *options, const struct value **ret,
               struct err *err)
{
        return parse(a, text, options, true, ret, NULL, err);
}

int json_parse_next(struct arena *a, struct str text, const struct json_read_options *options, const struct value **ret,
                    size_t *ret_consumed, struct err *err)
{
        return parse(a, text, options, false, ret, ret_consumed, err);
}
