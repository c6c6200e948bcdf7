/* The updater: what an apply or an update does to an object and to the sets of its managers.
 *
 * A write compares the live object with the new one, in the version of each manager. What changed and belongs to another manager
 * is a conflict; without conflicts, or with force, it is taken from them, and what went away is taken from everybody. An
 * update then owns what it changed, an apply owns what its configuration says, and whatever the applier had before, leaves out
 * now and nobody else owns is removed from the object. */
#include "managed.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "managed-fields.h"
#include "schema.h"
#include "typed.h"

/* The old and the new object as one version sees them. */
struct view {
        struct str api_version;
        bool is_missing; /* the version is no longer there */
        bool has_comparison;
        struct type type;
        const struct value *old, *new;
        struct comparison comparison;
};

struct update {
        struct arena *arena;
        const struct managed_request *req;
        struct str api_version; /* of the request */
        struct type type;       /* likewise */
        const struct field_set *reset;
        struct managers managers;
};

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

/* What the endpoint ignores of a request, so that nobody can own it by writing there. */
static const struct field_set *reset_fields(struct arena *a, const struct managed_request *req)
{
        static const struct str status[] = { STR_INIT("status") };
        static const struct str others[] = { STR_INIT("metadata"), STR_INIT("spec") };

        if (str_equal(req->subresource, STR("status")))
                return fields(a, others, ARRAY_SIZE(others));
        if (str_is_empty(req->subresource) && req->type->has_status)
                return fields(a, status, ARRAY_SIZE(status));
        return NULL;
}

/* Fields that nobody manages. */
static const struct field_set *without_system_fields(struct arena *a, const struct field_set *set)
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

        field_stack_push(&stack, path_element_field(top[0]), true, NULL);
        field_stack_push(&stack, path_element_field(top[1]), true, NULL);
        field_stack_push(&stack, path_element_field(top[2]), true, fields(a, below, ARRAY_SIZE(below)));
        system = field_stack_take(&stack, a, 0);
        field_stack_done(&stack);
        return field_set_difference(a, set, system);
}

/* --- Versions --- */

/* The object as the version sees it. 0 when the version is no longer there, 1 otherwise. */
static int convert(const struct update *u, const struct value *object, struct str api_version, const struct value **ret,
                   struct type *ret_type, struct err *err)
{
        const struct managed_type *type = u->req->type;
        const struct schema *schema;
        int r;

        if (str_equal(api_version, value_str(value_get(object, STR("apiVersion"))))) {
                *ret = object;
                if (str_equal(api_version, u->api_version)) {
                        *ret_type = u->type;
                        return 1;
                }
        }
        if (!type->convert)
                return 0;
        r = type->convert(type->convert_arg, u->arena, object, api_version, ret, &schema, err);
        if (r == ERR_NOT_FOUND)
                return 0;
        if (r < 0)
                return r;
        *ret_type = type_of_schema(schema);
        r = typed_validate(u->arena, *ret_type, *ret, false, err);
        return r < 0 ? r : 1;
}

struct views {
        const struct update *update;
        const struct value *old, *new;
        struct view *p;
        size_t n;
        size_t capacity;
};

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

/* What changed, as the version sees it. */
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
        r = convert(u, views->old, api_version, &v->old, &v->type, err);
        if (r < 0)
                return err_wrap(err, "failed to convert old object");
        v->is_missing = r == 0;
        if (r > 0) {
                r = convert(u, views->new, api_version, &v->new, &v->type, err);
                if (r < 0)
                        return err_wrap(err, "failed to convert new object");
                v->comparison = typed_compare(u->arena, v->type, v->old, v->new);
        }
        *ret = v;
        return 0;
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

/* --- Conflicts --- */

struct conflict {
        const struct manager *manager;
        const struct field_set *set;
        struct str who;
        struct str identifier;
};

struct conflicts {
        struct conflict *p;
        size_t n;
        size_t count; /* of fields */
};

static struct str who(struct arena *a, const struct manager *m)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        go_append_quoted(&b, m->name);
        if (!str_is_empty(m->subresource)) {
                buf_append_literal(&b, " with subresource ");
                go_append_quoted(&b, m->subresource);
        }
        if (!m->is_apply) {
                buf_append_literal(&b, " using ");
                buf_append_str(&b, m->api_version);
        }
        return buf_to_arena(&b, a);
}

static int compare_conflicts(const void *a, const void *b)
{
        const struct conflict *x = a, *y = b;

        return str_compare(x->identifier, y->identifier);
}

