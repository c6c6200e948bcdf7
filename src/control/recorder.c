#include "recorder.h"

#include "buf.h"
#include "clock.h"
#include "event.h"
#include "log.h"
#include "map.h"
#include "timetext.h"

#define WRITE_EVERY_NS (300 * NS_PER_SECOND)
#define MAX_REMEMBERED 20000

/* An event that was recorded. Equal messages about one object share one entry. */
struct remembered {
        struct str key;
        int64_t written_ns;
        uint64_t count;
        uint64_t written_count;
        struct str ns, name; /* of the Event */
        char text[];
};

struct recorder {
        struct cluster *cluster;
        struct mutex mutex;
        struct map remembered; /* the oldest first */
};

struct recorder *recorder_new(struct cluster *cluster)
{
        struct recorder *r = xcalloc(1, sizeof(*r));

        r->cluster = cluster;
        mutex_init(&r->mutex);
        return r;
}

void recorder_free(struct recorder *r)
{
        if (!r)
                return;
        for (struct map_entry *e = map_first(&r->remembered); e; e = map_next(&r->remembered, e))
                free(e->value);
        map_done(&r->remembered);
        mutex_done(&r->mutex);
        free(r);
}

static struct str event_key(struct arena *a, const struct value *regarding, const struct recorder_source *source,
                            bool is_warning, struct str reason, struct str message)
{
        return arena_printf(a, "%.*s\n%.*s\n%d\n%.*s\n%.*s", STR_ARG(meta_uid(regarding)), STR_ARG(source->component),
                            is_warning, STR_ARG(reason), STR_ARG(message));
}

static void remember(struct recorder *r, struct str key, const struct value *event)
{
        struct str ns = meta_namespace(event), name = meta_name(event);
        struct remembered *m = xmalloc(sizeof(*m) + key.n + ns.n + name.n);

        memcpy(m->text, key.p, key.n);
        memcpy(m->text + key.n, ns.p, ns.n);
        memcpy(m->text + key.n + ns.n, name.p, name.n);
        m->key = str_make(m->text, key.n);
        m->ns = str_make(m->text + key.n, ns.n);
        m->name = str_make(m->text + key.n + ns.n, name.n);
        m->written_ns = clock_mono_ns();
        m->count = m->written_count = 1;
        free(map_remove(&r->remembered, key));
        map_add(&r->remembered, m->key, m);
        while (r->remembered.n > MAX_REMEMBERED)
                free(map_remove(&r->remembered, map_first(&r->remembered)->key));
}

/* Counts a repeated event. True if it was recorded before; *ret_count is not 0 if it should be written again. */
static bool count_again(struct recorder *r, struct str key, struct arena *a, struct object_key *ret_event,
                        uint64_t *ret_count)
{
        struct remembered *m;
        int64_t now_ns = clock_mono_ns();

        *ret_count = 0;
        mutex_lock(&r->mutex);
        m = map_get(&r->remembered, key);
        if (m) {
                m->count++;
                if (now_ns - m->written_ns >= WRITE_EVERY_NS) {
                        *ret_event = (struct object_key) { .gvk = { STR(""), STR("v1"), STR("Event") },
                                                           .ns = arena_copy(a, m->ns),
                                                           .name = arena_copy(a, m->name) };
                        *ret_count = m->count;
                        m->written_ns = now_ns;
                        m->written_count = m->count;
                }
        }
        mutex_unlock(&r->mutex);
        return m != NULL;
}

static void forget(struct recorder *r, struct str key)
{
        mutex_lock(&r->mutex);
        free(map_remove(&r->remembered, key));
        mutex_unlock(&r->mutex);
}

static int write_count(struct recorder *r, struct run *run, const struct object_key *event, uint64_t count,
                       struct err *err)
{
        _cleanup_buf_ struct buf now = BUF_INIT(0);
        struct object_builder b;
        struct value patch;
        struct write_result result;
        struct write_request req = { .verb = WRITE_MERGE_PATCH, .key = *event, .manager = STR("crossplane") };

        object_builder_init(&b, run->arena, 2);
        object_builder_add(&b, STR("count"), value_of_int((int64_t)count));
        time_append_rfc3339(&now, clock_wall(), 0);
        object_builder_add(&b, STR("lastTimestamp"), value_of_str(buf_to_arena(&now, run->arena)));
        patch = object_builder_finish(&b);
        req.body = &patch;
        return cluster_write(r->cluster, run, &req, &result, err);
}

static int write_event(struct recorder *r, struct run *run, const struct value *event, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_CREATE, .key = object_key_of(event), .body = event, .manager = STR("crossplane")
        };
        struct write_result result;

        return cluster_write(r->cluster, run, &req, &result, err);
}

/* Writes the event for the first time, and remembers it. */
static int record(struct recorder *r, struct run *run, struct str key, const struct value *event, struct err *err)
{
        int e = write_event(r, run, event, err);

        if (e == 0) {
                mutex_lock(&r->mutex);
                remember(r, key, event);
                mutex_unlock(&r->mutex);
        }
        return e;
}

/* 0 if the event was recorded before and nothing is left to do; ERR_NOT_FOUND if it must be recorded. */
static int record_again(struct recorder *r, struct run *run, struct str key, struct err *err)
{
        struct object_key existing;
        uint64_t count;
        int e;

        if (!count_again(r, key, run->arena, &existing, &count))
                return ERR_NOT_FOUND;
        e = count ? write_count(r, run, &existing, count, err) : 0;
        if (e == ERR_NOT_FOUND)
                forget(r, key); /* its Event was deleted: it is recorded anew */
        return e;
}

static void add(struct recorder *r, struct run *run, const struct value *regarding,
                const struct recorder_source *source, bool is_warning, struct str reason, struct str message)
{
        struct str key = event_key(run->arena, regarding, source, is_warning, reason, message);
        _cleanup_err_ struct err err = { 0 };
        int e = record_again(r, run, key, &err);

        if (e == ERR_NOT_FOUND) {
                const struct value *event =
                        value_put(run->arena,
                                  event_make(run->arena, regarding, is_warning ? EVENT_WARNING : EVENT_NORMAL, reason,
                                             message, source->component, clock_wall()));

                if (source->controller.n)
                        event = meta_with_annotation(run->arena, event, STR("controller"), source->controller);
                e = record(r, run, key, event, &err);
        }
        if (e < 0)
                log_debug("cannot record an event", LOG_STR("reason", reason), LOG_STR("about", meta_name(regarding)),
                          LOG_ERR("error", &err));
}

/* The run goes on after its events, so what a write of them needs is not left in its arena. */
void recorder_add(struct recorder *r, struct run *run, const struct value *regarding,
                  const struct recorder_source *source, bool is_warning, struct str reason, struct str message)
{
        _cleanup_arena_ struct arena scratch;
        struct run own = *run;

        arena_init(&scratch, "event", 0);
        own.arena = &scratch;
        own.warnings = NULL;
        add(r, &own, regarding, source, is_warning, reason, message);
}
