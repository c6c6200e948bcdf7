/* `weft function build` and `weft function push`: a project of `weft function init` as a package. */
#include "command.h"

#include "buf.h"
#include "input.h"
#include "xpkg-client.h"
#include "xpkg-image.h"
#include "xpkg-source.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DIRECTORY                                                                                    \
        {                                                                                            \
                .name = "directory", .short_name = 'd', .type = SETTING_STRING, .default_text = ".", \
                .value_name = "DIR", .help = "The project, as `weft function init` writes it."       \
        }

static const struct setting build_settings[] = {
        DIRECTORY,
        { .name = "package-file",
          .short_name = 'o',
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "The file to write. Without it, build/NAME.xpkg in the project." },
        { .name = "program",
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "A static program to put into the package; nothing is built." },
};

static const struct setting push_settings[] = {
        DIRECTORY,
        { .name = "package-file",
          .short_name = 'f',
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "The package to push. Without it, build/NAME.xpkg of the project, which `weft function build` "
                  "makes." },
        { .name = "insecure-skip-tls-verify",
          .type = SETTING_BOOL,
          .help = "Do not verify the registry's certificate." },
};

static int report(const struct command *c, const struct err *err)
{
        command_print_error(c, err);
        return EXIT_ERROR;
}

static int wrong_arguments(const struct command *c, const char *text)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "%s", text);
        return command_print_usage_error(c, &err);
}

/* --- The project --- */

/* The package of the project: package/crossplane.yaml and the CRDs of its inputs. */
static int read_package(struct arena *a, struct str directory, struct xpkg *ret, struct err *err)
{
        struct xpkg_source source = { .root = arena_printf(a, "%.*s/package", STR_ARG(directory)).p,
                                      .examples = arena_printf(a, "%.*s/package/examples", STR_ARG(directory)).p };
        int r = xpkg_source_read(&source, a, ret, err);

        if (r >= 0)
                r = xpkg_lint(ret, err);
        if (r >= 0 && ret->kind != XPKG_FUNCTION)
                r = err_set(err, ERR_INVALID, "%s is not that of a Function", source.root);
        return r < 0 ? err_wrap(err, "cannot read the package of the project in %.*s; `weft function init` begins one",
                                STR_ARG(directory))
                     : 0;
}

/* The package's name is part of paths. */
static int check_name(const struct xpkg *p, struct err *err)
{
        if (p->name.n == 0 || str_find_char(p->name, '/') >= 0 || p->name.p[0] == '.')
                return err_set(err, ERR_INVALID, "package/crossplane.yaml: metadata.name \"%.*s\" is no name",
                               STR_ARG(p->name));
        return 0;
}

static struct str default_file(struct arena *a, struct str directory, const struct xpkg *p)
{
        return arena_printf(a, "%.*s/build/%.*s.xpkg", STR_ARG(directory), STR_ARG(p->name));
}

/* --- build --- */

/* Runs make in the project; what it prints goes to standard error, so that standard output has the result alone. */
static int run_make(struct arena *a, struct str directory, struct str target, struct err *err)
{
        const char *arguments[] = {
                "make", "--no-print-directory", "-C", arena_cstring(a, directory), arena_cstring(a, target), NULL
        };
        posix_spawn_file_actions_t actions;
        int status = 0, r;
        pid_t pid;

        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, 2, 1);
        r = posix_spawnp(&pid, "make", &actions, NULL, (char *const *)arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        if (r != 0)
                return err_set_errno(err, r,
                                     "cannot run make; install it, or build the program and give it with "
                                     "--program");
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return err_set(err, ERR_FAILED,
                               "cannot build the function: `make -C %s %s` failed. If the Makefile has no such rule, "
                               "take the one that `weft function init` writes, or give a static program with --program",
                               arguments[3], arguments[4]);
        return 0;
}

