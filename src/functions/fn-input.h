/* Reads a function's input strictly into a struct, by a table: unknown members at any depth, wrong types and fractions in integers
 * are errors, so that a typo is never ignored. null counts as absent, and a null item of a list as an empty item
 * (docs/spec/functions 0.3). Strings and values are borrowed from the input. */
#pragma once

#include "message.h"

enum input_kind {
        INPUT_STRING,  /* struct str; p is NULL when absent */
        INPUT_BOOL,    /* struct input_bool */
        INPUT_INT,     /* struct input_int */
        INPUT_UINT,    /* struct input_int; must not be negative */
        INPUT_ANY,     /* const struct value *; NULL when absent or null */
        INPUT_MAP,     /* const struct value *; must be an object */
        INPUT_TEXTS,   /* const struct value *; an object whose members are strings or null */
        INPUT_TIME,    /* struct str; RFC 3339 */
        INPUT_OBJECT,  /* a pointer to the type's struct; NULL when absent */
        INPUT_OBJECTS, /* struct input_list of the type's structs */
        INPUT_STRINGS, /* struct input_list of struct str */
};

struct input_bool {
        bool is_set;
        bool value;
};

struct input_int {
        bool is_set;
        int64_t value;
};

struct input_list {
        void *p;
        size_t n;
        bool is_set; /* true also for [] */
};

#define INPUT_FOREACH(element, list)                                                                          \
        for (__typeof__(element) element##_end = (element = (list)->p, element ? element + (list)->n : NULL); \
             element != element##_end; element++)

struct input_type;

struct input_field {
        const char *name;
        enum input_kind kind;
        size_t offset;
        const struct input_type *type; /* for OBJECT and OBJECTS */
};

struct input_type {
        size_t size_bytes;
        const struct input_field *fields;
        size_t n_fields;
};

#define INPUT_TYPE(c_type, table)                          \
        {                                                  \
                sizeof(c_type), (table), ARRAY_SIZE(table) \
        }

/* The members that every input may have as a Kubernetes object. They are checked, but not used. */
struct input_object {
        struct str api_version;
        struct str kind;
        struct input_metadata *metadata;
};

extern const struct input_type input_object_type;

/* Reads the input of the request, or {} when it has none, into *ret, a zeroed struct of the type in the caller's memory.
 * apiVersion, kind and metadata are allowed at the top level. Errors name the input by go_type: `Resources` gives `cannot get
 * function input *v1beta1.Resources from *v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into
 * *v1beta1.Resources: DETAIL`. */
int fn_input_read(struct arena *a, struct fn_request *req, const struct input_type *type, const char *go_type,
                  void *ret, struct err *err);
