/* Regular expressions. Each plain function panics with Go's `regexp: Compile(...)` where its `must` variant returns the error. */
#include "sprig.h"

#include "gotext.h"
#include "regex.h"

#define _cleanup_regex_ _cleanup_(regex_freep)

/* A panic of regexp.MustCompile puts the expression in backquotes if possible. */
static int fail_compile(struct gt_context *c, struct str pattern, bool is_must, const struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (is_must)
                return gt_fail(c, "%s", err_message(err));
        if (go_can_backquote(pattern)) {
                buf_append_char(&b, '`');
                buf_append_str(&b, pattern);
                buf_append_char(&b, '`');
        } else {
                go_append_quoted(&b, pattern);
        }
        return gt_fail(c, "regexp: Compile(%s): %s", buf_cstring(&b), err_message(err));
}

static int compile(struct gt_context *c, struct str pattern, struct str text, bool is_must, struct regex **ret)
{
        _cleanup_err_ struct err err = { 0 };
        int r = gt_spend(c, (pattern.n + text.n) / 16 + 16);

        if (r < 0)
                return r;
        r = regex_compile(pattern, ret, &err);
        return r < 0 ? fail_compile(c, pattern, is_must, &err) : 0;
}

/* A bad expression matches nothing. */
SPRIG(regex_match)
{
        _cleanup_regex_ struct regex *re = NULL;

        if (regex_compile(gt_str(arguments[0]), &re, NULL) < 0)
                return sprig_return_bool(false, ret);
        *ret = gt_bool(regex_matches(re, gt_str(arguments[1])));
        return gt_spend(c, gt_str(arguments[1]).n / 16 + 16);
}

SPRIG(must_regex_match)
{
        _cleanup_regex_ struct regex *re = NULL;
        int r = compile(c, gt_str(arguments[0]), gt_str(arguments[1]), true, &re);

        if (r < 0)
                return r;
        return sprig_return_bool(regex_matches(re, gt_str(arguments[1])), ret);
}

static int find(struct gt_context *c, const struct gt_value *arguments, bool is_must, struct gt_value *ret)
{
        _cleanup_regex_ struct regex *re = NULL;
        int r = compile(c, gt_str(arguments[0]), gt_str(arguments[1]), is_must, &re);
        struct str match;

        if (r < 0)
                return r;
        return sprig_return_text(regex_find(re, gt_str(arguments[1]), 0, &match, 1) ? match : STR(""), ret);
}

SPRIG(regex_find)
{
        return find(c, arguments, false, ret);
}

SPRIG(must_regex_find)
{
        return find(c, arguments, true, ret);
}

static int return_texts(struct gt_context *c, const struct str *texts, size_t n, struct gt_value *ret)
{
        int r = gt_spend(c, n);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_STRINGS, n);
        for (size_t i = 0; i < n; i++)
                gt_list_put(*ret, i, gt_string(texts[i]));
        return 0;
}

typedef size_t regex_collect(const struct regex *re, struct str text, int64_t limit, struct arena *a, struct str **ret);

/* The list of texts that regex_find_all or regex_split gives. No text at all is the nil list. */
static int collect(struct gt_context *c, const struct gt_value *arguments, regex_collect *from, bool is_must,
                   struct gt_value *ret)
{
        _cleanup_regex_ struct regex *re = NULL;
        int r = compile(c, gt_str(arguments[0]), gt_str(arguments[1]), is_must, &re);
        struct str *found;
        size_t n;

        if (r < 0)
                return r;
        n = from(re, gt_str(arguments[1]), arguments[2].integer, c->arena, &found);
        if (n > 0)
                return return_texts(c, found, n, ret);
        *ret = gt_nil_of(GT_STRINGS);
        return 0;
}

SPRIG(regex_find_all)
{
        return collect(c, arguments, regex_find_all, false, ret);
}

SPRIG(must_regex_find_all)
{
        return collect(c, arguments, regex_find_all, true, ret);
}

SPRIG(regex_split)
{
        return collect(c, arguments, regex_split, false, ret);
}

SPRIG(must_regex_split)
{
        return collect(c, arguments, regex_split, true, ret);
}

static int replace_all(struct gt_context *c, const struct gt_value *arguments, bool is_literal, bool is_must,
                       struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        _cleanup_regex_ struct regex *re = NULL;
        int r = compile(c, gt_str(arguments[0]), gt_str(arguments[1]), is_must, &re);

        if (r == 0)
                r = gt_spend(c, gt_str(arguments[1]).n); /* every byte may be a match */
        if (r < 0)
                return r;
        regex_replace_all(re, gt_str(arguments[1]), gt_str(arguments[2]), is_literal, &b);
        return gt_take_text(c, &b, ret);
}

SPRIG(regex_replace_all)
{
        return replace_all(c, arguments, false, false, ret);
}

SPRIG(must_regex_replace_all)
{
        return replace_all(c, arguments, false, true, ret);
}

SPRIG(regex_replace_all_literal)
{
        return replace_all(c, arguments, true, false, ret);
}

SPRIG(must_regex_replace_all_literal)
{
        return replace_all(c, arguments, true, true, ret);
}

SPRIG(regex_quote_meta)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        regex_append_quoted(&b, gt_str(arguments[0]));
        return gt_take_text(c, &b, ret);
}
