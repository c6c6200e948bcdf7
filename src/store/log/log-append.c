/* Appending a batch: one transaction, which also collects the head of the log. */
#include "log-state.h"

#include "buf.h"

#define COLLECT_FACTOR 3           /* bytes looked at for each byte appended, while there is too much garbage */
#define COLLECT_LEAST  (64u << 10) /* bytes looked at in a transaction */

struct batch {
        struct sqlite_log *log;
        struct buf key;
        size_t n_bytes; /* appended */
        bool erases;
};

static bool is_secret(const struct store_record *r)
{
        return r->group.n == 0 && str_equal(r->kind, STR("Secret"));
}

static int insert(struct batch *b, struct log_row *row, struct err *err)
{
        struct sqlite_log *l = b->log;

        row->seq = l->next++;
        row->floor = l->rows.floor;
        b->n_bytes += log_row_bytes(row);
        return log_db_insert(&l->db, row, err);
}

/* The row of a Secret that is replaced: its bytes must not stay anywhere. The row itself stays, so that no seq is missing. */
static int erase(struct batch *b, uint64_t version, struct err *err)
{
        struct sqlite_log *l = b->log;
        struct live_row *known = log_rows_find(&l->rows, version);
        struct log_row row;
        int r;

        if (!known || known->flags & ROW_ERASED)
                return 0;
        b->erases = true;
        r = log_db_be_secure(&l->db, true, err);
        if (r == 0)
                r = log_db_read(&l->db, known->seq, &row, err);
        if (r < 0)
                return r;
        buf_clear(&b->key); /* the row's own key does not live as long as its statement is used again */
        buf_append_str(&b->key, row.key);
        row.key = buf_str(&b->key);
        row.flags |= ROW_ERASED;
        row.has_bytes = false;
        row.bytes = STR("");
        known->flags = row.flags;
        log_rows_resize(&l->rows, version, log_row_bytes(&row));
        sqlite3_reset(l->db.read);
        return log_db_replace(&l->db, &row, err);
}

static int append_record(struct batch *b, const struct store_record *r, struct err *err)
{
        struct sqlite_log *l = b->log;
        struct log_row row = {
                .version = r->version,
                .previous = r->previous,
                .flags = (r->is_removed ? ROW_REMOVED : 0) | (is_secret(r) ? ROW_SECRET : 0),
                .has_bytes = !r->is_removed,
                .bytes = r->bytes,
        };
        int result;

        buf_clear(&b->key);
        buf_appendf(&b->key, "%.*s/%.*s/%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->kind), STR_ARG(r->namespace_name),
                    STR_ARG(r->name));
        row.key = buf_str(&b->key);
        result = insert(b, &row, err);
        if (result < 0)
                return result;
        log_rows_add(&l->rows, &(struct live_row) { .version = row.version,
                                                    .seq = row.seq,
                                                    .older = r->previous,
                                                    .size_bytes = log_row_bytes(&row),
                                                    .flags = row.flags });
        return is_secret(r) && r->previous ? erase(b, r->previous, err) : 0;
}

/* --- Collecting --- */

static bool has_much_garbage(const struct sqlite_log *l)
{
        const struct log_rows *rows = &l->rows;

        return rows->garbage_bytes > MAX(rows->total_bytes - rows->garbage_bytes, l->options.garbage_bytes);
}

/* Takes the first row off the log; the row is appended again if it is needed. */
static int collect_row(struct batch *b, struct log_row *row, struct err *err)
{
        struct sqlite_log *l = b->log;
        struct live_row *known = log_rows_find(&l->rows, row->version);

        assert(known && known->seq == row->seq);
        if (known->flags & ROW_SECRET)
                b->erases = b->erases || row->has_bytes; /* a copy of it stays behind in the WAL */
        l->head++;
        if (!log_rows_is_needed(&l->rows, known)) {
                log_rows_remove(&l->rows, row->version);
                return 0;
        }
        known->seq = l->next;
        return insert(b, row, err);
}

static int collect(struct batch *b, struct err *err)
{
        struct sqlite_log *l = b->log;
        size_t budget = COLLECT_FACTOR * b->n_bytes + COLLECT_LEAST, spent = 0;
        uint64_t head = l->head;
        bool has_secret = false;
        int r = 0;

        while (r == 0 && spent < budget && has_much_garbage(l)) {
                struct log_row row;

                r = log_db_read(&l->db, l->head, &row, err);
                if (r < 0 || row.version > l->rows.floor)
                        break;
                spent += log_row_bytes(&row);
                has_secret = has_secret || row.flags & ROW_SECRET;
                r = collect_row(b, &row, err);
        }
        sqlite3_reset(l->db.read);
        if (r < 0 || l->head == head)
                return r;
        if (has_secret)
                r = log_db_be_secure(&l->db, true, err);
        return r < 0 ? r : log_db_remove_before(&l->db, l->head, err);
}

int log_append(struct sqlite_log *l, const struct store_record *records, size_t n, bool *ret_erases, struct err *err)
{
        struct batch b = { .log = l, .key = BUF_INIT(0) };
        int r = log_db_begin(&l->db, err);

        if (r == 0)
                r = log_db_be_secure(&l->db, false, err);
        if (r == 0)
                log_rows_set_floor(&l->rows, log_rows_next_floor(&l->rows, n, l->options.history_events,
                                                                 l->options.history_bytes));
        for (size_t i = 0; i < n && r == 0; i++)
                r = append_record(&b, &records[i], err);
        if (r == 0)
                r = collect(&b, err);
        if (r == 0)
                r = log_db_commit(&l->db, err);
        buf_done(&b.key);
        *ret_erases = b.erases;
        return r;
}
