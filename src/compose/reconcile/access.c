/* Finds the verbs that the engine is not allowed to use (docs/spec/engine 1.6). Called only after a failure, to explain it. */
#include "reconcile-state.h"

#include "str-list.h"

static int ask(struct reconcile *r, const struct access_request *req, struct str_list *denied, struct err *err)
{
        bool is_allowed;
        int e = cluster_may(r->options->cluster, r->run, req, &is_allowed, err);

        if (e >= 0 && !is_allowed)
                str_list_add(denied, req->verb);
        return e;
}

static int ask_all(struct reconcile *r, struct access_request *req, struct str_list *denied, struct err *err)
{
        static const char *const verbs[] = { "get", "list", "watch", "create", "update", "patch", "delete" };
        struct str_list anything;
        int e;

        str_list_init(&anything, r->arena);
        req->verb = STR("*");
        e = ask(r, req, &anything, err);
        for (size_t i = 0; i < ARRAY_SIZE(verbs) && e >= 0 && anything.n; i++) {
                req->verb = str_from(verbs[i]);
                e = ask(r, req, denied, err);
        }
        return e;
}

struct str reconcile_access_denied(struct reconcile *r, const struct value *object)
{
        struct access_request req = { .gvk = gvk_of(object), .ns = meta_namespace(object) };
        _cleanup_err_ struct err err = { 0 };
        const struct kind *kind;
        struct str_list denied;

        if (cluster_kind(r->options->cluster, r->run, req.gvk, &kind, &err) < 0)
                return STR("the server could not find the requested resource");
        req.plural = kind->plural;
        str_list_init(&denied, r->arena);
        if (ask_all(r, &req, &denied, &err) < 0)
                return arena_copy(r->arena, str_from(err_message(&err)));
        if (denied.n == 0)
                return STR("");
        return arena_printf(r->arena, "%.*s is not allowed to [%.*s] resource %.*s%s%.*s/%.*s%s%.*s",
                            STR_ARG(r->run->user.name), STR_ARG(str_list_join(&denied, STR(", "))), STR_ARG(req.plural),
                            req.gvk.group.n ? "." : "", STR_ARG(req.gvk.group), STR_ARG(req.gvk.version),
                            req.ns.n ? " in namespace " : "", STR_ARG(req.ns));
}
