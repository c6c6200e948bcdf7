#include "log-db.h"

#include "buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define COLUMNS "seq, version, previous, floor, flags, sum, key, bytes"

/* --- Errors --- */

int log_db_damaged(const char *path, struct err *err, const char *format, ...)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        va_list arguments;

        va_start(arguments, format);
        buf_appendv(&text, format, arguments);
        va_end(arguments);
        return err_set(err, ERR_INVALID,
                       "%s is damaged: %s; nothing was changed: restore a backup with `weft restore` into another "
                       "directory, or look at it with `weft check`",
                       path, buf_cstring(&text));
}

int log_db_error(const struct log_db *d, int rc, const char *what, struct err *err)
{
        const char *text = d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(rc);
        int primary = rc & 0xff, system = d->db ? sqlite3_system_errno(d->db) : 0;

        if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
                return log_db_damaged(d->path, err, "%s (%s)", text, what);
        if (system && (primary == SQLITE_IOERR || primary == SQLITE_FULL || primary == SQLITE_CANTOPEN))
                return err_set(err, ERR_SYSTEM, "%s %s: %s: %s", what, d->path, text, strerror(system));
        return err_set(err, ERR_SYSTEM, "%s %s: %s", what, d->path, text);
}

int log_db_exec(struct log_db *d, const char *sql, struct err *err)
{
        int rc = sqlite3_exec(d->db, sql, NULL, NULL, NULL);

        return rc == SQLITE_OK ? 0 : log_db_error(d, rc, "cannot set up", err);
}

/* --- Checksums --- */

static uint64_t mix(uint64_t h, uint64_t word)
{
        h = (h ^ word) * 0x9fb21c651e98df25ull;
        return h ^ h >> 32;
}

/* Every step is a bijection of what came before and of its own word, so that two texts which differ in one word have different sums. */
static uint64_t mix_text(uint64_t h, struct str text)
{
        uint64_t word;
        size_t i = 0;

        h = mix(h, text.n);
        for (; i + 8 <= text.n; i += 8) {
                memcpy(&word, text.p + i, 8);
                h = mix(h, word);
        }
        if (i < text.n) {
                word = 0;
                memcpy(&word, text.p + i, text.n - i);
                h = mix(h, word);
        }
        return h;
}

static uint64_t sum_of(const struct log_row *row)
{
        uint64_t h = mix(0x77656674, row->seq);

        h = mix(h, row->version);
        h = mix(h, row->previous);
        h = mix(h, row->floor);
        h = mix(h, (uint64_t)row->flags << 1 | row->has_bytes);
        h = mix_text(h, row->key);
        return mix_text(h, row->has_bytes ? row->bytes : STR(""));
}

/* --- Secrets --- */

static bool is_padded(const struct log_row *row)
{
        return row->flags & ROW_SECRET && row->has_bytes;
}

static size_t padded_size(size_t n)
{
        size_t size = SECRET_END;

        while (size < SECRET_FRONT + 4 + n)
                size += SECRET_STEP;
        return size;
}

/* The bytes with their padding, on the heap. */
static char *pad(struct str bytes, size_t *ret_n)
{
        size_t n = padded_size(bytes.n);
        char *p = xcalloc(1, n);

        for (int i = 0; i < 4; i++)
                p[SECRET_FRONT + i] = (char)(bytes.n >> 8 * i);
        if (bytes.n)
                memcpy(p + SECRET_FRONT + 4, bytes.p, bytes.n);
        *ret_n = n;
        return p;
}

/* Returns false when the padding is not as it must be. */
static bool unpad(struct str *bytes)
{
        size_t n = 0;

        if (bytes->n < SECRET_FRONT + 4)
                return false;
        for (int i = 0; i < 4; i++)
                n |= (size_t)(unsigned char)bytes->p[SECRET_FRONT + i] << 8 * i;
        if (bytes->n != padded_size(n))
                return false;
        *bytes = str_make(bytes->p + SECRET_FRONT + 4, n);
        return true;
}

uint32_t log_row_bytes(const struct log_row *row)
{
        size_t n = is_padded(row) ? padded_size(row->bytes.n) : row->has_bytes ? row->bytes.n : 0;

        return (uint32_t)(48 + row->key.n + n);
}

/* --- Connections --- */

