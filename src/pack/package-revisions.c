#include "package-revisions.h"

#include "buf.h"
#include "digest.h"
#include "owner.h"

#include <inttypes.h>

#define DIGEST_ANNOTATION STR("weft.dev/package-digest")

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

/* --- Plans --- */

/* With the gate, the highest numbers are active; the current revision has the highest. */
static void plan_limit(const struct package_policy *policy, const struct value *const *revisions, size_t n,
                       struct package_plan *plan)
{
        int64_t left = policy->active_limit - 1;

        for (size_t i = 0; i < n; i++) {
                bool is_kept = i != plan->current && str_equal(meta_name(revisions[i]), policy->kept);

                plan->states[i] = is_kept ? PACKAGE_STATE_ACTIVE : PACKAGE_STATE_INACTIVE;
                left -= is_kept;
        }
        while (left-- > 0) {
                size_t best = PACKAGE_NONE;

                for (size_t i = 0; i < n; i++)
                        if (i != plan->current && plan->states[i] == PACKAGE_STATE_INACTIVE &&
                            (best == PACKAGE_NONE || number_of(revisions[i]) > number_of(revisions[best])))
                                best = i;
                if (best == PACKAGE_NONE)
                        return;
                plan->states[best] = PACKAGE_STATE_ACTIVE;
        }
}

static void plan_states(const struct package_policy *policy, const struct value *const *revisions, size_t n,
                        struct package_plan *plan)
{
        bool was_active = plan->current != PACKAGE_NONE && package_revision_is_active(revisions[plan->current]);

        plan->is_current_active = !policy->is_manual || was_active;
        if (policy->active_limit > 0 && !policy->is_manual) {
                plan_limit(policy, revisions, n, plan);
                return;
        }
        for (size_t i = 0; i < n; i++)
                plan->states[i] = policy->active_limit > 0 ? PACKAGE_STATE_KEPT : PACKAGE_STATE_INACTIVE;
}

static bool will_be_active(const struct package_plan *plan, const struct value *const *revisions, size_t i)
{
        if (i == plan->current)
                return true;
        return plan->states[i] == PACKAGE_STATE_KEPT ? package_revision_is_active(revisions[i])
                                                     : plan->states[i] == PACKAGE_STATE_ACTIVE;
}

/* The newest of the inactive revisions that have answered, while the current one has not: it serves (revision-runtime.c). */
static size_t find_serving(const struct package_plan *plan, const struct value *const *revisions, size_t n)
{
        size_t best = PACKAGE_NONE;

        if (plan->current != PACKAGE_NONE && package_revision_has_answered(revisions[plan->current]))
                return PACKAGE_NONE;
        for (size_t i = 0; i < n; i++)
                if (i != plan->current && package_revision_has_answered(revisions[i]) &&
                    (best == PACKAGE_NONE || number_of(revisions[i]) > number_of(revisions[best])))
                        best = i;
        return best;
}

/* One revision at most is deleted in a run: the one with the lowest number, unless it serves. With the gate, history is what is neither
 * active nor current; without it, what is not the current one. */
static void plan_garbage(const struct package_policy *policy, const struct value *const *revisions, size_t n,
                         struct package_plan *plan)
{
        size_t lowest = PACKAGE_NONE, n_history = 0, serving = find_serving(plan, revisions, n);

        for (size_t i = 0; i < n; i++) {
                bool is_kept = policy->active_limit > 0 ? will_be_active(plan, revisions, i) : i == plan->current;

                if (is_kept)
                        continue;
                n_history++;
                if (i == serving)
                        continue;
                if (lowest == PACKAGE_NONE || number_of(revisions[i]) < number_of(revisions[lowest]))
                        lowest = i;
        }
        if (policy->active_limit == 0)
                n_history = n > 0 ? n - 1 : 0;
        if (policy->history_limit > 0 && n_history > (size_t)policy->history_limit)
                plan->garbage = lowest;
}

void package_plan(struct arena *a, const struct package_policy *policy, const struct value *const *revisions, size_t n,
                  struct str name, struct package_plan *ret)
{
        int64_t highest = 0;

        *ret = (struct package_plan) { .current = PACKAGE_NONE,
                                       .garbage = PACKAGE_NONE,
                                       .states = ARENA_NEW_ARRAY(a, enum package_state, n + 1) };
        for (size_t i = 0; i < n; i++) {
                highest = MAX(highest, number_of(revisions[i]));
                if (str_equal(meta_name(revisions[i]), name))
                        ret->current = i;
        }
        ret->number = ret->current == PACKAGE_NONE ? 0 : number_of(revisions[ret->current]);
        if (ret->number < highest || ret->number == 0)
                ret->number = highest + 1;
        plan_states(policy, revisions, n, ret);
        plan_garbage(policy, revisions, n, ret);
}

/* --- The current revision --- */

struct str package_revision_name(struct arena *a, const struct value *package, struct str digest)
{
        _cleanup_buf_ struct buf hex = BUF_INIT(0);

        str_cut_prefix(&digest, STR("sha256:"));
        sha256_append_hex(&hex, arena_printf(a, "%.*s|%" PRId64, STR_ARG(digest), meta_generation(package)));
        return xpkg_friendly_id(a, meta_name(package), buf_str(&hex));
}

struct str package_revision_of_image(const struct value *const *revisions, size_t n, struct str reference,
                                     struct str digest)
{
        const struct value *best = NULL;

