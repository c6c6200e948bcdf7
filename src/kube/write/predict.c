#include "predict.h"

#include "managed.h"

static int find_version(struct cluster *c, struct run *run, struct gvk gvk, const struct kind **ret,
                        const struct kind_version **ret_version, struct err *err)
{
        int r = cluster_kind(c, run, gvk, ret, err);

        if (r < 0)
                return r;
        *ret_version = kind_version(*ret, gvk.version);
        return *ret_version ? 0 : err_set(err, ERR_NOT_FOUND, "version %.*s is not there", STR_ARG(gvk.version));
}

static int predict(struct run *run, struct arena *scratch, const struct kind *kind, const struct kind_version *version,
                   const struct write_request *req, const struct value *live, struct write_outcome *ret,
                   struct err *err)
{
        struct run quiet = {
                .arena = scratch,
                .deadline = run->deadline,
                .cancel = run->cancel,
                .user = run->user,
        };
        /* The known state is in the request's version, so for the preparation this is the storage version. */
        struct preparation p = { .kind = kind, .version = version, .storage = version, .now = clock_wall() };

        return prepare_write(&p, &quiet, req, live, ret, err);
}

int predict_write(struct cluster *c, struct run *run, struct arena *scratch, const struct write_request *req,
                  const struct value *live, struct write_outcome *ret, struct err *err)
{
        const struct kind_version *version;
        const struct kind *kind;
        int r = find_version(c, run, req->key.gvk, &kind, &version, err);

        return r < 0 ? r : predict(run, scratch, kind, version, req, live, ret, err);
}

/* Detects an apply that repeats the current state: most applies do, and the check is fast. */
static bool is_applied(struct arena *scratch, const struct kind_version *version, const struct write_request *req,
                       const struct value *live)
{
        struct managed_type type = {
                .gvk = req->key.gvk,
                .schema = kind_schema(version),
                .has_status = version->has_status,
                .hub_version = version->name,
        };
        struct managed_request managed = {
                .type = &type,
                .manager = req->manager,
                .subresource = req->subresource,
        };

        return req->verb == WRITE_APPLY && managed_is_applied(scratch, &managed, live, req->body);
}

bool predict_is_noop(struct cluster *c, struct run *run, const struct write_request *req, const struct value *live)
{
        _cleanup_arena_ struct arena scratch;
        const struct kind_version *version;
        struct write_outcome outcome;
        const struct kind *kind;

        arena_init(&scratch, "prediction", 0);
        if (find_version(c, run, req->key.gvk, &kind, &version, NULL) < 0)
                return false;
        if (is_applied(&scratch, version, req, live))
                return true;
        if (predict(run, &scratch, kind, version, req, live, &outcome, NULL) < 0)
                return false;
        return outcome.effect == EFFECT_NONE ||
               (outcome.effect == EFFECT_STORE && managed_is_same(live, outcome.object));
}
