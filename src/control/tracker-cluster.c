/* The cluster of one run: passes calls on and notes what they read and wrote. */
#include "tracker-state.h"

#include "buf.h"
#include "clock.h"
#include "timetext.h"

#include <limits.h>

#define LATE_NS NS_PER_SECOND /* after a late read */

struct tracked_run {
        struct cluster cluster;
        struct tracker *tracker;
        struct subject *subject;
        uint64_t generation;
        char *cause; /* heap: of the run, from the subject */
        unsigned n_causes;
        const char *otherwise;
        tracked_run_on_write *on_write; /* NULL: nobody asks */
        void *on_write_arg;
};

static struct note *mark(struct tracked_run *r, struct note *n)
{
        n->generation = r->generation;
        return n;
}

/* Notes an object before it is read or written. The mutex is held; the kind's count was raised for the caller. */
static struct note *note_object(struct tracked_run *r, struct tracked_kind *k, struct str ns, struct str name)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str key = tracker_object_note_key(&b, k->key, ns, name);
        struct note *n = map_get(&r->subject->notes, key);

        if (!n) {
                n = tracker_new_note(r->tracker, r->subject, NOTE_OBJECT, key, key);
                n->kind = k;
                n->epoch = k->epoch - k->is_relisting; /* it may be read before its turn, or after */
                k->n_notes++;
                tracker_begin_watch(r->tracker, n);
        }
        return mark(r, n);
}

static int begin_object(struct tracked_run *r, struct run *run, const struct object_key *key, bool is_write,
                        struct tracked_kind **ret_kind, struct note **ret, struct err *err)
{
        int e = tracker_need_kind(r->tracker, run, key->gvk, ret_kind, err);

        if (e < 0)
                return e;
        mutex_lock(&r->tracker->mutex);
        *ret = note_object(r, *ret_kind, key->ns, key->name);
        (*ret)->n_writing += is_write;
        mutex_unlock(&r->tracker->mutex);
        return 0;
}

static void release_kind(struct tracked_kind *k)
{
        k->n_notes--;
}

/* Notes that the run has read this version. The first read in a run counts, because the run decides after it; the event of a newer
 * version that a second read returns is news, unless the run wrote that version. A version older than the event that caused the run
 * means that the read was late: another run reads again. */
static void saw(struct tracked_run *r, struct note *n, uint64_t version)
{
        if (n->read_generation != r->generation || version == n->own)
                n->seen = MAX(n->seen, version);
        n->read_generation = r->generation;
        if (MAX(n->seen, version) >= n->told)
                return;
        if (tracker_wants_cause(r->subject))
                tracker_note_cause(r->subject, "the last run read an older version than it was told");
        tracker_enqueue_after(r->subject, LATE_NS);
}

static int tracked_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                       struct err *err)
{
        struct tracked_run *r = CONTAINER_OF(c, struct tracked_run, cluster);
        struct tracked_kind *k;
        struct note *n;
        int e = begin_object(r, run, &req->key, false, &k, &n, err);

        if (e < 0)
                return e;
        e = cluster_get(r->tracker->cluster, run, req, ret, err);
        mutex_lock(&r->tracker->mutex);
        release_kind(k);
        if (e == 0)
                saw(r, n, object_version(*ret));
        else if (e == ERR_NOT_FOUND)
                n->read_generation = r->generation;
        mutex_unlock(&r->tracker->mutex);
        return e;
}

/* Notes the version that the run wrote. If it replaced a version that the run knew, nobody has changed the object in between. */
static void note_own(struct note *n, const struct write_result *result)
{
        uint64_t before = result->replaced_version, now = object_version(result->object);

        if (n->subject->knows_writes && (result->is_created || (before && before == n->seen)))
                n->seen = now;
        if (!before || before != n->own)
                n->own_first = now;
        n->own = now;
}

