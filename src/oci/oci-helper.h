/* Docker's credential helpers: programs `docker-credential-NAME` that keep logins elsewhere. */
#pragma once

#include "oci-credentials.h"

/* Asks the helper for the login of a server, as `docker-credential-NAME get` with the server on its standard input. Returns 1 with a
 * login in the arena, 0 if the helper has none, or a negative code. The helper is killed at the deadline. */
int oci_helper_get(struct arena *a, struct str name, struct str server, struct deadline deadline, struct cancel *cancel,
                   struct oci_login *ret, struct err *err);
