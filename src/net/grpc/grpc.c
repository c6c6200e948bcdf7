#include "grpc.h"

#include "buf.h"
#include "bytes.h"
#include "timetext.h"

#include <zlib.h>

/* Extra room behind a decompressed message, so that inflate can reach the end of the stream. */
#define END_BYTES 256

static const char *const status_names[_GRPC_STATUS_COUNT] = {
        [GRPC_OK] = "OK",
        [GRPC_CANCELLED] = "Canceled",
        [GRPC_UNKNOWN] = "Unknown",
        [GRPC_INVALID_ARGUMENT] = "InvalidArgument",
        [GRPC_DEADLINE_EXCEEDED] = "DeadlineExceeded",
        [GRPC_NOT_FOUND] = "NotFound",
        [GRPC_ALREADY_EXISTS] = "AlreadyExists",
        [GRPC_PERMISSION_DENIED] = "PermissionDenied",
        [GRPC_RESOURCE_EXHAUSTED] = "ResourceExhausted",
        [GRPC_FAILED_PRECONDITION] = "FailedPrecondition",
        [GRPC_ABORTED] = "Aborted",
        [GRPC_OUT_OF_RANGE] = "OutOfRange",
        [GRPC_UNIMPLEMENTED] = "Unimplemented",
        [GRPC_INTERNAL] = "Internal",
        [GRPC_UNAVAILABLE] = "Unavailable",
        [GRPC_DATA_LOSS] = "DataLoss",
        [GRPC_UNAUTHENTICATED] = "Unauthenticated",
};

const char *grpc_status_name(enum grpc_status status)
{
        return (unsigned)status < _GRPC_STATUS_COUNT ? status_names[status] : "Unknown";
}

enum grpc_status grpc_status_of_http(int http_status)
{
        switch (http_status) {
        case 400:
                return GRPC_INTERNAL;
        case 401:
                return GRPC_UNAUTHENTICATED;
        case 403:
                return GRPC_PERMISSION_DENIED;
        case 404:
                return GRPC_UNIMPLEMENTED;
        case 429:
        case 502:
        case 503:
        case 504:
                return GRPC_UNAVAILABLE;
        default:
                return GRPC_UNKNOWN;
        }
}

