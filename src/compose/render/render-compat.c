#include "render-compat.h"

#include <stdlib.h>

#include "compat-step.h"
#include "composed.h"
#include "composite.h"
#include "gotext.h"
#include "path.h"
#include "vec.h"

#define THEN ((struct instant) { .seconds = 1704067200 }) /* 2024-01-01T00:00:00Z: the time of every condition */

typedef VEC(struct compat_result) result_vec;
typedef VEC(struct fn_condition) condition_vec;

struct compat {
        struct run *run;
        struct arena *arena; /* the run's */
        const struct compat_input *in;
        struct fn_state observed;
        struct fn_state desired; /* with context: what the last step returned */
        struct fn_struct context;
        result_vec results; /* of all steps */
        condition_vec conditions;
};

/* --- Observed resources --- */

struct observed {
        struct str key;
        size_t index;
};

static int compare_observed(const void *a, const void *b)
{
        const struct observed *x = a, *y = b;
        int order = str_compare(x->key, y->key);

        return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* With several resources for one key, the last one wins. */
static void observe(struct compat *c)
{
        size_t n = value_count(c->in->observed), n_kept = 0;
        struct observed *keys = ARENA_NEW_ARRAY(c->arena, struct observed, n + 1);
        struct fn_resource *resources = ARENA_NEW_ARRAY(c->arena, struct fn_resource, n + 1);

        for (size_t i = 0; i < n; i++)
                keys[i] = (struct observed) { composed_key(value_item(c->in->observed, i)), i };
        qsort(keys, n, sizeof(*keys), compare_observed);
        for (size_t i = 0; i < n; i++)
                if (i + 1 == n || !str_equal(keys[i].key, keys[i + 1].key))
                        resources[n_kept++] = (struct fn_resource) {
                                .name = keys[i].key,
                                .object.value = value_item(c->in->observed, keys[i].index),
                        };
        c->observed = (struct fn_state) {
                .is_present = true,
                .is_open = true,
                .has_composite = true,
                .composite.object.value = c->in->composite,
                .resources = resources,
                .n_resources = n_kept,
        };
}

/* --- The pipeline --- */

static int collect(struct compat *c, struct str step, const struct fn_response *rsp, struct err *err)
{
        for (size_t i = 0; i < rsp->n_conditions; i++)
                vec_push(&c->conditions, rsp->conditions[i]);
        for (size_t i = 0; i < rsp->n_results; i++) {
                const struct fn_result *r = &rsp->results[i];

                if (r->severity == FN_SEVERITY_FATAL)
                        return err_set(err, ERR_FAILED, "pipeline step %s returned a fatal result: %.*s",
                                       go_quote(c->arena, step).p, STR_ARG(r->message));
                vec_push(&c->results, (struct compat_result) { step, r->severity, r->message });
        }
        return 0;
}

static int run_pipeline(struct compat *c, struct err *err)
{
        c->desired = (struct fn_state) { .is_present = true, .is_open = true };
        c->context.value = c->in->context ?: &value_empty_object;
        VALUE_FOREACH_ITEM (step, value_find(c->in->composition, "spec", "pipeline")) {
                struct fn_response rsp;
                int r = compat_step_run(c->run, c->in, step, &c->observed, &c->desired, &c->context, &rsp, err);

                if (r >= 0)
                        r = collect(c, value_str(value_get(step, STR("step"))), &rsp, err);
                if (r < 0)
                        return r;
                c->desired = rsp.desired;
                c->context = rsp.context;
        }
        return fn_state_open(c->arena, &c->desired, err);
}

/* --- Composed resources --- */

static int object_of(struct arena *a, struct fn_struct *s, const struct value **ret, struct err *err)
{
        const struct value *object = NULL;
        int r = fn_struct_value(a, s, &object, err);

        return r < 0 ? r : value_settle(a, object ? object : &value_empty_object, ret, err);
}

static int compose_one(struct compat *c, const struct fn_resource *wanted, const struct value **ret, struct err *err)
{
        const struct value *composite = c->in->composite;
        const struct fn_resource *observed = fn_state_find(&c->observed, wanted->name);
        struct composed_scope scope = { .composite = composite, .is_namespaced = meta_namespace(composite).n > 0 };
        struct str root = composed_root(composite);
        struct fn_struct given = wanted->object;
        const struct value *object;
        int r = object_of(c->arena, &given, &object, err);

        if (r < 0)
                return r;
        r = composed_describe(c->arena, &scope, wanted->name, root.n ? root : meta_name(composite), object,
                              observed ? observed->object.value : NULL, ret, err);
        if (r < 0)
                err_wrap(err, "cannot set composite resource %s as controller ref of composed resource",
                         go_quote(c->arena, meta_name(composite)).p);
        return r < 0 ? err_wrap(err, "cannot render composed resource %s metadata", go_quote(c->arena, wanted->name).p)
                     : 0;
}

static int compose_all(struct compat *c, const struct value **ret, struct err *err)
{
        struct array_builder list;

        array_builder_init(&list, c->arena, c->desired.n_resources);
        for (size_t i = 0; i < c->desired.n_resources; i++) {
                const struct value *object;
                int r = compose_one(c, &c->desired.resources[i], &object, err);

                if (r < 0)
                        return r;
                array_builder_add(&list, *object);
        }
        *ret = value_put(c->arena, array_builder_finish(&list));
        return 0;
}

/* --- The composite --- */

static struct condition ready_condition(const struct compat *c)
{
        struct str *names = ARENA_NEW_ARRAY(c->arena, struct str, c->desired.n_resources + 1);
        struct condition ready = { .type = STR("Ready"), .status = CONDITION_FALSE, .reason = STR("Creating") };
        enum fn_ready said = c->desired.has_composite ? c->desired.composite.ready : FN_READY_UNSPECIFIED;
        size_t n = 0;

        ready.last_transition = THEN;
        for (size_t i = 0; i < c->desired.n_resources; i++)
                if (c->desired.resources[i].ready != FN_READY_TRUE)
                        names[n++] = c->desired.resources[i].name;
        if (said == FN_READY_UNSPECIFIED && n > 0) {
                ready.message = arena_printf(c->arena, "Unready resources: %.*s",
                                             STR_ARG(composite_name_list(c->arena, names, n)));
        } else if (said != FN_READY_FALSE) {
                ready.status = CONDITION_TRUE;
                ready.reason = STR("Available");
        }
        return ready;
}

static struct condition condition_from(const struct fn_condition *c)
{
        static const enum condition_status statuses[] = { [2] = CONDITION_TRUE, [3] = CONDITION_FALSE };

        return (struct condition) {
                .type = c->type,
                .status = c->status == 2 || c->status == 3 ? statuses[c->status] : CONDITION_UNKNOWN,
                .reason = c->reason,
                .message = c->message,
                .last_transition = THEN,
        };
}

static const struct value *with_conditions(const struct compat *c, const struct value *composite)
{
        static const char *const reserved[] = { "Ready", "Synced", "Healthy" };
        struct condition ready = ready_condition(c);

        composite = conditions_set(c->arena, composite, &ready, 1);
        for (size_t i = 0; i < c->conditions.n; i++) {
                struct condition condition = condition_from(&c->conditions.p[i]);
                bool is_reserved = false;

                for (size_t j = 0; j < ARRAY_SIZE(reserved); j++)
                        is_reserved |= str_equal(condition.type, str_from(reserved[j]));
                if (!is_reserved)
                        composite = conditions_set(c->arena, composite, &condition, 1);
        }
        return composite_write_out_conditions(c->arena, composite);
}

static const struct value *with_identity(struct arena *a, const struct value *object, const struct value *of)
{
        static const char *const fields[] = { "name", "namespace" };

        object = value_with(a, object, STR("apiVersion"), value_get(of, STR("apiVersion")));
        object = value_with(a, object, STR("kind"), value_get(of, STR("kind")));
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                struct str text = meta_str(of, str_from(fields[i]));

                if (text.n || value_get(meta(object), str_from(fields[i])))
                        object = meta_with(a, object, str_from(fields[i]),
                                           text.n ? value_put(a, value_of_str(text)) : NULL);
        }
        return object;
}

