#include "settings.h"

#include "buf.h"
#include "timetext.h"
#include "utf8.h"
#include "vec.h"

#include <stdio.h>

#define NAME_BYTES    64 /* of a setting, its variable and its key */
#define MIN_WIDTH     40
#define HELP_COLUMN   32 /* where help begins, at most */
#define NEAREST_BYTES 64 /* longer words are not compared */

/* --- Names --- */

/* WEFT_MAX_RECONCILE_RATE */
static void variable_name(const struct setting *setting, char ret[static NAME_BYTES])
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

static const struct setting *find_setting(const struct settings *s, struct str name)
{
        for (size_t i = 0; i < s->n; i++)
                if (str_equal(name, str_from(s->table[i].name)))
                        return &s->table[i];
        return NULL;
}

static struct setting_value *value_of(const struct settings *s, const struct setting *setting)
{
        return &s->values[setting - s->table];
}

/* --- What somebody may have meant --- */

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
        size_t best = typed.n / 3 + 2; /* a longer word may have more mistakes */

        if (typed.n == 0 || typed.n > NEAREST_BYTES)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                struct str candidate = str_from(candidates[i]);
                size_t d;

                if (candidate.n > NEAREST_BYTES)
                        continue;
                d = distance(typed, candidate);
                if (str_starts_with(candidate, typed))
                        d = MIN(d, (size_t)1); /* somebody stopped typing */
                if (d < best && d < candidate.n) {
                        best = d;
                        nearest = candidates[i];
                }
        }
        return nearest;
}

/* --- Values --- */

static bool parse_bool(struct str text, bool *ret)
{
        static const char *const words[2][5] = { { "false", "no", "off", "0", "f" },
                                                 { "true", "yes", "on", "1", "t" } };

        for (size_t value = 0; value < 2; value++)
                for (size_t i = 0; i < ARRAY_SIZE(words[value]); i++)
                        if (str_equal_ignore_case(text, str_from(words[value][i]))) {
                                *ret = value;
                                return true;
                        }
        return false;
}

/* [+-]digits; moves *text past them. */
static bool parse_digits(struct str *text, int64_t *ret)
{
        bool is_negative = str_cut_prefix(text, STR("-"));
        int64_t value = 0;
        size_t n = 0;

        if (!is_negative)
                str_cut_prefix(text, STR("+"));
        for (; n < text->n && text->p[n] >= '0' && text->p[n] <= '9'; n++) {
                int digit = text->p[n] - '0';

                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
                        return false;
        }
        *text = str_skip(*text, n);
        *ret = value;
        return n > 0;
}

static bool parse_int(struct str text, int64_t *ret)
{
        return parse_digits(&text, ret) && text.n == 0;
}

static bool parse_size(struct str text, int64_t *ret)
{
        static const struct {
                const char *suffix;
                int64_t factor;
        } units[] = {
                { "", 1 },           { "k", 1000 },          { "K", 1000 },       { "M", 1000000 },
                { "G", 1000000000 }, { "T", 1000000000000 }, { "Ki", 1ll << 10 }, { "Mi", 1ll << 20 },
                { "Gi", 1ll << 30 }, { "Ti", 1ll << 40 },
        };
        int64_t value;

        if (!parse_digits(&text, &value) || value < 0)
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
                if (str_equal(text, str_from(units[i].suffix)))
                        return !__builtin_mul_overflow(value, units[i].factor, ret);
        return false;
}

static bool parse_choice(const struct setting *setting, struct str text, int64_t *ret)
{
        for (int64_t i = 0; setting->choices[i]; i++)
                if (str_equal(text, str_from(setting->choices[i]))) {
                        *ret = i;
                        return true;
                }
        return false;
}

/* True if the text is of the setting's type; bounds are not looked at. */
static bool parse_text(const struct setting *setting, struct str text, struct setting_value *ret)
{
        switch (setting->type) {
        case SETTING_BOOL:
                return parse_bool(text, &ret->b);
        case SETTING_INT:
                return parse_int(text, &ret->i);
        case SETTING_SIZE:
                return parse_size(text, &ret->i);
        case SETTING_DURATION:
                return duration_parse(text, &ret->i, NULL) == 0;
        case SETTING_ENUM:
                return parse_choice(setting, text, &ret->i);
        case SETTING_STRING:
        case SETTING_LIST:
                return true;
        }
        return false;
}

