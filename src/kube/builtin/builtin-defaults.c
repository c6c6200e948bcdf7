/* Defaults that Go's code gives to the built-in kinds. Those of the first table are values of single fields, and hold wherever the
 * struct appears; the functions below have those that depend on other fields. The defaults that OpenAPI documents name stand in
 * builtin.txt. */
#include "builtin-typed.h"

#include "json.h"
#include "regex.h"

#include <pthread.h>

/* By type. */
static const struct {
        const char *type, *field, *json;
} defaults[] = {
        { "admissionregistration/v1.MatchResources", "matchPolicy", "\"Equivalent\"" },
        { "admissionregistration/v1.MatchResources", "namespaceSelector", "{}" },
        { "admissionregistration/v1.MatchResources", "objectSelector", "{}" },
        { "admissionregistration/v1.MutatingAdmissionPolicySpec", "failurePolicy", "\"Fail\"" },
        { "admissionregistration/v1.MutatingWebhook", "failurePolicy", "\"Fail\"" },
        { "admissionregistration/v1.MutatingWebhook", "matchPolicy", "\"Equivalent\"" },
        { "admissionregistration/v1.MutatingWebhook", "namespaceSelector", "{}" },
        { "admissionregistration/v1.MutatingWebhook", "objectSelector", "{}" },
        { "admissionregistration/v1.MutatingWebhook", "reinvocationPolicy", "\"Never\"" },
        { "admissionregistration/v1.MutatingWebhook", "timeoutSeconds", "10" },
        { "admissionregistration/v1.NamedRuleWithOperations", "scope", "\"*\"" },
        { "admissionregistration/v1.RuleWithOperations", "scope", "\"*\"" },
        { "admissionregistration/v1.ServiceReference", "port", "443" },
        { "admissionregistration/v1.ValidatingAdmissionPolicySpec", "failurePolicy", "\"Fail\"" },
        { "admissionregistration/v1.ValidatingWebhook", "failurePolicy", "\"Fail\"" },
        { "admissionregistration/v1.ValidatingWebhook", "matchPolicy", "\"Equivalent\"" },
        { "admissionregistration/v1.ValidatingWebhook", "namespaceSelector", "{}" },
        { "admissionregistration/v1.ValidatingWebhook", "objectSelector", "{}" },
        { "admissionregistration/v1.ValidatingWebhook", "timeoutSeconds", "10" },
        { "apiextensions/v1.ServiceReference", "port", "443" },
        { "apps/v1.DaemonSetSpec", "revisionHistoryLimit", "10" },
        { "apps/v1.DaemonSetUpdateStrategy", "type", "\"RollingUpdate\"" },
        { "apps/v1.DeploymentSpec", "progressDeadlineSeconds", "600" },
        { "apps/v1.DeploymentSpec", "replicas", "1" },
        { "apps/v1.DeploymentSpec", "revisionHistoryLimit", "10" },
        { "apps/v1.DeploymentStrategy", "type", "\"RollingUpdate\"" },
        { "apps/v1.ReplicaSetSpec", "replicas", "1" },
        { "apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenDeleted", "\"Retain\"" },
        { "apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy", "whenScaled", "\"Retain\"" },
        { "apps/v1.StatefulSetSpec", "persistentVolumeClaimRetentionPolicy",
          "{\"whenDeleted\":\"Retain\",\"whenScaled\":\"Retain\"}" },
        { "apps/v1.StatefulSetSpec", "podManagementPolicy", "\"OrderedReady\"" },
        { "apps/v1.StatefulSetSpec", "replicas", "1" },
        { "apps/v1.StatefulSetSpec", "revisionHistoryLimit", "10" },
        { "authentication/v1.TokenRequestSpec", "expirationSeconds", "3600" },
        { "autoscaling/v1.HorizontalPodAutoscalerSpec", "minReplicas", "1" },
        { "autoscaling/v2.HorizontalPodAutoscalerSpec", "metrics",
          "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
          "\"averageUtilization\":80}}}]" },
        { "autoscaling/v2.HorizontalPodAutoscalerSpec", "minReplicas", "1" },
        { "batch/v1.CronJobSpec", "concurrencyPolicy", "\"Allow\"" },
        { "batch/v1.CronJobSpec", "failedJobsHistoryLimit", "1" },
        { "batch/v1.CronJobSpec", "successfulJobsHistoryLimit", "3" },
        { "batch/v1.CronJobSpec", "suspend", "false" },
        { "batch/v1.PodFailurePolicyOnPodConditionsPattern", "status", "\"True\"" },
        { "core/v1.ConfigMapVolumeSource", "defaultMode", "420" },
        { "core/v1.Container", "terminationMessagePath", "\"/dev/termination-log\"" },
        { "core/v1.Container", "terminationMessagePolicy", "\"File\"" },
        { "core/v1.DownwardAPIVolumeSource", "defaultMode", "420" },
        { "core/v1.EndpointPort", "protocol", "\"TCP\"" },
        { "core/v1.EphemeralContainer", "terminationMessagePath", "\"/dev/termination-log\"" },
        { "core/v1.EphemeralContainer", "terminationMessagePolicy", "\"File\"" },
        { "core/v1.HTTPGetAction", "path", "\"/\"" },
        { "core/v1.HTTPGetAction", "scheme", "\"HTTP\"" },
        { "core/v1.HostPathVolumeSource", "type", "\"\"" },
        { "core/v1.NamespaceStatus", "phase", "\"Active\"" },
        { "core/v1.ObjectFieldSelector", "apiVersion", "\"v1\"" },
        { "core/v1.PersistentVolumeClaimSpec", "volumeMode", "\"Filesystem\"" },
        { "core/v1.PersistentVolumeClaimStatus", "phase", "\"Pending\"" },
        { "core/v1.PersistentVolumeStatus", "phase", "\"Pending\"" },
        { "core/v1.PodSpec", "dnsPolicy", "\"ClusterFirst\"" },
        { "core/v1.PodSpec", "restartPolicy", "\"Always\"" },
        { "core/v1.PodSpec", "schedulerName", "\"default-scheduler\"" },
        { "core/v1.PodSpec", "securityContext", "{}" },
        { "core/v1.PodSpec", "terminationGracePeriodSeconds", "30" },
        { "core/v1.Probe", "failureThreshold", "3" },
        { "core/v1.Probe", "periodSeconds", "10" },
        { "core/v1.Probe", "successThreshold", "1" },
        { "core/v1.Probe", "timeoutSeconds", "1" },
        { "core/v1.ProjectedVolumeSource", "defaultMode", "420" },
        { "core/v1.Secret", "type", "\"Opaque\"" },
        { "core/v1.SecretVolumeSource", "defaultMode", "420" },
        { "core/v1.ServiceAccountTokenProjection", "expirationSeconds", "3600" },
        { "core/v1.ServiceSpec", "sessionAffinity", "\"None\"" },
        { "core/v1.ServiceSpec", "type", "\"ClusterIP\"" },
        { "discovery/v1.EndpointPort", "name", "\"\"" },
        { "discovery/v1.EndpointPort", "protocol", "\"TCP\"" },
        { "networking/v1.IngressClassParametersReference", "scope", "\"Cluster\"" },
        { "networking/v1.NetworkPolicyPort", "protocol", "\"TCP\"" },
        { "rbac/v1.RoleRef", "apiGroup", "\"rbac.authorization.k8s.io\"" },
        { "scheduling/v1.PriorityClass", "preemptionPolicy", "\"PreemptLowerPriority\"" },
        { "storage/v1.CSIDriverSpec", "attachRequired", "true" },
        { "storage/v1.CSIDriverSpec", "fsGroupPolicy", "\"ReadWriteOnceWithFSType\"" },
        { "storage/v1.CSIDriverSpec", "podInfoOnMount", "false" },
        { "storage/v1.CSIDriverSpec", "requiresRepublish", "false" },
        { "storage/v1.CSIDriverSpec", "seLinuxMount", "false" },
        { "storage/v1.CSIDriverSpec", "storageCapacity", "false" },
        { "storage/v1.CSIDriverSpec", "volumeLifecycleModes", "[\"Persistent\"]" },
        { "storage/v1.StorageClass", "reclaimPolicy", "\"Delete\"" },
        { "storage/v1.StorageClass", "volumeBindingMode", "\"Immediate\"" },
};

