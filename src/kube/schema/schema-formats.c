#include "schema-formats.h"

#include "arena.h"
#include "name.h"
#include "regex.h"
#include "timetext.h"

#include <stdatomic.h>

#define HEX    "[0-9a-fA-F]"
#define COLOUR "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*"
#define CARDS                                                                                                      \
        "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68]" \
        "[0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$"
/* One label that may end in a dash, or several of which the last has two letters or more. */
#define HOST                                                                                     \
        "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}]" \
        "(([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$"

enum expression {
        EXPRESSION_BSON_OBJECT_ID,
        EXPRESSION_BYTE,
        EXPRESSION_CREDIT_CARD,
        EXPRESSION_TIME,
        EXPRESSION_DURATION,
        EXPRESSION_HEX_COLOR,
        EXPRESSION_HOSTNAME,
        EXPRESSION_RGB_COLOR,
        EXPRESSION_SSN,
        EXPRESSION_UUID,
        EXPRESSION_UUID3,
        EXPRESSION_UUID4,
        EXPRESSION_UUID5,
        _EXPRESSION_COUNT,
};

static const struct str expressions[] = {
        [EXPRESSION_BSON_OBJECT_ID] = STR_INIT("^" HEX "{24}$"),
        [EXPRESSION_BYTE] =
                STR_INIT("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"),
        [EXPRESSION_CREDIT_CARD] = STR_INIT(CARDS),
        [EXPRESSION_TIME] = STR_INIT("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"),
        [EXPRESSION_DURATION] = STR_INIT("((\\d+)\\s*([A-Za-z\xc2\xb5]+))"),
        [EXPRESSION_HEX_COLOR] = STR_INIT("^#?(" HEX "{3}|" HEX "{6})$"),
        [EXPRESSION_HOSTNAME] = STR_INIT(HOST),
        [EXPRESSION_RGB_COLOR] = STR_INIT("^rgb\\(" COLOUR "," COLOUR "," COLOUR "\\)$"),
        [EXPRESSION_SSN] = STR_INIT("^\\d{3}[- ]\\d{2}[- ]\\d{4}$"),
        [EXPRESSION_UUID] = STR_INIT("^" HEX "{8}-?" HEX "{4}-?" HEX "{4}-?" HEX "{4}-?" HEX "{12}$"),
        [EXPRESSION_UUID3] = STR_INIT("^" HEX "{8}-?" HEX "{4}-?3" HEX "{3}-?" HEX "{4}-?" HEX "{12}$"),
        [EXPRESSION_UUID4] = STR_INIT("^" HEX "{8}-?" HEX "{4}-?4" HEX "{3}-?[89abAB]" HEX "{3}-?" HEX "{12}$"),
        [EXPRESSION_UUID5] = STR_INIT("^" HEX "{8}-?" HEX "{4}-?5" HEX "{3}-?[89abAB]" HEX "{3}-?" HEX "{12}$"),
};

/* Compiles the expression on first use and keeps it. */
static const struct regex *expression(enum expression i)
{
        static _Atomic(struct regex *) compiled[_EXPRESSION_COUNT];
        struct regex *re = atomic_load_explicit(&compiled[i], memory_order_acquire), *first = NULL;
        int r;

        if (re)
                return re;
        r = regex_compile(expressions[i], &re, NULL);
        assert(r >= 0);
        if (atomic_compare_exchange_strong(&compiled[i], &first, re))
                return re;
        regex_free(re);
        return first;
}

static bool matches(enum expression i, struct str text)
{
        return regex_matches(expression(i), text);
}

/* The text without some characters, NUL-terminated; false if the rest does not fit. */
static bool strip(struct str text, const char *keep, const char *drop, char *buffer, size_t size, struct str *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < text.n; i++) {
                char c = text.p[i];

                if (keep ? !c || !strchr(keep, c) : c && strchr(drop, c))
                        continue;
                if (n == size)
                        return false;
                buffer[n++] = c;
        }
        *ret = (struct str) { buffer, n };
        return true;
}

static bool is_credit_card(struct str text)
{
        char buffer[20];
        struct str digits;
        unsigned sum = 0;

        if (!strip(text, "0123456789", NULL, buffer, sizeof(buffer), &digits) ||
            !matches(EXPRESSION_CREDIT_CARD, digits))
                return false;
        for (size_t i = 0; i < digits.n; i++) {
                unsigned digit = (unsigned)(digits.p[digits.n - 1 - i] - '0') * (i % 2 ? 2 : 1);

                sum += digit > 9 ? digit - 9 : digit;
        }
        return sum % 10 == 0;
}

