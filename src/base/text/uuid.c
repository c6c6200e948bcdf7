#include "uuid.h"

#include "ascii.h"
#include "buf.h"
#include "err.h"
#include "random.h"
#include "sha1.h"

/* RFC 9562, sections 4.1 and 4.2. */
static void set_version(struct uuid *u, uint8_t version)
{
        u->bytes[6] = (uint8_t)(version << 4 | (u->bytes[6] & 0x0f));
        u->bytes[8] = (uint8_t)(0x80 | (u->bytes[8] & 0x3f));
}

struct uuid uuid_v4(void)
{
        struct uuid u;

        random_id(u.bytes, sizeof(u.bytes));
        set_version(&u, 4);
        return u;
}

struct uuid uuid_v5(struct uuid space, struct str name)
{
        uint8_t digest[SHA1_BYTES];
        struct sha1 h;
        struct uuid u;

        sha1_init(&h);
        sha1_update(&h, str_make((const char *)space.bytes, sizeof(space.bytes)));
        sha1_update(&h, name);
        sha1_finish(&h, digest);
        memcpy(u.bytes, digest, sizeof(u.bytes));
        set_version(&u, 5);
        return u;
}

bool uuid_equal(struct uuid a, struct uuid b)
{
        return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

/* True for a byte that has a hyphen before it in the text form. */
static bool follows_hyphen(size_t byte)
{
        return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void uuid_append(struct buf *b, struct uuid u)
{
        static const char hex[] = ASCII_HEX_LOWER;

        for (size_t i = 0; i < sizeof(u.bytes); i++) {
                if (follows_hyphen(i))
                        buf_append_char(b, '-');
                buf_append_char(b, hex[u.bytes[i] >> 4]);
                buf_append_char(b, hex[u.bytes[i] & 15]);
        }
}

int uuid_parse(struct str s, struct uuid *ret, struct err *err)
{
        struct uuid u;
        size_t at = 0;

        if (s.n != UUID_TEXT_BYTES)
                return err_set(err, ERR_INVALID, "invalid UUID length: %zu", s.n);
        for (size_t i = 0; i < sizeof(u.bytes); i++, at += 2) {
                int high, low;

                if (follows_hyphen(i) && s.p[at++] != '-')
                        return err_set(err, ERR_INVALID, "invalid UUID format");
                high = ascii_hex_digit(s.p[at]);
                low = ascii_hex_digit(s.p[at + 1]);
                if (high < 0 || low < 0)
                        return err_set(err, ERR_INVALID, "invalid UUID format");
                u.bytes[i] = (uint8_t)(high << 4 | low);
        }
        *ret = u;
        return 0;
}
