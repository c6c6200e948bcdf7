/* The records of one TLS connection: plain output waits here and becomes records as there is room for them; received records are read
 * from where they lie. Belongs to a stream; loop thread only. */
#pragma once

#include <stdlib.h> /* as in loop.h */
#include <openssl/ssl.h>

#include "buf.h"
#include "bytes.h"
#include "err.h"
#include "vec.h"

struct tls_config;

/* A part of bytes, with a reference. */
struct piece {
        struct bytes *bytes;
        struct str rest; /* the part that is not sent yet */
};

struct tls_records {
        SSL *ssl;           /* NULL: no TLS */
        struct str in;      /* received records that were not read yet, borrowed */
        struct buf *out;    /* records go here */
        bool has_ended;     /* no output follows */
        size_t plain_bytes; /* waiting to be encrypted */

        /* Output before encryption, in order: waiting, then plain. */
        VEC(struct piece) waiting;
        struct buf plain;
};

/* Begins TLS; records go to the end of out. The struct must not move. */
int tls_records_begin(struct tls_records *t, struct tls_config *config, const char *server_name, struct buf *out,
                      struct err *err);
void tls_records_done(struct tls_records *t);

/* Queue output: as a copy, or as a reference to a part of b. */
void tls_records_copy(struct tls_records *t, struct str data);
void tls_records_refer(struct tls_records *t, struct bytes *b, struct str data);

/* The memory of the queued output; of pieces that others hold, too, this queue's share. */
size_t tls_records_held_bytes(const struct tls_records *t);

/* Encrypts queued output into full records, except for the last one, until out has at least max_bytes. */
int tls_records_encrypt(struct tls_records *t, size_t max_bytes, struct err *err);

/* Appends the end of all output, once. */
void tls_records_end(struct tls_records *t);
