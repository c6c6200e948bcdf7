/* Objects, arrays and alternatives: the walk over value and schema. The order of checks, the count of applied parts and the choice
 * of the reported alternative follow Kubernetes. */
#include "schema-check.h"

#include "buf.h"
#include "map.h"
#include "schema-formats.h"

#include <stdarg.h>
#include <stdio.h>

/* Reporting */

struct str check_path(struct schema_check *c, const struct schema_step *at)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        step_append(&b, at);
        return buf_to_arena(&b, c->errors->arena);
}

static bool starts_with_index(const struct schema_step *at)
{
        while (at->up && at->up->up)
                at = at->up;
        return at->up && !at->key.p;
}

struct str check_field(struct schema_check *c, const struct schema_step *at)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_str(&b, c->below);
        if (b.n > 0 && !c->below_is_path && starts_with_index(at))
                buf_append_char(&b, '.');
        step_append(&b, at);
        return buf_to_arena(&b, c->errors->arena);
}

static _printf_(2, 0) struct str format_text(struct arena *a, const char *format, va_list arguments)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendv(&b, format, arguments);
        return buf_to_arena(&b, a);
}

bool check_fail(struct schema_check *c, enum field_error_type type, const struct schema_step *at, const struct value *v,
                const char *format, ...)
{
        va_list arguments;
        struct str text;

        if (!c->errors)
                return false;
        va_start(arguments, format);
        text = format_text(c->errors->arena, format, arguments);
        va_end(arguments);
        field_error_add(c->errors, type, check_field(c, at), v, "%.*s", STR_ARG(text));
        return false;
}

bool check_fail_nowhere(struct schema_check *c, const char *format, ...)
{
        va_list arguments;
        struct str text;

        if (!c->errors)
                return false;
        va_start(arguments, format);
        text = format_text(c->errors->arena, format, arguments);
        va_end(arguments);
        field_error_add(c->errors, FIELD_INVALID, c->below, &value_empty_string, "%.*s", STR_ARG(text));
        return false;
}

void schema_errors_drop_repeats(struct field_errors *errors, size_t from)
{
        _cleanup_map_ struct map seen = { 0 };
        size_t n = from;

        for (size_t i = from; i < errors->n; i++) {
                const struct field_error *e = &errors->p[i];
                struct str key = arena_printf(errors->arena, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->text));

                if (map_add(&seen, key, errors))
                        errors->p[n++] = *e;
        }
        errors->n = n;
}

#define P(c, at) STR_ARG((c)->errors ? check_path((c), (at)) : STR(""))

/* Ratcheting */

static const struct value *key_of(const struct value *item, const struct schema_node *items, struct str key)
{
        const struct value *v = value_get(item, key);
        const struct schema_node *n = v ? NULL : schema_node_property(items, key);

        return n ? schema_node_default(n) : v;
}

static bool same_keys(const struct value *a, const struct value *b, const struct schema_node *items,
                      const struct str *keys, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct value *x = key_of(a, items, keys[i]), *y = key_of(b, items, keys[i]);

                if (!x || !y || x->type >= VALUE_ARRAY || !value_equal(x, y))
                        return false;
        }
        return true;
}

const struct value *schema_old_item(const struct schema_node *n, const struct value *old, const struct value *item)
{
        const struct schema_node *items = schema_node_items(n);
        const struct str *keys;
        size_t n_keys;

        if (!old || !value_is_object(item) || n->list_type != SCHEMA_LIST_MAP)
                return NULL;
        n_keys = schema_node_list_keys(n, &keys);
        VALUE_FOREACH_ITEM (candidate, old)
                if (value_is_object(candidate) && same_keys(candidate, item, items, keys, n_keys))
                        return candidate;
        return NULL;
}

static bool members_are_unchanged(const struct schema_node *n, const struct value *v, const struct value *old)
{
        const struct schema_node *additional = n->flags & NODE_ADDITIONAL_TRUE ? NULL : schema_node_additional(n);

        VALUE_FOREACH_MEMBER (m, v) {
                const struct schema_node *child = schema_node_property(n, m->key);
                const struct value *before = value_get(old, m->key);

                child = child ? child : additional;
                if (!child || !before || !schema_value_is_unchanged(child, &m->value, before))
                        return false;
        }
        return true;
}

