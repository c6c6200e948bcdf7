/* Converts resources, patch sets and environments of a Composition into function inputs. Fills in the same fields as Crossplane's
 * own conversion; leaves everything else as written, and the functions check it. */
#include "composition-native.h"

#include "composition.h"
#include "map.h"

/* One conversion; its errors name paths in spec. */
struct native {
        struct arena *arena;
        struct err *err;
};

static bool has(const struct value *object, const char *key)
{
        const struct value *v = value_get(object, str_from(key));

        return v && !value_is_null(v);
}

static struct str text_of(const struct value *object, const char *key)
{
        return value_str(value_get(object, str_from(key)));
}

static const struct value *with_text(struct arena *a, const struct value *object, const char *key, struct str text)
{
        return value_with(a, object, str_from(key), value_put(a, value_of_str(text)));
}

typedef const struct value *(*convert_fn)(struct arena *a, const struct value *item);

/* The list with every object converted by fn; a value that is not a list is returned unchanged. */
static const struct value *map_list(struct arena *a, const struct value *list, convert_fn fn)
{
        struct array_builder b;

        if (!value_is_array(list))
                return list;
        array_builder_init(&b, a, value_count(list));
        VALUE_FOREACH_ITEM (item, list)
                array_builder_add(&b, value_is_object(item) ? *fn(a, item) : *item);
        return value_put(a, array_builder_finish(&b));
}

static const struct value *map_member(struct arena *a, const struct value *object, const char *key, convert_fn fn)
{
        const struct value *list = value_get(object, str_from(key));

        return list ? value_with(a, object, str_from(key), map_list(a, list, fn)) : object;
}

/* --- Types that follow from the given fields --- */

struct implied {
        const char *field;
        const char *type;
};

static const struct implied transform_types[] = {
        { "string", "string" },
        { "math", "math" },
};

static const struct implied math_types[] = {
        { "clampMin", "ClampMin" },
        { "clampMax", "ClampMax" },
        { "multiply", "Multiply" },
};

static const struct implied string_types[] = {
        { "fmt", "Format" },
        { "convert", "Convert" },
        { "regexp", "Regexp" },
};

/* Crossplane's conversion does not set these types; its engine did. */
static const struct implied detail_types[] = {
        { "value", "FromValue" },
        { "fromConnectionSecretKey", "FromConnectionSecretKey" },
        { "fromFieldPath", "FromFieldPath" },
};

static const struct value *with_type(struct arena *a, const struct value *object, const struct implied *table, size_t n)
{
        if (text_of(object, "type").n)
                return object;
        for (size_t i = 0; i < n; i++)
                if (has(object, table[i].field))
                        return with_text(a, object, "type", str_from(table[i].type));
        return object;
}

#define WITH_TYPE(a, object, table) with_type((a), (object), (table), ARRAY_SIZE(table))

/* --- Patches --- */

static const struct value *convert_transform(struct arena *a, const struct value *transform)
{
        const struct value *math = value_get(transform, STR("math")), *string = value_get(transform, STR("string"));
        struct str type;

        transform = WITH_TYPE(a, transform, transform_types);
        type = text_of(transform, "type");
        if (str_equal(type, STR("math")) && value_is_object(math))
                return value_with(a, transform, STR("math"), WITH_TYPE(a, math, math_types));
        if (str_equal(type, STR("string")) && value_is_object(string))
                return value_with(a, transform, STR("string"), WITH_TYPE(a, string, string_types));
        return transform;
}

/* mergeOptions is replaced by a named policy in toFieldPath. */
static const struct value *convert_policy(struct arena *a, const struct value *policy)
{
        static const char *const names[2][2] = {
                { "ForceMergeObjects", "ForceMergeObjectsAppendArrays" },
                { "MergeObjects", "MergeObjectsAppendArrays" },
        };
        const struct value *options = value_get(policy, STR("mergeOptions"));
        bool keeps = value_bool(value_get(options, STR("keepMapValues")), false);
        bool appends = value_bool(value_get(options, STR("appendSlice")), false);

        if (!options)
                return policy;
        policy = value_without(a, policy, STR("mergeOptions"));
        if (value_is_null(options))
                return policy;
        return with_text(a, policy, "toFieldPath", str_from(names[keeps][appends]));
}

static const struct value *convert_patch(struct arena *a, const struct value *patch)
{
        const struct value *policy = value_get(patch, STR("policy"));

        if (text_of(patch, "type").n == 0)
                patch = with_text(a, patch, "type", STR("FromCompositeFieldPath"));
        if (value_is_object(policy))
                patch = value_with(a, patch, STR("policy"), convert_policy(a, policy));
        return map_member(a, patch, "transforms", convert_transform);
}

static const struct value *convert_patches(struct arena *a, const struct value *owner)
{
        return map_member(a, owner, "patches", convert_patch);
}

/* --- Resources --- */

static const struct value *convert_detail(struct arena *a, const struct value *detail)
{
        detail = WITH_TYPE(a, detail, detail_types);
        if (!has(detail, "name") && has(detail, "fromConnectionSecretKey"))
                detail = with_text(a, detail, "name", text_of(detail, "fromConnectionSecretKey"));
        return detail;
}

static const struct value *convert_resource(struct arena *a, const struct value *resource)
{
        return map_member(a, convert_patches(a, resource), "connectionDetails", convert_detail);
}

