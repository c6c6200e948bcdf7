#include "xpkg-image.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "oci-digest.h"
#include "oci-layer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ROLE_LABEL    "io.crossplane.xpkg"
#define ROLE_BASE     STR("base")
#define ROLE_EXAMPLES STR("upbound")
#define NO_TIME       "0001-01-01T00:00:00Z"

/* Files */

struct mapping {
        void *p;
        size_t n;
};

static void unmap(void *map)
{
        struct mapping *m = map;

        munmap(m->p, m->n);
        free(m);
}

static int map_file(struct arena *a, const char *path, struct str *ret, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct mapping *m;
        struct stat st;
        void *p;

        if (fd < 0 || fstat(fd, &st) < 0)
                return err_set_errno(err, errno, "cannot read %s", path);
        if (!S_ISREG(st.st_mode) || st.st_size == 0)
                return err_set(err, ERR_INVALID, "%s is not a package: it is empty or not a file", path);
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
                return err_set_errno(err, errno, "cannot read %s", path);
        m = xmalloc(sizeof(*m));
        *m = (struct mapping) { p, (size_t)st.st_size };
        arena_pin(a, m, unmap);
        *ret = str_make(p, m->n);
        return 0;
}

/* The content of a file of the archive: 1, or 0 if there is none of that name. */
static int find_file(struct str archive, struct str name, struct str *ret, struct err *err)
{
        struct str rest = archive;
        struct oci_tar_entry e;
        struct oci_tar t;
        int r;

        oci_tar_init(&t, oci_read_str, &rest);
        while ((r = oci_tar_next(&t, &e, err)) > 0) {
                if (!str_equal(e.name, name))
                        continue;
                if (e.type == OCI_TAR_SYMLINK || (uint64_t)e.size_bytes > rest.n)
                        r = err_set(err, ERR_INVALID, "%.*s in it is not a whole file", STR_ARG(name));
                else
                        *ret = str_first(rest, (size_t)e.size_bytes);
                break;
        }
        oci_tar_done(&t);
        return r;
}

static int must_find(struct str archive, struct str name, struct str *ret, struct err *err)
{
        int r = find_file(archive, name, ret, err);

        return r == 0 ? err_set(err, ERR_INVALID, "it has no %.*s: it is not an image's tarball", STR_ARG(name)) : r;
}

static bool is_gzip(struct str bytes)
{
        return str_starts_with(bytes, STR("\x1f\x8b"));
}

static int read_layer(struct arena *a, struct str archive, struct str name, struct str diff_id, struct xpkg_layer *ret,
                      struct err *err)
{
        int r = must_find(archive, name, &ret->bytes, err);

        if (r < 0)
                return r;
        if (!is_gzip(ret->bytes)) { /* `docker save` does not compress */
                _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_BLOB_BYTES);

                oci_gzip(&b, ret->bytes);
                ret->bytes = buf_to_arena(&b, a);
        }
        ret->digest = oci_digest_of(a, ret->bytes);
        ret->diff_id = diff_id;
        return 0;
}

static int read_image(struct arena *a, struct str archive, struct xpkg_image *ret, struct err *err)
{
        const struct value *list, *names;
        struct str text;
        int r = must_find(archive, STR("manifest.json"), &text, err);

        if (r >= 0)
                r = json_parse(a, text, NULL, &list, err);
        if (r < 0)
                return r;
        if (value_count(list) != 1)
                return err_set(err, ERR_INVALID, "it has %zu images; it must have one", value_count(list));
        names = value_get(value_item(list, 0), STR("Layers"));
        r = must_find(archive, value_str(value_get(value_item(list, 0), STR("Config"))), &ret->config, err);
        if (r >= 0)
                r = oci_config_parse(a, ret->config, &ret->parsed, err);
        if (r >= 0 && value_count(names) != ret->parsed.diff_ids.n)
                r = err_set(err, ERR_INVALID, "it has %zu layers, but its configuration has %zu", value_count(names),
                            ret->parsed.diff_ids.n);
        if (r < 0)
                return r;
        ret->n_layers = value_count(names);
        ret->layers = ARENA_NEW_ARRAY(a, struct xpkg_layer, ret->n_layers);
        for (size_t i = 0; r >= 0 && i < ret->n_layers; i++)
                r = read_layer(a, archive, value_str(value_item(names, i)), ret->parsed.diff_ids.p[i], &ret->layers[i],
                               err);
        return r < 0 ? r : 0;
}