        for (size_t i = 0; i < n; i++)
                if (str_equal(meta_annotation(revisions[i], DIGEST_ANNOTATION), digest) &&
                    str_equal(value_str(value_find(revisions[i], "spec", "image")), reference) &&
                    (!best || number_of(revisions[i]) > number_of(best)))
                        best = revisions[i];
        return best ? meta_name(best) : STR("");
}

static const struct value *new_revision(struct arena *a, const struct package_revision_wish *w)
{
        struct member name = { STR("name"), value_of_str(w->name) };
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("pkg.crossplane.io/v1"));
        object_builder_add(&b, STR("kind"), value_of_str(w->kind->revision));
        object_builder_add(&b, STR("metadata"), value_of_members(a, &name, 1, true));
        object_builder_add(&b, STR("spec"), value_empty_object);
        return value_put(a, object_builder_finish(&b));
}

static const struct value *copy_field(struct arena *a, const struct value *spec, struct str key, const struct value *v)
{
        return v ? value_with(a, spec, key, v) : value_without(a, spec, key);
}

static const struct value *secret_name(struct arena *a, struct str name, const char *suffix)
{
        return value_put(a, value_of_str(arena_printf(
                                    a, "%.*s%s", STR_ARG(str_first(name, MIN(name.n, 253 - strlen(suffix)))), suffix)));
}

static const struct value *with_runtime(struct arena *a, const struct package_revision_wish *w,
                                        const struct value *spec)
{
        struct str name = w->names_by_revision ? w->name : meta_name(w->package);

        spec = copy_field(a, spec, STR("runtimeConfigRef"), value_find(w->package, "spec", "runtimeConfigRef"));
        spec = value_with(a, spec, STR("tlsServerSecretName"), secret_name(a, name, "-tls-server"));
        if (w->kind->has_client_secret)
                spec = value_with(a, spec, STR("tlsClientSecretName"), secret_name(a, name, "-tls-client"));
        return spec;
}

static const struct value *wanted_spec(struct arena *a, const struct package_revision_wish *w, const struct value *spec)
{
        static const struct str copied[] = {
                STR_INIT("packagePullPolicy"),
                STR_INIT("packagePullSecrets"),
                STR_INIT("ignoreCrossplaneConstraints"),
                STR_INIT("skipDependencyResolution"),
                STR_INIT("commonLabels"),
                STR_INIT("commonAnnotations"),
        };
        const struct value *own = value_get(w->package, STR("spec"));
        struct value number = value_of_int(w->number);
        const struct value *state = value_get(spec, STR("desiredState"));

        spec = copy_field(a, spec, STR("image"), value_get(own, STR("package")));
        for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
                spec = copy_field(a, spec, copied[i], value_get(own, copied[i]));
        if (w->has_runtime)
                spec = with_runtime(a, w, spec);
        if (w->is_active)
                state = value_put(a, value_of_literal("Active"));
        spec = value_with(a, spec, STR("desiredState"), state ? state : &value_empty_string);
        return value_with(a, spec, STR("revision"), &number);
}

int package_revision_wanted(struct arena *a, const struct package_revision_wish *w, const struct value *old,
                            const struct value **ret, struct err *err)
{
        struct owner_reference owner = owner_reference_to(a, w->package, true, true);
        const struct value *wanted = old ? old : new_revision(a, w);
        int e;

        if (w->copies_labels)
                VALUE_FOREACH_MEMBER (m, value_get(meta(w->package), STR("labels"))) {
                        wanted = meta_with_label(a, wanted, m->key, value_str(&m->value));
                }
        wanted = meta_with_label(a, wanted, PACKAGE_LABEL, meta_name(w->package));
        if (w->digest.n)
                wanted = meta_with_annotation(a, wanted, DIGEST_ANNOTATION, w->digest);
        e = owner_with_reference(a, wanted, &owner, &wanted, err);
        if (e < 0)
                return e;
        *ret = value_with(a, wanted, STR("spec"), wanted_spec(a, w, value_get(wanted, STR("spec"))));
        return 0;
}

/* --- Health --- */

static struct condition unhealthy(struct arena *a, const char *what, const struct condition *c)
{
        struct str message = arena_printf(a, "Package %s health is \"%s\"", what, condition_status_name(c->status));

        if (c->message.n)
                message = arena_printf(a, "%.*s with message: %.*s", STR_ARG(message), STR_ARG(c->message));
        return (struct condition) { .type = STR("Healthy"),
                                    .status = CONDITION_FALSE,
                                    .reason = STR("UnhealthyPackageRevision"),
                                    .message = message };
}

struct condition package_health(struct arena *a, const struct package_kind *kind, const struct value *revision)
{
        struct condition health, runtime, active;
        bool is_awaited;

        condition_get(revision, STR("RevisionHealthy"), &health);
        condition_get(revision, STR("RuntimeHealthy"), &runtime);
        condition_get(revision, STR("RuntimeActive"), &active);
        is_awaited = str_equal(active.reason, STR("AwaitingActivation"));
        if (health.status != CONDITION_TRUE)
                return unhealthy(a, "revision", &health);
        if (kind->has_runtime && runtime.status != CONDITION_TRUE)
                return unhealthy(a, "runtime", &runtime);
        if (kind->has_runtime && is_awaited && package_revision_is_active(revision))
                return (struct condition) { .type = STR("Healthy"),
                                            .status = CONDITION_TRUE,
                                            .reason = STR("AwaitingActivation"),
                                            .message = active.message };
        return (struct condition) { .type = STR("Healthy"),
                                    .status = CONDITION_TRUE,
                                    .reason = STR("HealthyPackageRevision"),
                                    .message = health.message };
}
