#include "fuzz.h"

#include "buf.h"
#include "gotime.h"

/* A layout, a line feed, and a text to parse with it. A parsed time can be written with a layout that loses nothing, and that text
 * parses to the same time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char exact[] = "2006-01-02T15:04:05.000000000Z07:00:00";
        _cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
        struct str rest = str_make((const char *)data, size), layout;
        struct gotime t, again;
        int r;

        str_split(&rest, '\n', &layout);
        if (gotime_parse(layout, rest, &t, NULL) < 0)
                return 0;
        gotime_append(&text, &t, layout);
        buf_clear(&text);
        gotime_append(&text, &t, str_from(exact));
        if (buf_str(&text).p[0] == '-' || buf_str(&text).p[4] != '-')
                return 0; /* years before 0 and after 9999 cannot be read */
        r = gotime_parse(str_from(exact), buf_str(&text), &again, NULL);
        assert(r == 0);
        assert(t.at.seconds == again.at.seconds && t.at.nanos == again.at.nanos);
        return 0;
}
