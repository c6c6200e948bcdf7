#include "kind.h"

#include "buf.h"
#include "builtin-table.h"
#include "gotext.h"
#include "kind-private.h"
#include "utf8.h"

#include <stdatomic.h>

struct kind *kind_new(void)
{
        struct kind *k = xcalloc(1, sizeof(*k));

        k->references = 1;
        arena_init(&k->arena, "kind", 0);
        return k;
}

struct kind *kind_ref(struct kind *k)
{
        atomic_fetch_add_explicit(&k->references, 1, memory_order_relaxed);
        return k;
}

void kind_unref(struct kind *k)
{
        if (!k || atomic_fetch_sub_explicit(&k->references, 1, memory_order_acq_rel) != 1)
                return;
        for (size_t i = 0; i < k->n_versions; i++)
                schema_unref(k->versions[i].schema);
        arena_done(&k->arena);
        free(k);
}

struct schema *kind_schema(const struct kind_version *v)
{
        return v->type ? builtin_type_schema(v->type) : v->schema;
}

size_t kind_schema_bytes(const struct kind_version *v)
{
        struct schema *schema = v->type ? atomic_load(&v->type->schema) : v->schema;

        return schema ? schema_size_bytes(schema) : 0;
}

const struct kind_version *kind_version_in(const struct kind *k, struct str group, struct str version)
{
        for (size_t i = 0; i < k->n_versions; i++)
                if (str_equal(k->versions[i].name, version) && str_equal(k->versions[i].group, group))
                        return &k->versions[i];
        return NULL;
}

const struct kind_version *kind_version(const struct kind *k, struct str version)
{
        return kind_version_in(k, k->group, version);
}

struct str kind_version_text(struct arena *a, const struct kind_version *v)
{
        return gvk_api_version(a, (struct gvk) { .group = v->group, .version = v->name });
}

const struct kind_version *kind_served_version(const struct kind *k, struct str version)
{
        const struct kind_version *v = kind_version(k, version);

        return v && v->is_served ? v : NULL;
}

bool kind_is_served(const struct kind *k)
{
        for (size_t i = 0; i < k->n_versions; i++)
                if (k->versions[i].is_served)
                        return true;
        return false;
}

int kind_compare(const struct kind *a, const struct kind *b)
{
        int order = str_compare(a->group, b->group);

        if (order == 0)
                order = str_compare(a->plural, b->plural);
        return order ? order : str_compare(a->kind, b->kind);
}

void kind_unpin(void *k)
{
        kind_unref(k);
}

struct str kind_verb_name(enum kind_verb verb)
{
        static const struct str names[] = {
                STR_INIT("create"), STR_INIT("delete"), STR_INIT("deletecollection"), STR_INIT("get"),
                STR_INIT("list"),   STR_INIT("patch"),  STR_INIT("update"),           STR_INIT("watch"),
        };

        return names[__builtin_ctz(verb)];
}

struct status_subject kind_subject(const struct kind *k, struct str name)
{
        return (struct status_subject) { .group = k->group, .kind = k->kind, .plural = k->plural, .name = name };
}

/* strings.ToLower. */
static void append_lower(struct buf *b, struct str s)
{
        char bytes[4];
        size_t width;

        while (s.n > 0) {
                buf_append(b, bytes, utf8_encode(go_to_lower(utf8_decode(s, &width)), bytes));
                s = str_skip(s, width);
        }
}

struct str kind_lower(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_lower(&b, s);
        return buf_to_arena(&b, a);
}

struct str kind_guess_plural(struct arena *a, struct str kind)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_lower(&b, kind);
        if (b.n == 0 || str_equal(buf_str(&b), STR("endpoints")))
                return buf_to_arena(&b, a);
        if (b.p[b.n - 1] == 's') {
                buf_append_literal(&b, "es");
        } else if (b.p[b.n - 1] == 'y') {
                b.n--;
                buf_append_literal(&b, "ies");
        } else {
                buf_append_char(&b, 's');
        }
        return buf_to_arena(&b, a);
}

void kind_fill_subresources(struct kind *k, struct kind_version *version, bool has_finalize)
{
        struct kind_subresource *list = ARENA_NEW_ARRAY(&k->arena, struct kind_subresource, 3);
        unsigned verbs = VERB_GET | VERB_PATCH | VERB_UPDATE;
        size_t n = 0;

        if (has_finalize)
                list[n++] = (struct kind_subresource) {
                        .name = STR("finalize"),
                        .gvk = { k->group, version->name, k->kind },
                        .verbs = VERB_UPDATE,
                };
        if (version->has_scale)
                list[n++] = (struct kind_subresource) {
                        .name = STR("scale"),
                        .gvk = { STR("autoscaling"), STR("v1"), STR("Scale") },
                        .verbs = verbs,
                };
        if (version->has_status)
                list[n++] = (struct kind_subresource) {
                        .name = STR("status"),
                        .gvk = { k->group, version->name, k->kind },
                        .verbs = verbs,
                };
        version->verbs = VERBS_ALL;
        version->subresources = list;
        version->n_subresources = n;
}

