/* Watches have no queues. A watch is a position in the history of its table; the events after the position are still to be sent. A
 * watcher is cut off when it is behind by more bytes than allowed, or when the history has dropped events after its position.
 *
 * A watcher that has seen all events is armed: it stands in a group with the watchers of the same names, and a commit looks only at
 * the groups of its own name. So no event for an armed watcher has happened since it was armed, and its position counts as the end
 * of the table's history. The position is stored when the watcher is woken or asks again.
 *
 * A commit collects the watchers to wake under the mutex, and calls them after it has unlocked the mutex. A watcher counts the
 * calls in progress, and is not freed before they have returned. */
#include "store-state.h"

#define BOOKMARK_MS   60000
#define LAST_MS       2000 /* the last bookmark is so long before the end */
#define INITIAL_BATCH 64   /* objects of the initial list in memory at once */
#define WALK_MOST     1024 /* events skipped in one turn at the mutex */
#define CALL_BATCH    32   /* wakeups between two turns at the mutex */

enum watcher_state {
        WATCHER_BUSY,  /* its owner asks for events, or will ask */
        WATCHER_ARMED, /* in its group: waits for an event */
        WATCHER_WOKEN, /* in the store's list: its wakeup is called next */
};

/* Watchers of the same names. */
struct watch_group {
        struct watcher *armed;
        size_t n_watchers;
        size_t n_key;
        char key[]; /* see group_key */
};

/* The objects that existed when a watch began and are not sent yet. */
struct initial {
        struct scan scan;
        struct arena keys; /* the keys of found */
        struct listing found;
        size_t at;
};

struct watcher {
        struct watch watch;
        struct store *s;
        struct arena arena; /* owns the request below */
        struct str ns;
        struct str name; /* the only name it watches; "": all */
        struct served served;
        struct store_view view;
        bool wants_bookmarks;

        /* Home: the thread that asks for events. */
        struct initial *initial; /* NULL: all initial objects are sent */
        uint64_t initial_version;
        bool owes_initial_end;
        struct deadline next_bookmark, last_bookmark;

        /* Under the store's mutex. */
        struct watcher *next, *prev; /* in the table's list */
        struct watch_group *group;
        enum watcher_state state;
        struct watcher *next_ready, *prev_ready; /* in the group's armed list, or in the store's woken list */
        struct watch_wakeup wakeup;
        unsigned n_calls;      /* wakeup calls in progress */
        struct waiters freers; /* threads that wait until n_calls is 0 */
        uint64_t cursor;       /* the watcher has seen all events up to this version */
        size_t seen_bytes;     /* the table's event_bytes at the cursor */
        bool is_cut_off;
        bool is_ending; /* events after end_version are not sent */
        uint64_t end_version;
};

/* The event that one step took from the history, with its own references. */
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

static bool has_name(struct str key, struct str name)
{
        struct str end = str_skip(key, key.n - MIN(key.n, name.n));

        return str_equal(end, name) && (key.n == name.n || key.p[key.n - name.n - 1] == '/');
}

static bool cares_for(const struct watcher *w, const struct store_entry *e)
{
        if (w->ns.n && !str_equal(entry_namespace(e), w->ns))
                return false;
        return w->name.n == 0 || str_equal(entry_name(e), w->name);
}

/* --- Groups --- */

/* The key of a watcher's group. An object NAMESPACE/NAME is watched by the groups "NAMESPACE/NAME", "NAMESPACE/", "/NAME" and ""; a
 * cluster-scoped object by those of its name and "". While the scope of the kind is unknown, a watcher of one name without a
 * namespace is in the group "". */
static struct str group_key(struct arena *a, const struct watcher *w)
{
        if (w->ns.n)
                return store_make_key(a, w->ns, w->name);
        if (w->name.n == 0 || !w->served.kind)
                return STR("");
        return w->served.kind->is_namespaced ? ARENA_CONCAT(a, STR("/"), w->name) : w->name;
}

/* Under the mutex, like the other functions of this section. */
static struct watch_group *join_group(struct table *t, struct str key)
{
        struct watch_group *g = map_get(&t->watch_groups, key);

        if (!g) {
                g = xcalloc(1, sizeof(*g) + key.n);
                g->n_key = key.n;
                if (key.n)
                        memcpy(g->key, key.p, key.n);
                map_add(&t->watch_groups, str_make(g->key, g->n_key), g);
        }
        g->n_watchers++;
        return g;
}

