/* Composed resources: what a function wants becomes an object that can be applied (spec/engine 2.6, 2.7). Functions over values. */
#pragma once

#include "err.h"
#include "meta.h"

struct composed_scope {
        const struct value *composite;
        bool is_namespaced; /* the composite */
};

/* The object with what makes it the composite's: the name of the observed one if there is one, labels, the annotation with its key,
 * the controller reference, a name. `wanted` is what the function gave; observed may be NULL. Errors name the resource. */
int composed_prepare(struct arena *a, const struct composed_scope *scope, struct str key, const struct value *wanted,
                     const struct value *observed, const struct value **ret, struct err *err);

/* The same without a name of its own: only metadata that says whose it is. `root` is the name at the top of the tree, which prefixes
 * names. An error says who controls it already. */
int composed_describe(struct arena *a, const struct composed_scope *scope, struct str key, struct str root,
                      const struct value *wanted, const struct value *observed, const struct value **ret,
                      struct err *err);

/* The composite's label with that name; "" without. */
struct str composed_root(const struct value *composite);

/* The annotation with its key; "" without. */
struct str composed_key(const struct value *object);

/* Without the labels that say whose it is, as it is before it is deleted. */
const struct value *composed_without_labels(struct arena *a, const struct value *object);
