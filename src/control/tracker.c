#include "tracker-state.h"

#include "buf.h"
#include "clock.h"
#include "condition.h"
#include "meter.h"
#include "timetext.h"
#include "vec.h"

#include <inttypes.h>

#define SWEEP_NS (60 * NS_PER_SECOND) /* how often kinds that nobody reads any more are looked for */

/* --- Events --- */

/* The manager that wrote the object last: the entry with the newest time. */
static struct str last_manager(const struct value *object)
{
        struct str newest = STR(""), manager = STR("");

        VALUE_FOREACH_ITEM (entry, value_get(meta(object), STR("managedFields"))) {
                struct str time = value_str(value_get(entry, STR("time")));

                if (str_compare(time, newest) < 0)
                        continue;
                newest = time;
                manager = value_str(value_get(entry, STR("manager")));
        }
        return manager;
}

static void note_event(struct subject *s, const struct hub_event *e)
{
        static const char *const types[] = {
                [WATCH_ADDED] = "ADDED", [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED"
        };
        struct str manager;

        if (!tracker_wants_cause(s))
                return;
        manager = last_manager(e->object);
        tracker_note_cause(s, "%s %.*s %.*s%s%.*s%s%.*s", types[e->type], STR_ARG(e->key.gvk.kind), STR_ARG(e->key.ns),
                           e->key.ns.n ? "/" : "", STR_ARG(e->key.name), manager.n ? " by " : "", STR_ARG(manager));
}

/* Asks the subject's circuit, and counts what it said. */
static enum breaker_verdict ask_circuit(struct tracker *t, struct subject *s, const struct hub_event *e, int64_t now_ns)
{
        bool was_open = s->breaker.opened_ns;
        enum breaker_verdict verdict = breaker_record(&s->breaker, now_ns, e->key.gvk.kind, e->key.ns, e->key.name);
        struct str labels[2] = { controller_name(s->controller), STR("Allowed") };

        if (verdict != BREAKER_PASSES)
                labels[1] = STR("Dropped");
        else if (was_open && s->breaker.opened_ns)
                labels[1] = STR("HalfOpenAllowed");
        meter_add(t->events, 1, labels);
        tracker_count_circuit(t, s, was_open);
        return verdict;
}

/* Runs the subject because of the event, unless its circuit is open. Its own writes and deletions pass always. */
static void run_subject(struct tracker *t, struct subject *s, const struct note *n, const struct hub_event *e)
{
        int64_t now_ns = clock_mono_ns();
        enum breaker_verdict verdict = BREAKER_PASSES;

        if (s->owner->is_muted)
                return; /* the controller may be gone already */
        if (!meta_is_deleting(e->object) && !(n && n->own == e->version))
                verdict = ask_circuit(t, s, e, now_ns);
        if (verdict == BREAKER_PASSES) {
                t->stats.n_events++;
                note_event(s, e);
                tracker_enqueue(s);
                return;
        }
        t->stats.n_dropped++;
        note_event(s, e);
        /* Each time: a run in between, for an event that passes, has taken the place of the one that was planned. */
        tracker_enqueue_after(s, breaker_closes_ns(&s->breaker) - now_ns);
}

/* Whether the event is news to the note's subject: neither read by it nor told before. During a write of the subject nobody can tell
 * yet. */
static bool is_news(struct note *n, const struct hub_event *e)
{
        if (n->type == NOTE_OBJECT && n->kind)
                n->epoch = n->kind->epoch;
        if (n->n_writing) {
                n->pending_first = n->pending_first ? n->pending_first : e->version;
                n->pending = MAX(n->pending, e->version);
                return false;
        }
        if (!tracker_is_news(n, e->version))
                return false;
        n->told = e->version;
        return true;
}

static void tell_object(struct tracker *t, struct str key, const struct hub_event *e)
{
        struct tracker_place *p = map_get(&t->places, key);

        for (struct note *n = p ? p->first : NULL; n; n = n->next)
                if (is_news(n, e))
                        run_subject(t, n->subject, n, e);
}

static bool selects(const struct note *n, const struct hub_event *e, struct arena *scratch)
{
        struct label_selector selector;

        if (n->n_namespace && !str_equal(note_namespace(n), e->key.ns))
                return false;
        return label_selector_parse(scratch, note_labels(n), &selector, NULL) == 0 &&
               label_selector_matches(&selector, value_get(meta(e->object), STR("labels")));
}

static void tell_selections(struct tracker *t, struct str key, const struct hub_event *e, struct arena *scratch)
{
        struct tracker_place *p = map_get(&t->places, key);

        for (struct note *n = p ? p->first : NULL; n; n = n->next)
                if (selects(n, e, scratch) && is_news(n, e))
                        run_subject(t, n->subject, n, e);
}

static void on_event(void *arg, const struct hub_event *e)
{
        struct tracked_kind *k = arg;
        struct tracker *t = k->tracker;
        _cleanup_buf_ struct buf key = BUF_INIT(0);
        struct arena scratch;

        arena_init(&scratch, "selection", 0);
        mutex_lock(&t->mutex);
        tell_object(t, tracker_object_note_key(&key, k->key, e->key.ns, e->key.name), e);
        tell_selections(t, tracker_selection_place_key(&key, k->key, STR(""), STR("")), e, &scratch);
        VALUE_FOREACH_MEMBER (m, value_get(meta(e->object), STR("labels")))
                tell_selections(t, tracker_selection_place_key(&key, k->key, m->key, value_str(&m->value)), e,
                                &scratch);
        mutex_unlock(&t->mutex);
        arena_done(&scratch);
}

static void run_because(struct subject *s, const char *why)
{
        if (tracker_wants_cause(s))
                tracker_note_cause(s, "%s", why);
        tracker_enqueue(s);
}

/* All objects of the kind are told again, because events may have been lost. */
static void on_begin(void *arg)
{
        struct tracked_kind *k = arg;

        mutex_lock(&k->tracker->mutex);
        k->epoch++;
        k->is_relisting = true;
        mutex_unlock(&k->tracker->mutex);
}

/* All objects of the kind have been told again. Subjects that knew one which was not among them run. */
static void on_synced(void *arg, struct gvk gvk _unused_)
{
        struct tracked_kind *k = arg;
        struct tracker *t = k->tracker;

        mutex_lock(&t->mutex);
        for (struct map_entry *e = map_first(&t->places); e; e = map_next(&t->places, e))
                for (struct note *n = ((struct tracker_place *)e->value)->first; n; n = n->next)
                        if (n->kind == k && n->type == NOTE_OBJECT && n->seen && n->epoch != k->epoch)
                                run_because(n->subject, "an object is gone; its deletion was not told");
        k->is_relisting = false;
        mutex_unlock(&t->mutex);
}

/* --- Kinds --- */

/* The state of a kind as runs that looked it up see it: its schema and names, and whether it is served. */
static struct str crd_state(struct buf *b, const struct hub_event *e)
{
        struct condition established;

        condition_get(e->object, STR("Established"), &established);
        buf_clear(b);
        buf_appendf(b, "%" PRId64 " %s %d", meta_generation(e->object), condition_status_name(established.status),
                    e->type == WATCH_DELETED);
        return buf_str(b);
}

/* Notes the state of a CRD; true if it is another one than before. */
static bool has_changed(struct tracker *t, const struct hub_event *e)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str state = crd_state(&b, e), name = e->key.name;
        char *old = map_get(&t->crd_states, name), *text;

        if (old && str_equal(str_from(old), state))
                return false;
        text = xmalloc(state.n + 1 + name.n);
        memcpy(text, state.p, state.n);
        text[state.n] = '\0';
        memcpy(text + state.n + 1, name.p, name.n);
        map_remove(&t->crd_states, name);
        free(old);
        if (e->type == WATCH_DELETED)
                free(text);
        else
                map_add(&t->crd_states, str_make(text + state.n + 1, name.n), text);
        return true;
}

