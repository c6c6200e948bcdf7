#include "composite.h"

#include <stdlib.h>

#include "buf.h"
#include "digest.h"
#include "str-list.h"

static const struct value *object_or_empty(const struct value *v)
{
        return value_is_object(v) ? v : &value_empty_object;
}

const struct value *composite_field(const struct composite *c, struct str name)
{
        return places_get(composite_places(c), c->object, name);
}

bool composite_has(const struct composite *c, struct str name)
{
        return places_at(composite_places(c), name).n > 0;
}

struct composite composite_with(struct arena *a, const struct composite *c, struct str name, const struct value *v)
{
        return (struct composite) { places_with(a, composite_places(c), c->object, name, v), c->places };
}

struct str composite_ref(const struct composite *c, struct str name)
{
        return value_str(value_get(composite_field(c, name), STR("name")));
}

struct composite composite_with_ref(struct arena *a, const struct composite *c, struct str name, struct str to)
{
        struct value text = value_of_str(to);

        return composite_with(a, c, name, value_with(a, &value_empty_object, STR("name"), &text));
}

const struct value *composite_selector(const struct composite *c, struct str name)
{
        const struct value *selector = composite_field(c, name);

        return value_is_object(selector) ? object_or_empty(value_get(selector, STR("matchLabels"))) : NULL;
}

struct str composite_update_policy(const struct composite *c)
{
        return value_str(composite_field(c, STR("compositionUpdatePolicy")));
}

size_t composite_resource_refs(struct arena *a, const struct composite *c, const struct resource_reference **ret)
{
        const struct value *list = composite_field(c, STR("resourceRefs"));
        struct resource_reference *refs = ARENA_NEW_ARRAY(a, struct resource_reference, value_count(list) + 1);
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, list)
                refs[n++] = (struct resource_reference) {
                        .api_version = value_str(value_get(item, STR("apiVersion"))),
                        .kind = value_str(value_get(item, STR("kind"))),
                        .ns = value_str(value_get(item, STR("namespace"))),
                        .name = value_str(value_get(item, STR("name"))),
                        .uid = value_str(value_get(item, STR("uid"))),
                };
        *ret = refs;
        return n;
}

struct sorted_reference {
        struct str text; /* its fields, concatenated */
        struct resource_reference ref;
};

static int compare_refs(const void *a, const void *b)
{
        const struct sorted_reference *x = a, *y = b;

        return str_compare(x->text, y->text);
}

static const struct sorted_reference *sort_refs(struct arena *a, const struct resource_reference *refs, size_t n)
{
        struct sorted_reference *sorted = ARENA_NEW_ARRAY(a, struct sorted_reference, n);

        for (size_t i = 0; i < n; i++) {
                const struct resource_reference *r = &refs[i];

                sorted[i] = (struct sorted_reference) { ARENA_CONCAT(a, r->api_version, r->kind, r->name, r->ns), *r };
        }
        qsort(sorted, n, sizeof(*sorted), compare_refs);
        return sorted;
}

static void add_text(struct object_builder *b, struct str key, struct str text)
{
        if (text.n)
                object_builder_add(b, key, value_of_str(text));
}

struct value composite_refs_value(struct arena *a, const struct resource_reference *refs, size_t n, bool is_namespaced)
{
        const struct sorted_reference *sorted = sort_refs(a, refs, n);
        struct array_builder list;

        array_builder_init(&list, a, n);
        for (size_t i = 0; i < n; i++) {
                const struct resource_reference *ref = &sorted[i].ref;
                struct object_builder b;

                object_builder_init(&b, a, 5);
                add_text(&b, STR("apiVersion"), ref->api_version);
                add_text(&b, STR("kind"), ref->kind);
                add_text(&b, STR("name"), ref->name);
                if (!is_namespaced)
                        add_text(&b, STR("namespace"), ref->ns);
                add_text(&b, STR("uid"), ref->uid);
                array_builder_add(&list, object_builder_finish(&b));
        }
        return array_builder_finish(&list);
}

bool composite_is_paused(const struct value *object)
{
        return str_equal(meta_annotation(object, STR("crossplane.io/paused")), STR("true"));
}

static int compare_names(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct str composite_name_list(struct arena *a, struct str *names, size_t n)
{
        struct str_list list;

        qsort(names, n, sizeof(*names), compare_names);
        str_list_init(&list, a);
        for (size_t i = 0; i < MIN(n, 3u); i++)
                str_list_add(&list, n == 3 && i == 2 ? arena_printf(a, "and %.*s", STR_ARG(names[i])) : names[i]);
        if (n > 3)
                str_list_printf(&list, "and %zu more", n - 3);
        return str_list_join(&list, STR(", "));
}

const struct value *composite_write_out_conditions(struct arena *a, const struct value *object)
{
        const struct value *status = value_get(object, STR("status")), *list = value_get(status, STR("conditions"));
        struct array_builder written;

        if (value_count(list) == 0)
                return object;
        array_builder_init(&written, a, value_count(list));
        VALUE_FOREACH_ITEM (item, list) {
                struct condition c = condition_of(item);
                struct value text = value_of_str(value_str(value_get(item, STR("status")))), v = condition_value(a, &c);

                array_builder_add(&written, *value_with(a, &v, STR("status"), &text));
        }
        status = value_with(a, status, STR("conditions"), value_put(a, array_builder_finish(&written)));
        return value_with(a, object, STR("status"), status);
}

bool condition_is_system(struct str type)
{
        static const char *const types[] = { "Ready", "Synced", "Healthy", "UpToDate", "Responsive" };

        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                if (str_equal(type, str_from(types[i])))
                        return true;
        return false;
}

struct str composite_composed_manager(struct arena *a, const struct value *object)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), name = BUF_INIT(0);
        struct gvk gvk = gvk_of(object);

        buf_append_str(&text, meta_name(object));
        buf_append_str(&text, gvk.kind);
        if (gvk.group.n)
                buf_appendf(&text, ".%.*s", STR_ARG(gvk.group));
        buf_append_literal(&name, "apiextensions.crossplane.io/composed/");
        sha256_append_hex(&name, buf_str(&text));
        return buf_to_arena(&name, a);
}
