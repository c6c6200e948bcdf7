#include "run-records.h"

#include "buf.h"
#include "bytes.h"
#include "compact.h"
#include "map.h"

#include <stdio.h>

/* Bytes that several records may use. */
struct part {
        struct bytes *bytes;
        unsigned n_users;
};

struct record {
        struct record *newer, *older; /* of all objects */
        struct record *previous;      /* the run of the same object before this one */
        struct record_key *key;
        struct part *run;
        size_t n_changes;
        struct part *changes[];
};

struct record_key {
        struct record *newest;
        size_t n;
        struct str text;
        char bytes[];
};

struct run_records {
        size_t max_bytes;
        size_t max_per_key;

        struct mutex mutex; /* guards all below */
        struct map keys;
        struct record *newest, *oldest;
        struct run_records_stats stats;
};

/* --- Parts: with the mutex held --- */

static size_t part_bytes(const struct part *p)
{
        return sizeof(*p) + sizeof(*p->bytes) + p->bytes->str.n;
}

static struct part *part_new(struct run_records *r, struct bytes *bytes)
{
        struct part *p = xcalloc(1, sizeof(*p));

        p->bytes = bytes;
        p->n_users = 1;
        r->stats.size_bytes += part_bytes(p);
        return p;
}

static void part_drop(struct run_records *r, struct part *p)
{
        if (!p || --p->n_users > 0)
                return;
        r->stats.size_bytes -= part_bytes(p);
        bytes_unref(p->bytes);
        free(p);
}

/* The part of the run before with the same bytes, or a new one. Takes the reference over. */
static struct part *part_share(struct run_records *r, const struct record *before, size_t i, struct bytes *bytes)
{
        struct part *p = before && i < before->n_changes ? before->changes[i] : NULL;

        if (!p || !str_equal(p->bytes->str, bytes->str))
                return part_new(r, bytes);
        bytes_unref(bytes);
        p->n_users++;
        return p;
}

/* --- Keys --- */

static struct str key_text(struct buf *b, const struct object_key *key)
{
        buf_appendf(b, "%.*s/%.*s/%.*s/%.*s", STR_ARG(key->gvk.group), STR_ARG(key->gvk.kind), STR_ARG(key->ns),
                    STR_ARG(key->name));
        return buf_str(b);
}

static size_t key_bytes(const struct record_key *k)
{
        return sizeof(*k) + k->text.n;
}

static struct record_key *need_key(struct run_records *r, struct str text)
{
        struct record_key *k = map_get(&r->keys, text);

        if (k)
                return k;
        k = xcalloc(1, sizeof(*k) + text.n);
        memcpy(k->bytes, text.p, text.n);
        k->text = str_make(k->bytes, text.n);
        map_add(&r->keys, k->text, k);
        r->stats.size_bytes += key_bytes(k);
        return k;
}

static void drop_key_if_empty(struct run_records *r, struct record_key *k)
{
        if (k->n > 0)
                return;
        map_remove(&r->keys, k->text);
        r->stats.size_bytes -= key_bytes(k);
        free(k);
}

/* --- Records: with the mutex held --- */

static size_t record_bytes(const struct record *record)
{
        return sizeof(*record) + record->n_changes * sizeof(record->changes[0]);
}

static void unlink_record(struct run_records *r, struct record *record)
{
        *(record->newer ? &record->newer->older : &r->newest) = record->older;
        *(record->older ? &record->older->newer : &r->oldest) = record->newer;
}

static void drop_record(struct run_records *r, struct record *record)
{
        unlink_record(r, record);
        part_drop(r, record->run);
        for (size_t i = 0; i < record->n_changes; i++)
                part_drop(r, record->changes[i]);
        r->stats.size_bytes -= record_bytes(record);
        r->stats.n_records--;
        free(record);
}

/* Drops the oldest record of an object. */
static void drop_oldest_of(struct run_records *r, struct record_key *k)
{
        struct record **place = &k->newest;

        while ((*place)->previous)
                place = &(*place)->previous;
        drop_record(r, TAKE(*place));
        k->n--;
}

static void keep_limits(struct run_records *r, struct record_key *k)
{
        while (k->n > r->max_per_key)
                drop_oldest_of(r, k);
        while (r->stats.size_bytes > r->max_bytes && r->oldest) {
                struct record_key *oldest = r->oldest->key;

                drop_oldest_of(r, oldest);
                drop_key_if_empty(r, oldest);
        }
}

static void link_record(struct run_records *r, struct record_key *k, struct record *record)
{
        record->key = k;
        record->previous = k->newest;
        record->older = r->newest;
        if (r->newest)
                r->newest->newer = record;
        else
                r->oldest = record;
        r->newest = record;
        k->newest = record;
        k->n++;
        r->stats.size_bytes += record_bytes(record);
        r->stats.n_records++;
        r->stats.n_added++;
}

/* --- Adding --- */

