/* Renders one template: from its base, or from the resource that an earlier step desired, to the desired resource. */
#include "pt-session.h"

#include "gotext.h"
#include "json.h"

/* A template while it is rendered. */
struct rendering {
        struct pt_session *s;
        const struct pt_template *tmpl;
        struct str quoted_name;
        bool is_observed;
        struct pt_object observed;
        struct pt_object composed;
        bool is_ready;
        bool is_skipped;
        bool is_terminal; /* a patch to an object other than the resource has failed */
        size_t n_patches; /* number of patches so far; each patch of a set counts */
};

int pt_read_struct(struct arena *a, const struct fn_struct *s, const struct value **ret, struct err *err)
{
        struct fn_struct copy = *s;
        int r = fn_struct_value(a, &copy, ret, err);

        if (r >= 0 && !*ret)
                *ret = &value_empty_object;
        return r;
}

/* --- The initial object --- */

static int parse_base(struct rendering *t, struct err *err)
{
        const struct value *base = t->tmpl->base;
        struct str text;
        int r;

        if (!value_is_object(base))
                r = err_set(err, ERR_INVALID, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                            go_json_type(base));
        else
                r = value_settle(t->s->arena, base, &t->composed.root, err);
        if (r >= 0 && !pt_has_kind(base)) {
                r = json_to_str(t->s->arena, base, JSON_SORT_KEYS | JSON_RAW_SEPARATORS, &text, err);
                if (r >= 0)
                        r = err_set(err, ERR_INVALID, "Object 'Kind' is missing in '%.*s'", STR_ARG(text));
        }
        if (r < 0)
                return err_wrap(err, "cannot parse base template of composed resource %.*s", STR_ARG(t->quoted_name));
        t->composed.is_settled = true;
        return 0;
}

static int begin_composed(struct rendering *t, struct err *err)
{
        const struct fn_resource *desired;

        if (t->tmpl->base)
                return parse_base(t, err);
        desired = map_get(&t->s->desired, t->tmpl->name);
        if (!desired)
                return err_set(err, ERR_INVALID,
                               "composed resource %.*s has no base template, and was not produced by a previous "
                               "Function in the pipeline",
                               STR_ARG(t->quoted_name));
        t->composed = (struct pt_object) { 0 };
        return pt_read_struct(t->s->arena, &desired->object, &t->composed.root, err);
}

/* Copies the observed value, or removes the key if there is none. */
static const struct value *take_metadata(struct arena *a, const struct value *object, const struct value *observed,
                                         struct str key)
{
        const struct value *metadata = value_get(object, STR("metadata"));
        const struct value *v = value_get(value_get(observed, STR("metadata")), key);

        if (metadata && !value_is_object(metadata))
                return object;
        if (value_str(v).n)
                metadata = value_with(a, metadata ? metadata : &value_empty_object, key, v);
        else if (metadata)
                metadata = value_without(a, metadata, key);
        return metadata ? value_with(a, object, STR("metadata"), metadata) : object;
}

/* Keeps the observed name and namespace; extracts connection details and readiness from the observed resource. */
static int use_observed(struct rendering *t, struct err *err)
{
        const struct fn_resource *found = fn_state_find(&t->s->req->observed, t->tmpl->name);
        _cleanup_err_ struct err problem = { 0 };
        struct pt_session *s = t->s;
        int r;

        if (!found)
                return 0;
        r = pt_read_struct(s->arena, &found->object, &t->observed.root, err);
        if (r < 0)
                return r;
        t->is_observed = true;
        t->composed.root = take_metadata(s->arena, t->composed.root, t->observed.root, STR("namespace"));
        t->composed.root = take_metadata(s->arena, t->composed.root, t->observed.root, STR("name"));
        pt_extract_details(&s->details, &t->tmpl->details, &t->observed, &found->connection);
        r = pt_check_readiness(s->arena, &t->tmpl->checks, &t->observed, &problem);
        if (r < 0)
                fn_response_add_result(s->arena, s->rsp, FN_SEVERITY_WARNING,
                                       "cannot check readiness of composed resource %.*s: %s", STR_ARG(t->quoted_name),
                                       err_message(&problem));
        t->is_ready = r > 0;
        return 0;
}

/* --- Its patches --- */

static struct pt_object *target_of(struct rendering *t, const struct pt_patch_type *type)
{
        switch (type->to) {
        case PT_COMPOSITE:
                return &t->s->composite;
        case PT_ENVIRONMENT:
                return &t->s->environment;
        case PT_COMPOSED:
                break;
        }
        return &t->composed;
}

static const struct pt_object *source_of(const struct rendering *t, const struct pt_patch_type *type)
{
        switch (type->from) {
        case PT_COMPOSITE:
                return &t->s->observed_composite;
        case PT_ENVIRONMENT:
                return &t->s->environment;
        case PT_COMPOSED:
                break;
        }
        return t->is_observed ? &t->observed : NULL;
}

/* Decides what a failed patch means for the template; 0: continue with the next patch. */
static int judge(struct rendering *t, const struct pt_patch *patch, size_t index, int r, struct err *problem,
                 struct err *err)
{
        struct str type = go_quote(t->s->arena, pt_patch_type_name(patch));

