/* Values written as JSON, for tests of code that works on values. They live in one arena, which `begin` opens and `end` closes. */
#pragma once

#include "test.h"

#include "arena.h"
#include "err.h"
#include "json.h"
#include "value.h"

static struct arena arena;

static inline void begin(void)
{
        arena_init(&arena, "test", 0);
}

static inline void end(void)
{
        arena_done(&arena);
}

static inline const struct value *parse(const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (json_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

/* flags are those of json.h. */
static inline const char *text_of(const struct value *v, unsigned flags)
{
        struct str text;

        ASSERT(json_to_str(&arena, v, flags, &text, NULL) >= 0);
        return arena_cstring(&arena, text);
}

static inline void check_value(const char *what, const struct value *v, const char *wanted)
{
        if (!value_equal(v, parse(wanted)))
                test_fail(__FILE__, __LINE__, "[%s] is %s, wanted %s", what, text_of(v, JSON_SORT_KEYS), wanted);
}

static inline void check_error(const char *what, int r, const struct err *err, int code, const char *message)
{
        ASSERT_STR_CASE(what, str_from(err_message(err)), str_from(message));
        ASSERT_CASE(what, r == code && err->code == code);
}
