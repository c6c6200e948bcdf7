#include "schema-formats.h"

/* By name. `datetime` and `date-time` are the same format: Kubernetes leaves dashes out when it looks one up. */
static const struct {
        struct str name;
        enum format format;
} formats[] = {
        { STR_INIT("bsonobjectid"), FORMAT_BSON_OBJECT_ID },
        { STR_INIT("byte"), FORMAT_BYTE },
        { STR_INIT("cidr"), FORMAT_CIDR },
        { STR_INIT("creditcard"), FORMAT_CREDIT_CARD },
        { STR_INIT("date"), FORMAT_DATE },
        { STR_INIT("date-time"), FORMAT_DATE_TIME },
        { STR_INIT("datetime"), FORMAT_DATETIME },
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
        { STR_INIT("k8s-long-name"), FORMAT_K8S_LONG_NAME },
        { STR_INIT("k8s-short-name"), FORMAT_K8S_SHORT_NAME },
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
        for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
                if (str_equal(formats[i].name, name))
                        return formats[i].format;
        return FORMAT_NONE;
}