static bool has_bounds(const struct setting *setting)
{
        bool is_number =
                setting->type == SETTING_INT || setting->type == SETTING_SIZE || setting->type == SETTING_DURATION;

        return is_number && (setting->min != 0 || setting->max != 0);
}

static void append_number(struct buf *b, const struct setting *setting, int64_t i)
{
        if (setting->type == SETTING_DURATION)
                duration_append(b, i);
        else
                buf_append_int(b, i);
}

static void append_bounds(struct buf *b, const struct setting *setting)
{
        if (!has_bounds(setting))
                return;
        buf_append_literal(b, " from ");
        append_number(b, setting, setting->min);
        buf_append_literal(b, " to ");
        append_number(b, setting, setting->max);
}

static void append_accepted(struct buf *b, const struct setting *setting)
{
        switch (setting->type) {
        case SETTING_BOOL:
                buf_append_literal(b, "true or false");
                break;
        case SETTING_INT:
                buf_append_literal(b, "a whole number");
                break;
        case SETTING_SIZE:
                buf_append_literal(b, "a size such as 512, 64Ki or 10M");
                break;
        case SETTING_DURATION:
                buf_append_literal(b, "a duration such as 300ms, 30s or 1h30m");
                break;
        case SETTING_ENUM:
                buf_append_literal(b, "one of");
                for (size_t i = 0; setting->choices[i]; i++)
                        buf_appendf(b, "%s %s", i ? "," : "", setting->choices[i]);
                break;
        case SETTING_STRING:
        case SETTING_LIST:
                buf_append_literal(b, "text");
                break;
        }
        append_bounds(b, setting);
}

static int refuse(const struct setting *setting, const char *origin, struct str text, struct err *err)
{
        _cleanup_buf_ struct buf accepted = BUF_INIT(0);

        append_accepted(&accepted, setting);
        if (setting->is_secret)
                return err_set(err, ERR_INVALID, "%s: the value is not accepted; it must be %s", origin,
                               buf_cstring(&accepted));
        return err_set(err, ERR_INVALID, "%s: \"%.*s\" is not accepted; it must be %s", origin,
                       STR_ARG(str_first(text, 200)), buf_cstring(&accepted));
}

static int check_text(const struct setting *setting, const char *origin, struct str text, struct err *err)
{
        _cleanup_err_ struct err own = { 0 };
        int r;

        if (!setting->check)
                return 0;
        r = setting->check(text, setting->check_arg, &own);
        if (r < 0 && !own.code)
                return refuse(setting, origin, text, err);
        if (r < 0) {
                err_wrap(&own, "%s", origin);
                return err_move(err, &own);
        }
        return 0;
}

static int set_scalar(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct str text, struct err *err)
{
        struct setting_value parsed = { .source = source, .origin = origin }, *value = value_of(s, setting);
        int r;

        if (!parse_text(setting, text, &parsed) ||
            (has_bounds(setting) && (parsed.i < setting->min || parsed.i > setting->max)))
                return refuse(setting, origin, text, err);
        r = check_text(setting, origin, text, err);
        if (r < 0)
                return r;
        if (source < value->source)
                return 0;
        parsed.s = arena_copy(&s->arena, text);
        *value = parsed;
        return 0;
}

/* --- Lists --- */

static struct setting_list joined(struct settings *s, struct setting_list a, struct setting_list b)
{
        struct str *items;

        if (a.n == 0 || b.n == 0)
                return a.n ? a : b;
        items = arena_alloc_array(&s->arena, a.n + b.n, sizeof(*items));
        memcpy(items, a.items, a.n * sizeof(*items));
        memcpy(items + a.n, b.items, b.n * sizeof(*items));
        return (struct setting_list) { items, a.n + b.n };
}

static struct setting_list effective_list(struct settings *s, const struct setting *setting,
                                          const struct setting_value *value)
{
        struct setting_list all = { 0 };

        if (!setting->is_merged || value->source == SOURCE_DEFAULT)
                return value->from[value->source];
        for (int source = SOURCE_FILE; source < _SOURCE_COUNT; source++)
                all = joined(s, all, value->from[source]);
        return all;
}

