#include "document-cache.h"

#include "arena.h"
#include "ascii.h"
#include "buf.h"
#include "digest.h"

struct kept {
        struct lru_item item;
        struct bytes *body;
        struct str tag;
        char text[]; /* the tag, then the key */
};

static void kept_free(struct kept *k)
{
        if (!k)
                return;
        bytes_unref(k->body);
        free(k);
}

static struct kept *kept_of(struct lru_item *item)
{
        return item ? CONTAINER_OF(item, struct kept, item) : NULL;
}

void document_cache_init(struct document_cache *c, size_t max_bytes)
{
        *c = (struct document_cache) { .lru = { .max_bytes = max_bytes, .max_entries = SIZE_MAX } };
        mutex_init(&c->mutex);
}

static void clear(struct document_cache *c)
{
        while (c->lru.oldest) {
                struct kept *k = kept_of(c->lru.oldest);

                lru_remove(&c->lru, &k->item);
                kept_free(k);
        }
}

void document_cache_done(struct document_cache *c)
{
        clear(c);
        lru_done(&c->lru);
        mutex_done(&c->mutex);
}

bool document_cache_get(struct document_cache *c, uint64_t version, struct str key, struct arena *a,
                        struct kept_document *ret)
{
        struct kept *k = NULL;

        mutex_lock(&c->mutex);
        if (c->version == version)
                k = kept_of(lru_get(&c->lru, key));
        if (k) {
                ret->body = bytes_ref(k->body);
                ret->tag = arena_copy(a, k->tag);
        }
        mutex_unlock(&c->mutex);
        if (k)
                arena_pin(a, ret->body, bytes_unpin);
        return k != NULL;
}

static struct kept *kept_new(struct str key, const struct kept_document *d)
{
        struct kept *k = xcalloc(1, sizeof(*k) + d->tag.n + key.n);

        memcpy(k->text, d->tag.p, d->tag.n);
        memcpy(k->text + d->tag.n, key.p, key.n);
        k->tag = str_make(k->text, d->tag.n);
        k->item.name = str_make(k->text + d->tag.n, key.n);
        k->item.size_bytes = sizeof(*k) + d->tag.n + key.n + d->body->str.n;
        k->body = bytes_ref(d->body);
        return k;
}

void document_cache_put(struct document_cache *c, uint64_t version, struct str key, const struct kept_document *d)
{
        struct lru_item *excess;

        mutex_lock(&c->mutex);
        if (c->version != version) {
                clear(c);
                c->version = version;
        }
        kept_free(kept_of(lru_put(&c->lru, &kept_new(key, d)->item)));
        while ((excess = lru_take_excess(&c->lru)))
                kept_free(kept_of(excess));
        mutex_unlock(&c->mutex);
}

size_t document_cache_bytes(struct document_cache *c)
{
        size_t n;

        mutex_lock(&c->mutex);
        n = c->lru.size_bytes;
        mutex_unlock(&c->mutex);
        return n;
}

struct str document_tag(struct arena *a, struct str body)
{
        _cleanup_buf_ struct buf b = { 0 };

        buf_append_char(&b, '"');
        sha512_append_hex(&b, body);
        buf_append_char(&b, '"');
        for (size_t i = 0; i < b.n; i++)
                if (ascii_is_letter(b.p[i]))
                        b.p[i] &= ~0x20;
        return buf_to_arena(&b, a);
}