static void leave_group(struct table *t, struct watch_group *g)
{
        if (--g->n_watchers > 0)
                return;
        map_remove(&t->watch_groups, str_make(g->key, g->n_key));
        if (t->watch_groups.n == 0)
                map_done(&t->watch_groups);
        free(g);
}

static void arm(struct watcher *w, struct watch_wakeup wakeup)
{
        struct watch_group *g = w->group;

        w->wakeup = wakeup;
        w->state = WATCHER_ARMED;
        w->prev_ready = NULL;
        w->next_ready = g->armed;
        if (g->armed)
                g->armed->prev_ready = w;
        g->armed = w;
}

static void unlink_armed(struct watcher *w)
{
        *(w->prev_ready ? &w->prev_ready->next_ready : &w->group->armed) = w->next_ready;
        if (w->next_ready)
                w->next_ready->prev_ready = w->prev_ready;
}

static void unlink_woken(struct watcher *w)
{
        struct store *s = w->s;

        *(w->prev_ready ? &w->prev_ready->next_ready : &s->first_woken) = w->next_ready;
        *(w->next_ready ? &w->next_ready->prev_ready : &s->last_woken) = w->prev_ready;
        atomic_fetch_sub_explicit(&s->n_woken, 1, memory_order_relaxed);
}

/* The watcher has seen all events up to the version, at which its table had this many bytes of events. */
static void move_on(struct watcher *w, uint64_t version, size_t event_bytes)
{
        w->cursor = MAX(w->cursor, version);
        w->seen_bytes = MAX(w->seen_bytes, event_bytes);
}

/* An armed watcher has seen everything that was published. */
static void move_to_end(struct watcher *w)
{
        const struct table *t = w->served.table;

        move_on(w, t->last ? t->last->version : t->dropped_version, t->event_bytes);
}

/* The owner asks for events or frees the watcher: no new wakeup call begins. Calls in progress go on. */
static void disarm(struct watcher *w)
{
        switch (w->state) {
        case WATCHER_BUSY:
                break;
        case WATCHER_ARMED:
                unlink_armed(w);
                move_to_end(w);
                break;
        case WATCHER_WOKEN:
                unlink_woken(w);
                break;
        }
        w->state = WATCHER_BUSY;
}

/* From armed to woken. */
static void wake_watcher(struct watcher *w)
{
        struct store *s = w->s;

        unlink_armed(w);
        w->state = WATCHER_WOKEN;
        w->next_ready = NULL;
        w->prev_ready = s->last_woken;
        *(s->last_woken ? &s->last_woken->next_ready : &s->first_woken) = w;
        s->last_woken = w;
        atomic_fetch_add_explicit(&s->n_woken, 1, memory_order_relaxed);
}

static void wake_group(struct table *t, struct str key, const struct event *e)
{
        struct watch_group *g = map_get(&t->watch_groups, key);
        struct watcher *w = g ? g->armed : NULL;

        while (w) {
                struct watcher *next = w->next_ready;

                if (cares_for(w, e->entry)) {
                        move_on(w, e->version - 1, e->end_bytes - event_size_bytes(e));
                        wake_watcher(w);
                }
                w = next;
        }
}

void watch_notify(struct store *s, struct table *t, const struct event *e)
{
        struct str key = entry_key(e->entry);
        size_t n = e->entry->n_namespace;

        if (!t->watchers)
                return;
        wake_group(t, STR(""), e);
        wake_group(t, key, e);
        if (n == 0)
                return;
        wake_group(t, str_first(key, n + 1), e);
        wake_group(t, str_skip(key, n), e);
}

void watch_close_all(struct store *s, struct table *t)
{
        for (struct watcher *w = t->watchers; w; w = w->next) {
                if (w->is_ending)
                        continue;
                w->is_ending = true;
                w->end_version = s->version;
                if (w->state == WATCHER_ARMED) {
                        move_to_end(w);
                        wake_watcher(w);
                }
        }
}

/* --- Calls --- */

static size_t take_woken(struct store *s, struct watcher *watchers[CALL_BATCH], struct watch_wakeup wakeups[CALL_BATCH])
{
        size_t n = 0;

        mutex_lock(&s->mutex);
        while (n < CALL_BATCH && s->first_woken) {
                struct watcher *w = s->first_woken;

                unlink_woken(w);
                w->state = WATCHER_BUSY;
                w->n_calls++;
                wakeups[n] = w->wakeup;
                watchers[n++] = w;
        }
        mutex_unlock(&s->mutex);
        return n;
}

static void end_calls(struct store *s, struct watcher *const *watchers, size_t n)
{
        mutex_lock(&s->mutex);
        for (size_t i = 0; i < n; i++)
                if (--watchers[i]->n_calls == 0)
                        waiters_grant(&watchers[i]->freers);
        mutex_unlock(&s->mutex);
}

