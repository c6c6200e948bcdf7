/* The scale subresource of custom resources: an autoscaling/v1 Scale that reads and writes one field. */
#include "draft.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "label-selector.h"
#include "path.h"

/* `.spec.replicas` as a field path. */
static struct str field_path(struct str json_path)
{
        str_cut_prefix(&json_path, STR("."));
        return json_path;
}

static const struct value *find(struct arena *a, const struct value *object, struct str json_path)
{
        const struct value *v;

        if (json_path.n == 0 || path_get(a, object, field_path(json_path), &v, NULL) < 0)
                return NULL;
        return v;
}

static struct value scale_metadata(struct arena *a, const struct value *object)
{
        static const char *const fields[] = { "name", "namespace", "uid", "resourceVersion", "creationTimestamp" };
        struct object_builder b;

        object_builder_init(&b, a, ARRAY_SIZE(fields));
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *v = value_get(meta(object), str_from(fields[i]));

                if (v)
                        object_builder_add(&b, str_from(fields[i]), *v);
        }
        return object_builder_finish(&b);
}

static struct value single(struct arena *a, struct str key, struct value v)
{
        struct object_builder b;

        object_builder_init(&b, a, 2);
        object_builder_add(&b, key, v);
        return object_builder_finish(&b);
}

/* The selector of a scale is text. Built-in kinds have it as a map of labels or as a LabelSelector. */
static struct str selector_text(struct arena *a, const struct value *selector)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct label_selector parsed;

        if (!value_is_object(selector))
                return value_str(selector);
        if (!value_is_object(value_get(selector, STR("matchLabels"))) &&
            !value_is_array(value_get(selector, STR("matchExpressions"))))
                selector = value_with(a, &value_empty_object, STR("matchLabels"), selector);
        if (label_selector_from_value(a, selector, &parsed, NULL) < 0)
                return STR("");
        label_selector_append(&b, &parsed);
        return buf_to_arena(&b, a);
}

/* Zero replicas are not shown, except to a patch. */
static struct value make_scale(struct arena *a, const struct kind_version *v, const struct value *object,
                               int64_t replicas, bool for_patch)
{
        struct str selector = selector_text(a, find(a, object, v->scale_selector_path));
        int64_t observed = value_int(find(a, object, v->scale_status_path), 0);
        struct object_builder b, status;

        object_builder_init(&status, a, 2);
        object_builder_add(&status, STR("replicas"), value_of_int(observed));
        if (selector.n)
                object_builder_add(&status, STR("selector"), value_of_str(selector));
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("autoscaling/v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Scale"));
        object_builder_add(&b, STR("metadata"), scale_metadata(a, object));
        object_builder_add(&b, STR("spec"),
                           replicas || for_patch ? single(a, STR("replicas"), value_of_int(replicas))
                                                 : value_empty_object);
        object_builder_add(&b, STR("status"), object_builder_finish(&status));
        return object_builder_finish(&b);
}

int scale_of(struct arena *a, const struct kind_version *v, const struct value *object, struct value *ret,
             struct err *err)
{
        const struct value *replicas = find(a, object, v->scale_spec_path);

        if (!replicas)
                return status_internal_error(err, "the spec replicas field \"%.*s\" does not exist",
                                             STR_ARG(v->scale_spec_path));
        *ret = make_scale(a, v, object, value_int(replicas, 0), false);
        return 0;
}

/* The Scale that the request asks for. */
static int wanted_scale(struct draft *s, const struct value **ret, struct err *err)
{
        const struct kind_version *v = s->p->version;
        int64_t replicas = value_int(find(s->arena, s->current, v->scale_spec_path), 0);
        const struct value *scale = value_put(s->arena, make_scale(s->arena, v, s->current, replicas, true));

        switch (s->req->verb) {
        case WRITE_UPDATE:
                *ret = s->req->body;
                return 0;
        case WRITE_MERGE_PATCH:
        case WRITE_JSON_PATCH:
        case WRITE_STRATEGIC_PATCH:
                return draft_patch_document(s, scale, ret, err);
        case WRITE_APPLY:
        case WRITE_CREATE:
        case WRITE_DELETE:
                break;
        }
        return status_internal(err, "apply to the scale subresource of %.*s is not supported: patch it instead",
                               STR_ARG(s->p->kind->plural));
}

/* Replicas are an int32. */
static int check_replicas(const struct draft *s, const struct value *scale, struct err *err)
{
        const struct value *v = value_find(scale, "spec", "replicas");
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        if (!v || value_is_null(v) || (value_is_int(v) && v->integer == (int32_t)v->integer))
                return 0;
        if (value_is_number(v)) {
                buf_append_literal(&text, "number ");
                if (json_write(&text, v, JSON_GO, NULL) < 0)
                        buf_append_literal(&text, "NaN");
        } else {
                buf_append_str(&text, value_is_string(v)  ? STR("string")
                                      : value_is_bool(v)  ? STR("bool")
                                      : value_is_array(v) ? STR("array")
                                                          : STR("object"));
        }
        return draft_bad_patch(s, scale,
                               arena_printf(s->arena,
                                            "json: cannot unmarshal %.*s into Go struct field ScaleSpec.spec.replicas "
                                            "of type int32",
                                            STR_ARG(buf_str(&text))),
                               err);
}

