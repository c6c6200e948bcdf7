#include "metadata.h"

#include "buf.h"
#include "gotext.h"
#include "timetext.h"

/* The Go type of a field of ObjectMeta or one of its parts. */
enum field_type {
        TYPE_STRING,
        TYPE_INT,
        TYPE_BOOL,
        TYPE_TIME,
        TYPE_RAW,
        TYPE_STRING_MAP,
        TYPE_STRINGS,
        TYPE_STRUCTS,
};

struct struct_type;

struct field {
        const char *name;
        enum field_type type;
        bool keeps_empty; /* no omitempty: an empty string stays */
        const struct struct_type *items;
};

struct struct_type {
        const char *name;
        const char *list_name; /* the name of a slice of this type */
        const struct field *fields;
        size_t n_fields;
};

static const struct field owner_fields[] = {
        { "apiVersion", TYPE_STRING, .keeps_empty = true },
        { "kind", TYPE_STRING, .keeps_empty = true },
        { "name", TYPE_STRING, .keeps_empty = true },
        { "uid", TYPE_STRING, .keeps_empty = true },
        { "controller", TYPE_BOOL },
        { "blockOwnerDeletion", TYPE_BOOL },
};

static const struct struct_type owner_type = { "OwnerReference", "[]v1.OwnerReference", owner_fields,
                                               ARRAY_SIZE(owner_fields) };

static const struct field manager_fields[] = {
        { "manager", TYPE_STRING },     { "operation", TYPE_STRING },  { "apiVersion", TYPE_STRING },
        { "time", TYPE_TIME },          { "fieldsType", TYPE_STRING }, { "fieldsV1", TYPE_RAW },
        { "subresource", TYPE_STRING },
};

static const struct struct_type manager_type = { "ManagedFieldsEntry", "[]v1.ManagedFieldsEntry", manager_fields,
                                                 ARRAY_SIZE(manager_fields) };

static const struct field meta_fields[] = {
        { "name", TYPE_STRING },
        { "generateName", TYPE_STRING },
        { "namespace", TYPE_STRING },
        { "selfLink", TYPE_STRING },
        { "uid", TYPE_STRING },
        { "resourceVersion", TYPE_STRING },
        { "generation", TYPE_INT },
        { "creationTimestamp", TYPE_TIME },
        { "deletionTimestamp", TYPE_TIME },
        { "deletionGracePeriodSeconds", TYPE_INT, .keeps_empty = true },
        { "labels", TYPE_STRING_MAP },
        { "annotations", TYPE_STRING_MAP },
        { "ownerReferences", TYPE_STRUCTS, .items = &owner_type },
        { "finalizers", TYPE_STRINGS },
        { "managedFields", TYPE_STRUCTS, .items = &manager_type },
};

static const struct struct_type meta_type = { "ObjectMeta", "", meta_fields, ARRAY_SIZE(meta_fields) };

struct coercion {
        struct arena *arena;
        struct str root; /* `metadata`, or the path of an embedded resource's metadata */
        bool drops_bad;  /* drops fields of metadata that do not fit */
        struct str_list *unknown;
        struct err *err;
};

/* A position; it becomes text only for an error. */
struct place {
        const struct place *up;
        const struct struct_type *type; /* the struct that the field is in */
        struct str name;
        size_t index;
        bool is_item; /* item `index` of the list at the place above; `type` is the item's type */
};

/* `metadata.ownerReferences[0].uid` */
static void append_path(struct buf *b, const struct coercion *c, const struct place *at)
{
        if (!at) {
                buf_append_str(b, c->root);
                return;
        }
        append_path(b, c, at->up);
        if (at->is_item)
                buf_appendf(b, "[%zu]", at->index);
        else
                buf_appendf(b, ".%.*s", STR_ARG(at->name));
}

static void append_go_path(struct buf *b, const struct place *at)
{
        if (!at)
                return;
        append_go_path(b, at->up);
        if (!at->is_item)
                buf_appendf(b, ".%.*s", STR_ARG(at->name));
}

