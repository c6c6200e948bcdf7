/* Composite resources: reads and sets Crossplane's own fields in them (docs/spec/engine 0.4). Functions over values. */
#pragma once

#include "condition.h"
#include "places.h"

/* A composite or a claim, and the table of its design. */
struct composite {
        const struct value *object;
        const struct places *places; /* NULL: places_modern */
};

static inline const struct places *composite_places(const struct composite *c)
{
        return c->places ? c->places : &places_modern;
}

/* Whether composites of this design have the field. */
bool composite_has(const struct composite *c, struct str name);

const struct value *composite_field(const struct composite *c, struct str name);
/* Unchanged if the design does not have the field. */
struct composite composite_with(struct arena *a, const struct composite *c, struct str name, const struct value *v);

/* The name in a reference (compositionRef, compositionRevisionRef); "" without. */
struct str composite_ref(const struct composite *c, struct str name);
struct composite composite_with_ref(struct arena *a, const struct composite *c, struct str name, struct str to);

/* matchLabels of compositionSelector or compositionRevisionSelector; NULL without. */
const struct value *composite_selector(const struct composite *c, struct str name);
struct str composite_update_policy(const struct composite *c); /* "" when it is not set */

/* An entry of resourceRefs: a reference to a composed resource. */
struct resource_reference {
        struct str api_version;
        struct str kind;
        struct str ns;
        struct str name;
        struct str uid;
};

size_t composite_resource_refs(struct arena *a, const struct composite *c, const struct resource_reference **ret);

/* The references as a list, sorted by the concatenation of apiVersion, kind, name and namespace. A namespaced composite's
 * references have no namespace. */
struct value composite_refs_value(struct arena *a, const struct resource_reference *refs, size_t n, bool is_namespaced);

bool composite_is_paused(const struct value *object);

/* `a, b, and N more`: at most three of the names, which are sorted here (docs/spec/engine 1.9). */
struct str composite_name_list(struct arena *a, struct str *names, size_t n);

/* The object with every condition written as Crossplane's type serialises it: always with a time (maybe null), a reason, a status
 * and a type, and without fields that the type does not have. */
const struct value *composite_write_out_conditions(struct arena *a, const struct value *object);

/* Whether the engine itself sets conditions of this type. */
bool condition_is_system(struct str type);

/* The field manager of a composite's composed resources: a digest of its name and kind. */
struct str composite_composed_manager(struct arena *a, const struct value *object);
