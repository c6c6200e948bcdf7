/* The functions that templates of function-go-templating have besides sprig's. */
#include "go-templating.h"

#include "base64.h"
#include "buf.h"
#include "gt-yaml.h"
#include "limits.h"
#include "random.h"

#define INCLUDE_DEPTH 1000 /* how deep a template may include itself */

#define CALLBACK(name) \
        static int name(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)

/* --- YAML, random values, annotations --- */

CALLBACK(call_to_yaml)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r = gt_yaml_write(c, &b, arguments[0]);

        return r < 0 ? r : gt_take_text(c, &b, ret);
}

CALLBACK(call_from_yaml)
{
        return gt_yaml_read(c, gt_str(arguments[0]), ret);
}

CALLBACK(call_random_choice)
{
        if (n == 0)
                return gt_fail(c, "invalid argument to Intn");
        *ret = arguments[random_system_u64() % n];
        return 0;
}

CALLBACK(call_set_resource_name_annotation)
{
        *ret = gt_string(ARENA_CONCAT(c->arena, TEMPLATING_ANNOTATION_NAME, STR(": "), gt_str(arguments[0])));
        return 0;
}

/* --- Parts of the request --- */

static bool is_quoted(struct str name, char quote)
{
        return name.n >= 2 && name.p[0] == quote && name.p[name.n - 1] == quote;
}

/* False for names that have a special meaning in a field path: upstream inserts names into a path in brackets. */
static bool is_findable(struct str name)
{
        bool is_number = true;

        for (size_t i = 0; i < name.n; i++) {
                if (name.p[i] == '[' || name.p[i] == ']')
                        return false;
                is_number = is_number && name.p[i] >= '0' && name.p[i] <= '9';
        }
        return name.n > 0 && !is_number && !is_quoted(name, '\'') && !is_quoted(name, '"');
}

/* Follows the keys; false when a key is missing or a value is not a map. */
static bool find(struct gt_context *c, struct gt_value map, const struct str *keys, size_t n, struct gt_value *ret)
{
        for (size_t i = 0; i < n; i++)
                if (!gt_is_map(map) || !gt_map_get(c, map, keys[i], &map))
                        return false;
        *ret = map;
        return true;
}

/* A copy of the value at the keys if it has the type; otherwise the type's nil. */
static int get_copy(struct gt_context *c, struct gt_value request, const struct str *keys, size_t n, enum gt_type type,
                    struct gt_value *ret)
{
        struct gt_value found;
        struct value copy;
        int r;

        *ret = gt_nil_of(type);
        if (!find(c, request, keys, n, &found) || found.type != type)
                return 0;
        r = gt_to_value(c, found, &copy, c->err);
        if (r < 0)
                return r;
        *ret = gt_from_value(c, value_put(c->arena, copy));
        return 0;
}

#define GET_COPY(c, request, type, ret, ...)                           \
        get_copy((c), (request), (const struct str[]) { __VA_ARGS__ }, \
                 ARRAY_SIZE(((const struct str[]) { __VA_ARGS__ })), (type), (ret))

CALLBACK(call_get_composed_resource)
{
        struct str name = gt_str(arguments[1]);

        *ret = gt_nil_of(GT_MAP);
        if (!is_findable(name))
                return 0;
        return GET_COPY(c, arguments[0], GT_MAP, ret, STR("observed"), STR("resources"), name, STR("resource"));
}

CALLBACK(call_get_composite_resource)
{
        return GET_COPY(c, arguments[0], GT_MAP, ret, STR("observed"), STR("composite"), STR("resource"));
}

CALLBACK(call_get_composed_connection_details)
{
        struct str name = gt_str(arguments[1]);

        *ret = gt_nil_of(GT_MAP);
        if (!is_findable(name))
                return 0;
        return GET_COPY(c, arguments[0], GT_MAP, ret, STR("observed"), STR("resources"), name,
                        STR("connectionDetails"));
}

