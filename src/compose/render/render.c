#include "render.h"

#include "first-design.h"
#include "buf.h"
#include "composite.h"
#include "json.h"
#include "owner.h"
#include "path.h"
#include "render-cluster.h"
#include "render-schema.h"
#include "revision.h"
#include "uuid.h"
#include "xrd.h"

struct render {
        struct run *run;
        struct arena *arena; /* the run's */
        const struct render_input *in;
        const struct places *places;
        const struct value *composite; /* the input of the reconcile */
        const struct value *revision;
        struct render_cluster *cluster;
        struct array_builder required_resources, required_schemas;
};

/* --- The input of the reconcile --- */

const struct value *render_with_identity(struct arena *a, const struct value *composite)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), uid = BUF_INIT(0);

        if (meta_uid(composite).n == 0) {
                buf_append_str(&text, gvk_text(a, gvk_of(composite)));
                buf_append_char(&text, '\0');
                buf_append_str(&text, meta_namespace(composite));
                buf_append_char(&text, '\0');
                buf_append_str(&text, meta_name(composite));
                uuid_append(&uid, uuid_v5(UUID_NIL, buf_str(&text)));
                composite = meta_with_str(a, composite, STR("uid"), buf_to_arena(&uid, a));
        }
        return meta_with_str(a, composite, STR("resourceVersion"), STR("999"));
}

static void check_observed(const struct value *observed, const struct value *composite, struct str_list *problems)
{
        struct str ns = meta_namespace(composite), name = meta_name(observed);
        struct owner_reference controller;

        if (owner_controller(observed, &controller) && !str_equal(controller.uid, meta_uid(composite)))
                str_list_printf(problems, "observed resource %.*s has a controller ref but is not controlled by the XR",
                                STR_ARG(name));
        if (ns.n && !str_equal(meta_namespace(observed), ns))
                str_list_printf(problems, "observed resource %.*s is not in the same namespace as the XR",
                                STR_ARG(name));
}

static int check_all_observed(struct render *r, struct err *err)
{
        struct str_list problems;
        struct str text;

        str_list_init(&problems, r->arena);
        VALUE_FOREACH_ITEM (item, r->in->observed)
                check_observed(item, r->composite, &problems);
        if (problems.n == 0)
                return 0;
        text = str_list_join(&problems, STR(", "));
        return err_set(err, ERR_INVALID, "invalid observed resources: %s%.*s%s", problems.n > 1 ? "[" : "",
                       STR_ARG(text), problems.n > 1 ? "]" : "");
}

static void add_text(struct object_builder *b, struct str key, struct str text)
{
        if (text.n)
                object_builder_add(b, key, value_of_str(text));
}

/* Sets resourceRefs of the composite to the observed resources, and replaces the given references. */
static void refer_to_observed(struct render *r)
{
        struct composite xr = { r->composite, r->places };
        struct array_builder refs;

        if (value_count(r->in->observed) == 0)
                return;
        array_builder_init(&refs, r->arena, value_count(r->in->observed));
        VALUE_FOREACH_ITEM (item, r->in->observed) {
                struct object_builder b;

                object_builder_init(&b, r->arena, 4);
                add_text(&b, STR("apiVersion"), value_str(value_get(item, STR("apiVersion"))));
                add_text(&b, STR("kind"), value_str(value_get(item, STR("kind"))));
                add_text(&b, STR("name"), meta_name(item));
                if (meta_namespace(r->composite).n == 0)
                        add_text(&b, STR("namespace"), meta_namespace(item));
                array_builder_add(&refs, object_builder_finish(&b));
        }
        xr = composite_with(r->arena, &xr, STR("resourceRefs"), value_put(r->arena, array_builder_finish(&refs)));
        r->composite = xr.object;
}

static const struct places *places_of(const struct value *xrd)
{
        return xrd ? xrd_places(xrd) : &places_modern;
}

static int choose_shape(struct render *r, struct err *err)
{
        struct gvk gvk = gvk_of(r->composite), defined;

        r->places = places_of(r->in->xrd);
        if (!r->in->xrd)
                return 0;
        defined = xrd_composite_gvk(r->in->xrd);
        if (str_equal(gvk.group, defined.group) && str_equal(gvk.kind, defined.kind))
                return 0;
        if (meta_has_label(r->in->xrd, FIRST_DESIGN_LABEL))
                return err_set(err, ERR_INVALID,
                               "%.*s \"%.*s\" defines %.*s.%.*s, not %.*s.%.*s: give the definition of that kind",
                               STR_ARG(meta_label(r->in->xrd, FIRST_DESIGN_LABEL)), STR_ARG(meta_name(r->in->xrd)),
                               STR_ARG(defined.kind), STR_ARG(defined.group), STR_ARG(gvk.kind), STR_ARG(gvk.group));
        return err_set(err, ERR_INVALID,
                       "cannot select composite resource schema: CompositeResourceDefinition \"%.*s\" "
                       "(composite Group=%.*s Kind=%.*s) does not match the input XR's Group=%.*s Kind=%.*s",
                       STR_ARG(meta_name(r->in->xrd)), STR_ARG(defined.group), STR_ARG(defined.kind),
                       STR_ARG(gvk.group), STR_ARG(gvk.kind));
}

