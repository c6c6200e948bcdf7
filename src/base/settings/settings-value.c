/* Parsing and checking of values: the texts, bounds and lists of each type, and the errors for texts that are not accepted. */
#include "settings-value.h"

#include "buf.h"
#include "timetext.h"
#include "vec.h"

/* --- Scalars --- */

bool setting_parse_bool(struct str text, bool *ret)
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

/* True if the text has the setting's type; does not check bounds. */
static bool parse_text(const struct setting *setting, struct str text, struct setting_value *ret)
{
        switch (setting->type) {
        case SETTING_BOOL:
                return setting_parse_bool(text, &ret->b);
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

void setting_append_accepted(struct buf *b, const struct setting *setting)
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

int setting_refuse(const struct setting *setting, const char *origin, struct str text, struct err *err)
{
        _cleanup_buf_ struct buf accepted = BUF_INIT(0);

        setting_append_accepted(&accepted, setting);
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
                return setting_refuse(setting, origin, text, err);
        if (r < 0) {
                err_wrap(&own, "%s", origin);
                return err_move(err, &own);
        }
        return 0;
}

static int set_scalar(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct str text, struct err *err)
{
        struct setting_value parsed = { .source = source, .origin = origin }, *value = settings_value_of(s, setting);
        int r;

        if (!parse_text(setting, text, &parsed) ||
            (has_bounds(setting) && (parsed.i < setting->min || parsed.i > setting->max)))
                return setting_refuse(setting, origin, text, err);
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

int settings_set_list(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct setting_list items, struct err *err)
{
        struct setting_value *value = settings_value_of(s, setting);
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

/* Items are separated by commas, or by the setting's own separator; white space around them does not count, empty ones are dropped. */
static int set_list_text(struct settings *s, const struct setting *setting, enum setting_source source,
                         const char *origin, struct str text, struct err *err)
{
        VEC(struct str) items = { 0 };
        struct str item;
        bool has_more;
        int r;

        do {
                has_more = str_split(&text, setting->separator ?: ',', &item);
                item = str_trim(item);
                if (item.n > 0)
                        vec_push(&items, item);
        } while (has_more);
        r = settings_set_list(s, setting, source, origin, (struct setting_list) { items.p, items.n }, err);
        vec_done(&items);
        return r;
}

int settings_set_text(struct settings *s, const struct setting *setting, enum setting_source source, const char *origin,
                      struct str text, struct err *err)
{
        if (setting->type == SETTING_LIST)
                return set_list_text(s, setting, source, origin, text, err);
        return set_scalar(s, setting, source, origin, text, err);
}