void watch_call_woken(struct store *s)
{
        while (atomic_load_explicit(&s->n_woken, memory_order_relaxed) > 0) {
                struct watch_wakeup wakeups[CALL_BATCH];
                struct watcher *watchers[CALL_BATCH];
                size_t n = take_woken(s, watchers, wakeups);

                for (size_t i = 0; i < n; i++)
                        wakeups[i].call(wakeups[i].arg);
                end_calls(s, watchers, n);
        }
}

/* --- Events --- */

static bool is_selective(const struct watcher *w)
{
        return w->view.labels || w->view.fields;
}

/* 1 and an event, or 0 when the watch does not show this change. A removed object is shown in its last state, so the selectors
 * matched that state before too. */
static int event_of(struct watcher *w, struct run *run, struct arena *scratch, const struct taken *t,
                    struct watch_event *ret, struct err *err)
{
        _cleanup_object_ struct object *before = NULL, *after = NULL;
        bool was_there = t->before != NULL, is_there;
        int r = view_object(&w->view, scratch, t->after, t->serial, &after, err);

        if (r < 0)
                return r;
        is_there = r;
        if (!t->is_removed && t->before && is_selective(w)) {
                r = view_object(&w->view, scratch, t->before, t->before_serial, &before, err);
                if (r < 0)
                        return r;
                was_there = r;
        }
        *ret = (struct watch_event) { .version = t->version };
        if (t->is_removed)
                was_there = is_there;
        if (!is_there && !was_there)
                return 0;
        if (!is_there)
                after = view_departed(&w->view, before, t->after);
        ret->type = t->is_removed || !is_there ? WATCH_DELETED : was_there ? WATCH_MODIFIED : WATCH_ADDED;
        ret->object = store_pin_counted(TAKE(after), run->arena);
        return 1;
}

/* Under the mutex. */
static int expired(const struct watcher *w, struct err *err)
{
        return status_expired(err, "too old resource version: %llu (%llu)", (unsigned long long)w->cursor,
                              (unsigned long long)w->served.table->dropped_version + 1);
}

/* The result of one turn at the mutex. */
enum step {
        STEP_NOTHING, /* there are no more events */
        STEP_EVENT,
        STEP_BOOKMARK,
        STEP_AGAIN, /* there may be more events, in another turn */
};

static void take(struct watcher *w, const struct event *e, struct taken *ret)
{
        *ret = (struct taken) {
                .version = e->version,
                .before = e->before ? object_ref(e->before) : NULL,
                .after = object_ref(e->after),
                .before_serial = e->before_serial,
                .serial = e->serial,
                .is_removed = e->is_removed,
        };
}

/* Under the mutex: an enum step with the next event for the watcher's names, or ERR_EXPIRED. */
static int take_event(struct watcher *w, struct taken *ret, struct err *err)
{
        struct table *t = w->served.table;
        const struct event *e;

        if (t->event_bytes - w->seen_bytes > w->s->options.watch_bytes)
                w->is_cut_off = true;
        if (w->cursor < t->dropped_version || w->is_cut_off)
                return expired(w, err);
        e = history_after(w->s, t, w->cursor);
        for (size_t i = 0; e; i++, e = e->next) {
                if (w->is_ending && e->version > w->end_version)
                        return STEP_NOTHING;
                if (i == WALK_MOST)
                        return STEP_AGAIN;
                move_on(w, e->version, e->end_bytes);
                if (cares_for(w, e->entry)) {
                        take(w, e, ret);
                        return STEP_EVENT;
                }
        }
        return STEP_NOTHING;
}

/* A minute from now, or shortly before the watch ends. */
static void plan_bookmark(struct watcher *w)
{
        w->next_bookmark = deadline_after_ms(BOOKMARK_MS);
        if (!deadline_has_passed(w->last_bookmark))
                w->next_bookmark = deadline_earliest(w->next_bookmark, w->last_bookmark);
}

/* Under the mutex: an enum step, or an error. */
static int take_step(struct watcher *w, struct taken *taken, struct watch_event *bookmark, struct err *err)
{
        int r = take_event(w, taken, err);

        if (r != STEP_NOTHING)
                return r;
        if (w->is_ending)
                return err_set(err, ERR_CLOSED, "the watch has ended: its kind has changed or is gone");
        if (!w->wants_bookmarks || !deadline_has_passed(w->next_bookmark))
                return STEP_NOTHING;
        *bookmark = (struct watch_event) { .type = WATCH_BOOKMARK, .version = MAX(w->cursor, w->s->version) };
        plan_bookmark(w);
        return STEP_BOOKMARK;
}

