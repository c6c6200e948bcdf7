/* State messages in pieces: what protobuf says of them, whoever takes them apart. */
#include "test.h"

#include "arena.h"
#include "buf.h"
#include "fn-state.h"
#include "str-list.h"

/* `composite | name=bytes ... | unknown`; bytes are what a Resource has in hexadecimal. */
static struct str text_of(struct arena *a, const struct fn_state_parts *parts)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s", parts->composite.p ? "" : "none");
        for (size_t i = 0; i < parts->composite.n; i++)
                buf_appendf(&b, "%02x", (unsigned char)parts->composite.p[i]);
        buf_append_literal(&b, " |");
        for (size_t i = 0; i < parts->n; i++) {
                buf_appendf(&b, " %.*s=", STR_ARG(parts->entries[i].name));
                for (size_t j = 0; j < parts->entries[i].bytes.n; j++)
                        buf_appendf(&b, "%02x", (unsigned char)parts->entries[i].bytes.p[j]);
        }
        buf_appendf(&b, " | %zu", parts->unknown.n);
        return buf_to_arena(&b, a);
}

/* ready (field 3) is 18 01 and 18 02. */
#define READY   "\x18\x01"
#define UNREADY "\x18\x02"
#define ENTRY_A            \
        "\x12\x07\x0a\x01" \
        "a"                \
        "\x12\x02" READY
#define ENTRY_B            \
        "\x12\x07\x0a\x01" \
        "b"                \
        "\x12\x02" UNREADY
#define ENTRY_A2           \
        "\x12\x07\x0a\x01" \
        "a"                \
        "\x12\x02" UNREADY
#define IN_TWO             \
        "\x12\x0b\x0a\x01" \
        "a"                \
        "\x12\x02" READY "\x12\x02" UNREADY
#define UNKNOWN "\x98\x3f\x01" /* field 1011 */

TEST(a_state_is_taken_apart)
{
        static const struct {
                struct str bytes;
                const char *wanted;
        } cases[] = {
                { STR_INIT(""), "none | | 0" },
                { STR_INIT("\x0a\x00"), " | | 0" },
                { STR_INIT("\x0a\x02" READY), "1801 | | 0" },
                { STR_INIT("\x0a\x02" READY "\x0a\x02" UNREADY), "18011802 | | 0" },
                { STR_INIT("\x0a\x02" READY UNKNOWN "\x0a\x02" UNREADY UNKNOWN), "18011802 | | 6" },
                { STR_INIT(ENTRY_A ENTRY_B), "none | a=1801 b=1802 | 0" },
                { STR_INIT(ENTRY_B ENTRY_A), "none | a=1801 b=1802 | 0" },
                { STR_INIT(ENTRY_A ENTRY_B ENTRY_A2), "none | a=1802 b=1802 | 0" },
                { STR_INIT(IN_TWO), "none | a=18011802 | 0" },
                { STR_INIT("\x12\x00"), "none | = | 0" },
                { STR_INIT("\x08\x01"), "none | | 2" }, /* of another wire type */
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct fn_state_parts parts;

                ASSERT(fn_state_split(&a, cases[i].bytes, &parts, &err) >= 0);
                ASSERT_STR_CASE(cases[i].wanted, text_of(&a, &parts), str_from(cases[i].wanted));
        }
}

TEST(what_is_broken_is_refused)
{
        static const struct str cases[] = {
                STR_INIT("\x0a\x05"),
                STR_INIT("\x0a\x01\x18\x0a\x01\x01"), /* two halves of a field */
                STR_INIT("\x12\x03\x0a\x01\xff"),     /* a name that is not UTF-8 */
                STR_INIT("\x12\x02\x12\x05"),
                STR_INIT("\x12\x06\x12\x01\x18\x12\x01\x01"),
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct fn_state_parts parts;

                ASSERT(fn_state_split(&a, cases[i], &parts, &err) < 0);
                ASSERT(str_starts_with(str_from(err_message(&err)), STR("cannot decode State: ")));
        }
}
