/* The controller of the Lock: installs packages that others depend on, and moves them to versions that fit.
 *
 * Each dependency stands for itself: one that cannot be had, or a cycle, is told in the condition and does not keep the others from
 * being installed. */
#include "condition.h"
#include "dependencies.h"
#include "dependency-version.h"
#include "lock-graph.h"
#include "oci-digest.h"
#include "oci-reference.h"
#include "packages-state.h"

struct lock_run {
        struct kind_run *r;
        const struct dependencies_options *options;
        struct arena *arena;
        const struct value *lock;
        struct lock_graph graph;
        struct str_list failures;
        bool retries; /* a failure may pass: a registry did not answer */
};

/* A package that has to be installed or moved, with the constraints of all that need it, in the Lock's order. */
struct wanted {
        struct lock_dependency dependency; /* as the first of them wrote it */
        struct str_list constraints;
        struct str installed; /* the version in the Lock, or "" */
};

static bool upgrades(const struct lock_run *l)
{
        return l->options->upgrades || l->options->downgrades;
}

/* --- The wishes --- */

static struct wanted *wanted_of(struct lock_run *l, struct map *all, const struct lock_dependency *d)
{
        const struct lock_package *p = lock_graph_find(&l->graph, d->package);
        struct wanted *w = map_get(all, d->package);

        if (w)
                return w;
        w = ARENA_NEW(l->arena, struct wanted);
        w->dependency = *d;
        w->installed = p ? p->version : STR("");
        str_list_init(&w->constraints, l->arena);
        map_add(all, d->package, w);
        return w;
}

static void collect(struct lock_run *l, struct map *all)
{
        for (size_t i = 0; i < l->graph.n; i++) {
                const struct lock_package *p = &l->graph.packages[i];

                for (size_t k = 0; k < p->n_dependencies; k++)
                        str_list_add(&wanted_of(l, all, &p->dependencies[k])->constraints,
                                     p->dependencies[k].constraints);
        }
}

/* Whether the version satisfies all constraints. A constraint that cannot be read is told where it belongs: by the revision. */
static bool fits(struct lock_run *l, const struct wanted *w, struct str version)
{
        for (size_t i = 0; i < w->constraints.n; i++) {
                bool is_satisfied = true;

                if (version_satisfies(l->arena, version, w->constraints.p[i], &is_satisfied, NULL) == 0 &&
                    !is_satisfied)
                        return false;
        }
        return true;
}

/* --- One package --- */

/* SOURCE:TAG or SOURCE@DIGEST */
static struct str reference_to(struct arena *a, struct str source, struct str version)
{
        return ARENA_CONCAT(a, source, oci_digest_is_valid(version) ? STR("@") : STR(":"), version);
}

static int list_versions(struct lock_run *l, const struct wanted *w, struct version_choice *ret, struct err *err)
{
        struct str *versions = NULL;
        int e;

        *ret = (struct version_choice) { .arena = l->arena,
                                         .source = w->dependency.package,
                                         .constraints = w->constraints.p,
                                         .n_constraints = w->constraints.n };
        e = package_client_versions(l->options->client, l->r, w->dependency.package, &versions, &ret->n_versions, err);
        ret->versions = versions;
        if (e < 0)
                l->retries = true;
        return e < 0 ? err_wrap(err, "cannot fetch dependency package tags") : 0;
}

static int choose_install(struct lock_run *l, const struct wanted *w, struct str *ret, struct err *err)
{
        struct version_choice choice = { 0 };
        const struct semver_constraint *constraint;
        struct str first = w->constraints.p[0];
        int e;

        if (oci_digest_is_valid(first)) {
                *ret = first;
                return 0;
        }
        if (semver_constraint_parse_quoting(l->arena, first, &constraint, err) < 0) {
                err_wrap(err, "version constraint on dependency is invalid");
                return err_wrap(err, "cannot find dependency version to install");
        }
        e = list_versions(l, w, &choice, err);
        if (e < 0)
                return err_wrap(err, "cannot find dependency version to install");
        return version_to_install(&choice, ret, err);
}

static const struct value *new_package(struct arena *a, struct gvk gvk, struct str name, struct str reference)
{
        struct member metadata = { STR("name"), value_of_str(name) },
                      spec = { STR("package"), value_of_str(reference) };
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk_api_version(a, gvk)));
        object_builder_add(&b, STR("kind"), value_of_str(gvk.kind));
        object_builder_add(&b, STR("metadata"), value_of_members(a, &metadata, 1, true));
        object_builder_add(&b, STR("spec"), value_of_members(a, &spec, 1, true));
        return value_put(a, object_builder_finish(&b));
}

/* The source of an installed package. */
static struct str source_of(struct arena *a, const struct value *package)
{
        struct oci_reference ref;

