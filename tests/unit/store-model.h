/* Writers and watchers that check each other, for simulation and stress tests. Writers increment counters by read and write, create
 * and delete objects, and create owners with dependents. A watcher keeps a mirror and fails on an event that cannot follow from
 * it. */
#pragma once

#include "store-test.h"

#include "map.h"
#include "random.h"
#include "sim.h"

#define MODEL_COUNTERS 3
#define MODEL_NAMES    6

/* In a simulation a failed check must end the simulation, not the test's own thread. */
#define CHECK(condition)                                              \
        do {                                                          \
                if (!(condition))                                     \
                        check_failed(__FILE__, __LINE__, #condition); \
        } while (0)

_Noreturn static inline void check_failed(const char *file, int line, const char *condition)
{
        if (sim_is_running())
                sim_fail("%s:%d: %s is false", file, line, condition);
        fprintf(stderr, "%s:%d: %s is false\n", file, line, condition);
        abort();
}

struct model {
        struct store *store;
        struct cluster *cluster;
        _Atomic uint64_t increments[MODEL_COUNTERS]; /* successful ones */
        _Atomic uint64_t n_operations;
        uint64_t wanted_operations; /* by each writer */
};

struct writer {
        struct model *model;
        struct random random;
        struct thread *thread;
};

struct mirror {
        struct model *model;
        struct thread *thread;
        struct map objects; /* name -> struct seen */
        uint64_t last_version;
        uint64_t n_events;
        bool is_selective; /* watches only objects with the label `on` */
        bool is_woken;     /* asks for events only after a wakeup */
        struct semaphore wakeups;
};

struct seen {
        char name[32];
        uint64_t version;
        int64_t counter;
};

static inline struct object_key model_key(const char *name)
{
        return key_of(widget_gvk(), "default", name);
}

static inline const struct value *model_json(struct arena *a, const char *text)
{
        const struct value *v = NULL;

        CHECK(json_parse(a, arena_copy(a, str_from(text)), NULL, &v, NULL) == 0);
        return v;
}

static inline int model_write(struct model *m, struct run *run, enum write_verb verb, const char *name,
                              const struct value *body, enum propagation propagation)
{
        struct write_request req = { .verb = verb, .key = model_key(name), .body = body, .propagation = propagation };
        struct write_result result;

        return cluster_write(m->cluster, run, &req, &result, NULL);
}

static inline const struct value *model_widget(struct arena *a, const char *name, const char *more)
{
        char text[512];

        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
                 "\"default\"%s},\"spec\":{\"n\":0}}",
                 name, more);
        return model_json(a, text);
}

static inline void model_init(struct model *m, const struct store_options *options, uint64_t wanted_operations)
{
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        *m = (struct model) { .wanted_operations = wanted_operations };
        CHECK(store_new(options, &m->store, NULL) == 0);
        m->cluster = store_cluster(m->store);
        arena_init(&a, "model", 0);
        for (int i = 0; i < MODEL_COUNTERS; i++) {
                char name[16];

                snprintf(name, sizeof(name), "counter-%d", i);
                CHECK(model_write(m, &run, WRITE_CREATE, name, model_widget(&a, name, ",\"labels\":{\"on\":\"\"}"),
                                  PROPAGATE_UNSET) == 0);
        }
        arena_done(&a);
}

/* --- Writers --- */

/* Reads a counter and writes it back incremented; the write fails if another writer was faster. */
static inline void model_increment(struct writer *w, struct run *run)
{
        size_t i = random_below(&w->random, MODEL_COUNTERS);
        struct object_key key;
        const struct value *v, *spec;
        char name[16];

        snprintf(name, sizeof(name), "counter-%zu", i);
        key = model_key(name);
        CHECK(cluster_get_value(w->model->cluster, run, &key, &v, NULL) == 0);
        spec = value_get(v, STR("spec"));
        spec = value_with(run->arena, spec, STR("n"),
                          value_put(run->arena, value_of_int(value_int(value_get(spec, STR("n")), -1) + 1)));
        v = value_with(run->arena, v, STR("spec"), spec);
        if (model_write(w->model, run, WRITE_UPDATE, name, v, PROPAGATE_UNSET) == 0)
                w->model->increments[i]++;
}

