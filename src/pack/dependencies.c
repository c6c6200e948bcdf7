/* The revision's side of the Lock: an Active revision is a member, and its dependencies are checked against the other members. */
#include "dependencies.h"

#include "dependency-version.h"
#include "gotext.h"
#include "lock-graph.h"
#include "packages-state.h"

#define WRITE_ATTEMPTS 5 /* many revisions write the one Lock */

struct resolve_run {
        struct kind_run *r;
        struct arena *arena;
        const struct value *revision;
        const struct xpkg *package;
        struct str source, version;
        const struct value *lock; /* NULL: there is none */
        struct lock_package self;
        bool is_new; /* the Lock did not have the revision */
};

static const struct object_key lock_key = {
        .gvk = { STR_INIT("pkg.crossplane.io"), STR_INIT("v1beta1"), STR_INIT("Lock") },
        .name = STR_INIT("lock"),
};

static int get_lock(struct kind_run *r, const struct value **ret, struct err *err)
{
        int e = cluster_get_value(r->cluster, r->run, &lock_key, ret, err);

        if (e != ERR_NOT_FOUND)
                return e < 0 ? err_wrap(err, "cannot get or create lock") : 0;
        if (err)
                err_done(err);
        *ret = NULL;
        return 0;
}

/* --- Members --- */

static void add_text(struct object_builder *b, struct str key, struct str text)
{
        if (text.n > 0)
                object_builder_add(b, key, value_of_str(text));
}

/* A dependency as the Lock has it. One in a deprecated form has a type instead of apiVersion and kind. */
static struct value dependency_entry(struct arena *a, const struct value *written, const struct xpkg_dependency *d)
{
        struct gvk gvk = gvk_of(written);
        bool is_explicit = gvk.version.n > 0 && gvk.kind.n > 0 && value_str(value_get(written, STR("package"))).n > 0;
        struct object_builder b;

        object_builder_init(&b, a, 5);
        if (is_explicit)
                add_text(&b, STR("apiVersion"), gvk_api_version(a, d->gvk));
        object_builder_add(&b, STR("constraints"), value_of_str(d->version));
        if (is_explicit)
                add_text(&b, STR("kind"), d->gvk.kind);
        object_builder_add(&b, STR("package"), value_of_str(d->package));
        if (!is_explicit)
                add_text(&b, STR("type"), d->gvk.kind);
        return object_builder_finish(&b);
}

/* The kind of the revision's package: FunctionRevision is of a Function. */
static struct str package_kind(const struct value *revision)
{
        struct str kind = gvk_of(revision).kind;

        str_cut_suffix(&kind, STR("Revision"));
        return kind;
}

static struct value self_entry(struct resolve_run *s)
{
        const struct value *written = value_find(s->package->meta, "spec", "dependsOn");
        struct array_builder dependencies;
        struct object_builder b;

        array_builder_init(&dependencies, s->arena, s->package->n_dependencies);
        for (size_t i = 0; i < s->package->n_dependencies; i++)
                array_builder_add(&dependencies,
                                  dependency_entry(s->arena, value_item(written, i), &s->package->dependencies[i]));
        object_builder_init(&b, s->arena, 6);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("pkg.crossplane.io/v1"));
        object_builder_add(&b, STR("dependencies"), array_builder_finish(&dependencies));
        object_builder_add(&b, STR("kind"), value_of_str(package_kind(s->revision)));
        object_builder_add(&b, STR("name"), value_of_str(meta_name(s->revision)));
        object_builder_add(&b, STR("source"), value_of_str(s->source));
        object_builder_add(&b, STR("version"), value_of_str(s->version));
        return object_builder_finish(&b);
}

static const struct value *new_lock(struct arena *a, const struct value *packages)
{
        struct member name = { STR("name"), value_of_str(LOCK_NAME) };
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("pkg.crossplane.io/v1beta1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Lock"));
        object_builder_add(&b, STR("metadata"), value_of_members(a, &name, 1, true));
        object_builder_add(&b, STR("packages"), *packages);
        return value_put(a, object_builder_finish(&b));
}

static int write_packages(struct kind_run *r, const struct value *lock, const struct value *packages, struct err *err)
{
        struct arena *a = r->run->arena;
        struct write_request req = { .verb = lock ? WRITE_UPDATE : WRITE_CREATE,
                                     .key = lock_key,
                                     .body = lock ? value_with(a, lock, STR("packages"), packages)
                                                  : new_lock(a, packages),
                                     .manager = CROSSPLANE_MANAGER };
        struct write_result result;

        return cluster_write(r->cluster, r->run, &req, &result, err);
}

/* --- The place in the Lock --- */

/* Whether this revision takes the place of the one that holds its source: a revision that is gone or Inactive, or an older one of the
 * same package. Several revisions of a Function may be Active, but the Lock has one place for them. */
