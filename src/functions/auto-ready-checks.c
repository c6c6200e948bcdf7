/* The readiness rules of auto-ready for built-in kinds (docs/spec/functions 4.1). */
#include "auto-ready.h"

#include "timetext.h"

/* --- Reading --- */

static bool is_text(const struct value *v, const char *text)
{
        return value_is_string(v) && str_equal(value_str(v), str_from(text));
}

/* Converts float64 to int64 as Go does on amd64: toward zero, and to the smallest int64 when it does not fit. */
static int64_t to_int(const struct value *v)
{
        if (value_is_int(v))
                return v->integer;
        return v->number > -0x1p63 && v->number < 0x1p63 ? (int64_t)v->number : INT64_MIN;
}

/* Reads a required number. */
static bool read_int(const struct value *v, int64_t *ret)
{
        if (!value_is_number(v))
                return false;
        *ret = to_int(v);
        return true;
}

static int64_t int_or(const struct value *v, int64_t otherwise)
{
        return value_is_number(v) ? to_int(v) : otherwise;
}

/* As int_or, for an int32 of a checked type; wraps around as Go does. */
static int64_t int32_or(const struct value *v, int64_t otherwise)
{
        return (int32_t)int_or(v, otherwise);
}

static bool read_time(const struct value *v, struct instant *ret)
{
        return value_is_string(v) && time_parse_rfc3339(value_str(v), ret, NULL) >= 0;
}

static bool is_condition(const struct value *c, const char *type)
{
        return is_text(value_get(c, STR("type")), type) && is_text(value_get(c, STR("status")), "True");
}

static bool has_condition(const struct value *object, const char *type)
{
        VALUE_FOREACH_ITEM (c, value_find(object, "status", "conditions"))
                if (is_condition(c, type))
                        return true;
        return false;
}

static bool has_ingress(const struct value *object)
{
        const struct value *ingress = value_find(object, "status", "loadBalancer", "ingress");

        return value_is_array(ingress) && value_count(ingress) > 0;
}

/* --- The kinds --- */

static bool always(const struct value *o _unused_)
{
        return true;
}

static bool service(const struct value *o)
{
        return !is_text(value_find(o, "spec", "type"), "LoadBalancer") || has_ingress(o);
}

static bool persistent_volume_claim(const struct value *o)
{
        return is_text(value_find(o, "status", "phase"), "Bound");
}

static bool pod(const struct value *o)
{
        const struct value *phase = value_find(o, "status", "phase");

        if (is_text(phase, "Succeeded"))
                return true;
        return is_text(phase, "Running") && is_text(value_find(o, "spec", "restartPolicy"), "Always") &&
               has_condition(o, "Ready");
}

static bool deployment(const struct value *o)
{
        int64_t replicas = int_or(value_find(o, "spec", "replicas"), 1), updated, available;

        return read_int(value_find(o, "status", "updatedReplicas"), &updated) &&
               read_int(value_find(o, "status", "availableReplicas"), &available) && replicas == updated &&
               replicas == available && has_condition(o, "Available");
}

static bool stateful_set(const struct value *o)
{
        int64_t replicas = int_or(value_find(o, "spec", "replicas"), 1), ready, current;
        const struct value *revision = value_find(o, "status", "currentRevision");
        const struct value *update = value_find(o, "status", "updateRevision");

        return read_int(value_find(o, "status", "readyReplicas"), &ready) &&
               read_int(value_find(o, "status", "currentReplicas"), &current) && replicas == ready &&
               replicas == current && value_is_string(revision) && value_is_string(update) &&
               value_equal(revision, update);
}

static bool daemon_set(const struct value *o)
{
        int64_t desired, ready, updated, available;

        return read_int(value_find(o, "status", "desiredNumberScheduled"), &desired) &&
               read_int(value_find(o, "status", "numberReady"), &ready) &&
               read_int(value_find(o, "status", "updatedNumberScheduled"), &updated) &&
               read_int(value_find(o, "status", "numberAvailable"), &available) && desired == ready &&
               desired == updated && desired == available;
}