int xpkg_image_read(struct arena *a, const char *path, struct xpkg_image *ret, struct err *err)
{
        struct xpkg_image image = { 0 };
        struct str archive;
        int r = map_file(a, path, &archive, err);

        if (r < 0)
                return r;
        r = read_image(a, archive, &image, err);
        if (r < 0)
                return err_wrap(err, "%s", path);
        *ret = image;
        return 0;
}

int xpkg_write(int fd, struct str text, struct err *err)
{
        while (text.n > 0) {
                ssize_t n = write(fd, text.p, text.n);

                if (n < 0 && errno != EINTR)
                        return err_set_errno(err, errno, "cannot write the package");
                text = str_skip(text, n > 0 ? (size_t)n : 0);
        }
        return 0;
}

static int write_head(int fd, struct str name, size_t n_content, struct err *err)
{
        _cleanup_buf_ struct buf head = BUF_INIT(0);

        oci_tar_append_header(&head, name, 0644, n_content);
        return xpkg_write(fd, buf_str(&head), err);
}

static int write_padding(int fd, size_t n_content, struct err *err)
{
        _cleanup_buf_ struct buf padding = BUF_INIT(0);

        oci_tar_append_padding(&padding, n_content);
        return xpkg_write(fd, buf_str(&padding), err);
}

static int write_entry(int fd, struct str name, struct str content, struct err *err)
{
        int r = write_head(fd, name, content.n, err);

        if (r >= 0)
                r = xpkg_write(fd, content, err);
        return r < 0 ? r : write_padding(fd, content.n, err);
}

static bool is_repeated(const struct xpkg_image *image, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (str_equal(image->layers[k].digest, image->layers[i].digest))
                        return true;
        return false;
}

static int write_elsewhere(int fd, struct str name, size_t i, size_t n, xpkg_layer_fn *write_layer, void *context,
                           struct err *err)
{
        int r = write_head(fd, name, n, err);

        if (r >= 0)
                r = write_layer(context, i, fd, err);
        return r < 0 ? r : write_padding(fd, n, err);
}

int xpkg_image_write(const struct xpkg_image *image, int fd, xpkg_layer_fn *write_layer, void *context, struct err *err)
{
        _cleanup_buf_ struct buf manifest = BUF_INIT(0), end = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct str config_name;
        int r;

        arena_init(&a, "package", 0);
        config_name = oci_digest_of(&a, image->config);
        buf_appendf(&manifest, "[{\"Config\":\"%.*s\",\"RepoTags\":null,\"Layers\":[", STR_ARG(config_name));
        r = write_entry(fd, config_name, image->config, err);
        for (size_t i = 0; r >= 0 && i < image->n_layers; i++) {
                struct str hex = oci_digest_hex(image->layers[i].digest), bytes = image->layers[i].bytes;
                struct str name = arena_printf(&a, "%.*s.tar.gz", STR_ARG(hex));

                buf_appendf(&manifest, "%s\"%.*s\"", i > 0 ? "," : "", STR_ARG(name));
                if (!is_repeated(image, i))
                        r = bytes.p ? write_entry(fd, name, bytes, err)
                                    : write_elsewhere(fd, name, i, bytes.n, write_layer, context, err);
        }
        buf_append_literal(&manifest, "]}]");
        oci_tar_append_end(&end);
        if (r >= 0)
                r = write_entry(fd, STR("manifest.json"), buf_str(&manifest), err);
        return r < 0 ? r : xpkg_write(fd, buf_str(&end), err);
}

/* Configurations */

/* The fields of Go's types, in their order; others vanish, as they do there. */
static const char *const config_fields[] = { "architecture", "author",      "container", "created", "docker_version",
                                             "history",      "os",          "rootfs",    "config",  "os.version",
                                             "variant",      "os.features", NULL };
