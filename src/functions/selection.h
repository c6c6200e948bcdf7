/* Choosing resources by reference or by labels: what environment-configs and extra-resources share. */
#pragma once

#include "fn-input.h"

/* --- Input --- */

struct selection_label {
        struct str type; /* FromCompositeFieldPath when absent, or Value */
        struct str key;
        struct str value_from_field_path;
        struct str value;
        struct str from_field_path_policy;
};

struct selection_selector {
        struct str mode; /* of environment-configs alone */
        struct input_int min_match;
        struct input_int max_match;
        struct str sort_by_field_path;
        struct input_list labels; /* struct selection_label */
};

struct selection_ref {
        struct str name;
};

struct selection_policy {
        struct str resolution;
};

/* The members of a selector but its mode. */
#define SELECTION_SELECTOR_FIELDS                                                                                \
        { "minMatch", INPUT_UINT, offsetof(struct selection_selector, min_match) },                              \
                { "maxMatch", INPUT_UINT, offsetof(struct selection_selector, max_match) },                      \
                { "sortByFieldPath", INPUT_STRING, offsetof(struct selection_selector, sort_by_field_path) },    \
        {                                                                                                        \
                "matchLabels", INPUT_OBJECTS, offsetof(struct selection_selector, labels), &selection_label_type \
        }

extern const struct input_type selection_label_type, selection_ref_type, selection_policy_type;

enum selection_type {
        SELECTION_REFERENCE,
        SELECTION_SELECTOR,
        SELECTION_UNKNOWN,
};

enum selection_type selection_type(struct str type); /* absent is Reference */
bool selection_is_optional(const struct selection_policy *policy);

/* --- What the functions do with it --- */

/* One of the resources that an input lists. */
struct selection_source {
        struct str label; /* as errors call it */
        struct str type;
        const struct selection_ref *ref;
        const struct selection_selector *selector;
        struct fn_selector wanted; /* but for how it is matched */
};

/* Asks for all of them. Nothing is asked for if one of them is wrong; those of unknown types, and by labels without any label, are left
 * out. */
int selection_require(struct arena *a, struct fn_request *req, const struct selection_source *sources, size_t n,
                      struct fn_response *rsp, struct err *err);

/* The resources of an answered requirement, in the protocol's numbers. They are copied so that sorting can move them. NULL when the
 * request does not have it. */
struct selection {
        const struct value **p;
        size_t n;
};

int selection_find(struct arena *a, struct fn_request *req, struct str name, struct selection **ret, struct err *err);

/* Sorts ascending by the field at the path (metadata.name when it is empty), strings bytewise, what is missing as if it were empty. */
int selection_sort(struct arena *a, struct selection *s, struct str path, struct err *err);

/* Cuts to the selector's maxMatch. */
void selection_cut(struct selection *s, const struct selection_selector *selector);
