/* Which version of a dependency fits (docs/spec/packages 4.3, 4.4). */
#pragma once

#include "semver.h"

/* The versions that there are, as tags in ascending order, and the constraints of all packages that need the dependency. */
struct version_choice {
        struct arena *arena;
        struct str source; /* of the dependency, for errors */
        const struct str *versions;
        size_t n_versions;
        const struct str *constraints;
        size_t n_constraints;
};

/* Whether the version satisfies the constraint: a digest must be the same text. The error is that of an unreadable constraint or
 * version. */
int version_satisfies(struct arena *a, struct str version, struct str constraint, bool *ret, struct err *err);

/* The digest that the constraints name, or "". All must be digests, and the same, if one is. */
int version_digest(const struct version_choice *c, struct str *ret, struct err *err);

/* The highest version that satisfies the first constraint, and the others too if there is one. Tags without all three numbers do not
 * count. */
int version_to_install(const struct version_choice *c, struct str *ret, struct err *err);

/* The lowest version from the installed one on that satisfies all constraints or, with downgrades, the highest below it. */
int version_to_upgrade(const struct version_choice *c, struct str installed, bool downgrades, struct str *ret,
                       struct err *err);
