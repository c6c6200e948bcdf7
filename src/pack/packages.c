#include "packages-state.h"

#include "dependencies.h"
#include "json.h"
#include "runtime.h"

#include <stdio.h>

const struct package_kind package_kinds[3] = {
        [XPKG_FUNCTION] = { .kind = XPKG_FUNCTION,
                            .package = STR_INIT("Function"),
                            .revision = STR_INIT("FunctionRevision"),
                            .package_component = STR_INIT("packages/function.pkg.crossplane.io"),
                            .revision_component = STR_INIT("packages/functionrevision.pkg.crossplane.io"),
                            .has_runtime = true },
        [XPKG_PROVIDER] = { .kind = XPKG_PROVIDER,
                            .package = STR_INIT("Provider"),
                            .revision = STR_INIT("ProviderRevision"),
                            .package_component = STR_INIT("packages/provider.pkg.crossplane.io"),
                            .revision_component = STR_INIT("packages/providerrevision.pkg.crossplane.io"),
                            .has_runtime = true,
                            .has_client_secret = true },
        [XPKG_CONFIGURATION] = { .kind = XPKG_CONFIGURATION,
                                 .package = STR_INIT("Configuration"),
                                 .revision = STR_INIT("ConfigurationRevision"),
                                 .package_component = STR_INIT("packages/configuration.pkg.crossplane.io"),
                                 .revision_component = STR_INIT("packages/configurationrevision.pkg.crossplane.io") },
};

/* --- What runs share --- */

int packages_list_revisions(struct kind_run *r, const struct package_kind *kind, struct str package,
                            struct object_list *ret, struct err *err)
{
        struct label_requirement own = { .key = PACKAGE_LABEL, .op = SELECT_EQUALS, .values = &package, .n_values = 1 };
        struct label_selector labels = { .requirements = &own, .n = 1 };
        struct list_request req = { .gvk = package_revision_gvk(kind), .labels = &labels };

        return cluster_list(r->cluster, r->run, &req, ret, err);
}

int packages_get(struct kind_run *r, struct gvk gvk, struct str ns, struct str name, const struct value **ret,
                 struct err *err)
{
        struct object_key key = { .gvk = gvk, .ns = ns, .name = name };
        _cleanup_err_ struct err inner = { 0 };
        int e;

        *ret = NULL;
        if (name.n == 0)
                return 0;
        e = cluster_get_value(r->cluster, r->run, &key, ret, &inner);
        if (e == ERR_NOT_FOUND)
                return 0;
        return e < 0 ? err_move(err, &inner) : 0;
}

int packages_write(struct kind_run *r, enum write_verb verb, const struct value *object, struct str subresource,
                   bool is_dry_run, const struct value **ret, struct err *err)
{
        struct write_request req = { .verb = verb,
                                     .key = object_key_of(object),
                                     .subresource = subresource,
                                     .body = object,
                                     .manager = CROSSPLANE_MANAGER,
                                     .is_dry_run = is_dry_run };
        struct write_result result;
        int e = cluster_write(r->cluster, r->run, &req, &result, err);

        if (e == 0)
                *ret = result.value;
        return e;
}

/* --- Start --- */

static int start(struct packages *p, struct str name, struct gvk gvk, kind_reconcile *reconcile, void *context,
                 int64_t timeout_ms, struct kind_controller **ret, struct err *err)
{
        struct kind_controller_options options = { .name = name,
                                                   .gvk = gvk,
                                                   .reconcile = reconcile,
                                                   .context = context,
                                                   .knows_writes = true,
                                                   .timeout_ms = timeout_ms };

        return kind_controller_start(p->options.manager, &options, ret, err);
}

static int start_kind(struct packages *p, const struct package_kind *kind, struct err *err)
{
        struct package_controllers *c = &p->kinds[kind->kind];
        int r;

        *c = (struct package_controllers) { .pack = p, .kind = kind };
        r = start(p, kind->revision_component, package_revision_gvk(kind), package_revision_reconcile, c, 180000,
                  &c->revisions, err);
        if (r == 0)
                r = start(p, kind->package_component, package_gvk(kind), package_reconcile, c, 60000, &c->packages,
                          err);
        if (r == 0 && packages_have_selectors(p, kind))
                r = start(p, STR("rollout/function.pkg.crossplane.io"), package_gvk(kind), package_rollout_reconcile, c,
                          0, &c->rollouts, err);
        return r;
}

static int start_lock(struct packages *p, struct err *err)
{
        struct dependencies_options *options = ARENA_NEW(&p->arena, struct dependencies_options);

        *options = (struct dependencies_options) { .client = p->options.client,
                                                   .upgrades = p->options.upgrades_dependencies,
                                                   .downgrades = p->options.downgrades_dependencies };
        if (!p->options.client)
                return 0;
        return start(p, STR("packages/lock.pkg.crossplane.io"),
                     (struct gvk) { PACKAGE_GROUP, STR("v1beta1"), STR("Lock") }, lock_reconcile, options, 60000,
                     &p->lock, err);
}

