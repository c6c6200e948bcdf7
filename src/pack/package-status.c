/* The status of packages and their revisions. */
#include "package-client.h"
#include "packages-state.h"

const struct value *package_with_condition(struct arena *a, const struct value *object, struct condition c)
{
        c.last_transition = clock_wall();
        c.observed_generation = meta_generation(object);
        if (!value_is_object(value_get(object, STR("status"))))
                object = value_with(a, object, STR("status"), &value_empty_object);
        return conditions_set(a, object, &c, 1);
}

const struct value *package_with_status(struct arena *a, const struct value *object, struct str key,
                                        const struct value *v)
{
        const struct value *status = value_get(object, STR("status"));

        status = value_is_object(status) ? status : &value_empty_object;
        status = v ? value_with(a, status, key, v) : value_without(a, status, key);
        return value_with(a, object, STR("status"), status);
}

const struct value *package_with_status_str(struct arena *a, const struct value *object, struct str key, struct str v)
{
        return package_with_status(a, object, key, v.n ? value_put(a, value_of_str(v)) : NULL);
}

static bool is_of_client(struct str reason)
{
        return str_equal(reason, STR("RewriteImage")) || str_equal(reason, STR("SetImagePullSecret")) ||
               str_equal(reason, STR("VerifyImage"));
}

const struct value *package_with_applied(struct arena *a, const struct value *object,
                                         const struct package_result *result)
{
        struct array_builder b;

        array_builder_init(&b, a, 4);
        VALUE_FOREACH_ITEM (ref, value_find(object, "status", "appliedImageConfigRefs")) {
                if (!is_of_client(value_str(value_get(ref, STR("reason")))))
                        array_builder_add(&b, *ref);
        }
        for (size_t i = 0; i < result->n_applied; i++) {
                struct member members[] = { { STR("name"), value_of_str(result->applied[i].name) },
                                            { STR("reason"), value_of_str(result->applied[i].reason) } };

                array_builder_add(&b, value_of_members(a, members, 2, true));
        }
        return package_with_status(a, object, STR("appliedImageConfigRefs"),
                                   b.n ? value_put(a, array_builder_finish(&b)) : NULL);
}

/* --- Pause --- */

#define PAUSED STR("Reconciliation (including deletion) is paused via the pause annotation")

static int say_paused(struct kind_run *r, struct str component, const struct value *object, struct err *err)
{
        const struct value *wanted = package_with_condition(r->run->arena, object,
                                                            (struct condition) { .type = STR("Synced"),
                                                                                 .status = CONDITION_FALSE,
                                                                                 .reason = STR("ReconcilePaused"),
                                                                                 .message = PAUSED });

        if (!value_equal(wanted, object))
                kind_run_record(r, object, &(struct recorder_source) { .component = component }, false,
                                STR("ReconciliationPaused"), PAUSED);
        return package_save_status(r, object, wanted, err);
}

int package_check_pause(struct kind_run *r, struct str component, const struct value **object, struct err *err)
{
        struct condition c;
        int e;

        if (str_equal(meta_annotation(*object, STR("crossplane.io/paused")), STR("true"))) {
                e = say_paused(r, component, *object, err);
                return e < 0 ? e : 1;
        }
        if (condition_get(*object, STR("Synced"), &c) && str_equal(c.reason, STR("ReconcilePaused")))
                *object = package_with_status(r->run->arena, *object, STR("conditions"), NULL);
        return 0;
}

bool package_has_status_of(const struct value *a, const struct value *b)
{
        const struct value *x = value_get(a, STR("status")), *y = value_get(b, STR("status"));

        return x && y ? value_equal(x, y) : x == y;
}

int package_save_status(struct kind_run *r, const struct value *read, const struct value *wanted, struct err *err)
{
        if (package_has_status_of(read, wanted))
                return 0;
        return kind_run_update(r, wanted, STR("status"), &wanted, err);
}
