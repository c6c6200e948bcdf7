#include "schema-rules.h"

#include "schema-check.h"

struct rule_walk {
        struct schema_check check; /* used to report errors */
        struct str_list *warnings;
        const struct schema_rule *rules;
        size_t n_rules;
};

static void walk(struct rule_walk *w, const struct schema_node *n, const struct value *v, const struct value *old,
                 const struct schema_step *at);

static const struct schema_rule *find_rule(const struct rule_walk *w, struct str text)
{
        for (size_t i = 0; i < w->n_rules; i++)
                if (str_equal(w->rules[i].text, text))
                        return &w->rules[i];
        return NULL;
}

/* Adds `Invalid value: "a": MESSAGE`; without the value if it is an object or a list. */
static void tell(struct rule_walk *w, const struct value *rule, const struct value *v, const struct schema_step *at)
{
        struct field_errors *errors = w->check.errors;
        struct str message = value_str(value_get(rule, STR("message")));

        if (v->type < VALUE_ARRAY)
                field_error_add(errors, FIELD_INVALID, check_field(&w->check, at), v, "%.*s", STR_ARG(message));
        else
                field_error_add_text(errors, FIELD_INVALID, check_field(&w->check, at),
                                     arena_printf(errors->arena, "Invalid value: %.*s", STR_ARG(message)));
}

/* Turns the error of an old violation into a warning (ratcheting). */
static void warn(struct rule_walk *w, const struct value *rule, const struct value *v, const struct schema_step *at)
{
        struct field_errors *errors = w->check.errors;
        const struct field_error *e;

        tell(w, rule, v, at);
        e = &errors->p[--errors->n];
        str_list_printf(w->warnings, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->text));
}

static void check_rules(struct rule_walk *w, const struct schema_node *n, const struct value *v,
                        const struct value *old, const struct schema_step *at)
{
        VALUE_FOREACH_ITEM (rule, schema_node_rules(n)) {
                const struct schema_rule *known = find_rule(w, value_str(value_get(rule, STR("rule"))));

                if (!known || (known->is_transition && !old) || known->holds(v, known->is_transition ? old : NULL))
                        continue;
                if (known->is_transition || !old || !schema_value_is_unchanged(n, v, old))
                        tell(w, rule, v, at);
                else
                        warn(w, rule, v, at);
        }
}

static void walk_members(struct rule_walk *w, const struct schema_node *n, const struct value *v,
                         const struct value *old, const struct schema_step *up)
{
        const struct schema_node *additional = schema_node_additional(n);

        VALUE_FOREACH_MEMBER (m, v) {
                const struct schema_node *declared = schema_node_property(n, m->key);
                struct schema_step at = {
                        up, { m->key.n ? m->key.p : "", m->key.n }, 0, declared ? STYLE_PLAIN : STYLE_BRACKETS
                };

                walk(w, declared ? declared : additional, &m->value, value_get(old, m->key), &at);
        }
}

static void walk(struct rule_walk *w, const struct schema_node *n, const struct value *v, const struct value *old,
                 const struct schema_step *at)
{
        if (!n || !(n->flags & NODE_RULES_BELOW) || value_is_null(v))
                return;
        check_rules(w, n, v, old, at);
        if (value_is_object(v))
                walk_members(w, n, v, old, at);
        if (value_is_array(v))
                for (uint32_t i = 0; i < v->n; i++) {
                        struct schema_step item_at = { .up = at, .index = i };

                        walk(w, schema_node_items(n), &v->items[i], schema_old_item(n, old, &v->items[i]), &item_at);
                }
}

void schema_check_rules(const struct schema *s, const struct value *v, const struct value *old,
                        const struct schema_rule *rules, size_t n_rules, struct field_errors *errors,
                        struct str_list *warnings)
{
        struct rule_walk w = {
                .check = { .errors = errors }, .warnings = warnings, .rules = rules, .n_rules = n_rules
        };
        struct schema_step root = { 0 };

        if (s->has_rules && !schema_errors_block_rules(errors))
                walk(&w, s->root, v, old, &root);
}
