/* The history: the last commits, as many as the options say, in a ring by version. It is what watches are fed from and what older
 * states are read from: each event knows the object before it, and the events of one name are linked. So a read at an older
 * version costs what that name has changed since, and nothing is copied for it. */
#include "store-state.h"

struct event *history_at(const struct store *s, uint64_t version)
{
        const struct history *h = &s->history;

        if (h->n == 0 || version > s->version || s->version - version >= h->n)
                return NULL;
        return h->ring[(h->first + h->n - 1 - (s->version - version)) & (h->n_ring - 1)];
}

static void grow(struct history *h)
{
        size_t n_ring = h->n_ring ? 2 * h->n_ring : 64;
        struct event **ring = xmalloc(n_ring * sizeof(struct event *));

        for (size_t i = 0; i < h->n; i++)
                ring[i] = h->ring[(h->first + i) & (h->n_ring - 1)];
        free(h->ring);
        h->ring = ring;
        h->n_ring = n_ring;
        h->first = 0;
}

/* The oldest event goes. An entry that only it spoke of goes with it. */
static void drop_oldest(struct store *s, struct event **gone)
{
        struct history *h = &s->history;
        struct event *e = h->ring[h->first];
        struct entry *entry = e->entry;
        struct table *t = entry->table;

        h->first = (h->first + 1) & (h->n_ring - 1);
        h->n--;
        h->n_bytes -= e->size_bytes;
        t->first = e->next;
        if (!t->first)
                t->last = NULL;
        t->dropped_version = e->version;
        if (e->newer)
                e->newer->older = NULL;
        if (entry->newest == e) {
                entry->newest = NULL;
                if (!entry->object) {
                        tree_remove(&t->objects, (struct tree_item) { .entry = entry });
                        free(entry);
                }
        }
        e->next = *gone;
        *gone = e;
}

static bool is_needed(const struct store *s, const struct event *e)
{
        for (const struct snapshot *snapshot = s->snapshots; snapshot; snapshot = snapshot->next)
                if (snapshot->version < e->version)
                        return true;
        return false;
}

static void trim(struct store *s, struct event **gone)
{
        struct history *h = &s->history;

        while (h->n > 0 && (h->n > s->options.history_events || h->n_bytes > s->options.history_bytes) &&
               !is_needed(s, h->ring[h->first]))
                drop_oldest(s, gone);
}

void history_append(struct store *s, struct event *e, struct event **gone)
{
        struct history *h = &s->history;
        struct table *t = e->entry->table;

        if (h->n == h->n_ring)
                grow(h);
        h->ring[(h->first + h->n++) & (h->n_ring - 1)] = e;
        e->size_bytes = sizeof(*e) + (e->before ? object_size_bytes(e->before) : 0) +
                        (e->is_removed ? object_size_bytes(e->after) : 0);
        h->n_bytes += e->size_bytes;
        t->event_bytes += sizeof(*e) + object_size_bytes(e->after);
        e->end_bytes = t->event_bytes;
        e->next = NULL;
        *(t->last ? &t->last->next : &t->first) = e;
        t->last = e;
        e->older = e->entry->newest;
        if (e->older)
                e->older->newer = e;
        e->newer = NULL;
        e->entry->newest = e;
        trim(s, gone);
}

void history_free_events(struct event *gone)
{
        while (gone) {
                struct event *next = gone->next;

                object_unref(gone->before);
                object_unref(gone->after);
                free(gone);
                gone = next;
        }
}

void history_done(struct store *s)
{
        struct event *gone = NULL;

        while (s->history.n)
                drop_oldest(s, &gone);
        history_free_events(gone);
        free(s->history.ring);
}

struct event *history_after(const struct store *s, const struct table *t, uint64_t version)
{
        struct event *e = history_at(s, version), *own = t->first;
        uint64_t next = version;

        if (!t->last || t->last->version <= version)
                return NULL;
        if (e && e->entry->table == t)
                return e->next;
        /* From the table's first event and from the version at once: what is found first costs the least. */
        while (own->version <= version) {
                e = history_at(s, ++next);
                if (e && e->entry->table == t)
                        return e;
                own = own->next;
        }
        return own;
}

struct object *history_object(const struct entry *entry, uint64_t version, uint32_t *ret_serial)
{
        const struct event *e = entry->newest;

        *ret_serial = entry->serial;
        if (!e || e->version <= version)
                return entry->object;
        while (e->older && e->older->version > version)
                e = e->older;
        *ret_serial = e->before_serial;
        return e->before;
}

void snapshot_begin(struct store *s, struct snapshot *snapshot, uint64_t version)
{
        *snapshot = (struct snapshot) { .version = version, .next = s->snapshots };
        if (s->snapshots)
                s->snapshots->prev = snapshot;
        s->snapshots = snapshot;
}

void snapshot_end(struct store *s, struct snapshot *snapshot)
{
        *(snapshot->prev ? &snapshot->prev->next : &s->snapshots) = snapshot->next;
        if (snapshot->next)
                snapshot->next->prev = snapshot->prev;
}
