#include "store-commit.h"

static void free_store(struct cluster *c)
{
        store_free(store_of(c));
}

static const struct cluster_ops ops = {
        .get = read_get,
        .list_begin = read_list_begin,
        .watch = watch_begin,
        .write = commit_write,
        .delete_collection = commit_delete_collection,
        .kind = kinds_ops_kind,
        .resource = kinds_ops_resource,
        .kinds = kinds_ops_list,
        .kinds_version = kinds_ops_version,
        .free = free_store,
};

static void set_defaults(struct store_options *o)
{
        if (o->history_events == 0)
                o->history_events = 100000;
        if (o->watch_bytes == 0)
                o->watch_bytes = 16u << 20;
}

static int start(struct store *s, struct err *err)
{
        int r = 0;

        if (!s->options.without_gc)
                collector_new(s);
        if (s->collector && !s->options.starts_later)
                r = collector_start(s, err);
        return r == 0 && s->options.log ? writer_start(s, err) : r;
}

/* The collector gets its tasks when writes are logged. */
static int open_with_log(struct store *s, struct err *err)
{
        struct replayed replayed = { 0 };
        int r = replay_log(s, &replayed, err);

        if (r == 0)
                r = start(s, err);
        if (r == 0)
                replay_add_tasks(s, &replayed);
        replayed_done(&replayed);
        return r;
}

int store_new(const struct store_options *options, struct store **ret, struct err *err)
{
        struct store *s = xcalloc(1, sizeof(*s));
        int r;

        s->cluster.ops = &ops;
        s->options = *options;
        set_defaults(&s->options);
        s->cache = object_cache_new(0);
        publish_bounds(s);
        mutex_init(&s->mutex);
        semaphore_init(&s->naming, "names of CRDs", 1);
        kinds_init(s);
        r = s->options.log ? open_with_log(s, err) : start(s, err);
        if (r == 0)
                r = namespaces_bootstrap(s, err);
        if (r < 0) {
                store_free(s);
                return r;
        }
        *ret = s;
        return 0;
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
        writer_stop(s);
        collector_free(s);
        assert(s->n_watches == 0);
        history_done(s);
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e))
                free_table_entries(e->value);
        tree_done(&s->index);
        kinds_done(s);
        for (size_t i = 0; i < s->writes.n; i++)
                write_record_free(s->writes.p[i]);
        vec_done(&s->writes);
        vec_done(&s->hooks);
        object_cache_unref(s->cache);
        semaphore_done(&s->naming);
        mutex_done(&s->mutex);
        free(s);
}

int store_start(struct store *s, struct err *err)
{
        return s->collector ? collector_start(s, err) : 0;
}

void store_stop(struct store *s)
{
        collector_stop(s);
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
        while (first < end) { /* writes are sorted by version */
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
                        ret->schema_bytes += kind_schema_bytes(&t->kind->versions[i]);
        }
        ret->n_watches = s->n_watches;
        ret->history_bytes = s->history.n_bytes;
        mutex_unlock(&s->mutex);
}
