#include "requirements-memory.h"

#include "buf.h"
#include "bytes.h"
#include "limits.h"
#include "lru.h"
#include "park.h"

struct step_memory {
        struct step_memory *next;
        struct bytes *asked; /* an encoded RunFunctionResponse with only requirements: much smaller than structs */
        struct str step;     /* the first part of key */
        struct str key;      /* step, function and revision, with NUL between them; heap */
};

struct composite_memory {
        struct lru_item lru; /* its name is the uid */
        struct step_memory *steps;
};

struct requirements_memory {
        struct mutex mutex;
        struct lru composites;
};

struct requirements_memory *requirements_memory_new(size_t max_bytes, size_t max_composites)
{
        struct requirements_memory *m = xcalloc(1, sizeof(*m));

        mutex_init(&m->mutex);
        m->composites.max_bytes = max_bytes ? max_bytes : LIMIT_REMEMBERED_BYTES;
        m->composites.max_entries = max_composites ? max_composites : LIMIT_REMEMBERED_COMPOSITES;
        return m;
}

static void step_free(struct step_memory *s)
{
        bytes_unref(s->asked);
        free((char *)s->key.p);
        free(s);
}

static void composite_free(struct composite_memory *c)
{
        struct step_memory *next;

        for (struct step_memory *s = c->steps; s; s = next) {
                next = s->next;
                step_free(s);
        }
        free((char *)c->lru.name.p);
        free(c);
}

static struct composite_memory *composite_of(struct lru_item *i)
{
        return i ? CONTAINER_OF(i, struct composite_memory, lru) : NULL;
}

void requirements_memory_free(struct requirements_memory *m)
{
        struct lru_item *older;

        if (!m)
                return;
        for (struct lru_item *i = m->composites.newest; i; i = older) {
                older = i->older;
                composite_free(composite_of(i));
        }
        lru_done(&m->composites);
        mutex_done(&m->mutex);
        free(m);
}

static struct str key_of(const struct remembered_step *step)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t n;

        buf_append_str(&b, step->step);
        buf_append_char(&b, '\0');
        buf_append_str(&b, step->function);
        buf_append_char(&b, '\0');
        buf_append_str(&b, step->revision);
        n = b.n;
        return str_make(buf_take(&b), n);
}

/* NULL when the step has no requirements that could be fetched in advance. */
static struct step_memory *step_new(const struct remembered_step *step, const struct fn_requirements *asked)
{
        struct fn_response rsp = { .ttl_ns = FN_TTL_ABSENT, .requirements = *asked };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct step_memory *s;

        rsp.requirements.n_schemas = 0;
        rsp.requirements.n_watches = 0;
        if (asked->n_resources + asked->n_extra_resources == 0 || fn_response_encode(NULL, &rsp, &b, NULL) < 0)
                return NULL;
        s = xcalloc(1, sizeof(*s));
        s->asked = bytes_take(&b);
        s->key = key_of(step);
        s->step = str_first(s->key, step->step.n);
        return s;
}

static size_t step_size_bytes(const struct step_memory *s)
{
        return sizeof(*s) + s->key.n + sizeof(*s->asked) + s->asked->str.n;
}

/* --- The memory --- */

/* Removes the step from the composite's list and returns it. The mutex is held. */
static struct step_memory *take_step(struct composite_memory *c, struct str name)
{
        for (struct step_memory **p = &c->steps; *p; p = &(*p)->next) {
                struct step_memory *s = *p;

                if (!str_equal(s->step, name))
                        continue;
                *p = s->next;
                return s;
        }
        return NULL;
}

static struct composite_memory *take_composite(struct requirements_memory *m, struct str uid)
{
        struct composite_memory *c = composite_of(lru_get(&m->composites, uid));

        if (c)
                lru_remove(&m->composites, &c->lru);
        return c;
}

static struct composite_memory *composite_new(struct str uid)
{
        struct composite_memory *c = xcalloc(1, sizeof(*c));

        c->lru.name = str_make(str_to_cstring(uid), uid.n);
        c->lru.size_bytes = sizeof(*c) + uid.n;
        return c;
}

/* Puts the composite back with its new size, or frees it when no step is left. The mutex is held. */
static void put_composite(struct requirements_memory *m, struct composite_memory *c)
{
        struct lru_item *excess;

        if (!c->steps) {
                composite_free(c);
                return;
        }
        lru_put(&m->composites, &c->lru);
        while ((excess = lru_take_excess(&m->composites)))
                composite_free(composite_of(excess));
}

void requirements_memory_set(struct requirements_memory *m, const struct remembered_step *step,
                             const struct fn_requirements *asked)
{
        struct step_memory *s = step_new(step, asked), *old;
        struct composite_memory *c;

        mutex_lock(&m->mutex);
        c = take_composite(m, step->uid);
        if (!c && s)
                c = composite_new(step->uid);
        old = c ? take_step(c, step->step) : NULL;
        if (old)
                c->lru.size_bytes -= step_size_bytes(old);
        if (s) {
                s->next = c->steps;
                c->steps = s;
                c->lru.size_bytes += step_size_bytes(s);
        }
        if (c)
                put_composite(m, c);
        mutex_unlock(&m->mutex);
        if (old)
                step_free(old);
}

static struct bytes *find(struct requirements_memory *m, struct str uid, struct str key)
{
        const struct composite_memory *c;
        struct bytes *asked = NULL;

        mutex_lock(&m->mutex);
        c = composite_of(lru_get(&m->composites, uid));
        for (const struct step_memory *s = c ? c->steps : NULL; s && !asked; s = s->next)
                if (str_equal(s->key, key))
                        asked = bytes_ref(s->asked);
        mutex_unlock(&m->mutex);
        return asked;
}

/* Merges both lists, which are sorted by name. */
static size_t merge(struct arena *a, const struct fn_requirements *asked, const struct fn_selector **ret)
{
        const struct fn_selector *p = asked->resources, *q = asked->extra_resources;
        size_t i = 0, j = 0, n = 0;
        struct fn_selector *all =
                ARENA_NEW_ARRAY(a, struct fn_selector, asked->n_resources + asked->n_extra_resources + 1);

        while (i < asked->n_resources || j < asked->n_extra_resources) {
                int order = i == asked->n_resources         ? 1
                            : j == asked->n_extra_resources ? -1
                                                            : str_compare(p[i].name, q[j].name);

                all[n++] = order <= 0 ? p[i] : q[j];
                i += order <= 0;
                j += order >= 0;
        }
        *ret = all;
        return n;
}

size_t requirements_memory_get(struct requirements_memory *m, struct arena *a, const struct remembered_step *step,
                               const struct fn_selector **ret)
{
        struct str key = key_of(step);
        struct bytes *asked = find(m, step->uid, key);
        struct fn_response rsp;

        free((char *)key.p);
        if (!asked)
                return 0;
        arena_pin(a, asked, bytes_unpin);
        if (fn_response_decode(a, asked->str, &rsp, NULL) < 0)
                return 0;
        return merge(a, &rsp.requirements, ret);
}

void requirements_memory_forget(struct requirements_memory *m, struct str uid)
{
        struct composite_memory *c;

        mutex_lock(&m->mutex);
        c = take_composite(m, uid);
        mutex_unlock(&m->mutex);
        if (c)
                composite_free(c);
}

struct requirements_memory_size requirements_memory_size(struct requirements_memory *m)
{
        struct requirements_memory_size size;

        mutex_lock(&m->mutex);
        size.n_composites = m->composites.map.n;
        size.size_bytes = m->composites.size_bytes;
        mutex_unlock(&m->mutex);
        return size;
}
