/* The record of one run of a composite (run-records.h), made while it runs. It has no values of secrets.
 *
 *     {time, durationMs, cause, generation, composition, revision, outcome, error, againAfter, conditions,
 *      steps: [{step, function, revision, durationMs, calls, isCached, requestBytes, responseBytes, results, reads}],
 *      writes: [{verb, apiVersion, kind, namespace, name, subresource, resource, manager, outcome, version, cause, reason, error}],
 *      events: [{type, reason, message}]}
 *
 * Members without content are left out. What step i changed is in the record's changes: a JSON Patch, see step.h. */
#pragma once

#include "clock.h"
#include "manager.h"
#include "reconcile.h"
#include "redact.h"
#include "run-records.h"

/* Notes that one run takes of itself. One thread; everything lives in the run's arena. */
struct run_notes {
        struct kind_run *r;
        struct str cause;
        struct instant begin;
        int64_t begin_ns;
        struct array_builder writes;
        uint64_t n_deleted;       /* objects */
        struct redactor redactor; /* of secrets in refused writes */
};

/* Notes the run's writes from now on. */
void run_notes_begin(struct run_notes *n, struct kind_run *r);

/* Adds the record. err is the run's error, if it has one. */
void run_notes_end(struct run_notes *n, struct run_records *records, const struct reconcile_result *result,
                   const struct places *places, const struct err *err);
