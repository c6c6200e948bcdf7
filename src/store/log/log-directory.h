/* The directory of a log: which process has it, and which version was acknowledged last.
 *
 *      DIR/log.db, log.db-wal, log.db-shm   the database (sqlite-log.h)
 *      DIR/lock                             one line of text: `pid PID version VERSION`
 *
 * The process that has the directory holds an flock on `lock`; readers such as a backup do not need it. After each commit the file is
 * overwritten with the newest acknowledged version, without a sync. So the version in the file is never newer than what is on the
 * disk, and a database whose end was cut off, or that is not there any more, is noticed: it does not reach the version. The line
 * has a fixed length; a line that cannot be read tells nothing. */
#pragma once

#include "err.h"

struct log_directory {
        char *path;
        int lock_fd;
        uint64_t acknowledged; /* as the file told when it was opened; 0: unknown */
};

/* Takes the directory for this process; creates it (0700) when `creates`. The error names the directory and the process that has it. If
 * that process has ended and a child of it still has the lock, waits for that. */
int log_directory_open(const char *path, bool creates, struct log_directory *ret, struct err *err);
void log_directory_close(struct log_directory *d); /* a zeroed or failed one is fine */

/* Notes that the version is acknowledged. An error is not worth a failed write: the version in the file is a lower bound. */
void log_directory_acknowledge(struct log_directory *d, uint64_t version);

/* DIR/NAME, on the heap. */
char *log_directory_file(const char *directory, const char *name);
int log_directory_sync(const char *path, struct err *err);