static inline void model_name(struct writer *w, char name[16])
{
        snprintf(name, 16, "w%u", (unsigned)random_below(&w->random, MODEL_NAMES));
}

static inline void model_create(struct writer *w, struct run *run, bool is_owned)
{
        char name[16], owner[16], more[256] = "";
        const struct value *v = NULL;
        struct object_key key;
        int r;

        model_name(w, name);
        model_name(w, owner);
        if (is_owned) {
                key = model_key(owner);
                if (cluster_get_value(w->model->cluster, run, &key, &v, NULL) == 0)
                        snprintf(more, sizeof(more),
                                 ",\"ownerReferences\":[{\"apiVersion\":\"example.org/"
                                 "v1\",\"kind\":\"Widget\",\"name\":\"%s\","
                                 "\"uid\":\"%.*s\",\"blockOwnerDeletion\":true}]",
                                 owner, STR_ARG(meta_uid(v)));
        } else if (random_below(&w->random, 2)) {
                snprintf(more, sizeof(more), ",\"labels\":{\"on\":\"\"}");
        }
        r = model_write(w->model, run, WRITE_CREATE, name, model_widget(run->arena, name, more), PROPAGATE_UNSET);
        CHECK(r == 0 || r == ERR_EXISTS);
}

static inline void model_patch(struct writer *w, struct run *run)
{
        static const char *const patches[] = {
                "{\"metadata\":{\"labels\":{\"on\":\"\"}}}",
                "{\"metadata\":{\"labels\":null}}",
                "{\"spec\":{\"x\":true}}",
                "{\"spec\":{\"x\":null}}",
                "{\"metadata\":{\"ownerReferences\":null}}",
        };
        char name[16];
        int r;

        model_name(w, name);
        r = model_write(w->model, run, WRITE_MERGE_PATCH, name,
                        model_json(run->arena, patches[random_below(&w->random, ARRAY_SIZE(patches))]),
                        PROPAGATE_UNSET);
        CHECK(r == 0 || r == ERR_NOT_FOUND || r == ERR_CONFLICT);
}

static inline void model_delete(struct writer *w, struct run *run)
{
        static const enum propagation how[] = { PROPAGATE_UNSET, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND,
                                                PROPAGATE_ORPHAN };
        char name[16];
        int r;

        model_name(w, name);
        r = model_write(w->model, run, WRITE_DELETE, name, NULL, how[random_below(&w->random, ARRAY_SIZE(how))]);
        CHECK(r == 0 || r == ERR_NOT_FOUND || r == ERR_CONFLICT);
}

/* A list must be a consistent snapshot: in order, and with no object newer than the version of the list. */
static inline void model_list(struct writer *w, struct run *run)
{
        struct list_request req = { .gvk = widget_gvk() };
        struct object_list l;

        if (random_below(&w->random, 2))
                req.limit = 3;
        do {
                uint64_t version;
                int r;

                l = (struct object_list) { 0 };
                r = cluster_list(w->model->cluster, run, &req, &l, NULL);
                while (r == ERR_EXPIRED) { /* the error comes with a token to continue at the current state */
                        CHECK(l.continue_token.n > 0);
                        req.continue_token = l.continue_token;
                        r = cluster_list(w->model->cluster, run, &req, &l, NULL);
                }
                CHECK(r == 0);
                version = strtoull(arena_cstring(run->arena, l.resource_version), NULL, 10);
                for (size_t i = 0; i < l.n; i++) {
                        CHECK(object_version(l.objects[i]) <= version);
                        CHECK(i == 0 || str_compare(meta_name(object_list_value(&l, i - 1, run->arena)),
                                                    meta_name(object_list_value(&l, i, run->arena))) < 0);
                }
                req.continue_token = l.continue_token;
        } while (l.continue_token.n);
}

static inline void model_write_some(void *arg)
{
        struct writer *w = arg;

        for (uint64_t i = 0; i < w->model->wanted_operations; i++) {
                struct arena a;
                struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

                arena_init(&a, "writer", 0);
                switch (random_below(&w->random, 8)) {
                case 0:
                case 1:
                        model_create(w, &run, false);
                        break;
                case 2:
                        model_create(w, &run, true);
                        break;
                case 3:
                        model_patch(w, &run);
                        break;
                case 4:
                        model_delete(w, &run);
                        break;
                case 5:
                        model_list(w, &run);
                        break;
                default:
                        model_increment(w, &run);
                        break;
                }
                arena_done(&a);
                w->model->n_operations++;
        }
}

