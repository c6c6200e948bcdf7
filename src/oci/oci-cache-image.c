#include "oci-cache-base.h"

#include "buf.h"
#include "oci-digest.h"
#include "oci-layer.h"
#include "oci-unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

struct oci_image {
        _Atomic unsigned references;
        struct arena arena;
        int root;
        int use; /* locked (shared) while the image is used */
        struct str path, digest;
        struct oci_config config;
};

struct oci_image *oci_image_ref(struct oci_image *i)
{
        atomic_fetch_add(&i->references, 1);
        return i;
}

void oci_image_unref(struct oci_image *i)
{
        if (!i || atomic_fetch_sub(&i->references, 1) > 1)
                return;
        if (i->root >= 0)
                close(i->root);
        if (i->use >= 0)
                close(i->use);
        arena_done(&i->arena);
        free(i);
}

int oci_image_root(const struct oci_image *i)
{
        return i->root;
}

const char *oci_image_path(const struct oci_image *i)
{
        return i->path.p;
}

const struct oci_config *oci_image_config(const struct oci_image *i)
{
        return &i->config;
}

struct str oci_image_digest(const struct oci_image *i)
{
        return i->digest;
}

/* Opening what is there */

static int load(struct oci_image *i, int directory, struct err *err)
{
        struct str json;

        i->use = openat(directory, "use", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        i->root = openat(directory, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (i->use < 0 || i->root < 0 || flock(i->use, LOCK_SH) < 0)
                return err_set_errno(err, errno, "cannot use an image of the cache");
        futimens(i->use, NULL);
        if (oci_cache_read(&i->arena, directory, "config.json", &json) < 0)
                return err_set(err, ERR_FAILED, "cannot read the configuration of an image of the cache");
        return oci_config_parse(&i->arena, json, &i->config, err);
}

/* 1 with the image, 0 if it is not there. The caller holds the lock of the cache, so that no collection removes the image before it is
 * locked. */
static int open_locked(struct oci_cache *c, struct str digest, struct oci_image **ret, struct err *err)
{
        _cleanup_(oci_image_unrefp)
        struct oci_image *i = xcalloc(1, sizeof(*i));
        _cleanup_close_ int directory = -1;
        char name[80];
        int r;

        atomic_init(&i->references, 1);
        arena_init(&i->arena, "image", 0);
        i->root = i->use = -1;
        snprintf(name, sizeof(name), "images/%.*s", STR_ARG(oci_digest_hex(digest)));
        i->digest = arena_copy(&i->arena, digest);
        i->path = arena_printf(&i->arena, "%s/%s/root", c->path, name);
        directory = openat(c->directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (directory < 0)
                return 0;
        r = load(i, directory, err);
        if (r < 0)
                return r;
        *ret = TAKE(i);
        return 1;
}

static int open_image(struct oci_cache *c, struct str digest, struct oci_image **ret, struct err *err)
{
        int r;

        oci_cache_lock(c);
        r = open_locked(c, digest, ret, err);
        oci_cache_unlock(c);
        return r;
}

/* Unpacking */

struct source {
        struct oci_cache *cache;
        struct oci_client *client;
        const struct oci_reference *ref;
        const struct oci_fetched *fetched;
        struct oci_config config;
        struct oci_wait wait;
        const struct oci_content *content; /* NULL: the blobs are in the cache or in the registry */
};

static int unpack_layer(const struct source *s, struct oci_unpack *u, size_t i, struct err *err)
{
        _cleanup_close_ int fd = -1;
        _cleanup_(oci_layer_freep)
        struct oci_layer *layer = NULL;
        const struct oci_descriptor *d = &s->fetched->manifest.layers[i];
        struct str bytes = s->content ? s->content->layers[i] : STR("");
        int r = cancel_check(s->wait.cancel, err);

        if (r >= 0 && !s->content)
                r = oci_cache_blob(s->cache, s->client, s->ref, d, s->wait, &fd, err);
        if (r < 0)
                return r;
        layer = oci_layer_new(s->content ? &(struct oci_layer_options) { .read = oci_read_str, .context = &bytes }
                                         : &(struct oci_layer_options) { .read = oci_read_fd, .context = &fd });
        r = oci_unpack_layer(u, oci_layer_read, layer, err);
        if (r >= 0)
                r = oci_layer_finish(layer, s->config.diff_ids.p[i], err);
        return r < 0 ? err_wrap(err, "layer %zu (%.*s)", i + 1, STR_ARG(d->digest)) : 0;
}

static int unpack_layers(const struct source *s, int root, uint64_t *ret_bytes, struct err *err)
{
        struct oci_unpack_options options = {
                .directory = root,
                .keeps_owners = s->cache->options.keeps_owners,
                .first_id = s->cache->options.first_id,
                .max_bytes = s->cache->options.max_image_bytes,
        };
        _cleanup_(oci_unpack_freep)
        struct oci_unpack *u = oci_unpack_new(&options);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->fetched->manifest.n_layers; i++)
                r = unpack_layer(s, u, i, err);
        *ret_bytes = oci_unpack_bytes(u);
        return r;
}

static int write_files(const struct source *s, struct arena *a, int directory, struct str config, uint64_t n_bytes,
                       struct err *err)
{
        int r = oci_cache_write(directory, "manifest.json", s->fetched->json, err);

        if (r >= 0)
                r = oci_cache_write(directory, "config.json", config, err);
        if (r >= 0)
                r = oci_cache_write(directory, "size", arena_printf(a, "%llu", (unsigned long long)n_bytes), err);
        if (r >= 0)
                r = oci_cache_write(directory, "use", STR(""), err);
        if (r >= 0 && mkdirat(directory, "holders", 0700) < 0)
                r = err_set_errno(err, errno, "cannot make holders");
        return r;
}

static int fill(const struct source *s, struct arena *a, int directory, struct str config, struct err *err)
{
        _cleanup_close_ int root = -1;
        uint64_t n_bytes;
        int r;

        /* The mode must not depend on the umask, because programs of the image run as other users. */
        if (mkdirat(directory, "root", 0755) < 0 || fchmodat(directory, "root", 0755, 0) < 0)
                return err_set_errno(err, errno, "cannot make root");
        root = openat(directory, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (root < 0)
                return err_set_errno(err, errno, "cannot open root");
        r = unpack_layers(s, root, &n_bytes, err);
        return r < 0 ? r : write_files(s, a, directory, config, n_bytes, err);
}

/* Moves the finished image to its place and opens it. Another process may have been faster: then ours goes, and that one is opened. */
static int publish(struct oci_cache *c, const char *beside, struct str digest, struct oci_image **ret, struct err *err)
{
        char name[80];
        int r = 0;

        snprintf(name, sizeof(name), "images/%.*s", STR_ARG(oci_digest_hex(digest)));
        oci_cache_lock(c);
        if (renameat(c->directory, beside, c->directory, name) < 0 && errno != ENOTEMPTY && errno != EEXIST)
                r = err_set_errno(err, errno, "cannot move an image to its place");
        if (r == 0)
                r = open_locked(c, digest, ret, err);
        if (r == 0) /* only another program can have taken it */
                r = err_set_errno(err, errno, "cannot open an image of the cache");
        oci_cache_unlock(c);
        return r;
}

static int read_config(struct source *s, struct arena *a, struct str *ret, struct err *err)
{
        const struct oci_manifest *m = &s->fetched->manifest;
        _cleanup_close_ int fd = -1;
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_MANIFEST_BYTES + 1);
        int64_t n = 1;
        int r;

        if (m->config.size_bytes > LIMIT_MANIFEST_BYTES)
                return err_set(err, ERR_LIMIT, "its configuration has %lld bytes; the limit is %u",
                               (long long)m->config.size_bytes, LIMIT_MANIFEST_BYTES);
        r = oci_cache_blob(s->cache, s->client, s->ref, &m->config, s->wait, &fd, err);
        while (r >= 0 && n > 0 && buf_reserve(&b, 4096)) {
                n = oci_read_fd(&fd, b.p + b.n, 4096, err);
                b.n += n > 0 ? (size_t)n : 0;
                r = n < 0 ? (int)n : 0;
        }
        if (r >= 0)
                *ret = buf_to_arena(&b, a);
        return r;
}

static int check_config(struct source *s, struct arena *a, struct str *ret, struct err *err)
{
        const struct oci_manifest *m = &s->fetched->manifest;
        int r = 0;

        if (s->content)
                *ret = s->content->config;
        else
                r = read_config(s, a, ret, err);
        if (r >= 0)
                r = oci_config_parse(a, *ret, &s->config, err);
        if (r >= 0 && s->config.diff_ids.n != m->n_layers)
                r = err_set(err, ERR_INVALID, "it has %zu layers, but its configuration has %zu", m->n_layers,
                            s->config.diff_ids.n);
        return r;
}

/* An image that is too large does not fill the disk first. */
static int check_size(const struct source *s, struct err *err)
{
        uint64_t n_bytes = 0, max_bytes = s->cache->options.max_image_bytes;

        for (size_t i = 0; i < s->fetched->manifest.n_layers; i++)
                n_bytes += (uint64_t)s->fetched->manifest.layers[i].size_bytes;
        if (max_bytes > 0 && n_bytes > max_bytes)
                return err_set(err, ERR_LIMIT, "its layers have %llu bytes; the image cache takes %llu",
                               (unsigned long long)n_bytes, (unsigned long long)max_bytes);
        return 0;
}

/* A directory that is locked, which tells collections that we are alive. */
static int new_directory(struct oci_cache *c, const char *name, struct err *err)
{
        int fd = -1, r = 0;

        oci_cache_lock(c);
        (void)oci_remove_tree(c->directory, name, NULL); /* of a process that had our number */
        if (mkdirat(c->directory, name, 0700) == 0)
                fd = openat(c->directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                r = err_set_errno(err, errno, "cannot make a directory in the image cache");
        else
                flock(fd, LOCK_EX);
        oci_cache_unlock(c);
        return r < 0 ? r : fd;
}

static int unpack_image(struct source *s, struct oci_image **ret, struct err *err)
{
        static _Atomic unsigned counter;
        struct oci_cache *c = s->cache;
        _cleanup_arena_ struct arena a;
        _cleanup_close_ int directory = -1;
        char beside[64];
        struct str config;
        int r;

        arena_init(&a, "image", 0);
        r = check_size(s, err);
        if (r >= 0)
                r = check_config(s, &a, &config, err);
        if (r < 0)
                return r;
        snprintf(beside, sizeof(beside), "new-%d-i%u", (int)getpid(), counter++);
        directory = new_directory(c, beside, err);
        if (directory < 0)
                return directory;
        r = fill(s, &a, directory, config, err);
        if (r >= 0)
                r = publish(c, beside, s->fetched->digest, ret, err);
        (void)oci_remove_tree(c->directory, beside, NULL);
        return r;
}

/* Opens the image, which is unpacked first if it is not there. */
static int obtain(struct source *s, struct oci_image **ret, struct err *err)
{
        int r = open_image(s->cache, s->fetched->digest, ret, err);

        if (r == 0)
                r = unpack_image(s, ret, err);
        return r < 0 ? r : 0;
}

/* Digests of what is cached need no registry: that of a manifest names its image, that of an index was remembered. Tags count only
 * without a client: they may mean something else by now. */
static int find_cached(struct oci_cache *c, const struct oci_reference *ref, struct oci_client *client,
                       struct oci_image **ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct str digest;
        int r = 0;

        arena_init(&a, "reference", 0);
        if (ref->digest.n > 0)
                r = open_image(c, ref->digest, ret, err);
        if (r == 0 && (ref->digest.n > 0 || !client) && oci_cache_remembered(c, &a, ref, &digest) > 0)
                r = open_image(c, digest, ret, err);
        return r;
}

int oci_cache_image(struct oci_cache *c, struct oci_client *client, const struct oci_reference *ref,
                    const struct oci_platform *platform, struct oci_wait wait, struct oci_image **ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct oci_fetched fetched;
        struct source s = { c, client, ref, &fetched, { 0 }, wait, NULL };
        int r;

        arena_init(&a, "image", 0);
        r = find_cached(c, ref, client, ret, err);
        if (r != 0)
                return r < 0 ? r : 0;
        if (!client)
                return err_set(err, ERR_NOT_FOUND, "%.*s is not in the image cache",
                               STR_ARG(oci_reference_text(&a, ref)));
        r = oci_pull_platform(client, &a, ref, platform, wait, &fetched, NULL, err);
        if (r < 0)
                return r;
        oci_cache_remember(c, ref, fetched.digest);
        r = obtain(&s, ret, err);
        (void)oci_cache_collect(c, NULL, NULL); /* what was refused takes room as well */
        return r < 0 ? err_wrap(err, "image %.*s", STR_ARG(oci_reference_text(&a, ref))) : 0;
}

/* The blobs must be those that the manifest names. */
static int check_content(const struct oci_content *content, const struct oci_manifest *m, struct arena *a,
                         struct err *err)
{
        if (m->is_index || m->n_layers != content->n_layers)
                return err_set(err, ERR_INVALID, "the image has %zu layers, but its manifest has %zu",
                               content->n_layers, m->n_layers);
        if (!str_equal(oci_digest_of(a, content->config), m->config.digest))
                return err_set(err, ERR_INVALID, "the configuration of the image is not that of its manifest");
        for (size_t i = 0; i < m->n_layers; i++)
                if (!str_equal(oci_digest_of(a, content->layers[i]), m->layers[i].digest))
                        return err_set(err, ERR_INVALID, "layer %zu of the image is not that of its manifest", i + 1);
        return 0;
}

int oci_cache_import(struct oci_cache *c, const struct oci_content *content, struct oci_image **ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct oci_fetched fetched = { .json = content->manifest };
        struct source s = { c, NULL, NULL, &fetched, { 0 }, { .deadline = DEADLINE_NONE }, content };
        int r;

        arena_init(&a, "image", 0);
        r = oci_manifest_parse(&a, content->manifest, STR(""), &fetched.manifest, err);
        if (r >= 0)
                r = check_content(content, &fetched.manifest, &a, err);
        if (r < 0)
                return r;
        fetched.digest = oci_digest_of(&a, content->manifest);
        return obtain(&s, ret, err);
}

/* Holders */

static int holder_path(char path[512], struct str digest, const char *holder, struct err *err)
{
        size_t n = strlen(holder);

        if (n == 0 || n > 200 || holder[0] == '.' ||
            strspn(holder, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != n)
                return err_set(err, ERR_INVALID, "\"%s\" cannot be the name of a holder of an image", holder);
        if (!oci_digest_is_valid(digest))
                return oci_digest_check(digest, err);
        snprintf(path, 512, "images/%.*s/holders/%s", STR_ARG(oci_digest_hex(digest)), holder);
        return 0;
}

int oci_cache_hold(struct oci_cache *c, struct str manifest_digest, const char *holder, struct err *err)
{
        char path[512];
        int fd, r = holder_path(path, manifest_digest, holder, err);

        if (r < 0)
                return r;
        oci_cache_lock(c);
        fd = openat(c->directory, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        r = fd < 0 ? err_set_errno(err, errno, "cannot hold image %.*s", STR_ARG(manifest_digest)) : 0;
        oci_cache_unlock(c);
        if (fd >= 0)
                close(fd);
        return r;
}

int oci_cache_release(struct oci_cache *c, struct str manifest_digest, const char *holder, struct err *err)
{
        char path[512];
        int r = holder_path(path, manifest_digest, holder, err);

        if (r < 0)
                return r;
        oci_cache_lock(c);
        if (unlinkat(c->directory, path, 0) < 0 && errno != ENOENT && errno != ENOTDIR)
                r = err_set_errno(err, errno, "cannot release image %.*s", STR_ARG(manifest_digest));
        oci_cache_unlock(c);
        return r;
}
