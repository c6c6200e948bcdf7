/* A value that can be read is written and read again as the same value; streams are cut into pieces that lie in the text; positions
 * of errors lie in it too. */
#include "fuzz.h"

#include "buf.h"
#include "source.h"
#include "value.h"
#include "yaml.h"

/* A parsed value has ints in place of small integral doubles; the written text parses to an equal value. */
static void check_round_trip(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(64u << 20);
        _cleanup_err_ struct err err = { 0 };
        const struct value *again;

        if (yaml_write(&b, v, 0, NULL) < 0)
                return; /* aliases can make a large text from a small one */
        if (yaml_parse(a, buf_str(&b), NULL, &again, &err) < 0)
                abort();
        assert(value_equal_numeric(v, again));
}

static void check_error(struct str text, const struct err *err)
{
        struct source_file s = { .name = STR("input"), .text = text };
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        assert(err->position.offset <= text.n);
        source_append_error(&b, &s, err);
        assert(str_starts_with(buf_str(&b), STR("input:")));
}

static void check_split(struct str text)
{
        struct yaml_stream s;
        struct yaml_document d;
        size_t end = 0;

        yaml_stream_init(&s, text);
        while (yaml_stream_next(&s, &d, NULL) > 0) {
                assert(d.offset >= end && d.text.p == text.p + d.offset && d.text.n <= text.n - d.offset);
                assert(source_position(text, d.offset).line == d.line);
                end = d.offset + d.text.n;
        }
}

static void check_stream(struct arena *a, struct str text)
{
        struct path_segment segments[] = { { .key = STR_INIT("a") }, { .index = 1, .is_index = true } };
        struct path path = { segments, ARRAY_SIZE(segments) };
        struct source_file s = { .name = STR("input"), .text = text };
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;
        struct position p;

        if (yaml_parse_stream(a, text, NULL, &v, &err) < 0) {
                check_error(text, &err);
                return;
        }
        for (size_t i = 0; i < value_count(v); i++) {
                if (source_locate(&s, i, &path, &p, NULL) < 0)
                        abort();
                assert(p.offset <= text.n);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = str_make((const char *)data, size);
        struct yaml_read_options strict = { .is_strict = true };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *v, *same;

        arena_init(&a, "input", 0);
        if (yaml_parse(&a, text, NULL, &v, &err) < 0) {
                check_error(text, &err);
        } else {
                check_round_trip(&a, v);
                if (yaml_parse(&a, text, &strict, &same, NULL) >= 0)
                        assert(value_equal(v, same));
        }
        check_split(text);
        check_stream(&a, text);
        return 0;
}
