#include "xpkg-image.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "oci-digest.h"
#include "oci-layer.h"

#include <errno.h>
#include <unistd.h>

#define ROLE_LABEL      "io.crossplane.xpkg"
#define PACKAGE_FILE    STR("package.yaml")
#define WHITEOUT        STR(".wh.")
#define MAX_LAYER_BYTES (1ll << 30) /* of a layer that may have package.yaml */
#define MAX_MEMORY      (1ll << 30) /* of an image's layers, in memory */

/* Pushing */

static int push_image(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                      const struct xpkg_image *image, struct str manifest, struct oci_wait wait, struct err *err)
{
        struct oci_descriptor config = { .digest = oci_digest_of(a, image->config),
                                         .size_bytes = (int64_t)image->config.n };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < image->n_layers; i++) {
                struct oci_descriptor layer = { .digest = image->layers[i].digest,
                                                .size_bytes = (int64_t)image->layers[i].bytes.n };

                r = oci_push_blob(c, ref, &layer, image->layers[i].bytes, -1, wait, err);
        }
        if (r >= 0)
                r = oci_push_blob(c, ref, &config, image->config, -1, wait, err);
        return r < 0 ? r : oci_push_manifest(c, ref, STR(DOCKER_MEDIA_MANIFEST), manifest, wait, err);
}

static struct value platform_value(struct arena *a, const struct oci_platform *p)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("architecture"), value_of_str(p->architecture));
        object_builder_add(&b, STR("os"), value_of_str(p->os));
        if (p->os_version.n > 0)
                object_builder_add(&b, STR("os.version"), value_of_str(p->os_version));
        return object_builder_finish(&b);
}

static int push_index(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                      const struct xpkg_image *images, const struct str *manifests, size_t n,
                      const struct value *annotations, struct oci_wait wait, struct str *ret_digest, struct err *err)
{
        struct object_builder b;
        struct array_builder list;
        struct value root;
        struct str json;
        int r;

        array_builder_init(&list, a, n);
        for (size_t i = 0; i < n; i++) {
                struct object_builder child;

                object_builder_init(&child, a, 5);
                object_builder_add(&child, STR("mediaType"), value_of_literal(DOCKER_MEDIA_MANIFEST));
                object_builder_add(&child, STR("size"), value_of_int((int64_t)manifests[i].n));
                object_builder_add(&child, STR("digest"), value_of_str(oci_digest_of(a, manifests[i])));
                object_builder_add(&child, STR("platform"), platform_value(a, &images[i].parsed.platform));
                object_builder_add(&child, STR("artifactType"), value_of_literal(DOCKER_MEDIA_CONFIG));
                array_builder_add(&list, object_builder_finish(&child));
        }
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("schemaVersion"), value_of_int(2));
        object_builder_add(&b, STR("mediaType"), value_of_literal(OCI_MEDIA_INDEX));
        object_builder_add(&b, STR("manifests"), array_builder_finish(&list));
        if (value_count(annotations) > 0)
                object_builder_add(&b, STR("annotations"), *value_sorted(a, annotations));
        root = object_builder_finish(&b);
        r = json_to_str(a, &root, JSON_ESCAPE_HTML, &json, err);
        if (r < 0)
                return r;
        *ret_digest = oci_digest_of(a, json);
        return oci_push_manifest(c, ref, STR(OCI_MEDIA_INDEX), json, wait, err);
}

int xpkg_push(struct oci_client *c, struct arena *a, const struct oci_reference *ref, const struct xpkg_image *images,
              size_t n, const struct value *annotations, struct oci_wait wait, struct str *ret_digest, struct err *err)
{
        struct str *manifests = ARENA_NEW_ARRAY(a, struct str, n);
        struct oci_reference at = *ref;
        int r = 0;

        if (n > 1)
                at.tag = STR(""); /* children are known by their digests alone */
        for (size_t i = 0; r >= 0 && i < n; i++) {
                r = xpkg_image_manifest(a, &images[i], true, annotations, &manifests[i], err);
                if (r >= 0)
                        r = push_image(c, a, &at, &images[i], manifests[i], wait, err);
        }
        if (r < 0)
                return r;
        *ret_digest = oci_digest_of(a, manifests[0]);
        return n == 1 ? 0 : push_index(c, a, ref, images, manifests, n, annotations, wait, ret_digest, err);
}

