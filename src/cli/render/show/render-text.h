/* Values and names of objects as readable text. */
#pragma once

#include "meta.h"

struct buf;

/* `Cart/demo (default)`. */
void render_append_name(struct buf *b, const struct value *object);

/* Appends the value on one line. A long value is cut, with its length. NULL is `nothing`. */
void render_append_value(struct arena *a, struct buf *b, const struct value *v);

/* Appends the value as YAML, with its long texts cut in the same way, each line indented by `indent` spaces. */
int render_append_block(struct arena *a, struct buf *b, const struct value *v, size_t indent, struct err *err);

/* Appends a JSON pointer as a field path: `/metadata/annotations/a.b~1c` is `metadata.annotations[a.b/c]`. Numbers become
 * indices. */
void render_append_pointer(struct arena *a, struct buf *b, struct str pointer);

/* Takes the next element off a JSON pointer, decoded; returns false at its end. */
bool render_pointer_next(struct arena *a, struct str *pointer, struct str *ret);
