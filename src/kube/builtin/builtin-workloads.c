/* Pods and Jobs as data: what the API itself fills in. No kubelet and no controller works on them (docs/spec/apiserver 6.1). */
#include "builtin-strategies.h"

#include "buf.h"
#include "number.h"
#include "quantity.h"

static struct value text(const char *s)
{
        return value_of_str(str_from(s));
}

static const struct value *object_at(const struct value *v, const char *key)
{
        const struct value *found = value_get(v, str_from(key));

        return value_is_object(found) ? found : &value_empty_object;
}

/* --- Pods --- */

/* How a container's limits and requests of cpu and memory relate. */
struct resources {
        bool has_any;       /* of all containers so far */
        bool is_guaranteed; /* every container limits both, and requests as much */
};

static bool is_same_quantity(struct arena *a, const struct value *x, const struct value *y)
{
        struct quantity p, q;

        return quantity_parse(a, value_str(x), &p, NULL) == 0 && quantity_parse(a, value_str(y), &q, NULL) == 0 &&
               quantity_compare(&p, &q) == 0;
}

static void add_container(struct arena *a, const struct value *container, struct resources *r)
{
        static const char *const names[] = { "cpu", "memory" };
        const struct value *limits = value_find(container, "resources", "limits");
        const struct value *requests = value_find(container, "resources", "requests");

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                const struct value *limit = value_get(limits, str_from(names[i]));
                const struct value *request = value_get(requests, str_from(names[i]));

                r->has_any |= limit || request;
                if (!limit || !request || !is_same_quantity(a, limit, request))
                        r->is_guaranteed = false;
        }
}

static const char *quality_of_service(struct arena *a, const struct value *spec)
{
        static const char *const lists[] = { "containers", "initContainers" };
        struct resources r = { .is_guaranteed = true };

        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                VALUE_FOREACH_ITEM (container, value_get(spec, str_from(lists[i])))
                        add_container(a, container, &r);
        return !r.has_any ? "BestEffort" : r.is_guaranteed ? "Guaranteed" : "Burstable";
}

static const struct value *prepare_pod(struct arena *a, const struct write_request *req _unused_,
                                       const struct value *old, const struct value *object)
{
        struct member members[2];
        struct value status;

        if (old)
                return object;
        members[0] = (struct member) { STR("phase"), text("Pending") };
        members[1] = (struct member) { STR("qosClass"), text(quality_of_service(a, value_get(object, STR("spec")))) };
        status = value_of_members(a, members, 2, true);
        return value_with(a, object, STR("status"), &status);
}

const struct kind_strategy pod_strategy = { .prepare = prepare_pod };

/* --- Jobs --- */

/* Labels that tell a Job's Pods from others, and the selector of the one with its uid. */
static const struct value *with_own_selector(struct arena *a, const struct value *object)
{
        static const char *const names[] = { "controller-uid", "job-name" };
        struct value contents[] = { value_of_str(meta_uid(object)), value_of_str(meta_name(object)) };
        const struct value *spec = object_at(object, "spec"), *tmpl = object_at(spec, "template");
        const struct value *metadata = object_at(tmpl, "metadata"), *labels = object_at(metadata, "labels");
        const struct value *selector = object_at(spec, "selector"), *matched = object_at(selector, "matchLabels");

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct str name = str_from(names[i]);

                labels = value_with(a, labels, name, &contents[i]);
                labels =
                        value_with(a, labels, arena_printf(a, "batch.kubernetes.io/%.*s", STR_ARG(name)), &contents[i]);
        }
        matched = value_with(a, matched, STR("batch.kubernetes.io/controller-uid"), &contents[0]);
        selector = value_with(a, selector, STR("matchLabels"), matched);
        tmpl = value_with(a, tmpl, STR("metadata"), value_with(a, metadata, STR("labels"), labels));
        spec = value_with(a, value_with(a, spec, STR("selector"), selector), STR("template"), tmpl);
        return value_with(a, object, STR("spec"), spec);
}

static const struct value *prepare_job(struct arena *a, const struct write_request *req _unused_,
                                       const struct value *old, const struct value *object)
{
        const struct value *metadata = object_at(object, "metadata");

        if (old || value_bool(value_find(object, "spec", "manualSelector"), false))
                return object;
        object = with_own_selector(a, object);
        if (value_count(value_get(metadata, STR("labels"))))
                return object;
        /* A Job without labels has those of its Pods. */
        metadata = value_with(a, metadata, STR("labels"), value_find(object, "spec", "template", "metadata", "labels"));
        return value_with(a, object, STR("metadata"), metadata);
}

const struct kind_strategy job_strategy = { .prepare = prepare_job };

/* --- Kinds with replicas --- */

static void validate_workload(struct arena *a _unused_, const struct write_request *req _unused_,
                              const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                              struct str_list *warnings _unused_)
{
        const struct value *replicas = value_find(object, "spec", "replicas");

        if (value_int(replicas, 0) < 0)
                field_error_add(errors, FIELD_INVALID, STR("spec.replicas"), replicas,
                                "must be greater than or equal to 0");
}

const struct kind_strategy workload_strategy = { .validate = validate_workload };

/* --- DaemonSets --- */

#define TEMPLATE_GENERATION STR("deprecated.daemonset.template.generation")

static const struct value *with_template_generation(struct arena *a, const struct value *object, uint64_t number)
{
        struct value v = value_of_str(arena_printf(a, "%llu", (unsigned long long)number));
        const struct value *metadata = object_at(object, "metadata"), *annotations = object_at(metadata, "annotations");

        annotations = value_with(a, annotations, TEMPLATE_GENERATION, &v);
        return value_with(a, object, STR("metadata"), value_with(a, metadata, STR("annotations"), annotations));
}

/* A field that is gone from the API lives on as an annotation. */
static const struct value *complete_daemon_set(struct arena *a, const struct value *object)
{
        return meta_annotation(object, TEMPLATE_GENERATION).n ? object : with_template_generation(a, object, 0);
}

static const struct value *prepare_daemon_set(struct arena *a, const struct write_request *req _unused_,
                                              const struct value *old, const struct value *object)
{
        const struct value *before = value_find(old, "spec", "template"), *now = value_find(object, "spec", "template");
        uint64_t number = 0;

        if (old && number_parse_uint(meta_annotation(old, TEMPLATE_GENERATION), &number, NULL) < 0)
                number = 0;
        return with_template_generation(a, object, number + (!before || !now || !value_equal(before, now)));
}

const struct kind_strategy daemon_set_strategy = { .complete = complete_daemon_set, .prepare = prepare_daemon_set };

/* --- PersistentVolumes --- */

/* The time at which the phase became what it is. */
static const struct value *prepare_persistent_volume(struct arena *a, const struct write_request *req _unused_,
                                                     const struct value *old, const struct value *object)
{
        const struct value *status = object_at(object, "status");
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value now;

        if (old && str_equal(value_str(value_get(status, STR("phase"))), value_str(value_find(old, "status", "phase"))))
                return object;
        time_append_rfc3339(&b, clock_wall(), 0);
        now = value_of_str(buf_to_arena(&b, a));
        status = value_with(a, status, STR("lastPhaseTransitionTime"), &now);
        return value_with(a, object, STR("status"), status);
}

const struct kind_strategy persistent_volume_strategy = { .prepare = prepare_persistent_volume };
