/* Operators and counts: x*, x+, x?, x{2,3}, and their lazy forms. */
#include "regex-parser.h"

#define MAX_REPEAT 1000 /* Go's limit on the count of x{n,m}, and on the product of nested ones */

/* Reads a count at the start of *s; false if there is none. All counts above the largest allowed one give the same too large
 * number. */
static bool read_count(struct str *s, int *ret)
{
        int value = 0;

        if (s->n == 0 || s->p[0] < '0' || s->p[0] > '9')
                return false;
        if (s->n >= 2 && s->p[0] == '0' && s->p[1] >= '0' && s->p[1] <= '9')
                return false;
        for (; s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9'; *s = str_skip(*s, 1))
                value = MIN(value * 10 + (s->p[0] - '0'), MAX_REPEAT + 1);
        *ret = value;
        return true;
}

/* {n}, {n,} or {n,m} at the start of *s; max -1 means none. False if the brace is a literal. */
static bool read_counts(struct str *s, int *ret_min, int *ret_max)
{
        struct str rest = str_skip(*s, 1);

        if (!read_count(&rest, ret_min))
                return false;
        *ret_max = *ret_min;
        if (str_cut_prefix(&rest, STR(","))) {
                *ret_max = -1;
                if (!starts_with_char(rest, '}') && !read_count(&rest, ret_max))
                        return false;
        }
        if (!str_cut_prefix(&rest, STR("}")))
                return false;
        *s = rest;
        return true;
}

/* The outline of x{min,max}; max -1 means none. */
static struct regex_part part_repeat(struct regex_part x, char op, int min, int max, bool is_lazy)
{
        int count = max < 0 ? min : max;
        uint64_t size = max < 0 ? 1 + (uint64_t)min * x.size : (uint64_t)max * x.size + (uint64_t)(max - min);

        if (max < 0 && min == 0)
                size = 2 + (uint64_t)x.size;
        if (max == 0)
                x.repeats = 1;
        else if (count > 0)
                x.repeats = (uint16_t)MIN(x.repeats * count, MAX_REPEAT + 1);
        x.size = size_capped(MAX(size, (uint64_t)1));
        x.height = height_above(x.height);
        x.shape = SHAPE_OTHER;
        x.may_be_empty |= min == 0;
        if (min != 1 || max != 1) {
                x.op = op;
                x.is_lazy = is_lazy;
        }
        return x;
}

/* x{0} matches nothing of x, but the groups in x still count. The engine's limits would still apply to x, so only its groups are
 * written. */
static void empty_last(struct regex_parser *p)
{
        struct buf *b = &p->out.rewritten;
        const struct level *l = innermost(p);

        b->n = l->last_start;
        buf_append_literal(b, "(?:");
        for (size_t i = l->last_groups; i < p->n_groups; i++)
                buf_append_literal(b, "()");
        buf_append_char(b, ')');
}

/* Encloses the last part, with what_follows appended, in one group. */
static void enclose_last(struct regex_parser *p, struct str what_follows)
{
        struct buf *b = &p->out.rewritten;
        struct str opening = STR("(?:");
        char *at;

        if (!buf_reserve(b, opening.n + what_follows.n + 1))
                return;
        at = b->p + innermost(p)->last_start;
        memmove(at + opening.n, at, (size_t)(b->p + b->n - at));
        memcpy(at, opening.p, opening.n);
        b->n += opening.n;
        buf_append_str(b, what_follows);
        buf_append_char(b, ')');
}

/* Prepares the last part for an operator. The engine merges two nested operators such as (x+?)?? into one, where Go keeps both,
 * and it drops an empty step from a loop whose body can be empty. Both change which match is preferred inside of further loops.
 * An empty element after the part prevents the first; an empty group (which uses up a group number) prevents the second. An
 * operator on the same operator is merged by both. */
static void fit_last(struct regex_parser *p, struct regex_part x, char op, bool is_loop, bool is_lazy)
{
        bool is_same = op != '{' && x.op == op && x.is_lazy == is_lazy;

        if (is_loop && x.may_be_empty && !is_same) {
                p->n_groups++;
                enclose_last(p, STR("()"));
        } else if (x.op && !is_same) {
                enclose_last(p, STR("(?:)"));
        } else if (innermost(p)->last_is_repeated) {
                enclose_last(p, STR(""));
        }
}

/* The operator for counts, if one exists: {0,} is *; otherwise {. */
static char simple_operator(int min, int max)
{
        if (max < 0)
                return min == 0 ? '*' : min == 1 ? '+' : '{';
        return min == 0 && max == 1 ? '?' : '{';
}

static void write_repeat(struct regex_parser *p, struct regex_part x, struct str counts, int min, int max, bool is_lazy)
{
        struct buf *b = &p->out.rewritten;
        char op = simple_operator(min, max);

        if (min == 1 && max == 1)
                return;
        if (max == 0)
                empty_last(p);
        else
                fit_last(p, x, op, max < 0, is_lazy);
        if (op == '{')
                buf_append_str(b, counts);
        else
                buf_append_char(b, op);
        if (is_lazy)
                buf_append_char(b, '?');
        innermost(p)->last_is_repeated = true;
}

int regex_repeat(struct regex_parser *p, struct str rest, int min, int max)
{
        struct str start = p->rest, op = before(p->rest, rest);
        struct level *l = innermost(p);
        bool is_lazy = str_cut_prefix(&rest, STR("?"));
        struct regex_part x;
        int r;

        if (p->last_repeat.p)
                return regex_fail(p, "invalid nested repetition operator", before(p->last_repeat, rest));
        if (!l->has_last)
                return regex_fail(p, "missing argument to repetition operator", before(start, rest));
        is_lazy ^= !!(p->flags & FLAG_UNGREEDY);
        x = part_repeat(l->last, simple_operator(min, max), min, max, is_lazy);
        if (op.p[0] != '{')
                x.size = size_capped((uint64_t)l->last.size + (op.p[0] == '*' ? 2 : 1));
        r = regex_check_part(p, x);
        if (r < 0)
                return r;
        if ((min >= 2 || max >= 2) && x.repeats > MAX_REPEAT)
                return regex_fail(p, "invalid repeat count", before(start, rest));
        write_repeat(p, l->last, op, min, max, is_lazy);
        l->last = x;
        p->last_repeat = start;
        p->rest = rest;
        return regex_check_effort(p);
}

int regex_parse_brace(struct regex_parser *p)
{
        struct str rest = p->rest;
        int min, max;

        if (!read_counts(&rest, &min, &max)) {
                regex_push_literal(p, '{');
                p->rest = str_skip(p->rest, 1);
                return 0;
        }
        if (min > MAX_REPEAT || max > MAX_REPEAT || (max >= 0 && min > max))
                return regex_fail(p, "invalid repeat count", before(p->rest, rest));
        return regex_repeat(p, rest, min, max);
}
