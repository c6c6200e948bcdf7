#include "test.h"

#include "buf.h"
#include "err.h"
#include "limits.h"

#include <errno.h>
#include <wchar.h>

TEST(set_fills_everything)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT_TEXT(err_message(&err), "no error");
        ASSERT_TEXT(err_message(NULL), "no error");
        ASSERT_INT(err_set(&err, ERR_NOT_FOUND, "no %s named %d", "thing", 7), ERR_NOT_FOUND);
        ASSERT_INT(err.code, ERR_NOT_FOUND);
        ASSERT_INT(err.reason, REASON_NOT_FOUND);
        ASSERT_TEXT(err_message(&err), "no thing named 7");
        ASSERT(!err.path);
        ASSERT_INT(err.position.line, 0);
}

TEST(setting_again_replaces_everything)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_INVALID, "first");
        err_set_path(&err, STR("spec.a"));
        err_set_path(&err, STR("spec.b"));
        err_set_position(&err, (struct position) { .line = 3, .column = 4, .offset = 20 });
        err_set_reason(&err, REASON_BAD_REQUEST);
        ASSERT_TEXT(err.path, "spec.b");
        ASSERT_INT(err.position.offset, 20);
        ASSERT_INT(err.reason, REASON_BAD_REQUEST);
        err_set(&err, ERR_CONFLICT, "second, after %s at %s", err_message(&err), err.path);
        ASSERT_TEXT(err_message(&err), "second, after first at spec.b");
        ASSERT(!err.path);
        ASSERT_INT(err.position.line, 0);
        ASSERT_INT(err.reason, REASON_CONFLICT);
}

TEST(wrapping_makes_chains_and_keeps_the_rest)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_EXPIRED, "inner");
        err_set_reason(&err, REASON_GONE);
        err_set_path(&err, STR("a.b"));
        err_set_position(&err, (struct position) { .line = 1, .column = 2, .offset = 3 });
        ASSERT_INT(err_wrap(&err, "cannot get %s", "xr"), ERR_EXPIRED);
        ASSERT_INT(err_wrap(&err, "outer"), ERR_EXPIRED);
        ASSERT_TEXT(err_message(&err), "outer: cannot get xr: inner");
        ASSERT_INT(err_wrap(&err, "again (%s)", err_message(&err)), ERR_EXPIRED);
        ASSERT_TEXT(err_message(&err), "again (outer: cannot get xr: inner): outer: cannot get xr: inner");
        ASSERT_INT(err.reason, REASON_GONE);
        ASSERT_TEXT(err.path, "a.b");
        ASSERT_INT(err.position.column, 2);
}

TEST(without_an_err_the_code_is_the_same)
{
        struct err from = { 0 };

        ASSERT_INT(err_set(NULL, ERR_FORBIDDEN, "x"), ERR_FORBIDDEN);
        ASSERT_INT(err_wrap(NULL, "y"), ERR_FORBIDDEN);
        ASSERT_INT(err_wrap(NULL, "z"), ERR_FORBIDDEN);
        ASSERT_INT(err_set_errno(NULL, ENOENT, "open"), ERR_SYSTEM);
        ASSERT_INT(err_wrap(NULL, "y"), ERR_SYSTEM);
        err_set(&from, ERR_CLOSED, "gone");
        ASSERT_INT(err_move(NULL, &from), ERR_CLOSED);
        ASSERT_INT(err_wrap(NULL, "y"), ERR_CLOSED);
        ASSERT(!from.message && from.code == 0);
        err_set_reason(NULL, REASON_GONE);
        err_set_path(NULL, STR("a"));
        err_set_position(NULL, (struct position) { 0 });
}

TEST(errno_has_the_systems_word)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT_INT(err_set_errno(&err, ENOENT, "cannot open %s", "/x"), ERR_SYSTEM);
        ASSERT_TEXT(err_message(&err), "cannot open /x: No such file or directory");
        ASSERT_INT(err.reason, REASON_INTERNAL_ERROR);
        err_set_errno(&err, 99999, "%s", err_message(&err));
        ASSERT_TEXT(err_message(&err), "cannot open /x: No such file or directory: Unknown error 99999");
}

