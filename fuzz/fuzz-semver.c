#include "fuzz.h"

#include "arena.h"
#include "buf.h"
#include "semver.h"

/* The canonical text parses to the same version. */
static void check_text(const struct semver *v)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), again = BUF_INIT(0);
        struct semver copy;
        int r;

        semver_append(&text, v);
        r = semver_parse(buf_str(&text), &copy, NULL);
        assert(r == 0);
        assert(semver_compare(v, &copy) == 0);
        semver_append(&again, &copy);
        assert(str_equal(buf_str(&text), buf_str(&again)));
}

/* A release matches `=`, `>=`, `<=` and `^` of its own text, and does not match `!=` and `<`. */
static void check_own(struct arena *a, const struct semver *v)
{
        static const struct {
                const char *relation;
                bool takes;
        } relations[] = {
                { "=", true }, { ">=", true }, { "<=", true }, { "!=", false }, { "<", false }, { "^", true }
        };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct semver_constraint *c;

        for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
                buf_clear(&text);
                buf_appendf(&text, "%s", relations[i].relation);
                semver_append(&text, v);
                if (semver_constraint_parse(a, buf_str(&text), &c, NULL) == 0)
                        assert(semver_constraint_check(c, v) == relations[i].takes);
        }
}

/* A version, a line feed, and a constraint on it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        struct str rest = str_make((const char *)data, size), text;
        const struct semver_constraint *c;
        struct semver v;

        arena_init(&a, "fuzz", 0);
        str_split(&rest, '\n', &text);
        if (semver_parse(text, &v, NULL) < 0)
                v = (struct semver) { .major = 1 };
        check_text(&v);
        check_own(&a, &v);
        if (semver_constraint_parse(&a, rest, &c, NULL) == 0)
                semver_constraint_check(c, &v);
        return 0;
}