CALLBACK(call_get_extra_resources)
{
        struct str name = gt_str(arguments[1]);
        int r;

        *ret = gt_nil_of(GT_LIST);
        if (!is_findable(name))
                return 0;
        r = GET_COPY(c, arguments[0], GT_LIST, ret, STR("requiredResources"), name, STR("items"));
        if (r < 0 || ret->list)
                return r;
        return GET_COPY(c, arguments[0], GT_LIST, ret, STR("extraResources"), name, STR("items"));
}

CALLBACK(call_get_extra_resources_from_context)
{
        struct str name = gt_str(arguments[1]);

        *ret = gt_nil_of(GT_LIST);
        if (!is_findable(name))
                return 0;
        return GET_COPY(c, arguments[0], GT_LIST, ret, STR("context"), TEMPLATING_EXTRA_RESOURCES, name, STR("items"));
}

CALLBACK(call_get_credential_data)
{
        const struct str keys[] = { STR("credentials"), gt_str(arguments[1]), STR("credentialData"), STR("data") };
        const struct gt_member *members;
        struct gt_value data;
        size_t count;

        *ret = gt_nil_of(GT_BYTES_MAP);
        if (!is_findable(keys[1]) || !find(c, arguments[0], keys, ARRAY_SIZE(keys), &data) || !gt_is_map(data))
                return 0;
        *ret = gt_map_new(c, GT_BYTES_MAP);
        members = gt_map_members(c, data, &count);
        for (size_t i = 0; i < count; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));

                if (base64_decode(&b, gt_str(members[i].value), BASE64_STD, NULL) == 0)
                        gt_map_set(c, *ret, gt_str(members[i].key), gt_bytes(buf_to_arena(&b, c->arena)));
        }
        return 0;
}

CALLBACK(call_get_resource_condition)
{
        *ret = templating_condition(c, gt_str(arguments[0]), arguments[1]);
        return 0;
}

/* --- include and tpl --- */

static unsigned *count_of(struct gt_context *c, struct str name)
{
        struct templating_state *s = c->user;

        for (size_t i = 0; i < s->included.n; i++)
                if (str_equal(s->included.names[i], name))
                        return &s->included.counts[i];
        if (s->included.n == s->included.capacity) {
                size_t capacity = s->included.capacity ? 2 * s->included.capacity : 16;
                struct str *names = ARENA_NEW_ARRAY(c->arena, struct str, capacity);
                unsigned *counts = ARENA_NEW_ARRAY(c->arena, unsigned, capacity);

                if (s->included.n > 0) {
                        memcpy(names, s->included.names, s->included.n * sizeof(*names));
                        memcpy(counts, s->included.counts, s->included.n * sizeof(*counts));
                }
                s->included.names = names;
                s->included.counts = counts;
                s->included.capacity = capacity;
        }
        s->included.names[s->included.n] = name;
        s->included.counts[s->included.n] = 0;
        return &s->included.counts[s->included.n++];
}

/* Looks the counter up again, because the lists may move while the template runs. */
static void leave(struct gt_context *c, struct str name)
{
        (*count_of(c, name))--;
}

/* Errors of includes contain each other, and an error has a limit that cuts off its end, where the cause is. Of a long one the middle is
 * left out. */
static struct str without_middle(struct arena *a, struct str text)
{
        if (text.n < LIMIT_ERROR_BYTES / 2)
                return text;
        return ARENA_CONCAT(a, str_first(text, LIMIT_ERROR_BYTES / 16), STR(" ... "),
                            str_skip(text, text.n - LIMIT_ERROR_BYTES / 8));
}

CALLBACK(call_include)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        _cleanup_err_ struct err err = { 0 };
        struct str name = gt_str(arguments[0]);
        int r;

        if ((*count_of(c, name))++ > INCLUDE_DEPTH) {
                leave(c, name);
                return gt_fail(c, "rendering template has a nested reference name: %.*s: unable to execute template",
                               STR_ARG(name));
        }
        r = gt_execute_named(c, name, arguments[1], &b, &err);
        leave(c, name);
        if (r < 0)
                return err_set(c->err, r, "%.*s", STR_ARG(without_middle(c->arena, str_from(err_message(&err)))));
        return gt_take_text(c, &b, ret);
}

