/* What renders are made of, from files: checked, so that what is wrong is said with its file and line. */
#pragma once

#include "manifest.h"
#include "registry.h"

struct render_files {
        struct manifests composites; /* in the order of the files; each is rendered */
        struct manifests compositions;
        struct manifests functions; /* none when no file had any */
        struct manifests revisions; /* FunctionRevisions */
        struct manifests definitions;
        struct manifests observed; /* composed resources that exist already */
};

/* The files in any order, directories too: the kinds of the objects say which is which. */
int render_files_load(struct arena *a, const char *const *paths, size_t n, struct render_files *ret, struct err *err);

/* The Composition of a composite: the one that there is, which must fit; of several the one that its compositionRef names, or else
 * the only one of its type that has the labels of its compositionSelector. */
int render_files_choose(const struct render_files *files, const struct manifest *composite, const struct manifest **ret,
                        struct err *err);

/* Whether the Composition is for composites of this type and has the labels that this one wants. */
int render_files_check(const struct manifest *composition, const struct value *composite, struct err *err);

/* The objects of all these files. `what` names them in errors: `cannot load WHAT: ...`. */
int render_files_load_list(struct arena *a, const struct str *paths, size_t n, const char *what, struct manifests *ret,
                           struct err *err);
const struct value *render_files_list(struct arena *a, const struct manifests *m);

/* The OpenAPI v3 documents in all *.json of the directory and those below it. */
int render_files_load_schemas(struct arena *a, struct str directory, const struct value **ret, struct err *err);

/* Gives every Function these annotations, each KEY=VALUE. */
int render_files_annotate(struct arena *a, struct render_files *files, const struct str *pairs, size_t n,
                          struct err *err);

/* Says on standard error which of the targets name a function that no step uses. */
struct command;
void render_files_warn_of_targets(struct arena *a, const struct command *c, const struct render_files *files,
                                  const struct str *targets, size_t n_targets);

/* Finds out how to run each Function and FunctionRevision that a step uses: at the address that a target (NAME=HOST:PORT) or its
 * annotation gives, or as one that is built in. Without files of functions those of the pipelines are built in by their names. */
int render_files_register(struct arena *a, const struct render_files *files, const struct str *targets,
                          size_t n_targets, struct registry *registry, struct err *err);

/* What errors about unknown functions say behind `unknown function "F"`: the ways to run one. */
const char *render_functions_hint(struct arena *a);

/* --- Definitions --- */

/* Adds those of a file. */
int render_files_load_definitions(struct arena *a, struct str path, struct render_files *files, struct err *err);

/* What the definitions say, compiled once for each version that is asked for. */
struct render_schemas;

/* The schema of one version. The caller unrefs it. */
struct schema;
int render_schema_compile(struct arena *a, const struct manifest *definition, struct gvk gvk, struct schema **ret,
                          struct err *err);

struct render_schemas *render_schemas_new(struct arena *a, const struct render_files *files);

/* The composite with the defaults of its definition, and the definition itself; as it is, and NULL, when there are no definitions. One
 * that the definition does not allow is an error. */
int render_schemas_apply(struct render_schemas *s, struct arena *a, const struct manifest *composite,
                         const struct value **ret, const struct value **ret_xrd, struct err *err);

/* --- Observed resources --- */

/* Which of the observed resources are whose. */
struct render_observed;

/* One composite has them all. Of several each has those that it controls or that its name stands on as a label. */
int render_observed_new(struct arena *a, const struct render_files *files, struct render_observed **ret,
                        struct err *err);
const struct value *render_observed_of(const struct render_observed *o, size_t composite);
