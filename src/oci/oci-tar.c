/* A tar is a sequence of blocks of 512 bytes: a header, then the content padded with zeros. The header has fixed fields, numbers in octal
 * (or, in GNU's form, big-endian binary with the first bit set):
 *
 *   0 name 100 | 100 mode 8 | 108 uid 8 | 116 gid 8 | 124 size 12 | 136 mtime 12 | 148 checksum 8 | 156 type 1 | 157 link 100 |
 *   257 magic 6 | 263 version 2 | 265 uname 32 | 297 gname 32 | 329 major 8 | 337 minor 8 | 345 prefix 155
 *
 * Headers of types L and K (GNU) and x and g (pax) come before the header that they are about and carry what does not fit there. */
#include "oci-tar.h"

#include "limits.h"

#define BLOCK_BYTES 512

struct header {
        char name[100];
        char mode[8];
        char uid[8];
        char gid[8];
        char size[12];
        char mtime[12];
        char checksum[8];
        char type;
        char link[100];
        char magic[6];
        char version[2];
        char uname[32];
        char gname[32];
        char major[8];
        char minor[8];
        char prefix[155];
        char _padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK_BYTES, "a header is one block");

const char *oci_tar_type_name(enum oci_tar_type type)
{
        static const char *const names[] = {
                [OCI_TAR_FILE] = "a file",
                [OCI_TAR_DIRECTORY] = "a directory",
                [OCI_TAR_SYMLINK] = "a symbolic link",
                [OCI_TAR_HARD_LINK] = "a hard link",
                [OCI_TAR_CHARACTER_DEVICE] = "a character device",
                [OCI_TAR_BLOCK_DEVICE] = "a block device",
                [OCI_TAR_FIFO] = "a named pipe",
        };

        return names[type];
}

void oci_tar_init(struct oci_tar *t, oci_read_fn *read, void *context)
{
        *t = (struct oci_tar) { .read = read, .context = context };
        buf_init(&t->name, LIMIT_TAR_RECORD_BYTES);
        buf_init(&t->link, LIMIT_TAR_RECORD_BYTES);
        buf_init(&t->global, LIMIT_TAR_RECORD_BYTES);
        buf_init(&t->records, LIMIT_TAR_RECORD_BYTES);
}

void oci_tar_done(struct oci_tar *t)
{
        buf_done(&t->name);
        buf_done(&t->link);
        buf_done(&t->global);
        buf_done(&t->records);
}

static int tar_error(const struct oci_tar *t, struct err *err, const char *what)
{
        return err_set(err, ERR_INVALID, "tar: %s at byte %llu", what, (unsigned long long)t->offset);
}

/* Bytes */

/* Reads exactly n bytes; 0 at the end, if nothing was read. */
static int read_whole(struct oci_tar *t, char *p, size_t n, struct err *err)
{
        size_t done = 0;

        while (done < n) {
                int64_t r = t->read(t->context, p + done, n - done, err);

                if (r < 0)
                        return (int)r;
                if (r == 0)
                        return done == 0 ? 0 : tar_error(t, err, "the archive ends inside a block");
                done += (size_t)r;
                t->offset += (uint64_t)r;
        }
        return 1;
}

static int skip(struct oci_tar *t, uint64_t n, struct err *err)
{
        char block[16 << 10];

        while (n > 0) {
                size_t piece = (size_t)MIN(n, (uint64_t)sizeof(block));
                int r = read_whole(t, block, piece, err);

                if (r <= 0)
                        return r < 0 ? r : tar_error(t, err, "the archive ends inside an entry");
                n -= piece;
        }
        return 0;
}

int64_t oci_tar_read(void *tar, void *p, size_t n, struct err *err)
{
        struct oci_tar *t = tar;
        int64_t r;

        n = (size_t)MIN((uint64_t)n, t->left_bytes);
        if (n == 0)
                return 0;
        r = t->read(t->context, p, n, err);
        if (r == 0)
                return tar_error(t, err, "the archive ends inside an entry");
        if (r > 0) {
                t->left_bytes -= (uint64_t)r;
                t->offset += (uint64_t)r;
        }
        return r;
}

/* Numbers */

