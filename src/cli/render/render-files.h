/* Loads the input of renders from files and checks it. Errors name file and line. */
#pragma once

#include "registry.h"
#include "render-aside.h"
#include "str-list.h"

struct render_files {
        struct manifests composites; /* in the order of the files; each is rendered */
        const struct value **claims; /* one for each composite: its claim, or NULL */
        struct manifests compositions;
        struct manifests functions; /* empty when no file has any */
        struct manifests revisions; /* FunctionRevisions */
        struct manifests definitions;
        struct manifests publications; /* of the first design; definitions have taken them in */
        struct manifests refused;      /* wrong definitions of the first design: their kinds are not rendered */
        struct manifests observed;     /* composed resources that exist already */
        struct manifests
                required; /* EnvironmentConfigs among the files, and what flags add: functions may request them */
        struct manifests packages; /* configurations and projects, whose spec.dependsOn names functions */
        struct str_list broken;    /* errors of files below directories: printed, and the rest is rendered */
        struct render_aside aside;
};

/* Loads the files, in any order: the kinds of the objects decide their use. A directory means all manifests below it; objects there
 * that cannot be rendered are counted in `aside`. In a file that is named, an unknown object is an error. Also loads the files that
 * annotations of composites name. xrd is another file of definitions, or empty. */
int render_files_load(struct arena *a, const char *const *paths, size_t n, struct str xrd, struct render_files *ret,
                      struct err *err);

/* Chooses the Composition of a composite. A single Composition is used, and must fit. With several, the first of these decides: the
 * definition's enforced Composition; the composite's annotation; its compositionRef; the definition's default, if the composite has
 * no compositionSelector; the only Composition of its type that has the labels of its compositionSelector, if any. */
int render_files_choose(const struct render_files *files, const struct manifest *composite, const struct manifest **ret,
                        struct err *err);

/* Fails unless the Composition is for composites of this type and has the labels that this composite selects. */
int render_files_check(const struct manifest *composition, const struct value *composite, struct err *err);

/* Loads the objects of all these files. `what` names them in errors: `cannot load WHAT: ...`. */
int render_files_load_list(struct arena *a, const struct str *paths, size_t n, const char *what, struct manifests *ret,
                           struct err *err);
const struct value *render_files_list(struct arena *a, const struct manifests *m);

/* Warns on standard error about objects in a version that we accept and Crossplane does not. */
struct command;
void render_files_warn_of_aliases(const struct command *c, const struct manifests *m);

/* Loads the OpenAPI v3 documents in all *.json of the directory and of the directories below it. */
int render_files_load_schemas(struct arena *a, struct str directory, const struct value **ret, struct err *err);

/* Gives every Function these annotations, each KEY=VALUE. */
int render_files_annotate(struct arena *a, struct render_files *files, const struct str *pairs, size_t n,
                          struct err *err);

/* Warns on standard error about targets that name a function that no step uses. */
struct command;
void render_files_warn_of_targets(struct arena *a, const struct command *c, const struct render_files *files,
                                  const struct str *targets, size_t n_targets);

struct package_runner;

struct render_function_options {
        const struct command *command; /* prints a message while a function is slow; NULL: no message */
        const struct str *targets;     /* NAME=HOST:PORT each */
        size_t n_targets;
        struct package_runner *packages; /* starts functions that are not built in; NULL: they are not started */
        unsigned pull;                   /* enum package_pull, unless a Function has another policy */
        struct deadline deadline;        /* until they must answer */
        bool only_given; /* a function that no file names is unknown, even if a built-in function has that name */
};

/* Functions that steps use and that cannot be run: readable messages, by function name. */
struct render_failures;

/* Registers each function that a step uses. It runs at the address from a target or from an annotation of its Function, or as a
 * built-in function, found by the package of its Function, by the package that a configuration depends on, or by its name. A
 * function that cannot be run fails only the composites whose steps use it. */
int render_files_register(struct arena *a, const struct render_files *files,
                          const struct render_function_options *options, struct registry *registry,
                          struct render_failures **ret, struct err *err);

/* Fails if a step of the Composition uses a function that cannot be run. */
int render_failures_check(const struct render_failures *f, const struct value *composition, struct err *err);

/* Finds a built-in function by its name or by the name of its package; NULL if there is none. */
const struct builtin_function *render_find_builtin(struct str name);

/* Appends lines to an error about an unknown function: the ways to run a function. */
void render_hint_ways(struct err *err, struct str function);

/* --- Files that annotations name --- */

/* Loads the files that the annotations render.crossplane.io/... of a composite name, unless they are loaded already: Functions
 * (function-path), EnvironmentConfigs and other required resources (environment-path), and the Composition (composition-path),
 * unless one was named on the command line. A path is relative to the directory of the composite's file or to one above it. */
int render_paths_load(struct arena *a, const struct manifest *composite, bool with_composition,
                      struct render_files *files, struct err *err);

/* Adds the composed resources that the annotation render.crossplane.io/observe-path names. */
int render_paths_load_observed(struct arena *a, const struct manifest *composite, struct manifests *to,
                               struct err *err);

/* Whether the composite's annotation names the file of this Composition. */
bool render_paths_name_composition(struct arena *a, const struct manifest *composite,
                                   const struct manifest *composition);

/* --- Claims --- */

/* Replaces each claim whose definition is loaded by its composite. */
void render_claims_bind(struct arena *a, struct render_files *files);

/* *ret is the claim after a render of its composite. */
struct render_input;
struct render_output;
int render_claim_report(struct arena *a, const struct value *claim, const struct render_input *in,
                        const struct render_output *out, const struct value **ret, struct err *err);

/* Whether the object looks like a claim of composites that the Composition is for. */
bool render_claim_is_of(const struct value *object, const struct value *composition);

/* Fails if the object looks like a claim for one of the Compositions but has no definition. */
int render_claim_check(const struct render_files *files, const struct manifest *object, struct err *err);

/* --- Definitions --- */

/* The definition whose composites or claims are of this type; NULL if there is none. */
const struct manifest *render_files_definition(const struct render_files *files, const struct value *object);

/* Loads the definitions of a file. Any other object in it is an error. */
int render_files_load_definitions(struct arena *a, struct str path, struct render_files *files, struct err *err);

/* The schemas of the definitions, each version compiled at its first use. */
struct render_schemas;

/* Compiles the schema of one version. The caller unrefs it. */
struct schema;
int render_schema_compile(struct arena *a, const struct manifest *definition, struct gvk gvk, struct schema **ret,
                          struct err *err);

/* Warnings are printed in the command's name. */
struct render_schemas *render_schemas_new(struct arena *a, const struct command *command,
                                          const struct render_files *files);

/* *ret is the composite with the defaults of its definition, *ret_xrd the definition. Without a definition, *ret is the composite
 * unchanged and *ret_xrd is NULL. A composite that the definition does not allow is an error. */
int render_schemas_apply(struct render_schemas *s, struct arena *a, const struct manifest *composite,
                         const struct value **ret, const struct value **ret_xrd, struct err *err);

/* --- Observed resources --- */

/* The observed resources of each composite. */
struct render_observed;

/* A single composite gets all observed resources. With several, each composite gets the resources that it controls or whose label
 * names it. Each also gets the resources of the file that its own annotation names. */
int render_observed_new(struct arena *a, const struct render_files *files, struct render_observed **ret,
                        struct err *err);
const struct value *render_observed_of(const struct render_observed *o, size_t composite);
