/* Layers: compression, tar, and what unpacking makes of honest and hostile ones. */
#include "test.h"

#include "arena.h"
#include "buf.h"
#include "limits.h"
#include "oci-digest.h"
#include "oci-layer.h"
#include "oci-unpack.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

/* A directory for an image, beside a file that nothing may touch. */
struct place {
        char top[64];
        int root;
};

static void place_init(struct place *p)
{
        char path[128];
        int fd;

        snprintf(p->top, sizeof(p->top), "/tmp/test-unpack-XXXXXX");
        ASSERT(mkdtemp(p->top));
        snprintf(path, sizeof(path), "%s/outside", p->top);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ASSERT(fd >= 0 && write(fd, "untouched", 9) == 9);
        close(fd);
        snprintf(path, sizeof(path), "%s/root", p->top);
        ASSERT(mkdir(path, 0755) == 0);
        p->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT(p->root >= 0);
}

static struct str read_at(struct arena *a, int directory, const char *path)
{
        _cleanup_close_ int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
        char block[4096];
        ssize_t n = fd < 0 ? -1 : read(fd, block, sizeof(block));

        return n < 0 ? STR("<none>") : arena_copy(a, str_make(block, (size_t)n));
}

static void place_done(struct place *p)
{
        _cleanup_close_ int top = open(p->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                            tmp = open("/tmp", O_RDONLY | O_CLOEXEC);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        int n = 0;
        DIR *d;

        arena_init(&a, "test", 0);
        ASSERT_STR(read_at(&a, top, "outside"), STR("untouched"));
        d = opendir(p->top);
        while (readdir(d))
                n++;
        closedir(d);
        ASSERT_INT(n, 4);
        close(p->root);
        if (oci_remove_tree(tmp, p->top + 5, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT(access(p->top, F_OK) < 0);
}

/* An archive by hand. */
#define FILE_(b, name, text)       oci_tar_append_file(b, str_from(name), 0644, str_from(text))
#define ENTRY(b, type, name, link) oci_tar_append_entry(b, type, str_from(name), str_from(link), 0755, 0)

static int unpack(struct oci_unpack *u, struct buf *b, struct err *err)
{
        struct str rest;

        oci_tar_append_end(b);
        rest = buf_str(b);
        return oci_unpack_layer(u, oci_read_str, &rest, err);
}

static int unpack_one(struct place *p, struct buf *b, struct err *err)
{
        _cleanup_(oci_unpack_freep)
        struct oci_unpack *u = oci_unpack_new(&(struct oci_unpack_options) { .directory = p->root });

        return unpack(u, b, err);
}

TEST(entries)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        char deep[300];
        struct stat st, other;
        struct place p;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        place_init(&p);
        memset(deep, 'x', sizeof(deep));
        memcpy(deep + 120, "/", 1);
        memcpy(deep + 230, "/y", 3);
        ENTRY(&b, OCI_TAR_DIRECTORY, "./", "");
        ENTRY(&b, OCI_TAR_DIRECTORY, "./bin/", "");
        FILE_(&b, "./bin/sh", "shell");
        FILE_(&b, "made/on/the/way", "yes");
        ENTRY(&b, OCI_TAR_SYMLINK, "lib", "/bin");
        FILE_(&b, "lib/libc", "through an absolute link");
        ENTRY(&b, OCI_TAR_HARD_LINK, "bin/ash", "bin/sh");
        ENTRY(&b, OCI_TAR_HARD_LINK, "bin/ash2", "/bin/sh");
        ENTRY(&b, OCI_TAR_HARD_LINK, "bin/sh", "bin/sh");
        FILE_(&b, deep, "deep");
        FILE_(&b, "n\xc3\xa4me", "pax");
        FILE_(&b, "bin/twice", "one");
        FILE_(&b, "bin/twice", "two");
        if (unpack_one(&p, &b, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(read_at(&a, p.root, "bin/sh"), STR("shell"));
        ASSERT_STR(read_at(&a, p.root, "made/on/the/way"), STR("yes"));
        ASSERT_STR(read_at(&a, p.root, "bin/libc"), STR("through an absolute link"));
        ASSERT_STR(read_at(&a, p.root, deep), STR("deep"));
        ASSERT_STR(read_at(&a, p.root, "n\xc3\xa4me"), STR("pax"));
        ASSERT_STR(read_at(&a, p.root, "bin/twice"), STR("two"));
        ASSERT(fstatat(p.root, "bin/sh", &st, 0) == 0 && fstatat(p.root, "bin/ash", &other, 0) == 0);
        ASSERT(st.st_ino == other.st_ino && st.st_nlink == 3 && (st.st_mode & 07777) == 0644);
        place_done(&p);
}

TEST(layers_over_layers)
{
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_(oci_unpack_freep)
        struct oci_unpack *u = NULL;
        struct place p;
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        place_init(&p);
        u = oci_unpack_new(&(struct oci_unpack_options) { .directory = p.root });
        FILE_(&first, "gone", "1");
        FILE_(&first, "tree/a/b", "1");
        FILE_(&first, "opaque/old", "1");
        FILE_(&first, "opaque/sub/old", "1");
        FILE_(&first, "kept", "1");
        FILE_(&first, "becomes-a-directory", "1");
        FILE_(&first, "becomes-a-file/x", "1");
        ENTRY(&first, OCI_TAR_SYMLINK, "becomes-real", "kept");
        ASSERT(unpack(u, &first, &err) == 0);

        FILE_(&second, ".wh.gone", "");
        FILE_(&second, ".wh.tree", "");
        FILE_(&second, "opaque/new", "2");
        FILE_(&second, "opaque/sub/new", "2");
        FILE_(&second, "opaque/.wh..wh..opq", "");
        FILE_(&second, "fresh", "2");
        FILE_(&second, ".wh.fresh", "");         /* of this layer: it stays */
        FILE_(&second, "no/such/.wh.thing", ""); /* removes nothing */
        FILE_(&second, ".wh..wh.plnk", "");
        FILE_(&second, "becomes-a-directory/x", "2");
        FILE_(&second, "becomes-a-file", "2");
        FILE_(&second, "becomes-real", "2"); /* not through the link */
        if (unpack(u, &second, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(read_at(&a, p.root, "gone"), STR("<none>"));
        ASSERT_STR(read_at(&a, p.root, "tree/a/b"), STR("<none>"));
        ASSERT_STR(read_at(&a, p.root, "opaque/old"), STR("<none>"));
        ASSERT_STR(read_at(&a, p.root, "opaque/sub/old"), STR("<none>"));
        ASSERT_STR(read_at(&a, p.root, "opaque/new"), STR("2"));
        ASSERT_STR(read_at(&a, p.root, "opaque/sub/new"), STR("2"));
        ASSERT_STR(read_at(&a, p.root, "fresh"), STR("2"));
        ASSERT_STR(read_at(&a, p.root, "kept"), STR("1"));
        ASSERT_STR(read_at(&a, p.root, "becomes-a-directory/x"), STR("2"));
        ASSERT_STR(read_at(&a, p.root, "becomes-a-file"), STR("2"));
        ASSERT_STR(read_at(&a, p.root, "becomes-real"), STR("2"));
        ASSERT_STR(read_at(&a, p.root, ".wh.gone"), STR("<none>"));
        ASSERT_STR(read_at(&a, p.root, "no"), STR("<none>"));
        ASSERT(oci_unpack_bytes(u) > 0);
        place_done(&p);
}

TEST(hostile_entries)
{
        static const struct {
                const char *what;
                enum oci_tar_type type;
                const char *name, *link, *error;
        } cases[] = {
                { "dots", OCI_TAR_FILE, "../outside", "", "has \"..\"" },
                { "dots inside", OCI_TAR_FILE, "a/../../outside", "", "has \"..\"" },
                { "absolute", OCI_TAR_FILE, "/tmp/x", "", "is absolute" },
                { "hard link out", OCI_TAR_HARD_LINK, "x", "../outside", "has \"..\"" },
                { "hard link nowhere", OCI_TAR_HARD_LINK, "x", "missing", "missing" },
                { "hard link to a directory", OCI_TAR_HARD_LINK, "x", "dir", "is a directory" },
                { "character device", OCI_TAR_CHARACTER_DEVICE, "null", "", "devices" },
                { "block device", OCI_TAR_BLOCK_DEVICE, "sda", "", "devices" },
                { "pipe", OCI_TAR_FIFO, "pipe", "", "devices" },
                { "root", OCI_TAR_SYMLINK, ".", "/", "the root of the image" },
                { "whiteout of dots", OCI_TAR_FILE, "dir/.wh...", "", "nothing that can be named" },
                { "opaque outside", OCI_TAR_FILE, "../.wh..wh..opq", "", "has \"..\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct place p;

                place_init(&p);
                ENTRY(&b, OCI_TAR_DIRECTORY, "dir/", "");
                ENTRY(&b, cases[i].type, cases[i].name, cases[i].link);
                ASSERT_CASE(cases[i].what, unpack_one(&p, &b, &err) < 0);
                if (!strstr(err_message(&err), cases[i].error) || !strstr(err_message(&err), cases[i].name))
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].what, err_message(&err));
                place_done(&p);
        }
}

/* Links lead nowhere but inside. */
TEST(links_out)
{
        static const char *const targets[] = { "..",         "../..",          "/",
                                               "/tmp",       "../outside",     "../../../../../../tmp",
                                               "a/../../..", "/proc/self/cwd", "/proc/self/fd/3",
                                               "loop" };

        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                struct place p;

                place_init(&p);
                ENTRY(&b, OCI_TAR_SYMLINK, "loop", "loop");
                ENTRY(&b, OCI_TAR_SYMLINK, "link", targets[i]);
                FILE_(&b, "link/outside", "broken into");
                FILE_(&b, "link/root/x", "broken into");
                FILE_(&b, "link/.wh.outside", "");
                FILE_(&b, "link/.wh..wh..opq", "");
                ENTRY(&b, OCI_TAR_HARD_LINK, "hard", "link/outside");
                (void)unpack_one(&p, &b, &err); /* some are errors; place_done checks what is outside */
                place_done(&p);
        }
}

static void check_limit(const struct oci_unpack_options *limits, struct buf *b, const char *error)
{
        _cleanup_(oci_unpack_freep)
        struct oci_unpack *u = NULL;
        struct oci_unpack_options options = *limits;
        _cleanup_err_ struct err err = { 0 };
        struct place p;

        place_init(&p);
        options.directory = p.root;
        u = oci_unpack_new(&options);
        ASSERT(unpack(u, b, &err) == ERR_LIMIT);
        if (!strstr(err_message(&err), error))
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        place_done(&p);
}

TEST(limits)
{
        _cleanup_buf_ struct buf many = BUF_INIT(0), large = BUF_INIT(0), deep = BUF_INIT(0), path = BUF_INIT(0);

        for (int i = 0; i < 2000; i++)
                ENTRY(&many, OCI_TAR_DIRECTORY, "same/", "");
        check_limit(&(struct oci_unpack_options) { .max_entries = 1000 }, &many, "more than 1000 entries");
        FILE_(&large, "a", "0123456789");
        FILE_(&large, "b", "0123456789");
        check_limit(&(struct oci_unpack_options) { .max_bytes = 15 }, &large, "more than 15 bytes");
        for (int i = 0; i < 300; i++)
                buf_append_literal(&path, "d/");
        ENTRY(&deep, OCI_TAR_DIRECTORY, buf_cstring(&path), "");
        check_limit(&(struct oci_unpack_options) { 0 }, &deep, "too deep");
}

/* Links make a tree deeper than a name can be; it must be possible to remove it. */
TEST(a_tree_deeper_than_names)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0), target = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct place p;

        place_init(&p);
        for (int i = 0; i < 200; i++)
                buf_append_literal(&path, "d/");
        buf_append_str(&target, str_first(buf_str(&path), path.n - 1));
        for (int level = 0; level < 3; level++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0), name = BUF_INIT(0);
                char link[16];

                snprintf(link, sizeof(link), "l%d", level);
                if (level == 0)
                        ENTRY(&b, OCI_TAR_DIRECTORY, buf_cstring(&path), "");
                ENTRY(&b, OCI_TAR_SYMLINK, link, buf_cstring(&target));
                buf_appendf(&name, "%s/%s", link, buf_cstring(&path));
                ENTRY(&b, OCI_TAR_DIRECTORY, buf_cstring(&name), "");
                if (unpack_one(&p, &b, &err) < 0)
                        test_fail(__FILE__, __LINE__, "%s", err_message(&err));
                buf_clear(&target);
                buf_append_str(&target, str_first(buf_str(&name), name.n - 1));
        }
        place_done(&p);
}

/* Compression */

static void zstd(struct buf *b, struct str bytes)
{
        size_t bound = ZSTD_compressBound(bytes.n), n;

        ASSERT(buf_reserve(b, bound));
        n = ZSTD_compress(b->p + b->n, bound, bytes.p, bytes.n, 3);
        ASSERT(!ZSTD_isError(n));
        b->n += n;
}

static int read_layer(struct str bytes, uint64_t max_bytes, struct str diff_id, uint64_t *ret_bytes, struct err *err)
{
        struct oci_layer_options options = { .read = oci_read_str, .context = &bytes, .max_bytes = max_bytes };
        _cleanup_(oci_layer_freep)
        struct oci_layer *l = oci_layer_new(&options);
        int r = oci_layer_finish(l, diff_id, err);

        *ret_bytes = oci_layer_bytes(l);
        return r;
}

TEST(codecs)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), gzip = BUF_INIT(0), z = BUF_INIT(0), two = BUF_INIT(0);
        struct str forms[4], wanted;
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        uint64_t n;

        arena_init(&a, "test", 0);
        for (int i = 0; i < 50000; i++)
                buf_appendf(&text, "line %d\n", i * 7919);
        wanted = oci_digest_of(&a, buf_str(&text));
        oci_gzip(&gzip, buf_str(&text));
        zstd(&z, buf_str(&text));
        oci_gzip(&two, str_first(buf_str(&text), 1000));
        oci_gzip(&two, str_skip(buf_str(&text), 1000));
        forms[0] = buf_str(&text);
        forms[1] = buf_str(&gzip);
        forms[2] = buf_str(&z);
        forms[3] = buf_str(&two);
        for (size_t i = 0; i < 4; i++) {
                if (read_layer(forms[i], 0, wanted, &n, &err) < 0)
                        test_fail(__FILE__, __LINE__, "%zu: %s", i, err_message(&err));
                ASSERT_INT(n, text.n);
                ASSERT_INT(read_layer(forms[i], 0, STR("sha256:x"), &n, &err), ERR_INVALID);
                ASSERT_INT(read_layer(forms[i], 1000, STR(""), &n, &err), ERR_LIMIT);
                if (i > 0) { /* cut off */
                        ASSERT_INT(read_layer(str_first(forms[i], forms[i].n - 5), 0, STR(""), &n, &err), ERR_INVALID);
                        ASSERT_INT(read_layer(str_first(forms[i], forms[i].n / 2), 0, STR(""), &n, &err), ERR_INVALID);
                }
        }
        gzip.p[gzip.n / 2] ^= 0x55;
        z.p[z.n / 2] ^= 0x55;
        ASSERT(read_layer(buf_str(&gzip), 0, wanted, &n, &err) == ERR_INVALID);
        ASSERT(read_layer(buf_str(&z), 0, wanted, &n, &err) == ERR_INVALID);
}