bool schema_value_is_unchanged(const struct schema_node *n, const struct value *v, const struct value *old)
{
        const struct schema_node *items = schema_node_items(n);

        if (v->type != old->type || v->type < VALUE_ARRAY || v->n != old->n)
                return value_equal(v, old);
        if (v->type == VALUE_OBJECT)
                return members_are_unchanged(n, v, old);
        if (n->list_type != SCHEMA_LIST_MAP)
                return value_equal(v, old);
        VALUE_FOREACH_ITEM (item, v) {
                const struct value *before = schema_old_item(n, old, item);

                if (!before || !schema_value_is_unchanged(items, item, before))
                        return false;
        }
        return true;
}

/* Checks a member or an item. Errors at an unchanged value are not reported. */
static bool check_child(struct schema_check *c, const struct schema_node *n, const struct value *v,
                        const struct value *old, const struct schema_step *at, unsigned *matches)
{
        size_t before = c->errors ? c->errors->n : 0;

        if (check_value(c, n, v, old, at, matches))
                return true;
        if (!old || !schema_value_is_unchanged(n, v, old))
                return false;
        c->errors->n = before;
        return true;
}

/* Objects */

static bool check_counts(struct schema_check *c, const struct schema_node *n, const struct value *v,
                         const struct schema_step *at, const char *things)
{
        const struct extra *x = node_extra(n);
        bool is_array = value_is_array(v);
        const union extra_content *low = extra_get(x, is_array ? EXTRA_MIN_ITEMS : EXTRA_MIN_PROPERTIES);
        const union extra_content *high = extra_get(x, is_array ? EXTRA_MAX_ITEMS : EXTRA_MAX_PROPERTIES);
        struct value count = value_of_int(v->n);
        bool ok = true;

        if (low && v->n < low->integer)
                ok = check_fail(c, FIELD_INVALID, at, &count, "%.*s in body should have at least %lld %s", P(c, at),
                                (long long)low->integer, things);
        if (high && v->n > high->integer) {
                if (high->integer < 0)
                        ok = check_fail(c, FIELD_TOO_MANY, at, &count, "has too many items");
                else
                        ok = check_fail(c, FIELD_TOO_MANY, at, &count, "must have at most %lld item%s",
                                        (long long)high->integer, high->integer == 1 ? "" : "s");
        }
        return ok;
}

static bool require(struct schema_check *c, const struct value *v, struct str key, const struct schema_step *up)
{
        struct schema_step at = { up, key, 0 };

        if (value_get(v, key))
                return true;
        return check_fail(c, FIELD_REQUIRED, &at, NULL, "%s", "");
}

static bool check_required(struct schema_check *c, const struct schema_node *n, const struct value *v,
                           uint32_t n_present, const struct schema_step *at)
{
        const union extra_content *rest = extra_get(node_extra(n), EXTRA_REQUIRED);
        const struct schema_entry *e = node_entries(n);
        bool ok = true;

        for (uint32_t i = 0; n_present < n->n_required && i < n->n_properties; i++)
                if (e[i].flags & ENTRY_REQUIRED)
                        ok &= require(c, v, entry_name(&e[i]), at);
        for (uint64_t i = 0; rest && i < rest->strings->n; i++)
                ok &= require(c, v, rest->strings->p[i], at);
        return ok;
}

static bool check_member(struct schema_check *c, const struct schema_node *child, bool is_declared,
                         const struct member *m, const struct value *old, const struct schema_step *up,
                         unsigned *matches)
{
        struct schema_step at = {
                up, { m->key.n ? m->key.p : "", m->key.n }, 0, is_declared ? STYLE_PLAIN : STYLE_DOT
        };
        struct value key;

        if (child)
                return check_child(c, child, &m->value, value_get(old, m->key), &at, matches);
        key = value_of_str(m->key);
        return check_fail(c, FIELD_INVALID, up, &key, "%.*s.%.*s in body is a forbidden property", P(c, up),
                          STR_ARG(m->key));
}

