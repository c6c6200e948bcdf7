/* The way to a program in its namespaces: asks the first process inside for sockets, and connects them. */
#pragma once

#include "park.h"

struct program_gate; /* counted; any thread */

/* Takes over the descriptor: the runtime's end of the requests (launch.h). */
struct program_gate *gate_new(int requests_fd, uint16_t port);
struct program_gate *gate_ref(struct program_gate *g);
void gate_unref(struct program_gate *g); /* NULL is fine */

/* A socket that is connected to the program's port; the caller owns it. Waits at most so long. */
int gate_dial(struct program_gate *g, int64_t timeout_ms, int *ret_fd, struct err *err);

/* The number of connections to the program's port; -1: unknown. */
int gate_count(struct program_gate *g);
