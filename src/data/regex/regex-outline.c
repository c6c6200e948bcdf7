/* The results of parsing: the outline of each open group, which is used to check Go's limits, and the rewritten text. */
#include "regex-parser.h"

#include "ascii.h"
#include "limits.h"

#define MAX_RUNES 33554432u /* ends of ranges in all classes: 128 MB of 4 bytes */

static int fail_too_large(struct regex_parser *p)
{
        return regex_fail(p, "expression too large", p->whole);
}

/* ---- The outline ---- */

/* A sequence inside a sequence is one sequence, and likewise for alternatives. */
static uint16_t height_within(struct regex_part part, enum regex_shape shape)
{
        return part.shape == shape ? (uint16_t)(part.height - 1) : part.height;
}

static struct regex_part part_join(struct regex_part a, struct regex_part b, enum regex_shape shape)
{
        uint16_t height = MAX(height_within(a, shape), height_within(b, shape));

        return (struct regex_part) {
                .shape = shape,
                .height = height_above(height),
                .repeats = MAX(a.repeats, b.repeats),
                .size = size_capped((uint64_t)a.size + b.size + (shape == SHAPE_ALTERNATE)),
                .may_be_empty =
                        shape == SHAPE_ALTERNATE ? a.may_be_empty || b.may_be_empty : a.may_be_empty && b.may_be_empty,
        };
}

static struct regex_part part_concat(struct regex_part a, struct regex_part b)
{
        struct regex_part joined = part_join(a, b, SHAPE_CONCAT);

        if (a.shape == SHAPE_LITERAL && b.shape == SHAPE_LITERAL && a.is_folded == b.is_folded) {
                joined.shape = SHAPE_LITERAL;
                joined.height = 1;
                joined.is_folded = a.is_folded;
        }
        return joined;
}

static bool is_one_rune(struct regex_part part)
{
        return part.shape == SHAPE_CLASS || (part.shape == SHAPE_LITERAL && part.size == 1);
}

static struct regex_part part_alternate(struct regex_part a, struct regex_part b)
{
        if (is_one_rune(a) && is_one_rune(b))
                return (struct regex_part) { .shape = SHAPE_CLASS, .height = 1, .repeats = 1, .size = 1 };
        if (a.shape == SHAPE_EMPTY && b.shape == SHAPE_EMPTY)
                return a;
        return part_join(a, b, SHAPE_ALTERNATE);
}

int regex_check_part(struct regex_parser *p, struct regex_part part)
{
        if (part.size > MAX_SIZE)
                return fail_too_large(p);
        if (part.height > MAX_HEIGHT)
                return regex_fail(p, "expression nests too deeply", p->whole);
        return 0;
}

void regex_push_part(struct regex_parser *p, struct regex_part part)
{
        struct level *l = innermost(p);

        if (l->has_last) {
                l->parts = l->has_parts ? part_concat(l->parts, l->last) : l->last;
                l->has_parts = true;
        }
        l->last = part;
        l->has_last = true;
        l->last_is_repeated = false;
        l->last_start = (uint32_t)p->out.rewritten.n;
        l->last_groups = p->n_groups;
}

void regex_push_simple(struct regex_parser *p, enum regex_shape shape)
{
        regex_push_part(p, (struct regex_part) { .shape = shape, .height = 1, .repeats = 1, .size = 1 });
}

int regex_end_sequence(struct regex_parser *p)
{
        struct level *l = innermost(p);
        struct regex_part part = { .shape = SHAPE_EMPTY, .height = 1, .repeats = 1, .size = 1, .may_be_empty = true };
        int r;

        if (l->has_last)
                part = l->has_parts ? part_concat(l->parts, l->last) : l->last;
        r = regex_check_part(p, part);
        if (r < 0)
                return r;
        l->alternatives = l->has_alternatives ? part_alternate(l->alternatives, part) : part;
        l->has_alternatives = true;
        l->has_parts = l->has_last = false;
        return 0;
}

/* ---- Writing ---- */

static void write_rune(struct buf *b, uint32_t rune)
{
        static const char digits[] = ASCII_HEX_LOWER;
        int shift = 20;

        if (is_plain(rune)) {
                buf_append_char(b, (char)rune);
                return;
        }
        buf_append_literal(b, "\\x{");
        while (shift > 0 && rune >> shift == 0)
                shift -= 4;
        for (; shift >= 0; shift -= 4)
                buf_append_char(b, digits[rune >> shift & 15]);
        buf_append_char(b, '}');
}

static void write_set(struct buf *b, const struct runeset *s)
{
        if (s->ranges.n == 1 && s->ranges.p[0].lo == s->ranges.p[0].hi) {
                write_rune(b, s->ranges.p[0].lo);
                return;
        }
        if (s->ranges.n == 0) {
                buf_append_literal(b, "[^\\x{0}-\\x{10ffff}]");
                return;
        }
        buf_append_char(b, '[');
        for (size_t i = 0; i < s->ranges.n; i++) {
                write_rune(b, s->ranges.p[i].lo);
                if (s->ranges.p[i].lo < s->ranges.p[i].hi) {
                        buf_append_char(b, '-');
                        write_rune(b, s->ranges.p[i].hi);
                }
        }
        buf_append_char(b, ']');
}

void regex_push_literal(struct regex_parser *p, uint32_t rune)
{
        struct regex_part part = { .shape = SHAPE_LITERAL, .height = 1, .repeats = 1, .size = 1 };

        part.is_folded = p->flags & FLAG_FOLD;
        regex_push_part(p, part);
        if (!part.is_folded) {
                write_rune(&p->out.rewritten, rune);
                return;
        }
        clear_set(p);
        runeset_add(&p->set, rune, rune);
        runeset_fold(&p->set, 0);
        runeset_tidy(&p->set, 0);
        write_set(&p->out.rewritten, &p->set);
}

void regex_push_assertion(struct regex_parser *p, const char *text)
{
        regex_push_simple(p, SHAPE_OTHER);
        innermost(p)->last.may_be_empty = true;
        buf_append_str(&p->out.rewritten, str_from(text));
}

int regex_push_set(struct regex_parser *p)
{
        const struct regex_range *r = p->set.ranges.p;
        bool is_one = p->set.ranges.n == 1 && r[0].lo == r[0].hi;

        p->n_runes += 2 * p->set.ranges.n;
        if (p->n_runes > MAX_RUNES)
                return fail_too_large(p);
        regex_push_simple(p, is_one ? SHAPE_LITERAL : SHAPE_CLASS);
        write_set(&p->out.rewritten, &p->set);
        return 0;
}

int regex_check_effort(struct regex_parser *p)
{
        if (p->set.work > LIMIT_REGEX_RANGES)
                return err_set(p->err, ERR_LIMIT, "regular expression has more than %d ranges of characters",
                               LIMIT_REGEX_RANGES);
        return buf_check(&p->out.rewritten, "regular expression", p->err);
}
