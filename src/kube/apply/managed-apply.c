/* Apply: merges the configuration into the live object, and removes the fields that the previous configuration had and this one
 * leaves out. */
#include "managed-update.h"

/* The fields that all managers together own in one version. */
struct owned {
        struct str api_version;
        const struct field_set *set;
};

static size_t collect_owned(const struct update *u, struct owned *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < u->managers.n; i++) {
                const struct field_manager *m = &u->managers.p[i];
                size_t j = 0;

                while (j < n && !str_equal(ret[j].api_version, m->api_version))
                        j++;
                if (j == n)
                        ret[n++] = (struct owned) { .api_version = m->api_version };
                ret[j].set = field_set_union(u->arena, ret[j].set, m->set);
        }
        return n;
}

static const struct field_set *named_set(const struct update *u, struct typed_type t, const struct value *v)
{
        return v ? typed_ensure_named(u->arena, t, typed_to_set(u->arena, t, v)) : NULL;
}

/* Puts the fields that any manager owns at the version back from *merged into *pruned. Both are of that version afterwards. */
static int add_back_owned(const struct update *u, const struct owned *owned, const struct value **merged,
                          const struct value **pruned, struct err *err)
{
        const struct field_set *all, *left, *kept;
        const struct value *m, *p;
        struct typed_type type;
        int r;

        r = update_convert(u, *merged, owned->api_version, &m, &type, err);
        if (r < 0)
                return err_wrap(err, "failed to convert merged object at version %.*s", STR_ARG(owned->api_version));
        if (r == 0)
                return 0;
        r = update_convert(u, *pruned, owned->api_version, &p, &type, err);
        if (r < 0)
                return err_wrap(err, "failed to convert pruned object at version %.*s", STR_ARG(owned->api_version));
        if (r == 0)
                return 0;
        all = named_set(u, type, m);
        left = named_set(u, type, p);
        kept = field_set_union(u->arena, left, typed_ensure_named(u->arena, type, owned->set));
        *merged = m;
        *pruned = typed_remove(u->arena, type, m, field_set_difference(u->arena, all, kept));
        return 0;
}

static int add_back_all_owned(const struct update *u, struct str first, const struct value **merged,
                              const struct value **pruned, struct err *err)
{
        struct owned *owned = arena_alloc(u->arena, u->managers.n * sizeof(*owned));
        size_t n = collect_owned(u, owned);
        int r;

        for (size_t pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < n; i++) {
                        if (str_equal(owned[i].api_version, first) != (pass == 0))
                                continue;
                        r = add_back_owned(u, &owned[i], merged, pruned, err);
                        if (r < 0)
                                return r;
                }
        return 0;
}

/* Whether the set also has everything below its members. Then removing a member removes no field that is not in the set. */
static bool has_all_below(const struct update *u, const struct field_set *set, const struct value *object)
{
        const struct field_set *all = typed_to_set(u->arena, u->type, object);

        return field_set_equal(field_set_difference(u->arena, all, set),
                               field_set_recursive_difference(u->arena, all, set));
}

/* Whether the new configuration still has all fields of the last one. Then nothing has to be removed, as in most applies. */
static bool has_all_of(const struct update *u, const struct field_manager *last, const struct field_manager *me,
                       const struct value *merged)
{
        for (size_t i = 0; i < u->managers.n; i++)
                if (!str_equal(u->managers.p[i].api_version, u->api_version))
                        return false;
        return str_equal(last->api_version, u->api_version) && !field_set_difference(u->arena, last->set, me->set) &&
               has_all_below(u, last->set, merged);
}

/* Removes the fields that the applier owned before, leaves out now, and that no other manager owns; also the unowned fields below
 * members that it owns as a whole. */
