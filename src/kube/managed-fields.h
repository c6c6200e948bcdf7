/* metadata.managedFields as a list of managers with their sets. Private to the apply code of this layer. */
#pragma once

#include "field-trie.h"
#include "timetext.h"

/* One entry. Who it is: name, operation, subresource and, for updates only, apiVersion. */
struct manager {
        struct str name;
        struct str api_version;
        struct str subresource;
        bool is_apply;
        bool has_time;
        struct instant time;
        const struct field_set *set;

        /* The entry as it was stored, and the set read from it: what did not change is stored as it was. */
        const struct value *encoded;
        const struct field_set *decoded;
};

struct managers {
        struct arena *arena;
        struct manager *p;
        size_t n;
        size_t capacity;
};

/* The entries under metadata.managedFields of the object, in any order; an entry that says who it is like an earlier one takes
 * its place. What is no list of entries at all counts as absent. is_stored: they are in the form in which we write them. */
int managed_fields_decode(struct arena *a, const struct value *object, bool is_stored, struct managers *ret,
                          struct err *err);

/* True for `[]` and `[{}]`: whoever writes them wants to start over. */
bool managed_fields_is_reset(const struct value *object);

/* The object with these entries, in upstream's order; without managedFields when there are none. */
const struct value *managed_fields_store(const struct value *object, const struct managers *m);

struct manager *managers_find(const struct managers *m, const struct manager *like);
struct manager *managers_add(struct managers *m, struct manager entry);
void managers_remove(struct managers *m, struct manager *entry);
void managers_drop_empty(struct managers *m);

/* What upstream knows a manager by, and sorts by: the entry as JSON. */
struct str manager_identifier(struct arena *a, const struct manager *m);

/* Unites the oldest update entries, by version, until no more than MANAGED_UPDATES_MAX are left. */
void managers_cap(struct managers *m);

#define MANAGED_UPDATES_MAX 10
