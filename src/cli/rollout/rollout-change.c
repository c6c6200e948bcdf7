#include "rollout-client.h"

#include "json.h"
#include "meta.h"
#include "park.h"

#include <inttypes.h>

#define LOOK_MS           300
#define BEFORE_ANNOTATION STR("weft.dev/before-rollout") /* the limits that the Function had */

int rollout_look(struct api_client *api, struct arena *a, struct str function, struct rollout_look *ret,
                 struct err *err)
{
        struct api_parameter parameter = { STR("name"), function };
        const struct value *answer, *status, *live;
        int r = api_client_read(api, a, "rollout", &parameter, 1, &answer, err);

        if (r < 0)
                return r;
        *ret = (struct rollout_look) { .function = value_get(answer, STR("function")) };
        ret->rollout = value_find(ret->function, "spec", "rollout");
        ret->percent = value_int(value_get(ret->rollout, STR("percent")), 0);
        status = value_find(ret->function, "status", "rollout");
        live = value_get(answer, STR("live"));
        if (value_int(value_get(status, STR("observedGeneration")), -1) == meta_generation(ret->function))
                ret->status = status;
        if (value_int(value_get(live, STR("generation")), -1) == meta_generation(ret->function))
                ret->live = live;
        ret->phase = value_str(value_get(ret->status, STR("phase")));
        return 0;
}

/* --- Patches --- */

static const struct value *object_with(struct arena *a, struct str key, const struct value *v)
{
        return value_with(a, &value_empty_object, key, v);
}

static const struct value *with_int(struct arena *a, const struct value *object, struct str key, int64_t i)
{
        return value_with(a, object, key, value_put(a, value_of_int(i)));
}

static const struct value *with_str(struct arena *a, const struct value *object, struct str key, struct str s)
{
        return value_with(a, object, key, value_put(a, value_of_str(s)));
}

static struct str path_of(struct arena *a, const char *plural, struct str name)
{
        return arena_printf(a, "/apis/pkg.crossplane.io/v1/%s/%.*s", plural, STR_ARG(name));
}

static int send_patch(struct api_client *api, struct arena *a, struct str function, const struct value *patch,
                      struct err *err)
{
        const struct value *answer;
        struct str path = ARENA_CONCAT(a, path_of(a, "functions", function), STR("?fieldManager=weft-rollout"));
        int r = api_client_call(api, a, STR("PATCH"), path, patch, &answer, err);

        return r < 0 ? err_wrap(err, "cannot change Function \"%.*s\"", STR_ARG(function)) : 0;
}

/* --- Limits of revisions --- */

static const struct value *field_or_null(const struct value *spec, struct str key)
{
        const struct value *v = value_get(spec, key);

        return v ? v : &value_null;
}

/* The limits as they are, to be given back at the end. */
static int note_limits(struct arena *a, const struct value *function, const struct value *patch,
                       const struct value **ret, struct err *err)
{
        const struct value *spec = value_get(function, STR("spec")), *limits = &value_empty_object;
        struct str text;
        int r;

        *ret = patch;
        if (meta_annotation(function, BEFORE_ANNOTATION).n)
                return 0;
        limits = value_with(a, limits, STR("activeRevisionLimit"), field_or_null(spec, STR("activeRevisionLimit")));
        limits = value_with(a, limits, STR("revisionHistoryLimit"), field_or_null(spec, STR("revisionHistoryLimit")));
        r = json_to_str(a, limits, 0, &text, err);
        if (r == 0)
                *ret = value_with(a, patch, STR("metadata"),
                                  object_with(a, STR("annotations"),
                                              with_str(a, &value_empty_object, BEFORE_ANNOTATION, text)));
        return r;
}

/* Room for two active revisions. */
static const struct value *with_room(struct arena *a, const struct value *function, const struct value *spec)
{
        int64_t active = value_int(value_find(function, "spec", "activeRevisionLimit"), 1),
                history = value_int(value_find(function, "spec", "revisionHistoryLimit"), 1);

        active = MAX(active, (int64_t)2);
        spec = with_int(a, spec, STR("activeRevisionLimit"), active);
        return history == 0 ? spec : with_int(a, spec, STR("revisionHistoryLimit"), MAX(history, active));
}

