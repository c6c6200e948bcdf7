/* The objects that a package brings (docs/spec/packages 1.7): an Active revision creates and controls them, an Inactive one only stays
 * among their owners. All writes are tried first and made only if none is refused. */
#pragma once

#include "packages-state.h"

struct establish {
        struct kind_run *r;
        const struct package_kind *kind;
        const struct value *revision, *package;
        bool controls; /* the revision is Active and current */
        const struct xpkg *content;
        struct str webhook_ca; /* PEM of the revision's server certificate; "": none */
};

/* *ret is the value of status.objectRefs. */
int package_establish(const struct establish *e, const struct value **ret, struct err *err);

/* Gives up the control of all objects of status.objectRefs; the revision stays an owner. */
int package_release(struct kind_run *r, const struct value *revision, struct err *err);
