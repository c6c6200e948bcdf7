/* The notes of a tracker. Private to the tracker; its mutex guards everything. */
#pragma once

#include "breaker.h"
#include "map.h"
#include "tracker.h"

struct buf;

struct tracked_controller {
        struct map subjects; /* by key */
        bool is_muted;       /* it stops: its queue takes nothing more */

        /* tracker-watches.c */
        char *own_kind;         /* gvk_text; NULL: its watches are not counted */
        char *name;             /* of the controller, which is freed first */
        const char *own_type;   /* static */
        struct u64_map watches; /* tracked_kind -> the number of notes, as a pointer */
};

/* A key of a controller. */
struct subject {
        struct tracked_controller *owner;
        struct controller *controller;
        struct map notes;    /* by their keys */
        uint64_t generation; /* counts its runs */
        bool knows_writes;   /* see tracker_begin */
        struct breaker breaker;
        char *cause; /* heap: why it runs next, by the first event since its last run began; NULL: no event came */
        unsigned n_causes;     /* events since then */
        const char *otherwise; /* why it runs next if no event comes; NULL: it is not planned */
        struct str key;
        char text[];
};

/* A kind whose changes are followed. */
struct tracked_kind {
        struct tracker *tracker;
        struct hub_subscription *subscription;
        size_t n_notes;
        uint64_t epoch;    /* counts the times when everything was told again */
        bool is_relisting; /* everything is being told again */
        struct str key;    /* gvk_text */
        char text[];
};

/* Notes that the same events concern: of one object, of selections with one label, of one kind. */
struct tracker_place {
        struct note *first;
        struct str key;
        char text[];
};

enum note_type {
        NOTE_OBJECT,
        NOTE_SELECTION,
        NOTE_KIND, /* and topics */
};

/* There is one for every object that every composite read, so it is kept small. */
struct note {
        enum note_type type;
        unsigned n_writing;
        struct subject *subject;
        struct tracked_kind *kind; /* NULL: the kind itself is what was read */
        struct tracker_place *place;
        struct note *next, *previous; /* in the place */
        uint64_t generation;          /* of the last run that made it */
        uint64_t read_generation;     /* of the last run that read it */
        uint64_t seen;                /* the version that the subject's last run decided on; 0: none */
        uint64_t told;                /* the newest event that ran the subject */
        uint64_t pending_first;       /* the first event that came during a write; 0: none */
        uint64_t pending;             /* the newest one */
        uint64_t own_first;           /* the first of the subject's last writes, each of which changed the one before */
        uint64_t own;                 /* the last of them */
        uint64_t epoch;               /* of the kind, when the object was last told */
        uint32_t namespace_at, n_namespace; /* selections: where the namespace is in the key; empty for all */
        uint32_t labels_at;                 /* and the labels' text, up to its end */
        struct str key;
        char text[];
};

static inline struct str note_namespace(const struct note *n)
{
        return str_make(n->key.p + n->namespace_at, n->n_namespace);
}

static inline struct str note_labels(const struct note *n)
{
        return str_skip(n->key, n->labels_at);
}

struct tracker {
        struct cluster *cluster;
        struct hub *hub;
        struct hub_subscription *crds;
        struct meter *opens, *closes, *events;           /* of circuits; may be NULL */
        struct meter *watches_started, *watches_stopped; /* likewise */
        struct semaphore subscribing; /* one at a time: two threads must not subscribe to the same kind */

        struct mutex mutex;         /* guards everything below and everything reachable from it */
        struct u64_map controllers; /* of struct tracked_controller, by address of the controller */
        struct map kinds;
        struct map places;
        struct map crd_states; /* name of a CRD -> its state as text, both in one allocation */
        struct tracker_stats stats;
        int64_t swept_ns;
};

/* --- Keys of notes and places, made in the buffer --- */

void tracker_append_part(struct buf *b, struct str s);
struct str tracker_object_note_key(struct buf *b, struct str kind, struct str ns, struct str name);
/* The place of selections with this label; "" for those that need none in particular. */
struct str tracker_selection_place_key(struct buf *b, struct str kind, struct str label, struct str v);
struct str tracker_kind_note_key(struct buf *b, struct str group, struct str name);
struct str tracker_topic_note_key(struct buf *b, struct str topic);

/* --- With the mutex held --- */

struct tracked_controller *tracker_find_controller(struct tracker *t, const struct controller *c);
struct tracked_controller *tracker_need_controller(struct tracker *t, const struct controller *c);
struct subject *tracker_find_subject(struct tracker *t, const struct controller *c, struct str key);
struct subject *tracker_need_subject(struct tracker *t, struct controller *c, struct str key);
void tracker_free_subject(struct tracker *t, struct subject *s);
struct note *tracker_new_note(struct tracker *t, struct subject *s, enum note_type type, struct str key,
                              struct str place_key);
void tracker_free_note(struct tracker *t, struct note *n);

/* Counts what became of the circuit since it was_open. */
void tracker_count_circuit(struct tracker *t, const struct subject *s, bool was_open);

/* Notes why the subject is about to be added to its queue. */
void tracker_note_cause(struct subject *s, const char *format, ...) _printf_(2, 3);
bool tracker_wants_cause(struct subject *s); /* counts the cause; true: it is the first one, and its text is wanted */

/* Called with a note that got its kind, or loses it. */
void tracker_begin_watch(struct tracker *t, const struct note *n);
void tracker_end_watch(struct tracker *t, const struct note *n);
void tracker_end_watches(struct tracker *t, struct tracked_controller *tc);
void tracker_open_watch_meters(struct tracker *t, struct meters *meters);

/* Whether the subject's last run did not know of this version when it decided. */
bool tracker_is_news(const struct note *n, uint64_t version);

/* Adds the subject to its queue, unless its controller is muted. */
void tracker_enqueue(struct subject *s);
void tracker_enqueue_after(struct subject *s, int64_t delay_ns);

/* --- Without the mutex --- */

/* The kind, followed, with its count of notes raised by one: the caller's. */
int tracker_need_kind(struct tracker *t, struct run *run, struct gvk gvk, struct tracked_kind **ret, struct err *err);

/* Stops following kinds without notes, now and then. */
void tracker_sweep_kinds(struct tracker *t);
