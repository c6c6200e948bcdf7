/* A watch as the text of an answer: one JSON text with a line feed for each event (docs/spec/apiserver 3).
 *
 * It makes texts when its owner asks and never waits; the owner decides on which thread, one at a time. */
#pragma once

#include "buf.h"
#include "cluster.h"
#include "form.h"

struct watch_source;

enum watch_state {
        WATCH_HAS_MORE,  /* the piece is full; ask again when it is sent */
        WATCH_WAITS,     /* no event is left; the wakeup is armed */
        WATCH_HAS_ENDED, /* the watch is over; the piece says why, if there is an error to tell */
};

/* A piece of the text: a buffer, and then an object's shared text with the end of its event. A large object is
 * sent as it is, not copied for each watch. */
struct watch_piece {
        struct buf text;
        struct bytes *shared; /* NULL: none; follows the text, and is followed by `}\n` */
};

/* Takes the form over. The kind is pinned. */
int watch_source_new(struct cluster *cluster, struct run *run, const struct watch_request *request, struct form *form,
                     struct watch_source **ret, struct err *err);
void watch_source_free(struct watch_source *w); /* NULL is fine */

/* Fills the piece with at most max_events events and about max_bytes. run's arena is not used. */
enum watch_state watch_source_fill(struct watch_source *w, struct run *run, struct watch_wakeup wakeup,
                                   size_t max_events, size_t max_bytes, struct watch_piece *piece);

/* When the owner must ask again even without a wakeup, for a bookmark. */
struct deadline watch_source_next_bookmark(const struct watch_source *w);

/* True if the watch was ended because it fell behind. */
bool watch_source_was_cut_off(const struct watch_source *w);
