#include "predict.h"

#include "managed.h"

int predict_write(struct cluster *c, struct run *run, struct arena *scratch, const struct write_request *req,
                  const struct value *live, struct write_outcome *ret, struct err *err)
{
        struct run quiet = {
                .arena = scratch,
                .deadline = run->deadline,
                .cancel = run->cancel,
                .user = run->user,
        };
        struct pipeline p = { .now = clock_wall() };
        const struct kind *kind;
        struct kind seen;
        int r = cluster_kind(c, run, req->key.gvk, &kind, err);

        if (r < 0)
                return r;
        p.version = kind_version(kind, req->key.gvk.version);
        if (!p.version)
                return err_set(err, ERR_NOT_FOUND, "version %.*s is not there", STR_ARG(req->key.gvk.version));
        p.kind = kind;
        if (p.version != kind_storage(kind)) {
                /* What was read is in the version of the request: to the pipeline that is the one of the store. */
                memcpy(&seen, kind, sizeof(seen));
                seen.storage = (size_t)(p.version - kind->versions);
                p.kind = &seen;
        }
        return pipeline_run(&p, &quiet, req, live, ret, err);
}

bool predict_is_noop(struct cluster *c, struct run *run, const struct write_request *req, const struct value *live)
{
        _cleanup_arena_ struct arena scratch;
        struct write_outcome outcome;

        arena_init(&scratch, "prediction", 0);
        if (predict_write(c, run, &scratch, req, live, &outcome, NULL) < 0)
                return false;
        return outcome.effect == EFFECT_NONE ||
               (outcome.effect == EFFECT_STORE && managed_is_same(live, outcome.object));
}
