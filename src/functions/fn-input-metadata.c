/* Tables of the members that every input may have: those of a Kubernetes object, with all of its metadata. */
#include "fn-input.h"

struct owner {
        struct str api_version, kind, name, uid;
        struct input_bool controller, blocks_deletion;
};

static const struct input_field owner_fields[] = {
        { "apiVersion", INPUT_STRING, offsetof(struct owner, api_version) },
        { "kind", INPUT_STRING, offsetof(struct owner, kind) },
        { "name", INPUT_STRING, offsetof(struct owner, name) },
        { "uid", INPUT_STRING, offsetof(struct owner, uid) },
        { "controller", INPUT_BOOL, offsetof(struct owner, controller) },
        { "blockOwnerDeletion", INPUT_BOOL, offsetof(struct owner, blocks_deletion) },
};
static const struct input_type owner_type = INPUT_TYPE(struct owner, owner_fields);

struct manager {
        struct str manager, operation, api_version, time, fields_type, subresource;
        const struct value *fields;
};

static const struct input_field manager_fields[] = {
        { "manager", INPUT_STRING, offsetof(struct manager, manager) },
        { "operation", INPUT_STRING, offsetof(struct manager, operation) },
        { "apiVersion", INPUT_STRING, offsetof(struct manager, api_version) },
        { "time", INPUT_TIME, offsetof(struct manager, time) },
        { "fieldsType", INPUT_STRING, offsetof(struct manager, fields_type) },
        { "fieldsV1", INPUT_ANY, offsetof(struct manager, fields) },
        { "subresource", INPUT_STRING, offsetof(struct manager, subresource) },
};
static const struct input_type manager_type = INPUT_TYPE(struct manager, manager_fields);

struct input_metadata {
        struct str name, generate_name, ns, self_link, uid, resource_version, created, deleted;
        struct input_int generation, grace_period;
        const struct value *labels, *annotations;
        struct input_list owners, finalizers, managers;
};

static const struct input_field metadata_fields[] = {
        { "name", INPUT_STRING, offsetof(struct input_metadata, name) },
        { "generateName", INPUT_STRING, offsetof(struct input_metadata, generate_name) },
        { "namespace", INPUT_STRING, offsetof(struct input_metadata, ns) },
        { "selfLink", INPUT_STRING, offsetof(struct input_metadata, self_link) },
        { "uid", INPUT_STRING, offsetof(struct input_metadata, uid) },
        { "resourceVersion", INPUT_STRING, offsetof(struct input_metadata, resource_version) },
        { "generation", INPUT_INT, offsetof(struct input_metadata, generation) },
        { "creationTimestamp", INPUT_TIME, offsetof(struct input_metadata, created) },
        { "deletionTimestamp", INPUT_TIME, offsetof(struct input_metadata, deleted) },
        { "deletionGracePeriodSeconds", INPUT_INT, offsetof(struct input_metadata, grace_period) },
        { "labels", INPUT_TEXTS, offsetof(struct input_metadata, labels) },
        { "annotations", INPUT_TEXTS, offsetof(struct input_metadata, annotations) },
        { "ownerReferences", INPUT_OBJECTS, offsetof(struct input_metadata, owners), &owner_type },
        { "finalizers", INPUT_STRINGS, offsetof(struct input_metadata, finalizers) },
        { "managedFields", INPUT_OBJECTS, offsetof(struct input_metadata, managers), &manager_type },
};
static const struct input_type metadata_type = INPUT_TYPE(struct input_metadata, metadata_fields);

static const struct input_field object_fields[] = {
        { "apiVersion", INPUT_STRING, offsetof(struct input_object, api_version) },
        { "kind", INPUT_STRING, offsetof(struct input_object, kind) },
        { "metadata", INPUT_OBJECT, offsetof(struct input_object, metadata), &metadata_type },
};
const struct input_type input_object_type = INPUT_TYPE(struct input_object, object_fields);
