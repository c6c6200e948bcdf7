/* The features of the program that have a gate, in one table with stage and default. Features that upstream has carry upstream's
 * names. A feature is listed once the tree has it. To add one, add a line here, a line in the table and a line in
 * FEATURE_SETTINGS. */
#pragma once

#include "gates.h"

enum feature {
        FEATURE_DEPENDENCY_VERSION_DOWNGRADES,
        FEATURE_DEPENDENCY_VERSION_UPGRADES,
        FEATURE_FIRST_DESIGN_KINDS,
        FEATURE_FUNCTION_RESPONSE_CACHE,
        FEATURE_FUNCTION_REVISION_SELECTORS,
        FEATURE_PIPELINE_INSPECTOR,
        FEATURE_REQUIREMENTS_CACHE,
        FEATURE_RESOLVE_SELECTORS,
        FEATURE_SIGNATURE_VERIFICATION,
        _FEATURE_COUNT,
};

/* Which gates are open; passed by value. { 0 } has every gate at its default. */
struct features {
        uint64_t changed; /* bit n: feature n differs from its default */
};

extern const struct gate feature_table[_FEATURE_COUNT];
extern const struct gates feature_gates_default; /* for checks of settings: its is_on is NULL */

static inline bool feature_is_on(struct features f, enum feature which)
{
        assert(which < _FEATURE_COUNT);
        return feature_table[which].is_on_by_default != ((f.changed >> which & 1) != 0);
}

struct features features_with(struct features f, enum feature which, bool is_on);

/* The setting `--feature-gates=Name=true,...` and one setting `--enable-some-name` per feature, as upstream has them. The better
 * source counts (flag before variable before file); within one source --enable-some-name counts. */
#define FEATURE_SETTINGS                                                                  \
        { .name = "feature-gates",                                                        \
          .type = SETTING_LIST,                                                           \
          .is_merged = true,                                                              \
          .value_name = "GATE=BOOL",                                                      \
          .check = gates_check_item,                                                      \
          .check_arg = &feature_gates_default,                                            \
          .help = "Features to switch on or off; `weft gates` lists them." },             \
                { .name = "enable-dependency-version-downgrades", .type = SETTING_BOOL }, \
                { .name = "enable-dependency-version-upgrades", .type = SETTING_BOOL },   \
                { .name = "enable-first-design-kinds", .type = SETTING_BOOL },            \
                { .name = "enable-function-response-cache", .type = SETTING_BOOL },       \
                { .name = "enable-function-revision-selectors", .type = SETTING_BOOL },   \
                { .name = "enable-pipeline-inspector", .type = SETTING_BOOL },            \
                { .name = "enable-requirements-cache", .type = SETTING_BOOL },            \
                { .name = "enable-resolve-selectors", .type = SETTING_BOOL },             \
        {                                                                                 \
                .name = "enable-signature-verification", .type = SETTING_BOOL             \
        }

/* The settings must have all of FEATURE_SETTINGS. */
int features_read(const struct settings *settings, struct features *ret, struct err *err);

/* A table of all features: name, stage, default, current value, help. */
void features_append_list(struct buf *b, struct features f);
