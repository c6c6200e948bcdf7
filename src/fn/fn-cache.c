#include "fn-cache.h"

#include <errno.h>

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "digest.h"
#include "fn-cache-dir.h"
#include "fn-cache-entry.h"
#include "limits.h"
#include "lru.h"
#include "park.h"
#include "redact.h"
#include "vec.h"

#define NAME_BYTES 64
#define SWEEP_NS   60000000000

struct item {
        struct lru_item lru;
        struct bytes *bytes; /* an entry in memory; NULL for a file */
        int64_t deadline_ns; /* as known without reading the file */
        char name[NAME_BYTES];
};

struct fn_cache {
        struct mutex mutex;
        struct lru memory;
        struct lru files;
        int directory; /* negative: none */
        int64_t max_ttl_ns;
        int64_t next_sweep_ns; /* monotonic clock */
        struct fn_cache_stats stats;
};

/* Items that were removed from a list under the mutex; their files are removed and they are freed without the mutex. */
struct leavers {
        VEC(struct item *) items;
};

static struct item *item_new(struct str name, struct bytes *bytes, size_t size_bytes, int64_t deadline_ns)
{
        struct item *i = xcalloc(1, sizeof(*i));

        memcpy(i->name, name.p, NAME_BYTES);
        i->lru.name = str_make(i->name, NAME_BYTES);
        i->lru.size_bytes = size_bytes;
        i->bytes = bytes;
        i->deadline_ns = deadline_ns;
        return i;
}

static void item_free(struct item *i)
{
        bytes_unref(i->bytes);
        free(i);
}

static struct item *item_of(struct lru_item *i)
{
        return CONTAINER_OF(i, struct item, lru);
}

/* --- Under the mutex --- */

static void leave(struct fn_cache *c, struct lru_item *i, struct leavers *leavers)
{
        struct item *item = item_of(i);

        vec_push(&leavers->items, item);
        if (item->bytes)
                return;
        c->stats.deletes++;
        c->stats.bytes_deleted += i->size_bytes;
}

/* A replaced item is only freed: its file was overwritten by the new one. */
static void put(struct fn_cache *c, struct lru *l, struct item *item, struct leavers *leavers)
{
        struct lru_item *i = lru_put(l, &item->lru);

        if (i)
                item_free(item_of(i));
        while ((i = lru_take_excess(l)))
                leave(c, i, leavers);
}

static void take_expired(struct fn_cache *c, struct lru *l, int64_t now, struct leavers *leavers)
{
        struct lru_item *older;

        for (struct lru_item *i = l->newest; i; i = older) {
                older = i->older;
                if (item_of(i)->deadline_ns >= now)
                        continue;
                lru_remove(l, i);
                leave(c, i, leavers);
        }
}

/* --- Without the mutex --- */

static void let_go(struct fn_cache *c, struct leavers *leavers)
{
        for (size_t i = 0; i < leavers->items.n; i++) {
                struct item *item = leavers->items.p[i];

                if (!item->bytes)
                        fn_cache_dir_remove(c->directory, item->lru.name);
                item_free(item);
        }
        vec_done(&leavers->items);
}

/* --- The cache --- */

static int64_t now_ns(void)
{
        struct instant now = clock_wall();

        return now.seconds * 1000000000 + now.nanos;
}

static void remember_file(void *arg, struct str name, size_t size_bytes, int64_t deadline_ns)
{
        struct fn_cache *c = arg;
        struct leavers leavers = { 0 };

        put(c, &c->files, item_new(name, NULL, size_bytes, deadline_ns), &leavers);
        let_go(c, &leavers);
}

int fn_cache_new(const struct fn_cache_options *options, struct fn_cache **ret, struct err *err)
{
        struct fn_cache *c = xcalloc(1, sizeof(*c));
        int r = 0;

        mutex_init(&c->mutex);
        c->memory.max_bytes = options->max_bytes ? options->max_bytes : LIMIT_FN_CACHE_BYTES;
        c->memory.max_entries = options->max_entries ? options->max_entries : LIMIT_FN_CACHE_ENTRIES;
        c->files.max_bytes = options->max_disk_bytes ? options->max_disk_bytes : LIMIT_FN_CACHE_DISK_BYTES;
        c->files.max_entries = options->max_disk_entries ? options->max_disk_entries : LIMIT_FN_CACHE_DISK_ENTRIES;
        c->max_ttl_ns = options->max_ttl_ns;
        c->next_sweep_ns = clock_mono_ns() + SWEEP_NS;
        c->directory = -EBADF;
        if (options->directory.n)
                r = fn_cache_dir_open(options->directory, &c->directory, err);
        if (r >= 0 && c->directory >= 0)
                r = fn_cache_dir_scan(c->directory, remember_file, c, err);
        if (r < 0) {
                fn_cache_free(c);
                return r;
        }
        fn_cache_sweep(c);
        *ret = c;
        return 0;
}