struct writing {
        struct buf *message;
        struct buf *details;
        struct str who;
        bool is_alone;
};

static void write_conflict(void *arg, struct str path)
{
        struct writing *w = arg;
        _cleanup_buf_ struct buf message = BUF_INIT(0);

        if (w->is_alone) {
                buf_append_literal(w->message, ": ");
                buf_append_str(w->message, path);
        } else {
                buf_append_literal(w->message, "\n- ");
                buf_append_str(w->message, path);
        }
        if (w->details->p[w->details->n - 1] != '[')
                buf_append_char(w->details, ',');
        buf_append_literal(w->details, "{\"reason\":\"FieldManagerConflict\",\"message\":");
        buf_append_literal(&message, "conflict with ");
        buf_append_str(&message, w->who);
        json_write_string(w->details, buf_str(&message), 0);
        buf_append_literal(w->details, ",\"field\":");
        json_write_string(w->details, path, 0);
        buf_append_char(w->details, '}');
}

static int refuse_conflicts(const struct update *u, struct conflicts *c, struct err *err)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0), details = BUF_INIT(0);
        int r;

        for (size_t i = 0; i < c->n; i++) {
                c->p[i].who = who(u->arena, c->p[i].manager);
                c->p[i].identifier = manager_identifier(u->arena, c->p[i].manager);
                c->count += field_set_count(c->p[i].set);
        }
        qsort(c->p, c->n, sizeof(*c->p), compare_conflicts);
        buf_append_literal(&details, "{\"causes\":[");
        buf_appendf(&message, "Apply failed with %zu conflict%s: ", c->count, c->count == 1 ? "" : "s");
        for (size_t i = 0; i < c->n; i++) {
                struct writing w = { &message, &details, c->p[i].who, c->count == 1 };

                if (i > 0)
                        buf_append_char(&message, '\n');
                buf_append_str(&message, w.is_alone ? STR("conflict with ") : STR("conflicts with "));
                buf_append_str(&message, w.who);
                if (!w.is_alone)
                        buf_append_char(&message, ':');
                field_set_each(c->p[i].set, write_conflict, &w);
        }
        buf_append_literal(&details, "]}");
        r = err_set(err, ERR_CONFLICT, "%s", buf_cstring(&message));
        if (err)
                err_set_details(err, buf_str(&details));
        return r;
}

/* --- The common part of both --- */

/* Takes what changed from all managers but `me` (which may be NULL); reports conflicts with them unless force. */
static int take_changes(struct update *u, struct views *views, const struct manager *me, struct conflicts *conflicts,
                        struct err *err)
{
        *conflicts = (struct conflicts) { .p = arena_alloc(u->arena, u->managers.n * sizeof(struct conflict)) };
        for (size_t i = 0; i < u->managers.n; i++) {
                struct manager *m = &u->managers.p[i];
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
                        conflicts->p[conflicts->n++] = (struct conflict) { .manager = m, .set = conflict };
        }
        return 0;
}

static void subtract(struct update *u, struct views *views, const struct manager *me, const struct conflicts *conflicts)
{
        for (size_t i = 0; i < conflicts->n; i++) {
                struct manager *m = &u->managers.p[conflicts->p[i].manager - u->managers.p];

                m->set = field_set_difference(u->arena, m->set, conflicts->p[i].set);
        }
        for (size_t i = 0; i < u->managers.n; i++) {
                struct manager *m = &u->managers.p[i];
                struct view *v;

                if (m == me || !m->set || view_get(views, m->api_version, &v, NULL) < 0)
                        continue;
                m->set = field_set_difference(u->arena, m->set, v->comparison.removed);
        }
}

/* Sets are kept in terms of the schema of the day: what has become atomic is owned as a whole. */
static int reconcile_all(struct update *u, const struct value *live, struct err *err)
{
        for (size_t i = 0; i < u->managers.n; i++) {
                struct manager *m = &u->managers.p[i];
                const struct value *v;
                struct type type;
                int r;

                r = convert(u, live, m->api_version, &v, &type, err);
                if (r < 0)
                        return r;
                if (r > 0)
                        m->set = typed_reconcile(u->arena, type, v, m->set);
        }
        return 0;
}

static struct views begin_views(struct update *u, const struct value *old, const struct value *new)
{
        struct views views = { .update = u, .old = old, .new = new };
        struct view *v = add_view(&views, u->api_version);

        v->type = u->type;
        v->old = old;
        v->new = new;
        v->comparison = without_reset(u, typed_compare(u->arena, u->type, old, new));
        return views;
}

