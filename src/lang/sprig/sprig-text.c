/* Texts, by bytes. */
#include "sprig.h"

#include "gotext.h"
#include "utf8.h"

SPRIG(hello)
{
        return sprig_return_text(STR("Hello!"), ret);
}

/* --- Searching --- */

SPRIG(contains)
{
        return sprig_return_bool(str_find(gt_str(arguments[1]), gt_str(arguments[0])) >= 0, ret);
}

SPRIG(has_prefix)
{
        return sprig_return_bool(str_starts_with(gt_str(arguments[1]), gt_str(arguments[0])), ret);
}

SPRIG(has_suffix)
{
        return sprig_return_bool(str_ends_with(gt_str(arguments[1]), gt_str(arguments[0])), ret);
}

/* --- Cutting --- */

static uint32_t last_rune(struct str s, size_t *ret_width)
{
        size_t start = s.n - 1, width;
        uint32_t rune;

        while (start > 0 && s.n - start < 4 && ((unsigned char)s.p[start] & 0xC0) == 0x80)
                start--;
        rune = utf8_decode(str_skip(s, start), &width);
        if (start + width == s.n) {
                *ret_width = width;
                return rune;
        }
        *ret_width = 1;
        return RUNE_ERROR;
}

static bool has_rune(struct str set, uint32_t rune)
{
        size_t width;

        for (; set.n > 0; set = str_skip(set, width))
                if (utf8_decode(set, &width) == rune)
                        return true;
        return false;
}

/* Removes runes from both ends: those of the set, or white space if set is NULL. */
static struct str trim_runes(struct str s, const struct str *set)
{
        size_t width;
        uint32_t rune;

        while (s.n > 0) {
                rune = utf8_decode(s, &width);
                if (!(set ? has_rune(*set, rune) : go_is_space(rune)))
                        break;
                s = str_skip(s, width);
        }
        while (s.n > 0) {
                rune = last_rune(s, &width);
                if (!(set ? has_rune(*set, rune) : go_is_space(rune)))
                        break;
                s = str_first(s, s.n - width);
        }
        return s;
}

SPRIG(trim)
{
        return sprig_return_text(trim_runes(gt_str(arguments[0]), NULL), ret);
}

SPRIG(trim_all)
{
        struct str set = gt_str(arguments[0]);
        int r = gt_spend(c, gt_str(arguments[1]).n * (set.n / 64 + 1) / 64);

        if (r < 0)
                return r;
        return sprig_return_text(trim_runes(gt_str(arguments[1]), &set), ret);
}

SPRIG(trim_prefix)
{
        struct str s = gt_str(arguments[1]);

        str_cut_prefix(&s, gt_str(arguments[0]));
        return sprig_return_text(s, ret);
}

SPRIG(trim_suffix)
{
        struct str s = gt_str(arguments[1]);

        str_cut_suffix(&s, gt_str(arguments[0]));
        return sprig_return_text(s, ret);
}

SPRIG(trunc)
{
        int64_t most = arguments[0].integer;
        struct str s = gt_str(arguments[1]);

        if (most < 0 && (int64_t)s.n + most > 0)
                return sprig_return_text(str_skip(s, (size_t)((int64_t)s.n + most)), ret);
        if (most >= 0 && (int64_t)s.n > most)
                return sprig_return_text(str_first(s, (size_t)most), ret);
        return sprig_return_text(s, ret);
}

/* The texts of Go's panics for bad bounds of a string slice. */
static int out_of_range(struct gt_context *c, int64_t start, int64_t end, int64_t n)
{
        if (end < 0)
                return gt_fail(c, "runtime error: slice bounds out of range [:%lld]", (long long)end);
        if (end > n)
                return gt_fail(c, "runtime error: slice bounds out of range [:%lld] with length %lld", (long long)end,
                               (long long)n);
        return gt_fail(c, "runtime error: slice bounds out of range [%lld:%lld]", (long long)start, (long long)end);
}

