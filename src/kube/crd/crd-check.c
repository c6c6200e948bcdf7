#include "crd-check.h"

#include "buf.h"
#include "condition.h"
#include "gotext.h"
#include "json.h"
#include "map.h"
#include "name.h"
#include "utf8.h"

#define APPROVAL          "api-approved.kubernetes.io"
#define APPROVAL_FIELD    "metadata.annotations[" APPROVAL "]"
#define APPROVAL_SEE      "see https://github.com/kubernetes/enhancements/pull/1111"
#define MAX_WARNING_BYTES 256

static const struct value *field_of(const struct value *object, const char *key)
{
        return value_get(object, str_from(key));
}

static struct str text_of(const struct value *object, const char *key)
{
        return value_str(field_of(object, key));
}

static void require(struct field_errors *errors, struct str field)
{
        field_error_add(errors, FIELD_REQUIRED, field, NULL, "%s", "");
}

void crd_add_name_error(struct field_errors *errors, struct str field, const struct value *value, const char *prefix,
                        const struct str *texts, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < n; i++) {
                buf_append_str(&b, i == 0 ? str_from(prefix) : STR(","));
                buf_append_str(&b, texts[i]);
        }
        if (n > 0)
                field_error_add(errors, FIELD_INVALID, field, value, "%.*s", STR_ARG(buf_str(&b)));
}

static void check_label(struct field_errors *errors, struct str field, const struct value *value)
{
        struct str texts[4];

        crd_add_name_error(errors, field, value, "", texts,
                           name_check_label_1035(errors->arena, value_str(value), false, texts));
}

/* --- Names --- */

struct names {
        const struct value *value;
        const char *at;
        bool are_required; /* true in the spec; a status may lack some names */
};

static bool is_missing(struct field_errors *errors, const struct names *names, const char *key, struct str field)
{
        if (!str_is_empty(text_of(names->value, key)))
                return false;
        if (names->are_required)
                require(errors, field);
        return true;
}

static void check_name_label(struct field_errors *errors, const struct names *names, const char *key)
{
        struct str field = arena_printf(errors->arena, "%s.%s", names->at, key);

        if (!is_missing(errors, names, key, field))
                check_label(errors, field, field_of(names->value, key));
}

static void check_kind_name(struct field_errors *errors, const struct names *names, const char *key)
{
        const struct value *v = field_of(names->value, key);
        struct str field = arena_printf(errors->arena, "%s.%s", names->at, key), texts[4];
        size_t n;

        if (is_missing(errors, names, key, field))
                return;
        n = name_check_label_1035(errors->arena, kind_lower(errors->arena, value_str(v)), false, texts);
        crd_add_name_error(errors, field, v, "may have mixed case, but should otherwise match: ", texts, n);
}

static void check_label_list(struct field_errors *errors, const struct names *names, const char *key)
{
        const struct value *list = field_of(names->value, key);

        for (size_t i = 0; i < value_count(list); i++)
                check_label(errors, arena_printf(errors->arena, "%s.%s[%zu]", names->at, key, i), value_item(list, i));
}

static void check_names(struct field_errors *errors, const struct names *names)
{
        struct str kind = text_of(names->value, "kind"), list_kind = text_of(names->value, "listKind");

        check_name_label(errors, names, "plural");
        check_name_label(errors, names, "singular");
        check_kind_name(errors, names, "kind");
        check_kind_name(errors, names, "listKind");
        check_label_list(errors, names, "shortNames");
        check_label_list(errors, names, "categories");
        if (!str_is_empty(kind) && str_equal(kind, list_kind))
                field_error_add(errors, FIELD_INVALID, arena_printf(errors->arena, "%s.listKind", names->at),
                                field_of(names->value, "listKind"), "kind and listKind may not be the same");
}

/* --- Group and scope --- */