/* --- Defaults that depend on other fields --- */

static bool is_absent(const struct value *v, const char *field)
{
        const struct value *f = value_get(v, str_from(field));

        return !f || value_is_null(f);
}

static bool has_text(const struct value *v, const char *field, const char *text)
{
        return str_equal(value_str(value_get(v, str_from(field))), str_from(text));
}

static const struct value *with_text(struct arena *a, const struct value *v, const char *field, const char *text)
{
        return value_with(a, v, str_from(field), value_put(a, value_of_str(str_from(text))));
}

static const struct value *with_int(struct arena *a, const struct value *v, const char *field, int64_t number)
{
        return value_with(a, v, str_from(field), value_put(a, value_of_int(number)));
}

static const struct value *with_json(struct arena *a, const struct value *v, const char *field, const char *json)
{
        const struct value *parsed;
        int r = json_parse(a, str_from(json), NULL, &parsed, NULL);

        assert(r == 0);
        return value_with(a, v, str_from(field), parsed);
}

#define DOMAIN_PART "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
#define PATH_PART   "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
#define DIGEST      "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"

/* The form of an image's name, with its tag and its digest. */
static const char image_form[] =
        "^(?:(?:" DOMAIN_PART "(?:\\." DOMAIN_PART ")*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?/)?" PATH_PART "(?:/" PATH_PART
        ")*(:\\w[\\w.-]{0,127})?(@" DIGEST ")?$";

