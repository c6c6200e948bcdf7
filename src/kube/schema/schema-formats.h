/* The formats that validation knows; they follow the libraries that Kubernetes uses. Private to schema*.c. */
#pragma once

#include "str.h"

enum format {
        FORMAT_NONE, /* unknown */
        FORMAT_INT32,
        FORMAT_INT64,
        FORMAT_FLOAT,
        FORMAT_DOUBLE,
        FORMAT_STRINGS, /* formats from here on are for strings */
        FORMAT_BSON_OBJECT_ID = FORMAT_STRINGS,
        FORMAT_BYTE,
        FORMAT_CIDR,
        FORMAT_CREDIT_CARD,
        FORMAT_DATE,
        FORMAT_DATE_TIME,
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
        FORMAT_UNKNOWN, /* only used for defaults */
};

/* Finds a format by its name. Dashes in the names of string formats are ignored. */
enum format format_find(struct str name);

/* Whether the text has the format, which must be one for strings. */
bool format_matches(enum format format, struct str text);

/* Like net.ParseIP and its relatives, but leading zeros are allowed in decimal numbers (schema-format-net.c). */
bool format_is_ipv4(struct str text);
bool format_is_ipv6(struct str text);
bool format_is_cidr(struct str text);
bool format_is_mac(struct str text);

/* Like url.ParseRequestURI (schema-format-uri.c) and mail.ParseAddress (schema-format-email.c). */
bool format_is_uri(struct str text);
bool format_is_email(struct str text);
