/* Usages (docs/spec/engine 10): finds what is used and by whom, marks the used object, and ends with the user. The refusal of
 * deletes is a hook of the API, see protection.h.
 *
 * A usage follows objects that do not exist yet, and runs again when they do. */
#include "clock.h"
#include "composite.h"
#include "condition.h"
#include "owner.h"
#include "plane-state.h"
#include "protection.h"
#include "usage.h"

#define COMPOSITE_LABEL STR("crossplane.io/composite")

/* One reconcile of one usage. */
struct usage_run {
        struct kind_run *r;
        struct plane *plane;
        struct arena *arena;
        const struct value *usage; /* as the API has it */
        struct str component;
        bool is_waiting; /* for an object that does not exist: an event tells, and its creation runs the key again */
};

#define TELL(u, is_warning, reason, ...)                                                                          \
        kind_run_event((u)->r, (u)->usage, &(struct recorder_source) { .component = (u)->component }, is_warning, \
                       reason, __VA_ARGS__)

/* Says what is wrong in an event and returns the error. Conflicts are retried silently. */
static int fail(struct usage_run *u, const char *reason, const char *what, struct err *err)
{
        if (err->reason == REASON_CONFLICT)
                return kind_run_retry_conflict(u->r, err, what);
        err_wrap(err, "%s", what);
        TELL(u, true, reason, "%s", err_message(err));
        return err->code;
}

/* The same; an object or a kind that does not exist is waited for. */
static int fail_or_wait(struct usage_run *u, const char *reason, const char *what, struct err *err)
{
        int e = fail(u, reason, what, err);

        if (e != ERR_NOT_FOUND)
                return e;
        u->is_waiting = true;
        err_done(err);
        return 0;
}

static bool is_over(const struct usage_run *u)
{
        return u->is_waiting || u->r->answer->requeues;
}

/* --- References --- */

/* Drops the namespace from the key if its kind has none. */
static int complete_key(struct usage_run *u, struct object_key *key, struct err *err)
{
        const struct kind *kind;
        int e = cluster_kind(u->r->cluster, u->r->run, key->gvk, &kind, err);

        if (e < 0)
                return e;
        if (!kind->is_namespaced)
                key->ns = STR("");
        else if (key->ns.n == 0)
                return err_set(err, ERR_INVALID, "an empty namespace may not be set when a resource name is provided");
        return 0;
}

static int get_object(struct usage_run *u, struct object_key *key, const struct value **ret, struct err *err)
{
        int e = complete_key(u, key, err);

        return e < 0 ? e : cluster_get_value(u->r->cluster, u->r->run, key, ret, err);
}

/* The same; *ret is NULL if it does not exist. */
static int find_object(struct usage_run *u, struct object_key *key, const struct value **ret, struct err *err)
{
        int e = get_object(u, key, ret, err);

        if (e != ERR_NOT_FOUND && e != ERR_INVALID)
                return e;
        err_done(err);
        *ret = NULL;
        return 0;
}

static bool has_same_controller(const struct value *a, const struct value *b)
{
        struct owner_reference one, other;

        return owner_controller(a, &one) && owner_controller(b, &other) && str_equal(one.uid, other.uid);
}

