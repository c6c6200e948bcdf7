/* Offers the requirements of a composite's last run to the first call of this run (seed 003, docs/spec/engine 2.2 and 2.4). */
#include "fetch.h"
#include "requirements-memory.h"

static struct requirements_memory *memory_of(const struct step_state *s)
{
        if (s->c->options.extra_resources == EXTRA_RESOURCES_OFF ||
            !feature_is_on(s->c->options.features, FEATURE_REQUIREMENTS_CACHE))
                return NULL;
        return s->c->options.memory;
}

/* False for a composite without a uid. */
static bool identify(const struct step_state *s, struct remembered_step *ret)
{
        const struct value *composite = NULL;

        if (fn_struct_value(step_arena(s), &s->c->observed->composite.object, &composite, NULL) < 0)
                return false;
        *ret = (struct remembered_step) { meta_uid(composite), s->step->name, s->step->function,
                                          s->function->revision };
        return ret->uid.n > 0;
}

static bool is_given(const struct answers *answers, struct str name)
{
        for (size_t i = 0; i < answers->n_resources; i++)
                if (str_equal(answers->resources[i].name, name))
                        return true;
        return false;
}

static void make_room(struct step_state *s, size_t n)
{
        struct fn_selector *offered = ARENA_NEW_ARRAY(step_arena(s), struct fn_selector, s->n_offered + n + 1);

        if (s->n_offered)
                memcpy(offered, s->offered, s->n_offered * sizeof(*offered));
        s->offered = offered;
        s->given = answers_copy(step_arena(s), &s->given, n, 0);
}

void step_recall(struct step_state *s)
{
        struct requirements_memory *memory = memory_of(s);
        const struct fn_selector *asked;
        struct answers bootstrap = s->given;
        struct remembered_step step;
        size_t n = 0;

        if (memory && identify(s, &step))
                n = requirements_memory_get(memory, step_arena(s), &step, &asked);
        if (n == 0)
                return;
        make_room(s, n);
        for (size_t i = 0; i < n; i++) {
                struct fn_resources found;

                if (is_given(&bootstrap, asked[i].name) || fetch_check(s->c, s->step, &asked[i], NULL) < 0 ||
                    fetch_resources(s, &asked[i], &found, NULL) < 0)
                        continue;
                answers_put(&s->given, &found);
                s->offered[s->n_offered++] = asked[i];
        }
}

static bool is_offered(const struct fn_selector *offered, size_t n, const struct fn_selector *wanted)
{
        for (size_t i = 0; i < n; i++)
                if (fn_selector_equal(&offered[i], wanted))
                        return true;
        return false;
}

/* The offered resources were fetched a moment ago with the same selectors, so fetching them again would give the same result. */
bool step_has_all(const struct step_state *s, const struct fn_requirements *wanted)
{
        if (!memory_of(s) || wanted->n_extra_resources > 0 || wanted->n_resources > s->n_offered)
                return false;
        for (size_t i = 0; i < wanted->n_resources; i++)
                if (!is_offered(s->offered, s->n_offered, &wanted->resources[i]))
                        return false;
        for (size_t i = 0; i < wanted->n_schemas; i++)
                if (!is_offered(s->offered_schemas, s->n_offered_schemas, &wanted->schemas[i]))
                        return false;
        return true;
}

void step_remember(struct step_state *s, const struct fn_response *rsp)
{
        struct requirements_memory *memory = memory_of(s);
        struct remembered_step step;

        if (memory && identify(s, &step))
                requirements_memory_set(memory, &step, &rsp->requirements);
}
