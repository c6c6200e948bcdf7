/* Reads files by the names that users give: a path, or `-` for standard input. */
#pragma once

#include "buf.h"
#include "err.h"

/* Appends the whole file, or all of standard input for `-`. Errors name the file. A file larger than LIMIT_DOCUMENT_BYTES is an
 * error. */
int input_read(const char *name, struct buf *ret, struct err *err);

/* The name of the file in messages: its path, or <stdin>. */
struct str input_name(const char *name);
