/* An index of the rows that a log has, by version: where each row is, and which rows belong to the same key. It tells which rows are
 * needed and how many bytes are garbage.
 *
 * The rows of one key form a chain by version. Up to the floor only the newest row of a chain is needed, and only if it has an
 * object. All rows after the floor are needed: they are the history. One thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum row_flag {
        ROW_REMOVED = 1 << 0, /* the object was removed */
        ROW_ERASED = 1 << 1,  /* the bytes were a secret, and were erased when the row was replaced */
        ROW_MARK = 1 << 2,    /* has no object; only its version counts */
        ROW_SECRET = 1 << 3,  /* a Secret */
};

struct live_row {
        uint64_t version; /* 0: an empty place of the table */
        uint64_t seq;
        uint64_t newer, older; /* versions of the neighbours in the chain that are rows of the log; 0: none */
        uint32_t size_bytes;
        uint32_t flags;
};

struct log_rows {
        struct live_row *p; /* a hash table with linear probing */
        size_t n_places;
        size_t n;
        uint64_t floor;   /* the history begins after this version */
        uint64_t version; /* the newest one */
        size_t total_bytes;
        size_t garbage_bytes;
        uint32_t *costs; /* of the history's versions, a ring: the bytes that each keeps from being garbage */
        size_t n_costs;  /* a power of two, or 0 */
        size_t history_bytes;
};

void log_rows_done(struct log_rows *r);

/* NULL when the log has no row of the version. The pointer is valid until the next call that adds or removes. */
struct live_row *log_rows_find(const struct log_rows *r, uint64_t version);

/* Adds a row after `older` (0: none) in its chain. Rows come in the order of their versions. An empty index begins with the floor
 * that the caller puts there. */
void log_rows_add(struct log_rows *r, const struct live_row *row);

/* Moves the floor up; versions up to it are no longer history. */
void log_rows_set_floor(struct log_rows *r, uint64_t floor);

/* The floor that leaves room for the history of n more versions. */
uint64_t log_rows_next_floor(const struct log_rows *r, size_t n, size_t max_events, size_t max_bytes);

/* Whether the row, which is not history, has to be kept. A removal is kept as long as an older row of its key exists: that row
 * would otherwise be the newest one. */
bool log_rows_is_needed(const struct log_rows *r, const struct live_row *row);

/* The row is gone from the log. It must not be needed. */
void log_rows_remove(struct log_rows *r, uint64_t version);

/* The row has another size now. */
void log_rows_resize(struct log_rows *r, uint64_t version, uint32_t size_bytes);
