#include "install.h"

#include "condition.h"
#include "manager.h"

static int apply_crd(struct cluster *c, struct run *run, const struct value *crd, struct err *err)
{
        struct write_request req = { .verb = WRITE_APPLY,
                                     .key = object_key_of(crd),
                                     .body = crd,
                                     .manager = CROSSPLANE_MANAGER,
                                     .force = true };
        struct write_result result;

        return cluster_write(c, run, &req, &result, err);
}

/* Waits until the CRD is established: by a watch of this one object. */
static int await_crd(struct cluster *c, struct run *run, const struct value *crd, struct err *err)
{
        struct field_requirement by_name = { .path = STR("metadata.name"), .value = meta_name(crd) };
        struct field_selector fields = { &by_name, 1 };
        struct watch_request req = { .gvk = gvk_of(crd), .fields = &fields };
        struct watch *w _cleanup_(watch_freep)
        = NULL;
        struct watch_event e;
        int r = cluster_watch(c, run, &req, &w, err);

        while (r == 0 && (r = watch_next(w, run, &e, err)) == 0) {
                struct condition established;

                if (e.object && condition_get(object_value(e.object, run->arena), STR("Established"), &established) &&
                    established.status == CONDITION_TRUE)
                        return 0;
        }
        return r;
}

int install_crd(struct cluster *cluster, struct run *run, const struct value *crd, struct err *err)
{
        int r = apply_crd(cluster, run, crd, err);

        if (r == 0)
                r = await_crd(cluster, run, crd, err);
        if (r < 0)
                return err_wrap(err, "cannot install the CustomResourceDefinition \"%.*s\"", STR_ARG(meta_name(crd)));
        return 0;
}
