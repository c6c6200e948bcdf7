/* Texts, by letters and words. */
#include "sprig.h"

#include "gotext.h"
#include "utf8.h"

/* True for a rune that ends a word in strings.Title. */
static bool is_separator(uint32_t rune)
{
        if (rune <= 0x7F)
                return !((rune >= '0' && rune <= '9') || (rune >= 'a' && rune <= 'z') || (rune >= 'A' && rune <= 'Z') ||
                         rune == '_');
        return !go_is_letter(rune) && !go_is_digit(rune) && go_is_space(rune);
}

static void append_rune(struct buf *b, uint32_t rune)
{
        char bytes[4];

        buf_append(b, bytes, utf8_encode(rune, bytes));
}

/* Invalid UTF-8 becomes U+FFFD, as in Go's strings.Map. */
static int map_runes(struct gt_context *c, struct str s, uint32_t (*map)(uint32_t), struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        size_t width;

        for (; s.n > 0 && !b.has_failed; s = str_skip(s, width))
                append_rune(&b, map(utf8_decode(s, &width)));
        return gt_take_text(c, &b, ret);
}

SPRIG(upper)
{
        return map_runes(c, gt_str(arguments[0]), go_to_upper, ret);
}

SPRIG(lower)
{
        return map_runes(c, gt_str(arguments[0]), go_to_lower, ret);
}

/* strings.Title: a letter after a rune that is not part of a word is written in title case. */
SPRIG(title)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);
        uint32_t previous = ' ';
        size_t width;

        for (; s.n > 0 && !b.has_failed; s = str_skip(s, width)) {
                uint32_t rune = utf8_decode(s, &width);

                append_rune(&b, is_separator(previous) ? go_to_title(rune) : rune);
                previous = rune;
        }
        return gt_take_text(c, &b, ret);
}

/* Writes the first letter of each word in lower case; white space separates words. */
SPRIG(untitle)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);
        bool is_first = true;
        size_t width;

        for (; s.n > 0 && !b.has_failed; s = str_skip(s, width)) {
                uint32_t rune = utf8_decode(s, &width);

                if (is_first && !go_is_space(rune))
                        append_rune(&b, go_to_lower(rune));
                else
                        append_rune(&b, rune);
                is_first = go_is_space(rune);
        }
        return gt_take_text(c, &b, ret);
}

/* Upper and title case become lower case. Lower case becomes title case after white space, and upper case elsewhere. */
SPRIG(swapcase)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);
        bool is_behind_space = true;
        size_t width;

        for (; s.n > 0 && !b.has_failed; s = str_skip(s, width)) {
                uint32_t rune = utf8_decode(s, &width), swapped = rune;

                if (go_is_upper(rune) || go_is_title(rune))
                        swapped = go_to_lower(rune);
                else if (go_is_lower(rune))
                        swapped = is_behind_space ? go_to_title(rune) : go_to_upper(rune);
                append_rune(&b, swapped);
                is_behind_space = go_is_space(rune);
        }
        return gt_take_text(c, &b, ret);
}

static bool has_space(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (go_is_space((unsigned char)s.p[i]))
                        return true;
        return false;
}

/* If there is white space to drop, the library goes through the bytes and treats each as a Latin-1 character. */
SPRIG(nospace)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);

        if (!has_space(s))
                return sprig_return_text(s, ret);
        for (size_t i = 0; i < s.n && !b.has_failed; i++)
                if (!go_is_space((unsigned char)s.p[i]))
                        append_rune(&b, (unsigned char)s.p[i]);
        return gt_take_text(c, &b, ret);
}

/* The first byte of each word, again as Latin-1. */
SPRIG(initials)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);
        bool is_first = true;

        for (size_t i = 0; i < s.n && !b.has_failed; i++) {
                unsigned char byte = (unsigned char)s.p[i];

                if (is_first && !go_is_space(byte))
                        append_rune(&b, byte);
                is_first = go_is_space(byte);
        }
        return gt_take_text(c, &b, ret);
}

/* --- Words --- */

static bool is_connector(uint32_t rune)
{
        return rune == '-' || rune == '_' || go_is_space(rune);
}

