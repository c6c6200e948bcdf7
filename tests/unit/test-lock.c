/* Dependencies of packages on a store: the texts are those that Crossplane 2.3.4 and 2.4.2 gave on a real API (docs/spec/packages 4). */
#include "store-test.h"

#include "condition.h"
#include "dependencies.h"
#include "dependency-version.h"
#include "lock-graph.h"

/* --- A registry of tags --- */

static const struct {
        const char *source, *tags;
} registry[] = {
        { "reg.io/acme/dep", "v0.2.0 v0.3.0 v1 v1.0.0 v1.2 v1.2.0 v2.0.0 v3.0.0-rc.1" },
        { "reg.io/acme/other", "v1.0.0 v1.1.0" },
        { "reg.io/acme/third", "v1.0.0" },
        { "reg.io/acme/untagged", "" },
};

int package_client_versions(struct package_client *c, struct kind_run *r, struct str source, struct str **ret,
                            size_t *ret_n, struct err *err)
{
        struct str_list list;

        str_list_init(&list, r->run->arena);
        for (size_t i = 0; i < ARRAY_SIZE(registry); i++) {
                struct str rest = str_from(registry[i].tags), tag;

                if (!str_equal(str_from(registry[i].source), source))
                        continue;
                while (rest.n > 0) {
                        str_split(&rest, ' ', &tag);
                        str_list_add(&list, tag);
                }
                *ret = list.p;
                *ret_n = list.n;
                return 0;
        }
        return err_set(err, ERR_FAILED, "registry does not answer");
}

int package_client_new(const struct package_client_options *options, struct package_client **ret, struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "not in this test");
}

void package_client_free(struct package_client *c)
{
}

int package_client_get(struct package_client *c, struct kind_run *r, const struct package_request *req,
                       struct package_result *ret, struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "not in this test");
}

int package_client_image(struct package_client *c, struct kind_run *r, const struct package_request *req,
                         struct oci_image **ret, struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "not in this test");
}

/* --- Helpers --- */

static struct object_key lock_key(void)
{
        return key_of((struct gvk) { STR("pkg.crossplane.io"), STR("v1beta1"), STR("Lock") }, "", "lock");
}

static struct object_key package_key(const char *kind, const char *name)
{
        return key_of((struct gvk) { STR("pkg.crossplane.io"), STR("v1"), str_from(kind) }, "", name);
}

static const struct value *revision(struct fixture *f, const char *kind, const char *name, const char *package,
                                    int number, const char *state)
{
        struct object_key key = package_key(kind, name);

        if (!get(f, key))
                MUST(f, create(f, JSON(f,
                                       "{'apiVersion':'pkg.crossplane.io/v1','kind':'%s','metadata':{'name':'%s',"
                                       "'labels':{'pkg.crossplane.io/package':'%s'}},'spec':{'desiredState':'%s',"
                                       "'revision':%d}}",
                                       kind, name, package, state, number)));
        return get(f, key);
}

/* Resolves and answers `found/installed/invalid ERROR`. depends: items of dependsOn in YAML's flow style. */
static const char *resolve_revision(struct fixture *f, const struct value *revision, const char *source,
                                    const char *version, const char *depends)
{
        struct kind_run r = { .run = &f->run, .cluster = f->cluster };
        struct dependency_counts counts;
        struct str kind = gvk_of(revision).kind;
        struct str yaml;
        struct xpkg package;
        int e;

        str_cut_suffix(&kind, STR("Revision"));
        yaml = arena_printf(&f->arena,
                            "apiVersion: meta.pkg.crossplane.io/v1\nkind: %.*s\nmetadata: {name: x}\n"
                            "spec: {dependsOn: [%s]}\n",
                            STR_ARG(kind), depends);
        MUST(f, xpkg_parse(&f->arena, yaml, &package, &f->err));
        err_done(&f->err);
        e = dependencies_resolve(&r, revision, str_from(source), str_from(version), &package, &counts, &f->err);
        return arena_cstring(&f->arena, arena_printf(&f->arena, "%d/%d/%d %s", (int)counts.found, (int)counts.installed,
                                                     (int)counts.invalid, e < 0 ? err_message(&f->err) : "ok"));
}

