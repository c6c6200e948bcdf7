/* The reader goes over the text once and recurses only for containers, so LIMIT_DEPTH bounds its stack. Members and items of
 * open containers are kept on a scratch stack; when a container closes, they are copied into the arena at once, so a finished
 * tree wastes no memory.
 *
 * String bytes are copied into chunks of the arena sixteen at a time; keys go through a small table of recent ones, so that the
 * thousands of `metadata` of a list share their bytes. Keys in strictly ascending order, the order in which Go prints maps, have
 * no duplicates. For other keys a set of hash bits shows which may be duplicates, and only those are searched for.
 *
 * Line, column and path of an error are found by a second walk over the text up to the error. */
#include "json-reader.h"

#include "limits.h"
#include "number.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>

#define FIRST_CHUNK_BYTES 1024u
#define INITIAL_UNITS     512
#define SMALL_TEXT_BYTES  8192
#define SMALL_CACHE_BITS  6
#define LARGE_CACHE_BITS  8
#define FILTERED_MEMBERS  48 /* with more members than this the hash bits are of no use */

/* Units */

/* Units go into the arena when their container closes; units on the stack already count in its budget. */
static _noinline_ void grow_units(struct json_reader *r)
{
        size_t capacity = r->capacity * 2, waiting = r->n_units * sizeof(*r->units);

        if (r->arena->budget_bytes && r->arena->used_bytes + waiting > r->arena->budget_bytes)
                r->arena->is_over_budget = true;

        if (r->units == r->initial_units) {
                r->units = xmalloc(capacity * sizeof(*r->units));
                memcpy(r->units, r->initial_units, r->n_units * sizeof(*r->units));
        } else {
                r->units = xrealloc(r->units, capacity * sizeof(*r->units));
        }
        r->capacity = capacity;
}

static inline union json_unit *push_unit(struct json_reader *r)
{
        if (UNLIKELY(r->n_units == r->capacity))
                grow_units(r);
        return &r->units[r->n_units++];
}

/* Two stores of eight bytes, never one of sixteen: a sixteen-byte load of data that was just stored in halves is slow. */
static inline void push_value(struct json_reader *r, struct value v)
{
        push_unit(r)->value = v;
}

/* Strings */

/* Copies bytes of the text into the arena. */
static inline const char *keep_bytes(struct json_reader *r, const char *p, size_t n)
{
        char *copy = r->room;

        if (UNLIKELY((size_t)(r->room_end - copy) < n + JSON_STEP || (size_t)(r->end - p) < n + JSON_STEP || n > 256))
                return n ? json_keep_bytes(r, p, n) : "";
        for (size_t i = 0; i < n; i += JSON_STEP)
                memcpy(copy + i, p + i, JSON_STEP);
        r->room += n;
        return copy;
}

static inline void push_string(struct json_reader *r, const char *bytes, size_t n)
{
        push_value(r, (struct value) { .type = VALUE_STRING, .n = (uint32_t)n, .bytes = bytes });
}

static const char *read_string(struct json_reader *r, const char *p)
{
        bool has_high = false;
        const char *stop;
        struct str slow;

        p++;
        stop = json_scan_plain(p, r->end, &has_high);
        if (LIKELY(stop < r->end && *stop == '"' && (!has_high || utf8_is_valid(str_make(p, (size_t)(stop - p)))))) {
                size_t n = (size_t)(stop - p);

                push_string(r, r->options.borrows_text ? p : keep_bytes(r, p, n), n);
                return stop + 1;
        }
        p = json_read_string(r, p, &slow);
        if (p)
                push_string(r, slow.p, slow.n);
        return p;
}

/* Numbers */

static const char *skip_digits(const struct json_reader *r, const char *p)
{
        while (p < r->end && *p >= '0' && *p <= '9')
                p++;
        return p;
}

/* Reads a number that is not a plain integer in range; p is at its first byte and `digits_end` is after its integer part. */
static _noinline_ const char *read_double(struct json_reader *r, const char *p, const char *digits_end)
{
        const char *q = digits_end;
        struct str text;
        double d;

        if (q < r->end && *q == '.') {
                if (q + 1 >= r->end || q[1] < '0' || q[1] > '9')
                        return json_fail_inside(r, q + 1, "after decimal point in numeric literal");
                q = skip_digits(r, q + 1);
        }
        if (q < r->end && (*q | 0x20) == 'e') {
                q++;
                if (q < r->end && (*q == '+' || *q == '-'))
                        q++;
                if (q >= r->end || *q < '0' || *q > '9')
                        return json_fail_inside(r, q, "in exponent of numeric literal");
                q = skip_digits(r, q);
        }
        text = str_make(p, (size_t)(q - p));
        d = number_from_decimal(text);
        if (isinf(d) && !r->bad_number.p)
                json_note_bad_number(r, text);
        push_value(r, value_of_double(d));
        return q;
}

