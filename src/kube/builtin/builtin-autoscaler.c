/* HorizontalPodAutoscalers in autoscaling/v1 and v2 (docs/spec/apiserver 6.3). They are stored as v2. v1 has fields for one metric, the
 * utilization of the CPU; whatever else v2 says is text in annotations of v1, so that nothing is lost on the way through it. */
#include "builtin-strategies.h"

#include "builtin-typed.h"
#include "builtin.h"
#include "json.h"

/* --- Metrics: those of v1 are flat --- */

/* A field of a metric's source in both versions, in the order of v1. */
struct metric_field {
        const char *source;   /* `pods` */
        const char *flat;     /* in v1 */
        const char *nested;   /* in v2 */
        bool is_always_there; /* v1 has a 0 if v2 has none */
};

static const struct metric_field target_fields[] = {
        { "object", "target", "describedObject" },
        { "object", "metricName", "metric.name" },
        { "object", "targetValue", "target.value", true },
        { "object", "selector", "metric.selector" },
        { "object", "averageValue", "target.averageValue" },
        { "pods", "metricName", "metric.name" },
        { "pods", "targetAverageValue", "target.averageValue", true },
        { "pods", "selector", "metric.selector" },
        { "resource", "name", "name" },
        { "resource", "targetAverageUtilization", "target.averageUtilization" },
        { "resource", "targetAverageValue", "target.averageValue" },
        { "containerResource", "name", "name" },
        { "containerResource", "targetAverageUtilization", "target.averageUtilization" },
        { "containerResource", "targetAverageValue", "target.averageValue" },
        { "containerResource", "container", "container" },
        { "external", "metricName", "metric.name" },
        { "external", "metricSelector", "metric.selector" },
        { "external", "targetValue", "target.value" },
        { "external", "targetAverageValue", "target.averageValue" },
        { NULL },
};

static const struct metric_field current_fields[] = {
        { "object", "target", "describedObject" },
        { "object", "metricName", "metric.name" },
        { "object", "currentValue", "current.value", true },
        { "object", "selector", "metric.selector" },
        { "object", "averageValue", "current.averageValue" },
        { "pods", "metricName", "metric.name" },
        { "pods", "currentAverageValue", "current.averageValue", true },
        { "pods", "selector", "metric.selector" },
        { "resource", "name", "name" },
        { "resource", "currentAverageUtilization", "current.averageUtilization" },
        { "resource", "currentAverageValue", "current.averageValue", true },
        { "containerResource", "name", "name" },
        { "containerResource", "currentAverageUtilization", "current.averageUtilization" },
        { "containerResource", "currentAverageValue", "current.averageValue", true },
        { "containerResource", "container", "container" },
        { "external", "metricName", "metric.name" },
        { "external", "metricSelector", "metric.selector" },
        { "external", "currentValue", "current.value", true },
        { "external", "currentAverageValue", "current.averageValue" },
        { NULL },
};

static struct value flat_source(struct arena *a, const struct metric_field *fields, struct str source,
                                const struct value *nested)
{
        struct object_builder b;

        object_builder_init(&b, a, 5);
        for (const struct metric_field *f = fields; f->source; f++) {
                const struct value *v = value_find_dotted(nested, str_from(f->nested));

                if (str_equal(source, str_from(f->source)) && (v || f->is_always_there))
                        object_builder_add(&b, str_from(f->flat), v ? *v : value_of_literal("0"));
        }
        return object_builder_finish(&b);
}

static const struct value *with_nested(struct arena *a, const struct value *object, struct str path,
                                       const struct value *v)
{
        const struct value *child;
        struct str key;

        if (!str_split(&path, '.', &key))
                return value_with(a, object, key, v);
        child = value_get(object, key);
        return value_with(a, object, key, value_with(a, child ? child : &value_empty_object, path, v));
}