        return oci_reference_parse(a, value_str(value_find(package, "spec", "package")), 0, &ref, NULL) < 0
                       ? STR("")
                       : ref.source;
}

/* A package of the name is there: it is the one, unless it is of another source. */
static int check_existing(struct lock_run *l, const struct object_key *key, struct str source, struct err *err)
{
        const struct value *package;
        struct str other;
        int e = cluster_get_value(l->r->cluster, l->r->run, key, &package, err);

        if (e < 0)
                return e;
        other = source_of(l->arena, package);
        if (str_equal(other, source))
                return 0;
        return err_set(err, ERR_EXISTS,
                       "dependency (%.*s) cannot be installed: its name %.*s is that of package %.*s. Install the "
                       "dependency under another name",
                       STR_ARG(source), STR_ARG(key->name), STR_ARG(other));
}

static int install(struct lock_run *l, const struct wanted *w, struct str version, struct err *err)
{
        struct str source = w->dependency.package;
        struct str reference = reference_to(l->arena, source, version);
        struct write_request req = { .verb = WRITE_CREATE, .manager = CROSSPLANE_MANAGER };
        struct write_result result;
        struct oci_reference ref;
        int e = oci_reference_parse(l->arena, reference, OCI_NEEDS_REGISTRY, &ref, err);

        if (e < 0)
                return err_wrap(err, "dependency package is not valid");
        req.body = new_package(l->arena, w->dependency.gvk, xpkg_dns_label(l->arena, ref.repository), reference);
        req.key = object_key_of(req.body);
        e = cluster_write(l->r->cluster, l->r->run, &req, &result, err);
        if (e == ERR_EXISTS)
                return check_existing(l, &req.key, source, err);
        if (e < 0)
                l->retries = true;
        return e < 0 ? err_wrap(err, "cannot create dependency package") : 0;
}

/* --- Upgrades --- */

/* The installed package of the source, or NULL. */
static int find_package(struct lock_run *l, const struct lock_dependency *d, const struct value **ret, struct err *err)
{
        struct list_request req = { .gvk = d->gvk };
        struct object_list list;
        int e = cluster_list(l->r->cluster, l->r->run, &req, &list, err);

        *ret = NULL;
        if (e < 0)
                return err_wrap(err, "cannot list packages");
        for (size_t i = 0; i < list.n && !*ret; i++) {
                const struct value *v = object_list_value(&list, i, l->arena);

                if (str_equal(source_of(l->arena, v), d->package))
                        *ret = v;
        }
        return 0;
}

/* The tag or digest that the package stands at: of status.resolvedPackage when set. */
static struct str version_of(struct arena *a, const struct value *package)
{
        struct str text = value_str(value_find(package, "status", "resolvedPackage"));
        struct oci_reference ref;

        if (text.n == 0)
                text = value_str(value_find(package, "spec", "package"));
        return oci_reference_parse(a, text, 0, &ref, NULL) < 0 ? STR("") : oci_reference_version(&ref);
}

static int choose_upgrade(struct lock_run *l, const struct wanted *w, struct str installed, struct str *ret,
                          struct err *err)
{
        struct version_choice choice = { .arena = l->arena,
                                         .source = w->dependency.package,
                                         .constraints = w->constraints.p,
                                         .n_constraints = w->constraints.n };
        int e = version_digest(&choice, ret, err);

        if (e == 0 && ret->n == 0) {
                e = list_versions(l, w, &choice, err);
                if (e == 0)
                        e = version_to_upgrade(&choice, installed, l->options->downgrades, ret, err);
        }
        return e < 0 ? err_wrap(err, "cannot find dependency version to upgrade") : 0;
}

static int upgrade(struct lock_run *l, const struct wanted *w, const struct value *package, struct err *err)
{
        struct str installed = version_of(l->arena, package), version = STR("");
        struct value reference;
        int e;

        if (fits(l, w, installed))
                return 0; /* on its way into the Lock */
        e = choose_upgrade(l, w, installed, &version, err);
        if (e < 0)
                return e;
        reference = value_of_str(reference_to(l->arena, w->dependency.package, version));
        if (value_equal(value_find(package, "spec", "package"), &reference))
                return 0;
        package = value_with(l->arena, package, STR("spec"),
                             value_with(l->arena, value_get(package, STR("spec")), STR("package"), &reference));
        e = kind_run_update(l->r, package, STR(""), &package, err);
        if (e < 0)
                l->retries = true;
        return e < 0 ? err_wrap(err, "cannot update dependency package") : 0;
}

/* --- All of them --- */

