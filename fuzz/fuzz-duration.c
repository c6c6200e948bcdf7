/* A duration that can be parsed has a text that parses to the same duration, and this text is the shortest one of its kind. */
#include "fuzz.h"

#include "buf.h"
#include "timetext.h"

static void check_round_trip(int64_t ns)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), again = BUF_INIT(0);
        int64_t back = 0;
        int r;

        duration_append(&b, ns);
        r = duration_parse(buf_str(&b), &back, NULL);
        assert(r == 0 && back == ns);
        duration_append(&again, back);
        assert(str_equal(buf_str(&b), buf_str(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str s = str_make((const char *)data, size);
        _cleanup_err_ struct err err = { 0 };
        int64_t ns = 0;
        int r = duration_parse(s, &ns, &err);

        assert(duration_parse(s, &ns, NULL) == r);
        if (r == 0)
                check_round_trip(ns);
        else
                assert(r == ERR_INVALID && str_starts_with(str_from(err_message(&err)), STR("time: ")));
        if (size >= sizeof(ns)) {
                memcpy(&ns, data, sizeof(ns));
                check_round_trip(ns);
        }
        return 0;
}
