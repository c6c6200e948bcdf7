#include "test.h"

#include "address.h"
#include "buf.h"

TEST(splits_host_and_port)
{
        static const struct {
                const char *text, *host;
                int port; /* -1: an error */
        } cases[] = {
                { "a:1", "a", 1 },     { "a", "a", 0 },           { ":9443", "", 9443 }, { "[::1]:80", "::1", 80 },
                { "[::1]", "::1", 0 }, { "a:65535", "a", 65535 }, { "a:65536", "", -1 }, { "a:x", "", -1 },
                { "::1", "", -1 },     { "[::1", "", -1 },        { "[::1]x", "", -1 },  { "a:999999999999", "", -1 },
                { "", "", 0 },         { "[::1]:-1", "", -1 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct str host = STR_NONE;
                uint16_t port = 7;
                int r = address_split(str_from(cases[i].text), &host, &port, &err);

                ASSERT_CASE(cases[i].text, (r < 0) == (cases[i].port < 0));
                if (r < 0) {
                        ASSERT_CASE(cases[i].text, err.code == ERR_INVALID && port == 7);
                        continue;
                }
                ASSERT_STR_CASE(cases[i].text, host, str_from(cases[i].host));
                ASSERT_CASE(cases[i].text, port == cases[i].port);
        }
}

static void check_text(const struct address *a, const char *wanted)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        address_append(&text, a);
        ASSERT_STR(buf_str(&text), str_from(wanted));
}

TEST(prints_and_compares)
{
        _cleanup_err_ struct err err = { 0 };
        struct address four, six, file, name, other;
        char long_name[200];

        ASSERT_INT(address_from_ip(STR("127.0.0.1"), 80, &four, &err), 0);
        ASSERT_INT(address_from_ip(STR("[::1]"), 80, &six, &err), 0);
        ASSERT_INT(address_from_unix(STR("/tmp/x"), false, &file, &err), 0);
        ASSERT_INT(address_from_unix(STR("x"), true, &name, &err), 0);
        check_text(&four, "127.0.0.1:80");
        check_text(&six, "[::1]:80");
        check_text(&file, "unix:/tmp/x");
        check_text(&name, "unix-abstract:x");
        ASSERT(address_equal(&four, &four) && address_equal(&six, &six) && address_equal(&file, &file));
        ASSERT(!address_equal(&four, &six) && !address_equal(&file, &name) && !address_equal(&four, &file));
        ASSERT_INT(address_from_ip(STR("127.0.0.1"), 81, &other, &err), 0);
        ASSERT(!address_equal(&four, &other));
        ASSERT_INT(address_from_ip(STR("localhost"), 80, &other, &err), ERR_INVALID);
        ASSERT_INT(address_from_ip(STR("1234567890123456789012345678901234567890123456789"), 80, &other, &err),
                   ERR_INVALID);
        ASSERT_INT(address_from_unix(STR(""), false, &other, &err), ERR_INVALID);
        memset(long_name, 'x', sizeof(long_name));
        ASSERT_INT(address_from_unix(str_make(long_name, 107), false, &other, &err), 0);
        ASSERT_INT(address_from_unix(str_make(long_name, 107), true, &other, &err), ERR_INVALID);
        ASSERT_INT(address_from_unix(str_make(long_name, 108), false, &other, &err), ERR_INVALID);
}
