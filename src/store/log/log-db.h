/* The database file of a log: connections, rows and their checksums. Only this directory knows SQLite.
 *
 * One append-only table has all rows. Their numbers (seq) have no gaps, so a missing row is noticed.
 *
 *      log(seq INTEGER PRIMARY KEY, version, previous, floor, flags, sum, key TEXT, bytes BLOB)
 *
 *      version   of the commit, or an older one when the row was appended again to free the head of the log
 *      previous  version of the row that this one replaces; 0: none
 *      floor     the history began after this version when the row was appended; the newest row tells
 *      flags     enum row_flag
 *      sum       checksum of all other columns
 *      key       GROUP/KIND/NAMESPACE/NAME
 *      bytes     the object in its compact encoding, NULL when removed or erased
 *
 * The bytes of a Secret stand alone in pages that have nothing else, so that they can be wiped: SQLite moves rows from page to page as
 * it likes, and what it leaves behind in the unused part of a page is not overwritten. A row that is too large for its page has its
 * end in overflow pages of its own. So the bytes of a Secret begin behind SECRET_FRONT zeros, which fill the row's part of the shared
 * page, and zeros fill the last overflow page: SECRET_FRONT zeros, the length (4 bytes, little-endian), the object, zeros.
 *
 * application_id says that the file is a log of ours, user_version is the version of this format. Format 2 has objects in version 2 of
 * the compact encoding beside those of version 1; a file of format 1 becomes one when it is opened to be written. */
#pragma once

#include "err.h"

#include "log-rows.h"

#include <sqlite3.h>

#define LOG_FORMAT         2
#define LOG_APPLICATION_ID 0x57654674
#define LOG_PAGE_BYTES     16384
#define LOG_MAX_VERSION    (UINT64_MAX / 4) /* greater ones are taken for damage */

/* A row of P bytes that does not fit in its page keeps M + (P - M) % (U - 4) bytes there if those fit, else M, where U is the page
 * size and M the number below (https://sqlite.org/fileformat2.html, "Cell Payload Overflow Pages"). SECRET_END is a P for which they do
 * not fit, with room for the columns before the bytes. */
#define SECRET_FRONT ((LOG_PAGE_BYTES - 12) * 32 / 255 - 23)
#define SECRET_STEP  (LOG_PAGE_BYTES - 4)
#define SECRET_END   (SECRET_FRONT + SECRET_STEP - 1600)

struct log_db {
        sqlite3 *db;
        char *path;
        sqlite3_stmt *insert;
        sqlite3_stmt *read; /* one row by its seq */
        sqlite3_stmt *replace;
        sqlite3_stmt *remove; /* all rows before a seq */
        sqlite3_stmt *begin, *commit;
        bool is_secure; /* deleted content is overwritten with zeros */
};

struct log_row {
        uint64_t seq;
        uint64_t version;
        uint64_t previous;
        uint64_t floor;
        uint32_t flags;
        bool has_bytes;
        struct str key;
        struct str bytes;
};

/* The approximate size of a row in the database. */
uint32_t log_row_bytes(const struct log_row *row);

/* Creates an empty database; no file of that name exists. */
int log_db_create(const char *path, const char *vfs, struct err *err);

/* Opens an existing database and checks that it is a log of a format that this program knows. The one that may write prepares its
 * statements. vfs NULL: SQLite's own. */
enum log_db_mode {
        LOG_DB_READ,
        LOG_DB_WRITE,
        LOG_DB_WRITE_UNSYNCED, /* what was written may be lost with the power */
};
int log_db_open(struct log_db *d, const char *path, const char *vfs, enum log_db_mode mode, struct err *err);
void log_db_close(struct log_db *d); /* never checkpoints; a zeroed one is fine */

/* ERR_SYSTEM (ERR_INVALID for a damaged file) with `WHAT PATH: MESSAGE`. */
int log_db_error(const struct log_db *d, int rc, const char *what, struct err *err);

/* An error for contents that cannot be right, with a way out. */
int log_db_damaged(const char *path, struct err *err, const char *format, ...) _printf_(3, 4);

int log_db_exec(struct log_db *d, const char *sql, struct err *err);

/* All of these belong to one transaction, except for reads. */
int log_db_begin(struct log_db *d, struct err *err);
int log_db_commit(struct log_db *d, struct err *err);
int log_db_insert(struct log_db *d, const struct log_row *row, struct err *err);
int log_db_replace(struct log_db *d, const struct log_row *row, struct err *err); /* the row of the same seq */
int log_db_remove_before(struct log_db *d, uint64_t seq, struct err *err);
int log_db_be_secure(struct log_db *d, bool is_secure, struct err *err);

/* The row of that seq; its texts are valid until the next call. */
int log_db_read(struct log_db *d, uint64_t seq, struct log_row *ret, struct err *err);

/* Calls fn for all rows in the order of seq, or for those with a version in [from, to], after their checksums were compared.
 * Ends at the first error. */
int log_db_scan(struct log_db *d, uint64_t from, uint64_t to,
                int (*fn)(void *arg, const struct log_row *row, struct err *err), void *arg, struct err *err);

/* The least and the greatest seq; 0 when there is no row. */
int log_db_range(struct log_db *d, uint64_t *ret_first, uint64_t *ret_last, struct err *err);

/* The row with the greatest seq, without its texts: 1; 0 when there is none. */
int log_db_last(struct log_db *d, struct log_row *ret, struct err *err);
