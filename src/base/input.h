/* Files as users name them: a path, or `-` for standard input. */
#pragma once

#include "buf.h"
#include "err.h"

/* Appends the whole of the file, or of standard input for `-`. Errors name the file; one larger than LIMIT_DOCUMENT_BYTES is
 * refused. */
int input_read(const char *name, struct buf *ret, struct err *err);

/* How messages call the file: its name, or <stdin>. */
struct str input_name(const char *name);