static bool is_package(struct gvk gvk)
{
        return str_equal(gvk.group, PACKAGE_GROUP) &&
               (str_equal(gvk.kind, STR("Function")) || str_equal(gvk.kind, STR("Provider")) ||
                str_equal(gvk.kind, STR("Configuration")));
}

static int settle(struct lock_run *l, const struct wanted *w, struct err *err)
{
        const struct value *package = NULL;
        struct str version = STR("");
        int e = 0;

        if (!is_package(w->dependency.gvk)) {
                struct str kind = gvk_text(l->arena, w->dependency.gvk);

                return err_set(err, ERR_INVALID, "dependency (%.*s) is of kind %.*s, which is no package",
                               STR_ARG(w->dependency.package), STR_ARG(kind));
        }
        if (upgrades(l))
                e = find_package(l, &w->dependency, &package, err);
        if (e < 0)
                return e;
        if (package)
                return upgrade(l, w, package, err);
        e = choose_install(l, w, &version, err);
        return e < 0 ? e : install(l, w, version, err);
}

static void settle_all(struct lock_run *l)
{
        _cleanup_map_ struct map all = { 0 };

        collect(l, &all);
        for (struct map_entry *m = map_first(&all); m; m = map_next(&all, m)) {
                const struct wanted *w = m->value;
                bool is_right = w->installed.n > 0 && (!upgrades(l) || fits(l, w, w->installed));
                _cleanup_err_ struct err err = { 0 };

                if (!is_right && settle(l, w, &err) < 0)
                        str_list_printf(&l->failures, "%s", err_message(&err));
        }
}

static int write_condition(struct lock_run *l, struct err *err)
{
        struct str why = str_list_join(&l->failures, STR("; "));
        bool is_resolved = l->failures.n == 0;
        struct condition c = {
                .type = STR("Resolved"),
                .status = is_resolved ? CONDITION_TRUE : CONDITION_FALSE,
                .reason = is_resolved ? STR("DependencyResolutionSucceeded") : STR("DependencyResolutionFailed"),
                .message = is_resolved ? STR("")
                                       : arena_printf(l->arena, "Error occurred during dependency resolution %.*s",
                                                      STR_ARG(why)),
                .last_transition = clock_wall(),
                .observed_generation = meta_generation(l->lock),
        };
        const struct value *wanted = l->lock;

        if (!value_is_object(value_get(wanted, STR("status"))))
                wanted = value_with(l->arena, wanted, STR("status"), &value_empty_object);
        wanted = conditions_set(l->arena, wanted, &c, 1);
        return value_equal(wanted, l->lock) ? 0 : kind_run_update(l->r, wanted, STR("status"), &l->lock, err);
}

/* An empty Lock may be deleted. */
static int release(struct lock_run *l, struct err *err)
{
        const struct value *status = value_get(l->lock, STR("status"));
        int e = 0;

        if (value_count(value_get(status, STR("conditions"))) > 0)
                e = kind_run_update(l->r,
                                    value_with(l->arena, l->lock, STR("status"),
                                               value_without(l->arena, status, STR("conditions"))),
                                    STR("status"), &l->lock, err);
        if (e == 0 && meta_has_finalizer(l->lock, LOCK_FINALIZER))
                e = kind_run_update(l->r, meta_without_finalizer(l->arena, l->lock, LOCK_FINALIZER), STR(""), &l->lock,
                                    err);
        return e;
}

static int resolve(struct lock_run *l, struct err *err)
{
        struct str cycle;
        int e = 0;

        if (!meta_has_finalizer(l->lock, LOCK_FINALIZER))
                e = kind_run_update(l->r, meta_with_finalizer(l->arena, l->lock, LOCK_FINALIZER), STR(""), &l->lock,
                                    err);
        if (e < 0)
                return e;
        lock_graph_init(&l->graph, l->arena, l->lock);
        cycle = lock_graph_cycle(&l->graph);
        if (cycle.n > 0)
                str_list_printf(&l->failures, "cannot sort DAG: detected cycle on: %.*s", STR_ARG(cycle));
        settle_all(l);
        lock_graph_done(&l->graph);
        l->r->answer->requeues = l->retries;
        return write_condition(l, err);
}

int lock_reconcile(struct kind_run *r, struct err *err)
{
        struct lock_run l = { .r = r, .options = r->context, .arena = r->run->arena };
        int e = kind_run_get(r, &l.lock, err);

        if (e < 0)
                return err_wrap(err, "cannot get package lock");
        if (!l.lock || !str_equal(meta_name(l.lock), LOCK_NAME))
                return 0;
        str_list_init(&l.failures, l.arena);
        e = value_count(value_get(l.lock, STR("packages"))) == 0 ? release(&l, err) : resolve(&l, err);
        return e < 0 ? kind_run_retry_conflict(r, err, "cannot resolve dependencies") : 0;
}
