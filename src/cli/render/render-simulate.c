#include "render-simulate.h"

#include "condition.h"
#include "json.h"
#include "render-print.h"

#define TIME     "\"2024-01-01T00:00:00Z\""
#define REPLICAS "\"@replicas\"" /* placeholder for the number of replicas in the resource's spec */
#define INGRESS  "{\"loadBalancer\":{\"ingress\":[{\"ip\":\"192.0.2.1\"}]}}"

#define CONDITION(type, reason) \
        "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"" reason "\",\"lastTransitionTime\":" TIME "}"

/* Kinds that report readiness without the condition Ready, with the status that function-auto-ready checks (docs/spec/functions
 * 4.1). */
static const struct {
        const char *group;
        const char *kind;
        const char *field; /* field of the spec that must equal `text` for this entry; NULL: always matches */
        const char *text;
        const char *status;
} kinds[] = {
        { "", "ConfigMap", NULL, NULL, "{}" },
        { "", "Secret", NULL, NULL, "{}" },
        { "", "ServiceAccount", NULL, NULL, "{}" },
        { "", "Namespace", NULL, NULL, "{\"phase\":\"Active\"}" },
        { "", "Service", "type", "LoadBalancer", INGRESS },
        { "", "Service", NULL, NULL, "{\"loadBalancer\":{}}" },
        { "", "PersistentVolumeClaim", NULL, NULL, "{\"phase\":\"Bound\"}" },
        { "", "Pod", "restartPolicy", "Never", "{\"phase\":\"Succeeded\"}" },
        { "", "Pod", "restartPolicy", "OnFailure", "{\"phase\":\"Succeeded\"}" },
        { "", "Pod", NULL, NULL, "{\"phase\":\"Running\",\"conditions\":[" CONDITION("Ready", "PodReady") "]}" },
        { "apps", "Deployment", NULL, NULL,
          "{\"replicas\":" REPLICAS ",\"updatedReplicas\":" REPLICAS ",\"readyReplicas\":" REPLICAS
          ",\"availableReplicas\":" REPLICAS
          ",\"conditions\":[" CONDITION("Available", "MinimumReplicasAvailable") "," CONDITION(
                  "Progressing", "NewReplicaSetAvailable") "]}" },
        { "apps", "ReplicaSet", NULL, NULL,
          "{\"replicas\":" REPLICAS ",\"readyReplicas\":" REPLICAS ",\"availableReplicas\":" REPLICAS "}" },
        { "apps", "StatefulSet", NULL, NULL,
          "{\"replicas\":" REPLICAS ",\"readyReplicas\":" REPLICAS ",\"currentReplicas\":" REPLICAS
          ",\"updatedReplicas\":" REPLICAS ",\"availableReplicas\":" REPLICAS
          ",\"currentRevision\":\"simulated\",\"updateRevision\":\"simulated\"}" },
        { "apps", "DaemonSet", NULL, NULL,
          "{\"desiredNumberScheduled\":1,\"currentNumberScheduled\":1,\"numberReady\":1,\"updatedNumberScheduled\":1,"
          "\"numberAvailable\":1,\"numberMisscheduled\":0}" },
        { "batch", "Job", NULL, NULL,
          "{\"succeeded\":1,\"startTime\":" TIME ",\"completionTime\":" TIME
          ",\"conditions\":[" CONDITION("Complete", "CompletionsReached") "]}" },
        { "batch", "CronJob", NULL, NULL, "{\"lastScheduleTime\":" TIME ",\"lastSuccessfulTime\":" TIME "}" },
        { "autoscaling", "HorizontalPodAutoscaler", NULL, NULL,
          "{\"currentReplicas\":1,\"desiredReplicas\":1,\"conditions\":[" CONDITION(
                  "AbleToScale", "ReadyForNewScale") "," CONDITION("ScalingActive", "ValidMetricFound") "]}" },
        { "networking.k8s.io", "Ingress", NULL, NULL, INGRESS },
};

static const char other_status[] =
        "{\"conditions\":[" CONDITION("Synced", "ReconcileSuccess") "," CONDITION("Ready", "Available") "]}";

static const char *status_of(const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec"));
        struct gvk gvk = gvk_of(object);

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (str_equal(gvk.group, str_from(kinds[i].group)) && str_equal(gvk.kind, str_from(kinds[i].kind)) &&
                    (!kinds[i].field ||
                     str_equal(value_str(value_get(spec, str_from(kinds[i].field))), str_from(kinds[i].text))))
                        return kinds[i].status;
        return other_status;
}

/* The template with the number of replicas in it, and without its conditions. */
static const struct value *fill_in(struct arena *a, const struct value *tmpl, int64_t replicas)
{
        struct object_builder b;

        object_builder_init(&b, a, value_count(tmpl));
        VALUE_FOREACH_MEMBER (m, tmpl) {
                if (str_equal(value_str(&m->value), STR("@replicas")))
                        object_builder_add(&b, m->key, value_of_int(replicas));
                else if (!str_equal(m->key, STR("conditions")))
                        object_builder_add(&b, m->key, m->value);
        }
        return value_put(a, object_builder_finish(&b));
}

static const struct value *with_conditions(struct arena *a, const struct value *object, const struct value *conditions)
{
        VALUE_FOREACH_ITEM (item, conditions) {
                struct condition c = condition_of(item);

                object = conditions_set(a, object, &c, 1);
        }
        return object;
}

const struct value *render_simulate(struct arena *a, const struct value *applied, const struct value *before)
{
        const struct value *object = before ? render_merge(a, before, applied) : applied, *tmpl, *status;
        int64_t replicas = value_int(value_find(object, "spec", "replicas"), 1);
        int r = json_parse(a, str_from(status_of(object)), NULL, &tmpl, NULL);

        assert(r >= 0);
        status = fill_in(a, tmpl, replicas);
        if (value_count(status) > 0)
                object = value_with(a, object, STR("status"),
                                    render_merge(a, value_get(object, STR("status")) ?: &value_empty_object, status));
        object = with_conditions(a, object, value_get(tmpl, STR("conditions")));
        return render_with_identity(a, object);
}
