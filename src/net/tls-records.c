#include "tls-records.h"

#include "tls.h"

#include <openssl/err.h>
#include <pthread.h>

/* The most plain bytes in one TLS record, and the most that a record adds. */
#define RECORD_BYTES (16u << 10)
#define RECORD_EXTRA 64

/* How much output memory an idle connection keeps. */
#define KEEP_BYTES (16u << 10)

/* --- What OpenSSL reads from and writes to --- */

static int bio_write(BIO *bio, const char *p, size_t n, size_t *ret_n)
{
        struct tls_records *t = BIO_get_data(bio);

        buf_append(t->out, p, n);
        *ret_n = n;
        return !t->out->has_failed;
}

static int bio_read(BIO *bio, char *p, size_t n, size_t *ret_n)
{
        struct tls_records *t = BIO_get_data(bio);
        size_t part = MIN(n, t->in.n);

        BIO_clear_retry_flags(bio);
        if (part == 0) {
                BIO_set_retry_read(bio);
                return 0;
        }
        memcpy(p, t->in.p, part);
        t->in = str_skip(t->in, part);
        *ret_n = part;
        return 1;
}

static long bio_control(BIO *bio, int command, long number, void *argument)
{
        (void)bio, (void)number, (void)argument;
        return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static void make_method(void)
{
        method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "records");
        assert(method && BIO_meth_set_write_ex(method, bio_write) && BIO_meth_set_read_ex(method, bio_read) &&
               BIO_meth_set_ctrl(method, bio_control));
}

int tls_records_begin(struct tls_records *t, struct tls_config *config, const char *server_name, struct buf *out,
                      struct err *err)
{
        BIO *bio;
        int r;

        pthread_once(&method_once, make_method);
        buf_init(&t->plain, 0);
        t->out = out;
        r = tls_new_connection(config, server_name, &t->ssl, err);
        if (r < 0)
                return r;
        bio = BIO_new(method);
        if (!bio)
                return tls_error(err, "cannot begin TLS");
        BIO_set_data(bio, t);
        BIO_set_init(bio, 1);
        SSL_set_bio(t->ssl, bio, bio);
        return 0;
}

void tls_records_done(struct tls_records *t)
{
        for (size_t i = 0; i < t->waiting.n; i++)
                bytes_unref(t->waiting.p[i].bytes);
        vec_done(&t->waiting);
        buf_done(&t->plain);
        SSL_free(t->ssl);
}

/* --- Output --- */

void tls_records_copy(struct tls_records *t, struct str data)
{
        buf_append_str(&t->plain, data);
        t->plain_bytes += data.n;
}

size_t tls_records_held_bytes(const struct tls_records *t)
{
        size_t n = t->plain.n;

        for (size_t i = 0; i < t->waiting.n; i++)
                n += bytes_share(t->waiting.p[i].bytes);
        return n;
}

/* Gives the copied output its place among the waiting pieces. */
static void seal_plain(struct tls_records *t)
{
        struct piece p;

        if (t->plain.n == 0)
                return;
        p.bytes = bytes_take(&t->plain);
        p.rest = p.bytes->str;
        vec_push(&t->waiting, p);
}

void tls_records_refer(struct tls_records *t, struct bytes *b, struct str data)
{
        seal_plain(t);
        vec_push(&t->waiting, (struct piece) { bytes_ref(b), data });
        t->plain_bytes += data.n;
}

/* The content of the next record: where it lies if it is in one piece, else copied together. The first `taken` pieces are in earlier
 * records. */
static struct str next_record(const struct tls_records *t, size_t taken, struct str plain, char *block)
{
        struct str first = taken < t->waiting.n ? t->waiting.p[taken].rest : plain;
        size_t n = 0;

        if (first.n >= RECORD_BYTES || taken >= t->waiting.n)
                return str_first(first, RECORD_BYTES);
        for (size_t i = taken; i < t->waiting.n && n < RECORD_BYTES; i++) {
                struct str part = str_first(t->waiting.p[i].rest, RECORD_BYTES - n);

                memcpy(block + n, part.p, part.n);
                n += part.n;
        }
        plain = str_first(plain, RECORD_BYTES - n);
        if (plain.n)
                memcpy(block + n, plain.p, plain.n);
        return str_make(block, n + plain.n);
}

/* Removes n encrypted bytes from the front. */
static void drop(struct tls_records *t, size_t n, size_t *taken, struct str *plain)
{
        t->plain_bytes -= n;
        while (n > 0 && *taken < t->waiting.n) {
                struct piece *p = &t->waiting.p[*taken];
                size_t part = MIN(n, p->rest.n);

                p->rest = str_skip(p->rest, part);
                n -= part;
                if (p->rest.n == 0) {
                        bytes_unref(p->bytes);
                        ++*taken;
                }
        }
        *plain = str_skip(*plain, n);
}

static void forget_taken(struct tls_records *t, size_t taken)
{
        if (taken == t->waiting.n) {
                vec_done(&t->waiting);
                return;
        }
        memmove(t->waiting.p, t->waiting.p + taken, (t->waiting.n - taken) * sizeof(*t->waiting.p));
        t->waiting.n -= taken;
}

/* Keeps the part of the copied output that is not encrypted. */
static void keep_plain(struct tls_records *t, struct str rest)
{
        if (rest.n == t->plain.n)
                return;
        if (rest.n > 0) {
                seal_plain(t);
                vec_last(&t->waiting)->rest = rest;
        } else if (t->plain.capacity > KEEP_BYTES) {
                buf_done(&t->plain);
        } else {
                buf_clear(&t->plain);
        }
}

/* OpenSSL frees the memory of a record when it is written, as idle connections should have none. While more records follow at once, it
 * need not. */
static void keep_record_memory(struct tls_records *t, bool keeps)
{
        if (keeps)
                SSL_clear_mode(t->ssl, SSL_MODE_RELEASE_BUFFERS);
        else
                SSL_set_mode(t->ssl, SSL_MODE_RELEASE_BUFFERS);
}

int tls_records_encrypt(struct tls_records *t, size_t max_bytes, struct err *err)
{
        char block[RECORD_BYTES];
        struct str plain = buf_str(&t->plain);
        size_t taken = 0, written;
        int r = 0;

        if (t->plain_bytes == 0)
                return 0;
        if (t->out->n < max_bytes)
                buf_reserve(t->out, MIN(t->plain_bytes, max_bytes - t->out->n + RECORD_BYTES) +
                                            RECORD_EXTRA * (1 + MIN(t->plain_bytes, max_bytes) / RECORD_BYTES));
        while (r == 0 && t->plain_bytes > 0 && t->out->n < max_bytes) {
                struct str data = next_record(t, taken, plain, block);

                keep_record_memory(t, t->plain_bytes > data.n && t->out->n + data.n < max_bytes);
                ERR_clear_error();
                if (SSL_write_ex(t->ssl, data.p, data.n, &written) == 1)
                        drop(t, written, &taken, &plain);
                else
                        r = tls_error(err, "cannot send under TLS");
        }
        keep_plain(t, plain);
        forget_taken(t, taken);
        return r;
}

void tls_records_end(struct tls_records *t)
{
        if (t->has_ended)
                return;
        t->has_ended = true;
        SSL_shutdown(t->ssl);
        ERR_clear_error();
}
