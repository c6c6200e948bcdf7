/* The dry run of a rollout (rollout.h): the request of a step goes to the old revision, whose answer counts, once more to it, and to the
 * new one. What differs between old and new, and not between the two answers of the old one, is the difference. */
#include "step-state.h"

#include "buf.h"
#include "patch.h"
#include "redact.h"

#define LONGEST_NS \
        20000000000ll /* for both calls together, and no more than a quarter of the run's time that is left */

/* An answer of a revision. A call that failed counts as a fatal result. */
struct answer {
        struct fn_response response;
        struct str fatal; /* "": none */
};

static struct str fatal_of(const struct fn_response *rsp)
{
        for (size_t i = 0; rsp && i < rsp->n_results; i++)
                if (rsp->results[i].severity == FN_SEVERITY_FATAL)
                        return rsp->results[i].message.n ? rsp->results[i].message : STR("a fatal result");
        return STR("");
}

static struct answer answer_of(struct arena *a, const struct fn_response *rsp, const struct err *err)
{
        if (!rsp)
                return (struct answer) { .fatal = arena_copy(a, str_from(err_message(err))) };
        return (struct answer) { .response = *rsp, .fatal = fatal_of(rsp) };
}

static struct deadline deadline_of(const struct run *run)
{
        int64_t left = deadline_is_none(run->deadline) ? LONGEST_NS : deadline_remaining_ns(run->deadline) / 4;

        return deadline_after_ns(MIN(left, LONGEST_NS));
}

/* Asks a revision as if it were the one that counts; *state is then as the step's would be. */
static struct answer ask(const struct step_state *s, struct step_context *c, struct function *f, bool gives_credentials,
                         struct step_state *state)
{
        _cleanup_err_ struct err err = { 0 };
        struct fn_response rsp;
        int r;

        *state = *s;
        state->c = c;
        state->record = ARENA_NEW(step_arena(s), struct step_record);
        state->function = f;
        state->req = s->first;
        state->redactor = NULL;
        if (!gives_credentials) {
                state->req.credentials = NULL;
                state->req.n_credentials = 0;
        }
        r = step_call_until_stable(state, &rsp, &err);
        return answer_of(step_arena(s), r < 0 ? NULL : &rsp, &err);
}

/* --- Values --- */

static struct value results_value(struct arena *a, const struct fn_response *rsp)
{
        static const char *const names[] = { "Unspecified", "Fatal", "Warning", "Normal" };
        struct array_builder all;

        array_builder_init(&all, a, rsp->n_results);
        for (size_t i = 0; i < rsp->n_results; i++) {
                struct member members[] = {
                        { STR("message"), value_of_str(rsp->results[i].message) },
                        { STR("severity"), value_of_str(str_from(names[rsp->results[i].severity])) },
                };

                array_builder_add(&all, value_of_members(a, members, ARRAY_SIZE(members), true));
        }
        return array_builder_finish(&all);
}

static struct value conditions_value(struct arena *a, const struct fn_response *rsp)
{
        static const char *const names[] = { "Unspecified", "Unknown", "True", "False" };
        struct object_builder all;

        object_builder_init(&all, a, rsp->n_conditions);
        for (size_t i = 0; i < rsp->n_conditions; i++) {
                const struct fn_condition *c = &rsp->conditions[i];
                struct member members[] = {
                        { STR("message"), value_of_str(c->message) },
                        { STR("reason"), value_of_str(c->reason) },
                        { STR("status"), value_of_str(str_from(names[MIN((uint32_t)c->status, 3u)])) },
                };

                object_builder_set(&all, c->type, value_of_members(a, members, ARRAY_SIZE(members), true));
        }
        return object_builder_finish(&all);
}

/* Secrets show only whether they differ from those of before. */
static const struct value *answer_value(struct arena *a, const struct answer *answer, const struct fn_state *before)
{
        struct fn_state state = answer->response.desired;
        const struct value *v = step_state_value(a, &state, before);
        struct value results = results_value(a, &answer->response), conditions = conditions_value(a, &answer->response);

        v = value_with(a, v, STR("results"), &results);
        return value_with(a, v, STR("conditions"), &conditions);
}

/* --- Differences --- */

static struct str path_of(const struct value *operation)
{
        return value_str(value_get(operation, STR("path")));
}

/* Whether one of the paths is the other, or lies below it. */
static bool overlap(struct str a, struct str b)
{
        struct str rest = a.n > b.n ? a : b;

        return str_cut_prefix(&rest, a.n > b.n ? b : a) && (rest.n == 0 || rest.p[0] == '/');
}

static bool varies(const struct value *noise, struct str path)
{
        VALUE_FOREACH_ITEM (operation, noise) {
                if (overlap(path_of(operation), path))
                        return true;
        }
        return false;
}

static struct value without_noise(struct arena *a, const struct value *changes, const struct value *noise)
{
        struct array_builder b;

        array_builder_init(&b, a, value_count(changes));
        VALUE_FOREACH_ITEM (operation, changes) {
                if (!varies(noise, path_of(operation)))
                        array_builder_add(&b, *operation);
        }
        return array_builder_finish(&b);
}

static struct value changes_of(struct arena *a, const struct answer *old, const struct answer *again,
                               const struct answer *new)
{
        struct fn_state before = old->response.desired;
        const struct value *from = answer_value(a, old, NULL);
        const struct value *noise = &value_empty_array;

        if (fn_state_open(a, &before, NULL) < 0)
                return value_empty_array;
        if (again->fatal.n == 0)
                noise = value_diff(a, from, answer_value(a, again, &before), false);
        return without_noise(a, value_diff(a, from, answer_value(a, new, &before), true), noise);
}

/* {fatal: TEXT} if the new revision fails and the old one does not, {recovers: TEXT} the other way round, else {changes: JSON Patch}. */
static const struct value *difference(struct arena *a, const struct answer *old, const struct answer *again,
                                      const struct answer *new)
{
        struct member m = { STR("changes"), value_empty_array };

        if (new->fatal.n && !old->fatal.n)
                m = (struct member) { STR("fatal"), value_of_str(new->fatal) };
        else if (old->fatal.n && !new->fatal.n)
                m = (struct member) { STR("recovers"), value_of_str(old->fatal) };
        else if (!old->fatal.n)
                m.value = changes_of(a, old, again, new);
        return value_put(a, value_of_members(a, &m, 1, true));
}

void step_compare(struct step_state *s, const struct fn_response *rsp, const struct err *err)
{
        struct run run = *s->c->run;
        struct step_context c = *s->c;
        struct step_state of_old, of_new;
        struct answer old, again, new;
        const struct value *found;

        run.deadline = deadline_of(&run);
        c.run = &run;
        c.hooks = (struct step_hooks) { .find_schema = s->c->hooks.find_schema, .arg = s->c->hooks.arg };
        old = answer_of(step_arena(s), rsp, err);
        again = ask(s, &c, s->function, true, &of_old);
        new = ask(s, &c, s->candidate, s->gives_credentials, &of_new);
        found = difference(step_arena(s), &old, &again, &new);
        found = step_redact_value(s, &old.response.desired, found);
        found = step_redact_value(&of_new, &new.response.desired, found);
        s->c->hooks.on_comparison(s->c->hooks.arg, s->step, found);
}
