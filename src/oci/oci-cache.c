#include "oci-cache-base.h"

#include "buf.h"
#include "directory.h"
#include "oci-digest.h"
#include "oci-layer.h"
#include "oci-unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define VERSION "weft images 1\n"

/* Files */

static int write_all(int fd, struct str text)
{
        while (text.n > 0) {
                ssize_t n = write(fd, text.p, text.n);

                if (n < 0 && errno != EINTR)
                        return -errno;
                text = str_skip(text, n > 0 ? (size_t)n : 0);
        }
        return 0;
}

/* Puts the text where nobody sees a part of it: beside, then renamed. */
int oci_cache_write(int directory, const char *name, struct str text, struct err *err)
{
        static _Atomic unsigned counter;
        char beside[64];
        int fd, r;

        snprintf(beside, sizeof(beside), "new-%d-%u", (int)getpid(), counter++);
        fd = openat(directory, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot write %s of the image cache", name);
        r = write_all(fd, text);
        close(fd);
        if (r == 0 && renameat(directory, beside, directory, name) < 0)
                r = -errno;
        if (r < 0) {
                unlinkat(directory, beside, 0);
                return err_set_errno(err, -r, "cannot write %s of the image cache", name);
        }
        return 0;
}

/* The whole file in the arena; -1 if it cannot be read. */
int oci_cache_read(struct arena *a, int directory, const char *name, struct str *ret)
{
        _cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_MANIFEST_BYTES + 1);
        ssize_t n;

        if (fd < 0)
                return -1;
        do {
                if (!buf_reserve(&b, 4096))
                        return -1;
                n = read(fd, b.p + b.n, 4096);
                b.n += n > 0 ? (size_t)n : 0;
        } while (n > 0 || (n < 0 && errno == EINTR));
        *ret = buf_to_arena(&b, a);
        return n < 0 ? -1 : 0;
}

static int make_directory(int at, const char *name, struct err *err)
{
        if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make %s", name);
        return 0;
}

/* The cache */

static int check_version(struct oci_cache *c, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct str text;

        arena_init(&a, "cache", 0);
        if (oci_cache_read(&a, c->directory, "version", &text) < 0)
                return oci_cache_write(c->directory, "version", STR(VERSION), err);
        if (!str_equal(text, STR(VERSION)))
                return err_set(err, ERR_UNSUPPORTED,
                               "it was made by another version of this program (\"%.*s\"): remove the directory",
                               STR_ARG(str_first(str_trim(text), 64)));
        return 0;
}

static int open_cache(struct oci_cache *c, struct err *err)
{
        static const char *const names[] = { "blobs", "partial", "tags", "images" };
        int r = directory_make(c->path, 0700, 0777, err);

        if (r < 0)
                return r;
        c->directory = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (c->directory < 0)
                return err_set_errno(err, errno, "cannot open it");
        c->lock = openat(c->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (c->lock < 0)
                return err_set_errno(err, errno, "cannot open its lock");
        oci_cache_lock(c);
        r = check_version(c, err);
        oci_cache_unlock(c);
        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(names); i++)
                r = make_directory(c->directory, names[i], err);
        return r;
}

int oci_cache_open(const struct oci_cache_options *options, struct oci_cache **ret, struct err *err)
{
        _cleanup_(oci_cache_freep)
        struct oci_cache *c = xcalloc(1, sizeof(*c));
        int r;

        c->options = *options;
        c->path = str_to_cstring(str_from(options->directory));
        c->directory = c->lock = -1;
        mutex_init(&c->mutex);
        r = open_cache(c, err);
        if (r < 0)
                return err_wrap(err, "image cache %s", options->directory);
        *ret = TAKE(c);
        return 0;
}

void oci_cache_free(struct oci_cache *c)
{
        if (!c)
                return;
        if (c->directory >= 0)
                close(c->directory);
        if (c->lock >= 0)
                close(c->lock);
        mutex_done(&c->mutex);
        free(c->path);
        free(c);
}

/* Two threads share the descriptor, and so its lock: the mutex is between them. */
void oci_cache_lock(struct oci_cache *c)
{
        mutex_lock(&c->mutex);
        while (flock(c->lock, LOCK_EX) < 0 && errno == EINTR)
                ;
}

void oci_cache_unlock(struct oci_cache *c)
{
        flock(c->lock, LOCK_UN);
        mutex_unlock(&c->mutex);
}

