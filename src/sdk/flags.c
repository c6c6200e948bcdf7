#include "flags.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

enum kind {
        FLAG_BOOL,
        FLAG_TEXT,
        FLAG_INT,
};

static const struct flag {
        const char *name;
        char letter;
        enum kind kind;
        size_t offset;
        const char *value_name;
        const char *help;
} table[] = {
        { "help", 'h', FLAG_BOOL, offsetof(struct flags, wants_help), "", "Show this help." },
        { "debug", 'd', FLAG_BOOL, offsetof(struct flags, is_debug), "", "Log debug messages, in a form for people." },
        { "network", 0, FLAG_TEXT, offsetof(struct flags, network), "=tcp", "Network to listen on: tcp or unix." },
        { "address", 0, FLAG_TEXT, offsetof(struct flags, address), "=:9443", "Address to listen at." },
        { "tls-certs-dir", 0, FLAG_TEXT, offsetof(struct flags, tls_certs_dir), "=DIR",
          "Directory with tls.crt, tls.key and the ca.crt that client certificates must be signed by "
          "($TLS_SERVER_CERTS_DIR)." },
        { "insecure", 0, FLAG_BOOL, offsetof(struct flags, is_insecure), "",
          "Serve without TLS. A directory with certificates is then not used." },
        { "max-recv-message-size", 0, FLAG_INT, offsetof(struct flags, max_receive_mib), "=64",
          "Largest request that is accepted, in MiB." },
        { "metrics-address", 0, FLAG_TEXT, offsetof(struct flags, metrics_address), "=ADDRESS",
          "Serve Prometheus metrics at this address. Off by default." },
};

static const struct flag *by_name(struct str name)
{
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                if (str_equal(name, str_from(table[i].name)))
                        return &table[i];
        }
        return NULL;
}

static const struct flag *by_letter(char letter)
{
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                if (table[i].letter == letter)
                        return &table[i];
        }
        return NULL;
}

static int set_int(void *field, const struct flag *f, const char *value, struct err *err)
{
        char *end;
        long long i;

        errno = 0;
        i = strtoll(value, &end, 10);
        if (errno || !*value || *end)
                return err_set(err, ERR_INVALID, "--%s: expected a valid 64 bit int but got \"%s\"", f->name, value);
        if (i < 1 || i > 2047)
                return err_set(err, ERR_INVALID, "--%s: must be between 1 and 2047 but got %lld", f->name, i);
        *(int64_t *)field = i;
        return 0;
}

static int set_flag(struct flags *flags, const struct flag *f, const char *value, struct err *err)
{
        void *field = (char *)flags + f->offset;

        switch (f->kind) {
        case FLAG_BOOL:
                if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
                        return err_set(err, ERR_INVALID,
                                       "--%s: bool value must be true, 1, yes, false, 0 or no but got \"%s\"", f->name,
                                       value);
                *(bool *)field = !value || strcmp(value, "true") == 0;
                return 0;
        case FLAG_TEXT:
                *(const char **)field = value;
                return 0;
        case FLAG_INT:
                return set_int(field, f, value, err);
        }
        return 0;
}

/* One argument and, where its value stands apart, the one after it. Returns how many were used. */
static int read_long(struct flags *flags, const char *argument, const char *next, struct err *err)
{
        struct str name = str_from(argument + 2), head;
        bool has_value = str_split(&name, '=', &head);
        const struct flag *f = by_name(head);
        int r;

        if (!f)
                return err_set(err, ERR_INVALID, "unknown flag --%.*s", STR_ARG(head));
        if (has_value || f->kind == FLAG_BOOL) {
                r = set_flag(flags, f, has_value ? name.p : NULL, err);
                return r < 0 ? r : 1;
        }
        if (!next)
                return err_set(err, ERR_INVALID, "--%s: expected a value", f->name);
        r = set_flag(flags, f, next, err);
        return r < 0 ? r : 2;
}

static int read_letters(struct flags *flags, const char *argument, struct err *err)
{
        for (const char *p = argument + 1; *p; p++) {
                const struct flag *f = by_letter(*p);

                if (!f)
                        return err_set(err, ERR_INVALID, "unknown flag -%c", *p);
                set_flag(flags, f, NULL, err);
        }
        return 1;
}

int flags_read(struct flags *f, int argc, char **argv, struct err *err)
{
        const char *directory = getenv("TLS_SERVER_CERTS_DIR");

        *f = (struct flags) {
                .network = "tcp",
                .address = ":9443",
                .tls_certs_dir = directory ? directory : "",
                .metrics_address = "",
                .max_receive_mib = 64,
        };
        for (int i = 1; i < argc;) {
                int r;

                if (strncmp(argv[i], "--", 2) == 0 && argv[i][2])
                        r = read_long(f, argv[i], i + 1 < argc ? argv[i + 1] : NULL, err);
                else if (argv[i][0] == '-' && argv[i][1])
                        r = read_letters(f, argv[i], err);
                else
                        r = err_set(err, ERR_INVALID, "unexpected argument %s", argv[i]);
                if (r < 0)
                        return r;
                i += r;
        }
        return 0;
}

void flags_print_help(const struct weft_function *function, const char *program)
{
        printf("Usage: %s [flags]\n\n%s\n\nFlags:\n", program,
               function->help ? function->help : "A Composition Function.");
        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                char letter[5] = "    ", name[48];

                if (table[i].letter)
                        snprintf(letter, sizeof(letter), "-%c, ", table[i].letter);
                snprintf(name, sizeof(name), "--%s%s", table[i].name, table[i].value_name);
                printf("  %s%-28s %s\n", letter, name, table[i].help);
        }
}