static const char *resolve_as(struct fixture *f, const char *kind, const char *name, const char *version,
                              const char *depends)
{
        const char *source = arena_cstring(&f->arena, arena_printf(&f->arena, "reg.io/acme/%s", name));

        return resolve_revision(f, revision(f, kind, name, name, 1, "Active"), source, version, depends);
}

static const char *resolve(struct fixture *f, const char *name, const char *version, const char *depends)
{
        return resolve_as(f, "ConfigurationRevision", name, version, depends);
}

#define NEED(name, version) \
        "{apiVersion: pkg.crossplane.io/v1, kind: Function, package: reg.io/acme/" name ", version: '" version "'}"

/* One run of the controller: the condition's message, or `True`. */
static const char *run_lock(struct fixture *f, bool upgrades, bool downgrades)
{
        struct dependencies_options options = { .upgrades = upgrades, .downgrades = downgrades };
        struct control_answer answer = { 0 };
        struct kind_run r = { .run = &f->run, .cluster = f->cluster, .answer = &answer, .context = &options };
        struct condition c;

        r.key = lock_key();
        MUST(f, lock_reconcile(&r, &f->err));
        condition_get(get(f, lock_key()), STR("Resolved"), &c);
        if (c.status == CONDITION_UNKNOWN)
                return "none";
        ASSERT_STR(c.reason, c.status == CONDITION_TRUE ? STR("DependencyResolutionSucceeded")
                                                        : STR("DependencyResolutionFailed"));
        return c.status == CONDITION_TRUE
                       ? (answer.requeues ? "True, again" : "True")
                       : arena_cstring(&f->arena, arena_printf(&f->arena, "%.*s%s", STR_ARG(c.message),
                                                               answer.requeues ? " [again]" : ""));
}

#define FAILED "Error occurred during dependency resolution "

/* spec.package of an installed package, or "none". */
static const char *installed(struct fixture *f, const char *kind, const char *name)
{
        const struct value *v = get(f, package_key(kind, name));

        return v ? arena_cstring(&f->arena, value_str(value_find(v, "spec", "package"))) : "none";
}

/* --- The revision's side --- */

TEST(a_revision_without_dependencies_joins_the_lock)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        ASSERT_TEXT(resolve_as(&f, "FunctionRevision", "dep", "v1.0.0", ""), "0/0/0 ok");
        ASSERT_STR(to_json(&f, value_get(get(&f, lock_key()), STR("packages"))),
                   STR("[{\"apiVersion\":\"pkg.crossplane.io/v1\",\"dependencies\":[],\"kind\":\"Function\",\"name\":"
                       "\"dep\",\"source\":\"reg.io/acme/dep\",\"version\":\"v1.0.0\"}]"));
}

TEST(forms_of_dependencies)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "a", "v1.0.0",
                NEED("x", ">=v1") ", {provider: reg.io/acme/y, version: ^1}, {function: reg.io/acme/z, version: '*'}");
        ASSERT_STR(to_json(&f,
                           value_find(value_item(value_get(get(&f, lock_key()), STR("packages")), 0), "dependencies")),
                   STR("[{\"apiVersion\":\"pkg.crossplane.io/v1\",\"constraints\":\">=v1\",\"kind\":\"Function\","
                       "\"package\":\"reg.io/acme/x\"},{\"constraints\":\"^1\",\"package\":\"reg.io/acme/y\",\"type\":"
                       "\"Provider\"},{\"constraints\":\"*\",\"package\":\"reg.io/acme/z\",\"type\":\"Function\"}]"));
}

