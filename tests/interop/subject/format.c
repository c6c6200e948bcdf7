#include "subject.h"

#include "base64.h"
#include "buf.h"
#include "gotext.h"
#include "number.h"
#include "utf8.h"

#include <stdio.h>

static struct value encoded(struct arena *a, struct buf *b)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        base64_encode(&text, buf_str(b), BASE64_STD);
        buf_clear(b);
        return value_of_str(buf_to_arena(&text, a));
}

static struct str decoded(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = base64_decode(&b, value_str(v), BASE64_STD, NULL);

        assert(r == 0);
        return buf_to_arena(&b, a);
}

static const struct value *untagged(struct arena *a, const struct value *v);

static const struct value *untagged_object(struct arena *a, const struct value *members)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(members));
        VALUE_FOREACH_ITEM (m, members)
                object_builder_add(&b, decoded(a, value_item(m, 0)), *untagged(a, value_item(m, 1)));
        return value_put(a, object_builder_finish(&b));
}

static const struct value *untagged_array(struct arena *a, const struct value *items)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(items));
        VALUE_FOREACH_ITEM (item, items)
                array_builder_add(&b, *untagged(a, item));
        return value_put(a, array_builder_finish(&b));
}

/* The argument behind {"i": ...}, {"d": ...} and so on; see the oracle. */
static const struct value *untagged(struct arena *a, const struct value *v)
{
        const struct value *x;
        int64_t i;

        if ((x = value_get(v, STR("b"))))
                return x;
        if ((x = value_get(v, STR("i")))) {
                number_parse_int(value_str(x), &i, NULL);
                return value_put(a, value_of_int(i));
        }
        if ((x = value_get(v, STR("d")))) {
                uint64_t bits = strtoull(arena_cstring(a, value_str(x)), NULL, 16);
                double d;

                memcpy(&d, &bits, sizeof(d));
                return value_put(a, value_of_double(d));
        }
        if ((x = value_get(v, STR("s"))))
                return value_put(a, value_of_str(decoded(a, x)));
        if ((x = value_get(v, STR("a"))))
                return untagged_array(a, x);
        if ((x = value_get(v, STR("o"))))
                return untagged_object(a, x);
        return &value_null;
}

static const struct value *run_sprintf(struct arena *a, const struct value *c, unsigned flags)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *list = value_get(c, STR("args"));
        size_t n = value_count(list);
        const struct value **arguments = ARENA_NEW_ARRAY(a, const struct value *, n + 1);

        for (size_t i = 0; i < n; i++)
                arguments[i] = untagged(a, value_item(list, i));
        go_sprintf(&b, decoded(a, value_get(c, STR("format"))), arguments, n, flags);
        return value_put(a, encoded(a, &b));
}

static const struct value *run_quote(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value items[3];

        go_append_quoted(&b, s);
        items[0] = encoded(a, &b);
        go_append_quoted_ascii(&b, s);
        items[1] = encoded(a, &b);
        items[2] = value_of_bool(go_can_backquote(s));
        return value_put(a, value_of_items(a, items, 3));
}

static const struct value *run_rune(struct arena *a, int64_t rune)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value items[2];

        go_append_quoted_rune(&b, (uint32_t)rune, false);
        items[0] = value_of_str(buf_to_arena(&b, a));
        go_append_quoted_rune(&b, (uint32_t)rune, true);
        items[1] = value_of_str(buf_to_arena(&b, a));
        return value_put(a, value_of_items(a, items, 2));
}

/* FNV-1a over a line for each rune. */
static const struct value *run_runes(struct arena *a)
{
        uint64_t h = 0xcbf29ce484222325u;

        for (uint32_t rune = 0; rune <= RUNE_MAX; rune++) {
                char line[64];
                int n = snprintf(line, sizeof(line), "%s %x %x\n", go_is_printable(rune) ? "true" : "false",
                                 go_to_upper(rune), go_to_lower(rune));

                for (int i = 0; i < n; i++)
                        h = (h ^ (unsigned char)line[i]) * 0x100000001b3u;
        }
        return value_put(a, value_of_str(arena_printf(a, "%016llx", (unsigned long long)h)));
}

const struct value *run_format(struct arena *a, const struct value *c)
{
        struct str op = value_str(value_get(c, STR("op")));

        if (str_equal(op, STR("sprintf")))
                return run_sprintf(a, c, 0);
        if (str_equal(op, STR("integral")))
                return run_sprintf(a, c, GO_FORMAT_INTEGRAL_DOUBLES);
        if (str_equal(op, STR("quote")))
                return run_quote(a, decoded(a, value_get(c, STR("text"))));
        if (str_equal(op, STR("rune")))
                return run_rune(a, value_int(value_get(c, STR("rune")), 0));
        return run_runes(a);
}
