/* Compiled rules of roles: what one allows, and which rules cover which others (docs/spec/apiserver 9.5). */
#pragma once

#include "cluster.h"
#include "str-list.h"

struct texts {
        const struct str *p;
        size_t n;
};

/* A PolicyRule. It is about resources if it has some, and about paths if it has urls. */
struct access_rule {
        struct texts verbs;
        struct texts groups;
        struct texts resources;
        struct texts names; /* none: all names */
        struct texts urls;
};

/* All rules of one role: counted, immutable, one allocation. */
struct rules {
        _Atomic unsigned references;
        size_t n;
        struct access_rule p[];
};

/* From the `rules` of a Role or ClusterRole; NULL and wrong types count as absent. One reference; keeps nothing of v. */
struct rules *rules_compile(const struct value *v);
struct rules *rules_ref(struct rules *r);
void rules_unref(struct rules *r); /* NULL is fine */

bool rule_allows(const struct access_rule *r, const struct access_request *req);

/* The rule as a value with the members that are not empty, as the API's reviews print it. Texts are copied. */
struct value rule_resource_value(struct arena *a, const struct access_rule *r);
struct value rule_path_value(struct arena *a, const struct access_rule *r);

/* The rules of several roles: those that a user has. */
struct held_rules {
        struct rules *const *p;
        size_t n;
};

/* Adds a description of everything that `wanted` allows and no rule of `held` does, in the words of the API's errors: sorted,
 * without duplicates. A rule is held if single rules of `held` cover it, one for each verb, group, resource and name. ERR_LIMIT when
 * there are more than LIMIT_SINGLE_RULES of those. */
int rules_describe_missing(struct held_rules held, const struct rules *wanted, struct str_list *descriptions,
                           struct err *err);

/* Every single part of `wanted` that no rule of `held` covers, as the values of rules with one verb each. */
void rules_missing_values(struct held_rules held, const struct rules *wanted, struct array_builder *ret);

static inline void rules_unrefp(struct rules **r)
{
        rules_unref(*r);
}