static bool replica_set(const struct value *o)
{
        int64_t observed = int_or(value_find(o, "status", "observedGeneration"), 0);
        int64_t generation = int_or(value_find(o, "metadata", "generation"), 0);

        return observed >= generation && !has_condition(o, "ReplicaFailure") &&
               int32_or(value_find(o, "status", "availableReplicas"), 0) >=
                       int32_or(value_find(o, "spec", "replicas"), 1);
}

/* The first of these conditions decides. */
static bool job(const struct value *o)
{
        VALUE_FOREACH_ITEM (c, value_find(o, "status", "conditions")) {
                if (is_condition(c, "Failed") || is_condition(c, "Suspended"))
                        return false;
                if (is_condition(c, "Complete"))
                        return true;
        }
        return false;
}

static bool cron_job(const struct value *o)
{
        struct instant scheduled, succeeded;

        if (value_bool(value_find(o, "spec", "suspend"), false))
                return true;
        if (!read_time(value_find(o, "status", "lastScheduleTime"), &scheduled))
                return false;
        if (value_count(value_find(o, "status", "active")) > 0)
                return true;
        if (!read_time(value_find(o, "status", "lastSuccessfulTime"), &succeeded))
                return false;
        return succeeded.seconds > scheduled.seconds ||
               (succeeded.seconds == scheduled.seconds && succeeded.nanos >= scheduled.nanos);
}

static bool horizontal_pod_autoscaler(const struct value *o)
{
        static const struct {
                const char *type;
                bool is_ready;
        } deciding[] = {
                { "FailedGetScale", false },  { "FailedUpdateScale", false }, { "FailedGetResourceMetric", false },
                { "InvalidSelector", false }, { "ScalingActive", true },      { "ScalingLimited", true },
        };

        VALUE_FOREACH_ITEM (c, value_find(o, "status", "conditions"))
                for (size_t i = 0; i < ARRAY_SIZE(deciding); i++)
                        if (is_condition(c, deciding[i].type))
                                return deciding[i].is_ready;
        return false;
}

/* --- The table --- */

static const struct check {
        const char *group;
        const char *version;
        const char *kind;
        enum auto_ready_type type;
        bool (*is_ready)(const struct value *object);
} checks[] = {
        { "", "v1", "ConfigMap", TYPE_NONE, always },
        { "", "v1", "Namespace", TYPE_NONE, always },
        { "", "v1", "PersistentVolumeClaim", TYPE_PERSISTENT_VOLUME_CLAIM, persistent_volume_claim },
        { "", "v1", "Pod", TYPE_POD, pod },
        { "", "v1", "Secret", TYPE_NONE, always },
        { "", "v1", "Service", TYPE_NONE, service },
        { "", "v1", "ServiceAccount", TYPE_NONE, always },
        { "apps", "v1", "DaemonSet", TYPE_NONE, daemon_set },
        { "apps", "v1", "Deployment", TYPE_NONE, deployment },
        { "apps", "v1", "ReplicaSet", TYPE_REPLICA_SET, replica_set },
        { "apps", "v1", "StatefulSet", TYPE_NONE, stateful_set },
        { "autoscaling", "v2", "HorizontalPodAutoscaler", TYPE_HORIZONTAL_POD_AUTOSCALER, horizontal_pod_autoscaler },
        { "batch", "v1", "CronJob", TYPE_CRON_JOB, cron_job },
        { "batch", "v1", "Job", TYPE_JOB, job },
        { "networking.k8s.io", "v1", "Ingress", TYPE_NONE, has_ingress },
};

bool auto_ready_check(struct arena *a, const struct value *observed)
{
        struct str version = value_str(value_get(observed, STR("apiVersion"))), group = STR("");
        const struct value *kind = value_get(observed, STR("kind"));

        if (str_find_char(version, '/') >= 0)
                str_split(&version, '/', &group);
        for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
                const struct check *c = &checks[i];

                if (is_text(kind, c->kind) && str_equal(group, str_from(c->group)) &&
                    str_equal(version, str_from(c->version)))
                        return auto_ready_fits_type(a, observed, c->type) && c->is_ready(observed);
        }
        return false;
}