static struct regex *image_regex;

static void compile_image_form(void)
{
        int r = regex_compile(str_from(image_form), &image_regex, NULL);

        assert(r == 0);
}

/* Whether the image's tag is `latest`, which it also is without tag and digest. A name that cannot be parsed has no tag. */
static bool is_latest(struct str image)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        ssize_t at = str_find_char(image, '@');
        size_t colon = 0, slash = 0;

        pthread_once(&once, compile_image_form);
        if (!regex_matches(image_regex, image))
                return false;
        if (at >= 0)
                image = str_first(image, (size_t)at);
        for (size_t i = 0; i < image.n; i++) {
                if (image.p[i] == ':')
                        colon = i + 1;
                if (image.p[i] == '/')
                        slash = i + 1;
        }
        return colon > slash ? str_equal(str_skip(image, colon), STR("latest")) : at < 0;
}

static const struct value *with_pull_policy(struct arena *a, const struct value *v, const char *image,
                                            const char *policy)
{
        if (!is_absent(v, policy))
                return v;
        return with_text(a, v, policy, is_latest(value_str(value_get(v, str_from(image)))) ? "Always" : "IfNotPresent");
}

static const struct value *complete_container(struct arena *a, const struct value *v)
{
        return with_pull_policy(a, v, "image", "imagePullPolicy");
}

static const struct value *complete_image_volume(struct arena *a, const struct value *v)
{
        return with_pull_policy(a, v, "reference", "pullPolicy");
}

static const struct value *complete_volume(struct arena *a, const struct value *v)
{
        return value_count(v) > 1 ? v : with_json(a, v, "emptyDir", "{}");
}

/* The struct in the field, made if it is absent: what is not given in it is as in `json`. */
static const struct value *with_defaults(struct arena *a, const struct value *v, const char *field, const char *json)
{
        const struct value *given = value_get(v, str_from(field)), *all;
        int r = json_parse(a, str_from(json), NULL, &all, NULL);

        assert(r == 0);
        VALUE_FOREACH_MEMBER (m, given)
                if (!value_is_null(&m->value))
                        all = value_with(a, all, m->key, &m->value);
        return value_with(a, v, str_from(field), all);
}

static const struct value *complete_deployment_strategy(struct arena *a, const struct value *v)
{
        if (has_text(v, "type", "RollingUpdate"))
                v = with_defaults(a, v, "rollingUpdate", "{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\"}");
        return v;
}

static const struct value *complete_daemon_strategy(struct arena *a, const struct value *v)
{
        if (has_text(v, "type", "RollingUpdate"))
                v = with_defaults(a, v, "rollingUpdate", "{\"maxUnavailable\":1,\"maxSurge\":0}");
        return v;
}

static const struct value *complete_stateful_strategy(struct arena *a, const struct value *v)
{
        bool has_type = !is_absent(v, "type");

        if (!has_type)
                v = with_text(a, v, "type", "RollingUpdate");
        if (has_text(v, "type", "RollingUpdate") && (!has_type || !is_absent(v, "rollingUpdate")))
                v = with_defaults(a, v, "rollingUpdate", "{\"partition\":0}");
        return v;
}

