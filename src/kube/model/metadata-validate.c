#include "metadata.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "limits.h"
#include "name.h"
#include "owner.h"
#include "utf8.h"

#define MAX_TEXTS             4
#define MAX_SUBRESOURCE_BYTES 256

struct check {
        struct arena *arena;
        const struct kind *kind;
        const struct value *old; /* NULL on create */
        struct field_errors *errors;
        struct str_list *warnings;
};

static void add_invalid(struct check *c, const char *field, const struct value *v, struct str text)
{
        field_error_add(c->errors, FIELD_INVALID, str_from(field), v, "%.*s", STR_ARG(text));
}

static void add_texts(struct check *c, const char *field, struct str v, const struct str *texts, size_t n)
{
        struct value shown = value_of_str(v);

        for (size_t i = 0; i < n; i++)
                add_invalid(c, field, &shown, texts[i]);
}

static size_t check_name(struct arena *a, enum name_rule rule, struct str name, bool as_prefix, struct str *texts)
{
        switch (rule) {
        case NAME_SUBDOMAIN:
                return name_check_subdomain(a, name, as_prefix, texts);
        case NAME_LABEL:
                return name_check_label(a, name, as_prefix, texts);
        case NAME_PATH_SEGMENT:
                return name_check_path_segment(a, name, as_prefix, texts);
        }
        return 0;
}

static void validate_name(struct check *c, const struct kind *kind, const struct value *object)
{
        struct str name = meta_name(object), prefix = meta_str(object, STR("generateName")), texts[MAX_TEXTS];

        if (prefix.n)
                add_texts(c, "metadata.generateName", prefix, texts,
                          check_name(c->arena, kind->name_rule, prefix, true, texts));
        if (name.n == 0)
                field_error_add(c->errors, FIELD_REQUIRED, STR("metadata.name"), NULL,
                                "name or generateName is required");
        else
                add_texts(c, "metadata.name", name, texts, check_name(c->arena, kind->name_rule, name, false, texts));
}

static void validate_namespace(struct check *c, const struct kind *kind, const struct value *object)
{
        struct str ns = meta_namespace(object), texts[MAX_TEXTS];

        if (!kind->is_namespaced)
                return;
        if (ns.n == 0)
                field_error_add(c->errors, FIELD_REQUIRED, STR("metadata.namespace"), NULL, "%s", "");
        else
                add_texts(c, "metadata.namespace", ns, texts, name_check_label(c->arena, ns, false, texts));
}

static void validate_labels(struct check *c, const struct value *object)
{
        struct str texts[MAX_TEXTS];

        VALUE_FOREACH_MEMBER (m,
                              value_sorted(c->arena, value_get(meta(object), STR("labels")) ?: &value_empty_object)) {
                add_texts(c, "metadata.labels", m->key, texts, name_check_qualified(c->arena, m->key, texts));
                add_texts(c, "metadata.labels", value_str(&m->value), texts,
                          name_check_label_value(c->arena, value_str(&m->value), texts));
        }
}

static struct str lower_case(struct arena *a, struct str s)
{
        char *p = arena_alloc(a, s.n + 1);

        for (size_t i = 0; i < s.n; i++)
                p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + ('a' - 'A') : s.p[i]);
        return str_make(p, s.n);
}

static void validate_annotations(struct check *c, const struct value *object)
{
        struct str texts[MAX_TEXTS];
        size_t total = 0;

        VALUE_FOREACH_MEMBER (m, value_sorted(c->arena,
                                              value_get(meta(object), STR("annotations")) ?: &value_empty_object)) {
                add_texts(c, "metadata.annotations", m->key, texts,
                          name_check_qualified(c->arena, lower_case(c->arena, m->key), texts));
                total += m->key.n + value_str(&m->value).n;
        }
        if (total > LIMIT_ANNOTATION_BYTES)
                field_error_add(c->errors, FIELD_TOO_LONG, STR("metadata.annotations"), NULL,
                                "may not be more than %u bytes", LIMIT_ANNOTATION_BYTES);
}

static bool is_standard_finalizer(struct str name)
{
        return str_equal(name, STR("orphan")) || str_equal(name, STR("foregroundDeletion")) ||
               str_equal(name, STR("kubernetes"));
}

static bool has_domain_or_is_standard(struct str name)
{
        return str_find_char(name, '/') >= 0 || is_standard_finalizer(name);
}

static void validate_finalizer(struct check *c, struct str name)
{
        struct str texts[MAX_TEXTS];
        size_t n = name_check_qualified(c->arena, name, texts);

        add_texts(c, "metadata.finalizers", name, texts, n);
        if (n || !c->kind->is_custom || has_domain_or_is_standard(name) || meta_has_finalizer(c->old, name))
                return;
        str_list_printf(c->warnings,
                        "metadata.finalizers: %.*s: prefer a domain-qualified finalizer name to avoid accidental "
                        "conflicts with other finalizer writers",
                        STR_ARG(go_quote(c->arena, name)));
}