/* NULL: it is larger than a buffer may be. */
static struct bytes *encode(const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        compact_encode(&b, v);
        return b.has_failed ? NULL : bytes_copy(buf_str(&b));
}

static struct bytes *encode_change(const struct run_records *r, const struct value *v)
{
        struct bytes *bytes = encode(v);
        struct value text;
        char left_out[80];

        if (bytes && bytes->str.n <= r->max_bytes / 8)
                return bytes;
        snprintf(left_out, sizeof(left_out), "changes of more than %zu bytes are not kept", r->max_bytes / 8);
        bytes_unref(bytes);
        text = value_of_str(str_from(left_out));
        return encode(&text);
}

void run_records_add(struct run_records *r, const struct object_key *key, const struct run_record *record)
{
        struct bytes **changes = xcalloc(record->n_changes + 1, sizeof(*changes));
        struct bytes *run = encode_change(r, record->run);
        struct record *kept = xcalloc(1, sizeof(*kept) + record->n_changes * sizeof(kept->changes[0]));
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct record_key *k;

        for (size_t i = 0; i < record->n_changes; i++)
                if (record->changes[i])
                        changes[i] = encode_change(r, record->changes[i]);
        key_text(&text, key);
        mutex_lock(&r->mutex);
        k = need_key(r, buf_str(&text));
        kept->n_changes = record->n_changes;
        kept->run = part_new(r, run);
        for (size_t i = 0; i < record->n_changes; i++)
                if (changes[i])
                        kept->changes[i] = part_share(r, k->newest, i, changes[i]);
        link_record(r, k, kept);
        keep_limits(r, k);
        mutex_unlock(&r->mutex);
        free(changes);
}

/* --- Reading --- */

/* A record as bytes that stay, for decoding without the mutex. */
struct taken {
        struct bytes *run;
        struct bytes **changes;
        size_t n_changes;
};

static struct bytes *pin(struct arena *a, const struct part *p)
{
        if (!p)
                return NULL;
        arena_pin(a, bytes_ref(p->bytes), bytes_unpin);
        return p->bytes;
}

static void take(struct arena *a, const struct record *record, struct taken *ret)
{
        ret->run = pin(a, record->run);
        ret->changes = ARENA_NEW_ARRAY(a, struct bytes *, record->n_changes + 1);
        ret->n_changes = record->n_changes;
        for (size_t i = 0; i < record->n_changes; i++)
                ret->changes[i] = pin(a, record->changes[i]);
}

static const struct value *decode(struct arena *a, const struct bytes *bytes)
{
        const struct value *v = NULL;

        if (bytes && compact_decode(a, bytes->str, &v, NULL) < 0)
                return NULL; /* over the arena's budget; the bytes are our own */
        return v;
}

static void decode_record(struct arena *a, const struct taken *from, struct run_record *ret)
{
        const struct value **changes = ARENA_NEW_ARRAY(a, const struct value *, from->n_changes + 1);

        for (size_t i = 0; i < from->n_changes; i++)
                changes[i] = decode(a, from->changes[i]);
        *ret = (struct run_record) { decode(a, from->run), changes, from->n_changes };
        if (!value_is_object(ret->run))
                ret->run = &value_empty_object;
}

size_t run_records_get(struct run_records *r, const struct object_key *key, size_t most, struct arena *a,
                       const struct run_record **ret)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct taken *taken;
        struct run_record *all;
        struct record_key *k;
        size_t n = 0;

        key_text(&text, key);
        mutex_lock(&r->mutex);
        k = map_get(&r->keys, buf_str(&text));
        taken = ARENA_NEW_ARRAY(a, struct taken, (k ? k->n : 0) + 1);
        for (const struct record *record = k ? k->newest : NULL; record && n < most; record = record->previous)
                take(a, record, &taken[n++]);
        mutex_unlock(&r->mutex);
        all = ARENA_NEW_ARRAY(a, struct run_record, n + 1);
        for (size_t i = 0; i < n; i++)
                decode_record(a, &taken[i], &all[i]);
        *ret = all;
        return n;
}

struct run_records_stats run_records_stats(struct run_records *r)
{
        struct run_records_stats stats;

        mutex_lock(&r->mutex);
        stats = r->stats;
        stats.n_keys = r->keys.n;
        mutex_unlock(&r->mutex);
        return stats;
}

/* --- Life --- */

struct run_records *run_records_new(size_t max_bytes, size_t max_per_key)
{
        struct run_records *r = xcalloc(1, sizeof(*r));

        r->max_bytes = max_bytes ? max_bytes : RUN_RECORDS_BYTES;
        r->max_per_key = max_per_key ? max_per_key : RUN_RECORDS_PER_KEY;
        mutex_init(&r->mutex);
        return r;
}

void run_records_free(struct run_records *r)
{
        if (!r)
                return;
        while (r->oldest) {
                struct record_key *k = r->oldest->key;

                drop_oldest_of(r, k);
                drop_key_if_empty(r, k);
        }
        map_done(&r->keys);
        mutex_done(&r->mutex);
        free(r);
}
