/* YAML under the rules of the Kubernetes ecosystem: reads and writes texts as sigs.k8s.io/yaml does (go-yaml v2, YAML 1.1).
 * libyaml scans and parses; our code decides about scalars, keys, tags, merges and aliases. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

struct yaml_read_options {
        /* Refuses duplicate keys as yaml.UnmarshalStrict does (`yaml: unmarshal errors:\n  line N: key "a" already set in map`) and,
         * in JSON streams, invalid UTF-8 too. */
        bool is_strict;
        size_t max_bytes;   /* 0: LIMIT_DOCUMENT_BYTES */
        uint32_t max_depth; /* 0: LIMIT_DEPTH */
};

/* The first document of the text, as sigs.k8s.io/yaml.YAMLToJSON converts it; later documents are ignored. An empty text is
 * null. Syntax errors read `yaml: line N: MESSAGE` as go-yaml words them and carry the position. options may be NULL. */
int yaml_parse(struct arena *a, struct str text, const struct yaml_read_options *options, const struct value **ret,
               struct err *err);

/* The documents of a stream as apimachinery's util/yaml reader splits them: at lines that start with `---`. */
struct yaml_stream {
        struct str rest;
        uint32_t line; /* of the start of rest, from 1 */
        size_t offset; /* of the start of rest */
        bool has_ended;
};

void yaml_stream_init(struct yaml_stream *s, struct str text);

struct yaml_document {
        struct str text;
        uint32_t line; /* of its first line in the stream, from 1: add line - 1 to positions in errors */
        size_t offset;
};

/* The next document's text, comment-only and empty documents included. A separator followed by text gives ERR_INVALID
 * `invalid Yaml document separator: X`. Returns 1 for a document, 0 at the end, negative on error. */
int yaml_stream_next(struct yaml_stream *s, struct yaml_document *ret, struct err *err);

/* True if a stream is read as JSON first: its first character after white space is `{`. */
bool yaml_stream_is_json(struct str text);

/* For a stream that begins as JSON and continues as YAML: skips white space up to the end of the line. The YAML part begins
 * there. */
struct str yaml_stream_rest(struct str rest);

/* All documents of a stream that are not null, in order; JSON streams (concatenated objects) too. Positions in errors are those
 * in the whole text. Every file that a user names is read with this function. *ret is an array value. */
int yaml_parse_stream(struct arena *a, struct str text, const struct yaml_read_options *options,
                      const struct value **ret, struct err *err);

enum yaml_write_flags {
        YAML_KEEP_ORDER = 1 << 0, /* members in order of insertion instead of sorted as go-yaml sorts keys */
};

/* Appends one document, ending in a newline, byte for byte as sigs.k8s.io/yaml.Marshal writes it. */
int yaml_write(struct buf *b, const struct value *v, unsigned flags, struct err *err);
