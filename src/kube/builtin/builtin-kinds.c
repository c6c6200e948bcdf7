/* The built-in kinds: what the table says of them, and the policies that are code in the real API (docs/spec/apiserver 2.3, 2.5, 2.10). */
#include "builtin.h"

#include "builtin-strategies.h"
#include "builtin-table.h"
#include "kind-private.h"

#include <pthread.h>

/* --- Policies --- */

enum policy {
        CREATES_ON_PUT = 1 << 0,
        NEEDS_VERSION = 1 << 1, /* an update must name a resourceVersion */
        HAS_GENERATION = 1 << 2,
        LABEL_NAMES = 1 << 3,
        PATH_NAMES = 1 << 4,
        STATUS_ALONE = 1 << 5, /* a write of the status leaves the metadata alone */
        KEEPS_STATUS = 1 << 6, /* a create keeps the status */
        ORPHANS = 1 << 7,      /* a delete without a policy keeps the dependents */
        OWNS_NOTHING = 1 << 8, /* a delete ignores the policy */
        FIXED_SPEC = 1 << 9,   /* only a create sets the spec */
        /* The rules of enum metadata_rule that the kind does not have: */
        NO_UPDATE_RULE = 1 << 10,
        NO_WHOLE_RULE = 1 << 11,
        ANY_FINALIZER = 1 << 12,
};

#define NOT_ENFORCED(what, instead)          \
        "this server does not enforce " what \
        ", so it does not accept them: an object that protects nothing would mislead; " instead
#define ANSWERED "reviews are answered by the server and never stored"

