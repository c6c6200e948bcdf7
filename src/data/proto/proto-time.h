/* google.protobuf.Duration and Timestamp as text, under the rules of protobuf's JSON. */
#pragma once

#include "proto.h"

struct proto_time {
        int64_t seconds;
        int32_t nanos;
};

/* Both take PROTO_KIND_DURATION or PROTO_KIND_TIMESTAMP. Returns NULL, or the reason why the time has no text form. */
const char *proto_time_check(enum proto_kind kind, struct proto_time t);

/* Appends the text of a checked time: `1.500s`, `2024-05-01T10:00:00.250Z`. */
void proto_time_append(struct buf *b, enum proto_kind kind, struct proto_time t);

/* Returns NULL, or the reason why the text is not a valid time. */
const char *proto_time_parse(enum proto_kind kind, struct str text, struct proto_time *ret);
