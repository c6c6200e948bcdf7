#include "gates.h"

#include "buf.h"
#include "settings-value.h"
#include "vec.h"

void gates_init(struct gates *g, const struct gate *table, size_t n)
{
        *g = (struct gates) { .table = table, .n = n, .is_on = xcalloc(n, sizeof(*g->is_on)) };
        for (size_t i = 0; i < n; i++)
                g->is_on[i] = table[i].is_on_by_default;
}

void gates_done(struct gates *g)
{
        free(g->is_on);
        *g = (struct gates) { 0 };
}

static int refuse_gate(const struct gates *g, struct str name, struct err *err)
{
        VEC(const char *) names = { 0 };
        const char *nearest;

        for (size_t i = 0; i < g->n; i++)
                vec_push(&names, g->table[i].name);
        nearest = settings_nearest(name, names.p, names.n);
        vec_done(&names);
        if (nearest)
                return err_set(err, ERR_INVALID, "unknown feature gate %.*s; did you mean %s?", STR_ARG(name), nearest);
        return err_set(err, ERR_INVALID, "unknown feature gate %.*s", STR_ARG(name));
}

static int parse_gate(const struct gates *g, struct str item, size_t *ret_index, bool *ret_on, struct err *err)
{
        struct str name, value = item;
        bool has_value = str_split(&value, '=', &name), on = false;

        name = str_trim(name);
        if (!has_value || !setting_parse_bool(str_trim(value), &on))
                return err_set(err, ERR_INVALID, "\"%.*s\" is not accepted; it must be GATE=true or GATE=false",
                               STR_ARG(str_first(item, 200)));
        for (size_t i = 0; i < g->n; i++) {
                const struct gate *gate = &g->table[i];

                if (!str_equal(name, str_from(gate->name)))
                        continue;
                if (gate->is_locked && on != gate->is_on_by_default)
                        return err_set(err, ERR_FORBIDDEN, "feature gate %s is %s and always %s", gate->name,
                                       gate_stage_name(gate->stage), gate->is_on_by_default ? "on" : "off");
                *ret_index = i;
                *ret_on = on;
                return 0;
        }
        return refuse_gate(g, str_first(name, 200), err);
}

int gates_check_item(struct str item, const void *gates, struct err *err)
{
        size_t index;
        bool on;

        return parse_gate(gates, item, &index, &on, err);
}

int gates_set(struct gates *g, struct setting_list items, struct err *err)
{
        size_t index;
        bool on;

        for (size_t i = 0; i < items.n; i++) {
                int r = gates_check_item(items.items[i], g, err);

                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < items.n; i++)
                if (parse_gate(g, items.items[i], &index, &on, NULL) == 0)
                        g->is_on[index] = on;
        return 0;
}

bool gate_is_on_by_name(const struct gates *g, const char *name)
{
        size_t i = 0;

        while (i < g->n && strcmp(g->table[i].name, name) != 0)
                i++;
        return gate_is_on(g, i);
}

const char *gate_stage_name(enum gate_stage stage)
{
        switch (stage) {
        case GATE_ALPHA:
                return "Alpha";
        case GATE_BETA:
                return "Beta";
        case GATE_GA:
                return "GA";
        }
        return "";
}

void gates_append_list(struct buf *b, const struct gates *g)
{
        int width = (int)strlen("NAME");

        for (size_t i = 0; i < g->n; i++)
                width = MAX(width, (int)strlen(g->table[i].name));
        buf_appendf(b, "%-*s  STAGE  DEFAULT  NOW    DESCRIPTION\n", width, "NAME");
        for (size_t i = 0; i < g->n; i++) {
                const struct gate *gate = &g->table[i];

                buf_appendf(b, "%-*s  %-5s  %-7s  %-5s  %s\n", width, gate->name, gate_stage_name(gate->stage),
                            gate->is_on_by_default ? "true" : "false", g->is_on[i] ? "true" : "false", gate->help);
        }
}
