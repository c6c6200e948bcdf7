/* The history: the latest commits, as many as the options allow, in a ring by version. Watches read their events from it, and reads
 * at an older version find their objects in it: each event has the object before it, and the events of one name are linked. So a
 * read at an older version costs as much as the number of changes to that name since, and copies nothing. */
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

/* Drops the oldest event, and its entry when the entry has neither an object nor another event. */
static void drop_oldest(struct store *s, struct event **gone)
{
        struct history *h = &s->history;
        struct event *e = h->ring[h->first];
        struct store_entry *entry;
        struct table *t;

        h->first = (h->first + 1) & (h->n_ring - 1);
        h->n--;
        if (!e)
                return;
        entry = e->entry;
        t = entry->table;
        h->n_bytes -= e->size_bytes;
        t->first = e->next;
        if (!t->first)
                t->last = NULL;
        t->dropped_version = MAX(t->dropped_version, e->version);
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

static size_t size_of(const struct event *e)
{
        return e ? e->size_bytes : 0;
}

/* Whether a snapshot needs the oldest event. */
static bool is_oldest_needed(const struct store *s)
{
        return s->oldest_snapshot && s->oldest_snapshot->version <= s->version - s->history.n;
}

/* Marks the oldest events beyond the limits as held: only snapshots keep them from now on. */
static void hold_excess(struct store *s)
{
        struct history *h = &s->history;

        while (h->n > h->n_held &&
               (h->n - h->n_held > s->options.history_events || h->n_bytes - h->held_bytes > s->history_bytes)) {
                h->held_bytes += size_of(h->ring[(h->first + h->n_held) & (h->n_ring - 1)]);
                h->n_held++;
        }
}

static void drop_unneeded(struct store *s, struct event **gone)
{
        struct history *h = &s->history;

        while (h->n_held && !is_oldest_needed(s)) {
                h->held_bytes -= size_of(h->ring[h->first]);
                h->n_held--;
                drop_oldest(s, gone);
        }
}

static void trim(struct store *s, struct event **gone)
{
        hold_excess(s);
        drop_unneeded(s, gone);
        while (s->history.held_bytes > s->options.watch_bytes) {
                snapshot_end(s, s->oldest_snapshot);
                drop_unneeded(s, gone);
        }
}

static void put(struct history *h, struct event *e)
{
        if (h->n == h->n_ring)
                grow(h);
        h->ring[(h->first + h->n++) & (h->n_ring - 1)] = e;
}

void history_append_gap(struct store *s, struct event **gone)
{
        put(&s->history, NULL);
        trim(s, gone);
}

void history_append(struct store *s, struct event *e, struct event **gone)
{
        struct history *h = &s->history;
        struct table *t = e->entry->table;

        if (!e->before || e->is_removed)
                tree_set_present(&t->objects, e->entry, !e->is_removed);
        put(h, e);
        e->size_bytes = sizeof(*e) + (e->before ? object_size_bytes(e->before) : 0) +
                        (e->is_removed ? object_size_bytes(e->after) : 0);
        h->n_bytes += e->size_bytes;
        t->event_bytes += event_size_bytes(e);
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
        /* Searches from the table's first event and from the version in parallel; the shorter search ends the loop. */
        while (own->version <= version) {
                e = history_at(s, ++next);
                if (e && e->entry->table == t)
                        return e;
                own = own->next;
        }
        return own;
}

struct object *history_object(const struct store_entry *entry, uint64_t version, uint32_t *ret_serial)
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
        struct snapshot *older = s->newest_snapshot;

        while (older && older->version > version)
                older = older->older;
        *snapshot = (struct snapshot) {
                .version = version, .older = older, .newer = older ? older->newer : s->oldest_snapshot, .is_kept = true
        };
        *(snapshot->older ? &snapshot->older->newer : &s->oldest_snapshot) = snapshot;
        *(snapshot->newer ? &snapshot->newer->older : &s->newest_snapshot) = snapshot;
}

void snapshot_end(struct store *s, struct snapshot *snapshot)
{
        if (!snapshot->is_kept)
                return;
        snapshot->is_kept = false;
        *(snapshot->older ? &snapshot->older->newer : &s->oldest_snapshot) = snapshot->newer;
        *(snapshot->newer ? &snapshot->newer->older : &s->newest_snapshot) = snapshot->older;
}
