#include "flags.h"

#include <errno.h>
#include <stdio.h>

#include "buf.h"
#include "settings.h"
#include "timetext.h"
#include "vec.h"

static const struct weft_flag standard[N_STANDARD_FLAGS] = {
        [FLAG_HELP] = { .name = "help", .letter = 'h', .type = WEFT_FLAG_BOOL, .help = "Show this help." },
        [FLAG_DEBUG] = { .name = "debug",
                         .letter = 'd',
                         .type = WEFT_FLAG_BOOL,
                         .help = "Log debug messages, in a form for people." },
        [FLAG_NETWORK] = { .name = "network", .value = "tcp", .help = "Network to listen on: tcp or unix." },
        [FLAG_ADDRESS] = { .name = "address", .value = ":9443", .help = "Address to listen at." },
        [FLAG_TLS_CERTS_DIR] = { .name = "tls-certs-dir",
                                 .environment = "TLS_SERVER_CERTS_DIR",
                                 .value_name = "DIR",
                                 .help = "Directory with tls.crt, tls.key and the ca.crt that client certificates must "
                                         "be signed by." },
        [FLAG_INSECURE] = { .name = "insecure",
                            .type = WEFT_FLAG_BOOL,
                            .help = "Serve without TLS. A directory with certificates is then not used." },
        [FLAG_MAX_RECV_MESSAGE_SIZE] = { .name = "max-recv-message-size",
                                         .type = WEFT_FLAG_INT,
                                         .value = "64",
                                         .min = 1,
                                         .max = 2047,
                                         .help = "Largest request that is accepted, in MiB." },
        [FLAG_MAX_MEMORY] = { .name = "max-memory",
                              .type = WEFT_FLAG_INT,
                              .min = 16,
                              .max = 1 << 20,
                              .value_name = "MIB",
                              .help = "Memory for all calls together, in MiB; one call may have 7/8 of it. By default "
                                      "192, "
                                      "or half of what the container may have if that is less." },
        [FLAG_METRICS_ADDRESS] = { .name = "metrics-address",
                                   .value_name = "ADDRESS",
                                   .help = "Serve Prometheus metrics at this address. Off by default." },
};

static const struct weft_flag *flag_at(const struct flags *f, size_t i)
{
        return i < N_STANDARD_FLAGS ? &standard[i] : &f->function->flags[i - N_STANDARD_FLAGS];
}

static const char *type_name(const struct weft_flag *flag)
{
        switch (flag->type) {
        case WEFT_FLAG_TEXT:
                return "string";
        case WEFT_FLAG_BOOL:
                return "bool";
        case WEFT_FLAG_INT:
                return "int";
        case WEFT_FLAG_DURATION:
                return "duration";
        }
        return NULL;
}

/* The flag's position, or -1. */
static ptrdiff_t find_name(const struct flags *f, struct str name)
{
        for (size_t i = 0; i < f->n; i++) {
                if (str_equal(name, str_from(flag_at(f, i)->name)))
                        return (ptrdiff_t)i;
        }
        return -1;
}

static ptrdiff_t find_letter(const struct flags *f, char letter)
{
        for (size_t i = 0; i < f->n; i++) {
                if (flag_at(f, i)->letter == letter)
                        return (ptrdiff_t)i;
        }
        return -1;
}

/* --- Values --- */

static int parse_bool(const char *text, bool *ret, struct err *err)
{
        static const char *const texts[] = { "false", "0", "no", "true", "1", "yes" };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                if (strcmp(text, texts[i]) == 0) {
                        *ret = i >= 3;
                        return 0;
                }
        }
        return err_set(err, ERR_INVALID, "bool value must be true, 1, yes, false, 0 or no but got \"%s\"", text);
}

static int parse_int(const struct weft_flag *flag, const char *text, int64_t *ret, struct err *err)
{
        bool begins = (*text >= '0' && *text <= '9') || *text == '-' || *text == '+';
        char *end;
        long long i;

        errno = 0;
        i = strtoll(text, &end, 0);
        if (errno || !begins || end == text || *end)
                return err_set(err, ERR_INVALID, "expected a valid 64 bit int but got \"%s\"", text);
        if ((flag->min || flag->max) && (i < flag->min || i > flag->max))
                return err_set(err, ERR_INVALID, "must be between %lld and %lld but got %lld", (long long)flag->min,
                               (long long)flag->max, i);
        *ret = i;
        return 0;
}

static int parse_duration(const char *text, int64_t *ret, struct err *err)
{
        if (duration_parse(str_from(text), ret, err) < 0)
                return err_wrap(err, "expected duration but got \"%s\"", text);
        return 0;
}