/* package.yaml of a layer */

static struct str base_name(struct str path)
{
        return str_skip(path, (size_t)(str_find_last_char(path, '/') + 1));
}

/* The paths that upper layers removed. */
struct removed {
        struct str *paths;
        size_t n, capacity;
};

static void add_removed(struct arena *a, struct removed *removed, struct str path)
{
        if (removed->n == removed->capacity) {
                struct str *larger =
                        ARENA_NEW_ARRAY(a, struct str, removed->capacity = MAX(removed->capacity * 2, (size_t)16));

                if (removed->n > 0)
                        memcpy(larger, removed->paths, removed->n * sizeof(*larger));
                removed->paths = larger;
        }
        removed->paths[removed->n++] = arena_copy(a, path);
}

static bool is_removed(const struct removed *removed, struct str path)
{
        for (size_t i = 0; i < removed->n; i++) {
                struct str gone = removed->paths[i];

                if (str_starts_with(path, gone) && (path.n == gone.n || gone.n == 0 || path.p[gone.n] == '/'))
                        return true;
        }
        return false;
}

static struct str clean(struct str path)
{
        while (str_cut_prefix(&path, STR("./")) || str_cut_prefix(&path, STR("/")))
                ;
        return path;
}

struct search {
        struct arena *arena;
        bool is_exact;
        struct removed removed;   /* by layers above this one */
        struct removed whiteouts; /* of this one */
        bool is_found;
        struct str yaml;
};

static int read_content(struct arena *a, struct oci_tar *t, const struct oci_tar_entry *e, struct str *ret,
                        struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_PACKAGE_YAML_BYTES);
        char block[16 << 10];
        int64_t n;

        if (e->size_bytes > LIMIT_PACKAGE_YAML_BYTES)
                return err_set(err, ERR_LIMIT, "package.yaml has %lld bytes; the limit is %u", (long long)e->size_bytes,
                               LIMIT_PACKAGE_YAML_BYTES);
        while ((n = oci_tar_read(t, block, sizeof(block), err)) > 0)
                buf_append(&b, block, (size_t)n);
        if (n < 0)
                return (int)n;
        *ret = buf_to_arena(&b, a);
        return 1;
}

/* Notes what the entry removes from lower layers. */
static void note_whiteout(struct search *s, struct str path, struct str name)
{
        struct str parent = str_first(path, path.n - name.n);

        str_cut_suffix(&parent, STR("/"));
        if (str_equal(name, STR(".wh..wh..opq")))
                add_removed(s->arena, &s->whiteouts, parent);
        else
                add_removed(s->arena, &s->whiteouts,
                            ARENA_CONCAT(s->arena, parent, parent.n > 0 ? STR("/") : STR(""),
                                         str_skip(name, WHITEOUT.n)));
}

static int search_tar(struct search *s, struct oci_tar *t, struct str *ret, struct err *err)
{
        struct oci_tar_entry e;
        uint64_t n_entries = 0;
        int r;

        while ((r = oci_tar_next(t, &e, err)) > 0) {
                struct str path = clean(e.name), name = base_name(path);

                if (++n_entries > LIMIT_IMAGE_ENTRIES)
                        return err_set(err, ERR_LIMIT, "a layer has more than %d entries", LIMIT_IMAGE_ENTRIES);
                if (str_starts_with(name, WHITEOUT))
                        note_whiteout(s, path, name);
                else if (e.type == OCI_TAR_FILE && str_equal(s->is_exact ? e.name : name, PACKAGE_FILE) &&
                         !is_removed(&s->removed, path))
                        return read_content(s->arena, t, &e, ret, err);
        }
        return r;
}

/* An oci_consume_fn: looks for package.yaml in the layer. */
static int search_layer(void *search, oci_read_fn *read, void *bytes, struct err *err)
{
        struct oci_layer_options options = { .read = read, .context = bytes };
        struct search *s = search;
        _cleanup_(oci_layer_freep)
        struct oci_layer *layer = oci_layer_new(&options);
        struct oci_tar t;
        int r;

        s->whiteouts.n = 0;
        oci_tar_init(&t, oci_layer_read, layer);
        r = search_tar(s, &t, &s->yaml, err);
        oci_tar_done(&t);
        s->is_found = r > 0;
        return MIN(r, 0);
}