static void check_group(struct field_errors *errors, const struct value *spec)
{
        const struct value *group = field_of(spec, "group");
        struct str texts[4];
        size_t n;

        if (str_is_empty(value_str(group))) {
                require(errors, STR("spec.group"));
                return;
        }
        n = name_check_subdomain(errors->arena, value_str(group), false, texts);
        crd_add_name_error(errors, STR("spec.group"), group, "", texts, n);
        if (n == 0 && str_find_char(value_str(group), '.') < 0)
                field_error_add(errors, FIELD_INVALID, STR("spec.group"), group,
                                "should be a domain with at least one dot");
}

static void check_scope(struct field_errors *errors, const struct value *spec)
{
        static const struct str scopes[] = { STR_INIT("Cluster"), STR_INIT("Namespaced") };
        struct str scope = text_of(spec, "scope");

        if (str_is_empty(scope))
                require(errors, STR("spec.scope"));
        else if (!str_equal(scope, scopes[0]) && !str_equal(scope, scopes[1]))
                field_error_add_unsupported(errors, STR("spec.scope"), field_of(spec, "scope"), scopes,
                                            ARRAY_SIZE(scopes));
}

enum approval {
        APPROVAL_MISSING,
        APPROVAL_BAD,
        APPROVAL_UNAPPROVED,
        APPROVAL_GIVEN,
};

/* Checks the parts of a URL that the policy needs: a scheme and a host. */
static bool is_url(struct str s)
{
        ptrdiff_t scheme = str_find(s, STR("://"));
        struct str rest = str_skip(s, (size_t)MAX(scheme, 0) + 3);

        return scheme > 0 && rest.n > 0 && !strchr("/?#", rest.p[0]);
}

static enum approval approval_of(const struct value *crd)
{
        struct str approval = meta_annotation(crd, STR(APPROVAL));

        if (str_is_empty(approval))
                return APPROVAL_MISSING;
        if (str_starts_with(approval, STR("unapproved")))
                return APPROVAL_UNAPPROVED;
        return is_url(approval) ? APPROVAL_GIVEN : APPROVAL_BAD;
}

static bool is_protected(struct str group)
{
        return str_equal(group, STR("k8s.io")) || str_equal(group, STR("kubernetes.io")) ||
               str_ends_with(group, STR(".k8s.io")) || str_ends_with(group, STR(".kubernetes.io"));
}

static void check_approval(struct field_errors *errors, const struct value *crd, const struct value *old)
{
        enum approval approval = approval_of(crd);
        struct value shown = value_of_str(meta_annotation(crd, STR(APPROVAL)));

        if (!is_protected(value_str(value_find(crd, "spec", "group"))) || (old && approval_of(old) == approval))
                return;
        if (approval == APPROVAL_MISSING)
                field_error_add(errors, FIELD_REQUIRED, STR(APPROVAL_FIELD), NULL,
                                "protected groups must have approval annotation \"" APPROVAL "\", " APPROVAL_SEE);
        if (approval == APPROVAL_BAD)
                field_error_add(errors, FIELD_INVALID, STR(APPROVAL_FIELD), &shown,
                                "protected groups must have approval annotation \"" APPROVAL
                                "\" with either a URL or a reason starting with \"unapproved\", " APPROVAL_SEE);
}

/* --- Versions, as far as they are names and flags --- */

/* The value is shown as JSON, because upstream has a pointer here. */
static void add_warning_error(struct field_errors *errors, size_t i, const struct value *warning, struct str detail)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "Invalid value: ");
        json_write_string(&b, value_str(warning), JSON_ESCAPE_HTML);
        buf_append_literal(&b, ": ");
        buf_append_str(&b, detail);
        field_error_add_text(errors, FIELD_INVALID,
                             arena_printf(errors->arena, "spec.versions[%zu].deprecationWarning", i), buf_str(&b));
}

