#include "command.h"

#include "buf.h"
#include "oci-layer.h"
#include "xpkg-client.h"
#include "xpkg-image.h"
#include "xpkg-source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define INSECURE                                                          \
        {                                                                 \
                .name = "insecure-skip-tls-verify", .type = SETTING_BOOL, \
                .help = "Do not verify the registry's certificate."       \
        }

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

/* --- push --- */

static const struct setting push_settings[] = {
        { .name = "package-files",
          .short_name = 'f',
          .type = SETTING_LIST,
          .value_name = "FILE,...",
          .help = "The package files to push; several, one for each platform, become one package. Without it, the only "
                  ".xpkg file in the working directory." },
        { .name = "oci-annotation",
          .short_name = 'a',
          .type = SETTING_LIST,
          .value_name = "KEY=VALUE,...",
          .help = "Annotations to add to the package's manifests." },
        INSECURE,
};

static int read_annotations(const struct settings *settings, struct arena *a, const struct value **ret, struct err *err)
{
        struct setting_list list = settings_list(settings, "oci-annotation");

        *ret = &value_empty_object;
        for (size_t i = 0; i < list.n; i++) {
                struct str rest = list.items[i], key;

                if (!str_split(&rest, '=', &key) || key.n == 0)
                        return err_set(err, ERR_INVALID, "--oci-annotation %.*s: it takes KEY=VALUE",
                                       STR_ARG(list.items[i]));
                *ret = value_with(a, *ret, key, value_put(a, value_of_str(rest)));
        }
        return 0;
}

static int find_images(const struct settings *settings, struct arena *a, struct xpkg_pushed *ret, struct err *err)
{
        struct setting_list list = settings_list(settings, "package-files");
        struct str only;
        int r = read_annotations(settings, a, &ret->annotations, err);

        if (r >= 0 && list.n == 0)
                r = xpkg_find_file(a, &only, err);
        ret->n = list.n == 0 ? 1 : list.n;
        ret->images = ARENA_NEW_ARRAY(a, struct xpkg_image, ret->n);
        for (size_t i = 0; r >= 0 && i < ret->n; i++)
                r = xpkg_image_read(a, arena_cstring(a, list.n == 0 ? only : list.items[i]), &ret->images[i], err);
        return r;
}

static int run_push(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        return xpkg_run_push(c, settings, arguments, find_images);
}

const struct command command_xpkg_push = {
        .name = "xpkg push",
        .summary = "Push a package to a registry",
        .arguments = "REGISTRY/REPOSITORY:TAG",
        .help = "Pushes package files to any OCI registry, with the credentials of Docker's or Podman's configuration, "
                "and\n"
                "prints the reference with its digest.\n",
        .settings = push_settings,
        .n_settings = ARRAY_SIZE(push_settings),
        .run = run_push,
};

/* --- pull --- */

static const struct setting pull_settings[] = {
        { .name = "output",
          .short_name = 'o',
          .type = SETTING_STRING,
          .default_text = "package.xpkg",
          .value_name = "FILE",
          .help = "The file to write." },
        INSECURE,
};

/* A package on its way into a file. */
struct pulling {
        struct xpkg_client client;
        struct arena *arena;
        struct oci_reference ref;
};

static int write_pulled(void *context, int fd, struct err *err)
{
        struct pulling *p = context;
        struct oci_platform platform = oci_platform_here();

        return xpkg_pull_file(p->client.client, p->arena, &p->ref, &platform, OCI_WAIT_NONE, fd, err);
}

static int pull(const struct settings *settings, struct arena *a, const char *name, struct err *err)
{
        struct pulling p = { .arena = a };
        int r = oci_reference_parse(a, str_from(name), OCI_NEEDS_REGISTRY, &p.ref, err);

        if (r >= 0)
                r = xpkg_client_init(&p.client, settings_bool(settings, "insecure-skip-tls-verify"), err);
        if (r >= 0)
                r = xpkg_write_with(a, settings_str(settings, "output"), write_pulled, &p, err);
        xpkg_client_done(&p.client);
        return r;
}

static int run_pull(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };

        arena_init(&a, "package", 0);
        if (arguments.n != 1)
                return wrong_arguments(c, "give one reference to pull: registry/repository:tag");
        return pull(settings, &a, arguments.p[0], &err) < 0 ? report(c, &err) : EXIT_OK;
}

