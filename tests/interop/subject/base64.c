#include "subject.h"

#include "base64.h"
#include "buf.h"

static struct value encoded(struct arena *a, struct str bytes, enum base64_alphabet alphabet)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        base64_encode(&b, bytes, alphabet);
        return value_of_str(buf_to_arena(&b, a));
}

static void add_decoded(struct arena *a, struct array_builder *results, struct str text, enum base64_alphabet alphabet)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        base64_decode(&b, text, alphabet, &err);
        array_builder_add(results, encoded(a, buf_str(&b), BASE64_STD));
        array_builder_add(results, value_of_str(arena_copy(a, str_from(err_message(&err)))));
}

static const struct value *decode_any(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (base64_decode_any(&b, text, NULL) < 0)
                return value_put(a, value_of_literal("error"));
        return value_put(a, encoded(a, buf_str(&b), BASE64_STD));
}

const struct value *run_base64(struct arena *a, const struct value *c)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct str op = value_str(value_get(c, STR("op")));
        struct array_builder results;

        base64_decode(&text, value_str(value_get(c, STR("text"))), BASE64_STD, NULL);
        if (str_equal(op, STR("any")))
                return decode_any(a, buf_str(&text));
        array_builder_init(&results, a, 8);
        for (enum base64_alphabet i = BASE64_STD; i <= BASE64_RAW_URL; i++) {
                if (str_equal(op, STR("encode")))
                        array_builder_add(&results, encoded(a, buf_str(&text), i));
                else
                        add_decoded(a, &results, buf_str(&text), i);
        }
        return value_put(a, array_builder_finish(&results));
}
