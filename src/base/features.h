/* The features of the program that have a gate: one table, in which each stands with its stage and default. Upstream's names where
 * upstream has the feature, ours otherwise; a feature is listed once the tree has it. Adding one is a line here, a line of the table
 * and a line of FEATURE_SETTINGS. */
#pragma once

#include "gates.h"

enum feature {
        FEATURE_FUNCTION_RESPONSE_CACHE,
        FEATURE_FUNCTION_REVISION_SELECTORS,
        FEATURE_REQUIREMENTS_CACHE,
        _FEATURE_COUNT,
};

/* Which gates are open; passed by value. { 0 } has every gate at its default. */
struct features {
        uint64_t changed; /* bit n: feature n is not what it is by default */
};

extern const struct gate feature_table[_FEATURE_COUNT];
extern const struct gates feature_gates_default; /* for checks of settings: its is_on is NULL */

static inline bool feature_is_on(struct features f, enum feature which)
{
        assert(which < _FEATURE_COUNT);
        return feature_table[which].is_on_by_default != ((f.changed >> which & 1) != 0);
}

struct features features_with(struct features f, enum feature which, bool is_on);

/* Of a setting `--feature-gates=Name=true,...` and of one `--enable-some-name` for each, as upstream has them. A better source (flag,
 * then variable, then file) counts; within one source --enable-some-name does. */
#define FEATURE_SETTINGS                                                                \
        { .name = "feature-gates",                                                      \
          .type = SETTING_LIST,                                                         \
          .is_merged = true,                                                            \
          .value_name = "GATE=BOOL",                                                    \
          .check = gates_check_item,                                                    \
          .check_arg = &feature_gates_default,                                          \
          .help = "Features to switch on or off; `weft gates` lists them." },           \
                { .name = "enable-function-response-cache", .type = SETTING_BOOL },     \
                { .name = "enable-function-revision-selectors", .type = SETTING_BOOL }, \
        {                                                                               \
                .name = "enable-requirements-cache", .type = SETTING_BOOL               \
        }

/* The settings must have all of FEATURE_SETTINGS. */
int features_read(const struct settings *settings, struct features *ret, struct err *err);

/* A table of all features: name, stage, default, what they are now, help. */
void features_append_list(struct buf *b, struct features f);
