/* Connection secrets of claims (docs/spec/engine 6.3): a claim's Secret is a copy of its composite's. */
#include "claim-run.h"

#include "owner.h"
#include "plane-state.h"
#include "xrd.h"

#define SECRET_TYPE STR("connection.crossplane.io/v1alpha1")
#define SECRET_HINT "; delete Secret \"%.*s\", or name another one in %.*s"

const char *claim_run_design(const struct claim_run *c)
{
        return xrd_claim_places(c->s->xrd)->design;
}

const struct value *claim_run_field(const struct claim_run *c, struct str field)
{
        return places_get(xrd_claim_places(c->s->xrd), c->claim, field);
}

const struct value *claim_run_composite_field(const struct claim_run *c, struct str field)
{
        return places_get(c->s->type.places, c->composite, field);
}

static int get_secret(struct claim_run *c, struct str ns, struct str name, const struct value **ret, struct err *err)
{
        struct object_key key = { .gvk = { STR(""), STR("v1"), STR("Secret") }, .ns = ns, .name = name };

        return cluster_get_value(c->r->cluster, c->r->run, &key, ret, err);
}

static bool is_controlled(const struct value *object, const struct value *by)
{
        struct owner_reference owner;

        return owner_controller(object, &owner) && str_equal(owner.uid, meta_uid(by));
}

/* The claim's own secret may be changed; an uncontrolled one only if it is a connection secret. */
static int check_target(struct claim_run *c, const struct value *secret, struct err *err)
{
        struct str type = value_str(value_get(secret, STR("type")));
        struct str path = places_path(c->arena, xrd_claim_places(c->s->xrd), STR("writeConnectionSecretToRef"));
        struct owner_reference owner;

        if (is_controlled(secret, c->claim))
                return 0;
        if (owner_controller(secret, &owner))
                return err_set(err, ERR_CONFLICT, "existing secret is not controlled by UID \"%.*s\"" SECRET_HINT,
                               STR_ARG(meta_uid(c->claim)), STR_ARG(meta_name(secret)), STR_ARG(path));
        return str_equal(type, SECRET_TYPE)
                       ? 0
                       : err_set(err, ERR_CONFLICT,
                                 "refusing to modify uncontrolled secret of type \"%.*s\"" SECRET_HINT, STR_ARG(type),
                                 STR_ARG(meta_name(secret)), STR_ARG(path));
}

static const struct value *make_secret(struct claim_run *c, struct str name, const struct value *from)
{
        struct owner_reference owner = owner_reference_to(c->arena, c->claim, true, true);
        struct value reference = owner_reference_value(c->arena, &owner);
        const struct value *data = value_get(from, STR("data"));
        struct object_builder b, metadata;

        object_builder_init(&metadata, c->arena, 3);
        object_builder_add(&metadata, STR("name"), value_of_str(name));
        object_builder_add(&metadata, STR("namespace"), value_of_str(meta_namespace(c->claim)));
        object_builder_add(&metadata, STR("ownerReferences"), value_of_items(c->arena, &reference, 1));
        object_builder_init(&b, c->arena, 5);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Secret"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("type"), value_of_str(value_str(value_get(from, STR("type")))));
        if (data)
                object_builder_add(&b, STR("data"), *data);
        return value_put(c->arena, object_builder_finish(&b));
}

static int write_secret(struct claim_run *c, const struct value *secret, bool *ret_is_changed, struct err *err)
{
        struct write_request req = {
                .verb = WRITE_CREATE, .key = object_key_of(secret), .body = secret, .manager = CROSSPLANE_MANAGER
        };
        struct write_result result;
        const struct value *there = NULL;
        int e = get_secret(c, meta_namespace(secret), meta_name(secret), &there, err);

        if (e == 0) {
                e = check_target(c, there, err);
                if (e == 0 && value_equal(value_get(there, STR("data")), value_get(secret, STR("data"))))
                        return 0;
                req.verb = WRITE_UPDATE;
                req.body = meta_with_str(c->arena, secret, STR("resourceVersion"), meta_resource_version(there));
        } else if (e == ERR_NOT_FOUND) {
                err_done(err);
                e = 0;
        }
        if (e == 0)
                e = cluster_write(c->r->cluster, c->r->run, &req, &result, err);
        *ret_is_changed = e == 0;
        return e < 0 ? err_wrap(err, "cannot create or update connection secret") : 0;
}

int claim_run_propagate(struct claim_run *c, bool *ret_is_changed, struct err *err)
{
        const struct value *from = claim_run_composite_field(c, STR("writeConnectionSecretToRef"));
        struct str to = value_str(value_get(claim_run_field(c, STR("writeConnectionSecretToRef")), STR("name")));
        const struct value *secret;
        int e;

        *ret_is_changed = false;
        if (!value_is_object(from) || str_is_empty(to))
                return 0;
        e = get_secret(c, value_str(value_get(from, STR("namespace"))), value_str(value_get(from, STR("name"))),
                       &secret, err);
        if (e < 0)
                return err_wrap(err, "cannot get composite resource's connection secret");
        if (!is_controlled(secret, c->composite))
                return err_set(err, ERR_FORBIDDEN, "cannot establish control of existing connection secret");
        return write_secret(c, make_secret(c, to, secret), ret_is_changed, err);
}