static int read_program(const struct settings *settings, struct arena *a, struct str directory, struct str name,
                        struct xpkg_image *ret, struct err *err)
{
        struct str program = settings_str(settings, "program");
        struct str target = arena_printf(a, "build/static/%.*s", STR_ARG(name));
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);
        int r = 0;

        if (program.n == 0) {
                r = run_make(a, directory, target, err);
                program = arena_printf(a, "%.*s/%.*s", STR_ARG(directory), STR_ARG(target));
        }
        if (r >= 0)
                r = input_read(program.p, &bytes, err);
        if (r < 0)
                return r;
        r = xpkg_image_of_program(a, buf_str(&bytes), ret, err);
        return r < 0 ? err_wrap(err, "cannot put %.*s into a package", STR_ARG(program)) : 0;
}

static int build(const struct settings *settings, struct arena *a, struct err *err)
{
        struct str directory = settings_str(settings, "directory"), path = settings_str(settings, "package-file");
        _cleanup_buf_ struct buf yaml = BUF_INIT(0);
        struct xpkg_image runtime, image;
        struct xpkg package;
        struct stat st;
        int r = read_package(a, directory, &package, err);

        if (r >= 0)
                r = check_name(&package, err);
        if (r >= 0)
                r = read_program(settings, a, directory, package.name, &runtime, err);
        if (r >= 0)
                r = xpkg_encode(&yaml, &package, err);
        if (r >= 0)
                r = xpkg_image_build(a, buf_str(&yaml), STR(""), &runtime, &image, err);
        if (r < 0)
                return r;
        if (path.n == 0) {
                mkdir(arena_printf(a, "%.*s/build", STR_ARG(directory)).p, 0777);
                path = default_file(a, directory, &package);
        }
        r = xpkg_write_file(a, path, &image, err);
        if (r >= 0 && stat(path.p, &st) == 0)
                printf("Wrote %.*s: %.*s for linux/%.*s, %.1f MB\n", STR_ARG(path), STR_ARG(package.name),
                       STR_ARG(image.parsed.platform.architecture), (double)st.st_size / 1e6);
        return r;
}

static int run_build(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&a, "package", 0);
        if (arguments.n > 0)
                return wrong_arguments(c, "it takes no arguments; the project is given with --directory");
        return build(settings, &a, &err) < 0 ? report(c, &err) : EXIT_OK;
}

const struct command command_function_build = {
        .name = "function build",
        .summary = "Build a function's project as a package, without Docker",
        .arguments = "",
        .help = "Builds the project of `weft function init` as a static program and puts it, package.yaml and the "
                "CRDs of its\n"
                "inputs into one .xpkg file: an image of a few MB that Crossplane installs. What the compiler says "
                "goes "
                "to standard\n"
                "error.\n",
        .settings = build_settings,
        .n_settings = ARRAY_SIZE(build_settings),
        .run = run_build,
};

/* --- push --- */

static int find_image(const struct settings *settings, struct arena *a, struct xpkg_pushed *ret, struct err *err)
{
        struct str directory = settings_str(settings, "directory"), path = settings_str(settings, "package-file");
        struct xpkg package;
        int r = 0;

        if (path.n == 0) {
                r = read_package(a, directory, &package, err);
                if (r >= 0)
                        r = check_name(&package, err);
                if (r >= 0)
                        path = default_file(a, directory, &package);
        }
        ret->n = 1;
        ret->images = ARENA_NEW(a, struct xpkg_image);
        if (r >= 0 && xpkg_image_read(a, path.p, ret->images, err) < 0)
                r = err_wrap(err, "cannot read the package; `weft function build` makes it");
        return r;
}

static int run_push(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        return xpkg_run_push(c, settings, arguments, find_image);
}

const struct command command_function_push = {
        .name = "function push",
        .summary = "Push a function's package to a registry",
        .arguments = "REGISTRY/REPOSITORY:TAG",
        .help = "Pushes what `weft function build` made to any OCI registry, with the credentials of Docker's or "
                "Podman's\n"
                "configuration, and prints the reference with its digest.\n",
        .settings = push_settings,
        .n_settings = ARRAY_SIZE(push_settings),
        .run = run_push,
};
