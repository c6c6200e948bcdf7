/* Settings: one table lists everything that can be set. A value comes from a flag, else from a WEFT_* variable, else from a file
 * that the caller has parsed, else it is the default.
 *
 * A setting `max-reconcile-rate` is the flag --max-reconcile-rate, the variable WEFT_MAX_RECONCILE_RATE and the key
 * maxReconcileRate of the file. The three may be read in any order; a better source is never overridden by a lesser one.
 *
 * Errors name the setting as the user wrote it (flag, variable, or file with position), the value unless it is secret, and the
 * accepted values. */
#pragma once

#include "arena.h"
#include "err.h"

struct buf;

enum setting_type {
        SETTING_BOOL,     /* true/false, yes/no, on/off, 1/0, t/f */
        SETTING_INT,      /* whole decimal number */
        SETTING_SIZE,     /* bytes: 512, 64k, 10M, 1G, 2T (powers of 1000), 64Ki, 10Mi, 1Gi, 2Ti (of 1024) */
        SETTING_DURATION, /* as Go writes them: 30s, 1h30m, 100ms; nanoseconds */
        SETTING_STRING,
        SETTING_ENUM, /* one of the choices */
        SETTING_LIST, /* texts, separated by commas; repeated flags add to each other */
};

struct setting {
        const char *name; /* lower case with dashes */
        char short_name;  /* for -x; 0: none */
        enum setting_type type;
        const char *default_text;   /* read like any other value; NULL: false, 0, "" or nothing */
        int64_t min, max;           /* INT, SIZE, DURATION; both 0: no bounds */
        const char *const *choices; /* ENUM; ends in NULL */
        const char *value_name;     /* in help: --output=FILE; NULL: depends on the type */
        const char *help;           /* one or more sentences; NULL hides it from help */
        bool is_secret;             /* its value is not shown in errors and help */
        char separator;             /* LIST: instead of a comma */
        bool is_merged;             /* LIST: items of file, variable and flags are all kept, in this order */
        /* Checks each text (of a list: each item) after the check by type. Its error message is appended to the setting's name. */
        int (*check)(struct str text, const void *arg, struct err *err);
        const void *check_arg;
};

/* In ascending precedence. */
enum setting_source {
        SOURCE_DEFAULT,
        SOURCE_FILE,
        SOURCE_ENVIRONMENT,
        SOURCE_FLAG,
        _SOURCE_COUNT,
};

struct setting_list {
        const struct str *items;
        size_t n;
};

struct setting_value {
        enum setting_source source;
        const char *
                origin; /* "--max-reconcile-rate", "WEFT_MAX_RECONCILE_RATE", "weft.yaml:3:1: maxReconcileRate", "default" */
        bool b;
        int64_t i;                               /* INT, SIZE, DURATION; ENUM: index of the choice */
        struct str s;                            /* STRING, ENUM; NUL-terminated */
        struct setting_list list;                /* LIST: the items in effect */
        struct setting_list from[_SOURCE_COUNT]; /* LIST: the items of each source */
};

/* Home: the thread that reads the settings; immutable afterwards. The table must outlive it. */
struct settings {
        const struct setting *table;
        size_t n;
        struct setting_value *values; /* one for each of the table */
        struct arena arena;           /* owns all texts */
};

/* Sets every default. Aborts if the table has a default that is not accepted, or a name twice, because that is a defect. */
void settings_init(struct settings *s, const struct setting *table, size_t n);
void settings_done(struct settings *s);

struct arguments {
        const char *const *p; /* in the settings' arena; the texts are those of argv */
        size_t n;
};

/* Reads flags from argv, which begins after the program's name: --name value, --name=value, --name and --no-name for booleans,
 * -x value, -xvalue, -x=value, several boolean letters as in -ab; `--` ends the flags and `-` is an argument. A value that
 * starts with a dash and is not a number must be given with `=`. All other texts go to *ret_arguments. With stops_early the
 * first of them ends the flags, so that a sub-command can read the rest with its own table. */
int settings_read_flags(struct settings *s, int argc, const char *const *argv, bool stops_early,
                        struct arguments *ret_arguments, struct err *err);

/* Reads NAME=value texts up to a NULL, as environ(7) has them. Variables that are not in the table are left alone; an empty
 * value counts as unset. */
int settings_read_environment(struct settings *s, const char *const *environment, struct err *err);

/* The value of a key in the caller's file: the text of a scalar, or the items of a list. The caller passes a mapping as a list
 * of `key=value`. */
struct setting_entry {
        bool is_list;
        struct str text;
        const struct str *items;
        size_t n_items;
        struct position position; /* line 0: unknown */
};

/* Returns false if the file does not have the key. */
typedef bool settings_lookup_fn(void *arg, struct str key, struct setting_entry *ret);

/* Asks lookup for the key of each setting. file_name appears in errors and origins. */
int settings_read_file(struct settings *s, const char *file_name, settings_lookup_fn *lookup, void *arg,
                       struct err *err);

/* 0 if the table has a setting with this key; else an error that suggests the nearest key. */
int settings_check_key(const struct settings *s, const char *file_name, struct str key, struct position position,
                       struct err *err);

/* The name must be in the table and of that type. */
bool settings_bool(const struct settings *s, const char *name);
int64_t settings_int(const struct settings *s, const char *name);    /* INT, SIZE, DURATION, and the index of an ENUM */
struct str settings_str(const struct settings *s, const char *name); /* STRING, ENUM */
struct setting_list settings_list(const struct settings *s, const char *name);
const struct setting_value *settings_value(const struct settings *s, const char *name);

/* "flag", "environment", "file", "default". */
const char *setting_source_name(enum setting_source source);

/* One entry for each setting that has help, aligned, wrapped to `width` columns (at least 40), in the order of the table. */
void settings_append_help(struct buf *b, const struct setting *table, size_t n, size_t width);

/* The candidate nearest to the typed word, or NULL if none is near. For "did you mean". */
const char *settings_nearest(struct str typed, const char *const *candidates, size_t n);