static void tell_place(struct tracker *t, struct str key, const char *what, struct str name)
{
        struct tracker_place *p = map_get(&t->places, key);

        for (struct note *n = p ? p->first : NULL; n; n = n->next) {
                if (tracker_wants_cause(n->subject))
                        tracker_note_cause(n->subject, "%s %.*s changed", what, STR_ARG(name));
                tracker_enqueue(n->subject);
        }
}

static void tell_kind(struct tracker *t, struct str group, struct str name)
{
        _cleanup_buf_ struct buf key = BUF_INIT(0);

        tell_place(t, tracker_kind_note_key(&key, group, name), "the kind", name);
}

void tracker_tell(struct tracker *t, struct str topic)
{
        _cleanup_buf_ struct buf key = BUF_INIT(0);

        mutex_lock(&t->mutex);
        tell_place(t, tracker_topic_note_key(&key, topic), "the", topic);
        mutex_unlock(&t->mutex);
}

size_t tracker_count(struct tracker *t, struct str topic)
{
        _cleanup_buf_ struct buf key = BUF_INIT(0);
        const struct tracker_place *p;
        size_t count = 0;

        mutex_lock(&t->mutex);
        p = map_get(&t->places, tracker_topic_note_key(&key, topic));
        for (const struct note *n = p ? p->first : NULL; n; n = n->next)
                count++;
        mutex_unlock(&t->mutex);
        return count;
}