static const char *const start_fields[] = {
        "AttachStderr", "AttachStdin", "AttachStdout", "Cmd",        "Healthcheck",  "Domainname",  "Entrypoint",
        "Env",          "Hostname",    "Image",        "Labels",     "OnBuild",      "OpenStdin",   "StdinOnce",
        "Tty",          "User",        "Volumes",      "WorkingDir", "ExposedPorts", "ArgsEscaped", "NetworkDisabled",
        "MacAddress",   "StopSignal",  "Shell",        NULL
};
static const char *const history_fields[] = { "author", "created", "created_by", "comment", "empty_layer", NULL };

/* Go leaves out what is empty, but for these. */
static bool is_always_written(const char *field)
{
        static const char *const always[] = { "architecture", "created", "os", "rootfs", "config" };

        for (size_t i = 0; i < ARRAY_SIZE(always); i++)
                if (strcmp(field, always[i]) == 0)
                        return true;
        return false;
}

static bool is_empty(const struct value *v)
{
        return !v || value_is_null(v) || (value_is_string(v) && v->n == 0) || (v->type >= VALUE_ARRAY && v->n == 0) ||
               (value_is_bool(v) && !v->boolean);
}

static struct value in_order(struct arena *a, const struct value *object, const char *const *fields)
{
        struct object_builder b;

        object_builder_init(&b, a, 16);
        for (; *fields; fields++) {
                const struct value *v = value_get(object, str_from(*fields));

                if (is_empty(v) && !is_always_written(*fields))
                        continue;
                object_builder_add(&b, str_from(*fields),
                                   v && !value_is_null(v)            ? *v
                                   : strcmp(*fields, "created") == 0 ? value_of_literal(NO_TIME)
                                                                     : value_empty_string);
        }
        return object_builder_finish(&b);
}

static struct value history_of(struct arena *a, const struct value *base, size_t n_new)
{
        const struct value *old = value_get(base, STR("history"));
        struct array_builder b;

        array_builder_init(&b, a, value_count(old) + n_new);
        VALUE_FOREACH_ITEM (entry, old)
                array_builder_add(&b, in_order(a, entry, history_fields));
        for (size_t i = 0; i < n_new; i++)
                array_builder_add(&b, in_order(a, &value_empty_object, (const char *const[]) { "created", NULL }));
        return array_builder_finish(&b);
}

static struct value rootfs_of(struct arena *a, const struct xpkg_image *image)
{
        struct object_builder b;
        struct array_builder ids;

        array_builder_init(&ids, a, image->n_layers);
        for (size_t i = 0; i < image->n_layers; i++)
                array_builder_add(&ids, value_of_str(image->layers[i].diff_id));
        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("type"), value_of_literal("layers"));
        object_builder_add(&b, STR("diff_ids"), array_builder_finish(&ids));
        return object_builder_finish(&b);
}

static const struct value *with_label(struct arena *a, const struct value *start, const struct xpkg_layer *layer,
                                      struct str role)
{
        const struct value *labels = value_get(start, STR("Labels"));
        struct str key = ARENA_CONCAT(a, STR(ROLE_LABEL ":"), layer->digest);

        labels = value_with(a, value_is_object(labels) ? labels : &value_empty_object, key,
                            value_put(a, value_of_str(role)));
        return value_with(a, start, STR("Labels"), value_sorted(a, labels));
}

/* The configuration of the image: the runtime's, with the new layers and their roles. */
static int make_config(struct arena *a, struct xpkg_image *image, const struct xpkg_image *runtime, size_t n_new,
                       struct err *err)
{
        const struct value *base = runtime ? runtime->parsed.root : &value_empty_object;
        const struct value *start = value_get(base, STR("config"));
        struct value ordered;
        int r;

        start = value_is_object(start) ? start : &value_empty_object;
        for (size_t i = 0; i < n_new; i++)
                start = with_label(a, start, &image->layers[image->n_layers - n_new + i],
                                   i == 0 ? ROLE_BASE : ROLE_EXAMPLES);
        ordered = in_order(a, start, start_fields);
        base = value_with(a, base, STR("config"), &ordered);
        base = value_with(a, base, STR("history"), value_put(a, history_of(a, base, n_new)));
        base = value_with(a, base, STR("rootfs"), value_put(a, rootfs_of(a, image)));
        ordered = in_order(a, base, config_fields);
        r = json_to_str(a, &ordered, JSON_ESCAPE_HTML, &image->config, err);
        return r < 0 ? r : oci_config_parse(a, image->config, &image->parsed, err);
}

