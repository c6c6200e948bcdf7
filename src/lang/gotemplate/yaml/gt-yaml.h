/* toYaml and fromYaml, which write and read as yaml.v3 does. (yaml.h implements the YAML of Kubernetes, which is go-yaml v2:
 * indentation, quoting and booleans differ.) */
#pragma once

#include "gt-context.h"

struct buf;

/* Appends one document as yaml.Marshal writes it, ending in a newline. Fails as gt_fail does. */
int gt_yaml_write(struct gt_context *c, struct buf *b, struct gt_value v);

/* The first document as yaml.Unmarshal reads it into an interface {}; nil for an empty text. Fails with the texts of yaml.v3. */
int gt_yaml_read(struct gt_context *c, struct str text, struct gt_value *ret);

/* The value of a plain scalar in yaml.v3; GT_NONE for a string. Timestamps are times. */
struct gt_value gt_yaml_resolve(struct gt_context *c, struct str text);
