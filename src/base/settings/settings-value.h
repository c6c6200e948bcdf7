/* Internal functions of settings.h, shared by settings.c (sources of values, access to them), settings-value.c (parsing and
 * checking of values), settings-flags.c and settings-help.c. gates.c uses setting_parse_bool. */
#pragma once

#include "settings.h"

#define NAME_BYTES 64 /* maximum for a setting's name, variable and key */

/* settings.c */

/* WEFT_MAX_RECONCILE_RATE */
void setting_variable_name(const struct setting *setting, char ret[static NAME_BYTES]);

/* NULL if no setting has this name. */
const struct setting *settings_find(const struct settings *s, struct str name);

/* settings-value.c */

bool setting_parse_bool(struct str text, bool *ret);

/* Appends a description of the accepted values, for errors: `a whole number from 1 to 10`. */
void setting_append_accepted(struct buf *b, const struct setting *setting);

/* Fails with an error that says which values are accepted. */
int setting_refuse(const struct setting *setting, const char *origin, struct str text, struct err *err);

/* Checks the text, or the items, and sets the value unless a better source has set it. The origin must live as long as the
 * settings. */
int settings_set_text(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct str text, struct err *err);
int settings_set_list(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct setting_list items, struct err *err);

static inline struct setting_value *settings_value_of(const struct settings *s, const struct setting *setting)
{
        return &s->values[setting - s->table];
}