static const struct value *with_limits_of_before(struct arena *a, const struct value *function,
                                                 const struct value *spec)
{
        const struct value *limits;

        if (json_parse(a, meta_annotation(function, BEFORE_ANNOTATION), NULL, &limits, NULL) < 0)
                return spec;
        VALUE_FOREACH_MEMBER (m, limits) {
                spec = value_with(a, spec, m->key, &m->value);
        }
        return spec;
}

/* --- Beginning --- */

/* The revision to leave, and the attempt. */
static int choose_origin(const struct rollout_look *look, struct str to, struct str *ret_from, int64_t *ret_attempt,
                         struct err *err)
{
        struct str name = meta_name(look->function), package = value_str(value_find(look->function, "spec", "package"));
        bool is_same = look->rollout && str_equal(value_str(value_get(look->rollout, STR("to"))), to);

        *ret_attempt = value_int(value_get(look->rollout, STR("attempt")), 0);
        if (look->rollout) {
                *ret_from = value_str(value_get(look->rollout, STR("from")));
                *ret_attempt += !is_same || str_equal(look->phase, STR("RolledBack"));
                return 0;
        }
        *ret_from = value_str(value_find(look->function, "status", "currentRevision"));
        if (str_equal(package, to))
                return err_set(err, ERR_INVALID,
                               "Function \"%.*s\" has package %.*s already: there is nothing to roll out",
                               STR_ARG(name), STR_ARG(to));
        if (ret_from->n == 0)
                return err_set(
                        err, ERR_INVALID,
                        "Function \"%.*s\" has no current revision, so there is nothing to go back to: wait until "
                        "it is installed",
                        STR_ARG(name));
        return 0;
}

/* The limits that were given; another package does not keep those of the one before. */
static const struct value *limits_value(struct arena *a, const struct rollout_look *look,
                                        const struct rollout_options *o, struct str to)
{
        static const struct str fields[] = { STR_INIT("maxFatalPercent"), STR_INIT("maxLatencyPercent"),
                                             STR_INIT("maxDeletions"), STR_INIT("minimumSample") };
        const struct value *v = o->limits;

        if (str_equal(value_str(value_get(look->rollout, STR("to"))), to))
                return v;
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (!value_get(v, fields[i]))
                        v = value_with(a, v, fields[i], &value_null);
        return v;
}

static const struct value *rollout_value(struct arena *a, const struct rollout_options *o, const struct value *v,
                                         struct str to, struct str from, int64_t attempt, int64_t percent)
{
        v = with_str(a, v, STR("from"), from);
        v = with_str(a, v, STR("to"), to);
        v = with_int(a, v, STR("attempt"), attempt);
        v = with_int(a, v, STR("percent"), percent);
        v = value_with(a, v, STR("dryRun"), o->is_dry_run ? &value_true : &value_null);
        return value_with(a, v, STR("withCredentials"), o->gives_credentials ? &value_true : &value_null);
}

int rollout_begin(struct api_client *api, const struct rollout_options *o, int64_t percent, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct rollout_look look;
        const struct value *spec, *patch;
        struct str to, from;
        int64_t attempt;
        int r;

        arena_init(&a, "rollout", 0);
        r = rollout_look(api, &a, o->function, &look, err);
        if (r < 0)
                return r;
        to = o->to.n ? o->to : value_str(value_get(look.rollout, STR("to")));
        r = choose_origin(&look, to, &from, &attempt, err);
        if (r < 0)
                return r;
        spec = with_room(&a, look.function, with_str(&a, &value_empty_object, STR("package"), to));
        spec = value_with(&a, spec, STR("rollout"),
                          rollout_value(&a, o, limits_value(&a, &look, o, to), to, from, attempt, percent));
        r = note_limits(&a, look.function, object_with(&a, STR("spec"), spec), &patch, err);
        return r < 0 ? r : send_patch(api, &a, o->function, patch, err);
}

