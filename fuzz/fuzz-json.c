/* What is accepted is written and read back equal, compact as pretty, sorted as not; borrowing changes nothing; the Kubernetes
 * reading takes everything the strict one takes, and more only for the sake of broken text inside strings. */
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

static void check_round_trips(struct arena *a, const struct value *v)
{
        static const unsigned flags[] = { 0, JSON_PRETTY, JSON_GO, JSON_GO | JSON_PRETTY };
        struct str sorted = written(a, v, JSON_SORT_KEYS);

        for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
                struct str text = written(a, v, flags[i]);
                const struct value *again = parse(a, text, (struct json_read_options) { 0 });

                /* -0.0 is written as -0 and 1.0 as 1, which are ints when read: only numbers may change their type. */
                assert(again && value_equal_numeric(v, again));
                assert(utf8_is_valid(text));
                again = parse(a, written(a, again, JSON_SORT_KEYS), (struct json_read_options) { 0 });
                assert(again && str_equal(sorted, written(a, v, JSON_SORT_KEYS)));
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

/* Every byte that is not ASCII replaced by a letter: the same text as far as the grammar goes, and valid. */
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
                assert(kubernetes || !utf8_is_valid(text) || str_find_char(text, (char)0xc2) >= 0 || size > 0);
        check_error(&a, text);
        check_stream(&a, text);
        return 0;
}
