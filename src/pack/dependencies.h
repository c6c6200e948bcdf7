/* Dependencies of packages (docs/spec/packages 4): the Lock, and the controller that installs what is missing. */
#pragma once

#include "package-client.h"

#define LOCK_NAME STR("lock")

struct dependency_counts {
        int64_t found, installed, invalid;
};

/* Puts an Active revision into the Lock and checks what its package depends on (4.2). source and version are those of spec.image, without
 * a rewrite. *ret is filled after errors too. The error is the text for the revision's condition without `cannot resolve package
 * dependencies: `. */
int dependencies_resolve(struct kind_run *r, const struct value *revision, struct str source, struct str version,
                         const struct xpkg *package, struct dependency_counts *ret, struct err *err);

/* Takes a revision out of the Lock. It may not be there. */
int dependencies_remove(struct kind_run *r, struct str revision, struct err *err);

struct dependencies_options {
        struct package_client *client;
        bool upgrades;   /* --enable-dependency-version-upgrades */
        bool downgrades; /* --enable-dependency-version-downgrades, which means upgrades too */
};

/* The controller of the Lock (4.3), as a kind_reconcile whose context is a struct dependencies_options. */
kind_reconcile lock_reconcile;