/* The first rune of the text; 0 at its end. */
static uint32_t peek(struct str s)
{
        size_t width;

        return s.n ? utf8_decode(s, &width) : 0;
}

static uint32_t take(struct str *s)
{
        size_t width;
        uint32_t rune = utf8_decode(*s, &width);

        *s = str_skip(*s, width);
        return rune;
}

/* Appends connectors: all of them at either end of the text; between words all but the last. */
static void append_connectors(struct buf *b, struct str *s)
{
        while (s->n > 0 && is_connector(peek(*s))) {
                uint32_t rune = take(s);

                if (s->n == 0 || is_connector(peek(*s)))
                        append_rune(b, rune);
        }
}

/* Writes the first letter in upper case. If the word begins with several capitals, the others of them become lower case; the
 * rest keeps its case. */
static void append_camel_word(struct buf *b, struct str *s)
{
        uint32_t rune = take(s);
        bool is_capitals = go_is_upper(rune);

        append_rune(b, go_to_upper(rune));
        while (s->n > 0 && !is_connector(peek(*s))) {
                rune = take(s);
                is_capitals = is_capitals && go_is_upper(rune);
                append_rune(b, is_capitals ? go_to_lower(rune) : rune);
        }
}

SPRIG(camelcase)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str s = gt_str(arguments[0]);
        uint32_t last = 0;

        while (s.n > 0 && is_connector(peek(s))) {
                last = take(&s);
                append_rune(&b, last);
        }
        if (s.n == 0 && last)
                append_rune(&b, last); /* in a text of only connectors the last one appears twice */
        while (s.n > 0 && !b.has_failed) {
                append_camel_word(&b, &s);
                append_connectors(&b, &s);
        }
        return gt_take_text(c, &b, ret);
}

/* --- Words of snakecase and kebabcase --- */

enum word_kind {
        WORD_NONE, /* the end, or only invalid UTF-8 */
        WORD_CONNECTOR,
        WORD_PUNCTUATION,
        WORD_CAPITALS, /* begins with a capital */
        WORD_LETTERS,
        WORD_NUMBER,
        WORD_OTHER,
};

struct word {
        enum word_kind kind;
        struct str text;
};

/* Letters, except Chinese characters. */
static bool is_alphabetic(uint32_t rune)
{
        return go_is_letter(rune) && !(rune >= 0x4E00 && rune <= 0x9FCC) && !(rune >= 0x3400 && rune <= 0x4D85) &&
               !(rune >= 0x20000 && rune <= 0x2B81D);
}

static bool is_small(uint32_t rune)
{
        return is_alphabetic(rune) && !go_is_upper(rune);
}

static bool is_other(uint32_t rune)
{
        return !is_connector(rune) && !is_alphabetic(rune) && !go_is_number(rune) && !go_is_punctuation(rune);
}

/* The next valid rune. The width includes invalid bytes before it; if there is no valid rune, the width is the whole rest. */
static uint32_t next_rune(struct str s, uint32_t previous, size_t *ret_width)
{
        size_t width;

        *ret_width = 0;
        while (s.n > 0) {
                uint32_t rune = utf8_decode(s, &width);

                *ret_width += width;
                if (rune != RUNE_ERROR)
                        return rune;
                s = str_skip(s, width);
        }
        return previous;
}

/* The length of the run of runes of the class, from `at` on. */
static size_t span(struct str s, size_t at, uint32_t rune, bool (*is_of_class)(uint32_t))
{
        size_t width;

        while (at < s.n) {
                rune = next_rune(str_skip(s, at), rune, &width);
                if (!is_of_class(rune))
                        return at;
                at += width;
        }
        return at;
}

/* A run of capitals is a word; if a small letter follows, the last capital begins the next word. */
static size_t capitals_length(struct str s, size_t first, uint32_t rune)
{
        size_t end = first, width, last = 0;

        if (first >= s.n)
                return first;
        rune = next_rune(str_skip(s, first), rune, &width);
        if (!go_is_upper(rune))
                return is_alphabetic(rune) ? span(s, first + width, rune, is_small) : first;
        while (go_is_upper(rune)) {
                end += width;
                last = width;
                if (end >= s.n)
                        return end;
                rune = next_rune(str_skip(s, end), rune, &width);
        }
        return is_alphabetic(rune) ? end - last : end;
}