/* After a write: events that came meanwhile were held back. The subject may know what it wrote; everything else is news. */
static void end_write(struct tracked_run *r, struct note *n, const struct write_result *result)
{
        if (result && result->object && result->is_changed)
                note_own(n, result);
        else if (result && result->is_removed)
                n->own_first = n->own = n->pending;
        if (--n->n_writing > 0)
                return;
        if (tracker_is_news(n, n->pending_first) || tracker_is_news(n, n->pending)) {
                n->told = n->pending;
                if (tracker_wants_cause(r->subject))
                        tracker_note_cause(r->subject, "an object changed while the last run wrote it");
                tracker_enqueue(r->subject);
        }
        n->pending_first = n->pending = 0;
}

static int write_noted(struct tracked_run *r, struct run *run, const struct write_request *req,
                       struct write_result *ret, struct err *err)
{
        struct tracked_kind *k;
        struct note *n;
        int e;

        if (req->is_dry_run || str_is_empty(req->key.name))
                return cluster_write(r->tracker->cluster, run, req, ret, err);
        e = begin_object(r, run, &req->key, true, &k, &n, err);
        if (e < 0)
                return e;
        e = cluster_write(r->tracker->cluster, run, req, ret, err);
        mutex_lock(&r->tracker->mutex);
        release_kind(k);
        end_write(r, n, e == 0 ? ret : NULL);
        mutex_unlock(&r->tracker->mutex);
        return e;
}

static int tracked_write(struct cluster *c, struct run *run, const struct write_request *req, struct write_result *ret,
                         struct err *err)
{
        struct tracked_run *r = CONTAINER_OF(c, struct tracked_run, cluster);
        _cleanup_err_ struct err inner = { 0 };
        int e = write_noted(r, run, req, ret, &inner);

        if (r->on_write && !req->is_dry_run)
                r->on_write(r->on_write_arg, run, req, e == 0 ? ret : NULL, &inner);
        return e < 0 ? err_move(err, &inner) : e;
}

/* --- Lists --- */

struct tracked_cursor {
        struct list_cursor cursor;
        struct tracked_run *run;
        struct tracked_kind *kind;
        struct note *selection;
        struct list_cursor *inner;
};

static const struct label_requirement *first_equality(const struct label_selector *s)
{
        for (size_t i = 0; s && i < s->n; i++)
                if (s->requirements[i].op == SELECT_EQUALS && s->requirements[i].n_values == 1)
                        return &s->requirements[i];
        return NULL;
}

/* A selection is noted by the text of its labels; fields make it no smaller. */
static struct note *note_selection(struct tracked_run *r, struct tracked_kind *k, const struct list_request *req)
{
        const struct label_requirement *label = first_equality(req->labels);
        _cleanup_buf_ struct buf b = BUF_INIT(0), place = BUF_INIT(0);
        size_t namespace_at, labels_at;
        struct note *n;

        buf_append_char(&b, 'S');
        tracker_append_part(&b, k->key);
        namespace_at = b.n;
        tracker_append_part(&b, req->ns);
        labels_at = b.n;
        if (req->labels)
                label_selector_append(&b, req->labels);
        n = map_get(&r->subject->notes, buf_str(&b));
        if (!n) {
                n = tracker_new_note(r->tracker, r->subject, NOTE_SELECTION, buf_str(&b),
                                     tracker_selection_place_key(&place, k->key, label ? label->key : STR(""),
                                                                 label ? label->values[0] : STR("")));
                n->kind = k;
                n->namespace_at = (uint32_t)namespace_at;
                n->n_namespace = (uint32_t)req->ns.n;
                n->labels_at = (uint32_t)labels_at;
                k->n_notes++;
                tracker_begin_watch(r->tracker, n);
        }
        return mark(r, n);
}

static void note_batch(struct tracked_cursor *c, const struct object_list *batch, struct arena *a)
{
        struct tracked_run *r = c->run;
        uint64_t version = resource_version_parse(batch->resource_version);

        mutex_lock(&r->tracker->mutex);
        saw(r, c->selection, version);
        for (size_t i = 0; i < batch->n; i++) {
                const struct value *v = object_peek(batch->objects[i], a);
                struct note *n = note_object(r, c->kind, meta_namespace(v), meta_name(v));

                saw(r, n, object_version(batch->objects[i]));
        }
        mutex_unlock(&r->tracker->mutex);
}

