#include "nop.h"

#include "base64.h"
#include "buf.h"
#include "clock.h"
#include "install.h"
#include "nop-conditions.h"
#include "nop-data.h"
#include "owner.h"
#include "yaml.h"

#define GROUP         STR("nop.crossplane.io")
#define FINALIZER     STR("finalizer.managedresource.crossplane.io")
#define EXTERNAL_NAME STR("crossplane.io/external-name")
#define PAUSED        STR("crossplane.io/paused")
#define SECRET_TYPE   STR("connection.crossplane.io/v1alpha1")
#define MANAGER       STR("provider") /* the field manager of the real one */

#define PAUSED_TEXT "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation"

static const struct {
        const char *name; /* of the controller; also the component of events */
        struct str kind;
        struct str crd;
} kinds[] = {
        { "managed/nopresource.nop.crossplane.io", STR_INIT("NopResource"),
          STR_INIT("nopresources.nop.crossplane.io") },
        { "managed/clusternopresource.nop.crossplane.io", STR_INIT("ClusterNopResource"),
          STR_INIT("clusternopresources.nop.crossplane.io") },
};

struct nop {
        struct kind_controller *controllers[ARRAY_SIZE(kinds)];
};

/* One reconcile of one resource. */
struct nop_run {
        struct kind_run *r;
        struct arena *arena;
        const struct value *object; /* as the API has it */
        struct str component;
};

static int update(struct nop_run *n, const struct value *object, struct str subresource, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_UPDATE, .key = n->r->key, .subresource = subresource, .body = object, .manager = MANAGER
        };
        struct write_result result;
        int e;

        if (object == n->object || value_equal(object, n->object))
                return 0;
        e = cluster_write(n->r->cluster, n->r->run, &req, &result, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                n->r->is_gone = true;
                return 0;
        }
        if (e < 0)
                return kind_run_retry_conflict(n->r, err, "cannot update managed resource");
        n->object = result.value;
        return 0;
}

/* --- Conditions --- */

static int put_conditions(struct nop_run *n, const struct condition *conditions, size_t count, struct err *err)
{
        const struct value *object = n->object, *status = value_get(object, STR("status"));

        if (!value_is_object(status))
                status = value_with(n->arena, &value_empty_object, STR("atProvider"), &value_empty_object);
        object = value_with(n->arena, object, STR("status"), status);
        return update(n, conditions_set(n->arena, object, conditions, count), STR("status"), err);
}

static struct condition synced(const struct nop_run *n, bool is_true, struct str reason, struct str message)
{
        return (struct condition) {
                .type = STR("Synced"),
                .status = is_true ? CONDITION_TRUE : CONDITION_FALSE,
                .reason = reason,
                .message = message,
                .last_transition = clock_wall(),
                .observed_generation = meta_generation(n->object),
        };
}

static void tell(struct nop_run *n, bool is_warning, const char *reason, const char *message)
{
        kind_run_event(n->r, n->object, &(struct recorder_source) { .component = n->component }, is_warning, reason,
                       "%s", message);
}

/* A mistake in the object: told in its condition; its next change runs it again. */
static int refuse(struct nop_run *n, const char *reason, struct err *err)
{
        struct condition c = synced(n, false, STR("ReconcileError"), arena_copy(n->arena, str_from(err_message(err))));

        tell(n, true, reason, err_message(err));
        err_done(err);
        return put_conditions(n, &c, 1, err);
}

static int report_pause(struct nop_run *n, struct err *err)
{
        struct condition c = synced(n, false, STR("ReconcilePaused"), STR("")), before;

        if (!condition_get(n->object, c.type, &before) || !str_equal(before.reason, c.reason))
                tell(n, false, "ReconciliationPaused", PAUSED_TEXT);
        return put_conditions(n, &c, 1, err);
}

