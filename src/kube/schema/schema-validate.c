/* Validation of whole objects: first the schema, then the rules of list types and embedded resources. */
#include "schema.h"

#include "schema-check.h"

/* Reports all errors. */
static void tell(struct schema_check *c, const struct schema_node *n, const struct value *v, const struct value *old)
{
        struct schema_step root = { 0 };
        unsigned matches = 0;
        size_t before = c->errors->n;

        if (old && schema_value_is_unchanged(n, v, old))
                return;
        check_value(c, n, v, old, &root, &matches);
        schema_errors_drop_repeats(c->errors, before);
}

static bool is_valid(const struct schema_node *n, const struct value *v)
{
        struct schema_check quiet = { 0 };
        struct schema_step root = { 0 };
        unsigned matches = 0;

        return check_value(&quiet, n, v, NULL, &root, &matches);
}

static bool lists_are_valid(const struct schema_node *n, const struct value *v)
{
        struct schema_check quiet = { 0 };
        struct schema_step root = { 0 };

        return check_lists(&quiet, n, v, &root);
}

bool schema_errors_block_rules(const struct field_errors *errors)
{
        for (size_t i = 0; i < errors->n; i++)
                switch (errors->p[i].type) {
                case FIELD_REQUIRED:
                case FIELD_TYPE_INVALID:
                case FIELD_NOT_SUPPORTED:
                case FIELD_TOO_LONG:
                case FIELD_TOO_MANY:
                        return true;
                case FIELD_INVALID:
                case FIELD_DUPLICATE:
                case FIELD_FORBIDDEN:
                case FIELD_NOT_FOUND:
                case FIELD_INTERNAL:
                        break;
                }
        return false;
}

void schema_validate(const struct schema *s, const struct value *v, const struct value *old, struct str below,
                     struct field_errors *errors)
{
        struct schema_check c = { .errors = errors, .below = below }, whole = { .errors = errors };
        const struct schema_node *n = below.n ? schema_node_property(s->root, below) : s->root;
        const struct value *part = below.n ? value_get(v, below) : v;
        struct schema_step root = { 0 };

        if (n && part && !is_valid(n, part))
                tell(&c, n, part, below.n ? value_get(old, below) : old);
        if (!below.n)
                check_embedded(&whole, s->root, v, &root);
        if (s->root->flags & NODE_LIST_RULES_BELOW && (!old || lists_are_valid(s->root, old)))
                check_lists(&whole, s->root, v, &root);
        if (s->has_rules && schema_errors_block_rules(errors))
                field_error_add(errors, FIELD_INVALID, STR(""), NULL,
                                "some validation rules were not checked because the object was invalid; correct the "
                                "existing errors to complete validation");
}
