/* Values and names of objects as people read them. */
#pragma once

#include "meta.h"

struct buf;

/* `Cart/demo (default)`. */
void render_append_name(struct buf *b, const struct value *object);

/* On one line; long ones are cut and say how long they are. NULL is `nothing`. */
void render_append_value(struct arena *a, struct buf *b, const struct value *v);

/* The value with its long texts cut in the same way, as YAML, each line behind so many spaces. */
int render_append_block(struct arena *a, struct buf *b, const struct value *v, size_t indent, struct err *err);

/* A JSON pointer as a field path: `/metadata/annotations/a.b~1c` is `metadata.annotations[a.b/c]`. Numbers are taken for indices. */
void render_append_pointer(struct arena *a, struct buf *b, struct str pointer);

/* The next element of a JSON pointer, decoded; false at its end. */
bool render_pointer_next(struct arena *a, struct str *pointer, struct str *ret);
