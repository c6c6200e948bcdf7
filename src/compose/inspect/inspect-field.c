/* Finds who set a field: the step of the pipeline, from the records of runs, and the field managers, from the object. */
#include "inspect-private.h"

#include "buf.h"
#include "json.h"
#include "owner.h"
#include "patch.h"
#include "path.h"
#include "redact.h"

/* --- The step --- */

/* Appends a path as a JSON Pointer. */
static void append_path(struct buf *b, const struct path *path)
{
        for (size_t i = 0; i < path->n; i++) {
                if (path->segments[i].is_index)
                        buf_appendf(b, "/%u", path->segments[i].index);
                else
                        json_pointer_append(b, path->segments[i].key);
        }
}

static bool is_above(struct str path, struct str below)
{
        return str_starts_with(below, path) && (below.n == path.n || below.p[path.n] == '/');
}

/* The value at a pointer below v; NULL: none. */
static const struct value *at_pointer(struct arena *a, const struct value *v, struct str pointer)
{
        struct str key;

        str_cut_prefix(&pointer, STR("/"));
        while (v && pointer.n) {
                char *text, *to;

                str_split(&pointer, '/', &key);
                text = to = arena_cstring(a, key);
                for (const char *p = text; *p; p++) {
                        bool is_escape = p[0] == '~' && (p[1] == '0' || p[1] == '1');

                        *to++ = (char)(is_escape ? (p[1] == '0' ? '~' : '/') : p[0]);
                        p += is_escape;
                }
                *to = '\0';
                v = value_is_array(v) ? value_item(v, strtoul(text, NULL, 10)) : value_get(v, str_from(text));
        }
        return v;
}

/* Whether an operation of a patch set the field, or something below it, or removed it. */
static bool is_set_by(struct arena *a, const struct value *op, struct str pointer)
{
        struct str path = value_str(value_get(op, STR("path")));

        if (!is_above(path, pointer))
                return is_above(pointer, path);
        return path.n == pointer.n || at_pointer(a, value_get(op, STR("value")), str_skip(pointer, path.n)) ||
               (str_equal(value_str(value_get(op, STR("op"))), STR("remove")) &&
                at_pointer(a, value_get(op, STR("old")), str_skip(pointer, path.n)));
}

static bool step_sets(struct arena *a, const struct value *changes, struct str pointer, const char **ret_how)
{
        for (size_t i = value_count(changes); i > 0; i--) {
                const struct value *op = value_item(changes, i - 1);

                if (!value_is_array(changes) || !is_set_by(a, op, pointer))
                        continue;
                *ret_how = str_equal(value_str(value_get(op, STR("op"))), STR("remove")) ? "removed" : "set";
                return true;
        }
        return false;
}

static struct value step_value(struct arena *a, const struct object_key *of, const struct run_record *record, size_t i,
                               const char *how)
{
        const struct value *step = value_item(value_get(record->run, STR("steps")), i);
        struct object_builder b;

        object_builder_init(&b, a, 8);
        inspect_put(&b, STR("how"), str_from(how));
        inspect_put(&b, STR("step"), value_str(value_get(step, STR("step"))));
        inspect_put(&b, STR("function"), value_str(value_get(step, STR("function"))));
        inspect_put(&b, STR("revision"), value_str(value_get(step, STR("revision"))));
        inspect_put(&b, STR("composition"), value_str(value_get(record->run, STR("composition"))));
        inspect_put(&b, STR("compositionRevision"), value_str(value_get(record->run, STR("revision"))));
        inspect_put(&b, STR("run"), value_str(value_get(record->run, STR("time"))));
        inspect_put(&b, STR("compositeKind"), of->gvk.kind);
        inspect_put(&b, STR("compositeNamespace"), of->ns);
        inspect_put(&b, STR("composite"), of->name);
        return object_builder_finish(&b);
}

