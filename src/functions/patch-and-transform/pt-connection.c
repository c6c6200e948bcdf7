/* Connection details: extracts them from observed resources and, for composites of Crossplane 2, puts them into a Secret. */
#include "pt.h"

#include <stdlib.h>

#include "base64.h"
#include "buf.h"
#include "json.h"

/* --- Collecting --- */

static void add_detail(struct pt_details *d, struct str key, struct str bytes)
{
        if (d->n == d->capacity) {
                size_t capacity = d->capacity ? 2 * d->capacity : 8;
                struct pt_found_detail *p = ARENA_NEW_ARRAY(d->arena, struct pt_found_detail, capacity);

                if (d->n)
                        memcpy(p, d->p, d->n * sizeof(*p));
                d->p = p;
                d->capacity = capacity;
        }
        d->p[d->n] = (struct pt_found_detail) { .detail = { .key = key, .bytes = bytes }, .order = d->n };
        d->n++;
}

void pt_details_init(struct pt_details *d, struct arena *a, const struct fn_bytes_map *map)
{
        *d = (struct pt_details) { .arena = a };
        for (size_t i = 0; i < map->n; i++)
                add_detail(d, map->p[i].key, map->p[i].bytes);
}

static int compare(const void *a, const void *b)
{
        const struct pt_found_detail *x = a, *y = b;
        int r = str_compare(x->detail.key, y->detail.key);

        return r ? r : (x->order > y->order) - (x->order < y->order);
}

struct fn_bytes_map pt_details_finish(struct pt_details *d)
{
        struct fn_bytes *map = ARENA_NEW_ARRAY(d->arena, struct fn_bytes, d->n);
        size_t n = 0;

        if (d->n)
                qsort(d->p, d->n, sizeof(*d->p), compare);
        for (size_t i = 0; i < d->n; i++) {
                if (n && str_equal(map[n - 1].key, d->p[i].detail.key))
                        n--;
                map[n++] = d->p[i].detail;
        }
        return (struct fn_bytes_map) { .p = map, .n = n };
}

/* --- Extracting --- */

static void extract_key(struct pt_details *d, const struct pt_detail *detail, const struct fn_bytes_map *observed)
{
        for (size_t i = 0; i < observed->n; i++)
                if (str_equal(observed->p[i].key, detail->secret_key))
                        add_detail(d, detail->name, observed->p[i].bytes);
}

static void extract_path(struct pt_details *d, struct pt_detail *detail, const struct pt_object *object)
{
        const struct value *v;
        struct str text;

        if (pt_get(d->arena, object, &detail->from, &v, NULL) < 0)
                return;
        if (value_is_string(v))
                add_detail(d, detail->name, value_str(v));
        else if (json_to_str(d->arena, v, JSON_GO, &text, NULL) >= 0)
                add_detail(d, detail->name, text);
}

void pt_extract_details(struct pt_details *d, const struct input_list *details, const struct pt_object *object,
                        const struct fn_bytes_map *observed)
{
        struct pt_detail *list = details->p;

        for (size_t i = 0; i < details->n; i++) {
                if (str_equal(list[i].type, STR("FromValue")))
                        add_detail(d, list[i].name, list[i].value);
                else if (str_equal(list[i].type, STR("FromConnectionSecretKey")))
                        extract_key(d, &list[i], observed);
                else
                        extract_path(d, &list[i], object);
        }
}

/* --- The Secret --- */

struct reference {
        struct str name;
        struct str ns;
};

/* Reads the reference in the composite itself, if it is valid. */
static bool read_reference(const struct value *composite, struct reference *ret)
{
        const struct value *ref = value_find(composite, "spec", "writeConnectionSecretToRef");
        const struct value *name = value_get(ref, STR("name")), *ns = value_get(ref, STR("namespace"));

        if (!value_is_object(ref) && !value_is_null(ref))
                return false;
        if ((name && !value_is_string(name) && !value_is_null(name)) ||
            (ns && !value_is_string(ns) && !value_is_null(ns)))
                return false;
        *ret = (struct reference) { .name = value_str(name), .ns = value_str(ns) };
        return true;
}