        if (r == ERR_NOT_FOUND && !pt_patch_is_required(patch))
                return 0;
        if (r != ERR_NOT_FOUND || (t->s->is_native && pt_patch_type(patch)->to == PT_COMPOSED)) {
                err_move(err, problem);
                t->is_terminal = pt_patch_type(patch)->to != PT_COMPOSED;
                return err_wrap(err, "cannot render composed resource %.*s %.*s patch at index %zu",
                                STR_ARG(t->quoted_name), STR_ARG(type), index);
        }
        t->is_skipped = pt_patch_type(patch)->to == PT_COMPOSED && !t->is_observed;
        if (t->is_skipped)
                fn_response_add_result(t->s->arena, t->s->rsp, FN_SEVERITY_WARNING,
                                       "not adding new composed resource %.*s to desired state because %.*s patch at "
                                       "index %zu has 'policy.fromFieldPath: Required': %s",
                                       STR_ARG(t->quoted_name), STR_ARG(type), index, err_message(problem));
        else
                fn_response_add_result(t->s->arena, t->s->rsp, FN_SEVERITY_WARNING,
                                       "cannot render composed resource %.*s %.*s patch at index %zu: ignoring "
                                       "'policy.fromFieldPath: Required' because 'to' resource already exists: %s",
                                       STR_ARG(t->quoted_name), STR_ARG(type), index, err_message(problem));
        return 0;
}

static int apply_patch(struct rendering *t, struct pt_patch *patch, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        const struct pt_patch_type *type = pt_patch_type(patch);
        const struct pt_object *from = source_of(t, type);
        size_t index = t->n_patches++;
        int r;

        r = bounds_check(t->s->run, err);
        if (r < 0 || !from)
                return r;
        r = pt_apply(t->s->run, patch, from, target_of(t, type), &problem);
        return r < 0 ? judge(t, patch, index, r, &problem, err) : 0;
}

static int apply_patches(struct rendering *t, const struct input_list *list, struct err *err)
{
        struct pt_patch *patches = list->p;
        int r = 0;

        for (size_t i = 0; r >= 0 && !t->is_skipped && i < list->n; i++) {
                if (pt_patch_type(&patches[i])) {
                        r = apply_patch(t, &patches[i], err);
                } else {
                        const struct pt_patch_set *set = map_get(&t->s->sets, patches[i].set_name);

                        r = apply_patches(t, &set->patches, err);
                }
        }
        return r;
}

/* --- The whole --- */

void pt_set_desired(struct pt_session *s, struct str name, const struct value *object, enum fn_ready ready)
{
        struct fn_resource *resource = ARENA_NEW(s->arena, struct fn_resource);

        *resource = (struct fn_resource) { .name = name, .object = { .value = object }, .ready = ready };
        map_set(&s->desired, name, resource);
}

/* `mode: Resources` does not change the kind of an existing resource. */
static int check_kind(const struct rendering *t, struct err *err)
{
        struct str was = value_str(value_get(t->observed.root, STR("kind")));
        struct str is = value_str(value_get(t->composed.root, STR("kind")));

        if (!t->is_observed || str_equal(was, is))
                return 0;
        return err_set(
                err, ERR_INVALID,
                "cannot render composed resource %.*s: cannot change the kind of a composed resource from %.*s to "
                "%.*s (possible composed resource template mismatch)",
                STR_ARG(t->quoted_name), STR_ARG(was), STR_ARG(is));
}

static int render_patched(struct rendering *t, struct err *err)
{
        int r = begin_composed(t, err);

        if (r >= 0)
                r = use_observed(t, err);
        if (r >= 0 && t->s->is_native)
                r = check_kind(t, err);
        return r < 0 ? r : apply_patches(t, &t->tmpl->patches, err);
}

/* In `mode: Resources`, a resource that cannot be rendered is reported and stays unchanged, and the other resources continue. */
static void skip(struct rendering *t, const struct err *problem)
{
        fn_response_add_result(t->s->arena, t->s->rsp, FN_SEVERITY_WARNING, "%s", err_message(problem));
        t->is_skipped = true;
}

static void keep(struct pt_session *s, struct str name)
{
        struct fn_resource *resource = ARENA_NEW(s->arena, struct fn_resource);

        *resource = (struct fn_resource) { .name = name, .object = { .value = &value_empty_object }, .is_kept = true };
        map_set(&s->desired, name, resource);
}

int pt_render(struct pt_session *s, const struct pt_template *tmpl, struct err *err)
{
        struct rendering t = { .s = s, .tmpl = tmpl, .quoted_name = go_quote(s->arena, tmpl->name) };
        _cleanup_err_ struct err problem = { 0 };
        int r = bounds_check(s->run, err);

        if (r < 0)
                return r;
        r = render_patched(&t, &problem);
        if (r < 0 && (!s->is_native || t.is_terminal))
                return err_move(err, &problem);
        if (r < 0)
                skip(&t, &problem);
        if (t.is_skipped)
                s->has_skipped = true;
        else
                pt_set_desired(s, tmpl->name, t.composed.root, t.is_ready ? FN_READY_TRUE : FN_READY_UNSPECIFIED);
        if (t.is_skipped && s->is_native && fn_state_find(&s->req->observed, tmpl->name))
                keep(s, tmpl->name);
        return arena_check(s->arena, err);
}