struct str composition_anonymous_key(struct arena *a, size_t place)
{
        return arena_printf(a, "resource-%zu", place);
}

/* Either all resources have names, all different, or none has one. */
static int check_names(struct native *n, const struct value *resources, bool *ret_is_anonymous)
{
        struct map places = { 0 };
        bool is_anonymous = text_of(value_item(resources, 0), "name").n == 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < value_count(resources); i++) {
                struct str name = text_of(value_item(resources, i), "name");

                if ((name.n == 0) != is_anonymous)
                        r = err_set(n->err, ERR_INVALID,
                                    "spec.resources[%zu] has no name and others have one: name all of them, or none",
                                    name.n ? (size_t)0 : i);
                else if (name.n && map_has(&places, name))
                        r = err_set(n->err, ERR_INVALID,
                                    "spec.resources[%zu] has the name \"%.*s\" of an earlier one: give each a name of "
                                    "its own",
                                    i, STR_ARG(name));
                else if (name.n)
                        map_set(&places, name, (void *)resources);
        }
        map_done(&places);
        *ret_is_anonymous = is_anonymous && value_count(resources) > 0;
        return r;
}

static const struct value *with_names(struct arena *a, const struct value *resources)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(resources));
        for (size_t i = 0; i < value_count(resources); i++)
                array_builder_add(&b, *with_text(a, value_item(resources, i), "name", composition_anonymous_key(a, i)));
        return value_put(a, array_builder_finish(&b));
}

static int check_set(struct native *n, const struct value *set)
{
        const struct value *patches = value_get(set, STR("patches"));

        for (size_t i = 0; value_is_array(patches) && i < value_count(patches); i++)
                if (str_equal(text_of(value_item(patches, i), "type"), STR("PatchSet")))
                        return err_set(n->err, ERR_INVALID,
                                       "patch %zu of patch set \"%.*s\" is a patch set itself, which cannot be: write "
                                       "the patches of \"%.*s\" here",
                                       i, STR_ARG(text_of(set, "name")),
                                       STR_ARG(text_of(value_item(patches, i), "patchSetName")));
        return 0;
}

static int check_resources(struct native *n, const struct value *spec, bool *ret_is_anonymous)
{
        const struct value *resources = value_get(spec, STR("resources"));

        if (has(spec, "resources") && !value_is_array(resources))
                return err_set(n->err, ERR_INVALID, "spec.resources is not a list");
        for (size_t i = 0; i < value_count(resources); i++)
                if (!value_is_object(value_item(resources, i)))
                        return err_set(n->err, ERR_INVALID, "spec.resources[%zu] is not an object", i);
        VALUE_FOREACH_ITEM (set, value_get(spec, STR("patchSets"))) {
                int r = check_set(n, set);

                if (r < 0)
                        return r;
        }
        return check_names(n, resources, ret_is_anonymous);
}

static struct object_builder begin_input(struct arena *a, struct str api_version, struct str kind)
{
        struct object_builder b;

        object_builder_init(&b, a, 6);
        object_builder_add(&b, STR("apiVersion"), value_of_str(api_version));
        object_builder_add(&b, STR("kind"), value_of_str(kind));
        return b;
}

int native_resources_input(struct arena *a, const struct value *spec, const struct value **ret, bool *ret_is_anonymous,
                           struct err *err)
{
        const struct value *resources = value_get(spec, STR("resources")), *sets = value_get(spec, STR("patchSets"));
        const struct value *patches = value_find(spec, "environment", "patches");
        struct object_builder b = begin_input(a, STR("pt.fn.crossplane.io/v1beta1"), STR("Resources"));
        struct native n = { a, err };
        bool is_anonymous;
        int r = check_resources(&n, spec, &is_anonymous);

        if (r < 0)
                return r;
        if (patches)
                object_builder_add(&b, STR("environment"),
                                   *value_with(a, &value_empty_object, STR("patches"),
                                               map_list(a, patches, convert_patch)));
        if (sets)
                object_builder_add(&b, STR("patchSets"), *map_list(a, sets, convert_patches));
        if (is_anonymous)
                resources = with_names(a, resources);
        if (resources)
                object_builder_add(&b, STR("resources"), *map_list(a, resources, convert_resource));
        *ret = value_put(a, object_builder_finish(&b));
        *ret_is_anonymous = is_anonymous;
        return 0;
}

/* --- Environments --- */

const struct value *native_environment_input(struct arena *a, const struct value *spec)
{
        const struct value *environment = value_get(spec, STR("environment"));
        const struct value *configs = value_get(environment, STR("environmentConfigs"));
        const struct value *data = value_get(environment, STR("defaultData"));
        const struct value *resolution = value_find(environment, "policy", "resolution");
        struct object_builder b = begin_input(a, STR("environmentconfigs.fn.crossplane.io/v1beta1"), STR("Input"));
        struct object_builder inner;

        if (!configs && !data && !resolution)
                return NULL;
        object_builder_init(&inner, a, 3);
        if (data)
                object_builder_add(&inner, STR("defaultData"), *data);
        if (configs)
                object_builder_add(&inner, STR("environmentConfigs"), *configs);
        if (resolution)
                object_builder_add(&inner, STR("policy"),
                                   *value_with(a, &value_empty_object, STR("resolution"), resolution));
        object_builder_add(&b, STR("spec"), object_builder_finish(&inner));
        return value_put(a, object_builder_finish(&b));
}
