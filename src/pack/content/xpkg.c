#include "xpkg.h"

#include "buf.h"
#include "builtin.h"
#include "limits.h"
#include "semver.h"
#include "yaml.h"

#define META_GROUP STR("meta.pkg.crossplane.io")

/* Reading */

void xpkg_reader_init(struct xpkg_reader *r, struct arena *a)
{
        *r = (struct xpkg_reader) { .arena = a };
}

static const struct value **add(struct xpkg_reader *r, const struct value **list, size_t n, const struct value *v)
{
        /* Powers of two: grows when n is one. */
        if ((n & (n - 1)) == 0) {
                const struct value **larger = ARENA_NEW_ARRAY(r->arena, const struct value *, n ? n * 2 : 1);

                if (n > 0)
                        memcpy(larger, list, n * sizeof(*larger));
                list = larger;
        }
        list[n] = v;
        return list;
}

static int add_object(struct xpkg_reader *r, const struct value *object, struct err *err)
{
        struct gvk gvk = gvk_of(object);
        const struct value *typed;
        int result;

        if (!value_is_object(object))
                return err_set(err, ERR_INVALID, "couldn't get version/kind: the document is not an object");
        if (gvk.kind.n == 0)
                return err_set(err, ERR_INVALID, "Object 'Kind' is missing");
        if (gvk.version.n == 0)
                return err_set(err, ERR_INVALID, "Object 'apiVersion' is missing in the %.*s", STR_ARG(gvk.kind));
        if (str_equal(gvk.group, STR("apiextensions.k8s.io")) && str_equal(gvk.version, STR("v1beta1")))
                return err_set(err, ERR_UNSUPPORTED,
                               "CustomResourceDefinitions of v1beta1 are not supported, because no API serves them any "
                               "more: use apiextensions.k8s.io/v1");
        if (!builtin_is_packaged(gvk))
                return err_set(err, ERR_INVALID,
                               "no kind \"%.*s\" is registered for version \"%.*s\": packages do not have it",
                               STR_ARG(gvk.kind), STR_ARG(gvk_api_version(r->arena, gvk)));
        result = builtin_packaged(r->arena, gvk, object, &typed, err);
        if (result < 0)
                return result;
        if (str_equal(gvk.group, META_GROUP)) {
                r->metas = add(r, r->metas, r->n_metas, typed);
                r->n_metas++;
        } else {
                r->objects = add(r, r->objects, r->n_objects, typed);
                r->n_objects++;
        }
        return 0;
}

/* Comments and separators alone. */
static bool is_blank(struct str text)
{
        while (text.n > 0) {
                struct str line;

                str_split(&text, '\n', &line);
                line = str_trim(line);
                if (line.n > 0 && line.p[0] != '#' && !str_equal(line, STR("---")) && !str_equal(line, STR("...")))
                        return false;
        }
        return true;
}

int xpkg_reader_add(struct xpkg_reader *r, const char *name, struct str yaml, struct err *err)
{
        struct yaml_read_options options = { .max_bytes = LIMIT_PACKAGE_YAML_BYTES };
        struct yaml_document document;
        struct yaml_stream stream;
        int result;

        yaml_stream_init(&stream, yaml);
        while ((result = yaml_stream_next(&stream, &document, err)) > 0) {
                const struct value *object;

                if (is_blank(document.text))
                        continue;
                result = arena_check(r->arena, err);
                if (result >= 0)
                        result = yaml_parse(r->arena, document.text, &options, &object, err);
                if (result >= 0 && !value_is_null(object))
                        result = add_object(r, object, err);
                if (result < 0)
                        break;
        }
        return result < 0 ? err_wrap(err, "failed to parse package: {path:%s position:0}", name) : 0;
}

/* Meta */

static const char *const kind_names[] = {
        [XPKG_FUNCTION] = "Function", [XPKG_PROVIDER] = "Provider", [XPKG_CONFIGURATION] = "Configuration"
};