static int start_definitions(struct packages *p, struct err *err)
{
        struct gvk gvk = { STR("apiextensions.crossplane.io"), STR("v1alpha1"), STR("ManagedResourceDefinition") };
        int r = start(p, STR("mrd/managedresourcedefinition"), gvk, managed_definition_reconcile, p, 0, &p->definitions,
                      err);

        gvk.kind = STR("ManagedResourceActivationPolicy");
        if (r == 0)
                r = start(p, STR("mrap/managedresourceactivationpolicy"), gvk, activation_policy_reconcile, p, 0,
                          &p->policies, err);
        return r;
}

static void copy_options(struct packages *p, const struct packages_options *options)
{
        struct packages_external *copy = ARENA_NEW_ARRAY(&p->arena, struct packages_external, options->n_externals + 1);

        for (size_t i = 0; i < options->n_externals; i++)
                copy[i] = (struct packages_external) { arena_copy(&p->arena, options->externals[i].name),
                                                       arena_copy(&p->arena, options->externals[i].target) };
        p->options = *options;
        p->options.externals = copy;
        p->options.tls_certs_dir = arena_copy(&p->arena, options->tls_certs_dir);
        if (options->keys_directory)
                p->options.keys_directory = arena_cstring(&p->arena, str_from(options->keys_directory));
}

/* A pipeline may name a function that runs beside without a Function object; a Function of the name has revisions, which count first. */
static int register_externals(struct packages *p, struct err *err)
{
        for (size_t i = 0; i < p->options.n_externals; i++) {
                const struct packages_external *e = &p->options.externals[i];
                struct grpc_function_options options = { .target = e->target,
                                                         .tls_certs_dir = p->options.tls_certs_dir,
                                                         .names_itself = true,
                                                         .patience_ms = FUNCTION_PATIENCE_MS };
                struct function *f;
                int r = function_grpc_new(e->name, STR(""), &options, &f, err);

                if (r < 0)
                        return err_wrap(err, "cannot call function \"%.*s\"", STR_ARG(e->name));
                registry_set(p->options.registry, e->name, f);
        }
        return 0;
}

static void runtime_changed(void *context, struct str revision)
{
        struct packages *p = context;
        char topic[512];
        int n = snprintf(topic, sizeof(topic), "runtime/%.*s", STR_ARG(revision));

        tracker_tell(manager_tracker(p->options.manager), str_make(topic, MIN((size_t)n, sizeof(topic) - 1)));
}

int packages_new(const struct packages_options *options, struct packages **ret, struct err *err)
{
        struct packages *p = xcalloc(1, sizeof(*p));
        int r;

        arena_init(&p->arena, "packages", 0);
        mutex_init(&p->mutex);
        copy_options(p, options);
        if (p->options.runtime) {
                p->options.runtime->context = p;
                p->options.runtime->on_change = runtime_changed;
        }
        r = register_externals(p, err);
        if (r == 0)
                package_restore_functions(p);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(package_kinds); i++)
                r = start_kind(p, &package_kinds[i], err);
        if (r == 0)
                r = start_lock(p, err);
        if (r == 0)
                r = start_definitions(p, err);
        if (r < 0)
                packages_free(p);
        else
                *ret = p;
        return r;
}

void packages_free(struct packages *p)
{
        if (!p)
                return;
        kind_controller_stop(p->policies);
        kind_controller_stop(p->definitions);
        kind_controller_stop(p->lock);
        for (size_t i = 0; i < ARRAY_SIZE(p->kinds); i++) {
                kind_controller_stop(p->kinds[i].rollouts);
                kind_controller_stop(p->kinds[i].packages);
                kind_controller_stop(p->kinds[i].revisions);
        }
        /* Functions may use the runtime, which ends after the pack. */
        for (struct map_entry *e = map_first(&p->registered); e; e = map_next(&p->registered, e)) {
                registry_remove_revision(p->options.registry, registry_owner(p->options.registry, &p->arena, e->key),
                                         e->key);
                free(e->value);
        }
        map_done(&p->registered);
        mutex_done(&p->mutex);
        arena_done(&p->arena);
        free(p);
}

/* --- Objects that exist from the start --- */

static const char *const first_objects[] = {
        "{\"apiVersion\":\"pkg.crossplane.io/v1beta1\",\"kind\":\"Lock\",\"metadata\":{\"name\":\"lock\"}}",
        "{\"apiVersion\":\"pkg.crossplane.io/v1beta1\",\"kind\":\"DeploymentRuntimeConfig\",\"metadata\":{\"name\":"
        "\"default\"}}",
        "{\"apiVersion\":\"apiextensions.crossplane.io/v1alpha1\",\"kind\":\"ManagedResourceActivationPolicy\","
        "\"metadata\":{\"name\":\"default\"},\"spec\":{\"activate\":[\"*\"]}}",
};

int packages_install(struct cluster *cluster, struct run *run, struct err *err)
{
        for (size_t i = 0; i < ARRAY_SIZE(first_objects); i++) {
                struct write_request req = { .verb = WRITE_CREATE, .manager = CROSSPLANE_MANAGER };
                struct write_result result;
                _cleanup_err_ struct err inner = { 0 };
                int r = json_parse(run->arena, str_from(first_objects[i]), NULL, &req.body, err);

                if (r < 0)
                        return r;
                req.key = object_key_of(req.body);
                r = cluster_write(cluster, run, &req, &result, &inner);
                if (r < 0 && r != ERR_EXISTS)
                        return err_move(err, &inner);
        }
        return 0;
}