int render_prepare(struct arena *a, const struct value *composition, const struct value **ret_revision, struct err *err)
{
        struct condition valid = { .type = STR("ValidPipeline"), .status = CONDITION_TRUE };
        int e = value_settle(a, composition ?: &value_empty_object, &composition, err);

        if (e >= 0)
                e = revision_make(a, composition, 1, ret_revision, err);
        if (e >= 0)
                *ret_revision = conditions_set(a, *ret_revision, &valid, 1);
        return e;
}

static int add_objects(struct arena *a, struct render_cluster *cluster, const struct value *list, struct err *err)
{
        VALUE_FOREACH_ITEM (item, list) {
                const struct value *object;
                int e = value_settle(a, item, &object, err);

                if (e < 0)
                        return e;
                render_cluster_add(cluster, object);
        }
        return 0;
}

int render_share(struct arena *a, const struct value *required, const struct value *credentials,
                 const struct render_cluster **ret, struct err *err)
{
        struct object_key none = { 0 };
        struct render_cluster *cluster = render_cluster_new(a, &none, NULL);
        int e;

        if ((e = add_objects(a, cluster, required, err)) < 0 || (e = add_objects(a, cluster, credentials, err)) < 0)
                return e;
        *ret = cluster;
        return 0;
}

static int make_cluster(struct render *r, struct err *err)
{
        struct object_key key = object_key_of(r->composite);
        const struct render_cluster *shared = r->in->shared;
        int e = shared ? 0 : render_share(r->arena, r->in->required, r->in->credentials, &shared, err);

        if (e < 0)
                return e;
        r->cluster = render_cluster_new(r->arena, &key, shared);
        e = add_objects(r->arena, r->cluster, r->in->observed, err);
        if (e >= 0)
                render_cluster_add(r->cluster, r->composite);
        return e;
}

static int check_kind(const struct value *composite, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int e;

        if (gvk_of(composite).kind.n)
                return 0;
        e = json_write(&text, composite, JSON_SORT_KEYS, err);
        if (e < 0)
                return e;
        return err_set(err, ERR_INVALID,
                       "reconcile failed: cannot get composite resource: Object 'Kind' is missing in '%.*s'",
                       STR_ARG(buf_str(&text)));
}

/* Infrastructure of the first design: a controller does not run a revision that breaks the connection contract. */
static int check_contract(const struct render *r, struct err *err)
{
        struct str breach = STR("");

        if (r->places->has_exact_keys)
                breach = first_design_contract(r->arena, value_find(r->in->xrd, "spec", "connectionSecretKeys"),
                                               r->revision);
        return breach.n ? err_set(err, ERR_INVALID, "the Composition breaks the connection contract of %.*s: %.*s",
                                  STR_ARG(meta_name(r->in->xrd)), STR_ARG(breach))
                        : 0;
}

static int prepare(struct render *r, struct err *err)
{
        int e = value_settle(r->arena, r->in->composite ?: &value_empty_object, &r->composite, err);

        if (e < 0)
                return e;
        r->composite = render_with_identity(r->arena, r->composite);
        if ((e = choose_shape(r, err)) < 0 || (e = check_all_observed(r, err)) < 0 ||
            (e = check_kind(r->composite, err)) < 0)
                return e;
        refer_to_observed(r);
        r->revision = r->in->revision;
        if (!r->revision && (e = render_prepare(r->arena, r->in->composition, &r->revision, err)) < 0)
                return e;
        e = check_contract(r, err);
        return e < 0 ? e : make_cluster(r, err);
}

/* --- The requirements of functions --- */

static struct value labels_value(struct arena *a, const struct fn_selector *s)
{
        struct object_builder labels;
        struct value v;

        if (s->n_labels == 0)
                return value_empty_object;
        object_builder_init(&labels, a, s->n_labels);
        for (size_t i = 0; i < s->n_labels; i++)
                object_builder_set(&labels, s->labels[i].key, value_of_str(s->labels[i].value));
        v = object_builder_finish(&labels);
        return *value_with(a, &value_empty_object, STR("labels"), &v);
}