static void validate_finalizers(struct check *c, const struct value *object)
{
        const struct value *list = value_get(meta(object), STR("finalizers"));

        for (size_t i = 0; i < value_count(list); i++)
                validate_finalizer(c, value_str(value_item(list, i)));
        if (meta_has_finalizer(object, STR("orphan")) && meta_has_finalizer(object, STR("foregroundDeletion")))
                add_invalid(c, "metadata.finalizers", list,
                            STR("finalizer orphan and foregroundDeletion cannot be both set"));
}

static const struct value *in_struct_order(struct arena *a, const struct value *owner)
{
        static const char *const fields[] = { "apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion" };
        struct object_builder b;

        object_builder_init(&b, a, ARRAY_SIZE(fields));
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *v = value_get(owner, str_from(fields[i]));

                if (v)
                        object_builder_add(&b, str_from(fields[i]), *v);
        }
        return value_put(a, object_builder_finish(&b));
}

/* Adds an error about an owner. The owner is shown like Go's struct, with its order of members. */
static void add_owner_error(struct check *c, const struct value *shown, struct str detail)
{
        struct str json = STR("");

        if (value_is_object(shown))
                shown = in_struct_order(c->arena, shown);
        for (size_t i = 0; value_is_array(shown) && i < value_count(shown); i++)
                shown = value_with_item(c->arena, shown, i, in_struct_order(c->arena, value_item(shown, i)));
        if (json_to_str(c->arena, shown, JSON_ESCAPE_HTML, &json, NULL) < 0)
                json = STR("");
        field_error_add_text(c->errors, FIELD_INVALID, STR("metadata.ownerReferences"),
                             arena_printf(c->arena, "Invalid value: %.*s: %.*s", STR_ARG(json), STR_ARG(detail)));
}

static void validate_owner(struct check *c, const struct owner_reference *o, const struct value *shown)
{
        static const struct value empty = { .type = VALUE_STRING, .bytes = "" };
        struct value api_version = value_of_str(o->api_version);
        struct str group, version;

        if (gvk_split_api_version(o->api_version, &group, &version, NULL) < 0 || version.n == 0)
                add_invalid(c, "metadata.ownerReferences.apiVersion", &api_version, STR("version must not be empty"));
        if (o->kind.n == 0)
                add_invalid(c, "metadata.ownerReferences.kind", &empty, STR("must not be empty"));
        if (o->name.n == 0)
                add_invalid(c, "metadata.ownerReferences.name", &empty, STR("must not be empty"));
        if (o->uid.n == 0)
                add_invalid(c, "metadata.ownerReferences.uid", &empty, STR("must not be empty"));
        if (str_equal(o->api_version, STR("v1")) && str_equal(o->kind, STR("Event")))
                add_owner_error(c, shown, STR("/v1, Kind=Event is disallowed from being an owner"));
}

static void validate_owners(struct check *c, const struct value *object)
{
        const struct value *list = value_get(meta(object), STR("ownerReferences"));
        const struct owner_reference *owners, *controller = NULL;
        size_t n = owner_references(c->arena, object, &owners);

        for (size_t i = 0; i < n; i++) {
                validate_owner(c, &owners[i], value_item(list, i));
                if (!owners[i].is_controller)
                        continue;
                if (controller)
                        add_owner_error(c, list,
                                        arena_printf(c->arena,
                                                     "Only one reference can have Controller set to true. Found "
                                                     "\"true\" in references for %.*s/%.*s and %.*s/%.*s",
                                                     STR_ARG(controller->kind), STR_ARG(controller->name),
                                                     STR_ARG(owners[i].kind), STR_ARG(owners[i].name)));
                else
                        controller = &owners[i];
        }
}

void metadata_check_manager(struct field_errors *errors, struct str field, struct str manager)
{
        struct value shown = value_of_str(manager);

        if (manager.n > LIMIT_MANAGER_BYTES)
                field_error_add(errors, FIELD_TOO_LONG, field, NULL, "may not be more than %d bytes",
                                LIMIT_MANAGER_BYTES);
        for (size_t i = 0, n; i < manager.n; i += n) {
                uint32_t rune = utf8_decode(str_skip(manager, i), &n);

                if (!go_is_printable(rune))
                        field_error_add(errors, FIELD_INVALID, field, &shown,
                                        "invalid character U+%04X (at position %zu)", rune, i);
        }
}

static struct str manager_field(struct check *c, size_t i, const char *name)
{
        return arena_printf(c->arena, "metadata.managedFields[%zu].%s", i, name);
}

static bool is_printable_ascii(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] < ' ' || s.p[i] > '~')
                        return false;
        return true;
}