/* The first object, by name, that the selector selects. */
static int select_object(struct usage_run *u, const struct object_key *key, struct str field,
                         const struct value *selector, const struct value **ret, struct err *err)
{
        bool needs_controller = value_bool(value_get(selector, STR("matchControllerRef")), false);
        const struct value *labels = value_get(selector, STR("matchLabels"));
        struct object_builder b;
        struct value wanted;
        struct label_selector matches;
        struct list_request req = { .gvk = key->gvk, .ns = key->ns, .labels = &matches };
        struct object_list list;
        int e;

        object_builder_init(&b, u->arena, 1);
        object_builder_add(&b, STR("matchLabels"), labels ? *labels : value_empty_object);
        wanted = object_builder_finish(&b);
        e = label_selector_from_value(u->arena, &wanted, &matches, err);
        if (e == 0)
                e = cluster_list(u->r->cluster, u->r->run, &req, &list, err);
        for (size_t i = 0; e == 0 && i < list.n; i++) {
                *ret = object_list_value(&list, i, u->arena);
                if (!needs_controller || has_same_controller(*ret, u->usage))
                        return 0;
        }
        if (e < 0)
                return err_wrap(err, "cannot list the objects that \"%.*s\" selects", STR_ARG(field));
        return err_set(err, ERR_NOT_FOUND, "%.*s", STR_ARG(usage_no_match(u->arena, field, key->gvk.kind, selector)));
}

/* A namespaced Usage may use an object of another namespace, or of none. */
static const struct value *reference_to(struct usage_run *u, const struct value *object, bool may_have_namespace)
{
        bool has_namespace = may_have_namespace && !str_equal(meta_namespace(object), meta_namespace(u->usage));
        struct object_builder b;

        object_builder_init(&b, u->arena, 2);
        object_builder_add(&b, STR("name"), value_of_str(meta_name(object)));
        if (has_namespace)
                object_builder_add(&b, STR("namespace"), value_of_str(meta_namespace(object)));
        return value_put(u->arena, object_builder_finish(&b));
}

/* Writes the name of the selected object into `of` or `by`, unless there is one. */
static int resolve(struct usage_run *u, struct str part, struct object_key key, const struct value **usage,
                   struct err *err)
{
        const struct value *spec = value_get(*usage, STR("spec")), *resource = value_get(spec, part);
        const struct value *selector = value_get(resource, STR("resourceSelector")), *found;
        bool may_have_namespace = str_equal(part, STR("of")) && usage_kind_of(*usage) == USAGE_NAMESPACED;
        int e;

        if (key.name.n || !value_is_object(selector))
                return 0;
        e = complete_key(u, &key, err);
        if (e == 0)
                e = select_object(u, &key, arena_printf(u->arena, "spec.%.*s.resourceSelector", STR_ARG(part)),
                                  selector, &found, err);
        if (e < 0)
                return e;
        resource = value_with(u->arena, resource, STR("resourceRef"), reference_to(u, found, may_have_namespace));
        *usage = value_with(u->arena, *usage, STR("spec"), value_with(u->arena, spec, part, resource));
        return 0;
}

static int resolve_both(struct usage_run *u, const struct value **usage, struct err *err)
{
        struct object_key by;
        int e = resolve(u, STR("of"), usage_of(u->usage), usage, err);

        if (e == 0 && usage_by(u->usage, &by))
                e = resolve(u, STR("by"), by, usage, err);
        return e;
}

/* --- A usage that begins --- */

static int put_usage(struct usage_run *u, const struct value *usage, const char *reason, const char *what,
                     struct err *err)
{
        if (usage == u->usage || value_equal(usage, u->usage))
                return 0;
        if (kind_run_update(u->r, usage, STR(""), &u->usage, err) < 0)
                return fail(u, reason, what, err);
        return 0;
}

static int prepare(struct usage_run *u, struct err *err)
{
        const struct value *usage = u->usage;

        if (resolve_both(u, &usage, err) < 0)
                return fail_or_wait(u, "ResolveSelectors", "cannot resolve selectors", err);
        usage = meta_with_finalizer(u->arena, usage, USAGE_FINALIZER);
        usage = meta_with_annotation(u->arena, usage, USAGE_DETAILS, usage_details(u->arena, usage));
        return put_usage(u, usage, "AddFinalizer", "cannot add finalizer", err);
}