TEST(missing_dependencies_are_listed)
{
        static const struct {
                const char *depends, *wanted;
        } cases[] = {
                { NEED("n1", ">=v1"), "1/0/0 missing dependencies: \"reg.io/acme/n1\" (>=v1)" },
                { NEED("n2", "") ", " NEED("n1", ">=v1"),
                  "2/0/0 missing dependencies: \"reg.io/acme/n1\" (>=v1), \"reg.io/acme/n2\"" },
                { NEED("n1", "1") ", " NEED("n2", "1") ", " NEED("n3", "1"),
                  "3/0/0 missing dependencies: \"reg.io/acme/n1\" (1), \"reg.io/acme/n2\" (1), and \"reg.io/acme/n3\" "
                  "(1)" },
                { NEED("n1", ">=v1") ", " NEED("n2", ">=v1") ", " NEED("n3", ">=v1") ", " NEED("n4", ">=v1") ", " NEED(
                          "n5", ">=v1"),
                  "5/0/0 missing dependencies: \"reg.io/acme/n1\" (>=v1), \"reg.io/acme/n2\" (>=v1), "
                  "\"reg.io/acme/n3\" (>=v1), and 2 more" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_fixture_ struct fixture f;

                fixture_init(&f);
                ASSERT_TEXT(resolve(&f, "a", "v1.0.0", cases[i].depends), cases[i].wanted);
                ASSERT_TEXT(resolve(&f, "a", "v1.0.0", cases[i].depends), cases[i].wanted);
        }
}

TEST(versions_of_dependencies)
{
        static const char digest[] = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        static const struct {
                const char *version, *constraint, *wanted;
        } cases[] = {
                { "v0.3.0", "^0.3", "1/1/0 ok" },
                { "v0.3.0", "^1",
                  "1/1/1 incompatible dependencies: existing package reg.io/acme/dep@v0.3.0 is incompatible with "
                  "constraint ^1" },
                { "v0.3.0", ">=a", "1/1/0 improper constraint: \">=a\"" },
                { "v0.3.0", "", "1/1/0 improper constraint: \"\"" },
                { digest, ">=v1", "1/1/0 invalid semantic version" },
                { digest, digest, "1/1/0 ok" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_fixture_ struct fixture f;
                struct str need;

                fixture_init(&f);
                need = arena_printf(&f.arena, "{function: reg.io/acme/dep, version: '%s'}", cases[i].constraint);
                resolve_as(&f, "FunctionRevision", "dep", cases[i].version, "");
                ASSERT_TEXT(resolve(&f, "a", "v1.0.0", arena_cstring(&f.arena, need)), cases[i].wanted);
        }
}

TEST(dependencies_of_dependencies_count)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "b", "v1.0.0", NEED("dep", "^1"));
        ASSERT_TEXT(resolve(&f, "a", "v1.0.0", NEED("b", "^1")),
                    "2/1/0 missing dependencies: \"reg.io/acme/dep\" (^1)");
        resolve_as(&f, "FunctionRevision", "dep", "v0.3.0", "");
        ASSERT_TEXT(resolve(&f, "a", "v1.0.0", NEED("b", "^1")), "2/2/0 ok"); /* only b minds */
        ASSERT_TEXT(resolve(&f, "b", "v1.0.0", NEED("dep", "^1")),
                    "1/1/1 incompatible dependencies: existing package reg.io/acme/dep@v0.3.0 is incompatible with "
                    "constraint ^1");
        ASSERT_TEXT(resolve_as(&f, "FunctionRevision", "dep", "v1.0.0", ""), "0/0/0 ok");
        ASSERT_TEXT(resolve(&f, "b", "v1.0.0", NEED("dep", "^1")), "1/1/0 ok");
}

TEST(a_cycle_does_not_fail_its_revisions)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "a", "v1.0.0", NEED("b", "^1"));
        ASSERT_TEXT(resolve(&f, "b", "v1.0.0", NEED("a", "^1")), "2/2/0 ok");
        ASSERT_TEXT(resolve(&f, "a", "v1.0.0", NEED("b", "^1")), "2/2/0 ok");
        ASSERT_TEXT(resolve(&f, "self", "v1.0.0", NEED("self", "^1")), "1/1/0 ok");
}

