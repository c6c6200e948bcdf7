/* Shared by the files of the transforms. */
#pragma once

#include "pt.h"

struct transform {
        struct arena *arena;
        const struct pt_transform *transform;
        struct err *err;
};

/* The result for JSON null when an object or array was asked for: later steps see an empty container, but it is written as null
 * (like Go's nil map and slice). Compared by address. */
extern const struct value pt_nil_object, pt_nil_array;

int pt_transform_string(struct transform *t, const struct value *in, const struct value **ret);

enum pt_math_type {
        PT_MULTIPLY,
        PT_CLAMP_MIN,
        PT_CLAMP_MAX,
        PT_N_MATH_TYPES,
};

enum pt_string_type {
        PT_FORMAT,
        PT_CONVERT,
        PT_TRIM_PREFIX,
        PT_TRIM_SUFFIX,
        PT_REGEXP,
        PT_JOIN,
        PT_REPLACE,
        PT_N_STRING_TYPES,
};

enum pt_convert_type {
        PT_TO_STRING,
        PT_TO_INT,
        PT_TO_INT64,
        PT_TO_BOOL,
        PT_TO_FLOAT64,
        PT_TO_OBJECT,
        PT_TO_ARRAY,
        PT_N_CONVERT_TYPES,
};

enum pt_convert_format {
        PT_FORMAT_NONE,
        PT_FORMAT_QUANTITY,
        PT_FORMAT_JSON,
        PT_N_CONVERT_FORMATS,
};

extern const char *const pt_math_names[PT_N_MATH_TYPES];
extern const char *const pt_string_names[PT_N_STRING_TYPES];
extern const char *const pt_convert_names[PT_N_CONVERT_TYPES];
extern const char *const pt_convert_format_names[PT_N_CONVERT_FORMATS];

struct pt_place;

/* Check a math or convert transform. They run again with the transform, because not every input was validated before. place is the
 * position for the error; NULL when the transform runs: `type: Required value: ...`. */
int pt_math_check(const struct pt_place *place, const struct pt_math *math, enum pt_math_type *ret, struct err *err);
int pt_convert_check(const struct pt_place *place, const struct pt_convert *convert, enum pt_convert_type *ret,
                     enum pt_convert_format *ret_format, struct err *err);