static bool is_isbn10(struct str s)
{
        unsigned sum = 0;

        if (s.n != 10)
                return false;
        for (unsigned i = 0; i < 10; i++) {
                if (s.p[i] >= '0' && s.p[i] <= '9')
                        sum += (i + 1) * (unsigned)(s.p[i] - '0');
                else if (i == 9 && s.p[i] == 'X')
                        sum += 10 * 10;
                else
                        return false;
        }
        return sum % 11 == 0;
}

static bool is_isbn13(struct str s)
{
        unsigned sum = 0;

        if (s.n != 13)
                return false;
        for (unsigned i = 0; i < 13; i++) {
                if (s.p[i] < '0' || s.p[i] > '9')
                        return false;
                sum += (i % 2 ? 3 : 1) * (unsigned)(s.p[i] - '0');
        }
        return sum % 10 == 0;
}

static bool is_isbn(struct str text, bool may_be_10, bool may_be_13)
{
        char buffer[13];
        struct str s;

        if (!strip(text, NULL, "- \t\n\f\r", buffer, sizeof(buffer), &s))
                return false;
        return (may_be_10 && is_isbn10(s)) || (may_be_13 && is_isbn13(s));
}

static bool is_date(struct str text)
{
        char buffer[32];
        struct instant t;

        if (text.n != 10)
                return false;
        memcpy(buffer, text.p, 10);
        memcpy(buffer + 10, "T00:00:00Z", 10);
        return time_parse_rfc3339(str_make(buffer, 20), &t, NULL) >= 0;
}

/* A date, a t, and a time, of which only hours, minutes and seconds are checked. */
static bool is_date_time(struct str text)
{
        struct str rest, groups[4];
        char buffer[128];
        size_t end = 11;

        if (text.n < 11 || (text.p[10] | 0x20) != 't' || !is_date(str_first(text, 10)))
                return false;
        while (end < text.n && (text.p[end] | 0x20) != 't')
                end++;
        rest = str_make(text.p + 11, end - 11);
        if (rest.n > sizeof(buffer))
                return false;
        for (size_t i = 0; i < rest.n; i++)
                buffer[i] = rest.p[i] >= 'A' && rest.p[i] <= 'Z' ? (char)(rest.p[i] | 0x20) : rest.p[i];
        if (!regex_find(expression(EXPRESSION_TIME), str_make(buffer, rest.n), 0, groups, 4))
                return false;
        return str_compare(groups[1], STR("23")) <= 0 && str_compare(groups[2], STR("59")) <= 0 &&
               str_compare(groups[3], STR("59")) <= 0;
}

/* Units are matched by their whole name, the last one by its beginning. */
static bool is_unit(struct str unit)
{
        static const char *const whole[] = { "ns", "us", "\xc2\xb5s", "ms", "s", "m", "h", "hr", "d", "w", "wk" };
        static const char *const begin[] = { "nano", "micro", "milli", "sec", "min", "hour", "day", "week" };

        for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
                if (str_equal_ignore_case(unit, str_from(whole[i])))
                        return true;
        for (size_t i = 0; i < ARRAY_SIZE(begin); i++)
                if (str_equal_ignore_case(str_first(unit, strlen(begin[i])), str_from(begin[i])))
                        return true;
        return false;
}

/* Whether Go accepts the text as a duration, or the text has a number before a unit anywhere. */
static bool is_duration(struct str text)
{
        struct regex_scan scan;
        struct str groups[4];
        int64_t ns;
        bool found = false;

        if (duration_parse(text, &ns, NULL) >= 0)
                return true;
        regex_scan_init(&scan, expression(EXPRESSION_DURATION), text);
        while (!found && regex_scan_next(&scan, groups, 4))
                found = is_unit(groups[3]);
        regex_scan_done(&scan);
        return found;
}

static bool is_hostname(struct str text)
{
        struct str rest = text, label;
        bool more = true;

        if (text.n > 255 || !matches(EXPRESSION_HOSTNAME, text))
                return false;
        while (more) {
                more = str_split(&rest, '.', &label);
                if (label.n < 1 || label.n > 63)
                        return false;
        }
        return true;
}

static bool is_name(struct str text,
                    size_t (*check)(struct arena *a, struct str name, bool as_prefix, struct str *texts))
{
        _cleanup_arena_ struct arena a;
        struct str texts[4];

        arena_init(&a, "format", 0);
        return check(&a, text, false, texts) == 0;
}

