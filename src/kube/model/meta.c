#include "meta.h"

#include "ascii.h"
#include "buf.h"

int gvk_split_api_version(struct str api_version, struct str *ret_group, struct str *ret_version, struct err *err)
{
        struct str rest = api_version, group;

        if (!str_split(&rest, '/', &group)) {
                *ret_group = STR("");
                *ret_version = api_version;
                return 0;
        }
        if (str_find_char(rest, '/') >= 0)
                return err_set(err, ERR_INVALID, "unexpected GroupVersion string: %.*s", STR_ARG(api_version));
        *ret_group = group;
        *ret_version = rest;
        return 0;
}

struct gvk gvk_of(const struct value *object)
{
        struct str api_version = value_str(value_get(object, STR("apiVersion")));
        struct gvk gvk = { .group = STR(""), .kind = value_str(value_get(object, STR("kind"))) };

        if (gvk_split_api_version(api_version, &gvk.group, &gvk.version, NULL) < 0)
                gvk.version = api_version;
        return gvk;
}

bool gvk_equal(struct gvk a, struct gvk b)
{
        return str_equal(a.kind, b.kind) && str_equal(a.group, b.group) && str_equal(a.version, b.version);
}

static const struct {
        const char *group;
        const char *kind;
        const char *alias;
        const char *version;
} aliases[] = {
        { "apiextensions.crossplane.io", "EnvironmentConfig", "v1alpha1", "v1beta1" },
};

bool gvk_alias(struct gvk gvk, struct gvk *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
                struct str alias = str_from(aliases[i].alias), version = str_from(aliases[i].version);
                bool is_alias = str_equal(gvk.version, alias);

                if (!str_equal(gvk.kind, str_from(aliases[i].kind)) ||
                    !str_equal(gvk.group, str_from(aliases[i].group)) || !(is_alias || str_equal(gvk.version, version)))
                        continue;
                *ret = (struct gvk) { gvk.group, is_alias ? version : alias, gvk.kind };
                return true;
        }
        return false;
}

struct gvk gvk_current(struct gvk gvk)
{
        struct gvk other;

        for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
                if (str_equal(gvk.version, str_from(aliases[i].alias)) && gvk_alias(gvk, &other))
                        return other;
        return gvk;
}

struct str gvk_api_version(struct arena *a, struct gvk gvk)
{
        if (str_is_empty(gvk.group))
                return gvk.version;
        return ARENA_CONCAT(a, gvk.group, STR("/"), gvk.version);
}

struct gvk gvk_copy(struct arena *a, struct gvk gvk)
{
        return (struct gvk) {
                .group = arena_copy(a, gvk.group),
                .version = arena_copy(a, gvk.version),
                .kind = arena_copy(a, gvk.kind),
        };
}

struct str gvk_text(struct arena *a, struct gvk gvk)
{
        return ARENA_CONCAT(a, gvk.group, STR("/"), gvk.version, STR(", Kind="), gvk.kind);
}

struct str gvk_unknown_text(struct arena *a, struct str kind, struct str api_version)
{
        return ARENA_CONCAT(a, STR("no kind \""), kind, STR("\" is registered for version \""), api_version,
                            STR("\" in scheme \"pkg/runtime/scheme.go:111\""));
}

struct object_key object_key_of(const struct value *object)
{
        return (struct object_key) {
                .gvk = gvk_of(object),
                .ns = meta_namespace(object),
                .name = meta_name(object),
        };
}

bool object_key_equal(const struct object_key *a, const struct object_key *b)
{
        return str_equal(a->name, b->name) && str_equal(a->ns, b->ns) && gvk_equal(a->gvk, b->gvk);
}

struct object_key object_key_copy(struct arena *a, const struct object_key *key)
{
        return (struct object_key) {
                .gvk = gvk_copy(a, key->gvk),
                .ns = arena_copy(a, key->ns),
                .name = arena_copy(a, key->name),
        };
}

const struct value *meta(const struct value *object)
{
        const struct value *m = value_get(object, STR("metadata"));

        return value_is_object(m) ? m : NULL;
}

struct str meta_str(const struct value *object, struct str field)
{
        return value_str(value_get(meta(object), field));
}

uint64_t resource_version_parse(struct str text)
{
        uint64_t version = 0;

        for (size_t i = 0; i < text.n; i++)
                if (!ascii_is_digit(text.p[i]) || __builtin_mul_overflow(version, 10, &version) ||
                    __builtin_add_overflow(version, (uint64_t)(text.p[i] - '0'), &version))
                        return 0;
        return version;
}

