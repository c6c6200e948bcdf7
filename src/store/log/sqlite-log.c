#include "log-state.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* --- Failure --- */

int log_fail(struct sqlite_log *l, const struct err *err)
{
        mutex_lock(&l->mutex);
        if (!l->failure.code)
                err_copy(&l->failure, err);
        mutex_unlock(&l->mutex);
        return err->code;
}

int log_check_failure(struct sqlite_log *l, struct err *err)
{
        int r = 0;

        mutex_lock(&l->mutex);
        if (l->failure.code)
                r = err_copy(err, &l->failure);
        mutex_unlock(&l->mutex);
        return r;
}

/* --- Operations --- */

static struct sqlite_log *log_of(struct store_log *log)
{
        return CONTAINER_OF(log, struct sqlite_log, base);
}

static int append(struct store_log *log, const struct store_record *records, size_t n, struct err *err)
{
        struct sqlite_log *l = log_of(log);
        _cleanup_err_ struct err failure = { 0 };
        bool erases = false;
        int r;

        checkpoint_await_room(l);
        semaphore_acquire(&l->turn, DEADLINE_NONE, NULL);
        r = log_check_failure(l, &failure);
        if (r == 0)
                r = log_append(l, records, n, &erases, &failure);
        if (r == 0)
                log_directory_acknowledge(&l->directory, l->rows.version);
        else
                log_fail(l, &failure);
        semaphore_release(&l->turn);
        if (r < 0)
                return err_move(err, &failure);
        checkpoint_notice(l, erases);
        return 0;
}

static int replay(struct store_log *log, const struct store_replay *to, struct err *err)
{
        struct sqlite_log *l = log_of(log);
        int r;

        semaphore_acquire(&l->turn, DEADLINE_NONE, NULL);
        r = log_replay(&l->db, &l->rows, to, err);
        semaphore_release(&l->turn);
        return r;
}

static int check_health(struct store_log *log, struct err *err)
{
        return log_check_failure(log_of(log), err);
}

static const struct store_log_ops ops = {
        .append = append,
        .replay = replay,
        .health = check_health,
};

struct store_log *sqlite_log_base(struct sqlite_log *log)
{
        return &log->base;
}

/* --- Files --- */

static bool exists(const char *path)
{
        return access(path, F_OK) == 0;
}

/* The directory must not have had a log already: a lost one is not replaced by an empty one. */
static int check_new(const struct sqlite_log *l, struct err *err)
{
        if (exists(l->wal_path))
                return log_db_damaged(l->path, err, "it is missing, but %s is there", l->wal_path);
        if (l->directory.acknowledged)
                return log_db_damaged(l->path, err, "it is missing, but version %llu was written to it",
                                      (unsigned long long)l->directory.acknowledged);
        return 0;
}

/* The database appears under its name when it is complete. */
static int create_database(const struct sqlite_log *l, struct err *err)
{
        _cleanup_free_ char *temporary = log_directory_file(l->directory.path, LOG_DATABASE ".new");
        int r = check_new(l, err);

        if (r < 0)
                return r;
        unlink(temporary);
        r = log_db_create(temporary, l->options.vfs, err);
        if (r < 0)
                return r;
        if (rename(temporary, l->path) < 0)
                return err_set_errno(err, errno, "cannot rename %s to %s", temporary, l->path);
        return log_directory_sync(l->directory.path, err);
}

static int check_file(const struct sqlite_log *l, struct err *err)
{
        struct stat st;

        if (stat(l->path, &st) < 0)
                return errno == ENOENT ? create_database(l, err) : err_set_errno(err, errno, "cannot open %s", l->path);
        if (!S_ISREG(st.st_mode))
                return err_set(err, ERR_INVALID, "%s is not a file", l->path);
        if (st.st_size == 0)
                return log_db_damaged(l->path, err, "it is empty");
        if (st.st_mode & 077 && chmod(l->path, 0600) < 0)
                return err_set_errno(err, errno, "cannot make %s private", l->path);
        return 0;
}

static int check_end(const struct sqlite_log *l, struct err *err)
{
        if (l->rows.version >= l->directory.acknowledged)
                return 0;
        return log_db_damaged(l->path, err,
                              "it ends at version %llu, but version %llu was written: its end or %s was lost or "
                              "replaced",
                              (unsigned long long)l->rows.version, (unsigned long long)l->directory.acknowledged,
                              l->wal_path);
}

/* --- Opening and closing --- */

static void set_defaults(struct sqlite_log_options *o)
{
        if (o->history_events == 0)
                o->history_events = 100000;
        if (o->history_bytes == 0)
                o->history_bytes = 64u << 20;
        if (o->garbage_bytes == 0)
                o->garbage_bytes = 16u << 20;
        if (o->wal_bytes == 0)
                o->wal_bytes = 64u << 20;
        if (o->erase_ms == 0)
                o->erase_ms = 10000;
}

static int open_log(struct sqlite_log *l, const char *directory, struct err *err)
{
        int r = log_directory_open(directory, true, &l->directory, err);

        if (r < 0)
                return r;
        l->path = log_directory_file(directory, LOG_DATABASE);
        l->wal_path = log_directory_file(directory, LOG_DATABASE "-wal");
        r = check_file(l, err);
        if (r == 0)
                r = log_db_open(&l->db, l->path, l->options.vfs, log_mode(l), err);
        if (r == 0)
                r = log_load(&l->db, &l->rows, &l->head, &l->next, err);
        if (r == 0)
                r = check_end(l, err);
        if (r == 0)
                r = checkpoint_start(l, err);
        return r;
}

int sqlite_log_open(const char *directory, const struct sqlite_log_options *options, struct sqlite_log **ret,
                    struct err *err)
{
        struct sqlite_log *l = xcalloc(1, sizeof(*l));
        int r;

        l->base.ops = &ops;
        l->directory.lock_fd = -1;
        if (options)
                l->options = *options;
        set_defaults(&l->options);
        mutex_init(&l->mutex);
        semaphore_init(&l->turn, "log", 1);
        r = open_log(l, directory, err);
        if (r < 0) {
                sqlite_log_close(l);
                return r;
        }
        *ret = l;
        return 0;
}

void sqlite_log_close(struct sqlite_log *l)
{
        if (!l)
                return;
        checkpoint_stop(l);
        log_db_close(&l->db);
        log_rows_done(&l->rows);
        log_directory_close(&l->directory);
        err_done(&l->failure);
        semaphore_done(&l->turn);
        mutex_done(&l->mutex);
        free(l->path);
        free(l->wal_path);
        free(l);
}

static uint64_t file_bytes(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

void sqlite_log_sizes(struct sqlite_log *l, struct sqlite_log_sizes *ret)
{
        semaphore_acquire(&l->turn, DEADLINE_NONE, NULL);
        *ret = (struct sqlite_log_sizes) {
                .file_bytes = file_bytes(l->path),
                .wal_bytes = file_bytes(l->wal_path),
                .n_rows = l->rows.n,
                .row_bytes = l->rows.total_bytes,
                .garbage_bytes = l->rows.garbage_bytes,
                .floor = l->rows.floor,
                .version = l->rows.version,
        };
        semaphore_release(&l->turn);
}