static const struct value *complete_job_spec(struct arena *a, const struct value *v)
{
        if (is_absent(v, "completions") && is_absent(v, "parallelism"))
                v = with_int(a, with_int(a, v, "completions", 1), "parallelism", 1);
        if (is_absent(v, "parallelism"))
                v = with_int(a, v, "parallelism", 1);
        if (is_absent(v, "backoffLimit"))
                v = with_int(a, v, "backoffLimit", is_absent(v, "backoffLimitPerIndex") ? 6 : INT32_MAX);
        if (is_absent(v, "completionMode"))
                v = with_text(a, v, "completionMode", "NonIndexed");
        if (is_absent(v, "suspend"))
                v = with_json(a, v, "suspend", "false");
        if (is_absent(v, "manualSelector"))
                v = with_json(a, v, "manualSelector", "false");
        if (is_absent(v, "podReplacementPolicy"))
                v = with_text(a, v, "podReplacementPolicy",
                              is_absent(v, "podFailurePolicy") ? "TerminatingOrFailed" : "Failed");
        return v;
}

/* The labels of an object without any are those of its pods. */
static const struct value *take_template_labels(struct arena *a, const struct value *v)
{
        const struct value *labels = value_find(v, "spec", "template", "metadata", "labels");
        const struct value *metadata = value_get(v, STR("metadata"));

        if (value_count(labels) == 0 || value_count(value_get(metadata, STR("labels"))))
                return v;
        metadata = value_with(a, value_is_object(metadata) ? metadata : &value_empty_object, STR("labels"), labels);
        return value_with(a, v, STR("metadata"), metadata);
}

static const struct value *complete_job(struct arena *a, const struct value *v)
{
        const struct value *spec = value_get(v, STR("spec"));

        v = take_template_labels(a, v);
        return value_with(a, v, STR("spec"), complete_job_spec(a, spec));
}

static const struct value *complete_replication_controller(struct arena *a, const struct value *v)
{
        const struct value *labels = value_find(v, "spec", "template", "metadata", "labels");
        const struct value *spec = value_get(v, STR("spec"));

        if (value_count(labels) && value_count(value_get(spec, STR("selector"))) == 0)
                v = value_with(a, v, STR("spec"), value_with(a, spec, STR("selector"), labels));
        return take_template_labels(a, v);
}

/* Requests of a container without any are its limits. */
static const struct value *request_limits(struct arena *a, const struct value *container)
{
        const struct value *resources = value_get(container, STR("resources"));
        const struct value *limits = value_get(resources, STR("limits"));
        const struct value *requests = value_get(resources, STR("requests"));

        if (value_count(limits) == 0)
                return container;
        if (!value_is_object(requests))
                requests = &value_empty_object;
        VALUE_FOREACH_MEMBER (m, limits)
                if (!value_get(requests, m->key))
                        requests = value_with(a, requests, m->key, &m->value);
        resources = value_with(a, resources, STR("requests"), requests);
        return value_with(a, container, STR("resources"), resources);
}

/* With the host's network, ports of the host are the container's. */
static const struct value *host_ports(struct arena *a, const struct value *container)
{
        const struct value *ports = value_get(container, STR("ports")), *changed = ports;

        for (size_t i = 0; i < value_count(ports); i++) {
                const struct value *port = value_item(ports, i);

                if (is_absent(port, "hostPort") && value_int(value_get(port, STR("containerPort")), 0))
                        changed = value_with_item(a, changed, i,
                                                  value_with(a, port, STR("hostPort"),
                                                             value_get(port, STR("containerPort"))));
        }
        return changed == ports ? container : value_with(a, container, STR("ports"), changed);
}

static const struct value *complete_pod(struct arena *a, const struct value *v)
{
        static const char *const lists[] = { "containers", "initContainers" };
        const struct value *spec = value_get(v, STR("spec"));
        bool has_host_network = value_bool(value_get(spec, STR("hostNetwork")), false);

        if (is_absent(spec, "enableServiceLinks"))
                spec = with_json(a, spec, "enableServiceLinks", "true");
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const struct value *list = value_get(spec, str_from(lists[i])), *changed = list;

                for (size_t j = 0; j < value_count(list); j++) {
                        const struct value *container = request_limits(a, value_item(list, j));

                        if (has_host_network)
                                container = host_ports(a, container);
                        if (container != value_item(list, j))
                                changed = value_with_item(a, changed, j, container);
                }
                if (changed != list)
                        spec = value_with(a, spec, str_from(lists[i]), changed);
        }
        return value_with(a, v, STR("spec"), spec);
}