static const char *read_number(struct json_reader *r, const char *p)
{
        const char *q = p + (*p == '-');
        const char *digits = q;
        uint64_t u = 0;

        if (q >= r->end || *q < '0' || *q > '9')
                return json_fail_inside(r, q, "in numeric literal");
        if (*q == '0')
                q++;
        else
                for (; q < r->end && *q >= '0' && *q <= '9'; q++)
                        u = u * 10 + (uint64_t)(*q - '0');
        /* Up to 18 digits always fit int64; 19 may fit, and do not wrap around. */
        if (UNLIKELY(q < r->end && (*q == '.' || *q == 'e' || *q == 'E')) || q - digits > 19 ||
            u > (uint64_t)INT64_MAX + (digits > p))
                return read_double(r, p, q);
        if (UNLIKELY(r->options.numbers_as_double))
                push_value(r, value_of_double(digits > p ? -(double)u : (double)u));
        else
                push_value(r, value_of_int((int64_t)(digits > p ? -u : u)));
        return q;
}

static const char *read_literal(struct json_reader *r, const char *p)
{
        static const char *const words[] = { "true", "false", "null" };
        const char *word = words[*p == 't' ? 0 : *p == 'f' ? 1 : 2];
        char where[48];

        for (size_t i = 1; word[i]; i++) {
                if (p + i < r->end && p[i] == word[i])
                        continue;
                snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, word[i]);
                return json_fail_inside(r, p + i, where);
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

static const char *read_array(struct json_reader *r, const char *p);
static const char *read_object(struct json_reader *r, const char *p);

/* A value; p is at its first byte, if there is one. */
static inline const char *read_value(struct json_reader *r, const char *p)
{
        switch (LIKELY(p < r->end) ? *p : '\0') {
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
                return json_fail_between(r, p, "looking for beginning of value");
        }
}

static inline bool enter(struct json_reader *r, struct frame *f, const char *p)
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
        json_fail_at(r, p, ERR_LIMIT, message);
        return false;
}

/* Puts the finished container in the place of its units; p is at its last byte. */
static inline const char *leave(struct json_reader *r, const struct frame *f, const char *p, struct value v)
{
        r->n_units = f->base;
        r->frame = f->parent;
        r->depth--;
        push_value(r, v);
        return p + 1;
}

/* Called after every value; true if the budget is exceeded and the error is set. */
static inline bool is_over_budget(struct json_reader *r)
{
        if (LIKELY(!r->arena->is_over_budget))
                return false;
        r->result = arena_check(r->arena, r->err);
        return true;
}