/* Adds the label to the used object, or removes it. */
static int label(struct usage_run *u, const struct object_key *used, bool is_in_use, struct err *err)
{
        struct value text = value_of_literal("true"), none = value_of_null();
        struct object_builder labels, metadata, body;
        struct write_request req = { .verb = WRITE_MERGE_PATCH, .key = *used, .manager = CROSSPLANE_MANAGER };
        struct write_result result;

        object_builder_init(&labels, u->arena, 1);
        object_builder_add(&labels, USAGE_IN_USE, is_in_use ? text : none);
        object_builder_init(&metadata, u->arena, 1);
        object_builder_add(&metadata, STR("labels"), object_builder_finish(&labels));
        object_builder_init(&body, u->arena, 1);
        object_builder_add(&body, STR("metadata"), object_builder_finish(&metadata));
        req.body = value_put(u->arena, object_builder_finish(&body));
        return cluster_write(u->r->cluster, u->r->run, &req, &result, err);
}

static int mark_used(struct usage_run *u, struct err *err)
{
        struct object_key key = usage_of(u->usage);
        const struct value *used;

        if (get_object(u, &key, &used, err) < 0)
                return fail_or_wait(u, "GetUsedResource", "cannot get used", err);
        if (str_equal(meta_label(used, USAGE_IN_USE), STR("true")))
                return 0;
        if (label(u, &key, true, err) < 0)
                return fail_or_wait(u, "AddInUseLabel", "cannot add in use label", err);
        return 0;
}

/* The user owns the usage, so that the usage goes with it. */
static int own(struct usage_run *u, struct err *err)
{
        const struct value *by, *usage;
        struct owner_reference owner;
        struct object_key key;

        if (!usage_by(u->usage, &key))
                return 0;
        if (get_object(u, &key, &by, err) < 0)
                return fail_or_wait(u, "GetUsingResource", "cannot get using", err);
        owner = owner_reference_to(u->arena, by, false, false);
        if (owner_with_reference(u->arena, u->usage, &owner, &usage, err) < 0)
                return fail(u, "AddOwnerRefToUsage", "cannot update usage resource with owner ref", err);
        return put_usage(u, usage, "AddOwnerRefToUsage", "cannot update usage resource with owner ref", err);
}

static int report(struct usage_run *u, struct err *err)
{
        struct condition ready = {
                .type = STR("Ready"),
                .status = CONDITION_TRUE,
                .reason = STR("Available"),
                .last_transition = clock_wall(),
                .observed_generation = meta_generation(u->usage),
        };
        const struct value *usage = u->usage;
        int e;

        if (!value_is_object(value_get(usage, STR("status"))))
                usage = value_with(u->arena, usage, STR("status"), &value_empty_object);
        usage = conditions_set(u->arena, usage, &ready, 1);
        if (value_equal(usage, u->usage))
                return 0;
        e = kind_run_update(u->r, usage, STR("status"), &u->usage, err);
        if (e < 0 && e != ERR_NOT_FOUND)
                return kind_run_retry_conflict(u->r, err, "cannot update status of usage");
        err_done(err);
        if (e == 0)
                TELL(u, false, "UsageConfigured", "Usage configured successfully.");
        return 0;
}

static int configure(struct usage_run *u, struct err *err)
{
        int e = prepare(u, err);

        if (e == 0 && !is_over(u))
                e = mark_used(u, err);
        if (e == 0 && !is_over(u))
                e = own(u, err);
        return e < 0 || is_over(u) ? e : report(u, err);
}

/* --- A usage that ends --- */

/* A usage that was composed together with its user protects until that is gone, so that a composite is deleted in order. */
static int await_user(struct usage_run *u, struct err *err)
{
        const struct value *by;
        struct object_key key;

        if (!meta_has_label(u->usage, COMPOSITE_LABEL) || !usage_by(u->usage, &key) || key.name.n == 0)
                return 0;
        if (find_object(u, &key, &by, err) < 0)
                return fail(u, "GetUsingResource", "cannot get using", err);
        if (!by)
                return 0;
        TELL(u, false, "WaitingUsingDeleted",
             "Waiting for the using resource (which is a \"%.*s\" named \"%.*s\") to be deleted.",
             STR_ARG(key.gvk.kind), STR_ARG(key.name));
        u->is_waiting = true;
        return 0;
}

