#include "store-state.h"

static void free_store(struct cluster *c)
{
        store_free(store_of(c));
}

static const struct cluster_ops ops = {
        .get = read_get,
        .list = read_list,
        .watch = watch_begin,
        .write = commit_write,
        .delete_collection = commit_delete_collection,
        .kind = kinds_ops_kind,
        .free = free_store,
};

static void set_defaults(struct store_options *o)
{
        if (o->cache_bytes == 0)
                o->cache_bytes = 64u << 20;
        if (o->history_events == 0)
                o->history_events = 100000;
        if (o->history_bytes == 0)
                o->history_bytes = 64u << 20;
        if (o->watch_bytes == 0)
                o->watch_bytes = 16u << 20;
}

int store_new(const struct store_options *options, struct store **ret, struct err *err)
{
        struct store *s = xcalloc(1, sizeof(*s));
        int r;

        s->cluster.ops = &ops;
        s->options = *options;
        set_defaults(&s->options);
        s->cache = object_cache_new(s->options.cache_bytes);
        mutex_init(&s->mutex);
        semaphore_init(&s->naming, "names of CRDs", 1);
        kinds_init(s);
        r = s->options.without_gc ? 0 : collector_start(s, err);
        if (r == 0)
                r = namespaces_bootstrap(s, err);
        if (r < 0) {
                store_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

static void free_record(struct write_record *r)
{
        object_unref(r->write.before);
        object_unref(r->write.after);
        arena_done(&r->arena);
        free(r);
}

static void free_table_entries(struct table *t)
{
        struct tree_cursor c = tree_seek_key(&t->objects, STR(""));
        struct tree_item item;

        while (tree_next(&c, &item)) {
                object_unref(item.entry->object);
                free(item.entry);
        }
        tree_done(&t->objects);
}

void store_free(struct store *s)
{
        if (!s)
                return;
        collector_stop(s);
        assert(s->n_watches == 0);
        history_done(s);
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e))
                free_table_entries(e->value);
        tree_done(&s->index);
        kinds_done(s);
        for (size_t i = 0; i < s->writes.n; i++)
                free_record(s->writes.p[i]);
        vec_done(&s->writes);
        vec_done(&s->hooks);
        object_cache_unref(s->cache);
        semaphore_done(&s->naming);
        mutex_done(&s->mutex);
        free(s);
}

struct cluster *store_cluster(struct store *s)
{
        return &s->cluster;
}

void store_add_hook(struct store *s, const struct admission_hook *hook)
{
        vec_push(&s->hooks, *hook);
}

uint64_t store_version(struct store *s)
{
        uint64_t version;

        mutex_lock(&s->mutex);
        version = s->version;
        mutex_unlock(&s->mutex);
        return version;
}

int store_settle(struct store *s, struct run *run, struct err *err)
{
        return s->options.without_gc ? 0 : collector_settle(s, run, err);
}

static void pin_write(struct arena *a, struct store_write *w)
{
        w->key = object_key_copy(a, &w->key);
        w->subresource = arena_copy(a, w->subresource);
        w->manager = arena_copy(a, w->manager);
        w->user = arena_copy(a, w->user);
        w->cause = arena_copy(a, w->cause);
        if (w->before)
                object_pin(w->before, a);
        if (w->after)
                object_pin(w->after, a);
}

size_t store_writes(struct store *s, uint64_t after, struct arena *a, const struct store_write **ret)
{
        struct store_write *writes;
        size_t first = 0, end, n;

        mutex_lock(&s->mutex);
        end = s->writes.n;
        while (first < end) { /* they are by version */
                size_t middle = (first + end) / 2;

                if (s->writes.p[middle]->write.version <= after)
                        first = middle + 1;
                else
                        end = middle;
        }
        n = s->writes.n - first;
        writes = ARENA_NEW_ARRAY(a, struct store_write, n);
        for (size_t i = 0; i < n; i++) {
                writes[i] = s->writes.p[first + i]->write;
                pin_write(a, &writes[i]);
        }
        mutex_unlock(&s->mutex);
        *ret = writes;
        return n;
}

void store_stats(struct store *s, struct store_stats *ret)
{
        *ret = (struct store_stats) { 0 };
        mutex_lock(&s->mutex);
        ret->n_objects = s->n_objects;
        ret->object_bytes = s->object_bytes + s->index.n_bytes;
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e)) {
                const struct table *t = e->value;

                ret->object_bytes += t->objects.n_bytes;
                if (!t->kind)
                        continue;
                ret->n_kinds++;
                for (size_t i = 0; i < t->kind->n_versions; i++)
                        ret->schema_bytes += schema_size_bytes(t->kind->versions[i].schema);
        }
        ret->n_watches = s->n_watches;
        ret->history_bytes = s->history.n_bytes;
        mutex_unlock(&s->mutex);
}