static void on_crd(void *arg, const struct hub_event *e)
{
        struct tracker *t = arg;
        const struct value *spec = value_get(e->object, STR("spec"));
        struct str group = value_str(value_get(spec, STR("group")));

        mutex_lock(&t->mutex);
        if (has_changed(t, e)) {
                tell_kind(t, group, value_str(value_find(spec, "names", "kind")));
                tell_kind(t, group, value_str(value_find(spec, "names", "plural")));
        }
        mutex_unlock(&t->mutex);
}

static struct tracked_kind *find_kind(struct tracker *t, struct str key)
{
        return map_get(&t->kinds, key);
}

/* Follows the kind from now on; the caller has the permit of subscribing. */
static int follow_kind(struct tracker *t, struct gvk gvk, struct str key, struct tracked_kind **ret, struct err *err)
{
        struct tracked_kind *k = xcalloc(1, sizeof(*k) + key.n);
        struct hub_subscriber subscriber = {
                .on_event = on_event, .on_begin = on_begin, .on_synced = on_synced, .arg = k
        };
        int r;

        memcpy(k->text, key.p, key.n);
        k->key = str_make(k->text, key.n);
        k->tracker = t;
        r = hub_subscribe(t->hub, gvk, false, &subscriber, &k->subscription, err);
        if (r < 0) {
                free(k);
                return r;
        }
        mutex_lock(&t->mutex);
        k->n_notes = 1; /* the caller's, so that a sweep leaves it */
        map_add(&t->kinds, k->key, k);
        mutex_unlock(&t->mutex);
        *ret = k;
        return 0;
}

int tracker_need_kind(struct tracker *t, struct run *run, struct gvk gvk, struct tracked_kind **ret, struct err *err)
{
        struct str key = gvk_text(run->arena, gvk);
        int r;

        mutex_lock(&t->mutex);
        *ret = find_kind(t, key);
        if (*ret)
                (*ret)->n_notes++;
        mutex_unlock(&t->mutex);
        if (*ret)
                return 0;
        r = semaphore_acquire(&t->subscribing, run->deadline, run->cancel);
        if (r < 0)
                return wait_error(r, run->cancel, "cannot follow a kind", err);
        mutex_lock(&t->mutex);
        *ret = find_kind(t, key);
        if (*ret)
                (*ret)->n_notes++;
        mutex_unlock(&t->mutex);
        if (!*ret)
                r = follow_kind(t, gvk, key, ret, err);
        semaphore_release(&t->subscribing);
        return r;
}

void tracker_sweep_kinds(struct tracker *t)
{
        VEC(struct tracked_kind *) idle = { 0 };

        if (!semaphore_try_acquire(&t->subscribing))
                return;
        mutex_lock(&t->mutex);
        if (clock_mono_ns() - t->swept_ns > SWEEP_NS) {
                t->swept_ns = clock_mono_ns();
                for (struct map_entry *e = map_first(&t->kinds); e; e = map_next(&t->kinds, e))
                        if (((struct tracked_kind *)e->value)->n_notes == 0)
                                vec_push(&idle, e->value);
                for (size_t i = 0; i < idle.n; i++)
                        map_remove(&t->kinds, idle.p[i]->key);
        }
        mutex_unlock(&t->mutex);
        for (size_t i = 0; i < idle.n; i++) {
                hub_unsubscribe(idle.p[i]->subscription);
                free(idle.p[i]);
        }
        vec_done(&idle);
        semaphore_release(&t->subscribing);
}

/* --- Keys --- */

void tracker_forget(struct tracker *t, struct controller *c, struct str key)
{
        struct subject *s;

        mutex_lock(&t->mutex);
        s = tracker_find_subject(t, c, key);
        if (s)
                tracker_free_subject(t, s);
        mutex_unlock(&t->mutex);
}

void tracker_mute(struct tracker *t, struct controller *c)
{
        mutex_lock(&t->mutex);
        tracker_need_controller(t, c)->is_muted = true;
        mutex_unlock(&t->mutex);
}

