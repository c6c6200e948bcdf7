/* The text before the body of an HTTP/1.1 message, read strictly: what two parties could read differently (bare line feeds, folded
 * lines, spaces before the colon, a length beside chunks, two lengths) is refused. */
#pragma once

#include "http.h"

/* How the body is told from what follows it. */
struct h1_framing {
        bool is_chunked;
        bool has_length;
        uint64_t length;
        bool keeps_alive;      /* neither side asked to close */
        bool expects_continue; /* the client waits for 100 before it sends the body */
        bool is_http10;
};

/* Bytes up to and including the empty line, or 0 if it is not there yet. */
size_t h1_head_end(struct str text);

/* text is a whole head, its empty line included. Names are lowered; everything is copied into the arena. ERR_LIMIT when names, values
 * and 32 bytes for each field pass max_bytes. */
int h1_parse_request(struct str text, size_t max_bytes, struct arena *a, struct http_head *ret,
                     struct h1_framing *ret_framing, struct err *err);
int h1_parse_response(struct str text, size_t max_bytes, struct arena *a, struct http_head *ret,
                      struct h1_framing *ret_framing, struct err *err);

/* Trailers: fields up to an empty line. */
int h1_parse_fields(struct str text, size_t max_bytes, struct arena *a, struct http_fields *ret, struct err *err);

/* The size at the start of a chunk: a line `1a3;extension`, without its CRLF. */
int h1_parse_chunk_size(struct str line, uint64_t *ret, struct err *err);
