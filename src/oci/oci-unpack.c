#include "oci-unpack.h"

#include "limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define WHITEOUT       STR(".wh.")
#define OPAQUE         STR(".wh..wh..opq")
#define MAX_BASE       255
#define DIRECTORY_MODE 0755

/* A set of inode numbers: what this layer has made. An inode that is removed and used again belongs to this layer as well, because
 * nothing else makes files. */
struct inodes {
        uint64_t *slots; /* 0: free */
        size_t n, capacity;
};

struct oci_unpack {
        struct oci_unpack_options options;
        struct inodes made;
        uint64_t n_bytes, n_entries;
};

static size_t slot_of(const struct inodes *s, uint64_t inode)
{
        size_t i = (size_t)(inode * 0x9e3779b97f4a7c15ull >> 20) & (s->capacity - 1);

        while (s->slots[i] != 0 && s->slots[i] != inode)
                i = (i + 1) & (s->capacity - 1);
        return i;
}

static void inodes_add(struct inodes *s, uint64_t inode)
{
        if (s->n * 2 >= s->capacity) {
                struct inodes larger = { .capacity = MAX(s->capacity * 2, (size_t)64) };

                larger.slots = xcalloc(larger.capacity, sizeof(*larger.slots));
                for (size_t i = 0; i < s->capacity; i++)
                        if (s->slots[i] != 0)
                                larger.slots[slot_of(&larger, s->slots[i])] = s->slots[i];
                larger.n = s->n;
                free(s->slots);
                *s = larger;
        }
        s->n += s->slots[slot_of(s, inode)] == 0;
        s->slots[slot_of(s, inode)] = inode;
}

static bool inodes_have(const struct inodes *s, uint64_t inode)
{
        return s->n > 0 && s->slots[slot_of(s, inode)] == inode;
}

struct oci_unpack *oci_unpack_new(const struct oci_unpack_options *options)
{
        struct oci_unpack *u = xcalloc(1, sizeof(*u));

        u->options = *options;
        if (u->options.max_bytes == 0)
                u->options.max_bytes = LIMIT_IMAGE_BYTES;
        if (u->options.max_entries == 0)
                u->options.max_entries = LIMIT_IMAGE_ENTRIES;
        return u;
}

void oci_unpack_free(struct oci_unpack *u)
{
        if (!u)
                return;
        free(u->made.slots);
        free(u);
}

uint64_t oci_unpack_bytes(const struct oci_unpack *u)
{
        return u->n_bytes;
}

/* Removing */