static const struct value *empty_object(struct arena *a, const struct managed_request *req, struct str api_version)
{
        struct member members[] = { { STR("apiVersion"), value_of_str(api_version) },
                                    { STR("kind"), value_of_str(req->type->gvk.kind) } };

        return value_put(a, value_of_members(a, members, ARRAY_SIZE(members), true));
}

static void begin(struct update *u, struct arena *a, const struct managed_request *req)
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
        struct str name = meta_name(object), namespace = meta_namespace(object);
        struct str gvk = gvk_text(u->arena, gvk_of(object));
        int r;

        r = typed_validate(u->arena, u->type, object, true, err);
        if (r < 0)
                return err_wrap(err, "failed to convert %s object (%.*s/%.*s; %.*s) to smd typed", which,
                                STR_ARG(namespace), STR_ARG(name), STR_ARG(gvk));
        return 0;
}

/* The manager gets what changed. */
static int track_update(struct update *u, const struct value *old, const struct value *new, struct str name,
                        struct err *err)
{
        struct manager me = { .name = name,
                              .api_version = u->api_version,
                              .subresource = u->req->subresource,
                              .has_time = !str_equal(u->req->subresource, STR("scale")),
                              .time = u->req->now };
        struct conflicts conflicts;
        struct manager *mine;
        struct views views;
        int r;

