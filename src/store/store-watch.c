/* Watches have no queues. Each is a position in the history of its table; what it has not seen yet is what lies behind that. A
 * commit looks at the table's watchers once: one that waits and cares is woken, one that waits and does not care is moved on. A
 * watcher that is behind by more bytes than allowed, or behind what is kept, is cut off. */
#include "store-state.h"

#define BOOKMARK_MS 60000

struct watcher {
        struct watch watch;
        struct store *s;
        struct arena arena; /* owns the request below */
        struct str namespace;
        struct str name; /* the only one it cares for; "": all */
        const struct label_selector *labels;
        const struct field_selector *fields;
        bool wants_bookmarks;
        struct served served;

        /* Home: the thread that waits on it. */
        struct listing initial;
        size_t n_sent;
        bool owes_initial_end;
        struct deadline next_bookmark;

        /* Under the store's mutex. */
        struct watcher *next, *prev; /* of the table */
        uint64_t cursor;             /* all events up to this version were seen */
        size_t seen_bytes;           /* the table's event_bytes at the cursor */
        bool is_cut_off;
        bool is_ending; /* no more than what is there comes */
        uint64_t end_version;
        struct waiters waiters;
};

/* What was taken out of the history for one step. */
struct taken {
        uint64_t version;
        struct object *before, *after;
        uint32_t before_serial, serial;
        bool is_removed;
};

static void taken_done(struct taken *t)
{
        object_unref(t->before);
        object_unref(t->after);
}

/* --- Selectors --- */

static const struct label_selector *copy_labels(struct arena *a, const struct label_selector *s)
{
        struct label_selector *c;
        struct label_requirement *requirements;

        if (!s || (s->n == 0 && !s->matches_nothing))
                return NULL;
        c = ARENA_NEW(a, struct label_selector);
        requirements = ARENA_NEW_ARRAY(a, struct label_requirement, s->n);
        for (size_t i = 0; i < s->n; i++) {
                const struct label_requirement *from = &s->requirements[i];
                struct str *values = ARENA_NEW_ARRAY(a, struct str, from->n_values);

                for (size_t j = 0; j < from->n_values; j++)
                        values[j] = arena_copy(a, from->values[j]);
                requirements[i] = *from;
                requirements[i].key = arena_copy(a, from->key);
                requirements[i].values = values;
        }
        *c = *s;
        c->requirements = requirements;
        return c;
}

static const struct field_selector *copy_fields(struct arena *a, const struct field_selector *s)
{
        struct field_selector *c;
        struct field_requirement *requirements;

        if (!s || s->n == 0)
                return NULL;
        c = ARENA_NEW(a, struct field_selector);
        requirements = ARENA_NEW_ARRAY(a, struct field_requirement, s->n);
        for (size_t i = 0; i < s->n; i++) {
                requirements[i] = s->requirements[i];
                requirements[i].path = arena_copy(a, s->requirements[i].path);
                requirements[i].value = arena_copy(a, s->requirements[i].value);
        }
        *c = (struct field_selector) { .requirements = requirements, .n = s->n };
        return c;
}

static bool cares_for(const struct watcher *w, const struct entry *e)
{
        if (w->namespace.n && !str_equal(entry_namespace(e), w->namespace))
                return false;
        return w->name.n == 0 || str_equal(entry_name(e), w->name);
}

/* The object in the watched version, if there is one and the selectors take it. */
static int select_object(struct watcher *w, struct arena *a, struct object *stored, uint32_t serial,
                         struct object **ret, struct err *err)
{
        const struct value *v = NULL;
        bool is_selective = w->labels || w->fields;
        int r;

        *ret = NULL;
        if (!stored)
                return 0;
        r = read_object(w->s, &w->served, a, stored, serial, ret, is_selective ? &v : NULL, err);
        if (r < 0)
                return r;
        if (w->labels && !label_selector_matches(w->labels, value_get(meta(v), STR("labels"))))
                *ret = NULL;
        if (w->fields && !field_selector_matches(w->fields, v))
                *ret = NULL;
        return 0;
}

/* --- Events --- */

/* The previous object with the version at which it left the selection. Kinds may have changed since, so it is not shared
 * through the event but made from the object that was read. */
static struct object *departed(struct arena *a, struct object *before, uint64_t version)
{
        struct object *o = object_with_version(before, version);

        object_pin(o, a);
        object_unref(o);
        return o;
}

