#include "list.h"

#include "buf.h"

struct list_stream {
        struct list_cursor *cursor;
        struct list_request request;
        struct form form;
        struct gvk gvk;
        bool has_begun;
        bool has_items;
        struct buf token;
};

int list_stream_new(struct cluster *cluster, struct run *run, const struct list_options *options, struct gvk gvk,
                    struct form *form, struct list_stream **ret, struct err *err)
{
        struct list_stream *l = xcalloc(1, sizeof(*l));
        int r;

        l->request = options->list;
        l->gvk = gvk;
        buf_init(&l->token, 0);
        r = cluster_list_begin(cluster, run, &l->request, &l->cursor, err);
        if (r < 0) {
                list_stream_free(l);
                return r;
        }
        l->form = *form;
        *form = (struct form) { 0 };
        *ret = l;
        return 0;
}

void list_stream_free(struct list_stream *l)
{
        if (!l)
                return;
        if (l->cursor)
                list_cursor_free(l->cursor);
        form_done(&l->form);
        buf_done(&l->token);
        free(l);
}

static void append_batch(struct list_stream *l, const struct object_list *batch, struct arena *scratch, struct buf *b)
{
        for (size_t i = 0; i < batch->n; i++) {
                if (l->has_items)
                        buf_append_char(b, ',');
                l->has_items = true;
                if (i + 1 < batch->n)
                        object_prefetch_bytes(batch->objects[i + 1]);
                form_append_item(&l->form, batch->objects[i], scratch, b);
        }
}

/* One batch. 1: there may be more, 0: that was the end. */
static int fill_batch(struct list_stream *l, struct run *run, struct buf *b, struct err *err)
{
        _cleanup_arena_ struct arena scratch;
        struct object_list batch;
        int r = list_cursor_next(l->cursor, run, &batch, err);

        arena_init(&scratch, "list", 0);
        if (r == ERR_EXPIRED)
                buf_append_str(&l->token, batch.continue_token);
        if (r < 0)
                return r;
        if (!l->has_begun)
                form_begin_list(&l->form, l->gvk, &scratch, b);
        l->has_begun = true;
        if (r > 0)
                append_batch(l, &batch, &scratch, b);
        else
                form_end_list(&l->form, &batch, b);
        return r;
}

int list_stream_fill(struct list_stream *l, struct run *run, size_t least, struct buf *b, struct err *err)
{
        struct arena batch_arena, *arena = run->arena;
        int r = 1;

        arena_init(&batch_arena, "list", 0);
        run->arena = &batch_arena;
        while (r > 0 && b->n < least) {
                r = fill_batch(l, run, b, err);
                arena_reset(&batch_arena);
        }
        run->arena = arena;
        arena_done(&batch_arena);
        if (r >= 0 && buf_check(b, "the list", err) < 0)
                return ERR_LIMIT;
        return r;
}

struct str list_stream_token(const struct list_stream *l, struct arena *a)
{
        return arena_copy(a, buf_str(&l->token));
}
