#include "dependency-version.h"

#include "arena.h"
#include "oci-digest.h"
#include "str-list.h"

int version_satisfies(struct arena *a, struct str version, struct str constraint, bool *ret, struct err *err)
{
        const struct semver_constraint *c;
        struct semver v;
        int r;

        if (oci_digest_is_valid(constraint)) {
                *ret = str_equal(version, constraint);
                return 0;
        }
        r = semver_constraint_parse_quoting(a, constraint, &c, err);
        if (r >= 0)
                r = semver_parse(version, &v, err);
        if (r >= 0)
                *ret = semver_constraint_check(c, &v);
        return r;
}

/* `[^1 ^2]`, as Go prints a list. */
static struct str constraints_text(const struct version_choice *c)
{
        struct str_list list;

        str_list_init(&list, c->arena);
        for (size_t i = 0; i < c->n_constraints; i++)
                str_list_add(&list, c->constraints[i]);
        return ARENA_CONCAT(c->arena, STR("["), str_list_join(&list, STR(" ")), STR("]"));
}

static int no_version(const struct version_choice *c, struct str constraints, struct err *err)
{
        return err_set(err, ERR_NOT_FOUND,
                       "dependency (%.*s) does not have a valid version to upgrade that satisfies all constraints. If "
                       "there is a valid version that requires downgrade, manual intervention is required. "
                       "Constraints: %.*s",
                       STR_ARG(c->source), STR_ARG(constraints));
}

int version_digest(const struct version_choice *c, struct str *ret, struct err *err)
{
        struct str digest = STR("");

        for (size_t i = 0; i < c->n_constraints; i++)
                if (oci_digest_is_valid(c->constraints[i]))
                        digest = c->constraints[i];
        for (size_t i = 0; digest.n > 0 && i < c->n_constraints; i++)
                if (!str_equal(c->constraints[i], digest)) {
                        struct str all = constraints_text(c);

                        return err_set(err, ERR_INVALID,
                                       "a dependency package has different digests in parent constraints (%.*s)",
                                       STR_ARG(all));
                }
        *ret = digest;
        return 0;
}

static int parse_all(const struct version_choice *c, size_t n, const struct semver_constraint ***ret, struct err *err)
{
        const struct semver_constraint **parsed = ARENA_NEW_ARRAY(c->arena, const struct semver_constraint *, n);

        for (size_t i = 0; i < n; i++)
                if (semver_constraint_parse_quoting(c->arena, c->constraints[i], &parsed[i], err) < 0)
                        return err_wrap(err, "version constraint on dependency is invalid");
        *ret = parsed;
        return 0;
}

static bool satisfies_all(const struct semver_constraint *const *constraints, size_t n, const struct semver *v)
{
        for (size_t i = 0; i < n; i++)
                if (constraints[i] && !semver_constraint_check(constraints[i], v))
                        return false;
        return true;
}

/* Three numbers: `v1` and `1.2` are tags that move. */
static bool is_complete(struct str tag)
{
        size_t dots = 0;

        for (size_t i = 0; i < tag.n && tag.p[i] != '-' && tag.p[i] != '+'; i++)
                dots += tag.p[i] == '.';
        return dots == 2;
}

static struct str highest_complete(const struct version_choice *c, const struct semver_constraint *const *constraints,
                                   size_t n)
{
        struct semver v;

        for (size_t i = c->n_versions; i > 0; i--)
                if (is_complete(c->versions[i - 1]) && semver_parse(c->versions[i - 1], &v, NULL) == 0 &&
                    satisfies_all(constraints, n, &v))
                        return c->versions[i - 1];
        return STR("");
}

int version_to_install(const struct version_choice *c, struct str *ret, struct err *err)
{
        const struct semver_constraint **parsed, **first;
        struct str version = STR("");
        int r;

        if (oci_digest_is_valid(c->constraints[0])) {
                *ret = c->constraints[0];
                return 0;
        }
        r = parse_all(c, 1, &first, err);
        if (r < 0)
                return r;
        if (parse_all(c, c->n_constraints, &parsed, NULL) == 0)
                version = highest_complete(c, parsed, c->n_constraints);
        if (version.n == 0)
                version = highest_complete(c, first, 1);
        if (version.n == 0)
                return no_version(c, c->constraints[0], err);
        *ret = version;
        return 0;
}

int version_to_upgrade(const struct version_choice *c, struct str installed, bool downgrades, struct str *ret,
                       struct err *err)
{
        const struct semver_constraint **parsed;
        struct semver from, v;
        struct str below = STR("");
        int r = parse_all(c, c->n_constraints, &parsed, err);

        if (r < 0)
                return r;
        if (semver_parse(installed, &from, NULL) < 0)
                return err_set(err, ERR_INVALID,
                               "installed version %.*s of dependency (%.*s) is not a semantic version: set the "
                               "package to a tag that is one",
                               STR_ARG(installed), STR_ARG(c->source));
        for (size_t i = 0; i < c->n_versions; i++) {
                if (semver_parse(c->versions[i], &v, NULL) < 0 || !satisfies_all(parsed, c->n_constraints, &v))
                        continue;
                if (semver_compare(&v, &from) >= 0) {
                        *ret = c->versions[i];
                        return 0;
                }
                below = c->versions[i];
        }
        if (!downgrades || below.n == 0)
                return no_version(c, constraints_text(c), err);
        *ret = below;
        return 0;
}
