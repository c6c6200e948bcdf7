#include "convert.h"

#include "buf.h"
#include "yaml.h"

static const struct setting settings_table[] = {
        CONVERT_KEEP_ORDER,
        CONVERT_STRICT,
};

static int write_document(struct buf *b, const struct value *v, size_t index, const struct settings *settings,
                          struct err *err)
{
        if (index > 0)
                buf_append_literal(b, "---\n");
        return yaml_write(b, v, settings_bool(settings, "keep-order") ? YAML_KEEP_ORDER : 0, err);
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        return convert_files(c, settings, arguments, write_document);
}

const struct command command_yaml = {
        .name = "yaml",
        .summary = "Read YAML or JSON and print YAML",
        .arguments = "[FILE...]",
        .help = "Reads files, or standard input for - or without any, by the rules of kubectl, and prints YAML as\n"
                "Go's Kubernetes tools write it, documents separated by ---. An error shows file, line and column;\n"
                "the exit status is then 1.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
