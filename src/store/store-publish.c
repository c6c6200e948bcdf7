/* Publishing: the only place that changes the state that readers see. */
#include "store-commit.h"

/* --- Records of writes --- */

struct write_record *write_record_new(const struct write_request *req, const struct run *run,
                                      const struct object_key *key)
{
        struct write_record *r = xcalloc(1, sizeof(*r));

        arena_init(&r->arena, "write record", 1);
        r->write = (struct store_write) {
                .verb = req->verb,
                .key = object_key_copy(&r->arena, key),
                .subresource = arena_copy(&r->arena, req->subresource),
                .manager = arena_copy(&r->arena, req->manager),
                .user = arena_copy(&r->arena, run->user.name),
                .cause = arena_copy(&r->arena, run->cause),
        };
        return r;
}

void write_record_free(struct write_record *r)
{
        if (!r)
                return;
        object_unref(r->write.before);
        object_unref(r->write.after);
        arena_done(&r->arena);
        free(r);
}

static void keep_record(struct store *s, struct write_record *r, const struct event *e)
{
        if (!r)
                return;
        r->write.version = e->version;
        r->write.before = e->before ? object_ref(e->before) : NULL;
        r->write.after = e->is_removed ? NULL : object_ref(e->after);
        vec_push(&s->writes, r);
}

/* --- State --- */

void publish_marks(struct store *s, struct store_entry *e, unsigned marks)
{
        s->n_foreground += ((marks & MARK_FOREGROUND) != 0) - ((e->marks & MARK_FOREGROUND) != 0);
        if (e->table == s->namespaces)
                s->n_terminating_namespaces += ((marks & MARK_DELETING) != 0) - ((e->marks & MARK_DELETING) != 0);
        e->marks = (uint8_t)marks;
}

static size_t entry_bytes(const struct store_entry *e)
{
        return sizeof(*e) + e->n_key;
}

static size_t bound(size_t given, size_t bytes, size_t least)
{
        return given ? given : MIN(MAX(bytes, least), 64u << 20);
}

/* A small store has a small history and cache: the memory that a server needs follows what it holds. */
void publish_bounds(struct store *s)
{
        s->history_bytes = bound(s->options.history_bytes, s->object_bytes / 8, 16u << 20);
        object_cache_set_budget(s->cache, bound(s->options.cache_bytes, s->object_bytes / 16, 4u << 20));
}

/* Replaces the entry's object by the new one (NULL: none). */
void publish_object(struct store *s, struct store_entry *e, struct object *o)
{
        struct table *t = e->table;

        if (e->object) {
                s->object_bytes -= object_size_bytes(e->object) + entry_bytes(e);
                s->n_objects--;
                t->n_objects--;
        }
        if (o) {
                s->object_bytes += object_size_bytes(o) + entry_bytes(e);
                s->n_objects++;
                t->n_objects++;
        }
        e->object = o;
        publish_bounds(s);
}

static struct store_entry *insert_entry(struct commit *c)
{
        struct store_entry *e = TAKE(c->entry);

        tree_insert(&c->table->objects, (struct tree_item) { .entry = e });
        return e;
}

static void wake_version_waiters(struct store *s)
{
        while (waiters_grant(&s->version_waiters))
                ;
}

void commit_publish(struct commit *c, struct store_entry *there, struct event **gone)
{
        struct store *s = c->s;
        struct store_entry *e = there ? there : insert_entry(c);
        struct event *event = TAKE(c->event);
        const struct facts *before = e->object ? &c->before : NULL, *after = event->is_removed ? NULL : &c->after;

        assert(c->version == s->version + 1);
        s->version = event->version = c->version;
        event->entry = e;
        event->before = e->object; /* the entry's reference moves here */
        event->before_serial = e->serial;
        if (!event->is_removed)
                e->serial = c->serial;
        event->serial = e->serial;
        publish_object(s, e, event->is_removed ? NULL : object_ref(event->after));
        index_update(s, e, before, after);
        publish_marks(s, e, after ? after->marks : 0);
        keep_record(s, TAKE(c->record), event);
        if (c->kind_change.is_change)
                kinds_change(s, &c->kind_change);
        history_append(s, event, gone);
        watch_notify(s, e->table, event);
        collector_notice(s, e, before, after);
        wake_version_waiters(s);
}