static struct value nested_source(struct arena *a, const struct metric_field *fields, struct str source,
                                  const struct value *flat)
{
        const struct value *nested = &value_empty_object;

        for (const struct metric_field *f = fields; f->source; f++) {
                const struct value *v = value_get(flat, str_from(f->flat));

                if (str_equal(source, str_from(f->source)) && v)
                        nested = with_nested(a, nested, str_from(f->nested), v);
        }
        return *nested;
}

typedef struct value convert_source_fn(struct arena *a, const struct metric_field *fields, struct str source,
                                       const struct value *v);

static struct value convert_metric(struct arena *a, const struct metric_field *fields, const struct value *metric,
                                   convert_source_fn *convert)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(metric));
        VALUE_FOREACH_MEMBER (m, metric)
                if (!value_is_object(&m->value))
                        object_builder_add(&b, m->key, m->value);
        VALUE_FOREACH_MEMBER (m, metric)
                if (value_is_object(&m->value))
                        object_builder_add(&b, m->key, convert(a, fields, m->key, &m->value));
        return object_builder_finish(&b);
}

static const struct value *convert_metrics(struct arena *a, const struct metric_field *fields,
                                           const struct value *metrics, convert_source_fn *convert)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(metrics));
        VALUE_FOREACH_ITEM (metric, metrics)
                array_builder_add(&b, value_is_object(metric) ? convert_metric(a, fields, metric, convert) : *metric);
        return value_put(a, array_builder_finish(&b));
}

static bool is_cpu(const struct value *metric, const char *values)
{
        const struct value *resource = value_get(metric, STR("resource"));

        return str_equal(value_str(value_get(metric, STR("type"))), STR("Resource")) &&
               str_equal(value_str(value_get(resource, STR("name"))), STR("cpu")) &&
               value_find(resource, values, "averageUtilization");
}

/* The utilization that v1 has a field for: that of the first such metric. NULL: none. */
static const struct value *cpu_utilization(const struct value *metrics, const char *values)
{
        VALUE_FOREACH_ITEM (metric, metrics)
                if (is_cpu(metric, values))
                        return value_find(metric, "resource", values, "averageUtilization");
        return NULL;
}

static const struct value *without_cpu(struct arena *a, const struct value *metrics)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(metrics));
        VALUE_FOREACH_ITEM (metric, metrics)
                if (!is_cpu(metric, "target"))
                        array_builder_add(&b, *metric);
        return value_put(a, array_builder_finish(&b));
}

static struct value cpu_metric(struct arena *a, const char *values, const struct value *utilization, bool has_type)
{
        struct member amount[] = {
                { STR("averageUtilization"), *utilization },
                { STR("type"), value_of_literal("Utilization") },
        };
        struct member resource[] = {
                { STR("name"), value_of_literal("cpu") },
                { str_from(values), value_of_members(a, amount, has_type ? 2 : 1, true) },
        };
        struct member metric[] = {
                { STR("resource"), value_of_members(a, resource, 2, true) },
                { STR("type"), value_of_literal("Resource") },
        };

        return value_of_members(a, metric, 2, true);
}

/* v1 does not say how a target is meant; its fields do. */
static const char *target_type(struct str source, const struct value *target)
{
        const struct value *value = value_get(target, STR("value")), *average = value_get(target, STR("averageValue"));

        if (value_get(target, STR("averageUtilization")))
                return "Utilization";
        return value && !(average && str_equal(source, STR("object"))) ? "Value" : "AverageValue";
}

static const struct value *with_target_types(struct arena *a, const struct value *metrics)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(metrics));
        VALUE_FOREACH_ITEM (metric, metrics) {
                const struct value *typed = metric;

                VALUE_FOREACH_MEMBER (m, metric) {
                        const struct value *target = value_get(&m->value, STR("target"));
                        struct value type = value_of_str(str_from(target_type(m->key, target)));

                        if (!value_is_object(&m->value))
                                continue;
                        if (value_get(target, STR("averageValue")) &&
                            str_equal(value_str(value_get(target, STR("value"))), STR("0")))
                                target = value_without(a, target, STR("value"));
                        target = value_with(a, target ? target : &value_empty_object, STR("type"), &type);
                        typed = value_with(a, typed, m->key, value_with(a, &m->value, STR("target"), target));
                }
                array_builder_add(&b, *typed);
        }
        return value_put(a, array_builder_finish(&b));
}

