/* The life of one object under several managers, as the oracle's managed.go tells it: cases in, results out. For the differential suite and
 * for the unit test, which has results of the real library on file. */
#pragma once

#include "json.h"
#include "managed.h"
#include "meta.h"
#include "patch.h"
#include "schema.h"

#include <stdio.h>
#include <stdlib.h>

struct life {
        struct arena *arena;
        const struct value *schemas; /* of the step, by version */
        struct schema *compiled[8];
        struct str versions[8];
        size_t n;
        bool has_status;
        const struct value *live; /* in v1 */
};

static struct schema *find_schema(struct life *l, struct str version)
{
        for (size_t i = 0; i < l->n; i++)
                if (str_equal(l->versions[i], version))
                        return l->compiled[i];
        return NULL;
}

static void use_schemas(struct life *l, const struct value *schemas)
{
        for (size_t i = 0; i < l->n; i++)
                schema_unref(l->compiled[i]);
        l->n = 0;
        l->schemas = schemas;
        VALUE_FOREACH_MEMBER (m, schemas) {
                struct field_errors errors;

                field_errors_init(&errors, l->arena);
                l->versions[l->n] = m->key;
                if (schema_compile(&m->value, STR("openAPIV3Schema"), &l->compiled[l->n], &errors) < 0) {
                        fprintf(stderr, "subject: %.*s: %.*s\n", STR_ARG(errors.p[0].field), STR_ARG(errors.p[0].text));
                        abort();
                }
                l->n++;
        }
}

static const struct value *with_version(struct arena *a, const struct value *object, struct str api_version)
{
        return value_with(a, object, STR("apiVersion"), value_put(a, value_of_str(api_version)));
}

static int convert_life(void *arg, struct arena *a, const struct value *object, struct str api_version,
                        const struct value **ret, const struct schema **ret_schema, struct err *err)
{
        struct str version = api_version;

        str_cut_prefix(&version, STR("example.org/"));
        *ret_schema = find_schema(arg, version);
        if (!*ret_schema)
                return err_set(err, ERR_NOT_FOUND, "no such version");
        *ret = with_version(a, object, api_version);
        return 0;
}

static int compare_strings(const void *a, const void *b)
{
        return str_compare(value_str(a), value_str(b));
}

static struct value causes_of(struct arena *a, const struct err *err)
{
        const struct value *details = NULL, *causes;
        struct array_builder b;

        array_builder_init(&b, a, 0);
        if (err->details && json_parse(a, str_from(err->details), NULL, &details, NULL) >= 0) {
                causes = value_get(details, STR("causes"));
                VALUE_FOREACH_ITEM (c, causes)
                        array_builder_add(&b,
                                          value_of_str(arena_printf(a, "%.*s|%.*s|%.*s",
                                                                    STR_ARG(value_str(value_get(c, STR("reason")))),
                                                                    STR_ARG(value_str(value_get(c, STR("message")))),
                                                                    STR_ARG(value_str(value_get(c, STR("field")))))));
        }
        if (b.n > 1)
                qsort(b.items, b.n, sizeof(*b.items), compare_strings);
        return array_builder_finish(&b);
}

static struct value step_error(struct arena *a, const struct err *err)
{
        struct object_builder b;

        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("error"), value_of_str(arena_copy(a, str_from(err_message(err)))));
        if (err->reason != REASON_UNKNOWN) {
                object_builder_add(&b, STR("reason"), value_of_str(str_from(reason_name(err->reason))));
                object_builder_add(&b, STR("causes"), causes_of(a, err));
        }
        return object_builder_finish(&b);
}

static const struct value *live_in(struct life *l, struct str api_version)
{
        return l->live ? with_version(l->arena, l->live, api_version) : NULL;
}

static struct value run_step(struct life *l, const struct value *step, size_t number)
{
        struct str op = value_str(value_get(step, STR("op"))), version = value_str(value_get(step, STR("version")));
        struct arena *a = l->arena;
        _cleanup_err_ struct err err = { 0 };
        struct managed_type type = {
                .gvk = { STR("example.org"), version, STR("Widget") },
                .schema = find_schema(l, version),
                .has_status = l->has_status,
                .hub_version = STR("v1"),
                .convert = convert_life,
                .convert_arg = l,
        };
        struct managed_request req = {
                .type = &type,
                .manager = value_str(value_get(step, STR("manager"))),
                .subresource = value_str(value_get(step, STR("sub"))),
                .now = { .seconds = 1577836800 + (int64_t)number },
                .force = value_bool(value_get(step, STR("force")), false),
        };
        struct str api_version = gvk_api_version(a, type.gvk);
        const struct value *live = live_in(l, api_version), *object = value_get(step, STR("object")), *result = NULL;
        int r = 0;

        if (str_equal(op, STR("set")))
                result = merge_patch_apply(a, live ? live : &value_empty_object, object);
        else if (str_equal(op, STR("apply")))
                r = managed_apply(a, &req, live, object, &result, &err);
        else if (str_equal(op, STR("patch")))
                r = managed_update(a, &req, live, merge_patch_apply(a, live, object), &result, &err);
        else {
                if (str_equal(value_str(value_get(step, STR("fields"))), STR("live")))
                        object = meta_with(a, object, STR("managedFields"),
                                           value_find(live, "metadata", "managedFields"));
                r = managed_update(a, &req, live, object, &result, &err);
        }
        if (r < 0)
                return step_error(a, &err);
        if (str_is_empty(meta_uid(result)))
                result = meta_with_str(a, result, STR("uid"), STR("u-1"));
        l->live = with_version(a, result, STR("example.org/v1"));

        struct member m = { STR("object"), *l->live };

        return value_of_members(a, &m, 1, true);
}

static const struct value *managed_life(struct arena *a, const struct value *c)
{
        const struct value *schemas = value_get(c, STR("schemas")), *steps = value_get(c, STR("steps"));
        struct life life = { .arena = a, .has_status = value_bool(value_get(c, STR("status")), false) };
        struct array_builder results;

        array_builder_init(&results, a, value_count(steps));
        for (size_t i = 0; i < value_count(steps); i++) {
                const struct value *step = value_item(steps, i);
                const struct value *wanted = value_item(schemas, (size_t)value_int(value_get(step, STR("schema")), 0));

                if (wanted != life.schemas)
                        use_schemas(&life, wanted);
                array_builder_add(&results, run_step(&life, step, i));
        }
        use_schemas(&life, NULL);
        return value_put(a, array_builder_finish(&results));
}
