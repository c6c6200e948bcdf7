/* Composed resources: turns a resource that a function wants into an object that can be applied (docs/spec/engine 2.6, 2.7).
 * Functions over values. */
#pragma once

#include "err.h"
#include "meta.h"

struct composed_scope {
        const struct value *composite;
        bool is_namespaced; /* whether the composite is namespaced */
};

/* *ret is the wanted object with the metadata that ties it to the composite: the name of the observed object if there is one,
 * labels, the annotation with its key, the controller reference, and a name. `wanted` is the object that the function returned;
 * observed may be NULL. Errors name the resource. */
int composed_prepare(struct arena *a, const struct composed_scope *scope, struct str key, const struct value *wanted,
                     const struct value *observed, const struct value **ret, struct err *err);

/* The same, but makes no name: sets only the metadata that ties the object to the composite. `root` is the name of the top
 * composite of the tree; it is the prefix of generated names. An error says which controller the object already has. */
int composed_describe(struct arena *a, const struct composed_scope *scope, struct str key, struct str root,
                      const struct value *wanted, const struct value *observed, const struct value **ret,
                      struct err *err);

/* The name of the top composite of the tree, from the composite's label; "" without the label. */
struct str composed_root(const struct value *composite);

/* The key of a composed resource, from its annotation; "" without the annotation. */
struct str composed_key(const struct value *object);

/* The object without the labels that tie it to a composite or a claim; it is written like this before it is deleted. */
const struct value *composed_without_labels(struct arena *a, const struct value *object);
