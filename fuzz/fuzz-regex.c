/* The first line is a pattern, the rest a text. The engine must accept every pattern that Go's syntax accepts (unless it is too
 * large); matches lie in the text, in order, and do not overlap; replacing every match by itself changes nothing; a quoted text
 * matches itself. */
#include "fuzz.h"

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "regex.h"

#define MAX_GROUPS 8

static void check_scan(const struct regex *re, struct str text)
{
        struct str groups[MAX_GROUPS];
        struct regex_scan scan;
        const char *end = text.p;
        size_t count = 0;

        regex_scan_init(&scan, re, text);
        while (regex_scan_next(&scan, groups, MAX_GROUPS)) {
                assert(groups[0].p >= end && groups[0].p + groups[0].n <= text.p + text.n);
                assert(groups[0].n > 0 || groups[0].p > end || count == 0);
                end = groups[0].p + groups[0].n;
                for (size_t i = 1; i < MAX_GROUPS; i++)
                        assert(!groups[i].p || (groups[i].p >= groups[0].p && groups[i].p + groups[i].n <= end));
                count++;
        }
        regex_scan_done(&scan);
        assert((count > 0) == regex_matches(re, text));
}

static void check_replace(const struct regex *re, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        regex_replace_all(re, text, STR("${0}"), false, &b);
        assert(str_equal(buf_str(&b), text));
}

static void check_split(const struct regex *re, struct str text)
{
        _cleanup_arena_ struct arena a;
        struct str *parts, *matches;
        size_t n, n_matches, bytes = 0;

        arena_init(&a, "fuzz", 0);
        n = regex_split(re, text, -1, &a, &parts);
        n_matches = regex_find_all(re, text, -1, &a, &matches);
        for (size_t i = 0; i < n; i++)
                bytes += parts[i].n;
        for (size_t i = 0; i < n_matches; i++)
                bytes += matches[i].n;
        assert(n <= n_matches + 1 && bytes == text.n);
}

static void check_quoted(struct str text)
{
        _cleanup_(regex_freep)
        struct regex *re = NULL;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str match;

        buf_append_char(&b, '^');
        regex_append_quoted(&b, text);
        buf_append_char(&b, '$');
        if (regex_compile(buf_str(&b), &re, NULL) < 0)
                return; /* not UTF-8 or too large */
        assert(regex_find(re, text, 0, &match, 1) && match.n == text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(regex_freep)
        struct regex *re = NULL;
        _cleanup_err_ struct err err = { 0 };
        struct str text = { (const char *)data, size }, pattern;
        int r;

        str_split(&text, '\n', &pattern);
        text = str_first(text, 4096);
        check_quoted(text);
        r = regex_compile(pattern, &re, &err);
        if (r < 0) {
                assert(r == ERR_LIMIT || r == ERR_INVALID);
                return 0;
        }
        check_scan(re, text);
        check_replace(re, text);
        check_split(re, text);
        return 0;
}