bool format_matches(enum format format, struct str text)
{
        switch (format) {
        case FORMAT_NONE:
        case FORMAT_INT32:
        case FORMAT_INT64:
        case FORMAT_FLOAT:
        case FORMAT_DOUBLE:
        case FORMAT_PASSWORD:
        case FORMAT_UNKNOWN:
                return true;
        case FORMAT_BSON_OBJECT_ID:
                return matches(EXPRESSION_BSON_OBJECT_ID, text);
        case FORMAT_BYTE:
                return matches(EXPRESSION_BYTE, text);
        case FORMAT_CIDR:
                return format_is_cidr(text);
        case FORMAT_CREDIT_CARD:
                return is_credit_card(text);
        case FORMAT_DATE:
                return is_date(text);
        case FORMAT_DATE_TIME:
                return is_date_time(text);
        case FORMAT_DURATION:
                return is_duration(text);
        case FORMAT_EMAIL:
                return format_is_email(text);
        case FORMAT_HEX_COLOR:
                return matches(EXPRESSION_HEX_COLOR, text);
        case FORMAT_HOSTNAME:
                return is_hostname(text);
        case FORMAT_IPV4:
                return format_is_ipv4(text);
        case FORMAT_IPV6:
                return format_is_ipv6(text);
        case FORMAT_ISBN:
                return is_isbn(text, true, true);
        case FORMAT_ISBN10:
                return is_isbn(text, true, false);
        case FORMAT_ISBN13:
                return is_isbn(text, false, true);
        case FORMAT_K8S_LONG_NAME:
                return is_name(text, name_check_subdomain);
        case FORMAT_K8S_SHORT_NAME:
                return is_name(text, name_check_label);
        case FORMAT_MAC:
                return format_is_mac(text);
        case FORMAT_RGB_COLOR:
                return matches(EXPRESSION_RGB_COLOR, text);
        case FORMAT_SSN:
                return matches(EXPRESSION_SSN, text);
        case FORMAT_URI:
                return format_is_uri(text);
        case FORMAT_UUID:
                return matches(EXPRESSION_UUID, text);
        case FORMAT_UUID3:
                return matches(EXPRESSION_UUID3, text);
        case FORMAT_UUID4:
                return matches(EXPRESSION_UUID4, text);
        case FORMAT_UUID5:
                return matches(EXPRESSION_UUID5, text);
        }
        return true;
}

static const struct {
        struct str name;
        enum format format;
} formats[] = {
        { STR_INIT("bsonobjectid"), FORMAT_BSON_OBJECT_ID },
        { STR_INIT("byte"), FORMAT_BYTE },
        { STR_INIT("cidr"), FORMAT_CIDR },
        { STR_INIT("creditcard"), FORMAT_CREDIT_CARD },
        { STR_INIT("date"), FORMAT_DATE },
        { STR_INIT("datetime"), FORMAT_DATE_TIME },
        { STR_INIT("double"), FORMAT_DOUBLE },
        { STR_INIT("duration"), FORMAT_DURATION },
        { STR_INIT("email"), FORMAT_EMAIL },
        { STR_INIT("float"), FORMAT_FLOAT },
        { STR_INIT("hexcolor"), FORMAT_HEX_COLOR },
        { STR_INIT("hostname"), FORMAT_HOSTNAME },
        { STR_INIT("int32"), FORMAT_INT32 },
        { STR_INIT("int64"), FORMAT_INT64 },
        { STR_INIT("ipv4"), FORMAT_IPV4 },
        { STR_INIT("ipv6"), FORMAT_IPV6 },
        { STR_INIT("isbn"), FORMAT_ISBN },
        { STR_INIT("isbn10"), FORMAT_ISBN10 },
        { STR_INIT("isbn13"), FORMAT_ISBN13 },
        { STR_INIT("k8slongname"), FORMAT_K8S_LONG_NAME },
        { STR_INIT("k8sshortname"), FORMAT_K8S_SHORT_NAME },
        { STR_INIT("mac"), FORMAT_MAC },
        { STR_INIT("password"), FORMAT_PASSWORD },
        { STR_INIT("rgbcolor"), FORMAT_RGB_COLOR },
        { STR_INIT("ssn"), FORMAT_SSN },
        { STR_INIT("uri"), FORMAT_URI },
        { STR_INIT("uuid"), FORMAT_UUID },
        { STR_INIT("uuid3"), FORMAT_UUID3 },
        { STR_INIT("uuid4"), FORMAT_UUID4 },
        { STR_INIT("uuid5"), FORMAT_UUID5 },
};

enum format format_find(struct str name)
{
        char buffer[16];
        struct str plain;

        if (!strip(name, NULL, "-", buffer, sizeof(buffer), &plain))
                return FORMAT_NONE;
        for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
                if (str_equal(formats[i].name, plain) && (plain.n == name.n || formats[i].format >= FORMAT_STRINGS))
                        return formats[i].format;
        return FORMAT_NONE;
}
