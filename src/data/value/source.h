/* The text that values were read from, kept so that a later error can name file:line:column. Positions are computed from the
 * text only when an error needs them, so reading does not record them. */
#pragma once

#include "err.h"
#include "path.h"

struct buf;

struct source_file {
        struct str name; /* of the file, or <stdin> */
        struct str text;
};

/* Finds the position of the value at path in the text, which is JSON or YAML; the format is detected as the readers do it.
 * document counts the non-null documents of a stream from 0. If the path does not exist, *ret is the position of its nearest
 * existing ancestor. The position of a member is that of its value; that of a missing member is that of its object. */
int source_locate(const struct source_file *s, size_t document, const struct path *path, struct position *ret,
                  struct err *err);

/* Finds the position of the character at the offset in the text, which is the value at path, in any style of YAML or JSON. White
 * space counts as the next visible character. ERR_NOT_FOUND if there is none, or if the file does not have the text itself but a
 * reference to it. */
int source_locate_in_text(const struct source_file *s, size_t document, const struct path *path, struct str text,
                          size_t offset, struct position *ret, struct err *err);

/* Line and column of a byte offset. */
struct position source_position(struct str text, size_t offset);

/* Appends `NAME:LINE:COLUMN: MESSAGE` and, when the position is known, the line itself with a caret under the column. Long
 * lines are cut around the column, control characters shown as spaces. */
void source_append_error(struct buf *b, const struct source_file *s, const struct err *err);
