/* Numbers are 8 bytes as memory has them, texts a number and their bytes with a 0 behind: writer and reader are the same program. */
#include "launch.h"

static void put_number(struct buf *b, uint64_t n)
{
        buf_append(b, (const char *)&n, sizeof(n));
}

static void put_text(struct buf *b, struct str s)
{
        put_number(b, s.n);
        buf_append_str(b, s);
        buf_append_char(b, '\0');
}

static void put_list(struct buf *b, const char *const *list)
{
        size_t n = 0;

        while (list[n])
                n++;
        put_number(b, n);
        for (size_t i = 0; i < n; i++)
                put_text(b, str_from(list[i]));
}

void launch_encode(const struct launch *l, struct buf *b)
{
        put_list(b, l->arguments);
        put_list(b, l->environment);
        put_text(b, str_from(l->directory));
        put_text(b, str_from(l->hostname));
        put_number(b, l->n_files);
        for (size_t i = 0; i < l->n_files; i++) {
                put_text(b, str_from(l->files[i].path));
                put_text(b, l->files[i].content);
        }
        put_number(b, l->port);
        put_number(b, l->first_id);
        put_number(b, l->data_bytes);
        put_number(b, l->shares_network);
}

static uint64_t take_number(struct str *rest)
{
        uint64_t n;

        assert(rest->n >= sizeof(n));
        memcpy(&n, rest->p, sizeof(n));
        *rest = str_skip(*rest, sizeof(n));
        return n;
}

static struct str take_text(struct str *rest)
{
        uint64_t n = take_number(rest);
        struct str s;

        assert(rest->n > n && rest->p[n] == '\0');
        s = str_first(*rest, n);
        *rest = str_skip(*rest, n + 1);
        return s;
}

static const char *const *take_list(struct arena *a, struct str *rest)
{
        uint64_t n = take_number(rest);
        const char **list = ARENA_NEW_ARRAY(a, const char *, n + 1);

        for (uint64_t i = 0; i < n; i++)
                list[i] = take_text(rest).p;
        list[n] = NULL;
        return list;
}

void launch_decode(struct arena *a, struct str text, struct launch *ret)
{
        struct launch_file *files;

        *ret = (struct launch) { .arguments = take_list(a, &text) };
        ret->environment = take_list(a, &text);
        ret->directory = take_text(&text).p;
        ret->hostname = take_text(&text).p;
        ret->n_files = take_number(&text);
        ret->files = files = ARENA_NEW_ARRAY(a, struct launch_file, ret->n_files);
        for (size_t i = 0; i < ret->n_files; i++) {
                files[i].path = take_text(&text).p;
                files[i].content = take_text(&text);
        }
        ret->port = (uint16_t)take_number(&text);
        ret->first_id = (uint32_t)take_number(&text);
        ret->data_bytes = take_number(&text);
        ret->shares_network = take_number(&text) != 0;
}
