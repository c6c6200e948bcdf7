/* Constraints on versions. A text is read in three steps, because errors quote the result of the previous step: ranges with a
 * hyphen become two conditions, the text is split into alternatives, and each alternative must be a list of conditions. */
#include "arena.h"
#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "semver.h"
#include "vec.h"

enum relation {
        RELATION_EQUAL,
        RELATION_NOT_EQUAL,
        RELATION_AFTER,
        RELATION_BEFORE,
        RELATION_NOT_BEFORE,
        RELATION_NOT_AFTER,
        RELATION_SAME_MINOR, /* ~1.2.3: the last given number may grow */
        RELATION_SAME_MAJOR, /* ^1.2.3: the numbers after the first that is not 0 may grow */
};

struct condition {
        enum relation relation;
        struct semver version; /* numbers that were not given are 0 */
        bool is_partial;       /* not all three numbers were given */
        bool any_minor;        /* neither the minor nor the patch number was given */
        bool any_patch;
};

struct alternative {
        struct condition *conditions;
        size_t n;
        bool has_prerelease;
};

struct semver_constraint {
        struct alternative *alternatives;
        size_t n;
};

/* --- Texts --- */

/* The parts of a version in a constraint, not yet checked. */
struct pattern {
        struct str numbers[3];
        struct str prerelease; /* with its hyphen */
};

static bool is_space(char c)
{
        return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static struct str skip_spaces(struct str s)
{
        while (s.n > 0 && is_space(s.p[0]))
                s = str_skip(s, 1);
        return s;
}

/* The bar is not a digit, but the library treats it as part of a number: `1|2` is a bad version, not two alternatives. */
static struct str take_number(struct str *s)
{
        struct str whole = *s;
        size_t n = 0;

        while (n < s->n && memchr("0123456789|xX*", s->p[n], 14))
                n++;
        *s = str_skip(*s, n);
        return str_first(whole, n);
}

/* Takes the identifiers after the mark, with the mark. Takes nothing if there are none. */
static struct str take_marked(struct str *s, char mark)
{
        struct str whole = *s;
        size_t n = 0, end = 0;

        if (s->n == 0 || s->p[0] != mark)
                return STR("");
        for (n = 1; n < s->n; n++) {
                char c = s->p[n];
                bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

                if (is_letter || (c >= '0' && c <= '9') || c == '-')
                        end = n + 1;
                else if (c != '.' || end != n)
                        break;
        }
        *s = str_skip(*s, end);
        return str_first(whole, end);
}

static bool take_pattern(struct str *s, struct pattern *ret)
{
        struct str rest = *s;

        *ret = (struct pattern) { 0 };
        str_cut_prefix(&rest, STR("v"));
        ret->numbers[0] = take_number(&rest);
        if (ret->numbers[0].n == 0)
                return false;
        for (size_t i = 1; i < 3; i++) {
                struct str behind = rest;

                if (!str_cut_prefix(&behind, STR(".")))
                        break;
                ret->numbers[i] = take_number(&behind);
                if (ret->numbers[i].n == 0)
                        break;
                rest = behind;
        }
        ret->prerelease = take_marked(&rest, '-');
        take_marked(&rest, '+');
        *s = rest;
        return true;
}

static bool take_relation(struct str *s, enum relation *ret)
{
        static const struct {
                struct str text;
                enum relation relation;
        } relations[] = {
                { STR_INIT("!="), RELATION_NOT_EQUAL },  { STR_INIT(">="), RELATION_NOT_BEFORE },
                { STR_INIT("=>"), RELATION_NOT_BEFORE }, { STR_INIT("<="), RELATION_NOT_AFTER },
                { STR_INIT("=<"), RELATION_NOT_AFTER },  { STR_INIT("~>"), RELATION_SAME_MINOR },
                { STR_INIT("="), RELATION_EQUAL },       { STR_INIT(">"), RELATION_AFTER },
                { STR_INIT("<"), RELATION_BEFORE },      { STR_INIT("~"), RELATION_SAME_MINOR },
                { STR_INIT("^"), RELATION_SAME_MAJOR },
        };

        *ret = RELATION_EQUAL;
        for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++)
                if (str_cut_prefix(s, relations[i].text)) {
                        *ret = relations[i].relation;
                        return true;
                }
        return false;
}

/* --- Ranges with a hyphen --- */

