/* A list as the text of an answer, made piece by piece: any number of objects in bounded memory. */
#pragma once

#include "cluster.h"
#include "form.h"

struct list_stream;

/* Takes the form over. options, its selectors and the kind must outlive the stream. */
int list_stream_new(struct cluster *cluster, struct run *run, const struct list_options *options, struct gvk gvk,
                    struct form *form, struct list_stream **ret, struct err *err);
void list_stream_free(struct list_stream *l); /* NULL is fine */

/* Appends the next piece, of at least `least` bytes unless it is the last. Returns 1 when more follows and 0 at the end. On
 * ERR_EXPIRED list_stream_token may have a token. Each call may come from another thread, one at a time. */
int list_stream_fill(struct list_stream *l, struct run *run, size_t least, struct buf *b, struct err *err);

/* After ERR_EXPIRED: a token that continues at the latest version, in the arena; "" if there is none. */
struct str list_stream_token(const struct list_stream *l, struct arena *a);