/* --- Watchers --- */

static inline struct seen *mirror_add(struct mirror *m, struct str name)
{
        struct seen *s = xcalloc(1, sizeof(*s));

        CHECK(name.n < sizeof(s->name));
        memcpy(s->name, name.p, name.n);
        CHECK(map_add(&m->objects, str_from(s->name), s));
        return s;
}

static inline void mirror_remove(struct mirror *m, struct str name)
{
        struct seen *s = map_remove(&m->objects, name);

        CHECK(s);
        free(s);
}

/* Applies an event to the mirror. Returns false at the object `x-end`, which is the last one by name, so that lists end with it
 * too. */
static inline bool mirror_take(struct mirror *m, const struct watch_event *e, const struct value *v, bool is_initial)
{
        struct str name = meta_name(v);
        struct seen *s;

        /* Only widgets change, so a watcher of all widgets gets an event for each version. */
        CHECK(is_initial || (m->is_selective ? e->version > m->last_version : e->version == m->last_version + 1));
        CHECK(e->version == object_version(e->object));
        m->last_version = MAX(m->last_version, e->version);
        m->n_events++;
        if (e->type == WATCH_DELETED) {
                mirror_remove(m, name);
                return true;
        }
        s = map_get(&m->objects, name);
        CHECK(e->type == (s ? WATCH_MODIFIED : WATCH_ADDED));
        if (!s)
                s = mirror_add(m, name);
        CHECK(s->version < e->version);
        CHECK(value_int(value_find(v, "spec", "n"), 0) >= s->counter);
        CHECK(!m->is_selective || meta_has_label(v, STR("on")));
        s->version = e->version;
        s->counter = value_int(value_find(v, "spec", "n"), 0);
        return !str_equal(name, STR("x-end"));
}

/* Clears the mirror: a watcher that fell behind lists again, as clients do. */
static inline void mirror_clear(struct mirror *m)
{
        for (const struct map_entry *e = map_first(&m->objects); e; e = map_next(&m->objects, e))
                free(e->value);
        map_clear(&m->objects);
}

static inline void mirror_wake(void *arg)
{
        struct mirror *m = arg;

        semaphore_release(&m->wakeups);
}

/* Like watch_next, but with wakeups only: a lost wakeup is a deadlock. */
static inline int mirror_next(struct mirror *m, struct watch *w, struct run *run, struct watch_event *ret)
{
        struct watch_wakeup wakeup = { .call = mirror_wake, .arg = m };
        int r;

        if (!m->is_woken)
                return watch_next(w, run, ret, NULL);
        for (;;) {
                r = watch_try_next(w, run, wakeup, ret, NULL);
                if (r != 0)
                        return MIN(r, 0);
                CHECK(semaphore_acquire(&m->wakeups, DEADLINE_NONE, NULL) == 0);
        }
}

static inline void mirror_watch(void *arg)
{
        struct mirror *m = arg;
        struct label_requirement on = { .key = STR("on"), .op = SELECT_EXISTS };
        struct label_selector labels = { .requirements = &on, .n = 1 };
        struct watch_request req = {
                .gvk = widget_gvk(),
                .sends_initial_events = true,
                .wants_bookmarks = true,
                .labels = m->is_selective ? &labels : NULL,
        };
        bool goes_on = true, is_initial = true;
        struct watch *w = NULL;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        while (goes_on) {
                struct watch_event e;
                int r = 0;

                arena_init(&a, "watcher", 0);
                if (!w) {
                        mirror_clear(m);
                        is_initial = true;
                        CHECK(cluster_watch(m->model->cluster, &run, &req, &w, NULL) == 0);
                }
                r = mirror_next(m, w, &run, &e);
                if (r == ERR_EXPIRED) {
                        watch_free(w);
                        w = NULL;
                } else {
                        CHECK(r == 0);
                        if (e.type == WATCH_BOOKMARK) {
                                CHECK(e.version >= m->last_version);
                                m->last_version = e.version;
                                is_initial = is_initial && !e.ends_initial;
                        } else {
                                goes_on = mirror_take(m, &e, object_value(e.object, &a), is_initial);
                        }
                }
                arena_done(&a);
        }
        watch_free(w);
}

