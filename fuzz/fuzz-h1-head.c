/* HTTP/1.1 heads and chunk sizes: an accepted head has no control characters, and its framing is unambiguous. */
#include "fuzz.h"

#include "arena.h"
#include "h1-head.h"

static void check_fields(const struct http_fields *fields)
{
        for (size_t i = 0; i < fields->n; i++) {
                assert(fields->p[i].name.n > 0);
                for (size_t k = 0; k < fields->p[i].name.n; k++)
                        assert(fields->p[i].name.p[k] > ' ' && fields->p[i].name.p[k] != ':');
                for (size_t k = 0; k < fields->p[i].value.n; k++)
                        assert(!strchr("\r\n", fields->p[i].value.p[k]));
        }
}

static void check_framing(const struct h1_framing *f)
{
        assert(!(f->is_chunked && f->has_length));
        assert(!(f->is_chunked && f->is_http10));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = str_make((const char *)data, size);
        struct arena a;
        struct http_head head = { 0 };
        struct http_fields trailers = { 0 };
        struct h1_framing framing = { 0 };
        size_t n = h1_head_end(text);
        uint64_t chunk;

        arena_init(&a, "fuzz", 0);
        assert(n <= size);
        if (n > 0 && h1_parse_request(str_first(text, n), 4096, &a, &head, &framing, NULL) >= 0) {
                check_fields(&head.fields);
                check_framing(&framing);
                assert(head.method.n > 0 && head.path.n > 0);
        }
        if (n > 0 && h1_parse_response(str_first(text, n), 4096, &a, &head, &framing, NULL) >= 0) {
                check_fields(&head.fields);
                check_framing(&framing);
                assert(head.status >= 100 && head.status <= 999);
        }
        if (h1_parse_fields(text, 4096, &a, &trailers, NULL) >= 0)
                check_fields(&trailers);
        if (h1_parse_chunk_size(text, &chunk, NULL) >= 0)
                assert(chunk < UINT64_MAX / 2);
        arena_done(&a);
        return 0;
}
