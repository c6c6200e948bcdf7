#include "regex.h"

#include "arena.h"
#include "buf.h"
#include "regex-class.h"
#include "regex-engine.h"
#include "regex-syntax.h"
#include "utf8.h"

struct regex {
        struct str pattern; /* heap; the names point into it */
        struct regex_syntax syntax;
        struct regex_engine *engine;
};

int regex_compile(struct str pattern, struct regex **ret, struct err *err)
{
        _cleanup_(regex_freep)
        struct regex *re = xcalloc(1, sizeof(*re));
        int r;

        re->pattern = str_make(str_to_cstring(pattern), pattern.n);
        r = regex_syntax_parse(re->pattern, &re->syntax, err);
        if (r < 0)
                return r;
        r = regex_engine_new(buf_str(&re->syntax.rewritten), &re->engine, err);
        if (r < 0)
                return r;
        buf_done(&re->syntax.rewritten);
        *ret = TAKE(re);
        return 0;
}

void regex_free(struct regex *re)
{
        if (!re)
                return;
        if (re->engine)
                regex_engine_free(re->engine);
        regex_syntax_done(&re->syntax);
        free((char *)re->pattern.p);
        free(re);
}

struct str regex_pattern(const struct regex *re)
{
        return re->pattern;
}

size_t regex_group_count(const struct regex *re)
{
        return re->syntax.names.n;
}

struct str regex_group_name(const struct regex *re, size_t i)
{
        return i >= 1 && i <= re->syntax.names.n ? re->syntax.names.p[i - 1] : STR("");
}

/* An invalid byte is replaced by U+FFFD for the search, which is this many bytes longer. */
#define INVALID_GROWTH 2

/* ---- Searching ---- */

/* As regex_engine_find, with the groups of the pattern instead of the engine's; n is at most their number + 1. */
static bool find_groups(const struct regex *re, struct str text, size_t start, struct str *groups, size_t n)
{
        const uint32_t *numbers = re->syntax.engine_groups.p;
        size_t whole = re->syntax.has_not_word_boundary ? 1 : 0, last = n < 2 ? whole : numbers[n - 2];
        _cleanup_free_ struct str *all = NULL;

        if (n == 0 || last == n - 1)
                return regex_engine_find(re->engine, text, start, groups, n);
        all = xcalloc(last + 1, sizeof(*all));
        if (!regex_engine_find(re->engine, text, start, all, last + 1))
                return false;
        groups[0] = all[whole];
        for (size_t i = 1; i < n; i++)
                groups[i] = all[numbers[i - 1]];
        return true;
}

/* As regex_find, in text that is valid UTF-8. */
static bool find_valid(const struct regex *re, struct str text, size_t start, struct str *groups, size_t n)
{
        size_t n_known = MIN(n, re->syntax.names.n + 1);

        if (!find_groups(re, text, start, groups, n_known))
                return false;
        for (size_t i = n_known; i < n; i++)
                groups[i] = STR_NONE;
        return true;
}

bool regex_matches(const struct regex *re, struct str text)
{
        /* The engine is fastest if no position is requested. */
        return utf8_is_valid(text) ? find_valid(re, text, 0, NULL, 0) : regex_find(re, text, 0, NULL, 0);
}

bool regex_find(const struct regex *re, struct str text, size_t start, struct str *groups, size_t n)
{
        struct regex_scan s;
        bool has_match;

        if (start > text.n)
                return false;
        regex_scan_init(&s, re, text);
        s.position = start;
        for (size_t i = 0; i < s.n_replaced && s.replaced[i] < s.position; i++)
                s.position += INVALID_GROWTH;
        has_match = regex_scan_next(&s, groups, n);
        regex_scan_done(&s);
        return has_match;
}

/* ---- Text that is not UTF-8 ---- */

static const char replacement_character[] = "\xEF\xBF\xBD";

