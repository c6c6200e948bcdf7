#include "draft.h"

#include "builtin-typed.h"
#include "gotext.h"

struct status_subject draft_subject(const struct draft *s)
{
        struct str name = s->req->key.name;

        if (name.n == 0 && s->object)
                name = meta_name(s->object);
        return kind_subject(s->p->kind, name);
}

const struct value *draft_complete(const struct draft *s, const struct value *object)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        return strategy && strategy->complete ? strategy->complete(s->arena, object) : object;
}

const struct value *draft_retype(const struct draft *s, const struct value *object)
{
        const struct value *typed;

        if (s->p->version->type && builtin_type_object(s->arena, s->p->version->type, object, NULL, &typed, NULL) == 0)
                return typed;
        return object;
}

const struct value *draft_zero(const struct draft *s)
{
        struct gvk gvk = { s->p->kind->group, s->p->version->name, s->p->kind->kind };
        const struct value *zero = value_put(s->arena, builtin_zero(s->arena, s->p->version->type));
        struct value api_version = value_of_str(gvk_api_version(s->arena, gvk)), kind = value_of_str(gvk.kind);

        zero = value_with(s->arena, zero, STR("apiVersion"), &api_version);
        return value_with(s->arena, zero, STR("kind"), &kind);
}

const struct value *draft_default(const struct draft *s, const struct value *object)
{
        if (s->p->version->type)
                return draft_complete(s, draft_retype(s, object));
        return draft_complete(s, schema_default(kind_schema(s->p->version), s->arena, object));
}

int draft_admit(struct draft *s, bool is_mutating, struct err *err)
{
        struct admission admission = {
                .request = s->req,
                .kind = s->p->kind,
                .old = s->current,
                .object = s->req->verb == WRITE_DELETE ? NULL : s->object,
                .is_create = s->is_create,
        };

        for (size_t i = 0; i < s->p->n_hooks; i++) {
                const struct admission_hook *hook = &s->p->hooks[i];
                const struct value *before = admission.object;
                int r;

                if (hook->is_mutating != is_mutating)
                        continue;
                r = hook->admit(hook->arg, s->run, &admission, err);
                if (r < 0)
                        return r;
                if (!is_mutating)
                        admission.object = before;
        }
        if (admission.object && admission.object != s->object)
                s->object = draft_default(s, admission.object);
        return 0;
}

/* Go's conversions go through its types, which have the zero values and defaults of each version. */
int prepare_convert(const struct kind *kind, const struct kind_version *version, struct arena *a,
                    const struct value *object, const struct value **ret, struct err *err)
{
        int r = convert_object(a, kind->conversions, kind->n_conversions, object, kind_version_text(a, version), ret,
                               err);

        return r < 0 || !version->type ? r : builtin_type_object(a, version->type, *ret, NULL, ret, err);
}

int draft_to_storage(const struct draft *s, const struct value *object, const struct value **ret, struct err *err)
{
        const struct kind_version *storage = draft_storage(s);
        int r;

        object = meta_with(s->arena, object, STR("resourceVersion"), NULL);
        if (s->p->version != storage) {
                r = prepare_convert(s->p->kind, storage, s->arena, object, &object, err);
                if (r < 0)
                        return r;
                if (!storage->type)
                        object = schema_default(kind_schema(storage), s->arena, object);
        }
        if (!storage->type && (s->p->version != storage || s->req->verb == WRITE_APPLY)) {
                object = schema_prune(kind_schema(storage), s->arena, object, NULL);
                object = schema_drop_nulls(kind_schema(storage), s->arena, object);
        }
        *ret = object;
        return 0;
}

static bool is_in_version(const struct value *object, const struct kind_version *version)
{
        struct gvk gvk = gvk_of(object);

        return str_equal(gvk.version, version->name) && str_equal(gvk.group, version->group);
}

int prepare_read(const struct kind *kind, const struct kind_version *version, struct arena *a,
                 const struct value *stored, const struct value **ret, struct err *err)
{
        struct schema_admit_options options = { .drop_nulls = true };
        int r;

        if (!is_in_version(stored, version)) {
                if (!version->type)
                        stored = schema_admit(kind_schema(kind_storage(kind)), a, stored, &options);
                r = prepare_convert(kind, version, a, stored, &stored, err);
                if (r < 0)
                        return r;
        }
        *ret = version->type ? stored : schema_admit(kind_schema(version), a, stored, &options);
        return 0;
}

