/* Shared by the files of the predefined functions. */
#pragma once

#include "gt-func.h"

/* Functions that take reflect.Value treat GT_NIL and GT_NONE alike. */

/* reflect.Value.String(): a string as it is, everything else as `<int Value>`. */
void gt_append_reflected(struct buf *b, struct gt_value v);

int gt_call_eq(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_ne(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_lt(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_le(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_gt(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_ge(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);

int gt_call_html(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_js(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_urlquery(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);

int gt_call_index(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_slice(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
int gt_call_len(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret);
