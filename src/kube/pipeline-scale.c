/* The scale subresource of custom resources: an autoscaling/v1 Scale in front of one field. */
#include "pipeline-steps.h"

#include "patch.h"
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

static struct value make_scale(struct arena *a, const struct kind_version *v, const struct value *object,
                               int64_t replicas)
{
        struct str selector = value_str(find(a, object, v->scale_selector_path));
        int64_t observed = value_int(find(a, object, v->scale_status_path), 0);
        struct object_builder b, status;

        object_builder_init(&status, a, 2);
        object_builder_add(&status, STR("replicas"), value_of_int(observed));
        if (selector.n)
                object_builder_add(&status, STR("selector"), value_of_str(selector));
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("kind"), value_of_literal("Scale"));
        object_builder_add(&b, STR("apiVersion"), value_of_literal("autoscaling/v1"));
        object_builder_add(&b, STR("metadata"), scale_metadata(a, object));
        object_builder_add(&b, STR("spec"),
                           replicas ? single(a, STR("replicas"), value_of_int(replicas)) : value_empty_object);
        object_builder_add(&b, STR("status"), object_builder_finish(&status));
        return object_builder_finish(&b);
}

int scale_of(struct arena *a, const struct kind_version *v, const struct value *object, struct value *ret,
             struct err *err)
{
        const struct value *replicas = find(a, object, v->scale_spec_path);

        if (!replicas) {
                err_set(err, ERR_FAILED, "Internal error occurred: the spec replicas field \"%.*s\" does not exist",
                        STR_ARG(v->scale_spec_path));
                err_set_reason(err, REASON_INTERNAL_ERROR);
                return ERR_FAILED;
        }
        *ret = make_scale(a, v, object, value_int(replicas, 0));
        return 0;
}

/* The Scale that the request asks for. */
static int wanted_scale(struct step *s, const struct value **ret, struct err *err)
{
        const struct kind_version *v = s->p->version;
        int64_t replicas = value_int(find(s->arena, s->current, v->scale_spec_path), 0);
        const struct value *scale = value_put(s->arena, make_scale(s->arena, v, s->current, replicas));

        switch (s->req->verb) {
        case WRITE_UPDATE:
                *ret = s->req->body;
                return 0;
        case WRITE_MERGE_PATCH:
                *ret = merge_patch_apply(s->arena, scale, s->req->body);
                return 0;
        case WRITE_JSON_PATCH:
                return json_patch_apply(s->arena, scale, s->req->body, ret, err);
        case WRITE_APPLY:
        case WRITE_CREATE:
        case WRITE_DELETE:
                break;
        }
        return status_internal(err, "apply to the scale subresource of %.*s is not supported: patch it instead",
                               STR_ARG(s->p->kind->plural));
}

int step_scale(struct step *s, struct err *err)
{
        struct status_subject subject = step_subject(s);
        const struct value *scale;
        struct value replicas;
        struct str version;
        int r = wanted_scale(s, &scale, err);

        if (r < 0)
                return r;
        replicas = value_of_int(value_int(value_find(scale, "spec", "replicas"), 0));
        if (replicas.integer < 0) {
                struct field_errors errors;

                field_errors_init(&errors, s->arena);
                field_error_add(&errors, FIELD_INVALID, s->p->version->scale_spec_path, &replicas,
                                "should be a non-negative integer");
                return status_invalid(err, &subject, &errors);
        }
        r = path_set(s->arena, s->current, field_path(s->p->version->scale_spec_path), &replicas, &s->object, err);
        if (r < 0)
                return r;
        version = meta_resource_version(scale);
        if (version.n)
                s->object = meta_with_str(s->arena, s->object, STR("resourceVersion"), version);
        return 0;
}
