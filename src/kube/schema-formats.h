/* The string formats that validation knows. Private to schema*.c. */
#pragma once

#include "str.h"

enum format {
        FORMAT_NONE, /* not known, or says nothing about strings */
        FORMAT_INT32,
        FORMAT_INT64,
        FORMAT_FLOAT,
        FORMAT_DOUBLE,
        FORMAT_BSON_OBJECT_ID,
        FORMAT_BYTE,
        FORMAT_CIDR,
        FORMAT_CREDIT_CARD,
        FORMAT_DATE,
        FORMAT_DATE_TIME,
        FORMAT_DATETIME,
        FORMAT_DURATION,
        FORMAT_EMAIL,
        FORMAT_HEX_COLOR,
        FORMAT_HOSTNAME,
        FORMAT_IPV4,
        FORMAT_IPV6,
        FORMAT_ISBN,
        FORMAT_ISBN10,
        FORMAT_ISBN13,
        FORMAT_K8S_LONG_NAME,
        FORMAT_K8S_SHORT_NAME,
        FORMAT_MAC,
        FORMAT_PASSWORD,
        FORMAT_RGB_COLOR,
        FORMAT_SSN,
        FORMAT_URI,
        FORMAT_UUID,
        FORMAT_UUID3,
        FORMAT_UUID4,
        FORMAT_UUID5,
        _FORMAT_COUNT,
};

enum format format_find(struct str name);

/* Whether the text has the format; true for those that say nothing about strings. */
bool format_matches(enum format format, struct str text);