SPRIG(substr)
{
        int64_t start = arguments[0].integer, end = arguments[1].integer, length;
        struct str s = gt_str(arguments[2]);

        length = (int64_t)s.n;
        if (start < 0) {
                if (end < 0 || end > length)
                        return out_of_range(c, 0, end, length);
                return sprig_return_text(str_first(s, (size_t)end), ret);
        }
        if (end < 0 || end > length) {
                if (start > length)
                        return out_of_range(c, start, length, length);
                return sprig_return_text(str_skip(s, (size_t)start), ret);
        }
        if (start > end)
                return out_of_range(c, start, end, length);
        return sprig_return_text(str_skip(str_first(s, (size_t)end), (size_t)start), ret);
}

/* --- Putting together --- */

SPRIG(cat)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        size_t n_written = 0;

        for (size_t i = 0; i < n; i++) {
                if (gt_is_nil(arguments[i]))
                        continue;
                if (n_written++)
                        buf_append_char(&b, ' ');
                gt_append_text(c, &b, arguments[i]);
        }
        return gt_take_text(c, &b, ret);
}

SPRIG(quote)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c)), text = BUF_INIT(gt_max_text(c));
        size_t n_written = 0;

        for (size_t i = 0; i < n; i++) {
                if (gt_is_nil(arguments[i]))
                        continue;
                if (n_written++)
                        buf_append_char(&b, ' ');
                buf_clear(&text);
                sprig_append_text(c, &text, arguments[i]);
                if (text.has_failed)
                        return gt_take_text(c, &text, ret);
                go_append_quoted(&b, buf_str(&text));
        }
        return gt_take_text(c, &b, ret);
}

SPRIG(squote)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        size_t n_written = 0;

        for (size_t i = 0; i < n; i++) {
                if (gt_is_nil(arguments[i]))
                        continue;
                if (n_written++)
                        buf_append_char(&b, ' ');
                buf_append_char(&b, '\'');
                gt_append_text(c, &b, arguments[i]);
                buf_append_char(&b, '\'');
        }
        return gt_take_text(c, &b, ret);
}

SPRIG(plural)
{
        return sprig_return_text(gt_str(arguments[arguments[2].integer == 1 ? 0 : 1]), ret);
}

/* Appends the text count times. Fails where Go panics, and if the result would be too large. */
static int append_repeated(struct gt_context *c, struct buf *b, struct str text, int64_t count)
{
        uint64_t bytes;
        int r;

        if (count < 0)
                return gt_fail(c, "strings: negative Repeat count");
        if (__builtin_mul_overflow((uint64_t)count, (uint64_t)text.n, &bytes))
                bytes = UINT64_MAX;
        r = gt_spend(c, MIN(bytes, (uint64_t)gt_max_text(c)) / 64);
        if (r < 0 || text.n == 0)
                return r;
        for (; count > 0 && !b->has_failed; count--)
                buf_append_str(b, text);
        return 0;
}

SPRIG(repeat)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r = append_repeated(c, &b, gt_str(arguments[1]), arguments[0].integer);

        return r < 0 ? r : gt_take_text(c, &b, ret);
}

static int indent(struct gt_context *c, struct buf *b, int64_t width, struct str text)
{
        struct str line;
        int r = append_repeated(c, b, STR(" "), width);

        while (r == 0 && str_split(&text, '\n', &line) && !b->has_failed) {
                buf_append_str(b, line);
                buf_append_char(b, '\n');
                r = append_repeated(c, b, STR(" "), width);
        }
        if (r == 0)
                buf_append_str(b, line);
        return r;
}

SPRIG(indent)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r = indent(c, &b, arguments[0].integer, gt_str(arguments[1]));

        return r < 0 ? r : gt_take_text(c, &b, ret);
}

SPRIG(nindent)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r;

        buf_append_char(&b, '\n');
        r = indent(c, &b, arguments[0].integer, gt_str(arguments[1]));
        return r < 0 ? r : gt_take_text(c, &b, ret);
}