static enum propagation attempted_policy(const struct value *used)
{
        struct str policy = meta_annotation(used, USAGE_DELETION_ATTEMPT);

        if (str_equal(policy, STR("Foreground")))
                return PROPAGATE_FOREGROUND;
        return str_equal(policy, STR("Orphan")) ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
}

/* Deletes the used object if that was refused before. It happens before the usage goes, so that a crash cannot lose it. A deletion
 * that the API refuses for another reason is told and given up. */
static int replay(struct usage_run *u, const struct object_key *key, const struct value *used, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE,
                                     .key = *key,
                                     .propagation = attempted_policy(used),
                                     .precondition_uid = meta_uid(used) };
        struct write_result result;
        int e;

        if (!value_bool(value_find(u->usage, "spec", "replayDeletion"), false) || meta_is_deleting(used) ||
            !meta_has_annotation(used, USAGE_DELETION_ATTEMPT))
                return 0;
        e = cluster_write(u->r->cluster, u->r->run, &req, &result, err);
        if (e == 0)
                return 0;
        if (e != ERR_NOT_FOUND)
                fail(u, "ReplayDeletion", "cannot replay deletion of used resource", err);
        if (e != ERR_NOT_FOUND && e != ERR_FORBIDDEN)
                return e;
        err_done(err);
        return 0;
}

/* The last usage of an object removes its label. */
static int release(struct usage_run *u, struct err *err)
{
        struct object_key key = usage_of(u->usage);
        const struct value *used;
        bool is_last;
        int e;

        if (key.name.n == 0)
                return 0;
        if (find_object(u, &key, &used, err) < 0)
                return fail(u, "GetUsedResource", "cannot get used", err);
        if (!used)
                return 0;
        if (protection_end(u->plane->protection, u->r->run, u->usage, &key, &is_last, err) < 0)
                return fail(u, "ListUsages", "cannot list usages", err);
        if (!is_last)
                return 0;
        e = meta_has_label(used, USAGE_IN_USE) ? label(u, &key, false, err) : 0;
        if (e < 0 && e != ERR_NOT_FOUND)
                return fail(u, "RemoveInUseLabel", "cannot remove in use label", err);
        err_done(err);
        return e < 0 ? 0 : replay(u, &key, used, err);
}

static int end(struct usage_run *u, struct err *err)
{
        int e;

        if (!meta_has_finalizer(u->usage, USAGE_FINALIZER))
                return 0;
        e = await_user(u, err);
        if (e == 0 && !is_over(u))
                e = release(u, err);
        if (e < 0 || is_over(u))
                return e;
        e = kind_run_update(u->r, meta_without_finalizer(u->arena, u->usage, USAGE_FINALIZER), STR(""), &u->usage, err);
        if (e < 0 && e != ERR_NOT_FOUND)
                return fail(u, "RemoveFinalizer", "cannot remove finalizer", err);
        err_done(err);
        return 0;
}

int usage_reconcile(struct kind_run *r, struct err *err)
{
        static const char *const components[] = {
                [USAGE_NAMESPACED] = "usage/usage.protection.crossplane.io",
                [USAGE_CLUSTER] = "usage/clusterusage.protection.crossplane.io",
                [USAGE_LEGACY] = "usage/usage.apiextensions.crossplane.io",
        };
        struct usage_run u = { .r = r, .plane = r->context, .arena = r->run->arena };
        int e = kind_run_get(r, &u.usage, err);

        if (e < 0)
                return err_wrap(err, "cannot get usage");
        if (!u.usage)
                return 0;
        u.component = str_from(components[usage_kind_of(u.usage)]);
        return meta_is_deleting(u.usage) ? end(&u, err) : configure(&u, err);
}
