/* A case has an `op`. Texts that are not UTF-8 travel as `base64:` and their base64, in cases as in results.
 *
 *   match  {pattern, text, template, limit}: the error, or all that searching, replacing and splitting give
 *   quote  {text}: QuoteMeta
 *   class  {pattern}: where it matches in the text of all characters */
#include "subject.h"

#include "base64.h"
#include "buf.h"
#include "regex.h"
#include "utf8.h"

#define MAX_MEMBERS 16

struct result {
        struct arena *a;
        struct member members[MAX_MEMBERS];
        size_t n;
};

static void put(struct result *res, const char *key, struct value v)
{
        assert(res->n < MAX_MEMBERS);
        res->members[res->n++] = (struct member) { str_from(key), v };
}

static struct value text_value(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (utf8_is_valid(s))
                return value_of_str(s);
        buf_append_literal(&b, "base64:");
        base64_encode(&b, s, BASE64_STD);
        return value_of_str(buf_to_arena(&b, a));
}

static struct str text_of(struct arena *a, const struct value *c, const char *key)
{
        struct str s = value_str(value_get(c, str_from(key)));
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        if (!str_cut_prefix(&s, STR("base64:")))
                return s;
        r = base64_decode(&b, s, BASE64_STD, NULL);
        assert(r >= 0);
        return buf_to_arena(&b, a);
}

static const struct value *finish(struct result *res)
{
        return value_put(res->a, value_of_members(res->a, res->members, res->n, false));
}

static struct value text_values(struct arena *a, const struct str *texts, size_t n)
{
        struct value *items = ARENA_NEW_ARRAY(a, struct value, n);

        for (size_t i = 0; i < n; i++)
                items[i] = text_value(a, texts[i]);
        return value_of_items(a, items, n);
}

/* Two offsets for each group, -1 for one that took no part. */
static struct value offsets(struct arena *a, struct str text, const struct str *groups, size_t n)
{
        struct value *items = ARENA_NEW_ARRAY(a, struct value, 2 * n);

        for (size_t i = 0; i < n; i++) {
                ptrdiff_t start = groups[i].p ? groups[i].p - text.p : -1;

                items[2 * i] = value_of_int(start);
                items[2 * i + 1] = value_of_int(start < 0 ? -1 : start + (ptrdiff_t)groups[i].n);
        }
        return value_of_items(a, items, 2 * n);
}

static struct value all_offsets(struct arena *a, const struct regex *re, struct str text, size_t n)
{
        struct str *groups = ARENA_NEW_ARRAY(a, struct str, n);
        struct value *items = ARENA_NEW_ARRAY(a, struct value, text.n + 2);
        struct regex_scan scan;
        size_t n_items = 0;

        regex_scan_init(&scan, re, text);
        while (regex_scan_next(&scan, groups, n))
                items[n_items++] = offsets(a, text, groups, n);
        regex_scan_done(&scan);
        return value_of_items(a, items, n_items);
}

/* The same matches found one by one with regex_find, as a caller without a scan would. */
static struct value all_by_find(struct arena *a, const struct regex *re, struct str text, size_t n)
{
        struct str *groups = ARENA_NEW_ARRAY(a, struct str, n);
        struct value *items = ARENA_NEW_ARRAY(a, struct value, text.n + 2);
        size_t n_items = 0, position = 0, previous = SIZE_MAX;

        while (position <= text.n && regex_find(re, text, position, groups, n)) {
                size_t start = (size_t)(groups[0].p - text.p), end = start + groups[0].n, width = 1;

                if (end > position || start != previous)
                        items[n_items++] = offsets(a, text, groups, n);
                if (end == position && end < text.n)
                        utf8_decode(str_skip(text, end), &width);
                position = end == position ? end + width : end;
                previous = end;
        }
        return value_of_items(a, items, n_items);
}

static struct value replaced(struct arena *a, const struct regex *re, struct str text, struct str template_text,
                             bool is_literal)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        regex_replace_all(re, text, template_text, is_literal, &b);
        return text_value(a, buf_to_arena(&b, a));
}

static const struct value *run_match(struct arena *a, const struct value *c, const struct regex *re)
{
        struct str text = text_of(a, c, "text"), template_text = text_of(a, c, "template");
        size_t n = regex_group_count(re) + 1, count;
        struct str *names = ARENA_NEW_ARRAY(a, struct str, n), *groups = ARENA_NEW_ARRAY(a, struct str, n);
        int64_t limit = value_int(value_get(c, STR("limit")), -1);
        struct result res = { .a = a };
        struct str *texts;

        for (size_t i = 1; i < n; i++)
                names[i] = arena_copy(a, regex_group_name(re, i));
        put(&res, "names", text_values(a, names, n));
        put(&res, "matches", value_of_bool(regex_matches(re, text)));
        if (regex_find(re, text, 0, groups, n))
                put(&res, "first", offsets(a, text, groups, n));
        put(&res, "all", all_offsets(a, re, text, n));
        put(&res, "allByFind", all_by_find(a, re, text, n));
        put(&res, "replaced", replaced(a, re, text, template_text, false));
        put(&res, "replacedLiteral", replaced(a, re, text, template_text, true));
        count = regex_find_all(re, text, limit, a, &texts);
        put(&res, "found", text_values(a, texts, count));
        count = regex_split(re, text, limit, a, &texts);
        put(&res, "split", text_values(a, texts, count));
        return finish(&res);
}

static const struct value *run_class(struct arena *a, const struct value *c, const struct regex *re)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct result res = { .a = a };
        struct str text;
        char encoded[4];

        for (uint32_t rune = 0; rune <= RUNE_MAX; rune++)
                if (rune < 0xD800 || rune > 0xDFFF)
                        buf_append(&b, encoded, utf8_encode(rune, encoded));
        text = buf_to_arena(&b, a);
        put(&res, "all", all_offsets(a, re, text, 1));
        return finish(&res);
}

const struct value *run_regex(struct arena *a, const struct value *c)
{
        _cleanup_(regex_freep)
        struct regex *re = NULL;
        _cleanup_err_ struct err err = { 0 };
        struct str op = value_str(value_get(c, STR("op")));
        struct result res = { .a = a };
        int r;

        if (str_equal(op, STR("quote"))) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                regex_append_quoted(&b, text_of(a, c, "text"));
                put(&res, "quoted", text_value(a, buf_to_arena(&b, a)));
                return finish(&res);
        }
        r = regex_compile(text_of(a, c, "pattern"), &re, &err);
        if (r < 0) {
                put(&res, r == ERR_LIMIT ? "limit" : "error",
                    text_value(a, arena_copy(a, str_from(err_message(&err)))));
                return finish(&res);
        }
        return str_equal(op, STR("class")) ? run_class(a, c, re) : run_match(a, c, re);
}