/* strings.ReplaceAll: an empty old text matches before every rune and at the end. */
static void append_replaced(struct buf *b, struct str text, struct str old, struct str with)
{
        size_t width;

        if (old.n == 0) {
                for (; text.n > 0 && !b->has_failed; text = str_skip(text, width)) {
                        utf8_decode(text, &width);
                        buf_append_str(b, with);
                        buf_append(b, text.p, width);
                }
                buf_append_str(b, with);
                return;
        }
        for (;;) {
                ptrdiff_t at = str_find(text, old);

                if (at < 0 || b->has_failed)
                        break;
                buf_append(b, text.p, (size_t)at);
                buf_append_str(b, with);
                text = str_skip(text, (size_t)at + old.n);
        }
        buf_append_str(b, text);
}

SPRIG(replace)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r = gt_spend(c, gt_str(arguments[2]).n / 4);

        if (r < 0)
                return r;
        append_replaced(&b, gt_str(arguments[2]), gt_str(arguments[0]), gt_str(arguments[1]));
        return gt_take_text(c, &b, ret);
}

/* --- Lines and abbreviations --- */

/* Cuts to width bytes, with `...` at the right; with an offset also at the left. */
static int abbreviate(struct gt_context *c, struct str s, int64_t offset, int64_t width, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int64_t length = (int64_t)s.n;

        if (length <= width)
                return sprig_return_text(s, ret);
        offset = MIN(offset, length);
        if (length - offset < width - 3)
                offset = length - (width - 3);
        if (offset <= 4) {
                buf_append(&b, s.p, (size_t)(width - 3));
                buf_append_literal(&b, "...");
                return gt_take_text(c, &b, ret);
        }
        buf_append_literal(&b, "...");
        s = str_skip(s, (size_t)offset);
        if (offset + width - 3 < length) {
                buf_append(&b, s.p, (size_t)MAX(width - 6, 0));
                buf_append_literal(&b, "...");
        } else {
                buf_append_str(&b, s);
        }
        return gt_take_text(c, &b, ret);
}

SPRIG(abbrev)
{
        if (arguments[0].integer < 4)
                return sprig_return_text(gt_str(arguments[1]), ret);
        return abbreviate(c, gt_str(arguments[1]), 0, arguments[0].integer, ret);
}

SPRIG(abbrevboth)
{
        int64_t left = arguments[0].integer, right = arguments[1].integer;

        if (right < 4 || (left > 0 && right < 7))
                return sprig_return_text(gt_str(arguments[2]), ret);
        return abbreviate(c, gt_str(arguments[2]), left, right, ret);
}

/* Breaks the text at blanks into lines of at most width bytes; a longer word is cut if cuts_words, else kept whole. */
static int wrap(struct gt_context *c, struct str s, int64_t width, struct str new_line, bool cuts_words,
                struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        size_t most = width < 1 ? 1 : (size_t)width;

        while (s.n > most && !b.has_failed) {
                ptrdiff_t at;

                if (s.p[0] == ' ') {
                        s = str_skip(s, 1);
                        continue;
                }
                at = str_find_last_char(str_first(s, most + 1), ' ');
                if (at < 0 && cuts_words) {
                        buf_append(&b, s.p, most);
                        buf_append_str(&b, new_line);
                        s = str_skip(s, most);
                        continue;
                }
                if (at < 0)
                        at = str_find_char(str_skip(s, most), ' ') < 0
                                     ? -1
                                     : str_find_char(str_skip(s, most), ' ') + (ptrdiff_t)most;
                if (at < 0)
                        break;
                buf_append(&b, s.p, (size_t)at);
                buf_append_str(&b, new_line);
                s = str_skip(s, (size_t)at + 1);
        }
        buf_append_str(&b, s);
        return gt_take_text(c, &b, ret);
}

SPRIG(wrap)
{
        return wrap(c, gt_str(arguments[1]), arguments[0].integer, STR("\n"), false, ret);
}

SPRIG(wrap_with)
{
        struct str new_line = gt_str(arguments[1]);

        return wrap(c, gt_str(arguments[2]), arguments[0].integer, new_line.n ? new_line : STR("\n"), true, ret);
}
