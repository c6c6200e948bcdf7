/* Splits a RunFunction message into its encoded fields, and joins encoded fields to a message. So observed state is encoded once
 * for all steps, and a response's desired state goes into the next request as the same bytes. */
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

/* The parts are borrowed: from the message that was split, from the arena, or from the caller that set them. */
struct fn_parts {
        const struct proto_message *message; /* &proto_fn_v1_RunFunctionRequest or its response */
        /* By field number; p is NULL for an absent field. For a singular message: its contents (p non-NULL and n 0: present and
         * empty). For a repeated field or map: all entries, each with its tag. */
        struct str part[FN_MAX_FIELD + 1];
        struct str unknown; /* fields that this version does not know; passed on unchanged */
};

/* Splits a message. A singular message that occurs several times counts as their concatenation, as protobuf merges them, if each
 * occurrence is well formed. The parts point into bytes if possible, otherwise into the arena. */
int fn_parts_split(struct arena *a, const struct proto_message *message, struct str bytes, struct fn_parts *ret,
                   struct err *err);

/* Appends the message: known fields by number, then the unknown ones. */
void fn_parts_append(struct buf *b, const struct fn_parts *parts);

/* Decodes one field to a value as in proto.h: an object for messages and maps, an array for repeated fields; NULL when the field is
 * absent. Unknown fields inside are kept, so that setting the value again loses nothing. Strings may point into the part, so the
 * part must outlive the arena. */
int fn_parts_get(struct arena *a, const struct fn_parts *parts, uint32_t number, const struct value **ret,
                 struct err *err);

/* Encodes a value as one field, into the arena; NULL makes the field absent. */
int fn_parts_set(struct arena *a, struct fn_parts *parts, uint32_t number, const struct value *v, struct err *err);

#define FN_TAG_BYTES 64

/* The tag of a request: the SHA-256, in hex, of its deterministic encoding without meta. Desired state and context come from
 * functions, which encode maps in any order; this function sorts them first, without decoding. All other parts must come from
 * proto_encode, whose order is always the same. */
int fn_request_tag(struct arena *a, const struct fn_parts *request, struct str *ret_tag, struct err *err);
