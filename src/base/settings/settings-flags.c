/* Settings from the command line. */
#include "settings-value.h"

#include "buf.h"
#include "vec.h"

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

/* The nearest flag that has help; with booleans_only, the nearest boolean, for a name after --no-. */
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
        setting_append_accepted(&accepted, setting);
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
        return settings_set_text(f->settings, setting, SOURCE_FLAG, origin, text, err);
}

/* --name, --name=value, --no-name */
static int read_long(struct flag_reader *f, struct str flag, struct err *err)
{
        struct str name, value = flag;
        bool has_value = str_split(&value, '=', &name);
        const struct setting *setting = settings_find(f->settings, name);
        struct str positive = name;

        if (setting)
                return read_flag(f, setting, name, has_value ? &value : NULL, err);
        if (str_cut_prefix(&positive, STR("no-")))
                setting = settings_find(f->settings, positive);
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