static int parse_binary(const struct oci_tar *t, const char *p, size_t n, int64_t *ret, struct err *err)
{
        uint64_t number = (uint64_t)(unsigned char)p[0] & 0x3f;
        bool is_negative = p[0] & 0x40;

        for (size_t i = 1; i < n; i++) {
                if (number >> 54)
                        return tar_error(t, err, "a number is too large");
                number = number << 8 | (unsigned char)p[i];
        }
        if (is_negative)
                return tar_error(t, err, "a number is negative");
        *ret = (int64_t)number;
        return 0;
}

/* Octal digits, with spaces before and spaces or NULs after them; empty is 0. */
static int parse_number(const struct oci_tar *t, const char *p, size_t n, int64_t *ret, struct err *err)
{
        int64_t number = 0;
        size_t i = 0;

        if (p[0] & (char)0x80)
                return parse_binary(t, p, n, ret, err);
        while (i < n && p[i] == ' ')
                i++;
        for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
                number = number << 3 | (p[i] - '0'); /* 12 digits at most */
        for (; i < n; i++)
                if (p[i] != ' ' && p[i] != 0)
                        return tar_error(t, err, "a number is not octal");
        *ret = number;
        return 0;
}

static struct str fixed_text(const char *p, size_t n)
{
        const char *end = memchr(p, 0, n);

        return str_make(p, end ? (size_t)(end - p) : n);
}

/* The checksum counts its own field as spaces. Old programs summed signed characters. */
static int check_sum(const struct oci_tar *t, const struct header *h, struct err *err)
{
        const char *bytes = (const char *)h;
        int64_t sum = 0, signed_sum = 0, wanted;

        for (size_t i = 0; i < BLOCK_BYTES; i++) {
                bool is_own = i >= offsetof(struct header, checksum) && i < offsetof(struct header, type);

                sum += is_own ? ' ' : (unsigned char)bytes[i];
                signed_sum += is_own ? ' ' : (signed char)bytes[i];
        }
        if (parse_number(t, h->checksum, sizeof(h->checksum), &wanted, NULL) < 0 ||
            (wanted != sum && wanted != signed_sum))
                return tar_error(t, err, "a header's checksum is wrong");
        return 0;
}

/* Records of pax: `LENGTH KEY=VALUE\n`, where the length counts the whole record. */

static int next_record(const struct oci_tar *t, struct str *rest, struct str *ret_key, struct str *ret_value,
                       struct err *err)
{
        size_t length = 0, i = 0;
        struct str record;

        for (; i < rest->n && rest->p[i] >= '0' && rest->p[i] <= '9' && length <= LIMIT_TAR_RECORD_BYTES; i++)
                length = length * 10 + (size_t)(rest->p[i] - '0');
        if (i == 0 || i >= rest->n || rest->p[i] != ' ' || length > rest->n || length < i + 3 ||
            rest->p[length - 1] != '\n')
                return tar_error(t, err, "a pax record is malformed");
        record = str_make(rest->p + i + 1, length - i - 2);
        *rest = str_skip(*rest, length);
        if (!str_split(&record, '=', ret_key) || ret_key->n == 0)
                return tar_error(t, err, "a pax record is malformed");
        *ret_value = record;
        return 0;
}

/* Decimal, perhaps with a fraction, which is dropped. */
static int parse_decimal(const struct oci_tar *t, struct str s, int64_t *ret, struct err *err)
{
        int64_t number = 0;
        size_t i = 0;

        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
                if (number > INT64_MAX / 16)
                        return tar_error(t, err, "a number of a pax record is too large");
                else
                        number = number * 10 + (s.p[i] - '0');
        if (i == 0 || (i < s.n && s.p[i] != '.'))
                return tar_error(t, err, "a number of a pax record is malformed");
        *ret = number;
        return 0;
}

static int set_text(const struct oci_tar *t, struct buf *b, struct str text, struct err *err)
{
        if (memchr(text.p, 0, text.n))
                return tar_error(t, err, "a name of a pax record has a NUL");
        buf_clear(b);
        buf_append_str(b, text);
        return 0;
}

struct numbers {
        int64_t size, uid, gid, modified, mode;
};

