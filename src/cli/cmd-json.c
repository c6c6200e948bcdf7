#include "convert.h"

#include "buf.h"
#include "json.h"

static const struct setting settings_table[] = {
        { .name = "compact", .short_name = 'c', .type = SETTING_BOOL, .help = "Print each document on one line." },
        CONVERT_KEEP_ORDER,
        CONVERT_STRICT,
};

static int write_document(struct buf *b, const struct value *v, size_t index, const struct settings *settings,
                          struct err *err)
{
        unsigned flags = 0;
        int r;

        if (!settings_bool(settings, "compact"))
                flags |= JSON_PRETTY;
        if (!settings_bool(settings, "keep-order"))
                flags |= JSON_SORT_KEYS;
        r = json_write(b, v, flags, err);
        buf_append_char(b, '\n');
        return r;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        return convert_files(c, settings, arguments, write_document);
}

const struct command command_json = {
        .name = "json",
        .summary = "Read YAML or JSON and print JSON",
        .arguments = "[FILE...]",
        .help = "Reads files, or standard input for - or without any, by the rules of kubectl: YAML 1.1 as Go's\n"
                "Kubernetes tools read it, streams of documents, concatenated JSON. Prints one JSON value for each\n"
                "document that is not empty. An error shows file, line and column; the exit status is then 1.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