static int set_value(struct flags *f, size_t i, const char *text, struct err *err)
{
        const struct weft_flag *flag = flag_at(f, i);
        struct flag_value *v = &f->values[i];
        int r = 0;

        switch (flag->type) {
        case WEFT_FLAG_TEXT:
                break;
        case WEFT_FLAG_BOOL:
                r = parse_bool(text, &v->b, err);
                break;
        case WEFT_FLAG_INT:
                r = parse_int(flag, text, &v->i, err);
                break;
        case WEFT_FLAG_DURATION:
                r = parse_duration(text, &v->i, err);
                break;
        }
        if (r < 0)
                return err_wrap(err, "--%s", flag->name);
        v->text = text;
        return 0;
}

/* --- Declared flags --- */

static int check_declaration(const struct flags *f, size_t i, struct err *err)
{
        const struct weft_flag *flag = flag_at(f, i);

        if (!flag->name || !*flag->name)
                return err_set(err, ERR_FAILED, "the function declares a flag without a name");
        if (!type_name(flag))
                return err_set(err, ERR_FAILED, "the flag --%s is declared with an unknown type", flag->name);
        if (find_name(f, str_from(flag->name)) != (ptrdiff_t)i)
                return err_set(err, ERR_FAILED, "the flag --%s is declared twice", flag->name);
        if (flag->letter && find_letter(f, flag->letter) != (ptrdiff_t)i)
                return err_set(err, ERR_FAILED, "the flag -%c is declared twice", flag->letter);
        return 0;
}

static int set_default(struct flags *f, size_t i, struct err *err)
{
        const char *text = flag_at(f, i)->value;

        f->values[i].text = "";
        if (text && set_value(f, i, text, err) < 0)
                return err_set(err, ERR_FAILED, "the default of a flag: %s", err_message(err));
        return 0;
}

static int begin(struct flags *f, const struct weft_function *function, struct err *err)
{
        int r = 0;

        *f = (struct flags) { .function = function, .n = N_STANDARD_FLAGS + function->n_flags };
        f->values = xcalloc(f->n, sizeof(*f->values));
        for (size_t i = 0; i < f->n && r == 0; i++) {
                r = check_declaration(f, i, err);
                if (r == 0)
                        r = set_default(f, i, err);
        }
        return r;
}

/* --- The environment --- */

static const char *variable(const char *const *environment, const char *name)
{
        size_t n = strlen(name);

        for (; *environment; environment++) {
                if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
                        return *environment + n + 1;
        }
        return NULL;
}

/* Variables are used only for flags that the command line does not set. */
static int read_environment(struct flags *f, const char *const *environment, struct err *err)
{
        for (size_t i = 0; i < f->n; i++) {
                const char *name = flag_at(f, i)->environment;
                const char *text = name && !f->values[i].is_given ? variable(environment, name) : NULL;

                if (text && *text && set_value(f, i, text, err) < 0)
                        return err_set(err, ERR_FAILED, "%s (from envar %s=\"%s\")", err_message(err), name, text);
        }
        return 0;
}

/* --- The command line --- */

static int give(struct flags *f, size_t i, const char *text, struct err *err)
{
        f->values[i].is_given = true;
        return set_value(f, i, text, err);
}

/* Takes the value from the next argument. Returns how many arguments were used. */
static int give_next(struct flags *f, size_t i, const char *next, struct err *err)
{
        const struct weft_flag *flag = flag_at(f, i);
        int r;

        if (!next)
                return err_set(err, ERR_INVALID, "--%s: expected %s value but got \"EOL\" (<EOL>)", flag->name,
                               type_name(flag));
        if (next[0] == '-' && next[1])
                return err_set(err, ERR_INVALID,
                               "--%s: expected %s value but got \"%s\" (%s flag); perhaps try --%s=\"%s\"?", flag->name,
                               type_name(flag), next, next[1] == '-' ? "long" : "short", flag->name, next);
        r = give(f, i, next, err);
        return r < 0 ? r : 2;
}

static int refuse_name(const struct flags *f, struct str name, struct err *err)
{
        VEC(const char *) names = { 0 };
        const char *nearest;

        for (size_t i = 0; i < f->n; i++)
                vec_push(&names, flag_at(f, i)->name);
        nearest = settings_nearest(name, names.p, names.n);
        vec_done(&names);
        if (nearest)
                return err_set(err, ERR_INVALID, "unknown flag --%.*s, did you mean \"--%s\"?", STR_ARG(name), nearest);
        return err_set(err, ERR_INVALID, "unknown flag --%.*s", STR_ARG(name));
}

static int read_long(struct flags *f, const char *argument, const char *next, struct err *err)
{
        struct str value = str_from(argument + 2), name;
        bool has_value = str_split(&value, '=', &name);
        ptrdiff_t i = find_name(f, name);
        int r;

        if (i < 0)
                return refuse_name(f, name, err);
        if (!has_value && flag_at(f, (size_t)i)->type != WEFT_FLAG_BOOL)
                return give_next(f, (size_t)i, next, err);
        r = give(f, (size_t)i, has_value ? value.p : "true", err);
        return r < 0 ? r : 1;
}

