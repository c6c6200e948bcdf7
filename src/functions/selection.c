#include "selection.h"

#include <stdlib.h>

#include "gotext.h"
#include "path.h"

static const struct input_field label_fields[] = {
        { "type", INPUT_STRING, offsetof(struct selection_label, type) },
        { "key", INPUT_STRING, offsetof(struct selection_label, key) },
        { "valueFromFieldPath", INPUT_STRING, offsetof(struct selection_label, value_from_field_path) },
        { "value", INPUT_STRING, offsetof(struct selection_label, value) },
        { "fromFieldPathPolicy", INPUT_STRING, offsetof(struct selection_label, from_field_path_policy) },
};
const struct input_type selection_label_type = INPUT_TYPE(struct selection_label, label_fields);

static const struct input_field ref_fields[] = {
        { "name", INPUT_STRING, offsetof(struct selection_ref, name) },
};
const struct input_type selection_ref_type = INPUT_TYPE(struct selection_ref, ref_fields);

static const struct input_field policy_fields[] = {
        { "resolution", INPUT_STRING, offsetof(struct selection_policy, resolution) },
};
const struct input_type selection_policy_type = INPUT_TYPE(struct selection_policy, policy_fields);

enum selection_type selection_type(struct str type)
{
        if (type.n == 0 || str_equal(type, STR("Reference")))
                return SELECTION_REFERENCE;
        return str_equal(type, STR("Selector")) ? SELECTION_SELECTOR : SELECTION_UNKNOWN;
}

bool selection_is_optional(const struct selection_policy *policy)
{
        return policy && str_equal(policy->resolution, STR("Optional"));
}

/* --- Entries of maps --- */

struct named {
        struct str name;
        const char *entry;
};

static int compare_named(const void *a, const void *b)
{
        const struct named *x = a, *y = b;
        int order = str_compare(x->name, y->name);

        return order ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

static_assert(offsetof(struct fn_label, key) == 0, "a label begins with its key");
static_assert(offsetof(struct fn_selector, name) == 0, "a selector begins with its name");

/* A copy of the entries, sorted by name; each entry begins with its name. Of equal names, the last one counts. */
static void *sort_entries(struct arena *a, const void *entries, size_t *n, size_t size_bytes)
{
        struct named *order = ARENA_NEW_ARRAY(a, struct named, *n + 1);
        char *sorted = arena_alloc_array(a, *n + 1, size_bytes);
        size_t n_kept = 0;

        for (size_t i = 0; i < *n; i++) {
                const char *entry = (const char *)entries + i * size_bytes;

                order[i] = (struct named) { *(const struct str *)entry, entry };
        }
        qsort(order, *n, sizeof(*order), compare_named);
        for (size_t i = 0; i < *n; i++)
                if (i + 1 == *n || !str_equal(order[i].name, order[i + 1].name))
                        memcpy(sorted + n_kept++ * size_bytes, order[i].entry, size_bytes);
        *n = n_kept;
        return sorted;
}

/* --- Labels --- */

/* Returns 1 with the value, or 0 for a label that is left out. */
static int label_value(struct arena *a, const struct selection_label *label, const struct value *composite,
                       struct str *ret, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };

        if (str_equal(label->type, STR("Value"))) {
                if (!label->value.p)
                        return err_set(err, ERR_INVALID, "Value cannot be nil for type 'Value'");
                *ret = label->value;
                return 1;
        }
        if (label->type.n && !str_equal(label->type, STR("FromCompositeFieldPath")))
                return 0;
        if (!label->value_from_field_path.p)
                return err_set(err, ERR_INVALID, "ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'");
        if (path_get_string(a, composite, label->value_from_field_path, ret, &problem) >= 0)
                return 1;
        if (str_equal(label->from_field_path_policy, STR("Optional")))
                return 0;
        err_move(err, &problem);
        return err_wrap(err, "cannot get value from field path %.*s",
                        STR_ARG(go_quote(a, label->value_from_field_path)));
}

/* Puts the labels of a selector, sorted by key, into *ret; values may come from the observed composite resource. If there are no
 * labels, has_labels is false. */
static int add_labels(struct arena *a, const struct selection_selector *selector, const struct value *composite,
                      struct fn_selector *ret, struct err *err)
{
        struct fn_label *labels = ARENA_NEW_ARRAY(a, struct fn_label, selector->labels.n + 1);
        const struct selection_label *label;
        size_t n = 0;

        INPUT_FOREACH (label, &selector->labels) {
                struct str value;
                int r = label_value(a, label, composite, &value, err);

                if (r < 0)
                        return r;
                if (r > 0)
                        labels[n++] = (struct fn_label) { label->key.p ? label->key : STR(""), value };
        }
        ret->labels = sort_entries(a, labels, &n, sizeof(*labels));
        ret->n_labels = n;
        ret->has_labels = n > 0;
        return 0;
}

/* The observed composite resource; {} if there is none. */
static int find_composite(struct arena *a, struct fn_request *req, const struct value **ret, struct err *err)
{
        int r = fn_state_open(a, &req->observed, err);

        if (r < 0)
                return r;
        r = fn_struct_value(a, &req->observed.composite.object, ret, err);
        if (r >= 0 && !*ret)
                *ret = &value_empty_object;
        return r;
}

/* Returns 1 with the selector, or 0 for a source that is left out. */
static int select_from(struct arena *a, const struct selection_source *source, const struct value *composite,
                       struct fn_selector *ret, struct err *err)
{
        struct fn_selector s = source->wanted;
        enum selection_type type = selection_type(source->type);
        int r;