static int prune_fields(const struct update *u, const struct field_manager *last, const struct field_manager *me,
                        const struct value *merged, const struct value **ret, struct err *err)
{
        const struct field_set *named, *gone;
        const struct value *from, *pruned, *at_last;
        struct typed_type type;
        int r;

        *ret = merged;
        if (!last || !last->set)
                return 0;
        if (has_all_of(u, last, me, merged))
                return 0;
        r = update_convert(u, merged, last->api_version, &from, &type, err);
        if (r < 0)
                return err_wrap(err, "failed to convert merged object to last applied version");
        if (r == 0)
                return 0;
        named = typed_ensure_named(u->arena, type, last->set);
        pruned = typed_remove(u->arena, type, from, named);
        merged = from;
        r = add_back_all_owned(u, last->api_version, &merged, &pruned, err);
        if (r < 0)
                return err_wrap(err, "failed add back owned items");
        r = update_convert(u, pruned, last->api_version, &at_last, &type, err);
        if (r < 0)
                return err_wrap(
                        err, "failed add back dangling items: failed to convert pruned object to last applied version");
        if (r == 0)
                at_last = pruned;
        gone = field_set_difference(u->arena, named_set(u, type, from), named_set(u, type, at_last));
        pruned = typed_remove(u->arena, type, from, field_set_intersection(u->arena, gone, named));
        r = update_convert(u, pruned, u->api_version, ret, &type, err);
        return r < 0 ? r : 0;
}

static int prune(const struct update *u, const struct field_manager *last, const struct field_manager *me,
                 const struct value *merged, const struct value **ret, struct err *err)
{
        int r;

        r = prune_fields(u, last, me, merged, ret, err);
        return r < 0 ? err_wrap(err, "failed to prune fields") : 0;
}

static int refuse(struct err *err, const char *what, struct str which)
{
        int r = err_set(err, ERR_INVALID, "%s%.*s", what, STR_ARG(which));

        if (err)
                err_set_reason(err, REASON_BAD_REQUEST);
        return r;
}

static int validate_objects(const struct update *u, const struct value *live, const struct value *config,
                            struct err *err)
{
        const struct value *fields = value_find(config, "metadata", "managedFields");
        int r;

        if (fields && !value_is_null(fields))
                return refuse(err, "metadata.managedFields must be nil", STR(""));
        r = typed_validate(u->arena, u->type, config, false, err);
        if (r < 0)
                return err_wrap(err, "failed to create typed patch object (%s)", update_object_text(u, config));
        r = typed_validate(u->arena, u->type, live, true, err);
        if (r < 0)
                return err_wrap(err, "failed to create typed live object (%s)", update_object_text(u, live));
        return 0;
}

/* Steps 3 to 9 of docs/spec/apiserver 4.3. The caller handles the conflicts; if there are any, the other results are not used. */
static int apply(struct update *u, const struct value *live, const struct value *config, bool force,
                 const struct value **ret, struct conflicts *conflicts, struct err *err)
{
        struct field_manager me = { .name = u->req->manager,
                                    .api_version = u->api_version,
                                    .subresource = u->req->subresource,
                                    .is_apply = true };
        struct field_manager last, *mine;
        struct views views;
        bool has_last;
        int r;

        r = update_reconcile(u, live, err);
        if (r < 0)
                return r;
        mine = managers_find(&u->managers, &me);
        has_last = mine;
        if (mine) {
                last = *mine;
                me.has_time = mine->has_time;
                me.time = mine->time;
                me.encoded = mine->encoded;
                me.decoded = mine->decoded;
        } else {
                mine = managers_add(&u->managers, me);
        }
        me.set = field_set_recursive_difference(u->arena, typed_to_set(u->arena, u->type, config), u->reset);
        *mine = me;
        r = prune(u, has_last ? &last : NULL, mine, typed_merge(u->arena, u->type, live, config), ret, err);
        if (r < 0)
                return r;
        views = update_compare(u, live, *ret);
        r = update_find_conflicts(u, &views, mine, conflicts, err);
        if (r < 0 || (conflicts->n > 0 && !force))
                return r;
        update_take(u, &views, mine, conflicts);
        mine->set = update_without_system_fields(u, mine->set);
        if (mine->set && field_set_equal(mine->set, mine->decoded))
                mine->set = mine->decoded;
        if (value_equal_numeric(live, *ret)) {
                *ret = live;
        } else {
                mine->has_time = true;
                mine->time = u->req->now;
        }
        managers_drop_empty(&u->managers);
        return 0;
}

static struct managers copy_managers(const struct managers *m)
{
        struct managers copy = { .arena = m->arena };

        for (size_t i = 0; i < m->n; i++)
                managers_add(&copy, m->p[i]);
        return copy;
}

static const struct value *without_managed_fields(struct arena *a, const struct value *object)
{
        return meta_with(a, object, STR("managedFields"), NULL);
}

