/* Records of the last runs of each object: what a run did, for people who look into it later.
 *
 * A record is a value that its maker has cleared of secrets, and for each step of the run another value: what the step changed. Most
 * runs of an object repeat the changes of the run before, so equal changes are kept once. Records are kept as compact bytes, in memory
 * only. Their bytes have a limit: the oldest records of all objects go first. Any thread. */
#pragma once

#include "cluster.h"

#define RUN_RECORDS_BYTES   (16u << 20)
#define RUN_RECORDS_PER_KEY 16

struct run_records;

/* The limits of all records together and of the records of one object; 0: those above. */
struct run_records *run_records_new(size_t max_bytes, size_t max_per_key);
void run_records_free(struct run_records *r); /* NULL is fine */

/* A run. Step i of it changed changes[i], which may be NULL. */
struct run_record {
        const struct value *run;
        const struct value *const *changes;
        size_t n_changes;
};

/* Adds the record of a run of the object; the version of its kind does not count. Changes of one step that would take more than an
 * eighth of all bytes are left out: they are read back as a string that says so. */
void run_records_add(struct run_records *r, const struct object_key *key, const struct run_record *record);

/* The newest records of the object, the newest first, up to `most` of them; *ret is in the arena, and so is all that it points to.
 * Returns their number. */
size_t run_records_get(struct run_records *r, const struct object_key *key, size_t most, struct arena *a,
                       const struct run_record **ret);

struct run_records_stats {
        size_t n_records;
        size_t n_keys;
        size_t size_bytes;
        uint64_t n_added;
};
struct run_records_stats run_records_stats(struct run_records *r);