/* 1 and an event, or 0 when the watch does not show this change. */
static int event_of(struct watcher *w, struct run *run, const struct taken *t, struct watch_event *ret, struct err *err)
{
        struct object *before = NULL, *after = NULL;
        int r;

        *ret = (struct watch_event) { .version = t->version };
        if (t->is_removed || w->labels || w->fields) {
                r = select_object(w, run->arena, t->before, t->before_serial, &before, err);
                if (r < 0)
                        return r;
        }
        r = select_object(w, run->arena, t->after, t->serial, &after, err);
        if (r < 0)
                return r;
        if (t->is_removed) {
                ret->type = WATCH_DELETED;
                ret->object = after;
                return before && after;
        }
        if (!w->labels && !w->fields)
                before = t->before;
        if (!after && !before)
                return 0;
        ret->type = !after ? WATCH_DELETED : before ? WATCH_MODIFIED : WATCH_ADDED;
        ret->object = after ? after : departed(run->arena, before, t->version);
        return 1;
}

static int expired(const struct watcher *w, struct err *err)
{
        return status_expired(err, "too old resource version: %llu (%llu)", (unsigned long long)w->cursor,
                              (unsigned long long)w->served.table->dropped_version + 1);
}

/* Under the mutex: 1 with the next event taken, 0 when there is none, or ERR_EXPIRED. */
static int take_event(struct watcher *w, struct taken *ret, struct err *err)
{
        struct table *t = w->served.table;
        struct event *e;

        if (w->cursor < t->dropped_version || w->is_cut_off)
                return expired(w, err);
        if (t->event_bytes - w->seen_bytes > w->s->options.watch_bytes) {
                w->is_cut_off = true;
                return expired(w, err);
        }
        for (e = history_after(w->s, t, w->cursor); e; e = e->next) {
                if (w->is_ending && e->version > w->end_version)
                        return 0;
                w->cursor = e->version;
                w->seen_bytes = MAX(w->seen_bytes, e->end_bytes);
                if (!cares_for(w, e->entry))
                        continue;
                *ret = (struct taken) {
                        .version = e->version,
                        .before = e->before ? object_ref(e->before) : NULL,
                        .after = object_ref(e->after),
                        .before_serial = e->before_serial,
                        .serial = e->serial,
                        .is_removed = e->is_removed,
                };
                return 1;
        }
        return 0;
}

void watch_notify(struct store *s, struct table *t, const struct event *e)
{
        for (struct watcher *w = t->watchers; w; w = w->next) {
                if (!w->waiters.first)
                        continue;
                if (cares_for(w, e->entry)) {
                        waiters_grant(&w->waiters);
                } else {
                        w->cursor = MAX(w->cursor, e->version);
                        w->seen_bytes = e->end_bytes;
                }
        }
}

void watch_close_all(struct store *s, struct table *t)
{
        for (struct watcher *w = t->watchers; w; w = w->next) {
                if (w->is_ending)
                        continue;
                w->is_ending = true;
                w->end_version = s->version;
                waiters_grant(&w->waiters);
        }
}

/* --- Next --- */

static int next_initial(struct watcher *w, struct run *run, struct watch_event *ret, struct err *err)
{
        uint64_t version;

        while (w->n_sent < w->initial.n) {
                const struct listed *l = &w->initial.p[w->n_sent++];
                struct object *o;
                int r;

                r = select_object(w, run->arena, l->object, l->serial, &o, err);
                if (r < 0)
                        return r;
                if (!o)
                        continue;
                *ret = (struct watch_event) { .type = WATCH_ADDED, .version = object_version(o), .object = o };
                return 1;
        }
        version = w->initial.version;
        listing_done(&w->initial);
        w->n_sent = 0;
        if (!w->owes_initial_end)
                return 0;
        w->owes_initial_end = false;
        *ret = (struct watch_event) { .type = WATCH_BOOKMARK, .version = version, .ends_initial = true };
        return 1;
}

static void make_bookmark(struct watcher *w, struct watch_event *ret)
{
        *ret = (struct watch_event) { .type = WATCH_BOOKMARK, .version = MAX(w->cursor, w->s->version) };
        w->next_bookmark = deadline_after_ms(BOOKMARK_MS);
}

/* Under the mutex: waits until there is an event to take (1), a bookmark to send (2) or an error. */
static int await_event(struct watcher *w, struct run *run, struct taken *taken, struct watch_event *bookmark,
                       struct err *err)
{
        for (;;) {
                struct deadline deadline = run->deadline;
                struct waiter waiter;
                int r = take_event(w, taken, err);

                if (r != 0)
                        return r;
                if (w->is_ending)
                        return err_set(err, ERR_CLOSED, "the watch has ended: its kind has changed or is gone");
                if (w->wants_bookmarks) {
                        if (deadline_has_passed(w->next_bookmark)) {
                                make_bookmark(w, bookmark);
                                return 2;
                        }
                        deadline = deadline_earliest(deadline, w->next_bookmark);
                }
                waiters_append(&w->waiters, &waiter);
                r = waiters_wait(&w->waiters, &waiter, &w->s->mutex, "watch", w->served.table->name, deadline,
                                 run->cancel);
                if (r == ERR_TIMEOUT && w->wants_bookmarks && !deadline_has_passed(run->deadline))
                        r = 0;
                if (r < 0)
                        return wait_error(r, run->cancel, "watch", err);
        }
}

