/* One reconcile of a revision of a package, as its parts see it. Private to this layer. */
#pragma once

#include "package-client.h"
#include "packages-state.h"
#include "runtime.h"

#define PACKAGE_CROSSPLANE_VERSION STR("v2.4.2") /* the Crossplane that we are to packages */

struct revision_run {
        struct kind_run *r;
        struct packages *pack;
        const struct package_kind *kind;
        struct arena *arena;
        const struct value *read; /* as it was read, or last written */
        const struct value *revision;
        const struct value *package; /* NULL: the revision was made by hand */
        bool is_active;              /* its program runs */
        bool is_inactive; /* a revision can be neither: one that waits for a user to activate it is in the Lock, but owns nothing */
        bool serves; /* a function that is Inactive, and is called until an Active revision answers */
        bool is_in_lock;
        bool controls; /* owns the objects that all revisions share */
        struct source source;
        struct package_result result; /* empty if the source was found */
        struct runtime_tls server, client;
};

static inline struct str revision_image(const struct revision_run *v)
{
        return value_str(value_find(v->revision, "spec", "image"));
}

/* Whether the revision has a program that we run. */
bool revision_has_program(const struct revision_run *v);

/* Before objects are established: names and keys of the runtime. */
int revision_prepare_runtime(struct revision_run *v, struct err *err);

/* Runs the program of a healthy revision that is active or serves, and sets the conditions of its runtime. */
int revision_run_program(struct revision_run *v, struct err *err);

/* The revision is not healthy: says so. */
void revision_await_health(struct revision_run *v);

/* Sets the conditions of a revision whose program does not run. */
void revision_rest(struct revision_run *v);

/* Ends the program of a revision that is neither active nor serves, after pipelines have ceased to call it. */
void revision_stop(struct revision_run *v);

/* The revision is gone. */
void revision_forget(struct packages *p, struct kind_run *r, const struct package_kind *kind, struct str name);
