#include "fuzz.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "utf8.h"

#define MAX_BYTES    100000
#define MAX_OPERANDS 8

/* The operands: a JSON array, or else the bytes themselves as a string. */
static size_t read_operands(struct arena *a, struct str text, const struct value **operands)
{
        const struct value *list;

        if (json_parse(a, text, NULL, &list, NULL) < 0 || !value_is_array(list)) {
                operands[0] = value_put(a, value_of_str(text));
                return 1;
        }
        for (size_t i = 0; i < value_count(list) && i < MAX_OPERANDS; i++)
                operands[i] = value_item(list, i);
        return value_count(list) < MAX_OPERANDS ? value_count(list) : MAX_OPERANDS;
}

/* The result is the same with every maximum that is large enough, and never exceeds a smaller one. */
static void check_maximum(struct str format, const struct value **operands, size_t n, struct str whole)
{
        _cleanup_buf_ struct buf exact = BUF_INIT(whole.n), small = BUF_INIT(whole.n / 2);

        if (whole.n < 2)
                return;
        go_sprintf(&exact, format, operands, n, 0);
        assert(!exact.has_failed && str_equal(buf_str(&exact), whole));
        go_sprintf(&small, format, operands, n, 0);
        assert(small.has_failed && small.n <= whole.n / 2);
}

static void check_value(const struct value *v)
{
        _cleanup_buf_ struct buf appended = BUF_INIT(MAX_BYTES), formatted = BUF_INIT(MAX_BYTES);

        go_append_value(&appended, v);
        go_sprintf(&formatted, STR("%v"), &v, 1, 0);
        assert(appended.has_failed == formatted.has_failed);
        assert(appended.has_failed || str_equal(buf_str(&appended), buf_str(&formatted)));
}

/* Quoted text is printable and, in its ASCII form, ASCII. */
static void check_quoted(struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t width;

        go_append_quoted(&b, s);
        for (struct str rest = buf_str(&b); rest.n > 0; rest = str_skip(rest, width))
                assert(go_is_printable(utf8_decode(rest, &width)));
        buf_clear(&b);
        go_append_quoted_ascii(&b, s);
        for (size_t i = 0; i < b.n; i++)
                assert(b.p[i] >= 0x20 && b.p[i] < 0x7F);
}

/* A format, a line feed, and the operands. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf whole = BUF_INIT(MAX_BYTES), other = BUF_INIT(MAX_BYTES);
        struct str rest = str_make((const char *)data, size), format;
        const struct value *operands[MAX_OPERANDS];
        size_t n;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &format);
        n = read_operands(&a, rest, operands);
        go_sprintf(&whole, format, operands, n, 0);
        assert(whole.n <= MAX_BYTES);
        if (!whole.has_failed)
                check_maximum(format, operands, n, buf_str(&whole));
        go_sprintf(&other, format, operands, n, GO_FORMAT_INTEGRAL_DOUBLES);
        assert(other.n <= MAX_BYTES);
        for (size_t i = 0; i < n; i++)
                check_value(operands[i]);
        check_quoted(format);
        return 0;
}
