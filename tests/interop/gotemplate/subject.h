/* Functions that the files of the subject share. */
#pragma once

#include "gt-func.h"

/* The functions of testFunctions in template.go. */
extern const struct gt_func_table subject_test_functions;

/* Executes the case's template on the data. */
int subject_execute(struct arena *a, const struct value *one, struct str json,
                    const struct gt_func_table *const *tables, size_t n_tables, void *user, struct buf *out,
                    struct err *err);

int subject_composition(struct arena *a, const struct value *one, struct buf *out, struct err *err);

/* The whole response to the case's request, as JSON of the message without meta. */
int subject_response(struct arena *a, const struct value *one, struct buf *out, struct err *err);

/* The documents as JSON, one per line. */
int subject_decode(struct arena *a, const struct value *one, struct buf *out, struct err *err);
