/* A package gets revisions (docs/spec/packages 1.5): one for each image that it names, of which one is current. */
#include "packages-state.h"

#include "buf.h"
#include "digest.h"
#include "owner.h"
#include "package-client.h"
#include "package-revisions.h"

#define RELOOK_NS (60 * 1000000000ll) /* with the pull policy Always */

struct package_run {
        struct kind_run *r;
        struct packages *pack;
        const struct package_kind *kind;
        struct arena *arena;
        const struct value *read; /* the package as it was read */
        const struct value *package;
        struct object_list list;
        const struct value *const *revisions;
        struct source source;
        struct str digest; /* of the image; "" without one */
        struct package_plan plan;
        const struct value *current; /* the current revision as it is after this run */
};

static struct str reference_of(const struct value *package)
{
        return value_str(value_find(package, "spec", "package"));
}

static void record(struct package_run *p, bool is_warning, const char *reason, const char *text)
{
        kind_run_record(p->r, p->read, &(struct recorder_source) { .component = p->kind->package_component },
                        is_warning, str_from(reason), arena_copy(p->arena, str_from(text)));
}

static bool has_revision_selectors(const struct package_run *p)
{
        return packages_have_selectors(p->pack, p->kind);
}

/* --- Which revision --- */

static int unpack_failed(struct package_run *p, struct err *err)
{
        struct str text;
        _cleanup_err_ struct err inner = { 0 };

        err_wrap(err, "cannot unpack package");
        if (p->source.message.n) {
                _cleanup_free_ char *why = str_to_cstring(str_from(err_message(err)));

                err_set(err, err->code, "%s; %.*s", why, STR_ARG(p->source.message));
        }
        text = arena_copy(p->arena, str_from(err_message(err)));
        p->package = package_with_condition(p->arena, p->package,
                                            (struct condition) { .type = STR("Installed"),
                                                                 .status = CONDITION_FALSE,
                                                                 .reason = STR("UnpackingPackage"),
                                                                 .message = text });
        p->package = package_with_condition(p->arena, p->package,
                                            (struct condition) { .type = STR("Healthy"),
                                                                 .status = CONDITION_FALSE,
                                                                 .reason = STR("UnhealthyPackageRevision"),
                                                                 .message = text });
        record(p, true, "UnpackPackage", err_message(err));
        if (package_save_status(p->r, p->read, p->package, &inner) < 0)
                return err_move(err, &inner);
        return err->code;
}

/* `NAME-<12 hex digits of the SHA-256 of the reference>` */
static struct str name_of_reference(struct package_run *p)
{
        _cleanup_buf_ struct buf hex = BUF_INIT(0);

        sha256_append_hex(&hex, reference_of(p->package));
        return arena_printf(p->arena, "%.*s-%.12s",
                            STR_ARG(str_first(meta_name(p->package), MIN(meta_name(p->package).n, (size_t)50))),
                            buf_cstring(&hex));
}

static int no_client(struct package_run *p, struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "package %.*s is not built in, and packages cannot be pulled here",
                       STR_ARG(reference_of(p->package)));
}

/* Finds the image and names the revision by its digest. */
static int name_by_image(struct package_run *p, struct str *ret, struct err *err)
{
        const struct value *spec = value_get(p->package, STR("spec"));
        struct package_request request = { .reference = reference_of(p->package),
                                           .pull_secrets = value_get(spec, STR("packagePullSecrets")),
                                           .pull_policy = value_str(value_get(spec, STR("packagePullPolicy"))) };
        struct package_result result;
        int e = p->pack->options.client ? package_client_get(p->pack->options.client, p->r, &request, &result, err)
                                        : no_client(p, err);

        if (e < 0)
                return unpack_failed(p, err);
        p->package = package_with_applied(p->arena, p->package, &result);
        p->package = package_with_status_str(p->arena, p->package, STR("resolvedPackage"), result.resolved);
        p->digest = result.digest;
        /* A revision that can be selected stands for an image: another field of the package makes no other revision. */
        *ret = STR("");
        if (has_revision_selectors(p))
                *ret = package_revision_of_image(p->revisions, p->list.n, request.reference, result.digest);
        if (ret->n == 0)
                *ret = package_revision_name(p->arena, p->package, result.digest);
        return 0;
}

