/* The pieces that reviews are read from and answered with. */
#include "review.h"

#include "buf.h"
#include "clock.h"
#include "status.h"

/* --- Values --- */

bool review_is_empty(const struct value *v)
{
        return !v || value_is_null(v) || (value_is_string(v) && v->n == 0) || (value_is_array(v) && v->n == 0) ||
               (value_is_object(v) && v->n == 0);
}

struct value review_pick(struct arena *a, const struct value *object, const char *const *fields)
{
        struct object_builder b;

        object_builder_init(&b, a, 8);
        for (; *fields; fields++) {
                const struct value *v = value_get(object, str_from(*fields));

                if (!review_is_empty(v))
                        object_builder_add(&b, str_from(*fields), *v);
        }
        return object_builder_finish(&b);
}

struct value review_texts(struct arena *a, const struct str *texts, size_t n)
{
        struct array_builder b;

        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_str(texts[i]));
        return array_builder_finish(&b);
}

struct value review_now(struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, clock_wall(), 0);
        return value_of_str(buf_to_arena(&b, a));
}

const struct value *review_object(struct arena *a, struct str api_version, struct str kind, struct value metadata,
                                  const struct value *spec, struct value status)
{
        struct object_builder b;

        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("kind"), value_of_str(kind));
        object_builder_add(&b, STR("apiVersion"), value_of_str(api_version));
        object_builder_add(&b, STR("metadata"), metadata);
        if (spec)
                object_builder_add(&b, STR("spec"), *spec);
        object_builder_add(&b, STR("status"), status);
        return value_put(a, object_builder_finish(&b));
}

const struct value *review_answer(const struct review *r, struct value metadata, const struct value *spec,
                                  struct value status)
{
        struct arena *a = r->run->arena;

        return review_object(a, ARENA_CONCAT(a, r->kind->group, STR("/v1")), str_from(r->kind->kind), metadata, spec,
                             status);
}

/* --- Reading --- */

static const char *go_word(const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                return "null";
        case VALUE_BOOL:
                return "bool";
        case VALUE_INT:
        case VALUE_DOUBLE:
                return "number";
        case VALUE_STRING:
                return "string";
        case VALUE_ARRAY:
                return "array";
        case VALUE_OBJECT:
                return "object";
        }
        return "value";
}

int review_wrong_type(const char *kind, const struct value *v, const char *field, const char *type, struct err *err)
{
        return status_bad_request(err,
                                  "%s in version \"v1\" cannot be handled as a %s: json: cannot unmarshal %s into Go "
                                  "struct field %s.%s of type %s",
                                  kind, kind, go_word(v), kind, field, type);
}

int review_check_texts(const char *kind, const struct value *v, const char *field, struct err *err)
{
        if (!v || value_is_null(v))
                return 0;
        if (!value_is_array(v))
                return review_wrong_type(kind, v, field, "[]string", err);
        VALUE_FOREACH_ITEM (item, v)
                if (!value_is_string(item))
                        return review_wrong_type(kind, item, field, "string", err);
        return 0;
}

int review_check_types(const char *kind, const struct value *object, const struct review_field *fields, struct err *err)
{
        for (; fields->name; fields++) {
                const struct value *v = value_get(object, str_from(fields->name));
                int r = 0;

                if (!v || value_is_null(v))
                        continue;
                switch (fields->type) {
                case REVIEW_TEXT:
                        r = value_is_string(v) ? 0 : review_wrong_type(kind, v, fields->path, "string", err);
                        break;
                case REVIEW_TEXTS:
                        r = review_check_texts(kind, v, fields->path, err);
                        break;
                case REVIEW_INT:
                        r = value_is_int(v) ? 0 : review_wrong_type(kind, v, fields->path, "int64", err);
                        break;
                case REVIEW_OBJECT:
                        r = value_is_object(v) ? 0 : review_wrong_type(kind, v, fields->path, "object", err);
                        break;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

int review_check_kind(struct arena *a, const struct value *body, struct str api_version, const char *kind,
                      const char *package, struct err *err)
{
        struct gvk gvk = gvk_of(body);
        struct str given = gvk_api_version(a, gvk);

        if ((gvk.kind.n == 0 || str_equal(gvk.kind, str_from(kind))) && (given.n == 0 || str_equal(given, api_version)))
                return 0;
        return status_bad_request(err,
                                  "%.*s in version \"%.*s\" cannot be handled as a %s: converting (%.*s.%.*s) to "
                                  "(%s.%s): unknown conversion",
                                  STR_ARG(gvk.kind), STR_ARG(gvk.version), kind, STR_ARG(gvk.version),
                                  STR_ARG(gvk.kind), package, kind);
}

void review_read_texts(struct arena *a, const struct value *v, const struct str **ret, size_t *ret_n)
{
        struct str *texts = ARENA_NEW_ARRAY(a, struct str, value_count(v));
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, v)
                texts[n++] = value_str(item);
        *ret = texts;
        *ret_n = n;
}
