/* Scalars and indentation as yaml.v3's emitter writes them. gt-yaml-write.c walks the value and calls these functions. */
#pragma once

#include "buf.h"
#include "str.h"

#define GT_YAML_INDENT           4
#define GT_YAML_SIMPLE_KEY_BYTES 128

/* The parent of a node; it decides the indentation of the node's lines. */
enum gt_yaml_parent {
        GT_YAML_ROOT,
        GT_YAML_ITEM,
        GT_YAML_KEY,   /* a key on the line of its value */
        GT_YAML_MEMBER /* a value, or a key after a question mark */
};

struct gt_yaml_emitter {
        struct buf *out;
        int indent; /* of the enclosing collection, -1 at the root */
        size_t column;
        bool is_whitespace; /* the last character was white space, or an indicator that counts as such */
        bool is_indention;  /* nothing but indentation and indicators on this line so far */
};

void gt_yaml_put_indent(struct gt_yaml_emitter *e);
void gt_yaml_put_break(struct gt_yaml_emitter *e);
void gt_yaml_put_indicator(struct gt_yaml_emitter *e, struct str indicator, bool needs_space, bool is_indention);

/* The indentation of the contents of a node with that parent. */
int gt_yaml_inner_indent(const struct gt_yaml_emitter *e, enum gt_yaml_parent parent);

/* Writes the text without quotes or escapes. */
void gt_yaml_put_plain(struct gt_yaml_emitter *e, struct str s);

/* Writes a string in the style that it needs. can_be_plain: without quotes it would be read as a string. */
void gt_yaml_put_string(struct gt_yaml_emitter *e, struct str s, bool can_be_plain, enum gt_yaml_parent parent);

/* True if the key contains a line break. */
bool gt_yaml_is_multiline(struct str s);
