/* A limit of calls in flight for each function. A run that finds no free slot ends and frees its worker; its key waits in line behind
 * the function and is added to its queue again when a slot is free, so that one hung function does not hold the workers of everybody.
 * Any thread. */
#pragma once

#include "control.h"

struct slots;

struct slots *slots_new(unsigned per_name);
void slots_free(struct slots *s); /* NULL is fine */

/* True if the caller has a slot now. Otherwise the key waits in line; the run must end with control_answer.is_waiting. A key that waits
 * already keeps its place. */
bool slots_enter(struct slots *s, struct str name, struct controller *c, struct str key);
void slots_leave(struct slots *s, struct str name);

/* Takes the keys of a controller that stops out of all lines. */
void slots_forget(struct slots *s, const struct controller *c);