/* Reads `A - B` with the blanks around it; the texts of A and B go to *ret. */
static bool take_range(struct str *s, struct str ret[2])
{
        struct str rest = skip_spaces(*s), begin;
        struct pattern pattern;

        begin = rest;
        if (!take_pattern(&rest, &pattern))
                return false;
        ret[0] = str_first(begin, begin.n - rest.n);
        if (rest.n == 0 || !is_space(rest.p[0]))
                return false;
        rest = skip_spaces(rest);
        if (!str_cut_prefix(&rest, STR("-")) || rest.n == 0 || !is_space(rest.p[0]))
                return false;
        rest = skip_spaces(rest);
        begin = rest;
        if (!take_pattern(&rest, &pattern))
                return false;
        ret[1] = str_first(begin, begin.n - rest.n);
        *s = skip_spaces(rest);
        return true;
}

/* `A - B` is `>= A, <= B `; the blank shows in errors. */
static struct str replace_ranges(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str range[2];

        while (text.n > 0) {
                if (take_range(&text, range)) {
                        buf_appendf(&b, ">= %.*s, <= %.*s ", STR_ARG(range[0]), STR_ARG(range[1]));
                } else {
                        buf_append_char(&b, text.p[0]);
                        text = str_skip(text, 1);
                }
        }
        return arena_copy(a, buf_str(&b));
}

/* --- Conditions --- */

static bool is_any(struct str number)
{
        return number.n == 0 || (number.n == 1 && memchr("xX*", number.p[0], 3));
}

/* The version of the pattern, with 0 for numbers that are not given. */
static int read_condition(struct arena *a, const struct pattern *p, struct condition *c, struct err *err)
{
        struct str text;

        if (is_any(p->numbers[0])) {
                c->is_partial = true;
                text = ARENA_CONCAT(a, STR("0.0.0"), p->prerelease);
        } else if (is_any(p->numbers[1])) {
                c->is_partial = c->any_minor = c->any_patch = true;
                text = ARENA_CONCAT(a, p->numbers[0], STR(".0.0"), p->prerelease);
        } else if (is_any(p->numbers[2])) {
                c->is_partial = c->any_patch = true;
                text = ARENA_CONCAT(a, p->numbers[0], STR("."), p->numbers[1], STR(".0"), p->prerelease);
        } else {
                text = ARENA_CONCAT(a, p->numbers[0], STR("."), p->numbers[1], STR("."), p->numbers[2], p->prerelease);
        }
        if (semver_parse(text, &c->version, NULL) < 0)
                return err_set(err, ERR_INVALID, "constraint parser error");
        return 0;
}

/* A comma with or without blanks, or blanks. */
static bool take_separator(struct str *s)
{
        struct str rest = skip_spaces(*s);
        bool has_space = rest.n < s->n;

        if (str_cut_prefix(&rest, STR(","))) {
                *s = skip_spaces(rest);
                return true;
        }
        *s = rest;
        return has_space;
}

static int improper(struct str text, bool quotes, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (quotes)
                go_append_quoted(&b, text);
        else
                buf_append_str(&b, text);
        return err_set(err, ERR_INVALID, "improper constraint: %.*s", STR_ARG(buf_str(&b)));
}

/* The syntax of all patterns is checked before any of them is parsed. */
static int check_syntax(struct str text, bool quotes, size_t *ret_n, struct err *err)
{
        struct str rest = skip_spaces(text);
        struct pattern pattern;
        enum relation relation;
        size_t n = 0;

        do {
                take_relation(&rest, &relation);
                rest = skip_spaces(rest);
                if (!take_pattern(&rest, &pattern))
                        return improper(text, quotes, err);
                n++;
                if (skip_spaces(rest).n == 0)
                        rest = STR("");
        } while (rest.n > 0 && take_separator(&rest));
        *ret_n = n;
        return rest.n > 0 ? improper(text, quotes, err) : 0;
}

static int parse_alternative(struct arena *a, struct str text, bool quotes, struct alternative *ret, struct err *err)
{
        struct str rest = skip_spaces(text);
        int r = check_syntax(text, quotes, &ret->n, err);

        if (r < 0)
                return r;
        ret->conditions = ARENA_NEW_ARRAY(a, struct condition, ret->n);
        for (size_t i = 0; i < ret->n; i++) {
                struct condition *c = &ret->conditions[i];
                struct pattern pattern;

                *c = (struct condition) { 0 };
                take_relation(&rest, &c->relation);
                rest = skip_spaces(rest);
                take_pattern(&rest, &pattern);
                take_separator(&rest);
                r = read_condition(a, &pattern, c, err);
                if (r < 0)
                        return r;
                ret->has_prerelease |= c->version.prerelease.n > 0;
        }
        return 0;
}

static struct str take_alternative(struct str *s)
{
        ptrdiff_t at = str_find(*s, STR("||"));
        struct str head = at < 0 ? *s : str_first(*s, (size_t)at);

        *s = str_skip(*s, at < 0 ? s->n : (size_t)at + 2);
        return head;
}

