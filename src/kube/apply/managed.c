/* The updater: applies the effect of an apply or an update to an object and to the sets of its managers.
 *
 * A write compares the live object with the new one, in the version of each manager. A changed field that belongs to another
 * manager is a conflict. Without conflicts, or with force, changed fields are removed from the other managers' sets, and removed
 * fields from all sets. An update then owns the fields that it changed. An apply owns the fields of its configuration; fields that
 * the applier owned before, leaves out now, and that no other manager owns are removed from the object. */
#include "managed.h"

#include "managed-update.h"
#include "schema.h"

/* --- Fixed sets --- */

static const struct field_set *fields(struct arena *a, const struct str *names, size_t n)
{
        struct field_stack stack = { 0 };
        const struct field_set *set;

        for (size_t i = 0; i < n; i++)
                field_stack_push(&stack, path_element_field(names[i]), true, NULL);
        set = field_stack_take(&stack, a, 0);
        field_stack_done(&stack);
        return set;
}

/* The spec, and what the other subresource writes: an approval is about conditions, the status about the certificate. */
static const struct field_set *fields_of_other_part(struct arena *a, struct str subresource)
{
        static const struct str certificate = STR_INIT("certificate"), conditions = STR_INIT("conditions");
        bool is_approval = str_equal(subresource, STR("approval"));
        struct field_stack stack = { 0 };
        const struct field_set *set;

        field_stack_push(&stack, path_element_field(STR("spec")), true, NULL);
        field_stack_push(&stack, path_element_field(STR("status")), false,
                         fields(a, is_approval ? &certificate : &conditions, 1));
        set = field_stack_take(&stack, a, 0);
        field_stack_done(&stack);
        return set;
}

/* The fields that the endpoint ignores in a request, so that a write there does not own them. */
static const struct field_set *reset_fields(struct arena *a, const struct managed_request *req)
{
        static const struct str status[] = { STR_INIT("spec"), STR_INIT("status") };
        static const struct str others[] = { STR_INIT("metadata"), STR_INIT("spec") };

        if (managed_is_status(req->subresource) && req->type->spec_is_fixed)
                return fields_of_other_part(a, req->subresource);
        if (managed_is_status(req->subresource))
                return req->type->status_writes_metadata ? fields(a, others + 1, 1)
                                                         : fields(a, others, ARRAY_SIZE(others));
        if (str_is_empty(req->subresource) && req->type->has_status)
                return req->type->spec_is_fixed ? fields(a, status, 2) : fields(a, status + 1, 1);
        return NULL;
}

const struct field_set *update_without_system_fields(const struct update *u, const struct field_set *set)
{
        static const struct str top[] = { STR_INIT("apiVersion"), STR_INIT("kind"), STR_INIT("metadata") };
        static const struct str below[] = { STR_INIT("clusterName"),
                                            STR_INIT("creationTimestamp"),
                                            STR_INIT("generation"),
                                            STR_INIT("managedFields"),
                                            STR_INIT("name"),
                                            STR_INIT("namespace"),
                                            STR_INIT("resourceVersion"),
                                            STR_INIT("selfLink"),
                                            STR_INIT("uid") };
        struct field_stack stack = { 0 };
        const struct field_set *system;
        struct arena *a = u->arena;

        field_stack_push(&stack, path_element_field(top[0]), true, NULL);
        field_stack_push(&stack, path_element_field(top[1]), true, NULL);
        field_stack_push(&stack, path_element_field(top[2]), true, fields(a, below, ARRAY_SIZE(below)));
        system = field_stack_take(&stack, a, 0);
        field_stack_done(&stack);
        return field_set_difference(a, set, system);
}

/* --- Versions --- */

int update_convert(const struct update *u, const struct value *object, struct str api_version, const struct value **ret,
                   struct typed_type *ret_type, struct err *err)
{
        const struct managed_type *type = u->req->type;
        const struct schema *schema;
        bool is_same;
        int r;

        if (!object)
                return err_set(err, ERR_INVALID, "failed to convert value to unstructured for type <nil>");
        is_same = str_equal(api_version, value_str(value_get(object, STR("apiVersion"))));
        if (is_same && str_equal(api_version, u->api_version)) {
                *ret = object;
                *ret_type = u->type;
                return 1;
        }
        if (!type->convert)
                return 0;
        r = type->convert(type->convert_arg, u->arena, object, api_version, ret, &schema, err);
        if (r == ERR_NOT_FOUND)
                return 0;
        if (r < 0)
                return r;
        *ret_type = type_of_schema(schema);
        if (!is_same)
                r = typed_validate(u->arena, *ret_type, *ret, false, err);
        return r < 0 ? r : 1;
}