static const char *go_type(const struct field *f)
{
        switch (f->type) {
        case TYPE_STRING:
                return strcmp(f->name, "uid") == 0         ? "types.UID"
                       : strcmp(f->name, "operation") == 0 ? "v1.ManagedFieldsOperationType"
                                                           : "string";
        case TYPE_INT:
                return "int64";
        case TYPE_BOOL:
                return "bool";
        case TYPE_TIME:
                return "string";
        case TYPE_RAW:
                return "v1.FieldsV1";
        case TYPE_STRING_MAP:
                return "map[string]string";
        case TYPE_STRINGS:
                return "[]string";
        case TYPE_STRUCTS:
                return f->items->list_name;
        }
        return "";
}

/* Go's error for a value that does not fit: the innermost struct, then the path from the root,
 * `OwnerReference.ownerReferences.uid`. */
static int mismatch(struct coercion *c, const struct value *v, const struct place *at, const char *type)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0), number = BUF_INIT(0);

        if (value_is_double(v) && strcmp(type, "int64") == 0) {
                buf_append_char(&number, ' ');
                go_append_value(&number, v);
        }
        append_go_path(&path, at);
        return err_set(c->err, ERR_INVALID, "json: cannot unmarshal %s%.*s into Go struct field %s%.*s of type %s",
                       go_json_type(v), STR_ARG(buf_str(&number)), at->type->name, STR_ARG(buf_str(&path)), type);
}

static int coerce_struct(struct coercion *c, const struct struct_type *type, const struct value *v,
                         const struct place *at, const struct value **ret);

/* The error is about the first key, as in Go, which writes maps in the order of their keys. */
static int coerce_string_map(struct coercion *c, const struct value *v, const struct place *at,
                             const struct value **ret)
{
        const struct member *wrong = NULL;
        const struct value *result = v;

        VALUE_FOREACH_MEMBER (m, v) {
                if (value_is_null(&m->value))
                        result = value_with(c->arena, result, m->key, &value_empty_string);
                else if (!value_is_string(&m->value) && (!wrong || str_compare(m->key, wrong->key) < 0))
                        wrong = m;
        }
        if (wrong)
                return mismatch(c, &wrong->value, at, "string");
        *ret = value_count(v) ? result : NULL;
        return 0;
}

static int coerce_strings(struct coercion *c, const struct value *v, const struct place *at, const struct value **ret)
{
        const struct value *result = v;

        for (size_t i = 0; i < value_count(v); i++) {
                if (value_is_null(value_item(v, i)))
                        result = value_with_item(c->arena, result, i, &value_empty_string);
                else if (!value_is_string(value_item(v, i)))
                        return mismatch(c, value_item(v, i), at, "string");
        }
        *ret = value_count(v) ? result : NULL;
        return 0;
}

static int coerce_structs(struct coercion *c, const struct struct_type *type, const struct value *v,
                          const struct place *at, const struct value **ret)
{
        const struct value *result = v, *item;
        int r;

        for (size_t i = 0; i < value_count(v); i++) {
                struct place item_at = { .up = at, .type = type, .index = i, .is_item = true };
                const struct value *old = value_item(v, i);

                if (value_is_null(old))
                        old = &value_empty_object;
                else if (!value_is_object(old))
                        return mismatch(c, old, at, type->list_name + 2);
                r = coerce_struct(c, type, old, &item_at, &item);
                if (r < 0)
                        return r;
                if (item != value_item(v, i))
                        result = value_with_item(c->arena, result, i, item);
        }
        *ret = value_count(v) ? result : NULL;
        return 0;
}

/* Times are kept in seconds and UTC, as the API writes them. */
static int coerce_time(struct coercion *c, const struct value *v, const struct value **ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct instant t;
        int r = time_parse_rfc3339(value_str(v), &t, c->err);

        if (r < 0)
                return r;
        time_append_rfc3339(&b, t, 0);
        if (!str_equal(buf_str(&b), value_str(v)))
                v = value_put(c->arena, value_of_str(arena_copy(c->arena, buf_str(&b))));
        *ret = v;
        return 0;
}

static bool fits(const struct field *f, const struct value *v)
{
        switch (f->type) {
        case TYPE_STRING:
        case TYPE_TIME:
                return value_is_string(v);
        case TYPE_INT:
                return value_is_int(v);
        case TYPE_BOOL:
                return value_is_bool(v);
        case TYPE_RAW:
                return true;
        case TYPE_STRING_MAP:
                return value_is_object(v);
        case TYPE_STRINGS:
        case TYPE_STRUCTS:
                return value_is_array(v);
        }
        return false;
}

