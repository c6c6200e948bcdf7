#include "test.h"

#include "arena.h"
#include "bytes.h"
#include "grpc.h"

#include <zlib.h>

TEST(timeouts)
{
        static const struct {
                int64_t ns;
                const char *text;
        } written[] = {
                { 0, "0n" },
                { 1, "1n" },
                { 99999999, "99999999n" },
                { 100000000, "100000u" },
                { 100000001, "100001u" },
                { -5, "0n" },
                { 3600000000000, "3600000m" },
                { INT64_MAX, "2562048H" },
        };
        static const struct {
                const char *text;
                int64_t ns; /* -1: an error */
        } read[] = {
                { "1n", 1 },
                { "2u", 2000 },
                { "3m", 3000000 },
                { "4S", 4000000000 },
                { "5M", 300000000000 },
                { "6H", 21600000000000 },
                { "99999999H", INT64_MAX },
                { "", -1 },
                { "1", -1 },
                { "S", -1 },
                { "1s", -1 },
                { "-1S", -1 },
                { "123456789S", -1 },
                { "1 S", -1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(written); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                grpc_append_timeout(&b, written[i].ns);
                ASSERT_STR(buf_str(&b), str_from(written[i].text));
        }
        for (size_t i = 0; i < ARRAY_SIZE(read); i++) {
                _cleanup_err_ struct err err = { 0 };
                int64_t ns = -1;
                int r = grpc_parse_timeout(str_from(read[i].text), &ns, &err);

                ASSERT_CASE(read[i].text, r == (read[i].ns < 0 ? ERR_INVALID : 0));
                ASSERT_CASE(read[i].text, ns == read[i].ns);
        }
}

TEST(messages_are_percent_encoded)
{
        static const struct {
                const char *plain, *encoded;
        } cases[] = { { "plain text", "plain text" },
                      { "100% \xc3\xbc\n", "100%25 %C3%BC%0A" },
                      { "", "" },
                      { "~\x7f", "~%7F" } };
        static const struct {
                const char *encoded, *plain;
        } odd[] = { { "%", "%" }, { "%4", "%4" }, { "%zz", "%zz" }, { "%41%", "A%" }, { "%c3%BC", "\xc3\xbc" } };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf there = BUF_INIT(0), back = BUF_INIT(0);

                grpc_append_message(&there, str_from(cases[i].plain));
                ASSERT_STR(buf_str(&there), str_from(cases[i].encoded));
                grpc_append_decoded_message(&back, buf_str(&there));
                ASSERT_STR(buf_str(&back), str_from(cases[i].plain));
        }
        for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                grpc_append_decoded_message(&b, str_from(odd[i].encoded));
                ASSERT_STR_CASE(odd[i].encoded, buf_str(&b), str_from(odd[i].plain));
        }
}

