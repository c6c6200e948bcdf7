/* Kinds: the API's description of a type of object. Counted and immutable: a changed CRD makes a new kind. */
#pragma once

#include "convert.h"
#include "meta.h"
#include "schema.h"
#include "status.h"

enum name_rule {
        NAME_SUBDOMAIN,
        NAME_LABEL,
        NAME_PATH_SEGMENT,
};

/* Rules about metadata that a kind has beside those of all kinds (metadata.h). An error of both is reported twice. */
enum metadata_rule {
        METADATA_UPDATE = 1 << 0,     /* what an update may not change, again */
        METADATA_WHOLE = 1 << 1,      /* the whole metadata, again on an update */
        METADATA_FINALIZERS = 1 << 2, /* with each of the two: finalizers are standard ones or have a domain */
};

/* The verbs that the API allows, as in discovery. */
enum kind_verb {
        VERB_CREATE = 1 << 0,
        VERB_DELETE = 1 << 1,
        VERB_DELETE_COLLECTION = 1 << 2,
        VERB_GET = 1 << 3,
        VERB_LIST = 1 << 4,
        VERB_PATCH = 1 << 5,
        VERB_UPDATE = 1 << 6,
        VERB_WATCH = 1 << 7,
};
#define VERBS_ALL 0xffu

/* The name of a verb: `create`, ... `verb` has one bit. The order above is that of discovery. */
struct str kind_verb_name(enum kind_verb verb);

struct kind_subresource {
        struct str name; /* `status` */
        struct gvk gvk;  /* the kind of the objects that are read and written there */
        unsigned verbs;
};

struct builtin_type; /* builtin-table.h */

struct kind_version {
        /* The group of the version. It differs from that of the kind where the same objects are also served in another group (Events): each
         * of these groups has a kind of its own, which lists all versions in the same order and serves those of its group. */
        struct str group;
        struct str name;
        struct schema *schema; /* see kind_schema; NULL if there is a type */
        /* The Go type of a kind that comes with the API, which the preparation of writes holds objects against; NULL for all other kinds. */
        const struct builtin_type *type;
        bool is_served;
        bool is_storage;
        bool is_deprecated;
        struct str deprecation_warning; /* not empty if the version is deprecated */
        unsigned verbs;
        const struct kind_subresource *subresources; /* sorted by name; for discovery */
        size_t n_subresources;
        bool has_status; /* these fields are for the preparation of writes */
        bool has_scale;
        bool has_approval;
        struct str scale_spec_path; /* `.spec.replicas` */
        struct str scale_status_path;
        struct str scale_selector_path;
        const struct str *selectable_fields; /* `spec.color`; NULL for built-in kinds without any (field-selector.h) */
        size_t n_selectable_fields;
};

struct kind {
        _Atomic unsigned references;
        struct arena arena; /* owns everything below */
        struct str group;
        struct str kind;
        struct str list_kind;
        struct str plural;
        struct str singular;
        const struct str *short_names;
        size_t n_short_names;
        const struct str *categories;
        size_t n_categories;
        bool is_namespaced;
        bool is_custom;               /* comes from a CRD or is schemaless: treated as a CR by all rules for CRs */
        bool allows_create_on_update; /* docs/spec/apiserver 2.3 */
        bool allows_unconditional_update;
        bool has_generation;
        bool keeps_status_on_create; /* Nodes come with their status */
        bool status_writes_metadata; /* a write of the status also takes the request's metadata */
        bool spec_is_fixed;          /* only a create sets the spec, and nobody owns its fields */
        bool orphans_by_default;     /* a delete without a policy keeps the dependents (docs/spec/apiserver 2.6) */
        bool has_no_dependents;      /* a delete ignores the policy */
        enum name_rule name_rule;
        unsigned metadata_rules; /* of enum metadata_rule */
        const struct kind_version *versions;
        size_t n_versions;
        size_t storage; /* index of the storage version */
        const struct conversion *conversions;
        size_t n_conversions;
        const struct value *crd_columns; /* name of a version -> its additionalPrinterColumns; NULL without any */
        /* Not empty: the API does not store such objects; a create is refused with this text, which says why and what to do instead. */
        struct str refusal;
        /* The behaviour of the kind beyond CRUD on create and update (defaults, status reset, validation); NULL: none. */
        const struct kind_strategy *strategy;
};

/* The schema of a version; schema_any for kinds without one. That of a built-in kind is compiled when it is first asked for. It lives
 * as long as the kind. */
struct schema *kind_schema(const struct kind_version *v);

/* The bytes that the schema takes; 0 as long as it is not compiled. */
size_t kind_schema_bytes(const struct kind_version *v);

struct kind *kind_ref(struct kind *k);
void kind_unref(struct kind *k); /* NULL is fine */

/* The version in the kind's group, served or not; NULL if absent. */
const struct kind_version *kind_version(const struct kind *k, struct str version);
/* The same in any group. */
const struct kind_version *kind_version_in(const struct kind *k, struct str group, struct str version);
/* `GROUP/VERSION` of objects in the version. */
struct str kind_version_text(struct arena *a, const struct kind_version *v);
static inline const struct kind_version *kind_storage(const struct kind *k)
{
        return &k->versions[k->storage];
}
/* The order of preference of versions: above 0 when a is preferred to b. GA, beta, alpha, each with the highest numbers first; then
 * other names in alphabetical order. */
int kind_version_compare(struct str a, struct str b);

/* The served version of the name, or NULL. */
const struct kind_version *kind_served_version(const struct kind *k, struct str version);
bool kind_is_served(const struct kind *k); /* in any version */

/* The order of a catalogue: by group, then by plural, then by kind. */
int kind_compare(const struct kind *a, const struct kind *b);

/* Releases a kind, as a callback for arena_pin. */
void kind_unpin(void *k);

struct status_subject kind_subject(const struct kind *k, struct str name);

/* Makes a kind from a CRD (apiextensions.k8s.io/v1) that crd_check has accepted. A schema that is still wrong is ERR_INVALID. The
 * kind keeps nothing of crd. */
int kind_from_crd(const struct value *crd, struct kind **ret, struct err *err);

/* A kind without a CRD: schemaless, with a guessed plural, the given scope and a status subresource. Its one version is that of
 * gvk. */
struct kind *kind_schemaless(struct gvk gvk, bool is_namespaced);

/* Lower-case plural by the usual English rules, as meta.UnsafeGuessKindToResource does it. */
struct str kind_guess_plural(struct arena *a, struct str kind);

/* strings.ToLower. It makes the singular from a kind's name. */
struct str kind_lower(struct arena *a, struct str s);

/* The built-in kinds (builtin.h), which need no CRD. The list ends with NULL. The kinds are not counted and live forever. */
struct kind *const *kind_builtins(void);

/* --- CRDs as objects (docs/spec/apiserver 5.1, 5.2, 5.7) --- */

/* Defaults, a status that only its subresource writes, storedVersions, crd_check. The store handles the rest of a CRD's life:
 * names, Established, finalizer. */
extern const struct kind_strategy crd_strategy;

/* Fills in the API's defaults: singular, listKind, conversion. */
const struct value *crd_default(struct arena *a, const struct value *crd);

/* Checks a created (old NULL) or updated CRD. Warnings (unrecognised formats, rules that are not enforced) are added. */
void crd_check(struct arena *a, const struct value *crd, const struct value *old, struct field_errors *errors,
               struct str_list *warnings);

/* Checks the names in a write of the status. The stored versions in it are not checked: they are up to the writer. */
void crd_check_status(struct arena *a, const struct value *crd, struct field_errors *errors);