TEST(bombs)
{
        _cleanup_buf_ struct buf zeros = BUF_INIT(0), gzip = BUF_INIT(0), z = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        uint64_t n;

        buf_append_repeat(&zeros, 0, 200 << 20);
        oci_gzip(&gzip, buf_str(&zeros));
        ASSERT(read_layer(buf_str(&gzip), 0, STR(""), &n, &err) == ERR_LIMIT);
        ASSERT(strstr(err_message(&err), "not an honest archive") && n <= LIMIT_LAYER_FREE_BYTES + (1 << 20));
        zstd(&z, buf_str(&zeros));
        ASSERT(read_layer(buf_str(&z), 0, STR(""), &n, &err) == ERR_LIMIT);
        ASSERT(n <= LIMIT_LAYER_FREE_BYTES + (1 << 20));
        /* A frame that asks for a window of 2 GiB. */
        ASSERT(read_layer(str_make("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9), 0, STR(""), &n, &err) == ERR_INVALID);
        ASSERT(strstr(err_message(&err), "memory"));
}

/* Archives that are not what a tar is. */
TEST(broken_archives)
{
        _cleanup_buf_ struct buf good = BUF_INIT(0);

        FILE_(&good, "a/long/enough/name", "content of the file");
        oci_tar_append_file(&good, STR("n\xc3\xa4me"), 0644, STR("x"));
        for (size_t cut = 0; cut < good.n; cut += 37) {
                struct str rest = str_first(buf_str(&good), cut);
                struct oci_tar_entry e;
                struct oci_tar t;
                int r;

                oci_tar_init(&t, oci_read_str, &rest);
                while ((r = oci_tar_next(&t, &e, NULL)) > 0)
                        ;
                ASSERT((r == 0) == (cut == 0));
                oci_tar_done(&t);
        }
        for (size_t i = 0; i < 512; i += 13) {
                struct str rest;
                struct oci_tar_entry e;
                struct oci_tar t;

                good.p[i]++;
                rest = buf_str(&good);
                oci_tar_init(&t, oci_read_str, &rest);
                ASSERT(oci_tar_next(&t, &e, NULL) < 0);
                oci_tar_done(&t);
                good.p[i]--;
        }
}