        if (type == SELECTION_UNKNOWN)
                return 0;
        if (type == SELECTION_REFERENCE) {
                if (!source->ref)
                        return err_set(err, ERR_INVALID, "ref cannot be nil for type 'Reference' of %.*s",
                                       STR_ARG(source->label));
                s.match_name = source->ref->name.p ? source->ref->name : STR("");
        } else {
                if (!source->selector)
                        return err_set(err, ERR_INVALID, "selector cannot be nil for type 'Selector' of %.*s",
                                       STR_ARG(source->label));
                r = add_labels(a, source->selector, composite, &s, err);
                if (r < 0 || !s.has_labels)
                        return r;
        }
        *ret = s;
        return 1;
}

int selection_require(struct arena *a, struct fn_request *req, const struct selection_source *sources, size_t n,
                      struct fn_response *rsp, struct err *err)
{
        struct fn_selector *selectors = ARENA_NEW_ARRAY(a, struct fn_selector, n + 1);
        const struct value *composite;
        size_t n_selectors = 0;
        int r = find_composite(a, req, &composite, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                r = select_from(a, &sources[i], composite, &selectors[n_selectors], err);
                if (r > 0)
                        n_selectors++;
                if (r < 0 || (r = arena_check(a, err)) < 0)
                        return r;
        }
        rsp->requirements.resources = sort_entries(a, selectors, &n_selectors, sizeof(*selectors));
        rsp->requirements.n_resources = n_selectors;
        rsp->requirements.is_present = true;
        return 0;
}

/* --- Resources --- */

int selection_find(struct arena *a, struct fn_request *req, struct str name, struct selection **ret, struct err *err)
{
        const struct fn_resources *found = NULL;
        struct selection *s;

        for (size_t i = 0; i < req->required_resources.n; i++)
                if (str_equal(req->required_resources.p[i].name, name))
                        found = &req->required_resources.p[i];
        *ret = NULL;
        if (!found)
                return 0;
        s = ARENA_NEW(a, struct selection);
        s->p = ARENA_NEW_ARRAY(a, const struct value *, found->n_items + 1);
        for (; s->n < found->n_items; s->n++) {
                struct fn_struct object = found->items[s->n].object;
                const struct value *v;
                int r = fn_struct_value(a, &object, &v, err);

                if (r < 0)
                        return r;
                s->p[s->n] = v ? fn_value_numbers(a, v) : &value_empty_object;
        }
        *ret = s;
        return 0;
}

/* --- Sorting --- */

struct sortable {
        const struct value *object;
        const struct value *key; /* NULL: missing */
        size_t position;
};

/* Go's reflect.Kind for the value. */
static const char *kind_name(const struct value *v)
{
        static const char *const names[] = { "invalid", "bool", "float64", "float64", "string", "slice", "map" };

        return names[value_type(v)];
}

static int compare_keys(const struct value *a, const struct value *b)
{
        double x = value_double(a, 0), y = value_double(b, 0);

        if (value_is_string(a) || value_is_string(b))
                return str_compare(value_str(a), value_str(b));
        return (x > y) - (x < y);
}

/* Equal keys are compared by position, so that the order is stable. */
static int compare(const void *a, const void *b)
{
        const struct sortable *x = a, *y = b;
        int order = compare_keys(x->key, y->key);

        return order ? order : (x->position > y->position) - (x->position < y->position);
}

static int read_keys(struct arena *a, const struct selection *s, struct str path, struct sortable *items,
                     const struct value **ret_first, struct err *err)
{
        for (size_t i = 0; i < s->n; i++) {
                _cleanup_err_ struct err problem = { 0 };
                const struct value *key = NULL;
                int r = path_get(a, s->p[i], path, &key, &problem);

                if (r < 0 && r != ERR_NOT_FOUND)
                        return err_move(err, &problem);
                if (r < 0 || value_is_null(key))
                        key = NULL;
                if (key && *ret_first && !str_equal(go_type_name(*ret_first), go_type_name(key)))
                        return err_set(err, ERR_INVALID, "cannot sort values of different types \"%.*s\" and \"%.*s\"",
                                       STR_ARG(go_type_name(*ret_first)), STR_ARG(go_type_name(key)));
                if (!*ret_first)
                        *ret_first = key;
                items[i] = (struct sortable) { s->p[i], key, i };
        }
        return 0;
}

int selection_sort(struct arena *a, struct selection *s, struct str path, bool names_kinds, struct err *err)
{
        struct sortable *items = ARENA_NEW_ARRAY(a, struct sortable, s->n + 1);
        const struct value *first = NULL;
        int r = read_keys(a, s, path.n ? path : STR("metadata.name"), items, &first, err);

        if (r < 0)
                return r;
        if (s->n < 2 || !first)
                return 0;
        if (!value_is_string(first) && !value_is_number(first))
                return err_set(err, ERR_INVALID, "unsupported type \"%.*s\" for sorting",
                               STR_ARG(names_kinds ? str_from(kind_name(first)) : go_type_name(first)));
        qsort(items, s->n, sizeof(*items), compare);
        for (size_t i = 0; i < s->n; i++)
                s->p[i] = items[i].object;
        return 0;
}

void selection_cut(struct selection *s, const struct selection_selector *selector)
{
        if (selector->max_match.is_set && (uint64_t)selector->max_match.value < s->n)
                s->n = (size_t)selector->max_match.value;
}
