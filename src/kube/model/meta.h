/* The parts that every Kubernetes object has: its group, version and kind, and its metadata. These functions read values and return
 * new values; they know neither schemas nor stores. Readers treat NULL and wrong types as absent. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

struct gvk {
        struct str group; /* "" is the core group */
        struct str version;
        struct str kind;
};

/* The parts of `group/version` or `version`. More than one slash: `unexpected GroupVersion string: TEXT`. */
int gvk_split_api_version(struct str api_version, struct str *ret_group, struct str *ret_version, struct err *err);

/* From an object's apiVersion and kind; missing parts are empty. An apiVersion with more than one slash is used as the version as a
 * whole. */
struct gvk gvk_of(const struct value *object);
bool gvk_equal(struct gvk a, struct gvk b);
struct str gvk_api_version(struct arena *a, struct gvk gvk);
struct gvk gvk_copy(struct arena *a, struct gvk gvk);

/* Some kinds have a version that is an alias of a later one: EnvironmentConfig v1alpha1 is an alias of v1beta1. gvk_current returns
 * the current name. gvk_alias returns the other name, for either of the two, and false if there is none. */
struct gvk gvk_current(struct gvk gvk);
bool gvk_alias(struct gvk gvk, struct gvk *ret);

/* `example.org/v1, Kind=Widget`, with `/v1, Kind=...` in the core group, as Go prints a GroupVersionKind. */
struct str gvk_text(struct arena *a, struct gvk gvk);

/* The API's words about a kind that is not registered: `no kind "Foo" is registered for version "v1" in scheme ...`. */
struct str gvk_unknown_text(struct arena *a, struct str kind, struct str api_version);

/* A resource as the path of a request names it: by the plural instead of the kind. */
struct gvr {
        struct str group;
        struct str version;
        struct str plural;
};

/* The identity of an object: all parts that a path in the API names. namespace is empty for cluster-scoped kinds. */
struct object_key {
        struct gvk gvk;
        struct str ns;
        struct str name;
};

struct object_key object_key_of(const struct value *object);
bool object_key_equal(const struct object_key *a, const struct object_key *b);
struct object_key object_key_copy(struct arena *a, const struct object_key *key);

/* Metadata. Strings are empty when absent. */
const struct value *meta(const struct value *object);
struct str meta_str(const struct value *object, struct str field); /* a string directly under metadata */
static inline struct str meta_name(const struct value *o)
{
        return meta_str(o, STR("name"));
}
static inline struct str meta_namespace(const struct value *o)
{
        return meta_str(o, STR("namespace"));
}
static inline struct str meta_uid(const struct value *o)
{
        return meta_str(o, STR("uid"));
}
static inline struct str meta_resource_version(const struct value *o)
{
        return meta_str(o, STR("resourceVersion"));
}
/* A resourceVersion as a number; 0 if the text is none. */
uint64_t resource_version_parse(struct str text);
int64_t meta_generation(const struct value *object); /* 0 when absent */
bool meta_is_deleting(const struct value *object);   /* has a deletionTimestamp */
struct str meta_label(const struct value *object, struct str key);
struct str meta_annotation(const struct value *object, struct str key);
bool meta_has_label(const struct value *object, struct str key);
bool meta_has_annotation(const struct value *object, struct str key);

/* Edits: they return a new object in the arena that shares the unchanged parts, or the object itself when nothing changes. A NULL
 * value removes the field. Removing the last label or annotation removes the map. */
const struct value *meta_with(struct arena *a, const struct value *object, struct str field, const struct value *v);
const struct value *meta_with_str(struct arena *a, const struct value *object, struct str field, struct str v);
const struct value *meta_with_label(struct arena *a, const struct value *object, struct str key, struct str v);
const struct value *meta_without_label(struct arena *a, const struct value *object, struct str key);
const struct value *meta_with_annotation(struct arena *a, const struct value *object, struct str key, struct str v);
const struct value *meta_without_annotation(struct arena *a, const struct value *object, struct str key);

/* Finalizers. Adding an existing one changes nothing; removing removes all of that name. */
bool meta_has_finalizer(const struct value *object, struct str finalizer);
const struct value *meta_with_finalizer(struct arena *a, const struct value *object, struct str finalizer);
const struct value *meta_without_finalizer(struct arena *a, const struct value *object, struct str finalizer);
