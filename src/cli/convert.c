#include "convert.h"

#include "buf.h"
#include "input.h"
#include "source.h"
#include "value.h"
#include "yaml.h"

#include <stdio.h>

static size_t count_digits(struct str s)
{
        size_t n = 0;

        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
                n++;
        return n;
}

/* Cuts off `HEAD N: ` if the text begins with it. */
static void cut_number(struct str *s, struct str head)
{
        struct str rest = *s;

        if (!str_cut_prefix(&rest, head))
                return;
        rest = str_skip(rest, count_digits(rest));
        if (str_cut_prefix(&rest, STR(": ")))
                *s = rest;
}

/* Removes the line number from the reader's message, which follows the wording and the line counting of other tools. The place is
 * printed before the message here, so only the problem itself is left. */
static void drop_place(struct err *err)
{
        struct str message = str_from(err->message);

        if (err->position.line == 0)
                return;
        str_cut_prefix(&message, STR("error converting YAML to JSON: "));
        cut_number(&message, STR("json: offset "));
        if (str_cut_prefix(&message, STR("yaml: ")))
                cut_number(&message, STR("line "));
        memmove(err->message, message.p, message.n + 1);
}

static void print_source_error(const struct source_file *source, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        drop_place(err);
        source_append_error(&b, source, err);
        if (b.n == 0 || b.p[b.n - 1] != '\n')
                buf_append_char(&b, '\n');
        fwrite(b.p, 1, b.n, stderr);
}

/* Converts one file. Prints nothing of the file unless all of it can be read. */
static int convert_file(const struct command *c, const struct settings *settings, const char *name,
                        convert_write_fn write, size_t *index)
{
        struct yaml_read_options options = { .is_strict = settings_bool(settings, "strict") };
        _cleanup_buf_ struct buf text = BUF_INIT(0), out = BUF_INIT(0);
        _cleanup_arena_ struct arena arena;
        _cleanup_err_ struct err err = { 0 };
        const struct value *documents;
        struct source_file source = { .name = input_name(name) };

        arena_init(&arena, "document", 0);
        if (input_read(name, &text, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        source.text = buf_str(&text);
        if (yaml_parse_stream(&arena, source.text, &options, &documents, &err) < 0) {
                print_source_error(&source, &err);
                return EXIT_ERROR;
        }
        VALUE_FOREACH_ITEM (document, documents) {
                if (write(&out, document, (*index)++, settings, &err) < 0) {
                        err_wrap(&err, "%.*s", STR_ARG(source.name));
                        command_print_error(c, &err);
                        return EXIT_ERROR;
                }
        }
        if (out.n)
                fwrite(out.p, 1, out.n, stdout);
        return EXIT_OK;
}

int convert_files(const struct command *c, const struct settings *settings, struct arguments files,
                  convert_write_fn write)
{
        static const char *const standard_input[] = { "-" };
        _cleanup_err_ struct err err = { 0 };
        size_t index = 0;

        if (files.n == 0) {
                if (isatty(STDIN_FILENO)) {
                        err_set(&err, ERR_INVALID, "name a file, or - for standard input");
                        return command_print_usage_error(c, &err);
                }
                files = (struct arguments) { standard_input, 1 };
        }
        for (size_t i = 0; i < files.n; i++) {
                int status = convert_file(c, settings, files.p[i], write, &index);

                if (status != EXIT_OK)
                        return status;
        }
        return EXIT_OK;
}
