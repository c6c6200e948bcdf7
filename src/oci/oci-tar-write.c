#include "oci-tar.h"

#include <stdio.h>

#define BLOCK_BYTES 512

/* Octal digits and a NUL; false if the number does not fit. */
static bool put_octal(char *p, size_t n, uint64_t number)
{
        if (number >> (3 * (n - 1)))
                return false;
        p[n - 1] = 0;
        for (size_t i = n - 1; i-- > 0; number >>= 3)
                p[i] = (char)('0' + (number & 7));
        return true;
}

static bool is_ascii(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if ((unsigned char)s.p[i] >= 0x80)
                        return false;
        return true;
}

/* `LENGTH KEY=VALUE\n`, where the length counts its own digits. */
static void append_record(struct buf *b, const char *key, struct str value)
{
        size_t rest = strlen(key) + value.n + 3, length = rest;

        for (size_t before = 0; before != length;) {
                before = length;
                length = rest + (size_t)snprintf(NULL, 0, "%zu", before);
        }
        buf_appendf(b, "%zu %s=%.*s\n", length, key, STR_ARG(value));
}

/* Where Go splits a name that is too long for one field: the last slash among the first 155 bytes. */
static bool split_name(struct str name, struct str *ret_prefix, struct str *ret_name)
{
        ptrdiff_t slash;

        if (name.n <= 100) {
                *ret_prefix = STR("");
                *ret_name = name;
                return true;
        }
        slash = str_find_last_char(str_first(name, MIN((size_t)156, name.n - 1)), '/');
        if (slash <= 0 || name.n - (size_t)slash - 1 > 100)
                return false;
        *ret_prefix = str_first(name, (size_t)slash);
        *ret_name = str_skip(name, (size_t)slash + 1);
        return true;
}

static void append_block(struct buf *b, char type, struct str prefix, struct str name, struct str link, uint32_t mode,
                         uint64_t size_bytes)
{
        char h[BLOCK_BYTES] = { 0 };
        unsigned sum = 0;

        memcpy(h, name.p, MIN(name.n, (size_t)100));
        put_octal(h + 100, 8, mode);
        put_octal(h + 108, 8, 0);
        put_octal(h + 116, 8, 0);
        if (!put_octal(h + 124, 12, size_bytes))
                put_octal(h + 124, 12, 0);
        put_octal(h + 136, 12, 0);
        memset(h + 148, ' ', 8);
        h[156] = type;
        memcpy(h + 157, link.p, MIN(link.n, (size_t)100));
        memcpy(h + 257, "ustar\00000", 8);
        put_octal(h + 329, 8, 0);
        put_octal(h + 337, 8, 0);
        memcpy(h + 345, prefix.p, MIN(prefix.n, (size_t)155));
        for (size_t i = 0; i < sizeof(h); i++)
                sum += (unsigned char)h[i];
        put_octal(h + 148, 7, sum);
        h[155] = ' ';
        buf_append(b, h, sizeof(h));
}

static void append_pax(struct buf *b, struct str name, struct str link, bool has_long_name, bool has_long_link,
                       uint64_t size_bytes)
{
        _cleanup_buf_ struct buf records = BUF_INIT(0), own = BUF_INIT(0);
        ptrdiff_t slash = str_find_last_char(name, '/');

        /* Go writes the records sorted by their keys. */
        if (has_long_link)
                append_record(&records, "linkpath", link);
        if (has_long_name)
                append_record(&records, "path", name);
        if (size_bytes >> 33) {
                char number[32];
                int n = snprintf(number, sizeof(number), "%llu", (unsigned long long)size_bytes);

                append_record(&records, "size", str_make(number, (size_t)n));
        }
        if (slash > 0)
                buf_appendf(&own, "%.*s/", STR_ARG(str_first(name, (size_t)slash)));
        buf_appendf(&own, "PaxHeaders.0/%.*s", STR_ARG(str_skip(name, (size_t)(slash + 1))));
        append_block(b, 'x', STR(""), str_first(buf_str(&own), 100), STR(""), 0, records.n);
        buf_append_str(b, buf_str(&records));
        oci_tar_append_padding(b, records.n);
}

void oci_tar_append_entry(struct buf *b, enum oci_tar_type type, struct str name, struct str link, uint32_t mode,
                          uint64_t size_bytes)
{
        static const char types[] = {
                [OCI_TAR_FILE] = '0',      [OCI_TAR_DIRECTORY] = '5',        [OCI_TAR_SYMLINK] = '2',
                [OCI_TAR_HARD_LINK] = '1', [OCI_TAR_CHARACTER_DEVICE] = '3', [OCI_TAR_BLOCK_DEVICE] = '4',
                [OCI_TAR_FIFO] = '6',
        };
        struct str prefix = STR(""), last = name;
        bool has_long_name = !is_ascii(name) || !split_name(name, &prefix, &last);
        bool has_long_link = !is_ascii(link) || link.n > 100;

        if (has_long_name || has_long_link || size_bytes >> 33) {
                append_pax(b, name, link, has_long_name, has_long_link, size_bytes);
                prefix = STR("");
                last = name;
        }
        append_block(b, types[type], prefix, last, link, mode, size_bytes);
}

void oci_tar_append_header(struct buf *b, struct str name, uint32_t mode, uint64_t size_bytes)
{
        oci_tar_append_entry(b, OCI_TAR_FILE, name, STR(""), mode, size_bytes);
}

void oci_tar_append_padding(struct buf *b, uint64_t size_bytes)
{
        buf_append_repeat(b, 0, (size_t)(BLOCK_BYTES - size_bytes % BLOCK_BYTES) % BLOCK_BYTES);
}

void oci_tar_append_file(struct buf *b, struct str name, uint32_t mode, struct str content)
{
        oci_tar_append_header(b, name, mode, content.n);
        buf_append_str(b, content);
        oci_tar_append_padding(b, content.n);
}

void oci_tar_append_end(struct buf *b)
{
        buf_append_repeat(b, 0, 2 * BLOCK_BYTES);
}
