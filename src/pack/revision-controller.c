/* Revisions of packages (docs/spec/packages 1.7): an Active one installs what its package brings and runs its program. */
#include "revision-run.h"

#include "dependencies.h"
#include "establish.h"
#include "oci-reference.h"
#include "owner.h"
#include "semver.h"

#define FINALIZER STR("revision.pkg.crossplane.io")

static void record(struct revision_run *v, bool is_warning, const char *reason, struct str text)
{
        kind_run_record(v->r, v->read, &(struct recorder_source) { .component = v->kind->revision_component },
                        is_warning, str_from(reason), text);
}

static void set_health(struct revision_run *v, bool is_healthy, struct str message)
{
        v->revision =
                package_with_condition(v->arena, v->revision,
                                       (struct condition) { .type = STR("RevisionHealthy"),
                                                            .status = is_healthy ? CONDITION_TRUE : CONDITION_FALSE,
                                                            .reason = is_healthy ? STR("HealthyPackageRevision")
                                                                                 : STR("UnhealthyPackageRevision"),
                                                            .message = message });
}

/* The error becomes the state of the revision. Conflicts do not: the next run sees what others wrote. */
static int fail(struct revision_run *v, const char *reason, struct err *err)
{
        struct str text = arena_copy(v->arena, str_from(err_message(err)));

        if (err->reason == REASON_CONFLICT)
                return err->code;
        set_health(v, false, text);
        revision_await_health(v);
        record(v, true, reason, text);
        return err->code;
}

/* --- Content --- */

/* Sets the content that a built-in function would have as a package: the function alone. */
static int take_source(struct revision_run *v, struct err *err)
{
        static const struct str composition[] = { STR_INIT("composition") };
        struct oci_reference ref;
        int e = oci_reference_parse(v->arena, revision_image(v), 0, &ref, err);

        v->result = (struct package_result) { .content = { .kind = v->kind->kind,
                                                           .meta = &value_empty_object,
                                                           .capabilities = composition,
                                                           .n_capabilities = 1,
                                                           .has_capabilities = true } };
        v->revision = package_with_status(v->arena, v->revision, STR("tlsServerSecretName"), NULL);
        if (e == 0) {
                v->result.source = ref.source;
                v->result.version = oci_reference_version(&ref);
        }
        return e;
}

static int get_content(struct revision_run *v, struct err *err)
{
        const struct value *spec = value_get(v->revision, STR("spec"));
        struct package_request request = { .reference = revision_image(v),
                                           .pull_secrets = value_get(spec, STR("packagePullSecrets")),
                                           .pull_policy = value_str(value_get(spec, STR("packagePullPolicy"))),
                                           .is_installed = value_find(v->revision, "status", "resolvedImage") };
        struct str package = meta_label(v->revision, PACKAGE_LABEL);
        int e = packages_source(v->pack, v->r, v->kind, package, request.reference, &v->source, err);

        if (e == 0 && v->source.is_found)
                return take_source(v, err);
        if (e == 0 && !v->pack->options.client)
                e = err_set(err, ERR_UNSUPPORTED, "packages cannot be pulled here%s%.*s",
                            v->source.message.n ? ": " : "", STR_ARG(v->source.message));
        if (e == 0)
                e = package_client_get(v->pack->options.client, v->r, &request, &v->result, err);
        if (e < 0) {
                err_wrap(err, "cannot unpack package");
                return fail(v, "ParsePackage", err);
        }
        v->revision = package_with_applied(v->arena, v->revision, &v->result);
        v->revision = package_with_status_str(v->arena, v->revision, STR("resolvedImage"), v->result.resolved);
        return 0;
}

