/* Shared by the files of this room. */
#pragma once

#include "inspect.h"

/* Gets the object that is meant, as the run's user. */
int inspect_get(struct cluster *c, struct run *run, const struct inspect_target *target, struct object_key *ret_key,
                const struct value **ret, struct err *err);

/* The key of the object's runs: the composite of a claim, else its own. */
struct object_key inspect_composite_key(const struct value *object);

/* Sets a member unless its text is empty. */
static inline void inspect_put(struct object_builder *b, struct str key, struct str text)
{
        if (text.n)
                object_builder_set(b, key, value_of_str(text));
}

/* The record with its changes in its steps. */
struct value inspect_run_value(struct arena *a, const struct run_record *record);

/* The value as JSON on one line, cut if it is long. */
void inspect_append_value(struct buf *b, const struct value *v);

/* --- inspect-field.c --- */

/* Makes the answer about who set the field: {path, value?, step?: {...}, managers: [...]}. */
int inspect_field(struct cluster *c, struct run *run, struct run_records *records, const struct value *object,
                  struct str field, struct value *ret, struct err *err);

/* The composite that controls the object. False: there is none, or the user may not read it. */
bool inspect_controller(struct cluster *c, struct run *run, const struct value *object, struct object_key *ret);

/* The newest entry of managedFields; NULL without one. */
const struct value *inspect_last_manager(const struct value *object);

/* --- inspect-deletion.c --- */

/* Finds what holds the deletion of the object up, or would: {since?, finalizers, usages, dependents}. Returns false if there is
 * nothing and the object is not being deleted. */
bool inspect_deletion(struct cluster *c, struct run *run, const struct value *object, struct value *ret);