static int takes_place_of(struct resolve_run *s, struct str holder, bool *ret_takes, bool *ret_is_kin, struct err *err)
{
        struct object_key key = { .gvk = gvk_of(s->revision), .name = holder };
        const struct value *other = NULL;
        struct str package = meta_label(s->revision, PACKAGE_LABEL);
        int64_t own = value_int(value_find(s->revision, "spec", "revision"), 0);
        int e = cluster_get_value(s->r->cluster, s->r->run, &key, &other, err);

        *ret_takes = *ret_is_kin = false;
        if (e == ERR_NOT_FOUND) {
                if (err)
                        err_done(err);
                *ret_takes = true;
                return 0;
        }
        if (e < 0)
                return e;
        *ret_is_kin = package.n > 0 && str_equal(package, meta_label(other, PACKAGE_LABEL));
        *ret_takes = !str_equal(value_str(value_find(other, "spec", "desiredState")), STR("Active")) ||
                     (*ret_is_kin && value_int(value_find(other, "spec", "revision"), 0) < own);
        return 0;
}

/* The Lock's packages with this revision in its place; *ret is NULL if nothing has to be written. */
static int with_self(struct resolve_run *s, const struct value **ret, struct err *err)
{
        const struct value *packages = s->lock ? value_get(s->lock, STR("packages")) : NULL;
        struct value entry = self_entry(s), version = value_of_str(s->version);

        if (!value_is_array(packages))
                packages = &value_empty_array;
        *ret = NULL;
        for (size_t i = 0; i < value_count(packages); i++) {
                const struct value *item = value_item(packages, i);
                struct str name = value_str(value_get(item, STR("name")));
                bool is_own = str_equal(name, meta_name(s->revision)), takes = true, is_kin = true;
                bool is_source = str_equal(value_str(value_get(item, STR("source"))), s->source);
                int e;

                if (is_own && is_source) {
                        item = value_with(s->arena, item, STR("version"), &version);
                        if (!value_equal(item, value_item(packages, i)))
                                *ret = value_with_item(s->arena, packages, i, item);
                        return 0;
                }
                if (!is_own && !is_source)
                        continue;
                e = is_own ? 0 : takes_place_of(s, name, &takes, &is_kin, err);
                if (e < 0)
                        return e;
                if (!takes && is_kin)
                        return 0; /* a newer revision of the package stands in the Lock for both */
                if (!takes)
                        return err_set(err, ERR_EXISTS,
                                       "package source %.*s is already installed by package revision %.*s: remove one "
                                       "of the two packages",
                                       STR_ARG(s->source), STR_ARG(name));
                packages = value_without_item(s->arena, packages, i--);
        }
        s->is_new = true;
        *ret = value_with_appended(s->arena, packages, &entry);
        return 0;
}

static int join(struct resolve_run *s, struct err *err)
{
        int e = 0;

        for (int i = 0; i < WRITE_ATTEMPTS; i++) {
                const struct value *packages = NULL;

                e = get_lock(s->r, &s->lock, err);
                if (e == 0)
                        e = with_self(s, &packages, err);
                if (e < 0 || !packages)
                        return e;
                e = write_packages(s->r, s->lock, packages, err);
                if (e == 0)
                        s->lock = new_lock(s->arena, packages);
                if (e != ERR_CONFLICT && e != ERR_EXISTS)
                        break;
                if (err && i + 1 < WRITE_ATTEMPTS)
                        err_done(err);
        }
        return e < 0 ? err_wrap(err, "cannot update lock") : 0;
}

/* --- Checks --- */

/* `"reg/a" (>=v1), "reg/b", ...`: sorted, at most three. */
static struct str first_three(struct arena *a, const struct lock_dependency *d, size_t n)
{
        struct str_list list;
        struct str text = STR("");
        size_t shown = MIN(n, (size_t)3);

        str_list_init(&list, a);
        for (size_t i = 0; i < n; i++) {
                struct str quoted = go_quote(a, d[i].package);

                if (d[i].constraints.n > 0)
                        quoted = ARENA_CONCAT(a, quoted, STR(" ("), d[i].constraints, STR(")"));
                str_list_add(&list, quoted);
        }
        str_list_sort(&list);
        for (size_t i = 0; i < shown; i++)
                text = ARENA_CONCAT(a, text,
                                    i == 0             ? STR("")
                                    : n == 3 && i == 2 ? STR(", and ")
                                                       : STR(", "),
                                    list.p[i]);
        return n > shown ? arena_printf(a, "%.*s, and %zu more", STR_ARG(text), n - shown) : text;
}

static int missing(struct arena *a, const struct lock_dependency *d, size_t n, struct err *err)
{
        struct str list = first_three(a, d, n);

        return err_set(err, ERR_NOT_FOUND, "missing dependencies: %.*s", STR_ARG(list));
}

