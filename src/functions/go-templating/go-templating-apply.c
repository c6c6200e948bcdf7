/* Turns documents into desired state. */
#include "go-templating.h"

#include "base64.h"
#include "buf.h"
#include "desired.h"
#include "gotext.h"
#include "path.h"

/* The document without the annotation. `annotations` stays, even when it is empty. */
static const struct value *without_annotation(struct arena *a, const struct value *document, struct str key)
{
        const struct value *metadata = value_get(document, STR("metadata"));
        const struct value *annotations = value_get(metadata, STR("annotations"));

        if (!value_get(annotations, key))
                return document;
        metadata = value_with(a, metadata, STR("annotations"), value_without(a, annotations, key));
        return value_with(a, document, STR("metadata"), metadata);
}

static const struct value *annotation(const struct value *document, struct str key)
{
        return value_get(value_find(document, "metadata", "annotations"), key);
}

static int read_ready(struct templating *t, const struct value **document, enum fn_ready *ret, struct err *err)
{
        const struct value *v = annotation(*document, TEMPLATING_ANNOTATION_READY);
        struct str text = value_str(v);

        *ret = FN_READY_UNSPECIFIED;
        if (!v)
                return 0;
        if (str_equal(text, STR("True")))
                *ret = FN_READY_TRUE;
        else if (str_equal(text, STR("False")))
                *ret = FN_READY_FALSE;
        else if (!str_equal(text, STR("Unspecified")))
                return err_set(err, ERR_INVALID,
                               "invalid function input: invalid %.*s annotation value %.*s: must be True, False, or "
                               "Unspecified",
                               STR_ARG(go_quote(t->arena, TEMPLATING_ANNOTATION_READY)),
                               STR_ARG(go_quote(t->arena, text)));
        *document = without_annotation(t->arena, *document, TEMPLATING_ANNOTATION_READY);
        return 0;
}

/* --- The composite --- */

static bool is_composite(const struct templating *t, const struct value *document)
{
        return t->observed &&
               str_equal(value_str(value_get(document, STR("apiVersion"))),
                         value_str(value_get(t->observed, STR("apiVersion")))) &&
               str_equal(value_str(value_get(document, STR("kind"))), value_str(value_get(t->observed, STR("kind")))) &&
               !annotation(document, TEMPLATING_ANNOTATION_NAME);
}

static int check_status(const struct value *status, const char *whose, struct err *err)
{
        if (!status || value_is_null(status) || value_is_object(status))
                return 0;
        return err_set(
                err, ERR_INVALID,
                "cannot get %s composite status: cannot unmarshal value from JSON: json: cannot unmarshal %s into Go "
                "value of type map[string]interface {}",
                whose, go_json_type(status));
}

static int apply_status(struct templating *t, const struct value *document, enum fn_ready ready, struct err *err)
{
        const struct merge_options options = { 0 };
        const struct value *from = value_get(document, STR("status")), *into = value_get(t->desired, STR("status"));
        const struct value *merged;
        int r = check_status(into, "desired", err);

        if (r == 0)
                r = check_status(from, "templated", err);
        if (r < 0)
                return r;
        if (ready != FN_READY_UNSPECIFIED)
                t->composite.ready = ready;
        if (!from && !into)
                return 0;
        r = merge_values(t->arena, value_is_object(into) ? into : &value_empty_object,
                         value_is_object(from) ? from : &value_empty_object, &options, &merged, err);
        if (r < 0)
                return err_wrap(err, "cannot merge status");
        t->desired = value_with(t->arena, t->desired, STR("status"), merged);
        return 0;
}

/* --- Composed resources --- */

/* In the oldest examples, a resource without the name annotation is named by its external name. */
static const struct value *name_of(const struct templating *t, const struct value *document)
{
        const struct value *name = annotation(document, TEMPLATING_ANNOTATION_NAME);

        if (name || !t->input.is_seed)
                return name;
        return annotation(document, STR("crossplane.io/external-name"));
}

static int apply_resource(struct templating *t, const struct value *document, enum fn_ready ready, struct err *err)
{
        const struct value *name = name_of(t, document);
        struct fn_resource resource = { .ready = ready };

        if (!name)
                return err_set(err, ERR_INVALID, "%.*s template is missing required %.*s annotation",
                               STR_ARG(go_quote(t->arena, value_str(value_get(document, STR("kind"))))),
                               STR_ARG(go_quote(t->arena, TEMPLATING_ANNOTATION_NAME)));
        resource.name = value_str(name);
        resource.object.value = without_annotation(t->arena, document, TEMPLATING_ANNOTATION_NAME);
        fn_state_set(t->arena, &t->rsp->desired, &resource);
        return 0;
}

