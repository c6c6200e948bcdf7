/* The environment of a composition: data of EnvironmentConfigs, chosen by name or by labels, merged into one object in the context
 * (docs/spec/functions 4.2). Used by the function environment-configs, and by patch-and-transform when its input asks for it. */
#pragma once

#include "selection.h"

#define ENVIRONMENT_KEY STR("apiextensions.crossplane.io/environment") /* key in the context */

struct environment_source {
        struct str type;
        struct selection_ref *ref;
        struct str to_field_path;
        struct selection_selector *selector;
};

extern const struct input_type environment_source_type;

struct environment_spec {
        const struct value *default_data;
        struct selection_policy *policy;
        struct input_list sources; /* struct environment_source */
};

/* For the first call: adds the resources that the sources name to the requirements of the response; the requirements are present
 * even if empty. */
int environment_require(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                        struct fn_response *rsp, struct err *err);

/* For the second call: sets the environment in the response's context to the default data, merged with the existing environment of
 * that context, merged with the fetched resources; later ones replace earlier ones. */
int environment_build(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                      struct fn_response *rsp, struct err *err);
