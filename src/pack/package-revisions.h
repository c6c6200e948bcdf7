/* Decisions about the revisions of a package (docs/spec/packages 1.5, docs/spec/seeds 3), as functions of values. */
#pragma once

#include "packages-state.h"

#define PACKAGE_NONE SIZE_MAX

struct package_policy {
        bool is_manual;
        int64_t history_limit; /* 0: all are kept */
        struct str kept;       /* the name of a revision that stays active because a rollout leaves it; "": none */
        int64_t active_limit; /* how many revisions are active with the gate FunctionRevisionSelectors; 0: the gate is closed */
};

enum package_state { PACKAGE_STATE_KEPT, PACKAGE_STATE_ACTIVE, PACKAGE_STATE_INACTIVE };

struct package_plan {
        size_t current; /* index of the current revision; PACKAGE_NONE: it is to be made */
        int64_t number; /* of the current revision */
        bool is_current_active;
        enum package_state *states; /* of the others */
        size_t garbage;             /* index of the one to delete; PACKAGE_NONE: none */
};

/* Plans what happens to the revisions. The revision called name is the current one. */
void package_plan(struct arena *a, const struct package_policy *policy, const struct value *const *revisions, size_t n,
                  struct str name, struct package_plan *ret);

/* The name of the revision that a package has for an image, by the image's digest and the package's generation. */
struct str package_revision_name(struct arena *a, const struct value *package, struct str digest);

/* The newest revision of this reference that notes this digest; "": there is none. */
struct str package_revision_of_image(const struct value *const *revisions, size_t n, struct str reference,
                                     struct str digest);

struct package_revision_wish {
        const struct package_kind *kind;
        const struct value *package;
        struct str name;
        int64_t number;
        bool is_active;
        bool has_runtime;       /* it has a runtime config and TLS secrets */
        bool copies_labels;     /* of the package */
        bool names_by_revision; /* TLS secrets */
        struct str digest;      /* of the image, to find the revision by; "": it is not noted */
};

/* The revision as it should be, from the one that is there (NULL: none). An error if somebody else controls it. */
int package_revision_wanted(struct arena *a, const struct package_revision_wish *wish, const struct value *old,
                            const struct value **ret, struct err *err);

/* The condition Healthy of a package whose current revision this is. */
struct condition package_health(struct arena *a, const struct package_kind *kind, const struct value *revision);
