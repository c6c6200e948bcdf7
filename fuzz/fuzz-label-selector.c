#include "fuzz.h"

#include "arena.h"
#include "buf.h"
#include "field-selector.h"
#include "json.h"
#include "label-selector.h"

/* The canonical text parses to the same selector, and writing that gives the same text. */
static void check_label_text(struct arena *a, const struct label_selector *s)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), again = BUF_INIT(0);
        struct label_selector copy;
        int r;

        label_selector_append(&text, s);
        r = label_selector_parse(a, buf_str(&text), &copy, NULL);
        assert(r == 0);
        assert(copy.n == s->n);
        label_selector_append(&again, &copy);
        assert(str_equal(buf_str(&text), buf_str(&again)));
}

/* Exactly one of a requirement and its opposite holds. */
static void check_opposites(const struct label_selector *s, const struct value *labels)
{
        for (size_t i = 0; i < s->n; i++) {
                static const enum selector_operator opposites[] = {
                        [SELECT_EQUALS] = SELECT_NOT_EQUALS, [SELECT_NOT_EQUALS] = SELECT_EQUALS,
                        [SELECT_IN] = SELECT_NOT_IN,         [SELECT_NOT_IN] = SELECT_IN,
                        [SELECT_EXISTS] = SELECT_NOT_EXISTS, [SELECT_NOT_EXISTS] = SELECT_EXISTS,
                };
                struct label_requirement requirement = s->requirements[i];
                struct label_selector one = { .requirements = &requirement, .n = 1 };
                bool matches = label_selector_matches(&one, labels);

                assert(matches || !label_selector_matches(s, labels));
                if (requirement.op == SELECT_GREATER || requirement.op == SELECT_LESS)
                        continue;
                requirement.op = opposites[requirement.op];
                assert(label_selector_matches(&one, labels) == !matches);
        }
}

static void check_labels(struct arena *a, struct str text, const struct value *labels)
{
        struct label_selector s;

        if (label_selector_parse(a, text, &s, NULL) < 0)
                return;
        check_label_text(a, &s);
        check_opposites(&s, labels);
}

/* The same for field selectors. Their canonical text is sorted by the text as written, not by its meaning. */
static void check_fields(struct arena *a, struct str text, const struct value *object)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct field_selector s, copy;
        int r;

        if (field_selector_parse(a, text, &s, NULL) < 0)
                return;
        field_selector_append(&b, &s);
        r = field_selector_parse(a, buf_str(&b), &copy, NULL);
        assert(r == 0);
        assert(copy.n == s.n);
        assert(field_selector_matches(&s, object) == field_selector_matches(&copy, object));
        assert(str_equal(field_selector_name(&s), field_selector_name(&copy)));
}

/* A selector, a line feed, and the labels or the object as JSON; the object may be a selector too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        struct str rest = str_make((const char *)data, size), text;
        const struct value *object = &value_empty_object;
        struct label_selector s;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &text);
        if (json_parse(&a, rest, NULL, &object, NULL) < 0)
                object = &value_empty_object;
        check_labels(&a, text, object);
        check_fields(&a, text, object);
        if (label_selector_from_value(&a, object, &s, NULL) == 0 && !s.matches_nothing)
                check_opposites(&s, object);
        return 0;
}