static int apply_record(struct oci_tar *t, struct str key, struct str value, struct numbers *n, struct err *err)
{
        if (str_starts_with(key, STR("GNU.sparse.")))
                return tar_error(t, err, "a sparse file, which images do not have,");
        if (value.n == 0)
                return 0; /* withdraws a global record */
        if (str_equal(key, STR("path")))
                return set_text(t, &t->name, value, err);
        if (str_equal(key, STR("linkpath")))
                return set_text(t, &t->link, value, err);
        if (str_equal(key, STR("size")))
                return parse_decimal(t, value, &n->size, err);
        if (str_equal(key, STR("uid")))
                return parse_decimal(t, value, &n->uid, err);
        if (str_equal(key, STR("gid")))
                return parse_decimal(t, value, &n->gid, err);
        if (str_equal(key, STR("mtime")) && value.p[0] != '-')
                return parse_decimal(t, value, &n->modified, err);
        return 0;
}

static int apply_records(struct oci_tar *t, struct str records, struct numbers *n, struct err *err)
{
        while (records.n > 0) {
                struct str key, value;
                int r = next_record(t, &records, &key, &value, err);

                if (r >= 0)
                        r = apply_record(t, key, value, n, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Headers */

/* Reads the content of a header that is about the next one. */
static int read_extension(struct oci_tar *t, struct buf *b, int64_t size, struct err *err)
{
        int r;

        if (size < 0 || size > LIMIT_TAR_RECORD_BYTES)
                return err_set(err, ERR_LIMIT,
                               "tar: the names and records of an entry have %lld bytes; the limit is %u",
                               (long long)size, LIMIT_TAR_RECORD_BYTES);
        buf_clear(b);
        if (!buf_reserve(b, (size_t)size))
                return buf_check(b, "the records of a tar entry", err);
        r = size > 0 ? read_whole(t, b->p, (size_t)size, err) : 1;
        if (r <= 0)
                return r < 0 ? r : tar_error(t, err, "the archive ends inside an entry");
        b->n = (size_t)size;
        return skip(t, (uint64_t)(BLOCK_BYTES - size % BLOCK_BYTES) % BLOCK_BYTES, err);
}

static void cut_at_nul(struct buf *b)
{
        b->n = fixed_text(b->p ? b->p : "", b->n).n;
}

static bool is_extension(char type)
{
        return type == 'L' || type == 'K' || type == 'x' || type == 'g' || type == 'X';
}

static int take_extension(struct oci_tar *t, const struct header *h, struct err *err)
{
        struct buf *b = h->type == 'L'   ? &t->name
                        : h->type == 'K' ? &t->link
                        : h->type == 'g' ? &t->global
                                         : &t->records;
        int64_t size;
        int r = parse_number(t, h->size, sizeof(h->size), &size, err);

        if (r >= 0)
                r = read_extension(t, b, size, err);
        if (r >= 0 && (h->type == 'L' || h->type == 'K'))
                cut_at_nul(b);
        return r;
}

/* The next header that is about an entry; extensions before it are collected. 0 at the end: an empty block, or no more blocks. */
static int next_header(struct oci_tar *t, struct header *h, struct err *err)
{
        static const char zeros[BLOCK_BYTES];

        buf_clear(&t->name);
        buf_clear(&t->link);
        buf_clear(&t->records);
        for (unsigned n_extensions = 0;; n_extensions++) {
                int r = read_whole(t, (char *)h, sizeof(*h), err);

                if (r <= 0 || memcmp(h, zeros, sizeof(*h)) == 0) {
                        if (r >= 0 && n_extensions > 0)
                                return tar_error(t, err, "the archive ends after a header for the next entry");
                        return r < 0 ? r : 0;
                }
                r = check_sum(t, h, err);
                if (r < 0)
                        return r;
                if (!is_extension(h->type))
                        return 1;
                if (n_extensions == 16)
                        return tar_error(t, err, "too many headers for one entry");
                r = take_extension(t, h, err);
                if (r < 0)
                        return r;
        }
}

static int read_type(const struct oci_tar *t, const struct header *h, bool ends_in_slash, enum oci_tar_type *ret,
                     struct err *err)
{
        switch (h->type) {
        case 0:
        case '0':
        case '7':
                *ret = ends_in_slash && h->type == 0 ? OCI_TAR_DIRECTORY : OCI_TAR_FILE;
                return 0;
        case '1':
                *ret = OCI_TAR_HARD_LINK;
                return 0;
        case '2':
                *ret = OCI_TAR_SYMLINK;
                return 0;
        case '3':
                *ret = OCI_TAR_CHARACTER_DEVICE;
                return 0;
        case '4':
                *ret = OCI_TAR_BLOCK_DEVICE;
                return 0;
        case '5':
                *ret = OCI_TAR_DIRECTORY;
                return 0;
        case '6':
                *ret = OCI_TAR_FIFO;
                return 0;
        }
        return err_set(err, ERR_UNSUPPORTED, "tar: an entry of type 0x%02x, which images do not have, at byte %llu",
                       (unsigned char)h->type, (unsigned long long)t->offset);
}

static void set_names(struct oci_tar *t, const struct header *h)
{
        bool is_ustar = memcmp(h->magic, "ustar\0", 6) == 0;

        if (t->name.n == 0) {
                if (is_ustar && h->prefix[0]) {
                        buf_append_str(&t->name, fixed_text(h->prefix, sizeof(h->prefix)));
                        buf_append_char(&t->name, '/');
                }
                buf_append_str(&t->name, fixed_text(h->name, sizeof(h->name)));
        }
        if (t->link.n == 0)
                buf_append_str(&t->link, fixed_text(h->link, sizeof(h->link)));
}

static int read_numbers(const struct oci_tar *t, const struct header *h, struct numbers *n, struct err *err)
{
        int r = parse_number(t, h->size, sizeof(h->size), &n->size, err);

        if (r >= 0)
                r = parse_number(t, h->uid, sizeof(h->uid), &n->uid, err);
        if (r >= 0)
                r = parse_number(t, h->gid, sizeof(h->gid), &n->gid, err);
        if (r >= 0)
                r = parse_number(t, h->mode, sizeof(h->mode), &n->mode, err);
        /* Times before 1970 do not matter to anybody. */
        if (r >= 0 && parse_number(t, h->mtime, sizeof(h->mtime), &n->modified, NULL) < 0)
                n->modified = 0;
        return r;
}

static int check_numbers(const struct oci_tar *t, const struct numbers *n, struct err *err)
{
        if (n->uid > UINT32_MAX - 1 || n->gid > UINT32_MAX - 1)
                return tar_error(t, err, "an owner that no system has");
        if (n->size < 0 || (uint64_t)n->size > LIMIT_IMAGE_BYTES)
                return err_set(err, ERR_LIMIT, "tar: \"%.*s\" has %lld bytes; the limit is %llu",
                               STR_ARG(str_first(buf_str(&t->name), 256)), (long long)n->size, LIMIT_IMAGE_BYTES);
        return 0;
}

static int read_entry(struct oci_tar *t, const struct header *h, struct oci_tar_entry *ret, struct err *err)
{
        struct numbers n = { 0 };
        bool ends_in_slash;
        int r = read_numbers(t, h, &n, err);

        set_names(t, h);
        if (r >= 0)
                r = apply_records(t, buf_str(&t->global), &n, err);
        if (r >= 0)
                r = apply_records(t, buf_str(&t->records), &n, err);
        if (r >= 0)
                r = check_numbers(t, &n, err);
        if (r < 0)
                return r;
        ends_in_slash = str_ends_with(buf_str(&t->name), STR("/"));
        while (t->name.n > 1 && t->name.p[t->name.n - 1] == '/')
                t->name.n--;
        *ret = (struct oci_tar_entry) {
                .mode = (uint32_t)n.mode & 07777,
                .uid = (uint32_t)n.uid,
                .gid = (uint32_t)n.gid,
                .modified = { .seconds = MIN(n.modified, (int64_t)1 << 40) },
        };
        r = read_type(t, h, ends_in_slash, &ret->type, err);
        if (r < 0)
                return r;
        /* Links of some programs carry the size of their target, without content. */
        ret->size_bytes = ret->type == OCI_TAR_FILE ? n.size : 0;
        ret->name = str_make(buf_cstring(&t->name), t->name.n);
        ret->link = str_make(buf_cstring(&t->link), t->link.n);
        t->left_bytes = (uint64_t)ret->size_bytes;
        t->padding_bytes = (BLOCK_BYTES - t->left_bytes % BLOCK_BYTES) % BLOCK_BYTES;
        return 1;
}

int oci_tar_next(struct oci_tar *t, struct oci_tar_entry *ret, struct err *err)
{
        struct header h;
        int r;

        if (t->has_ended)
                return 0;
        r = skip(t, t->left_bytes + t->padding_bytes, err);
        t->left_bytes = t->padding_bytes = 0;
        if (r >= 0)
                r = next_header(t, &h, err);
        if (r > 0)
                r = read_entry(t, &h, ret, err);
        if (r <= 0)
                t->has_ended = true;
        return r;
}