/* Tags */

static struct str tag_name(struct arena *a, const struct oci_reference *ref)
{
        struct str text = oci_reference_text(a, ref);

        return ARENA_CONCAT(a, STR("tags/"), oci_digest_hex(oci_digest_of(a, text)));
}

int oci_cache_remembered(struct oci_cache *c, struct arena *a, const struct oci_reference *ref, struct str *ret_digest)
{
        struct str text;

        if (oci_cache_read(a, c->directory, tag_name(a, ref).p, &text) < 0 || !oci_digest_is_valid(text))
                return 0;
        *ret_digest = text;
        return 1;
}

void oci_cache_remember(struct oci_cache *c, const struct oci_reference *ref, struct str digest)
{
        _cleanup_arena_ struct arena a;
        _cleanup_close_ int tags = openat(c->directory, "tags", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        arena_init(&a, "tag", 0);
        if (tags >= 0)
                (void)oci_cache_write(tags, tag_name(&a, ref).p + 5, digest, NULL);
}

/* Blobs */

static int open_blob(struct oci_cache *c, const char *hex)
{
        char name[80];
        int fd;

        snprintf(name, sizeof(name), "blobs/%s", hex);
        fd = openat(c->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0)
                futimens(fd, NULL); /* used now */
        return fd;
}

/* Waits until no other process downloads the same blob, or until the deadline. */
static int lock_partial(int fd, struct oci_wait wait, struct err *err)
{
        while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                int r;

                if (errno != EWOULDBLOCK && errno != EINTR)
                        return err_set_errno(err, errno, "cannot lock a partial download");
                if (deadline_has_passed(wait.deadline))
                        return err_set(err, ERR_TIMEOUT, "another process downloads the same blob: deadline exceeded");
                r = thread_sleep(deadline_earliest(wait.deadline, deadline_after_ms(20)), wait.cancel);
                if (r < 0 && cancel_is_triggered(wait.cancel))
                        return cancel_check(wait.cancel, err);
        }
        return 0;
}

bool oci_cache_is_at(struct oci_cache *c, const char *name, int fd)
{
        struct stat one, two;

        return fstat(fd, &one) == 0 && fstatat(c->directory, name, &two, AT_SYMLINK_NOFOLLOW) == 0 &&
               one.st_ino == two.st_ino;
}

static int download(struct oci_cache *c, struct oci_client *client, const struct oci_reference *ref,
                    const struct oci_descriptor *blob, const char *hex, struct oci_wait wait, int *ret_fd,
                    struct err *err)
{
        _cleanup_close_ int fd = -1;
        char partial[80], whole[80];
        int r;

        snprintf(partial, sizeof(partial), "partial/%s", hex);
        snprintf(whole, sizeof(whole), "blobs/%s", hex);
        fd = openat(c->directory, partial, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot open a partial download in the image cache");
        r = lock_partial(fd, wait, err);
        if (r < 0)
                return r;
        /* Another process may have finished it while we waited. */
        if (!oci_cache_is_at(c, partial, fd))
                return 1;
        r = oci_pull_blob(client, ref, blob, fd, wait, err);
        if (r < 0)
                return r;
        if (fsync(fd) < 0 || fchmod(fd, 0400) < 0 || renameat(c->directory, partial, c->directory, whole) < 0)
                return err_set_errno(err, errno, "cannot keep a blob in the image cache");
        *ret_fd = open_blob(c, hex);
        return *ret_fd < 0 ? err_set_errno(err, errno, "cannot open a blob of the image cache") : 0;
}

int oci_cache_blob(struct oci_cache *c, struct oci_client *client, const struct oci_reference *ref,
                   const struct oci_descriptor *blob, struct oci_wait wait, int *ret_fd, struct err *err)
{
        char hex[OCI_HEX_BYTES + 1];

        memcpy(hex, oci_digest_hex(blob->digest).p, OCI_HEX_BYTES);
        hex[OCI_HEX_BYTES] = 0;
        for (;;) {
                int fd = open_blob(c, hex), r;

                if (fd >= 0) {
                        *ret_fd = fd;
                        return 0;
                }
                if (!client)
                        return err_set(err, ERR_NOT_FOUND, "blob %.*s is not in the image cache",
                                       STR_ARG(blob->digest));
                r = download(c, client, ref, blob, hex, wait, ret_fd, err);
                if (r <= 0)
                        return r;
        }
}
