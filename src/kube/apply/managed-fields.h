/* metadata.managedFields as a list of managers with their sets. Private to the apply code of this layer. */
#pragma once

#include "field-trie.h"
#include "timetext.h"

/* One entry. Its identity: name, operation, subresource and, for updates only, apiVersion. */
struct field_manager {
        struct str name;
        struct str api_version;
        struct str subresource;
        bool is_apply;
        bool has_time;
        struct instant time;
        const struct field_set *set;

        /* The entry as it was stored, and the set decoded from it. An unchanged entry is stored again as it was. */
        const struct value *encoded;
        const struct field_set *decoded;
};

struct managers {
        struct arena *arena;
        struct field_manager *p;
        size_t n;
        size_t capacity;
};

/* The entries under metadata.managedFields of the object, in any order. An entry with the identity of an earlier one replaces it. A
 * value that is not a list of entries counts as absent. is_stored: the entries are in the form in which we write them. */
int managed_fields_decode(struct arena *a, const struct value *object, bool is_stored, struct managers *ret,
                          struct err *err);

/* True for `[]` and `[{}]`: with these a client resets the managed fields. */
bool managed_fields_is_reset(const struct value *object);

/* The object with these entries, in upstream's order; without managedFields when there are none. */
const struct value *managed_fields_store(const struct value *object, const struct managers *m);

struct field_manager *managers_find(const struct managers *m, const struct field_manager *like);
struct field_manager *managers_add(struct managers *m, struct field_manager entry);
void managers_remove(struct managers *m, struct field_manager *entry);
void managers_drop_empty(struct managers *m);

/* The entry as JSON: upstream identifies and sorts managers by it. */
struct str manager_identifier(struct arena *a, const struct field_manager *m);

/* Unites the oldest update entries of each version until at most MANAGED_UPDATES_MAX are left. */
void managers_cap(struct managers *m);

#define MANAGED_UPDATES_MAX 10