/* The last step of the newest run with steps that set what the pointer names. */
static bool find_step(struct arena *a, struct run_records *records, const struct object_key *composite,
                      struct str pointer, struct value *ret)
{
        const struct run_record *found;
        size_t n = run_records_get(records, composite, SIZE_MAX, a, &found);

        for (size_t i = 0; i < n; i++) {
                const char *how;

                if (found[i].n_changes == 0)
                        continue;
                for (size_t j = found[i].n_changes; j > 0; j--)
                        if (step_sets(a, found[i].changes[j - 1], pointer, &how)) {
                                *ret = step_value(a, composite, &found[i], j - 1, how);
                                return true;
                        }
                return false;
        }
        return false;
}

static bool find_own_step(struct run *run, struct run_records *records, const struct value *object,
                          const struct path *path, struct value *ret)
{
        struct object_key key = object_key_of(object);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "/composite");
        append_path(&b, path);
        return find_step(run->arena, records, &key, buf_to_arena(&b, run->arena), ret);
}

bool inspect_controller(struct cluster *c, struct run *run, const struct value *object, struct object_key *ret)
{
        struct owner_reference owner;
        const struct value *composite;
        const struct kind *kind;

        *ret = (struct object_key) { 0 };
        if (!owner_controller(object, &owner) ||
            gvk_split_api_version(owner.api_version, &ret->gvk.group, &ret->gvk.version, NULL) < 0)
                return false;
        ret->gvk.kind = owner.kind;
        ret->name = owner.name;
        if (cluster_kind(c, run, ret->gvk, &kind, NULL) < 0)
                return false;
        if (kind->is_namespaced)
                ret->ns = meta_namespace(object);
        return cluster_get_value(c, run, ret, &composite, NULL) == 0 && str_equal(meta_uid(composite), owner.uid);
}

/* The step of the composite that controls the object, if the user may read the composite. */
static bool find_parents_step(struct cluster *c, struct run *run, struct run_records *records,
                              const struct value *object, const struct path *path, struct value *ret)
{
        struct str name = meta_annotation(object, STR("crossplane.io/composition-resource-name"));
        struct object_key key;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (name.n == 0 || !inspect_controller(c, run, object, &key))
                return false;
        buf_append_literal(&b, "/resources");
        json_pointer_append(&b, name);
        append_path(&b, path);
        return find_step(run->arena, records, &key, buf_to_arena(&b, run->arena), ret);
}

/* --- Managers --- */

/* The element of fieldsV1 for an item of a list: `k:{...}` with the item's keys, or `v:...`, or `i:N`. */
static const struct value *item_fields(struct arena *a, const struct value *fields, const struct value *item,
                                       uint32_t index)
{
        VALUE_FOREACH_MEMBER (m, fields) {
                struct str key = m->key;
                const struct value *wanted;
                bool is_equal = true;

                if (str_cut_prefix(&key, STR("k:")) && json_parse(a, key, NULL, &wanted, NULL) == 0) {
                        VALUE_FOREACH_MEMBER (k, wanted) {
                                const struct value *v = value_get(item, k->key);

                                is_equal = is_equal && v && value_equal_numeric(v, &k->value);
                        }
                        if (is_equal)
                                return &m->value;
                } else if (str_cut_prefix(&key, STR("v:")) && json_parse(a, key, NULL, &wanted, NULL) == 0) {
                        if (item && value_equal_numeric(item, wanted))
                                return &m->value;
                }
        }
        return value_get(fields, arena_printf(a, "i:%u", index));
}

static const struct value *child_of(const struct value *v, const struct path_segment *s)
{
        return s->is_index ? value_item(v, s->index) : value_get(v, s->key);
}

/* Whether the fields have the path, or an ancestor of it that is owned as a whole. */
static bool has_path(struct arena *a, const struct value *fields, const struct value *object, const struct path *path)
{
        const struct value *v = object;

        for (size_t i = 0; i < path->n; i++) {
                const struct path_segment *s = &path->segments[i];

                if (i > 0 && value_count(fields) == 0)
                        return true;
                v = child_of(v, s);
                fields = s->is_index ? item_fields(a, fields, v, s->index)
                                     : value_get(fields, ARENA_CONCAT(a, STR("f:"), s->key));
                if (!fields)
                        return false;
        }
        return true;
}