/* All conditions that are due. Synced is ours: what the object says of it does not count. */
static int report(struct nop_run *n, const struct nop_plan *plan, struct err *err)
{
        struct condition *all = ARENA_NEW_ARRAY(n->arena, struct condition, plan->n + 1);
        size_t count = 1;

        all[0] = synced(n, true, STR("ReconcileSuccess"), STR(""));
        for (size_t i = 0; i < plan->n; i++)
                if (!str_equal(plan->conditions[i].type, all[0].type))
                        all[count++] = plan->conditions[i];
        n->r->answer->after_ns = plan->next_ns;
        return put_conditions(n, all, count, err);
}

/* --- Connection details --- */

/* The data that the secret shall have: what it has, with our details. */
static const struct value *with_details(struct nop_run *n, const struct value *data)
{
        VALUE_FOREACH_ITEM (detail, value_find(n->object, "spec", "forProvider", "connectionDetails")) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct value text;

                base64_encode(&b, value_str(value_get(detail, STR("value"))), BASE64_STD);
                text = value_of_str(buf_to_arena(&b, n->arena));
                data = value_with(n->arena, data, value_str(value_get(detail, STR("name"))), &text);
        }
        return data;
}

static const struct value *new_secret(struct nop_run *n, const struct object_key *key)
{
        struct owner_reference owner = owner_reference_to(n->arena, n->object, true, true);
        struct value reference = owner_reference_value(n->arena, &owner);
        struct object_builder b, metadata;

        object_builder_init(&metadata, n->arena, 3);
        object_builder_add(&metadata, STR("name"), value_of_str(key->name));
        object_builder_add(&metadata, STR("namespace"), value_of_str(key->ns));
        object_builder_add(&metadata, STR("ownerReferences"), value_of_items(n->arena, &reference, 1));
        object_builder_init(&b, n->arena, 5);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Secret"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("type"), value_of_str(SECRET_TYPE));
        object_builder_add(&b, STR("data"), *with_details(n, &value_empty_object));
        return value_put(n->arena, object_builder_finish(&b));
}

static int check_secret(const struct nop_run *n, const struct value *secret, struct err *err)
{
        struct owner_reference owner;

        if (!owner_controller(secret, &owner) || !str_equal(owner.uid, meta_uid(n->object)))
                return err_set(err, ERR_FORBIDDEN,
                               "cannot write connection details: the Secret \"%.*s\" in namespace \"%.*s\" belongs to "
                               "something else; name another one in spec.writeConnectionSecretToRef",
                               STR_ARG(meta_name(secret)), STR_ARG(meta_namespace(secret)));
        return 0;
}

/* Details that are dropped stay in the secret, as Crossplane has it. */
static int publish(struct nop_run *n, struct err *err)
{
        const struct value *ref = value_find(n->object, "spec", "writeConnectionSecretToRef"), *secret, *data;
        struct object_key key = { .gvk = { STR(""), STR("v1"), STR("Secret") },
                                  .ns = value_str(value_get(ref, STR("namespace"))),
                                  .name = value_str(value_get(ref, STR("name"))) };
        struct write_request req = { .verb = WRITE_CREATE, .key = key, .manager = MANAGER };
        struct write_result result;
        int e;

        if (!value_is_object(ref))
                return 0;
        e = cluster_get_value(n->r->cluster, n->r->run, &key, &secret, err);
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                req.body = new_secret(n, &key);
        } else {
                if (e == 0)
                        e = check_secret(n, secret, err);
                if (e < 0)
                        return e;
                data = value_get(secret, STR("data"));
                data = with_details(n, value_is_object(data) ? data : &value_empty_object);
                req.verb = WRITE_UPDATE;
                req.body = value_with(n->arena, secret, STR("data"), data);
                if (value_equal(req.body, secret))
                        return 0;
        }
        e = cluster_write(n->r->cluster, n->r->run, &req, &result, err);
        return e < 0 ? err_wrap(err, "cannot write connection details") : 0;
}

/* --- Reconciling --- */