static bool is_printable(struct str text, size_t *ret_offset)
{
        size_t width;

        for (size_t i = 0; i < text.n; i += width) {
                if (go_is_printable(utf8_decode(str_skip(text, i), &width)))
                        continue;
                *ret_offset = i;
                return false;
        }
        return true;
}

static void check_deprecation(struct field_errors *errors, const struct value *version, size_t i)
{
        const struct value *warning = field_of(version, "deprecationWarning");
        size_t offset;

        if (!value_is_string(warning))
                return;
        if (!value_bool(field_of(version, "deprecated"), false)) {
                add_warning_error(errors, i, warning, STR("can only be set for deprecated versions"));
                return;
        }
        if (warning->n > MAX_WARNING_BYTES)
                add_warning_error(errors, i, warning, STR("must be <= 256 characters long"));
        if (warning->n == 0)
                add_warning_error(errors, i, warning, STR("must not be an empty string"));
        if (!is_printable(value_str(warning), &offset))
                add_warning_error(errors, i, warning,
                                  arena_printf(errors->arena,
                                               "must only contain printable UTF-8 characters; non-printable character "
                                               "found at index %zu",
                                               offset));
}

/* The names of the versions. Upstream shows a dump of the versions with all their schemas instead. */
static struct value names_of(struct arena *a, const struct value *versions)
{
        struct array_builder b;

        if (!value_is_array(versions))
                return value_of_null();
        array_builder_init(&b, a, value_count(versions));
        VALUE_FOREACH_ITEM (v, versions)
                array_builder_add(&b, value_of_str(text_of(v, "name")));
        return array_builder_finish(&b);
}

static void check_version_names(struct field_errors *errors, const struct value *versions)
{
        struct value shown = names_of(errors->arena, versions);
        _cleanup_map_ struct map seen = { 0 };
        size_t n_storage = 0;
        bool is_unique = true;

        for (size_t i = 0; i < value_count(versions); i++) {
                const struct value *v = value_item(versions, i), *name = field_of(v, "name");

                n_storage += value_bool(field_of(v, "storage"), false);
                is_unique &= map_add(&seen, value_str(name), &seen);
                check_label(errors, arena_printf(errors->arena, "spec.versions[%zu].name", i),
                            name ? name : &value_empty_string);
                check_deprecation(errors, v, i);
        }
        /* Upstream also has the first version in spec.version, the field of CRDs from before they had several versions. */
        if (!str_is_empty(text_of(value_item(versions, 0), "name")))
                check_label(errors, STR("spec.version"), field_of(value_item(versions, 0), "name"));
        if (!is_unique)
                field_error_add(errors, FIELD_INVALID, STR("spec.versions"), &shown,
                                "must contain unique version names");
        if (n_storage != 1)
                field_error_add(errors, FIELD_INVALID, STR("spec.versions"), &shown,
                                "must have exactly one version marked as storage version");
}

/* --- Stored versions and updates --- */

/* Removes the versions of the spec from the map of stored versions. The remaining ones are stored but no longer in the spec. */
static void check_stored(struct field_errors *errors, const struct value *crd)
{
        const struct value *stored = value_find(crd, "status", "storedVersions");
        _cleanup_map_ struct map left = { 0 };

        if (value_count(stored) == 0) {
                field_error_add(errors, FIELD_INVALID, STR("status.storedVersions"), stored,
                                "must have at least one stored version");
                return;
        }
        VALUE_FOREACH_ITEM (name, stored)
                map_set(&left, value_str(name), (void *)name);
        VALUE_FOREACH_ITEM (version, value_find(crd, "spec", "versions")) {
                struct str name = text_of(version, "name");

                if (!map_remove(&left, name) && value_bool(field_of(version, "storage"), false))
                        field_error_add(errors, FIELD_INVALID, STR("status.storedVersions"), stored,
                                        "must have the storage version %.*s", STR_ARG(name));
        }
        for (const struct map_entry *e = map_first(&left); e; e = map_next(&left, e))
                field_error_add(errors, FIELD_INVALID,
                                arena_printf(errors->arena, "status.storedVersions[%zu]",
                                             (size_t)((const struct value *)e->value - stored->items)),
                                e->value,
                                "missing from spec.versions; %.*s was previously a storage version, and must remain in "
                                "spec.versions until a storage migration ensures no data remains persisted in %.*s and "
                                "removes %.*s from status.storedVersions",
                                STR_ARG(e->key), STR_ARG(e->key), STR_ARG(e->key));
}