static bool is_dot(const char *name)
{
        return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Opens a directory beneath another one, which must be there and must not be a link. */
static int open_beneath(int directory, const char *name)
{
        return openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes the contents of a directory but for what `keep` has, and directories that are not empty then. Takes over the descriptor. */
static int remove_lower(int fd, const struct inodes *keep, unsigned level)
{
        DIR *d = fdopendir(fd);
        int r = 0;

        if (!d) {
                close(fd);
                return -errno;
        }
        for (struct dirent *e; r == 0 && (e = readdir(d));) {
                struct stat st;
                int child;

                if (is_dot(e->d_name))
                        continue;
                if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                        r = -errno;
                } else if (!S_ISDIR(st.st_mode)) {
                        if (!inodes_have(keep, st.st_ino) && unlinkat(dirfd(d), e->d_name, 0) < 0)
                                r = -errno;
                } else {
                        child = level < LIMIT_TAR_LEVELS ? open_beneath(dirfd(d), e->d_name) : (errno = ELOOP, -1);
                        r = child < 0 ? -errno : remove_lower(child, keep, level + 1);
                        if (r == 0 && !inodes_have(keep, st.st_ino) &&
                            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY && errno != EEXIST)
                                r = -errno;
                }
        }
        closedir(d);
        return r;
}

/* Moves a directory to the top under a name that is free there. */
static int move_up(int from, const char *name, int top)
{
        static _Atomic unsigned counter;

        for (;;) {
                char free_name[32];

                snprintf(free_name, sizeof(free_name), ".remove-%u", counter++);
                if (renameat2(from, name, top, free_name, RENAME_NOREPLACE) == 0)
                        return 0;
                if (errno != EEXIST)
                        return -errno;
        }
}

/* Empties a directory beneath the top: files go, directories move to the top. */
static int flatten(int top, const char *name)
{
        DIR *d;
        int fd = open_beneath(top, name), r = 0;

        if (fd < 0 && errno == EACCES && fchmodat(top, name, 0700, 0) == 0)
                fd = open_beneath(top, name);
        if (fd < 0)
                return -errno;
        fchmod(fd, 0700);
        d = fdopendir(fd);
        if (!d) {
                close(fd);
                return -errno;
        }
        for (struct dirent *e; r == 0 && (e = readdir(d));) {
                if (is_dot(e->d_name) || unlinkat(dirfd(d), e->d_name, 0) == 0)
                        continue;
                r = errno == EISDIR || errno == EPERM ? move_up(dirfd(d), e->d_name, top) : -errno;
        }
        closedir(d);
        if (r == 0 && unlinkat(top, name, AT_REMOVEDIR) < 0)
                r = -errno;
        return r;
}

/* Removes everything in a directory. A tree can be deeper than there are descriptors, so nothing here descends: directories move up
 * until none is left. Takes over the descriptor. */
static int remove_contents(int fd)
{
        DIR *d = fdopendir(fd);
        bool has_more = true;
        int r = 0;

        if (!d) {
                close(fd);
                return -errno;
        }
        fchmod(fd, 0700);
        while (r == 0 && has_more) {
                has_more = false;
                rewinddir(d);
                for (struct dirent *e; r == 0 && (e = readdir(d));) {
                        if (is_dot(e->d_name) || unlinkat(dirfd(d), e->d_name, 0) == 0)
                                continue;
                        has_more = true;
                        r = errno == EISDIR || errno == EPERM ? flatten(dirfd(d), e->d_name) : -errno;
                }
        }
        closedir(d);
        return r;
}

/* Removes the entry, whatever it is. 0 or a negative errno. */
static int remove_entry(int directory, const char *name)
{
        struct stat st;
        int fd, r;

        if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISDIR(st.st_mode))
                return unlinkat(directory, name, 0) < 0 ? -errno : 0;
        fd = open_beneath(directory, name);
        if (fd < 0)
                return -errno;
        r = remove_contents(fd);
        if (r == 0 && unlinkat(directory, name, AT_REMOVEDIR) < 0)
                r = -errno;
        return r;
}

int oci_remove_tree(int directory, const char *name, struct err *err)
{
        int r = remove_entry(directory, name);

        return r < 0 ? err_set_errno(err, -r, "cannot remove %s", name) : 0;
}

/* Names */

struct place {
        int parent;       /* the directory that the entry goes to */
        const char *base; /* its name there */
};

/* `usr/./bin/x` becomes `usr/bin/x`, in place. Empty for the root itself. */
static int clean_name(const struct oci_tar_entry *e, struct str name, const char *what, char ret[LIMIT_TAR_PATH_BYTES],
                      struct err *err)
{
        struct str rest = name, part;
        unsigned levels = 0;
        size_t n = 0;

        if (name.n >= LIMIT_TAR_PATH_BYTES)
                return err_set(err, ERR_LIMIT, "its %s has %zu bytes; the limit is %d", what, name.n,
                               LIMIT_TAR_PATH_BYTES - 1);
        if (name.n > 0 && name.p[0] == '/')
                return err_set(err, ERR_INVALID, "its %s is absolute", what);
        for (bool has_more = true; has_more;) {
                has_more = str_split(&rest, '/', &part);
                if (part.n == 0 || str_equal(part, STR(".")))
                        continue;
                if (str_equal(part, STR("..")))
                        return err_set(err, ERR_INVALID, "its %s has \"..\"", what);
                if (part.n > MAX_BASE || ++levels > LIMIT_TAR_LEVELS)
                        return err_set(err, ERR_LIMIT, "its %s is too long or too deep", what);
                if (n > 0)
                        ret[n++] = '/';
                memcpy(ret + n, part.p, part.n);
                n += part.n;
        }
        ret[n] = 0;
        return 0;
}

/* Opens a directory of the image as a program inside would: links are followed, with the image as the root. */
static int open_in_image(const struct oci_unpack *u, const char *path)
{
        struct open_how how = {
                .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
        };
        int fd;

        do
                fd = (int)syscall(SYS_openat2, u->options.directory, *path ? path : ".", &how, sizeof(how));
        while (fd < 0 && (errno == EAGAIN || errno == EINTR));
        return fd < 0 ? -errno : fd;
}

