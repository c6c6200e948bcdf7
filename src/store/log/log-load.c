/* Opening a log: all rows are read and checked, then given to a store. */
#include "log-state.h"

#include "arena.h"
#include "map.h"
#include "vec.h"

struct loaded {
        struct live_row row;
        struct str key;
        uint64_t previous;
};

struct loading {
        const char *path;
        struct arena arena;
        VEC(struct loaded) rows;
        uint64_t next_seq;
};

static int load_row(void *arg, const struct log_row *row, struct err *err)
{
        struct loading *l = arg;

        if (l->rows.n && row->seq != l->next_seq)
                return log_db_damaged(l->path, err, "row %llu is missing", (unsigned long long)l->next_seq);
        l->next_seq = row->seq + 1;
        vec_push(&l->rows, (struct loaded) { .row = { .version = row->version,
                                                      .seq = row->seq,
                                                      .size_bytes = log_row_bytes(row),
                                                      .flags = row->flags },
                                             .key = arena_copy(&l->arena, row->key),
                                             .previous = row->previous });
        return 0;
}

static int compare_versions(const void *a, const void *b)
{
        uint64_t x = ((const struct loaded *)a)->row.version, y = ((const struct loaded *)b)->row.version;

        return (x > y) - (x < y);
}

/* Every version of the history is there, once, and in the order of seq. */
static int check_history(const struct loading *l, uint64_t floor, uint64_t version, struct err *err)
{
        uint64_t wanted = floor + 1, seq = 0;

        for (size_t i = 0; i < l->rows.n; i++) {
                const struct live_row *row = &l->rows.p[i].row;

                if (i && row->version == l->rows.p[i - 1].row.version)
                        return log_db_damaged(l->path, err, "version %llu is there twice",
                                              (unsigned long long)row->version);
                if (row->version <= floor)
                        continue;
                if (row->version != wanted++ || row->seq < seq)
                        return log_db_damaged(l->path, err, "version %llu is missing",
                                              (unsigned long long)(wanted - 1));
                seq = row->seq;
        }
        if (wanted != version + 1)
                return log_db_damaged(l->path, err, "version %llu is missing", (unsigned long long)wanted);
        return 0;
}

/* Links the rows of each key. */
static void index_rows(struct loading *l, struct log_rows *rows)
{
        _cleanup_map_ struct map newest = { 0 }; /* key -> index into the rows + 1 */

        for (size_t i = 0; i < l->rows.n; i++) {
                struct loaded *loaded = &l->rows.p[i];
                uintptr_t older = (uintptr_t)map_set(&newest, loaded->key, (void *)(i + 1));

                loaded->row.older = older ? l->rows.p[older - 1].row.version : 0;
                log_rows_add(rows, &loaded->row);
        }
}

int log_load(struct log_db *db, struct log_rows *rows, uint64_t *ret_head, uint64_t *ret_next, struct err *err)
{
        struct loading l = { .path = db->path };
        struct log_row last = { 0 };
        int r = log_db_last(db, &last, err);

        *rows = (struct log_rows) { .floor = last.floor, .version = last.floor };
        *ret_head = *ret_next = 1;
        if (r <= 0)
                return r;
        arena_init(&l.arena, "loading", 0);
        r = log_db_scan(db, 0, UINT64_MAX, load_row, &l, err);
        if (r == 0 && (l.rows.n == 0 || l.next_seq != last.seq + 1))
                r = log_db_damaged(db->path, err, "row %llu is missing", (unsigned long long)l.next_seq);
        if (r == 0) {
                *ret_head = l.rows.p[0].row.seq;
                *ret_next = l.next_seq;
                qsort(l.rows.p, l.rows.n, sizeof(*l.rows.p), compare_versions);
                r = check_history(&l, last.floor, MAX(vec_last(&l.rows)->row.version, last.floor), err);
        }
        if (r == 0)
                index_rows(&l, rows);
        vec_done(&l.rows);
        arena_done(&l.arena);
        return r;
}

/* --- Replay --- */

struct replaying {
        const char *path;
        const struct log_rows *rows;
        const struct store_replay *to;
        bool is_state; /* of the version where the history begins */
};

static int split_key(const struct replaying *p, const struct log_row *row, struct store_record *ret, struct err *err)
{
        struct str *parts[] = { &ret->group, &ret->kind, &ret->namespace_name };
        struct str rest = row->key;

        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                const char *slash = rest.n ? memchr(rest.p, '/', rest.n) : NULL;

                if (!slash)
                        return log_db_damaged(p->path, err, "the key of row %llu is wrong",
                                              (unsigned long long)row->seq);
                *parts[i] = str_make(rest.p, (size_t)(slash - rest.p));
                rest = str_skip(rest, (size_t)(slash - rest.p) + 1);
        }
        ret->name = rest;
        return 0;
}

static int replay_row(void *arg, const struct log_row *row, struct err *err)
{
        const struct replaying *p = arg;
        const struct live_row *known = log_rows_find(p->rows, row->version);
        struct store_record record = {
                .version = row->version,
                .previous = row->previous,
                .is_removed = row->flags & ROW_REMOVED,
                .is_erased = row->flags & ROW_ERASED,
                .is_state = p->is_state,
                .bytes = row->has_bytes && row->bytes.n ? row->bytes : STR(""),
        };
        int r;

        if (!known)
                return log_db_damaged(p->path, err, "row %llu changed while it was read", (unsigned long long)row->seq);
        if (p->is_state && (row->flags & (ROW_REMOVED | ROW_ERASED | ROW_MARK) || !log_rows_is_needed(p->rows, known)))
                return 0;
        r = split_key(p, row, &record, err);
        if (r == 0)
                r = p->to->record(p->to->arg, &record, err);
        return r < 0 ? err_wrap(err, "cannot use version %llu of %s", (unsigned long long)row->version, p->path) : 0;
}

int log_replay(struct log_db *db, const struct log_rows *rows, const struct store_replay *to, struct err *err)
{
        struct replaying p = { .path = db->path, .rows = rows, .to = to, .is_state = true };
        int r = to->begin(to->arg, rows->floor, rows->version, err);

        if (r == 0 && rows->floor)
                r = log_db_scan(db, 0, rows->floor, replay_row, &p, err);
        p.is_state = false;
        if (r == 0 && rows->version > rows->floor)
                r = log_db_scan(db, rows->floor + 1, UINT64_MAX, replay_row, &p, err);
        return r;
}