TEST(moving)
{
        _cleanup_err_ struct err to = { 0 }, from = { 0 };

        err_set(&to, ERR_INVALID, "old");
        err_set_path(&to, STR("old.path"));
        err_set(&from, ERR_TIMEOUT, "new");
        ASSERT_INT(err_move(&to, &from), ERR_TIMEOUT);
        ASSERT_TEXT(err_message(&to), "new");
        ASSERT(!to.path);
        ASSERT_INT(to.reason, REASON_TIMEOUT);
        ASSERT_INT(from.code, 0);
        ASSERT_INT(err_move(&to, &to), ERR_TIMEOUT);
        ASSERT_TEXT(err_message(&to), "new");
        ASSERT_INT(err_move(&to, &from), 0); /* nothing moves in, nothing is left */
        ASSERT_TEXT(err_message(&to), "no error");
}

TEST(copying)
{
        _cleanup_err_ struct err to = { 0 }, from = { 0 };

        err_set(&to, ERR_INVALID, "old");
        err_set_path(&to, STR("old.path"));
        err_set(&from, ERR_FAILED, "new");
        err_set_reason(&from, REASON_GONE);
        err_set_details(&from, STR("{}"));
        err_set_position(&from, (struct position) { .line = 3, .column = 4 });
        ASSERT_INT(err_copy(&to, &from), ERR_FAILED);
        ASSERT_TEXT(err_message(&to), "new");
        ASSERT(to.message != from.message);
        ASSERT_INT(to.reason, REASON_GONE);
        ASSERT_TEXT(to.details, "{}");
        ASSERT_INT(to.position.line, 3);
        ASSERT(!to.path);
        ASSERT_TEXT(err_message(&from), "new");
        ASSERT_INT(err_copy(NULL, &from), ERR_FAILED);
}