static enum xpkg_kind kind_of(const struct value *meta)
{
        struct gvk gvk = gvk_of(meta);
        enum xpkg_kind kind = XPKG_FUNCTION;

        while (kind < XPKG_CONFIGURATION && !str_equal(gvk.kind, str_from(kind_names[kind])))
                kind++;
        return kind;
}

/* apiVersion, kind and package together win; then the deprecated forms in this order. */
static int read_dependency(struct arena *a, const struct value *entry, struct xpkg_dependency *ret, struct err *err)
{
        static const struct {
                const char *field;
                enum xpkg_kind kind;
        } deprecated[] = { { "configuration", XPKG_CONFIGURATION },
                           { "provider", XPKG_PROVIDER },
                           { "function", XPKG_FUNCTION } };
        struct gvk gvk = gvk_of(entry);
        struct str package = value_str(value_get(entry, STR("package")));

        ret->version = value_str(value_get(entry, STR("version")));
        if (gvk.version.n > 0 && gvk.kind.n > 0 && package.n > 0) {
                ret->gvk = gvk;
                ret->package = package;
                return 0;
        }
        for (size_t i = 0; i < ARRAY_SIZE(deprecated); i++) {
                const struct value *v = value_get(entry, str_from(deprecated[i].field));

                if (!value_is_string(v))
                        continue;
                ret->package = value_str(v);
                ret->gvk =
                        (struct gvk) { STR("pkg.crossplane.io"), STR("v1"), str_from(kind_names[deprecated[i].kind]) };
                return 0;
        }
        return err_set(err, ERR_INVALID,
                       "encountered an invalid dependency: package dependencies must specify either a valid "
                       "type, or an explicit apiVersion, kind, and package");
}

static int read_meta(struct arena *a, struct xpkg *p, struct err *err)
{
        const struct value *spec = value_get(p->meta, STR("spec"));
        const struct value *list = value_get(spec, STR("dependsOn")),
                           *capabilities = value_get(spec, STR("capabilities"));
        struct xpkg_dependency *dependencies = ARENA_NEW_ARRAY(a, struct xpkg_dependency, value_count(list));
        struct str *texts = ARENA_NEW_ARRAY(a, struct str, value_count(capabilities));

        p->kind = kind_of(p->meta);
        p->name = meta_name(p->meta);
        p->crossplane = value_str(value_find(spec, "crossplane", "version"));
        for (size_t i = 0; i < value_count(list); i++) {
                int r = read_dependency(a, value_item(list, i), &dependencies[i], err);

                if (r < 0)
                        return err_wrap(err, "spec.dependsOn[%zu]", i);
        }
        for (size_t i = 0; i < value_count(capabilities); i++)
                texts[i] = value_str(value_item(capabilities, i));
        p->dependencies = dependencies;
        p->n_dependencies = value_count(list);
        p->capabilities = texts;
        p->n_capabilities = value_count(capabilities);
        p->has_capabilities = value_is_array(capabilities);
        return 0;
}

int xpkg_finish(struct xpkg_reader *r, struct xpkg *ret, struct err *err)
{
        struct xpkg p = { .objects = r->objects, .n_objects = r->n_objects };
        int result;

        if (r->n_metas != 1)
                return err_set(err, ERR_INVALID, "not exactly one package meta type");
        p.meta = r->metas[0];
        result = read_meta(r->arena, &p, err);
        if (result >= 0)
                *ret = p;
        return result;
}

int xpkg_parse(struct arena *a, struct str yaml, struct xpkg *ret, struct err *err)
{
        struct xpkg_reader reader;
        int r;

        xpkg_reader_init(&reader, a);
        r = xpkg_reader_add(&reader, "package.yaml", yaml, err);
        return r < 0 ? r : xpkg_finish(&reader, ret, err);
}

/* Lint */

struct rule {
        enum xpkg_kind package;
        const char *group, *kind, *text;
};

