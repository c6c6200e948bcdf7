/* Parses in one pass from left to right, like Go's parser, so that the first error is the one that Go reports. */
#include "regex-parser.h"

#include "limits.h"
#include "utf8.h"

int regex_fail(struct regex_parser *p, const char *code, struct str fragment)
{
        return err_set(p->err, ERR_INVALID, "error parsing regexp: %s: `%.*s`", code, STR_ARG(fragment));
}

int regex_next_rune(struct regex_parser *p, struct str *s, uint32_t *ret)
{
        size_t width;
        uint32_t rune = utf8_decode(*s, &width);

        if (rune == RUNE_ERROR && width == 1)
                return regex_fail(p, "invalid UTF-8", *s);
        *ret = rune;
        *s = str_skip(*s, width);
        return 0;
}

int regex_check_utf8(struct regex_parser *p, struct str s)
{
        size_t valid = utf8_valid_prefix(s);

        return valid == s.n ? 0 : regex_fail(p, "invalid UTF-8", str_skip(s, valid));
}

/* ---- Groups ---- */

/* name is that of a capture group, NULL for a group that captures nothing. */
static void open_group(struct regex_parser *p, const struct str *name, uint8_t flags)
{
        struct level l = {
                .outer_flags = p->flags,
                .is_capture = name != NULL,
                .start = (uint32_t)p->out.rewritten.n,
                .groups = p->n_groups,
        };

        if (name) {
                vec_push(&p->out.names, *name);
                vec_push(&p->out.engine_groups, ++p->n_groups);
        }
        buf_append_str(&p->out.rewritten, name ? STR("(") : STR("(?:"));
        vec_push(&p->levels, l);
        p->flags = flags;
}

static bool is_name(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!is_plain((uint8_t)s.p[i]) && s.p[i] != '_')
                        return false;
        return s.n > 0;
}

/* (?P<name> or (?<name>, whose name begins at offset `begin`. */
static int parse_named_group(struct regex_parser *p, size_t begin)
{
        ptrdiff_t end = str_find_char(p->rest, '>');
        struct str name;
        int r;

        if (end < 0) {
                r = regex_check_utf8(p, p->rest);
                return r < 0 ? r : regex_fail(p, "invalid named capture", p->rest);
        }
        name = str_make(p->rest.p + begin, (size_t)end - begin);
        r = regex_check_utf8(p, name);
        if (r < 0)
                return r;
        if (!is_name(name))
                return regex_fail(p, "invalid named capture", str_first(p->rest, (size_t)end + 1));
        open_group(p, &name, p->flags);
        p->rest = str_skip(p->rest, (size_t)end + 1);
        return 0;
}

/* (?flags) or (?flags: */
static int parse_flags(struct regex_parser *p)
{
        static const char letters[] = "imsU"; /* in the order of enum flags */
        struct str rest = str_skip(p->rest, 2);
        bool is_negative = false, has_flag = false;
        uint8_t flags = p->flags;
        const char *letter;
        uint32_t rune;
        int r;

        while (rest.n > 0) {
                r = regex_next_rune(p, &rest, &rune);
                if (r < 0)
                        return r;
                if (rune == ':' || rune == ')') {
                        if (is_negative && !has_flag)
                                break;
                        if (rune == ':')
                                open_group(p, NULL, flags);
                        p->flags = flags;
                        p->rest = rest;
                        return 0;
                }
                if (rune == '-' && !is_negative) {
                        is_negative = true;
                        has_flag = false;
                        continue;
                }
                letter = rune > 0 && rune < 0x80 ? strchr(letters, (int)rune) : NULL;
                if (!letter)
                        break;
                has_flag = true;
                if (is_negative)
                        flags &= (uint8_t) ~(1u << (letter - letters));
                else
                        flags |= (uint8_t)(1u << (letter - letters));
        }
        return regex_fail(p, "invalid or unsupported Perl syntax", before(p->rest, rest));
}

static int parse_open(struct regex_parser *p)
{
        if (p->rest.n >= 2 && p->rest.p[1] == '?') {
                if (p->rest.n > 4 && p->rest.p[2] == 'P' && p->rest.p[3] == '<')
                        return parse_named_group(p, 4);
                if (p->rest.n > 3 && p->rest.p[2] == '<')
                        return parse_named_group(p, 3);
                return parse_flags(p);
        }
        open_group(p, &(struct str) { "", 0 }, p->flags);
        p->rest = str_skip(p->rest, 1);
        return 0;
}

static int parse_bar(struct regex_parser *p)
{
        int r = regex_end_sequence(p);

        if (r < 0)
                return r;
        buf_append_char(&p->out.rewritten, '|');
        p->rest = str_skip(p->rest, 1);
        return 0;
}

static int parse_close(struct regex_parser *p)
{
        struct regex_part part;
        struct level l;
        int r;

        r = regex_end_sequence(p);
        if (r < 0)
                return r;
        l = *innermost(p);
        part = l.alternatives;
        r = regex_check_part(p, part);
        if (r < 0)
                return r;
        if (p->levels.n == 1)
                return regex_fail(p, "unexpected )", p->whole);
        if (l.is_capture) {
                part.shape = SHAPE_OTHER;
                part.height = height_above(part.height);
                part.size = size_capped((uint64_t)part.size + 2);
                part.op = 0;
                r = regex_check_part(p, part);
                if (r < 0)
                        return r;
        }
        p->levels.n--;
        p->flags = l.outer_flags;
        regex_push_part(p, part);
        innermost(p)->last_start = l.start;
        innermost(p)->last_groups = l.groups;
        buf_append_char(&p->out.rewritten, ')');
        p->rest = str_skip(p->rest, 1);
        return 0;
}

