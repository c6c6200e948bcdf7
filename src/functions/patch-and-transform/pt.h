/* Patch and transform: its input types, and the engine. The engine works on values, not on requests, so that it also runs
 * Compositions with their own resources (`mode: Resources`).
 *
 * Input tables (pt-input.c) fill the structs below. Enumerations stay texts, because errors quote them and because upstream does
 * not check all of them before it runs. Parsed or compiled forms are made on first use and kept beside the text. */
#pragma once

#include "bounds.h"
#include "fn-input.h"
#include "path.h"

struct regex;

/* A field path, parsed on first use: not every given path is used, and an invalid path is an error only when it is used. The text's
 * p is NULL when it was not given. */
struct pt_path {
        struct str text;
        struct path path;
        bool is_parsed;
};

/* --- Transforms --- */

struct pt_math {
        struct str type;
        struct input_int multiply;
        struct input_int clamp_min;
        struct input_int clamp_max;
};

/* A regular expression; compiled on first use, then owned by the arena. */
struct pt_expression {
        struct str text;
        struct regex *compiled;
};

struct pt_pattern {
        struct str type;
        struct str literal;
        struct pt_expression regexp;
        const struct value *result;
};

struct pt_match {
        struct input_list patterns; /* struct pt_pattern */
        const struct value *fallback_value;
        struct str fallback_to;
};

struct pt_regexp {
        struct pt_expression match;
        struct input_int group;
};

struct pt_join {
        struct str separator;
};

struct pt_replace {
        struct str search;
        struct str replace;
};

struct pt_string {
        struct str type;
        struct str format;
        struct str convert;
        struct str trim;
        struct pt_regexp *regexp;
        struct pt_join *join;
        struct pt_replace *replace;
};

struct pt_convert {
        struct str to_type;
        struct str format;
};

struct pt_transform {
        struct str type;
        const struct value *map;
        struct pt_match *match;
        struct pt_math *math;
        struct pt_string *string;
        struct pt_convert *convert;
};

/* --- Patches --- */

struct pt_variable {
        struct pt_path from;
};

struct pt_combine_string {
        struct str format;
};

struct pt_combine {
        struct input_list variables; /* struct pt_variable */
        struct str strategy;
        struct pt_combine_string *string;
};

struct pt_policy {
        struct str from;
        struct str to;
};

struct pt_patch {
        struct str type;
        struct str set_name;
        struct pt_path from;
        struct pt_path to;
        struct pt_combine *combine;
        struct input_list transforms; /* struct pt_transform */
        struct pt_policy *policy;
};

/* --- Templates --- */

struct pt_detail {
        struct str name;
        struct str type;
        struct str secret_key;
        struct pt_path from;
        struct str value;
};

struct pt_match_condition {
        struct str type;
        struct str status;
};

struct pt_check {
        struct str type;
        struct pt_path path;
        struct str match_string;
        struct input_int match_integer;
        struct pt_match_condition *match_condition;
};

struct pt_template {
        struct str name;
        const struct value *base;
        struct input_list patches; /* struct pt_patch */
        struct input_list details; /* struct pt_detail */
        struct input_list checks;  /* struct pt_check */
};

struct pt_patch_set {
        struct str name;
        struct input_list patches; /* struct pt_patch */
};

struct pt_environment {
        struct input_list patches;
        struct input_list sources; /* struct environment_source; Weft's extension */
};

struct pt_secret_ref {
        struct str name;
        struct str ns;
        struct input_list patches;
};

struct pt_input {
        struct input_list patch_sets; /* struct pt_patch_set */
        struct pt_environment *environment;
        struct input_list templates; /* struct pt_template */
        struct pt_secret_ref *secret_ref;
};

extern const struct input_type pt_input_type;

/* ERR_INVALID with the first problem: `resources[0].patches[1].fromFieldPath: Required value: ...`. */
int pt_validate(const struct run *run, const struct pt_input *input, struct err *err);

/* --- The engine --- */

