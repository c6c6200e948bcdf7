#include "settings-value.h"

#include <stdio.h>

#define NEAREST_BYTES 64 /* longer words are not compared */

/* --- Names --- */

void setting_variable_name(const struct setting *setting, char ret[static NAME_BYTES])
{
        size_t n = (size_t)snprintf(ret, NAME_BYTES, "WEFT_%s", setting->name);

        assert(n < NAME_BYTES);
        for (char *p = ret; *p; p++)
                *p = *p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
}

/* maxReconcileRate */
static void key_name(const struct setting *setting, char ret[static NAME_BYTES])
{
        size_t n = 0;
        bool is_upper = false;

        assert(strlen(setting->name) < NAME_BYTES);
        for (const char *p = setting->name; *p; p++) {
                if (*p != '-')
                        ret[n++] = is_upper && *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
                is_upper = *p == '-';
        }
        ret[n] = '\0';
}

const struct setting *settings_find(const struct settings *s, struct str name)
{
        for (size_t i = 0; i < s->n; i++) {
                const char *candidate = s->table[i].name;

                /* The first letter rules out most of them, and a command asks for all of its settings. */
                if (name.n > 0 && name.p[0] == candidate[0] && str_equal(name, str_from(candidate)))
                        return &s->table[i];
        }
        return NULL;
}

/* --- Suggestions for unknown names --- */

static char folded(char c)
{
        return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Number of letters to add, drop, change or swap with their neighbour; case does not count. */
static size_t distance(struct str a, struct str b)
{
        size_t rows[3][NEAREST_BYTES + 1], *older = rows[0], *old = rows[1], *row = rows[2];

        for (size_t j = 0; j <= b.n; j++)
                old[j] = j;
        for (size_t i = 1; i <= a.n; i++) {
                size_t *spare = older;

                row[0] = i;
                for (size_t j = 1; j <= b.n; j++) {
                        char x = folded(a.p[i - 1]), y = folded(b.p[j - 1]);

                        row[j] = MIN(old[j], row[j - 1]) + 1;
                        row[j] = MIN(row[j], old[j - 1] + (x != y));
                        if (i > 1 && j > 1 && x == folded(b.p[j - 2]) && folded(a.p[i - 2]) == y)
                                row[j] = MIN(row[j], older[j - 2] + 1);
                }
                older = old;
                old = row;
                row = spare;
        }
        return old[b.n];
}

const char *settings_nearest(struct str typed, const char *const *candidates, size_t n)
{
        const char *nearest = NULL;
        size_t best = typed.n / 3 + 2; /* longer words may contain more mistakes */

        if (typed.n == 0 || typed.n > NEAREST_BYTES)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                struct str candidate = str_from(candidates[i]);
                bool is_beginning = str_starts_with(candidate, typed);
                size_t d, least = MAX(typed.n, candidate.n) - MIN(typed.n, candidate.n);

                if (candidate.n > NEAREST_BYTES || (least >= best && !is_beginning))
                        continue;
                d = distance(typed, candidate);
                if (is_beginning)
                        d = MIN(d, (size_t)1);
                if (d < best && d < candidate.n) {
                        best = d;
                        nearest = candidates[i];
                }
        }
        return nearest;
}

/* --- Life --- */

void settings_init(struct settings *s, const struct setting *table, size_t n)
{
        *s = (struct settings) { .table = table, .n = n, .values = xcalloc(n, sizeof(*s->values)) };
        arena_init(&s->arena, "settings", 0);
        for (size_t i = 0; i < n; i++) {
                const struct setting *setting = &table[i];
                int r = 0;

                assert(settings_find(s, str_from(setting->name)) ==
                       setting); /* otherwise the name is in the table twice */
                s->values[i].origin = "default";
                if (setting->type == SETTING_ENUM)
                        s->values[i].s = str_from(setting->choices[0]);
                else
                        s->values[i].s = STR("");
                if (setting->default_text)
                        r = settings_set_text(s, setting, SOURCE_DEFAULT, "default", str_from(setting->default_text),
                                              NULL);
                assert(r == 0);
        }
}

void settings_done(struct settings *s)
{
        arena_done(&s->arena);
        free(s->values);
        *s = (struct settings) { 0 };
}

/* --- Variables --- */

static const char *find_variable(const char *const *environment, const char *name)
{
        size_t n = strlen(name);

        for (; *environment; environment++)
                if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
                        return *environment + n + 1;
        return NULL;
}

