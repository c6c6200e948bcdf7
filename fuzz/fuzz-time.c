/* A time that can be parsed must be the same after a round trip through its own text, and through the text of the same instant at
 * another offset. */
#include "fuzz.h"

#include "buf.h"
#include "timetext.h"

static void check_round_trip(struct instant t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct instant back;
        int r;

        time_append_shortest(&b, t);
        if (b.p[0] == '-' || b.p[4] != '-')
                return; /* the offset moves it out of the years that RFC 3339 allows */
        r = time_parse_rfc3339(buf_str(&b), &back, NULL);
        assert(r == 0 && back.seconds == t.seconds && back.nanos == t.nanos);
        buf_clear(&b);
        time_append_rfc3339(&b, t, 9);
        r = time_parse_rfc3339(buf_str(&b), &back, NULL);
        assert(r == 0 && back.seconds == t.seconds && back.nanos == t.nanos);
}

/* Uses the bytes themselves as an instant, which always has a text. */
static void check_format(const uint8_t *data, size_t size)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct instant t = { 0 };

        if (size < sizeof(t.seconds) + sizeof(t.nanos))
                return;
        memcpy(&t.seconds, data, sizeof(t.seconds));
        memcpy(&t.nanos, data + sizeof(t.seconds), sizeof(t.nanos));
        t.nanos = (int32_t)((uint32_t)t.nanos % NS_PER_SECOND);
        time_append_shortest(&b, t);
        assert(b.n >= 20 && b.p[b.n - 1] == 'Z');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str s = str_make((const char *)data, size);
        _cleanup_err_ struct err err = { 0 };
        struct instant t;
        int r = time_parse_rfc3339(s, &t, &err);

        assert(time_parse_rfc3339(s, &t, NULL) == r);
        if (r == 0)
                check_round_trip(t);
        else
                assert(r == ERR_INVALID && str_starts_with(str_from(err_message(&err)), STR("parsing time \"")));
        check_format(data, size);
        return 0;
}
