#include "proto-time.h"

#include "buf.h"
#include "timetext.h"

#define DURATION_SECONDS    315576000000ll   /* 10,000 years */
#define TIMESTAMP_MIN       (-62135596800ll) /* 0001-01-01T00:00:00Z */
#define TIMESTAMP_MAX       253402300799ll   /* 9999-12-31T23:59:59Z */
#define NANOS_PER_SECOND    1000000000
#define MAX_FRACTION_DIGITS 9

static const char *check_duration(struct proto_time t)
{
        if (t.seconds < -DURATION_SECONDS || t.seconds > DURATION_SECONDS)
                return "the seconds of a google.protobuf.Duration are out of range";
        if (t.nanos <= -NANOS_PER_SECOND || t.nanos >= NANOS_PER_SECOND)
                return "the nanos of a google.protobuf.Duration are out of range";
        if ((t.seconds < 0 && t.nanos > 0) || (t.seconds > 0 && t.nanos < 0))
                return "seconds and nanos of a google.protobuf.Duration have different signs";
        return NULL;
}

static const char *check_timestamp(struct proto_time t)
{
        if (t.seconds < TIMESTAMP_MIN || t.seconds > TIMESTAMP_MAX)
                return "the seconds of a google.protobuf.Timestamp are out of range";
        if (t.nanos < 0 || t.nanos >= NANOS_PER_SECOND)
                return "the nanos of a google.protobuf.Timestamp are out of range";
        return NULL;
}

const char *proto_time_check(enum proto_kind kind, struct proto_time t)
{
        return kind == PROTO_KIND_DURATION ? check_duration(t) : check_timestamp(t);
}

/* A fraction of 3, 6 or 9 digits, or none. */
static void append_fraction(struct buf *b, int32_t nanos)
{
        if (nanos == 0)
                return;
        if (nanos % 1000000 == 0)
                buf_appendf(b, ".%03d", nanos / 1000000);
        else if (nanos % 1000 == 0)
                buf_appendf(b, ".%06d", nanos / 1000);
        else
                buf_appendf(b, ".%09d", nanos);
}

void proto_time_append(struct buf *b, enum proto_kind kind, struct proto_time t)
{
        if (kind == PROTO_KIND_TIMESTAMP) {
                time_append_shortest(b, (struct instant) { .seconds = t.seconds, .nanos = t.nanos });
                return;
        }
        if (t.seconds < 0 || t.nanos < 0)
                buf_append_char(b, '-');
        buf_append_int(b, t.seconds < 0 ? -t.seconds : t.seconds);
        append_fraction(b, t.nanos < 0 ? -t.nanos : t.nanos);
        buf_append_char(b, 's');
}

/* Digits up to the first other character; false when there are more than max. */
static bool read_digits(struct str *s, size_t max, int64_t *ret, size_t *ret_count)
{
        size_t i = 0;

        *ret = 0;
        for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++) {
                if (i == max)
                        return false;
                *ret = *ret * 10 + (s->p[i] - '0');
        }
        *ret_count = i;
        *s = str_skip(*s, i);
        return true;
}

/* [+-] digits [. digits] s without leading zeros. As in Go's protojson, the digits before or after the point may be missing. */
static const char *parse_duration(struct str s, struct proto_time *ret)
{
        static const char problem[] = "it is no google.protobuf.Duration";
        bool is_negative = str_cut_prefix(&s, STR("-"));
        int64_t seconds, nanos = 0;
        size_t n_whole, n_fraction = 0;
        bool has_point;

        if (!is_negative)
                str_cut_prefix(&s, STR("+"));
        if (str_starts_with(s, STR("0")) && s.n > 1 && s.p[1] >= '0' && s.p[1] <= '9')
                return problem;
        if (!read_digits(&s, 18, &seconds, &n_whole))
                return problem;
        has_point = str_cut_prefix(&s, STR("."));
        if (has_point && !read_digits(&s, MAX_FRACTION_DIGITS, &nanos, &n_fraction))
                return problem;
        if ((n_whole == 0 && !has_point) || !str_equal(s, STR("s")))
                return problem;
        for (; n_fraction < MAX_FRACTION_DIGITS; n_fraction++)
                nanos *= 10;
        *ret = (struct proto_time) { .seconds = is_negative ? -seconds : seconds,
                                     .nanos = (int32_t)(is_negative ? -nanos : nanos) };
        return NULL;
}

static const char *parse_timestamp(struct str s, struct proto_time *ret)
{
        ptrdiff_t dot = str_find_last_char(s, '.');
        struct instant t;

        if (dot >= 0) {
                struct str fraction = str_skip(s, (size_t)dot + 1);
                int64_t ignored;
                size_t n;

                if (!read_digits(&fraction, MAX_FRACTION_DIGITS, &ignored, &n))
                        return "it is no google.protobuf.Timestamp: it has more than 9 fractional digits";
        }
        if (time_parse_rfc3339(s, &t, NULL) < 0)
                return "it is no google.protobuf.Timestamp";
        *ret = (struct proto_time) { .seconds = t.seconds, .nanos = t.nanos };
        return NULL;
}

const char *proto_time_parse(enum proto_kind kind, struct str text, struct proto_time *ret)
{
        struct proto_time t;
        const char *problem;

        problem = kind == PROTO_KIND_DURATION ? parse_duration(text, &t) : parse_timestamp(text, &t);
        if (!problem)
                problem = proto_time_check(kind, t);
        if (!problem)
                *ret = t;
        return problem;
}
