/* Accepted bytes survive decoding and encoding again, and JSON survives encoding and decoding. JSON that is written without decoding is
 * that of the decoded value. */
#include "fuzz.h"

#include "buf.h"
#include "compact.h"
#include "json.h"
#include "meta.h"

static struct str encoded(struct arena *a, const struct value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        compact_encode(&b, v);
        return buf_to_arena(&b, a);
}

static bool has_nan(const struct value *v)
{
        if (value_is_double(v))
                return v->number != v->number;
        VALUE_FOREACH_ITEM (item, v)
                if (has_nan(item))
                        return true;
        VALUE_FOREACH_MEMBER (m, v)
                if (has_nan(&m->value))
                        return true;
        return false;
}

static void check_text(struct arena *a, struct str bytes, const struct value *v, uint64_t version)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), wanted = BUF_INIT(0);

        if (version)
                v = meta_with_str(a, v, STR("resourceVersion"), STR("7"));
        if (compact_append_json(&text, bytes, version))
                assert(json_write(&wanted, v, 0, NULL) == 0 && str_equal(buf_str(&text), buf_str(&wanted)));
        else
                assert(text.n == 0 && (version || json_write(&wanted, v, 0, NULL) < 0));
}

/* A head is decoded if and only if the whole is, and has the members of the whole. */
static void check_head(struct arena *a, struct str bytes, const struct value *whole)
{
        const struct value *head, *metadata = value_get(whole, STR("metadata"));
        size_t n = 0;

        assert((compact_decode_head(a, bytes, &head, NULL) == 0) == (whole != NULL));
        if (!whole || has_nan(whole))
                return;
        if (!value_is_object(whole)) {
                assert(value_is_array(whole) || value_equal(head, whole));
                return;
        }
        if (value_is_object(metadata))
                metadata = value_without(a, metadata, STR("managedFields"));
        n += metadata != NULL;
        n += value_get(whole, STR("kind")) != NULL;
        n += value_get(whole, STR("apiVersion")) != NULL;
        assert(value_count(head) == n);
        assert(!metadata || value_is_array(metadata) || value_equal(value_get(head, STR("metadata")), metadata));
        if (value_is_string(value_get(whole, STR("kind"))))
                assert(value_equal(value_get(head, STR("kind")), value_get(whole, STR("kind"))));
}

/* Encoding is canonical, except that the input may spell out words and counts: the encoded bytes are not longer than the input, and
 * encoding them again changes nothing. */
static void check_bytes(struct arena *a, struct str bytes)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *v, *w;
        struct str again;

        if (compact_decode(a, bytes, &v, NULL) < 0) {
                check_head(a, bytes, NULL);
                compact_append_json(&text, bytes, 7); /* never reads past the bytes */
                return;
        }
        check_head(a, bytes, v);
        check_text(a, bytes, v, 0);
        check_text(a, bytes, v, 7);
        again = encoded(a, v);
        assert(again.n <= bytes.n);
        assert(compact_decode(a, again, &w, NULL) == 0);
        assert(str_equal(encoded(a, w), again));
        assert(has_nan(v) || value_equal(v, w));
}

static void check_json(struct arena *a, struct str text)
{
        struct json_read_options options = { .is_kubernetes = true };
        const struct value *v, *w;

        if (json_parse(a, text, &options, &v, NULL) < 0)
                return;
        assert(compact_decode(a, encoded(a, v), &w, NULL) == 0);
        assert(value_equal(v, w));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "fuzz", 0);
        check_bytes(&a, str_make((const char *)data, size));
        check_json(&a, str_make((const char *)data, size));
        return 0;
}
