/* Deletion: an object without finalizers is removed, one with finalizers is only marked (docs/spec/apiserver 2.6). */
#include "draft.h"

#include "buf.h"

static const struct str orphan = STR_INIT("orphan"), foreground = STR_INIT("foregroundDeletion");

static int check_preconditions(const struct draft *s, struct err *err)
{
        struct status_subject subject = draft_subject(s);
        struct str uid = meta_uid(s->current), version = meta_resource_version(s->current);
        const struct write_request *req = s->req;

        subject.plural = subject.kind; /* only here do messages and details name the kind */
        if (req->precondition_uid.n && !str_equal(req->precondition_uid, uid))
                return status_conflict(
                        err, &subject,
                        "the UID in the precondition (%.*s) does not match the UID in record (%.*s). The "
                        "object might have been deleted and then recreated",
                        STR_ARG(req->precondition_uid), STR_ARG(uid));
        if (req->precondition_version.n && !str_equal(req->precondition_version, version))
                return status_conflict(
                        err, &subject,
                        "the ResourceVersion in the precondition (%.*s) does not match the ResourceVersion in "
                        "record (%.*s). The object might have been modified",
                        STR_ARG(req->precondition_version), STR_ARG(version));
        return 0;
}

static const struct value *with_collector_finalizers(const struct draft *s, const struct value *object)
{
        struct arena *a = s->arena;

        if (s->p->kind->has_no_dependents)
                return object;
        switch (s->req->propagation) {
        case PROPAGATE_UNSET:
                if (!s->p->kind->orphans_by_default || meta_has_finalizer(object, foreground))
                        return object;
                return meta_with_finalizer(a, object, orphan);
        case PROPAGATE_BACKGROUND:
                return meta_without_finalizer(a, meta_without_finalizer(a, object, orphan), foreground);
        case PROPAGATE_FOREGROUND:
                return meta_with_finalizer(a, meta_without_finalizer(a, object, orphan), foreground);
        case PROPAGATE_ORPHAN:
                return meta_with_finalizer(a, meta_without_finalizer(a, object, foreground), orphan);
        }
        return object;
}

static const struct value *with_deletion(const struct draft *s, const struct value *object)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (meta_is_deleting(object))
                return object;
        time_append_rfc3339(&b, s->p->now, 0);
        object = meta_with_str(s->arena, object, STR("deletionTimestamp"), buf_to_arena(&b, s->arena));
        object = meta_with(s->arena, object, STR("deletionGracePeriodSeconds"), value_put(s->arena, value_of_int(0)));
        if (s->p->kind->strategy != &crd_strategy && meta_generation(object) > 0)
                object = meta_with(s->arena, object, STR("generation"),
                                   value_put(s->arena, value_of_int(meta_generation(object) + 1)));
        return object;
}

static bool stays(const struct draft *s, const struct value *object)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        if (value_count(value_get(meta(object), STR("finalizers"))))
                return true;
        return strategy && strategy->may_remove && !strategy->may_remove(object);
}

int draft_delete(struct draft *s, struct write_outcome *ret, struct err *err)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;
        const struct value *object = s->current, *stored;
        int r = check_preconditions(s, err);

        if (r < 0)
                return r;
        r = draft_admit(s, true, err);
        if (r < 0)
                return r;
        r = draft_admit(s, false, err);
        if (r < 0)
                return r;
        object = with_collector_finalizers(s, object);
        if (strategy && strategy->prepare)
                object = strategy->prepare(s->arena, s->req, s->current, object);
        if (!stays(s, object)) {
                *ret = (struct write_outcome) { .effect = EFFECT_REMOVE, .object = s->live, .answer = s->current };
                return 0;
        }
        object = with_deletion(s, object);
        if (object == s->current) {
                *ret = (struct write_outcome) { .effect = EFFECT_NONE, .object = s->live, .answer = s->current };
                return 0;
        }
        r = draft_to_storage(s, object, &stored, err);
        if (r < 0)
                return r;
        *ret = (struct write_outcome) { .effect = EFFECT_STORE, .object = stored, .answer = object };
        return 0;
}
