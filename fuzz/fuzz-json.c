/* An accepted value is written and read back equal: compact or pretty, sorted or not. Borrowing changes nothing. The Kubernetes
 * reader accepts everything that the strict one accepts; beyond that it accepts only broken text inside strings. */
#include "fuzz.h"

#include "buf.h"
#include "json.h"
#include "utf8.h"

static const struct value *parse(struct arena *a, struct str text, struct json_read_options options)
{
        const struct value *v = NULL;
        int r = json_parse(a, text, &options, &v, NULL);

        assert(r == 0 || !v);
        return v;
}

static struct str written(struct arena *a, const struct value *v, unsigned flags)
{
        struct str text = STR_NONE;
        int r = json_to_str(a, v, flags, &text, NULL);

        assert(r == 0);
        return text;
}

/* Like value_equal, but a double may come back as the int with the same digits: 1.0 is written as 1. */
static bool is_same(const struct value *v, const struct value *w)
{
        if (value_is_number(v) && value_is_number(w))
                return value_double(v, 0) == value_double(w, 0);
        if (value_type(v) != value_type(w) || value_count(v) != value_count(w))
                return false;
        for (size_t i = 0; i < value_count(v); i++) {
                const struct value *other =
                        value_is_array(v) ? value_item(w, i) : value_get(w, value_member(v, i)->key);

                if (!other || !is_same(value_is_array(v) ? value_item(v, i) : &value_member(v, i)->value, other))
                        return false;
        }
        return value_count(v) > 0 || value_equal(v, w);
}

static void check_round_trips(struct arena *a, const struct value *v)
{
        static const unsigned flags[] = { 0, JSON_PRETTY, JSON_GO, JSON_GO | JSON_PRETTY };
        const struct value *settled = parse(a, written(a, v, 0), (struct json_read_options) { 0 });

        for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
                struct str text = written(a, v, flags[i]);
                const struct value *again = parse(a, text, (struct json_read_options) { 0 });

                assert(utf8_is_valid(text));
                assert(again && is_same(v, again) && value_equal(settled, again));
                assert(value_hash(settled) == value_hash(again));
                text = written(a, again, flags[i]);
                assert(str_equal(text, written(a, parse(a, text, (struct json_read_options) { 0 }), flags[i])));
        }
        assert(value_hash(v) == value_hash(value_copy(a, v)) && value_equal(v, value_copy(a, v)));
}

static void check_error(struct arena *a, struct str text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (json_parse(a, text, NULL, &v, &err) == 0)
                return;
        assert(err.code < 0 && err.message && err.position.line > 0 && err.position.column > 0);
        assert(err.position.offset <= text.n && err.path);
}

static void check_stream(struct arena *a, struct str text)
{
        const struct value *v;
        size_t consumed;

        while (json_parse_next(a, text, NULL, &v, &consumed, NULL) == 0) {
                assert(consumed > 0 && consumed <= text.n);
                text = str_skip(text, consumed);
        }
}

/* The text with every byte that is not ASCII replaced by an x, which is valid only inside strings. */
static struct str without_high_bytes(struct arena *a, struct str text)
{
        struct str copy = arena_copy(a, text);

        for (size_t i = 0; i < copy.n; i++)
                if (copy.p[i] & 0x80)
                        ((char *)copy.p)[i] = 'x';
        return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        struct str text = str_make((const char *)data, size);
        const struct value *strict, *borrowed, *kubernetes, *unique;

        arena_init(&a, "fuzz", 0);
        strict = parse(&a, text, (struct json_read_options) { 0 });
        borrowed = parse(&a, text, (struct json_read_options) { .borrows_text = true });
        kubernetes = parse(&a, text, (struct json_read_options) { .is_kubernetes = true });
        unique = parse(&a, text, (struct json_read_options) { .duplicates = JSON_DUPLICATES_REFUSE });
        assert(!strict == !borrowed && (!strict || value_equal(strict, borrowed)));
        assert(!strict || (kubernetes && value_equal(strict, kubernetes)));
        assert(!unique || (strict && value_equal(strict, unique)));
        if (kubernetes)
                check_round_trips(&a, kubernetes);
        if (parse(&a, without_high_bytes(&a, text), (struct json_read_options) { .is_kubernetes = true }))
                assert(kubernetes);
        check_error(&a, text);
        check_stream(&a, text);
        return 0;
}
