/* The hand-over from client-side apply: there kubectl kept the applied configuration in an annotation, and was not a manager. */
#include "managed-update.h"

#include "buf.h"
#include "json.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* The fields whose live value is still the one that was last applied on the client's side. */
static const struct field_set *client_applied(const struct update *u, const struct value *live)
{
        struct str text = meta_annotation(live, STR(LAST_APPLIED));
        const struct field_set *set;
        const struct value *object;
        struct comparison c;

        if (str_is_empty(text) || json_parse(u->arena, text, NULL, &object, NULL) < 0 || !value_is_object(object) ||
            !gvk_equal(gvk_of(object), u->req->type->gvk) ||
            typed_validate(u->arena, u->type, object, false, NULL) < 0 ||
            typed_validate(u->arena, u->type, live, false, NULL) < 0)
                return NULL;
        set = typed_to_set(u->arena, u->type, object);
        c = typed_compare(u->arena, u->type, object, live);
        set = field_set_difference(u->arena, set, c.modified);
        set = field_set_difference(u->arena, set, c.added);
        return field_set_difference(u->arena, set, c.removed);
}

/* Removes the allowed conflicts from the list; true when none are left. */
bool kubectl_forgive(const struct update *u, const struct value *live, struct conflicts *conflicts)
{
        const struct field_set *allowed = client_applied(u, live);
        size_t kept = 0;

        for (size_t i = 0; i < conflicts->n; i++) {
                struct conflict c = conflicts->p[i];

                c.set = field_set_difference(u->arena, c.set, allowed);
                if (c.set)
                        conflicts->p[kept++] = c;
        }
        conflicts->n = kept;
        return kept == 0;
}

/* The annotations without the one of client-side apply. Nulls become "", as in upstream's typed annotations. */
static const struct value *other_annotations(struct arena *a, const struct value *annotations)
{
        struct object_builder b;

        if (!value_is_object(annotations))
                return NULL;
        object_builder_init(&b, a, annotations->n);
        VALUE_FOREACH_MEMBER (m, annotations)
                if (!str_equal(m->key, STR(LAST_APPLIED)))
                        object_builder_add(&b, m->key, value_is_null(&m->value) ? value_empty_string : m->value);
        return value_put(a, object_builder_finish(&b));
}

/* Updates the annotation, so that users can go back to client-side apply. */
int kubectl_update_annotation(const struct update *u, const struct value *config, const struct value **object,
                              struct err *err)
{
        const struct value *annotations = value_find(*object, "metadata", "annotations"), *applied;
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct arena *a = u->arena;
        int r;

        if (str_is_empty(meta_annotation(*object, STR(LAST_APPLIED))))
                return 0;
        applied = meta_with(a, config, STR("annotations"),
                            other_annotations(a, value_find(config, "metadata", "annotations")));
        r = json_write(&text, applied, JSON_GO, err);
        if (r < 0)
                return err_wrap(err, "failed to build last-applied annotation");
        buf_append_char(&text, '\n');
        annotations = value_with(a, other_annotations(a, annotations), STR(LAST_APPLIED),
                                 value_put(a, value_of_str(buf_to_arena(&text, a))));
        *object = meta_with(a, *object, STR("annotations"), annotations);
        return 0;
}
