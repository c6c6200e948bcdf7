/* The programs of revisions (docs/spec/packages 3.1). */
#include "revision-run.h"

#include "image-config.h"
#include "managed-definitions.h"
#include "oci-reference.h"
#include "owner.h"
#include "provider-account.h"
#include "runtime-tls.h"

#define AWAITING STR("Package runtime is scaled to zero; awaiting the first ManagedResourceDefinition to be activated")

static bool runs_elsewhere(const struct revision_run *v)
{
        return v->kind->kind == XPKG_FUNCTION ? v->pack->options.functions_run_elsewhere
                                              : v->pack->options.providers_run_elsewhere;
}

bool revision_has_program(const struct revision_run *v)
{
        return v->kind->has_runtime && !v->source.is_found && !runs_elsewhere(v);
}

static void set_runtime_health(struct revision_run *v, bool is_healthy, struct str message)
{
        v->revision =
                package_with_condition(v->arena, v->revision,
                                       (struct condition) { .type = STR("RuntimeHealthy"),
                                                            .status = is_healthy ? CONDITION_TRUE : CONDITION_FALSE,
                                                            .reason = is_healthy ? STR("HealthyPackageRevision")
                                                                                 : STR("UnhealthyPackageRevision"),
                                                            .message = message });
}

static void set_runtime_active(struct revision_run *v, bool is_active, struct str message)
{
        v->revision = package_with_condition(
                v->arena, v->revision,
                (struct condition) { .type = STR("RuntimeActive"),
                                     .status = is_active ? CONDITION_TRUE : CONDITION_FALSE,
                                     .reason = is_active ? STR("ActiveRuntime") : STR("AwaitingActivation"),
                                     .message = message });
}

static void record(struct revision_run *v, bool is_warning, struct str text)
{
        struct str component = arena_printf(v->arena, "package-runtime/%.*s",
                                            STR_ARG(str_skip(v->kind->revision_component, strlen("packages/"))));

        kind_run_record(v->r, v->read, &(struct recorder_source) { .component = component }, is_warning,
                        STR("SyncPackage"), text);
}

/* --- Keys --- */

static void copy_name(struct revision_run *v, struct str key)
{
        const struct value *name = value_get(value_get(v->revision, STR("spec")), key);

        if (name)
                v->revision = package_with_status(v->arena, v->revision, key, name);
}

/* Certificates and endpoints name the package or, with the gate FunctionRevisionSelectors, the revision. */
struct str revision_service(const struct packages *p, const struct package_kind *kind, const struct value *revision)
{
        return packages_have_selectors(p, kind) ? meta_name(revision) : meta_label(revision, PACKAGE_LABEL);
}

static int ensure_leaf(struct revision_run *v, const struct runtime_tls_leaf *leaf, struct runtime_tls *ret,
                       struct err *err)
{
        struct runtime_tls_options options = { .ns = PACKAGE_NAMESPACE };
        int64_t check_s = 0, after_ns;
        int e = runtime_tls_ensure(v->r->cluster, v->r->run, &options, leaf, ret, &check_s, err);

        if (e < 0)
                return err_wrap(err, "cannot make the keys of Secret \"%.*s\"", STR_ARG(leaf->secret));
        after_ns = check_s * 1000000000;
        if (check_s > 0 && (v->r->answer->after_ns == 0 || after_ns < v->r->answer->after_ns))
                v->r->answer->after_ns = after_ns;
        return 0;
}

/* The keys that calls of functions use, as files. */
static int write_client_keys(struct revision_run *v, struct err *err)
{
        struct runtime_tls_leaf leaf = { .use = RUNTIME_TLS_CALLS,
                                         .secret = RUNTIME_TLS_CLIENT,
                                         .name = STR("crossplane.crossplane-system") };
        struct runtime_tls tls;
        int e = ensure_leaf(v, &leaf, &tls, err);

        return e < 0 ? e : runtime_tls_write(v->pack->options.keys_directory, &tls, err);
}

static int make_keys(struct revision_run *v, struct err *err)
{
        const struct value *spec = value_get(v->revision, STR("spec")), *owner = v->package ? v->package : v->revision;
        struct owner_reference reference = owner_reference_to(v->arena, owner, true, true);
        struct value owned_by = owner_reference_value(v->arena, &reference);
        struct runtime_tls_leaf leaf = { .use = RUNTIME_TLS_SERVES,
                                         .secret = value_str(value_get(spec, STR("tlsServerSecretName"))),
                                         .name = revision_service(v->pack, v->kind, v->revision),
                                         .owner = &owned_by };
        int e = ensure_leaf(v, &leaf, &v->server, err);

        if (e < 0 || !v->kind->has_client_secret)
                return e < 0 ? e : write_client_keys(v, err);
        leaf.use = RUNTIME_TLS_CALLS;
        leaf.secret = value_str(value_get(spec, STR("tlsClientSecretName")));
        leaf.name = meta_name(v->revision);
        return ensure_leaf(v, &leaf, &v->client, err);
}

