#include "nop-conditions.h"

#include "clock.h"
#include "meta.h"
#include "timetext.h"

struct due {
        struct condition condition;
        int64_t after_ns;
};

/* The time since the object was created; creation times have whole seconds. */
static int64_t age_ns(const struct value *object, struct instant now)
{
        struct instant created;

        if (time_parse_rfc3339(meta_str(object, STR("creationTimestamp")), &created, NULL) < 0)
                return 0;
        return (now.seconds - created.seconds) * NS_PER_SECOND + now.nanos - created.nanos;
}

static enum condition_status status_of(struct str text)
{
        if (str_equal(text, STR("True")))
                return CONDITION_TRUE;
        return str_equal(text, STR("False")) ? CONDITION_FALSE : CONDITION_UNKNOWN;
}

static struct condition condition_after(const struct value *item, const struct value *object, struct instant now)
{
        return (struct condition) {
                .type = value_str(value_get(item, STR("conditionType"))),
                .status = status_of(value_str(value_get(item, STR("conditionStatus")))),
                .reason = value_str(value_get(item, STR("conditionReason"))),
                .last_transition = now,
                .observed_generation = meta_generation(object),
        };
}

static struct due *find(struct due *all, size_t n, struct str type)
{
        for (size_t i = 0; i < n; i++)
                if (str_equal(all[i].condition.type, type))
                        return &all[i];
        return NULL;
}

static int read_time(const struct value *item, size_t i, int64_t *ret_ns, struct err *err)
{
        int r = duration_parse(value_str(value_get(item, STR("time"))), ret_ns, err);

        return r < 0 ? err_wrap(err, "spec.forProvider.conditionAfter[%zu].time", i) : 0;
}

static void set_plan(struct arena *a, const struct due *all, size_t n, int64_t next_ns, struct nop_plan *ret)
{
        *ret = (struct nop_plan) { .conditions = ARENA_NEW_ARRAY(a, struct condition, n + 1),
                                   .n = n,
                                   .next_ns = next_ns };
        for (size_t i = 0; i < n; i++)
                ret->conditions[i] = all[i].condition;
}

int nop_plan(struct arena *a, const struct value *object, struct instant now, struct nop_plan *ret, struct err *err)
{
        const struct value *list = value_find(object, "spec", "forProvider", "conditionAfter");
        struct due *all = ARENA_NEW_ARRAY(a, struct due, value_count(list) + 1);
        int64_t age = age_ns(object, now), next_ns = 0;
        size_t n = 0;

        for (size_t i = 0; i < value_count(list); i++) {
                const struct value *item = value_item(list, i);
                struct condition condition = condition_after(item, object, now);
                struct due *known = find(all, n, condition.type);
                int64_t after_ns;
                int r = read_time(item, i, &after_ns, err);

                if (r < 0)
                        return r;
                if (after_ns > age)
                        next_ns = next_ns ? MIN(next_ns, after_ns - age) : after_ns - age;
                else if (!known)
                        all[n++] = (struct due) { condition, after_ns };
                else if (after_ns > known->after_ns)
                        *known = (struct due) { condition, after_ns };
        }
        set_plan(a, all, n, next_ns, ret);
        return 0;
}
