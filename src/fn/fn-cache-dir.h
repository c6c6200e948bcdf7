/* The files of a response cache: names are 64 hexadecimal digits, contents as in fn-cache-entry.h. A file's time of modification is the
 * deadline of its response, so that what has expired is found without reading.
 *
 * Files are written beside their name and moved to it, so that a reader sees all of one or none. They are not synced: a file that a
 * crash has cut short is found out by its digest. Private to the cache. */
#pragma once

#include "err.h"

struct bytes;

/* Opens the directory, which is made if it is not there; its parent must exist. One that others can write to is refused: what is in it
 * would be believed. */
int fn_cache_dir_open(struct str path, int *ret_fd, struct err *err);

/* Calls found for each file of the cache, and removes what writers that died have left behind. */
int fn_cache_dir_scan(int fd, void (*found)(void *arg, struct str name, size_t size_bytes, int64_t deadline_ns),
                      void *arg, struct err *err);

/* ERR_NOT_FOUND without a message when there is no such file. */
int fn_cache_dir_read(int fd, struct str name, struct bytes **ret, struct err *err);
int fn_cache_dir_write(int fd, struct str name, struct str contents, int64_t deadline_ns, struct err *err);
void fn_cache_dir_remove(int fd, struct str name);
