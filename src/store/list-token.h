/* Continue tokens of lists, in the form of the API: base64 of {"v":"meta.k8s.io/v1","rv":VERSION,"start":"/KEY\u0000"}. */
#pragma once

#include "arena.h"
#include "err.h"

/* version -1: the next page shows the latest version. start is the smallest key of the next page, relative to the listed
 * namespace. */
struct str list_token_make(struct arena *a, int64_t version, struct str start);

/* Errors are the API's 400: `invalid continue token: ...`. */
int list_token_parse(struct arena *a, struct str token, int64_t *ret_version, struct str *ret_start, struct err *err);