/* ---- The rest of the syntax ---- */

static int parse_literal(struct regex_parser *p)
{
        uint32_t rune;
        int r = regex_next_rune(p, &p->rest, &rune);

        if (r < 0)
                return r;
        regex_push_literal(p, rune);
        return 0;
}

static void parse_anchor(struct regex_parser *p, const char *in_text, const char *in_line)
{
        regex_push_assertion(p, p->flags & FLAG_MULTILINE ? in_line : in_text);
        p->rest = str_skip(p->rest, 1);
}

static int parse_dot(struct regex_parser *p)
{
        regex_push_simple(p, SHAPE_CLASS);
        buf_append_str(&p->out.rewritten, p->flags & FLAG_DOT_NEWLINE ? STR("(?s:.)") : STR("."));
        p->rest = str_skip(p->rest, 1);
        return 0;
}

/* One element of the syntax at the start of the rest. */
static int parse_one(struct regex_parser *p)
{
        switch (p->rest.p[0]) {
        case '(':
                return parse_open(p);
        case '|':
                return parse_bar(p);
        case ')':
                return parse_close(p);
        case '^':
                parse_anchor(p, "\\A", "(?m:^)");
                return 0;
        case '$':
                parse_anchor(p, "\\z", "(?m:$)");
                return 0;
        case '.':
                return parse_dot(p);
        case '[':
                return regex_parse_class(p);
        case '*':
                return regex_repeat(p, str_skip(p->rest, 1), 0, -1);
        case '+':
                return regex_repeat(p, str_skip(p->rest, 1), 1, -1);
        case '?':
                return regex_repeat(p, str_skip(p->rest, 1), 0, 1);
        case '{':
                return regex_parse_brace(p);
        case '\\':
                return regex_parse_backslash(p);
        default:
                return parse_literal(p);
        }
}

static int check_groups(struct regex_parser *p)
{
        if (p->out.names.n > LIMIT_REGEX_GROUPS)
                return err_set(p->err, ERR_LIMIT, "regular expression has more than %d groups", LIMIT_REGEX_GROUPS);
        if (p->n_groups - p->out.names.n > LIMIT_REGEX_GROUPS)
                return err_set(p->err, ERR_LIMIT, "regular expression repeats more than %d times what may be empty",
                               LIMIT_REGEX_GROUPS);
        return 0;
}

static int parse(struct regex_parser *p)
{
        int r;

        vec_push(&p->levels, (struct level) { 0 });
        while (p->rest.n > 0) {
                struct str last_repeat = p->last_repeat;

                r = parse_one(p);
                if (r < 0)
                        return r;
                /* Two operators in a row are an error. Any other element between them resets last_repeat. */
                if (p->last_repeat.p == last_repeat.p)
                        p->last_repeat = STR_NONE;
        }
        r = regex_end_sequence(p);
        if (r < 0)
                return r;
        r = regex_check_part(p, innermost(p)->alternatives);
        if (r < 0)
                return r;
        if (p->levels.n > 1)
                return regex_fail(p, "missing closing )", p->whole);
        r = check_groups(p);
        return r < 0 ? r : regex_check_effort(p);
}

/* Every match ends at the end of a character, except an empty match inside one. There the added element does not match, so such
 * matches are rejected. */
static void keep_out_of_characters(struct regex_syntax *s)
{
        struct buf wrapped = BUF_INIT(LIMIT_REGEX_BYTES + 64);

        buf_append_char(&wrapped, '(');
        buf_append_str(&wrapped, buf_str(&s->rewritten));
        buf_append_literal(&wrapped, ")(?s:.|\\z)");
        buf_done(&s->rewritten);
        s->rewritten = wrapped;
        for (size_t i = 0; i < s->engine_groups.n; i++)
                s->engine_groups.p[i]++;
}

int regex_syntax_parse(struct str pattern, struct regex_syntax *ret, struct err *err)
{
        struct regex_parser p = { .whole = pattern, .rest = pattern, .err = err };
        int r;

        if (pattern.n > LIMIT_REGEX_PATTERN_BYTES)
                return err_set(err, ERR_LIMIT, "regular expression is larger than the limit of %u bytes",
                               LIMIT_REGEX_PATTERN_BYTES);
        buf_init(&p.out.rewritten, LIMIT_REGEX_BYTES);
        r = parse(&p);
        vec_done(&p.levels);
        vec_done(&p.set.ranges);
        if (r < 0) {
                regex_syntax_done(&p.out);
                return r;
        }
        if (p.out.has_not_word_boundary)
                keep_out_of_characters(&p.out);
        *ret = p.out;
        return 0;
}

void regex_syntax_done(struct regex_syntax *s)
{
        buf_done(&s->rewritten);
        vec_done(&s->names);
        vec_done(&s->engine_groups);
}