static int name_revision(struct package_run *p, struct str *ret, struct err *err)
{
        int e = packages_source(p->pack, p->r, p->kind, meta_name(p->package), reference_of(p->package), &p->source,
                                err);

        if (e < 0)
                return e;
        if (p->source.is_found)
                *ret = name_of_reference(p);
        else
                e = name_by_image(p, ret, err);
        if (e < 0)
                return e;
        p->package = package_with_status_str(p->arena, p->package, STR("currentRevision"), *ret);
        p->package = package_with_status_str(p->arena, p->package, STR("currentIdentifier"), reference_of(p->package));
        return 0;
}

/* --- Revisions --- */

static int write_state(struct package_run *p, const struct value *revision, bool is_active, struct err *err)
{
        struct value state = is_active ? value_of_literal("Active") : value_of_literal("Inactive");
        const struct value *spec = value_with(p->arena, value_get(revision, STR("spec")), STR("desiredState"), &state);
        int e;

        if (package_revision_is_active(revision) == is_active)
                return 0;
        e = packages_write(p->r, WRITE_UPDATE, value_with(p->arena, revision, STR("spec"), spec), STR(""), false,
                           &revision, err);
        if (e < 0 && err->reason != REASON_CONFLICT)
                record(p, true, "TransitionRevision", err_message(err));
        return e < 0 ? err_wrap(err, "cannot update inactive package revision") : 0;
}

static int transition_others(struct package_run *p, struct err *err)
{
        int e = 0;

        for (size_t i = 0; e == 0 && i < p->list.n; i++)
                if (i != p->plan.current && p->plan.states[i] != PACKAGE_STATE_KEPT)
                        e = write_state(p, p->revisions[i], p->plan.states[i] == PACKAGE_STATE_ACTIVE, err);
        return e;
}

