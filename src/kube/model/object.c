#include "object.h"

#include "buf.h"
#include "compact.h"
#include "json.h"
#include "proto.h"

#include <stdio.h>

/* object_prefetch_bytes. */
#define PREFETCHED_BYTES 2048u
#define CACHE_LINE       64

/* The forms made from an object's bytes. Owned by the object, listed by the cache, guarded by the cache's mutex. */
struct forms {
        struct object *object; /* not counted: a freed object removes its forms from the list */
        struct forms *newer, *older;
        struct document *document;
        struct bytes *json;
        struct bytes *wire;
        struct variant *variants;
        size_t size_bytes;
};

/* An object made from another one, which holds a reference to it. */
struct variant {
        struct variant *next;
        uint64_t key;
        struct object *object;
};

struct object_cache {
        _Atomic unsigned references;
        struct mutex mutex;
        _Atomic size_t budget_bytes; /* any thread */
        size_t used_bytes;
        struct forms *newest, *oldest; /* in the order of last use */
};

struct object {
        _Atomic unsigned references;
        uint32_t n_bytes;
        uint64_t version; /* immutable after publish */
        struct object_cache *cache;
        struct document *given;      /* the value of an object that was never encoded; NULL: it is in the bytes */
        struct forms *_Atomic forms; /* set by a holder of a reference; set to NULL under the cache's mutex */
        char bytes[];
};

/* --- The cache --- */

struct object_cache *object_cache_new(size_t budget_bytes)
{
        struct object_cache *c = xcalloc(1, sizeof(*c));

