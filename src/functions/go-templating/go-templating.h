/* Internals of function-go-templating: templates produce manifests, and manifests become desired state (docs/spec/functions 3). */
#pragma once

#include "cluster.h"
#include "fn-input.h"
#include "functions.h"
#include "gotemplate.h"
#include "message.h"

#define TEMPLATING_ANNOTATION_NAME  STR("gotemplating.fn.crossplane.io/composition-resource-name")
#define TEMPLATING_ANNOTATION_READY STR("gotemplating.fn.crossplane.io/ready")
#define TEMPLATING_ANNOTATION_TTL   STR("gotemplating.fn.crossplane.io/ttl")
#define TEMPLATING_META             STR("meta.gotemplating.fn.crossplane.io/v1alpha1")
#define TEMPLATING_EXTRA_RESOURCES  STR("apiextensions.crossplane.io/extra-resources")
#define TEMPLATING_ENVIRONMENT      STR("apiextensions.crossplane.io/environment")

struct templating_inline {
        struct str text;
        struct input_list texts; /* struct str */
};

struct templating_file_system {
        struct str dir_path;
};

struct templating_environment {
        struct str key;
};

struct templating_delims {
        struct str left, right;
};

struct templating_input {
        struct str source;
        struct templating_inline *inline_of;
        struct templating_file_system *file_system;
        struct templating_environment *environment;
        struct templating_delims *delims;
        struct input_list options; /* struct str */
        struct str ttl;
        struct str remote;                /* from the oldest examples; always refused */
        struct input_bool helm_functions; /* Weft's extension: tpl and required exist too */
        bool is_seed;                     /* the oldest examples' form: example.org/v1 GoTemplate */
};

/* A text that was joined with others to the template's text. */
struct templating_part {
        struct str path; /* in the input */
        struct str file; /* "" if it is not in a file */
        size_t n;        /* bytes */
        struct templating_part *next;
};

/* Between parts. */
#define TEMPLATING_SEPARATOR STR("\n---\n")

/* The state of one call. */
struct templating {
        struct run *run;
        struct arena *arena;
        struct fn_request *req;
        struct fn_response *rsp;
        struct templating_input input;
        const struct value *data;     /* `.` */
        const struct value *observed; /* the observed composite, or NULL */
        const struct value *desired;  /* the desired composite's object */
        struct fn_resource composite; /* the desired composite */
        const struct value *context;  /* the request's context, unchanged */
        struct value *documents;
        size_t n_documents;
        struct fn_requirements requirements;
        bool reads_files;                          /* the template's text is from files */
        struct templating_part *parts, *last_part; /* of the template's text */
        const struct fn_mistake *mistake;          /* NULL until a template fails */
};

/* --- Input and sources --- */

int templating_read_input(struct templating *t, struct err *err);

/* Gets the text of the template. */
int templating_source(struct templating *t, struct str *ret, struct err *err);

/* Reads the files below the directory, sorted by name, each followed by a separator. */
int templating_read_files(struct templating *t, struct str path, struct str *ret, struct err *err);

/* The same for the operator's own path, which may be anywhere. */
int templating_read_default_files(struct templating *t, const char *path, struct str *ret, struct err *err);

/* The defaults that the operator set. */
extern struct templating_defaults templating_defaults;

/* Adds a part of n bytes to those of the template's text. */
void templating_add_part(struct templating *t, struct str path, struct str file, size_t n);

/* Sets t->mistake after an error at the offset of the template's text. c is the context of the failed execution, or NULL. */
void templating_note_mistake(struct templating *t, struct gt_context *c, struct str text, size_t offset);

/* --- Data and execution --- */

/* Sets t->data to the request as protobuf's JSON, with integral numbers as ints. */
int templating_data(struct templating *t, struct err *err);

/* Executes the input's templates on the data. */
int templating_render(struct templating *t, struct str text, struct str *ret, struct err *err);

extern const struct gt_func_table templating_functions, templating_seed_functions, templating_helm_functions;

/* State of template functions during an execution; it is the context's user. */
struct templating_state {
        const struct gt_func_table *const *tables; /* for tpl */
        size_t n_tables;
        enum gt_missing_key missing_key;
        const struct value *data; /* for functions that the oldest examples call without a request argument */
        struct {                  /* templates that are being included, and their nesting depth */
                struct str *names;
                unsigned *counts;
                size_t n, capacity;
        } included;
};

/* A condition of the type in the resource, as getResourceCondition returns it. */
struct gt_value templating_condition(struct gt_context *c, struct str type, struct gt_value resource);

/* --- Manifests --- */

/* Fills t->documents. */
int templating_decode(struct templating *t, struct str text, struct err *err);

/* Turns the documents into desired state, conditions, context and requirements. */
int templating_apply(struct templating *t, struct err *err);

/* Applies a document of TEMPLATING_META. */
int templating_apply_meta(struct templating *t, const struct value *document, struct err *err);
