/* The OpenAPI v3 document of one group and version as a value (docs/spec/apiserver 1.5): the paths and operations of its kinds, and
 * their schemas with everything that those refer to. Descriptions are only in schemas of CRDs, which bring them along. */
#pragma once

#include "kind.h"
#include "map.h"
#include "object.h"

struct buf;

struct openapi_kind {
        const struct kind *kind;
        const struct kind_version *version;
        struct object *crd; /* of a custom kind; NULL: its schema is not known */
};

/* Appends the document as JSON. It is made piece by piece: besides the text, memory holds the schema of one kind at a time.
 * ERR_LIMIT: a schema takes more than LIMIT_OPENAPI_SCHEMA_BYTES, or the text more than the buffer may hold. */
int openapi_write(struct buf *b, struct str group, struct str version, const struct openapi_kind *kinds, size_t n,
                  struct err *err);

/* The schema of a CRD as documents show it: vendor extensions kept, embedded resources with their metadata, values that are the same
 * as none left out. The root gets apiVersion, kind and metadata. */
struct value openapi_publish(struct arena *a, const struct value *schema);

/* --- Private to openapi-*.c --- */

#define OPENAPI_REFERENCE "#/components/schemas/"
#define OPENAPI_META      "io.k8s.apimachinery.pkg.apis.meta.v1."

struct openapi_writer {
        struct arena *arena; /* of the piece that is being made; emptied after it */
        struct arena names;  /* of components */
        struct str group, version;
        const struct openapi_kind *kinds;
        struct map own;    /* name of a component of the kinds -> struct openapi_own */
        struct map needed; /* names of components that something refers to; grows while it is walked */
        struct buf *out;
        bool has_members; /* of the JSON object that is being written */
        int result;       /* below 0 after a failure, which err then has */
        struct err *err;
};

/* Writes a member of the current JSON object. A failure is kept in the writer. */
void openapi_emit(struct openapi_writer *w, struct str key, const struct value *v);

/* {"$ref": ...}; the component becomes part of the document. */
struct value openapi_reference(struct openapi_writer *w, struct str component);

/* {"allOf": [{"$ref": ...}]}, with a default of {} if asked for. */
struct value openapi_all_of(struct openapi_writer *w, struct str component, bool has_default);

/* `org.example.v1.Widget`, `io.k8s.api.core.v1.Pod`. */
struct str openapi_component_of(struct arena *a, const struct openapi_kind *k);
struct str openapi_list_component_of(struct arena *a, const struct openapi_kind *k);

/* Writes the paths of the kind with their operations. */
void openapi_add_paths(struct openapi_writer *w, const struct openapi_kind *k);

/* An object of the members. */
#define OPENAPI_OBJECT(a, ...)                                   \
        value_of_members((a), (struct member[]) { __VA_ARGS__ }, \
                         sizeof((struct member[]) { __VA_ARGS__ }) / sizeof(struct member), false)