/* Parses the text and executes it on the data, with the same functions. Templates that the text defines exist only in it. */
CALLBACK(call_tpl)
{
        const struct templating_state *s = c->user;
        struct gt_parse_options options = { .name = STR("tpl"), .tables = s->tables, .n_tables = s->n_tables };
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        _cleanup_gt_template_ struct gt_template *t = NULL;
        _cleanup_err_ struct err err = { 0 };
        int r = gt_spend(c, gt_str(arguments[0]).n);

        if (r < 0)
                return r;
        r = gt_parse(gt_str(arguments[0]), &options, &t, &err);
        if (r == 0)
                r = gt_execute(t, c, s->missing_key, arguments[1], &b, &err);
        if (r < 0)
                return err_set(c->err, r, "%s", err_message(&err));
        return gt_take_text(c, &b, ret);
}

CALLBACK(call_required)
{
        if (gt_is_nil(arguments[1]) || (arguments[1].type == GT_STRING && arguments[1].n == 0))
                return gt_fail(c, "%.*s", STR_ARG(gt_str(arguments[0])));
        *ret = arguments[1];
        return 0;
}

static const struct gt_func functions[] = {
        { "fromYaml", "s", call_from_yaml, 'a', 0 },
        { "getComposedConnectionDetails", "ms", call_get_composed_connection_details, 0, 0 },
        { "getComposedResource", "ms", call_get_composed_resource, 0, 0 },
        { "getCompositeResource", "m", call_get_composite_resource, 0, 0 },
        { "getCredentialData", "ms", call_get_credential_data, 0, 0 },
        { "getExtraResources", "ms", call_get_extra_resources, 0, 0 },
        { "getExtraResourcesFromContext", "ms", call_get_extra_resources_from_context, 0, 0 },
        { "getResourceCondition", "sm", call_get_resource_condition, 0, 0 },
        { "include", "sa", call_include, 0, 0 },
        { "randomChoice", "s*", call_random_choice, 0, GT_IMPURE },
        { "setResourceNameAnnotation", "s", call_set_resource_name_annotation, 0, 0 },
        { "toYaml", "a", call_to_yaml, 0, 0 },
};

const struct gt_func_table templating_functions = { functions, ARRAY_SIZE(functions) };

static const struct gt_func helm_functions[] = {
        { "required", "sa", call_required, 'a', 0 },
        { "tpl", "sa", call_tpl, 0, 0 },
};

const struct gt_func_table templating_helm_functions = { helm_functions, ARRAY_SIZE(helm_functions) };

/* --- The oldest examples --- */

/* `name | getComposedResource`: uses the current request. */
CALLBACK(call_seed_get_composed_resource)
{
        const struct templating_state *s = c->user;
        struct gt_value with_request[2] = { gt_from_value(c, s->data), arguments[0] };

        return call_get_composed_resource(c, with_request, 2, ret);
}

/* The external-name annotation; without one, the resource's own name. */
CALLBACK(call_get_external_name)
{
        static const struct str annotation[] = { STR_INIT("metadata"), STR_INIT("annotations"),
                                                 STR_INIT("crossplane.io/external-name") };
        static const struct str name[] = { STR_INIT("metadata"), STR_INIT("name") };

        *ret = gt_string(STR(""));
        if (!find(c, arguments[0], annotation, ARRAY_SIZE(annotation), ret))
                find(c, arguments[0], name, ARRAY_SIZE(name), ret);
        return 0;
}

static const struct gt_func seed_functions[] = {
        { "getComposedResource", "s", call_seed_get_composed_resource, 0, 0 },
        { "getExternalName", "m", call_get_external_name, 0, 0 },
};

const struct gt_func_table templating_seed_functions = { seed_functions, ARRAY_SIZE(seed_functions) };