/* The objects that packages may have, in the order in which Crossplane complains. */
static const struct rule rules[] = {
        { XPKG_FUNCTION, "apiextensions.k8s.io", "CustomResourceDefinition", "object is not a CRD" },
        { XPKG_PROVIDER, "apiextensions.k8s.io", "CustomResourceDefinition", "object is not a CRD" },
        { XPKG_PROVIDER, "apiextensions.crossplane.io", "ManagedResourceDefinition", "object is not an MRD" },
        { XPKG_PROVIDER, "admissionregistration.k8s.io", "ValidatingWebhookConfiguration",
          "object is not an ValidatingWebhookConfiguration" },
        { XPKG_PROVIDER, "admissionregistration.k8s.io", "MutatingWebhookConfiguration",
          "object is not a MutatingWebhookConfiguration" },
        { XPKG_CONFIGURATION, "apiextensions.crossplane.io", "CompositeResourceDefinition", "object is not an XRD" },
        { XPKG_CONFIGURATION, "apiextensions.crossplane.io", "ManagedResourceActivationPolicy",
          "object is not an ManagedResourceActivationPolicy" },
        { XPKG_CONFIGURATION, "apiextensions.crossplane.io", "Composition", "object is not a Composition" },
        { XPKG_CONFIGURATION, "ops.crossplane.io", "Operation", "object is not an Operation" },
        { XPKG_CONFIGURATION, "ops.crossplane.io", "CronOperation", "object is not a CronOperation" },
        { XPKG_CONFIGURATION, "ops.crossplane.io", "WatchOperation", "object is not a WatchOperation" },
};

static bool is_allowed(const struct xpkg *p, struct gvk gvk)
{
        for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
                if (rules[i].package == p->kind && str_equal(gvk.group, str_from(rules[i].group)) &&
                    str_equal(gvk.kind, str_from(rules[i].kind)))
                        return true;
        return false;
}

static int refuse(const struct xpkg *p, struct err *err)
{
        _cleanup_buf_ struct buf texts = BUF_INIT(0);
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
                if (rules[i].package == p->kind)
                        buf_appendf(&texts, "%s%s", n++ > 0 ? ", " : "", rules[i].text);
        return err_set(err, ERR_INVALID, "%s%s",
                       n > 1 ? "object did not pass any of the linters with following errors: " : "",
                       buf_cstring(&texts));
}

int xpkg_lint(const struct xpkg *p, struct err *err)
{
        const struct semver_constraint *constraint;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "lint", 0);
        if (p->crossplane.n > 0 && semver_constraint_parse(&a, p->crossplane, &constraint, err) < 0)
                return err_wrap(err, "failed to lint package: package version constraints are poorly formatted");
        for (size_t i = 0; i < p->n_objects; i++)
                if (!is_allowed(p, gvk_of(p->objects[i]))) {
                        refuse(p, err);
                        return err_wrap(err, "failed to lint package");
                }
        return 0;
}

/* Writing */

int xpkg_encode(struct buf *b, const struct xpkg *p, struct err *err)
{
        int r;

        buf_append_literal(b, "---\n");
        r = yaml_write(b, p->meta, 0, err);
        buf_append_literal(b, "---\n");
        for (size_t i = 0; r >= 0 && i < p->n_objects; i++) {
                r = yaml_write(b, p->objects[i], 0, err);
                buf_append_literal(b, "---\n");
        }
        return r;
}

struct str xpkg_dns_label(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str label;

        text = str_first(text, 63);
        for (size_t i = 0; i < text.n; i++) {
                char c = text.p[i];
                bool is_edge = i == 0 || i == 62 || i + 1 == text.n;

                if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
                        buf_append_char(&b, c);
                else if (!is_edge && c && strchr("./:-", c))
                        buf_append_char(&b, '-');
        }
        label = buf_str(&b);
        while (str_cut_prefix(&label, STR("-")) || str_cut_suffix(&label, STR("-")))
                ;
        return arena_copy(a, label);
}

struct str xpkg_friendly_id(struct arena *a, struct str name, struct str hash)
{
        return xpkg_dns_label(a, ARENA_CONCAT(a, str_first(name, 50), STR("-"), str_first(hash, 12)));
}