const struct command command_xpkg_pull = {
        .name = "xpkg pull",
        .summary = "Pull a package from a registry into a file",
        .arguments = "REGISTRY/REPOSITORY:TAG",
        .help = "Writes the package's image for this machine's platform to a file, which xpkg push can push "
                "elsewhere.\n",
        .settings = pull_settings,
        .n_settings = ARRAY_SIZE(pull_settings),
        .run = run_pull,
};

/* --- extract --- */

static const struct setting extract_settings[] = {
        { .name = "from-xpkg",
          .type = SETTING_BOOL,
          .help = "Read a package file: the argument, or the only one in the working directory." },
        { .name = "output",
          .short_name = 'o',
          .type = SETTING_STRING,
          .default_text = "out.gz",
          .value_name = "FILE",
          .help = "The file to write; its name must end in .gz." },
        INSECURE,
};

static int extract_file(struct arena *a, struct arguments arguments, struct str *ret, struct err *err)
{
        struct xpkg_image image;
        struct str path;
        int r = 0;

        if (arguments.n > 0)
                path = str_from(arguments.p[0]);
        else
                r = xpkg_find_file(a, &path, err);
        if (r >= 0)
                r = xpkg_image_read(a, path.p, &image, err);
        return r < 0 ? r : xpkg_image_yaml(a, &image, ret, err);
}

static int extract_remote(const struct settings *settings, struct arena *a, const char *name, struct str *ret,
                          struct err *err)
{
        _cleanup_(xpkg_client_done)
        struct xpkg_client client = { 0 };
        struct oci_reference ref;
        int r = oci_reference_parse(a, str_from(name), OCI_NEEDS_REGISTRY, &ref, err);

        if (r >= 0)
                r = xpkg_client_init(&client, settings_bool(settings, "insecure-skip-tls-verify"), err);
        return r < 0 ? r : xpkg_pull_yaml(client.client, a, &ref, true, OCI_WAIT_NONE, ret, NULL, err);
}

static int write_gzip(const char *path, struct str yaml, struct err *err)
{
        _cleanup_buf_ struct buf gzip = BUF_INIT(0);
        FILE *f;
        bool has_failed;

        oci_gzip(&gzip, yaml);
        f = fopen(path, "we");
        if (!f)
                return err_set_errno(err, errno, "cannot write %s", path);
        has_failed = fwrite(gzip.p, 1, gzip.n, f) != gzip.n;
        if (fclose(f) != 0 || has_failed)
                return err_set_errno(err, errno, "cannot write %s", path);
        return 0;
}

static int run_extract(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        struct str output = settings_str(settings, "output"), yaml;
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        int r;

        arena_init(&a, "package", 0);
        if (arguments.n > 1 || (arguments.n == 0 && !settings_bool(settings, "from-xpkg")))
                return wrong_arguments(c, "give the package: a reference, or a file with --from-xpkg");
        if (!str_ends_with(output, STR(".gz")))
                return wrong_arguments(c, "--output must end in .gz");
        r = settings_bool(settings, "from-xpkg") ? extract_file(&a, arguments, &yaml, &err)
                                                 : extract_remote(settings, &a, arguments.p[0], &yaml, &err);
        if (r >= 0)
                r = write_gzip(output.p, yaml, &err);
        return r < 0 ? report(c, &err) : EXIT_OK;
}

const struct command command_xpkg_extract = {
        .name = "xpkg extract",
        .summary = "Write a package's YAML as Crossplane's package cache keeps it",
        .arguments = "[PACKAGE]",
        .help = "Reads a package from a registry, or from a file with --from-xpkg, and writes its package.yaml, "
                "compressed\n"
                "with gzip.\n",
        .settings = extract_settings,
        .n_settings = ARRAY_SIZE(extract_settings),
        .run = run_extract,
};

const struct command command_xpkg = {
        .name = "xpkg",
        .summary = "Begin, build, push, pull, read and install packages",
        .arguments = "COMMAND",
        .commands = (const struct command *const[]) { &command_xpkg_init, &command_xpkg_build, &command_xpkg_push,
                                                      &command_xpkg_pull, &command_xpkg_extract, &command_xpkg_install,
                                                      &command_xpkg_update, NULL },
};