static struct view *add_view(struct views *views, struct str api_version)
{
        if (views->n == views->capacity) {
                size_t capacity = views->capacity ? 2 * views->capacity : 4;
                struct view *p = arena_alloc(views->update->arena, capacity * sizeof(*p));

                if (views->n > 0)
                        memcpy(p, views->p, views->n * sizeof(*p));
                views->p = p;
                views->capacity = capacity;
        }
        views->p[views->n] = (struct view) { .api_version = api_version };
        return &views->p[views->n++];
}

static struct comparison without_reset(const struct update *u, struct comparison c)
{
        if (!u->reset)
                return c;
        return (struct comparison) {
                field_set_recursive_difference(u->arena, c.removed, u->reset),
                field_set_recursive_difference(u->arena, c.modified, u->reset),
                field_set_recursive_difference(u->arena, c.added, u->reset),
        };
}

/* The view of a version: the differences between the old and the new object in it. */
static int view_get(struct views *views, struct str api_version, struct view **ret, struct err *err)
{
        const struct update *u = views->update;
        struct view *v;
        int r;

        for (size_t i = 0; i < views->n; i++)
                if (str_equal(views->p[i].api_version, api_version)) {
                        *ret = &views->p[i];
                        return 0;
                }
        v = add_view(views, api_version);
        r = update_convert(u, views->old, api_version, &v->old, &v->type, err);
        if (r < 0)
                return err_wrap(err, "failed to convert old object");
        v->is_missing = r == 0;
        if (r > 0) {
                r = update_convert(u, views->updated, api_version, &v->updated, &v->type, err);
                if (r < 0)
                        return err_wrap(err, "failed to convert new object");
                v->comparison = typed_compare(u->arena, v->type, v->old, v->updated);
                if (managed_is_status(u->req->subresource))
                        v->comparison = without_reset(u, v->comparison);
        }
        *ret = v;
        return 0;
}

/* --- The common part of both --- */

int update_find_conflicts(struct update *u, struct views *views, const struct field_manager *me, struct conflicts *ret,
                          struct err *err)
{
        *ret = (struct conflicts) { .p = arena_alloc(u->arena, u->managers.n * sizeof(struct conflict)) };
        for (size_t i = 0; i < u->managers.n; i++) {
                struct field_manager *m = &u->managers.p[i];
                const struct field_set *conflict;
                struct view *v;
                int r;

                if (m == me)
                        continue;
                r = view_get(views, m->api_version, &v, err);
                if (r < 0)
                        return r;
                if (v->is_missing) {
                        m->set = NULL;
                        continue;
                }
                conflict = field_set_union(u->arena, field_set_intersection(u->arena, m->set, v->comparison.modified),
                                           field_set_intersection(u->arena, m->set, v->comparison.added));
                if (conflict)
                        ret->p[ret->n++] = (struct conflict) { .manager = m, .set = conflict };
        }
        return 0;
}

void update_take(struct update *u, struct views *views, const struct field_manager *me,
                 const struct conflicts *conflicts)
{
        for (size_t i = 0; i < conflicts->n; i++) {
                struct field_manager *m = &u->managers.p[conflicts->p[i].manager - u->managers.p];

                m->set = field_set_difference(u->arena, m->set, conflicts->p[i].set);
        }
        for (size_t i = 0; i < u->managers.n; i++) {
                struct field_manager *m = &u->managers.p[i];
                struct view *v;

                if (m == me || !m->set || view_get(views, m->api_version, &v, NULL) < 0)
                        continue;
                m->set = field_set_difference(u->arena, m->set, v->comparison.removed);
        }
}

int update_reconcile(struct update *u, const struct value *live, struct err *err)
{
        for (size_t i = 0; i < u->managers.n; i++) {
                struct field_manager *m = &u->managers.p[i];
                const struct value *v;
                struct typed_type type;
                int r;

                r = update_convert(u, live, m->api_version, &v, &type, err);
                if (r < 0)
                        return r;
                if (r > 0)
                        m->set = typed_reconcile(u->arena, type, v, m->set);
        }
        return 0;
}

struct views update_compare(struct update *u, const struct value *old, const struct value *updated)
{
        struct views views = { .update = u, .old = old, .updated = updated };
        struct view *v = add_view(&views, u->api_version);

        v->type = u->type;
        v->old = old;
        v->updated = updated;
        v->comparison = without_reset(u, typed_compare(u->arena, u->type, old, updated));
        return views;
}

