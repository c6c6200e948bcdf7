/* Texts and lists of texts. */
#include "sprig.h"

#include "utf8.h"

void sprig_append_text(struct gt_context *c, struct buf *b, struct gt_value v)
{
        if (v.type == GT_BYTES)
                buf_append_str(b, gt_str(v));
        else
                gt_append_text(c, b, v);
}

SPRIG(to_string)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

        sprig_append_text(c, &b, arguments[0]);
        return gt_take_text(c, &b, ret);
}

/* --- Lists of texts --- */

/* The texts of the elements. Nil elements are left out. A value that is not a list counts as a list of one element; nil counts
 * as an empty list. */
static int list_texts(struct gt_context *c, struct gt_value v, struct gt_value *ret)
{
        size_t n = gt_is_list(v) ? gt_list_count(v) : !gt_is_nil(v), n_kept = 0;
        struct gt_value list;
        int r = gt_spend(c, n);

        if (r < 0)
                return r;
        if (v.type == GT_STRINGS) {
                *ret = v;
                return 0;
        }
        list = gt_list_new(c, GT_STRINGS, n);
        for (size_t i = 0; i < n; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
                struct gt_value element = gt_is_list(v) ? gt_list_at(c, v, i) : v, text;

                if (gt_is_nil(element))
                        continue;
                sprig_append_text(c, &b, element);
                r = gt_take_text(c, &b, &text);
                if (r < 0)
                        return r;
                gt_list_put(list, n_kept++, text);
        }
        *ret = gt_list_slice(c, list, 0, n_kept);
        return 0;
}

SPRIG(to_strings)
{
        return list_texts(c, arguments[0], ret);
}

SPRIG(join)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str separator = gt_str(arguments[0]);
        struct gt_value texts;
        int r = list_texts(c, arguments[1], &texts);

        for (size_t i = 0; r == 0 && i < gt_list_count(texts) && !b.has_failed; i++) {
                if (i > 0)
                        buf_append_str(&b, separator);
                buf_append_str(&b, gt_str(gt_list_at(c, texts, i)));
        }
        return r < 0 ? r : gt_take_text(c, &b, ret);
}

static int compare_texts(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Unlike join, it treats nil as the text `<nil>`. */
SPRIG(sort_alpha)
{
        struct gt_value texts;
        struct str *sorted;
        size_t count;
        int r = 0;

        if (!gt_is_list(arguments[0])) {
                _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
                struct gt_value text;

                sprig_append_text(c, &b, arguments[0]);
                r = gt_take_text(c, &b, &text);
                if (r < 0)
                        return r;
                *ret = gt_list_new(c, GT_STRINGS, 1);
                gt_list_put(*ret, 0, text);
                return 0;
        }
        r = list_texts(c, arguments[0], &texts);
        if (r < 0)
                return r;
        count = gt_list_count(texts);
        sorted = ARENA_NEW_ARRAY(c->arena, struct str, count);
        for (size_t i = 0; i < count; i++)
                sorted[i] = gt_str(gt_list_at(c, texts, i));
        if (count)
                qsort(sorted, count, sizeof(*sorted), compare_texts);
        *ret = gt_list_new(c, GT_STRINGS, count);
        for (size_t i = 0; i < count; i++)
                gt_list_put(*ret, i, gt_string(sorted[i]));
        return 0;
}

/* --- Splitting --- */

struct pieces {
        struct str rest, separator;
        bool is_done;
};

/* The next piece; with an empty separator, one rune. With is_last the piece is the whole rest. */
static bool next_piece(struct pieces *p, bool is_last, struct str *ret)
{
        size_t width;
        ptrdiff_t at;

        if (p->is_done)
                return false;
        if (p->separator.n == 0) {
                if (p->rest.n == 0)
                        return false;
                utf8_decode(p->rest, &width);
                *ret = is_last ? p->rest : str_first(p->rest, width);
                p->rest = str_skip(p->rest, ret->n);
                return true;
        }
        at = is_last ? -1 : str_find(p->rest, p->separator);
        *ret = at < 0 ? p->rest : str_first(p->rest, (size_t)at);
        p->is_done = at < 0;
        p->rest = at < 0 ? STR("") : str_skip(p->rest, (size_t)at + p->separator.n);
        return true;
}

static size_t count_pieces(struct str text, struct str separator)
{
        struct pieces p = { .rest = text, .separator = separator };
        struct str piece;
        size_t n = 0;

        while (next_piece(&p, false, &piece))
                n++;
        return n;
}

SPRIG(split_list)
{
        struct pieces p = { .rest = gt_str(arguments[1]), .separator = gt_str(arguments[0]) };
        size_t count = count_pieces(p.rest, p.separator);
        struct str piece;
        int r = gt_spend(c, count);

        if (r < 0)
                return r;
        *ret = gt_list_new(c, GT_STRINGS, count);
        for (size_t i = 0; next_piece(&p, false, &piece); i++)
                gt_list_put(*ret, i, gt_string(piece));
        return 0;
}

/* At most `most` pieces (negative: all of them) as members _0, _1, ... */
static int split_to_map(struct gt_context *c, struct str separator, struct str text, int64_t most, struct gt_value *ret)
{
        struct pieces p = { .rest = text, .separator = separator };
        struct str piece;

        *ret = gt_map_new(c, GT_STRING_MAP);
        for (int64_t i = 0; (most < 0 || i < most) && next_piece(&p, i == most - 1, &piece); i++) {
                int r = gt_spend(c, 1);

                if (r < 0)
                        return r;
                gt_map_set(c, *ret, arena_printf(c->arena, "_%lld", (long long)i), gt_string(piece));
        }
        return 0;
}

SPRIG(split)
{
        return split_to_map(c, gt_str(arguments[0]), gt_str(arguments[1]), -1, ret);
}

SPRIG(splitn)
{
        return split_to_map(c, gt_str(arguments[0]), gt_str(arguments[2]), arguments[1].integer, ret);
}