int64_t meta_generation(const struct value *object)
{
        return value_int(value_get(meta(object), STR("generation")), 0);
}

bool meta_is_deleting(const struct value *object)
{
        return !str_is_empty(meta_str(object, STR("deletionTimestamp")));
}

static const struct value *map_entry(const struct value *object, struct str map, struct str key)
{
        return value_get(value_get(meta(object), map), key);
}

struct str meta_label(const struct value *object, struct str key)
{
        return value_str(map_entry(object, STR("labels"), key));
}

struct str meta_annotation(const struct value *object, struct str key)
{
        return value_str(map_entry(object, STR("annotations"), key));
}

bool meta_has_label(const struct value *object, struct str key)
{
        return value_is_string(map_entry(object, STR("labels"), key));
}

bool meta_has_annotation(const struct value *object, struct str key)
{
        return value_is_string(map_entry(object, STR("annotations"), key));
}

const struct value *meta_with(struct arena *a, const struct value *object, struct str field, const struct value *v)
{
        const struct value *m = meta(object), *old = value_get(m, field);

        if (!v && !old)
                return object;
        if (v && old && value_equal(v, old))
                return object;
        if (!m)
                m = &value_empty_object;
        m = v ? value_with(a, m, field, v) : value_without(a, m, field);
        return value_with(a, value_is_object(object) ? object : &value_empty_object, STR("metadata"), m);
}

const struct value *meta_with_str(struct arena *a, const struct value *object, struct str field, struct str v)
{
        return meta_with(a, object, field, value_put(a, value_of_str(v)));
}

static const struct value *with_entry(struct arena *a, const struct value *object, struct str map, struct str key,
                                      struct str v)
{
        const struct value *entries = value_get(meta(object), map);
        const struct value *old = value_get(entries, key);

        if (value_is_string(old) && str_equal(value_str(old), v))
                return object;
        if (!value_is_object(entries))
                entries = &value_empty_object;
        return meta_with(a, object, map, value_with(a, entries, key, value_put(a, value_of_str(v))));
}

static const struct value *without_entry(struct arena *a, const struct value *object, struct str map, struct str key)
{
        const struct value *entries = value_get(meta(object), map);

        if (!value_get(entries, key))
                return object;
        entries = value_without(a, entries, key);
        return meta_with(a, object, map, value_count(entries) > 0 ? entries : NULL);
}

const struct value *meta_with_label(struct arena *a, const struct value *object, struct str key, struct str v)
{
        return with_entry(a, object, STR("labels"), key, v);
}

const struct value *meta_without_label(struct arena *a, const struct value *object, struct str key)
{
        return without_entry(a, object, STR("labels"), key);
}

const struct value *meta_with_annotation(struct arena *a, const struct value *object, struct str key, struct str v)
{
        return with_entry(a, object, STR("annotations"), key, v);
}

const struct value *meta_without_annotation(struct arena *a, const struct value *object, struct str key)
{
        return without_entry(a, object, STR("annotations"), key);
}

static const struct value *finalizers(const struct value *object)
{
        return value_get(meta(object), STR("finalizers"));
}

bool meta_has_finalizer(const struct value *object, struct str finalizer)
{
        VALUE_FOREACH_ITEM (f, finalizers(object))
                if (value_is_string(f) && str_equal(value_str(f), finalizer))
                        return true;
        return false;
}

const struct value *meta_with_finalizer(struct arena *a, const struct value *object, struct str finalizer)
{
        const struct value *list = finalizers(object), *v = value_put(a, value_of_str(finalizer));

        if (meta_has_finalizer(object, finalizer))
                return object;
        if (!value_is_array(list))
                list = &value_empty_array;
        return meta_with(a, object, STR("finalizers"), value_with_appended(a, list, v));
}

const struct value *meta_without_finalizer(struct arena *a, const struct value *object, struct str finalizer)
{
        const struct value *list = finalizers(object);
        struct array_builder b;

        if (!meta_has_finalizer(object, finalizer))
                return object;
        array_builder_init(&b, a, value_count(list));
        VALUE_FOREACH_ITEM (f, list)
                if (!value_is_string(f) || !str_equal(value_str(f), finalizer))
                        array_builder_add(&b, *f);
        if (b.n == 0)
                return meta_with(a, object, STR("finalizers"), NULL);
        return meta_with(a, object, STR("finalizers"), value_put(a, array_builder_finish(&b)));
}