static struct value manager_value(struct arena *a, const struct value *entry)
{
        static const struct str members[] = { STR_INIT("manager"), STR_INIT("operation"), STR_INIT("subresource"),
                                              STR_INIT("time") };
        struct object_builder b;

        object_builder_init(&b, a, ARRAY_SIZE(members));
        for (size_t i = 0; i < ARRAY_SIZE(members); i++)
                inspect_put(&b, members[i], value_str(value_get(entry, members[i])));
        return object_builder_finish(&b);
}

static void put_managers(struct object_builder *b, struct arena *a, const struct value *object, const struct path *path)
{
        struct array_builder all;

        array_builder_init(&all, a, 2);
        VALUE_FOREACH_ITEM (entry, value_get(meta(object), STR("managedFields")))
                if (has_path(a, value_get(entry, STR("fieldsV1")), object, path))
                        array_builder_add(&all, manager_value(a, entry));
        if (all.n)
                object_builder_add(b, STR("managers"), array_builder_finish(&all));
}

const struct value *inspect_last_manager(const struct value *object)
{
        const struct value *last = NULL;

        VALUE_FOREACH_ITEM (entry, value_get(meta(object), STR("managedFields")))
                if (!last ||
                    str_compare(value_str(value_get(entry, STR("time"))), value_str(value_get(last, STR("time")))) >= 0)
                        last = entry;
        return last;
}

/* --- The field --- */

/* The field as the one who set it may have named it: data of a Secret is often given as stringData. */
static bool as_given(struct arena *a, const struct value *object, const struct path *path, struct path *ret)
{
        struct path_segment *segments;

        if (!str_equal(value_str(value_get(object, STR("kind"))), STR("Secret")) || path->segments[0].is_index ||
            !str_equal(path->segments[0].key, STR("data")))
                return false;
        segments = ARENA_NEW_ARRAY(a, struct path_segment, path->n);
        memcpy(segments, path->segments, path->n * sizeof(*segments));
        segments[0].key = STR("stringData");
        *ret = (struct path) { segments, path->n };
        return true;
}

static bool find_any_step(struct cluster *c, struct run *run, struct run_records *records, const struct value *object,
                          const struct path *path, struct value *ret)
{
        struct path given;

        return find_own_step(run, records, object, path, ret) ||
               find_parents_step(c, run, records, object, path, ret) ||
               (as_given(run->arena, object, path, &given) && find_parents_step(c, run, records, object, &given, ret));
}

int inspect_field(struct cluster *c, struct run *run, struct run_records *records, const struct value *object,
                  struct str field, struct value *ret, struct err *err)
{
        const struct value *v = redact_object(run->arena, object);
        struct object_builder b;
        struct value step;
        struct path path;

        str_cut_prefix(&field, STR("."));
        if (path_parse(run->arena, field, &path, NULL) < 0 || path.n == 0) {
                _cleanup_err_ struct err why = { 0 };

                path_parse(run->arena, field, &path, &why);
                return status_bad_request(err, "\"%.*s\" is not a field path such as spec.items[0].name: %s",
                                          STR_ARG(field), err_message(&why));
        }
        for (size_t i = 0; v && i < path.n; i++)
                v = child_of(v, &path.segments[i]);
        object_builder_init(&b, run->arena, 4);
        object_builder_add(&b, STR("path"), value_of_str(field));
        if (v)
                object_builder_add(&b, STR("value"), *v);
        if (find_any_step(c, run, records, object, &path, &step))
                object_builder_add(&b, STR("step"), step);
        put_managers(&b, run->arena, object, &path);
        *ret = object_builder_finish(&b);
        return 0;
}