/* Letters of boolean flags, optionally ending with one flag that takes a value: -d, -dr VALUE, -drVALUE. */
static int read_letters(struct flags *f, const char *argument, const char *next, struct err *err)
{
        for (const char *p = argument + 1; *p; p++) {
                ptrdiff_t i = find_letter(f, *p);
                int r;

                if (i < 0)
                        return err_set(err, ERR_INVALID, "unknown flag -%c", *p);
                if (flag_at(f, (size_t)i)->type == WEFT_FLAG_BOOL)
                        r = give(f, (size_t)i, "true", err);
                else if (!p[1])
                        return give_next(f, (size_t)i, next, err);
                else
                        r = give(f, (size_t)i, p + 1, err);
                if (r < 0)
                        return r;
                if (flag_at(f, (size_t)i)->type != WEFT_FLAG_BOOL)
                        break;
        }
        return 1;
}

static int read_arguments(struct flags *f, const char *const *arguments, struct err *err)
{
        while (*arguments) {
                const char *argument = arguments[0];
                int r;

                if (argument[0] == '-' && argument[1] == '-' && !argument[2] && !arguments[1])
                        return 0;
                if (argument[0] == '-' && argument[1] == '-' && argument[2])
                        r = read_long(f, argument, arguments[1], err);
                else if (argument[0] == '-' && argument[1] && argument[1] != '-')
                        r = read_letters(f, argument, arguments[1], err);
                else
                        r = err_set(err, ERR_INVALID, "unexpected argument %s",
                                    strcmp(argument, "--") == 0 ? arguments[1] : argument);
                if (r < 0)
                        return r;
                arguments += r;
        }
        return 0;
}

int flags_read(struct flags *f, const struct weft_function *function, const char *const *arguments,
               const char *const *environment, struct err *err)
{
        int r = begin(f, function, err);

        if (r == 0)
                r = read_arguments(f, arguments, err);
        if (r == 0 && environment)
                r = read_environment(f, environment, err);
        return r;
}

void flags_done(struct flags *f)
{
        free(f->values);
        f->values = NULL;
}

const struct flag_value *flags_find(const struct flags *f, const char *name, enum weft_flag_type type)
{
        ptrdiff_t i = find_name(f, str_from(name));

        if (i < N_STANDARD_FLAGS || flag_at(f, (size_t)i)->type != type)
                return NULL;
        return &f->values[i];
}

/* --- Help --- */

/* `-d, --debug`, `--address=:9443`, `--region=NAME`. */
static void append_usage(struct buf *b, const struct weft_flag *flag)
{
        static const char *const placeholders[] = { [WEFT_FLAG_TEXT] = "TEXT",
                                                    [WEFT_FLAG_BOOL] = "BOOL",
                                                    [WEFT_FLAG_INT] = "NUMBER",
                                                    [WEFT_FLAG_DURATION] = "DURATION" };

        if (flag->letter)
                buf_appendf(b, "-%c, ", flag->letter);
        else
                buf_append_literal(b, "    ");
        buf_appendf(b, "--%s", flag->name);
        if (flag->value && *flag->value)
                buf_appendf(b, "=%s", flag->value);
        else if (flag->type != WEFT_FLAG_BOOL)
                buf_appendf(b, "=%s", flag->value_name ? flag->value_name : placeholders[flag->type]);
}

static size_t usage_width(const struct flags *f)
{
        size_t width = 0;

        for (size_t i = 0; i < f->n; i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                append_usage(&b, flag_at(f, i));
                width = MAX(width, b.n);
        }
        return width;
}

static void append_flag(struct buf *b, const struct weft_flag *flag, size_t width)
{
        struct str help = str_from(flag->help);
        size_t start = b->n;

        buf_append_literal(b, "  ");
        append_usage(b, flag);
        if (help.n || flag->environment)
                buf_append_repeat(b, ' ', width + 4 - (b->n - start));
        if (flag->environment) {
                str_cut_suffix(&help, STR("."));
                buf_appendf(b, "%.*s ($%s).", STR_ARG(help), flag->environment);
        } else {
                buf_append_str(b, help);
        }
        buf_append_char(b, '\n');
}

void flags_print_help(const struct flags *f, const char *program)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t width = usage_width(f);

        buf_appendf(&b, "Usage: %s [flags]\n\n%s\n", program,
                    f->function->help ? f->function->help : "A Composition Function.");
        if (f->n > N_STANDARD_FLAGS)
                buf_append_literal(&b, "\nFlags of this function:\n");
        for (size_t i = N_STANDARD_FLAGS; i < f->n; i++)
                append_flag(&b, flag_at(f, i), width);
        buf_append_literal(&b, "\nFlags:\n");
        for (size_t i = 0; i < N_STANDARD_FLAGS; i++)
                append_flag(&b, flag_at(f, i), width);
        fputs(buf_cstring(&b), stdout);
}