/* The objects that a patch type can read and write. */
enum pt_side {
        PT_COMPOSITE,
        PT_COMPOSED,
        PT_ENVIRONMENT,
};

struct pt_patch_type {
        const char *name;
        enum pt_side from;
        enum pt_side to;
        bool is_combine;
};

/* NULL for other types, such as PatchSet; a missing type means FromCompositeFieldPath. */
const struct pt_patch_type *pt_patch_type(const struct pt_patch *patch);
struct str pt_patch_type_name(const struct pt_patch *patch);

struct pt_merge_policy {
        const char *name;
        bool merges; /* false: replaces */
        struct merge_options options;
};

/* The merge policy of policy.toFieldPath; NULL if there is none of that name. */
const struct pt_merge_policy *pt_merge_policy(struct str name);

/* An object that patches read or edit. If it came over the wire, its numbers are doubles. The first patch converts them to the
 * numbers that Kubernetes reads from JSON, and sets is_settled. */
struct pt_object {
        const struct value *root;
        bool is_settled;
};

/* Compiles on first use; errors have Go's text. */
int pt_compile(struct arena *a, struct pt_expression *e, struct err *err);

/* Parses on first use; errors read `cannot parse path "...": ...`. */
int pt_path_parse(struct arena *a, struct pt_path *path, struct err *err);

/* Gets the value at the path, with numbers as the engine sees them. */
int pt_get(struct arena *a, const struct pt_object *object, struct pt_path *path, const struct value **ret,
           struct err *err);

/* Applies the transforms in order. in is not NULL. */
int pt_transform(const struct run *run, const struct input_list *transforms, const struct value *in,
                 const struct value **ret, struct err *err);

/* Applies a patch that has a pt_patch_type. An Optional policy ignores ERR_NOT_FOUND. */
int pt_apply(const struct run *run, struct pt_patch *patch, const struct pt_object *from, struct pt_object *to,
             struct err *err);

bool pt_patch_is_required(const struct pt_patch *patch); /* the policy says Required */
bool pt_patch_is_optional(const struct pt_patch *patch); /* the policy says Optional, or there is none */

enum pt_check_type {
        PT_NON_EMPTY,
        PT_MATCH_STRING,
        PT_MATCH_INTEGER,
        PT_MATCH_TRUE,
        PT_MATCH_FALSE,
        PT_MATCH_CONDITION,
        PT_NONE,
        PT_N_CHECK_TYPES,
};

extern const char *const pt_check_names[PT_N_CHECK_TYPES];

/* Whether the object has a kind; without one Kubernetes does not read it: `Object 'Kind' is missing in '...'`. */
bool pt_has_kind(const struct value *object);

/* Returns 1 when the observed object is ready, 0 when it is not. */
int pt_check_readiness(struct arena *a, const struct input_list *checks, const struct pt_object *object,
                       struct err *err);

/* The position of the name in the table, or -1. */
int pt_find(struct str name, const char *const *names, size_t n);

/* --- Connection details --- */

struct pt_found_detail {
        struct fn_bytes detail;
        size_t order; /* of two details with the same name the later one counts */
};

struct pt_details {
        struct arena *arena;
        struct pt_found_detail *p;
        size_t n;
        size_t capacity;
};

/* Starts with the existing details in the map. */
void pt_details_init(struct pt_details *d, struct arena *a, const struct fn_bytes_map *map);

/* Adds the connection details that a template asks for, from the observed object and its secret; missing data is left out. */
void pt_extract_details(struct pt_details *d, const struct input_list *details, const struct pt_object *object,
                        const struct fn_bytes_map *observed);

struct fn_bytes_map pt_details_finish(struct pt_details *d);

/* The Secret that carries the connection details of a composite. ref may be NULL. */
int pt_compose_secret(const struct run *run, const struct pt_object *composite, const struct pt_secret_ref *ref,
                      const struct fn_bytes_map *details, const struct value **ret, struct err *err);