static int make_composite(struct compat *c, const struct value **ret, struct err *err)
{
        const struct value *object = &value_empty_object;
        int r = c->desired.has_composite ? object_of(c->arena, &c->desired.composite.object, &object, err) : 0;

        if (r >= 0)
                *ret = with_conditions(c, with_identity(c->arena, object, c->in->composite));
        return r;
}

/* An empty context that a function returned has no fields and prints as null. */
static int context_fields(struct compat *c, const struct value **ret, struct err *err)
{
        bool has_steps = value_count(value_find(c->in->composition, "spec", "pipeline")) > 0;
        int r = fn_struct_value(c->arena, &c->context, ret, err);

        if (r >= 0 && has_steps && *ret && value_count(*ret) == 0)
                *ret = &value_null;
        return r;
}

static int render(struct compat *c, struct compat_output *ret, struct err *err)
{
        struct compat_result *results;
        int r;

        observe(c);
        if ((r = run_pipeline(c, err)) < 0 || (r = compose_all(c, &ret->composed, err)) < 0 ||
            (r = make_composite(c, &ret->composite, err)) < 0 || (r = context_fields(c, &ret->context, err)) < 0)
                return r;
        results = ARENA_NEW_ARRAY(c->arena, struct compat_result, c->results.n + 1);
        if (c->results.n)
                memcpy(results, c->results.p, c->results.n * sizeof(*results));
        ret->results = results;
        ret->n_results = c->results.n;
        return 0;
}

int render_compat(struct run *run, const struct compat_input *in, struct compat_output *ret, struct err *err)
{
        struct compat c = { .run = run, .arena = run->arena, .in = in };
        int r;

        *ret = (struct compat_output) { 0 };
        r = render(&c, ret, err);
        vec_done(&c.results);
        vec_done(&c.conditions);
        return r < 0 ? err_wrap(err, "cannot render composite resource") : 0;
}
