/* Controllers of composites and of claims, which come and go with their definitions. */
#include "started.h"

#include "xrd.h"

void started_free(struct started *s)
{
        if (!s)
                return;
        kind_controller_stop(s->controller);
        arena_done(&s->arena);
        free(s);
}

/* The context of a controller for this definition. */
static struct started *new_started(struct plane *p, struct str name, const struct value *xrd)
{
        struct started *s = xcalloc(1, sizeof(*s));

        s->plane = p;
        arena_init(&s->arena, "definition", 0);
        s->name = arena_copy(&s->arena, name);
        s->xrd = value_copy(&s->arena, xrd);
        s->type = (struct composite_type) {
                .gvk = xrd_composite_gvk(s->xrd),
                .places = xrd_places(s->xrd),
                .xrd = s->xrd,
                .controller = s->name,
        };
        return s;
}

static bool is_current(const struct started *s, const struct value *xrd)
{
        return s && str_equal(meta_uid(s->xrd), meta_uid(xrd)) && meta_generation(s->xrd) == meta_generation(xrd);
}

void plane_stop_started(struct plane *p, struct str name)
{
        struct started *s;

        mutex_lock(&p->mutex);
        s = map_remove(&p->started, name);
        mutex_unlock(&p->mutex);
        if (s)
                meter_add(p->stopped_controllers, 1, &s->name);
        started_free(s);
}

bool plane_has_started(struct plane *p, struct str name)
{
        bool has;

        mutex_lock(&p->mutex);
        has = map_has(&p->started, name);
        mutex_unlock(&p->mutex);
        return has;
}

int started_start(struct plane *p, const struct value *xrd, const struct started_options *options, struct err *err)
{
        struct str name = arena_printf(options->scratch, "%s/%.*s", options->prefix, STR_ARG(meta_name(xrd)));
        struct kind_controller_options controller = {
                .name = name,
                .gvk = options->gvk,
                .reconcile = options->reconcile,
                .knows_writes = options->knows_writes,
                .watch_type = options->watch_type,
                .timeout_ms = options->timeout_ms,
                .backoff_most_ms = options->backoff_most_ms,
        };
        struct started *s;
        bool is_running;
        int r;

        mutex_lock(&p->mutex);
        is_running = is_current(map_get(&p->started, name), xrd);
        mutex_unlock(&p->mutex);
        if (is_running)
                return 0;
        plane_stop_started(p, name);
        s = new_started(p, name, xrd);
        controller.context = s;
        r = kind_controller_start(p->options.manager, &controller, &s->controller, err);
        if (r < 0) {
                started_free(s);
                return r;
        }
        mutex_lock(&p->mutex);
        map_add(&p->started, s->name, s);
        mutex_unlock(&p->mutex);
        meter_add(p->started_controllers, 1, &name);
        return 0;
}