static int set_list(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                    struct setting_list items, struct err *err)
{
        struct setting_value *value = value_of(s, setting);
        struct str *copies = arena_alloc_array(&s->arena, items.n, sizeof(*copies));

        for (size_t i = 0; i < items.n; i++) {
                int r = check_text(setting, origin, items.items[i], err);

                if (r < 0)
                        return r;
                copies[i] = arena_copy(&s->arena, items.items[i]);
        }
        value->from[source] = joined(s, value->from[source], (struct setting_list) { copies, items.n });
        if (source >= value->source) {
                value->source = source;
                value->origin = origin;
        }
        value->list = effective_list(s, setting, value);
        return 0;
}

/* Items are separated by commas; white space around them does not count, empty ones are dropped. */
static int set_list_text(struct settings *s, const struct setting *setting, enum setting_source source,
                         const char *origin, struct str text, struct err *err)
{
        VEC(struct str) items = { 0 };
        struct str item;
        bool has_more;
        int r;

        do {
                has_more = str_split(&text, ',', &item);
                item = str_trim(item);
                if (item.n > 0)
                        vec_push(&items, item);
        } while (has_more);
        r = set_list(s, setting, source, origin, (struct setting_list) { items.p, items.n }, err);
        vec_done(&items);
        return r;
}

static int set_text(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                    struct str text, struct err *err)
{
        if (setting->type == SETTING_LIST)
                return set_list_text(s, setting, source, origin, text, err);
        return set_scalar(s, setting, source, origin, text, err);
}

/* --- Life --- */

void settings_init(struct settings *s, const struct setting *table, size_t n)
{
        *s = (struct settings) { .table = table, .n = n, .values = xcalloc(n, sizeof(*s->values)) };
        arena_init(&s->arena, "settings", 0);
        for (size_t i = 0; i < n; i++) {
                const struct setting *setting = &table[i];
                int r = 0;

                assert(find_setting(s, str_from(setting->name)) == setting); /* else it is there twice */
                s->values[i].origin = "default";
                if (setting->type == SETTING_ENUM)
                        s->values[i].s = str_from(setting->choices[0]);
                else
                        s->values[i].s = STR("");
                if (setting->default_text)
                        r = set_text(s, setting, SOURCE_DEFAULT, "default", str_from(setting->default_text), NULL);
                assert(r == 0);
        }
}

void settings_done(struct settings *s)
{
        arena_done(&s->arena);
        free(s->values);
        *s = (struct settings) { 0 };
}

/* --- Flags --- */

struct flag_reader {
        struct settings *settings;
        int argc;
        const char *const *argv;
        int next; /* the next argument to read */
};

static const char *flag_origin(struct settings *s, struct str name)
{
        return arena_printf(&s->arena, "%s%.*s", name.n > 1 ? "--" : "-", STR_ARG(name)).p;
}

/* The nearest flag that has help; of the booleans alone for what followed --no-. */
static const char *nearest_flag(const struct settings *s, struct str name, bool booleans_only)
{
        VEC(const char *) names = { 0 };
        const char *nearest;

        for (size_t i = 0; i < s->n; i++)
                if (s->table[i].help && (!booleans_only || s->table[i].type == SETTING_BOOL))
                        vec_push(&names, s->table[i].name);
        nearest = settings_nearest(name, names.p, names.n);
        vec_done(&names);
        return nearest;
}

static int refuse_flag(const struct settings *s, struct str name, struct err *err)
{
        struct str positive = name;
        const char *nearest = str_cut_prefix(&positive, STR("no-")) ? nearest_flag(s, positive, true) : NULL;

        name = str_first(name, 200);
        if (nearest)
                return err_set(err, ERR_INVALID, "unknown flag --%.*s; did you mean --no-%s?", STR_ARG(name), nearest);
        nearest = nearest_flag(s, name, false);
        if (nearest)
                return err_set(err, ERR_INVALID, "unknown flag --%.*s; did you mean --%s?", STR_ARG(name), nearest);
        return err_set(err, ERR_INVALID, "unknown flag --%.*s", STR_ARG(name));
}

static bool looks_like_number(const char *text)
{
        return text[0] == '-' && ((text[1] >= '0' && text[1] <= '9') || text[1] == '.');
}

