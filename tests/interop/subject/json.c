#include "subject.h"

#include "buf.h"

static struct str from_hex(struct arena *a, struct str hex)
{
        char *bytes = arena_alloc_aligned(a, hex.n / 2 + 1, 1);

        for (size_t i = 0; i < hex.n / 2; i++) {
                char two[3] = { hex.p[2 * i], hex.p[2 * i + 1], '\0' };

                bytes[i] = (char)strtoul(two, NULL, 16);
        }
        return str_make(bytes, hex.n / 2);
}

static struct value to_hex(struct arena *a, struct str s)
{
        char *hex = arena_alloc_aligned(a, 2 * s.n + 1, 1);

        for (size_t i = 0; i < s.n; i++) {
                hex[2 * i] = "0123456789abcdef"[(unsigned char)s.p[i] >> 4];
                hex[2 * i + 1] = "0123456789abcdef"[s.p[i] & 15];
        }
        return value_of_str(str_make(hex, 2 * s.n));
}

static struct value encoding(struct arena *a, const struct value *v, unsigned flags)
{
        struct str text = STR_NONE;

        json_to_str(a, v, flags, &text, NULL);
        return to_hex(a, text);
}

static const struct value *encodings(struct arena *a, const struct value *v)
{
        struct object_builder result;

        object_builder_init(&result, a, 3);
        object_builder_add(&result, STR("compact"), encoding(a, v, JSON_GO));
        object_builder_add(&result, STR("plain"), encoding(a, v, JSON_SORT_KEYS));
        object_builder_add(&result, STR("pretty"), encoding(a, v, JSON_GO | JSON_PRETTY));
        return value_put(a, object_builder_finish(&result));
}

static const struct value *parse(struct arena *a, struct str text, const struct json_read_options *options,
                                 bool has_offset)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v, *result;

        if (json_parse(a, text, options, &v, &err) == 0)
                return encodings(a, v);
        result = result_error(a, &err);
        if (has_offset && !str_starts_with(str_from(err_message(&err)), STR("json: "))) {
                /* Go counts the bytes it has read, the bad one included. */
                struct value offset = value_of_int((int64_t)MIN(err.position.offset + 1, text.n));

                result = value_with(a, result, STR("offset"), &offset);
        }
        return result;
}

struct told {
        struct arena *arena;
        struct array_builder list;
};

/* Kubernetes lists each text once, and no more than a hundred. */
static void add_duplicate(void *context, struct str object_path, struct str key)
{
        struct told *t = context;
        struct str text = arena_printf(t->arena, "duplicate field \"%.*s%s%.*s\"", STR_ARG(object_path),
                                       object_path.n ? "." : "", STR_ARG(key));

        for (uint32_t i = 0; i < t->list.n; i++)
                if (str_equal(value_str(&t->list.items[i]), text))
                        return;
        if (t->list.n < 100)
                array_builder_add(&t->list, value_of_str(text));
}

static const struct value *run_strict(struct arena *a, struct str text)
{
        _cleanup_err_ struct err err = { 0 };
        struct told told = { .arena = a };
        struct json_read_options options = { .is_kubernetes = true, .on_duplicate = add_duplicate, .context = &told };
        const struct value *v;
        struct member m;

        array_builder_init(&told.list, a, 0);
        if (json_parse(a, text, &options, &v, &err) < 0)
                return result_error(a, &err);
        m = (struct member) { STR("told"), array_builder_finish(&told.list) };
        return value_put(a, value_of_members(a, &m, 1, true));
}

static const struct value *run_stream(struct arena *a, struct str text)
{
        struct json_read_options options = { .is_kubernetes = true, .numbers_as_double = true };
        struct array_builder values;
        struct object_builder result;
        const struct value *v;
        size_t consumed;
        int r;

        array_builder_init(&values, a, 0);
        while ((r = json_parse_next(a, text, &options, &v, &consumed, NULL)) == 0) {
                array_builder_add(&values, encoding(a, v, JSON_GO));
                text = str_skip(text, consumed);
        }
        object_builder_init(&result, a, 2);
        object_builder_add(&result, STR("failed"), value_of_bool(r != ERR_NOT_FOUND));
        object_builder_add(&result, STR("values"), array_builder_finish(&values));
        return value_put(a, object_builder_finish(&result));
}

const struct value *run_json(struct arena *a, const struct value *c)
{
        struct str op = value_str(value_find(c, "op")), text = from_hex(a, value_str(value_find(c, "text")));
        struct json_read_options go = { .is_kubernetes = true, .numbers_as_double = true };
        struct json_read_options kubernetes = { .is_kubernetes = true };

        if (str_equal(op, STR("go")))
                return parse(a, text, &go, true);
        if (str_equal(op, STR("kubernetes")))
                return parse(a, text, &kubernetes, false);
        if (str_equal(op, STR("strict")))
                return run_strict(a, text);
        return run_stream(a, text);
}
