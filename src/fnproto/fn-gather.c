#include "fn-gather.h"

#include "proto.h"

void fn_gather_add(struct fn_gather *g, struct str piece)
{
        if (g->copy.n > 0) {
                buf_append_str(&g->copy, piece);
        } else if (!g->view.p || g->view.n == 0) {
                g->view = piece.p ? piece : STR("");
        } else if (piece.p == g->view.p + g->view.n) {
                g->view.n += piece.n;
        } else {
                buf_append_str(&g->copy, g->view);
                buf_append_str(&g->copy, piece);
        }
}

static int check_piece(struct str rest, struct err *err)
{
        struct proto_raw_field f;
        int r;

        while ((r = proto_next_field(&rest, &f, err)) > 0)
                ;
        return r;
}

int fn_gather_merge(struct fn_gather *g, struct str piece, struct err *err)
{
        int r = 0;

        if (g->view.n > 0 && g->copy.n == 0)
                r = check_piece(g->view, err);
        if (r >= 0 && g->view.n > 0)
                r = check_piece(piece, err);
        if (r >= 0)
                fn_gather_add(g, piece);
        return r;
}

struct str fn_gather_finish(struct fn_gather *g, struct arena *a)
{
        return g->copy.n > 0 ? buf_to_arena(&g->copy, a) : g->view;
}