/* The value of a flag that was given without `=`. */
static int read_value(struct flag_reader *f, const struct setting *setting, const char *origin, struct str *ret,
                      struct err *err)
{
        const char *text = f->next < f->argc ? f->argv[f->next] : NULL;
        _cleanup_buf_ struct buf accepted = BUF_INIT(0);

        if (text && (text[0] != '-' || text[1] == '\0' || looks_like_number(text))) {
                f->next++;
                *ret = str_from(text);
                return 0;
        }
        append_accepted(&accepted, setting);
        if (text)
                return err_set(err, ERR_INVALID, "%s needs a value, %s; write %s=VALUE if it starts with a dash",
                               origin, buf_cstring(&accepted), origin);
        return err_set(err, ERR_INVALID, "%s needs a value, %s", origin, buf_cstring(&accepted));
}

static int read_flag(struct flag_reader *f, const struct setting *setting, struct str shown, const struct str *value,
                     struct err *err)
{
        const char *origin = flag_origin(f->settings, shown);
        struct str text = STR("true");
        int r;

        if (value) {
                text = *value;
        } else if (setting->type != SETTING_BOOL) {
                r = read_value(f, setting, origin, &text, err);
                if (r < 0)
                        return r;
        }
        return set_text(f->settings, setting, SOURCE_FLAG, origin, text, err);
}

/* --name, --name=value, --no-name */
static int read_long(struct flag_reader *f, struct str flag, struct err *err)
{
        struct str name, value = flag;
        bool has_value = str_split(&value, '=', &name);
        const struct setting *setting = find_setting(f->settings, name);
        struct str positive = name;

        if (setting)
                return read_flag(f, setting, name, has_value ? &value : NULL, err);
        if (str_cut_prefix(&positive, STR("no-")))
                setting = find_setting(f->settings, positive);
        if (!setting || setting->type != SETTING_BOOL)
                return refuse_flag(f->settings, name, err);
        if (has_value)
                return err_set(err, ERR_INVALID, "--%.*s takes no value; write --%.*s=%.*s", STR_ARG(name),
                               STR_ARG(positive), STR_ARG(value));
        return read_flag(f, setting, name, &STR("false"), err);
}

static const struct setting *find_short(const struct settings *s, char letter)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->table[i].short_name == letter)
                        return &s->table[i];
        return NULL;
}

/* -x, -x value, -xvalue, -x=value, -abc */
static int read_short(struct flag_reader *f, struct str letters, struct err *err)
{
        while (letters.n > 0) {
                const struct setting *setting = find_short(f->settings, letters.p[0]);
                struct str name = str_first(letters, 1), rest = str_skip(letters, 1);
                bool has_value = str_cut_prefix(&rest, STR("="));
                int r;

                if (!setting)
                        return err_set(err, ERR_INVALID, "unknown flag -%.*s", STR_ARG(name));
                if (has_value || (setting->type != SETTING_BOOL && rest.n > 0))
                        return read_flag(f, setting, name, &rest, err);
                r = read_flag(f, setting, name, NULL, err);
                if (r < 0)
                        return r;
                letters = rest;
        }
        return 0;
}

int settings_read_flags(struct settings *s, int argc, const char *const *argv, bool stops_early,
                        struct arguments *ret_arguments, struct err *err)
{
        struct flag_reader f = { .settings = s, .argc = argc, .argv = argv };
        const char **arguments = arena_alloc_array(&s->arena, (size_t)argc, sizeof(*arguments));
        bool has_ended = false;
        size_t n = 0;

        while (f.next < argc) {
                struct str text = str_from(argv[f.next++]);
                int r = 0;

                if (has_ended || text.n < 2 || text.p[0] != '-') {
                        arguments[n++] = argv[f.next - 1];
                        has_ended |= stops_early;
                } else if (str_equal(text, STR("--"))) {
                        has_ended = true;
                } else if (str_cut_prefix(&text, STR("--"))) {
                        r = read_long(&f, text, err);
                } else {
                        r = read_short(&f, str_skip(text, 1), err);
                }
                if (r < 0)
                        return r;
        }
        *ret_arguments = (struct arguments) { arguments, n };
        return 0;
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