static int apply_document(struct templating *t, const struct value *document, struct err *err)
{
        bool is_meta = str_equal(value_str(value_get(document, STR("apiVersion"))), TEMPLATING_META);
        enum fn_ready ready;
        int r;

        if (is_meta)
                return templating_apply_meta(t, document, err);
        r = read_ready(t, &document, &ready, err);
        if (r < 0)
                return r;
        if (is_composite(t, document))
                return apply_status(t, document, ready, err);
        return apply_resource(t, document, ready, err);
}

/* --- Extra resources of the request --- */

/* The item as encoding/json writes the message: with the field names of the proto file, and readiness as a number. */
static struct value item_value(struct templating *t, const struct fn_resource *item, const struct value *object)
{
        struct object_builder b, details;

        object_builder_init(&b, t->arena, 3);
        if (object)
                object_builder_add(&b, STR("resource"), *object);
        object_builder_init(&details, t->arena, item->connection.n);
        for (size_t i = 0; i < item->connection.n; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                base64_encode(&text, item->connection.p[i].bytes, BASE64_STD);
                object_builder_add(&details, item->connection.p[i].key, value_of_str(buf_to_arena(&text, t->arena)));
        }
        if (item->connection.n > 0)
                object_builder_add(&b, STR("connection_details"), object_builder_finish(&details));
        if (item->ready != FN_READY_UNSPECIFIED)
                object_builder_add(&b, STR("ready"), value_of_double((double)item->ready));
        return object_builder_finish(&b);
}

static int items_value(struct templating *t, const struct fn_resources *resources, struct value *ret, struct err *err)
{
        struct array_builder items;
        struct object_builder b;

        array_builder_init(&items, t->arena, resources->n_items);
        for (size_t i = 0; i < resources->n_items; i++) {
                struct fn_struct object = resources->items[i].object;
                const struct value *v;
                int r = fn_struct_value(t->arena, &object, &v, err);

                if (r < 0)
                        return r;
                array_builder_add(&items, item_value(t, &resources->items[i], v));
        }
        object_builder_init(&b, t->arena, 1);
        if (resources->n_items > 0)
                object_builder_add(&b, STR("items"), array_builder_finish(&items));
        *ret = object_builder_finish(&b);
        return 0;
}

/* Adds the resources to those in the response's context. If the request has no context, the existing ones are dropped. */
static int pass_on(struct templating *t, const struct fn_resources_map *map, struct err *err)
{
        const struct value *context, *all;
        struct value v;
        int r = fn_struct_value(t->arena, &t->rsp->context, &context, err);

        if (r < 0 || map->n == 0)
                return r;
        context = context ?: &value_empty_object;
        all = value_get(context, TEMPLATING_EXTRA_RESOURCES);
        if (!value_is_object(all) || !fn_struct_is_present(&t->req->context))
                all = &value_empty_object;
        for (size_t i = 0; i < map->n; i++) {
                r = items_value(t, &map->p[i], &v, err);
                if (r < 0)
                        return r;
                all = value_with(t->arena, all, map->p[i].name, value_put(t->arena, v));
        }
        t->rsp->context =
                (struct fn_struct) { .value = value_with(t->arena, context, TEMPLATING_EXTRA_RESOURCES, all) };
        return 0;
}

int templating_apply(struct templating *t, struct err *err)
{
        struct fn_state before = t->rsp->desired;
        struct fn_resource *resources;
        int r = desired_rebuild(t->arena, &t->rsp->desired, &resources, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < t->n_documents && r == 0; i++)
                r = apply_document(t, &t->documents[i], err);
        if (r < 0) {
                t->rsp->desired = before;
                return r;
        }
        t->composite.object = (struct fn_struct) { .value = t->desired };
        t->rsp->desired.has_composite = true;
        t->rsp->desired.composite = t->composite;
        if (t->requirements.is_present)
                t->rsp->requirements = t->requirements;
        r = pass_on(t, &t->req->extra_resources, err);
        return r < 0 ? r : pass_on(t, &t->req->required_resources, err);
}
