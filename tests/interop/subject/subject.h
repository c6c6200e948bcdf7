/* One differential suite on our side: a case in, a result out, both one line of JSON. */
#pragma once

#include "json.h"
#include "value.h"

/* Returns the result of a case; everything lives in the arena. It must be the same value that the oracle gives. */
typedef const struct value *(*suite_run)(struct arena *a, const struct value *c);

const struct value *run_access(struct arena *a, const struct value *c);
const struct value *run_base64(struct arena *a, const struct value *c);
const struct value *run_builtin(struct arena *a, const struct value *c);
const struct value *run_claim(struct arena *a, const struct value *c);
const struct value *run_cluster(struct arena *a, const struct value *c);
const struct value *run_composition(struct arena *a, const struct value *c);
const struct value *run_condition(struct arena *a, const struct value *c);
const struct value *run_crd(struct arena *a, const struct value *c);
const struct value *run_discovery(struct arena *a, const struct value *c);
const struct value *run_format(struct arena *a, const struct value *c);
const struct value *run_gotime(struct arena *a, const struct value *c);
const struct value *run_json(struct arena *a, const struct value *c);
const struct value *run_jsonpath(struct arena *a, const struct value *c);
const struct value *run_fieldset(struct arena *a, const struct value *c);
const struct value *run_managed(struct arena *a, const struct value *c);
const struct value *run_own_kind_crds(struct arena *a, const struct value *c);
const struct value *run_own_kinds(struct arena *a, const struct value *c);
const struct value *run_name(struct arena *a, const struct value *c);
const struct value *run_number(struct arena *a, const struct value *c);
const struct value *run_patch(struct arena *a, const struct value *c);
const struct value *run_path(struct arena *a, const struct value *c);
const struct value *run_proto(struct arena *a, const struct value *c);
const struct value *run_quantity(struct arena *a, const struct value *c);
const struct value *run_regex(struct arena *a, const struct value *c);
const struct value *run_schema(struct arena *a, const struct value *c);
const struct value *run_semver(struct arena *a, const struct value *c);
const struct value *run_structural(struct arena *a, const struct value *c);
const struct value *run_selector(struct arena *a, const struct value *c);
const struct value *run_table(struct arena *a, const struct value *c);
const struct value *run_time(struct arena *a, const struct value *c);
const struct value *run_xrd(struct arena *a, const struct value *c);
const struct value *run_yaml(struct arena *a, const struct value *c);

/* {"error": text}. */
const struct value *result_error(struct arena *a, const struct err *err);

/* Ints and doubles look alike in JSON: in this copy strings have the prefix s, and doubles are f and their bits. */
const struct value *typed(struct arena *a, const struct value *v);
