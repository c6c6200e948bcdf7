/* gRPC over HTTP/2: the part that client and server share. Unary calls only, because the function protocol has no others. */
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

/* Maps an HTTP status without grpc-status to a gRPC status, as the gRPC specification does. */
enum grpc_status grpc_status_of_http(int http_status);

/* Encodes and decodes grpc-message (percent encoding). Invalid escapes are kept as they are. */
void grpc_append_message(struct buf *b, struct str message);
void grpc_append_decoded_message(struct buf *b, struct str encoded);

/* Writes and reads grpc-timeout, e.g. `100m`. Writing chooses the finest unit that fits eight digits, rounded up; reading returns
 * nanoseconds. */
void grpc_append_timeout(struct buf *b, int64_t ns);
int grpc_parse_timeout(struct str text, int64_t *ret_ns, struct err *err);

/* Collects the single length-prefixed message of a unary body. */
struct grpc_reader {
        struct buf body;                /* the message without its prefix */
        struct budget_account *account; /* charged for the memory of body; may be NULL */
        size_t max_bytes;               /* of the message, also after decompression */
        unsigned char prefix[5];
        uint8_t n_prefix;
        bool is_compressed;
        uint32_t wanted; /* length in the prefix */
        bool is_complete;
};

void grpc_reader_init(struct grpc_reader *r, size_t max_bytes);
void grpc_reader_set_account(struct grpc_reader *r, struct budget_account *account);
void grpc_reader_done(struct grpc_reader *r);

/* Feeds a piece of the body. ERR_LIMIT: the message is longer than max_bytes (nothing of it is kept); ERR_EXISTS: a second message;
 * ERR_INVALID: an unknown flag. */
int grpc_reader_add(struct grpc_reader *r, struct str data, struct err *err);

/* Takes only the prefix of a message from the front of *data. The message's length is known once n_prefix is the size of prefix. */
int grpc_reader_take_prefix(struct grpc_reader *r, struct str *data, struct err *err);

/* The decompressed size of the complete message, as the message itself claims: the claim may be false. At most max_bytes. */
size_t grpc_reader_plain_bytes(const struct grpc_reader *r);

/* As grpc_reader_add, for a stream of messages: takes bytes of *data up to the end of one message (is_complete, in body). */
int grpc_reader_take(struct grpc_reader *r, struct str *data, struct err *err);

/* Call it at the end of the body. *ret is the message, decompressed if needed (gzip; encoding is the grpc-encoding field); the
 * caller owns a reference. ERR_NOT_FOUND: there was no message. */
int grpc_reader_finish(struct grpc_reader *r, struct str encoding, struct bytes **ret, struct err *err);

/* Appends the 5 bytes that precede a message. */
void grpc_append_prefix(struct buf *b, size_t message_bytes);