void crd_check_status(struct arena *a _unused_, const struct value *crd, struct field_errors *errors)
{
        struct names names = { .value = value_find(crd, "status", "acceptedNames"), .at = "status.acceptedNames" };

        check_names(errors, &names);
}

static void check_same(struct field_errors *errors, const char *field, const struct value *now, const struct value *old)
{
        if (!str_equal(value_str(now), value_str(old)))
                field_error_add(errors, FIELD_INVALID, str_from(field), now ? now : &value_empty_string,
                                "field is immutable");
}

static bool is_established(const struct value *crd)
{
        struct condition established;

        return condition_get(crd, STR("Established"), &established) && established.status == CONDITION_TRUE;
}

static void check_update(struct field_errors *errors, const struct value *crd, const struct value *old)
{
        const struct value *spec = field_of(crd, "spec"), *old_spec = field_of(old, "spec");
        const struct value *names = field_of(spec, "names"), *old_names = field_of(old_spec, "names");

        if (is_established(old)) {
                check_same(errors, "spec.scope", field_of(spec, "scope"), field_of(old_spec, "scope"));
                check_same(errors, "spec.names.kind", field_of(names, "kind"), field_of(old_names, "kind"));
        }
        check_same(errors, "spec.group", field_of(spec, "group"), field_of(old_spec, "group"));
        check_same(errors, "spec.names.plural", field_of(names, "plural"), field_of(old_names, "plural"));
}

static void check_name(struct field_errors *errors, const struct value *crd)
{
        const struct value *spec = field_of(crd, "spec");
        struct str name = meta_name(crd);
        struct str wanted =
                arena_printf(errors->arena, "%.*s.%.*s", STR_ARG(text_of(field_of(spec, "names"), "plural")),
                             STR_ARG(text_of(spec, "group")));
        struct value shown = value_of_str(name);

        if (!str_is_empty(name) && !str_equal(name, wanted))
                field_error_add(errors, FIELD_INVALID, STR("metadata.name"), &shown,
                                "must be spec.names.plural+\".\"+spec.group");
}

static bool preserves_unknown(const struct value *crd)
{
        return value_bool(value_find(crd, "spec", "preserveUnknownFields"), false);
}

void crd_check(struct arena *a _unused_, const struct value *crd, const struct value *old, struct field_errors *errors,
               struct str_list *warnings)
{
        const struct value *spec = field_of(crd, "spec"), *versions = field_of(spec, "versions");
        struct names names = { .value = field_of(spec, "names"), .at = "spec.names", .are_required = true };

        if (old)
                check_update(errors, crd, old);
        else
                check_name(errors, crd);
        check_group(errors, spec);
        check_scope(errors, spec);
        if (preserves_unknown(crd) && crd_has_defaults(versions))
                field_error_add(errors, FIELD_INVALID, STR("spec.preserveUnknownFields"), &value_true,
                                "must be false in order to use defaults in the schema");
        check_names(errors, &names);
        check_version_names(errors, versions);
        crd_check_versions(errors, versions, warnings);
        crd_check_conversion(errors, spec, old && is_established(old) ? field_of(old, "spec") : NULL);
        if (preserves_unknown(crd) && !(old && preserves_unknown(old)))
                field_error_add(errors, FIELD_INVALID, STR("spec.preserveUnknownFields"), &value_true,
                                "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                "spec.versions[*].schema instead");
        check_approval(errors, crd, old);
        check_stored(errors, crd);
}