static size_t count_alternatives(struct str text)
{
        size_t n = 1;

        for (; str_find(text, STR("||")) >= 0; n++)
                take_alternative(&text);
        return n;
}

static int parse(struct arena *a, struct str text, bool quotes, const struct semver_constraint **ret, struct err *err)
{
        struct semver_constraint *c = ARENA_NEW(a, struct semver_constraint);

        if (text.n > LIMIT_SEMVER_CONSTRAINT)
                return err_set(err, ERR_LIMIT, "a version constraint has at most %d bytes", LIMIT_SEMVER_CONSTRAINT);
        text = replace_ranges(a, text);
        c->n = count_alternatives(text);
        c->alternatives = ARENA_NEW_ARRAY(a, struct alternative, c->n);
        for (size_t i = 0; i < c->n; i++) {
                int r;

                c->alternatives[i] = (struct alternative) { 0 };
                r = parse_alternative(a, take_alternative(&text), quotes, &c->alternatives[i], err);
                if (r < 0)
                        return r;
        }
        *ret = c;
        return 0;
}

int semver_constraint_parse(struct arena *a, struct str text, const struct semver_constraint **ret, struct err *err)
{
        return parse(a, text, false, ret, err);
}

int semver_constraint_parse_quoting(struct arena *a, struct str text, const struct semver_constraint **ret,
                                    struct err *err)
{
        return parse(a, text, true, ret, err);
}

/* --- Checks --- */

static bool is_zero(const struct semver *v)
{
        return v->major == 0 && v->minor == 0 && v->patch == 0;
}

static bool check_not_equal(const struct condition *c, const struct semver *v)
{
        const struct semver *w = &c->version;
        struct semver patched = *v;

        if (!c->is_partial || v->major != w->major)
                return semver_compare(v, w) != 0;
        if (c->any_minor)
                return false;
        if (v->minor != w->minor)
                return true;
        if (c->any_patch)
                patched.patch = w->patch; /* the prerelease still counts */
        return semver_compare(&patched, w) != 0;
}

static bool check_after(const struct condition *c, const struct semver *v)
{
        const struct semver *w = &c->version;

        if (!c->is_partial)
                return semver_compare(v, w) > 0;
        if (v->major != w->major)
                return v->major > w->major;
        if (c->any_minor)
                return false;
        return c->any_patch ? v->minor > w->minor : semver_compare(v, w) > 0;
}

static bool check_not_after(const struct condition *c, const struct semver *v)
{
        const struct semver *w = &c->version;

        if (!c->is_partial)
                return semver_compare(v, w) <= 0;
        if (v->major != w->major)
                return v->major < w->major;
        return c->any_minor || v->minor <= w->minor;
}

static bool check_same_minor(const struct condition *c, const struct semver *v)
{
        const struct semver *w = &c->version;

        if (semver_compare(v, w) < 0)
                return false;
        if (is_zero(w) && !c->any_minor && !c->any_patch)
                return true;
        return v->major == w->major && (c->any_minor || v->minor == w->minor);
}

static bool check_same_major(const struct condition *c, const struct semver *v)
{
        const struct semver *w = &c->version;

        if (semver_compare(v, w) < 0 || v->major != w->major)
                return false;
        if (w->major > 0 || c->any_minor)
                return true;
        if (v->minor != w->minor)
                return false;
        return w->minor > 0 || c->any_patch || v->patch == w->patch;
}

static bool check_condition(const struct condition *c, const struct semver *v)
{
        switch (c->relation) {
        case RELATION_EQUAL:
                return c->is_partial ? check_same_minor(c, v) : semver_compare(v, &c->version) == 0;
        case RELATION_NOT_EQUAL:
                return check_not_equal(c, v);
        case RELATION_AFTER:
                return check_after(c, v);
        case RELATION_BEFORE:
                return semver_compare(v, &c->version) < 0;
        case RELATION_NOT_BEFORE:
                return semver_compare(v, &c->version) >= 0;
        case RELATION_NOT_AFTER:
                return check_not_after(c, v);
        case RELATION_SAME_MINOR:
                return check_same_minor(c, v);
        case RELATION_SAME_MAJOR:
                return check_same_major(c, v);
        }
        return false;
}

static bool check_alternative(const struct alternative *alternative, const struct semver *v)
{
        if (v->prerelease.n && !alternative->has_prerelease)
                return false;
        for (size_t i = 0; i < alternative->n; i++)
                if (!check_condition(&alternative->conditions[i], v))
                        return false;
        return true;
}

bool semver_constraint_check(const struct semver_constraint *c, const struct semver *v)
{
        for (size_t i = 0; i < c->n; i++)
                if (check_alternative(&c->alternatives[i], v))
                        return true;
        return false;
}