static const struct value *complete_service_port(struct arena *a, const struct value *v)
{
        const struct value *target = value_get(v, STR("targetPort")), *port = value_get(v, STR("port"));
        bool is_zero = !target || (value_is_int(target) && target->integer == 0) ||
                       (value_is_string(target) && target->n == 0);

        return is_zero && port ? value_with(a, v, STR("targetPort"), port) : v;
}

static const struct value *complete_service_spec(struct arena *a, const struct value *v)
{
        bool is_balanced = has_text(v, "type", "LoadBalancer");
        bool has_node_ports = is_balanced || has_text(v, "type", "NodePort");

        if (has_text(v, "sessionAffinity", "None"))
                v = value_without(a, v, STR("sessionAffinityConfig"));
        else if (has_text(v, "sessionAffinity", "ClientIP") &&
                 !value_find(v, "sessionAffinityConfig", "clientIP", "timeoutSeconds"))
                v = with_json(a, v, "sessionAffinityConfig", "{\"clientIP\":{\"timeoutSeconds\":10800}}");
        if ((has_node_ports || (has_text(v, "type", "ClusterIP") && value_count(value_get(v, STR("externalIPs"))))) &&
            is_absent(v, "externalTrafficPolicy"))
                v = with_text(a, v, "externalTrafficPolicy", "Cluster");
        if ((has_node_ports || has_text(v, "type", "ClusterIP")) && is_absent(v, "internalTrafficPolicy"))
                v = with_text(a, v, "internalTrafficPolicy", "Cluster");
        if (is_balanced && is_absent(v, "allocateLoadBalancerNodePorts"))
                v = with_json(a, v, "allocateLoadBalancerNodePorts", "true");
        return v;
}

/* Addresses of a load balancer are virtual unless they say otherwise. */
static const struct value *complete_service(struct arena *a, const struct value *v)
{
        const struct value *status = value_get(v, STR("status")), *balancer = value_get(status, STR("loadBalancer"));
        const struct value *list = value_get(balancer, STR("ingress")), *changed = list;

        if (!has_text(value_get(v, STR("spec")), "type", "LoadBalancer"))
                return v;
        for (size_t i = 0; i < value_count(list); i++) {
                const struct value *ingress = value_item(list, i);

                if (value_str(value_get(ingress, STR("ip"))).n && is_absent(ingress, "ipMode"))
                        changed = value_with_item(a, changed, i, with_text(a, ingress, "ipMode", "VIP"));
        }
        if (changed == list)
                return v;
        balancer = value_with(a, balancer, STR("ingress"), changed);
        return value_with(a, v, STR("status"), value_with(a, status, STR("loadBalancer"), balancer));
}

static const struct value *complete_network_policy_spec(struct arena *a, const struct value *v)
{
        if (!is_absent(v, "policyTypes"))
                return v;
        return with_json(a, v, "policyTypes",
                         value_count(value_get(v, STR("egress"))) ? "[\"Ingress\",\"Egress\"]" : "[\"Ingress\"]");
}

static const struct value *complete_subject(struct arena *a, const struct value *v)
{
        if (is_absent(v, "apiGroup") && (has_text(v, "kind", "User") || has_text(v, "kind", "Group")))
                v = with_text(a, v, "apiGroup", "rbac.authorization.k8s.io");
        return v;
}

static const struct value *complete_persistent_volume(struct arena *a, const struct value *v)
{
        const struct value *spec = value_get(v, STR("spec"));

        if (is_absent(spec, "persistentVolumeReclaimPolicy"))
                spec = with_text(a, spec, "persistentVolumeReclaimPolicy", "Retain");
        if (is_absent(spec, "volumeMode"))
                spec = with_text(a, spec, "volumeMode", "Filesystem");
        return value_with(a, v, STR("spec"), spec);
}

static const struct value *complete_scaling(struct arena *a, const struct value *v)
{
        v = with_defaults(a, v, "scaleUp",
                          "{\"stabilizationWindowSeconds\":0,\"selectPolicy\":\"Max\",\"policies\":[{\"type\":"
                          "\"Pods\",\"value\":4,\"periodSeconds\":15},{\"type\":\"Percent\",\"value\":100,"
                          "\"periodSeconds\":15}]}");
        return with_defaults(a, v, "scaleDown",
                             "{\"selectPolicy\":\"Max\",\"policies\":[{\"type\":\"Percent\",\"value\":100,"
                             "\"periodSeconds\":15}]}");
}

