/* Settings as help text: a synopsis and a description for each, in two columns. */
#include "settings-value.h"

#include "buf.h"
#include "utf8.h"

#define MIN_WIDTH   40
#define HELP_COLUMN 32 /* where help begins, at most */

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

        setting_variable_name(setting, variable);
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
