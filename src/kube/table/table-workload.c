/* The cells of workloads and of what scales them. */
#include "table-cells.h"

#include "buf.h"
#include "builtin.h"
#include "label-selector.h"

#define SHOWN_METRICS 2

struct value table_ready_replicas(const struct table_source *s)
{
        return table_printf(s, "%lld/%lld", (long long)value_int(table_get(s->object, "status.readyReplicas"), 0),
                            (long long)value_int(table_get(s->object, "spec.replicas"), 0));
}

/* As table_selector, with other words for none and for one that is wrong. */
struct value table_deployment_selector(const struct table_source *s)
{
        _cleanup_buf_ struct buf b = { 0 };
        struct label_selector selector;

        if (label_selector_from_value(s->arena, table_get(s->object, "spec.selector"), &selector, NULL) < 0)
                return value_of_literal("<invalid>");
        label_selector_append(&b, &selector);
        return value_of_str(buf_to_arena(&b, s->arena));
}

struct value table_controller_reference(const struct table_source *s)
{
        VALUE_FOREACH_ITEM (owner, table_get(s->object, "metadata.ownerReferences")) {
                struct gvk gvk = gvk_of(owner);
                struct str kind = kind_lower(s->arena, gvk.kind);

                if (value_bool(value_get(owner, STR("controller")), false))
                        return table_printf(s, "%.*s%s%.*s/%.*s", STR_ARG(kind), gvk.group.n > 0 ? "." : "",
                                            STR_ARG(gvk.group), STR_ARG(table_text(owner, "name")));
        }
        return value_of_literal("<none>");
}

/* --- Jobs --- */

struct value table_job_completions(const struct table_source *s)
{
        const struct value *wanted = table_get(s->object, "spec.completions");
        long long n = value_int(table_get(s->object, "status.succeeded"), 0);
        long long at_a_time = value_int(table_get(s->object, "spec.parallelism"), 0);

        if (value_is_number(wanted))
                return table_printf(s, "%lld/%lld", n, (long long)value_int(wanted, 0));
        if (at_a_time > 1)
                return table_printf(s, "%lld/1 of %lld", n, at_a_time);
        return table_printf(s, "%lld/1", n);
}

struct value table_job_duration(const struct table_source *s)
{
        const struct value *start = table_get(s->object, "status.startTime");
        const struct value *end = table_get(s->object, "status.completionTime");
        struct table_source until = *s;

        if (!value_is_string(start))
                return value_empty_string;
        if (value_is_string(end) && time_parse_rfc3339(value_str(end), &until.now, NULL) < 0)
                return value_of_literal("<invalid>");
        return value_of_str(table_since(&until, start));
}

struct value table_job_status(const struct table_source *s)
{
        static const struct {
                struct str condition, status; /* no condition: while the job is being deleted */
        } states[] = {
                { STR_INIT("Complete"), STR_INIT("Complete") },
                { STR_INIT("Failed"), STR_INIT("Failed") },
                { STR_INIT(""), STR_INIT("Terminating") },
                { STR_INIT("Suspended"), STR_INIT("Suspended") },
                { STR_INIT("FailureTarget"), STR_INIT("FailureTarget") },
                { STR_INIT("SuccessCriteriaMet"), STR_INIT("SuccessCriteriaMet") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
                struct str type = states[i].condition;

                if (type.n > 0 ? str_equal(table_condition(s->object, type), STR("True")) : meta_is_deleting(s->object))
                        return value_of_str(states[i].status);
        }
        return value_of_literal("Running");
}

struct value table_cron_suspended(const struct table_source *s)
{
        const struct value *v = table_get(s->object, "spec.suspend");

        if (!value_is_bool(v))
                return value_of_literal("<unset>");
        return value_of_str(v->boolean ? STR("True") : STR("False"));
}

struct value table_cron_last(const struct table_source *s)
{
        const struct value *v = table_get(s->object, "status.lastScheduleTime");

        return value_is_string(v) ? value_of_str(table_since(s, v)) : value_of_literal("<none>");
}

/* A number or a text such as `50%`. */
struct value table_pdb_value(const struct table_source *s)
{
        const struct value *v = value_find_dotted(s->object, s->path);

