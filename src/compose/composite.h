/* Composite resources: where Crossplane's own fields are in them (spec/engine 0.4). Functions over values. */
#pragma once

#include "condition.h"

/* Legacy composites have them at spec.*, modern ones at spec.crossplane.*. */
struct composite {
        const struct value *object;
        bool is_legacy;
};

const struct value *composite_field(const struct composite *c, struct str name);
struct composite composite_with(struct arena *a, const struct composite *c, struct str name, const struct value *v);

/* compositionRef.name, compositionRevisionRef.name: "" without. */
struct str composite_ref(const struct composite *c, struct str name);
struct composite composite_with_ref(struct arena *a, const struct composite *c, struct str name, struct str to);

/* matchLabels of compositionSelector or compositionRevisionSelector; NULL without. */
const struct value *composite_selector(const struct composite *c, struct str name);
struct str composite_update_policy(const struct composite *c); /* "" when nobody has said */

/* What is composed, in order. */
struct resource_reference {
        struct str api_version;
        struct str kind;
        struct str namespace;
        struct str name;
        struct str uid;
};

size_t composite_resource_refs(struct arena *a, const struct composite *c, const struct resource_reference **ret);

/* Sorted by apiVersion, kind, name and namespace as one text; the namespace is left out of a namespaced composite's. */
struct value composite_refs_value(struct arena *a, const struct resource_reference *refs, size_t n, bool is_namespaced);

bool composite_is_paused(const struct value *object);

/* `a, b, and N more`: at most three of the names, which are sorted here (spec/engine 1.9). */
struct str composite_name_list(struct arena *a, struct str *names, size_t n);

/* The object with every condition written out as Crossplane's type has it: a time, if only null, a reason, a status and a type, and
 * nothing that it does not know. */
const struct value *composite_write_out_conditions(struct arena *a, const struct value *object);

/* The conditions that the engine itself sets. */
bool condition_is_system(struct str type);

/* The field manager of a composite's composed resources: a digest of its name and kind. */
struct str composite_composed_manager(struct arena *a, const struct value *object);