struct kind *kind_schemaless(struct gvk gvk, bool is_namespaced)
{
        struct kind *k = kind_new();
        struct kind_version *version = ARENA_NEW(&k->arena, struct kind_version);

        k->group = arena_copy(&k->arena, gvk.group);
        *version = (struct kind_version) {
                .group = k->group,
                .name = arena_copy(&k->arena, gvk.version),
                .schema = schema_any(),
                .is_served = true,
                .is_storage = true,
                .has_status = true,
                .selectable_fields = ARENA_NEW(&k->arena, struct str),
        };
        k->kind = arena_copy(&k->arena, gvk.kind);
        k->list_kind = arena_printf(&k->arena, "%.*sList", STR_ARG(gvk.kind));
        k->plural = kind_guess_plural(&k->arena, gvk.kind);
        k->singular = kind_lower(&k->arena, gvk.kind);
        k->is_namespaced = is_namespaced;
        k->is_custom = true;
        k->metadata_rules = METADATA_UPDATE;
        k->has_generation = true;
        k->name_rule = NAME_SUBDOMAIN;
        kind_fill_subresources(k, version, false);
        k->versions = version;
        k->n_versions = 1;
        return k;
}

/* --- From a CRD --- */

static struct str copy_of(struct kind *k, const struct value *v)
{
        return arena_copy(&k->arena, value_str(v));
}

/* Never NULL, so that an empty list differs from no list. */
static const struct str *copy_list(struct kind *k, const struct value *list, size_t *ret_n)
{
        struct str *p = ARENA_NEW_ARRAY(&k->arena, struct str, value_count(list) + 1);
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, list)
                p[n++] = copy_of(k, item);
        *ret_n = n;
        return p;
}

/* `.spec.color` in a CRD becomes `spec.color` in a selector. */
static void fill_selectable(struct kind *k, struct kind_version *version, const struct value *fields)
{
        struct str *p = ARENA_NEW_ARRAY(&k->arena, struct str, value_count(fields) + 1);

        VALUE_FOREACH_ITEM (field, fields) {
                struct str path = copy_of(k, value_get(field, STR("jsonPath")));

                str_cut_prefix(&path, STR("."));
                p[version->n_selectable_fields++] = path;
        }
        version->selectable_fields = p;
}

static int compile_schema(struct kind_version *version, const struct value *v, size_t i, struct err *err)
{
        const struct value *openapi = value_find(v, "schema", "openAPIV3Schema");
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct field_errors errors;

        arena_init(&a, "schema errors", 0);
        version->schema = schema_any();
        if (!openapi)
                return 0;
        field_errors_init(&errors, &a);
        if (schema_compile(openapi, arena_printf(&a, "spec.versions[%zu].schema.openAPIV3Schema", i), &version->schema,
                           &errors) == 0)
                return 0;
        version->schema = schema_any();
        field_errors_append(&b, &errors);
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
}

static int fill_version(struct kind *k, struct kind_version *version, const struct value *v, size_t i, struct err *err)
{
        const struct value *scale = value_find(v, "subresources", "scale");

        version->group = k->group;
        version->name = copy_of(k, value_get(v, STR("name")));
        version->is_served = value_bool(value_get(v, STR("served")), false);
        version->is_storage = value_bool(value_get(v, STR("storage")), false);
        version->is_deprecated = value_bool(value_get(v, STR("deprecated")), false);
        version->deprecation_warning = copy_of(k, value_get(v, STR("deprecationWarning")));
        version->has_status = value_is_object(value_find(v, "subresources", "status"));
        version->has_scale = value_is_object(scale);
        version->scale_spec_path = copy_of(k, value_get(scale, STR("specReplicasPath")));
        version->scale_status_path = copy_of(k, value_get(scale, STR("statusReplicasPath")));
        version->scale_selector_path = copy_of(k, value_get(scale, STR("labelSelectorPath")));
        kind_fill_subresources(k, version, false);
        fill_selectable(k, version, value_get(v, STR("selectableFields")));
        return compile_schema(version, v, i, err);
}

/* v1, v2beta3: numbers and rank. Others have the lowest rank. */
struct ranked_version {
        int rank;
        uint64_t major, minor;
};

static uint64_t cut_number(struct str *s)
{
        uint64_t n = 0;

        while (s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9' && n < UINT64_MAX / 20) {
                n = n * 10 + (uint64_t)(s->p[0] - '0');
                *s = str_skip(*s, 1);
        }
        return n;
}