void grpc_append_message(struct buf *b, struct str message)
{
        for (size_t i = 0; i < message.n; i++) {
                unsigned char c = (unsigned char)message.p[i];

                if (c >= ' ' && c <= '~' && c != '%')
                        buf_append_char(b, (char)c);
                else
                        buf_appendf(b, "%%%02X", c);
        }
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void grpc_append_decoded_message(struct buf *b, struct str encoded)
{
        for (size_t i = 0; i < encoded.n; i++) {
                int high = i + 2 < encoded.n ? hex_digit(encoded.p[i + 1]) : -1;
                int low = i + 2 < encoded.n ? hex_digit(encoded.p[i + 2]) : -1;

                if (encoded.p[i] == '%' && high >= 0 && low >= 0) {
                        buf_append_char(b, (char)(high << 4 | low));
                        i += 2;
                } else {
                        buf_append_char(b, encoded.p[i]);
                }
        }
}

/* Units of grpc-timeout, smallest first. */
static const struct {
        char letter;
        int64_t ns;
} timeout_units[] = {
        { 'n', 1 },
        { 'u', 1000 },
        { 'm', NS_PER_MS },
        { 'S', NS_PER_SECOND },
        { 'M', 60 * NS_PER_SECOND },
        { 'H', 3600 * NS_PER_SECOND },
};

#define MAX_TIMEOUT_DIGITS 99999999

void grpc_append_timeout(struct buf *b, int64_t ns)
{
        if (ns < 0)
                ns = 0;
        for (size_t i = 0; i < ARRAY_SIZE(timeout_units); i++) {
                int64_t count = ns / timeout_units[i].ns + (ns % timeout_units[i].ns != 0);

                if (count <= MAX_TIMEOUT_DIGITS) {
                        buf_appendf(b, "%lld%c", (long long)count, timeout_units[i].letter);
                        return;
                }
        }
        buf_appendf(b, "%dH", MAX_TIMEOUT_DIGITS);
}

int grpc_parse_timeout(struct str text, int64_t *ret_ns, struct err *err)
{
        int64_t count = 0;

        if (text.n < 2 || text.n > 9)
                return err_set(err, ERR_INVALID, "malformed grpc-timeout: %.*s", STR_ARG(text));
        for (size_t i = 0; i + 1 < text.n; i++) {
                if (text.p[i] < '0' || text.p[i] > '9')
                        return err_set(err, ERR_INVALID, "malformed grpc-timeout: %.*s", STR_ARG(text));
                count = count * 10 + (text.p[i] - '0');
        }
        for (size_t i = 0; i < ARRAY_SIZE(timeout_units); i++) {
                if (timeout_units[i].letter != text.p[text.n - 1])
                        continue;
                if (__builtin_mul_overflow(count, timeout_units[i].ns, ret_ns))
                        *ret_ns = INT64_MAX;
                return 0;
        }
        return err_set(err, ERR_INVALID, "malformed grpc-timeout: %.*s", STR_ARG(text));
}

/* Messages */

void grpc_append_prefix(struct buf *b, size_t message_bytes)
{
        unsigned char prefix[5] = { 0, (unsigned char)(message_bytes >> 24), (unsigned char)(message_bytes >> 16),
                                    (unsigned char)(message_bytes >> 8), (unsigned char)message_bytes };

        assert(message_bytes <= UINT32_MAX);
        buf_append(b, prefix, sizeof(prefix));
}

void grpc_reader_init(struct grpc_reader *r, size_t max_bytes)
{
        *r = (struct grpc_reader) { .max_bytes = max_bytes };
        buf_init(&r->body, max_bytes);
}

void grpc_reader_set_account(struct grpc_reader *r, struct budget_account *account)
{
        r->account = r->body.account = account;
}

void grpc_reader_done(struct grpc_reader *r)
{
        buf_done(&r->body);
}

static int too_large(struct grpc_reader *r, size_t size, struct err *err)
{
        buf_done(&r->body);
        return err_set(err, ERR_LIMIT, "grpc: received message larger than max (%zu vs. %zu)", size, r->max_bytes);
}

static int start_message(struct grpc_reader *r, struct err *err)
{
        if (r->prefix[0] > 1)
                return err_set(err, ERR_INVALID, "grpc: received unexpected payload format %u", r->prefix[0]);
        r->is_compressed = r->prefix[0];
        r->wanted = (uint32_t)r->prefix[1] << 24 | (uint32_t)r->prefix[2] << 16 | (uint32_t)r->prefix[3] << 8 |
                    r->prefix[4];
        if (r->wanted > r->max_bytes)
                return too_large(r, r->wanted, err);
        r->is_complete = r->wanted == 0;
        return 0;
}

int grpc_reader_take_prefix(struct grpc_reader *r, struct str *data, struct err *err)
{
        int rc;

        while (data->n > 0 && r->n_prefix < sizeof(r->prefix)) {
                r->prefix[r->n_prefix++] = (unsigned char)data->p[0];
                *data = str_skip(*data, 1);
                if (r->n_prefix == sizeof(r->prefix)) {
                        rc = start_message(r, err);
                        if (rc < 0)
                                return rc;
                }
        }
        return 0;
}

/* The account refused memory for the buffer, and it remembers that. */
static int too_expensive(struct err *err)
{
        return err_set(err, ERR_LIMIT, "grpc: there is no memory for the message");
}

int grpc_reader_take(struct grpc_reader *r, struct str *data, struct err *err)
{
        size_t part;
        int rc = grpc_reader_take_prefix(r, data, err);

        if (rc < 0 || r->n_prefix < sizeof(r->prefix) || r->is_complete)
                return rc;
        part = MIN(data->n, r->wanted - r->body.n);
        buf_append(&r->body, data->p, part);
        if (r->body.has_failed)
                return too_expensive(err);
        *data = str_skip(*data, part);
        r->is_complete = r->body.n == r->wanted;
        return 0;
}

int grpc_reader_add(struct grpc_reader *r, struct str data, struct err *err)
{
        while (data.n > 0) {
                int rc;

                if (r->is_complete)
                        return err_set(err, ERR_EXISTS, "more than one message in a unary call");
                rc = grpc_reader_take(r, &data, err);
                if (rc < 0)
                        return rc;
        }
        return 0;
}

/* The last bytes of gzip data are the length of the decompressed data. */
size_t grpc_reader_plain_bytes(const struct grpc_reader *r)
{
        const unsigned char *end = (const unsigned char *)r->body.p + r->body.n;

        if (!r->is_compressed || r->body.n < 4)
                return r->body.n;
        return MIN((size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24,
                   r->max_bytes);
}

static int inflate_message(struct grpc_reader *r, struct buf *out, struct err *err)
{
        z_stream z = { .next_in = (Bytef *)r->body.p, .avail_in = (uInt)r->body.n };
        int status = Z_OK, result = 0;

        if (inflateInit2(&z, 15 + 16) != Z_OK)
                return err_set(err, ERR_FAILED, "cannot begin to decompress");
        if (r->account) /* exactly the reserved size, and END_BYTES to reach the end */
                buf_reserve(out, MIN(grpc_reader_plain_bytes(r) + END_BYTES, r->max_bytes));
        while (status == Z_OK && !out->has_failed) {
                size_t left = out->capacity - out->n;
                size_t room = left ? left : MIN(MAX(r->body.n * 4, (size_t)16 << 10), r->max_bytes - out->n);
                Bytef beyond; /* lets inflate reach the end of a message of exactly max_bytes */

                if (!buf_reserve(out, room))
                        break;
                z.next_out = room ? (Bytef *)out->p + out->n : &beyond;
                z.avail_out = room ? (uInt)room : 1;
                status = inflate(&z, Z_NO_FLUSH);
                if (room == 0 && z.avail_out == 0) {
                        result = too_large(r, r->max_bytes + 1, err);
                        break;
                }
                out->n += room ? room - z.avail_out : 0;
        }
        inflateEnd(&z);
        if (out->has_failed)
                return too_expensive(err);
        if (result == 0 && (status != Z_STREAM_END || z.avail_in > 0))
                result = err_set(err, ERR_INVALID, "grpc: failed to decompress the message: it is damaged");
        return result;
}

int grpc_reader_finish(struct grpc_reader *r, struct str encoding, struct bytes **ret, struct err *err)
{
        _cleanup_buf_ struct buf plain = BUF_INIT(r->max_bytes);
        int rc;

        if (r->n_prefix < sizeof(r->prefix))
                return err_set(err, ERR_NOT_FOUND, "the body holds no message");
        if (!r->is_complete)
                return err_set(err, ERR_INVALID, "unexpected EOF");
        if (r->is_compressed && (encoding.n == 0 || str_equal(encoding, STR("identity"))))
                return err_set(err, ERR_INVALID, "grpc: compressed flag set with identity or empty encoding");
        if (r->is_compressed && !str_equal(encoding, STR("gzip")))
                return err_set(err, ERR_UNSUPPORTED, "grpc: Decompressor is not installed for grpc-encoding \"%.*s\"",
                               STR_ARG(encoding));
        if (r->is_compressed) {
                plain.account = r->account;
                rc = inflate_message(r, &plain, err);
                if (rc < 0)
                        return rc;
                buf_done(&r->body);
                *ret = bytes_take(&plain);
        } else {
                *ret = bytes_take(&r->body);
        }
        return 0;
}
