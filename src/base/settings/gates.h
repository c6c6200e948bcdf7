/* Gates: switches for features, each with its own stage. A setting that is a list of `Name=true` sets them. */
#pragma once

#include "settings.h"

enum gate_stage {
        GATE_ALPHA,
        GATE_BETA,
        GATE_GA,
};

struct gate {
        const char *name; /* as in FunctionRevisionSelectors */
        enum gate_stage stage;
        bool is_on_by_default;
        bool is_locked; /* can no longer be changed from its default */
        const char *help;
};

/* Home: as struct settings. The table must outlive the struct. The index of a gate is the value of the caller's enum, in the
 * order of the table. */
struct gates {
        const struct gate *table;
        size_t n;
        bool *is_on;
};

void gates_init(struct gates *g, const struct gate *table, size_t n);
void gates_done(struct gates *g);

/* Reads items such as `Name=true`; the last item for a gate counts. Fails, and changes nothing, if an item has another form,
 * names an unknown gate (the error suggests the nearest name), or sets a locked gate to another value than its default. */
int gates_set(struct gates *g, struct setting_list items, struct err *err);

/* For struct setting: check = gates_check_item, check_arg = a const struct gates *. */
int gates_check_item(struct str item, const void *gates, struct err *err);

static inline bool gate_is_on(const struct gates *g, size_t index)
{
        assert(index < g->n);
        return g->is_on[index];
}

/* The name must be in the table. */
bool gate_is_on_by_name(const struct gates *g, const char *name);

const char *gate_stage_name(enum gate_stage stage); /* "Alpha", "Beta", "GA" */

/* A table of all gates: name, stage, default, current value, help. */
void gates_append_list(struct buf *b, const struct gates *g);
