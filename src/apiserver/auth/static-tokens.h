/* Tokens that an administrator wrote into a file: lines of `token,user,uid,"group,group"` in CSV, as the API server reads them. */
#pragma once

#include "cluster.h"

struct static_tokens;

/* Reads the text of such a file; name is that of the file, for errors. A line needs three fields. Lines without a token are left out, and of
 * equal tokens the last one counts. */
int static_tokens_parse(struct str text, const char *name, struct static_tokens **ret, struct err *err);
void static_tokens_free(struct static_tokens *t); /* NULL is fine */

/* The user of the token, borrowed for the life of t, or NULL. The time does not depend on which token it is nearly equal to. Any
 * thread. */
const struct user *static_tokens_find(const struct static_tokens *t, struct str token);

size_t static_tokens_count(const struct static_tokens *t);