static void validate_manager(struct check *c, const struct value *entry, size_t i)
{
        struct str manager = value_str(value_get(entry, STR("manager")));
        struct str operation = value_str(value_get(entry, STR("operation")));
        struct str type = value_str(value_get(entry, STR("fieldsType")));
        struct value shown_operation = value_of_str(operation), shown_type = value_of_str(type);

        if (!str_equal(operation, STR("Apply")) && !str_equal(operation, STR("Update")))
                field_error_add(c->errors, FIELD_INVALID, manager_field(c, i, "operation"), &shown_operation,
                                "must be `Apply` or `Update`");
        if (type.n && !str_equal(type, STR("FieldsV1")))
                field_error_add(c->errors, FIELD_INVALID, manager_field(c, i, "fieldsType"), &shown_type,
                                "must be `FieldsV1`");
        if (manager.n > LIMIT_MANAGER_BYTES || !is_printable_ascii(manager))
                metadata_check_manager(c->errors, manager_field(c, i, "manager"), manager);
        if (value_str(value_get(entry, STR("subresource"))).n > MAX_SUBRESOURCE_BYTES)
                field_error_add(c->errors, FIELD_TOO_LONG, manager_field(c, i, "subresource"), NULL,
                                "may not be more than %d bytes", MAX_SUBRESOURCE_BYTES);
}

/* Checks the managedFields entries, because clients may write them too. */
static void validate_managers(struct check *c, const struct value *object)
{
        const struct value *list = value_get(meta(object), STR("managedFields"));

        for (size_t i = 0; i < value_count(list); i++)
                validate_manager(c, value_item(list, i), i);
}

static void validate_content(struct check *c, const struct value *object)
{
        validate_labels(c, object);
        validate_annotations(c, object);
        validate_owners(c, object);
}

void metadata_validate_finalizers(struct arena *a, const struct value *object, struct field_errors *errors)
{
        const struct value *list = value_get(meta(object), STR("finalizers"));

        for (size_t i = 0; i < value_count(list); i++)
                if (!has_domain_or_is_standard(value_str(value_item(list, i))))
                        field_error_add(errors, FIELD_INVALID, arena_printf(a, "metadata.finalizers[%zu]", i),
                                        value_item(list, i),
                                        "name is neither a standard finalizer name nor is it fully qualified");
}

void metadata_validate(struct arena *a, const struct kind *kind, const struct value *object, const struct value *old,
                       struct field_errors *errors, struct str_list *warnings)
{
        struct check c = { .arena = a, .kind = kind, .old = old, .errors = errors, .warnings = warnings };

        validate_name(&c, kind, object);
        validate_namespace(&c, kind, object);
        validate_content(&c, object);
        validate_finalizers(&c, object);
        validate_managers(&c, object);
}

static void validate_immutable(struct field_errors *errors, const struct value *object, const struct value *old,
                               const char *name)
{
        const struct value *now = value_get(meta(object), str_from(name));
        const struct value *before = value_get(meta(old), str_from(name));
        _cleanup_buf_ struct buf field = BUF_INIT(0);

        if (now == before || (now && before && value_equal(now, before)))
                return;
        buf_appendf(&field, "metadata.%s", name);
        field_error_add(errors, FIELD_INVALID, buf_str(&field), now ?: &value_null, "field is immutable");
}

static void validate_new_finalizers(struct arena *a, const struct value *object, const struct value *old,
                                    struct field_errors *errors)
{
        _cleanup_buf_ struct buf list = BUF_INIT(0);

        VALUE_FOREACH_ITEM (f, value_get(meta(object), STR("finalizers"))) {
                if (meta_has_finalizer(old, value_str(f)))
                        continue;
                if (list.n)
                        buf_append_literal(&list, ", ");
                buf_append_str(&list, go_quote(a, value_str(f)));
        }
        if (list.n)
                field_error_add(errors, FIELD_FORBIDDEN, STR("metadata.finalizers"), NULL,
                                "no new finalizers can be added if the object is being deleted, found new finalizers "
                                "[]string{%.*s}",
                                STR_ARG(buf_str(&list)));
}

void metadata_validate_update(struct arena *a, const struct value *object, const struct value *old,
                              struct field_errors *errors)
{
        struct check c = { .arena = a, .old = old, .errors = errors };
        static const char *const immutable[] = {
                "name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
        };

        if (meta_is_deleting(old))
                validate_new_finalizers(a, object, old, errors);
        for (size_t i = 0; i < ARRAY_SIZE(immutable); i++)
                validate_immutable(errors, object, old, immutable[i]);
        validate_content(&c, object);
        validate_managers(&c, object);
}

const struct value *metadata_dedupe_owners(struct arena *a, const struct value *object, bool is_admitted,
                                           struct str_list *warnings)
{
        const struct value *list = value_get(meta(object), STR("ownerReferences"));
        struct array_builder kept;
        struct str_list repeated;

        str_list_init(&repeated, a);
        array_builder_init(&kept, a, value_count(list));
        VALUE_FOREACH_ITEM (o, list) {
                bool is_new = true;

                for (size_t i = 0; i < kept.n && is_new; i++)
                        is_new = !value_equal(&kept.items[i], o);
                if (is_new)
                        array_builder_add(&kept, *o);
                else
                        str_list_add(&repeated, value_str(value_get(o, STR("uid"))));
        }
        if (repeated.n == 0)
                return object;
        str_list_printf(warnings,
                        ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in "
                        "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate "
                        "UID(s) observed: %.*s",
                        is_admitted ? " after mutating admission happens" : "",
                        STR_ARG(str_list_join(&repeated, STR(", "))));
        return meta_with(a, object, STR("ownerReferences"), value_put(a, array_builder_finish(&kept)));
}