TEST(revisions_of_one_source)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *old, *newer, *stranger, *idle;

        fixture_init(&f);
        old = revision(&f, "FunctionRevision", "fn-1", "fn", 1, "Active");
        newer = revision(&f, "FunctionRevision", "fn-2", "fn", 2, "Active");
        stranger = revision(&f, "FunctionRevision", "twin-1", "twin", 7, "Active");
        idle = revision(&f, "FunctionRevision", "idle-1", "fn", 9, "Inactive");
        ASSERT_TEXT(resolve_revision(&f, old, "reg.io/acme/fn", "v1.0.0", ""), "0/0/0 ok");
        ASSERT_TEXT(resolve_revision(&f, idle, "reg.io/acme/fn", "v9.0.0", NEED("x", "1")), "0/0/0 ok");
        ASSERT_TEXT(resolve_revision(&f, newer, "reg.io/acme/fn", "v2.0.0", ""), "0/0/0 ok");
        ASSERT_INT(value_count(value_get(get(&f, lock_key()), STR("packages"))), 1);
        ASSERT_TEXT(resolve_revision(&f, old, "reg.io/acme/fn", "v1.0.0", NEED("x", "1")),
                    "1/0/0 missing dependencies: \"reg.io/acme/x\" (1)");
        ASSERT_STR(value_str(value_find(value_item(value_get(get(&f, lock_key()), STR("packages")), 0), "name")),
                   STR("fn-2"));
        ASSERT_TEXT(resolve_revision(&f, stranger, "reg.io/acme/fn", "v1.0.0", ""),
                    "0/0/0 package source reg.io/acme/fn is already installed by package revision fn-2: remove one of "
                    "the two packages");
        ASSERT_TEXT(resolve_revision(&f, newer, "reg.io/moved/fn", "v2.0.0", ""), "0/0/0 ok");
        ASSERT_STR(value_str(value_find(value_item(value_get(get(&f, lock_key()), STR("packages")), 0), "source")),
                   STR("reg.io/moved/fn"));
}

TEST(a_revision_leaves)
{
        _cleanup_fixture_ struct fixture f;
        struct kind_run r = { .cluster = NULL };

        fixture_init(&f);
        r = (struct kind_run) { .run = &f.run, .cluster = f.cluster };
        MUST(&f, dependencies_remove(&r, STR("a"), &f.err)); /* no Lock */
        resolve(&f, "a", "v1.0.0", "");
        resolve(&f, "b", "v1.0.0", "");
        MUST(&f, dependencies_remove(&r, STR("c"), &f.err));
        ASSERT_INT(value_count(value_get(get(&f, lock_key()), STR("packages"))), 2);
        MUST(&f, dependencies_remove(&r, STR("a"), &f.err));
        ASSERT_INT(value_count(value_get(get(&f, lock_key()), STR("packages"))), 1);
}

/* --- The controller --- */

TEST(missing_packages_are_installed)
{
        static const char digest[] = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
        static const struct {
                const char *constraint, *package;
        } cases[] = {
                { "^1", "reg.io/acme/dep:v1.2.0" },
                { ">=v0.2.0", "reg.io/acme/dep:v2.0.0" },
                { ">=v3.0.0-0", "reg.io/acme/dep:v3.0.0-rc.1" },
                { "<1", "reg.io/acme/dep:v0.3.0" },
                { "v1.0.0", "reg.io/acme/dep:v1.0.0" },
        };

        for (size_t i = 0; i <= ARRAY_SIZE(cases); i++) {
                bool is_digest = i == ARRAY_SIZE(cases);
                _cleanup_fixture_ struct fixture f;
                struct str need;

                fixture_init(&f);
                need = arena_printf(&f.arena, "{function: reg.io/acme/dep, version: '%s'}",
                                    is_digest ? digest : cases[i].constraint);
                resolve(&f, "a", "v1.0.0", arena_cstring(&f.arena, need));
                ASSERT_TEXT(run_lock(&f, false, false), "True");
                ASSERT_TEXT(installed(&f, "Function", "acme-dep"),
                            is_digest ? arena_cstring(&f.arena, arena_printf(&f.arena, "reg.io/acme/dep@%s", digest))
                                      : cases[i].package);
                ASSERT(meta_has_finalizer(get(&f, lock_key()), STR("lock.pkg.crossplane.io")));
                ASSERT_TEXT(run_lock(&f, false, false), "True"); /* it is there already */
        }
}