void tracker_forget_controller(struct tracker *t, struct controller *c)
{
        struct tracked_controller *tc;

        mutex_lock(&t->mutex);
        tc = tracker_find_controller(t, c);
        for (struct map_entry *e; tc && (e = map_first(&tc->subjects));)
                tracker_free_subject(t, e->value);
        if (tc) {
                u64_map_remove(&t->controllers, (uint64_t)(uintptr_t)c);
                map_done(&tc->subjects);
                tracker_end_watches(t, tc);
                free(tc);
        }
        mutex_unlock(&t->mutex);
}

void tracker_notice(struct tracker *t, struct controller *c, struct str key, const struct hub_event *e)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct subject *s;
        struct note *n = NULL;
        struct arena scratch;

        arena_init(&scratch, "event", 0);
        mutex_lock(&t->mutex);
        s = tracker_find_subject(t, c, key);
        if (s)
                n = map_get(&s->notes,
                            tracker_object_note_key(&b, gvk_text(&scratch, e->key.gvk), e->key.ns, e->key.name));
        if (s && e->type == WATCH_DELETED)
                breaker_reset(&s->breaker);
        /* The end of an object that no run has seen, or whose end a run has seen, is no news. */
        if (!s && e->type != WATCH_DELETED)
                controller_enqueue(c, key);
        else if (s && (!n || is_news(n, e)))
                run_subject(t, s, n, e);
        mutex_unlock(&t->mutex);
        arena_done(&scratch);
}

struct tracker_stats tracker_stats(struct tracker *t)
{
        struct tracker_stats stats;

        mutex_lock(&t->mutex);
        stats = t->stats;
        mutex_unlock(&t->mutex);
        return stats;
}

/* --- Life --- */

static void open_meters(struct tracker *t, struct meters *meters)
{
        static const struct meter_options opens = { "circuit_breaker_opens_total",
                                                    "Number of times the XR circuit breaker transitioned from closed "
                                                    "to open.",
                                                    METER_COUNTER,
                                                    { "controller" } };
        static const struct meter_options closes = { "circuit_breaker_closes_total",
                                                     "Number of times the XR circuit breaker transitioned from open to "
                                                     "closed.",
                                                     METER_COUNTER,
                                                     { "controller" } };
        static const struct meter_options events = { "circuit_breaker_events_total",
                                                     "Number of events handled by the circuit breaker",
                                                     METER_COUNTER,
                                                     { "controller", "result" } };

        t->opens = meters_get(meters, &opens);
        t->closes = meters_get(meters, &closes);
        t->events = meters_get(meters, &events);
        tracker_open_watch_meters(t, meters);
}

int tracker_new(struct cluster *cluster, struct hub *hub, struct meters *meters, struct tracker **ret, struct err *err)
{
        static const struct gvk crds = { STR_INIT("apiextensions.k8s.io"), STR_INIT("v1"),
                                         STR_INIT("CustomResourceDefinition") };
        struct tracker *t = xcalloc(1, sizeof(*t));
        struct hub_subscriber subscriber = { .on_event = on_crd, .arg = t };
        int r;

        t->cluster = cluster;
        t->hub = hub;
        open_meters(t, meters);
        t->swept_ns = clock_mono_ns();
        semaphore_init(&t->subscribing, "tracker", 1);
        mutex_init(&t->mutex);
        r = hub_subscribe(hub, crds, true, &subscriber, &t->crds, err);
        if (r < 0)
                tracker_free(t);
        else
                *ret = t;
        return r;
}

void tracker_free(struct tracker *t)
{
        if (!t)
                return;
        hub_unsubscribe(t->crds);
        for (struct map_entry *e; (e = map_first(&t->controllers.map));)
                tracker_forget_controller(t, (struct controller *)(uintptr_t)u64_map_key(e));
        for (struct map_entry *e; (e = map_first(&t->kinds));) {
                struct tracked_kind *k = e->value;

                map_remove(&t->kinds, k->key);
                hub_unsubscribe(k->subscription);
                free(k);
        }
        for (struct map_entry *e = map_first(&t->crd_states); e; e = map_next(&t->crd_states, e))
                free(e->value);
        map_done(&t->crd_states);
        map_done(&t->kinds);
        map_done(&t->places);
        u64_map_done(&t->controllers);
        mutex_done(&t->mutex);
        semaphore_done(&t->subscribing);
        free(t);
}
