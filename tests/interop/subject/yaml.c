/* Cases: {"read": text in base64, "strict": bool}, {"stream": text in base64} and {"write": any value}. */
#include "subject.h"

#include "base64.h"
#include "buf.h"
#include "yaml.h"

static struct str decoded(struct arena *a, const struct value *text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        (void)base64_decode(&b, value_str(text), BASE64_STD, NULL);
        return buf_to_arena(&b, a);
}

static const struct value *result(struct arena *a, struct str key, const struct value *v)
{
        struct member m = { key, *v };

        return value_put(a, value_of_members(a, &m, 1, true));
}

static const struct value *run_read(struct arena *a, const struct value *c)
{
        struct yaml_read_options options = { .is_strict = value_bool(value_find(c, "strict"), false) };
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (yaml_parse(a, decoded(a, value_find(c, "read")), &options, &v, &err) < 0)
                return result_error(a, &err);
        return result(a, STR("value"), v);
}

static const struct value *run_stream(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        if (yaml_parse_stream(a, decoded(a, value_find(c, "stream")), NULL, &v, &err) < 0)
                return result_error(a, &err);
        return result(a, STR("documents"), v);
}

/* Upstream hands out lines that all end in a bare newline; ours are pieces of the text as it is. */
static void append_with_newlines(struct buf *b, struct str text)
{
        while (text.n) {
                struct str line;

                if (str_split(&text, '\n', &line))
                        str_cut_suffix(&line, STR("\r"));
                buf_append_str(b, line);
                buf_append_char(b, '\n');
        }
}

static const struct value *run_split(struct arena *a, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct array_builder b;
        struct yaml_stream s;
        struct yaml_document d;
        struct value documents;
        int r;

        array_builder_init(&b, a, 0);
        yaml_stream_init(&s, decoded(a, value_find(c, "split")));
        while ((r = yaml_stream_next(&s, &d, &err)) > 0) {
                _cleanup_buf_ struct buf lines = BUF_INIT(0), text = BUF_INIT(0);

                append_with_newlines(&lines, d.text);
                base64_encode(&text, buf_str(&lines), BASE64_STD);
                array_builder_add(&b, value_of_str(buf_to_arena(&text, a)));
        }
        if (r < 0)
                return result_error(a, &err);
        documents = array_builder_finish(&b);
        return result(a, STR("documents"), &documents);
}

static const struct value *run_write(struct arena *a, const struct value *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), encoded = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct value text;

        if (yaml_write(&b, value_find(c, "write"), 0, &err) < 0)
                return result_error(a, &err);
        base64_encode(&encoded, buf_str(&b), BASE64_STD);
        text = value_of_str(buf_to_arena(&encoded, a));
        return result(a, STR("text"), &text);
}

const struct value *run_yaml(struct arena *a, const struct value *c)
{
        if (value_find(c, "read"))
                return run_read(a, c);
        if (value_find(c, "stream"))
                return run_stream(a, c);
        if (value_find(c, "split"))
                return run_split(a, c);
        return run_write(a, c);
}