static int check_content(struct revision_run *v, struct err *err)
{
        const struct semver_constraint *constraint;
        struct str invalid = v->result.invalid;
        int e = 0;

        if (str_starts_with(invalid, STR("encountered an invalid dependency"))) {
                err_set(err, ERR_INVALID, "cannot resolve package dependencies: %.*s", STR_ARG(invalid));
                return fail(v, "ResolveDependencies", err);
        }
        if (invalid.n > 0) {
                e = err_set(err, ERR_INVALID, "%.*s", STR_ARG(invalid));
        } else if (v->result.content.kind != v->kind->kind) {
                e = err_set(err, ERR_INVALID, "package meta type is not %.*s", STR_ARG(v->kind->package));
        } else if (v->result.content.crossplane.n > 0) {
                e = semver_constraint_parse_quoting(v->arena, v->result.content.crossplane, &constraint, err);
                if (e < 0)
                        err_wrap(err, "package version constraints are poorly formatted");
        }
        if (e == 0)
                return 0;
        err_wrap(err, "validating package contents failed");
        return fail(v, "ValidatePackage", err);
}

static void lint_content(struct revision_run *v)
{
        _cleanup_err_ struct err err = { 0 };
        struct str text;

        if (v->source.is_found || xpkg_lint(&v->result.content, &err) == 0)
                return;
        text = str_from(err_message(&err));
        str_cut_prefix(&text, STR("failed to lint package: "));
        record(v, true, "LintPackage", arena_printf(v->arena, "linting package contents failed: %.*s", STR_ARG(text)));
}

/* Labels and annotations of the package's meta object, and its capabilities. */
static int take_meta(struct revision_run *v, struct err *err)
{
        const struct value *status = value_get(v->revision, STR("status")), *wanted = v->revision;
        const struct value *own = meta(v->result.content.meta);
        const struct xpkg *content = &v->result.content;
        struct array_builder b;
        int e = 0;

        VALUE_FOREACH_MEMBER (m, value_get(own, STR("labels"))) {
                wanted = meta_with_label(v->arena, wanted, m->key, value_str(&m->value));
        }
        VALUE_FOREACH_MEMBER (m, value_get(own, STR("annotations"))) {
                wanted = meta_with_annotation(v->arena, wanted, m->key, value_str(&m->value));
        }
        if (!value_equal(meta(wanted), meta(v->revision)))
                e = kind_run_update(v->r, wanted, STR(""), &v->read, err);
        if (e < 0)
                return e;
        v->revision = v->read;
        if (status)
                v->revision = value_with(v->arena, v->revision, STR("status"), status);
        array_builder_init(&b, v->arena, content->n_capabilities + 1);
        for (size_t i = 0; i < content->n_capabilities; i++)
                array_builder_add(&b, value_of_str(content->capabilities[i]));
        if (v->kind->kind == XPKG_FUNCTION && !content->has_capabilities)
                array_builder_add(&b, value_of_literal("composition"));
        v->revision = package_with_status(v->arena, v->revision, STR("capabilities"),
                                          b.n ? value_put(v->arena, array_builder_finish(&b)) : NULL);
        return 0;
}

/* 1: the package wants another Crossplane; the revision says so, and only a change runs it again. */
static int check_version(struct revision_run *v, struct err *err)
{
        const struct semver_constraint *constraint;
        _cleanup_err_ struct err incompatible = { 0 };
        struct semver own;
        int e;

        if (v->result.content.crossplane.n == 0 ||
            value_bool(value_find(v->revision, "spec", "ignoreCrossplaneConstraints"), false))
                return 0;
        e = semver_constraint_parse_quoting(v->arena, v->result.content.crossplane, &constraint, err);
        if (e == 0)
                e = semver_parse(PACKAGE_CROSSPLANE_VERSION, &own, err);
        if (e < 0 || semver_constraint_check(constraint, &own))
                return e;
        err_set(&incompatible, ERR_INVALID,
                "incompatible Crossplane version: package is not compatible with Crossplane version (%.*s)",
                STR_ARG(PACKAGE_CROSSPLANE_VERSION));
        fail(v, "LintPackage", &incompatible);
        return 1;
}

/* --- Dependencies --- */

static void set_count(struct revision_run *v, struct str key, int64_t n)
{
        v->revision = package_with_status(v->arena, v->revision, key, n ? value_put(v->arena, value_of_int(n)) : NULL);
}

