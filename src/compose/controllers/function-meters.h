/* Counts calls of functions, by the names of docs/spec/engine 4.5. */
#pragma once

#include "meter.h"
#include "reconcile.h"

/* Each may be NULL. */
struct function_meters {
        struct meter *requests, *responses, *seconds, *hits, *misses;
};

void function_meters_open(struct function_meters *m, struct meters *meters);
void function_meters_count(struct function_meters *m, const struct step_call *call);

/* Counts which steps of a run were answered by the response cache. */
void function_meters_count_cache(struct function_meters *m, const struct reconcile_result *result);