static struct word take_word(struct str *s)
{
        static const struct {
                bool (*is_of_class)(uint32_t);
                enum word_kind kind;
        } classes[] = {
                { is_connector, WORD_CONNECTOR }, { go_is_punctuation, WORD_PUNCTUATION },
                { is_small, WORD_LETTERS },       { go_is_number, WORD_NUMBER },
                { is_other, WORD_OTHER },
        };
        struct word w = { WORD_NONE, *s };
        size_t n;
        uint32_t rune = next_rune(*s, RUNE_ERROR, &n);

        if (rune == RUNE_ERROR) {
                w.text = str_first(*s, n);
        } else if (go_is_upper(rune)) {
                w = (struct word) { WORD_CAPITALS, str_first(*s, capitals_length(*s, n, rune)) };
        } else {
                size_t i = 0;

                while (!classes[i].is_of_class(rune))
                        i++;
                w = (struct word) { classes[i].kind, str_first(*s, span(*s, n, rune, classes[i].is_of_class)) };
        }
        *s = str_skip(*s, w.text.n);
        return w;
}

struct joiner {
        struct buf *b;
        struct str rest;
        struct word word; /* not written yet */
        char connector;
};

static void append_word(struct joiner *j, struct word w)
{
        size_t width;

        if (w.kind != WORD_CAPITALS && w.kind != WORD_CONNECTOR) {
                buf_append_str(j->b, w.text);
                return;
        }
        for (struct str s = w.text; s.n > 0; s = str_skip(s, width)) {
                uint32_t rune = utf8_decode(s, &width);

                if (is_connector(rune))
                        buf_append_char(j->b, j->connector);
                else
                        append_rune(j->b, go_is_upper(rune) ? go_to_lower(rune) : rune);
        }
}

static void connect(struct joiner *j)
{
        if (j->word.kind != WORD_NONE && j->word.kind != WORD_CONNECTOR && j->word.kind != WORD_PUNCTUATION)
                buf_append_char(j->b, j->connector);
}

/* Small letters and numbers that follow a number belong to its word. */
static void append_behind_number(struct joiner *j)
{
        while (j->word.kind == WORD_LETTERS || j->word.kind == WORD_NUMBER) {
                append_word(j, j->word);
                j->word = take_word(&j->rest);
        }
        connect(j);
}

/* A number after a word belongs to the word (Bld4Floor: bld4_floor), unless small letters follow (HTTP2xx: http_2xx). */
static void append_behind_word(struct joiner *j)
{
        struct word number = j->word;

        if (number.kind != WORD_NUMBER) {
                if (number.kind != WORD_CONNECTOR && number.kind != WORD_PUNCTUATION)
                        buf_append_char(j->b, j->connector);
                return;
        }
        if (j->rest.n == 0)
                return;
        j->word = take_word(&j->rest);
        if (j->word.kind == WORD_LETTERS) {
                buf_append_char(j->b, j->connector);
                append_word(j, number);
                append_behind_number(j);
                return;
        }
        append_word(j, number);
        if (j->word.kind != WORD_CONNECTOR && j->word.kind != WORD_PUNCTUATION)
                buf_append_char(j->b, j->connector);
}

static int join_words(struct gt_context *c, struct str s, char connector, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct joiner j = { .b = &b, .rest = s, .connector = connector };

        j.word = take_word(&j.rest);
        while (j.rest.n > 0 && !b.has_failed) {
                struct word previous = j.word;

                append_word(&j, previous);
                j.word = take_word(&j.rest);
                if (previous.kind == WORD_NUMBER)
                        append_behind_number(&j);
                else if (previous.kind != WORD_CONNECTOR && previous.kind != WORD_PUNCTUATION)
                        append_behind_word(&j);
        }
        append_word(&j, j.word);
        return gt_take_text(c, &b, ret);
}

SPRIG(snakecase)
{
        return join_words(c, gt_str(arguments[0]), '_', ret);
}

SPRIG(kebabcase)
{
        return join_words(c, gt_str(arguments[0]), '-', ret);
}