/* --- Initial objects --- */

static void initial_free(struct initial *in)
{
        if (!in)
                return;
        scan_end(&in->scan);
        listing_done(&in->found);
        arena_done(&in->keys);
        free(in);
}

/* 1 when there is another object to consider, 0 at the end. */
static int more_initial(struct watcher *w, struct run *run, struct err *err)
{
        struct initial *in = w->initial;
        int r = 0;

        while (in->at == in->found.n) {
                listing_done(&in->found);
                arena_reset(&in->keys);
                in->at = 0;
                if (in->scan.is_done)
                        return 0;
                r = cancel_check(run->cancel, err);
                if (r == 0)
                        r = scan_batch(&in->scan, &in->keys, &in->found);
                if (r == ERR_EXPIRED) {
                        mutex_lock(&w->s->mutex);
                        r = expired(w, err);
                        mutex_unlock(&w->s->mutex);
                }
                if (r < 0)
                        return r;
        }
        return 1;
}

/* Views the next object and releases it. 1 and the viewed object, or 0 when the watch does not show it. */
static int next_listed(struct watcher *w, struct arena *scratch, struct object **ret, struct err *err)
{
        struct listed *l = &w->initial->found.p[w->initial->at++];
        _cleanup_object_ struct object *o = TAKE(l->object);
        struct store_view view = w->view;

        view.is_shared = false;
        if (w->name.n && !has_name(l->key, w->name))
                return 0;
        return view_object(&view, scratch, o, l->serial, ret, err);
}

/* 1 and an event, 0 when all initial events are sent. */
static int next_initial(struct watcher *w, struct run *run, struct arena *scratch, struct watch_event *ret,
                        struct err *err)
{
        struct object *o;
        int r;

        while (w->initial) {
                r = more_initial(w, run, err);
                if (r == 0) {
                        initial_free(TAKE(w->initial));
                        break;
                }
                if (r > 0)
                        r = next_listed(w, scratch, &o, err);
                arena_reset(scratch);
                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                *ret = (struct watch_event) { .type = WATCH_ADDED, .version = object_version(o) };
                ret->object = store_pin_counted(o, run->arena);
                return 1;
        }
        if (!w->owes_initial_end)
                return 0;
        w->owes_initial_end = false;
        *ret = (struct watch_event) { .type = WATCH_BOOKMARK, .version = w->initial_version, .ends_initial = true };
        return 1;
}

/* --- Next --- */

/* One turn at the mutex, then the event for the owner. Returns the same as take_step, but STEP_AGAIN for an event that the
 * selectors do not match. */
static int next_step(struct watcher *w, struct run *run, struct arena *scratch, struct watch_wakeup wakeup,
                     struct watch_event *ret, struct err *err)
{
        struct taken taken = { 0 };
        int r;

        mutex_lock(&w->s->mutex);
        disarm(w);
        r = take_step(w, &taken, ret, err);
        if (r == STEP_NOTHING && wakeup.call)
                arm(w, wakeup);
        mutex_unlock(&w->s->mutex);
        if (r != STEP_EVENT)
                return r;
        r = event_of(w, run, scratch, &taken, ret, err);
        taken_done(&taken);
        arena_reset(scratch);
        return r == 0 ? STEP_AGAIN : MIN(r, (int)STEP_EVENT);
}

static int try_next(struct watch *watch, struct run *run, struct watch_wakeup wakeup, struct watch_event *ret,
                    struct err *err)
{
        struct watcher *w = CONTAINER_OF(watch, struct watcher, watch);
        _cleanup_arena_ struct arena scratch;
        int r;

        arena_init(&scratch, "watch", 0);
        r = next_initial(w, run, &scratch, ret, err);
        if (r != 0)
                return r;
        r = next_step(w, run, &scratch, wakeup, ret, err);
        while (r == STEP_AGAIN) {
                r = cancel_check(run->cancel, err);
                if (r == 0)
                        r = next_step(w, run, &scratch, wakeup, ret, err);
        }
        return MIN(r, 1);
}

static struct deadline next_bookmark(const struct watch *watch)
{
        const struct watcher *w = CONTAINER_OF(watch, struct watcher, watch);

        return w->wants_bookmarks ? w->next_bookmark : DEADLINE_NONE;
}

/* --- The end --- */

