#include "message.h"

#include <stdlib.h>

#include "object.h"
#include "proto.h"

int fn_struct_value(struct arena *a, struct fn_struct *s, const struct value **ret, struct err *err)
{
        static const struct proto_options options = { .flags = PROTO_BORROW_BYTES };
        int r;

        if (!s->value && s->object)
                s->value = object_value(s->object, a);
        if (!s->value && s->encoded.p) {
                r = proto_decode_struct(a, s->encoded, &options, &s->value, err);
                if (r < 0)
                        return r;
        }
        *ret = s->value;
        return 0;
}

static bool has_ints(const struct value *v)
{
        if (value_is_int(v))
                return true;
        VALUE_FOREACH_MEMBER (m, v)
                if (has_ints(&m->value))
                        return true;
        VALUE_FOREACH_ITEM (item, v)
                if (has_ints(item))
                        return true;
        return false;
}

static struct value with_doubles(struct arena *a, const struct value *v)
{
        if (value_is_int(v))
                return value_of_double((double)v->integer);
        if (!has_ints(v))
                return *v;
        if (value_is_array(v)) {
                struct array_builder b;

                array_builder_init(&b, a, value_count(v));
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&b, with_doubles(a, item));
                return array_builder_finish(&b);
        }
        struct object_builder b;

        object_builder_init(&b, a, value_count(v));
        VALUE_FOREACH_MEMBER (m, v)
                object_builder_add(&b, m->key, with_doubles(a, &m->value));
        return object_builder_finish(&b);
}

const struct value *fn_value_numbers(struct arena *a, const struct value *v)
{
        return v && has_ints(v) ? value_put(a, with_doubles(a, v)) : v;
}

/* The position of the name, or the position to insert it. */
static size_t find_slot(const struct fn_state *s, struct str name, bool *ret_is_there)
{
        size_t low = 0, high = s->n_resources;

        assert(s->is_open);
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = str_compare(s->resources[middle].name, name);

                if (order == 0) {
                        *ret_is_there = true;
                        return middle;
                }
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *ret_is_there = false;
        return low;
}

const struct fn_resource *fn_state_find(const struct fn_state *s, struct str name)
{
        bool is_there;
        size_t i = find_slot(s, name, &is_there);

        return is_there ? &s->resources[i] : NULL;
}

void fn_state_set(struct arena *a, struct fn_state *s, const struct fn_resource *resource)
{
        bool is_there;
        size_t at = find_slot(s, resource->name, &is_there), n = s->n_resources + !is_there;
        struct fn_resource *copy = ARENA_NEW_ARRAY(a, struct fn_resource, n);

        if (at)
                memcpy(copy, s->resources, at * sizeof(*copy));
        copy[at] = *resource;
        if (at + 1 < n)
                memcpy(&copy[at + 1], &s->resources[at + is_there], (n - at - 1) * sizeof(*copy));
        s->resources = copy;
        s->n_resources = n;
        s->is_present = true;
        s->encoded = STR_NONE;
}

void fn_state_remove(struct arena *a, struct fn_state *s, struct str name)
{
        bool is_there;
        size_t at = find_slot(s, name, &is_there);
        struct fn_resource *copy;

        if (!is_there)
                return;
        copy = ARENA_NEW_ARRAY(a, struct fn_resource, s->n_resources);
        if (at)
                memcpy(copy, s->resources, at * sizeof(*copy));
        memcpy(&copy[at], &s->resources[at + 1], (s->n_resources - at - 1) * sizeof(*copy));
        s->resources = copy;
        s->n_resources--;
        s->encoded = STR_NONE;
}

static bool optional_equal(struct str a, struct str b)
{
        return !a.p == !b.p && str_equal(a, b);
}

bool fn_selector_equal(const struct fn_selector *a, const struct fn_selector *b)
{
        if (!str_equal(a->name, b->name) || !str_equal(a->api_version, b->api_version) ||
            !str_equal(a->kind, b->kind) || !optional_equal(a->ns, b->ns) ||
            !optional_equal(a->match_name, b->match_name) || a->has_labels != b->has_labels ||
            a->n_labels != b->n_labels)
                return false;
        for (size_t i = 0; i < a->n_labels; i++)
                if (!str_equal(a->labels[i].key, b->labels[i].key) ||
                    !str_equal(a->labels[i].value, b->labels[i].value))
                        return false;
        return true;
}