static int open_connection(struct log_db *d, const char *path, const char *vfs, int flags, struct err *err)
{
        int rc;

        *d = (struct log_db) { .path = str_to_cstring(str_from(path)) };
        rc = sqlite3_open_v2(path, &d->db, flags | SQLITE_OPEN_NOMUTEX, vfs);
        if (rc != SQLITE_OK)
                return log_db_error(d, rc, "cannot open", err);
        sqlite3_extended_result_codes(d->db, 1);
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        return log_db_exec(d, "PRAGMA cell_size_check=ON", err);
}

static int create_file(const char *path, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

        return fd < 0 ? err_set_errno(err, errno, "cannot create %s", path) : 0;
}

int log_db_create(const char *path, const char *vfs, struct err *err)
{
        char sql[512];
        struct log_db d = { 0 };
        int r = create_file(path, err);

        if (r < 0)
                return r;
        snprintf(
                sql, sizeof(sql),
                "PRAGMA page_size=%d; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=FULL; BEGIN; "
                "PRAGMA application_id=%d; PRAGMA user_version=%d; "
                "CREATE TABLE log(seq INTEGER PRIMARY KEY, version INTEGER NOT NULL, previous INTEGER NOT NULL, "
                "floor INTEGER NOT NULL, flags INTEGER NOT NULL, sum INTEGER NOT NULL, key TEXT NOT NULL, bytes BLOB); "
                "COMMIT",
                LOG_PAGE_BYTES, LOG_APPLICATION_ID, LOG_FORMAT);
        r = open_connection(&d, path, vfs, SQLITE_OPEN_READWRITE, err);
        if (r == 0)
                r = log_db_exec(&d, sql, err);
        log_db_close(&d);
        return r;
}

static int read_number(struct log_db *d, const char *sql, int64_t *ret, struct err *err)
{
        sqlite3_stmt *s = NULL;
        int rc = sqlite3_prepare_v2(d->db, sql, -1, &s, NULL);

        if (rc == SQLITE_OK)
                rc = sqlite3_step(s);
        if (rc == SQLITE_ROW)
                *ret = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
        return rc == SQLITE_ROW ? 0 : log_db_error(d, rc, "cannot read", err);
}

static int check_format(struct log_db *d, int64_t *ret_format, struct err *err)
{
        int64_t application = 0, format = 0;
        int r = read_number(d, "PRAGMA application_id", &application, err);

        if (r == 0)
                r = read_number(d, "PRAGMA user_version", &format, err);
        *ret_format = format;
        if (r < 0)
                return r;
        if (application != LOG_APPLICATION_ID)
                return log_db_damaged(d->path, err, "it is not a log of Weft");
        if (format > LOG_FORMAT)
                return err_set(err, ERR_UNSUPPORTED,
                               "%s was written by a newer version of Weft (format %lld, this one knows up to %d): "
                               "install that version or a newer one, or restore a backup that this version wrote",
                               d->path, (long long)format, LOG_FORMAT);
        if (format < 1)
                return log_db_damaged(d->path, err, "it has format %lld, which no version of Weft wrote",
                                      (long long)format);
        return 0;
}

static int prepare(struct log_db *d, const char *sql, sqlite3_stmt **ret, struct err *err)
{
        int rc = sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

        return rc == SQLITE_OK ? 0 : log_db_error(d, rc, "cannot use", err);
}

static int prepare_writes(struct log_db *d, bool is_synced, struct err *err)
{
        int r = log_db_exec(d,
                            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; "
                            "PRAGMA temp_store=MEMORY; PRAGMA secure_delete=OFF",
                            err);

        if (r == 0 && !is_synced)
                r = log_db_exec(d, "PRAGMA synchronous=OFF", err);
        if (r == 0)
                r = prepare(d, "INSERT INTO log(" COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?)", &d->insert, err);
        if (r == 0)
                r = prepare(d,
                            "UPDATE log SET version=?2, previous=?3, floor=?4, flags=?5, sum=?6, key=?7, bytes=?8 "
                            "WHERE seq=?1",
                            &d->replace, err);
        if (r == 0)
                r = prepare(d, "DELETE FROM log WHERE seq < ?", &d->remove, err);
        if (r == 0)
                r = prepare(d, "BEGIN IMMEDIATE", &d->begin, err);
        if (r == 0)
                r = prepare(d, "COMMIT", &d->commit, err);
        return r;
}