static int prepare(struct nop_run *n, struct err *err)
{
        const struct value *object = meta_with_finalizer(n->arena, n->object, FINALIZER);

        if (!meta_has_annotation(object, EXTERNAL_NAME))
                object = meta_with_annotation(n->arena, object, EXTERNAL_NAME, meta_name(object));
        return update(n, object, STR(""), err);
}

static int configure(struct nop_run *n, struct err *err)
{
        struct nop_plan plan;
        int e = prepare(n, err);

        if (e < 0 || n->r->answer->requeues || n->r->is_gone)
                return e;
        if (nop_plan(n->arena, n->object, clock_wall(), &plan, err) < 0)
                return refuse(n, "CannotObserveExternalResource", err);
        e = publish(n, err);
        if (e == ERR_CONFLICT)
                return kind_run_retry_conflict(n->r, err, "cannot write connection details");
        n->r->answer->requeues = e == ERR_NOT_FOUND; /* a missing namespace is not followed */
        if (e == ERR_FORBIDDEN || e == ERR_NOT_FOUND || e == ERR_INVALID)
                return refuse(n, "CannotPublishConnectionDetails", err);
        return e < 0 ? e : report(n, &plan, err);
}

/* Whether a package has brought the kind: its own program looks after the resources then. */
static int is_of_package(struct cluster *cluster, struct run *run, struct str name, bool *ret, struct err *err)
{
        struct object_key key = { .gvk = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") },
                                  .name = name };
        struct owner_reference controller;
        const struct value *crd;
        int e = cluster_get_value(cluster, run, &key, &crd, err);

        *ret = e == 0 && owner_controller(crd, &controller);
        if (e != ERR_NOT_FOUND)
                return e;
        err_done(err);
        return 0;
}

static int reconcile(struct kind_run *r, struct err *err)
{
        size_t i = str_equal(r->key.gvk.kind, kinds[1].kind);
        struct nop_run n = { .r = r, .arena = r->run->arena, .component = str_from(kinds[i].name) };
        bool is_others;
        int e = kind_run_get(r, &n.object, err);

        if (e < 0)
                return err_wrap(err, "cannot get managed resource");
        if (!n.object)
                return 0;
        e = is_of_package(r->cluster, r->run, kinds[i].crd, &is_others, err);
        if (e < 0 || is_others)
                return e < 0 ? err_wrap(err, "cannot get the kind's definition") : 0;
        if (str_equal(meta_annotation(n.object, PAUSED), STR("true")))
                return report_pause(&n, err);
        if (meta_is_deleting(n.object))
                return update(&n, meta_without_finalizer(n.arena, n.object, FINALIZER), STR(""), err);
        return configure(&n, err);
}

/* --- Life --- */

int nop_install(struct cluster *cluster, struct run *run, struct err *err)
{
        const struct value *file;
        int r = yaml_parse(run->arena, nop_data[0].text, NULL, &file, err);

        VALUE_FOREACH_ITEM (crd, value_get(r < 0 ? NULL : file, STR("crds"))) {
                bool is_others = false;

                if (r == 0)
                        r = is_of_package(cluster, run, meta_name(crd), &is_others, err);
                if (r == 0 && !is_others)
                        r = install_crd(cluster, run, crd, err);
        }
        return r;
}

int nop_new(struct manager *manager, struct nop **ret, struct err *err)
{
        struct nop *n = xcalloc(1, sizeof(*n));
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++) {
                struct kind_controller_options options = {
                        .name = str_from(kinds[i].name),
                        .gvk = { GROUP, STR("v1alpha1"), kinds[i].kind },
                        .reconcile = reconcile,
                        .context = n,
                        .knows_writes = true,
                };

                r = kind_controller_start(manager, &options, &n->controllers[i], err);
        }
        if (r < 0)
                nop_free(n);
        else
                *ret = n;
        return r;
}

void nop_free(struct nop *n)
{
        if (!n)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                kind_controller_stop(n->controllers[i]);
        free(n);
}