static int resolve(struct revision_run *v, struct err *err)
{
        const struct value *skips = value_find(v->revision, "spec", "skipDependencyResolution");
        struct dependency_counts counts = { 0 };
        int e;

        if (!v->is_in_lock || !value_is_bool(skips) || value_bool(skips, false))
                return 0;
        e = dependencies_resolve(v->r, v->revision, v->result.source, v->result.version, &v->result.content, &counts,
                                 err);
        set_count(v, STR("foundDependencies"), counts.found);
        set_count(v, STR("installedDependencies"), counts.installed);
        set_count(v, STR("invalidDependencies"), counts.invalid);
        if (e == 0)
                return 0;
        err_wrap(err, "cannot resolve package dependencies");
        return fail(v, "ResolveDependencies", err);
}

/* --- Objects --- */

static int establish(struct revision_run *v, struct err *err)
{
        struct establish objects = { .r = v->r,
                                     .kind = v->kind,
                                     .revision = v->revision,
                                     .package = v->package,
                                     .controls = v->controls,
                                     .content = &v->result.content,
                                     .webhook_ca = v->server.cert };
        struct condition before;
        const struct value *refs;
        int e = v->is_active || v->serves ? revision_prepare_runtime(v, err) : 0;

        if (e == 0) {
                objects.webhook_ca = v->server.cert;
                e = package_establish(&objects, &refs, err);
        }
        if (e < 0) {
                err_wrap(err, "cannot establish control of object");
                return fail(v, "SyncPackage", err);
        }
        condition_get(v->read, STR("RevisionHealthy"), &before);
        v->revision = package_with_status(v->arena, v->revision, STR("objectRefs"), refs);
        if (before.status != CONDITION_TRUE)
                record(v, false, "SyncPackage", STR("Successfully reconciled package revision"));
        set_health(v, true, v->source.is_found ? v->source.message : STR(""));
        return 0;
}

/* --- States --- */

/* Everything that a revision does with its package, up to RevisionHealthy. 1: it is not healthy, and another run would not help. */
static int install(struct revision_run *v, struct err *err)
{
        int e = get_content(v, err);

        if (e == 0)
                e = check_content(v, err);
        if (e < 0)
                return e;
        lint_content(v);
        e = take_meta(v, err);
        if (e == 0)
                e = check_version(v, err);
        if (e == 0)
                e = resolve(v, err);
        return e != 0 ? e : establish(v, err);
}

static int deactivate(struct revision_run *v, struct err *err)
{
        int e = dependencies_remove(v->r, meta_name(v->revision), err);

        if (e < 0)
                return err_wrap(err, "cannot remove package revision from Lock");
        e = package_release(v->r, v->revision, err);
        if (e < 0)
                return err_wrap(err, "cannot deactivate package revision");
        if (v->serves || value_count(value_find(v->revision, "status", "objectRefs")) == 0)
                return install(v, err);
        set_health(v, true, STR(""));
        return 0;
}

/* Writes what came of the run; its error, if there is one, counts. Pipelines know of a program that answers before the revision says
 * so, because an older revision stops to serve then. */
static int finish(struct revision_run *v, int e, struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };
        const struct value *written;
        int saved = 0;

        if (v->kind->kind == XPKG_FUNCTION)
                saved = package_register_function(v->pack, v->r, v->revision, v->serves, &inner);
        if (saved == 0 && !package_has_status_of(v->read, v->revision))
                saved = kind_run_update(v->r, v->revision, STR("status"), &written, &inner);
        if (e < 0)
                return kind_run_retry_conflict(v->r, err, "cannot reconcile package revision");
        if (saved == 0)
                return 0;
        err_move(err, &inner);
        return kind_run_retry_conflict(v->r, err, "cannot update package revision status");
}