TEST(a_function_that_depends_on_a_provider)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve_as(&f, "FunctionRevision", "fn", "v1.0.0", "{provider: reg.io/acme/other, version: '>=v1'}");
        ASSERT_TEXT(run_lock(&f, false, false), "True");
        ASSERT_TEXT(installed(&f, "Provider", "acme-other"), "reg.io/acme/other:v1.1.0");
}

/* Crossplane would stop at the first. */
TEST(one_that_cannot_be_had_does_not_block_the_others)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "a", "v1.0.0",
                NEED("gone", "^1") ", " NEED("dep", ">=v9") ", " NEED("other", "^1") ", " NEED(
                        "third", ">=a") ", " NEED("untagged", "*"));
        resolve(&f, "c1", "v1.0.0", NEED("c2", "^1"));
        resolve(&f, "c2", "v1.0.0", NEED("c1", "^1"));
        ASSERT_TEXT(
                run_lock(&f, false, false), FAILED
                "cannot sort DAG: detected cycle on: reg.io/acme/c1; cannot find dependency version to install: cannot "
                "fetch dependency package tags: registry does not answer; dependency (reg.io/acme/dep) does not have a "
                "valid version to upgrade that satisfies all constraints. If there is a valid version that requires "
                "downgrade, manual intervention is required. Constraints: >=v9; cannot find dependency version to "
                "install: version constraint on dependency is invalid: improper constraint: \">=a\"; dependency "
                "(reg.io/acme/untagged) does not have a valid version to upgrade that satisfies all constraints. If "
                "there is a valid version that requires downgrade, manual intervention is required. Constraints: * "
                "[again]");
        ASSERT_TEXT(installed(&f, "Function", "acme-other"), "reg.io/acme/other:v1.1.0");
        ASSERT_TEXT(installed(&f, "Function", "acme-dep"), "none");
}

TEST(two_parents_get_a_version_for_both)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "a", "v1.0.0", NEED("dep", ">=v0.2.0"));
        resolve(&f, "b", "v1.0.0", NEED("dep", "<v1.2.0"));
        ASSERT_TEXT(run_lock(&f, false, false), "True");
        ASSERT_TEXT(installed(&f, "Function", "acme-dep"), "reg.io/acme/dep:v1.0.0");
}

TEST(a_name_that_is_taken)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'pkg.crossplane.io/v1','kind':'Function','metadata':{'name':"
                                     "'acme-dep'},'spec':{'package':'elsewhere.io/acme/dep:v1.0.0'}}")));
        resolve(&f, "a", "v1.0.0", NEED("dep", "^1"));
        ASSERT_TEXT(run_lock(&f, false, false),
                    FAILED "dependency (reg.io/acme/dep) cannot be installed: its name acme-dep is that of package "
                           "elsewhere.io/acme/dep. Install the dependency under another name");
}