int revision_prepare_runtime(struct revision_run *v, struct err *err)
{
        int e;

        if (!revision_has_program(v) || !v->pack->options.runtime)
                return 0;
        e = make_keys(v, err);
        if (e < 0)
                return e;
        copy_name(v, STR("tlsServerSecretName"));
        copy_name(v, STR("tlsClientSecretName"));
        return 0;
}

/* --- Configuration --- */

static const struct value *config_ref(struct revision_run *v, struct err *err)
{
        const struct value *config;
        struct object_list configs;

        if (image_configs_list(v->r->cluster, v->r->run, &configs, err) < 0)
                return NULL;
        config = image_config_best(&configs, v->arena, IMAGE_RUNTIME, v->result.resolved);
        return config ? image_config_runtime(config) : value_find(v->revision, "spec", "runtimeConfigRef");
}

/* The spec of the runtime config; NULL in *ret if there is none. */
static int get_config(struct revision_run *v, const struct value **ret, struct err *err)
{
        const struct value *ref = config_ref(v, err), *config;
        struct str name = value_str(value_get(ref, STR("name")));
        struct object_key key = { .gvk = { PACKAGE_GROUP, STR("v1beta1"), STR("DeploymentRuntimeConfig") },
                                  .name = name };
        int e;

        *ret = NULL;
        if (err->code)
                return err->code;
        if (!ref)
                return err_set(err, ERR_INVALID, "no deployment runtime config set");
        if (!str_equal(gvk_of(ref).kind, key.gvk.kind) &&
            !str_equal(value_str(value_get(ref, STR("apiVersion"))), STR("pkg.crossplane.io/v1beta1")))
                return err_set(err, ERR_INVALID,
                               "the runtime config reference is not a DeploymentRuntimeConfig of "
                               "pkg.crossplane.io/v1beta1");
        e = cluster_get_value(v->r->cluster, v->r->run, &key, &config, err);
        if (e < 0)
                return err_wrap(err, "cannot get referenced deployment runtime config");
        *ret = value_get(config, STR("spec"));
        return 0;
}

/* --- Programs --- */

static int get_image(struct revision_run *v, struct oci_image **ret, struct err *err)
{
        const struct value *spec = value_get(v->revision, STR("spec"));
        struct package_request request = {
                .reference = arena_printf(v->arena, "%.*s@%.*s", STR_ARG(v->result.source), STR_ARG(v->result.digest)),
                .pull_secrets = value_get(spec, STR("packagePullSecrets")),
                .pull_policy = value_str(value_get(spec, STR("packagePullPolicy"))),
        };
        int e = package_client_image(v->pack->options.client, v->r, &request, ret, err);

        return e < 0 ? err_wrap(err, "cannot pull image") : 0;
}

static int ensure(struct revision_run *v, struct runtime_state *ret, struct err *err)
{
        _cleanup_(oci_image_unrefp)
        struct oci_image *image = NULL;
        struct runtime_wish wish = {
                .revision = meta_name(v->revision),
                .uid = meta_uid(v->revision),
                .package = meta_label(v->revision, PACKAGE_LABEL),
                .service = revision_service(v->pack, v->kind, v->revision),
                .kind = v->kind->kind,
                .server = v->server,
                .client = v->client,
        };
        int e = get_config(v, &wish.config, err);

        if (e < 0)
                return err_wrap(err, "cannot prepare runtime manifest builder options");
        if (v->kind->has_client_secret)
                e = provider_account_ensure(v, &wish.kubeconfig, err);
        if (e == 0)
                e = get_image(v, &image, err);
        wish.image = image;
        /* The note is made before the state is asked for, so that no change is missed. */
        tracked_run_note(v->r->tracked, arena_printf(v->arena, "runtime/%.*s", STR_ARG(wish.revision)));
        return e < 0 ? e : runtime_ensure(v->pack->options.runtime, v->arena, &wish, ret, err);
}

/* Whether a provider that can start without its kinds has none that is active. */
static int awaits_activation(struct revision_run *v, bool *ret, struct err *err)
{
        size_t n_definitions = 0;

        *ret = v->kind->kind == XPKG_PROVIDER && package_has_capability(&v->result.content, STR("safe-start"));
        VALUE_FOREACH_ITEM (ref, value_find(v->revision, "status", "objectRefs")) {
                const struct value *definition;
                int e;

                if (!*ret || !str_equal(gvk_of(ref).kind, STR("ManagedResourceDefinition")))
                        continue;
                n_definitions++;
                e = packages_get(v->r, gvk_of(ref), STR(""), value_str(value_get(ref, STR("name"))), &definition, err);
                if (e < 0)
                        return e;
                if (str_equal(value_str(value_find(definition, "spec", "state")), STR("Active")))
                        *ret = false;
        }
        *ret = *ret && n_definitions > 0;
        return 0;
}

static int fail(struct revision_run *v, struct err *err)
{
        struct str text = arena_copy(v->arena, str_from(err_message(err)));

        set_runtime_health(v, false, text);
        record(v, true, text);
        return err->code;
}

