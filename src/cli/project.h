/* Writes the files of a template as a new project. */
#pragma once

#include "buf.h"
#include "err.h"

struct embedded_file;

/* Lower-case letters, digits and inner dashes. */
bool project_is_label(struct str s);

/* Appends the name of a function's package and program: by convention it begins with `function-`. */
int project_function_name(const char *name, struct buf *ret, struct err *err);

/* Writes the files to the directory, which is made, or is empty but for `.git`. `@NAME@` in them becomes the name. */
int project_write(const char *directory, const struct embedded_file *files, struct str name, struct err *err);
