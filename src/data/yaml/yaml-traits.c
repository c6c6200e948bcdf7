#include "yaml-traits.h"

#include "utf8.h"

bool yaml_is_break(uint32_t rune)
{
        return rune == '\n' || rune == '\r' || rune == 0x85 || rune == 0x2028 || rune == 0x2029;
}

bool yaml_is_printable(uint32_t rune)
{
        return rune == '\n' || (rune >= 0x20 && rune <= 0x7E) || (rune >= 0xA0 && rune <= 0xFFFD && rune != 0xFEFF);
}

static bool is_blank_or_end(struct str rest)
{
        size_t width;

        return rest.n == 0 || rest.p[0] == ' ' || rest.p[0] == '\t' || rest.p[0] == '\0' ||
               yaml_is_break(utf8_decode(rest, &width));
}

static bool is_indicator(struct str rest, bool is_first, bool follows_blank)
{
        switch (rest.p[0]) {
        case '#':
                return is_first || follows_blank;
        case ':':
                return is_blank_or_end(str_skip(rest, 1));
        case '?':
        case '-':
                return is_first && is_blank_or_end(str_skip(rest, 1));
        case ',':
        case '[':
        case ']':
        case '{':
        case '}':
        case '&':
        case '*':
        case '!':
        case '|':
        case '>':
        case '\'':
        case '"':
        case '%':
        case '@':
        case '`':
                return is_first;
        default:
                return false;
        }
}

/* A character that has no trait wherever it stands: most of most texts. */
static bool is_ordinary(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '.' && c <= '9') || c == '_';
}

struct yaml_traits yaml_traits_of(struct str s)
{
        struct yaml_traits t = { .has_indicators = str_starts_with(s, STR("---")) || str_starts_with(s, STR("...")) };
        bool follows_space = false, follows_break = false, follows_blank = true;

        for (size_t i = 0, width = 1; i < s.n; i += width) {
                uint32_t c;
                bool is_edge, breaks;

                if (is_ordinary(s.p[i])) {
                        follows_space = follows_break = follows_blank = false;
                        width = 1;
                        continue;
                }
                c = utf8_decode(str_skip(s, i), &width);
                is_edge = i == 0 || i + width == s.n;
                breaks = yaml_is_break(c);
                t.has_indicators = t.has_indicators || is_indicator(str_skip(s, i), i == 0, follows_blank);
                t.has_tabs = t.has_tabs || c == '\t';
                t.has_special = t.has_special || (c != '\t' && !yaml_is_printable(c));
                t.has_breaks = t.has_breaks || breaks;
                t.has_space_at_edge = t.has_space_at_edge || (c == ' ' && is_edge);
                t.has_space_at_end = t.has_space_at_end || (c == ' ' && i + width == s.n);
                t.has_break_at_edge = t.has_break_at_edge || (breaks && is_edge);
                t.has_break_then_space = t.has_break_then_space || (c == ' ' && follows_break);
                t.has_space_then_break = t.has_space_then_break || (breaks && follows_space);
                follows_space = c == ' ';
                follows_break = breaks;
                follows_blank = is_blank_or_end(str_skip(s, i));
        }
        return t;
}