static int next(struct watch *watch, struct run *run, struct watch_event *ret, struct err *err)
{
        struct watcher *w = CONTAINER_OF(watch, struct watcher, watch);
        int r = next_initial(w, run, ret, err);

        if (r != 0)
                return MIN(r, 0);
        for (;;) {
                struct taken taken = { 0 };

                mutex_lock(&w->s->mutex);
                r = await_event(w, run, &taken, ret, err);
                mutex_unlock(&w->s->mutex);
                if (r < 0 || r == 2)
                        return MIN(r, 0);
                r = event_of(w, run, &taken, ret, err);
                taken_done(&taken);
                if (r != 0)
                        return MIN(r, 0);
        }
}

static void unlink_watcher(struct watcher *w)
{
        struct table *t = w->served.table;

        *(w->prev ? &w->prev->next : &t->watchers) = w->next;
        if (w->next)
                w->next->prev = w->prev;
        w->s->n_watches--;
}

static void free_watcher(struct watch *watch)
{
        struct watcher *w = CONTAINER_OF(watch, struct watcher, watch);

        mutex_lock(&w->s->mutex);
        unlink_watcher(w);
        mutex_unlock(&w->s->mutex);
        listing_done(&w->initial);
        arena_done(&w->arena);
        free(w);
}

static const struct watch_ops ops = { .next = next, .free = free_watcher };

/* --- Begin --- */

static struct watcher *new_watcher(struct store *s, const struct watch_request *req)
{
        struct watcher *w = xcalloc(1, sizeof(*w));

        w->watch.ops = &ops;
        w->s = s;
        arena_init(&w->arena, "watch", 0);
        w->namespace = arena_copy(&w->arena, req->namespace);
        w->labels = copy_labels(&w->arena, req->labels);
        w->fields = copy_fields(&w->arena, req->fields);
        w->name = w->fields ? field_selector_name(w->fields) : STR("");
        w->wants_bookmarks = req->wants_bookmarks;
        w->next_bookmark = deadline_after_ms(BOOKMARK_MS);
        return w;
}

static void link_watcher(struct watcher *w)
{
        struct table *t = w->served.table;

        w->next = t->watchers;
        if (t->watchers)
                t->watchers->prev = w;
        t->watchers = w;
        w->s->n_watches++;
        w->seen_bytes = t->event_bytes;
        /* The kind may have changed since it was looked up. */
        if (w->served.kind && t->kind != w->served.kind) {
                w->is_ending = true;
                w->end_version = w->s->version;
        }
}

static void begin_at(struct watcher *w, const struct watch_request *req, uint64_t version)
{
        bool has_initial = req->sends_initial_events || version == 0;

        mutex_lock(&w->s->mutex);
        w->cursor = version;
        link_watcher(w);
        mutex_unlock(&w->s->mutex);
        if (!has_initial)
                return;
        w->owes_initial_end = req->sends_initial_events && req->wants_bookmarks;
        listing_collect(w->s, w->served.table, &w->arena, w->namespace, &w->initial);
        mutex_lock(&w->s->mutex);
        w->cursor = MAX(w->cursor, w->initial.version);
        mutex_unlock(&w->s->mutex);
}

int watch_begin(struct cluster *c, struct run *run, const struct watch_request *req, struct watch **ret,
                struct err *err)
{
        struct store *s = store_of(c);
        struct watcher *w;
        uint64_t version;
        int r = read_version_number(req->resource_version, &version, err);

        if (r < 0) {
                err_set_reason(err, REASON_UNKNOWN);
                return r;
        }
        w = new_watcher(s, req);
        r = kinds_lookup(s, &w->arena, req->gvk, SCOPE_UNKNOWN, &w->served, err);
        if (r == 0 && w->fields && w->served.version)
                r = field_selector_check(w->fields, w->served.version->selectable_fields,
                                         w->served.version->n_selectable_fields, err);
        if (r == 0 && req->sends_initial_events)
                r = read_await_version(s, run, version, err);
        if (r < 0) {
                arena_done(&w->arena);
                free(w);
                return r;
        }
        begin_at(w, req, version);
        *ret = &w->watch;
        return 0;
}
