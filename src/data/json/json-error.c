#include "json-reader.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "path.h"
#include "source.h"

/* The path of the value that is being read: for each open container, the key or index of its next unit. */
static size_t list_segments(const struct json_reader *r, struct path_segment *segments)
{
        size_t n = r->depth, top = r->n_units;

        for (const struct frame *f = r->frame; f; f = f->parent) {
                struct path_segment *s = &segments[--n];

                *s = (struct path_segment) { .index = (uint32_t)(top - f->base), .is_index = !f->is_object };
                if (f->is_object && (top - f->base) % 2)
                        s->key = r->units[top - 1].key;
                top = f->base;
        }
        return r->depth;
}

static void append_path(const struct json_reader *r, struct buf *b)
{
        _cleanup_free_ struct path_segment *segments = xcalloc(r->depth + 1u, sizeof(*segments));
        struct path path = { segments, list_segments(r, segments) };

        /* Between the members of an object, or after an item, the path is that of the container itself. */
        if (r->frame && (r->is_between || (r->frame->is_object && (r->n_units - r->frame->base) % 2 == 0)))
                path.n--;
        path_append(b, &path);
}

static void locate(const struct json_reader *r, const char *at)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        if (!r->err)
                return;
        err_set_position(r->err,
                         source_position(str_make(r->start, (size_t)(r->end - r->start)), (size_t)(at - r->start)));
        append_path(r, &path);
        err_set_path(r->err, buf_str(&path));
}

const char *json_fail_at(struct json_reader *r, const char *at, int code, const char *message)
{
        r->result = err_set(r->err, code, "%s", message);
        locate(r, at);
        return NULL;
}

/* Bytes are shown as Go shows them, as characters of Latin-1. */
static const char *fail_character(struct json_reader *r, const char *at, unsigned char c, const char *where)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "invalid character ");
        go_append_quoted_rune(&b, c, false);
        buf_append_char(&b, ' ');
        buf_append_str(&b, str_from(where));
        return json_fail_at(r, at, ERR_INVALID, buf_cstring(&b));
}

const char *json_fail_between(struct json_reader *r, const char *at, const char *where)
{
        if (at >= r->end)
                return json_fail_at(r, r->end, ERR_INVALID, "unexpected end of JSON input");
        return fail_character(r, at, (unsigned char)*at, where);
}

const char *json_fail_inside(struct json_reader *r, const char *at, const char *where)
{
        return fail_character(r, at, at < r->end ? (unsigned char)*at : ' ', where);
}

static void append_key_path(const struct json_reader *r, struct buf *b, struct str key)
{
        _cleanup_free_ struct path_segment *segments = xcalloc(r->depth + 1u, sizeof(*segments));
        struct path path = { segments, list_segments(r, segments) };

        segments[path.n - 1] = (struct path_segment) { .key = key };
        path_append(b, &path);
}

bool json_fail_duplicate(struct json_reader *r, const char *at, struct str key)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        append_key_path(r, &path, key);
        r->result = err_set(r->err, ERR_INVALID, "duplicate field \"%s\"", buf_cstring(&path));
        locate(r, at);
        err_set_path(r->err, buf_str(&path));
        return false;
}

void json_tell_duplicate(struct json_reader *r, struct str key)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        if (!r->options.on_duplicate || r->duplicates_told >= LIMIT_JSON_DUPLICATES)
                return;
        r->duplicates_told++;
        append_path(r, &path);
        r->options.on_duplicate(r->options.context, buf_str(&path), key);
}

void json_note_bad_number(struct json_reader *r, struct str text)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        append_path(r, &path);
        r->bad_number = text;
        r->bad_number_path = buf_take(&path);
}

void json_fail_bad_number(struct json_reader *r)
{
        r->result = err_set(r->err, ERR_INVALID, "json: cannot unmarshal number %.*s into Go value of type float64",
                            STR_ARG(r->bad_number));
        locate(r, r->bad_number.p);
        err_set_path(r->err, str_from(r->bad_number_path));
}
