/* Applies manifests in an order that works. */
#include "up.h"

#include "status.h"

#include <stdio.h>

#define MANAGER       STR("weft-up")
#define REFUSED_LOOKS 8 /* until an object that was refused is tried again: what it conflicts with may have changed */

/* Kinds that other objects need have a lower rank. */
static int rank_of(struct gvk gvk)
{
        static const char *const order[] = {
                "Namespace",
                "CustomResourceDefinition",
                "CompositeResourceDefinition",
                "ApplicationDefinition",
                "InfrastructureDefinition",
                "InfrastructurePublication",
                "Function",
                "EnvironmentConfig",
                "Composition",
        };

        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                if (str_equal(gvk.kind, str_from(order[i])))
                        return (int)i;
        return ARRAY_SIZE(order);
}

void up_sort(struct arena *a, const struct manifests *m, struct up_items *ret)
{
        struct up_item *items = ARENA_NEW_ARRAY(a, struct up_item, m->n + 1);
        size_t n = 0;

        for (int rank = 0; rank <= rank_of((struct gvk) { 0 }); rank++)
                for (size_t i = 0; i < m->n; i++)
                        if (rank_of(gvk_of(m->p[i].object)) == rank)
                                items[n++] =
                                        (struct up_item) { .manifest = &m->p[i], .key = object_key_of(m->p[i].object) };
        *ret = (struct up_items) { items, n };
}

/* An object of a namespaced kind without a namespace is in `default`, as with kubectl. */
static int complete_key(struct cluster *c, struct run *run, struct up_item *item, const struct value **ret,
                        struct err *err)
{
        const struct kind *kind;
        int r = cluster_kind(c, run, item->key.gvk, &kind, err);

        *ret = item->manifest->object;
        if (r == 0 && kind->is_namespaced && str_is_empty(item->key.ns)) {
                item->key.ns = STR("default");
                *ret = meta_with_str(run->arena, *ret, STR("namespace"), item->key.ns);
        }
        return r;
}

static int apply_item(struct cluster *c, struct run *run, struct up_item *item, struct err *err)
{
        const struct value *body;
        struct write_request req = {
                .verb = WRITE_APPLY, .manager = MANAGER, .force = true, .field_validation = FIELDS_STRICT
        };
        struct write_result result;
        int r = complete_key(c, run, item, &body, err);

        if (r < 0)
                return r;
        req.key = item->key;
        req.body = body;
        r = cluster_write(c, run, &req, &result, err);
        item->is_applied = r == 0;
        return r;
}

/* The part of an error of the API that begins with a field: `spec.size: Required value`; "": it has none. */
static struct str field_part(struct str message)
{
        static const char *const before[] = { "): .", " is invalid: " };

        for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
                ptrdiff_t at = str_find(message, str_from(before[i]));
                struct str part = at < 0 ? STR("") : str_skip(message, (size_t)at + strlen(before[i]));

                if (part.n && part.p[0] != '[' && str_find(part, STR(": ")) > 0)
                        return part;
        }
        return STR("");
}

/* Puts the file before the error, with the place of the field if there is one. */
static void locate(struct arena *a, const struct manifest *m, struct err *err)
{
        struct str part = arena_copy(a, field_part(str_from(err_message(err)))), path = part;
        int code = err->code;

        if (part.n) {
                path = str_first(part, (size_t)str_find(part, STR(": ")));
                err_done(err);
                err_set(err, code, "%.*s", STR_ARG(part));
        }
        manifest_error(m, path, err);
}

/* A namespace may come from another manifest, and a kind from an XRD or a CRD that is not served yet. */
static bool may_come(int r)
{
        return r == ERR_NOT_FOUND;
}

/* The composite that a claim names and that is not applied yet; NULL: there is none. A claim that came first would make the composite
 * itself and be bound to it. */
static const struct up_item *awaited_composite(const struct up_items *items, const struct up_item *claim)
{
        const struct value *ref = value_find(claim->manifest->object, "spec", "resourceRef");
        struct str name = value_str(value_get(ref, STR("name")));

        for (size_t i = 0; name.n && i < items->n; i++) {
                const struct up_item *other = &items->p[i];

                if (other != claim && !other->is_applied && str_equal(other->key.name, name) &&
                    gvk_equal(other->key.gvk, gvk_of(ref)))
                        return other;
        }
        return NULL;
}