/* --- Behaviour: its text has the names of Go's fields --- */

static struct value go_fields(struct arena *a, const struct value *object, const char *const *names, size_t n)
{
        struct object_builder b;

        object_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++) {
                struct str name = arena_copy(a, str_from(names[i]));
                const struct value *v;

                ((char *)name.p)[0] |= 0x20;
                v = value_get(object, name);
                object_builder_add(&b, str_from(names[i]), v ? *v : value_null);
        }
        return object_builder_finish(&b);
}

static struct value go_rules(struct arena *a, const struct value *rules)
{
        static const char *const names[] = { "StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance" };
        static const char *const policy_names[] = { "Type", "Value", "PeriodSeconds" };
        const struct value *policies = value_get(rules, STR("policies"));
        struct value v = go_fields(a, rules, names, ARRAY_SIZE(names)), list;
        struct array_builder b;

        if (!value_is_object(rules))
                return value_null;
        if (!policies)
                return v;
        array_builder_init(&b, a, value_count(policies));
        VALUE_FOREACH_ITEM (p, policies)
                array_builder_add(&b, go_fields(a, p, policy_names, ARRAY_SIZE(policy_names)));
        list = array_builder_finish(&b);
        return *value_with(a, &v, STR("Policies"), &list);
}

static const struct value *go_behavior(struct arena *a, const struct value *behavior)
{
        struct member members[] = {
                { STR("ScaleUp"), go_rules(a, value_get(behavior, STR("scaleUp"))) },
                { STR("ScaleDown"), go_rules(a, value_get(behavior, STR("scaleDown"))) },
        };

        return value_put(a, value_of_members(a, members, ARRAY_SIZE(members), false));
}

/* The value with the first letter of all names in lower case, without nulls. */
static const struct value *json_names(struct arena *a, const struct value *v)
{
        struct array_builder list;
        struct object_builder b;

        if (value_is_array(v)) {
                array_builder_init(&list, a, value_count(v));
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&list, *json_names(a, item));
                return value_put(a, array_builder_finish(&list));
        }
        if (!value_is_object(v))
                return v;
        object_builder_init(&b, a, value_count(v));
        VALUE_FOREACH_MEMBER (m, v) {
                struct str name = arena_copy(a, m->key);

                if (value_is_null(&m->value))
                        continue;
                if (name.n && name.p[0] >= 'A' && name.p[0] <= 'Z')
                        ((char *)name.p)[0] |= 0x20;
                object_builder_set(&b, name, *json_names(a, &m->value));
        }
        return value_put(a, object_builder_finish(&b));
}

/* --- Annotations --- */

/* The fields of v2 that v1 has as texts in annotations: the annotation in v1, and the place in v2. */
enum kept {
        KEPT_METRICS,
        KEPT_CURRENT_METRICS,
        KEPT_CONDITIONS,
        KEPT_BEHAVIOR,
        _KEPT_COUNT,
};

static const struct {
        struct str annotation;
        struct str part, field;
} kept[_KEPT_COUNT] = {
        [KEPT_METRICS] = { STR_INIT("autoscaling.alpha.kubernetes.io/metrics"), STR_INIT("spec"), STR_INIT("metrics") },
        [KEPT_CURRENT_METRICS] = { STR_INIT("autoscaling.alpha.kubernetes.io/current-metrics"), STR_INIT("status"),
                                   STR_INIT("currentMetrics") },
        [KEPT_CONDITIONS] = { STR_INIT("autoscaling.alpha.kubernetes.io/conditions"), STR_INIT("status"),
                              STR_INIT("conditions") },
        [KEPT_BEHAVIOR] = { STR_INIT("autoscaling.alpha.kubernetes.io/behavior"), STR_INIT("spec"),
                            STR_INIT("behavior") },
};