/* The layer is done: 1 with the text, 0 if it has none. */
static int end_layer(struct search *s, struct str *ret)
{
        for (size_t i = 0; i < s->whiteouts.n; i++)
                add_removed(s->arena, &s->removed, s->whiteouts.paths[i]);
        if (s->is_found)
                *ret = s->yaml;
        return s->is_found;
}

static int search_bytes(struct search *s, struct str bytes, struct str *ret, struct err *err)
{
        int r = search_layer(s, oci_read_str, &bytes, err);

        return r < 0 ? r : end_layer(s, ret);
}

/* Packages */

static int no_package(struct err *err)
{
        return err_set(err, ERR_NOT_FOUND, "failed to fetch package: it has no package.yaml; is it a package at all?");
}

/* The number of the base layer, or the number of layers without one. */
static int find_base(const struct oci_manifest *m, bool is_exact, size_t *ret, struct err *err)
{
        size_t n = 0;

        *ret = m->n_layers;
        for (size_t i = m->n_layers; i-- > 0;)
                if (str_equal(oci_annotation(m->layers[i].annotations, ROLE_LABEL), STR("base"))) {
                        *ret = i; /* the first one wins */
                        n++;
                }
        if (is_exact && n > 1)
                return err_set(err, ERR_INVALID, "package is invalid due to multiple annotated base layers");
        return 0;
}

static int pull_layer(struct oci_client *c, struct search *s, const struct oci_reference *ref,
                      const struct oci_descriptor *d, struct oci_wait wait, struct str *ret, struct err *err)
{
        int r;

        if (d->size_bytes > MAX_LAYER_BYTES)
                return err_set(err, ERR_LIMIT, "layer %.*s of %.*s/%.*s has %lld bytes; the limit of packages is %lld",
                               STR_ARG(d->digest), STR_ARG(ref->registry), STR_ARG(ref->repository),
                               (long long)d->size_bytes, MAX_LAYER_BYTES);
        r = oci_pull_stream(c, ref, d, search_layer, s, wait, err);
        return r < 0 ? r : end_layer(s, ret);
}

int xpkg_pull_yaml(struct oci_client *c, struct arena *a, const struct oci_reference *ref, bool is_exact,
                   struct oci_wait wait, struct str *ret_yaml, struct str *ret_digest, struct err *err)
{
        struct oci_platform platform = { STR("linux"), STR("amd64"), STR(""), STR("") };
        struct search s = { .arena = a, .is_exact = is_exact };
        struct oci_fetched fetched;
        size_t base;
        int r = oci_pull_platform(c, a, ref, &platform, wait, &fetched, ret_digest, err);

        if (r >= 0)
                r = find_base(&fetched.manifest, is_exact, &base, err);
        if (r < 0)
                return r;
        if (base < fetched.manifest.n_layers) {
                r = pull_layer(c, &s, ref, &fetched.manifest.layers[base], wait, ret_yaml, err);
        } else {
                for (size_t i = fetched.manifest.n_layers; r == 0 && i-- > 0;)
                        r = pull_layer(c, &s, ref, &fetched.manifest.layers[i], wait, ret_yaml, err);
        }
        return r == 0 ? no_package(err) : r < 0 ? r : 0;
}

int xpkg_image_yaml(struct arena *a, const struct xpkg_image *image, struct str *ret_yaml, struct err *err)
{
        struct search s = { .arena = a, .is_exact = true };
        size_t n_bases = 0;
        int r = 0;

        for (size_t i = 0; i < image->n_layers; i++) {
                struct str key = ARENA_CONCAT(a, STR(ROLE_LABEL ":"), image->layers[i].digest);

                if (!str_equal(oci_annotation(image->parsed.labels, key.p), STR("base")))
                        continue;
                if (++n_bases > 1)
                        return err_set(err, ERR_INVALID, "package is invalid due to multiple annotated base layers");
                r = search_bytes(&s, image->layers[i].bytes, ret_yaml, err);
        }
        for (size_t i = image->n_layers; n_bases == 0 && r == 0 && i-- > 0;)
                r = search_bytes(&s, image->layers[i].bytes, ret_yaml, err);
        return r == 0 ? no_package(err) : r < 0 ? r : 0;
}

/* Images */

