/* /weft/v1/rollout of `weft up`: a Function and what is known of its rollout now, for `weft rollout`. The parameter is name. */
#include "up.h"

#include "apiserver.h"

static struct value counts_value(struct arena *a, const struct rollout_counts *c)
{
        struct member members[] = {
                { STR("deletions"), value_of_int((int64_t)c->deletions) },
                { STR("failed"), value_of_int((int64_t)c->failed) },
                { STR("runs"), value_of_int((int64_t)c->runs) },
        };

        return value_of_members(a, members, ARRAY_SIZE(members), true);
}

/* A composite that the user may not see is left out, and so is one that is gone. */
static bool may_see(struct api_call *call, const struct rollout_composite *c)
{
        struct member type[] = { { STR("apiVersion"), value_of_str(c->api_version) },
                                 { STR("kind"), value_of_str(c->kind) } };
        struct value typed = value_of_members(call->run.arena, type, ARRAY_SIZE(type), true);
        struct object_key key = { .gvk = gvk_of(&typed), .ns = c->ns, .name = c->name };
        const struct value *object;

        return cluster_get_value(call->cluster, &call->run, &key, &object, NULL) == 0 &&
               str_equal(meta_uid(object), c->uid);
}

static struct value composite_value(struct arena *a, const struct rollout_state *s, const struct rollout_composite *c)
{
        struct object_builder b;

        object_builder_init(&b, a, 10);
        object_builder_add(&b, STR("apiVersion"), value_of_str(c->api_version));
        object_builder_add(&b, STR("kind"), value_of_str(c->kind));
        if (c->ns.n)
                object_builder_add(&b, STR("namespace"), value_of_str(c->ns));
        object_builder_add(&b, STR("name"), value_of_str(c->name));
        if (!c->is_no_evidence)
                object_builder_add(&b, STR("revision"),
                                   value_of_str(c->side == ROLLOUT_TO ? s->plan.to : s->plan.from));
        object_builder_add(&b, STR("isNew"), value_of_bool(c->side == ROLLOUT_TO && !c->is_no_evidence));
        object_builder_add(&b, STR("isCurrent"), value_of_bool(c->is_current));
        object_builder_add(&b, STR("isCompared"), value_of_bool(c->difference || c->is_no_evidence));
        object_builder_add(&b, STR("hasFailed"), value_of_bool(c->has_failed));
        if (c->difference)
                object_builder_add(&b, STR("difference"), *c->difference);
        return object_builder_finish(&b);
}

static struct value live_value(struct api_call *call, const struct rollout_state *s)
{
        struct arena *a = call->run.arena;
        struct array_builder composites;
        struct object_builder b;

        array_builder_init(&composites, a, s->n_composites);
        for (size_t i = 0; i < s->n_composites; i++)
                if (may_see(call, &s->composites[i]))
                        array_builder_add(&composites, composite_value(a, s, &s->composites[i]));
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("generation"), value_of_int(s->plan.generation));
        object_builder_add(&b, STR("fromCounts"), counts_value(a, &s->counts[ROLLOUT_FROM]));
        object_builder_add(&b, STR("toCounts"), counts_value(a, &s->counts[ROLLOUT_TO]));
        object_builder_add(&b, STR("composites"), array_builder_finish(&composites));
        return object_builder_finish(&b);
}

int up_read_rollout(const struct up_inspection *in, struct api_call *call, const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { STR("pkg.crossplane.io"), STR("v1"), STR("Function") },
                                  .name = api_query_get(&call->query, STR("name")) };
        const struct value *function;
        struct rollout_state state;
        struct object_builder b;
        int r;

        if (!feature_is_on(in->features, FEATURE_FUNCTION_REVISION_SELECTORS))
                return err_set(err, ERR_FORBIDDEN,
                               "rollouts need the feature gate FunctionRevisionSelectors: start `weft up` with "
                               "--feature-gates=FunctionRevisionSelectors=true");
        r = cluster_get_value(call->cluster, &call->run, &key, &function, err);
        if (r < 0)
                return r;
        object_builder_init(&b, call->run.arena, 2);
        object_builder_add(&b, STR("function"), *function);
        if (registry_read_rollout(in->registry, call->run.arena, key.name, &state))
                object_builder_add(&b, STR("live"), live_value(call, &state));
        *ret = value_put(call->run.arena, object_builder_finish(&b));
        return 0;
}