static void unlink_watcher(struct watcher *w)
{
        struct table *t = w->served.table;

        disarm(w);
        leave_group(t, w->group);
        *(w->prev ? &w->prev->next : &t->watchers) = w->next;
        if (w->next)
                w->next->prev = w->prev;
        w->s->n_watches--;
}

/* Under the mutex, which is unlocked while waiting. */
static void await_calls(struct watcher *w)
{
        while (w->n_calls > 0) {
                struct waiter waiter;

                waiters_append(&w->freers, &waiter);
                waiters_wait(&w->freers, &waiter, &w->s->mutex, "watch_free", w->watch.name, DEADLINE_NONE, NULL);
        }
}

static void free_watcher(struct watch *watch)
{
        struct watcher *w = CONTAINER_OF(watch, struct watcher, watch);

        mutex_lock(&w->s->mutex);
        unlink_watcher(w);
        await_calls(w);
        mutex_unlock(&w->s->mutex);
        initial_free(w->initial);
        watch_done(&w->watch);
        arena_done(&w->arena);
        free(w);
}

static const struct watch_ops ops = { .try_next = try_next, .next_bookmark = next_bookmark, .free = free_watcher };

/* --- Begin --- */

static struct watcher *new_watcher(struct store *s, const struct watch_request *req)
{
        struct watcher *w = xcalloc(1, sizeof(*w));

        w->s = s;
        arena_init_pieces(&w->arena, "watch", 0); /* most watches need very little memory here */
        w->ns = arena_copy(&w->arena, req->ns);
        w->view = (struct store_view) {
                .s = s,
                .served = &w->served,
                .labels = copy_labels(&w->arena, req->labels),
                .fields = copy_fields(&w->arena, req->fields),
                .is_shared = true,
        };
        w->name = w->view.fields ? field_selector_name(w->view.fields) : STR("");
        w->wants_bookmarks = req->wants_bookmarks;
        w->last_bookmark = req->timeout_ms > LAST_MS ? deadline_after_ms(req->timeout_ms - LAST_MS) : DEADLINE_NONE;
        plan_bookmark(w);
        return w;
}

/* Drops a field selector that only has a name: the key decides that without reading the object. */
static void drop_name_selector(struct watcher *w)
{
        if (w->name.n && w->view.fields->n == 1)
                w->view.fields = NULL;
}

static void link_watcher(struct watcher *w)
{
        struct table *t = w->served.table;

        w->group = join_group(t, group_key(&w->arena, w));
        w->next = t->watchers;
        if (t->watchers)
                t->watchers->prev = w;
        t->watchers = w;
        w->s->n_watches++;
        w->seen_bytes = t->event_bytes;
        /* The kind may have changed since it was looked up. */
        if (w->served.kind && t->serial != w->served.serial) {
                w->is_ending = true;
                w->end_version = w->s->version;
        }
}

/* Under the mutex. */
static struct initial *begin_initial(struct watcher *w)
{
        bool is_one = w->name.n && w->served.kind && (w->ns.n || !w->served.kind->is_namespaced);
        struct initial *in = xcalloc(1, sizeof(*in));
        struct table *t = w->served.table;
        int r;

        arena_init(&in->keys, "watch", 0);
        r = is_one ? scan_begin_exact(&in->scan, w->s, t, w->ns, w->name, 0)
                   : scan_begin(&in->scan, w->s, t, w->ns, STR(""), 0);
        assert(r == 0); /* the latest version is always there */
        in->scan.most = INITIAL_BATCH;
        return in;
}

static void begin_at(struct watcher *w, const struct watch_request *req, uint64_t version)
{
        bool has_initial = req->sends_initial_events || version == 0;

        mutex_lock(&w->s->mutex);
        w->cursor = version;
        link_watcher(w);
        if (has_initial) {
                w->initial = begin_initial(w);
                w->initial_version = w->s->version;
                w->cursor = MAX(w->cursor, w->initial_version);
        }
        mutex_unlock(&w->s->mutex);
        w->owes_initial_end = has_initial && req->sends_initial_events && req->wants_bookmarks;
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
        if (r == 0 && w->view.fields && w->served.version)
                r = field_selector_check(w->view.fields, w->served.version->selectable_fields,
                                         w->served.version->n_selectable_fields, err);
        if (r == 0 && req->sends_initial_events)
                r = read_await_version(s, run, version, err);
        if (r < 0) {
                arena_done(&w->arena);
                free(w);
                return r;
        }
        drop_name_selector(w);
        watch_init(&w->watch, &ops, w->served.table->name);
        begin_at(w, req, version);
        *ret = &w->watch;
        return 0;
}