        atomic_init(&c->references, 1);
        mutex_init(&c->mutex);
        atomic_init(&c->budget_bytes, budget_bytes);
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

void object_cache_set_budget(struct object_cache *c, size_t budget_bytes)
{
        atomic_store_explicit(&c->budget_bytes, budget_bytes, memory_order_relaxed);
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

/* Detaches the forms from their object. The object may be freed once its pointer is cleared. */
static void cache_detach(struct object_cache *c, struct forms *f)
{
        cache_unlink(c, f);
        c->used_bytes -= f->size_bytes;
        atomic_store_explicit(&f->object->forms, NULL, memory_order_release);
}

/* Under the mutex. Removes forms until the cache is within its budget. Returns them linked by `older`; the caller frees them
 * without the mutex. */
static struct forms *cache_evict(struct object_cache *c)
{
        size_t budget_bytes = atomic_load_explicit(&c->budget_bytes, memory_order_relaxed);
        struct forms *gone = NULL;

        while (c->used_bytes > budget_bytes && c->oldest) {
                struct forms *f = c->oldest;

                cache_detach(c, f);
                f->older = gone;
                gone = f;
        }
        return gone;
}

static void free_variants(struct variant *v)
{
        while (v) {
                struct variant *next = v->next;

                object_unref(v->object);
                free(v);
                v = next;
        }
}

static void free_forms(struct forms *f)
{
        while (f) {
                struct forms *next = f->older;

                document_unref(f->document);
                bytes_unref(f->json);
                bytes_unref(f->wire);
                free_variants(f->variants);
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
        o->given = NULL;
        if (bytes.n)
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

struct object *object_of_bytes(struct object_cache *c, uint64_t version, struct str bytes)
{
        return alloc_object(c, version, bytes);
}

struct object *object_of_value(struct object_cache *c, const struct value *v)
{
        struct object *o = alloc_object(c, 0, STR(""));

        o->given = document_new("given object", 1);
        o->given->root = v;
        return o;
}

struct object *object_with_version(const struct object *o, uint64_t version)
{
        assert(!o->given);
        return alloc_object(o->cache, version, str_make(o->bytes, o->n_bytes));
}

void object_set_version(struct object *o, uint64_t version)
{
        assert(!o->given && !atomic_load_explicit(&o->forms, memory_order_relaxed));
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
        document_unref(o->given);
        object_cache_unref(o->cache);
        free(o);
}

static void unref_object(void *o)
{
        object_unref(o);
}

struct object *object_pin(struct object *o, struct arena *a)
{
        if (!arena_has_pinned(a, o)) {
                arena_pin(a, object_ref(o), unref_object);
                arena_charge(a, object_size_bytes(o));
        }
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

struct str object_bytes(const struct object *o)
{
        return str_make(o->bytes, o->n_bytes);
}

void object_prefetch(const struct object *o)
{
        __builtin_prefetch(o, 1);
}

/* The processor fetches what follows the first lines itself. */
void object_prefetch_bytes(const struct object *o)
{
        for (size_t i = 0; i < MIN(o->n_bytes, PREFETCHED_BYTES); i += CACHE_LINE)
                __builtin_prefetch(o->bytes + i);
}

/* --- Forms --- */

static const struct value *with_version(const struct object *o, struct arena *a, const struct value *v)
{
        if (o->version == 0 || !value_is_object(v))
                return v;
        return meta_with_str(a, v, STR("resourceVersion"), arena_printf(a, "%llu", (unsigned long long)o->version));
}

static const struct value *decode(const struct object *o, struct arena *a)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (compact_decode(a, str_make(o->bytes, o->n_bytes), &v, &err) < 0) {
                fprintf(stderr, "weft: a stored object is broken: %s\n", err_message(&err));
                abort();
        }
        return with_version(o, a, v);
}

/* An arena with a tiny budget allocates small blocks, which suits a cache of many small trees. The decoder needs no budget, because
 * the size of the bytes bounds the size of the tree. */
static struct document *decode_document(const struct object *o)
{
        struct document *d = document_new("stored object", 1);

        d->root = decode(o, &d->arena);
        return d;
}

/* Whether the object has forms. Most objects of a long list have none, and then the mutex is not needed. */
static bool has_forms(const struct object *o)
{
        return atomic_load_explicit(&o->forms, memory_order_relaxed) != NULL;
}

/* With a reference for the caller. is_use: it is the newest of the cache from now on. */
static struct document *find_document(struct object *o, bool is_use)
{
        struct document *d = NULL;
        struct forms *f;

        if (o->given)
                return document_ref(o->given);
        if (!has_forms(o))
                return NULL;
        mutex_lock(&o->cache->mutex);
        f = atomic_load_explicit(&o->forms, memory_order_relaxed);
        if (f && f->document) {
                if (is_use)
                        cache_use(o->cache, f);
                d = document_ref(f->document);
        }
        mutex_unlock(&o->cache->mutex);
        return d;
}

const struct value *object_value(struct object *o, struct arena *a)
{
        struct document *d = find_document(o, true);
        struct forms *gone, *f;
        const struct value *root;

        if (!d) {
                d = decode_document(o);
                mutex_lock(&o->cache->mutex);
                f = forms_of(o);
                if (!f->document) {
                        f->document = document_ref(d);
                        forms_grow(f, document_size_bytes(d));
                }
                gone = cache_evict(o->cache);
                mutex_unlock(&o->cache->mutex);
                free_forms(gone);
        }
        object_pin(o, a); /* strings of the tree point into its bytes */
        root = document_borrow(d, a);
        document_unref(d);
        return root;
}

const struct value *object_peek(struct object *o, struct arena *a)
{
        struct document *d = find_document(o, false);
        const struct value *root;

        if (!d)
                return decode(o, a);
        root = document_borrow(d, a);
        document_unref(d);
        return root;
}

/* Under the mutex: counted. */
static struct object *find_variant(const struct forms *f, uint64_t key)
{
        for (const struct variant *v = f ? f->variants : NULL; v; v = v->next)
                if (v->key == key)
                        return object_ref(v->object);
        return NULL;
}

struct object *object_variant(struct object *o, uint64_t key)
{
        struct object *found;
        struct forms *f;

        if (!has_forms(o))
                return NULL;
        mutex_lock(&o->cache->mutex);
        f = atomic_load_explicit(&o->forms, memory_order_relaxed);
        found = find_variant(f, key);
        if (found)
                cache_use(o->cache, f);
        mutex_unlock(&o->cache->mutex);
        return found;
}

struct object *object_add_variant(struct object *o, uint64_t key, struct object *made)
{
        struct variant *v = xmalloc(sizeof(*v));
        struct forms *gone, *f;
        struct object *kept;

        mutex_lock(&o->cache->mutex);
        f = forms_of(o);
        kept = find_variant(f, key);
        if (!kept) {
                kept = object_ref(made);
                *v = (struct variant) { .next = f->variants, .key = key, .object = object_ref(made) };
                f->variants = TAKE(v);
                forms_grow(f, sizeof(*v) + object_size_bytes(made));
        }
        gone = cache_evict(o->cache);
        mutex_unlock(&o->cache->mutex);
        free_forms(gone);
        free(v);
        return kept;
}

enum form {
        FORM_JSON,
        FORM_WIRE,
};

static struct bytes **form_slot(struct forms *f, enum form form)
{
        return form == FORM_JSON ? &f->json : &f->wire;
}

/* Writes the text from the compact bytes, or from the tree if there is one. */
static void append_json(struct object *o, struct arena *scratch, struct buf *b)
{
        int r;

        if (!o->given && b->n == 0)
                buf_reserve(b, object_bytes(o).n / 2 * 3 + 128); /* enough for the text of nearly every object */
        if (!o->given && compact_append_json(b, object_bytes(o), o->version))
                return;
        r = json_write(b, object_peek(o, scratch), 0, NULL);
        assert(r == 0 || b->has_failed);
        arena_reset(scratch);
}

static struct bytes *encode(struct object *o, enum form form)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;
        int r;

        arena_init(&a, "encoding", 0);
        if (form == FORM_JSON) {
                append_json(o, &a, &b);
                assert(!b.has_failed);
                return bytes_take(&b);
        }
        v = object_value(o, &a);
        r = proto_encode_struct(&b, v, NULL);
        assert(r == 0);
        return bytes_copy(buf_str(&b)); /* a buffer that grew may be twice as large as its text */
}

/* With a reference for the caller. is_use: it is the newest of the cache from now on. */
static struct bytes *find_bytes(struct object *o, enum form form, bool is_use)
{
        struct bytes *found = NULL;
        struct forms *f;

        if (!has_forms(o))
                return NULL;
        mutex_lock(&o->cache->mutex);
        f = atomic_load_explicit(&o->forms, memory_order_relaxed);
        if (f && *form_slot(f, form)) {
                if (is_use)
                        cache_use(o->cache, f);
                found = bytes_ref(*form_slot(f, form));
        }
        mutex_unlock(&o->cache->mutex);
        return found;
}

static struct bytes *form_bytes(struct object *o, enum form form)
{
        struct bytes *found = find_bytes(o, form, true), *made;
        struct forms *gone, *f;

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

void object_append_json(struct object *o, struct arena *scratch, struct buf *b)
{
        struct bytes *found = find_bytes(o, FORM_JSON, false);

        if (!found) {
                append_json(o, scratch, b);
                return;
        }
        buf_append_str(b, found->str);
        bytes_unref(found);
}

struct bytes *object_struct(struct object *o)
{
        return form_bytes(o, FORM_WIRE);
}