/* A revision that was not in the Lock is told about its own dependencies first; those behind them are not known yet. */
static int check_direct(struct resolve_run *s, const struct lock_graph *g, struct dependency_counts *ret,
                        struct err *err)
{
        struct lock_dependency *lacking = ARENA_NEW_ARRAY(s->arena, struct lock_dependency, s->self.n_dependencies);
        size_t n = 0;

        for (size_t i = 0; i < s->self.n_dependencies; i++)
                if (!lock_graph_find(g, s->self.dependencies[i].package))
                        lacking[n++] = s->self.dependencies[i];
        ret->installed = (int64_t)(s->self.n_dependencies - n);
        return n > 0 ? missing(s->arena, lacking, n, err) : 0;
}

/* The versions of the direct dependencies against their constraints. */
static int check_versions(struct resolve_run *s, const struct lock_graph *g, struct dependency_counts *ret,
                          struct err *err)
{
        struct str_list texts;

        str_list_init(&texts, s->arena);
        for (size_t i = 0; i < s->self.n_dependencies; i++) {
                const struct lock_dependency *d = &s->self.dependencies[i];
                const struct lock_package *p = lock_graph_find(g, d->package);
                bool fits = false;
                int e = version_satisfies(s->arena, p->version, d->constraints, &fits, err);

                if (e < 0)
                        return e;
                if (fits)
                        continue;
                str_list_printf(&texts, "existing package %.*s@%.*s is incompatible with constraint %.*s",
                                STR_ARG(p->source), STR_ARG(p->version), STR_ARG(d->constraints));
        }
        ret->invalid = (int64_t)texts.n;
        if (texts.n > 0) {
                struct str all = str_list_join(&texts, STR("; "));

                return err_set(err, ERR_INVALID, "incompatible dependencies: %.*s", STR_ARG(all));
        }
        return 0;
}

static int check(struct resolve_run *s, struct dependency_counts *ret, struct err *err)
{
        _cleanup_lock_graph_ struct lock_graph g;
        struct lock_needs needs;
        int e = 0;

        lock_graph_init(&g, s->arena, s->lock);
        if (s->is_new)
                e = check_direct(s, &g, ret, err);
        if (e < 0)
                return e;
        needs = lock_graph_needs(&g, &s->self);
        ret->found = (int64_t)needs.n_found;
        ret->installed = (int64_t)(needs.n_found - needs.n_missing);
        if (needs.n_missing > 0)
                return missing(s->arena, needs.missing, needs.n_missing, err);
        return check_versions(s, &g, ret, err);
}

int dependencies_resolve(struct kind_run *r, const struct value *revision, struct str source, struct str version,
                         const struct xpkg *package, struct dependency_counts *ret, struct err *err)
{
        struct resolve_run s = { .r = r,
                                 .arena = r->run->arena,
                                 .revision = revision,
                                 .package = package,
                                 .source = source,
                                 .version = version };
        struct lock_dependency *own = ARENA_NEW_ARRAY(s.arena, struct lock_dependency, package->n_dependencies);
        int e;

        *ret = (struct dependency_counts) { 0 };
        if (str_equal(value_str(value_find(revision, "spec", "desiredState")), STR("Inactive")))
                return 0;
        for (size_t i = 0; i < package->n_dependencies; i++)
                own[i] = (struct lock_dependency) { .gvk = package->dependencies[i].gvk,
                                                    .package = package->dependencies[i].package,
                                                    .constraints = package->dependencies[i].version };
        s.self = (struct lock_package) { .name = meta_name(revision),
                                         .source = source,
                                         .version = version,
                                         .dependencies = own,
                                         .n_dependencies = package->n_dependencies };
        ret->found = (int64_t)package->n_dependencies;
        e = join(&s, err);
        return e < 0 ? e : check(&s, ret, err);
}

/* --- Leaving --- */

int dependencies_remove(struct kind_run *r, struct str revision, struct err *err)
{
        int e = 0;

        for (int i = 0; i < WRITE_ATTEMPTS; i++) {
                const struct value *lock, *packages;
                size_t at = 0;

                e = get_lock(r, &lock, err);
                if (e < 0 || !lock)
                        return e;
                packages = value_get(lock, STR("packages"));
                while (at < value_count(packages) &&
                       !str_equal(value_str(value_get(value_item(packages, at), STR("name"))), revision))
                        at++;
                if (at == value_count(packages))
                        return 0;
                e = write_packages(r, lock, value_without_item(r->run->arena, packages, at), err);
                if (e != ERR_CONFLICT)
                        break;
                if (err && i + 1 < WRITE_ATTEMPTS)
                        err_done(err);
        }
        return e < 0 ? err_wrap(err, "cannot remove package revision from lock") : 0;
}
