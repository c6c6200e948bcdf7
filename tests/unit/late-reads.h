/* Reads with only the guarantees of cluster.h: writes of others after a version are not seen, writes through this cluster are. Past
 * objects come from the store's history. */
#pragma once

#include <stdio.h>

#include "buf.h"
#include "owner.h"
#include "random.h"
#include "store.h"

struct own_write {
        struct own_write *next;
        struct object_key key;
        uint64_t version;
        struct object *object; /* the result of the write; NULL: removed */
};

struct late_reads {
        struct store *store; /* NULL: reads are not late */
        uint64_t version;    /* changes by others are seen up to this version */
        bool catches_up;     /* the version moves forward at random */
        struct random random;
        struct own_write *own; /* newest first */
};

/* From now on, changes by others are seen only up to `version`. seed 0: this does not change; otherwise the version moves forward
 * at random. */
static inline void late_begin(struct late_reads *l, struct store *store, uint64_t version, uint64_t seed)
{
        *l = (struct late_reads) { .store = store, .version = version, .catches_up = seed != 0 };
        random_seed(&l->random, seed);
}

static inline void late_move(struct late_reads *l)
{
        uint64_t newest = store_version(l->store);

        if (l->catches_up && newest > l->version && random_below(&l->random, 3) == 0)
                l->version += random_below(&l->random, newest - l->version) + 1;
}

static inline bool is_same_object(const struct object_key *a, const struct object_key *b)
{
        return str_equal(a->gvk.group, b->gvk.group) && str_equal(a->gvk.kind, b->gvk.kind) &&
               str_equal(a->ns, b->ns) && str_equal(a->name, b->name);
}

static inline void late_note(struct late_reads *l, struct arena *a, const struct write_request *req,
                             const struct write_result *result)
{
        struct own_write *own;

        if (!l->store || req->is_dry_run)
                return;
        own = ARENA_NEW(a, struct own_write);
        *own = (struct own_write) { .next = l->own, .version = store_version(l->store) };
        own->key = object_key_copy(a, &req->key);
        if (result->value) {
                own->key.name = arena_copy(a, meta_name(result->value));
                own->key.ns = arena_copy(a, meta_namespace(result->value));
        }
        if (!result->is_removed && result->object)
                own->object = object_pin(result->object, a);
        l->own = own;
}

/* The newest own write to the object that is after the visible version; NULL if there is none. */
static inline const struct own_write *late_own(const struct late_reads *l, const struct object_key *key)
{
        for (const struct own_write *w = l->own; w; w = w->next)
                if (is_same_object(&w->key, key))
                        return w->version > l->version ? w : NULL;
        return NULL;
}

static inline int late_list_at(struct late_reads *l, struct cluster *c, struct run *run, const struct list_request *req,
                               struct object_list *ret, struct err *err)
{
        struct list_request past = *req;

        past.resource_version = arena_printf(run->arena, "%llu", (unsigned long long)l->version);
        past.match = MATCH_EXACT;
        return cluster_list(c, run, &past, ret, err);
}

static inline int late_not_found(struct cluster *c, struct run *run, const struct object_key *key, struct err *err)
{
        struct status_subject subject = { .group = key->gvk.group, .plural = key->gvk.kind, .name = key->name };
        const struct kind *kind;

        if (cluster_kind(c, run, key->gvk, &kind, NULL) >= 0)
                subject = kind_subject(kind, key->name);
        return status_not_found(err, &subject);
}

static inline int late_get(struct late_reads *l, struct cluster *c, struct run *run, const struct get_request *req,
                           struct object **ret, struct err *err)
{
        struct field_requirement name = { .path = STR("metadata.name"), .value = req->key.name };
        struct field_selector fields = { &name, 1 };
        struct list_request list = { .gvk = req->key.gvk, .ns = req->key.ns, .fields = &fields };
        const struct own_write *own;
        struct object_list found;

        late_move(l);
        own = late_own(l, &req->key);
        if (own && !own->object)
                return late_not_found(c, run, &req->key, err);
        if (own && str_equal(own->key.gvk.version, req->key.gvk.version)) {
                *ret = object_pin(own->object, run->arena);
                return 0;
        }
        if (own || req->subresource.n || late_list_at(l, c, run, &list, &found, NULL) < 0)
                return cluster_get(c, run, req, ret, err);
        if (found.n == 0)
                return late_not_found(c, run, &req->key, err);
        *ret = found.objects[0];
        return 0;
}