int rollout_move(struct api_client *api, struct str function, int64_t percent, struct err *err)
{
        _cleanup_arena_ struct arena a;
        const struct value *rollout;

        arena_init(&a, "rollout", 0);
        rollout = with_int(&a, &value_empty_object, STR("percent"), percent);
        return send_patch(api, &a, function, object_with(&a, STR("spec"), object_with(&a, STR("rollout"), rollout)),
                          err);
}

/* --- The end --- */

int rollout_finish(struct api_client *api, struct str function, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct rollout_look look;
        const struct value *spec, *patch;
        int r;

        arena_init(&a, "rollout", 0);
        r = rollout_look(api, &a, function, &look, err);
        if (r < 0)
                return r;
        spec = with_limits_of_before(&a, look.function, object_with(&a, STR("rollout"), &value_null));
        patch = object_with(&a, STR("spec"), spec);
        patch = value_with(&a, patch, STR("metadata"),
                           object_with(&a, STR("annotations"), object_with(&a, BEFORE_ANNOTATION, &value_null)));
        return send_patch(api, &a, function, patch, err);
}

static int read_image(struct api_client *api, struct arena *a, struct str revision, struct str *ret, struct err *err)
{
        const struct value *v;
        int r = api_client_call(api, a, STR("GET"), path_of(a, "functionrevisions", revision), NULL, &v, err);

        if (r < 0)
                return err_wrap(err, "cannot go back");
        *ret = value_str(value_find(v, "spec", "image"));
        return 0;
}

/* The old revision is current when it has the highest number: only then may the rollout's rule go. */
static int await_current(struct api_client *api, struct str function, struct str revision, struct str image,
                         int64_t timeout_ns, struct err *err)
{
        struct deadline deadline = deadline_after_ns(timeout_ns);

        for (;;) {
                _cleanup_arena_ struct arena a;
                struct rollout_look look;
                int r;

                arena_init(&a, "rollout", 0);
                r = rollout_look(api, &a, function, &look, err);
                if (r < 0)
                        return r;
                if (str_equal(value_str(value_find(look.function, "status", "currentRevision")), revision) &&
                    str_equal(value_str(value_find(look.function, "status", "currentIdentifier")), image))
                        return 0;
                if (deadline_has_passed(deadline))
                        return err_set(
                                err, ERR_TIMEOUT,
                                "FunctionRevision \"%.*s\" serves all composites, but is not the current revision "
                                "of Function \"%.*s\" yet; run --back again",
                                STR_ARG(revision), STR_ARG(function));
                thread_sleep(deadline_after_ms(LOOK_MS), NULL);
        }
}

int rollout_go_back(struct api_client *api, struct str function, int64_t timeout_ns, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct rollout_look look;
        const struct value *spec, *rollout;
        struct str from, image;
        int r;

        arena_init(&a, "rollout", 0);
        r = rollout_look(api, &a, function, &look, err);
        if (r < 0)
                return r;
        if (!look.rollout)
                return err_set(err, ERR_INVALID, "Function \"%.*s\" has no rollout to go back from", STR_ARG(function));
        from = value_str(value_get(look.rollout, STR("from")));
        r = read_image(api, &a, from, &image, err);
        if (r < 0)
                return r;
        rollout = with_int(&a, with_str(&a, &value_empty_object, STR("to"), image), STR("percent"), 0);
        spec = value_with(&a, object_with(&a, STR("rollout"), value_with(&a, rollout, STR("dryRun"), &value_null)),
                          STR("package"), value_put(&a, value_of_str(image)));
        r = send_patch(api, &a, function, object_with(&a, STR("spec"), spec), err);
        if (r == 0)
                r = await_current(api, function, from, image, timeout_ns, err);
        return r < 0 ? r : rollout_finish(api, function, err);
}
