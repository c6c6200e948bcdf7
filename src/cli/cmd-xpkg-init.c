#include "command.h"

#include "embedded.h"
#include "project.h"

#include <stdio.h>

/* The templates that Crossplane's CLI knows by name. Those that we have no files for are refused with the way out. */
struct tmpl {
        const char *name;
        const struct embedded_file *files; /* NULL: refused */
        const char *why;                   /* not, and what to do */
        bool is_function;
};

#define CLONE(url) "it is a Git repository, which is not fetched: git clone --depth 1 " url

static const struct tmpl templates[] = {
        { .name = "function-template", .files = function_template, .is_function = true },
        { .name = "function-template-c", .files = function_template, .is_function = true },
        { .name = "configuration-template", .files = configuration_template },
        { .name = "function-template-go", .why = CLONE("https://github.com/crossplane/function-template-go") },
        { .name = "function-template-python", .why = CLONE("https://github.com/crossplane/function-template-python") },
        { .name = "provider-template",
          .why = "providers are written in Go, from a Git repository, which is not fetched: git clone --depth 1 "
                 "https://github.com/crossplane/provider-template" },
        { .name = "provider-template-upjet",
          .why = "providers are written in Go, from a Git repository, which is not fetched: git clone --depth 1 "
                 "https://github.com/crossplane/upjet-provider-template" },
};

static const struct setting settings_table[] = {
        { .name = "directory",
          .short_name = 'd',
          .type = SETTING_STRING,
          .default_text = ".",
          .value_name = "DIR",
          .help = "The directory to initialize. It must be empty if it exists." },
        { .name = "run-init-script",
          .short_name = 'r',
          .type = SETTING_BOOL,
          .help = "Taken and ignored: the templates have no init.sh script." },
        { .name = "ref-name",
          .short_name = 'b',
          .type = SETTING_STRING,
          .value_name = "NAME",
          .help = "Refused: the templates are part of this program and have no branches or tags." },
};

static int find_template(const char *name, const struct tmpl **ret, struct err *err)
{
        for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
                if (strcmp(templates[i].name, name) != 0)
                        continue;
                if (!templates[i].files)
                        return err_set(err, ERR_UNSUPPORTED, "template %s is not part of this program: %s", name,
                                       templates[i].why);
                *ret = &templates[i];
                return 0;
        }
        if (str_find(str_from(name), STR("://")) >= 0)
                return err_set(err, ERR_UNSUPPORTED,
                               "template %s is a Git repository, which is not fetched: git clone --depth 1 %s", name,
                               name);
        return err_set(err, ERR_INVALID, "template %s is not known: give function-template or configuration-template",
                       name);
}

static int init(const struct settings *settings, const char *name, const char *template_name, struct err *err)
{
        _cleanup_buf_ struct buf full = BUF_INIT(0);
        struct str directory = settings_str(settings, "directory");
        const struct tmpl *t;
        int r = find_template(template_name, &t, err);

        if (r >= 0 && settings_str(settings, "ref-name").n > 0)
                r = err_set(err, ERR_UNSUPPORTED,
                            "--ref-name: template %s is part of this program and has no branches or tags: leave the "
                            "flag out",
                            template_name);
        if (r >= 0 && t->is_function)
                r = project_function_name(name, &full, err);
        else if (r >= 0 && project_is_label(str_from(name)))
                buf_append_str(&full, str_from(name));
        else if (r >= 0)
                r = err_set(err, ERR_INVALID,
                            "\"%s\" cannot be a package's name: it takes lower-case letters, digits and dashes, and "
                            "begins and ends with a letter or digit",
                            name);
        if (r >= 0)
                r = project_write(directory.p, t->files, buf_str(&full), err);
        if (r >= 0)
                printf("Initialized package \"%s\" in directory \"%s\" from %s\n", buf_cstring(&full), directory.p,
                       template_name);
        return r;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_err_ struct err err = { 0 };

        if (arguments.n != 2) {
                err_set(&err, ERR_INVALID, "give the name of the package and a template");
                return command_print_usage_error(c, &err);
        }
        if (init(settings, arguments.p[0], arguments.p[1], &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_xpkg_init = {
        .name = "xpkg init",
        .summary = "Begin a package from a template",
        .arguments = "NAME TEMPLATE",
        .help = "Writes the files of a template, which are part of this program: no network is needed.\n\n"
                "  function-template         a function in C, as `weft function init` begins it\n"
                "  configuration-template    a Configuration: a kind, how it is composed, and an example\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