static const struct value *complete_namespace(struct arena *a, const struct value *v)
{
        struct str name = value_str(value_find(v, "metadata", "name"));

        return name.n ? meta_with_label(a, v, STR("kubernetes.io/metadata.name"), name) : v;
}

static const struct value *complete_node_status(struct arena *a, const struct value *v)
{
        const struct value *capacity = value_get(v, STR("capacity"));

        return is_absent(v, "allocatable") && capacity ? value_with(a, v, STR("allocatable"), capacity) : v;
}

static const struct {
        const char *type;
        builtin_complete_fn *complete;
} functions[] = {
        { "apps/v1.DaemonSetUpdateStrategy", complete_daemon_strategy },
        { "apps/v1.DeploymentStrategy", complete_deployment_strategy },
        { "apps/v1.StatefulSetUpdateStrategy", complete_stateful_strategy },
        { "autoscaling/v2.HorizontalPodAutoscalerBehavior", complete_scaling },
        { "batch/v1.Job", complete_job },
        { "core/v1.Container", complete_container },
        { "core/v1.EphemeralContainer", complete_container },
        { "core/v1.ImageVolumeSource", complete_image_volume },
        { "core/v1.Namespace", complete_namespace },
        { "core/v1.NodeStatus", complete_node_status },
        { "core/v1.PersistentVolume", complete_persistent_volume },
        { "core/v1.Pod", complete_pod },
        { "core/v1.ReplicationController", complete_replication_controller },
        { "core/v1.Service", complete_service },
        { "core/v1.ServicePort", complete_service_port },
        { "core/v1.ServiceSpec", complete_service_spec },
        { "core/v1.Volume", complete_volume },
        { "networking/v1.NetworkPolicySpec", complete_network_policy_spec },
        { "rbac/v1.Subject", complete_subject },
};

/* --- The table's side --- */

/* A default of builtin.txt counts unless it is the zero that the field has anyway. */
static bool documented_default(struct arena *a, const struct builtin_field *f, const struct value **ret)
{
        _cleanup_arena_ struct arena scratch;
        const struct value *v;
        struct str text;
        bool counts;

        arena_init(&scratch, "default", 0);
        if (!builtin_fact(f->facts, STR("default"), &text) || str_equal(text, STR("none")))
                return false;
        if (json_parse(&scratch, text, NULL, &v, NULL) < 0)
                assert(false);
        counts = f->shape == SHAPE_POINTER || (value_is_string(v) ? v->n > 0 : value_int(v, 1) != 0);
        if (counts)
                *ret = value_copy(a, v);
        return counts;
}

void builtin_set_defaults(struct arena *a, struct builtin_type *t)
{
        struct builtin_default list[BUILTIN_MAX_FIELDS];
        const struct value *v;
        size_t n = 0;

        for (size_t i = 0; i < t->n_flat; i++)
                if (documented_default(a, t->flat[i], &list[n].value)) {
                        list[n].name = t->flat[i]->name;
                        list[n++].is_pointer = t->flat[i]->shape == SHAPE_POINTER;
                }
        for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
                const struct builtin_field *f;

                if (!str_equal(t->name, str_from(defaults[i].type)))
                        continue;
                f = builtin_field_of(t, str_from(defaults[i].field));
                if (!f || n == ARRAY_SIZE(list) || json_parse(a, str_from(defaults[i].json), NULL, &v, NULL) < 0)
                        assert(false);
                list[n++] = (struct builtin_default) { f->name, v, f->shape == SHAPE_POINTER };
        }
        for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
                if (str_equal(t->name, str_from(functions[i].type)))
                        t->complete = functions[i].complete;
        if (n) {
                struct builtin_default *copy = ARENA_NEW_ARRAY(a, struct builtin_default, n);

                memcpy(copy, list, n * sizeof(*list));
                t->defaults = copy;
                t->n_defaults = n;
        }
}

const struct value *builtin_default_struct(struct arena *a, const struct builtin_type *t, const struct value *v)
{
        for (size_t i = 0; i < t->n_defaults; i++) {
                const struct builtin_default *d = &t->defaults[i];
                const struct value *now = value_get(v, d->name);

                if (!now || value_is_null(now) || (!d->is_pointer && value_is_string(now) && now->n == 0))
                        v = value_with(a, v, d->name, d->value);
        }
        return t->complete ? t->complete(a, v) : v;
}