/* The manifest and the configuration. The layers have their sizes alone. */
static int pull_head(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                     const struct oci_platform *platform, struct oci_wait wait, struct oci_fetched *fetched,
                     struct xpkg_image *image, struct err *err)
{
        int r = oci_pull_platform(c, a, ref, platform, wait, fetched, NULL, err);

        if (r >= 0)
                r = oci_pull_bytes(c, a, ref, &fetched->manifest.config, LIMIT_MANIFEST_BYTES, wait, &image->config,
                                   err);
        if (r < 0)
                return r;
        r = oci_config_parse(a, image->config, &image->parsed, err);
        if (r >= 0 && image->parsed.diff_ids.n != fetched->manifest.n_layers)
                r = err_set(err, ERR_INVALID, "the image has %zu layers, but its configuration has %zu",
                            fetched->manifest.n_layers, image->parsed.diff_ids.n);
        if (r < 0)
                return err_wrap(err, "%.*s", STR_ARG(oci_reference_text(a, ref)));
        image->n_layers = fetched->manifest.n_layers;
        image->layers = ARENA_NEW_ARRAY(a, struct xpkg_layer, image->n_layers);
        for (size_t i = 0; i < image->n_layers; i++) {
                const struct oci_descriptor *d = &fetched->manifest.layers[i];

                image->layers[i] = (struct xpkg_layer) { .digest = d->digest,
                                                         .diff_id = image->parsed.diff_ids.p[i],
                                                         .bytes = { NULL, (size_t)d->size_bytes } };
        }
        return 0;
}

static int pull_layers(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                       const struct oci_fetched *fetched, struct xpkg_image *image, struct oci_wait wait,
                       struct err *err)
{
        int64_t left = MAX_MEMORY;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < image->n_layers; i++) {
                left -= MIN(left, fetched->manifest.layers[i].size_bytes);
                if (left == 0)
                        return err_set(err, ERR_LIMIT, "%.*s: its layers have more than %lld bytes",
                                       STR_ARG(oci_reference_text(a, ref)), MAX_MEMORY);
                r = oci_pull_bytes(c, a, ref, &fetched->manifest.layers[i], MAX_MEMORY, wait, &image->layers[i].bytes,
                                   err);
        }
        return r;
}

int xpkg_pull_image(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                    const struct oci_platform *platform, struct oci_wait wait, struct xpkg_image *ret, struct err *err)
{
        struct xpkg_image image = { 0 };
        struct oci_fetched fetched;
        int r = pull_head(c, a, ref, platform, wait, &fetched, &image, err);

        if (r >= 0)
                r = pull_layers(c, a, ref, &fetched, &image, wait, err);
        if (r >= 0)
                *ret = image;
        return r;
}

/* Layers on their way from the registry into a file. */
struct copying {
        struct oci_client *client;
        const struct oci_reference *ref;
        const struct oci_manifest *manifest;
        struct oci_wait wait;
        int fd;
        off_t start; /* of the layer in the file */
};

static int copy_bytes(void *context, oci_read_fn *read, void *blob, struct err *err)
{
        struct copying *c = context;
        char block[16 << 10];
        int64_t n;
        int r = 0;

        if (ftruncate(c->fd, c->start) < 0 || lseek(c->fd, c->start, SEEK_SET) < 0)
                return err_set_errno(err, errno, "cannot write the package");
        while (r >= 0 && (n = read(blob, block, sizeof(block), err)) != 0)
                r = n < 0 ? (int)n : xpkg_write(c->fd, str_make(block, (size_t)n), err);
        return r;
}

static int copy_layer(void *context, size_t i, int fd, struct err *err)
{
        struct copying *c = context;

        c->fd = fd;
        c->start = lseek(fd, 0, SEEK_CUR);
        if (c->start < 0)
                return err_set_errno(err, errno, "cannot write the package");
        return oci_pull_stream(c->client, c->ref, &c->manifest->layers[i], copy_bytes, c, c->wait, err);
}

int xpkg_pull_file(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                   const struct oci_platform *platform, struct oci_wait wait, int fd, struct err *err)
{
        struct xpkg_image image = { 0 };
        struct oci_fetched fetched;
        struct copying copying = { .client = c, .ref = ref, .manifest = &fetched.manifest, .wait = wait };
        int r = pull_head(c, a, ref, platform, wait, &fetched, &image, err);

        return r < 0 ? r : xpkg_image_write(&image, fd, copy_layer, &copying, err);
}
