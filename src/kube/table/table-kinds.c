/* The columns of every built-in kind, as kube-apiserver has them. */
#include "table-cells.h"

#define INTEGER STR_INIT("integer")
#define BOOLEAN STR_INIT("boolean")
#define DATE    STR_INIT("date")
#define TEXT    STR_INIT("")

/* C: a column; W: one of wide output. */
#define C(column, type, function, path, otherwise)                                       \
        {                                                                                \
                STR_INIT(column), type, 0, function, STR_INIT(path), STR_INIT(otherwise) \
        }
#define W(column, type, function, path, otherwise)                                       \
        {                                                                                \
                STR_INIT(column), type, 1, function, STR_INIT(path), STR_INIT(otherwise) \
        }
#define NAME C("Name", TEXT, table_name, "", "")
#define AGE  C("Age", TEXT, table_age, "", "")

/* The containers of a pod template, and a selector. */
#define CONTAINERS(path) W("Containers", TEXT, table_containers, path, ""), W("Images", TEXT, table_images, path, "")

#define TEMPLATE "spec.template.spec"

static const struct table_cell_spec config_maps[] = { NAME, C("Data", TEXT, table_config_data, "", ""), AGE };
static const struct table_cell_spec secrets[] = {
        NAME,
        C("Type", TEXT, table_string, "type", ""),
        C("Data", TEXT, table_count, "data", ""),
        AGE,
};
static const struct table_cell_spec namespaces[] = { NAME, C("Status", TEXT, table_string, "status.phase", ""), AGE };
static const struct table_cell_spec name_and_age[] = { NAME, AGE };
static const struct table_cell_spec name_and_date[] = { NAME, C("Created At", DATE, table_created_at, "", "") };
static const struct table_cell_spec endpoints[] = { NAME, C("Endpoints", TEXT, table_endpoints, "", ""), AGE };
static const struct table_cell_spec events[] = {
        C("Last Seen", TEXT, table_event_last, "", ""),  C("Type", TEXT, table_string, "type", ""),
        C("Reason", TEXT, table_string, "reason", ""),   C("Object", TEXT, table_event_target, "", ""),
        W("Subobject", TEXT, table_event_path, "", ""),  W("Source", TEXT, table_event_source, "", ""),
        C("Message", TEXT, table_event_message, "", ""), W("First Seen", TEXT, table_event_first, "", ""),
        W("Count", TEXT, table_event_count, "", ""),     W("Name", TEXT, table_name, "", ""),
};
static const struct table_cell_spec nodes[] = {
        NAME,
        C("Status", TEXT, table_node_status, "", ""),
        C("Roles", TEXT, table_node_roles, "", ""),
        AGE,
        C("Version", TEXT, table_string, "status.nodeInfo.kubeletVersion", ""),
        W("Internal-IP", TEXT, table_node_address, "InternalIP", ""),
        W("External-IP", TEXT, table_node_address, "ExternalIP", ""),
        W("OS-Image", TEXT, table_filled, "status.nodeInfo.osImage", "<unknown>"),
        W("Kernel-Version", TEXT, table_node_kernel, "", ""),
        W("Container-Runtime", TEXT, table_filled, "status.nodeInfo.containerRuntimeVersion", "<unknown>"),
};
static const struct table_cell_spec claims[] = {
        NAME,
        C("Status", TEXT, table_volume_phase, "", ""),
        C("Volume", TEXT, table_string, "spec.volumeName", ""),
        C("Capacity", TEXT, table_claim_capacity, "", ""),
        C("Access Modes", TEXT, table_claim_modes, "", ""),
        C("StorageClass", TEXT, table_volume_class, "", ""),
        C("VolumeAttributesClass", TEXT, table_string, "spec.volumeAttributesClassName", "<unset>"),
        AGE,
        W("VolumeMode", TEXT, table_string, "spec.volumeMode", "<unset>"),
};
static const struct table_cell_spec volumes[] = {
        NAME,
        C("Capacity", TEXT, table_volume_capacity, "", ""),
        C("Access Modes", TEXT, table_volume_modes, "", ""),
        C("Reclaim Policy", TEXT, table_string, "spec.persistentVolumeReclaimPolicy", ""),
        C("Status", TEXT, table_volume_phase, "", ""),
        C("Claim", TEXT, table_volume_claim, "", ""),
        C("StorageClass", TEXT, table_volume_class, "", ""),
        C("VolumeAttributesClass", TEXT, table_string, "spec.volumeAttributesClassName", "<unset>"),
        C("Reason", TEXT, table_string, "status.reason", ""),
        AGE,
        W("VolumeMode", TEXT, table_string, "spec.volumeMode", "<unset>"),
};
static const struct table_cell_spec pods[] = {
        NAME,
        C("Ready", TEXT, table_pod_ready, "", ""),
        C("Status", TEXT, table_pod_status, "", ""),
        C("Restarts", TEXT, table_pod_restarts, "", ""),
        AGE,
        W("IP", TEXT, table_pod_ip, "", ""),
        W("Node", TEXT, table_filled, "spec.nodeName", "<none>"),
        W("Nominated Node", TEXT, table_filled, "status.nominatedNodeName", "<none>"),
        W("Readiness Gates", TEXT, table_pod_gates, "", ""),
};
static const struct table_cell_spec pod_templates[] = {
        NAME,
        C("Containers", TEXT, table_containers, "template.spec", ""),
        C("Images", TEXT, table_images, "template.spec", ""),
        C("Pod Labels", TEXT, table_labels, "template.metadata.labels", ""),
};
static const struct table_cell_spec replication_controllers[] = {
        NAME,
        C("Desired", INTEGER, table_integer, "spec.replicas", ""),
        C("Current", INTEGER, table_integer, "status.replicas", ""),
        C("Ready", INTEGER, table_integer, "status.readyReplicas", ""),
        AGE,
        CONTAINERS(TEMPLATE),
        W("Selector", TEXT, table_labels, "spec.selector", ""),
};
static const struct table_cell_spec quotas[] = {
        NAME,
        C("Request", TEXT, table_quota, "requests", ""),
        C("Limit", TEXT, table_quota, "limits", ""),
        AGE,
};
static const struct table_cell_spec services[] = {
        NAME,
        C("Type", TEXT, table_string, "spec.type", ""),
        C("Cluster-IP", TEXT, table_service_cluster_ip, "", ""),
        C("External-IP", TEXT, table_service_external_ip, "", ""),
        C("Port(s)", TEXT, table_service_ports, "", ""),
        AGE,
        W("Selector", TEXT, table_labels, "spec.selector", ""),
};
static const struct table_cell_spec api_services[] = {
        NAME,
        C("Service", TEXT, table_api_service, "", ""),
        C("Available", TEXT, table_api_available, "", ""),
        AGE,
};
static const struct table_cell_spec controller_revisions[] = {
        NAME,
        C("Controller", TEXT, table_controller_reference, "", ""),
        C("Revision", TEXT, table_integer, "revision", ""),
        AGE,
};
static const struct table_cell_spec daemon_sets[] = {
        NAME,
        C("Desired", INTEGER, table_integer, "status.desiredNumberScheduled", ""),
        C("Current", INTEGER, table_integer, "status.currentNumberScheduled", ""),
        C("Ready", INTEGER, table_integer, "status.numberReady", ""),
        C("Up-to-date", INTEGER, table_integer, "status.updatedNumberScheduled", ""),
        C("Available", INTEGER, table_integer, "status.numberAvailable", ""),
        C("Node Selector", TEXT, table_labels, "spec.template.spec.nodeSelector", ""),
        AGE,
        CONTAINERS(TEMPLATE),
        W("Selector", TEXT, table_selector, "spec.selector", ""),
};
static const struct table_cell_spec deployments[] = {
        NAME,
        C("Ready", TEXT, table_ready_replicas, "", ""),
        C("Up-to-date", TEXT, table_integer, "status.updatedReplicas", ""),
        C("Available", TEXT, table_integer, "status.availableReplicas", ""),
        AGE,
        CONTAINERS(TEMPLATE),
        W("Selector", TEXT, table_deployment_selector, "", ""),
};
static const struct table_cell_spec replica_sets[] = {
        NAME,
        C("Desired", INTEGER, table_integer, "spec.replicas", ""),
        C("Current", INTEGER, table_integer, "status.replicas", ""),
        C("Ready", INTEGER, table_integer, "status.readyReplicas", ""),
        AGE,
        CONTAINERS(TEMPLATE),
        W("Selector", TEXT, table_selector, "spec.selector", ""),
};
static const struct table_cell_spec stateful_sets[] = {
        NAME,
        C("Ready", TEXT, table_ready_replicas, "", ""),
        AGE,
        CONTAINERS(TEMPLATE),
};
static const struct table_cell_spec autoscalers[] = {
        NAME,
        C("Reference", TEXT, table_hpa_reference, "", ""),
        C("Targets", TEXT, table_hpa_metrics, "", ""),
        C("MinPods", TEXT, table_hpa_min, "", ""),
        C("MaxPods", TEXT, table_integer, "spec.maxReplicas", ""),
        C("Replicas", TEXT, table_integer, "status.currentReplicas", ""),
        AGE,
};
static const struct table_cell_spec cron_jobs[] = {
        NAME,
        C("Schedule", TEXT, table_string, "spec.schedule", ""),
        C("Timezone", TEXT, table_string, "spec.timeZone", "<none>"),
        C("Suspend", BOOLEAN, table_cron_suspended, "", ""),
        C("Active", INTEGER, table_count, "status.active", ""),
        C("Last Schedule", TEXT, table_cron_last, "", ""),
        AGE,
        CONTAINERS("spec.jobTemplate.spec.template.spec"),
        W("Selector", TEXT, table_selector, "spec.jobTemplate.spec.selector", ""),
};
static const struct table_cell_spec jobs[] = {
        NAME,
        C("Status", TEXT, table_job_status, "", ""),
        C("Completions", TEXT, table_job_completions, "", ""),
        C("Duration", TEXT, table_job_duration, "", ""),
        AGE,
        CONTAINERS(TEMPLATE),
        W("Selector", TEXT, table_selector, "spec.selector", ""),
};
static const struct table_cell_spec signing_requests[] = {
        NAME,
        AGE,
        C("SignerName", TEXT, table_filled, "spec.signerName", "<none>"),
        C("Requestor", TEXT, table_string, "spec.username", ""),
        C("RequestedDuration", TEXT, table_csr_duration, "", ""),
        C("Condition", TEXT, table_csr_status, "", ""),
};
static const struct table_cell_spec ingress_classes[] = {
        C("Name", TEXT, table_named_default, "ingressclass.kubernetes.io/is-default-class", ""),
        C("Controller", TEXT, table_string, "spec.controller", ""),
        C("Parameters", TEXT, table_ingress_parameters, "", ""),
        AGE,
};
static const struct table_cell_spec ingresses[] = {
        NAME,
        C("Class", TEXT, table_string, "spec.ingressClassName", "<none>"),
        C("Hosts", TEXT, table_ingress_hosts, "", ""),
        C("Address", TEXT, table_ingress_address, "", ""),
        C("Ports", TEXT, table_ingress_ports, "", ""),
        AGE,
};
static const struct table_cell_spec ip_addresses[] = { NAME, C("ParentRef", TEXT, table_ip_parent, "", "") };
static const struct table_cell_spec network_policies[] = {
        NAME,
        C("Pod-Selector", TEXT, table_selector, "spec.podSelector", ""),
        AGE,
};
static const struct table_cell_spec service_cidrs[] = { NAME, C("CIDRs", TEXT, table_list, "spec.cidrs", ""), AGE };
static const struct table_cell_spec disruption_budgets[] = {
        NAME,
        C("Min Available", TEXT, table_pdb_value, "spec.minAvailable", ""),
        C("Max Unavailable", TEXT, table_pdb_value, "spec.maxUnavailable", ""),
        C("Allowed Disruptions", INTEGER, table_integer, "status.disruptionsAllowed", ""),
        AGE,
};
static const struct table_cell_spec role_bindings[] = {
        NAME,
        C("Role", TEXT, table_role, "", ""),
        AGE,
        W("Users", TEXT, table_subjects, "User", ""),
        W("Groups", TEXT, table_subjects, "Group", ""),
        W("ServiceAccounts", TEXT, table_subjects, "ServiceAccount", ""),
};
static const struct table_cell_spec csi_drivers[] = {
        NAME,
        C("AttachRequired", BOOLEAN, table_boolean, "spec.attachRequired", "true"),
        C("PodInfoOnMount", BOOLEAN, table_boolean, "spec.podInfoOnMount", ""),
        C("StorageCapacity", BOOLEAN, table_boolean, "spec.storageCapacity", ""),
        C("TokenRequests", TEXT, table_csi_tokens, "", ""),
        C("RequiresRepublish", BOOLEAN, table_boolean, "spec.requiresRepublish", ""),
        C("Modes", TEXT, table_list, "spec.volumeLifecycleModes", "<none>"),
        AGE,
};
static const struct table_cell_spec csi_nodes[] = { NAME, C("Drivers", INTEGER, table_count, "spec.drivers", ""), AGE };
static const struct table_cell_spec storage_classes[] = {
        C("Name", TEXT, table_named_default, "storageclass.kubernetes.io/is-default-class",
          "storageclass.beta.kubernetes.io/is-default-class"),
        C("Provisioner", TEXT, table_string, "provisioner", ""),
        C("ReclaimPolicy", TEXT, table_string, "reclaimPolicy", "Delete"),
        C("VolumeBindingMode", TEXT, table_string, "volumeBindingMode", "Immediate"),
        C("AllowVolumeExpansion", TEXT, table_boolean, "allowVolumeExpansion", ""),
        AGE,
};
static const struct table_cell_spec volume_attachments[] = {
        NAME,
        C("Attacher", TEXT, table_string, "spec.attacher", ""),
        C("PV", TEXT, table_string, "spec.source.persistentVolumeName", ""),
        C("Node", TEXT, table_string, "spec.nodeName", ""),
        C("Attached", BOOLEAN, table_boolean, "status.attached", ""),
        AGE,
};
static const struct table_cell_spec volume_attributes_classes[] = {
        NAME,
        C("DriverName", TEXT, table_string, "driverName", ""),
        AGE,
};
static const struct table_cell_spec webhooks[] = { NAME, C("Webhooks", INTEGER, table_count, "webhooks", ""), AGE };
static const struct table_cell_spec validating_policies[] = {
        NAME,
        C("Validations", INTEGER, table_count, "spec.validations", ""),
        C("ParamKind", TEXT, table_policy_kind, "", ""),
        AGE,
};
static const struct table_cell_spec mutating_policies[] = {
        NAME,
        C("Mutations", INTEGER, table_count, "spec.mutations", ""),
        C("ParamKind", TEXT, table_policy_kind, "", ""),
        AGE,
};
static const struct table_cell_spec policy_bindings[] = {
        NAME,
        C("PolicyName", TEXT, table_string, "spec.policyName", ""),
        C("ParamRef", TEXT, table_policy_reference, "", ""),
        AGE,
};
static const struct table_cell_spec priority_classes[] = {
        NAME,
        C("Value", INTEGER, table_integer, "value", ""),
        C("Global-Default", BOOLEAN, table_boolean, "globalDefault", ""),
        AGE,
        C("PreemptionPolicy", TEXT, table_string, "preemptionPolicy", ""),
};
static const struct table_cell_spec leases[] = { NAME, C("Holder", TEXT, table_string, "spec.holderIdentity", ""),
                                                 AGE };