static bool check_object(struct schema_check *c, const struct schema_node *n, const struct value *v,
                         const struct value *old, const struct schema_step *at, unsigned *matches)
{
        const struct schema_node *additional = schema_node_additional(n);
        uint32_t cursor = 0, n_required = 0;
        bool ok = true;

        for (uint32_t i = 0; i < v->n; i++) {
                const struct schema_entry *e = n->n_properties ? node_find_entry(n, v->members[i].key, &cursor) : NULL;
                const struct schema_node *child = e ? node_at(e, e->node) : additional;

                n_required += e && e->flags & ENTRY_REQUIRED;
                if (!child && !(n->flags & NODE_ADDITIONAL_FALSE))
                        continue;
                ok &= check_member(c, child, e, &v->members[i], old, at, matches);
                if (!ok && !c->errors)
                        return false;
        }
        if (n_required < n->n_required || n->extra)
                ok &= check_required(c, n, v, n_required, at);
        return n->extra ? check_counts(c, n, v, at, "properties") & ok : ok;
}

static bool check_array(struct schema_check *c, const struct schema_node *n, const struct value *v,
                        const struct value *old, const struct schema_step *up, unsigned *matches)
{
        const struct schema_node *items = schema_node_items(n);
        bool ok = true;

        for (uint32_t i = 0; items && i < v->n; i++) {
                struct schema_step at = { .up = up, .index = i };

                ok &= check_child(c, items, &v->items[i], schema_old_item(n, old, &v->items[i]), &at, matches);
                if (!ok && !c->errors)
                        return false;
        }
        return n->extra ? check_counts(c, n, v, up, "items") & ok : ok;
}

/* Alternatives. Their errors are reported even for unchanged values: ratcheting does not apply inside them. */

struct group {
        struct schema_check *check;
        const struct value *value;
        const struct schema_step *at;
        unsigned *matches;
};

static void drop_errors(struct schema_check *c, size_t n)
{
        if (c->errors)
                c->errors->n = n;
}

static size_t n_errors(const struct schema_check *c)
{
        return c->errors ? c->errors->n : 0;
}

/* Replaces the errors in [to, from) by those in [from, n). */
static void keep_last(struct schema_check *c, size_t to, size_t from)
{
        if (!c->errors)
                return;
        memmove(c->errors->p + to, c->errors->p + from, (c->errors->n - from) * sizeof(*c->errors->p));
        c->errors->n -= from - to;
}

static bool check_all_of(struct group *g, const struct node_set *set)
{
        size_t n_valid = 0;

        for (uint64_t i = 0; i < set->n; i++) {
                n_valid += check_value(g->check, set->p[i], g->value, NULL, g->at, g->matches);
                if (n_valid <= i && !g->check->errors)
                        return false;
        }
        if (n_valid == set->n)
                return true;
        return check_fail_nowhere(g->check, "\"%.*s\" must validate all the schemas (allOf)%s", P(g->check, g->at),
                                  n_valid == 0 ? ". None validated" : "");
}

/* Runs the alternatives until `enough` are valid. Returns the number of valid ones. If none is valid, the errors of the best
 * failing alternative stay in the list; otherwise no errors are left. */
static size_t try_alternatives(struct group *g, const struct node_set *set, size_t enough)
{
        size_t start = n_errors(g->check), n_valid = 0;
        unsigned best = 0; /* the most matches: of failing alternatives, then of the first valid one */
        bool has_best = false;

        for (uint64_t i = 0; i < set->n && n_valid < enough; i++) {
                size_t before = n_errors(g->check);
                unsigned matches = 0;

                if (check_value(g->check, set->p[i], g->value, NULL, g->at, &matches)) {
                        best = n_valid++ == 0 ? matches : best;
                        drop_errors(g->check, start);
                } else if (n_valid == 0 && (!has_best || matches > best)) {
                        keep_last(g->check, start, before);
                        best = matches;
                        has_best = true;
                } else {
                        drop_errors(g->check, before);
                }
        }
        if (n_valid < 2)
                *g->matches += best;
        return n_valid;
}

static bool check_any_of(struct group *g, const struct node_set *set)
{
        if (try_alternatives(g, set, 1) > 0)
                return true;
        return check_fail_nowhere(g->check, "\"%.*s\" must validate at least one schema (anyOf)", P(g->check, g->at));
}

