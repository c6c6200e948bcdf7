/* Values in Go's syntax, as fmt prints them with %#v. go-yaml's errors about mapping keys contain values in this form. */
#pragma once

#include "str.h"

struct arena;
struct buf;
struct yaml_node;

#define YAML_GO_SYNTAX_BYTES (1u << 20) /* a good maximum for the buffer: aliases are written out */

struct yaml_go_syntax {
        struct arena *scratch;
        bool keeps_first;     /* the first of equal keys counts, as in strict mode; otherwise the last */
        bool is_in_interface; /* nil is interface {}(nil) and not <nil> */
};

/* A node that has been decoded without an error. */
void yaml_append_go_syntax(const struct yaml_go_syntax *g, struct buf *b, const struct yaml_node *n);
