#include "command.h"

#include "buf.h"
#include "oci-digest.h"
#include "xpkg-client.h"
#include "xpkg-image.h"
#include "xpkg-source.h"

static const struct setting settings_table[] = {
        { .name = "package-root",
          .short_name = 'f',
          .type = SETTING_STRING,
          .default_text = ".",
          .value_name = "DIR",
          .help = "The directory that contains the package's crossplane.yaml file." },
        { .name = "examples-root",
          .short_name = 'e',
          .type = SETTING_STRING,
          .default_text = "./examples",
          .value_name = "DIR",
          .help = "A directory of example YAML files to include in the package." },
        { .name = "ignore",
          .type = SETTING_LIST,
          .value_name = "GLOB,...",
          .help = "Files to leave out, relative to --package-root." },
        { .name = "package-file",
          .short_name = 'o',
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "The file to write. Without it, a name made of the package's name and digest, in --package-root." },
        { .name = "embed-runtime-image",
          .type = SETTING_STRING,
          .value_name = "IMAGE",
          .help = "An image in a registry to embed as the package's runtime." },
        { .name = "embed-runtime-image-tarball",
          .type = SETTING_STRING,
          .value_name = "FILE",
          .help = "An image's tarball, as docker save and crane pull write it, to embed as the package's runtime." },
};

static int pull_runtime(struct arena *a, struct str image, struct xpkg_image *ret, struct err *err)
{
        struct oci_platform platform = oci_platform_here();
        _cleanup_(xpkg_client_done)
        struct xpkg_client client = { 0 };
        struct oci_reference ref;
        int r = oci_reference_parse(a, image, 0, &ref, err);

        if (r >= 0)
                r = xpkg_client_init(&client, false, err);
        return r < 0 ? r : xpkg_pull_image(client.client, a, &ref, &platform, OCI_WAIT_NONE, ret, err);
}

/* 1 with a runtime, 0 if none is wanted. */
static int read_runtime(const struct settings *settings, struct arena *a, struct xpkg_image *ret, struct err *err)
{
        struct str tarball = settings_str(settings, "embed-runtime-image-tarball");
        struct str image = settings_str(settings, "embed-runtime-image");
        int r;

        if (tarball.n > 0 && image.n > 0)
                return err_set(err, ERR_INVALID, "give either --embed-runtime-image or --embed-runtime-image-tarball");
        if (tarball.n == 0 && image.n == 0)
                return 0;
        r = tarball.n > 0 ? xpkg_image_read(a, tarball.p, ret, err) : pull_runtime(a, image, ret, err);
        return r < 0 ? err_wrap(err, "failed to get runtime base image") : 1;
}

static int build(const struct settings *settings, struct arena *a, struct xpkg *package, struct xpkg_image *ret,
                 struct err *err)
{
        struct setting_list ignore = settings_list(settings, "ignore");
        struct xpkg_source source = {
                .root = settings_str(settings, "package-root").p,
                .examples = settings_str(settings, "examples-root").p,
                .ignore = ignore.items,
                .n_ignore = ignore.n,
        };
        _cleanup_buf_ struct buf yaml = BUF_INIT(0), examples = BUF_INIT(0);
        struct xpkg_image runtime = { 0 };
        int has_runtime = read_runtime(settings, a, &runtime, err), r = has_runtime;

        if (r >= 0)
                r = xpkg_source_read(&source, a, package, err);
        if (r >= 0)
                r = xpkg_lint(package, err);
        if (r >= 0)
                r = xpkg_encode(&yaml, package, err);
        if (r >= 0)
                r = xpkg_source_examples(&source, &examples, err);
        if (r >= 0)
                r = xpkg_image_build(a, buf_str(&yaml), buf_str(&examples), has_runtime > 0 ? &runtime : NULL, ret,
                                     err);
        return r < 0 ? err_wrap(err, "failed to build package") : 0;
}

static int file_name(const struct settings *settings, struct arena *a, const struct xpkg *package,
                     const struct xpkg_image *image, struct str *ret, struct err *err)
{
        struct str given = settings_str(settings, "package-file"), root = settings_str(settings, "package-root"),
                   manifest, id;
        int r;

        if (given.n > 0) {
                *ret = given;
                return 0;
        }
        r = xpkg_image_manifest(a, image, false, NULL, &manifest, err);
        if (r < 0)
                return r;
        id = xpkg_friendly_id(a, package->name, oci_digest_hex(oci_digest_of(a, manifest)));
        *ret = arena_printf(a, "%s/%.*s.xpkg", root.p, STR_ARG(id));
        return 0;
}

static int run(const struct command *c, const struct settings *settings, struct arguments arguments)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct xpkg_image image;
        struct xpkg package;
        struct str path;

        arena_init(&a, "package", 0);
        if (arguments.n > 0) {
                err_set(&err, ERR_INVALID, "it takes no arguments; the directory is given with --package-root");
                return command_print_usage_error(c, &err);
        }
        if (build(settings, &a, &package, &image, &err) < 0 ||
            file_name(settings, &a, &package, &image, &path, &err) < 0 || xpkg_write_file(&a, path, &image, &err) < 0) {
                command_print_error(c, &err);
                return EXIT_ERROR;
        }
        return EXIT_OK;
}

const struct command command_xpkg_build = {
        .name = "xpkg build",
        .summary = "Build a package from a directory of YAML files",
        .arguments = "",
        .help = "Puts all .yaml and .yml files below --package-root into one package file, as Crossplane's CLI does: "
                "the\n"
                "same package.yaml, the same layers. One file has the package's metadata (crossplane.yaml by "
                "convention).\n"
                "A function or provider also needs the image of its program; no Docker is needed to embed it.\n",
        .settings = settings_table,
        .n_settings = ARRAY_SIZE(settings_table),
        .run = run,
};
