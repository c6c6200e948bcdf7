/* Selects resources by reference or by labels; shared by environment-configs and extra-resources. */
#pragma once

#include "fn-input.h"

/* --- Input --- */

struct selection_label {
        struct str type; /* FromCompositeFieldPath (the default) or Value */
        struct str key;
        struct str value_from_field_path;
        struct str value;
        struct str from_field_path_policy;
};

struct selection_selector {
        struct str mode; /* environment-configs only */
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

/* The members of a selector except its mode. */
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

enum selection_type selection_type(struct str type); /* Reference when absent */
bool selection_is_optional(const struct selection_policy *policy);

/* --- Selecting --- */

/* One source in the list of an input. */
struct selection_source {
        struct str label; /* as errors name it */
        struct str type;
        const struct selection_ref *ref;
        const struct selection_selector *selector;
        struct fn_selector wanted; /* without match_name and labels */
};

/* Requires the resources of all sources. If one source is invalid, nothing is required. Sources of unknown types, and label
 * selectors without any label, are left out. */
int selection_require(struct arena *a, struct fn_request *req, const struct selection_source *sources, size_t n,
                      struct fn_response *rsp, struct err *err);

/* The resources that answer a requirement, with numbers in the protocol's form. The list is a copy, so that it can be sorted. NULL
 * when the request has no answer. */
struct selection {
        const struct value **p;
        size_t n;
};

int selection_find(struct arena *a, struct fn_request *req, struct str name, struct selection **ret, struct err *err);

/* Sorts ascending by the field at the path (metadata.name if empty): strings bytewise, missing fields as if they were empty. An
 * error about a field that cannot be sorted names its kind (map) if names_kinds, else its type (map[string]interface {}). */
int selection_sort(struct arena *a, struct selection *s, struct str path, bool names_kinds, struct err *err);

/* Shortens the list to the selector's maxMatch. */
void selection_cut(struct selection *s, const struct selection_selector *selector);