static struct ranked_version rank_version(struct str s)
{
        struct ranked_version v = { 0 };

        if (!str_cut_prefix(&s, STR("v")))
                return v;
        v.major = cut_number(&s);
        if (v.major == 0)
                return v;
        if (s.n == 0) {
                v.rank = 3;
                return v;
        }
        v.rank = str_cut_prefix(&s, STR("beta")) ? 2 : str_cut_prefix(&s, STR("alpha")) ? 1 : 0;
        v.minor = cut_number(&s);
        if (s.n > 0 || v.minor == 0)
                v.rank = 0;
        return v;
}

int kind_version_compare(struct str a, struct str b)
{
        struct ranked_version x = rank_version(a), y = rank_version(b);

        if (x.rank != y.rank)
                return x.rank - y.rank;
        if (x.rank == 0)
                return str_compare(b, a);
        if (x.major != y.major)
                return x.major > y.major ? 1 : -1;
        return x.minor == y.minor ? 0 : x.minor > y.minor ? 1 : -1;
}

/* Sets the API's default warning for a deprecated version without its own. It recommends the most preferred served version that is
 * not deprecated, if that is better. */
static void fill_deprecation(struct kind *k, struct kind_version *version)
{
        const struct kind_version *best = version;
        struct gvk gvk = { .group = k->group, .version = version->name, .kind = k->kind };
        struct str text;

        if (!version->is_deprecated || version->deprecation_warning.n)
                return;
        for (size_t i = 0; i < k->n_versions; i++)
                if (k->versions[i].is_served && !k->versions[i].is_deprecated &&
                    kind_version_compare(k->versions[i].name, best->name) > 0)
                        best = &k->versions[i];
        text = arena_printf(&k->arena, "%.*s %.*s is deprecated", STR_ARG(gvk_api_version(&k->arena, gvk)),
                            STR_ARG(k->kind));
        gvk.version = best->name;
        if (best != version)
                text = arena_printf(&k->arena, "%.*s; use %.*s %.*s", STR_ARG(text),
                                    STR_ARG(gvk_api_version(&k->arena, gvk)), STR_ARG(k->kind));
        version->deprecation_warning = text;
}

static int fill_versions(struct kind *k, const struct value *list, struct err *err)
{
        struct kind_version *versions = ARENA_NEW_ARRAY(&k->arena, struct kind_version, value_count(list));
        struct object_builder columns;
        int r;

        object_builder_init(&columns, &k->arena, 0);
        k->versions = versions;
        for (size_t i = 0; i < value_count(list); i++) {
                const struct value *v = value_item(list, i), *c = value_get(v, STR("additionalPrinterColumns"));

                r = fill_version(k, &versions[i], v, i, err);
                if (r < 0)
                        return r;
                k->n_versions++;
                if (versions[i].is_storage)
                        k->storage = i;
                if (value_count(c) > 0)
                        object_builder_set(&columns, versions[i].name, *value_copy(&k->arena, c));
        }
        for (size_t i = 0; i < k->n_versions; i++)
                fill_deprecation(k, &versions[i]);
        if (columns.n > 0)
                k->crd_columns = value_put(&k->arena, object_builder_finish(&columns));
        return 0;
}

int kind_from_crd(const struct value *crd, struct kind **ret, struct err *err)
{
        const struct value *spec = value_get(crd, STR("spec")), *names = value_get(spec, STR("names"));
        const struct value *versions = value_get(spec, STR("versions"));
        struct kind *k;
        int r;

        if (value_count(versions) == 0)
                return err_set(err, ERR_INVALID, "spec.versions: Required value");
        k = kind_new();
        k->group = copy_of(k, value_get(spec, STR("group")));
        k->kind = copy_of(k, value_get(names, STR("kind")));
        k->list_kind = copy_of(k, value_get(names, STR("listKind")));
        k->plural = copy_of(k, value_get(names, STR("plural")));
        k->singular = copy_of(k, value_get(names, STR("singular")));
        k->short_names = copy_list(k, value_get(names, STR("shortNames")), &k->n_short_names);
        k->categories = copy_list(k, value_get(names, STR("categories")), &k->n_categories);
        k->is_namespaced = str_equal(value_str(value_get(spec, STR("scope"))), STR("Namespaced"));
        k->is_custom = true;
        k->metadata_rules = METADATA_UPDATE;
        k->has_generation = true;
        k->name_rule = NAME_SUBDOMAIN;
        r = fill_versions(k, versions, err);
        if (r < 0) {
                kind_unref(k);
                return r;
        }
        *ret = k;
        return 0;
}
