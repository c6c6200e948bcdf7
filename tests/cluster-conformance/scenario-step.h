/* Steps: calls of the cluster interface as data, for suites that any cluster can run and that a real Kubernetes API has been
 * through as well (tests/interop/oracle/cluster_api.go does the same steps over HTTP).
 *
 * A step is an object with these members:
 *   op        create, update, json, merge, apply, delete, deletecollection, get, list, watch, events, stop, tick
 *   of        `example.org/v1 Widget widgets`: apiVersion, kind, plural
 *   ns, name, sub (subresource)
 *   body      of the write; text: the same as text, for keys that stand there twice; base: the answer that body is a merge patch
 *             on. A string such as `@last.metadata.uid` anywhere in it stands for what an answer holds: of step N (@N), of the
 *             `first` or the `last` step that answered with an object of the sequence and was no dry run
 *   manager, force, dryRun, validation (Strict, Warn, Ignore)
 *   propagation, uid, version: of deletions (preconditions); version is also that of reads
 *   labels, fields (selectors), limit, continue, match (Exact, NotOlderThan)
 *   watch     its name in the sequence; initial (sendInitialEvents), bookmarks; of events also count
 *
 * Its result is {code, object | removed (uid) | status {reason, message, details}, warnings}; of events {events: [{type,
 * object}]}, where an ended watch is the event CLOSED and one that never comes NOTHING. */
#pragma once

#include "cluster.h"

struct sequence_watch {
        struct sequence_watch *next;
        struct str name;
        struct watch *watch;
};

struct sequence {
        struct cluster *cluster;
        struct arena *arena;
        const struct value *answers; /* an array: an object or null of each step so far */
        const struct value *first;
        const struct value *last;
        struct sequence_watch *watches;
        void (*tick)(void *arg); /* the clock's seconds move on; NULL: nothing happens */
        void *tick_arg;
};

void sequence_init(struct sequence *s, struct arena *a, struct cluster *c);
void sequence_done(struct sequence *s);

/* A text such as `@last.metadata.uid` as what it stands for; everything else is itself. */
const struct value *sequence_resolve(const struct sequence *s, const struct value *v);

/* Does the step; the result lives in the arena. */
const struct value *sequence_do(struct sequence *s, const struct value *step);