/* An older Weft then refuses the file as a whole, not the first row that it cannot read. */
static int raise_format(struct log_db *d, struct err *err)
{
        char sql[64];

        snprintf(sql, sizeof(sql), "PRAGMA user_version=%d", LOG_FORMAT);
        return log_db_exec(d, sql, err);
}

int log_db_open(struct log_db *d, const char *path, const char *vfs, enum log_db_mode mode, struct err *err)
{
        int flags = mode == LOG_DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
        int r = open_connection(d, path, vfs, flags, err);
        int64_t format = 0;

        if (r == 0)
                r = check_format(d, &format, err);
        if (r == 0 && mode != LOG_DB_READ)
                r = prepare_writes(d, mode == LOG_DB_WRITE, err);
        if (r == 0 && mode != LOG_DB_READ && format < LOG_FORMAT)
                r = raise_format(d, err);
        if (r == 0)
                r = prepare(d, "SELECT " COLUMNS " FROM log WHERE seq=?", &d->read, err);
        if (r < 0)
                log_db_close(d);
        return r;
}

void log_db_close(struct log_db *d)
{
        sqlite3_finalize(d->insert);
        sqlite3_finalize(d->read);
        sqlite3_finalize(d->replace);
        sqlite3_finalize(d->remove);
        sqlite3_finalize(d->begin);
        sqlite3_finalize(d->commit);
        sqlite3_close(d->db);
        free(d->path);
        *d = (struct log_db) { 0 };
}

/* --- Writing --- */

static int run(struct log_db *d, sqlite3_stmt *s, const char *what, struct err *err)
{
        int rc = sqlite3_step(s), r = 0;

        if (rc != SQLITE_DONE)
                r = log_db_error(d, rc, what, err);
        sqlite3_reset(s);
        return r;
}

int log_db_begin(struct log_db *d, struct err *err)
{
        return run(d, d->begin, "cannot write to", err);
}

int log_db_commit(struct log_db *d, struct err *err)
{
        sqlite3_reset(d->read); /* an open read would keep its snapshot */
        return run(d, d->commit, "cannot write to", err);
}

static int put_row(struct log_db *d, sqlite3_stmt *s, const struct log_row *row, struct err *err)
{
        _cleanup_free_ char *padded = NULL;
        size_t n = row->bytes.n;
        int r;

        if (is_padded(row))
                padded = pad(row->bytes, &n);
        sqlite3_bind_int64(s, 1, (int64_t)row->seq);
        sqlite3_bind_int64(s, 2, (int64_t)row->version);
        sqlite3_bind_int64(s, 3, (int64_t)row->previous);
        sqlite3_bind_int64(s, 4, (int64_t)row->floor);
        sqlite3_bind_int64(s, 5, row->flags);
        sqlite3_bind_int64(s, 6, (int64_t)sum_of(row));
        sqlite3_bind_text(s, 7, row->key.p ? row->key.p : "", (int)row->key.n, SQLITE_STATIC);
        if (row->has_bytes)
                sqlite3_bind_blob64(s, 8, padded ? padded : row->bytes.p, n, SQLITE_STATIC);
        else
                sqlite3_bind_null(s, 8);
        r = run(d, s, "cannot write to", err);
        sqlite3_clear_bindings(s);
        return r;
}

int log_db_insert(struct log_db *d, const struct log_row *row, struct err *err)
{
        return put_row(d, d->insert, row, err);
}

int log_db_replace(struct log_db *d, const struct log_row *row, struct err *err)
{
        return put_row(d, d->replace, row, err);
}

int log_db_remove_before(struct log_db *d, uint64_t seq, struct err *err)
{
        sqlite3_bind_int64(d->remove, 1, (int64_t)seq);
        return run(d, d->remove, "cannot write to", err);
}

int log_db_be_secure(struct log_db *d, bool is_secure, struct err *err)
{
        int r;

        if (d->is_secure == is_secure)
                return 0;
        r = log_db_exec(d, is_secure ? "PRAGMA secure_delete=ON" : "PRAGMA secure_delete=OFF", err);
        if (r == 0)
                d->is_secure = is_secure;
        return r;
}

/* --- Reading --- */

