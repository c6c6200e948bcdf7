/* Records events about objects. An event that was recorded before is counted in memory, and its object is written again at most every
 * five minutes. Any thread. */
#pragma once

#include "cluster.h"

struct recorder;

struct recorder *recorder_new(struct cluster *cluster);
void recorder_free(struct recorder *r); /* NULL is fine */

struct recorder_source {
        struct str component;  /* `defined/compositeresourcedefinition.apiextensions.crossplane.io` */
        struct str controller; /* the annotation `controller`; "": none */
};

/* An event that cannot be written is logged and lost: events are for people, and must not fail a run. */
void recorder_add(struct recorder *r, struct run *run, const struct value *regarding,
                  const struct recorder_source *source, bool is_warning, struct str reason, struct str message);