static int apply_all(struct update *u, const struct value *live, const struct value *config, const struct value **ret,
                     struct err *err)
{
        bool is_kubectl = str_equal(u->req->manager, STR("kubectl")), force = u->req->force;
        struct conflicts conflicts = { 0 };
        struct managers before;
        int r;

        if (u->managers.n == 0) {
                r = update_track(u, update_empty_object(u), live, STR("before-first-apply"), err);
                if (r < 0)
                        return err_wrap(err, "failed to create manager for existing fields");
        }
        r = validate_objects(u, live, config, err);
        if (r < 0)
                return r;
        before = copy_managers(&u->managers);
        r = apply(u, live, config, force, ret, &conflicts, err);
        if (r >= 0 && conflicts.n > 0 && !force && is_kubectl && kubectl_forgive(u, live, &conflicts)) {
                u->managers = before;
                force = true;
                r = apply(u, live, config, force, ret, &conflicts, err);
        }
        if (r < 0)
                return r;
        if (conflicts.n > 0 && !force)
                return conflicts_refuse(u, &conflicts, err);
        return is_kubectl ? kubectl_update_annotation(u, config, ret, err) : 0;
}

int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *config, const struct value **ret, struct err *err)
{
        const struct value *object = NULL;
        struct gvk gvk = gvk_of(config);
        struct update u;
        int r;

        update_begin(&u, a, req);
        r = managed_fields_decode(a, live, true, &u.managers, err);
        if (r < 0)
                err_wrap(err, "failed to decode managed fields");
        else if (!gvk_equal(gvk, req->type->gvk))
                r = refuse(err, "invalid object type: ", gvk_text(a, gvk));
        else
                r = apply_all(&u, live ? without_managed_fields(a, live) : update_empty_object(&u), config, &object,
                              err);
        if (r >= 0)
                r = arena_check(a, err);
        if (r < 0) {
                if (err && err->reason == REASON_INVALID)
                        err_set_reason(err, REASON_UNKNOWN); /* upstream reports an internal error */
                return r;
        }
        *ret = managed_fields_store(object, &u.managers);
        return 0;
}

/* --- Without doing it --- */

/* An object with only the applier's entry, so that no other entry is decoded; NULL if there is no entry. */
static const struct value *with_own_entry(struct arena *a, const struct managed_request *req, struct str api_version,
                                          const struct value *live)
{
        VALUE_FOREACH_ITEM (entry, value_find(live, "metadata", "managedFields")) {
                struct value list;

                if (!str_equal(value_str(value_get(entry, STR("manager"))), req->manager) ||
                    !str_equal(value_str(value_get(entry, STR("operation"))), STR("Apply")) ||
                    !str_equal(value_str(value_get(entry, STR("subresource"))), req->subresource) ||
                    !str_equal(value_str(value_get(entry, STR("apiVersion"))), api_version))
                        continue;
                list = value_of_items(a, entry, 1);
                return meta_with(a, &value_empty_object, STR("managedFields"), value_put(a, list));
        }
        return NULL;
}

/* Checks uid, resourceVersion and managedFields: if the configuration has them, they must equal those of live, because they are not
 * applied. */
static bool has_identity(const struct value *config, const struct value *live)
{
        static const char *const fields[] = { "uid", "resourceVersion", "managedFields" };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *v = value_get(meta(config), str_from(fields[i]));
                const struct value *there = value_get(meta(live), str_from(fields[i]));

                if (v && !(there && value_equal(v, there)))
                        return false;
        }
        return true;
}

bool managed_is_applied(struct arena *a, const struct managed_request *req, const struct value *live,
                        const struct value *config)
{
        const struct field_set *set;
        const struct value *own, *bare;
        struct update u;

        update_begin(&u, a, req);
        own = with_own_entry(a, req, u.api_version, live);
        if (!own || !gvk_equal(gvk_of(config), req->type->gvk) || !has_identity(config, live) ||
            managed_fields_decode(a, own, true, &u.managers, NULL) < 0 || u.managers.n != 1 ||
            typed_validate(a, u.type, config, false, NULL) < 0)
                return false;
        set = field_set_recursive_difference(a, typed_to_set(a, u.type, config), u.reset);
        if (!field_set_equal(update_without_system_fields(&u, set), u.managers.p[0].set))
                return false;
        bare = without_managed_fields(a, live);
        return has_all_below(&u, u.managers.p[0].set, bare) &&
               value_equal_numeric(bare, typed_merge(a, u.type, bare, without_managed_fields(a, config)));
}