static const struct table_cell_spec runtime_classes[] = { NAME, C("Handler", TEXT, table_string, "handler", ""), AGE };
static const struct table_cell_spec endpoint_slices[] = {
        NAME,
        C("AddressType", TEXT, table_string, "addressType", ""),
        C("Ports", TEXT, table_slice_ports, "", ""),
        C("Endpoints", TEXT, table_slice_addresses, "", ""),
        AGE,
};

#define KIND(group, kind, columns)                                                  \
        {                                                                           \
                STR_INIT(group), STR_INIT(kind), columns, ARRAY_SIZE(columns), NULL \
        }

static const struct table_kind_spec kinds[] = {
        KIND("", "ConfigMap", config_maps),
        KIND("", "Endpoints", endpoints),
        KIND("", "Event", events),
        KIND("", "Namespace", namespaces),
        KIND("", "Node", nodes),
        KIND("", "PersistentVolumeClaim", claims),
        KIND("", "PersistentVolume", volumes),
        { STR_INIT(""), STR_INIT("Pod"), pods, ARRAY_SIZE(pods), table_pod_conditions },
        KIND("", "PodTemplate", pod_templates),
        KIND("", "ReplicationController", replication_controllers),
        KIND("", "ResourceQuota", quotas),
        KIND("", "Secret", secrets),
        KIND("", "ServiceAccount", name_and_age),
        KIND("", "Service", services),
        KIND("admissionregistration.k8s.io", "MutatingAdmissionPolicy", mutating_policies),
        KIND("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", policy_bindings),
        KIND("admissionregistration.k8s.io", "MutatingWebhookConfiguration", webhooks),
        KIND("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", validating_policies),
        KIND("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", policy_bindings),
        KIND("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", webhooks),
        KIND("apiregistration.k8s.io", "APIService", api_services),
        KIND("apps", "ControllerRevision", controller_revisions),
        KIND("apps", "DaemonSet", daemon_sets),
        KIND("apps", "Deployment", deployments),
        KIND("apps", "ReplicaSet", replica_sets),
        KIND("apps", "StatefulSet", stateful_sets),
        KIND("autoscaling", "HorizontalPodAutoscaler", autoscalers),
        KIND("batch", "CronJob", cron_jobs),
        KIND("batch", "Job", jobs),
        KIND("certificates.k8s.io", "CertificateSigningRequest", signing_requests),
        KIND("coordination.k8s.io", "Lease", leases),
        KIND("discovery.k8s.io", "EndpointSlice", endpoint_slices),
        KIND("events.k8s.io", "Event", events),
        KIND("networking.k8s.io", "IngressClass", ingress_classes),
        KIND("networking.k8s.io", "Ingress", ingresses),
        KIND("networking.k8s.io", "IPAddress", ip_addresses),
        KIND("networking.k8s.io", "NetworkPolicy", network_policies),
        KIND("networking.k8s.io", "ServiceCIDR", service_cidrs),
        KIND("node.k8s.io", "RuntimeClass", runtime_classes),
        KIND("policy", "PodDisruptionBudget", disruption_budgets),
        KIND("rbac.authorization.k8s.io", "ClusterRoleBinding", role_bindings),
        KIND("rbac.authorization.k8s.io", "RoleBinding", role_bindings),
        KIND("scheduling.k8s.io", "PriorityClass", priority_classes),
        KIND("storage.k8s.io", "CSIDriver", csi_drivers),
        KIND("storage.k8s.io", "CSINode", csi_nodes),
        KIND("storage.k8s.io", "StorageClass", storage_classes),
        KIND("storage.k8s.io", "VolumeAttachment", volume_attachments),
        KIND("storage.k8s.io", "VolumeAttributesClass", volume_attributes_classes),
};

/* Roles, cluster roles, CRDs, limit ranges and all kinds that are not listed. */
static const struct table_kind_spec other_kinds = KIND("", "", name_and_date);

const struct table_kind_spec *table_kind_spec(struct str group, struct str kind)
{
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (str_equal(kinds[i].group, group) && str_equal(kinds[i].kind, kind))
                        return &kinds[i];
        return &other_kinds;
}
