/* Backups: a copy that SQLite makes in one read transaction, without the free pages of the file. */
#include "log-state.h"

#include "buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* --- Copies --- */

static int create_private(const char *path, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

        return fd < 0 ? err_set_errno(err, errno, "cannot create %s", path) : 0;
}

static int sync_file(const char *path, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);

        return fd < 0 || fsync(fd) < 0 ? err_set_errno(err, errno, "cannot sync %s", path) : 0;
}

static int copy_database(struct log_db *from, const char *to, struct err *err)
{
        sqlite3_stmt *s = NULL;
        int rc = sqlite3_prepare_v2(from->db, "VACUUM INTO ?", -1, &s, NULL), r = 0;

        if (rc == SQLITE_OK)
                rc = sqlite3_bind_text(s, 1, to, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(s);
        if (rc != SQLITE_DONE)
                r = log_db_error(from, rc, "cannot write the copy of", err);
        sqlite3_finalize(s);
        return r < 0 ? r : sync_file(to, err);
}

/* Reads all rows of the database: its newest version, or an error. */
static int check_database(const char *path, uint64_t *ret_version, struct err *err)
{
        struct log_rows rows = { 0 };
        struct log_db db = { 0 };
        uint64_t head, next;
        int r = log_db_open(&db, path, NULL, LOG_DB_READ, err);

        if (r == 0)
                r = log_load(&db, &rows, &head, &next, err);
        if (r == 0)
                *ret_version = rows.version;
        log_rows_done(&rows);
        log_db_close(&db);
        return r;
}

/* A copy in a new file beside its final name, checked. */
static int copy_checked(const char *from, const char *to, uint64_t *ret_version, struct err *err)
{
        struct log_db db = { 0 };
        int r = log_db_open(&db, from, NULL, LOG_DB_READ, err);

        if (r == 0)
                r = create_private(to, err);
        if (r == 0) {
                r = copy_database(&db, to, err);
                if (r == 0)
                        r = check_database(to, ret_version, err);
                if (r < 0) {
                        unlink(to);
                        r = err_wrap(err, "cannot copy %s", from);
                }
        }
        log_db_close(&db);
        return r;
}

/* The directory that the file is in, on the heap. */
static char *parent_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        if (!slash)
                return str_to_cstring(STR("."));
        return str_to_cstring(slash == path ? STR("/") : str_make(path, (size_t)(slash - path)));
}

/* Gives the file its final name, which must not exist. */
static int put_in_place(const char *temporary, const char *path, struct err *err)
{
        _cleanup_free_ char *parent = parent_of(path);

        if (link(temporary, path) < 0)
                return err_set_errno(err, errno, "cannot create %s", path);
        unlink(temporary);
        return log_directory_sync(parent, err);
}

static char *with_suffix(const char *path, const char *suffix)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s%s", path, suffix);
        return buf_take(&b);
}

static int back_up(const char *database, const char *file, uint64_t *ret_version, struct err *err)
{
        _cleanup_free_ char *temporary = with_suffix(file, ".partial");
        uint64_t version = 0;
        int r;

        if (access(file, F_OK) == 0)
                return err_set(err, ERR_EXISTS, "%s exists already: give the name of a new file", file);
        unlink(temporary);
        r = copy_checked(database, temporary, &version, err);
        if (r == 0)
                r = put_in_place(temporary, file, err);
        if (r < 0)
                unlink(temporary);
        else if (ret_version)
                *ret_version = version;
        return r;
}

int sqlite_log_backup(struct sqlite_log *log, const char *file, uint64_t *ret_version, struct err *err)
{
        return back_up(log->path, file, ret_version, err);
}

int sqlite_log_backup_directory(const char *directory, const char *file, uint64_t *ret_version, struct err *err)
{
        _cleanup_free_ char *database = log_directory_file(directory, LOG_DATABASE);

        if (access(database, F_OK) < 0)
                return err_set_errno(err, errno, "directory %s has no log: cannot open %s", directory, database);
        return back_up(database, file, ret_version, err);
}

/* --- Restoring --- */

/* The row with which the restored log goes on: all older versions are history that nobody can ask for. */
static int append_mark(const char *path, uint64_t version, struct err *err)
{
        struct log_row last = { 0 }, mark = { .version = version, .floor = version, .flags = ROW_MARK };
        struct log_db db = { 0 };
        int r = log_db_open(&db, path, NULL, LOG_DB_WRITE, err);

        if (r == 0)
                r = log_db_last(&db, &last, err);
        mark.seq = last.seq + 1;
        if (r >= 0)
                r = log_db_begin(&db, err);
        if (r == 0)
                r = log_db_insert(&db, &mark, err);
        if (r == 0)
                r = log_db_commit(&db, err);
        if (r == 0)
                r = log_db_exec(&db, "PRAGMA journal_mode=DELETE", err); /* one file again */
        log_db_close(&db);
        return r;
}

static int check_free(const struct log_directory *d, const char *database, struct err *err)
{
        if (access(database, F_OK) == 0)
                return err_set(err, ERR_EXISTS, "directory %s has a log already: give a new directory", d->path);
        if (d->acknowledged)
                return err_set(
                        err, ERR_EXISTS,
                        "directory %s had a log, of version %llu, whose file %s is missing: give a new directory",
                        d->path, (unsigned long long)d->acknowledged, database);
        return 0;
}

static int restore_into(const struct log_directory *d, const char *file, uint64_t *ret_version, struct err *err)
{
        _cleanup_free_ char *database = log_directory_file(d->path, LOG_DATABASE),
                            *temporary = with_suffix(database, ".new");
        int r = check_free(d, database, err);

        if (r < 0)
                return r;
        unlink(temporary);
        r = copy_checked(file, temporary, ret_version, err);
        if (r < 0)
                return r;
        *ret_version += SQLITE_LOG_RESTORE_STEP;
        r = append_mark(temporary, *ret_version, err);
        if (r == 0)
                r = sync_file(temporary, err);
        if (r == 0)
                r = put_in_place(temporary, database, err);
        if (r < 0)
                unlink(temporary);
        return r;
}

int sqlite_log_restore(const char *file, const char *directory, uint64_t *ret_version, struct err *err)
{
        struct log_directory d = { .lock_fd = -1 };
        uint64_t version = 0;
        int r;

        if (access(file, R_OK) < 0)
                return err_set_errno(err, errno, "cannot read %s", file);
        r = log_directory_open(directory, true, &d, err);
        if (r == 0)
                r = restore_into(&d, file, &version, err);
        if (r == 0)
                log_directory_acknowledge(&d, version);
        if (r == 0 && ret_version)
                *ret_version = version;
        log_directory_close(&d);
        return r;
}
