/* gRPC over HTTP/2: what client and server share. Unary calls only: that is what the function protocol has. */
#pragma once

#include "buf.h"
#include "err.h"
#include "http.h"
#include "park.h"

enum grpc_status {
        GRPC_OK = 0,
        GRPC_CANCELLED = 1,
        GRPC_UNKNOWN = 2,
        GRPC_INVALID_ARGUMENT = 3,
        GRPC_DEADLINE_EXCEEDED = 4,
        GRPC_NOT_FOUND = 5,
        GRPC_ALREADY_EXISTS = 6,
        GRPC_PERMISSION_DENIED = 7,
        GRPC_RESOURCE_EXHAUSTED = 8,
        GRPC_FAILED_PRECONDITION = 9,
        GRPC_ABORTED = 10,
        GRPC_OUT_OF_RANGE = 11,
        GRPC_UNIMPLEMENTED = 12,
        GRPC_INTERNAL = 13,
        GRPC_UNAVAILABLE = 14,
        GRPC_DATA_LOSS = 15,
        GRPC_UNAUTHENTICATED = 16,
        _GRPC_STATUS_COUNT,
};

/* `Unavailable`, as Go prints codes. */
const char *grpc_status_name(enum grpc_status status);

/* What an HTTP status without grpc-status means, as the gRPC specification maps it. */
enum grpc_status grpc_status_of_http(int http_status);

/* grpc-message: percent encoding both ways. Bad escapes are kept as they are. */
void grpc_append_message(struct buf *b, struct str message);
void grpc_append_decoded_message(struct buf *b, struct str encoded);

/* grpc-timeout: `100m`. The largest unit that loses nothing within eight digits, rounded up; and back to nanoseconds. */
void grpc_append_timeout(struct buf *b, int64_t ns);
int grpc_parse_timeout(struct str text, int64_t *ret_ns, struct err *err);

/* Collects the one length-prefixed message of a unary body. */
struct grpc_reader {
        struct buf body;  /* the message without its prefix */
        size_t max_bytes; /* of the message, also after decompression */
        unsigned char prefix[5];
        uint8_t n_prefix;
        bool is_compressed;
        uint32_t wanted; /* length in the prefix */
        bool is_complete;
};

void grpc_reader_init(struct grpc_reader *r, size_t max_bytes);
void grpc_reader_done(struct grpc_reader *r);

/* Feeds a piece of the body. ERR_LIMIT for a message beyond max_bytes (nothing of it is kept), ERR_EXISTS for a second message,
 * ERR_INVALID for an unknown flag. */
int grpc_reader_add(struct grpc_reader *r, struct str data, struct err *err);

/* The same for a stream of messages: takes what it can of *data, up to the end of one message (is_complete, in body). */
int grpc_reader_take(struct grpc_reader *r, struct str *data, struct err *err);

/* The body has ended: the message, decompressed if need be (gzip; encoding is the grpc-encoding field). Its bytes are in
 * *ret, a reference for the caller. No message at all is ERR_NOT_FOUND. */
int grpc_reader_finish(struct grpc_reader *r, struct str encoding, struct bytes **ret, struct err *err);

/* The 5 bytes before a message. */
void grpc_append_prefix(struct buf *b, size_t message_bytes);
