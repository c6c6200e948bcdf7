#include "yaml-dialect.h"

#include "arena.h"
#include "utf8.h"

#define MAX_EDITS 64 /* each costs another pass over the text */

#define BYTE_ORDER_MARK STR("\xEF\xBB\xBF")

#define STAND_INS 0x400u /* characters of the private area that each kind of stand-in is chosen from */

/* Finds a character from `first` on that the text does not have; "" if it has all of them. */
static void choose_stand_in(const struct yaml_dialect *d, char stand_in[4], unsigned first)
{
        const char *p = d->original.p, *end = p + d->original.n;
        bool is_taken[STAND_INS] = { false };
        unsigned c = 0;

        while (end - p >= 3 && (p = memchr(p, 0xE0 | (int)(first >> 12), (size_t)(end - p))) && end - p >= 3) {
                unsigned rune = first >> 12 << 12 | ((unsigned char)p[1] & 0x3Fu) << 6 | ((unsigned char)p[2] & 0x3Fu);

                if (rune - first < STAND_INS)
                        is_taken[rune - first] = true;
                p++;
        }
        while (c < STAND_INS && is_taken[c])
                c++;
        stand_in[0] = '\0';
        if (c < STAND_INS)
                stand_in[utf8_encode(first + c, stand_in)] = '\0';
}

struct str yaml_dialect_text(const struct yaml_dialect *d)
{
        return d->edited.n ? buf_str(&d->edited) : d->original;
}

/* Replaces the text by an edited one. */
static void set_edited(struct yaml_dialect *d, struct buf *edited)
{
        buf_done(&d->edited);
        d->edited = *edited;
}

static bool replace(struct yaml_dialect *d, size_t offset, size_t n, struct str replacement)
{
        struct str text = yaml_dialect_text(d);
        struct buf edited = BUF_INIT(0);

        if (d->n_edits++ >= MAX_EDITS || offset + n > text.n)
                return false;
        buf_append_str(&edited, str_first(text, offset));
        buf_append_str(&edited, replacement);
        buf_append_str(&edited, str_skip(text, offset + n));
        set_edited(d, &edited);
        return true;
}

/* As replace, for a replacement that is not a stand-in for one character. */
static bool replace_and_shift(struct yaml_dialect *d, size_t offset, size_t n, struct str replacement)
{
        struct yaml_edit edit = { offset + replacement.n, (ptrdiff_t)replacement.n - (ptrdiff_t)n };

        if (!replace(d, offset, n, replacement))
                return false;
        vec_push(&d->edits, edit);
        return true;
}

/* go-yaml accepts numbers of up to two digits in a version, libyaml up to nine. A number that is too long for go-yaml gets more
 * than nine digits. True if the number was lengthened. */
static bool lengthen_number(struct yaml_dialect *d, struct str *line)
{
        size_t n = 0;

        while (n < line->n && line->p[n] >= '0' && line->p[n] <= '9')
                n++;
        if (n > 2)
                return replace_and_shift(d, (size_t)(line->p - d->original.p), 0, STR("0000000000"));
        *line = str_skip(*line, n);
        return false;
}

/* Only comments may come before directives. Only the first %YAML matters: a second one is an error for both libraries. */
static void refuse_versions(struct yaml_dialect *d)
{
        struct str rest = d->original, line, version;

        str_cut_prefix(&rest, BYTE_ORDER_MARK);
        while (rest.n && (str_starts_with(rest, STR("%")) || str_starts_with(rest, STR("#")) || rest.p[0] == '\n')) {
                str_split(&rest, '\n', &line);
                if (!str_cut_prefix(&line, STR("%YAML")))
                        continue;
                while (str_cut_prefix(&line, STR(" ")) || str_cut_prefix(&line, STR("\t")))
                        ;
                version = line;
                if (lengthen_number(d, &line) || !str_cut_prefix(&line, STR(".")) || lengthen_number(d, &line))
                        return;
                if (str_starts_with(version, STR("1.2")))
                        replace(d, (size_t)(version.p - d->original.p) + 2, 1, STR("3"));
                return;
        }
}

/* Replaces all byte order marks in one pass, except those that both libraries skip (one for the encoding, one for the first
 * line). The stand-in has as many bytes, so offsets do not change. */
