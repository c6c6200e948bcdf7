/* The files of a response cache: names are 64 hexadecimal digits, contents as in fn-cache-entry.h. A file's modification time is
 * the deadline of its response, so that expired files are found without reading them.
 *
 * Files are written under a temporary name and renamed, so that a reader sees either a whole file or none. They are not synced: the
 * digest detects a file that a crash has truncated. Private to the cache. */
#pragma once

#include "err.h"

struct bytes;

/* Opens the directory and creates it if it is missing; its parent must exist. Refuses a directory that other users can write to,
 * because the cache trusts its contents. */
int fn_cache_dir_open(struct str path, int *ret_fd, struct err *err);

/* Calls found for each file of the cache, and removes temporary files of writers that died. */
int fn_cache_dir_scan(int fd, void (*found)(void *arg, struct str name, size_t size_bytes, int64_t deadline_ns),
                      void *arg, struct err *err);

/* ERR_NOT_FOUND without a message when there is no such file. */
int fn_cache_dir_read(int fd, struct str name, struct bytes **ret, struct err *err);
int fn_cache_dir_write(int fd, struct str name, struct str contents, int64_t deadline_ns, struct err *err);
void fn_cache_dir_remove(int fd, struct str name);
