/* Checks that defaults are valid values of their schema and contain no unknown fields. */
#include "schema-props.h"

#include "metadata.h"
#include "schema-check.h"

struct defaults {
        struct str field;
        struct field_errors *errors;
        struct arena arena; /* for pruned copies */
};

/* Checks that the value can be decoded as a resource. If it cannot, only the first such error is reported, and no others. */
static bool check_coercion(struct schema_check *c, const struct schema_node *n, const struct value *v, bool is_resource)
{
        struct schema_step root = { 0 };
        bool ok = true;

        c->only_coerces = true;
        if (is_resource && value_is_object(v))
                ok = check_resource(c, v, &root);
        if (ok)
                ok = check_embedded(c, n, v, &root);
        c->only_coerces = false;
        return ok;
}

static void check_default(struct defaults *d, const struct props *p, const struct schema_node *n, bool is_resource)
{
        struct str path = props_path(d->errors->arena, d->field, p, "default");
        struct schema_check c = { .errors = d->errors, .below = path, .is_default = true }, meta = c;
        bool is_root = p->step == STEP_ROOT && !p->embedded, ok = true;
        const struct value *dflt = p->dflt;
        struct field_errors unreadable;
        struct schema_step root = { 0 };
        unsigned matches = 0;
        size_t before;

        field_errors_init(&unreadable, d->errors->arena);
        meta.below_is_path = true;
        meta.errors = &unreadable;
        if (check_coercion(&meta, n, dflt, is_root))
                dflt = metadata_coerce_default(&d->arena, n, dflt, is_root);
        if (!node_keeps(n, &d->arena, dflt, is_resource))
                field_error_add(d->errors, FIELD_INVALID, path, dflt, "must not have unknown fields");
        if (unreadable.n) {
                field_error_add_text(d->errors, unreadable.p[0].type, unreadable.p[0].field, unreadable.p[0].text);
                return;
        }
        meta.errors = d->errors;
        if (is_root && value_is_object(dflt))
                ok = check_resource(&meta, dflt, &root);
        ok &= check_embedded(&meta, n, dflt, &root);
        if (!ok)
                return;
        before = d->errors->n;
        check_value(&c, n, dflt, NULL, &root, &matches);
        schema_errors_drop_repeats(d->errors, before);
}

/* Defaults of additional properties are not checked, and the root's own metadata has no defaults. */
static void check_below(struct defaults *d, const struct props *p, const struct schema_node *n)
{
        if (p->step == STEP_PROPERTY && p->up->step == STEP_ROOT && str_equal(p->key, STR("metadata")))
                return;
        if (p->dflt)
                check_default(d, p, n, p->embedded || p->step == STEP_ROOT);
        for (size_t i = 0; i < p->properties.n; i++) {
                struct str key;

                check_below(d, p->properties.p[i], schema_node_property_at(n, i, &key));
        }
        if (p->items)
                check_below(d, p->items, schema_node_items(n));
}

void defaults_check(const struct schema *s, const struct props *root, struct str field, struct field_errors *errors)
{
        struct defaults d = { .field = field, .errors = errors };

        arena_init(&d.arena, "defaults", 0);
        check_below(&d, root, s->root);
        arena_done(&d.arena);
}
