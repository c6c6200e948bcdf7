/* A text that values were read from, kept so that an error found later can point at file:line:column.
 * Positions are found again from the text when an error needs them, so that reading pays nothing for them. */
#pragma once

#include "err.h"
#include "path.h"

struct buf;

struct source {
        struct str name; /* of the file, or <stdin> */
        struct str text;
};

/* Finds where the value at path stands in the text: in JSON or YAML, told apart as the readers do. document counts the
 * non-null documents of a stream from 0. If the path is not there, the position of its nearest ancestor that is; for a
 * member it is the position of its value, for a missing one of its object. */
int source_locate(const struct source *s, size_t document, const struct path *path, struct position *ret,
                  struct err *err);

/* Line and column of a byte offset. */
struct position source_position(struct str text, size_t offset);

/* Appends `NAME:LINE:COLUMN: MESSAGE` and, when the position is known, the line itself with a caret under the column. Long
 * lines are cut around the column, control characters shown as spaces. */
void source_append_error(struct buf *b, const struct source *s, const struct err *err);