static inline bool late_matches(struct arena *a, const struct list_request *req, const struct value *v)
{
        const struct owner_reference *owners;
        size_t n = owner_references(a, v, &owners);
        bool is_owned = req->owner_uid.n == 0;

        for (size_t i = 0; i < n; i++)
                is_owned |= str_equal(owners[i].uid, req->owner_uid);
        return is_owned && (!req->labels || label_selector_matches(req->labels, value_get(meta(v), STR("labels")))) &&
               (!req->fields || field_selector_matches(req->fields, v));
}

static inline bool late_is_listed(const struct list_request *req, const struct object_key *key)
{
        return str_equal(req->gvk.group, key->gvk.group) && str_equal(req->gvk.kind, key->gvk.kind) &&
               str_equal(req->gvk.version, key->gvk.version) && (req->ns.n == 0 || str_equal(req->ns, key->ns));
}

struct late_item {
        struct object *object;
        const struct value *value;
};

static inline int late_compare(const void *a, const void *b)
{
        const struct value *x = ((const struct late_item *)a)->value, *y = ((const struct late_item *)b)->value;
        int order = str_compare(meta_namespace(x), meta_namespace(y));

        return order ? order : str_compare(meta_name(x), meta_name(y));
}

/* Replaces past objects by own writes to the same objects. */
static inline size_t late_overlay(struct late_reads *l, struct run *run, const struct list_request *req,
                                  const struct object_list *past, struct late_item *items)
{
        size_t n = 0;

        for (size_t i = 0; i < past->n; i++) {
                struct object_key key = object_key_of(object_list_value(past, i, run->arena));

                if (!late_own(l, &key))
                        items[n++] = (struct late_item) { past->objects[i], object_list_value(past, i, run->arena) };
        }
        for (const struct own_write *w = l->own; w; w = w->next) {
                const struct value *v = w->object ? object_value(w->object, run->arena) : NULL;

                if (v && late_own(l, &w->key) == w && late_is_listed(req, &w->key) && late_matches(run->arena, req, v))
                        items[n++] = (struct late_item) { object_pin(w->object, run->arena), v };
        }
        return n;
}

/* A list that is made when the cursor begins, as one batch. */
struct late_cursor {
        struct list_cursor cursor;
        struct object **objects; /* counted */
        size_t n;
        bool is_done;
        char resource_version[24];
};

static inline int late_cursor_next(struct list_cursor *cursor, struct run *run, struct object_list *ret,
                                   struct err *err)
{
        struct late_cursor *l = CONTAINER_OF(cursor, struct late_cursor, cursor);
        size_t n = l->is_done ? 0 : l->n;
        struct object **objects = ARENA_NEW_ARRAY(run->arena, struct object *, n + 1);

        for (size_t i = 0; i < n; i++)
                objects[i] = object_pin(l->objects[i], run->arena);
        l->is_done = true;
        *ret = (struct object_list) { .objects = objects,
                                      .n = n,
                                      .resource_version = arena_copy(run->arena, str_from(l->resource_version)),
                                      .remaining = 0 };
        return n > 0;
}

static inline void late_cursor_free(struct list_cursor *cursor)
{
        struct late_cursor *l = CONTAINER_OF(cursor, struct late_cursor, cursor);

        for (size_t i = 0; i < l->n; i++)
                object_unref(l->objects[i]);
        free(l->objects);
        free(l);
}

static inline int late_list_begin(struct late_reads *l, struct cluster *c, struct run *run,
                                  const struct list_request *req, struct list_cursor **ret, struct err *err)
{
        static const struct list_cursor_ops ops = { .next = late_cursor_next, .free = late_cursor_free };
        struct late_cursor *made;
        struct late_item *items;
        struct object_list past;
        size_t n_own = 0;

        late_move(l);
        if (req->limit || req->continue_token.n || late_list_at(l, c, run, req, &past, NULL) < 0)
                return cluster_list_begin(c, run, req, ret, err);
        for (const struct own_write *w = l->own; w; w = w->next)
                n_own++;
        items = ARENA_NEW_ARRAY(run->arena, struct late_item, past.n + n_own + 1);
        made = xcalloc(1, sizeof(*made));
        made->cursor.ops = &ops;
        made->n = late_overlay(l, run, req, &past, items);
        qsort(items, made->n, sizeof(*items), late_compare);
        made->objects = xmalloc((made->n + 1) * sizeof(struct object *));
        for (size_t i = 0; i < made->n; i++)
                made->objects[i] = object_ref(items[i].object);
        snprintf(made->resource_version, sizeof(made->resource_version), "%.*s", STR_ARG(past.resource_version));
        *ret = &made->cursor;
        return 0;
}
