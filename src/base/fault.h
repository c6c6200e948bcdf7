/* Fault injection: named points where a test, or the environment, can make an operation fail that rarely fails otherwise.
 *
 *      r = FAULT("store.fsync");
 *      if (r == 0 && fsync(fd) < 0)
 *              r = -errno;
 *      if (r < 0)
 *              return err_set_errno(err, -r, "cannot sync %s", path);
 *
 * A point costs one relaxed load while nothing is armed, so it stays in release builds. A test that tries every failure of an
 * operation sweeps: it fails at hit 1, 2, 3, ... until the operation ends before that hit.
 *
 *      for (uint64_t hit = 1;; hit++) {
 *              fault_arm("store.fsync", (struct fault) { .first = hit, .count = 1, .code = -EIO });
 *              ... run the operation, then assert that all is well or that it failed and left nothing behind ...
 *              if (fault_fired("store.fsync") == 0)
 *                      break;
 *      }
 *      fault_reset();
 *
 * To sweep over all points, record first: fault_record(true), run, fault_list, then one sweep for each name.
 *
 * WEFT_FAULTS in the environment arms points for the whole process at its first FAULT, e.g. `store.fsync=3:EIO,json.alloc=p0.01`
 * (see fault_arm_text). A text that cannot be parsed ends the process, because a test without its fault would prove nothing. */
#pragma once

#include "str.h"

#include <stdatomic.h>

struct err;

/* How a point fails: at hit number `first` after it was armed and at the count - 1 hits after that, or at each hit with a
 * probability, using a generator with the seed. */
struct fault {
        uint64_t first;     /* counts from 1; 0 with a probability */
        uint64_t count;     /* 0: every hit from `first` on */
        double probability; /* above 0: first and count have no meaning */
        uint64_t seed;
        int code; /* the negative result of FAULT; 0 means -EIO */
};

/* True while a point may fail or points are recorded. For the macro only. */
extern _Atomic bool fault_is_watching;

int fault_hit(const char *name);

/* 0, or the negative number that was armed for this hit; by convention a negative errno. Any thread. */
#define FAULT(name) (UNLIKELY(atomic_load_explicit(&fault_is_watching, memory_order_relaxed)) ? fault_hit(name) : 0)

/* Replaces the fault that was armed for the name and counts hits from 0. */
void fault_arm(const char *name, struct fault how);

/* Arms a comma-separated list: `NAME=N` fails the nth hit, `NAME=N+` the nth and all later ones, `NAME=NxCOUNT` COUNT hits from
 * the nth on, `NAME=pF` each hit with probability F, `NAME=pF@SEED` with its own seed; a suffix `:CODE` is an errno by name (EIO
 * if absent) or a negative number. On an error nothing is armed. */
int fault_arm_text(struct str text, struct err *err);

/* Disarms everything, stops recording and forgets all counts. WEFT_FAULTS is not read again. */
void fault_reset(void);

/* While recording is on, the hits of all points are counted, armed or not. */
void fault_record(bool on);

/* Hits, and hits that failed, since the point was armed or recording began; 0 for an unknown name. */
uint64_t fault_hits(const char *name);
uint64_t fault_fired(const char *name);

/* Copies at most max names of the points that were hit, in the order in which they were first armed or hit; returns how many
 * such points there are. The names live until fault_reset. */
size_t fault_list(const char **ret_names, size_t max);
