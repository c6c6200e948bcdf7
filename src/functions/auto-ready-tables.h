/* Made by `driver types` of tests/interop/builtins: the members of the kinds that auto-ready reads into types, as the
 * Kubernetes API has them. */
#pragma once

enum type_number {
        T_AFFINITY,
        T_APP_ARMOR_PROFILE,
        T_AWSELASTIC_BLOCK_STORE_VOLUME_SOURCE,
        T_AZURE_DISK_VOLUME_SOURCE,
        T_AZURE_FILE_VOLUME_SOURCE,
        T_CAPABILITIES,
        T_CEPH_FSVOLUME_SOURCE,
        T_CINDER_VOLUME_SOURCE,
        T_CLUSTER_TRUST_BUNDLE_PROJECTION,
        T_CONFIG_MAP_ENV_SOURCE,
        T_CONFIG_MAP_KEY_SELECTOR,
        T_CONFIG_MAP_PROJECTION,
        T_CONFIG_MAP_VOLUME_SOURCE,
        T_CONTAINER,
        T_CONTAINER_EXTENDED_RESOURCE_REQUEST,
        T_CONTAINER_PORT,
        T_CONTAINER_RESIZE_POLICY,
        T_CONTAINER_RESOURCE_METRIC_SOURCE,
        T_CONTAINER_RESOURCE_METRIC_STATUS,
        T_CONTAINER_RESTART_RULE,
        T_CONTAINER_RESTART_RULE_ON_EXIT_CODES,
        T_CONTAINER_STATE,
        T_CONTAINER_STATE_RUNNING,
        T_CONTAINER_STATE_TERMINATED,
        T_CONTAINER_STATE_WAITING,
        T_CONTAINER_STATUS,
        T_CONTAINER_USER,
        T_CRON_JOB,
        T_CRON_JOB_SPEC,
        T_CRON_JOB_STATUS,
        T_CROSS_VERSION_OBJECT_REFERENCE,
        T_CSIVOLUME_SOURCE,
        T_DOWNWARD_APIPROJECTION,
        T_DOWNWARD_APIVOLUME_FILE,
        T_DOWNWARD_APIVOLUME_SOURCE,
        T_EMPTY_DIR_VOLUME_SOURCE,
        T_ENV_FROM_SOURCE,
        T_ENV_VAR,
        T_ENV_VAR_SOURCE,
        T_EPHEMERAL_CONTAINER,
        T_EPHEMERAL_VOLUME_SOURCE,
        T_EXEC_ACTION,
        T_EXTERNAL_METRIC_SOURCE,
        T_EXTERNAL_METRIC_STATUS,
        T_FCVOLUME_SOURCE,
        T_FILE_KEY_SELECTOR,
        T_FLEX_VOLUME_SOURCE,
        T_FLOCKER_VOLUME_SOURCE,
        T_GCEPERSISTENT_DISK_VOLUME_SOURCE,
        T_GIT_REPO_VOLUME_SOURCE,
        T_GLUSTERFS_VOLUME_SOURCE,
        T_GRPCACTION,
        T_HORIZONTAL_POD_AUTOSCALER,
        T_HORIZONTAL_POD_AUTOSCALER_BEHAVIOR,
        T_HORIZONTAL_POD_AUTOSCALER_CONDITION,
        T_HORIZONTAL_POD_AUTOSCALER_SPEC,
        T_HORIZONTAL_POD_AUTOSCALER_STATUS,
        T_HOST_ALIAS,
        T_HOST_IP,
        T_HOST_PATH_VOLUME_SOURCE,
        T_HPASCALING_POLICY,
        T_HPASCALING_RULES,
        T_HTTPGET_ACTION,
        T_HTTPHEADER,
        T_IMAGE_VOLUME_SOURCE,
        T_ISCSIVOLUME_SOURCE,
        T_JOB,
        T_JOB_CONDITION,
        T_JOB_SPEC,
        T_JOB_STATUS,
        T_JOB_TEMPLATE_SPEC,
        T_KEY_TO_PATH,
        T_LABEL_SELECTOR,
        T_LABEL_SELECTOR_REQUIREMENT,
        T_LIFECYCLE,
        T_LIFECYCLE_HANDLER,
        T_LINUX_CONTAINER_USER,
        T_LOCAL_OBJECT_REFERENCE,
        T_MANAGED_FIELDS_ENTRY,
        T_METRIC_IDENTIFIER,
        T_METRIC_SPEC,
        T_METRIC_STATUS,
        T_METRIC_TARGET,
        T_METRIC_VALUE_STATUS,
        T_MODIFY_VOLUME_STATUS,
        T_NFSVOLUME_SOURCE,
        T_NODE_AFFINITY,
        T_NODE_SELECTOR,
        T_NODE_SELECTOR_REQUIREMENT,
        T_NODE_SELECTOR_TERM,
        T_OBJECT_FIELD_SELECTOR,
        T_OBJECT_META,
        T_OBJECT_METRIC_SOURCE,
        T_OBJECT_METRIC_STATUS,
        T_OBJECT_REFERENCE,
        T_OWNER_REFERENCE,
        T_PERSISTENT_VOLUME_CLAIM,
        T_PERSISTENT_VOLUME_CLAIM_CONDITION,
        T_PERSISTENT_VOLUME_CLAIM_SPEC,
        T_PERSISTENT_VOLUME_CLAIM_STATUS,
        T_PERSISTENT_VOLUME_CLAIM_TEMPLATE,
        T_PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE,
        T_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
        T_POD,
        T_POD_AFFINITY,
        T_POD_AFFINITY_TERM,
        T_POD_ANTI_AFFINITY,
        T_POD_CERTIFICATE_PROJECTION,
        T_POD_CONDITION,
        T_POD_DNSCONFIG,
        T_POD_DNSCONFIG_OPTION,
        T_POD_EXTENDED_RESOURCE_CLAIM_STATUS,
        T_POD_FAILURE_POLICY,
        T_POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT,
        T_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN,
        T_POD_FAILURE_POLICY_RULE,
        T_POD_IP,
        T_POD_OS,
        T_POD_READINESS_GATE,
        T_POD_RESOURCE_CLAIM,
        T_POD_RESOURCE_CLAIM_STATUS,
        T_POD_SCHEDULING_GATE,
        T_POD_SECURITY_CONTEXT,
        T_POD_SPEC,
        T_POD_STATUS,
        T_POD_TEMPLATE_SPEC,
        T_PODS_METRIC_SOURCE,
        T_PODS_METRIC_STATUS,
        T_PORTWORX_VOLUME_SOURCE,
        T_PREFERRED_SCHEDULING_TERM,
        T_PROBE,
        T_PROJECTED_VOLUME_SOURCE,
        T_QUOBYTE_VOLUME_SOURCE,
        T_RBDVOLUME_SOURCE,
        T_REPLICA_SET,
        T_REPLICA_SET_CONDITION,
        T_REPLICA_SET_SPEC,
        T_REPLICA_SET_STATUS,
        T_RESOURCE_CLAIM,
        T_RESOURCE_FIELD_SELECTOR,
        T_RESOURCE_HEALTH,
        T_RESOURCE_METRIC_SOURCE,
        T_RESOURCE_METRIC_STATUS,
        T_RESOURCE_REQUIREMENTS,
        T_RESOURCE_STATUS,
        T_SCALE_IOVOLUME_SOURCE,
        T_SECCOMP_PROFILE,
        T_SECRET_ENV_SOURCE,
        T_SECRET_KEY_SELECTOR,
        T_SECRET_PROJECTION,
        T_SECRET_VOLUME_SOURCE,
        T_SECURITY_CONTEXT,
        T_SELINUX_OPTIONS,
        T_SERVICE_ACCOUNT_TOKEN_PROJECTION,
        T_SLEEP_ACTION,
        T_STORAGE_OSVOLUME_SOURCE,
        T_SUCCESS_POLICY,
        T_SUCCESS_POLICY_RULE,
        T_SYSCTL,
        T_TCPSOCKET_ACTION,
        T_TOLERATION,
        T_TOPOLOGY_SPREAD_CONSTRAINT,
        T_TYPED_LOCAL_OBJECT_REFERENCE,
        T_TYPED_OBJECT_REFERENCE,
        T_UNCOUNTED_TERMINATED_PODS,
        T_VOLUME,
        T_VOLUME_DEVICE,
        T_VOLUME_MOUNT,
        T_VOLUME_MOUNT_STATUS,
        T_VOLUME_PROJECTION,
        T_VOLUME_RESOURCE_REQUIREMENTS,
        T_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE,
        T_WEIGHTED_POD_AFFINITY_TERM,
        T_WINDOWS_SECURITY_CONTEXT_OPTIONS,
        T_WORKLOAD_REFERENCE,
};

static const struct type_field affinity_fields[] = {
        { "nodeAffinity", ONE, OBJECT, T_NODE_AFFINITY },
        { "podAffinity", ONE, OBJECT, T_POD_AFFINITY },
        { "podAntiAffinity", ONE, OBJECT, T_POD_ANTI_AFFINITY },
};

static const struct type_field app_armor_profile_fields[] = {
        { "type", ONE, STRING, 0 },
        { "localhostProfile", ONE, STRING, 0 },
};