static const char *go_type(const struct value *v)
{
        static const char *const names[] = {
                [VALUE_NULL] = "<nil>",
                [VALUE_BOOL] = "bool",
                [VALUE_INT] = "int64",
                [VALUE_DOUBLE] = "float64",
                [VALUE_STRING] = "string",
                [VALUE_ARRAY] = "[]interface {}",
                [VALUE_OBJECT] = "map[string]interface {}",
        };

        return names[value_type(v)];
}

/* Checks that an object fits a path of the scale, with the errors of Go's accessors. */
struct scale_check {
        struct arena *arena;
        struct field_errors *errors;
        struct str path;
        const struct value *zero; /* shown in errors when there is no value */
};

static void accessor_error(struct scale_check *c, struct str at, const struct value *v, const char *expected)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        go_append_value(&text, v);
        field_error_add(c->errors, FIELD_INVALID, c->path, c->zero,
                        "%.*s accessor error: %.*s is of the type %s, expected %s", STR_ARG(at),
                        STR_ARG(buf_str(&text)), go_type(v), expected);
}

static void check_scale_path(struct scale_check *c, const struct value *object)
{
        bool is_text = value_is_string(c->zero);
        const struct value *v = object;
        size_t end = 0;

        while (end < c->path.n) {
                struct str rest = str_skip(c->path, end + 1);
                ptrdiff_t dot = str_find_char(rest, '.');
                struct str key = dot < 0 ? rest : str_first(rest, (size_t)dot);

                end += key.n + 1;
                if (value_is_null(v))
                        return;
                if (!value_is_object(v)) {
                        accessor_error(c, str_first(c->path, end), v, "map[string]interface{}");
                        return;
                }
                v = value_get(v, key);
                if (!v)
                        return;
        }
        if (is_text ? !value_is_string(v) : !value_is_int(v))
                accessor_error(c, c->path, v, is_text ? "string" : "int64");
        else if (!is_text && v->integer < 0)
                field_error_add(c->errors, FIELD_INVALID, c->path, v, "should be a non-negative integer");
}

void scale_validate(struct arena *a, const struct kind_version *v, const struct value *object,
                    struct field_errors *errors)
{
        struct value zero = value_of_int(0);
        struct scale_check checks[] = {
                { a, errors, v->scale_spec_path, &zero },
                { a, errors, v->scale_status_path, &zero },
                { a, errors, v->scale_selector_path, &value_empty_string },
        };

        for (size_t i = 0; v->has_scale && !v->type && i < ARRAY_SIZE(checks); i++)
                if (checks[i].path.n > 0)
                        check_scale_path(&checks[i], object);
}

/* Whether the set of fields (FieldsV1) has the one at the path. */
static bool has_field(struct arena *a, const struct value *set, struct str path)
{
        while (path.n > 0 && set) {
                struct str part = path;
                ptrdiff_t dot = str_find_char(path, '.');

                if (dot >= 0)
                        part = str_first(path, (size_t)dot);
                path = str_skip(path, dot >= 0 ? (size_t)dot + 1 : path.n);
                set = value_get(set, arena_printf(a, "f:%.*s", STR_ARG(part)));
        }
        return set;
}

bool scale_is_managed(const struct draft *s)
{
        VALUE_FOREACH_ITEM (entry, value_get(meta(s->current), STR("managedFields")))
                if (has_field(s->arena, value_get(entry, STR("fieldsV1")), field_path(s->p->version->scale_spec_path)))
                        return true;
        return false;
}

const struct value *scale_without_zero(const struct draft *s)
{
        struct str path = s->p->version->scale_spec_path;
        const struct value *result;

        if (value_int(find(s->arena, s->object, path), 1) != 0 ||
            path_delete(s->arena, s->object, field_path(path), &result, NULL) < 0)
                return s->object;
        return result;
}

int draft_scale(struct draft *s, struct err *err)
{
        const struct value *scale;
        struct value replicas;
        struct str version;
        int r = wanted_scale(s, &scale, err);

        if (r == 0)
                r = check_replicas(s, scale, err);
        if (r < 0)
                return r;
        replicas = value_of_int(value_int(value_find(scale, "spec", "replicas"), 0));
        r = path_set(s->arena, s->current, field_path(s->p->version->scale_spec_path), &replicas, &s->object, err);
        if (r < 0)
                return r;
        version = meta_resource_version(scale);
        if (version.n)
                s->object = meta_with_str(s->arena, s->object, STR("resourceVersion"), version);
        return 0;
}
