/* Blobs, read as they come: connections that are lost are continued with ranges, a registry must bring a minimum per second, and the digest
 * is checked at the end. */
#include "oci-request.h"

#include "arena.h"
#include "buf.h"
#include "oci-digest.h"

#include <errno.h>
#include <sys/stat.h>

#define MAX_BLOB_TRIES 5 /* that bring less than PROGRESS_BYTES each */
#define PROGRESS_BYTES (64 << 10)
#define READ_BYTES     (64u << 10)

struct blob_reader {
        struct oci_client *client;
        const struct oci_reference *ref;
        const struct oci_descriptor *blob;
        struct oci_wait wait;
        struct http_response *response; /* NULL: to be asked for */
        struct str piece;               /* of the response, not read yet */
        int64_t have_bytes;
        int64_t skip_bytes; /* of the response: it begins anew, and these are known */
        int64_t tried_at;   /* have_bytes when the last try began to count as one */
        int n_vain;
        bool has_no_ranges; /* of the registry: it cannot continue */
        bool is_refused;    /* the request was tried as often as requests are */
        int failure;        /* of the registry: the code, or 0 */
        struct sha256 hash;
        struct oci_speed speed;
};

static void reader_init(struct blob_reader *b, struct oci_client *c, const struct oci_reference *ref,
                        const struct oci_descriptor *blob, struct oci_wait wait)
{
        *b = (struct blob_reader) { .client = c, .ref = ref, .blob = blob, .wait = wait };
        sha256_begin(&b->hash);
}

static void reader_done(struct blob_reader *b)
{
        http_response_free(TAKE(b->response));
        b->piece = STR("");
}

/* A 206 must continue where we are; a 200 comes from the start. */
static int place_response(struct blob_reader *b, const struct oci_ask *ask, struct err *err)
{
        struct http_response *r = b->response;
        struct str range = http_fields_get(&r->fields, STR("content-range"));
        char wanted[64];
        int n = snprintf(wanted, sizeof(wanted), "bytes %lld-", (long long)b->have_bytes);

        b->skip_bytes = r->status == 200 ? b->have_bytes : 0;
        if (r->status == 416 || (r->status == 206 && !str_starts_with(range, str_make(wanted, (size_t)n)))) {
                b->has_no_ranges = true;
                return err_set(err, ERR_FAILED, "the registry cannot continue the blob");
        }
        if (r->status == 200 || r->status == 206)
                return 0;
        b->is_refused = true;
        return oci_status_error(ask, r, b->wait, err);
}

/* Asks for what is missing. */
static int open_rest(struct blob_reader *b, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct http_fields fields = { 0 };
        struct oci_ask ask;
        int r;

        arena_init(&a, "download", 0);
        ask = oci_ask_for(&a, b->ref, "GET", "blobs", b->blob->digest);
        ask.fields = &fields;
        if (b->have_bytes > 0 && !b->has_no_ranges)
                http_fields_add(&fields, &a, STR("range"), arena_printf(&a, "bytes=%lld-", (long long)b->have_bytes));
        r = oci_open(b->client, &a, &ask, b->wait, &b->response, NULL, err);
        oci_speed_begin(&b->speed);
        b->is_refused = r < 0;
        return r < 0 ? r : place_response(b, &ask, err);
}

/* 1 with the next piece, which may be empty, 0 at the end of the blob. */
static int next_piece(struct blob_reader *b, struct err *err)
{
        int64_t missing = b->blob->size_bytes - b->have_bytes, skip;
        int r = b->response ? 0 : open_rest(b, err);

        if (r >= 0)
                r = http_response_read(b->response, b->wait.deadline, b->wait.cancel, &b->piece, err);
        if (r > 0)
                r = oci_speed_check(b->client, &b->speed, b->piece.n, err) < 0 ? ERR_LIMIT : 1;
        if (r == 0 && missing > 0)
                return err_set(err, ERR_FAILED, "the registry sent %lld of %lld bytes", (long long)b->have_bytes,
                               (long long)b->blob->size_bytes);
        if (r <= 0)
                return r;
        skip = MIN(b->skip_bytes, (int64_t)b->piece.n);
        b->skip_bytes -= skip;
        b->piece = str_skip(b->piece, (size_t)skip);
        if ((int64_t)b->piece.n > missing)
                return err_set(err, ERR_INVALID, "the registry sends more than the %lld bytes that the manifest says",
                               (long long)b->blob->size_bytes);
        return 1;
}