static void hide_byte_order_marks(struct yaml_dialect *d)
{
        struct str text = yaml_dialect_text(d);
        size_t start = str_starts_with(text, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.n + 1 : 1;
        char *p;

        if (str_find(str_skip(text, start), BYTE_ORDER_MARK) < 0)
                return;
        choose_stand_in(d, d->mark, 0xE000);
        if (!d->mark[0])
                return;
        if (d->edited.n == 0)
                buf_append_str(&d->edited, d->original);
        p = d->edited.p + start;
        while ((p = memmem(p, (size_t)(d->edited.p + d->edited.n - p), "\xEF\xBB\xBF", 3)))
                memcpy(p, d->mark, 3);
}

/* Replaces every slash after a backslash anywhere in the text: this has an effect only in double-quoted scalars. */
static void hide_escaped_slashes(struct yaml_dialect *d)
{
        struct str text = yaml_dialect_text(d);
        struct buf edited = BUF_INIT(0);
        ptrdiff_t at;

        if (str_find(text, STR("\\/")) < 0)
                return;
        choose_stand_in(d, d->slash, 0xE800);
        if (!d->slash[0])
                return;
        while ((at = str_find(text, STR("\\/"))) >= 0) {
                buf_append_str(&edited, str_first(text, (size_t)at + 1));
                buf_append_str(&edited, str_from(d->slash));
                text = str_skip(text, (size_t)at + 2);
        }
        buf_append_str(&edited, text);
        set_edited(d, &edited);
}

void yaml_dialect_init(struct yaml_dialect *d, struct str text)
{
        *d = (struct yaml_dialect) { .original = text };
        if (str_starts_with(text, STR("\xFF\xFE")) || str_starts_with(text, STR("\xFE\xFF")))
                return;
        refuse_versions(d);
        hide_byte_order_marks(d);
        hide_escaped_slashes(d);
}

void yaml_dialect_done(struct yaml_dialect *d)
{
        buf_done(&d->edited);
        vec_done(&d->edits);
}

size_t yaml_dialect_surplus(const struct yaml_dialect *d, struct str s)
{
        bool is_stand_in = (d->colon[0] && str_starts_with(s, str_from(d->colon))) ||
                           (d->slash[0] && str_starts_with(s, str_from(d->slash)));

        return is_stand_in ? 2 : 0;
}

ptrdiff_t yaml_dialect_shift(const struct yaml_dialect *d, size_t offset)
{
        ptrdiff_t shift = 0;

        for (size_t i = 0; i < d->edits.n; i++)
                if (offset >= d->edits.p[i].offset)
                        shift += d->edits.p[i].delta;
        return shift;
}

struct str yaml_dialect_restore(const struct yaml_dialect *d, struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!d->colon[0] && !d->mark[0] && !d->slash[0])
                return arena_copy(a, s);
        while (s.n) {
                if (d->colon[0] && str_cut_prefix(&s, str_from(d->colon))) {
                        buf_append_char(&b, ':');
                } else if (d->slash[0] && str_cut_prefix(&s, str_from(d->slash))) {
                        buf_append_char(&b, '/');
                } else if (d->mark[0] && str_cut_prefix(&s, str_from(d->mark))) {
                        buf_append_str(&b, BYTE_ORDER_MARK);
                } else {
                        buf_append_char(&b, s.p[0]);
                        s = str_skip(s, 1);
                }
        }
        return buf_to_arena(&b, a);
}

static bool escape_tag_character(struct yaml_dialect *d, size_t offset)
{
        struct str rest = str_skip(yaml_dialect_text(d), offset);

        if (str_starts_with(rest, STR(",")))
                return replace_and_shift(d, offset, 1, STR("%2C"));
        if (str_starts_with(rest, STR("[")))
                return replace_and_shift(d, offset, 1, STR("%5B"));
        return str_starts_with(rest, STR("]")) && replace_and_shift(d, offset, 1, STR("%5D"));
}

bool yaml_dialect_fix_problem(struct yaml_dialect *d, const char *problem, size_t offset)
{
        struct str rest = str_skip(yaml_dialect_text(d), offset);

        if (strcmp(problem, "found unexpected ':'") == 0) {
                if (!d->colon[0])
                        choose_stand_in(d, d->colon, 0xE400);
                return d->colon[0] && str_starts_with(rest, STR(":")) && replace(d, offset, 1, str_from(d->colon));
        }
        if (strcmp(problem, "found unknown escape character") == 0)
                return str_starts_with(rest, STR("\\'")) && replace_and_shift(d, offset, 2, STR("\\x27"));
        if (strcmp(problem, "did not find expected tag URI") == 0 ||
            strcmp(problem, "did not find expected whitespace or line break") == 0)
                return escape_tag_character(d, offset);
        return false;
}

/* The length of the white space character at the start of s: a blank or a line break of YAML 1.1. 0 if there is none. */
static size_t blank_width(struct str s)
{
        if (s.n && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\r' || s.p[0] == '\n'))
                return 1;
        if (str_starts_with(s, STR("\xC2\x85")))
                return 2;
        return str_starts_with(s, STR("\xE2\x80\xA8")) || str_starts_with(s, STR("\xE2\x80\xA9")) ? 3 : 0;
}

/* The length of the property at the start of rest, up to the next white space. */
static size_t property_width(struct str rest)
{
        size_t n = 1;

        while (n < rest.n && !blank_width(str_skip(rest, n)))
                n++;
        return n;
}

static size_t comment_width(struct str rest)
{
        const char *end = memchr(rest.p, '\n', rest.n);

        return end ? (size_t)(end - rest.p) : rest.n;
}

size_t yaml_skip_properties(struct str text, size_t offset, struct str *ret_tag)
{
        struct str rest = str_skip(text, offset);

        *ret_tag = STR_NONE;
        while (rest.n) {
                size_t n = blank_width(rest);

                if (n == 0 && rest.p[0] == '#')
                        n = comment_width(rest);
                else if (n == 0 && (rest.p[0] == '&' || rest.p[0] == '!'))
                        n = property_width(rest);
                if (n == 0)
                        break;
                if (rest.p[0] == '!' && !ret_tag->p)
                        *ret_tag = str_first(rest, n);
                rest = str_skip(rest, n);
        }
        return text.n - rest.n;
}

bool yaml_dialect_fix_tag(struct yaml_dialect *d, size_t offset)
{
        struct str text = yaml_dialect_text(d), tag;

        yaml_skip_properties(text, offset, &tag);
        if (str_starts_with(tag, STR("!<")))
                return false;
        for (size_t i = 0; i < tag.n; i++)
                if (escape_tag_character(d, (size_t)(tag.p - text.p) + i))
                        return true;
        return false;
}