static void free_items(struct lru *l)
{
        struct lru_item *older;

        for (struct lru_item *i = l->newest; i; i = older) {
                older = i->older;
                item_free(item_of(i));
        }
        lru_done(l);
}

bool fn_cache_has_files(const struct fn_cache *c)
{
        return c->directory >= 0;
}

void fn_cache_free(struct fn_cache *c)
{
        if (!c)
                return;
        free_items(&c->memory);
        free_items(&c->files);
        cleanup_closep(&c->directory);
        mutex_done(&c->mutex);
        free(c);
}

/* Makes the key's text, which the entry keeps, and the entry's name, its digest. Names of objects contain no NUL. */
static struct str key_text(struct arena *a, const struct fn_cache_key *key, char ret_name[NAME_BYTES])
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), name = BUF_INIT(0);

        buf_append_str(&text, key->function);
        buf_append_char(&text, '\0');
        buf_append_str(&text, key->revision);
        buf_append_char(&text, '\0');
        buf_append_str(&text, key->tag);
        if (key->watches_all)
                buf_append_char(&text, '\0');
        sha256_append_hex(&name, buf_str(&text));
        memcpy(ret_name, name.p, NAME_BYTES);
        return buf_to_arena(&text, a);
}

/* --- Getting --- */

static struct bytes *find_in_memory(struct fn_cache *c, struct str name)
{
        struct bytes *bytes = NULL;
        struct lru_item *i;

        mutex_lock(&c->mutex);
        i = lru_get(&c->memory, name);
        if (i)
                bytes = bytes_ref(item_of(i)->bytes);
        lru_get(&c->files, name); /* a hit in memory also counts as use of the file */
        mutex_unlock(&c->mutex);
        return bytes;
}

/* Removes an unusable entry, expired or invalid, from memory and from the files. */
static void forget(struct fn_cache *c, struct str name, bool is_error)
{
        struct lru *const lists[] = { &c->memory, &c->files };
        struct leavers leavers = { 0 };

        mutex_lock(&c->mutex);
        c->stats.errors += is_error;
        for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
                struct lru_item *i = lru_get(lists[l], name);

                if (!i)
                        continue;
                lru_remove(lists[l], i);
                leave(c, i, &leavers);
        }
        mutex_unlock(&c->mutex);
        let_go(c, &leavers);
        if (c->directory >= 0)
                fn_cache_dir_remove(c->directory, name);
}

/* The entry's bytes from a file. Another run or another process may have written the file. */
static struct bytes *find_in_files(struct fn_cache *c, struct str name)
{
        _cleanup_bytes_ struct bytes *file = NULL;
        struct str entry;
        int r;

        if (c->directory < 0)
                return NULL;
        r = fn_cache_dir_read(c->directory, name, &file, NULL);
        if (r >= 0)
                r = fn_cache_file_read(file->str, &entry, NULL);
        if (r >= 0)
                return bytes_copy(entry);
        if (r != ERR_NOT_FOUND)
                forget(c, name, true);
        return NULL;
}

static void count_found(struct fn_cache *c, bool is_hit)
{
        mutex_lock(&c->mutex);
        c->stats.hits += is_hit;
        c->stats.misses += !is_hit;
        mutex_unlock(&c->mutex);
}

static void keep_in_memory(struct fn_cache *c, struct str name, struct bytes *bytes, int64_t deadline_ns)
{
        struct item *i = item_new(name, bytes_ref(bytes), bytes->str.n + sizeof(struct item), deadline_ns);
        struct leavers leavers = { 0 };

        mutex_lock(&c->mutex);
        put(c, &c->memory, i, &leavers);
        mutex_unlock(&c->mutex);
        let_go(c, &leavers);
}

/* Takes over the reference to bytes. */
static bool use(struct fn_cache *c, struct arena *a, struct bytes *bytes, struct str name, struct str key,
                struct fn_cached *ret)
{
        struct fn_cache_entry entry = { 0 };
        int64_t now = now_ns();
        bool is_ours, is_fresh;
        int r = fn_cache_entry_read(a, bytes->str, &entry, NULL);

        arena_pin(a, bytes, bytes_unpin);
        is_ours = r >= 0 && str_equal(entry.key, key);
        is_fresh = is_ours && fn_cache_entry_is_fresh(&entry, now);
        if (is_fresh)
                r = fn_response_decode(a, entry.response, &ret->response, NULL);
        if (!is_fresh || r < 0) {
                forget(c, name, !is_ours || r < 0);
                return false;
        }
        ret->response.ttl_ns = MAX(entry.deadline_ns - now, 1);
        ret->watched = entry.watched;
        ret->n_watched = entry.n_watched;
        return true;
}