const struct value *update_empty_object(const struct update *u)
{
        struct member members[] = { { STR("apiVersion"), value_of_str(u->api_version) },
                                    { STR("kind"), value_of_str(u->req->type->gvk.kind) } };

        if (u->req->type->empty)
                return u->req->type->empty;
        return value_put(u->arena, value_of_members(u->arena, members, ARRAY_SIZE(members), true));
}

const char *update_object_text(const struct update *u, const struct value *object)
{
        struct gvk gvk = gvk_of(object);

        return arena_printf(u->arena, "%.*s/%.*s; %.*s", STR_ARG(meta_namespace(object)), STR_ARG(meta_name(object)),
                            STR_ARG(gvk_text(u->arena, gvk)))
                .p;
}

void update_begin(struct update *u, struct arena *a, const struct managed_request *req)
{
        *u = (struct update) {
                .arena = a,
                .req = req,
                .api_version = gvk_api_version(a, req->type->gvk),
                .type = type_of_schema(req->type->schema),
                .reset = reset_fields(a, req),
                .managers = { .arena = a },
        };
}

/* --- Update --- */

static int validate_updated(const struct update *u, const struct value *object, const char *which, struct err *err)
{
        int r;

        r = typed_validate(u->arena, u->type, object, true, err);
        if (r < 0)
                return err_wrap(err, "failed to convert %s object (%s) to smd typed", which,
                                update_object_text(u, object));
        return 0;
}

int update_track(struct update *u, const struct value *old, const struct value *updated, struct str name,
                 struct err *err)
{
        struct field_manager me = { .name = name,
                                    .api_version = u->api_version,
                                    .subresource = u->req->subresource,
                                    .has_time = !str_equal(u->req->subresource, STR("scale")),
                                    .time = u->req->now };
        struct conflicts conflicts;
        struct field_manager *mine;
        struct views views;
        int r;

        r = validate_updated(u, updated, "new", err);
        if (r >= 0)
                r = validate_updated(u, old, "live", err);
        if (r >= 0)
                r = update_reconcile(u, old, err);
        if (r < 0)
                return r;
        views = update_compare(u, old, updated);
        r = update_find_conflicts(u, &views, NULL, &conflicts, err);
        if (r < 0)
                return r;
        update_take(u, &views, NULL, &conflicts);
        me.set = update_without_system_fields(u, field_set_union(u->arena, views.p[0].comparison.modified,
                                                                 views.p[0].comparison.added));
        if (me.set) {
                mine = managers_find(&u->managers, &me);
                if (mine) {
                        mine->set = field_set_union(u->arena, mine->set, me.set);
                        mine->has_time = me.has_time;
                        mine->time = me.time;
                } else {
                        managers_add(&u->managers, me);
                }
        }
        managers_drop_empty(&u->managers);
        return 0;
}

/* Chooses the managedFields to begin with: those of the request, so that clients can edit them; those of live if the request has no
 * readable ones. */
static void begin_managers(struct update *u, const struct value *live, const struct value *updated)
{
        const struct value *was = value_find(live, "metadata", "managedFields");
        const struct value *wanted = value_find(updated, "metadata", "managedFields");
        int r;

        if (str_is_empty(u->req->subresource) && wanted && !(was && value_equal(was, wanted))) {
                if (managed_fields_is_reset(updated))
                        return;
                r = managed_fields_decode(u->arena, updated, false, &u->managers, NULL);
                if (r >= 0 && u->managers.n > 0)
                        return;
        }
        if (!live)
                return;
        r = managed_fields_decode(u->arena, live, true, &u->managers, NULL);
        if (r < 0)
                u->managers = (struct managers) { .arena = u->arena };
}

int managed_update(struct arena *a, const struct managed_request *req, const struct value *live,
                   const struct value *updated, const struct value **ret, struct err *err)
{
        const struct value *old;
        struct update u;
        int r;

        update_begin(&u, a, req);
        begin_managers(&u, live, updated);
        updated = meta_with(a, updated, STR("managedFields"), NULL);
        old = live ? meta_with(a, live, STR("managedFields"), NULL) : update_empty_object(&u);
        if (u.managers.n > 0 || str_is_empty(meta_uid(old))) {
                r = update_track(&u, old, updated, req->manager, NULL);
                if (r >= 0)
                        managers_cap(&u.managers);
                else
                        u.managers.n = 0; /* as upstream: the write succeeds, and all managers are forgotten */
        }
        *ret = managed_fields_store(updated, &u.managers);
        return arena_check(a, err);
}
