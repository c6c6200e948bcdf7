#include "gotime-layout.h"

/* Elements by their text, in the order in which they are tried: longer elements come before their own prefixes. */
static const struct {
        struct str text;
        enum layout_element element;
} elements[] = {
        { STR_INIT("January"), LAYOUT_LONG_MONTH },
        { STR_INIT("Jan"), LAYOUT_MONTH },
        { STR_INIT("Monday"), LAYOUT_LONG_WEEKDAY },
        { STR_INIT("Mon"), LAYOUT_WEEKDAY },
        { STR_INIT("MST"), LAYOUT_ZONE },
        { STR_INIT("01"), LAYOUT_ZERO_MONTH },
        { STR_INIT("02"), LAYOUT_ZERO_DAY },
        { STR_INIT("03"), LAYOUT_ZERO_HOUR_12 },
        { STR_INIT("04"), LAYOUT_ZERO_MINUTE },
        { STR_INIT("05"), LAYOUT_ZERO_SECOND },
        { STR_INIT("06"), LAYOUT_YEAR },
        { STR_INIT("002"), LAYOUT_ZERO_YEAR_DAY },
        { STR_INIT("15"), LAYOUT_HOUR },
        { STR_INIT("1"), LAYOUT_NUMBER_MONTH },
        { STR_INIT("2006"), LAYOUT_LONG_YEAR },
        { STR_INIT("2"), LAYOUT_DAY },
        { STR_INIT("__2"), LAYOUT_BLANK_YEAR_DAY },
        { STR_INIT("_2"), LAYOUT_BLANK_DAY },
        { STR_INIT("3"), LAYOUT_HOUR_12 },
        { STR_INIT("4"), LAYOUT_MINUTE },
        { STR_INIT("5"), LAYOUT_SECOND },
        { STR_INIT("PM"), LAYOUT_PM },
        { STR_INIT("pm"), LAYOUT_LOWER_PM },
        { STR_INIT("-070000"), LAYOUT_OFFSET },
        { STR_INIT("-07:00:00"), LAYOUT_OFFSET },
        { STR_INIT("-0700"), LAYOUT_OFFSET },
        { STR_INIT("-07:00"), LAYOUT_OFFSET },
        { STR_INIT("-07"), LAYOUT_OFFSET },
        { STR_INIT("Z070000"), LAYOUT_OFFSET },
        { STR_INIT("Z07:00:00"), LAYOUT_OFFSET },
        { STR_INIT("Z0700"), LAYOUT_OFFSET },
        { STR_INIT("Z07:00"), LAYOUT_OFFSET },
        { STR_INIT("Z07"), LAYOUT_OFFSET },
};

static bool begins_with_lower_case(struct str s)
{
        return s.n > 0 && s.p[0] >= 'a' && s.p[0] <= 'z';
}

/* A point or comma followed by zeros or nines, with no other digit after them. */
static enum layout_element fraction_at(struct str s, struct str *ret_text)
{
        size_t n = 1;

        if (s.n < 2 || (s.p[0] != '.' && s.p[0] != ',') || (s.p[1] != '0' && s.p[1] != '9'))
                return LAYOUT_END;
        while (n < s.n && s.p[n] == s.p[1])
                n++;
        if (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
                return LAYOUT_END;
        *ret_text = str_first(s, n);
        return s.p[1] == '0' ? LAYOUT_FRACTION : LAYOUT_FRACTION_TRIM;
}

/* True if the text is not an element: `_2006` is an underscore before a year, and a name followed by lower-case letters is a
 * word. */
static bool is_word(enum layout_element element, struct str behind)
{
        if (element == LAYOUT_MONTH || element == LAYOUT_WEEKDAY)
                return begins_with_lower_case(behind);
        return element == LAYOUT_BLANK_DAY && str_starts_with(behind, STR("006"));
}

static enum layout_element element_at(struct str s, struct str *ret_text)
{
        for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
                if (!str_starts_with(s, elements[i].text))
                        continue;
                if (is_word(elements[i].element, str_skip(s, elements[i].text.n)))
                        continue;
                *ret_text = str_first(s, elements[i].text.n);
                return elements[i].element;
        }
        return fraction_at(s, ret_text);
}

struct layout_part layout_next(struct str *layout)
{
        struct str whole = *layout;

        for (size_t i = 0; i < whole.n; i++) {
                struct str text, rest = str_skip(whole, i);
                enum layout_element element = element_at(rest, &text);

                if (element == LAYOUT_END)
                        continue;
                *layout = str_skip(rest, text.n);
                return (struct layout_part) { .prefix = str_first(whole, i), .element = element, .text = text };
        }
        *layout = STR("");
        return (struct layout_part) { .prefix = whole, .element = LAYOUT_END };
}