void prepare_warn_deprecated(const struct kind_version *version, struct run *run)
{
        if (version && version->is_deprecated)
                str_list_add(run->warnings, version->deprecation_warning);
}

/* create and update decode a body; patches change the current object. */
static int make_object(struct draft *s, struct err *err)
{
        switch (s->req->verb) {
        case WRITE_CREATE:
        case WRITE_UPDATE:
                return draft_decode(s, s->req->body, err);
        case WRITE_JSON_PATCH:
        case WRITE_MERGE_PATCH:
        case WRITE_STRATEGIC_PATCH:
                return s->current ? draft_patch(s, err) : 0;
        case WRITE_APPLY:
                return draft_apply(s, err);
        case WRITE_DELETE:
                return 0;
        }
        return 0;
}

static bool creates(const struct draft *s)
{
        if (s->live || s->req->subresource.n)
                return false;
        return s->req->verb == WRITE_APPLY || (s->req->verb == WRITE_UPDATE && s->p->kind->allows_create_on_update);
}

static bool is_subresource_known(const struct draft *s)
{
        struct str name = s->req->subresource;

        return name.n == 0 || (str_equal(name, STR("status")) && s->p->version->has_status) ||
               (str_equal(name, STR("approval")) && s->p->version->has_approval) ||
               (str_equal(name, STR("scale")) && s->p->version->has_scale) || str_equal(name, STR("finalize"));
}

static int answer_with_scale(const struct draft *s, struct write_outcome *ret, struct err *err)
{
        struct value scale;
        int r = scale_of(s->arena, s->p->version, ret->answer, &scale, err);

        if (r == 0)
                ret->answer = value_put(s->arena, scale);
        return r;
}

#define JOB_WARNING                                                                                       \
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to " \
        "remove them or set propagationPolicy=Orphan to suppress this warning"

/* Jobs keep their Pods, which surprises; the API says so even if there is no such Job. */
static void warn_of_orphans(const struct preparation *p, struct run *run, const struct write_request *req)
{
        if (req->verb == WRITE_DELETE && req->propagation == PROPAGATE_UNSET && p->kind->orphans_by_default &&
            str_equal(p->kind->kind, STR("Job")))
                str_list_add(run->warnings, STR(JOB_WARNING));
}

int prepare_write(const struct preparation *p, struct run *run, const struct write_request *req,
                  const struct value *live, struct write_outcome *ret, struct err *err)
{
        struct draft s = { .p = p, .run = run, .arena = run->arena, .req = req, .live = live };
        struct status_subject subject = draft_subject(&s);
        int r;

        if (!is_subresource_known(&s))
                return status_not_found(err, &subject);
        if (req->subresource.n && (req->verb == WRITE_CREATE || req->verb == WRITE_DELETE))
                return status_method_not_allowed(err, &subject,
                                                 req->verb == WRITE_CREATE ? STR("create") : STR("delete"));
        if (req->verb == WRITE_STRATEGIC_PATCH && p->kind->is_custom)
                return status_unsupported_media_type(err, STR("application/json-patch+json, "
                                                              "application/merge-patch+json, "
                                                              "application/apply-patch+yaml"));
        r = draft_check_options(&s, err);
        if (r < 0)
                return r;
        prepare_warn_deprecated(p->version, run);
        warn_of_orphans(p, run, req);
        if (live && req->verb != WRITE_CREATE) {
                r = prepare_read(p->kind, p->version, s.arena, live, &s.current, err);
                if (r < 0)
                        return r;
        }
        if (str_equal(req->subresource, STR("scale")))
                r = s.current ? draft_scale(&s, err) : status_not_found(err, &subject);
        else
                r = make_object(&s, err);
        if (r < 0)
                return r;
        s.is_create = req->verb == WRITE_CREATE || creates(&s);
        if (s.is_create)
                return draft_create(&s, ret, err);
        if (!s.current)
                return status_not_found(err, &subject);
        if (req->verb == WRITE_DELETE)
                return draft_delete(&s, ret, err);
        r = draft_update(&s, ret, err);
        if (r == 0 && str_equal(req->subresource, STR("scale")))
                r = answer_with_scale(&s, ret, err);
        return r;
}