/* After a failure: 0 if the rest is worth another request. */
static int try_again(struct blob_reader *b, int code, struct err *err)
{
        bool may_pass = !b->is_refused && (code == ERR_FAILED || code == ERR_TIMEOUT || code == ERR_CLOSED);
        int64_t pause_ms = b->client->options.retry_ms;

        b->n_vain = b->have_bytes - b->tried_at >= PROGRESS_BYTES ? 0 : b->n_vain + 1;
        b->tried_at = b->have_bytes;
        if (!may_pass || b->n_vain >= MAX_BLOB_TRIES || deadline_has_passed(b->wait.deadline))
                return code;
        reader_done(b);
        if (thread_sleep(deadline_earliest(b->wait.deadline, deadline_after_ms(pause_ms)), b->wait.cancel) < 0)
                return cancel_check(b->wait.cancel, err);
        if (err)
                err_done(err);
        return 0;
}

/* An oci_read_fn. */
static int64_t read_blob(void *context, void *p, size_t n, struct err *err)
{
        struct blob_reader *b = context;

        while (b->piece.n == 0) {
                int r;

                if (b->failure < 0)
                        return err_set(err, b->failure, "the blob cannot be read");
                if (!b->response && b->have_bytes == b->blob->size_bytes)
                        return 0;
                r = next_piece(b, err);
                if (r == 0)
                        return 0;
                if (r < 0) {
                        b->piece = STR("");
                        r = b->failure = try_again(b, r, err);
                }
                if (r < 0)
                        return r;
        }
        n = MIN(n, b->piece.n);
        memcpy(p, b->piece.p, n);
        sha256_add(&b->hash, str_make(p, n));
        b->have_bytes += (int64_t)n;
        b->piece = str_skip(b->piece, n);
        return (int64_t)n;
}

/* Reads what is left and checks the digest. */
static int finish(struct blob_reader *b, struct err *err)
{
        _cleanup_arena_ struct arena a;
        char block[READ_BYTES];
        struct str digest;
        int64_t n;

        while ((n = read_blob(b, block, sizeof(block), err)) > 0)
                ;
        if (n < 0)
                return (int)n;
        arena_init(&a, "digest", 0);
        digest = oci_digest_end(&b->hash, &a);
        if (str_equal(digest, b->blob->digest))
                return 0;
        return err_set(err, ERR_INVALID, "the registry sent something else: its bytes have the digest %.*s",
                       STR_ARG(digest));
}

static int wrap(const struct blob_reader *b, int r, struct err *err)
{
        if (r < 0)
                err_wrap(err, "blob %.*s of %.*s/%.*s", STR_ARG(b->blob->digest), STR_ARG(b->ref->registry),
                         STR_ARG(b->ref->repository));
        return r;
}

/* Streams */

struct stream_pull {
        const struct oci_descriptor *blob;
        oci_consume_fn *consume;
        void *context;
};

static int stream_from(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                       void *context, struct err *err)
{
        _cleanup_err_ struct err wrong = { 0 };
        struct stream_pull *s = context;
        struct blob_reader b;
        int r;

        (void)a;
        reader_init(&b, c, ref, s->blob, wait);
        r = s->consume(s->context, read_blob, &b, err);
        if (r >= 0)
                r = finish(&b, err);
        /* Bytes that mean nothing may be other bytes than those that were asked for: then that is the news. */
        else if (b.failure == 0 && finish(&b, &wrong) == ERR_INVALID)
                r = err_move(err, &wrong);
        reader_done(&b);
        return wrap(&b, r, err);
}

int oci_pull_stream(struct oci_client *c, const struct oci_reference *ref, const struct oci_descriptor *blob,
                    oci_consume_fn *consume, void *context, struct oci_wait wait, struct err *err)
{
        struct stream_pull s = { blob, consume, context };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "pull", 0);
        return oci_pull_from(c, &a, ref, wait, stream_from, &s, err);
}

/* Files */

