/* The first line is a path, the rest a JSON document (if it is not valid JSON, a fixed document is used). */
#include "fuzz.h"

#include "buf.h"
#include "json.h"
#include "path.h"

static const char fixed[] =
        "{\"a\":[{\"b\":1,\"c\":[null,\"x\"]},null,2.0],\"d\":{\"e.f\":{},\"\":[],\"'q'\":3},\"*\":{\"b\":{}}}";

static bool has_empty_key(const struct path *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (!p->segments[i].is_index && p->segments[i].key.n == 0)
                        return true;
        return false;
}

static bool paths_equal(const struct path *a, const struct path *b)
{
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++) {
                const struct path_segment *x = &a->segments[i], *y = &b->segments[i];

                if (x->is_index != y->is_index || x->index != y->index || !str_equal(x->key, y->key))
                        return false;
        }
        return true;
}

/* The printed path parses to the same path, unless it has a key that prints as nothing. */
static void check_print(struct arena *a, const struct path *path)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), again = BUF_INIT(0);
        struct path read;
        int r;

        path_append(&b, path);
        if (has_empty_key(path))
                return;
        r = path_parse(a, buf_str(&b), &read, NULL);
        assert(r >= 0 && paths_equal(path, &read));
        path_append(&again, &read);
        assert(str_equal(buf_str(&b), buf_str(&again)));
}

static void check_get(struct arena *a, const struct value *document, struct str path)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;
        int64_t integer;
        struct str text;
        double number;
        bool boolean;
        int r = path_get(a, document, path, &v, &err);

        assert(r == 0 || (r == err.code && (r == ERR_NOT_FOUND || r == ERR_INVALID)));
        assert((path_get_string(a, document, path, &text, &err) >= 0) == (r == 0 && value_is_string(v)));
        assert((path_get_bool(a, document, path, &boolean, &err) >= 0) == (r == 0 && value_is_bool(v)));
        assert((path_get_int(a, document, path, &integer, &err) >= 0) == (r == 0 && value_is_int(v)));
        assert((path_get_number(a, document, path, &number, &err) >= 0) == (r == 0 && value_is_number(v)));
        assert((path_get_array(a, document, path, &v, &err) >= 0) >=
               (path_get_string_array(a, document, path, &v, &err) >= 0));
        assert((path_get_object(a, document, path, &v, &err) >= 0) >=
               (path_get_string_object(a, document, path, &v, &err) >= 0));
}

/* The new document has the value that was set, and the old document does not change. */
static void check_set(struct arena *a, const struct value *document, struct str text, const struct path *path,
                      const struct value *v)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *before = value_copy(a, document), *result, *settled, *found;
        int r = path_set(a, document, text, v, &result, &err);

        assert(value_equal(before, document));
        if (r < 0)
                return;
        r = value_settle(a, v, &settled, NULL);
        assert(r >= 0);
        r = path_get(a, result, text, &found, NULL);
        assert(r >= 0 && value_equal(found, path->n ? settled : &value_null));
        if (path->n == 0)
                assert(result == document);
}

static void check_delete(struct arena *a, const struct value *document, struct str text, const struct path *path)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *before = value_copy(a, document), *result, *found;
        int r = path_delete(a, document, text, &result, &err);

        assert(value_equal(before, document));
        if (r >= 0 && path->n && !path->segments[path->n - 1].is_index)
                assert(path_get(a, result, text, &found, NULL) == ERR_NOT_FOUND);
}

static void check_expand(struct arena *a, const struct value *document, struct str text)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *paths, *found;

        if (path_expand(a, document, text, &paths, &err) < 0)
                return;
        VALUE_FOREACH_ITEM (p, paths)
                path_get(a, document, value_str(p), &found, NULL);
        if (str_find_char(text, '*') < 0)
                assert((value_count(paths) == 1) == (path_get(a, document, text, &found, NULL) >= 0));
}

static void check_merge(struct arena *a, const struct value *document, struct str text)
{
        for (unsigned i = 0; i < 4; i++) {
                struct merge_options options = { .keeps_map_values = i & 1, .appends_slices = i & 2 };
                const struct value *before = value_copy(a, document), *result;
                _cleanup_err_ struct err err = { 0 };

                path_merge(a, document, text, document, &options, &result, &err);
                assert(value_equal(before, document));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str rest = { (const char *)data, size }, text;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        const struct value *document;
        struct path path;
        int r;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &text);
        if (json_parse(&a, rest, &(struct json_read_options) { .is_kubernetes = true }, &document, NULL) < 0 ||
            !value_is_object(document)) {
                r = json_parse(&a, str_from(fixed), NULL, &document, NULL);
                assert(r >= 0);
        }
        if (path_parse(&a, text, &path, &err) < 0)
                path = (struct path) { 0 };
        else
                check_print(&a, &path);
        check_get(&a, document, text);
        check_set(&a, document, text, &path, &value_true);
        check_set(&a, document, text, &path, document);
        check_delete(&a, document, text, &path);
        check_expand(&a, document, text);
        check_merge(&a, document, text);
        return 0;
}
