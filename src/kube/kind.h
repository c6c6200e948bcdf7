/* Kinds: what the API knows about a type of object. Counted and immutable: a changed CRD makes a new one. */
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

struct kind_version {
        struct str name;
        struct schema *schema; /* never NULL: schema_any for kinds without one */
        bool is_served;
        bool is_storage;
        bool is_deprecated;
        struct str deprecation_warning; /* of a deprecated version never empty */
        bool has_status;                /* subresources */
        bool has_scale;
        struct str scale_spec_path; /* `.spec.replicas` */
        struct str scale_status_path;
        struct str scale_selector_path;
        const struct str
                *selectable_fields; /* `spec.color`; NULL for built-in kinds that know none (field-selector.h) */
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
        bool is_custom;               /* comes from a CRD, or is schemaless: a CR in every rule that tells CRs apart */
        bool allows_create_on_update; /* spec/apiserver 2.3 */
        bool allows_unconditional_update;
        bool has_generation;
        enum name_rule name_rule;
        const struct kind_version *versions;
        size_t n_versions;
        size_t storage; /* index of the storage version */
        const struct conversion *conversions;
        size_t n_conversions;
        const struct value *crd_columns; /* name of a version -> its additionalPrinterColumns; NULL without any */
        /* What the kind does beyond CRUD when it is created or updated (defaults, status reset, validation); NULL: nothing. */
        const struct kind_strategy *strategy;
};

struct kind *kind_ref(struct kind *k);
void kind_unref(struct kind *k); /* NULL is fine */

const struct kind_version *kind_version(const struct kind *k, struct str version); /* served or not; NULL if absent */
static inline const struct kind_version *kind_storage(const struct kind *k)
{
        return &k->versions[k->storage];
}
/* The order in which versions are preferred: above 0 when a comes before b. GA, beta, alpha, each with the highest numbers
 * first; then other names in the order of their letters. */
int kind_version_compare(struct str a, struct str b);
struct status_subject kind_subject(const struct kind *k, struct str name);

/* From a CRD (apiextensions.k8s.io/v1) that crd_check has found good. What is wrong with a schema nevertheless is ERR_INVALID.
 * Nothing of crd is kept. */
int kind_from_crd(const struct value *crd, struct kind **ret, struct err *err);

/* A kind nobody has described: schemaless, plural guessed, scope as given, with a status subresource. One version, as in
 * gvk. */
struct kind *kind_schemaless(struct gvk gvk, bool is_namespaced);

/* Lower-case plural by the usual English rules, as meta.UnsafeGuessKindToResource does it. */
struct str kind_guess_plural(struct arena *a, struct str kind);

/* strings.ToLower: how a kind's name becomes its singular. */
struct str kind_lower(struct arena *a, struct str s);

/* The kinds that are there without a CRD, here the ones that the store itself depends on: Namespace,
 * CustomResourceDefinition, and Secret, ConfigMap, ServiceAccount, Event, Lease as plain data. Terminated by NULL; counted
 * by nobody, alive for ever. */
struct kind *const *kind_builtins(void);

/* --- CRDs as objects (spec/apiserver 5.1, 5.2, 5.7) --- */

/* Defaults, a status that only its subresource writes, storedVersions, crd_check. The life of a CRD (names, Established,
 * finalizer) is the store's. */
extern const struct kind_strategy crd_strategy;

/* Fills in what the API defaults: singular, listKind, conversion. */
const struct value *crd_default(struct arena *a, const struct value *crd);

/* Checks a created (old NULL) or updated CRD. Warnings (unrecognised formats, rules that are not enforced) are added. */
void crd_check(struct arena *a, const struct value *crd, const struct value *old, struct field_errors *errors,
               struct str_list *warnings);

/* Checks a write of the status alone: its names. Which versions it says are stored is its writer's business. */
void crd_check_status(struct arena *a, const struct value *crd, struct field_errors *errors);
