#include "slots.h"

#include "map.h"

/* A key that waits. Its identity is the controller's address and the key. */
struct waiting {
        struct controller *controller;
        struct str identity;
        struct str key;
        char text[];
};

struct line {
        unsigned n_used;
        struct map waiting; /* by identity; the first one has waited longest */
        struct str name;
        char text[];
};

struct slots {
        unsigned per_name;
        struct mutex mutex;
        struct map lines; /* by name; a line without calls and keys is removed */
};

struct slots *slots_new(unsigned per_name)
{
        struct slots *s = xcalloc(1, sizeof(*s));

        s->per_name = per_name;
        mutex_init(&s->mutex);
        return s;
}

static void free_line(struct line *l)
{
        for (struct map_entry *e = map_first(&l->waiting); e; e = map_next(&l->waiting, e))
                free(e->value);
        map_done(&l->waiting);
        free(l);
}

void slots_free(struct slots *s)
{
        if (!s)
                return;
        for (struct map_entry *e = map_first(&s->lines); e; e = map_next(&s->lines, e))
                free_line(e->value);
        map_done(&s->lines);
        mutex_done(&s->mutex);
        free(s);
}

static struct line *need_line(struct slots *s, struct str name)
{
        struct line *l = map_get(&s->lines, name);

        if (l)
                return l;
        l = xcalloc(1, sizeof(*l) + name.n);
        memcpy(l->text, name.p, name.n);
        l->name = str_make(l->text, name.n);
        map_add(&s->lines, l->name, l);
        return l;
}

static void join_line(struct line *l, struct controller *c, struct str key)
{
        struct waiting *w = xcalloc(1, sizeof(*w) + sizeof(c) + key.n);

        memcpy(w->text, &c, sizeof(c));
        memcpy(w->text + sizeof(c), key.p, key.n);
        w->controller = c;
        w->identity = str_make(w->text, sizeof(c) + key.n);
        w->key = str_make(w->text + sizeof(c), key.n);
        if (!map_add(&l->waiting, w->identity, w))
                free(w);
}

bool slots_enter(struct slots *s, struct str name, struct controller *c, struct str key)
{
        struct line *l;
        bool is_free;

        mutex_lock(&s->mutex);
        l = need_line(s, name);
        is_free = l->n_used < s->per_name;
        if (is_free)
                l->n_used++;
        else
                join_line(l, c, key);
        mutex_unlock(&s->mutex);
        return is_free;
}

void slots_leave(struct slots *s, struct str name)
{
        struct map_entry *next;
        struct line *l;

        mutex_lock(&s->mutex);
        l = map_get(&s->lines, name);
        l->n_used--;
        next = map_first(&l->waiting);
        if (next) {
                struct waiting *w = map_remove(&l->waiting, next->key);

                controller_enqueue(w->controller, w->key);
                free(w);
        } else if (l->n_used == 0) {
                map_remove(&s->lines, name);
                free_line(l);
        }
        mutex_unlock(&s->mutex);
}

void slots_forget(struct slots *s, const struct controller *c)
{
        mutex_lock(&s->mutex);
        for (struct map_entry *e = map_first(&s->lines); e; e = map_next(&s->lines, e)) {
                struct line *l = e->value;

                for (struct map_entry *m = map_first(&l->waiting); m; m = map_next(&l->waiting, m)) {
                        struct waiting *w = m->value;

                        if (w->controller == c)
                                free(map_remove(&l->waiting, w->identity));
                }
        }
        mutex_unlock(&s->mutex);
}