static const char *read_array(struct json_reader *r, const char *p)
{
        struct frame f = { .is_object = false };

        if (!enter(r, &f, p))
                return NULL;
        p = skip_space(p + 1, r->end);
        if (p < r->end && *p == ']')
                return leave(r, &f, p, value_empty_array);
        for (;;) {
                p = read_value(r, p);
                if (!p || is_over_budget(r))
                        return NULL;
                p = skip_space(p, r->end);
                if (p >= r->end || *p != ',')
                        break;
                p = skip_space(p + 1, r->end);
        }
        if (UNLIKELY(p >= r->end || *p != ']')) {
                r->is_between = true;
                return json_fail_between(r, p, "after array element");
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
        bool is_sorted;      /* the keys so far are strictly ascending, so they have no duplicates */
        bool has_duplicates; /* the last value of each key counts, at the position of its first occurrence */
};

static size_t count_keys(const struct json_reader *r, const struct open_object *o)
{
        return (r->n_units - o->frame.base) / 2;
}

static struct str key_at(const struct json_reader *r, const struct open_object *o, size_t i)
{
        return r->units[o->frame.base + 2 * i].key;
}

/* The first eight bytes as a number that compares in the same order as the text. */
static inline uint64_t prefix_of(struct str key, const char *readable_end)
{
        uint64_t prefix = 0;

        if (LIKELY(readable_end - key.p >= 8)) {
                prefix = __builtin_bswap64(json_load8(key.p));
                return key.n >= 8 ? prefix : prefix & ~(UINT64_MAX >> (8 * key.n));
        }
        for (size_t i = 0; i < 8; i++)
                prefix = prefix << 8 | (i < key.n ? (unsigned char)key.p[i] : 0);
        return prefix;
}

static inline uint64_t hash_of(struct str key, uint64_t prefix)
{
        uint64_t tail = key.n > 8 ? json_load8(key.p + key.n - 8) : 0;

        return (prefix ^ (tail << 1) ^ (tail >> 29) ^ key.n) * 0x9e3779b97f4a7c15u;
}

static uint32_t load4(const char *p)
{
        uint32_t word;

        memcpy(&word, p, sizeof(word));
        return word;
}

static bool bytes_equal(const char *a, const char *b, size_t n)
{
        if (n > 16)
                return memcmp(a, b, n) == 0;
        if (n >= 8)
                return json_load8(a) == json_load8(b) && json_load8(a + n - 8) == json_load8(b + n - 8);
        if (n >= 4)
                return load4(a) == load4(b) && load4(a + n - 4) == load4(b + n - 4);
        for (size_t i = 0; i < n; i++)
                if (a[i] != b[i])
                        return false;
        return true;
}

/* The key's bytes in the arena, shared with an earlier equal key if it is remembered. */
static inline struct str keep_key(struct json_reader *r, struct str key, uint64_t hash)
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

/* The slot that holds the key, or the free slot for it. */
static uint32_t *find_slot(const struct json_reader *r, const struct open_object *o, uint32_t *slots, size_t n_slots,
                           struct str key)
{
        size_t i = str_hash(key) & (n_slots - 1);

        while (slots[i] && !str_equal(key_at(r, o, slots[i] - 1), key))
                i = (i + 1) & (n_slots - 1);
        return &slots[i];
}

static void grow_slots(const struct json_reader *r, struct open_object *o)
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

/* True if the object has the key already; adds the key to the object's table if there is one. */
static _noinline_ bool has_key(const struct json_reader *r, struct open_object *o, struct str key)
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

/* Keeps each key once, at its first position with its last value. */
static void remove_duplicates(struct json_reader *r, struct open_object *o)
{
        union json_unit *units = r->units + o->frame.base;
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

/* Records a key that is not above the previous one; false after an error. */
static bool note_unsorted_key(struct json_reader *r, struct open_object *o, struct str key, uint64_t bit,
                              const char *at)
{
        if (count_keys(r, o) < FILTERED_MEMBERS && !(o->hash_bits & bit))
                return true;
        if (!has_key(r, o, key))
                return true;
        if (r->options.duplicates == JSON_DUPLICATES_REFUSE)
                return json_fail_duplicate(r, at, key);
        o->has_duplicates = true;
        json_tell_duplicate(r, key);
        return true;
}

/* Records the key before it is pushed; false after an error. */
static inline bool note_key(struct json_reader *r, struct open_object *o, struct str key, uint64_t prefix,
                            uint64_t hash, const char *at)
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
static inline const char *read_key(struct json_reader *r, const char *p, struct open_object *o)
{
        const char *at = p, *stop;
        bool has_high = false;
        uint64_t prefix, hash;
        struct str key, slow;

        if (UNLIKELY(p >= r->end || *p != '"'))
                return json_fail_between(r, p, "looking for beginning of object key string");
        p++;
        stop = json_scan_plain(p, r->end, &has_high);
        key = str_make(p, (size_t)(stop - p));
        if (LIKELY(stop < r->end && *stop == '"' && (!has_high || utf8_is_valid(key)))) {
                prefix = prefix_of(key, r->end);
                hash = hash_of(key, prefix);
                if (!r->options.borrows_text)
                        key = keep_key(r, key, hash);
                p = stop + 1;
        } else {
                p = json_read_string(r, p, &slow);
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
                return json_fail_between(r, p, "after object key");
        return skip_space(p + 1, r->end);
}

/* The members and the closing brace; p is at the first key. Returns the position of the brace. */
static inline const char *read_members(struct json_reader *r, const char *p, struct open_object *o)
{
        for (;;) {
                p = read_key(r, p, o);
                if (!p)
                        return NULL;
                p = read_value(r, p);
                if (!p || is_over_budget(r))
                        return NULL;
                p = skip_space(p, r->end);
                if (p >= r->end || *p != ',')
                        break;
                p = skip_space(p + 1, r->end);
        }
        if (UNLIKELY(p >= r->end || *p != '}'))
                return json_fail_between(r, p, "after object key:value pair");
        if (UNLIKELY(o->has_duplicates))
                remove_duplicates(r, o);
        return p;
}

static const char *read_object(struct json_reader *r, const char *p)
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

/* Reads the value at p; if is_whole, only white space may follow it. */
static const char *read_text(struct json_reader *r, const char *p, bool is_whole, const struct value **ret)
{
        p = read_value(r, p);
        if (p && is_over_budget(r))
                p = NULL;
        if (p && is_whole) {
                p = skip_space(p, r->end);
                if (p < r->end)
                        p = json_fail_between(r, p, "after top-level value");
        }
        if (p && r->bad_number.p)
                json_fail_bad_number(r);
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
        union json_unit initial_units[INITIAL_UNITS];
        struct str keys[1 << LARGE_CACHE_BITS];
        char no_room[1];
        struct json_reader r = {
                .arena = a,
                .start = text.n ? text.p : "",
                .units = initial_units,
                .initial_units = initial_units,
                .capacity = INITIAL_UNITS,
                .chunk = no_room,
                .room = no_room,
                .room_end = no_room,
                .chunk_bytes = (size_t)MIN(text.n + JSON_STEP, FIRST_CHUNK_BYTES),
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
