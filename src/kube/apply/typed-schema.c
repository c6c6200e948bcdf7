/* The type system: schema nodes, the fixed types of metadata and deduced types, seen as scalars, lists and maps. */
#include "typed.h"

#include "buf.h"
#include "gotext.h"

/* --- Metadata --- */

struct fixed_field {
        struct str name;
        const struct fixed_type *type;
        const struct value *default_value; /* for list keys */
};

struct fixed_type {
        enum typed_form form;
        enum scalar scalar;
        bool is_atomic;
        const struct str *keys;
        size_t n_keys;
        const struct fixed_field *fields; /* sorted by name */
        size_t n_fields;
        const struct fixed_type *element; /* the type of items, or of values of other keys; NULL: none */
        bool is_deduced;                  /* the type of elements is deduced */
};

static const struct fixed_type untyped = { .form = FORM_SCALAR, .scalar = SCALAR_UNTYPED };
static const struct fixed_type string = { .form = FORM_SCALAR, .scalar = SCALAR_STRING };
static const struct fixed_type numeric = { .form = FORM_SCALAR, .scalar = SCALAR_NUMERIC };
static const struct fixed_type boolean = { .form = FORM_SCALAR, .scalar = SCALAR_BOOLEAN };
static const struct fixed_type string_map = { .form = FORM_MAP, .element = &string };
static const struct fixed_type string_set = { .form = FORM_LIST, .element = &string };
static const struct fixed_type fields_v1 = { .form = FORM_MAP, .is_deduced = true };

static const struct fixed_field owner_reference_fields[] = {
        { STR_INIT("apiVersion"), &string, &value_empty_string },
        { STR_INIT("blockOwnerDeletion"), &boolean, NULL },
        { STR_INIT("controller"), &boolean, NULL },
        { STR_INIT("kind"), &string, &value_empty_string },
        { STR_INIT("name"), &string, &value_empty_string },
        { STR_INIT("uid"), &string, &value_empty_string },
};
static const struct fixed_type owner_reference = {
        .form = FORM_MAP,
        .is_atomic = true,
        .fields = owner_reference_fields,
        .n_fields = ARRAY_SIZE(owner_reference_fields),
};
static const struct str owner_reference_keys[] = { STR_INIT("uid") };
static const struct fixed_type owner_references = {
        .form = FORM_LIST,
        .keys = owner_reference_keys,
        .n_keys = ARRAY_SIZE(owner_reference_keys),
        .element = &owner_reference,
};

static const struct fixed_field managed_fields_entry_fields[] = {
        { STR_INIT("apiVersion"), &string, NULL },  { STR_INIT("fieldsType"), &string, NULL },
        { STR_INIT("fieldsV1"), &fields_v1, NULL }, { STR_INIT("manager"), &string, NULL },
        { STR_INIT("operation"), &string, NULL },   { STR_INIT("subresource"), &string, NULL },
        { STR_INIT("time"), &untyped, NULL },
};
static const struct fixed_type managed_fields_entry = {
        .form = FORM_MAP,
        .fields = managed_fields_entry_fields,
        .n_fields = ARRAY_SIZE(managed_fields_entry_fields),
};
static const struct fixed_type managed_fields = {
        .form = FORM_LIST,
        .is_atomic = true,
        .element = &managed_fields_entry,
};

static const struct fixed_field object_meta_fields[] = {
        { STR_INIT("annotations"), &string_map, NULL },
        { STR_INIT("creationTimestamp"), &untyped, NULL },
        { STR_INIT("deletionGracePeriodSeconds"), &numeric, NULL },
        { STR_INIT("deletionTimestamp"), &untyped, NULL },
        { STR_INIT("finalizers"), &string_set, NULL },
        { STR_INIT("generateName"), &string, NULL },
        { STR_INIT("generation"), &numeric, NULL },
        { STR_INIT("labels"), &string_map, NULL },
        { STR_INIT("managedFields"), &managed_fields, NULL },
        { STR_INIT("name"), &string, NULL },
        { STR_INIT("namespace"), &string, NULL },
        { STR_INIT("ownerReferences"), &owner_references, NULL },
        { STR_INIT("resourceVersion"), &string, NULL },
        { STR_INIT("selfLink"), &string, NULL },
        { STR_INIT("uid"), &string, NULL },
};
static const struct fixed_type object_meta = {
        .form = FORM_MAP,
        .fields = object_meta_fields,
        .n_fields = ARRAY_SIZE(object_meta_fields),
};

