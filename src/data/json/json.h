/* JSON: text to value and back, under the rules of Go's encoding/json and Kubernetes.
 *
 * Reading is strict RFC 8259. A number without fraction and exponent that fits int64 is an int, every other number is a double;
 * a number beyond the range of double is an error. Error messages have Go's wording (`invalid character 'x' looking for
 * beginning of value`, `unexpected end of JSON input`) and carry position and path apart from the text. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

enum json_duplicates {
        JSON_DUPLICATES_LAST_WINS, /* the last value counts, at the position of the first key (as in Go) */
        JSON_DUPLICATES_REFUSE,    /* an error that names the key and its path */
};

struct json_read_options {
        enum json_duplicates duplicates;
        bool is_kubernetes;     /* invalid UTF-8 and lone surrogates become U+FFFD; otherwise they are errors */
        bool borrows_text;      /* strings without escapes may point into the text, which must outlive the arena */
        bool numbers_as_double; /* all numbers become doubles, as in a protobuf Struct */
        uint32_t max_depth;     /* 0: LIMIT_DEPTH */
        size_t max_bytes;       /* 0: LIMIT_DOCUMENT_BYTES */
        /* If set, called for each duplicate key under LAST_WINS, with the path of the object and the key. A key that occurs n
         * times causes n - 1 calls. At most LIMIT_JSON_DUPLICATES calls per text. */
        void (*on_duplicate)(void *context, struct str object_path, struct str key);
        void *context;
};

/* One value, with nothing but white space around it. options may be NULL (all defaults). */
int json_parse(struct arena *a, struct str text, const struct json_read_options *options, const struct value **ret,
               struct err *err);

/* The first value of a text that may hold more: *ret_consumed is the number of bytes read, leading white space included. A text
 * that holds only white space gives ERR_NOT_FOUND. For concatenated JSON. */
int json_parse_next(struct arena *a, struct str text, const struct json_read_options *options, const struct value **ret,
                    size_t *ret_consumed, struct err *err);

enum json_write_flags {
        JSON_SORT_KEYS = 1 << 0,      /* bytewise; otherwise order of insertion */
        JSON_ESCAPE_HTML = 1 << 1,    /* < > & as \u003c ... (Go's default) */
        JSON_PRETTY = 1 << 2,         /* two spaces per level, "key": value, empty containers as {} and [] */
        JSON_RAW_SEPARATORS = 1 << 3, /* U+2028 and U+2029 as they are, as in protobuf's JSON; otherwise escaped */
        JSON_GO = JSON_SORT_KEYS | JSON_ESCAPE_HTML, /* byte for byte as encoding/json.Marshal writes maps */
};

/* Appends the value. Invalid UTF-8 in strings is written as \ufffd. Fails on NaN and infinities with Go's text
 * (`json: unsupported value: NaN`, `+Inf`, `-Inf`) and when the buffer's maximum is reached. */
int json_write(struct buf *b, const struct value *v, unsigned flags, struct err *err);

/* As json_write with the flags, into the arena. */
int json_to_str(struct arena *a, const struct value *v, unsigned flags, struct str *ret, struct err *err);

/* Appends s as a JSON string with its quotes. */
void json_write_string(struct buf *b, struct str s, unsigned flags);