        if (value_is_number(v))
                return table_printf(s, "%lld", (long long)value_int(v, 0));
        return value_is_string(v) ? *v : value_of_literal("N/A");
}

/* --- Autoscalers --- */

struct value table_hpa_reference(const struct table_source *s)
{
        return table_printf(s, "%.*s/%.*s", STR_ARG(table_text(s->object, "spec.scaleTargetRef.kind")),
                            STR_ARG(table_text(s->object, "spec.scaleTargetRef.name")));
}

struct value table_hpa_min(const struct table_source *s)
{
        const struct value *v = table_get(s->object, "spec.minReplicas");

        return value_is_number(v) ? table_printf(s, "%lld", (long long)value_int(v, 0)) : value_of_literal("<unset>");
}

/* The sources of metrics, and how a target of each is shown. */
struct metric_source {
        struct str type, key;
        bool has_name;     /* `cpu: `, and a target in percent */
        bool is_average;   /* always an average */
        bool says_average; /* ` (avg)` behind an average */
};

static const struct metric_source metric_sources[] = {
        { STR_INIT("External"), STR_INIT("external"), .says_average = true },
        { STR_INIT("Object"), STR_INIT("object"), .says_average = true },
        { STR_INIT("Pods"), STR_INIT("pods"), .is_average = true },
        { STR_INIT("Resource"), STR_INIT("resource"), .has_name = true },
        { STR_INIT("ContainerResource"), STR_INIT("containerResource"), .has_name = true },
};

static struct str percent(struct arena *a, const struct value *v, struct str otherwise)
{
        return value_is_number(v) ? arena_printf(a, "%lld%%", (long long)value_int(v, 0)) : otherwise;
}

static struct str metric_text(struct arena *a, const struct metric_source *source, const struct value *spec,
                              const struct value *status)
{
        const struct value *target = value_get(spec, STR("target")), *current = value_get(status, STR("current"));
        const struct value *average = value_get(target, STR("averageValue"));
        struct str name = STR(""), now = STR("<unknown>"), wanted, suffix = STR("");
        struct str key = average || source->is_average ? STR("averageValue") : STR("value");

        if (source->has_name)
                name = ARENA_CONCAT(a, value_str(value_get(spec, STR("name"))), STR(": "));
        if (source->has_name && !average) {
                now = percent(a, value_get(current, STR("averageUtilization")), now);
                wanted = percent(a, value_get(target, STR("averageUtilization")), STR("<auto>"));
        } else {
                bool must_have = average && source->says_average;

                if (value_is_object(status) && (!must_have || value_get(current, key)))
                        now = table_quantity(a, value_get(current, key));
                wanted = table_quantity(a, value_get(target, key));
                if (must_have)
                        suffix = STR(" (avg)");
        }
        return ARENA_CONCAT(a, name, now, STR("/"), wanted, suffix);
}

static struct str one_metric(struct arena *a, const struct value *spec, const struct value *status)
{
        struct str type = value_str(value_get(spec, STR("type")));

        for (size_t i = 0; i < ARRAY_SIZE(metric_sources); i++) {
                const struct metric_source *source = &metric_sources[i];

                if (str_equal(source->type, type))
                        return metric_text(a, source, value_get(spec, source->key), value_get(status, source->key));
        }
        return STR("<unknown type>");
}

struct value table_hpa_metrics(const struct table_source *s)
{
        const struct value *object = autoscaler_in_v2(s->arena, s->object);
        const struct value *specs = table_get(object, "spec.metrics");
        const struct value *statuses = table_get(object, "status.currentMetrics");
        struct str texts[SHOWN_METRICS], joined;
        size_t n = 0, count = value_count(specs);

        if (count == 0)
                return value_of_literal("<none>");
        for (size_t i = 0; i < MIN(count, (size_t)SHOWN_METRICS); i++)
                texts[n++] = one_metric(s->arena, value_item(specs, i), value_item(statuses, i));
        joined = table_join(s->arena, texts, n, STR(", "));
        if (count > SHOWN_METRICS)
                return table_printf(s, "%.*s + %zu more...", STR_ARG(joined), count - SHOWN_METRICS);
        return value_of_str(joined);
}
