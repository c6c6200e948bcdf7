/* The log: a store writes its commits here before anyone can see them.
 *
 * The store decides a write by giving it the next version. It then appends the write to the log, together with all other writes
 * decided in the meantime. When the log has stored them, the store publishes them in the order of their versions. Until then no
 * reader, watcher or other writer sees the write, and its caller waits. Without a log the store publishes at once, in the caller's
 * thread.
 *
 * A log is a sequence of records. Replaying them in order restores the store: every object with its version, and from the objects
 * all indexes, kinds (which come from CRDs) and names. It also restores the watch history, because an event consists of a record
 * and the previous record of the same key. So a log that discards records picks a version and keeps, for each key, the newest
 * record up to that version unless it is a removal, and all records after that version. Watches can then begin only after that
 * version.
 *
 * A store that is opened again replays its log: it calls `replay` before the first append.
 *
 * A log may erase the bytes of a record when a later record replaces it, as it does with Secrets. The record stays, without bytes, and
 * watches of that kind can then begin only after the later record.
 *
 * A log does not contain kinds without a CRD (accepts_any_kind): they are made again from the namespace, kind and apiVersion of
 * their first object. It does not contain what records_writes keeps about callers either. */
#pragma once

#include "err.h"

struct store_record {
        uint64_t version;  /* one more than the version of the previous record */
        uint64_t previous; /* version of the record that this one replaces, of the same key; 0: the object is created */
        struct str group;
        struct str kind;
        struct str namespace_name; /* "": the object is cluster-scoped */
        struct str name;
        bool is_removed; /* the record of `previous` has the last state */
        struct str
                bytes; /* the object as compact.h encodes it, in the version its apiVersion says; "" when it is removed */

        /* In a replay only. */
        bool is_state;  /* the object was there when the history began */
        bool is_erased; /* the bytes are not there any more; a later record replaces this one */
};

/* The reader of a replay. An error of one of its calls ends the replay. */
struct store_replay {
        void *arg;
        /* First: the history begins after the version `floor` (0: with the first commit), and `version` is the newest one, 0
         * when the log is empty. It may be newer than all records: versions are not used twice. */
        int (*begin)(void *arg, uint64_t floor, uint64_t version, struct err *err);
        /* The objects as they were at `floor`, in any order; then the history, one record for each version after it. The record is
         * valid during the call. */
        int (*record)(void *arg, const struct store_record *record, struct err *err);
};

struct store_log;

struct store_log_ops {
        /* Appends all of the records after the existing ones. The records are valid during the call. 0 means that they are durable.
         * One thread of the store calls this function, one call at a time. It may take as long as it likes; it waits only through
         * park. After an error it is unknown which of the records were written. The store then reports the error to all callers,
         * never calls this function again, and takes no more writes. */
        int (*append)(struct store_log *log, const struct store_record *records, size_t n, struct err *err);

        /* Gives all that it has to the reader. */
        int (*replay)(struct store_log *log, const struct store_replay *to, struct err *err);

        /* 0, or the error that the next append will have. Any thread. NULL: only append tells. */
        int (*health)(struct store_log *log, struct err *err);
};

/* Belongs to its creator and outlives the store. To close a store without waiting for a slow log, first make append fail with
 * ERR_CLOSED. */
struct store_log {
        const struct store_log_ops *ops;
};
