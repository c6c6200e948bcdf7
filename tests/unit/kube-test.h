/* Shared by the tests of objects: makes values from JSON text and compares values with JSON text. */
#pragma once

#include "test.h"

#include "json.h"

static inline const struct value *from_json(struct arena *a, const char *text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        if (json_parse(a, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

static inline struct str to_json(struct arena *a, const struct value *v)
{
        struct str text = STR("(nothing)");

        if (v && json_to_str(a, v, JSON_SORT_KEYS, &text, NULL) < 0)
                test_fail(__FILE__, __LINE__, "a value cannot be written");
        return text;
}

/* v equals the value of the JSON text; the order of members does not matter. */
#define ASSERT_JSON(a, v, text) ASSERT_STR(to_json((a), (v)), to_json((a), from_json((a), (text))))
#define ASSERT_JSON_CASE(what, a, v, text) \
        ASSERT_STR_CASE(what, to_json((a), (v)), to_json((a), from_json((a), (text))))