static int put(int fd, struct str bytes, int64_t at, struct err *err)
{
        while (bytes.n > 0) {
                ssize_t n = pwrite(fd, bytes.p, bytes.n, at);

                if (n < 0 && errno != EINTR)
                        return err_set_errno(err, errno, "cannot write the file");
                if (n > 0) {
                        at += n;
                        bytes = str_skip(bytes, (size_t)n);
                }
        }
        return 0;
}

static int empty(int fd, struct err *err)
{
        return ftruncate(fd, 0) < 0 ? err_set_errno(err, errno, "cannot empty the file") : 0;
}

/* Hashes what the file has already. */
static int take_file(struct blob_reader *b, int fd, struct err *err)
{
        char block[READ_BYTES];
        struct stat st;

        if (fstat(fd, &st) < 0)
                return err_set_errno(err, errno, "cannot look at the file");
        if (st.st_size > b->blob->size_bytes)
                return empty(fd, err);
        while (b->have_bytes < st.st_size) {
                ssize_t n = pread(fd, block, sizeof(block), b->have_bytes);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? err_set_errno(err, errno, "cannot read the file") : 0;
                sha256_add(&b->hash, str_make(block, (size_t)n));
                b->have_bytes += n;
        }
        b->tried_at = b->have_bytes;
        return 0;
}

/* Writes what is missing behind what is there. *ret_was_resumed: something was there. */
static int download(struct blob_reader *b, int fd, bool *ret_was_resumed, struct err *err)
{
        char block[READ_BYTES];
        int r = take_file(b, fd, err);
        int64_t n;

        *ret_was_resumed = b->have_bytes > 0;
        while (r >= 0 && (n = read_blob(b, block, sizeof(block), err)) != 0)
                r = n < 0 ? (int)n : put(fd, str_make(block, (size_t)n), b->have_bytes - n, err);
        if (r >= 0)
                r = finish(b, err);
        if (r == ERR_INVALID)
                (void)empty(fd, NULL);
        reader_done(b);
        return r;
}

struct file_pull {
        const struct oci_descriptor *blob;
        int fd;
};

static int file_from(struct oci_client *c, struct arena *a, const struct oci_reference *ref, struct oci_wait wait,
                     void *context, struct err *err)
{
        struct file_pull *p = context;
        struct blob_reader b;
        bool was_resumed;
        int r;

        (void)a;
        reader_init(&b, c, ref, p->blob, wait);
        r = download(&b, p->fd, &was_resumed, err);
        if (r == ERR_INVALID && was_resumed) { /* the part that was there may have been the wrong one */
                reader_init(&b, c, ref, p->blob, wait);
                r = download(&b, p->fd, &was_resumed, err);
        }
        return wrap(&b, r, err);
}

int oci_pull_blob(struct oci_client *c, const struct oci_reference *ref, const struct oci_descriptor *blob, int fd,
                  struct oci_wait wait, struct err *err)
{
        struct file_pull p = { blob, fd };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "pull", 0);
        return oci_pull_from(c, &a, ref, wait, file_from, &p, err);
}

/* Memory */

/* The context is a buf. What the manifest says about the size is no reason to take so much memory before it comes. */
static int gather(void *context, oci_read_fn *read, void *blob, struct err *err)
{
        struct buf *b = context;
        int64_t n;

        buf_clear(b);
        do {
                if (!buf_reserve(b, READ_BYTES))
                        return buf_check(b, "the blob", err);
                n = read(blob, b->p + b->n, READ_BYTES, err);
                b->n += n > 0 ? (size_t)n : 0;
        } while (n > 0);
        return (int)n;
}

int oci_pull_bytes(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                   const struct oci_descriptor *blob, size_t max_bytes, struct oci_wait wait, struct str *ret,
                   struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(max_bytes + READ_BYTES);
        int r;

        if ((uint64_t)blob->size_bytes > max_bytes)
                return err_set(err, ERR_LIMIT, "blob %.*s of %.*s/%.*s has %lld bytes; the limit is %zu",
                               STR_ARG(blob->digest), STR_ARG(ref->registry), STR_ARG(ref->repository),
                               (long long)blob->size_bytes, max_bytes);
        r = oci_pull_stream(c, ref, blob, gather, &b, wait, err);
        if (r >= 0)
                *ret = buf_to_arena(&b, a);
        return r;
}
