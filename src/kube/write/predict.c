#include "predict.h"

#include "ascii.h"
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

/* Whether the API keeps the two apart. It takes some different texts for the same value: the quantities 1 and 1000m, for example. So
 * only texts that begin with a letter count. */
static bool is_other_scalar(const struct value *a, const struct value *b)
{
        if (value_is_int(a) && value_is_int(b))
                return a->integer != b->integer;
        return value_is_string(a) && value_is_string(b) && a->n > 0 && ascii_is_letter(a->bytes[0]) && b->n > 0 &&
               ascii_is_letter(b->bytes[0]) && !value_equal(a, b);
}

/* Whether the write replaces a scalar that live has. A field that live lacks proves nothing: the API may prune it. Lists count only in
 * an update, which replaces them; an apply merges them. */
static bool replaces(const struct value *body, const struct value *live, bool is_update)
{
        if (value_is_object(body) && value_is_object(live)) {
                VALUE_FOREACH_MEMBER (m, body)
                        if (replaces(&m->value, value_get(live, m->key), is_update))
                                return true;
                return false;
        }
        if (!is_update || !value_is_array(body) || !value_is_array(live))
                return is_other_scalar(body, live);
        for (uint32_t i = 0; i < MIN(body->n, live->n); i++)
                if (replaces(&body->items[i], &live->items[i], true))
                        return true;
        return false;
}

bool predict_is_change(const struct write_request *req, const struct value *live)
{
        bool is_update = req->verb == WRITE_UPDATE;

        if (!is_update && req->verb != WRITE_APPLY)
                return false;
        if (str_equal(req->subresource, STR("status")))
                return replaces(value_get(req->body, STR("status")), value_get(live, STR("status")), is_update);
        VALUE_FOREACH_MEMBER (m, req->subresource.n ? NULL : req->body)
                if (!str_equal(m->key, STR("metadata")) && !str_equal(m->key, STR("status")) &&
                    replaces(&m->value, value_get(live, m->key), is_update))
                        return true;
        return false;
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

bool predict_is_applied(struct cluster *c, struct run *run, struct arena *scratch, const struct write_request *req,
                        const struct value *live)
{
        const struct kind_version *version;
        const struct kind *kind;

        return find_version(c, run, req->key.gvk, &kind, &version, NULL) >= 0 &&
               is_applied(scratch, version, req, live);
}

bool predict_is_noop(struct cluster *c, struct run *run, const struct write_request *req, const struct value *live)
{
        _cleanup_arena_ struct arena scratch;
        const struct kind_version *version;
        struct write_outcome outcome;
        const struct kind *kind;

        arena_init(&scratch, "prediction", 0);
        if (predict_is_change(req, live) || find_version(c, run, req->key.gvk, &kind, &version, NULL) < 0)
                return false;
        if (is_applied(&scratch, version, req, live))
                return true;
        if (predict(run, &scratch, kind, version, req, live, &outcome, NULL) < 0)
                return false;
        return outcome.effect == EFFECT_NONE ||
               (outcome.effect == EFFECT_STORE && managed_is_same(live, outcome.object));
}
