/* Structural schemas: the OpenAPI v3 of a CRD version, compiled once into a compact form that is shared and never changes.
 *
 * A compiled schema is one block of nodes. Equal subtrees of all schemas of a process may share nodes. Texts (descriptions) are not
 * kept: code that publishes OpenAPI documents keeps the CRD itself. Everything here is thread-safe. */
#pragma once

#include "err.h"
#include "field-error.h"
#include "str-list.h"
#include "value.h"

struct schema;      /* counted, immutable */
struct schema_node; /* borrowed from its schema */

/* Compiles the object under openAPIV3Schema. The rules of structural schemas are checked (docs/spec/apiserver 5.2). Violations are
 * added to errors under paths that begin with `field`; then the result is ERR_INVALID and there is no schema. Unknown keywords are
 * ignored. openapi need not outlive the call. */
int schema_compile(const struct value *openapi, struct str field, struct schema **ret, struct field_errors *errors);

/* Compiles a schema that the API made itself: it need not be structural, and its defaults are not checked. */
int schema_compile_trusted(const struct value *openapi, struct schema **ret, struct err *err);
struct schema *schema_ref(struct schema *s);
void schema_unref(struct schema *s); /* NULL is fine */
size_t schema_size_bytes(const struct schema *s);

/* The schema without any rules: everything is preserved, nothing is defaulted or refused. For kinds without a CRD. */
struct schema *schema_any(void);

/* Whether the schema has x-kubernetes-validations anywhere. They are kept, and not enforced until there is CEL. */
bool schema_has_rules(const struct schema *s);

/* Brings a decoded object into stored form (docs/spec/apiserver 5.4): unknown fields are pruned (and, when unknown is not NULL,
 * their paths in the words of strict decoding are added to it, sorted), nulls that are neither nullable nor defaulted are dropped
 * if drop_nulls, defaults are filled in. apiVersion, kind and metadata at the root and in embedded resources are left alone. The
 * result shares unchanged parts and is v itself when nothing changed. */
struct schema_admit_options {
        bool drop_nulls;
        struct str_list *unknown; /* may be NULL */
};
const struct value *schema_admit(const struct schema *s, struct arena *a, const struct value *v,
                                 const struct schema_admit_options *options);

/* The single parts of schema_admit. */
const struct value *schema_prune(const struct schema *s, struct arena *a, const struct value *v,
                                 struct str_list *unknown);
const struct value *schema_default(const struct schema *s, struct arena *a, const struct value *v);
const struct value *schema_drop_nulls(const struct schema *s, struct arena *a, const struct value *v);

/* Validates the object except its metadata (prepare.h validates that), with Kubernetes' messages. old is the stored object of an
 * update, for ratcheting, or NULL. below is "" or "status": only this part is validated, with the messages of the subresource. */
void schema_validate(const struct schema *s, const struct value *v, const struct value *old, struct str below,
                     struct field_errors *errors);

/* --- The tree, for code that walks values and types together (server-side apply, OpenAPI, CEL) --- */

enum schema_type {
        SCHEMA_UNTYPED, /* no type given */
        SCHEMA_OBJECT,
        SCHEMA_ARRAY,
        SCHEMA_STRING,
        SCHEMA_INTEGER,
        SCHEMA_NUMBER,
        SCHEMA_BOOLEAN,
        SCHEMA_INT_OR_STRING,
};

enum schema_list_type {
        SCHEMA_LIST_ATOMIC, /* also the default */
        SCHEMA_LIST_SET,
        SCHEMA_LIST_MAP,
};

const struct schema_node *schema_root(const struct schema *s);
enum schema_type schema_node_type(const struct schema_node *n);
bool schema_node_is_nullable(const struct schema_node *n);
bool schema_node_preserves_unknown(const struct schema_node *n);
bool schema_node_is_embedded(const struct schema_node *n);
bool schema_node_has_embedded(const struct schema_node *n); /* in the node itself or below it */
bool schema_node_is_atomic_map(const struct schema_node *n);
enum schema_list_type schema_node_list_type(const struct schema_node *n);
size_t schema_node_list_keys(const struct schema_node *n, const struct str **ret);

/* How a strategic merge patch treats a list or map: x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key. */
bool schema_node_patch_merges(const struct schema_node *n);
bool schema_node_patch_replaces(const struct schema_node *n);
struct str schema_node_patch_key(const struct schema_node *n); /* "" without */
struct str schema_node_format(const struct schema_node *n);

/* The declared property, or NULL. */
const struct schema_node *schema_node_property(const struct schema_node *n, struct str key);
size_t schema_node_property_count(const struct schema_node *n);
const struct schema_node *schema_node_property_at(const struct schema_node *n, size_t i,
                                                  struct str *ret_key); /* in key order */

/* additionalProperties: a schema; for `true`, a node without a type that preserves nothing; NULL if absent or false. */
const struct schema_node *schema_node_additional(const struct schema_node *n);
const struct schema_node *schema_node_items(const struct schema_node *n); /* NULL without */

/* The properties declared at a path (`spec.list[0]`; empty: at the root), for suggestions: sorted; their texts live as long as the
 * schema. None if the path does not exist in the schema or is free-form. */
size_t schema_properties_at(const struct schema *s, struct arena *a, struct str path, const struct str **ret);

/* The default, or NULL; it lives as long as the schema. */
const struct value *schema_node_default(const struct schema_node *n);

/* x-kubernetes-validations as it was written, an array of objects, or NULL. It lives as long as the schema. */
const struct value *schema_node_rules(const struct schema_node *n);