TEST(upgrades_and_downgrades)
{
        static const struct {
                const char *installed, *constraint;
                bool upgrades, downgrades;
                const char *condition, *package;
        } cases[] = {
                { "v0.2.0", "^1", false, false, "True", "v0.2.0" }, /* told by the revision alone */
                { "v0.2.0", "^1", true, false, "True", "v1" },
                { "v0.2.0", ">=v1.2.0", true, false, "True", "v1.2" },
                { "v0.3.0", ">=v0.2.0", true, false, "True", "v0.3.0" },
                { "v2.0.0", "^1", true, false,
                  FAILED
                  "cannot find dependency version to upgrade: dependency (reg.io/acme/dep) does not have a valid "
                  "version to upgrade that satisfies all constraints. If there is a valid version that requires "
                  "downgrade, manual intervention is required. Constraints: [^1]",
                  "v2.0.0" },
                { "v2.0.0", "^1", false, true, "True", "v1.2.0" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_fixture_ struct fixture f;
                struct str need;

                fixture_init(&f);
                MUST(&f, create(&f, JSON(&f,
                                         "{'apiVersion':'pkg.crossplane.io/v1','kind':'Function','metadata':{'name':"
                                         "'mine'},'spec':{'package':'reg.io/acme/dep:%s'}}",
                                         cases[i].installed)));
                resolve_as(&f, "FunctionRevision", "dep", cases[i].installed, "");
                need = arena_printf(&f.arena, "{function: reg.io/acme/dep, version: '%s'}", cases[i].constraint);
                resolve(&f, "a", "v1.0.0", arena_cstring(&f.arena, need));
                ASSERT_TEXT(run_lock(&f, cases[i].upgrades, cases[i].downgrades), cases[i].condition);
                ASSERT_TEXT(installed(&f, "Function", "mine"),
                            arena_cstring(&f.arena, arena_printf(&f.arena, "reg.io/acme/dep:%s", cases[i].package)));
                ASSERT_TEXT(installed(&f, "Function", "acme-dep"), "none");
        }
}

TEST(parents_must_agree_on_a_digest)
{
#define HEX "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'pkg.crossplane.io/v1','kind':'Function','metadata':{'name':'mine'}"
                                     ",'spec':{'package':'reg.io/acme/dep:v1.0.0'}}")));
        resolve_as(&f, "FunctionRevision", "dep", "v1.0.0", "");
        resolve(&f, "a", "v1.0.0", NEED("dep", HEX));
        resolve(&f, "b", "v1.0.0", NEED("dep", "^1"));
        ASSERT_TEXT(run_lock(&f, true, false),
                    FAILED "cannot find dependency version to upgrade: a dependency package has different digests in "
                           "parent constraints ([" HEX " ^1])");
        resolve(&f, "other", "v1.0.0", "");
        MUST(&f, dependencies_remove(&(struct kind_run) { .run = &f.run, .cluster = f.cluster }, STR("b"), &f.err));
        ASSERT_TEXT(run_lock(&f, true, false), "True");
        ASSERT_TEXT(installed(&f, "Function", "mine"), "reg.io/acme/dep@" HEX);
}

TEST(what_is_no_package_is_not_created)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "a", "v1.0.0", "{apiVersion: v1, kind: Secret, package: reg.io/acme/dep, version: '^1'}");
        ASSERT_TEXT(run_lock(&f, false, false),
                    FAILED "dependency (reg.io/acme/dep) is of kind /v1, Kind=Secret, which is no package");
}

TEST(an_empty_lock_lets_go)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        resolve(&f, "a", "v1.0.0", "");
        ASSERT_TEXT(run_lock(&f, false, false), "True");
        MUST(&f, dependencies_remove(&(struct kind_run) { .run = &f.run, .cluster = f.cluster }, STR("a"), &f.err));
        ASSERT_TEXT(run_lock(&f, false, false), "none");
        ASSERT(!meta_has_finalizer(get(&f, lock_key()), STR("lock.pkg.crossplane.io")));
}

/* A chain that is longer than any stack would take. */
TEST(a_long_chain)
{
        _cleanup_fixture_ struct fixture f;
        _cleanup_lock_graph_ struct lock_graph g;
        struct array_builder packages;
        struct member member = { STR("packages"), { 0 } };
        struct lock_needs needs;
        size_t n = 20000;

        fixture_init(&f);
        array_builder_init(&packages, &f.arena, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&packages,
                                  *JSON(&f, "{'source':'s%zu','dependencies':[{'package':'s%zu'}]}", i, i + 1));
        member.value = array_builder_finish(&packages);
        lock_graph_init(&g, &f.arena, value_put(&f.arena, value_of_members(&f.arena, &member, 1, true)));
        needs = lock_graph_needs(&g, &g.packages[0]);
        ASSERT_INT(needs.n_found, n);
        ASSERT_INT(needs.n_missing, 1);
        ASSERT_STR(lock_graph_cycle(&g), STR(""));
}