static bool check_one_of(struct group *g, const struct node_set *set)
{
        size_t n_valid = try_alternatives(g, set, g->check->errors ? SIZE_MAX : 2);

        if (n_valid == 1)
                return true;
        if (n_valid == 0)
                return check_fail_nowhere(g->check,
                                          "\"%.*s\" must validate one and only one schema (oneOf). Found none valid",
                                          P(g->check, g->at));
        return check_fail_nowhere(
                g->check, "\"%.*s\" must validate one and only one schema (oneOf). Found %zu valid alternatives",
                P(g->check, g->at), n_valid);
}

static bool check_not(struct group *g, const struct node_set *set)
{
        struct schema_check quiet = { .is_default = g->check->is_default };
        unsigned matches = 0;

        if (!check_value(&quiet, set->p[0], g->value, NULL, g->at, &matches))
                return true;
        return check_fail_nowhere(g->check, "\"%.*s\" must not validate the schema (not)", P(g->check, g->at));
}

static bool check_groups(struct group *g, const struct schema_node *n)
{
        const struct extra *x = node_extra(n);
        const union extra_content *all = extra_get(x, EXTRA_ALL_OF), *any = extra_get(x, EXTRA_ANY_OF),
                                  *one = extra_get(x, EXTRA_ONE_OF), *not_ = extra_get(x, EXTRA_NOT);
        bool ok = true;

        if (any)
                ok &= check_any_of(g, any->nodes);
        if (one)
                ok &= check_one_of(g, one->nodes);
        if (all)
                ok &= check_all_of(g, all->nodes);
        if (not_)
                ok &= check_not(g, not_->nodes);
        return ok;
}

/* The number of schema parts that apply to a value of this type, counted like Kubernetes. */
static unsigned count_applied(const struct schema_check *c, const struct schema_node *n, const struct value *v)
{
        unsigned format = check_string_format(c, n), count = 3;

        count += check_node_type(c, n) != SCHEMA_UNTYPED || (n->extra && check_node_format(c, n) != FORMAT_NONE);
        if (value_is_string(v))
                return count + 1 + (format != FORMAT_NONE && format != FORMAT_UNKNOWN);
        return count + (v->type == VALUE_BOOL ? 0 : v->type == VALUE_OBJECT ? 1 : 2);
}

bool check_value(struct schema_check *c, const struct schema_node *n, const struct value *v, const struct value *old,
                 const struct schema_step *at, unsigned *matches)
{
        bool ok = check_type(c, n, v, at);

        if (!ok && !c->errors)
                return false;
        if (v->type != VALUE_NULL)
                *matches += count_applied(c, n, v);
        if (n->flags & NODE_CHECKS) {
                struct group g = { c, v, at, matches };

                ok &= check_enum(c, n, v, at);
                if (v->type != VALUE_NULL)
                        ok &= check_groups(&g, n);
                if (!ok && !c->errors)
                        return false;
        }
        switch ((enum value_type)v->type) {
        case VALUE_NULL:
        case VALUE_BOOL:
                return ok;
        case VALUE_INT:
        case VALUE_DOUBLE:
                return check_number(c, n, v, at) & ok;
        case VALUE_STRING:
                return (n->extra ? check_string(c, n, value_str(v), at) : true) & ok;
        case VALUE_ARRAY:
                return check_array(c, n, v, old, at, matches) & ok;
        case VALUE_OBJECT:
                return check_object(c, n, v, old, at, matches) & ok;
        }
        return ok;
}

bool check_members(struct schema_check *c, const struct schema_node *n, const struct value *v,
                   const struct schema_step *up, uint16_t flag,
                   bool (*check)(struct schema_check *c, const struct schema_node *n, const struct value *v,
                                 const struct schema_step *at))
{
        const struct schema_node *additional = schema_node_additional(n);
        uint32_t cursor = 0;
        bool ok = true;

        for (uint32_t i = 0; i < v->n; i++) {
                const struct member *m = &v->members[i];
                const struct schema_entry *e = n->n_properties ? node_find_entry(n, m->key, &cursor) : NULL;
                const struct schema_node *child = e ? node_at(e, e->node) : additional;
                struct schema_step at = {
                        up, { m->key.n ? m->key.p : "", m->key.n }, 0, e ? STYLE_PLAIN : STYLE_BRACKETS
                };

                if (child && child->flags & flag && m->value.type >= VALUE_ARRAY)
                        ok &= check(c, child, &m->value, &at);
        }
        return ok;
}
