/* Parses the head of an HTTP/1.1 message strictly: it refuses anything that two parties could read differently (bare line feeds,
 * folded lines, spaces before the colon, a length beside chunks, two lengths). */
#pragma once

#include "http.h"

/* How the end of the body is found. */
struct h1_framing {
        bool is_chunked;
        bool has_length;
        uint64_t length;
        bool keeps_alive;      /* neither side asked to close */
        bool expects_continue; /* the client waits for 100 before it sends the body */
        bool is_http10;
};

/* The number of bytes up to and including the empty line, or 0 if it has not arrived yet. */
size_t h1_head_end(struct str text);

/* text is a whole head, including its empty line. Names are lowered; everything is copied into the arena. ERR_LIMIT when names,
 * values and 32 bytes for each field exceed max_bytes. */
int h1_parse_request(struct str text, size_t max_bytes, struct arena *a, struct http_head *ret,
                     struct h1_framing *ret_framing, struct err *err);
int h1_parse_response(struct str text, size_t max_bytes, struct arena *a, struct http_head *ret,
                      struct h1_framing *ret_framing, struct err *err);

/* Trailers: fields up to an empty line. */
int h1_parse_fields(struct str text, size_t max_bytes, struct arena *a, struct http_fields *ret, struct err *err);

/* The size at the start of a chunk: a line `1a3;extension`, without its CRLF. */
int h1_parse_chunk_size(struct str line, uint64_t *ret, struct err *err);