static struct value selector_value(struct arena *a, const struct fn_selector *s)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        add_text(&b, STR("apiVersion"), s->api_version);
        add_text(&b, STR("kind"), s->kind);
        if (s->match_name.p)
                object_builder_add(&b, STR("matchName"), value_of_str(s->match_name));
        else if (s->has_labels)
                object_builder_add(&b, STR("matchLabels"), labels_value(a, s));
        if (s->ns.p)
                object_builder_add(&b, STR("namespace"), value_of_str(s->ns));
        return object_builder_finish(&b);
}

static void on_fetch(void *arg, const struct step *step, const struct fn_selector *selector)
{
        struct render *r = arg;

        array_builder_add(&r->required_resources, selector_value(r->arena, selector));
}

static int find_schema(void *arg, struct run *run, struct gvk gvk, const struct value **ret, struct err *err)
{
        struct render *r = arg;
        struct fn_selector selector = { .api_version = gvk_api_version(r->arena, gvk), .kind = gvk.kind };

        array_builder_add(&r->required_schemas, selector_value(r->arena, &selector));
        return render_find_schema(r->arena, r->in->schemas, gvk, ret, err);
}

/* --- The output --- */

static struct value list_of(struct arena *a, const struct value *const *objects, size_t n, bool is_applied)
{
        struct array_builder b;

        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++) {
                const struct value *object = objects[i];

                /* If a function left out apiVersion or kind, the output has "" there. */
                if (is_applied && !value_get(object, STR("apiVersion")))
                        object = value_with(a, object, STR("apiVersion"), &value_empty_string);
                if (is_applied && !value_get(object, STR("kind")))
                        object = value_with(a, object, STR("kind"), &value_empty_string);
                array_builder_add(&b, *object);
        }
        return array_builder_finish(&b);
}

static int collect(struct render *r, struct reconcile_result *result, struct render_output *ret, struct err *err)
{
        const struct value *const *objects;
        size_t n = render_cluster_applied(r->cluster, &objects);

        *ret = (struct render_output) {
                .composite = render_cluster_composite(r->cluster),
                .composed = value_put(r->arena, list_of(r->arena, objects, n, true)),
                .events = result->events,
                .n_events = result->n_events,
                .required_resources = value_put(r->arena, array_builder_finish(&r->required_resources)),
                .required_schemas = value_put(r->arena, array_builder_finish(&r->required_schemas)),
                .records = result->records,
                .n_records = result->n_records,
                .is_fatal = result->is_fatal,
        };
        n = render_cluster_deleted(r->cluster, &objects);
        ret->deleted = value_put(r->arena, list_of(r->arena, objects, n, false));
        return fn_struct_value(r->arena, &result->context, &ret->context, err);
}

static int reconcile(struct render *r, struct render_output *ret, struct err *err)
{
        struct composite_type type = { .gvk = gvk_of(r->composite), .places = r->places };
        struct reconcile_options options = {
                .cluster = render_cluster(r->cluster),
                .policies = &reconcile_policies_render,
                .type = &type,
                .steps = r->in->steps,
                .hooks = { .find_schema = find_schema, .on_fetch = on_fetch, .arg = r },
                .is_realtime = true,
                .context = r->in->context,
                .revision = r->revision,
        };
        struct object_key key = object_key_of(r->composite);
        struct reconcile_result result;
        int e, collected;

        array_builder_init(&r->required_resources, r->arena, 0);
        array_builder_init(&r->required_schemas, r->arena, 0);
        e = composite_reconcile(r->run, &options, &key, &result, err);
        ret->records = result.records;
        ret->n_records = result.n_records;
        if (e < 0 && !result.is_fatal)
                return err_wrap(err, "reconcile failed");
        collected = collect(r, &result, ret, e < 0 ? NULL : err);
        return e < 0 ? e : collected;
}

int render_composite(struct run *run, const struct render_input *in, struct render_output *ret, struct err *err)
{
        struct render r = { .run = run, .arena = run->arena, .in = in };
        int e;

        *ret = (struct render_output) { 0 };
        e = prepare(&r, err);
        if (e >= 0)
                e = reconcile(&r, ret, err);
        return e < 0 ? err_wrap(err, "cannot render composite resource") : 0;
}

const struct value *render_composite_after(struct arena *a, const struct render_input *in,
                                           const struct render_output *out)
{
        struct composite given = { in->composite, places_of(in->xrd) }, came = { out->composite, given.places };
        const struct value *references = composite_field(&came, STR("resourceRefs"));
        const struct value *status = value_get(out->composite, STR("status"));

        given = composite_with_ref(a, &given, STR("compositionRef"), meta_name(in->composition));
        if (references)
                given = composite_with(a, &given, STR("resourceRefs"), references);
        return status ? value_with(a, given.object, STR("status"), status) : given.object;
}