static const struct type_field awselastic_block_store_volume_source_fields[] = {
        { "volumeID", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "partition", ONE, INT32, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field azure_disk_volume_source_fields[] = {
        { "diskName", ONE, STRING, 0 }, { "diskURI", ONE, STRING, 0 }, { "cachingMode", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },   { "readOnly", ONE, BOOL, 0 },  { "kind", ONE, STRING, 0 },
};

static const struct type_field azure_file_volume_source_fields[] = {
        { "secretName", ONE, STRING, 0 },
        { "shareName", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field capabilities_fields[] = {
        { "add", LIST, STRING, 0 },
        { "drop", LIST, STRING, 0 },
};

static const struct type_field ceph_fsvolume_source_fields[] = {
        { "monitors", LIST, STRING, 0 },
        { "path", ONE, STRING, 0 },
        { "user", ONE, STRING, 0 },
        { "secretFile", ONE, STRING, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field cinder_volume_source_fields[] = {
        { "volumeID", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
};

static const struct type_field cluster_trust_bundle_projection_fields[] = {
        { "name", ONE, STRING, 0 },
        { "signerName", ONE, STRING, 0 },
        { "labelSelector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "optional", ONE, BOOL, 0 },
        { "path", ONE, STRING, 0 },
};

static const struct type_field config_map_env_source_fields[] = {
        { "name", ONE, STRING, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field config_map_key_selector_fields[] = {
        { "name", ONE, STRING, 0 },
        { "key", ONE, STRING, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field config_map_projection_fields[] = {
        { "name", ONE, STRING, 0 },
        { "items", LIST, OBJECT, T_KEY_TO_PATH },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field config_map_volume_source_fields[] = {
        { "name", ONE, STRING, 0 },
        { "items", LIST, OBJECT, T_KEY_TO_PATH },
        { "defaultMode", ONE, INT32, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field container_fields[] = {
        { "name", ONE, STRING, 0 },
        { "image", ONE, STRING, 0 },
        { "command", LIST, STRING, 0 },
        { "args", LIST, STRING, 0 },
        { "workingDir", ONE, STRING, 0 },
        { "ports", LIST, OBJECT, T_CONTAINER_PORT },
        { "envFrom", LIST, OBJECT, T_ENV_FROM_SOURCE },
        { "env", LIST, OBJECT, T_ENV_VAR },
        { "resources", ONE, OBJECT, T_RESOURCE_REQUIREMENTS },
        { "resizePolicy", LIST, OBJECT, T_CONTAINER_RESIZE_POLICY },
        { "restartPolicy", ONE, STRING, 0 },
        { "restartPolicyRules", LIST, OBJECT, T_CONTAINER_RESTART_RULE },
        { "volumeMounts", LIST, OBJECT, T_VOLUME_MOUNT },
        { "volumeDevices", LIST, OBJECT, T_VOLUME_DEVICE },
        { "livenessProbe", ONE, OBJECT, T_PROBE },
        { "readinessProbe", ONE, OBJECT, T_PROBE },
        { "startupProbe", ONE, OBJECT, T_PROBE },
        { "lifecycle", ONE, OBJECT, T_LIFECYCLE },
        { "terminationMessagePath", ONE, STRING, 0 },
        { "terminationMessagePolicy", ONE, STRING, 0 },
        { "imagePullPolicy", ONE, STRING, 0 },
        { "securityContext", ONE, OBJECT, T_SECURITY_CONTEXT },
        { "stdin", ONE, BOOL, 0 },
        { "stdinOnce", ONE, BOOL, 0 },
        { "tty", ONE, BOOL, 0 },
};

static const struct type_field container_extended_resource_request_fields[] = {
        { "containerName", ONE, STRING, 0 },
        { "resourceName", ONE, STRING, 0 },
        { "requestName", ONE, STRING, 0 },
};

static const struct type_field container_port_fields[] = {
        { "name", ONE, STRING, 0 },     { "hostPort", ONE, INT32, 0 }, { "containerPort", ONE, INT32, 0 },
        { "protocol", ONE, STRING, 0 }, { "hostIP", ONE, STRING, 0 },
};

static const struct type_field container_resize_policy_fields[] = {
        { "resourceName", ONE, STRING, 0 },
        { "restartPolicy", ONE, STRING, 0 },
};

static const struct type_field container_resource_metric_source_fields[] = {
        { "name", ONE, STRING, 0 },
        { "target", ONE, OBJECT, T_METRIC_TARGET },
        { "container", ONE, STRING, 0 },
};

static const struct type_field container_resource_metric_status_fields[] = {
        { "name", ONE, STRING, 0 },
        { "current", ONE, OBJECT, T_METRIC_VALUE_STATUS },
        { "container", ONE, STRING, 0 },
};

static const struct type_field container_restart_rule_fields[] = {
        { "action", ONE, STRING, 0 },
        { "exitCodes", ONE, OBJECT, T_CONTAINER_RESTART_RULE_ON_EXIT_CODES },
};

static const struct type_field container_restart_rule_on_exit_codes_fields[] = {
        { "operator", ONE, STRING, 0 },
        { "values", LIST, INT32, 0 },
};

static const struct type_field container_state_fields[] = {
        { "waiting", ONE, OBJECT, T_CONTAINER_STATE_WAITING },
        { "running", ONE, OBJECT, T_CONTAINER_STATE_RUNNING },
        { "terminated", ONE, OBJECT, T_CONTAINER_STATE_TERMINATED },
};

static const struct type_field container_state_running_fields[] = {
        { "startedAt", ONE, TIME, 0 },
};

static const struct type_field container_state_terminated_fields[] = {
        { "exitCode", ONE, INT32, 0 },     { "signal", ONE, INT32, 0 },   { "reason", ONE, STRING, 0 },
        { "message", ONE, STRING, 0 },     { "startedAt", ONE, TIME, 0 }, { "finishedAt", ONE, TIME, 0 },
        { "containerID", ONE, STRING, 0 },
};

static const struct type_field container_state_waiting_fields[] = {
        { "reason", ONE, STRING, 0 },
        { "message", ONE, STRING, 0 },
};

static const struct type_field container_status_fields[] = {
        { "name", ONE, STRING, 0 },
        { "state", ONE, OBJECT, T_CONTAINER_STATE },
        { "lastState", ONE, OBJECT, T_CONTAINER_STATE },
        { "ready", ONE, BOOL, 0 },
        { "restartCount", ONE, INT32, 0 },
        { "image", ONE, STRING, 0 },
        { "imageID", ONE, STRING, 0 },
        { "containerID", ONE, STRING, 0 },
        { "started", ONE, BOOL, 0 },
        { "allocatedResources", MAP, QUANTITY, 0 },
        { "resources", ONE, OBJECT, T_RESOURCE_REQUIREMENTS },
        { "volumeMounts", LIST, OBJECT, T_VOLUME_MOUNT_STATUS },
        { "user", ONE, OBJECT, T_CONTAINER_USER },
        { "allocatedResourcesStatus", LIST, OBJECT, T_RESOURCE_STATUS },
        { "stopSignal", ONE, STRING, 0 },
};

static const struct type_field container_user_fields[] = {
        { "linux", ONE, OBJECT, T_LINUX_CONTAINER_USER },
};

static const struct type_field cron_job_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_CRON_JOB_SPEC },
        { "status", ONE, OBJECT, T_CRON_JOB_STATUS },
};

static const struct type_field cron_job_spec_fields[] = {
        { "schedule", ONE, STRING, 0 },
        { "timeZone", ONE, STRING, 0 },
        { "startingDeadlineSeconds", ONE, INT64, 0 },
        { "concurrencyPolicy", ONE, STRING, 0 },
        { "suspend", ONE, BOOL, 0 },
        { "jobTemplate", ONE, OBJECT, T_JOB_TEMPLATE_SPEC },
        { "successfulJobsHistoryLimit", ONE, INT32, 0 },
        { "failedJobsHistoryLimit", ONE, INT32, 0 },
};

static const struct type_field cron_job_status_fields[] = {
        { "active", LIST, OBJECT, T_OBJECT_REFERENCE },
        { "lastScheduleTime", ONE, TIME, 0 },
        { "lastSuccessfulTime", ONE, TIME, 0 },
};

static const struct type_field cross_version_object_reference_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "name", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
};

static const struct type_field csivolume_source_fields[] = {
        { "driver", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
        { "fsType", ONE, STRING, 0 },
        { "volumeAttributes", MAP, STRING, 0 },
        { "nodePublishSecretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
};

static const struct type_field downward_apiprojection_fields[] = {
        { "items", LIST, OBJECT, T_DOWNWARD_APIVOLUME_FILE },
};

static const struct type_field downward_apivolume_file_fields[] = {
        { "path", ONE, STRING, 0 },
        { "fieldRef", ONE, OBJECT, T_OBJECT_FIELD_SELECTOR },
        { "resourceFieldRef", ONE, OBJECT, T_RESOURCE_FIELD_SELECTOR },
        { "mode", ONE, INT32, 0 },
};

static const struct type_field downward_apivolume_source_fields[] = {
        { "items", LIST, OBJECT, T_DOWNWARD_APIVOLUME_FILE },
        { "defaultMode", ONE, INT32, 0 },
};

static const struct type_field empty_dir_volume_source_fields[] = {
        { "medium", ONE, STRING, 0 },
        { "sizeLimit", ONE, QUANTITY, 0 },
};

static const struct type_field env_from_source_fields[] = {
        { "prefix", ONE, STRING, 0 },
        { "configMapRef", ONE, OBJECT, T_CONFIG_MAP_ENV_SOURCE },
        { "secretRef", ONE, OBJECT, T_SECRET_ENV_SOURCE },
};

static const struct type_field env_var_fields[] = {
        { "name", ONE, STRING, 0 },
        { "value", ONE, STRING, 0 },
        { "valueFrom", ONE, OBJECT, T_ENV_VAR_SOURCE },
};

static const struct type_field env_var_source_fields[] = {
        { "fieldRef", ONE, OBJECT, T_OBJECT_FIELD_SELECTOR },
        { "resourceFieldRef", ONE, OBJECT, T_RESOURCE_FIELD_SELECTOR },
        { "configMapKeyRef", ONE, OBJECT, T_CONFIG_MAP_KEY_SELECTOR },
        { "secretKeyRef", ONE, OBJECT, T_SECRET_KEY_SELECTOR },
        { "fileKeyRef", ONE, OBJECT, T_FILE_KEY_SELECTOR },
};

static const struct type_field ephemeral_container_fields[] = {
        { "name", ONE, STRING, 0 },
        { "image", ONE, STRING, 0 },
        { "command", LIST, STRING, 0 },
        { "args", LIST, STRING, 0 },
        { "workingDir", ONE, STRING, 0 },
        { "ports", LIST, OBJECT, T_CONTAINER_PORT },
        { "envFrom", LIST, OBJECT, T_ENV_FROM_SOURCE },
        { "env", LIST, OBJECT, T_ENV_VAR },
        { "resources", ONE, OBJECT, T_RESOURCE_REQUIREMENTS },
        { "resizePolicy", LIST, OBJECT, T_CONTAINER_RESIZE_POLICY },
        { "restartPolicy", ONE, STRING, 0 },
        { "restartPolicyRules", LIST, OBJECT, T_CONTAINER_RESTART_RULE },
        { "volumeMounts", LIST, OBJECT, T_VOLUME_MOUNT },
        { "volumeDevices", LIST, OBJECT, T_VOLUME_DEVICE },
        { "livenessProbe", ONE, OBJECT, T_PROBE },
        { "readinessProbe", ONE, OBJECT, T_PROBE },
        { "startupProbe", ONE, OBJECT, T_PROBE },
        { "lifecycle", ONE, OBJECT, T_LIFECYCLE },
        { "terminationMessagePath", ONE, STRING, 0 },
        { "terminationMessagePolicy", ONE, STRING, 0 },
        { "imagePullPolicy", ONE, STRING, 0 },
        { "securityContext", ONE, OBJECT, T_SECURITY_CONTEXT },
        { "stdin", ONE, BOOL, 0 },
        { "stdinOnce", ONE, BOOL, 0 },
        { "tty", ONE, BOOL, 0 },
        { "targetContainerName", ONE, STRING, 0 },
};

static const struct type_field ephemeral_volume_source_fields[] = {
        { "volumeClaimTemplate", ONE, OBJECT, T_PERSISTENT_VOLUME_CLAIM_TEMPLATE },
};

static const struct type_field exec_action_fields[] = {
        { "command", LIST, STRING, 0 },
};

static const struct type_field external_metric_source_fields[] = {
        { "metric", ONE, OBJECT, T_METRIC_IDENTIFIER },
        { "target", ONE, OBJECT, T_METRIC_TARGET },
};

static const struct type_field external_metric_status_fields[] = {
        { "metric", ONE, OBJECT, T_METRIC_IDENTIFIER },
        { "current", ONE, OBJECT, T_METRIC_VALUE_STATUS },
};

static const struct type_field fcvolume_source_fields[] = {
        { "targetWWNs", LIST, STRING, 0 }, { "lun", ONE, INT32, 0 },     { "fsType", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },      { "wwids", LIST, STRING, 0 },
};

static const struct type_field file_key_selector_fields[] = {
        { "volumeName", ONE, STRING, 0 },
        { "path", ONE, STRING, 0 },
        { "key", ONE, STRING, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field flex_volume_source_fields[] = {
        { "driver", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
        { "readOnly", ONE, BOOL, 0 },
        { "options", MAP, STRING, 0 },
};

static const struct type_field flocker_volume_source_fields[] = {
        { "datasetName", ONE, STRING, 0 },
        { "datasetUUID", ONE, STRING, 0 },
};

static const struct type_field gcepersistent_disk_volume_source_fields[] = {
        { "pdName", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "partition", ONE, INT32, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field git_repo_volume_source_fields[] = {
        { "repository", ONE, STRING, 0 },
        { "revision", ONE, STRING, 0 },
        { "directory", ONE, STRING, 0 },
};

static const struct type_field glusterfs_volume_source_fields[] = {
        { "endpoints", ONE, STRING, 0 },
        { "path", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field grpcaction_fields[] = {
        { "port", ONE, INT32, 0 },
        { "service", ONE, STRING, 0 },
};

static const struct type_field horizontal_pod_autoscaler_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_HORIZONTAL_POD_AUTOSCALER_SPEC },
        { "status", ONE, OBJECT, T_HORIZONTAL_POD_AUTOSCALER_STATUS },
};

static const struct type_field horizontal_pod_autoscaler_behavior_fields[] = {
        { "scaleUp", ONE, OBJECT, T_HPASCALING_RULES },
        { "scaleDown", ONE, OBJECT, T_HPASCALING_RULES },
};

static const struct type_field horizontal_pod_autoscaler_condition_fields[] = {
        { "type", ONE, STRING, 0 },   { "status", ONE, STRING, 0 },  { "lastTransitionTime", ONE, TIME, 0 },
        { "reason", ONE, STRING, 0 }, { "message", ONE, STRING, 0 },
};

static const struct type_field horizontal_pod_autoscaler_spec_fields[] = {
        { "scaleTargetRef", ONE, OBJECT, T_CROSS_VERSION_OBJECT_REFERENCE },
        { "minReplicas", ONE, INT32, 0 },
        { "maxReplicas", ONE, INT32, 0 },
        { "metrics", LIST, OBJECT, T_METRIC_SPEC },
        { "behavior", ONE, OBJECT, T_HORIZONTAL_POD_AUTOSCALER_BEHAVIOR },
};

static const struct type_field horizontal_pod_autoscaler_status_fields[] = {
        { "observedGeneration", ONE, INT64, 0 },
        { "lastScaleTime", ONE, TIME, 0 },
        { "currentReplicas", ONE, INT32, 0 },
        { "desiredReplicas", ONE, INT32, 0 },
        { "currentMetrics", LIST, OBJECT, T_METRIC_STATUS },
        { "conditions", LIST, OBJECT, T_HORIZONTAL_POD_AUTOSCALER_CONDITION },
};

static const struct type_field host_alias_fields[] = {
        { "ip", ONE, STRING, 0 },
        { "hostnames", LIST, STRING, 0 },
};

static const struct type_field host_ip_fields[] = {
        { "ip", ONE, STRING, 0 },
};

static const struct type_field host_path_volume_source_fields[] = {
        { "path", ONE, STRING, 0 },
        { "type", ONE, STRING, 0 },
};

static const struct type_field hpascaling_policy_fields[] = {
        { "type", ONE, STRING, 0 },
        { "value", ONE, INT32, 0 },
        { "periodSeconds", ONE, INT32, 0 },
};

static const struct type_field hpascaling_rules_fields[] = {
        { "stabilizationWindowSeconds", ONE, INT32, 0 },
        { "selectPolicy", ONE, STRING, 0 },
        { "policies", LIST, OBJECT, T_HPASCALING_POLICY },
        { "tolerance", ONE, QUANTITY, 0 },
};

static const struct type_field httpget_action_fields[] = {
        { "path", ONE, STRING, 0 },
        { "port", ONE, INT_OR_STRING, 0 },
        { "host", ONE, STRING, 0 },
        { "scheme", ONE, STRING, 0 },
        { "httpHeaders", LIST, OBJECT, T_HTTPHEADER },
};

static const struct type_field httpheader_fields[] = {
        { "name", ONE, STRING, 0 },
        { "value", ONE, STRING, 0 },
};

static const struct type_field image_volume_source_fields[] = {
        { "reference", ONE, STRING, 0 },
        { "pullPolicy", ONE, STRING, 0 },
};

static const struct type_field iscsivolume_source_fields[] = {
        { "targetPortal", ONE, STRING, 0 },
        { "iqn", ONE, STRING, 0 },
        { "lun", ONE, INT32, 0 },
        { "iscsiInterface", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
        { "portals", LIST, STRING, 0 },
        { "chapAuthDiscovery", ONE, BOOL, 0 },
        { "chapAuthSession", ONE, BOOL, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
        { "initiatorName", ONE, STRING, 0 },
};

static const struct type_field job_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_JOB_SPEC },
        { "status", ONE, OBJECT, T_JOB_STATUS },
};

static const struct type_field job_condition_fields[] = {
        { "type", ONE, STRING, 0 },        { "status", ONE, STRING, 0 },
        { "lastProbeTime", ONE, TIME, 0 }, { "lastTransitionTime", ONE, TIME, 0 },
        { "reason", ONE, STRING, 0 },      { "message", ONE, STRING, 0 },
};

static const struct type_field job_spec_fields[] = {
        { "parallelism", ONE, INT32, 0 },
        { "completions", ONE, INT32, 0 },
        { "activeDeadlineSeconds", ONE, INT64, 0 },
        { "podFailurePolicy", ONE, OBJECT, T_POD_FAILURE_POLICY },
        { "successPolicy", ONE, OBJECT, T_SUCCESS_POLICY },
        { "backoffLimit", ONE, INT32, 0 },
        { "backoffLimitPerIndex", ONE, INT32, 0 },
        { "maxFailedIndexes", ONE, INT32, 0 },
        { "selector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "manualSelector", ONE, BOOL, 0 },
        { "template", ONE, OBJECT, T_POD_TEMPLATE_SPEC },
        { "ttlSecondsAfterFinished", ONE, INT32, 0 },
        { "completionMode", ONE, STRING, 0 },
        { "suspend", ONE, BOOL, 0 },
        { "podReplacementPolicy", ONE, STRING, 0 },
        { "managedBy", ONE, STRING, 0 },
};

static const struct type_field job_status_fields[] = {
        { "conditions", LIST, OBJECT, T_JOB_CONDITION },
        { "startTime", ONE, TIME, 0 },
        { "completionTime", ONE, TIME, 0 },
        { "active", ONE, INT32, 0 },
        { "succeeded", ONE, INT32, 0 },
        { "failed", ONE, INT32, 0 },
        { "terminating", ONE, INT32, 0 },
        { "completedIndexes", ONE, STRING, 0 },
        { "failedIndexes", ONE, STRING, 0 },
        { "uncountedTerminatedPods", ONE, OBJECT, T_UNCOUNTED_TERMINATED_PODS },
        { "ready", ONE, INT32, 0 },
};

static const struct type_field job_template_spec_fields[] = {
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_JOB_SPEC },
};

static const struct type_field key_to_path_fields[] = {
        { "key", ONE, STRING, 0 },
        { "path", ONE, STRING, 0 },
        { "mode", ONE, INT32, 0 },
};

static const struct type_field label_selector_fields[] = {
        { "matchLabels", MAP, STRING, 0 },
        { "matchExpressions", LIST, OBJECT, T_LABEL_SELECTOR_REQUIREMENT },
};

static const struct type_field label_selector_requirement_fields[] = {
        { "key", ONE, STRING, 0 },
        { "operator", ONE, STRING, 0 },
        { "values", LIST, STRING, 0 },
};

static const struct type_field lifecycle_fields[] = {
        { "postStart", ONE, OBJECT, T_LIFECYCLE_HANDLER },
        { "preStop", ONE, OBJECT, T_LIFECYCLE_HANDLER },
        { "stopSignal", ONE, STRING, 0 },
};

static const struct type_field lifecycle_handler_fields[] = {
        { "exec", ONE, OBJECT, T_EXEC_ACTION },
        { "httpGet", ONE, OBJECT, T_HTTPGET_ACTION },
        { "tcpSocket", ONE, OBJECT, T_TCPSOCKET_ACTION },
        { "sleep", ONE, OBJECT, T_SLEEP_ACTION },
};

static const struct type_field linux_container_user_fields[] = {
        { "uid", ONE, INT64, 0 },
        { "gid", ONE, INT64, 0 },
        { "supplementalGroups", LIST, INT64, 0 },
};

static const struct type_field local_object_reference_fields[] = {
        { "name", ONE, STRING, 0 },
};

static const struct type_field managed_fields_entry_fields[] = {
        { "manager", ONE, STRING, 0 },     { "operation", ONE, STRING, 0 },  { "apiVersion", ONE, STRING, 0 },
        { "time", ONE, TIME, 0 },          { "fieldsType", ONE, STRING, 0 }, { "fieldsV1", ONE, FIELDS, 0 },
        { "subresource", ONE, STRING, 0 },
};

static const struct type_field metric_identifier_fields[] = {
        { "name", ONE, STRING, 0 },
        { "selector", ONE, OBJECT, T_LABEL_SELECTOR },
};

static const struct type_field metric_spec_fields[] = {
        { "type", ONE, STRING, 0 },
        { "object", ONE, OBJECT, T_OBJECT_METRIC_SOURCE },
        { "pods", ONE, OBJECT, T_PODS_METRIC_SOURCE },
        { "resource", ONE, OBJECT, T_RESOURCE_METRIC_SOURCE },
        { "containerResource", ONE, OBJECT, T_CONTAINER_RESOURCE_METRIC_SOURCE },
        { "external", ONE, OBJECT, T_EXTERNAL_METRIC_SOURCE },
};

static const struct type_field metric_status_fields[] = {
        { "type", ONE, STRING, 0 },
        { "object", ONE, OBJECT, T_OBJECT_METRIC_STATUS },
        { "pods", ONE, OBJECT, T_PODS_METRIC_STATUS },
        { "resource", ONE, OBJECT, T_RESOURCE_METRIC_STATUS },
        { "containerResource", ONE, OBJECT, T_CONTAINER_RESOURCE_METRIC_STATUS },
        { "external", ONE, OBJECT, T_EXTERNAL_METRIC_STATUS },
};

static const struct type_field metric_target_fields[] = {
        { "type", ONE, STRING, 0 },
        { "value", ONE, QUANTITY, 0 },
        { "averageValue", ONE, QUANTITY, 0 },
        { "averageUtilization", ONE, INT32, 0 },
};

static const struct type_field metric_value_status_fields[] = {
        { "value", ONE, QUANTITY, 0 },
        { "averageValue", ONE, QUANTITY, 0 },
        { "averageUtilization", ONE, INT32, 0 },
};

static const struct type_field modify_volume_status_fields[] = {
        { "targetVolumeAttributesClassName", ONE, STRING, 0 },
        { "status", ONE, STRING, 0 },
};

static const struct type_field nfsvolume_source_fields[] = {
        { "server", ONE, STRING, 0 },
        { "path", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field node_affinity_fields[] = {
        { "requiredDuringSchedulingIgnoredDuringExecution", ONE, OBJECT, T_NODE_SELECTOR },
        { "preferredDuringSchedulingIgnoredDuringExecution", LIST, OBJECT, T_PREFERRED_SCHEDULING_TERM },
};

static const struct type_field node_selector_fields[] = {
        { "nodeSelectorTerms", LIST, OBJECT, T_NODE_SELECTOR_TERM },
};

static const struct type_field node_selector_requirement_fields[] = {
        { "key", ONE, STRING, 0 },
        { "operator", ONE, STRING, 0 },
        { "values", LIST, STRING, 0 },
};

static const struct type_field node_selector_term_fields[] = {
        { "matchExpressions", LIST, OBJECT, T_NODE_SELECTOR_REQUIREMENT },
        { "matchFields", LIST, OBJECT, T_NODE_SELECTOR_REQUIREMENT },
};

static const struct type_field object_field_selector_fields[] = {
        { "apiVersion", ONE, STRING, 0 },
        { "fieldPath", ONE, STRING, 0 },
};

static const struct type_field object_meta_fields[] = {
        { "name", ONE, STRING, 0 },
        { "generateName", ONE, STRING, 0 },
        { "namespace", ONE, STRING, 0 },
        { "selfLink", ONE, STRING, 0 },
        { "uid", ONE, STRING, 0 },
        { "resourceVersion", ONE, STRING, 0 },
        { "generation", ONE, INT64, 0 },
        { "creationTimestamp", ONE, TIME, 0 },
        { "deletionTimestamp", ONE, TIME, 0 },
        { "deletionGracePeriodSeconds", ONE, INT64, 0 },
        { "labels", MAP, STRING, 0 },
        { "annotations", MAP, STRING, 0 },
        { "ownerReferences", LIST, OBJECT, T_OWNER_REFERENCE },
        { "finalizers", LIST, STRING, 0 },
        { "managedFields", LIST, OBJECT, T_MANAGED_FIELDS_ENTRY },
};

static const struct type_field object_metric_source_fields[] = {
        { "describedObject", ONE, OBJECT, T_CROSS_VERSION_OBJECT_REFERENCE },
        { "target", ONE, OBJECT, T_METRIC_TARGET },
        { "metric", ONE, OBJECT, T_METRIC_IDENTIFIER },
};

static const struct type_field object_metric_status_fields[] = {
        { "metric", ONE, OBJECT, T_METRIC_IDENTIFIER },
        { "current", ONE, OBJECT, T_METRIC_VALUE_STATUS },
        { "describedObject", ONE, OBJECT, T_CROSS_VERSION_OBJECT_REFERENCE },
};

static const struct type_field object_reference_fields[] = {
        { "kind", ONE, STRING, 0 },      { "namespace", ONE, STRING, 0 },  { "name", ONE, STRING, 0 },
        { "uid", ONE, STRING, 0 },       { "apiVersion", ONE, STRING, 0 }, { "resourceVersion", ONE, STRING, 0 },
        { "fieldPath", ONE, STRING, 0 },
};

static const struct type_field owner_reference_fields[] = {
        { "apiVersion", ONE, STRING, 0 }, { "kind", ONE, STRING, 0 },     { "name", ONE, STRING, 0 },
        { "uid", ONE, STRING, 0 },        { "controller", ONE, BOOL, 0 }, { "blockOwnerDeletion", ONE, BOOL, 0 },
};

static const struct type_field persistent_volume_claim_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_PERSISTENT_VOLUME_CLAIM_SPEC },
        { "status", ONE, OBJECT, T_PERSISTENT_VOLUME_CLAIM_STATUS },
};

static const struct type_field persistent_volume_claim_condition_fields[] = {
        { "type", ONE, STRING, 0 },        { "status", ONE, STRING, 0 },
        { "lastProbeTime", ONE, TIME, 0 }, { "lastTransitionTime", ONE, TIME, 0 },
        { "reason", ONE, STRING, 0 },      { "message", ONE, STRING, 0 },
};

static const struct type_field persistent_volume_claim_spec_fields[] = {
        { "accessModes", LIST, STRING, 0 },
        { "selector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "resources", ONE, OBJECT, T_VOLUME_RESOURCE_REQUIREMENTS },
        { "volumeName", ONE, STRING, 0 },
        { "storageClassName", ONE, STRING, 0 },
        { "volumeMode", ONE, STRING, 0 },
        { "dataSource", ONE, OBJECT, T_TYPED_LOCAL_OBJECT_REFERENCE },
        { "dataSourceRef", ONE, OBJECT, T_TYPED_OBJECT_REFERENCE },
        { "volumeAttributesClassName", ONE, STRING, 0 },
};

static const struct type_field persistent_volume_claim_status_fields[] = {
        { "phase", ONE, STRING, 0 },
        { "accessModes", LIST, STRING, 0 },
        { "capacity", MAP, QUANTITY, 0 },
        { "conditions", LIST, OBJECT, T_PERSISTENT_VOLUME_CLAIM_CONDITION },
        { "allocatedResources", MAP, QUANTITY, 0 },
        { "allocatedResourceStatuses", MAP, STRING, 0 },
        { "currentVolumeAttributesClassName", ONE, STRING, 0 },
        { "modifyVolumeStatus", ONE, OBJECT, T_MODIFY_VOLUME_STATUS },
};

static const struct type_field persistent_volume_claim_template_fields[] = {
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_PERSISTENT_VOLUME_CLAIM_SPEC },
};

static const struct type_field persistent_volume_claim_volume_source_fields[] = {
        { "claimName", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field photon_persistent_disk_volume_source_fields[] = {
        { "pdID", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
};

static const struct type_field pod_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_POD_SPEC },
        { "status", ONE, OBJECT, T_POD_STATUS },
};

static const struct type_field pod_affinity_fields[] = {
        { "requiredDuringSchedulingIgnoredDuringExecution", LIST, OBJECT, T_POD_AFFINITY_TERM },
        { "preferredDuringSchedulingIgnoredDuringExecution", LIST, OBJECT, T_WEIGHTED_POD_AFFINITY_TERM },
};

static const struct type_field pod_affinity_term_fields[] = {
        { "labelSelector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "namespaces", LIST, STRING, 0 },
        { "topologyKey", ONE, STRING, 0 },
        { "namespaceSelector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "matchLabelKeys", LIST, STRING, 0 },
        { "mismatchLabelKeys", LIST, STRING, 0 },
};

static const struct type_field pod_anti_affinity_fields[] = {
        { "requiredDuringSchedulingIgnoredDuringExecution", LIST, OBJECT, T_POD_AFFINITY_TERM },
        { "preferredDuringSchedulingIgnoredDuringExecution", LIST, OBJECT, T_WEIGHTED_POD_AFFINITY_TERM },
};

static const struct type_field pod_certificate_projection_fields[] = {
        { "signerName", ONE, STRING, 0 },
        { "keyType", ONE, STRING, 0 },
        { "maxExpirationSeconds", ONE, INT32, 0 },
        { "credentialBundlePath", ONE, STRING, 0 },
        { "keyPath", ONE, STRING, 0 },
        { "certificateChainPath", ONE, STRING, 0 },
        { "userAnnotations", MAP, STRING, 0 },
};

static const struct type_field pod_condition_fields[] = {
        { "type", ONE, STRING, 0 },        { "observedGeneration", ONE, INT64, 0 }, { "status", ONE, STRING, 0 },
        { "lastProbeTime", ONE, TIME, 0 }, { "lastTransitionTime", ONE, TIME, 0 },  { "reason", ONE, STRING, 0 },
        { "message", ONE, STRING, 0 },
};

static const struct type_field pod_dnsconfig_fields[] = {
        { "nameservers", LIST, STRING, 0 },
        { "searches", LIST, STRING, 0 },
        { "options", LIST, OBJECT, T_POD_DNSCONFIG_OPTION },
};

static const struct type_field pod_dnsconfig_option_fields[] = {
        { "name", ONE, STRING, 0 },
        { "value", ONE, STRING, 0 },
};

static const struct type_field pod_extended_resource_claim_status_fields[] = {
        { "requestMappings", LIST, OBJECT, T_CONTAINER_EXTENDED_RESOURCE_REQUEST },
        { "resourceClaimName", ONE, STRING, 0 },
};

static const struct type_field pod_failure_policy_fields[] = {
        { "rules", LIST, OBJECT, T_POD_FAILURE_POLICY_RULE },
};

static const struct type_field pod_failure_policy_on_exit_codes_requirement_fields[] = {
        { "containerName", ONE, STRING, 0 },
        { "operator", ONE, STRING, 0 },
        { "values", LIST, INT32, 0 },
};

static const struct type_field pod_failure_policy_on_pod_conditions_pattern_fields[] = {
        { "type", ONE, STRING, 0 },
        { "status", ONE, STRING, 0 },
};

static const struct type_field pod_failure_policy_rule_fields[] = {
        { "action", ONE, STRING, 0 },
        { "onExitCodes", ONE, OBJECT, T_POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT },
        { "onPodConditions", LIST, OBJECT, T_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN },
};

static const struct type_field pod_ip_fields[] = {
        { "ip", ONE, STRING, 0 },
};

static const struct type_field pod_os_fields[] = {
        { "name", ONE, STRING, 0 },
};

static const struct type_field pod_readiness_gate_fields[] = {
        { "conditionType", ONE, STRING, 0 },
};

static const struct type_field pod_resource_claim_fields[] = {
        { "name", ONE, STRING, 0 },
        { "resourceClaimName", ONE, STRING, 0 },
        { "resourceClaimTemplateName", ONE, STRING, 0 },
};

static const struct type_field pod_resource_claim_status_fields[] = {
        { "name", ONE, STRING, 0 },
        { "resourceClaimName", ONE, STRING, 0 },
};

static const struct type_field pod_scheduling_gate_fields[] = {
        { "name", ONE, STRING, 0 },
};

static const struct type_field pod_security_context_fields[] = {
        { "seLinuxOptions", ONE, OBJECT, T_SELINUX_OPTIONS },
        { "windowsOptions", ONE, OBJECT, T_WINDOWS_SECURITY_CONTEXT_OPTIONS },
        { "runAsUser", ONE, INT64, 0 },
        { "runAsGroup", ONE, INT64, 0 },
        { "runAsNonRoot", ONE, BOOL, 0 },
        { "supplementalGroups", LIST, INT64, 0 },
        { "supplementalGroupsPolicy", ONE, STRING, 0 },
        { "fsGroup", ONE, INT64, 0 },
        { "sysctls", LIST, OBJECT, T_SYSCTL },
        { "fsGroupChangePolicy", ONE, STRING, 0 },
        { "seccompProfile", ONE, OBJECT, T_SECCOMP_PROFILE },
        { "appArmorProfile", ONE, OBJECT, T_APP_ARMOR_PROFILE },
        { "seLinuxChangePolicy", ONE, STRING, 0 },
};

static const struct type_field pod_spec_fields[] = {
        { "volumes", LIST, OBJECT, T_VOLUME },
        { "initContainers", LIST, OBJECT, T_CONTAINER },
        { "containers", LIST, OBJECT, T_CONTAINER },
        { "ephemeralContainers", LIST, OBJECT, T_EPHEMERAL_CONTAINER },
        { "restartPolicy", ONE, STRING, 0 },
        { "terminationGracePeriodSeconds", ONE, INT64, 0 },
        { "activeDeadlineSeconds", ONE, INT64, 0 },
        { "dnsPolicy", ONE, STRING, 0 },
        { "nodeSelector", MAP, STRING, 0 },
        { "serviceAccountName", ONE, STRING, 0 },
        { "serviceAccount", ONE, STRING, 0 },
        { "automountServiceAccountToken", ONE, BOOL, 0 },
        { "nodeName", ONE, STRING, 0 },
        { "hostNetwork", ONE, BOOL, 0 },
        { "hostPID", ONE, BOOL, 0 },
        { "hostIPC", ONE, BOOL, 0 },
        { "shareProcessNamespace", ONE, BOOL, 0 },
        { "securityContext", ONE, OBJECT, T_POD_SECURITY_CONTEXT },
        { "imagePullSecrets", LIST, OBJECT, T_LOCAL_OBJECT_REFERENCE },
        { "hostname", ONE, STRING, 0 },
        { "subdomain", ONE, STRING, 0 },
        { "affinity", ONE, OBJECT, T_AFFINITY },
        { "schedulerName", ONE, STRING, 0 },
        { "tolerations", LIST, OBJECT, T_TOLERATION },
        { "hostAliases", LIST, OBJECT, T_HOST_ALIAS },
        { "priorityClassName", ONE, STRING, 0 },
        { "priority", ONE, INT32, 0 },
        { "dnsConfig", ONE, OBJECT, T_POD_DNSCONFIG },
        { "readinessGates", LIST, OBJECT, T_POD_READINESS_GATE },
        { "runtimeClassName", ONE, STRING, 0 },
        { "enableServiceLinks", ONE, BOOL, 0 },
        { "preemptionPolicy", ONE, STRING, 0 },
        { "overhead", MAP, QUANTITY, 0 },
        { "topologySpreadConstraints", LIST, OBJECT, T_TOPOLOGY_SPREAD_CONSTRAINT },
        { "setHostnameAsFQDN", ONE, BOOL, 0 },
        { "os", ONE, OBJECT, T_POD_OS },
        { "hostUsers", ONE, BOOL, 0 },
        { "schedulingGates", LIST, OBJECT, T_POD_SCHEDULING_GATE },
        { "resourceClaims", LIST, OBJECT, T_POD_RESOURCE_CLAIM },
        { "resources", ONE, OBJECT, T_RESOURCE_REQUIREMENTS },
        { "hostnameOverride", ONE, STRING, 0 },
        { "workloadRef", ONE, OBJECT, T_WORKLOAD_REFERENCE },
};

static const struct type_field pod_status_fields[] = {
        { "observedGeneration", ONE, INT64, 0 },
        { "phase", ONE, STRING, 0 },
        { "conditions", LIST, OBJECT, T_POD_CONDITION },
        { "message", ONE, STRING, 0 },
        { "reason", ONE, STRING, 0 },
        { "nominatedNodeName", ONE, STRING, 0 },
        { "hostIP", ONE, STRING, 0 },
        { "hostIPs", LIST, OBJECT, T_HOST_IP },
        { "podIP", ONE, STRING, 0 },
        { "podIPs", LIST, OBJECT, T_POD_IP },
        { "startTime", ONE, TIME, 0 },
        { "initContainerStatuses", LIST, OBJECT, T_CONTAINER_STATUS },
        { "containerStatuses", LIST, OBJECT, T_CONTAINER_STATUS },
        { "qosClass", ONE, STRING, 0 },
        { "ephemeralContainerStatuses", LIST, OBJECT, T_CONTAINER_STATUS },
        { "resize", ONE, STRING, 0 },
        { "resourceClaimStatuses", LIST, OBJECT, T_POD_RESOURCE_CLAIM_STATUS },
        { "extendedResourceClaimStatus", ONE, OBJECT, T_POD_EXTENDED_RESOURCE_CLAIM_STATUS },
        { "allocatedResources", MAP, QUANTITY, 0 },
        { "resources", ONE, OBJECT, T_RESOURCE_REQUIREMENTS },
};

static const struct type_field pod_template_spec_fields[] = {
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_POD_SPEC },
};

static const struct type_field pods_metric_source_fields[] = {
        { "metric", ONE, OBJECT, T_METRIC_IDENTIFIER },
        { "target", ONE, OBJECT, T_METRIC_TARGET },
};

static const struct type_field pods_metric_status_fields[] = {
        { "metric", ONE, OBJECT, T_METRIC_IDENTIFIER },
        { "current", ONE, OBJECT, T_METRIC_VALUE_STATUS },
};

static const struct type_field portworx_volume_source_fields[] = {
        { "volumeID", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field preferred_scheduling_term_fields[] = {
        { "weight", ONE, INT32, 0 },
        { "preference", ONE, OBJECT, T_NODE_SELECTOR_TERM },
};

static const struct type_field probe_fields[] = {
        { "exec", ONE, OBJECT, T_EXEC_ACTION },
        { "httpGet", ONE, OBJECT, T_HTTPGET_ACTION },
        { "tcpSocket", ONE, OBJECT, T_TCPSOCKET_ACTION },
        { "grpc", ONE, OBJECT, T_GRPCACTION },
        { "initialDelaySeconds", ONE, INT32, 0 },
        { "timeoutSeconds", ONE, INT32, 0 },
        { "periodSeconds", ONE, INT32, 0 },
        { "successThreshold", ONE, INT32, 0 },
        { "failureThreshold", ONE, INT32, 0 },
        { "terminationGracePeriodSeconds", ONE, INT64, 0 },
};

static const struct type_field projected_volume_source_fields[] = {
        { "sources", LIST, OBJECT, T_VOLUME_PROJECTION },
        { "defaultMode", ONE, INT32, 0 },
};

static const struct type_field quobyte_volume_source_fields[] = {
        { "registry", ONE, STRING, 0 }, { "volume", ONE, STRING, 0 }, { "readOnly", ONE, BOOL, 0 },
        { "user", ONE, STRING, 0 },     { "group", ONE, STRING, 0 },  { "tenant", ONE, STRING, 0 },
};

static const struct type_field rbdvolume_source_fields[] = {
        { "monitors", LIST, STRING, 0 },
        { "image", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "pool", ONE, STRING, 0 },
        { "user", ONE, STRING, 0 },
        { "keyring", ONE, STRING, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field replica_set_fields[] = {
        { "kind", ONE, STRING, 0 },
        { "apiVersion", ONE, STRING, 0 },
        { "metadata", ONE, OBJECT, T_OBJECT_META },
        { "spec", ONE, OBJECT, T_REPLICA_SET_SPEC },
        { "status", ONE, OBJECT, T_REPLICA_SET_STATUS },
};

static const struct type_field replica_set_condition_fields[] = {
        { "type", ONE, STRING, 0 },   { "status", ONE, STRING, 0 },  { "lastTransitionTime", ONE, TIME, 0 },
        { "reason", ONE, STRING, 0 }, { "message", ONE, STRING, 0 },
};

static const struct type_field replica_set_spec_fields[] = {
        { "replicas", ONE, INT32, 0 },
        { "minReadySeconds", ONE, INT32, 0 },
        { "selector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "template", ONE, OBJECT, T_POD_TEMPLATE_SPEC },
};

static const struct type_field replica_set_status_fields[] = {
        { "replicas", ONE, INT32, 0 },
        { "fullyLabeledReplicas", ONE, INT32, 0 },
        { "readyReplicas", ONE, INT32, 0 },
        { "availableReplicas", ONE, INT32, 0 },
        { "terminatingReplicas", ONE, INT32, 0 },
        { "observedGeneration", ONE, INT64, 0 },
        { "conditions", LIST, OBJECT, T_REPLICA_SET_CONDITION },
};

static const struct type_field resource_claim_fields[] = {
        { "name", ONE, STRING, 0 },
        { "request", ONE, STRING, 0 },
};

static const struct type_field resource_field_selector_fields[] = {
        { "containerName", ONE, STRING, 0 },
        { "resource", ONE, STRING, 0 },
        { "divisor", ONE, QUANTITY, 0 },
};

static const struct type_field resource_health_fields[] = {
        { "resourceID", ONE, STRING, 0 },
        { "health", ONE, STRING, 0 },
};

static const struct type_field resource_metric_source_fields[] = {
        { "name", ONE, STRING, 0 },
        { "target", ONE, OBJECT, T_METRIC_TARGET },
};

static const struct type_field resource_metric_status_fields[] = {
        { "name", ONE, STRING, 0 },
        { "current", ONE, OBJECT, T_METRIC_VALUE_STATUS },
};

static const struct type_field resource_requirements_fields[] = {
        { "limits", MAP, QUANTITY, 0 },
        { "requests", MAP, QUANTITY, 0 },
        { "claims", LIST, OBJECT, T_RESOURCE_CLAIM },
};

static const struct type_field resource_status_fields[] = {
        { "name", ONE, STRING, 0 },
        { "resources", LIST, OBJECT, T_RESOURCE_HEALTH },
};

static const struct type_field scale_iovolume_source_fields[] = {
        { "gateway", ONE, STRING, 0 },
        { "system", ONE, STRING, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
        { "sslEnabled", ONE, BOOL, 0 },
        { "protectionDomain", ONE, STRING, 0 },
        { "storagePool", ONE, STRING, 0 },
        { "storageMode", ONE, STRING, 0 },
        { "volumeName", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
};

static const struct type_field seccomp_profile_fields[] = {
        { "type", ONE, STRING, 0 },
        { "localhostProfile", ONE, STRING, 0 },
};

static const struct type_field secret_env_source_fields[] = {
        { "name", ONE, STRING, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field secret_key_selector_fields[] = {
        { "name", ONE, STRING, 0 },
        { "key", ONE, STRING, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field secret_projection_fields[] = {
        { "name", ONE, STRING, 0 },
        { "items", LIST, OBJECT, T_KEY_TO_PATH },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field secret_volume_source_fields[] = {
        { "secretName", ONE, STRING, 0 },
        { "items", LIST, OBJECT, T_KEY_TO_PATH },
        { "defaultMode", ONE, INT32, 0 },
        { "optional", ONE, BOOL, 0 },
};

static const struct type_field security_context_fields[] = {
        { "capabilities", ONE, OBJECT, T_CAPABILITIES },
        { "privileged", ONE, BOOL, 0 },
        { "seLinuxOptions", ONE, OBJECT, T_SELINUX_OPTIONS },
        { "windowsOptions", ONE, OBJECT, T_WINDOWS_SECURITY_CONTEXT_OPTIONS },
        { "runAsUser", ONE, INT64, 0 },
        { "runAsGroup", ONE, INT64, 0 },
        { "runAsNonRoot", ONE, BOOL, 0 },
        { "readOnlyRootFilesystem", ONE, BOOL, 0 },
        { "allowPrivilegeEscalation", ONE, BOOL, 0 },
        { "procMount", ONE, STRING, 0 },
        { "seccompProfile", ONE, OBJECT, T_SECCOMP_PROFILE },
        { "appArmorProfile", ONE, OBJECT, T_APP_ARMOR_PROFILE },
};

static const struct type_field selinux_options_fields[] = {
        { "user", ONE, STRING, 0 },
        { "role", ONE, STRING, 0 },
        { "type", ONE, STRING, 0 },
        { "level", ONE, STRING, 0 },
};

static const struct type_field service_account_token_projection_fields[] = {
        { "audience", ONE, STRING, 0 },
        { "expirationSeconds", ONE, INT64, 0 },
        { "path", ONE, STRING, 0 },
};

static const struct type_field sleep_action_fields[] = {
        { "seconds", ONE, INT64, 0 },
};

static const struct type_field storage_osvolume_source_fields[] = {
        { "volumeName", ONE, STRING, 0 },
        { "volumeNamespace", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
        { "secretRef", ONE, OBJECT, T_LOCAL_OBJECT_REFERENCE },
};

static const struct type_field success_policy_fields[] = {
        { "rules", LIST, OBJECT, T_SUCCESS_POLICY_RULE },
};

static const struct type_field success_policy_rule_fields[] = {
        { "succeededIndexes", ONE, STRING, 0 },
        { "succeededCount", ONE, INT32, 0 },
};

static const struct type_field sysctl_fields[] = {
        { "name", ONE, STRING, 0 },
        { "value", ONE, STRING, 0 },
};

static const struct type_field tcpsocket_action_fields[] = {
        { "port", ONE, INT_OR_STRING, 0 },
        { "host", ONE, STRING, 0 },
};

static const struct type_field toleration_fields[] = {
        { "key", ONE, STRING, 0 },    { "operator", ONE, STRING, 0 },         { "value", ONE, STRING, 0 },
        { "effect", ONE, STRING, 0 }, { "tolerationSeconds", ONE, INT64, 0 },
};

static const struct type_field topology_spread_constraint_fields[] = {
        { "maxSkew", ONE, INT32, 0 },
        { "topologyKey", ONE, STRING, 0 },
        { "whenUnsatisfiable", ONE, STRING, 0 },
        { "labelSelector", ONE, OBJECT, T_LABEL_SELECTOR },
        { "minDomains", ONE, INT32, 0 },
        { "nodeAffinityPolicy", ONE, STRING, 0 },
        { "nodeTaintsPolicy", ONE, STRING, 0 },
        { "matchLabelKeys", LIST, STRING, 0 },
};

static const struct type_field typed_local_object_reference_fields[] = {
        { "apiGroup", ONE, STRING, 0 },
        { "kind", ONE, STRING, 0 },
        { "name", ONE, STRING, 0 },
};

static const struct type_field typed_object_reference_fields[] = {
        { "apiGroup", ONE, STRING, 0 },
        { "kind", ONE, STRING, 0 },
        { "name", ONE, STRING, 0 },
        { "namespace", ONE, STRING, 0 },
};

static const struct type_field uncounted_terminated_pods_fields[] = {
        { "succeeded", LIST, STRING, 0 },
        { "failed", LIST, STRING, 0 },
};

static const struct type_field volume_fields[] = {
        { "name", ONE, STRING, 0 },
        { "hostPath", ONE, OBJECT, T_HOST_PATH_VOLUME_SOURCE },
        { "emptyDir", ONE, OBJECT, T_EMPTY_DIR_VOLUME_SOURCE },
        { "gcePersistentDisk", ONE, OBJECT, T_GCEPERSISTENT_DISK_VOLUME_SOURCE },
        { "awsElasticBlockStore", ONE, OBJECT, T_AWSELASTIC_BLOCK_STORE_VOLUME_SOURCE },
        { "gitRepo", ONE, OBJECT, T_GIT_REPO_VOLUME_SOURCE },
        { "secret", ONE, OBJECT, T_SECRET_VOLUME_SOURCE },
        { "nfs", ONE, OBJECT, T_NFSVOLUME_SOURCE },
        { "iscsi", ONE, OBJECT, T_ISCSIVOLUME_SOURCE },
        { "glusterfs", ONE, OBJECT, T_GLUSTERFS_VOLUME_SOURCE },
        { "persistentVolumeClaim", ONE, OBJECT, T_PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE },
        { "rbd", ONE, OBJECT, T_RBDVOLUME_SOURCE },
        { "flexVolume", ONE, OBJECT, T_FLEX_VOLUME_SOURCE },
        { "cinder", ONE, OBJECT, T_CINDER_VOLUME_SOURCE },
        { "cephfs", ONE, OBJECT, T_CEPH_FSVOLUME_SOURCE },
        { "flocker", ONE, OBJECT, T_FLOCKER_VOLUME_SOURCE },
        { "downwardAPI", ONE, OBJECT, T_DOWNWARD_APIVOLUME_SOURCE },
        { "fc", ONE, OBJECT, T_FCVOLUME_SOURCE },
        { "azureFile", ONE, OBJECT, T_AZURE_FILE_VOLUME_SOURCE },
        { "configMap", ONE, OBJECT, T_CONFIG_MAP_VOLUME_SOURCE },
        { "vsphereVolume", ONE, OBJECT, T_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE },
        { "quobyte", ONE, OBJECT, T_QUOBYTE_VOLUME_SOURCE },
        { "azureDisk", ONE, OBJECT, T_AZURE_DISK_VOLUME_SOURCE },
        { "photonPersistentDisk", ONE, OBJECT, T_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE },
        { "projected", ONE, OBJECT, T_PROJECTED_VOLUME_SOURCE },
        { "portworxVolume", ONE, OBJECT, T_PORTWORX_VOLUME_SOURCE },
        { "scaleIO", ONE, OBJECT, T_SCALE_IOVOLUME_SOURCE },
        { "storageos", ONE, OBJECT, T_STORAGE_OSVOLUME_SOURCE },
        { "csi", ONE, OBJECT, T_CSIVOLUME_SOURCE },
        { "ephemeral", ONE, OBJECT, T_EPHEMERAL_VOLUME_SOURCE },
        { "image", ONE, OBJECT, T_IMAGE_VOLUME_SOURCE },
};

static const struct type_field volume_device_fields[] = {
        { "name", ONE, STRING, 0 },
        { "devicePath", ONE, STRING, 0 },
};

static const struct type_field volume_mount_fields[] = {
        { "name", ONE, STRING, 0 },        { "readOnly", ONE, BOOL, 0 },  { "recursiveReadOnly", ONE, STRING, 0 },
        { "mountPath", ONE, STRING, 0 },   { "subPath", ONE, STRING, 0 }, { "mountPropagation", ONE, STRING, 0 },
        { "subPathExpr", ONE, STRING, 0 },
};

static const struct type_field volume_mount_status_fields[] = {
        { "name", ONE, STRING, 0 },
        { "mountPath", ONE, STRING, 0 },
        { "readOnly", ONE, BOOL, 0 },
        { "recursiveReadOnly", ONE, STRING, 0 },
};

static const struct type_field volume_projection_fields[] = {
        { "secret", ONE, OBJECT, T_SECRET_PROJECTION },
        { "downwardAPI", ONE, OBJECT, T_DOWNWARD_APIPROJECTION },
        { "configMap", ONE, OBJECT, T_CONFIG_MAP_PROJECTION },
        { "serviceAccountToken", ONE, OBJECT, T_SERVICE_ACCOUNT_TOKEN_PROJECTION },
        { "clusterTrustBundle", ONE, OBJECT, T_CLUSTER_TRUST_BUNDLE_PROJECTION },
        { "podCertificate", ONE, OBJECT, T_POD_CERTIFICATE_PROJECTION },
};

static const struct type_field volume_resource_requirements_fields[] = {
        { "limits", MAP, QUANTITY, 0 },
        { "requests", MAP, QUANTITY, 0 },
};

static const struct type_field vsphere_virtual_disk_volume_source_fields[] = {
        { "volumePath", ONE, STRING, 0 },
        { "fsType", ONE, STRING, 0 },
        { "storagePolicyName", ONE, STRING, 0 },
        { "storagePolicyID", ONE, STRING, 0 },
};

static const struct type_field weighted_pod_affinity_term_fields[] = {
        { "weight", ONE, INT32, 0 },
        { "podAffinityTerm", ONE, OBJECT, T_POD_AFFINITY_TERM },
};

static const struct type_field windows_security_context_options_fields[] = {
        { "gmsaCredentialSpecName", ONE, STRING, 0 },
        { "gmsaCredentialSpec", ONE, STRING, 0 },
        { "runAsUserName", ONE, STRING, 0 },
        { "hostProcess", ONE, BOOL, 0 },
};

static const struct type_field workload_reference_fields[] = {
        { "name", ONE, STRING, 0 },
        { "podGroup", ONE, STRING, 0 },
        { "podGroupReplicaKey", ONE, STRING, 0 },
};

static const struct type types[] = {
        [T_AFFINITY] = TYPE(affinity_fields),
        [T_APP_ARMOR_PROFILE] = TYPE(app_armor_profile_fields),
        [T_AWSELASTIC_BLOCK_STORE_VOLUME_SOURCE] = TYPE(awselastic_block_store_volume_source_fields),
        [T_AZURE_DISK_VOLUME_SOURCE] = TYPE(azure_disk_volume_source_fields),
        [T_AZURE_FILE_VOLUME_SOURCE] = TYPE(azure_file_volume_source_fields),
        [T_CAPABILITIES] = TYPE(capabilities_fields),
        [T_CEPH_FSVOLUME_SOURCE] = TYPE(ceph_fsvolume_source_fields),
        [T_CINDER_VOLUME_SOURCE] = TYPE(cinder_volume_source_fields),
        [T_CLUSTER_TRUST_BUNDLE_PROJECTION] = TYPE(cluster_trust_bundle_projection_fields),
        [T_CONFIG_MAP_ENV_SOURCE] = TYPE(config_map_env_source_fields),
        [T_CONFIG_MAP_KEY_SELECTOR] = TYPE(config_map_key_selector_fields),
        [T_CONFIG_MAP_PROJECTION] = TYPE(config_map_projection_fields),
        [T_CONFIG_MAP_VOLUME_SOURCE] = TYPE(config_map_volume_source_fields),
        [T_CONTAINER] = TYPE(container_fields),
        [T_CONTAINER_EXTENDED_RESOURCE_REQUEST] = TYPE(container_extended_resource_request_fields),
        [T_CONTAINER_PORT] = TYPE(container_port_fields),
        [T_CONTAINER_RESIZE_POLICY] = TYPE(container_resize_policy_fields),
        [T_CONTAINER_RESOURCE_METRIC_SOURCE] = TYPE(container_resource_metric_source_fields),
        [T_CONTAINER_RESOURCE_METRIC_STATUS] = TYPE(container_resource_metric_status_fields),
        [T_CONTAINER_RESTART_RULE] = TYPE(container_restart_rule_fields),
        [T_CONTAINER_RESTART_RULE_ON_EXIT_CODES] = TYPE(container_restart_rule_on_exit_codes_fields),
        [T_CONTAINER_STATE] = TYPE(container_state_fields),
        [T_CONTAINER_STATE_RUNNING] = TYPE(container_state_running_fields),
        [T_CONTAINER_STATE_TERMINATED] = TYPE(container_state_terminated_fields),
        [T_CONTAINER_STATE_WAITING] = TYPE(container_state_waiting_fields),
        [T_CONTAINER_STATUS] = TYPE(container_status_fields),
        [T_CONTAINER_USER] = TYPE(container_user_fields),
        [T_CRON_JOB] = TYPE(cron_job_fields),
        [T_CRON_JOB_SPEC] = TYPE(cron_job_spec_fields),
        [T_CRON_JOB_STATUS] = TYPE(cron_job_status_fields),
        [T_CROSS_VERSION_OBJECT_REFERENCE] = TYPE(cross_version_object_reference_fields),
        [T_CSIVOLUME_SOURCE] = TYPE(csivolume_source_fields),
        [T_DOWNWARD_APIPROJECTION] = TYPE(downward_apiprojection_fields),
        [T_DOWNWARD_APIVOLUME_FILE] = TYPE(downward_apivolume_file_fields),
        [T_DOWNWARD_APIVOLUME_SOURCE] = TYPE(downward_apivolume_source_fields),
        [T_EMPTY_DIR_VOLUME_SOURCE] = TYPE(empty_dir_volume_source_fields),
        [T_ENV_FROM_SOURCE] = TYPE(env_from_source_fields),
        [T_ENV_VAR] = TYPE(env_var_fields),
        [T_ENV_VAR_SOURCE] = TYPE(env_var_source_fields),
        [T_EPHEMERAL_CONTAINER] = TYPE(ephemeral_container_fields),
        [T_EPHEMERAL_VOLUME_SOURCE] = TYPE(ephemeral_volume_source_fields),
        [T_EXEC_ACTION] = TYPE(exec_action_fields),
        [T_EXTERNAL_METRIC_SOURCE] = TYPE(external_metric_source_fields),
        [T_EXTERNAL_METRIC_STATUS] = TYPE(external_metric_status_fields),
        [T_FCVOLUME_SOURCE] = TYPE(fcvolume_source_fields),
        [T_FILE_KEY_SELECTOR] = TYPE(file_key_selector_fields),
        [T_FLEX_VOLUME_SOURCE] = TYPE(flex_volume_source_fields),
        [T_FLOCKER_VOLUME_SOURCE] = TYPE(flocker_volume_source_fields),
        [T_GCEPERSISTENT_DISK_VOLUME_SOURCE] = TYPE(gcepersistent_disk_volume_source_fields),
        [T_GIT_REPO_VOLUME_SOURCE] = TYPE(git_repo_volume_source_fields),
        [T_GLUSTERFS_VOLUME_SOURCE] = TYPE(glusterfs_volume_source_fields),
        [T_GRPCACTION] = TYPE(grpcaction_fields),
        [T_HORIZONTAL_POD_AUTOSCALER] = TYPE(horizontal_pod_autoscaler_fields),
        [T_HORIZONTAL_POD_AUTOSCALER_BEHAVIOR] = TYPE(horizontal_pod_autoscaler_behavior_fields),
        [T_HORIZONTAL_POD_AUTOSCALER_CONDITION] = TYPE(horizontal_pod_autoscaler_condition_fields),
        [T_HORIZONTAL_POD_AUTOSCALER_SPEC] = TYPE(horizontal_pod_autoscaler_spec_fields),
        [T_HORIZONTAL_POD_AUTOSCALER_STATUS] = TYPE(horizontal_pod_autoscaler_status_fields),
        [T_HOST_ALIAS] = TYPE(host_alias_fields),
        [T_HOST_IP] = TYPE(host_ip_fields),
        [T_HOST_PATH_VOLUME_SOURCE] = TYPE(host_path_volume_source_fields),
        [T_HPASCALING_POLICY] = TYPE(hpascaling_policy_fields),
        [T_HPASCALING_RULES] = TYPE(hpascaling_rules_fields),
        [T_HTTPGET_ACTION] = TYPE(httpget_action_fields),
        [T_HTTPHEADER] = TYPE(httpheader_fields),
        [T_IMAGE_VOLUME_SOURCE] = TYPE(image_volume_source_fields),
        [T_ISCSIVOLUME_SOURCE] = TYPE(iscsivolume_source_fields),
        [T_JOB] = TYPE(job_fields),
        [T_JOB_CONDITION] = TYPE(job_condition_fields),
        [T_JOB_SPEC] = TYPE(job_spec_fields),
        [T_JOB_STATUS] = TYPE(job_status_fields),
        [T_JOB_TEMPLATE_SPEC] = TYPE(job_template_spec_fields),
        [T_KEY_TO_PATH] = TYPE(key_to_path_fields),
        [T_LABEL_SELECTOR] = TYPE(label_selector_fields),
        [T_LABEL_SELECTOR_REQUIREMENT] = TYPE(label_selector_requirement_fields),
        [T_LIFECYCLE] = TYPE(lifecycle_fields),
        [T_LIFECYCLE_HANDLER] = TYPE(lifecycle_handler_fields),
        [T_LINUX_CONTAINER_USER] = TYPE(linux_container_user_fields),
        [T_LOCAL_OBJECT_REFERENCE] = TYPE(local_object_reference_fields),
        [T_MANAGED_FIELDS_ENTRY] = TYPE(managed_fields_entry_fields),
        [T_METRIC_IDENTIFIER] = TYPE(metric_identifier_fields),
        [T_METRIC_SPEC] = TYPE(metric_spec_fields),
        [T_METRIC_STATUS] = TYPE(metric_status_fields),
        [T_METRIC_TARGET] = TYPE(metric_target_fields),
        [T_METRIC_VALUE_STATUS] = TYPE(metric_value_status_fields),
        [T_MODIFY_VOLUME_STATUS] = TYPE(modify_volume_status_fields),
        [T_NFSVOLUME_SOURCE] = TYPE(nfsvolume_source_fields),
        [T_NODE_AFFINITY] = TYPE(node_affinity_fields),
        [T_NODE_SELECTOR] = TYPE(node_selector_fields),
        [T_NODE_SELECTOR_REQUIREMENT] = TYPE(node_selector_requirement_fields),
        [T_NODE_SELECTOR_TERM] = TYPE(node_selector_term_fields),
        [T_OBJECT_FIELD_SELECTOR] = TYPE(object_field_selector_fields),
        [T_OBJECT_META] = TYPE(object_meta_fields),
        [T_OBJECT_METRIC_SOURCE] = TYPE(object_metric_source_fields),
        [T_OBJECT_METRIC_STATUS] = TYPE(object_metric_status_fields),
        [T_OBJECT_REFERENCE] = TYPE(object_reference_fields),
        [T_OWNER_REFERENCE] = TYPE(owner_reference_fields),
        [T_PERSISTENT_VOLUME_CLAIM] = TYPE(persistent_volume_claim_fields),
        [T_PERSISTENT_VOLUME_CLAIM_CONDITION] = TYPE(persistent_volume_claim_condition_fields),
        [T_PERSISTENT_VOLUME_CLAIM_SPEC] = TYPE(persistent_volume_claim_spec_fields),
        [T_PERSISTENT_VOLUME_CLAIM_STATUS] = TYPE(persistent_volume_claim_status_fields),
        [T_PERSISTENT_VOLUME_CLAIM_TEMPLATE] = TYPE(persistent_volume_claim_template_fields),
        [T_PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE] = TYPE(persistent_volume_claim_volume_source_fields),
        [T_PHOTON_PERSISTENT_DISK_VOLUME_SOURCE] = TYPE(photon_persistent_disk_volume_source_fields),
        [T_POD] = TYPE(pod_fields),
        [T_POD_AFFINITY] = TYPE(pod_affinity_fields),
        [T_POD_AFFINITY_TERM] = TYPE(pod_affinity_term_fields),
        [T_POD_ANTI_AFFINITY] = TYPE(pod_anti_affinity_fields),
        [T_POD_CERTIFICATE_PROJECTION] = TYPE(pod_certificate_projection_fields),
        [T_POD_CONDITION] = TYPE(pod_condition_fields),
        [T_POD_DNSCONFIG] = TYPE(pod_dnsconfig_fields),
        [T_POD_DNSCONFIG_OPTION] = TYPE(pod_dnsconfig_option_fields),
        [T_POD_EXTENDED_RESOURCE_CLAIM_STATUS] = TYPE(pod_extended_resource_claim_status_fields),
        [T_POD_FAILURE_POLICY] = TYPE(pod_failure_policy_fields),
        [T_POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT] = TYPE(pod_failure_policy_on_exit_codes_requirement_fields),
        [T_POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN] = TYPE(pod_failure_policy_on_pod_conditions_pattern_fields),
        [T_POD_FAILURE_POLICY_RULE] = TYPE(pod_failure_policy_rule_fields),
        [T_POD_IP] = TYPE(pod_ip_fields),
        [T_POD_OS] = TYPE(pod_os_fields),
        [T_POD_READINESS_GATE] = TYPE(pod_readiness_gate_fields),
        [T_POD_RESOURCE_CLAIM] = TYPE(pod_resource_claim_fields),
        [T_POD_RESOURCE_CLAIM_STATUS] = TYPE(pod_resource_claim_status_fields),
        [T_POD_SCHEDULING_GATE] = TYPE(pod_scheduling_gate_fields),
        [T_POD_SECURITY_CONTEXT] = TYPE(pod_security_context_fields),
        [T_POD_SPEC] = TYPE(pod_spec_fields),
        [T_POD_STATUS] = TYPE(pod_status_fields),
        [T_POD_TEMPLATE_SPEC] = TYPE(pod_template_spec_fields),
        [T_PODS_METRIC_SOURCE] = TYPE(pods_metric_source_fields),
        [T_PODS_METRIC_STATUS] = TYPE(pods_metric_status_fields),
        [T_PORTWORX_VOLUME_SOURCE] = TYPE(portworx_volume_source_fields),
        [T_PREFERRED_SCHEDULING_TERM] = TYPE(preferred_scheduling_term_fields),
        [T_PROBE] = TYPE(probe_fields),
        [T_PROJECTED_VOLUME_SOURCE] = TYPE(projected_volume_source_fields),
        [T_QUOBYTE_VOLUME_SOURCE] = TYPE(quobyte_volume_source_fields),
        [T_RBDVOLUME_SOURCE] = TYPE(rbdvolume_source_fields),
        [T_REPLICA_SET] = TYPE(replica_set_fields),
        [T_REPLICA_SET_CONDITION] = TYPE(replica_set_condition_fields),
        [T_REPLICA_SET_SPEC] = TYPE(replica_set_spec_fields),
        [T_REPLICA_SET_STATUS] = TYPE(replica_set_status_fields),
        [T_RESOURCE_CLAIM] = TYPE(resource_claim_fields),
        [T_RESOURCE_FIELD_SELECTOR] = TYPE(resource_field_selector_fields),
        [T_RESOURCE_HEALTH] = TYPE(resource_health_fields),
        [T_RESOURCE_METRIC_SOURCE] = TYPE(resource_metric_source_fields),
        [T_RESOURCE_METRIC_STATUS] = TYPE(resource_metric_status_fields),
        [T_RESOURCE_REQUIREMENTS] = TYPE(resource_requirements_fields),
        [T_RESOURCE_STATUS] = TYPE(resource_status_fields),
        [T_SCALE_IOVOLUME_SOURCE] = TYPE(scale_iovolume_source_fields),
        [T_SECCOMP_PROFILE] = TYPE(seccomp_profile_fields),
        [T_SECRET_ENV_SOURCE] = TYPE(secret_env_source_fields),
        [T_SECRET_KEY_SELECTOR] = TYPE(secret_key_selector_fields),
        [T_SECRET_PROJECTION] = TYPE(secret_projection_fields),
        [T_SECRET_VOLUME_SOURCE] = TYPE(secret_volume_source_fields),
        [T_SECURITY_CONTEXT] = TYPE(security_context_fields),
        [T_SELINUX_OPTIONS] = TYPE(selinux_options_fields),
        [T_SERVICE_ACCOUNT_TOKEN_PROJECTION] = TYPE(service_account_token_projection_fields),
        [T_SLEEP_ACTION] = TYPE(sleep_action_fields),
        [T_STORAGE_OSVOLUME_SOURCE] = TYPE(storage_osvolume_source_fields),
        [T_SUCCESS_POLICY] = TYPE(success_policy_fields),
        [T_SUCCESS_POLICY_RULE] = TYPE(success_policy_rule_fields),
        [T_SYSCTL] = TYPE(sysctl_fields),
        [T_TCPSOCKET_ACTION] = TYPE(tcpsocket_action_fields),
        [T_TOLERATION] = TYPE(toleration_fields),
        [T_TOPOLOGY_SPREAD_CONSTRAINT] = TYPE(topology_spread_constraint_fields),
        [T_TYPED_LOCAL_OBJECT_REFERENCE] = TYPE(typed_local_object_reference_fields),
        [T_TYPED_OBJECT_REFERENCE] = TYPE(typed_object_reference_fields),
        [T_UNCOUNTED_TERMINATED_PODS] = TYPE(uncounted_terminated_pods_fields),
        [T_VOLUME] = TYPE(volume_fields),
        [T_VOLUME_DEVICE] = TYPE(volume_device_fields),
        [T_VOLUME_MOUNT] = TYPE(volume_mount_fields),
        [T_VOLUME_MOUNT_STATUS] = TYPE(volume_mount_status_fields),
        [T_VOLUME_PROJECTION] = TYPE(volume_projection_fields),
        [T_VOLUME_RESOURCE_REQUIREMENTS] = TYPE(volume_resource_requirements_fields),
        [T_VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE] = TYPE(vsphere_virtual_disk_volume_source_fields),
        [T_WEIGHTED_POD_AFFINITY_TERM] = TYPE(weighted_pod_affinity_term_fields),
        [T_WINDOWS_SECURITY_CONTEXT_OPTIONS] = TYPE(windows_security_context_options_fields),
        [T_WORKLOAD_REFERENCE] = TYPE(workload_reference_fields),
};