TEST(statuses)
{
        static const struct {
                int http;
                enum grpc_status grpc;
        } cases[] = {
                { 400, GRPC_INTERNAL },      { 401, GRPC_UNAUTHENTICATED }, { 403, GRPC_PERMISSION_DENIED },
                { 404, GRPC_UNIMPLEMENTED }, { 429, GRPC_UNAVAILABLE },     { 502, GRPC_UNAVAILABLE },
                { 503, GRPC_UNAVAILABLE },   { 504, GRPC_UNAVAILABLE },     { 500, GRPC_UNKNOWN },
                { 200, GRPC_UNKNOWN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_INT(grpc_status_of_http(cases[i].http), cases[i].grpc);
        ASSERT_STR(str_from(grpc_status_name(GRPC_UNAVAILABLE)), STR("Unavailable"));
        ASSERT_STR(str_from(grpc_status_name((enum grpc_status)99)), STR("Unknown"));
}

/* Reads a body in pieces of the given size. */
static int read_body(struct str body, size_t step, size_t max, struct str encoding, struct bytes **ret, struct err *err)
{
        struct grpc_reader r;
        int rc = 0;

        grpc_reader_init(&r, max);
        for (size_t i = 0; i < body.n && rc >= 0; i += step)
                rc = grpc_reader_add(&r, str_first(str_skip(body, i), step), err);
        if (rc >= 0)
                rc = grpc_reader_finish(&r, encoding, ret, err);
        grpc_reader_done(&r);
        return rc;
}

TEST(reads_one_message)
{
        static const struct {
                struct str body;
                int code;
                const char *message;
        } cases[] = {
                { STR_INIT("\0\0\0\0\3abc"), 0, "" },
                { STR_INIT("\0\0\0\0\0"), 0, "" },
                { STR_INIT(""), ERR_NOT_FOUND, "the body holds no message" },
                { STR_INIT("\0\0\0"), ERR_NOT_FOUND, "the body holds no message" },
                { STR_INIT("\0\0\0\0\3ab"), ERR_INVALID, "unexpected EOF" },
                { STR_INIT("\0\0\0\0\1a\0\0\0\0\1b"), ERR_EXISTS, "more than one message in a unary call" },
                { STR_INIT("\2\0\0\0\1a"), ERR_INVALID, "grpc: received unexpected payload format 2" },
                { STR_INIT("\0\0\0\0\5abcde"), ERR_LIMIT, "grpc: received message larger than max (5 vs. 4)" },
                { STR_INIT("\1\0\0\0\1a"), ERR_INVALID, "grpc: compressed flag set with identity or empty encoding" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                for (size_t step = 1; step < 12; step++) {
                        _cleanup_err_ struct err err = { 0 };
                        _cleanup_bytes_ struct bytes *message = NULL;

                        ASSERT_INT(read_body(cases[i].body, step, 4, STR(""), &message, &err), cases[i].code);
                        if (cases[i].code == 0)
                                ASSERT_STR(message->str, str_skip(cases[i].body, 5));
                        else
                                ASSERT_STR(str_from(err_message(&err)), str_from(cases[i].message));
                }
        }
}

static void append_gzip(struct buf *b, struct str plain)
{
        unsigned char out[4096];
        z_stream z = {
                .next_in = (Bytef *)plain.p, .avail_in = (uInt)plain.n, .next_out = out, .avail_out = sizeof(out)
        };
        size_t n;

        ASSERT(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        ASSERT(deflate(&z, Z_FINISH) == Z_STREAM_END);
        n = sizeof(out) - z.avail_out;
        deflateEnd(&z);
        grpc_append_prefix(b, n);
        b->p[b->n - 5] = 1;
        buf_append(b, out, n);
}

TEST(reads_gzip_up_to_the_limit)
{
        _cleanup_buf_ struct buf body = BUF_INIT(0), cut = BUF_INIT(0);
        char plain[100000];

        memset(plain, 'x', sizeof(plain));
        append_gzip(&body, str_make(plain, sizeof(plain)));
        for (int slack = -1; slack <= 1; slack++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_bytes_ struct bytes *message = NULL;

                ASSERT_INT(read_body(buf_str(&body), 1000, sizeof(plain) + (size_t)slack, STR("gzip"), &message, &err),
                           slack < 0 ? ERR_LIMIT : 0);
                if (slack >= 0)
                        ASSERT_STR(message->str, str_make(plain, sizeof(plain)));
        }
        /* The same, damaged: its end is missing. */
        grpc_append_prefix(&cut, body.n - 5 - 4);
        cut.p[0] = 1;
        buf_append(&cut, body.p + 5, body.n - 5 - 4);
        {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_bytes_ struct bytes *message = NULL;

                ASSERT_INT(read_body(buf_str(&cut), 1000, 1 << 20, STR("gzip"), &message, &err), ERR_INVALID);
                ASSERT_STR(str_from(err_message(&err)), STR("grpc: failed to decompress the message: it is damaged"));
        }
}
