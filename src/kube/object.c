#include "object.h"

#include "buf.h"
#include "compact.h"
#include "json.h"
#include "proto.h"

#include <stdio.h>

/* What was made from an object's bytes. Owned by the object, listed by the cache, guarded by the cache's mutex. */
struct forms {
        struct object *object; /* not counted: it takes its forms off the list when it goes */
        struct forms *newer, *older;
        struct document *document;
        struct bytes *json;
        struct bytes *wire;
        size_t size_bytes;
};

struct object_cache {
        _Atomic unsigned references;
        struct mutex mutex;
        size_t budget_bytes;
        size_t used_bytes;
        struct forms *newest, *oldest; /* by last use */
};

struct object {
        _Atomic unsigned references;
        uint32_t n_bytes;
        uint64_t version; /* immutable after publish */
        struct object_cache *cache;
        struct forms
                *_Atomic forms; /* becomes non-NULL only by a holder of a reference, NULL under the cache's mutex */
        char bytes[];
};

/* --- The cache --- */

struct object_cache *object_cache_new(size_t budget_bytes)
{
        struct object_cache *c = xcalloc(1, sizeof(*c));

        atomic_init(&c->references, 1);
        mutex_init(&c->mutex);
        c->budget_bytes = budget_bytes;
        return c;
}

struct object_cache *object_cache_ref(struct object_cache *c)
{
        atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
        return c;
}

