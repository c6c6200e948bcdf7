#include "pipeline-steps.h"

#include "gotext.h"

struct status_subject step_subject(const struct step *s)
{
        struct str name = s->req->key.name;

        if (name.n == 0 && s->object)
                name = meta_name(s->object);
        return kind_subject(s->p->kind, name);
}

const struct value *step_complete(const struct step *s, const struct value *object)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        return strategy && strategy->complete ? strategy->complete(s->arena, object) : object;
}

const struct value *step_default(const struct step *s, const struct value *object)
{
        return step_complete(s, schema_default(s->p->version->schema, s->arena, object));
}

int step_admit(struct step *s, bool is_mutating, struct err *err)
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
                s->object = step_default(s, admission.object);
        return 0;
}

int step_to_storage(const struct step *s, const struct value *object, const struct value **ret, struct err *err)
{
        const struct kind *kind = s->p->kind;
        const struct kind_version *storage = kind_storage(kind);
        int r;

        object = meta_with(s->arena, object, STR("resourceVersion"), NULL);
        if (s->p->version != storage) {
                r = convert_object(s->arena, kind->conversions, kind->n_conversions, object, storage->name, &object,
                                   err);
                if (r < 0)
                        return r;
                object = schema_default(storage->schema, s->arena, object);
        }
        if (s->p->version != storage || s->req->verb == WRITE_APPLY) {
                object = schema_prune(storage->schema, s->arena, object, NULL);
                object = schema_drop_nulls(storage->schema, s->arena, object);
        }
        *ret = object;
        return 0;
}

int pipeline_read(const struct kind *kind, const struct kind_version *version, struct arena *a,
                  const struct value *stored, const struct value **ret, struct err *err)
{
        struct schema_admit_options options = { .drop_nulls = true };
        int r;

        if (!str_equal(gvk_of(stored).version, version->name)) {
                stored = schema_admit(kind_storage(kind)->schema, a, stored, &options);
                r = convert_object(a, kind->conversions, kind->n_conversions, stored, version->name, &stored, err);
                if (r < 0)
                        return r;
        }
        *ret = schema_admit(version->schema, a, stored, &options);
        return 0;
}

void pipeline_warn_deprecated(const struct kind_version *version, struct run *run)
{
        if (version && version->is_deprecated)
                str_list_add(run->warnings, version->deprecation_warning);
}

/* create and update are decoded from a body, patches from what is there. */
static int make_object(struct step *s, struct err *err)
{
        switch (s->req->verb) {
        case WRITE_CREATE:
        case WRITE_UPDATE:
                return step_decode(s, s->req->body, err);
        case WRITE_JSON_PATCH:
        case WRITE_MERGE_PATCH:
                return s->current ? step_patch(s, err) : 0;
        case WRITE_APPLY:
                return step_apply(s, err);
        case WRITE_DELETE:
                return 0;
        }
        return 0;
}

static bool creates(const struct step *s)
{
        if (s->live || s->req->subresource.n)
                return false;
        return s->req->verb == WRITE_APPLY || (s->req->verb == WRITE_UPDATE && s->p->kind->allows_create_on_update);
}

static bool is_subresource_known(const struct step *s)
{
        struct str name = s->req->subresource;

        return name.n == 0 || (str_equal(name, STR("status")) && s->p->version->has_status) ||
               (str_equal(name, STR("scale")) && s->p->version->has_scale) || str_equal(name, STR("finalize"));
}

static int answer_with_scale(const struct step *s, struct write_outcome *ret, struct err *err)
{
        struct value scale;
        int r = scale_of(s->arena, s->p->version, ret->answer, &scale, err);

        if (r == 0)
                ret->answer = value_put(s->arena, scale);
        return r;
}

int pipeline_run(const struct pipeline *p, struct run *run, const struct write_request *req, const struct value *live,
                 struct write_outcome *ret, struct err *err)
{
        struct step s = { .p = p, .run = run, .arena = run->arena, .req = req, .live = live };
        struct status_subject subject = step_subject(&s);
        int r;

        if (!is_subresource_known(&s))
                return status_not_found(err, &subject);
        if (req->subresource.n && (req->verb == WRITE_CREATE || req->verb == WRITE_DELETE))
                return status_method_not_allowed(err, &subject,
                                                 req->verb == WRITE_CREATE ? STR("create") : STR("delete"));
        r = step_check_options(&s, err);
        if (r < 0)
                return r;
        pipeline_warn_deprecated(p->version, run);
        if (live && req->verb != WRITE_CREATE) {
                r = pipeline_read(p->kind, p->version, s.arena, live, &s.current, err);
                if (r < 0)
                        return r;
        }
        if (str_equal(req->subresource, STR("scale")))
                r = s.current ? step_scale(&s, err) : status_not_found(err, &subject);
        else
                r = make_object(&s, err);
        if (r < 0)
                return r;
        s.is_create = req->verb == WRITE_CREATE || creates(&s);
        if (s.is_create)
                return step_create(&s, ret, err);
        if (!s.current)
                return status_not_found(err, &subject);
        if (req->verb == WRITE_DELETE)
                return step_delete(&s, ret, err);
        r = step_update(&s, ret, err);
        if (r == 0 && str_equal(req->subresource, STR("scale")))
                r = answer_with_scale(&s, ret, err);
        return r;
}