static void take_state(struct revision_run *v, const struct runtime_state *state)
{
        struct condition before;

        condition_get(v->read, STR("RuntimeHealthy"), &before);
        if (state->phase != RUNTIME_READY) {
                set_runtime_health(v, false,
                                   state->message.n ? state->message : STR("the program does not answer yet"));
                if (state->phase == RUNTIME_FAILED)
                        record(v, true, state->message);
                return;
        }
        if (v->kind->kind == XPKG_FUNCTION)
                v->revision = package_with_status_str(v->arena, v->revision, STR("endpoint"), state->endpoint);
        if (state->ignored.n)
                record(v, true,
                       arena_printf(v->arena, "fields of the runtime config that are not used here: %.*s",
                                    STR_ARG(state->ignored)));
        if (before.status != CONDITION_TRUE)
                record(v, false, STR("Successfully configured package revision"));
        set_runtime_health(v, true, STR(""));
        set_runtime_active(v, true, STR(""));
}

static int run_program(struct revision_run *v, struct err *err)
{
        struct runtime_state state;
        bool is_awaited;
        int e;

        if (!v->pack->options.runtime)
                return err_set(
                        err, ERR_UNSUPPORTED,
                        "there is no runtime for the program of the package: start with --package-runtime=Process%s",
                        v->kind->kind == XPKG_FUNCTION
                                ? ", or run the function beside and start with --function NAME=HOST:PORT"
                                : "");
        e = awaits_activation(v, &is_awaited, err);
        if (e < 0)
                return e;
        if (is_awaited) {
                runtime_stop(v->pack->options.runtime, meta_name(v->revision));
                set_runtime_health(v, true, STR(""));
                set_runtime_active(v, false, AWAITING);
                return 0;
        }
        e = ensure(v, &state, err);
        if (e == 0)
                take_state(v, &state);
        return e;
}

int revision_run_program(struct revision_run *v, struct err *err)
{
        if (!v->kind->has_runtime || runs_elsewhere(v))
                return 0;
        if (v->source.is_found) {
                v->revision = package_with_status_str(v->arena, v->revision, STR("endpoint"), v->source.endpoint);
                set_runtime_health(v, true, v->source.message);
                set_runtime_active(v, true, STR(""));
                return 0;
        }
        return run_program(v, err) < 0 ? fail(v, err) : 0;
}

void revision_await_health(struct revision_run *v)
{
        if (v->kind->has_runtime && !runs_elsewhere(v))
                set_runtime_health(v, false, STR("Package revision is not healthy yet"));
}

/* --- Rest --- */

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

static bool is_automatic(const struct value *package)
{
        return package && !meta_is_deleting(package) &&
               !str_equal(value_str(value_find(package, "spec", "revisionActivationPolicy")), STR("Manual"));
}

/* An Inactive function serves on while an Active revision, or one that the package is about to get, has not answered yet. Where all
 * revisions have one endpoint it stays with those that have stopped, so the newest of them serves. */
static bool is_needed(const struct packages *p, struct arena *a, const struct value *package,
                      const struct value *revision, const struct object_list *list)
{
        size_t n_active = 0, n_silent = 0;
        bool is_newest = true;

        for (size_t i = 0; i < list->n; i++) {
                const struct value *other = object_list_value(list, i, a);
                bool has_answered = package_revision_has_answered(other);

                n_active += package_revision_is_active(other);
                n_silent += package_revision_is_active(other) && !has_answered;
                if (!package_revision_is_active(other) && has_answered && number_of(other) > number_of(revision))
                        is_newest = false;
        }
        return (n_silent > 0 || (n_active == 0 && is_automatic(package))) &&
               (is_newest || packages_have_selectors(p, &package_kinds[XPKG_FUNCTION]));
}

int package_function_serves(struct packages *p, struct kind_run *r, const struct value *package,
                            const struct value *revision, bool *ret, struct err *err)
{
        struct str state = value_str(value_find(revision, "spec", "desiredState"));
        struct object_list list;
        int e;

        *ret = false;
        if (!str_equal(state, STR("Inactive")) || !package_revision_has_answered(revision))
                return 0;
        e = packages_list_revisions(r, &package_kinds[XPKG_FUNCTION], meta_label(revision, PACKAGE_LABEL), &list, err);
        if (e < 0)
                return err_wrap(err, "cannot list revisions for package");
        *ret = is_needed(p, r->run->arena, package, revision, &list);
        return 0;
}

/* An endpoint of the revision's own goes with its program. */
void revision_rest(struct revision_run *v)
{
        if (!v->kind->has_runtime || runs_elsewhere(v))
                return;
        if (packages_have_selectors(v->pack, v->kind))
                v->revision = package_with_status_str(v->arena, v->revision, STR("endpoint"), STR(""));
        set_runtime_health(v, true, STR(""));
}

void revision_stop(struct revision_run *v)
{
        if (v->kind->has_runtime && v->pack->options.runtime)
                runtime_stop(v->pack->options.runtime, meta_name(v->revision));
}

void revision_forget(struct packages *p, struct kind_run *r, const struct package_kind *kind, struct str name)
{
        if (kind->kind == XPKG_FUNCTION)
                package_unregister_function(p, r, name);
        if (kind->has_runtime && p->options.runtime)
                runtime_stop(p->options.runtime, name);
}
