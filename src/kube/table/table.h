/* Objects as rows of a table, for `kubectl get` (docs/spec/apiserver 5.8, 8.3): the columns of a CRD by JSONPath, those of
 * built-in kinds by a table of cells for each kind. */
#pragma once

#include "clock.h"
#include "kind.h"

struct table_column {
        struct str name;
        struct str type; /* string, integer, number, boolean, date */
        struct str format;
        struct str description;
        int priority; /* above 0: only in wide output */
};

/* The columns of one version of a kind, compiled. Counted and immutable. */
struct table;

/* A CRD's columns behind one whose path cannot be read are left out. */
int table_new(const struct kind *k, const struct kind_version *v, struct table **ret, struct err *err);
struct table *table_ref(struct table *t);
void table_unref(struct table *t); /* NULL is fine */

static inline void table_unrefp(struct table **t)
{
        table_unref(*t);
}

const struct table_column *table_columns(const struct table *t, size_t *ret_n);

/* The cells of one object: an array of as many values as there are columns. */
struct value table_cells(const struct table *t, struct arena *a, const struct value *object, struct instant now);

/* `5m10s`: how kubectl writes an age. */
struct str table_duration(struct arena *a, int64_t seconds);

/* columnDefinitions as JSON values; and {"cells": ..., "object": ...}, with "conditions" for pods that have ended. shown is the member
 * "object"; it may be NULL: null. */
struct value table_definitions(const struct table *t, struct arena *a);
struct value table_row(const struct table *t, struct arena *a, const struct value *object, const struct value *shown,
                       struct instant now);

/* The object as PartialObjectMetadata (meta.k8s.io/v1). */
struct value table_metadata_only(struct arena *a, const struct value *object);
