#include "fn-cache-entry.h"

#include "buf.h"
#include "digest.h"
#include "proto-wire.h"
#include "vec.h"

#define MAGIC   "weftfnc\n"
#define VERSION 1

#define NS_PER_S 1000000000

enum {
        FIELD_DEADLINE = 1,
        FIELD_RESPONSE = 2,
        FIELD_KEY = 1000,
        FIELD_TTL = 1001,
        FIELD_WATCHED = 1002,
};

/* --- Writing --- */

static void append_text(struct buf *b, uint32_t number, struct str s)
{
        if (s.n)
                proto_append_bytes_field(b, number, s);
}

static void append_watch(struct buf *b, const struct fn_watch *watch)
{
        _cleanup_buf_ struct buf contents = BUF_INIT(0);

        append_text(&contents, 1, watch->api_version);
        append_text(&contents, 2, watch->kind);
        append_text(&contents, 3, watch->name);
        append_text(&contents, 4, watch->ns);
        proto_append_bytes_field(b, FIELD_WATCHED, buf_str(&contents));
}

void fn_cache_entry_append(struct buf *b, const struct fn_cache_entry *entry)
{
        _cleanup_buf_ struct buf deadline = BUF_INIT(0);

        proto_append_varint_field(&deadline, 1, (uint64_t)(entry->deadline_ns / NS_PER_S));
        proto_append_varint_field(&deadline, 2, (uint64_t)(entry->deadline_ns % NS_PER_S));
        proto_append_bytes_field(b, FIELD_DEADLINE, buf_str(&deadline));
        proto_append_bytes_field(b, FIELD_RESPONSE, entry->response);
        proto_append_bytes_field(b, FIELD_KEY, entry->key);
        proto_append_varint_field(b, FIELD_TTL, (uint64_t)entry->ttl_ns);
        for (size_t i = 0; i < entry->n_watched; i++)
                append_watch(b, &entry->watched[i]);
}

/* --- Reading --- */

static int read_deadline(struct str bytes, int64_t *ret, struct err *err)
{
        uint64_t parts[3] = { 0 };
        struct proto_raw_field f;
        int r;

        while ((r = proto_next_field(&bytes, &f, err)) > 0)
                if (f.wire == PROTO_WIRE_VARINT && f.number < ARRAY_SIZE(parts))
                        parts[f.number] = f.scalar;
        if (r < 0)
                return r;
        if (parts[1] > FN_CACHE_LAST_DEADLINE_NS / NS_PER_S || parts[2] >= NS_PER_S)
                return err_set(err, ERR_INVALID, "its deadline is no time");
        *ret = (int64_t)parts[1] * NS_PER_S + (int64_t)parts[2];
        return 0;
}

static int read_watch(struct str bytes, struct fn_watch *ret, struct err *err)
{
        struct str *const parts[] = { NULL, &ret->api_version, &ret->kind, &ret->name, &ret->ns };
        struct proto_raw_field f;
        int r;

        *ret = (struct fn_watch) { 0 };
        while ((r = proto_next_field(&bytes, &f, err)) > 0)
                if (f.wire == PROTO_WIRE_BYTES && f.number > 0 && f.number < ARRAY_SIZE(parts))
                        *parts[f.number] = f.bytes;
        return r;
}

struct reader {
        struct fn_cache_entry *entry;
        VEC(struct fn_watch) watched;
};

static int read_field(struct reader *reader, const struct proto_raw_field *f, struct err *err)
{
        struct fn_cache_entry *entry = reader->entry;
        struct fn_watch watch;
        int r = 0;

        if (f->wire == PROTO_WIRE_VARINT && f->number == FIELD_TTL)
                entry->ttl_ns = (int64_t)f->scalar;
        if (f->wire != PROTO_WIRE_BYTES)
                return 0;
        switch (f->number) {
        case FIELD_DEADLINE:
                return read_deadline(f->bytes, &entry->deadline_ns, err);
        case FIELD_RESPONSE:
                entry->response = f->bytes;
                return 0;
        case FIELD_KEY:
                entry->key = f->bytes;
                return 0;
        case FIELD_WATCHED:
                r = read_watch(f->bytes, &watch, err);
                if (r >= 0)
                        vec_push(&reader->watched, watch);
                return r;
        default:
                return 0;
        }
}

int fn_cache_entry_read(struct arena *a, struct str bytes, struct fn_cache_entry *ret, struct err *err)
{
        struct fn_cache_entry entry = { 0 };
        struct reader reader = { .entry = &entry };
        struct proto_raw_field f;
        struct fn_watch *watched;
        int r;

        while ((r = proto_next_field(&bytes, &f, err)) > 0)
                if ((r = read_field(&reader, &f, err)) < 0)
                        break;
        if (r >= 0) {
                watched = ARENA_NEW_ARRAY(a, struct fn_watch, reader.watched.n + 1);
                if (reader.watched.n)
                        memcpy(watched, reader.watched.p, reader.watched.n * sizeof(*watched));
                entry.watched = watched;
                entry.n_watched = reader.watched.n;
                *ret = entry;
        }
        vec_done(&reader.watched);
        return r;
}

bool fn_cache_entry_is_fresh(const struct fn_cache_entry *entry, int64_t now_ns)
{
        int64_t left;

        return !__builtin_sub_overflow(entry->deadline_ns, now_ns, &left) && left >= 0 && left <= entry->ttl_ns;
}

/* --- Files --- */

void fn_cache_head_write(char *file, size_t n)
{
        const uint32_t version[2] = { VERSION, 0 };

        memcpy(file, MAGIC, 8);
        memcpy(file + 8, version, sizeof(version));
        sha256(str_make(file + FN_CACHE_HEAD_BYTES, n), (uint8_t *)file + 16);
}

int fn_cache_file_read(struct str file, struct str *ret_entry, struct err *err)
{
        struct str entry = str_skip(file, FN_CACHE_HEAD_BYTES);
        uint8_t digest[SHA256_BYTES];
        uint32_t version[2];

        if (file.n < FN_CACHE_HEAD_BYTES || memcmp(file.p, MAGIC, 8) != 0)
                return err_set(err, ERR_INVALID, "not a file of the response cache");
        memcpy(version, file.p + 8, sizeof(version));
        if (version[0] != VERSION || version[1] != 0)
                return err_set(err, ERR_UNSUPPORTED, "version %u of the format is not known", version[0]);
        sha256(entry, digest);
        if (memcmp(file.p + 16, digest, sizeof(digest)) != 0)
                return err_set(err, ERR_INVALID, "its contents are not what was written");
        *ret_entry = entry;
        return 0;
}