static int tracked_next(struct list_cursor *cursor, struct run *run, struct object_list *ret, struct err *err)
{
        struct tracked_cursor *c = CONTAINER_OF(cursor, struct tracked_cursor, cursor);
        int r = list_cursor_next(c->inner, run, ret, err);

        if (r >= 0)
                note_batch(c, ret, run->arena);
        return r;
}

static void free_cursor(struct list_cursor *cursor)
{
        struct tracked_cursor *c = CONTAINER_OF(cursor, struct tracked_cursor, cursor);

        list_cursor_free(c->inner);
        mutex_lock(&c->run->tracker->mutex);
        release_kind(c->kind);
        mutex_unlock(&c->run->tracker->mutex);
        free(c);
}

static const struct list_cursor_ops cursor_ops = { .next = tracked_next, .free = free_cursor };

static int tracked_list(struct cluster *cluster, struct run *run, const struct list_request *req,
                        struct list_cursor **ret, struct err *err)
{
        struct tracked_run *r = CONTAINER_OF(cluster, struct tracked_run, cluster);
        struct tracked_cursor *c = xcalloc(1, sizeof(*c));
        int e = tracker_need_kind(r->tracker, run, req->gvk, &c->kind, err);

        if (e < 0) {
                free(c);
                return e;
        }
        c->cursor.ops = &cursor_ops;
        c->run = r;
        mutex_lock(&r->tracker->mutex);
        c->selection = note_selection(r, c->kind, req);
        mutex_unlock(&r->tracker->mutex);
        e = cluster_list_begin(r->tracker->cluster, run, req, &c->inner, err);
        if (e < 0) {
                mutex_lock(&r->tracker->mutex);
                release_kind(c->kind);
                mutex_unlock(&r->tracker->mutex);
                free(c);
                return e;
        }
        *ret = &c->cursor;
        return 0;
}

/* --- The rest of the cluster --- */

static void note_key(struct tracked_run *r, struct str key)
{
        struct note *n;

        mutex_lock(&r->tracker->mutex);
        n = map_get(&r->subject->notes, key);
        mark(r, n ? n : tracker_new_note(r->tracker, r->subject, NOTE_KIND, key, key));
        mutex_unlock(&r->tracker->mutex);
}

static void note_kind(struct tracked_run *r, struct str group, struct str name)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        note_key(r, tracker_kind_note_key(&b, group, name));
}

void tracked_run_note(struct tracked_run *r, struct str topic)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        note_key(r, tracker_topic_note_key(&b, topic));
}

static int tracked_kind_of(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        struct tracked_run *r = CONTAINER_OF(c, struct tracked_run, cluster);

        note_kind(r, gvk.group, gvk.kind);
        return r->tracker->cluster->ops->kind(r->tracker->cluster, run, gvk, ret, err);
}

static int tracked_resource(struct cluster *c, struct run *run, struct gvr gvr, struct kind **ret, struct err *err)
{
        struct tracked_run *r = CONTAINER_OF(c, struct tracked_run, cluster);

        note_kind(r, gvr.group, gvr.plural);
        return r->tracker->cluster->ops->resource(r->tracker->cluster, run, gvr, ret, err);
}

static int tracked_watch(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                         struct err *err)
{
        return cluster_watch(CONTAINER_OF(c, struct tracked_run, cluster)->tracker->cluster, run, req, ret, err);
}

static int tracked_delete_collection(struct cluster *c, struct run *run, const struct list_request *list,
                                     const struct write_request *req, struct object_list *ret, struct err *err)
{
        return cluster_delete_collection(CONTAINER_OF(c, struct tracked_run, cluster)->tracker->cluster, run, list, req,
                                         ret, err);
}

static int tracked_kinds(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err)
{
        return cluster_kinds(CONTAINER_OF(c, struct tracked_run, cluster)->tracker->cluster, run, ret, err);
}