static int apply_in_turn(struct cluster *c, struct run *run, const struct up_items *items, struct up_item *item,
                         struct err *err)
{
        const struct up_item *composite = awaited_composite(items, item);

        if (!composite)
                return apply_item(c, run, item, err);
        return err_set(err, ERR_NOT_FOUND, "its composite %.*s is not applied yet",
                       STR_ARG(up_name(run->arena, composite)));
}

int up_apply(struct cluster *c, struct run *run, struct arena *kept, struct up_items *items, bool keeps_going,
             size_t *ret_left, struct err *err)
{
        *ret_left = 0;
        for (size_t i = 0; i < items->n; i++) {
                struct up_item *item = &items->p[i];
                _cleanup_err_ struct err inner = { 0 };
                int r;

                if (item->is_applied)
                        continue;
                if (item->is_refused && ++item->n_looks % REFUSED_LOOKS) {
                        (*ret_left)++;
                        continue;
                }
                r = apply_in_turn(c, run, items, item, &inner);
                item->is_refused = r < 0 && !may_come(r);
                if (item->is_refused)
                        locate(run->arena, item->manifest, &inner);
                if (item->is_refused && !keeps_going)
                        return err_move(err, &inner);
                if (r < 0) {
                        (*ret_left)++;
                        item->why = arena_copy(kept, str_from(err_message(&inner)));
                }
        }
        return 0;
}

/* --- Loading again --- */

/* The namespace that an item got when it was applied does not count. */
static bool is_same_object(const struct up_item *a, const struct up_item *b)
{
        struct object_key one = object_key_of(a->manifest->object), other = object_key_of(b->manifest->object);

        return object_key_equal(&one, &other);
}

static const struct up_item *find_item(const struct up_items *items, const struct up_item *item)
{
        for (size_t i = 0; i < items->n; i++)
                if (is_same_object(&items->p[i], item))
                        return &items->p[i];
        return NULL;
}

static struct object_key copy_key(struct arena *a, struct object_key key)
{
        return (struct object_key) { .gvk = { arena_copy(a, key.gvk.group), arena_copy(a, key.gvk.version),
                                              arena_copy(a, key.gvk.kind) },
                                     .ns = arena_copy(a, key.ns),
                                     .name = arena_copy(a, key.name) };
}

void up_take_over(struct arena *a, const struct up_items *old, struct up_items *items, struct up_items *ret_gone)
{
        *ret_gone = (struct up_items) { .p = ARENA_NEW_ARRAY(a, struct up_item, old->n + 1) };
        for (size_t i = 0; i < items->n; i++) {
                const struct up_item *before = find_item(old, &items->p[i]);

                if (!before || !value_equal(before->manifest->object, items->p[i].manifest->object))
                        continue;
                items->p[i].key.ns = arena_copy(a, before->key.ns);
                items->p[i].is_applied = before->is_applied;
                items->p[i].is_ready = before->is_ready;
                items->p[i].shown = arena_copy(a, before->shown);
        }
        for (size_t i = 0; i < old->n; i++)
                if (old->p[i].is_applied && !find_item(items, &old->p[i]))
                        ret_gone->p[ret_gone->n++] =
                                (struct up_item) { .manifest = old->p[i].manifest, .key = copy_key(a, old->p[i].key) };
}

void up_prune(struct cluster *c, struct run *run, const struct up_items *gone)
{
        for (size_t i = gone->n; i-- > 0;) {
                struct write_request req = { .verb = WRITE_DELETE, .key = gone->p[i].key };
                struct write_result result;
                _cleanup_err_ struct err err = { 0 };
                struct str name = up_name(run->arena, &gone->p[i]);
                int r = cluster_write(c, run, &req, &result, &err);

                if (r < 0 && r != ERR_NOT_FOUND)
                        printf("%-7s %.*s: it left the files, but cannot be deleted: %s\n", "kept", STR_ARG(name),
                               err_message(&err));
                else
                        printf("%-7s %.*s: it left the files\n", "deleted", STR_ARG(name));
        }
        fflush(stdout);
}