static const struct value *part_field(const struct value *object, enum kept what)
{
        return value_get(value_get(object, kept[what].part), kept[what].field);
}

static const struct value *with_part_field(struct arena *a, const struct value *object, struct str part,
                                           struct str field, const struct value *v)
{
        const struct value *old = value_get(object, part);

        if (!v && !old)
                return object;
        if (!old)
                old = &value_empty_object;
        return value_with(a, object, part, v ? value_with(a, old, field, v) : value_without(a, old, field));
}

static const struct value *without_annotations(struct arena *a, const struct value *object)
{
        const struct value *annotations = value_get(meta(object), STR("annotations"));

        if (!annotations)
                return object;
        for (size_t i = 0; i < _KEPT_COUNT; i++)
                annotations = value_without(a, annotations, kept[i].annotation);
        return meta_with(a, object, STR("annotations"), value_count(annotations) ? annotations : NULL);
}

/* The conditions with their fields in the order of Go's type. */
static const struct value *ordered_conditions(struct arena *a, const struct value *conditions)
{
        static const struct str names[] = { STR_INIT("type"), STR_INIT("status"), STR_INIT("lastTransitionTime"),
                                            STR_INIT("reason"), STR_INIT("message") };
        struct array_builder list;

        array_builder_init(&list, a, value_count(conditions));
        VALUE_FOREACH_ITEM (c, conditions) {
                struct object_builder b;

                object_builder_init(&b, a, ARRAY_SIZE(names));
                for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                        if (value_get(c, names[i]))
                                object_builder_add(&b, names[i], *value_get(c, names[i]));
                array_builder_add(&list, object_builder_finish(&b));
        }
        return value_put(a, array_builder_finish(&list));
}

/* The value as v1 writes it; NULL: nothing to write. */
static const struct value *kept_form(struct arena *a, const struct value *object, enum kept what)
{
        const struct value *v = part_field(object, what);

        switch (what) {
        case KEPT_METRICS:
                v = v ? without_cpu(a, v) : NULL;
                return value_count(v) ? convert_metrics(a, target_fields, v, flat_source) : NULL;
        case KEPT_CURRENT_METRICS:
                return value_count(v) ? convert_metrics(a, current_fields, v, flat_source) : NULL;
        case KEPT_CONDITIONS:
                return value_count(v) ? ordered_conditions(a, v) : NULL;
        case KEPT_BEHAVIOR:
                return value_is_object(v) ? go_behavior(a, v) : NULL;
        case _KEPT_COUNT:
                break;
        }
        return NULL;
}

static int to_v1(struct arena *a, const struct value *object, const struct value **ret, struct err *err)
{
        const struct value *target = cpu_utilization(part_field(object, KEPT_METRICS), "target");
        const struct value *current = cpu_utilization(part_field(object, KEPT_CURRENT_METRICS), "current");
        const struct value *v1 = without_annotations(a, object);

        for (enum kept i = 0; i < _KEPT_COUNT; i++) {
                const struct value *form = kept_form(a, object, i);
                struct str text;
                int r = form ? json_to_str(a, form, JSON_ESCAPE_HTML, &text, err) : 0;

                if (r < 0)
                        return r;
                if (form)
                        v1 = meta_with_annotation(a, v1, kept[i].annotation, text);
                v1 = with_part_field(a, v1, kept[i].part, kept[i].field, NULL);
        }
        if (target)
                v1 = with_part_field(a, v1, STR("spec"), STR("targetCPUUtilizationPercentage"), target);
        if (current)
                v1 = with_part_field(a, v1, STR("status"), STR("currentCPUUtilizationPercentage"), current);
        *ret = v1;
        return 0;
}