static void make_layer(struct arena *a, const char *name, struct str content, struct xpkg_layer *ret)
{
        _cleanup_buf_ struct buf tar = BUF_INIT(0), gzip = BUF_INIT(0);

        oci_tar_append_file(&tar, str_from(name), 0644, content);
        oci_tar_append_end(&tar);
        oci_gzip(&gzip, buf_str(&tar));
        ret->diff_id = oci_digest_of(a, buf_str(&tar));
        ret->bytes = buf_to_arena(&gzip, a);
        ret->digest = oci_digest_of(a, ret->bytes);
}

int xpkg_image_build(struct arena *a, struct str package_yaml, struct str examples, const struct xpkg_image *runtime,
                     struct xpkg_image *ret, struct err *err)
{
        size_t n_old = runtime ? runtime->n_layers : 0, n_new = examples.n > 0 ? 2 : 1;
        struct xpkg_image image = { .n_layers = n_old + n_new };
        int r;

        image.layers = ARENA_NEW_ARRAY(a, struct xpkg_layer, image.n_layers);
        for (size_t i = 0; i < n_old; i++)
                image.layers[i] = runtime->layers[i];
        make_layer(a, "package.yaml", package_yaml, &image.layers[n_old]);
        if (n_new == 2)
                make_layer(a, ".up/examples.yaml", examples, &image.layers[n_old + 1]);
        r = make_config(a, &image, runtime, n_new, err);
        if (r >= 0)
                *ret = image;
        return r;
}

/* Manifests */

static void add_descriptor(struct object_builder *b, struct str media_type, size_t size, struct str digest)
{
        object_builder_add(b, STR("mediaType"), value_of_str(media_type));
        object_builder_add(b, STR("size"), value_of_int((int64_t)size));
        object_builder_add(b, STR("digest"), value_of_str(digest));
}

static struct value layer_descriptor(struct arena *a, const struct xpkg_image *image, size_t i, bool with_roles)
{
        struct str role =
                oci_annotation(image->parsed.labels, ARENA_CONCAT(a, STR(ROLE_LABEL ":"), image->layers[i].digest).p);
        struct object_builder b, annotations;

        object_builder_init(&b, a, 4);
        add_descriptor(&b, STR(DOCKER_MEDIA_LAYER), image->layers[i].bytes.n, image->layers[i].digest);
        if (with_roles && role.n > 0) {
                object_builder_init(&annotations, a, 1);
                object_builder_add(&annotations, STR(ROLE_LABEL), value_of_str(role));
                object_builder_add(&b, STR("annotations"), object_builder_finish(&annotations));
        }
        return object_builder_finish(&b);
}

int xpkg_image_manifest(struct arena *a, const struct xpkg_image *image, bool with_roles,
                        const struct value *annotations, struct str *ret, struct err *err)
{
        struct object_builder b, config;
        struct array_builder layers;
        struct value root;

        object_builder_init(&config, a, 3);
        add_descriptor(&config, STR(DOCKER_MEDIA_CONFIG), image->config.n, oci_digest_of(a, image->config));
        array_builder_init(&layers, a, image->n_layers);
        for (size_t i = 0; i < image->n_layers; i++)
                array_builder_add(&layers, layer_descriptor(a, image, i, with_roles));
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("schemaVersion"), value_of_int(2));
        object_builder_add(&b, STR("mediaType"), value_of_literal(DOCKER_MEDIA_MANIFEST));
        object_builder_add(&b, STR("config"), object_builder_finish(&config));
        object_builder_add(&b, STR("layers"), array_builder_finish(&layers));
        if (value_count(annotations) > 0)
                object_builder_add(&b, STR("annotations"), *value_sorted(a, annotations));
        root = object_builder_finish(&b);
        return json_to_str(a, &root, JSON_ESCAPE_HTML, ret, err);
}
