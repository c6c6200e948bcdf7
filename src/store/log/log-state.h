/* The parts of an open log. Private to src/store/log. */
#pragma once

#include "log-db.h"
#include "log-directory.h"
#include "log-rows.h"
#include "park.h"
#include "sqlite-log.h"
#include "store-log.h"

struct sqlite_log {
        struct store_log base;
        struct sqlite_log_options options;
        struct log_directory directory;
        char *path;     /* of the database */
        char *wal_path; /* of its WAL */

        struct semaphore turn; /* appending, and the end of a checkpoint; guards the next members */
        struct log_db db;
        struct log_rows rows;
        uint64_t head; /* seq of the first row */
        uint64_t next; /* seq of the next row */

        struct mutex mutex;    /* guards the rest */
        struct err failure;    /* after it, nothing is written */
        uint64_t wal_frames;   /* in the WAL after the last commit */
        uint64_t tried_frames; /* of those, in the WAL at the last try to copy them */
        uint64_t n_erased;     /* commits that erased Secrets */
        uint64_t n_cleared;    /* of those, gone from the WAL */
        struct deadline erase_by;
        bool is_closed;
        struct waiters waiters; /* the checkpoint thread */
        struct waiters room;    /* appends that wait until the WAL begins again */
        bool is_blocked;        /* the WAL cannot begin again, for example because a backup reads it */
        struct thread *thread;
        struct log_db checkpoint_db; /* the checkpoint thread only */
};

#define LOG_DATABASE "log.db"

static inline enum log_db_mode log_mode(const struct sqlite_log *l)
{
        return l->options.without_sync ? LOG_DB_WRITE_UNSYNCED : LOG_DB_WRITE;
}

/* --- log-load.c --- */

/* Reads and checks all rows of the database: fills rows, head, next. */
int log_load(struct log_db *db, struct log_rows *rows, uint64_t *ret_head, uint64_t *ret_next, struct err *err);
int log_replay(struct log_db *db, const struct log_rows *rows, const struct store_replay *to, struct err *err);

/* --- log-append.c --- */

int log_append(struct sqlite_log *l, const struct store_record *records, size_t n, bool *ret_erases, struct err *err);

/* --- log-checkpoint.c --- */

int checkpoint_start(struct sqlite_log *l, struct err *err);
void checkpoint_stop(
        struct sqlite_log *l); /* copies the WAL into the database and empties it, unless the log has failed */

/* Waits while the WAL is much too large, because the disk is slower than the writers. */
void checkpoint_await_room(struct sqlite_log *l);

/* A commit has been written. */
void checkpoint_notice(struct sqlite_log *l, bool erases);

/* --- sqlite-log.c --- */

/* Keeps the error: the log writes nothing from now on. Returns its code. */
int log_fail(struct sqlite_log *l, const struct err *err);
int log_check_failure(struct sqlite_log *l, struct err *err);
