/* A file of the response cache. The first byte chooses: the rest is a whole file, or an entry that gets a valid head, so that the
 * code after the check of the digest is reached too. An entry that can be read is written and read again, and must be the same. */
#include "fuzz.h"

#include "buf.h"
#include "fn-cache-entry.h"

static void check_same(const struct fn_cache_entry *x, const struct fn_cache_entry *y)
{
        assert(x->deadline_ns == y->deadline_ns && x->ttl_ns == y->ttl_ns && x->n_watched == y->n_watched);
        assert(str_equal(x->key, y->key) && str_equal(x->response, y->response));
        for (size_t i = 0; i < x->n_watched; i++) {
                assert(str_equal(x->watched[i].api_version, y->watched[i].api_version));
                assert(str_equal(x->watched[i].kind, y->watched[i].kind));
                assert(str_equal(x->watched[i].ns, y->watched[i].ns));
                assert(str_equal(x->watched[i].name, y->watched[i].name));
        }
}

static void check_entry(struct arena *a, struct str bytes)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct fn_cache_entry entry, again;
        struct fn_response rsp;
        int r;

        if (fn_cache_entry_read(a, bytes, &entry, NULL) < 0)
                return;
        assert(entry.deadline_ns >= 0 && entry.deadline_ns < FN_CACHE_LAST_DEADLINE_NS + 1000000000);
        assert(!fn_cache_entry_is_fresh(&entry, entry.deadline_ns + 1));
        (void)fn_response_decode(a, entry.response, &rsp, NULL);
        fn_cache_entry_append(&b, &entry);
        r = fn_cache_entry_read(a, buf_str(&b), &again, NULL);
        assert(r >= 0);
        check_same(&entry, &again);
}

static void check_with_head(struct arena *a, struct str bytes)
{
        char *file = arena_alloc_array(a, bytes.n + FN_CACHE_HEAD_BYTES, 1);
        struct str entry;
        int r;

        if (bytes.n)
                memcpy(file + FN_CACHE_HEAD_BYTES, bytes.p, bytes.n);
        fn_cache_head_write(file, bytes.n);
        r = fn_cache_file_read(str_make(file, bytes.n + FN_CACHE_HEAD_BYTES), &entry, NULL);
        assert(r >= 0 && str_equal(entry, bytes));
        check_entry(a, entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str bytes = { (const char *)data, size }, entry;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "fuzz", 0);
        if (size == 0)
                return 0;
        bytes = str_skip(bytes, 1);
        if (data[0] & 1)
                check_with_head(&a, bytes);
        else if (fn_cache_file_read(bytes, &entry, NULL) >= 0)
                check_entry(&a, entry);
        return 0;
}