static bool selectors_equal(const struct fn_selector *a, size_t n_a, const struct fn_selector *b, size_t n_b)
{
        if (n_a != n_b)
                return false;
        for (size_t i = 0; i < n_a; i++)
                if (!fn_selector_equal(&a[i], &b[i]))
                        return false;
        return true;
}

static bool watches_equal(const struct fn_requirements *a, const struct fn_requirements *b)
{
        if (a->n_watches != b->n_watches)
                return false;
        for (size_t i = 0; i < a->n_watches; i++) {
                const struct fn_watch *x = &a->watches[i], *y = &b->watches[i];

                if (!str_equal(x->api_version, y->api_version) || !str_equal(x->kind, y->kind) ||
                    !str_equal(x->ns, y->ns) || !str_equal(x->name, y->name))
                        return false;
        }
        return true;
}

bool fn_requirements_equal(const struct fn_requirements *a, const struct fn_requirements *b)
{
        return a->is_present == b->is_present &&
               selectors_equal(a->extra_resources, a->n_extra_resources, b->extra_resources, b->n_extra_resources) &&
               selectors_equal(a->resources, a->n_resources, b->resources, b->n_resources) &&
               selectors_equal(a->schemas, a->n_schemas, b->schemas, b->n_schemas) && watches_equal(a, b);
}

void fn_response_init(struct fn_response *rsp, const struct fn_request *req)
{
        *rsp = (struct fn_response) {
                .tag = req->tag,
                .ttl_ns = FN_TTL_DEFAULT_NS,
                .desired = req->desired,
                .context = req->context,
        };
}

/* Makes room for one more element after n: a copy with twice the room at each power of two. */
static void *grown(struct arena *a, const void *p, size_t n, size_t size_bytes)
{
        void *copy;

        if (n & (n - 1))
                return (void *)p;
        copy = arena_alloc_array(a, n ? 2 * n : 1, size_bytes);
        if (n)
                memcpy(copy, p, n * size_bytes);
        return copy;
}

void fn_response_add_result(struct arena *a, struct fn_response *rsp, enum fn_severity severity, const char *format,
                            ...)
{
        va_list arguments;

        va_start(arguments, format);
        rsp->results = grown(a, rsp->results, rsp->n_results, sizeof(*rsp->results));
        rsp->results[rsp->n_results++] = (struct fn_result) {
                .severity = severity,
                .message = arena_vprintf(a, format, arguments),
                .target = FN_TARGET_COMPOSITE,
        };
        va_end(arguments);
}

void fn_response_add_condition(struct arena *a, struct fn_response *rsp, const struct fn_condition *c)
{
        rsp->conditions = grown(a, rsp->conditions, rsp->n_conditions, sizeof(*rsp->conditions));
        rsp->conditions[rsp->n_conditions++] = *c;
}

/* Requirements are sorted by name; a second one of the same name replaces the first. */
void fn_response_require(struct arena *a, struct fn_response *rsp, const struct fn_selector *selector)
{
        struct fn_requirements *r = &rsp->requirements;
        struct fn_selector *copy = ARENA_NEW_ARRAY(a, struct fn_selector, r->n_resources + 1);
        size_t at = 0, skip = 0;

        while (at < r->n_resources && str_compare(r->resources[at].name, selector->name) < 0)
                at++;
        skip = at < r->n_resources && str_equal(r->resources[at].name, selector->name);
        if (at)
                memcpy(copy, r->resources, at * sizeof(*copy));
        copy[at] = *selector;
        if (r->n_resources > at + skip)
                memcpy(&copy[at + 1], &r->resources[at + skip], (r->n_resources - at - skip) * sizeof(*copy));
        r->resources = copy;
        r->n_resources += 1 - skip;
        r->is_present = true;
}
