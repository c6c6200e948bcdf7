#include "oci-cache-base.h"

#include "oci-unpack.h"
#include "vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Something that may go. */
struct candidate {
        char path[128];
        int64_t used_ns;
        uint64_t bytes;
        bool is_image;
};

typedef VEC(struct candidate) candidates;

static int64_t nanoseconds(struct timespec t)
{
        return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static DIR *open_directory(struct oci_cache *c, const char *name)
{
        int fd = openat(c->directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);

        if (fd >= 0 && !d)
                close(fd);
        return d;
}

/* Files that are kept whole: blobs and partial downloads. A download in progress is locked and stays. */
static void list_files(struct oci_cache *c, const char *name, candidates *ret, uint64_t *total)
{
        DIR *d = open_directory(c, name);

        for (struct dirent *e; d && (e = readdir(d));) {
                struct candidate candidate = { .is_image = false };
                struct stat st;

                if (e->d_name[0] == '.' || strlen(e->d_name) > 100 ||
                    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                snprintf(candidate.path, sizeof(candidate.path), "%s/%s", name, e->d_name);
                candidate.used_ns = nanoseconds(st.st_mtim);
                candidate.bytes = (uint64_t)st.st_blocks * 512;
                *total += candidate.bytes;
                vec_push(ret, candidate);
        }
        if (d)
                closedir(d);
}

static bool has_holders(int image)
{
        int fd = openat(image, "holders", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        bool has = false;

        for (struct dirent *e; d && !has && (e = readdir(d));)
                has = e->d_name[0] != '.';
        if (d)
                closedir(d);
        return has;
}

static uint64_t image_bytes(int image)
{
        _cleanup_arena_ struct arena a;
        struct str text;

        arena_init(&a, "size", 0);
        return oci_cache_read(&a, image, "size", &text) < 0 ? 0 : strtoull(text.p, NULL, 10);
}

static void list_images(struct oci_cache *c, candidates *ret, uint64_t *total)
{
        DIR *d = open_directory(c, "images");

        for (struct dirent *e; d && (e = readdir(d));) {
                struct candidate candidate = { .is_image = true };
                _cleanup_close_ int image = -1, use = -1;
                struct stat st;

                if (e->d_name[0] == '.' || strlen(e->d_name) > 100)
                        continue;
                image = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
                if (image < 0)
                        continue;
                candidate.bytes = image_bytes(image);
                *total += candidate.bytes;
                use = openat(image, "use", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
                if (has_holders(image) || (use >= 0 && flock(use, LOCK_EX | LOCK_NB) < 0))
                        continue;
                candidate.used_ns = use >= 0 && fstat(use, &st) == 0 ? nanoseconds(st.st_mtim) : 0;
                snprintf(candidate.path, sizeof(candidate.path), "images/%s", e->d_name);
                vec_push(ret, candidate);
        }
        if (d)
                closedir(d);
}

/* Images that processes began to unpack before they were killed. */
static void remove_unfinished(struct oci_cache *c)
{
        DIR *d = open_directory(c, ".");

        for (struct dirent *e; d && (e = readdir(d));) {
                _cleanup_close_ int fd = -1;

                if (strncmp(e->d_name, "new-", 4) != 0)
                        continue;
                fd = openat(c->directory, e->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
                if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
                        (void)oci_remove_tree(c->directory, e->d_name, NULL);
        }
        if (d)
                closedir(d);
}

static int by_use(const void *a, const void *b)
{
        const struct candidate *one = a, *two = b;

        return (one->used_ns > two->used_ns) - (one->used_ns < two->used_ns);
}

static int remove_candidate(struct oci_cache *c, const struct candidate *candidate, struct err *err)
{
        _cleanup_close_ int fd = -1;

        if (!candidate->is_image) {
                fd = openat(c->directory, candidate->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
                if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !oci_cache_is_at(c, candidate->path, fd))
                        return 0; /* it is gone, or on its way */
                unlinkat(c->directory, candidate->path, 0);
                return 1;
        }
        return oci_remove_tree(c->directory, candidate->path, err) < 0 ? err->code : 1;
}

/* Blobs are only there to unpack images again, so they go before images. */
static int shrink(struct oci_cache *c, candidates *all, uint64_t *total, struct err *err)
{
        if (all->n > 0)
                qsort(all->p, all->n, sizeof(*all->p), by_use);
        for (size_t i = 0; i < all->n && c->options.max_bytes > 0 && *total > c->options.max_bytes; i++) {
                int r = remove_candidate(c, &all->p[i], err);

                if (r < 0)
                        return r;
                *total -= r > 0 ? MIN(*total, all->p[i].bytes) : 0;
        }
        return 0;
}

int oci_cache_collect(struct oci_cache *c, uint64_t *ret_bytes, struct err *err)
{
        _cleanup_err_ struct err own = { 0 };
        candidates blobs = { 0 }, images = { 0 };
        uint64_t total = 0;
        int r;

        oci_cache_lock(c);
        remove_unfinished(c);
        list_files(c, "partial", &blobs, &total);
        list_files(c, "blobs", &blobs, &total);
        list_images(c, &images, &total);
        r = shrink(c, &blobs, &total, &own);
        if (r >= 0)
                r = shrink(c, &images, &total, &own);
        oci_cache_unlock(c);
        vec_done(&blobs);
        vec_done(&images);
        if (ret_bytes)
                *ret_bytes = total;
        return r < 0 && err ? err_move(err, &own) : r;
}
