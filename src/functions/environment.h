/* The environment of a composition: data of EnvironmentConfigs, chosen by name or by labels, merged into one object in the context
 * (spec/functions 4.2). What the function environment-configs does, and patch-and-transform when its input asks for it. */
#pragma once

#include "selection.h"

#define ENVIRONMENT_KEY STR("apiextensions.crossplane.io/environment") /* of the context */

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

/* The first call: adds what the sources name to the requirements of the response, which are there afterwards even if empty. */
int environment_require(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                        struct fn_response *rsp, struct err *err);

/* The second: default data, over it the environment that the response's context has, over it what came, as the new environment of that
 * context. */
int environment_build(struct arena *a, struct fn_request *req, const struct environment_spec *spec,
                      struct fn_response *rsp, struct err *err);
