/* The insides of settings.h, shared by settings.c (where values come from and go to), settings-value.c (what a value may be),
 * settings-flags.c, settings-help.c and, for what counts as true, gates.c. */
#pragma once

#include "settings.h"

#define NAME_BYTES 64 /* of a setting, its variable and its key */

/* settings.c */

/* WEFT_MAX_RECONCILE_RATE */
void setting_variable_name(const struct setting *setting, char ret[static NAME_BYTES]);

/* NULL if there is none of that name. */
const struct setting *settings_find(const struct settings *s, struct str name);

/* settings-value.c */

bool setting_parse_bool(struct str text, bool *ret);

/* What the setting takes, for errors: `a whole number from 1 to 10`. */
void setting_append_accepted(struct buf *b, const struct setting *setting);

/* Fails, saying what would be accepted instead of the text. */
int setting_refuse(const struct setting *setting, const char *origin, struct str text, struct err *err);

/* Checks the text, or the items, and sets the value unless a better source has. The origin must live as long as the settings. */
int settings_set_text(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct str text, struct err *err);
int settings_set_list(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct setting_list items, struct err *err);

static inline struct setting_value *settings_value_of(const struct settings *s, const struct setting *setting)
{
        return &s->values[setting - s->table];
}