/* Checks that the mirror equals the store. */
static inline void mirror_check(struct mirror *m)
{
        struct label_requirement on = { .key = STR("on"), .op = SELECT_EXISTS };
        struct label_selector labels = { .requirements = &on, .n = 1 };
        struct list_request req = { .gvk = widget_gvk(), .labels = m->is_selective ? &labels : NULL };
        struct object_list l;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        arena_init(&a, "check", 0);
        CHECK(cluster_list(m->model->cluster, &run, &req, &l, NULL) == 0);
        CHECK(l.n == m->objects.n);
        for (size_t i = 0; i < l.n; i++) {
                const struct seen *s = map_get(&m->objects, meta_name(object_list_value(&l, i, &a)));

                CHECK(s && s->version == object_version(l.objects[i]));
        }
        arena_done(&a);
}

/* --- The whole run --- */

static inline void model_check_counters(struct model *m, struct run *run)
{
        for (int i = 0; i < MODEL_COUNTERS; i++) {
                const struct value *v;
                struct object_key key;
                char name[16];

                snprintf(name, sizeof(name), "counter-%d", i);
                key = model_key(name);
                CHECK(cluster_get_value(m->cluster, run, &key, &v, NULL) == 0);
                CHECK((uint64_t)value_int(value_find(v, "spec", "n"), -1) == m->increments[i]);
        }
}

/* Checks that no object names a deleted owner, and that no object is still being deleted, waiting for dependents that do not
 * exist. */
static inline void model_check_collected(struct model *m, struct run *run)
{
        struct list_request req = { .gvk = widget_gvk() };
        struct object_list l;

        CHECK(cluster_list(m->cluster, run, &req, &l, NULL) == 0);
        for (size_t i = 0; i < l.n; i++) {
                const struct value *owner =
                        value_item(value_find(object_list_value(&l, i, run->arena), "metadata", "ownerReferences"), 0);
                bool is_found = !owner;

                CHECK(!meta_is_deleting(object_list_value(&l, i, run->arena)));
                for (size_t j = 0; j < l.n && !is_found; j++)
                        is_found = str_equal(meta_uid(object_list_value(&l, j, run->arena)),
                                             value_str(value_get(owner, STR("uid"))));
                CHECK(is_found);
        }
}

static inline void model_run(struct model *m, struct writer *writers, size_t n_writers, struct mirror *mirrors,
                             size_t n_mirrors, uint64_t seed)
{
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        for (size_t i = 0; i < n_mirrors; i++) {
                mirrors[i] = (struct mirror) { .model = m, .is_selective = i % 2, .is_woken = i / 2 % 2 };
                semaphore_init(&mirrors[i].wakeups, "wakeups", 0);
                CHECK(thread_start("mirror", mirror_watch, &mirrors[i], &mirrors[i].thread, NULL) == 0);
        }
        for (size_t i = 0; i < n_writers; i++) {
                writers[i] = (struct writer) { .model = m };
                random_seed(&writers[i].random, seed * 100 + i);
                CHECK(thread_start("writer", model_write_some, &writers[i], &writers[i].thread, NULL) == 0);
        }
        for (size_t i = 0; i < n_writers; i++)
                thread_join(writers[i].thread);
        arena_init(&a, "model", 0);
        CHECK(store_settle(m->store, &run, NULL) == 0);
        model_check_counters(m, &run);
        model_check_collected(m, &run);
        CHECK(model_write(m, &run, WRITE_CREATE, "x-end", model_widget(&a, "x-end", ",\"labels\":{\"on\":\"\"}"),
                          PROPAGATE_UNSET) == 0);
        arena_done(&a);
        for (size_t i = 0; i < n_mirrors; i++) {
                thread_join(mirrors[i].thread);
                mirror_check(&mirrors[i]);
                mirror_clear(&mirrors[i]);
                map_done(&mirrors[i].objects);
                semaphore_done(&mirrors[i].wakeups);
        }
        store_free(m->store);
}
