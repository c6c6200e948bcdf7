/* Deletion protection (docs/spec/engine 10): an index of all usages by the object that they protect, and the admission hook that
 * refuses to delete an object in use.
 *
 * The index follows the usages by watches. Every question first takes the events that are there, so that a usage counts from the
 * moment when its write has returned. A question costs what the object's own usages cost. Any thread. */
#pragma once

#include "cluster.h"

struct admission_hook;
struct protection;

/* Reads nothing yet. The cluster must outlive it. */
struct protection *protection_new(struct cluster *cluster);
void protection_free(struct protection *p); /* NULL is fine */

/* Refuses deletes of objects that have the label of used objects while a usage of them exists, and records the attempt in an
 * annotation unless it is a dry run. */
struct admission_hook protection_hook(struct protection *p);

/* The usage is about to end. *ret_is_last: no other usage protects the object, apart from those that are about to end, too; of several
 * that end at the same time the last one to ask is told so. used has no namespace if its kind has none. */
int protection_end(struct protection *p, struct run *run, const struct value *usage, const struct object_key *used,
                   bool *ret_is_last, struct err *err);