static struct reference choose_reference(struct arena *a, const struct value *composite,
                                         const struct pt_secret_ref *input)
{
        struct str name = value_str(value_find(composite, "metadata", "name"));
        struct reference ref;

        if (read_reference(composite, &ref))
                return ref;
        if (input && (input->name.n || input->ns.n))
                return (struct reference) { .name = input->name, .ns = input->ns };
        return (struct reference) { .name = arena_printf(a, "%.*s-connection", STR_ARG(name)),
                                    .ns = value_str(value_find(composite, "metadata", "namespace")) };
}

static int apply_patch(const struct run *run, struct pt_patch *patch, size_t i, const struct pt_object *composite,
                       struct pt_object *to, struct err *err)
{
        struct str type = pt_patch_type_name(patch);
        bool is_combine = str_equal(type, STR("CombineFromComposite"));
        int r;

        if (!is_combine && !str_equal(type, STR("FromCompositeFieldPath")))
                return err_set(err, ERR_INVALID, "unsupported patch type %.*s at index %zu", STR_ARG(type), i);
        r = pt_apply(run, patch, composite, to, err);
        if (r >= 0 || (!is_combine && pt_patch_is_optional(patch)))
                return 0;
        err_wrap(err, "cannot apply patch type %.*s at index %zu", STR_ARG(type), i);
        return ERR_INVALID;
}

static int patch_reference(const struct run *run, const struct pt_secret_ref *input, const struct pt_object *composite,
                           struct reference *ref, struct err *err)
{
        struct pt_patch *patches = input->patches.p;
        struct pt_object to = { .is_settled = true };
        struct object_builder b;
        const struct value *v;

        object_builder_init(&b, run->arena, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("SecretReference"));
        object_builder_add(&b, STR("name"), value_of_str(ref->name));
        object_builder_add(&b, STR("namespace"), value_of_str(ref->ns));
        to.root = value_put(run->arena, object_builder_finish(&b));
        for (size_t i = 0; i < input->patches.n; i++) {
                _cleanup_err_ struct err problem = { 0 };

                if (apply_patch(run, &patches[i], i, composite, &to, &problem) < 0)
                        return err_move(err, &problem);
        }
        v = value_get(to.root, STR("name"));
        ref->name = value_is_string(v) ? value_str(v) : ref->name;
        v = value_get(to.root, STR("namespace"));
        ref->ns = value_is_string(v) ? value_str(v) : ref->ns;
        return bounds_check(run, err); /* an optional patch may have hidden that error */
}

static struct value secret_data(struct arena *a, const struct fn_bytes_map *details)
{
        struct object_builder b;

        object_builder_init(&b, a, details->n);
        for (size_t i = 0; i < details->n; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                base64_encode(&text, details->p[i].bytes, BASE64_STD);
                object_builder_add(&b, details->p[i].key, value_of_str(buf_to_arena(&text, a)));
        }
        return object_builder_finish(&b);
}

static const struct value *make_secret(struct arena *a, const struct reference *ref, const struct fn_bytes_map *details)
{
        struct object_builder b, metadata;

        object_builder_init(&metadata, a, 2);
        if (ref->name.n)
                object_builder_add(&metadata, STR("name"), value_of_str(ref->name));
        if (ref->ns.n)
                object_builder_add(&metadata, STR("namespace"), value_of_str(ref->ns));
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("data"), secret_data(a, details));
        object_builder_add(&b, STR("kind"), value_of_literal("Secret"));
        if (metadata.n)
                object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("type"), value_of_literal("connection.crossplane.io/v1alpha1"));
        return value_put(a, object_builder_finish(&b));
}

int pt_compose_secret(const struct run *run, const struct pt_object *composite, const struct pt_secret_ref *input,
                      const struct fn_bytes_map *details, const struct value **ret, struct err *err)
{
        struct reference ref = choose_reference(run->arena, composite->root, input);
        int r = input ? patch_reference(run, input, composite, &ref, err) : 0;

        if (r < 0) {
                err_wrap(err, "cannot generate connection secret reference: cannot apply connection secret patches");
                return r;
        }
        *ret = make_secret(run->arena, &ref, details);
        return 0;
}
