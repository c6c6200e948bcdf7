/* Values in Go's syntax, as fmt prints them with %#v: go-yaml's errors about mapping keys quote them so. */
#pragma once

#include "str.h"

struct arena;
struct buf;
struct yaml_node;

#define YAML_GO_SYNTAX_BYTES (1u << 20) /* a good maximum for the buffer: aliases are written out */

/* A node that has been decoded without an error. nil on its own is <nil>, inside something else interface {}(nil). */
void yaml_append_go_syntax(struct arena *scratch, struct buf *b, const struct yaml_node *n, bool is_outermost);