void object_cache_unref(struct object_cache *c)
{
        if (!c || atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
                return;
        assert(!c->newest && c->used_bytes == 0);
        mutex_done(&c->mutex);
        free(c);
}

size_t object_cache_used_bytes(struct object_cache *c)
{
        size_t n;

        mutex_lock(&c->mutex);
        n = c->used_bytes;
        mutex_unlock(&c->mutex);
        return n;
}

static void cache_unlink(struct object_cache *c, struct forms *f)
{
        *(f->newer ? &f->newer->older : &c->newest) = f->older;
        *(f->older ? &f->older->newer : &c->oldest) = f->newer;
}

static void cache_link(struct object_cache *c, struct forms *f)
{
        f->newer = NULL;
        f->older = c->newest;
        *(c->newest ? &c->newest->newer : &c->oldest) = f;
        c->newest = f;
}

static void cache_use(struct object_cache *c, struct forms *f)
{
        if (c->newest == f)
                return;
        cache_unlink(c, f);
        cache_link(c, f);
}

/* Takes the forms off their object; the object may be gone once its pointer is cleared. */
static void cache_detach(struct object_cache *c, struct forms *f)
{
        cache_unlink(c, f);
        c->used_bytes -= f->size_bytes;
        atomic_store_explicit(&f->object->forms, NULL, memory_order_release);
}

/* Under the mutex. Returns what has to go to stay within the budget, linked by `older`, for freeing without the mutex. */
static struct forms *cache_evict(struct object_cache *c)
{
        struct forms *gone = NULL;

        while (c->used_bytes > c->budget_bytes && c->oldest) {
                struct forms *f = c->oldest;

                cache_detach(c, f);
                f->older = gone;
                gone = f;
        }
        return gone;
}

static void free_forms(struct forms *f)
{
        while (f) {
                struct forms *next = f->older;

                document_unref(f->document);
                bytes_unref(f->json);
                bytes_unref(f->wire);
                free(f);
                f = next;
        }
}

/* Under the mutex: the object's forms, made if it has none yet. */
static struct forms *forms_of(struct object *o)
{
        struct forms *f = atomic_load_explicit(&o->forms, memory_order_relaxed);

        if (f) {
                cache_use(o->cache, f);
                return f;
        }
        f = xcalloc(1, sizeof(*f));
        f->object = o;
        f->size_bytes = sizeof(*f);
        o->cache->used_bytes += f->size_bytes;
        cache_link(o->cache, f);
        atomic_store_explicit(&o->forms, f, memory_order_relaxed);
        return f;
}

static void forms_grow(struct forms *f, size_t n)
{
        f->size_bytes += n;
        f->object->cache->used_bytes += n;
}

/* --- Objects --- */

static struct object *alloc_object(struct object_cache *c, uint64_t version, struct str bytes)
{
        struct object *o = xmalloc(sizeof(*o) + bytes.n);

        assert(bytes.n <= UINT32_MAX);
        atomic_init(&o->references, 1);
        atomic_init(&o->forms, NULL);
        o->n_bytes = (uint32_t)bytes.n;
        o->version = version;
        o->cache = object_cache_ref(c);
        memcpy(o->bytes, bytes.p, bytes.n);
        return o;
}

struct object *object_new(struct object_cache *c, uint64_t version, const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_reserve(&b, 2048);
        compact_encode(&b, v);
        assert(!b.has_failed);
        return alloc_object(c, version, buf_str(&b));
}

struct object *object_with_version(const struct object *o, uint64_t version)
{
        return alloc_object(o->cache, version, str_make(o->bytes, o->n_bytes));
}

void object_set_version(struct object *o, uint64_t version)
{
        assert(!atomic_load_explicit(&o->forms, memory_order_relaxed));
        o->version = version;
}

struct object *object_ref(struct object *o)
{
        atomic_fetch_add_explicit(&o->references, 1, memory_order_relaxed);
        return o;
}

void object_unref(struct object *o)
{
        struct forms *f = NULL;

        if (!o || atomic_fetch_sub_explicit(&o->references, 1, memory_order_acq_rel) != 1)
                return;
        if (atomic_load_explicit(&o->forms, memory_order_acquire)) {
                mutex_lock(&o->cache->mutex);
                f = atomic_load_explicit(&o->forms, memory_order_relaxed);
                if (f) {
                        cache_detach(o->cache, f);
                        f->older = NULL;
                }
                mutex_unlock(&o->cache->mutex);
        }
        free_forms(f);
        object_cache_unref(o->cache);
        free(o);
}

static void unref_object(void *o)
{
        object_unref(o);
}

struct object *object_pin(struct object *o, struct arena *a)
{
        arena_pin(a, object_ref(o), unref_object);
        return o;
}

uint64_t object_version(const struct object *o)
{
        return o->version;
}

size_t object_size_bytes(const struct object *o)
{
        return sizeof(*o) + o->n_bytes;
}

/* --- Forms --- */

static const struct value *with_version(const struct object *o, struct arena *a, const struct value *v)
{
        if (o->version == 0 || !value_is_object(v))
                return v;
        return meta_with_str(a, v, STR("resourceVersion"), arena_printf(a, "%llu", (unsigned long long)o->version));
}

/* An arena without budget left goes on in small blocks, which is what a cache of many small trees wants; the decoder needs no
 * budget, as the size of the tree is bounded by that of the bytes. */
static struct document *decode(const struct object *o)
{
        struct document *d = document_new("stored object", 1);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (compact_decode(&d->arena, str_make(o->bytes, o->n_bytes), &v, &err) < 0) {
                fprintf(stderr, "weft: a stored object is broken: %s\n", err_message(&err));
                abort();
        }
        d->root = with_version(o, &d->arena, v);
        return d;
}

/* With a reference for the caller. */
static struct document *find_document(struct object *o)
{
        struct document *d = NULL;
        struct forms *f;

        mutex_lock(&o->cache->mutex);
        f = atomic_load_explicit(&o->forms, memory_order_relaxed);
        if (f && f->document) {
                cache_use(o->cache, f);
                d = document_ref(f->document);
        }
        mutex_unlock(&o->cache->mutex);
        return d;
}

const struct value *object_value(struct object *o, struct arena *a)
{
        struct document *d = find_document(o);
        struct forms *gone, *f;
        const struct value *root;

        if (!d) {
                d = decode(o);
                mutex_lock(&o->cache->mutex);
                f = forms_of(o);
                if (!f->document) {
                        f->document = document_ref(d);
                        forms_grow(f, sizeof(*d) + d->arena.used_bytes);
                }
                gone = cache_evict(o->cache);
                mutex_unlock(&o->cache->mutex);
                free_forms(gone);
        }
        object_pin(o, a); /* strings of the tree stand in its bytes */
        root = document_borrow(d, a);
        document_unref(d);
        return root;
}

enum form {
        FORM_JSON,
        FORM_WIRE,
};

static struct bytes **form_slot(struct forms *f, enum form form)
{
        return form == FORM_JSON ? &f->json : &f->wire;
}

static struct bytes *encode(struct object *o, enum form form)
{
        _cleanup_arena_ struct arena a;
        struct buf b = BUF_INIT(0);
        const struct value *v;
        int r;

        arena_init(&a, "encoding", 0);
        v = object_value(o, &a);
        r = form == FORM_JSON ? json_write(&b, v, 0, NULL) : proto_encode_struct(&b, v, NULL);
        assert(r == 0);
        return bytes_take(&b);
}

static struct bytes *form_bytes(struct object *o, enum form form)
{
        struct bytes *found = NULL, *made;
        struct forms *gone, *f;

        mutex_lock(&o->cache->mutex);
        f = atomic_load_explicit(&o->forms, memory_order_relaxed);
        if (f && *form_slot(f, form)) {
                cache_use(o->cache, f);
                found = bytes_ref(*form_slot(f, form));
        }
        mutex_unlock(&o->cache->mutex);
        if (found)
                return found;

        made = encode(o, form);
        mutex_lock(&o->cache->mutex);
        f = forms_of(o);
        if (!*form_slot(f, form)) {
                *form_slot(f, form) = bytes_ref(made);
                forms_grow(f, sizeof(*made) + made->str.n);
        }
        gone = cache_evict(o->cache);
        mutex_unlock(&o->cache->mutex);
        free_forms(gone);
        return made;
}

struct bytes *object_json(struct object *o)
{
        return form_bytes(o, FORM_JSON);
}

struct bytes *object_struct(struct object *o)
{
        return form_bytes(o, FORM_WIRE);
}
