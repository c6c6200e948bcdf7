/* gRPC's framing: the first byte says how the body is cut into pieces. The result does not depend on the pieces; no message is
 * larger than the limit; texts survive encoding and decoding. */
#include "fuzz.h"

#include "bytes.h"
#include "grpc.h"

#define MAX_BYTES 4096

static int read_body(struct str body, size_t step, struct bytes **ret)
{
        struct grpc_reader r;
        int rc = 0;

        grpc_reader_init(&r, MAX_BYTES);
        for (size_t i = 0; i < body.n && rc >= 0; i += step)
                rc = grpc_reader_add(&r, str_first(str_skip(body, i), step), NULL);
        if (rc >= 0)
                rc = grpc_reader_finish(&r, STR("gzip"), ret, NULL);
        grpc_reader_done(&r);
        return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = str_make((const char *)data, size);
        _cleanup_bytes_ struct bytes *whole = NULL, *cut = NULL;
        _cleanup_buf_ struct buf there = BUF_INIT(0), back = BUF_INIT(0), junk = BUF_INIT(0), timeout = BUF_INIT(0);
        int64_t ns, again;
        int r;

        if (size == 0)
                return 0;
        r = read_body(str_skip(text, 1), SIZE_MAX / 2, &whole);
        assert(read_body(str_skip(text, 1), data[0] % 16 + 1, &cut) == r);
        assert(r < 0 || (whole->str.n <= MAX_BYTES && str_equal(whole->str, cut->str)));
        grpc_append_message(&there, text);
        grpc_append_decoded_message(&back, buf_str(&there));
        assert(str_equal(buf_str(&back), text));
        grpc_append_decoded_message(&junk, text);
        assert(junk.n <= size);
        if (grpc_parse_timeout(text, &ns, NULL) >= 0) {
                grpc_append_timeout(&timeout, ns);
                assert(grpc_parse_timeout(buf_str(&timeout), &again, NULL) >= 0 && again >= ns);
        }
        return 0;
}