/* Kinds without an entry: an update may leave out the resourceVersion, names are subdomains, there is no generation. */
static const struct policies {
        const char *group, *kind;
        unsigned flags;
        const char *fields; /* selectable ones besides name and namespace, joined by commas */
        const struct kind_strategy *strategy;
        const char *refusal;
        const char *deprecation; /* a warning */
} policies[] = {
        { "", "ConfigMap", .strategy = &config_map_strategy },
        { "", "Endpoints", CREATES_ON_PUT,
          .deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" },
        { "", "Event", CREATES_ON_PUT | PATH_NAMES | OWNS_NOTHING | NO_UPDATE_RULE | NO_WHOLE_RULE | ANY_FINALIZER,
          "involvedObject.kind,involvedObject.namespace,involvedObject.name,involvedObject.uid,involvedObject."
          "apiVersion,"
          "involvedObject.resourceVersion,involvedObject.fieldPath,reason,reportingComponent,source,type",
          &event_strategy },
        { "", "LimitRange", CREATES_ON_PUT,
          .refusal = NOT_ENFORCED("LimitRanges", "set requests and limits in the objects themselves") },
        { "", "Namespace", LABEL_NAMES, "status.phase", &namespace_strategy },
        { "", "Node", KEEPS_STATUS, .fields = "spec.unschedulable" },
        { "", "PersistentVolume", NO_UPDATE_RULE, .strategy = &persistent_volume_strategy },
        { "", "Pod", HAS_GENERATION,
          "spec.nodeName,spec.restartPolicy,spec.schedulerName,spec.serviceAccountName,spec.hostNetwork,status.phase,"
          "status.podIP,status.podIPs,status.nominatedNodeName",
          &pod_strategy },
        { "", "PodTemplate", HAS_GENERATION },
        { "", "ReplicationController", HAS_GENERATION | ORPHANS | NO_WHOLE_RULE, "status.replicas",
          &workload_strategy },
        { "", "ResourceQuota",
          .refusal = NOT_ENFORCED("ResourceQuotas", "limit what may be created by roles or a webhook") },
        { "", "Secret", .fields = "type", .strategy = &secret_strategy },
        { "", "Service", CREATES_ON_PUT | LABEL_NAMES | NO_WHOLE_RULE, "spec.clusterIP,spec.type", &service_strategy },
        { "", "ServiceAccount", .strategy = &service_account_strategy },
        { "admissionregistration.k8s.io", "MutatingAdmissionPolicy", NEEDS_VERSION | HAS_GENERATION,
          .refusal = NOT_ENFORCED("MutatingAdmissionPolicies", "use a MutatingWebhookConfiguration") },
        { "admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", NEEDS_VERSION | HAS_GENERATION,
          .refusal = NOT_ENFORCED("MutatingAdmissionPolicyBindings", "use a MutatingWebhookConfiguration") },
        { "admissionregistration.k8s.io", "MutatingWebhookConfiguration",
          NEEDS_VERSION | HAS_GENERATION | NO_UPDATE_RULE | ANY_FINALIZER, .strategy = &webhooks_strategy },
        { "admissionregistration.k8s.io", "ValidatingAdmissionPolicy", NEEDS_VERSION | HAS_GENERATION,
          .refusal = NOT_ENFORCED("ValidatingAdmissionPolicies", "use a ValidatingWebhookConfiguration") },
        { "admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", NEEDS_VERSION | HAS_GENERATION,
          .refusal = NOT_ENFORCED("ValidatingAdmissionPolicyBindings", "use a ValidatingWebhookConfiguration") },
        { "admissionregistration.k8s.io", "ValidatingWebhookConfiguration",
          NEEDS_VERSION | HAS_GENERATION | NO_UPDATE_RULE | ANY_FINALIZER, .strategy = &webhooks_strategy },
        { "apiextensions.k8s.io", "CustomResourceDefinition",
          NEEDS_VERSION | HAS_GENERATION | NO_WHOLE_RULE | ANY_FINALIZER, .strategy = &crd_strategy },
        { "apps", "DaemonSet", HAS_GENERATION | NO_WHOLE_RULE, .strategy = &daemon_set_strategy },
        { "apps", "Deployment", HAS_GENERATION | STATUS_ALONE | NO_WHOLE_RULE, .strategy = &workload_strategy },
        { "apps", "ReplicaSet", HAS_GENERATION | NO_WHOLE_RULE, "status.replicas", &workload_strategy },
        { "apps", "StatefulSet", HAS_GENERATION | NO_WHOLE_RULE, .strategy = &workload_strategy },
        { "authentication.k8s.io", "SelfSubjectReview", .refusal = ANSWERED },
        { "authentication.k8s.io", "TokenReview", .refusal = ANSWERED },
        { "authorization.k8s.io", "LocalSubjectAccessReview", .refusal = ANSWERED },
        { "authorization.k8s.io", "SelfSubjectAccessReview", .refusal = ANSWERED },
        { "authorization.k8s.io", "SelfSubjectRulesReview", .refusal = ANSWERED },
        { "authorization.k8s.io", "SubjectAccessReview", .refusal = ANSWERED },
        { "autoscaling", "HorizontalPodAutoscaler", NO_WHOLE_RULE },
        { "batch", "CronJob", HAS_GENERATION | NO_WHOLE_RULE },
        { "batch", "Job", HAS_GENERATION | ORPHANS, "status.successful", &job_strategy },
        { "certificates.k8s.io", "CertificateSigningRequest", FIXED_SPEC, "spec.signerName",
          .strategy = &signing_request_strategy },
        { "coordination.k8s.io", "Lease", CREATES_ON_PUT | NEEDS_VERSION | NO_WHOLE_RULE | ANY_FINALIZER,
          .strategy = &lease_strategy },
        { "discovery.k8s.io", "EndpointSlice", HAS_GENERATION | NO_UPDATE_RULE, .strategy = &endpoint_slice_strategy },
        { "events.k8s.io", "Event", CREATES_ON_PUT | OWNS_NOTHING | NO_WHOLE_RULE,
          "regarding.kind,regarding.namespace,regarding.name,regarding.uid,regarding.apiVersion,"
          "regarding.resourceVersion,regarding.fieldPath,reason,reportingController,type",
          &new_event_strategy },
        { "networking.k8s.io", "Ingress", HAS_GENERATION },
        { "networking.k8s.io", "IngressClass", HAS_GENERATION },
        { "networking.k8s.io", "NetworkPolicy", HAS_GENERATION | NO_WHOLE_RULE },
        { "node.k8s.io", "RuntimeClass", CREATES_ON_PUT | NEEDS_VERSION },
        { "policy", "PodDisruptionBudget",
          NEEDS_VERSION | HAS_GENERATION | NO_UPDATE_RULE | NO_WHOLE_RULE | ANY_FINALIZER },
        { "rbac.authorization.k8s.io", "ClusterRole", CREATES_ON_PUT | PATH_NAMES, .strategy = &cluster_role_strategy },
        { "rbac.authorization.k8s.io", "ClusterRoleBinding", CREATES_ON_PUT | PATH_NAMES,
          .strategy = &cluster_role_binding_strategy },
        { "rbac.authorization.k8s.io", "Role", CREATES_ON_PUT | PATH_NAMES, .strategy = &role_strategy },
        { "rbac.authorization.k8s.io", "RoleBinding", CREATES_ON_PUT | PATH_NAMES, .strategy = &role_binding_strategy },
        { "scheduling.k8s.io", "PriorityClass", HAS_GENERATION | NO_WHOLE_RULE, .strategy = &priority_class_strategy },
        { "storage.k8s.io", "CSIDriver", NEEDS_VERSION },
        { "storage.k8s.io", "CSINode", NEEDS_VERSION },
        { "storage.k8s.io", "CSIStorageCapacity", NEEDS_VERSION },
        { "storage.k8s.io", "VolumeAttachment", NEEDS_VERSION | STATUS_ALONE },
};

static const struct policies *policies_of(const struct builtin_kind *k)
{
        static const struct policies none;

        for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
                if (str_equal(k->gvk.kind, str_from(policies[i].kind)) &&
                    str_equal(k->gvk.group, str_from(policies[i].group)))
                        return &policies[i];
        return &none;
}

/* Kinds of the table that are not served: Bindings and the status of components are about nodes. */
static bool is_served(const struct builtin_kind *k)
{
        static const struct gvk left_out[] = {
                { STR_INIT(""), STR_INIT("v1"), STR_INIT("Binding") },
                { STR_INIT(""), STR_INIT("v1"), STR_INIT("ComponentStatus") },
        };

        if (k->plural.n == 0)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
                if (gvk_equal(k->gvk, left_out[i]))
                        return false;
        return true;
}

/* --- Families --- */

#define CONVERSIONS(table) .conversions = table, .n_conversions = ARRAY_SIZE(table)
#define MOST_MEMBERS       2

/* Objects that are served in more than one version or group. They are stored as the first member has them. */
static const struct family {
        struct gvk members[MOST_MEMBERS];
        const struct conversion *conversions;
        size_t n_conversions;
} families[] = {
        { { { STR_INIT(""), STR_INIT("v1"), STR_INIT("Event") },
            { STR_INIT("events.k8s.io"), STR_INIT("v1"), STR_INIT("Event") } },
          CONVERSIONS(event_conversions) },
        { { { STR_INIT("autoscaling"), STR_INIT("v2"), STR_INIT("HorizontalPodAutoscaler") },
            { STR_INIT("autoscaling"), STR_INIT("v1"), STR_INIT("HorizontalPodAutoscaler") } },
          CONVERSIONS(autoscaler_conversions) },
};

static const struct family *family_of(struct gvk gvk)
{
        for (size_t i = 0; i < ARRAY_SIZE(families); i++)
                for (size_t j = 0; j < MOST_MEMBERS; j++)
                        if (gvk_equal(families[i].members[j], gvk))
                                return &families[i];
        return NULL;
}

/* Each group of a family has one kind, made from the first member of the group. */
static bool is_first_in_group(const struct builtin_kind *k)
{
        const struct family *f = family_of(k->gvk);

        for (size_t i = 0; f && i < MOST_MEMBERS; i++)
                if (str_equal(f->members[i].group, k->gvk.group))
                        return gvk_equal(f->members[i], k->gvk);
        return true;
}

/* --- Subresources --- */

/* Subresources that need a node. They are in discovery, and say so when they are used. */
static const struct {
        struct str name;
        struct str text;
} unimplemented[] = {
        { STR_INIT("attach"), STR_INIT("no container runs here to attach to: this control plane keeps Pods as data") },
        { STR_INIT("binding"), STR_INIT("Pods cannot be bound to nodes: this control plane keeps Pods as data") },
        { STR_INIT("eviction"),
          STR_INIT("Pods are not evicted: this control plane keeps Pods as data; delete the Pod") },
        { STR_INIT("exec"), STR_INIT("no container runs here to execute in: this control plane keeps Pods as data") },
        { STR_INIT("log"), STR_INIT("there are no logs: this control plane keeps Pods as data") },
        { STR_INIT("portforward"), STR_INIT("no container runs here to forward to: this control plane keeps Pods as "
                                            "data") },
};

struct str builtin_unimplemented(const struct kind *k, struct str subresource)
{
        if (k->group.n || !str_equal(k->kind, STR("Pod")))
                return STR("");
        for (size_t i = 0; i < ARRAY_SIZE(unimplemented); i++)
                if (str_equal(unimplemented[i].name, subresource))
                        return unimplemented[i].text;
        return STR("");
}

static bool is_subresource_served(const struct kind *k, struct str name)
{
        static const struct str served[] = { STR_INIT("approval"), STR_INIT("finalize"), STR_INIT("scale"),
                                             STR_INIT("status"), STR_INIT("token") };

        for (size_t i = 0; i < ARRAY_SIZE(served); i++)
                if (str_equal(served[i], name))
                        return true;
        return builtin_unimplemented(k, name).n > 0;
}

static unsigned verbs_of(struct str list)
{
        struct str item;
        unsigned verbs = 0;

        while (builtin_next_item(&list, &item))
                for (unsigned verb = 1; verb <= VERB_WATCH; verb <<= 1)
                        if (str_equal(kind_verb_name((enum kind_verb)verb), item))
                                verbs |= verb;
        return verbs;
}

static void fill_subresources(struct kind *k, struct kind_version *v, const struct builtin_kind *source)
{
        struct kind_subresource *list = ARENA_NEW_ARRAY(&k->arena, struct kind_subresource, source->n_subresources + 1);

        for (size_t i = 0; i < source->n_subresources; i++) {
                const struct builtin_line *l = &source->subresources[i];

                if (!is_subresource_served(k, l->name))
                        continue;
                list[v->n_subresources++] = (struct kind_subresource) { l->name, l->gvk, verbs_of(l->verbs) };
                v->has_status |= str_equal(l->name, STR("status"));
                v->has_scale |= str_equal(l->name, STR("scale"));
                v->has_approval |= str_equal(l->name, STR("approval"));
        }
        v->subresources = list;
        if (v->has_scale) {
                v->scale_spec_path = STR(".spec.replicas");
                v->scale_status_path = STR(".status.replicas");
                v->scale_selector_path = STR(".spec.selector");
        }
}

/* --- Kinds --- */

static const struct str *split_list(struct arena *a, struct str list, size_t *ret_n)
{
        struct str *p = ARENA_NEW_ARRAY(a, struct str, list.n + 1), item;

        *ret_n = 0;
        while (builtin_next_item(&list, &item))
                p[(*ret_n)++] = item;
        return p;
}

static void fill_version(struct kind *k, struct kind_version *v, const struct builtin_kind *source)
{
        const struct policies *p = policies_of(source);

        *v = (struct kind_version) {
                .group = source->gvk.group,
                .name = source->gvk.version,
                .type = source->type,
                .is_served = str_equal(source->gvk.group, k->group),
                .is_storage = v == k->versions,
                .verbs = verbs_of(source->verbs),
                .is_deprecated = p->deprecation,
                .deprecation_warning = p->deprecation ? str_from(p->deprecation) : STR(""),
        };
        fill_subresources(k, v, source);
        if (p->fields)
                v->selectable_fields = split_list(&k->arena, str_from(p->fields), &v->n_selectable_fields);
}

/* The first version is stored. */
static void fill_versions(struct kind *k, const struct builtin_kind *source)
{
        const struct family *f = family_of(source->gvk);
        struct kind_version *v = ARENA_NEW_ARRAY(&k->arena, struct kind_version, MOST_MEMBERS);

        k->versions = v;
        k->n_versions = f ? MOST_MEMBERS : 1;
        for (size_t i = 0; i < k->n_versions; i++)
                fill_version(k, &v[i], f ? builtin_kind_of(f->members[i]) : source);
        if (f) {
                k->conversions = f->conversions;
                k->n_conversions = f->n_conversions;
        }
}

static unsigned metadata_rules(unsigned flags)
{
        return (flags & NO_UPDATE_RULE ? 0 : METADATA_UPDATE) | (flags & NO_WHOLE_RULE ? 0 : METADATA_WHOLE) |
               (flags & ANY_FINALIZER ? 0 : METADATA_FINALIZERS);
}

static struct kind *make_kind(const struct builtin_kind *source)
{
        const struct policies *p = policies_of(source);
        struct kind *k = kind_new();

        k->group = source->gvk.group;
        k->kind = source->gvk.kind;
        k->list_kind = arena_printf(&k->arena, "%.*sList", STR_ARG(k->kind));
        k->plural = source->plural;
        k->singular = source->singular;
        k->short_names = split_list(&k->arena, source->short_names, &k->n_short_names);
        k->categories = split_list(&k->arena, source->categories, &k->n_categories);
        k->is_namespaced = source->is_namespaced;
        k->allows_create_on_update = p->flags & CREATES_ON_PUT;
        k->allows_unconditional_update = !(p->flags & NEEDS_VERSION);
        k->has_generation = p->flags & HAS_GENERATION;
        k->keeps_status_on_create = p->flags & KEEPS_STATUS;
        k->status_writes_metadata = !(p->flags & STATUS_ALONE);
        k->spec_is_fixed = p->flags & FIXED_SPEC;
        k->orphans_by_default = p->flags & ORPHANS;
        k->has_no_dependents = p->flags & OWNS_NOTHING;
        k->name_rule = p->flags & LABEL_NAMES ? NAME_LABEL : p->flags & PATH_NAMES ? NAME_PATH_SEGMENT : NAME_SUBDOMAIN;
        k->metadata_rules = metadata_rules(p->flags);
        k->strategy = p->strategy;
        k->refusal = p->refusal ? str_from(p->refusal) : STR("");
        fill_versions(k, source);
        return k;
}

static struct kind **kinds; /* live forever */

static void make_kinds(void)
{
        const struct builtin_table *t = builtin_table();
        size_t n = 0;

        kinds = xcalloc(t->n_kinds + 1, sizeof(struct kind *));
        for (size_t i = 0; i < t->n_kinds; i++)
                if (is_served(&t->kinds[i]) && is_first_in_group(&t->kinds[i]))
                        kinds[n++] = make_kind(&t->kinds[i]);
}

struct kind *const *kind_builtins(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, make_kinds);
        return kinds;
}