static void make_readable(struct regex_scan *s)
{
        VEC(size_t) replaced = { 0 };
        struct str rest = s->text;
        struct buf b = BUF_INIT(SIZE_MAX);

        buf_reserve(&b, rest.n + rest.n / 8);
        for (;;) {
                size_t valid = utf8_valid_prefix(rest);

                buf_append_str(&b, str_first(rest, valid));
                if (valid == rest.n)
                        break;
                vec_push(&replaced, b.n);
                buf_append(&b, replacement_character, 3);
                rest = str_skip(rest, valid + 1);
        }
        s->replaced = replaced.p;
        s->n_replaced = replaced.n;
        s->readable.n = b.n;
        s->readable.p = buf_take(&b);
}

static size_t count_replaced_before(const struct regex_scan *s, size_t position)
{
        size_t low = 0, high = s->n_replaced;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (s->replaced[middle] < position)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Maps a part of the copy to the same part of the text. */
static struct str in_text(const struct regex_scan *s, struct str found)
{
        size_t start, end;

        if (!found.p)
                return STR_NONE;
        start = (size_t)(found.p - s->readable.p);
        end = start + found.n;
        start -= INVALID_GROWTH * count_replaced_before(s, start);
        end -= INVALID_GROWTH * count_replaced_before(s, end);
        return str_make(s->text.p + start, end - start);
}

/* ---- All matches ---- */

void regex_scan_init(struct regex_scan *s, const struct regex *re, struct str text)
{
        if (!text.p)
                text = STR("");
        *s = (struct regex_scan) { .re = re, .text = text, .readable = text };
        if (!utf8_is_valid(text))
                make_readable(s);
}

void regex_scan_done(struct regex_scan *s)
{
        if (s->readable.p != s->text.p)
                free((char *)s->readable.p);
        free(s->replaced);
}

/* Moves the position after the match, and past the next character if the match is empty and the position would not change
 * otherwise. False if the match is empty and directly after the previous match. */
static bool step_over(struct regex_scan *s, struct str match)
{
        size_t start = (size_t)(match.p - s->readable.p), end = start + match.n, width = 1;
        bool counts = true;

        if (end == s->position) {
                counts = !s->has_previous || start != s->previous_end;
                if (end < s->readable.n)
                        utf8_decode(str_skip(s->readable, end), &width);
                s->position += width;
        } else {
                s->position = end;
        }
        s->previous_end = end;
        s->has_previous = true;
        return counts;
}

bool regex_scan_next(struct regex_scan *s, struct str *groups, size_t n)
{
        struct str whole, *found = n ? groups : &whole;

        while (s->position <= s->readable.n) {
                if (!find_valid(s->re, s->readable, s->position, found, MAX(n, (size_t)1))) {
                        s->position = s->readable.n + 1;
                        break;
                }
                if (!step_over(s, found[0]))
                        continue;
                for (size_t i = 0; s->n_replaced > 0 && i < n; i++)
                        groups[i] = in_text(s, groups[i]);
                return true;
        }
        return false;
}

size_t regex_find_all(const struct regex *re, struct str text, int64_t limit, struct arena *a, struct str **ret)
{
        VEC(struct str) all = { 0 };
        struct regex_scan s;
        struct str match;

        regex_scan_init(&s, re, text);
        while ((limit < 0 || all.n < (uint64_t)limit) && regex_scan_next(&s, &match, 1))
                vec_push(&all, match);
        regex_scan_done(&s);
        *ret = ARENA_NEW_ARRAY(a, struct str, all.n);
        if (all.n > 0)
                memcpy(*ret, all.p, all.n * sizeof(match));
        free(all.p);
        return all.n;
}

size_t regex_split(const struct regex *re, struct str text, int64_t limit, struct arena *a, struct str **ret)
{
        struct str *matches;
        size_t n_matches, n = 0, start = 0, end = 0;

        if (!text.p)
                text = STR("");
        if (limit == 0) {
                *ret = NULL;
                return 0;
        }
        if (re->pattern.n > 0 && text.n == 0) {
                *ret = ARENA_NEW(a, struct str);
                **ret = text;
                return 1;
        }
        n_matches = regex_find_all(re, text, limit, a, &matches);
        *ret = ARENA_NEW_ARRAY(a, struct str, n_matches + 1);
        for (size_t i = 0; i < n_matches && (limit < 0 || n + 1 < (uint64_t)limit); i++) {
                size_t match_end;

                end = (size_t)(matches[i].p - text.p);
                match_end = end + matches[i].n;
                if (match_end > 0)
                        (*ret)[n++] = str_make(text.p + start, end - start);
                start = match_end;
        }
        if (end < text.n)
                (*ret)[n++] = str_skip(text, start);
        return n;
}

/* ---- Replacing ---- */

static bool is_name_character(uint32_t rune)
{
        if (rune < 0x80)
                return rune == '_' || (rune >= '0' && rune <= '9') || (rune >= 'A' && rune <= 'Z') ||
                       (rune >= 'a' && rune <= 'z');
        return regex_class_has("l", rune) || regex_class_has("nd", rune);
}

/* Reads the name after a $ at the start of *s, with or without braces, and moves *s after it. False if there is none. */
static bool read_reference(struct str *s, struct str *ret_name)
{
        struct str rest = *s;
        bool is_braced = str_cut_prefix(&rest, STR("{"));
        size_t n = 0, width;

        while (n < rest.n && is_name_character(utf8_decode(str_skip(rest, n), &width)))
                n += width;
        if (n == 0)
                return false;
        *ret_name = str_first(rest, n);
        rest = str_skip(rest, n);
        if (is_braced && !str_cut_prefix(&rest, STR("}")))
                return false;
        *s = rest;
        return true;
}

/* A name of digits only, without leading zeros, is a number; SIZE_MAX if it is not. */
static size_t reference_number(struct str name)
{
        size_t number = 0;

        if (name.n > 1 && name.p[0] == '0')
                return SIZE_MAX;
        for (size_t i = 0; i < name.n; i++) {
                if (name.p[i] < '0' || name.p[i] > '9' || number >= 100000000)
                        return SIZE_MAX;
                number = number * 10 + (size_t)(name.p[i] - '0');
        }
        return number;
}

static void append_reference(const struct regex *re, struct str name, const struct str *groups, size_t n,
                             struct buf *ret)
{
        size_t number = reference_number(name);

        if (number != SIZE_MAX) {
                if (number < n && groups[number].p)
                        buf_append_str(ret, groups[number]);
                return;
        }
        for (size_t i = 1; i < n; i++) {
                if (groups[i].p && str_equal(regex_group_name(re, i), name)) {
                        buf_append_str(ret, groups[i]);
                        return;
                }
        }
}

void regex_expand(const struct regex *re, struct str template_text, const struct str *groups, size_t n, struct buf *ret)
{
        struct str rest = template_text, text, name;

        while (str_split(&rest, '$', &text)) {
                buf_append_str(ret, text);
                if (str_cut_prefix(&rest, STR("$")) || !read_reference(&rest, &name))
                        buf_append_char(ret, '$');
                else
                        append_reference(re, name, groups, n, ret);
        }
        buf_append_str(ret, text);
}

void regex_replace_all(const struct regex *re, struct str text, struct str replacement, bool is_literal,
                       struct buf *ret)
{
        bool is_plain = is_literal || str_find_char(replacement, '$') < 0;
        size_t n = is_plain ? 1 : re->syntax.names.n + 1, end = 0;
        _cleanup_free_ struct str *groups = xcalloc(n, sizeof(*groups));
        struct regex_scan s;

        regex_scan_init(&s, re, text);
        while (!ret->has_failed && regex_scan_next(&s, groups, n)) {
                size_t start = (size_t)(groups[0].p - s.text.p);

                buf_append_str(ret, str_make(s.text.p + end, start - end));
                if (is_plain)
                        buf_append_str(ret, replacement);
                else
                        regex_expand(re, replacement, groups, n, ret);
                end = start + groups[0].n;
        }
        buf_append_str(ret, str_skip(s.text, end));
        regex_scan_done(&s);
}

void regex_append_quoted(struct buf *b, struct str text)
{
        for (size_t i = 0; i < text.n; i++) {
                if (text.p[i] != '\0' && strchr("\\.+*?()|[]{}^$", text.p[i]))
                        buf_append_char(b, '\\');
                buf_append_char(b, text.p[i]);
        }
}
