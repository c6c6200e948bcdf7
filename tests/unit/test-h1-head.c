#include "test.h"

#include "arena.h"
#include "h1-head.h"

TEST(requests)
{
        static const struct {
                const char *text;
                int code;
                const char *what; /* method, path and authority, or the error */
                bool is_chunked, keeps_alive;
                int64_t length; /* -1: none */
        } cases[] = {
                { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, "GET / a", false, true, -1 },
                { "POST /x HTTP/1.1\r\nhost: a\r\nContent-Length: 12\r\n\r\n", 0, "POST /x a", false, true, 12 },
                { "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\r\n", 0, "POST /x a", true, true, -1 },
                { "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", 0, "GET / a", false, false, -1 },
                { "GET / HTTP/1.0\r\n\r\n", 0, "GET / ", false, false, -1 },
                { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 0, "GET / ", false, true, -1 },
                { "GET http://b/y HTTP/1.1\r\nHost: a\r\n\r\n", 0, "GET /y b", false, true, -1 },
                { "GET https://b HTTP/1.1\r\nHost: a\r\n\r\n", 0, "GET / b", false, true, -1 },
                { "GET / HTTP/1.1\r\nHost: a\r\nx:\t y \r\n\r\n", 0, "GET / a", false, true, -1 },
                { "GET / HTTP/1.1\r\n\r\n", ERR_INVALID, "a request has exactly one host header" },
                { "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", ERR_INVALID,
                  "a request has exactly one host header" },
                { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", ERR_UNSUPPORTED, "unknown HTTP version" },
                { "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", ERR_INVALID, "malformed request line" },
                { "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", ERR_INVALID, "malformed request line" },
                { "GET /\r\n\r\n", ERR_INVALID, "malformed request line" },
                { "GET / HTTP/1.1\r\nHost : a\r\n\r\n", ERR_INVALID, "malformed header line" },
                { "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", ERR_INVALID, "malformed header line" },
                { "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", ERR_INVALID, "malformed header line" },
                { "GET / HTTP/1.1\r\nHost: a\nx: y\r\n\r\n", ERR_INVALID, "control character in header Host" },
                { "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", ERR_INVALID,
                  "both content-length and transfer-encoding" },
                { "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", ERR_INVALID,
                  "two different content-lengths" },
                { "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: +1\r\n\r\n", ERR_INVALID, "malformed content-length" },
                { "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 1, 1\r\n\r\n", ERR_INVALID,
                  "malformed content-length" },
                { "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 99999999999999999999\r\n\r\n", ERR_INVALID,
                  "malformed content-length" },
                { "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n", ERR_UNSUPPORTED,
                  "unknown transfer-encoding" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct http_head head = { 0 };
                struct h1_framing f = { 0 };
                int r;

                arena_init(&a, "test", 0);
                ASSERT_INT(h1_head_end(str_from(cases[i].text)), strlen(cases[i].text));
                r = h1_parse_request(str_from(cases[i].text), 4096, &a, &head, &f, &err);
                ASSERT_CASE(cases[i].text, r == cases[i].code);
                if (r < 0) {
                        ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].what));
                        continue;
                }
                ASSERT_STR_CASE(cases[i].text,
                                arena_printf(&a, "%.*s %.*s %.*s", STR_ARG(head.method), STR_ARG(head.path),
                                             STR_ARG(head.authority)),
                                str_from(cases[i].what));
                ASSERT_CASE(cases[i].text,
                            f.is_chunked == cases[i].is_chunked && f.keeps_alive == cases[i].keeps_alive);
                ASSERT_CASE(cases[i].text, f.has_length ? (int64_t)f.length == cases[i].length : cases[i].length == -1);
        }
}

TEST(responses)
{
        static const struct {
                const char *text;
                int status; /* or an error */
        } cases[] = {
                { "HTTP/1.1 200 OK\r\n\r\n", 200 },        { "HTTP/1.1 204\r\n\r\n", 204 },
                { "HTTP/1.0 404 Not Found\r\n\r\n", 404 }, { "HTTP/1.1 99 x\r\n\r\n", ERR_INVALID },
                { "HTTP/1.1 099 x\r\n\r\n", ERR_INVALID }, { "HTTP/1.1 2000 x\r\n\r\n", ERR_INVALID },
                { "HTTP/1.1 2x0 x\r\n\r\n", ERR_INVALID }, { "HTTP/1.1\r\n\r\n", ERR_INVALID },
                { "ICY 200 OK\r\n\r\n", ERR_UNSUPPORTED }, { "HTTP/1.1 200 OK\r\nbad\r\n\r\n", ERR_INVALID },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct http_head head = { 0 };
                struct h1_framing f;
                int r;

                arena_init(&a, "test", 0);
                r = h1_parse_response(str_from(cases[i].text), 4096, &a, &head, &f, &err);
                ASSERT_CASE(cases[i].text, (r < 0 ? r : head.status) == cases[i].status);
        }
}

TEST(limits_and_chunks)
{
        static const struct {
                const char *line;
                int64_t size; /* -1: an error */
        } chunks[] = {
                { "0", 0 },
                { "1a3", 0x1a3 },
                { "FF;x=y", 255 },
                { "a ", 10 },
                { "", -1 },
                { "x", -1 },
                { "-1", -1 },
                { "0x1", -1 },
                { "fffffffffffffffff", -1 },
                { "ffffffffffffffff", -1 },
                { "1\n", -1 },
                { "0fffffffffffffff", 0xfffffffffffffff },
        };
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct http_fields fields = { 0 };

        arena_init(&a, "test", 0);
        ASSERT_INT(h1_parse_fields(STR("a: b\r\nc: d\r\n\r\n"), 72, &a, &fields, &err), 0);
        ASSERT_STR(http_fields_get(&fields, STR("c")), STR("d"));
        ASSERT_INT(h1_parse_fields(STR("a: b\r\nc: d\r\n\r\n"), 71, &a, &fields, &err), ERR_LIMIT);
        ASSERT_INT(h1_head_end(STR("GET / HTTP/1.1\r\n")), 0);
        for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
                uint64_t size = 0;
                int r = h1_parse_chunk_size(str_from(chunks[i].line), &size, &err);

                ASSERT_CASE(chunks[i].line, r == (chunks[i].size < 0 ? ERR_INVALID : 0));
                ASSERT_CASE(chunks[i].line, r < 0 || size == (uint64_t)chunks[i].size);
        }
}
