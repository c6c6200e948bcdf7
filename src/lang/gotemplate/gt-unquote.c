/* strconv.Unquote: the text between the quotes of a literal. */
#include "gt-parser.h"

#include "buf.h"
#include "gotext.h"
#include "utf8.h"

static bool unquote_raw(struct arena *a, struct str s, struct str *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (str_find_char(s, '\r') < 0) {
                *ret = s;
                return true;
        }
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] != '\r')
                        buf_append_char(&b, s.p[i]);
        *ret = buf_to_arena(&b, a);
        return true;
}

bool gt_unquote(struct arena *a, struct str quoted, struct str *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str s = str_make(quoted.p + 1, quoted.n - 2);

        if (quoted.p[0] == '`')
                return unquote_raw(a, s, ret);
        if (str_find_char(s, '\\') < 0 && utf8_is_valid(s)) {
                *ret = s;
                return true;
        }
        while (s.n > 0) {
                bool is_multibyte;
                uint32_t rune;
                char bytes[4];

                if (!go_unquote_rune(&s, '"', &rune, &is_multibyte))
                        return false;
                if (rune < 0x80 || !is_multibyte)
                        buf_append_char(&b, (char)rune);
                else
                        buf_append(&b, bytes, utf8_encode(rune, bytes));
        }
        *ret = buf_to_arena(&b, a);
        return true;
}