static int reconcile_state(struct revision_run *v, struct err *err)
{
        bool runs;
        int e = 0;

        if (v->kind->kind == XPKG_FUNCTION)
                e = package_function_serves(v->pack, v->r, v->package, v->revision, &v->serves, err);
        if (e < 0)
                return e;
        runs = v->is_active || v->serves;
        e = v->is_inactive ? deactivate(v, err) : install(v, err);
        if (e == 0 && runs)
                e = revision_run_program(v, err);
        else if (e == 0)
                revision_rest(v);
        e = finish(v, e, err);
        if (!runs)
                revision_stop(v);
        return e;
}

static int delete_revision(struct revision_run *v, struct err *err)
{
        int e = dependencies_remove(v->r, meta_name(v->read), err);

        if (e < 0)
                return kind_run_retry_conflict(v->r, err, "cannot remove package revision from Lock");
        revision_forget(v->pack, v->r, v->kind, meta_name(v->read));
        if (!meta_has_finalizer(v->read, FINALIZER))
                return 0;
        e = kind_run_update(v->r, meta_without_finalizer(v->arena, v->read, FINALIZER), STR(""), &v->read, err);
        return e < 0 && e != ERR_NOT_FOUND
                       ? kind_run_retry_conflict(v->r, err, "cannot remove package revision finalizer")
                       : 0;
}

/* Finds the package, and whether the revision is the one that counts for it. */
static int find_package(struct revision_run *v, struct err *err)
{
        bool is_current;
        int e = packages_get(v->r, package_gvk(v->kind), STR(""), meta_label(v->read, PACKAGE_LABEL), &v->package, err);

        if (e < 0)
                return err_wrap(err, "cannot get package");
        is_current = !packages_have_selectors(v->pack, v->kind) ||
                     str_equal(value_str(value_find(v->package, "status", "currentRevision")), meta_name(v->read));
        v->is_active = package_revision_is_active(v->read);
        v->is_inactive = str_equal(value_str(value_find(v->read, "spec", "desiredState")), STR("Inactive"));
        v->is_in_lock = !v->is_inactive && is_current;
        v->controls = v->is_active && is_current;
        return 0;
}

static int begin(struct revision_run *v, struct err *err)
{
        int e = 0;

        if (!meta_has_finalizer(v->read, FINALIZER))
                e = kind_run_update(v->r, meta_with_finalizer(v->arena, v->read, FINALIZER), STR(""), &v->read, err);
        if (e < 0)
                return kind_run_retry_conflict(v->r, err, "cannot add package revision finalizer");
        v->revision = v->read;
        e = package_check_pause(v->r, v->kind->revision_component, &v->revision, err);
        return e < 0 ? e : reconcile_state(v, err);
}

/* A FunctionRevision whose Function does not exist was made by hand: its status is its maker's. */
static bool is_made_by_hand(const struct revision_run *v)
{
        struct owner_reference controller;

        return v->kind->kind == XPKG_FUNCTION && !v->package && !owner_controller(v->read, &controller);
}

int package_revision_reconcile(struct kind_run *r, struct err *err)
{
        struct package_controllers *c = r->context;
        struct revision_run v = { .r = r, .pack = c->pack, .kind = c->kind, .arena = r->run->arena };
        int e = kind_run_get(r, &v.read, err);

        if (e < 0)
                return err_wrap(err, "cannot get package revision");
        if (!v.read) {
                revision_forget(c->pack, r, c->kind, r->key.name);
                return 0;
        }
        v.revision = v.read;
        e = find_package(&v, err);
        if (e < 0)
                return e;
        if (is_made_by_hand(&v) && !meta_is_deleting(v.read))
                return package_register_function(c->pack, r, v.read, false, err);
        e = package_check_pause(r, c->kind->revision_component, &v.revision, err);
        if (e < 0)
                return kind_run_retry_conflict(r, err, "cannot update package revision status");
        if (e > 0)
                return c->kind->kind == XPKG_FUNCTION ? package_register_function(c->pack, r, v.read, false, err) : 0;
        if (meta_is_deleting(v.read))
                return delete_revision(&v, err);
        return begin(&v, err);
}
