/* The durable log of a store (store-log.h) in a directory: a SQLite database in WAL mode, synchronous=FULL. log-db.h describes the
 * format, log-directory.h the files.
 *
 *      sqlite_log_open(directory, NULL, &log, err)
 *      store_new(&(struct store_options) { .log = sqlite_log_base(log) }, &store, err)
 *      ...
 *      store_free(store)
 *      sqlite_log_close(log)
 *
 * A batch of records is one transaction. The same transaction collects the log: needed rows at its head are appended again and the
 * head is deleted, so that the file stays bounded however long it is written to. A thread of the log copies the WAL into the
 * database. Only the end of that, a few pages, makes appends wait.
 *
 * The log keeps the history of the newest commits, as options say. Rows of replaced or removed Secrets are erased in the commit
 * that replaces them, with secure_delete, and leave the WAL soon after. So a Secret's history does not survive a restart: watches of
 * Secrets from older versions are then answered 410.
 *
 * After a failed write or sync the log takes nothing more until it is opened again: it is unknown what the disk has. */
#pragma once

#include "err.h"

struct buf;
struct sqlite_log;
struct store_log;

struct sqlite_log_options {
        size_t history_events; /* kept for watches after a restart; 0: 100,000 */
        size_t history_bytes;  /* 0: 64 MiB */
        size_t garbage_bytes;  /* garbage that is tolerated, besides as much as there are needed rows; 0: 16 MiB */
        size_t wal_bytes;      /* the WAL begins again when it is larger; 0: 64 MiB */
        int64_t erase_ms;      /* erased Secrets leave the WAL after this time; 0: 10 s */
        bool without_sync;     /* faster, for tests: survives a killed process, but not lost power */
        const char *vfs;       /* of SQLite, for tests; NULL: its own */
};

/* Opens the log, and creates the directory and an empty log when there is none. Reads and checks every row. The error names the
 * file that is damaged, or the process that uses the directory. options may be NULL. */
int sqlite_log_open(const char *directory, const struct sqlite_log_options *options, struct sqlite_log **ret,
                    struct err *err);

/* NULL is fine. The store that used it is freed. */
void sqlite_log_close(struct sqlite_log *log);
struct store_log *sqlite_log_base(struct sqlite_log *log);

struct sqlite_log_sizes {
        uint64_t file_bytes;    /* of the database file */
        uint64_t wal_bytes;     /* of the WAL file */
        uint64_t n_rows;        /* in the log */
        uint64_t row_bytes;     /* of those */
        uint64_t garbage_bytes; /* of those, not needed any more */
        uint64_t floor;         /* the history begins after this version */
        uint64_t version;       /* the newest version */
};

/* Any thread. Waits while a batch is appended. */
void sqlite_log_sizes(struct sqlite_log *log, struct sqlite_log_sizes *ret);

/* --- log-backup.c --- */

/* A restored log goes on this many versions later: versions that were written after the backup are never used again. */
#define SQLITE_LOG_RESTORE_STEP 1000000000ull

/* Writes a copy of the log to a new file (0600), as it is when the call begins, and checks the copy. Writes go on meanwhile, in this
 * process or another one: the directory need not be free. The file appears under its name when it is complete. *ret_version, which
 * may be NULL, is its newest version. */
int sqlite_log_backup(struct sqlite_log *log, const char *file, uint64_t *ret_version, struct err *err);
int sqlite_log_backup_directory(const char *directory, const char *file, uint64_t *ret_version, struct err *err);

/* Makes a directory that has no log yet, from a backup. Its version is SQLITE_LOG_RESTORE_STEP above the backup's, and watches from
 * older versions are answered 410. *ret_version may be NULL. */
int sqlite_log_restore(const char *file, const char *directory, uint64_t *ret_version, struct err *err);

/* Reads everything in a directory that no process uses, and appends a report to the buffer, also on an error. ERR_INVALID: there is
 * damage, and the report has all of it that was found. Changes nothing. */
int sqlite_log_check(const char *directory, struct buf *report, struct err *err);