/* The value of an annotation as v2 has it; NULL if the text cannot be read. */
static const struct value *restored_form(struct arena *a, struct str text, enum kept what)
{
        const struct value *v;

        if (json_parse(a, text, NULL, &v, NULL) < 0 || value_is_null(v))
                return NULL;
        switch (what) {
        case KEPT_METRICS:
                return value_is_array(v) ? with_target_types(a, convert_metrics(a, target_fields, v, nested_source))
                                         : NULL;
        case KEPT_CURRENT_METRICS:
                return value_is_array(v) ? convert_metrics(a, current_fields, v, nested_source) : NULL;
        case KEPT_CONDITIONS:
                return v;
        case KEPT_BEHAVIOR:
                return json_names(a, v);
        case _KEPT_COUNT:
                break;
        }
        return NULL;
}

static bool is_typed(struct arena *a, const struct value *v2)
{
        static const struct gvk gvk = { STR_INIT("autoscaling"), STR_INIT("v2"), STR_INIT("HorizontalPodAutoscaler") };
        const struct value *typed;

        return builtin_type_plain(a, builtin_kind_of(gvk)->type, v2, &typed, NULL) == 0;
}

/* v1's own metric comes behind the others. */
static const struct value *with_cpu(struct arena *a, const struct value *v2, struct str v1_field, enum kept what,
                                    const char *values, bool has_type)
{
        const struct value *utilization = value_get(value_get(v2, kept[what].part), v1_field);
        const struct value *metrics = part_field(v2, what);
        struct value metric;

        if (!utilization)
                return v2;
        metric = cpu_metric(a, values, utilization, has_type);
        metrics = value_with_appended(a, metrics ? metrics : &value_empty_array, &metric);
        v2 = with_part_field(a, v2, kept[what].part, v1_field, NULL);
        return with_part_field(a, v2, kept[what].part, kept[what].field, metrics);
}

/* An annotation that cannot be read, or does not fit, is dropped: anybody may write annotations. */
static int to_v2(struct arena *a, const struct value *object, const struct value **ret, struct err *err _unused_)
{
        const struct value *v2 = without_annotations(a, object);

        for (enum kept i = 0; i < _KEPT_COUNT; i++) {
                struct str text = meta_annotation(object, kept[i].annotation);
                const struct value *form = text.n ? restored_form(a, text, i) : NULL, *with;

                if (!form)
                        continue;
                with = with_part_field(a, v2, kept[i].part, kept[i].field, form);
                if (is_typed(a, with))
                        v2 = with;
        }
        v2 = with_cpu(a, v2, STR("targetCPUUtilizationPercentage"), KEPT_METRICS, "target", true);
        if (value_count(part_field(v2, KEPT_CURRENT_METRICS)) == 0)
                v2 = with_cpu(a, v2, STR("currentCPUUtilizationPercentage"), KEPT_CURRENT_METRICS, "current", false);
        *ret = with_part_field(a, v2, STR("status"), STR("currentCPUUtilizationPercentage"), NULL);
        return 0;
}

static const struct convert_step to_v1_steps[] = { { .operation = CONVERT_CALL, .fn = to_v1 } };
static const struct convert_step to_v2_steps[] = { { .operation = CONVERT_CALL, .fn = to_v2 } };

const struct conversion autoscaler_conversions[2] = {
        { "v2", "v1", to_v1_steps, ARRAY_SIZE(to_v1_steps) },
        { "v1", "v2", to_v2_steps, ARRAY_SIZE(to_v2_steps) },
};

const struct value *autoscaler_in_v2(struct arena *a, const struct value *object)
{
        /* The conversion to v2 cannot fail. */
        convert_object(a, autoscaler_conversions, ARRAY_SIZE(autoscaler_conversions), object, STR("autoscaling/v2"),
                       &object, NULL);
        return object;
}