static const struct typed_type none = { .kind = TYPE_NONE };
static const struct typed_type deduced = { .kind = TYPE_DEDUCED };

static struct typed_type fixed(const struct fixed_type *t)
{
        return (struct typed_type) { .kind = TYPE_FIXED, .fixed = t };
}

static const struct fixed_field *find_fixed(const struct fixed_type *t, struct str name)
{
        size_t low = 0, high = t->n_fields;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = str_compare(t->fields[middle].name, name);

                if (order == 0)
                        return &t->fields[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* --- Shapes --- */

struct typed_type type_of_schema(const struct schema *s)
{
        const struct schema_node *root = schema_root(s);

        return (struct typed_type) {
                .kind = TYPE_ROOT,
                .preserves = schema_node_preserves_unknown(root) || schema_node_type(root) == SCHEMA_UNTYPED,
                .node = root,
        };
}

static struct typed_type of_node(const struct schema_node *n, bool preserves)
{
        return (struct typed_type) { .kind = TYPE_NODE,
                                     .preserves = preserves || schema_node_preserves_unknown(n),
                                     .node = n };
}

static enum typed_form form_of(const struct value *v)
{
        if (!v || value_is_null(v) || value_is_object(v))
                return FORM_MAP;
        return value_is_array(v) ? FORM_LIST : FORM_SCALAR;
}

/* Deduced lists are always atomic; deduced maps only below deduced lists. */
static void deduce(struct typed_shape *s, const struct value *v, bool is_atomic)
{
        s->form = form_of(v);
        s->is_free = true;
        s->is_atomic = is_atomic || s->form == FORM_LIST;
}

static void shape_of_fixed(struct typed_shape *s, const struct fixed_type *t)
{
        s->form = t->form;
        s->scalar = t->scalar;
        s->is_atomic = t->is_atomic;
        s->keys = t->keys;
        s->n_keys = (uint32_t)t->n_keys;
}

/* For a string with a format upstream accepts any scalar, except for the format byte. */
static enum scalar scalar_of_string(const struct schema_node *n)
{
        struct str format = schema_node_format(n);

        return format.n == 0 || str_equal(format, STR("byte")) ? SCALAR_STRING : SCALAR_UNTYPED;
}

static void shape_of_node(struct typed_shape *s, const struct schema_node *n, const struct value *v)
{
        switch (schema_node_type(n)) {
        case SCHEMA_OBJECT:
                s->form = FORM_MAP;
                s->is_atomic = schema_node_is_atomic_map(n);
                break;
        case SCHEMA_ARRAY:
                s->form = FORM_LIST;
                s->is_atomic = schema_node_list_type(n) == SCHEMA_LIST_ATOMIC;
                if (schema_node_list_type(n) == SCHEMA_LIST_MAP)
                        s->n_keys = (uint32_t)schema_node_list_keys(n, &s->keys);
                break;
        case SCHEMA_STRING:
                s->scalar = scalar_of_string(n);
                break;
        case SCHEMA_INTEGER:
        case SCHEMA_NUMBER:
                s->scalar = SCALAR_NUMERIC;
                break;
        case SCHEMA_BOOLEAN:
                s->scalar = SCALAR_BOOLEAN;
                break;
        case SCHEMA_INT_OR_STRING:
        case SCHEMA_UNTYPED:
                deduce(s, v, false);
                break;
        }
}

struct typed_shape type_shape(struct typed_type t, const struct value *v)
{
        struct typed_shape s = { .type = t };

        switch ((enum type_kind)t.kind) {
        case TYPE_NONE:
        case TYPE_DEDUCED:
                deduce(&s, v, false);
                break;
        case TYPE_UNTYPED_ATOMIC:
                deduce(&s, v, true);
                break;
        case TYPE_FIXED:
                shape_of_fixed(&s, t.fixed);
                break;
        case TYPE_NODE:
                shape_of_node(&s, t.node, v);
                break;
        case TYPE_ROOT:
                s.form = FORM_MAP;
                s.is_atomic = schema_node_is_atomic_map(t.node);
                break;
        }
        return s;
}

static bool node_is_object_like(struct typed_type t)
{
        return t.kind == TYPE_ROOT || schema_node_is_embedded(t.node);
}

static struct typed_type field_of_node(struct typed_type t, struct str name, bool *ret_is_declared)
{
        const struct schema_node *child;

        *ret_is_declared = true;
        if (node_is_object_like(t)) {
                if (str_equal(name, STR("metadata")))
                        return fixed(&object_meta);
                if (str_equal(name, STR("apiVersion")) || str_equal(name, STR("kind")))
                        return fixed(&string);
        }
        child = schema_node_property(t.node, name);
        if (child)
                return of_node(child, t.preserves);
        *ret_is_declared = false;
        child = schema_node_additional(t.node);
        if (child)
                return schema_node_type(child) == SCHEMA_UNTYPED ? deduced : of_node(child, t.preserves);
        if (t.preserves || (schema_node_property_count(t.node) == 0 && !node_is_object_like(t)))
                return deduced;
        return none;
}

static struct typed_type field_of_fixed(const struct fixed_type *t, struct str name, bool *ret_is_declared)
{
        const struct fixed_field *f = find_fixed(t, name);

        *ret_is_declared = f;
        if (f)
                return fixed(f->type);
        if (t->element)
                return fixed(t->element);
        return t->is_deduced ? deduced : none;
}

struct typed_type shape_field(const struct typed_shape *s, struct str name, bool *ret_is_declared)
{
        *ret_is_declared = false;
        if (s->is_free)
                return s->type.kind == TYPE_UNTYPED_ATOMIC ? s->type : deduced;
        if (s->type.kind == TYPE_FIXED)
                return field_of_fixed(s->type.fixed, name, ret_is_declared);
        return field_of_node(s->type, name, ret_is_declared);
}

bool shape_is_deduced(const struct typed_shape *s)
{
        const struct schema_node *additional;

        if (s->is_free)
                return true;
        if (s->form != FORM_MAP || s->type.kind != TYPE_NODE || schema_node_is_embedded(s->type.node) ||
            schema_node_property_count(s->type.node) > 0)
                return false;
        additional = schema_node_additional(s->type.node);
        return !additional || schema_node_type(additional) == SCHEMA_UNTYPED;
}

struct typed_type shape_items(const struct typed_shape *s)
{
        const struct schema_node *items;

        if (s->is_free)
                return (struct typed_type) { .kind = TYPE_UNTYPED_ATOMIC };
        if (s->type.kind == TYPE_FIXED)
                return fixed(s->type.fixed->element);
        items = schema_node_items(s->type.node);
        return items ? of_node(items, s->type.preserves) : deduced;
}

/* --- Items of associative lists --- */

static const struct value *key_default(struct typed_type items, struct str key)
{
        const struct schema_node *n;

        if (items.kind == TYPE_FIXED) {
                const struct fixed_field *f = find_fixed(items.fixed, key);

                return f ? f->default_value : NULL;
        }
        n = items.kind == TYPE_NODE ? schema_node_property(items.node, key) : NULL;
        return n ? schema_node_default(n) : NULL;
}

static int refuse_without_keys(const struct typed_shape *s, struct err *err)
{
        _cleanup_buf_ struct buf names = BUF_INIT(0);

        for (size_t i = 0; i < s->n_keys; i++) {
                if (i > 0)
                        buf_append_char(&names, ' ');
                go_append_quoted(&names, s->keys[i]);
        }
        return err_set(err, ERR_INVALID,
                       "associative list with keys has an element that omits all key fields [%s] (and doesn't have "
                       "default values for any key fields)",
                       buf_cstring(&names));
}

static int keyed_element(struct arena *a, const struct typed_shape *s, const struct value *item,
                         struct path_element *ret, struct err *err)
{
        struct typed_type items = shape_items(s);
        struct member *fields;
        uint32_t n = 0;

        if (value_is_null(item))
                return err_set(err, ERR_INVALID, "associative list with keys may not have a null element");
        if (!value_is_object(item))
                return err_set(err, ERR_INVALID, "associative list with keys may not have non-map elements");
        fields = arena_alloc(a, s->n_keys * sizeof(*fields));
        for (size_t i = 0; i < s->n_keys; i++) {
                const struct value *v = value_get(item, s->keys[i]);
                uint32_t at = n;

                if (!v)
                        v = key_default(items, s->keys[i]);
                if (!v)
                        continue;
                for (; at > 0 && str_compare(fields[at - 1].key, s->keys[i]) > 0; at--)
                        fields[at] = fields[at - 1];
                fields[at] = (struct member) { s->keys[i], *path_element_of_value(a, v).value };
                n++;
        }
        if (n == 0)
                return refuse_without_keys(s, err);
        *ret = (struct path_element) { .type = ELEMENT_KEY, .n = n, .key = fields };
        return 0;
}

int shape_element(struct arena *a, const struct typed_shape *s, const struct value *item, struct path_element *ret,
                  struct err *err)
{
        if (s->n_keys > 0)
                return keyed_element(a, s, item, ret, err);
        switch (value_type(item)) {
        case VALUE_NULL:
                return err_set(err, ERR_INVALID,
                               "associative list without keys has an element that's an explicit null");
        case VALUE_ARRAY:
                return err_set(err, ERR_INVALID, "not supported: associative list with lists as elements");
        case VALUE_OBJECT:
                return err_set(err, ERR_INVALID, "associative list without keys has an element that's a map type");
        case VALUE_BOOL:
        case VALUE_INT:
        case VALUE_DOUBLE:
        case VALUE_STRING:
                break;
        }
        *ret = (struct path_element) { .type = ELEMENT_VALUE, .value = item };
        return 0;
}

static int compare_list_items(const void *a, const void *b)
{
        const struct list_item *x = *(const struct list_item *const *)a, *y = *(const struct list_item *const *)b;
        int order = path_element_compare(&x->element, &y->element);

        return order ? order : (x->position > y->position) - (x->position < y->position);
}

static bool items_are_sorted(const struct list_items *l)
{
        for (size_t i = 1; i < l->n; i++)
                if (path_element_compare(&l->p[i - 1].element, &l->p[i].element) > 0)
                        return false;
        return true;
}

struct list_items shape_list_items(struct arena *a, const struct typed_shape *s, const struct value *list)
{
        struct list_items l = { .n = value_is_array(list) ? list->n : 0 };

        l.p = arena_alloc(a, l.n * sizeof(*l.p));
        l.sorted = arena_alloc(a, l.n * sizeof(*l.sorted));
        for (uint32_t i = 0; i < l.n; i++) {
                l.p[i] = (struct list_item) { .value = &list->items[i], .position = i };
                l.sorted[i] = &l.p[i];
                if (shape_element(a, s, &list->items[i], &l.p[i].element, NULL) < 0)
                        l.p[i].element = (struct path_element) { .type = ELEMENT_INDEX, .index = i };
        }
        if (!items_are_sorted(&l))
                qsort(l.sorted, l.n, sizeof(*l.sorted), compare_list_items);
        for (size_t i = 1; i < l.n; i++)
                if (path_element_compare(&l.sorted[i - 1]->element, &l.sorted[i]->element) == 0) {
                        l.p[l.sorted[i - 1]->position].is_duplicate = true;
                        l.p[l.sorted[i]->position].is_duplicate = true;
                }
        return l;
}