bool fn_cache_get(struct fn_cache *c, struct arena *a, const struct fn_cache_key *key, struct fn_cached *ret)
{
        char text[NAME_BYTES];
        struct str name = str_make(text, NAME_BYTES), whole;
        struct bytes *bytes;
        bool is_hit = false, is_from_file = false;

        if (key->tag.n == 0)
                return false;
        whole = key_text(a, key, text);
        bytes = find_in_memory(c, name);
        if (!bytes) {
                bytes = find_in_files(c, name);
                is_from_file = bytes != NULL;
        }
        if (bytes)
                is_hit = use(c, a, bytes, name, whole, ret);
        if (is_hit && is_from_file)
                keep_in_memory(c, name, bytes, now_ns() + ret->response.ttl_ns);
        count_found(c, is_hit);
        return is_hit;
}

/* --- Putting --- */

/* Appends the entry after room for a file's header. */
static int make_file(struct arena *a, struct fn_cache_entry entry, const struct fn_response *rsp, struct buf *file)
{
        _cleanup_buf_ struct buf response = BUF_INIT(LIMIT_MESSAGE_BYTES);
        int r = fn_response_encode(a, rsp, &response, NULL);

        if (r < 0)
                return r;
        entry.response = buf_str(&response);
        buf_append_repeat(file, '\0', FN_CACHE_HEAD_BYTES);
        fn_cache_entry_append(file, &entry);
        return buf_check(file, "cached response", NULL);
}

static void write_file(struct fn_cache *c, struct str name, struct buf *file, int64_t deadline_ns)
{
        struct leavers leavers = { 0 };
        int r;

        fn_cache_head_write(file->p, file->n - FN_CACHE_HEAD_BYTES);
        r = fn_cache_dir_write(c->directory, name, buf_str(file), deadline_ns, NULL);
        mutex_lock(&c->mutex);
        if (r >= 0) {
                c->stats.writes++;
                c->stats.bytes_written += file->n;
                put(c, &c->files, item_new(name, NULL, file->n, deadline_ns), &leavers);
        } else {
                c->stats.errors++;
        }
        mutex_unlock(&c->mutex);
        let_go(c, &leavers);
}

static void maybe_sweep(struct fn_cache *c)
{
        int64_t now = clock_mono_ns();
        bool is_due;

        mutex_lock(&c->mutex);
        is_due = now >= c->next_sweep_ns;
        if (is_due)
                c->next_sweep_ns = now + SWEEP_NS;
        mutex_unlock(&c->mutex);
        if (is_due)
                fn_cache_sweep(c);
}

static int64_t capped_ttl(const struct fn_cache *c, int64_t ttl_ns)
{
        return c->max_ttl_ns > 0 ? MIN(ttl_ns, c->max_ttl_ns) : ttl_ns;
}

void fn_cache_put(struct fn_cache *c, struct arena *a, const struct fn_cache_key *key, const struct fn_cached *answer,
                  bool has_secrets)
{
        char text[NAME_BYTES];
        struct str name = str_make(text, NAME_BYTES);
        struct fn_cache_entry entry = { .watched = answer->watched, .n_watched = answer->n_watched };
        _cleanup_buf_ struct buf file = BUF_INIT(LIMIT_FN_CACHE_ENTRY_BYTES);
        _cleanup_bytes_ struct bytes *bytes = NULL;

        if (key->tag.n == 0 || answer->response.ttl_ns <= 0)
                return;
        entry.ttl_ns = capped_ttl(c, answer->response.ttl_ns);
        if (__builtin_add_overflow(now_ns(), entry.ttl_ns, &entry.deadline_ns))
                entry.deadline_ns = FN_CACHE_LAST_DEADLINE_NS;
        entry.deadline_ns = MIN(entry.deadline_ns, FN_CACHE_LAST_DEADLINE_NS);
        entry.key = key_text(a, key, text);
        if (make_file(a, entry, &answer->response, &file) < 0)
                return;
        bytes = bytes_copy(str_skip(buf_str(&file), FN_CACHE_HEAD_BYTES));
        keep_in_memory(c, name, bytes, entry.deadline_ns);
        if (c->directory >= 0 && !has_secrets && !redact_response_has_secrets(a, &answer->response))
                write_file(c, name, &file, entry.deadline_ns);
        maybe_sweep(c);
}

void fn_cache_sweep(struct fn_cache *c)
{
        struct leavers leavers = { 0 };
        int64_t now = now_ns();

        mutex_lock(&c->mutex);
        take_expired(c, &c->memory, now, &leavers);
        take_expired(c, &c->files, now, &leavers);
        mutex_unlock(&c->mutex);
        let_go(c, &leavers);
}

struct fn_cache_stats fn_cache_stats(struct fn_cache *c)
{
        struct fn_cache_stats s;

        mutex_lock(&c->mutex);
        s = c->stats;
        s.n_entries = c->memory.map.n;
        s.size_bytes = c->memory.size_bytes;
        s.n_files = c->files.map.n;
        s.disk_bytes = c->files.size_bytes;
        mutex_unlock(&c->mutex);
        return s;
}