static int collect(struct package_run *p, struct err *err)
{
        const struct value *oldest;
        struct write_request req = { .verb = WRITE_DELETE, .manager = CROSSPLANE_MANAGER };
        struct write_result result;
        int e;

        if (p->plan.garbage == PACKAGE_NONE)
                return 0;
        oldest = p->revisions[p->plan.garbage];
        req.key = object_key_of(oldest);
        req.precondition_uid = meta_uid(oldest);
        e = cluster_write(p->r->cluster, p->r->run, &req, &result, err);
        if (e >= 0)
                return 0;
        if (e == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        err_wrap(err, "cannot garbage collect old package revision");
        record(p, true, "GarbageCollect", err_message(err));
        return e;
}

static int apply_current(struct package_run *p, struct str name, struct err *err)
{
        const struct value *old = p->plan.current == PACKAGE_NONE ? NULL : p->revisions[p->plan.current], *wanted;
        struct package_revision_wish wish = {
                .kind = p->kind,
                .package = p->package,
                .name = name,
                .number = p->plan.number,
                .is_active = p->plan.is_current_active,
                .has_runtime = p->kind->has_runtime,
                .copies_labels = has_revision_selectors(p),
                .names_by_revision = has_revision_selectors(p),
                .digest = has_revision_selectors(p) ? p->digest : STR(""),
        };
        int e = package_revision_wanted(p->arena, &wish, old, &wanted, err);

        p->current = old;
        if (e == 0 && (!old || !value_equal(wanted, old)))
                e = packages_write(p->r, old ? WRITE_UPDATE : WRITE_CREATE, wanted, STR(""), false, &p->current, err);
        return e < 0 ? err_wrap(err, "cannot apply package revision") : 0;
}

/* Revisions have one owner of their objects at a time, so others are deactivated first. Where several can be active the new one comes
 * first: an older one serves while it knows of one that does not answer yet. */
static int apply_plan(struct package_run *p, struct str name, struct err *err)
{
        bool begins_with_current = has_revision_selectors(p);
        int e = begins_with_current ? apply_current(p, name, err) : 0;

        if (e == 0)
                e = transition_others(p, err);
        if (e == 0)
                e = collect(p, err);
        if (e == 0 && !begins_with_current)
                e = apply_current(p, name, err);
        return e;
}

/* --- The package --- */

static void set_health(struct package_run *p)
{
        struct condition before, after = package_health(p->arena, p->kind, p->current);

        condition_get(p->read, STR("Healthy"), &before);
        if (before.status != CONDITION_TRUE && after.status == CONDITION_TRUE)
                record(p, false, "InstallPackageRevision", "Successfully installed package revision");
        p->package = package_with_condition(p->arena, p->package, after);
}

static void set_installed(struct package_run *p)
{
        bool is_active = package_revision_is_active(p->current);

        p->package = package_with_condition(p->arena, p->package,
                                            (struct condition) { .type = STR("Installed"),
                                                                 .status = is_active ? CONDITION_TRUE : CONDITION_FALSE,
                                                                 .reason = is_active ? STR("ActivePackageRevision")
                                                                                     : STR("InactivePackageRevision"),
                                                                 .message = is_active ? STR("")
                                                                                      : STR("Package is inactive") });
}

/* Until the current revision answers, an older one may serve: its endpoint stays. */
static void set_endpoint(struct package_run *p)
{
        struct str endpoint = value_str(value_find(p->current, "status", "endpoint"));

        if (has_revision_selectors(p) && (endpoint.n > 0 || !package_revision_is_active(p->current)))
                p->package = package_with_status_str(p->arena, p->package, STR("endpoint"), endpoint);
}

static int settle(struct package_run *p, struct err *err)
{
        const struct value *spec = value_get(p->package, STR("spec"));
        struct package_policy policy = {
                .is_manual = str_equal(value_str(value_get(spec, STR("revisionActivationPolicy"))), STR("Manual")),
                .history_limit = value_int(value_get(spec, STR("revisionHistoryLimit")), 0),
                .kept = value_str(value_find(spec, "rollout", "from")),
                .active_limit = has_revision_selectors(p)
                                        ? MAX(value_int(value_get(spec, STR("activeRevisionLimit")), 1), (int64_t)1)
                                        : 0,
        };
        struct str name;
        int e = name_revision(p, &name, err);

        if (e < 0)
                return e;
        package_plan(p->arena, &policy, p->revisions, p->list.n, name, &p->plan);
        e = apply_plan(p, name, err);
        if (e < 0)
                return e;
        set_health(p);
        set_installed(p);
        set_endpoint(p);
        if (str_equal(value_str(value_get(spec, STR("packagePullPolicy"))), STR("Always")) && !p->source.is_found)
                p->r->answer->after_ns = RELOOK_NS;
        return package_save_status(p->r, p->read, p->package, err);
}

int package_reconcile(struct kind_run *r, struct err *err)
{
        struct package_controllers *c = r->context;
        struct package_run p = { .r = r, .pack = c->pack, .kind = c->kind, .arena = r->run->arena };
        int e = kind_run_get(r, &p.read, err);

        if (e < 0)
                return err_wrap(err, "cannot get package");
        if (!p.read)
                return 0;
        p.package = p.read;
        e = package_check_pause(r, c->kind->package_component, &p.package, err);
        if (e < 0)
                return kind_run_retry_conflict(r, err, "cannot update package status");
        if (e > 0 || meta_is_deleting(p.read))
                return 0;
        e = packages_list_revisions(r, c->kind, meta_name(p.read), &p.list, err);
        if (e < 0)
                return err_wrap(err, "cannot list revisions for package");
        p.revisions = object_list_values(&p.list, p.arena);
        e = settle(&p, err);
        return e < 0 ? kind_run_retry_conflict(r, err, "cannot install package") : 0;
}