TEST(every_code_has_its_reason)
{
        static const struct {
                enum err_code code;
                enum reason reason;
        } cases[] = {
                { ERR_FAILED, REASON_INTERNAL_ERROR }, { ERR_INVALID, REASON_INVALID },
                { ERR_NOT_FOUND, REASON_NOT_FOUND },   { ERR_EXISTS, REASON_ALREADY_EXISTS },
                { ERR_CONFLICT, REASON_CONFLICT },     { ERR_LIMIT, REASON_REQUEST_ENTITY_TOO_LARGE },
                { ERR_TIMEOUT, REASON_TIMEOUT },       { ERR_CANCELED, REASON_SERVICE_UNAVAILABLE },
                { ERR_FORBIDDEN, REASON_FORBIDDEN },   { ERR_UNSUPPORTED, REASON_INTERNAL_ERROR },
                { ERR_SYSTEM, REASON_INTERNAL_ERROR }, { ERR_CLOSED, REASON_SERVICE_UNAVAILABLE },
                { ERR_EXPIRED, REASON_EXPIRED },       { (enum err_code) - 1000, REASON_UNKNOWN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                err_set(&err, cases[i].code, "x");
                ASSERT_INT(err.reason, cases[i].reason);
        }
}

/* Names and statuses as metav1.StatusReason has them and apimachinery's api/errors answers. */
TEST(every_reason_has_its_name_and_status)
{
        static const struct {
                enum reason reason;
                const char *name;
                int http_status;
        } cases[] = {
                { REASON_UNKNOWN, "", 500 },
                { REASON_UNAUTHORIZED, "Unauthorized", 401 },
                { REASON_FORBIDDEN, "Forbidden", 403 },
                { REASON_NOT_FOUND, "NotFound", 404 },
                { REASON_ALREADY_EXISTS, "AlreadyExists", 409 },
                { REASON_CONFLICT, "Conflict", 409 },
                { REASON_GONE, "Gone", 410 },
                { REASON_INVALID, "Invalid", 422 },
                { REASON_SERVER_TIMEOUT, "ServerTimeout", 500 },
                { REASON_TIMEOUT, "Timeout", 504 },
                { REASON_TOO_MANY_REQUESTS, "TooManyRequests", 429 },
                { REASON_BAD_REQUEST, "BadRequest", 400 },
                { REASON_METHOD_NOT_ALLOWED, "MethodNotAllowed", 405 },
                { REASON_NOT_ACCEPTABLE, "NotAcceptable", 406 },
                { REASON_REQUEST_ENTITY_TOO_LARGE, "RequestEntityTooLarge", 413 },
                { REASON_UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", 415 },
                { REASON_INTERNAL_ERROR, "InternalError", 500 },
                { REASON_EXPIRED, "Expired", 410 },
                { REASON_SERVICE_UNAVAILABLE, "ServiceUnavailable", 503 },
        };

        ASSERT_INT(ARRAY_SIZE(cases), _REASON_COUNT);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_TEXT(reason_name(cases[i].reason), cases[i].name);
                ASSERT_INT(reason_http_status(cases[i].reason), cases[i].http_status);
                ASSERT_INT(reason_from_name(str_from(cases[i].name)), cases[i].reason);
        }
        ASSERT_INT(reason_from_name(STR("notfound")), REASON_UNKNOWN);
        ASSERT_INT(reason_from_name(STR("NotFoundX")), REASON_UNKNOWN);
}

static bool is_cut(const struct err *err)
{
        struct str s = str_from(err_message(err));

        return s.n <= LIMIT_ERROR_BYTES && s.n > LIMIT_ERROR_BYTES - 8 && str_ends_with(s, STR("..."));
}

TEST(a_long_text_is_cut)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_free_ char *x = xmalloc(4 * LIMIT_ERROR_BYTES);

        memset(x, 'x', LIMIT_ERROR_BYTES);
        err_set(&err, ERR_INVALID, "%.*s", (int)LIMIT_ERROR_BYTES, x);
        ASSERT_INT(strlen(err_message(&err)), LIMIT_ERROR_BYTES);
        ASSERT(!str_ends_with(str_from(err_message(&err)), STR("...")));
        err_wrap(&err, "w");
        ASSERT(is_cut(&err));
        ASSERT(str_starts_with(str_from(err_message(&err)), STR("w: xxx")));
        for (size_t i = 0; i < LIMIT_ERROR_BYTES; i++)
                memcpy(x + 3 * i, "\u20ac", 3);
        for (int shift = 0; shift < 3; shift++) {
                struct str s;

                err_set(&err, ERR_INVALID, "%.*s%.*s", shift, "aaa", (int)LIMIT_ERROR_BYTES, x);
                if (shift == 0)
                        continue; /* exactly the limit */
                s = str_from(err_message(&err));
                ASSERT(is_cut(&err));
                ASSERT_INT((s.n - 3 - (size_t)shift) % 3, 0); /* whole characters */
        }
}

TEST(a_text_that_cannot_be_formatted_keeps_the_code)
{
        _cleanup_err_ struct err err = { 0 };

        ASSERT_INT(err_set(&err, ERR_INVALID, "%lc", (wint_t)0x20ac), ERR_INVALID);
        ASSERT_TEXT(err_message(&err), "(text cannot be shown)");
        err_wrap(&err, "%lc", (wint_t)0x20ac);
        ASSERT_TEXT(err_message(&err), "(text cannot be shown): (text cannot be shown)");
}

static void set_a_positive_code(void)
{
        struct err err = { 0 };

        err_set(&err, 1, "x");
}

static void wrap_nothing(void)
{
        struct err err = { 0 };

        err_wrap(&err, "x");
}

static void name_no_reason(void)
{
        reason_name(_REASON_COUNT);
}

TEST(broken_invariants_end_the_process)
{
        ASSERT_ABORTS(set_a_positive_code);
        ASSERT_ABORTS(wrap_nothing);
        ASSERT_ABORTS(name_no_reason);
}