        r = validate_updated(u, new, "new", err);
        if (r >= 0)
                r = validate_updated(u, old, "live", err);
        if (r >= 0)
                r = reconcile_all(u, old, err);
        if (r < 0)
                return r;
        views = begin_views(u, old, new);
        r = take_changes(u, &views, NULL, &conflicts, err);
        if (r < 0)
                return r;
        subtract(u, &views, NULL, &conflicts);
        me.set = without_system_fields(u->arena, field_set_union(u->arena, views.p[0].comparison.modified,
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

/* Whose managedFields count: those of the request, so that clients can edit them, unless there is nothing to be read. */
static int begin_managers(struct update *u, const struct value *live, const struct value *updated)
{
        const struct value *was = value_find(live, "metadata", "managedFields");
        const struct value *wanted = value_find(updated, "metadata", "managedFields");
        int r;

        if (!live)
                return 0;
        if (str_is_empty(u->req->subresource) && wanted && !(was && value_equal(was, wanted))) {
                if (managed_fields_is_reset(updated))
                        return 0;
                r = managed_fields_decode(u->arena, updated, false, &u->managers, NULL);
                if (r >= 0 && u->managers.n > 0)
                        return 0;
        }
        r = managed_fields_decode(u->arena, live, true, &u->managers, NULL);
        if (r < 0)
                u->managers = (struct managers) { .arena = u->arena };
        return 0;
}

int managed_update(struct arena *a, const struct managed_request *req, const struct value *live,
                   const struct value *updated, const struct value **ret, struct err *err)
{
        const struct value *old;
        struct update u;
        int r;

        begin(&u, a, req);
        begin_managers(&u, live, updated);
        updated = meta_with(a, updated, STR("managedFields"), NULL);
        old = live ? meta_with(a, live, STR("managedFields"), NULL) : empty_object(a, req, u.api_version);
        if (u.managers.n > 0 || str_is_empty(meta_uid(old))) {
                r = track_update(&u, old, updated, req->manager, NULL);
                if (r >= 0)
                        managers_cap(&u.managers);
                else
                        u.managers.n = 0; /* as upstream: the write counts, who manages what is forgotten */
        }
        *ret = managed_fields_store(updated, &u.managers);
        return arena_check(a, err);
}

/* --- Apply --- */

/* What all managers own, version by version. */
struct owned {
        struct str api_version;
        const struct field_set *set;
};

static size_t collect_owned(const struct update *u, struct owned *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < u->managers.n; i++) {
                const struct manager *m = &u->managers.p[i];
                size_t j = 0;

                while (j < n && !str_equal(ret[j].api_version, m->api_version))
                        j++;
                if (j == n)
                        ret[n++] = (struct owned) { .api_version = m->api_version };
                ret[j].set = field_set_union(u->arena, ret[j].set, m->set);
        }
        return n;
}

static const struct field_set *named_set(const struct update *u, struct type t, const struct value *v)
{
        return v ? typed_ensure_named(u->arena, t, typed_to_set(u->arena, t, v)) : NULL;
}

/* Puts back into *pruned what somebody owns at the version, from *merged; both are of that version afterwards. */
static int add_back_owned(const struct update *u, const struct owned *owned, const struct value **merged,
                          const struct value **pruned, struct err *err)
{
        const struct field_set *all, *left, *kept;
        const struct value *m, *p;
        struct type type;
        int r;

        r = convert(u, *merged, owned->api_version, &m, &type, err);
        if (r < 0)
                return err_wrap(err, "failed to convert merged object at version %.*s", STR_ARG(owned->api_version));
        if (r == 0)
                return 0;
        r = convert(u, *pruned, owned->api_version, &p, &type, err);
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

/* Nothing can go away when the configuration still has all that it had, which is how most applies are. */
static bool has_all_of(const struct update *u, const struct manager *last, const struct manager *me)
{
        for (size_t i = 0; i < u->managers.n; i++)
                if (!str_equal(u->managers.p[i].api_version, u->api_version))
                        return false;
        return str_equal(last->api_version, u->api_version) && !field_set_difference(u->arena, last->set, me->set);
}

/* Removes what the applier had before, leaves out now and nobody else owns. */
static int prune_fields(const struct update *u, const struct manager *last, const struct manager *me,
                        const struct value *merged, const struct value **ret, struct err *err)
{
        const struct field_set *named, *gone;
        const struct value *from, *pruned, *at_last;
        struct type type;
        int r;

        *ret = merged;
        if (!last || !last->set)
                return 0;
        if (has_all_of(u, last, me))
                return 0;
        r = convert(u, merged, last->api_version, &from, &type, err);
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
        r = convert(u, pruned, last->api_version, &at_last, &type, err);
        if (r < 0)
                return err_wrap(
                        err, "failed add back dangling items: failed to convert pruned object to last applied version");
        if (r == 0)
                at_last = pruned;
        gone = field_set_difference(u->arena, named_set(u, type, from), named_set(u, type, at_last));
        pruned = typed_remove(u->arena, type, from, field_set_intersection(u->arena, gone, named));
        r = convert(u, pruned, u->api_version, ret, &type, err);
        return r < 0 ? r : 0;
}

static int prune(const struct update *u, const struct manager *last, const struct manager *me,
                 const struct value *merged, const struct value **ret, struct err *err)
{
        int r;

        r = prune_fields(u, last, me, merged, ret, err);
        return r < 0 ? err_wrap(err, "failed to prune fields") : 0;
}

static int check_config(const struct managed_request *req, struct arena *a, const struct value *config, struct err *err)
{
        struct gvk gvk = gvk_of(config);
        int r;

        if (!gvk_equal(gvk, req->type->gvk))
                r = err_set(err, ERR_INVALID, "invalid object type: %.*s", STR_ARG(gvk_text(a, gvk)));
        else if (value_find(config, "metadata", "managedFields") &&
                 !value_is_null(value_find(config, "metadata", "managedFields")))
                r = err_set(err, ERR_INVALID, "metadata.managedFields must be nil");
        else
                return 0;
        if (err)
                err_set_reason(err, REASON_BAD_REQUEST);
        return r;
}

static int validate_objects(const struct update *u, const struct value *live, const struct value *config,
                            struct err *err)
{
        struct str name = meta_name(config), namespace = meta_namespace(config);
        struct str gvk = gvk_text(u->arena, gvk_of(config));
        int r;

        r = typed_validate(u->arena, u->type, config, false, err);
        if (r < 0)
                err_wrap(err, "failed to create typed patch object (%.*s/%.*s; %.*s)", STR_ARG(namespace),
                         STR_ARG(name), STR_ARG(gvk));
        if (r >= 0) {
                r = typed_validate(u->arena, u->type, live, true, err);
                if (r < 0)
                        err_wrap(err, "failed to create typed live object (%.*s/%.*s; %.*s)",
                                 STR_ARG(meta_namespace(live)), STR_ARG(meta_name(live)),
                                 STR_ARG(gvk_text(u->arena, gvk_of(live))));
        }
        return r;
}

/* Steps 3 to 9 of spec/apiserver 4.3. The conflicts are the caller's to judge; with any, nothing else counts. */
static int apply(struct update *u, const struct value *live, const struct value *config, bool force,
                 const struct value **ret, struct conflicts *conflicts, struct err *err)
{
        struct manager me = { .name = u->req->manager,
                              .api_version = u->api_version,
                              .subresource = u->req->subresource,
                              .is_apply = true };
        struct manager last, *mine;
        struct views views;
        bool has_last;
        int r;

        r = reconcile_all(u, live, err);
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
        views = begin_views(u, live, *ret);
        r = take_changes(u, &views, mine, conflicts, err);
        if (r < 0 || (conflicts->n > 0 && !force))
                return r;
        subtract(u, &views, mine, conflicts);
        mine->set = without_system_fields(u->arena, mine->set);
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

/* --- The hand-over from client-side apply --- */

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* Fields that live still has as they were last applied on the client's side. */
static const struct field_set *client_applied(const struct update *u, const struct value *live)
{
        struct str text = meta_annotation(live, STR(LAST_APPLIED));
        const struct field_set *set;
        const struct value *object;
        struct comparison c;

        if (str_is_empty(text) || json_parse(u->arena, text, NULL, &object, NULL) < 0 || !value_is_object(object) ||
            !gvk_equal(gvk_of(object), u->req->type->gvk) || typed_validate(u->arena, u->type, object, false, NULL) < 0)
                return NULL;
        set = typed_to_set(u->arena, u->type, object);
        c = typed_compare(u->arena, u->type, object, live);
        set = field_set_difference(u->arena, set, c.modified);
        set = field_set_difference(u->arena, set, c.added);
        return field_set_difference(u->arena, set, c.removed);
}

/* Takes the conflicts that are allowed out of the list; true when none are left. */
static bool forgive(const struct update *u, const struct value *live, struct conflicts *conflicts)
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

/* Keeps the annotation up to date, so that one can go back to client-side apply. */
static int update_last_applied(const struct update *u, const struct value *config, const struct value **object,
                               struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *applied = config, *annotations;
        int r;

        if (str_is_empty(meta_annotation(*object, STR(LAST_APPLIED))))
                return 0;
        annotations = value_find(config, "metadata", "annotations");
        if (value_is_null(annotations))
                applied = meta_with(u->arena, config, STR("annotations"), NULL);
        else if (value_get(annotations, STR(LAST_APPLIED)))
                applied = meta_with(u->arena, config, STR("annotations"),
                                    value_without(u->arena, annotations, STR(LAST_APPLIED)));
        r = json_write(&text, applied, JSON_GO, err);
        if (r < 0)
                return err_wrap(err, "failed to build last-applied annotation");
        buf_append_char(&text, '\n');
        *object = meta_with_annotation(u->arena, *object, STR(LAST_APPLIED), buf_to_arena(&text, u->arena));
        return 0;
}

static int apply_all(struct arena *a, const struct managed_request *req, const struct value *live,
                     const struct value *config, const struct value **ret, struct err *err)
{
        bool is_kubectl = str_equal(req->manager, STR("kubectl"));
        struct conflicts conflicts = { 0 };
        const struct value *object;
        struct managers before;
        struct update u;
        int r;

        begin(&u, a, req);
        r = managed_fields_decode(a, live, true, &u.managers, err);
        if (r < 0)
                return err_wrap(err, "failed to decode managed fields");
        live = live ? without_managed_fields(a, live) : empty_object(a, req, u.api_version);
        if (u.managers.n == 0) {
                r = track_update(&u, empty_object(a, req, u.api_version), live, STR("before-first-apply"), err);
                if (r < 0)
                        return err_wrap(err, "failed to create manager for existing fields");
        }
        r = validate_objects(&u, live, config, err);
        if (r < 0)
                return r;
        before = copy_managers(&u.managers);
        r = apply(&u, live, config, req->force, &object, &conflicts, err);
        if (r >= 0 && conflicts.n > 0 && !req->force && is_kubectl && forgive(&u, live, &conflicts)) {
                u.managers = before;
                r = apply(&u, live, config, true, &object, &conflicts, err);
                conflicts.n = 0;
        }
        if (r < 0)
                return r;
        if (conflicts.n > 0 && !req->force)
                return refuse_conflicts(&u, &conflicts, err);
        if (is_kubectl) {
                r = update_last_applied(&u, config, &object, err);
                if (r < 0)
                        return r;
        }
        *ret = managed_fields_store(object, &u.managers);
        return arena_check(a, err);
}

int managed_apply(struct arena *a, const struct managed_request *req, const struct value *live,
                  const struct value *config, const struct value **ret, struct err *err)
{
        int r;

        r = check_config(req, a, config, err);
        if (r < 0)
                return r;
        r = apply_all(a, req, live, config, ret, err);
        if (r < 0 && r != ERR_CONFLICT && r != ERR_LIMIT && err)
                err_set_reason(err, REASON_UNKNOWN);
        return r;
}
