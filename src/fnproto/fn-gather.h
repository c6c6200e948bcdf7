/* Joins the pieces of one field: a view of the message while the pieces are adjacent, otherwise a copy. Private to the code that
 * splits messages. */
#pragma once

#include "buf.h"
#include "err.h"

struct fn_gather {
        struct str view; /* p is NULL until the first piece */
        struct buf copy;
};

void fn_gather_add(struct fn_gather *g, struct str piece);

/* As fn_gather_add, for the contents of a singular message field. Each piece must be well formed on its own, so that two halves of
 * a field cannot become a whole one. */
int fn_gather_merge(struct fn_gather *g, struct str piece, struct err *err);

/* All pieces; p is NULL if there are none. A copy is moved into the arena. */
struct str fn_gather_finish(struct fn_gather *g, struct arena *a);
