/* A RunFunction message taken apart into its fields without decoding them, and put together again from fields that are
 * already encoded: observed state is encoded once for all steps, and a response's desired state travels into the next request
 * as the bytes it came in. */
#pragma once

#include "err.h"
#include "proto-tables.h"

struct buf;

/* Field numbers of RunFunctionRequest and RunFunctionResponse. */
enum fn_request_field {
        FN_REQUEST_META = 1,
        FN_REQUEST_OBSERVED = 2,
        FN_REQUEST_DESIRED = 3,
        FN_REQUEST_INPUT = 4,
        FN_REQUEST_CONTEXT = 5,
        FN_REQUEST_EXTRA_RESOURCES = 6,
        FN_REQUEST_CREDENTIALS = 7,
        FN_REQUEST_REQUIRED_RESOURCES = 8,
        FN_REQUEST_REQUIRED_SCHEMAS = 9,
};

enum fn_response_field {
        FN_RESPONSE_META = 1,
        FN_RESPONSE_DESIRED = 2,
        FN_RESPONSE_RESULTS = 3,
        FN_RESPONSE_CONTEXT = 4,
        FN_RESPONSE_REQUIREMENTS = 5,
        FN_RESPONSE_CONDITIONS = 6,
        FN_RESPONSE_OUTPUT = 7,
};

#define FN_MAX_FIELD 9

/* The parts are borrowed: from the message that was split, from the arena, or from whoever set them. */
struct fn_parts {
        const struct proto_message *message; /* &proto_fn_v1_RunFunctionRequest or its response */
        /* By field number; p is NULL for a field that is absent. Of a single message the contents (p non-NULL and n 0 is a message
         * that is there and empty), of a repeated field or map all its entries, each with its tag. */
        struct str part[FN_MAX_FIELD + 1];
        struct str unknown; /* fields that this version does not know, passed on as they came */
};

/* Splits a message. A single message that stands there several times counts as their concatenation, which is what merging means
 * in protobuf, if each of them is well formed. The parts point into bytes where they can, else into the arena. */
int fn_parts_split(struct arena *a, const struct proto_message *message, struct str bytes, struct fn_parts *ret,
                   struct err *err);

/* Appends the message: fields by number, then the unknown ones. */
void fn_parts_append(struct buf *b, const struct fn_parts *parts);

/* Decodes one field to a value as proto.h says: an object for messages and maps, an array for repeated fields. NULL when the
 * field is absent. Unknown fields inside are kept, so that setting the value again loses nothing. Strings may point into the
 * part, which must outlive the arena. */
int fn_parts_get(struct arena *a, const struct fn_parts *parts, uint32_t number, const struct value **ret,
                 struct err *err);

/* Encodes a value into the arena as one field; NULL makes it absent. */
int fn_parts_set(struct arena *a, struct fn_parts *parts, uint32_t number, const struct value *v, struct err *err);

#define FN_TAG_BYTES 64

/* The tag of a request: the SHA-256, in hex, of its deterministic encoding without meta. Desired state and context come from
 * functions, which encode maps in any order; they are brought into order first, without being decoded. Everything else must have
 * been encoded by proto_encode, which only ever gives one order. */
int fn_request_tag(struct arena *a, const struct fn_parts *request, struct str *ret_tag, struct err *err);
