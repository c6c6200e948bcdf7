/* Files for their owner alone: keys, kubeconfigs and other secrets. */
#pragma once

#include "buf.h"
#include "err.h"

/* Makes the directory with mode 0700 if it is missing, and the missing ones above it. An existing one keeps its mode. */
int private_directory_make(const char *path, struct err *err);

/* Replaces the file as a whole, with mode 0600: a reader, and a start after a crash, sees the old contents or the new ones. Waits
 * until they are durable. */
int private_file_write(const char *path, struct str contents, struct err *err);

/* Appends the contents. ERR_NOT_FOUND if there is no file; a file beyond PRIVATE_FILE_BYTES is ERR_LIMIT. */
int private_file_read(const char *path, struct buf *ret, struct err *err);

#define PRIVATE_FILE_BYTES (16u << 20)