static bool is_plausible(const struct log_row *row)
{
        return row->version && row->version <= LOG_MAX_VERSION && row->previous < row->version &&
               row->floor <= LOG_MAX_VERSION && row->seq <= LOG_MAX_VERSION;
}

/* The row of a statement over COLUMNS; checks its sum. */
static int take_row(struct log_db *d, sqlite3_stmt *s, struct log_row *ret, struct err *err)
{
        struct log_row row = {
                .seq = (uint64_t)sqlite3_column_int64(s, 0),
                .version = (uint64_t)sqlite3_column_int64(s, 1),
                .previous = (uint64_t)sqlite3_column_int64(s, 2),
                .floor = (uint64_t)sqlite3_column_int64(s, 3),
                .flags = (uint32_t)sqlite3_column_int64(s, 4),
                .has_bytes = sqlite3_column_type(s, 7) == SQLITE_BLOB,
        };
        const void *key = sqlite3_column_blob(s, 6), *bytes = row.has_bytes ? sqlite3_column_blob(s, 7) : NULL;

        row.key = str_make(key, key ? (size_t)sqlite3_column_bytes(s, 6) : 0);
        row.bytes = str_make(bytes, bytes ? (size_t)sqlite3_column_bytes(s, 7) : 0);
        if (sqlite3_errcode(d->db) == SQLITE_NOMEM)
                return log_db_error(d, SQLITE_NOMEM, "cannot read", err);
        if (is_padded(&row) && !unpad(&row.bytes))
                return log_db_damaged(d->path, err, "the bytes of row %llu are wrong", (unsigned long long)row.seq);
        if ((uint64_t)sqlite3_column_int64(s, 5) != sum_of(&row) || !is_plausible(&row))
                return log_db_damaged(d->path, err, "the checksum of row %llu is wrong", (unsigned long long)row.seq);
        *ret = row;
        return 0;
}

int log_db_read(struct log_db *d, uint64_t seq, struct log_row *ret, struct err *err)
{
        int rc;

        sqlite3_reset(d->read);
        sqlite3_bind_int64(d->read, 1, (int64_t)seq);
        rc = sqlite3_step(d->read);
        if (rc == SQLITE_ROW)
                return take_row(d, d->read, ret, err);
        sqlite3_reset(d->read);
        if (rc == SQLITE_DONE)
                return log_db_damaged(d->path, err, "row %llu is missing", (unsigned long long)seq);
        return log_db_error(d, rc, "cannot read", err);
}

int log_db_scan(struct log_db *d, uint64_t from, uint64_t to,
                int (*fn)(void *arg, const struct log_row *row, struct err *err), void *arg, struct err *err)
{
        sqlite3_stmt *s = NULL;
        struct log_row row;
        int rc, r = prepare(d, "SELECT " COLUMNS " FROM log WHERE version BETWEEN ? AND ? ORDER BY seq", &s, err);

        if (r < 0)
                return r;
        sqlite3_bind_int64(s, 1, (int64_t)from);
        sqlite3_bind_int64(s, 2, to > INT64_MAX ? INT64_MAX : (int64_t)to);
        while (r == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
                r = take_row(d, s, &row, err);
                if (r == 0)
                        r = fn(arg, &row, err);
        }
        if (r == 0 && rc != SQLITE_DONE)
                r = log_db_error(d, rc, "cannot read", err);
        sqlite3_finalize(s);
        return r;
}

int log_db_range(struct log_db *d, uint64_t *ret_first, uint64_t *ret_last, struct err *err)
{
        int64_t first = 0, last = 0;
        int r = read_number(d, "SELECT ifnull(min(seq), 0) FROM log", &first, err);

        if (r == 0)
                r = read_number(d, "SELECT ifnull(max(seq), 0) FROM log", &last, err);
        *ret_first = (uint64_t)first;
        *ret_last = (uint64_t)last;
        return r;
}

int log_db_last(struct log_db *d, struct log_row *ret, struct err *err)
{
        int64_t seq = 0;
        int r = read_number(d, "SELECT ifnull(max(seq), -1) FROM log", &seq, err);

        if (r < 0 || seq < 0)
                return r;
        r = log_db_read(d, (uint64_t)seq, ret, err);
        ret->key = ret->bytes = STR("");
        sqlite3_reset(d->read);
        return r < 0 ? r : 1;
}
