/* Semantic versions and constraints on them, as Masterminds/semver v3.4 and v3.5 read them: `v1.2` is 1.2.0, and `>=1.2, <2 || ^3` is
 * a constraint. Error texts are those of that library. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;

/* The texts point into the parsed text and live as long as it. */
struct semver {
        uint64_t major, minor, patch;
        struct str prerelease; /* without the hyphen; "" for a release */
        struct str metadata;   /* without the plus sign */
        struct str original;   /* as it was written */
};

/* Takes a leading `v`, one to three numbers, a prerelease and metadata. */
int semver_parse(struct str text, struct semver *ret, struct err *err);

/* `1.2.3-rc.1+build`: always three numbers, without the `v`. */
void semver_append(struct buf *b, const struct semver *v);

/* Negative, 0 or positive. A prerelease sorts before its release; metadata is ignored. */
int semver_compare(const struct semver *a, const struct semver *b);

/* Alternatives, each a list of conditions that must all hold. Immutable; lives in the arena. The text must live as long. */
struct semver_constraint;

/* `a || b` alternatives, `a, b` or `a b` both; = != > < >= <= ~ ^, partial versions, x, X and * for any number, `1.2 - 2.3`. */
int semver_constraint_parse(struct arena *a, struct str text, const struct semver_constraint **ret, struct err *err);

/* The same with the texts of v3.5, which Crossplane's core has: `improper constraint: "a"` quotes. v3.4, in its CLI and in sprig, does
 * not. */
int semver_constraint_parse_quoting(struct arena *a, struct str text, const struct semver_constraint **ret,
                                    struct err *err);

/* A prerelease matches an alternative only if one of the alternative's conditions names a prerelease. */
bool semver_constraint_check(const struct semver_constraint *c, const struct semver *v);