static uint64_t tracked_kinds_version(struct cluster *c)
{
        return cluster_kinds_version(CONTAINER_OF(c, struct tracked_run, cluster)->tracker->cluster);
}

static int tracked_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret, struct err *err)
{
        return cluster_may(CONTAINER_OF(c, struct tracked_run, cluster)->tracker->cluster, run, req, ret, err);
}

static const struct cluster_ops tracked_ops = {
        .get = tracked_get,
        .list_begin = tracked_list,
        .watch = tracked_watch,
        .write = tracked_write,
        .delete_collection = tracked_delete_collection,
        .kind = tracked_kind_of,
        .resource = tracked_resource,
        .kinds = tracked_kinds,
        .kinds_version = tracked_kinds_version,
        .may = tracked_may,
};

struct tracked_run *tracker_begin(struct tracker *t, struct controller *c, struct str key, bool knows_writes)
{
        struct tracked_run *r = xcalloc(1, sizeof(*r));

        r->cluster.ops = &tracked_ops;
        r->tracker = t;
        mutex_lock(&t->mutex);
        r->subject = tracker_need_subject(t, c, key);
        r->subject->knows_writes = knows_writes;
        r->generation = ++r->subject->generation;
        r->cause = TAKE(r->subject->cause);
        r->n_causes = r->subject->n_causes;
        r->otherwise = r->generation == 1 ? "the first run: the object is new, or the controller has started"
                                          : r->subject->otherwise;
        r->subject->n_causes = 0;
        r->subject->otherwise = NULL;
        mutex_unlock(&t->mutex);
        return r;
}

struct cluster *tracked_run_cluster(struct tracked_run *r)
{
        return &r->cluster;
}

struct str tracked_run_cause(struct tracked_run *r, struct arena *a)
{
        const char *cause = r->cause ? r->cause : r->otherwise;

        if (r->n_causes > 1)
                return arena_printf(a, "%s, and %u more", cause, r->n_causes - 1);
        return cause ? arena_copy(a, str_from(cause)) : STR("added to the queue");
}

void tracked_run_plan(struct tracked_run *r, const char *why)
{
        mutex_lock(&r->tracker->mutex);
        r->subject->otherwise = why;
        mutex_unlock(&r->tracker->mutex);
}

void tracked_run_observe_writes(struct tracked_run *r, tracked_run_on_write *on_write, void *arg)
{
        r->on_write = on_write;
        r->on_write_arg = arg;
}

struct controller *tracked_run_controller(const struct tracked_run *r)
{
        return r->subject->controller;
}

struct str tracked_run_key(const struct tracked_run *r)
{
        return r->subject->key;
}

struct str tracked_run_open_circuit(struct tracked_run *r, struct arena *a)
{
        struct str source;
        bool was_open;

        mutex_lock(&r->tracker->mutex);
        was_open = r->subject->breaker.opened_ns;
        source = breaker_open_source(&r->subject->breaker, clock_mono_ns(), a);
        tracker_count_circuit(r->tracker, r->subject, was_open);
        mutex_unlock(&r->tracker->mutex);
        return source;
}

void tracked_run_expect(struct tracked_run *r, size_t n_composed)
{
        mutex_lock(&r->tracker->mutex);
        breaker_set_capacity(&r->subject->breaker, (unsigned)MIN(2 * n_composed, (size_t)UINT_MAX));
        mutex_unlock(&r->tracker->mutex);
}

static void drop_old_notes(struct tracker *t, struct subject *s)
{
        for (struct map_entry *e = map_first(&s->notes); e; e = map_next(&s->notes, e)) {
                struct note *n = e->value;

                if (n->generation != s->generation)
                        tracker_free_note(t, n);
        }
}

void tracked_run_end(struct tracked_run *r, bool is_complete)
{
        struct tracker *t = r->tracker;

        mutex_lock(&t->mutex);
        if (is_complete)
                drop_old_notes(t, r->subject);
        mutex_unlock(&t->mutex);
        free(r->cause);
        free(r);
        tracker_sweep_kinds(t);
}