static int set_owner(const struct oci_unpack *u, int directory, const char *base, uint32_t uid, uint32_t gid)
{
        if (!u->options.keeps_owners)
                return 0;
        if (uid > UINT32_MAX - 1 - u->options.first_id || gid > UINT32_MAX - 1 - u->options.first_id)
                return -EINVAL;
        return fchownat(directory, base, uid + u->options.first_id, gid + u->options.first_id, AT_SYMLINK_NOFOLLOW) < 0
                       ? -errno
                       : 0;
}

/* Makes one directory on the way to an entry, which the archive has not named before. A file in its place is removed: the entry
 * says that it is a directory now. */
static int make_parent(struct oci_unpack *u, const char *path)
{
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        _cleanup_free_ char *above = str_to_cstring(str_make(path, slash ? (size_t)(slash - path) : 0));
        _cleanup_close_ int fd = open_in_image(u, above);
        struct stat st;

        if (fd < 0)
                return fd;
        if (mkdirat(fd, base, DIRECTORY_MODE) < 0) {
                if (errno != EEXIST)
                        return -errno;
                /* A file, or a link that leads nowhere. */
                if (unlinkat(fd, base, 0) < 0 || mkdirat(fd, base, DIRECTORY_MODE) < 0)
                        return -errno;
        }
        if (fchmodat(fd, base, DIRECTORY_MODE, 0) < 0) /* whatever the umask is */
                return -errno;
        if (fstatat(fd, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
                inodes_add(&u->made, st.st_ino);
        return set_owner(u, fd, base, 0, 0);
}

/* Opens the directory at path; with makes, what is missing on the way is made. */
static int open_parent(struct oci_unpack *u, char *path, bool makes)
{
        int fd = open_in_image(u, path);

        if (fd >= 0 || !makes || (fd != -ENOENT && fd != -ENOTDIR))
                return fd;
        for (char *end = path;; end++) {
                char *slash = strchr(end, '/');
                int r;

                if (slash)
                        *slash = 0;
                r = open_in_image(u, path);
                if (r >= 0)
                        close(r);
                else if (r == -ENOENT || r == -ENOTDIR)
                        r = make_parent(u, path);
                if (slash)
                        *slash = '/';
                if (r < 0)
                        return r;
                if (!slash)
                        return open_in_image(u, path);
                end = slash;
        }
}

/* Splits a clean path and opens the directory that its last part is in. */
static int find_place(struct oci_unpack *u, char *path, bool makes, struct place *ret, struct err *err)
{
        char *slash = strrchr(path, '/');
        int fd;

        if (slash)
                *slash = 0;
        fd = open_parent(u, slash ? path : (char[]) { "" }, makes);
        if (fd < 0)
                return err_set_errno(err, -fd, "cannot open its directory");
        *ret = (struct place) { .parent = fd, .base = slash ? slash + 1 : path };
        return 0;
}

/* Entries */

static uint32_t mode_of(const struct oci_unpack *u, const struct oci_tar_entry *e)
{
        uint32_t mode = u->options.keeps_owners ? e->mode : e->mode & 01777;

        /* Without privileges we must be able to read what we unpack, and to remove it. */
        if (!u->options.keeps_owners)
                mode |= e->type == OCI_TAR_DIRECTORY ? 0700 : 0400;
        return mode;
}

static int write_content(struct oci_unpack *u, struct oci_tar *t, int fd, struct err *err)
{
        char block[64 << 10];
        int64_t n;

        while ((n = oci_tar_read(t, block, sizeof(block), err)) > 0) {
                for (int64_t done = 0; done < n;) {
                        ssize_t r = write(fd, block + done, (size_t)(n - done));

                        if (r < 0 && errno != EINTR)
                                return err_set_errno(err, errno, "cannot write it");
                        done += r > 0 ? r : 0;
                }
                u->n_bytes += (uint64_t)n;
        }
        return (int)n;
}

static int unpack_file(struct oci_unpack *u, struct oci_tar *t, const struct oci_tar_entry *e, const struct place *at,
                       struct err *err)
{
        struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = (time_t)e->modified.seconds } };
        _cleanup_close_ int fd = -1;
        int r;

        if ((uint64_t)e->size_bytes > u->options.max_bytes - u->n_bytes)
                return err_set(err, ERR_LIMIT, "with it the image has more than %llu bytes of files",
                               (unsigned long long)u->options.max_bytes);
        fd = openat(at->parent, at->base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return err_set_errno(err, errno, "cannot make it");
        r = write_content(u, t, fd, err);
        if (r < 0)
                return r;
        r = set_owner(u, at->parent, at->base, e->uid, e->gid);
        if (r < 0)
                return err_set_errno(err, -r, "cannot set its owner");
        /* After the owner: a change of the owner clears setuid. */
        if (fchmod(fd, mode_of(u, e)) < 0)
                return err_set_errno(err, errno, "cannot set its mode");
        futimens(fd, times);
        return 0;
}

/* A directory that is there keeps its contents. */
static int unpack_directory(struct oci_unpack *u, const struct oci_tar_entry *e, const struct place *at,
                            struct err *err)
{
        int r;

        if (mkdirat(at->parent, at->base, 0700) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make it");
        r = set_owner(u, at->parent, at->base, e->uid, e->gid);
        if (r < 0)
                return err_set_errno(err, -r, "cannot set its owner");
        return fchmodat(at->parent, at->base, mode_of(u, e), 0) < 0 ? err_set_errno(err, errno, "cannot set its mode")
                                                                    : 0;
}

static int unpack_symlink(struct oci_unpack *u, const struct oci_tar_entry *e, const struct place *at, struct err *err)
{
        int r;

        if (e->link.n == 0 || e->link.n >= LIMIT_TAR_PATH_BYTES)
                return err_set(err, ERR_INVALID, "its target is empty or too long");
        if (symlinkat(e->link.p, at->parent, at->base) < 0)
                return err_set_errno(err, errno, "cannot make it");
        r = set_owner(u, at->parent, at->base, e->uid, e->gid);
        return r < 0 ? err_set_errno(err, -r, "cannot set its owner") : 0;
}

static int unpack_hard_link(struct oci_unpack *u, const struct oci_tar_entry *e, const struct place *at,
                            struct err *err)
{
        struct str target = e->link;
        char path[LIMIT_TAR_PATH_BYTES];
        struct place from;
        struct stat st;
        int r;

        while (str_cut_prefix(&target, STR("/"))) /* some tools write the target as an absolute path of the image */
                ;
        r = clean_name(e, target, "target", path, err);
        if (r >= 0)
                r = find_place(u, path, false, &from, err);
        if (r < 0)
                return r;
        if (fstatat(from.parent, from.base, &st, AT_SYMLINK_NOFOLLOW) < 0)
                r = err_set_errno(err, errno, "its target %.*s", STR_ARG(e->link));
        else if (S_ISDIR(st.st_mode))
                r = err_set(err, ERR_INVALID, "its target %.*s is a directory", STR_ARG(e->link));
        else if (linkat(from.parent, from.base, at->parent, at->base, 0) < 0)
                r = err_set_errno(err, errno, "cannot make it");
        close(from.parent);
        return r;
}

/* Removes what is in the way: everything but a directory where a directory goes. */
static int make_way(const struct oci_tar_entry *e, const struct place *at, struct err *err)
{
        struct stat st;
        int r;

        if (fstatat(at->parent, at->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot look at it");
        if (S_ISDIR(st.st_mode) && e->type == OCI_TAR_DIRECTORY)
                return 0;
        r = remove_entry(at->parent, at->base);
        return r < 0 ? err_set_errno(err, -r, "cannot replace what lower layers have there") : 0;
}

/* A link to itself would otherwise be removed and then missed. */
static bool links_to_itself(const struct oci_tar_entry *e, const char *path)
{
        char target[LIMIT_TAR_PATH_BYTES];

        return e->type == OCI_TAR_HARD_LINK && clean_name(e, e->link, "target", target, NULL) >= 0 &&
               strcmp(target, path) == 0;
}

static int unpack_at(struct oci_unpack *u, struct oci_tar *t, const struct oci_tar_entry *e, const struct place *at,
                     struct err *err)
{
        struct stat st;
        int r = make_way(e, at, err);

        if (r < 0)
                return r;
        switch (e->type) {
        case OCI_TAR_FILE:
                r = unpack_file(u, t, e, at, err);
                break;
        case OCI_TAR_DIRECTORY:
                r = unpack_directory(u, e, at, err);
                break;
        case OCI_TAR_SYMLINK:
                r = unpack_symlink(u, e, at, err);
                break;
        case OCI_TAR_HARD_LINK:
                r = unpack_hard_link(u, e, at, err);
                break;
        case OCI_TAR_CHARACTER_DEVICE:
        case OCI_TAR_BLOCK_DEVICE:
        case OCI_TAR_FIFO:
                r = err_set(err, ERR_FORBIDDEN, "images with devices or named pipes are refused");
                break;
        }
        if (r >= 0 && fstatat(at->parent, at->base, &st, AT_SYMLINK_NOFOLLOW) == 0)
                inodes_add(&u->made, st.st_ino);
        return r;
}

/* Whiteouts remove only what is of lower layers. */
static int apply_whiteout(struct oci_unpack *u, const struct place *at, struct err *err)
{
        const char *name = at->base + WHITEOUT.n;
        struct stat st;
        int fd, r;

        if (str_equal(str_from(at->base), OPAQUE)) {
                fd = openat(at->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                r = fd < 0 ? -errno : remove_lower(fd, &u->made, 0);
                return r < 0 ? err_set_errno(err, -r, "cannot empty its directory") : 0;
        }
        if (str_starts_with(str_from(name), WHITEOUT))
                return 0; /* .wh..wh.plnk and the like: marks of the storage driver that made the layer */
        if (*name == 0 || is_dot(name))
                return err_set(err, ERR_INVALID, "it removes nothing that can be named");
        if (fstatat(at->parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || inodes_have(&u->made, st.st_ino))
                return 0;
        r = remove_entry(at->parent, name);
        return r < 0 ? err_set_errno(err, -r, "cannot remove %s", name) : 0;
}

static int set_root(struct oci_unpack *u, const struct oci_tar_entry *e, struct err *err)
{
        int r;

        if (e->type != OCI_TAR_DIRECTORY)
                return err_set(err, ERR_INVALID, "it would replace the root of the image");
        r = set_owner(u, u->options.directory, ".", e->uid, e->gid);
        if (r < 0)
                return err_set_errno(err, -r, "cannot set its owner");
        return fchmod(u->options.directory, mode_of(u, e)) < 0 ? err_set_errno(err, errno, "cannot set its mode") : 0;
}

static int unpack_entry(struct oci_unpack *u, struct oci_tar *t, const struct oci_tar_entry *e, struct err *err)
{
        char path[LIMIT_TAR_PATH_BYTES];
        bool is_whiteout;
        struct place at;
        int r;

        if (++u->n_entries > u->options.max_entries)
                return err_set(err, ERR_LIMIT, "the image has more than %llu entries",
                               (unsigned long long)u->options.max_entries);
        r = clean_name(e, e->name, "name", path, err);
        if (r < 0)
                return r;
        if (!*path)
                return set_root(u, e, err);
        if (links_to_itself(e, path))
                return 0;
        is_whiteout = str_starts_with(str_from(strrchr(path, '/') ? strrchr(path, '/') + 1 : path), WHITEOUT);
        r = find_place(u, path, !is_whiteout || str_ends_with(e->name, OPAQUE), &at, err);
        if (r < 0)
                return is_whiteout ? 0 : r; /* nothing there to remove */
        r = is_whiteout ? apply_whiteout(u, &at, err) : unpack_at(u, t, e, &at, err);
        close(at.parent);
        return r;
}

int oci_unpack_layer(struct oci_unpack *u, oci_read_fn *read, void *context, struct err *err)
{
        struct oci_tar_entry e;
        struct oci_tar t;
        int r;

        free(u->made.slots);
        u->made = (struct inodes) { 0 };
        oci_tar_init(&t, read, context);
        while ((r = oci_tar_next(&t, &e, err)) > 0) {
                r = unpack_entry(u, &t, &e, err);
                if (r < 0) {
                        err_wrap(err, "entry \"%.*s\" (%s)", STR_ARG(str_first(e.name, 256)),
                                 oci_tar_type_name(e.type));
                        break;
                }
        }
        oci_tar_done(&t);
        return r < 0 ? r : 0;
}