                variable_name(&s->table[i], name);
                text = find_variable(environment, name);
                if (!text || !*text)
                        continue;
                r = set_text(s, &s->table[i], SOURCE_ENVIRONMENT, arena_cstring(&s->arena, str_from(name)),
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
                return set_text(s, setting, SOURCE_FILE, origin, entry->text, err);
        if (setting->type == SETTING_LIST)
                return set_list(s, setting, SOURCE_FILE, origin, items, err);
        return refuse(setting, origin, STR("a list"), err);
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
        const struct setting *setting = find_setting(s, str_from(name));

        assert(setting);
        return value_of(s, setting);
}

static const struct setting_value *typed_value(const struct settings *s, const char *name, unsigned types)
{
        const struct setting *setting = find_setting(s, str_from(name));

        assert(setting && (types & 1u << setting->type));
        return value_of(s, setting);
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

/* --- Help --- */

static const char *shown_value(const struct setting *setting)
{
        static const char *const names[] = {
                [SETTING_BOOL] = NULL,           [SETTING_INT] = "N",       [SETTING_SIZE] = "BYTES",
                [SETTING_DURATION] = "DURATION", [SETTING_STRING] = "TEXT", [SETTING_ENUM] = NULL,
                [SETTING_LIST] = "A,B,...",
        };

        return setting->value_name ? setting->value_name : names[setting->type];
}

/* "  -x, --name=VALUE" */
static void append_synopsis(struct buf *b, const struct setting *setting)
{
        const char *value = shown_value(setting);

        if (setting->short_name)
                buf_appendf(b, "  -%c, --%s", setting->short_name, setting->name);
        else
                buf_appendf(b, "      --%s", setting->name);
        if (value)
                buf_appendf(b, "=%s", value);
        else if (setting->type == SETTING_ENUM)
                for (size_t i = 0; setting->choices[i]; i++)
                        buf_appendf(b, "%c%s", i ? '|' : '=', setting->choices[i]);
}

/* Appends the words of text from column `at` on, in lines of at most `width` that begin at `indent`. */
static void append_wrapped(struct buf *b, struct str text, size_t at, size_t indent, size_t width)
{
        bool is_first = true;

        for (;;) {
                struct str word;
                bool has_more = str_split(&text, ' ', &word);
                size_t columns = utf8_count(word);

                if (columns > 0) {
                        if (!is_first && at + 1 + columns > width) {
                                buf_append_char(b, '\n');
                                buf_append_repeat(b, ' ', indent);
                                at = indent;
                        } else if (!is_first) {
                                buf_append_char(b, ' ');
                                at++;
                        }
                        buf_append_str(b, word);
                        at += columns;
                        is_first = false;
                }
                if (!has_more)
                        break;
        }
        buf_append_char(b, '\n');
}

static void append_description(struct buf *b, const struct setting *setting)
{
        char variable[NAME_BYTES];

        variable_name(setting, variable);
        buf_append_str(b, str_from(setting->help));
        if (setting->default_text && *setting->default_text && !setting->is_secret)
                buf_appendf(b, " (default %s; %s)", setting->default_text, variable);
        else
                buf_appendf(b, " (%s)", variable);
}

static size_t help_column(const struct setting *table, size_t n)
{
        size_t column = 0;

        for (size_t i = 0; i < n; i++) {
                _cleanup_buf_ struct buf synopsis = BUF_INIT(0);

                append_synopsis(&synopsis, &table[i]);
                if (table[i].help && synopsis.n + 2 <= HELP_COLUMN)
                        column = MAX(column, synopsis.n + 2);
        }
        return column ? column : HELP_COLUMN;
}

void settings_append_help(struct buf *b, const struct setting *table, size_t n, size_t width)
{
        size_t column = help_column(table, n);

        width = MAX(width, (size_t)MIN_WIDTH);
        column = MIN(column, width / 2);
        for (size_t i = 0; i < n; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);
                size_t start = b->n;

                if (!table[i].help)
                        continue;
                append_synopsis(b, &table[i]);
                append_description(&text, &table[i]);
                if (b->n - start + 2 > column) {
                        buf_append_char(b, '\n');
                        start = b->n;
                }
                buf_append_repeat(b, ' ', column - (b->n - start));
                append_wrapped(b, buf_str(&text), column, column, width);
        }
}

/* --- Gates --- */

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
        if (!has_value || !parse_bool(str_trim(value), &on))
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
