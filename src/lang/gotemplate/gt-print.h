/* Package fmt on template values, byte for byte: Sprint, Sprintln, Sprintf and %v, %T, %q.
 *
 * All of them append to a buffer whose maximum bounds the text. A value that contains itself, or is nested deeper than
 * LIMIT_DEPTH, makes the buffer fail; gt_take_text then reports a text that is too large. */
#pragma once

#include "gt-value.h"

struct buf;

/* Sprintf("%v", v); `<nil>` for no value and for nil. */
void gt_append_text(struct gt_context *c, struct buf *b, struct gt_value v);

/* fmt.Sprint: a space between two operands if neither is a string. */
void gt_append_sprint(struct gt_context *c, struct buf *b, const struct gt_value *arguments, size_t n);

/* fmt.Sprintln: spaces between all operands, and a newline at the end. */
void gt_append_sprintln(struct gt_context *c, struct buf *b, const struct gt_value *arguments, size_t n);

/* fmt.Sprintf(format, arguments...). */
void gt_append_sprintf(struct gt_context *c, struct buf *b, struct str format, const struct gt_value *arguments,
                       size_t n);

/* The output of an action: as %v, but `<no value>` for no value. */
void gt_append_printed(struct gt_context *c, struct buf *b, struct gt_value v);