/* *ret is NULL when the field is removed. */
static int coerce_field(struct coercion *c, const struct field *f, const struct value *v, const struct place *at,
                        const struct value **ret)
{
        *ret = v;
        if (value_is_null(v)) {
                *ret = NULL;
                return 0;
        }
        if (!fits(f, v))
                return mismatch(c, v, at, go_type(f));
        switch (f->type) {
        case TYPE_STRING:
                if (value_str(v).n == 0 && !f->keeps_empty)
                        *ret = NULL;
                return 0;
        case TYPE_INT:
                if (value_int(v, 0) == 0 && !f->keeps_empty)
                        *ret = NULL;
                return 0;
        case TYPE_TIME:
                return coerce_time(c, v, ret);
        case TYPE_STRING_MAP:
                return coerce_string_map(c, v, at, ret);
        case TYPE_STRINGS:
                return coerce_strings(c, v, at, ret);
        case TYPE_STRUCTS:
                return coerce_structs(c, f->items, v, at, ret);
        case TYPE_BOOL:
        case TYPE_RAW:
                return 0;
        }
        return 0;
}

static const struct field *find_field(const struct struct_type *type, struct str name)
{
        for (size_t i = 0; i < type->n_fields; i++)
                if (str_equal(name, str_from(type->fields[i].name)))
                        return &type->fields[i];
        return NULL;
}

/* Adds the fields without omitempty: they exist even if the client did not set them. */
static const struct value *add_missing(struct coercion *c, const struct struct_type *type, const struct value *v)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const struct field *f = &type->fields[i];

                if (f->keeps_empty && f->type == TYPE_STRING && !value_get(v, str_from(f->name)))
                        v = value_with(c->arena, v, str_from(f->name), &value_empty_string);
        }
        return v;
}

static void add_unknown(struct coercion *c, const struct place *at)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!c->unknown)
                return;
        append_path(&b, c, at);
        str_list_add(c->unknown, arena_copy(c->arena, buf_str(&b)));
}

static int coerce_struct(struct coercion *c, const struct struct_type *type, const struct value *v,
                         const struct place *up, const struct value **ret)
{
        const struct value *result = v, *field;
        int r;

        VALUE_FOREACH_MEMBER (m, v) {
                const struct field *f = find_field(type, m->key);
                struct place at = { .up = up, .type = type, .name = m->key };

                if (!f) {
                        add_unknown(c, &at);
                        result = value_without(c->arena, result, m->key);
                        continue;
                }
                r = coerce_field(c, f, &m->value, &at, &field);
                if (r < 0 && !(c->drops_bad && !up))
                        return r;
                if (r < 0 || !field)
                        result = value_without(c->arena, result, m->key);
                else if (field != &m->value)
                        result = value_with(c->arena, result, m->key, field);
        }
        *ret = add_missing(c, type, result);
        return 0;
}

int metadata_coerce_at(struct arena *a, const struct value *metadata, struct str path, struct str_list *unknown,
                       const struct value **ret, struct err *err)
{
        struct coercion c = { .arena = a, .root = path, .unknown = unknown, .err = err };

        if (!metadata || value_is_null(metadata)) {
                *ret = &value_empty_object;
                return 0;
        }
        if (!value_is_object(metadata))
                return err_set(err, ERR_INVALID, "json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
                               go_json_type(metadata));
        return coerce_struct(&c, &meta_type, metadata, NULL, ret);
}

int metadata_coerce(struct arena *a, const struct value *metadata, struct str_list *unknown, const struct value **ret,
                    struct err *err)
{
        return metadata_coerce_at(a, metadata, STR("metadata"), unknown, ret, err);
}

const struct value *metadata_coerce_fitting(struct arena *a, const struct value *metadata)
{
        struct coercion c = { .arena = a, .drops_bad = true };

        if (value_is_null(metadata))
                return &value_empty_object;
        if (value_is_object(metadata))
                coerce_struct(&c, &meta_type, metadata, NULL, &metadata);
        return metadata;
}