int settings_read_environment(struct settings *s, const char *const *environment, struct err *err)
{
        for (size_t i = 0; i < s->n; i++) {
                char name[NAME_BYTES];
                const char *text;
                int r;

                setting_variable_name(&s->table[i], name);
                text = find_variable(environment, name);
                if (!text || !*text)
                        continue;
                r = settings_set_text(s, &s->table[i], SOURCE_ENVIRONMENT, arena_cstring(&s->arena, str_from(name)),
                                      str_from(text), err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- Files --- */

static const char *file_origin(struct arena *a, const char *file_name, struct str key, struct position position)
{
        if (position.line == 0)
                return arena_printf(a, "%s: %.*s", file_name, STR_ARG(key)).p;
        return arena_printf(a, "%s:%u:%u: %.*s", file_name, position.line, position.column, STR_ARG(key)).p;
}

static int set_entry(struct settings *s, const struct setting *setting, const char *origin,
                     const struct setting_entry *entry, struct err *err)
{
        struct setting_list items = { entry->items, entry->n_items };

        if (!entry->is_list)
                return settings_set_text(s, setting, SOURCE_FILE, origin, entry->text, err);
        if (setting->type == SETTING_LIST)
                return settings_set_list(s, setting, SOURCE_FILE, origin, items, err);
        return setting_refuse(setting, origin, STR("a list"), err);
}

int settings_read_file(struct settings *s, const char *file_name, settings_lookup_fn *lookup, void *arg,
                       struct err *err)
{
        for (size_t i = 0; i < s->n; i++) {
                struct setting_entry entry = { 0 };
                char key[NAME_BYTES];
                int r;

                key_name(&s->table[i], key);
                if (!lookup(arg, str_from(key), &entry))
                        continue;
                r = set_entry(s, &s->table[i], file_origin(&s->arena, file_name, str_from(key), entry.position), &entry,
                              err);
                if (r < 0) {
                        err_set_position(err, entry.position);
                        return r;
                }
        }
        return 0;
}

int settings_check_key(const struct settings *s, const char *file_name, struct str key, struct position position,
                       struct err *err)
{
        _cleanup_arena_ struct arena scratch = { 0 };
        const char **keys, *nearest, *origin;

        arena_init(&scratch, "settings", 0);
        keys = arena_alloc_array(&scratch, s->n, sizeof(*keys));
        for (size_t i = 0; i < s->n; i++) {
                char name[NAME_BYTES];

                key_name(&s->table[i], name);
                if (str_equal(key, str_from(name)))
                        return 0;
                keys[i] = arena_cstring(&scratch, str_from(name));
        }
        origin = file_origin(&scratch, file_name, key, position);
        nearest = settings_nearest(key, keys, s->n);
        if (nearest)
                err_set(err, ERR_INVALID, "%s: unknown setting; did you mean %s?", origin, nearest);
        else
                err_set(err, ERR_INVALID, "%s: unknown setting", origin);
        err_set_position(err, position);
        return ERR_INVALID;
}

/* --- Reading them --- */

const struct setting_value *settings_value(const struct settings *s, const char *name)
{
        const struct setting *setting = settings_find(s, str_from(name));

        assert(setting);
        return settings_value_of(s, setting);
}

static const struct setting_value *typed_value(const struct settings *s, const char *name, unsigned types)
{
        const struct setting *setting = settings_find(s, str_from(name));

        assert(setting && (types & 1u << setting->type));
        return settings_value_of(s, setting);
}

bool settings_bool(const struct settings *s, const char *name)
{
        return typed_value(s, name, 1u << SETTING_BOOL)->b;
}

int64_t settings_int(const struct settings *s, const char *name)
{
        return typed_value(s, name,
                           1u << SETTING_INT | 1u << SETTING_SIZE | 1u << SETTING_DURATION | 1u << SETTING_ENUM)
                ->i;
}

struct str settings_str(const struct settings *s, const char *name)
{
        return typed_value(s, name, 1u << SETTING_STRING | 1u << SETTING_ENUM)->s;
}

struct setting_list settings_list(const struct settings *s, const char *name)
{
        return typed_value(s, name, 1u << SETTING_LIST)->list;
}

const char *setting_source_name(enum setting_source source)
{
        static const char *const names[_SOURCE_COUNT] = {
                [SOURCE_DEFAULT] = "default",
                [SOURCE_FILE] = "file",
                [SOURCE_ENVIRONMENT] = "environment",
                [SOURCE_FLAG] = "flag",
        };

        assert((unsigned)source < _SOURCE_COUNT);
        return names[source];
}
