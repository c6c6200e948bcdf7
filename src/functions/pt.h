/* Patch and transform: the words of its input, and the engine that works on them. The engine knows values, not requests, so that
 * Compositions with resources of their own (`mode: Resources`) run on it too.
 *
 * The structs below are what input tables fill (pt-input.c): texts of enumerations stay texts, because errors quote them and
 * because upstream does not check all of them before it runs. What is parsed or compiled on first use is kept beside its text. */
#pragma once

#include "bounds.h"
#include "fn-input.h"
#include "path.h"

struct regex;

/* A field path, parsed when it is first needed: not every path that is given is used, and one that does not parse is an error only
 * where it is. The text's p is NULL when it was not given. */
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

/* A regular expression; compiled on first use and owned by the arena then. */
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
        struct input_list sources; /* struct environment_source; ours */
};

struct pt_secret_ref {
        struct str name;
        struct str namespace;
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

/* What a patch type reads and writes. */
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

/* NULL for a type that is none of these, as PatchSet; without a type it is FromCompositeFieldPath. */
const struct pt_patch_type *pt_patch_type(const struct pt_patch *patch);
struct str pt_patch_type_name(const struct pt_patch *patch);

struct pt_merge_policy {
        const char *name;
        bool merges; /* false: replaces */
        struct merge_options options;
};

/* By what policy.toFieldPath says; NULL. */
const struct pt_merge_policy *pt_merge_policy(struct str name);

/* An object that patches read or edit. Numbers of one that came over the wire are doubles; once a patch has gone into it they are
 * what Kubernetes makes of JSON, and is_settled says so. */
struct pt_object {
        const struct value *root;
        bool is_settled;
};

/* Compiles once; Go's text of the problem. */
int pt_compile(struct arena *a, struct pt_expression *e, struct err *err);

/* Parses once; `cannot parse path "...": ...`. */
int pt_path_parse(struct arena *a, struct pt_path *path, struct err *err);

/* What stands at the path, as the engine sees its numbers. */
int pt_get(struct arena *a, const struct pt_object *object, struct pt_path *path, const struct value **ret,
           struct err *err);

/* The transforms one after the other. in is not NULL. */
int pt_transform(const struct run *run, const struct input_list *transforms, const struct value *in,
                 const struct value **ret, struct err *err);

/* Applies a patch that has a pt_patch_type. ERR_NOT_FOUND is what an Optional policy forgives. */
int pt_apply(const struct run *run, struct pt_patch *patch, const struct pt_object *from, struct pt_object *to,
             struct err *err);

bool pt_patch_is_required(const struct pt_patch *patch); /* the policy says Required */
bool pt_patch_is_optional(const struct pt_patch *patch); /* it says Optional, or nothing */

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

/* A kind, without which Kubernetes does not read an object: `Object 'Kind' is missing in '...'`. */
bool pt_has_kind(const struct value *object);

/* 1 when ready, 0 when not. `object` was observed. */
int pt_check_readiness(struct arena *a, const struct input_list *checks, const struct pt_object *object,
                       struct err *err);

/* Position of the name in the table, or -1. */
int pt_find(struct str name, const char *const *names, size_t n);

/* --- Connection details --- */

struct pt_found_detail {
        struct fn_bytes detail;
        size_t order; /* of two with one name the later counts */
};

struct pt_details {
        struct arena *arena;
        struct pt_found_detail *p;
        size_t n;
        size_t capacity;
};

/* Begins with what there is already. */
void pt_details_init(struct pt_details *d, struct arena *a, const struct fn_bytes_map *map);

/* Adds what the details of a template find in the observed object and its secret; missing data is left out. */
void pt_extract_details(struct pt_details *d, const struct input_list *details, const struct pt_object *object,
                        const struct fn_bytes_map *observed);

struct fn_bytes_map pt_details_finish(struct pt_details *d);

/* The Secret that carries the connection details of a composite. ref may be NULL. */
int pt_compose_secret(const struct run *run, const struct pt_object *composite, const struct pt_secret_ref *ref,
                      const struct fn_bytes_map *details, const struct value **ret, struct err *err);
