/* The content of a package (docs/spec/packages 2): one meta object and the objects that it brings, as package.yaml has them.
 *
 * Objects are held in the form that Crossplane's tools write: decoded into their Go types and encoded again. */
#pragma once

#include "err.h"
#include "meta.h"

struct buf;

enum xpkg_kind { XPKG_FUNCTION, XPKG_PROVIDER, XPKG_CONFIGURATION };

struct xpkg_dependency {
        struct gvk gvk;     /* pkg.crossplane.io/v1 Function, ... */
        struct str package; /* a reference without tag */
        struct str version; /* a constraint or a digest */
};

struct xpkg {
        enum xpkg_kind kind;
        const struct value *meta;
        struct str name;
        struct str crossplane; /* constraint on Crossplane's version, or "" */
        const struct xpkg_dependency *dependencies;
        size_t n_dependencies;
        const struct str *capabilities;
        size_t n_capabilities;
        bool has_capabilities;              /* false: none were written, which for functions means `composition` */
        const struct value *const *objects; /* in order */
        size_t n_objects;
};

/* Collects documents; then xpkg_finish makes the package. Texts are borrowed. */
struct xpkg_reader {
        struct arena *arena;
        const struct value **metas;
        size_t n_metas;
        const struct value **objects;
        size_t n_objects, capacity;
};

void xpkg_reader_init(struct xpkg_reader *r, struct arena *a);

/* Adds all documents of a YAML stream. name is how the text is called in errors: a file's path, or package.yaml. An unknown kind is an
 * error. */
int xpkg_reader_add(struct xpkg_reader *r, const char *name, struct str yaml, struct err *err);

/* `not exactly one package meta type` unless there is exactly one meta object. */
int xpkg_finish(struct xpkg_reader *r, struct xpkg *ret, struct err *err);

/* The whole of package.yaml. */
int xpkg_parse(struct arena *a, struct str yaml, struct xpkg *ret, struct err *err);

/* Crossplane's rules for what may be in a package of its kind, in its words. */
int xpkg_lint(const struct xpkg *p, struct err *err);

/* Appends package.yaml, byte for byte as Crossplane's CLI writes it. */
int xpkg_encode(struct buf *b, const struct xpkg *p, struct err *err);

/* Names that Crossplane makes: a DNS label of the text, and one of the first 50 bytes of a name and the first 12 of a hash. */
struct str xpkg_dns_label(struct arena *a, struct str text);
struct str xpkg_friendly_id(struct arena *a, struct str name, struct str hash);
