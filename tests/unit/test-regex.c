#include "test.h"

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "limits.h"
#include "regex.h"
#include "regex-class.h"
#include "regex-engine.h"

#include <pthread.h>

/* Every expectation here is what Go's regexp package answers. */

static struct regex *compile(struct str pattern)
{
        struct regex *re = NULL;
        struct err err = { 0 };

        if (regex_compile(pattern, &re, &err) < 0)
                test_fail(__FILE__, __LINE__, "[%.*s] %s", STR_ARG(pattern), err_message(&err));
        return re;
}

TEST(errors)
{
        static const struct {
                struct str pattern;
                struct str message;
        } cases[] = {
                { STR_INIT("a(b"), STR_INIT("error parsing regexp: missing closing ): `a(b`") },
                { STR_INIT("(a))"), STR_INIT("error parsing regexp: unexpected ): `(a))`") },
                { STR_INIT("[a"), STR_INIT("error parsing regexp: missing closing ]: `[a`") },
                { STR_INIT("[]"), STR_INIT("error parsing regexp: missing closing ]: `[]`") },
                { STR_INIT("x[a-"), STR_INIT("error parsing regexp: missing closing ]: `[a-`") },
                { STR_INIT("[z-a]"), STR_INIT("error parsing regexp: invalid character class range: `z-a`") },
                { STR_INIT("a[\xc3\xa9-a]"),
                  STR_INIT("error parsing regexp: invalid character class range: `\xc3\xa9-a`") },
                { STR_INIT("[a-\\d]"), STR_INIT("error parsing regexp: invalid escape sequence: `\\d`") },
                { STR_INIT("*"), STR_INIT("error parsing regexp: missing argument to repetition operator: `*`") },
                { STR_INIT("*?"), STR_INIT("error parsing regexp: missing argument to repetition operator: `*?`") },
                { STR_INIT("a|*"), STR_INIT("error parsing regexp: missing argument to repetition operator: `*`") },
                { STR_INIT("(*)"), STR_INIT("error parsing regexp: missing argument to repetition operator: `*`") },
                { STR_INIT("(?i)*"), STR_INIT("error parsing regexp: missing argument to repetition operator: `*`") },
                { STR_INIT("{1}?"), STR_INIT("error parsing regexp: missing argument to repetition operator: `{1}?`") },
                { STR_INIT("a**"), STR_INIT("error parsing regexp: invalid nested repetition operator: `**`") },
                { STR_INIT("a+*"), STR_INIT("error parsing regexp: invalid nested repetition operator: `+*`") },
                { STR_INIT("a*??"), STR_INIT("error parsing regexp: invalid nested repetition operator: `*??`") },
                { STR_INIT("a{2}**"), STR_INIT("error parsing regexp: invalid nested repetition operator: `{2}*`") },
                { STR_INIT("a{2,1}"), STR_INIT("error parsing regexp: invalid repeat count: `{2,1}`") },
                { STR_INIT("a{1001}"), STR_INIT("error parsing regexp: invalid repeat count: `{1001}`") },
                { STR_INIT("a{1,1001}?"), STR_INIT("error parsing regexp: invalid repeat count: `{1,1001}`") },
                { STR_INIT("a{99999999999}"), STR_INIT("error parsing regexp: invalid repeat count: `{99999999999}`") },
                { STR_INIT("(a{334}){3}?"), STR_INIT("error parsing regexp: invalid repeat count: `{3}?`") },
                { STR_INIT("((a{10}){10}){11}"), STR_INIT("error parsing regexp: invalid repeat count: `{11}`") },
                { STR_INIT("a*{1001}"), STR_INIT("error parsing regexp: invalid repeat count: `{1001}`") },
                { STR_INIT("\\"), STR_INIT("error parsing regexp: trailing backslash at end of expression: ``") },
                { STR_INIT("[\\"), STR_INIT("error parsing regexp: trailing backslash at end of expression: ``") },
                { STR_INIT("\\1"), STR_INIT("error parsing regexp: invalid escape sequence: `\\1`") },
                { STR_INIT("\\8"), STR_INIT("error parsing regexp: invalid escape sequence: `\\8`") },
                { STR_INIT("\\18"), STR_INIT("error parsing regexp: invalid escape sequence: `\\1`") },
                { STR_INIT("\\x"), STR_INIT("error parsing regexp: invalid escape sequence: `\\x`") },
                { STR_INIT("\\xg?"), STR_INIT("error parsing regexp: invalid escape sequence: `\\xg?`") },
                { STR_INIT("\\x1"), STR_INIT("error parsing regexp: invalid escape sequence: `\\x1`") },
                { STR_INIT("\\x{}"), STR_INIT("error parsing regexp: invalid escape sequence: `\\x{}`") },
                { STR_INIT("\\x{1g}"), STR_INIT("error parsing regexp: invalid escape sequence: `\\x{1g`") },
                { STR_INIT("\\x{110000}"), STR_INIT("error parsing regexp: invalid escape sequence: `\\x{110000`") },
                { STR_INIT("\\x{41"), STR_INIT("error parsing regexp: invalid escape sequence: `\\x{41`") },
                { STR_INIT("\\Z"), STR_INIT("error parsing regexp: invalid escape sequence: `\\Z`") },
                { STR_INIT("\\C"), STR_INIT("error parsing regexp: invalid escape sequence: `\\C`") },
                { STR_INIT("\\\xc3\xa9"), STR_INIT("error parsing regexp: invalid escape sequence: `\\\xc3\xa9`") },
                { STR_INIT("[\\b]"), STR_INIT("error parsing regexp: invalid escape sequence: `\\b`") },
                { STR_INIT("\\pX"), STR_INIT("error parsing regexp: invalid character class range: `\\pX`") },
                { STR_INIT("\\p"), STR_INIT("error parsing regexp: invalid character class range: `\\p`") },
                { STR_INIT("[\\p{X]"), STR_INIT("error parsing regexp: invalid character class range: `\\p{X]`") },
                { STR_INIT("\\p{Nope}y"),
                  STR_INIT("error parsing regexp: invalid character class range: `\\p{Nope}`") },
                { STR_INIT("\\p{^^Greek}"),
                  STR_INIT("error parsing regexp: invalid character class range: `\\p{^^Greek}`") },
                { STR_INIT("\\p{a-very-long-name-that-is-longer-than-any-name-of-any-class-that-there-is}"),
                  STR_INIT("error parsing regexp: invalid character class range: "
                           "`\\p{a-very-long-name-that-is-longer-than-any-name-of-any-class-that-there-is}`") },
                { STR_INIT("[[:foo:]]"), STR_INIT("error parsing regexp: invalid character class range: `[:foo:]`") },
                { STR_INIT("[[:d:]]"), STR_INIT("error parsing regexp: invalid character class range: `[:d:]`") },
                { STR_INIT("[[:alpha:]"), STR_INIT("error parsing regexp: missing closing ]: `[[:alpha:]`") },
                { STR_INIT("(?P<x"), STR_INIT("error parsing regexp: invalid named capture: `(?P<x`") },
                { STR_INIT("(?P<"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?P`") },
                { STR_INIT("(?P<>a)"), STR_INIT("error parsing regexp: invalid named capture: `(?P<>`") },
                { STR_INIT("(?<a b>c)"), STR_INIT("error parsing regexp: invalid named capture: `(?<a b>`") },
                { STR_INIT("(?<"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?<`") },
                { STR_INIT("(?=a)"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?=`") },
                { STR_INIT("(?P=a)"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?P`") },
                { STR_INIT("(?q)"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?q`") },
                { STR_INIT("(?i"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?i`") },
                { STR_INIT("(?i-)"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?i-)`") },
                { STR_INIT("(?--i)"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?--`") },
                { STR_INIT("(?"), STR_INIT("error parsing regexp: invalid or unsupported Perl syntax: `(?`") },
                { STR_INIT("\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("a\xff"
                           "b"),
                  STR_INIT("error parsing regexp: invalid UTF-8: `\xff"
                           "b`") },
                { STR_INIT("[a-\xff]"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff]`") },
                { STR_INIT("\\\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("\\x\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("\\x1\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("\\x{\xff}"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff}`") },
                { STR_INIT("\\p\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("\\p{L\xff}"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("\\p{\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("(?P<a\xff"
                           "b>c)"),
                  STR_INIT("error parsing regexp: invalid UTF-8: `\xff"
                           "b`") },
                { STR_INIT("(?<\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
                { STR_INIT("(?\xff)"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff)`") },
                { STR_INIT("\\Qa\xff"
                           "b\\Ec"),
                  STR_INIT("error parsing regexp: invalid UTF-8: `\xff"
                           "b`") },
                { STR_INIT("[\xff"), STR_INIT("error parsing regexp: invalid UTF-8: `\xff`") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct regex *re = NULL;

                ASSERT_CASE(cases[i].message.p, regex_compile(cases[i].pattern, &re, &err) == ERR_INVALID && !re);
                ASSERT_STR(str_from(err_message(&err)), cases[i].message);
        }
}

static void append_groups(struct buf *b, struct str text, const struct str *groups, size_t n)
{
        buf_append_char(b, '[');
        for (size_t i = 0; i < n; i++) {
                ptrdiff_t start = groups[i].p ? groups[i].p - text.p : -1;

                buf_appendf(b, "%s%td %td", i ? " " : "", start, start < 0 ? -1 : start + (ptrdiff_t)groups[i].n);
        }
        buf_append_char(b, ']');
}

/* As Go prints FindAllStringSubmatchIndex. */
static void append_all(struct buf *b, const struct regex *re, struct str text)
{
        struct str groups[20];
        size_t n = regex_group_count(re) + 1;
        struct regex_scan scan;

        ASSERT(n <= ARRAY_SIZE(groups));
        regex_scan_init(&scan, re, text);
        buf_append_char(b, '[');
        while (regex_scan_next(&scan, groups, n)) {
                if (b->n > 1)
                        buf_append_char(b, ' ');
                append_groups(b, text, groups, n);
        }
        buf_append_char(b, ']');
        ASSERT(!regex_scan_next(&scan, groups, n));
        regex_scan_done(&scan);
}

TEST(matches)
{
        static const struct {
                struct str pattern;
                struct str text;
                const char *all;
        } cases[] = {
                { STR_INIT("a*"), STR_INIT("baac"), "[[0 0] [1 3] [4 4]]" },
                { STR_INIT(""), STR_INIT("a\xc3\xa9"), "[[0 0] [1 1] [3 3]]" },
                { STR_INIT(""), STR_INIT("\xff"), "[[0 0] [1 1]]" },
                { STR_INIT("(a)(b)?"), STR_INIT("aab"), "[[0 1 0 1 -1 -1] [1 3 1 2 2 3]]" },
                { STR_INIT("(a|ab)(c|bcd)(d*)"), STR_INIT("abcd"), "[[0 4 0 1 1 4 4 4]]" },
                { STR_INIT("(?:a|ab)c?"), STR_INIT("abc"), "[[0 1]]" },
                { STR_INIT("(|a)*"), STR_INIT("aa"), "[[0 0 0 0] [1 1 1 1] [2 2 2 2]]" },
                { STR_INIT("(|a)+"), STR_INIT("aa"), "[[0 0 0 0] [1 1 1 1] [2 2 2 2]]" },
                { STR_INIT("(a*)*"), STR_INIT("b"), "[[0 0 0 0] [1 1 1 1]]" },
                { STR_INIT("(a*)+"), STR_INIT("b"), "[[0 0 0 0] [1 1 1 1]]" },
                { STR_INIT("(?:(a)|(b))*"), STR_INIT("ab"), "[[0 2 0 1 1 2]]" },
                { STR_INIT("(a?\?)*?b"), STR_INIT("aab"), "[[0 3 1 2]]" },
                { STR_INIT("(?:|.+?)*b"), STR_INIT("aabab"), "[[0 5]]" },
                { STR_INIT("(?:|c*.+?)*b"), STR_INIT("aabab"), "[[0 5]]" },
                { STR_INIT("(?:|.{2,}?)*b"), STR_INIT("aabab"), "[[0 5]]" },
                { STR_INIT("((?:.+?)?\?)*b"), STR_INIT("aabab"), "[[0 5 3 4]]" },
                { STR_INIT("z(?:(x|)*?)*"), STR_INIT("zxxx"), "[[0 1 -1 -1]]" },
                { STR_INIT("(?:|a+?)*(b)"), STR_INIT("aab"), "[[0 3 2 3]]" },
                { STR_INIT("$"), STR_INIT("a\n"), "[[2 2]]" },
                { STR_INIT("(?m)$"), STR_INIT("a\n"), "[[1 1] [2 2]]" },
                { STR_INIT("(?m)^"), STR_INIT("a\n\nb"), "[[0 0] [2 2] [3 3]]" },
                { STR_INIT("^a"), STR_INIT("aa"), "[[0 1]]" },
                { STR_INIT("\\Aa|b\\z"), STR_INIT("abab"), "[[0 1] [3 4]]" },
                { STR_INIT("\\b"),
                  STR_INIT("\xc3\xa9"
                           "a b"),
                  "[[2 2] [3 3] [4 4] [5 5]]" },
                { STR_INIT("\\B"),
                  STR_INIT("a\xc3\xa9\xe6\x97\xa5"
                           "b"),
                  "[[3 3]]" },
                { STR_INIT("\\B\\B|x"), STR_INIT("\xe6\x97\xa5x"), "[[0 0] [3 4]]" },
                { STR_INIT("\\Ba*"), STR_INIT("\xc3\xa9"), "[[0 0] [2 2]]" },
                { STR_INIT("."), STR_INIT("a\nb"), "[[0 1] [2 3]]" },
                { STR_INIT("(?s)."), STR_INIT("a\n"), "[[0 1] [1 2]]" },
                { STR_INIT("(?-s:.)(?s:.)"), STR_INIT("a\nb"), "[[0 2]]" },
                { STR_INIT("."), STR_INIT("\xff\xe9\xc3\xa9"), "[[0 1] [1 2] [2 4]]" },
                { STR_INIT("\xef\xbf\xbd"),
                  STR_INIT("\xff\xef\xbf\xbd"
                           "a\xc3"),
                  "[[0 1] [1 4] [5 6]]" },
                { STR_INIT("(\\x{FFFD})(b)"),
                  STR_INIT("a\xff"
                           "b"),
                  "[[1 3 1 2 2 3]]" },
                { STR_INIT("[^a]"), STR_INIT("a\x80"), "[[1 2]]" },
                { STR_INIT("\\x00"),
                  STR_INIT("a\x00"
                           "b"),
                  "[[1 2]]" },
                { STR_INIT("a\x00"
                           "b"),
                  STR_INIT("a\x00"
                           "b"),
                  "[[0 3]]" },
                { STR_INIT("[\x00-\x01]+"), STR_INIT("\x00\x01"), "[[0 2]]" },
                { STR_INIT("(?i)k"), STR_INIT("kK\xe2\x84\xaa"), "[[0 1] [1 2] [2 5]]" },
                { STR_INIT("(?i)[r-s]+"), STR_INIT("SR\xc5\xbf"), "[[0 4]]" },
                { STR_INIT("(?i)[^k]"),
                  STR_INIT("kK\xe2\x84\xaa"
                           "a"),
                  "[[5 6]]" },
                { STR_INIT("(?i)\\W"),
                  STR_INIT("\xc5\xbf"
                           "a-"),
                  "[[3 4]]" },
                { STR_INIT("(?i)\\p{Lu}"),
                  STR_INIT("a\xc3\x89"
                           "1"),
                  "[[0 1] [1 3]]" },
                { STR_INIT("(?i)\\p{LC}"), STR_INIT("\xcd\x85\xce\xb9"), "[[2 4]]" },
                { STR_INIT("(?i)\\p{L}"), STR_INIT("\xcd\x85"), "[[0 2]]" },
                { STR_INIT("(?i)\xce\xa3+"), STR_INIT("\xcf\x83\xcf\x82\xce\xa3"), "[[0 6]]" },
                { STR_INIT("(?i)\xc3\x9f"), STR_INIT("\xe1\xba\x9e\xc3\x9f"), "[[0 3] [3 5]]" },
                { STR_INIT("(?i:a)b"), STR_INIT("AbaB"), "[[0 2]]" },
                { STR_INIT("a(?i)b|c"), STR_INIT("aBC"), "[[0 2] [2 3]]" },
                { STR_INIT("(a(?i)b)c"), STR_INIT("aBCaBc"), "[[3 6 3 5]]" },
                { STR_INIT("\\pL+"),
                  STR_INIT("a\xc3\xa9\xe6\x97\xa5"
                           "1"),
                  "[[0 6]]" },
                { STR_INIT("\\PL"), STR_INIT("a1"), "[[1 2]]" },
                { STR_INIT("\\p{^Greek}"),
                  STR_INIT("\xce\xb1"
                           "a"),
                  "[[2 3]]" },
                { STR_INIT("[\\pN\\p{Greek}]+"),
                  STR_INIT("\xce\xb1"
                           "1b"),
                  "[[0 3]]" },
                { STR_INIT("[^\\PL]"), STR_INIT("1a"), "[[1 2]]" },
                { STR_INIT("\\p{u p-p_erCase letter}"), STR_INIT("aA"), "[[1 2]]" },
                { STR_INIT("[[:word:]]+"), STR_INIT("a_1-"), "[[0 3]]" },
                { STR_INIT("[[:^alpha:]]"), STR_INIT("a1"), "[[1 2]]" },
                { STR_INIT("[]a]+"), STR_INIT("]a"), "[[0 2]]" },
                { STR_INIT("[^]a]"), STR_INIT("]ab"), "[[2 3]]" },
                { STR_INIT("[a-]+"), STR_INIT("a-b"), "[[0 2]]" },
                { STR_INIT("[\\]\\-\\\\]+"), STR_INIT("]-\\"), "[[0 3]]" },
                { STR_INIT("[^\\x00-\\x{10FFFF}]"), STR_INIT("a"), "[]" },
                { STR_INIT("a|[^\\x00-\\x{10FFFF}]"), STR_INIT("a"), "[[0 1]]" },
                { STR_INIT("[\\x00-\\x{10FFFF}]"), STR_INIT("\xc3\xa9"), "[[0 2]]" },
                { STR_INIT("\\d\\D\\s\\S\\w\\W"), STR_INIT("1a bc-"), "[[0 6]]" },
                { STR_INIT("[\\s]+"), STR_INIT("\x09\n\x0c\x0d \x0b"), "[[0 5]]" },
                { STR_INIT("a{2}"), STR_INIT("aaaaa"), "[[0 2] [2 4]]" },
                { STR_INIT("a{1,2}?"), STR_INIT("aa"), "[[0 1] [1 2]]" },
                { STR_INIT("a{0}b"), STR_INIT("ab"), "[[1 2]]" },
                { STR_INIT("(a){0}(b)"), STR_INIT("ab"), "[[1 2 -1 -1 1 2]]" },
                { STR_INIT("((a{1000}){0}){1000}"), STR_INIT("a"), "[[0 0 0 0 -1 -1] [1 1 1 1 -1 -1]]" },
                { STR_INIT("a{,2}"), STR_INIT("a{,2}"), "[[0 5]]" },
                { STR_INIT("{"), STR_INIT("{"), "[[0 1]]" },
                { STR_INIT("a{01}"), STR_INIT("a{01}"), "[[0 5]]" },
                { STR_INIT("x*{"), STR_INIT("xx{"), "[[0 3]]" },
                { STR_INIT("a*(?i)*"), STR_INIT("aab"), "[[0 2] [3 3]]" },
                { STR_INIT("(?U)a+"), STR_INIT("aa"), "[[0 1] [1 2]]" },
                { STR_INIT("(?U)a+?"), STR_INIT("aa"), "[[0 2]]" },
                { STR_INIT("(?U:a{1,2})(a*)"), STR_INIT("aaa"), "[[0 3 1 3]]" },
                { STR_INIT("\\Qa.*\\E+"), STR_INIT("a.**"), "[[0 4]]" },
                { STR_INIT("\\Qa\\"), STR_INIT("a\\"), "[[0 2]]" },
                { STR_INIT("\\a\\f\\t\\n\\r\\v"), STR_INIT("\x07\x0c\x09\n\x0d\x0b"), "[[0 6]]" },
                { STR_INIT("\\101\\x41\\x{41}\\_"), STR_INIT("AAA_"), "[[0 4]]" },
                { STR_INIT("(?<a>x)(?P<b>y)"), STR_INIT("xy"), "[[0 2 0 1 1 2]]" },
                { STR_INIT("(?i)(?-i)A"), STR_INIT("aA"), "[[1 2]]" },
                { STR_INIT("\\x{D800}"), STR_INIT("\xed\xa0\x80"), "[]" },
                { STR_INIT("(((((((((((((((((a)))))))))))))))))"), STR_INIT("a"),
                  "[[0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1]]" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(regex_freep)
                struct regex *re = compile(cases[i].pattern);
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct str first;

                append_all(&b, re, cases[i].text);
                ASSERT_STR_CASE(cases[i].pattern.p, buf_str(&b), str_from(cases[i].all));
                ASSERT_CASE(cases[i].pattern.p, regex_matches(re, cases[i].text) == (b.n > 2));
                ASSERT_CASE(cases[i].pattern.p, regex_find(re, cases[i].text, 0, &first, 1) == (b.n > 2));
        }
}

TEST(replacements)
{
        static const struct {
                struct str pattern;
                struct str text;
                struct str replacement;
                struct str expanded;
                struct str literal;
        } cases[] = {
                { STR_INIT("a*"), STR_INIT("baac"), STR_INIT("-"), STR_INIT("-b-c-"), STR_INIT("-b-c-") },
                { STR_INIT("(a)(?P<n>b)?"), STR_INIT("abax"), STR_INIT("[$1${n}$0]"), STR_INIT("[abab][aa]x"),
                  STR_INIT("[$1${n}$0][$1${n}$0]x") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("$"), STR_INIT("$"), STR_INIT("$") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("$$"), STR_INIT("$"), STR_INIT("$$") },
                { STR_INIT("a"), STR_INIT("ab"), STR_INIT("${"), STR_INIT("${b"), STR_INIT("${b") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("${}"), STR_INIT("${}"), STR_INIT("${}") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("${0"), STR_INIT("${0"), STR_INIT("${0") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("${0 }"), STR_INIT("${0 }"), STR_INIT("${0 }") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$1x"), STR_INIT(""), STR_INIT("$1x") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("${1}x"), STR_INIT("ax"), STR_INIT("${1}x") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$01"), STR_INIT(""), STR_INIT("$01") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$2"), STR_INIT(""), STR_INIT("$2") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$1000000000"), STR_INIT(""), STR_INIT("$1000000000") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$\xc3\xa9"), STR_INIT(""), STR_INIT("$\xc3\xa9") },
                { STR_INIT("(?P<x>a)|(?P<x>b)"), STR_INIT("ab"), STR_INIT("<$x>"), STR_INIT("<a><b>"),
                  STR_INIT("<$x><$x>") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$1\xff"), STR_INIT("a\xff"), STR_INIT("$1\xff") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$1\xe6\x97\xa5"), STR_INIT(""),
                  STR_INIT("$1\xe6\x97\xa5") },
                { STR_INIT("(a)"), STR_INIT("a"), STR_INIT("$1-\xe6\x97\xa5"), STR_INIT("a-\xe6\x97\xa5"),
                  STR_INIT("$1-\xe6\x97\xa5") },
                { STR_INIT("."), STR_INIT("\xff\xfe"), STR_INIT("x"), STR_INIT("xx"), STR_INIT("xx") },
                { STR_INIT("(.)"), STR_INIT("a\xff"), STR_INIT("$1$1"), STR_INIT("aa\xff\xff"), STR_INIT("$1$1$1$1") },
                { STR_INIT(""), STR_INIT("abc"), STR_INIT("-"), STR_INIT("-a-b-c-"), STR_INIT("-a-b-c-") },
                { STR_INIT("b"), STR_INIT("abc"), STR_INIT(""), STR_INIT("ac"), STR_INIT("ac") },
                { STR_INIT("x"), STR_INIT("abc"), STR_INIT("y"), STR_INIT("abc"), STR_INIT("abc") },
                { STR_INIT("a"), STR_INIT(""), STR_INIT("y"), STR_INIT(""), STR_INIT("") },
                { STR_INIT(""), STR_INIT(""), STR_INIT("y"), STR_INIT("y"), STR_INIT("y") },
                { STR_INIT("(?P<_a1>a)"), STR_INIT("a"), STR_INIT("$_a1 $_a1x"), STR_INIT("a "),
                  STR_INIT("$_a1 $_a1x") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("$\xd9\xa3"), STR_INIT(""), STR_INIT("$\xd9\xa3") },
                { STR_INIT("a"), STR_INIT("a"), STR_INIT("$\xe2\x85\xb7"), STR_INIT("$\xe2\x85\xb7"),
                  STR_INIT("$\xe2\x85\xb7") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(regex_freep)
                struct regex *re = compile(cases[i].pattern);
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                regex_replace_all(re, cases[i].text, cases[i].replacement, false, &b);
                ASSERT_STR_CASE(cases[i].replacement.p, buf_str(&b), cases[i].expanded);
                buf_clear(&b);
                regex_replace_all(re, cases[i].text, cases[i].replacement, true, &b);
                ASSERT_STR_CASE(cases[i].replacement.p, buf_str(&b), cases[i].literal);
        }
}

/* The texts with | between them, and their number. */
static void append_texts(struct buf *b, const struct str *texts, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (i)
                        buf_append_char(b, '|');
                buf_append_str(b, texts[i]);
        }
        buf_append_uint(b, n);
}

TEST(split_and_find_all)
{
        static const struct {
                struct str pattern;
                struct str text;
                int limit;
                struct str split;
                struct str found;
        } cases[] = {
                { STR_INIT(","), STR_INIT("a,b,c"), -1, STR_INIT("a|b|c3"), STR_INIT(",|,2") },
                { STR_INIT(","), STR_INIT("a,b,c"), 2, STR_INIT("a|b,c2"), STR_INIT(",|,2") },
                { STR_INIT(","), STR_INIT("a,b,c"), 1, STR_INIT("a,b,c1"), STR_INIT(",1") },
                { STR_INIT(","), STR_INIT("a,b,c"), 0, STR_INIT("0"), STR_INIT("0") },
                { STR_INIT(","), STR_INIT(""), -1, STR_INIT("1"), STR_INIT("0") },
                { STR_INIT(""), STR_INIT(""), -1, STR_INIT("0"), STR_INIT("1") },
                { STR_INIT(""), STR_INIT("abc"), -1, STR_INIT("a|b|c3"), STR_INIT("|||4") },
                { STR_INIT(""), STR_INIT("abc"), 2, STR_INIT("a|bc2"), STR_INIT("|2") },
                { STR_INIT("a*"), STR_INIT("baac"), -1, STR_INIT("b|c2"), STR_INIT("|aa|3") },
                { STR_INIT(","), STR_INIT(",a,"), -1, STR_INIT("|a|3"), STR_INIT(",|,2") },
                { STR_INIT("x"), STR_INIT("abc"), -1, STR_INIT("abc1"), STR_INIT("0") },
                { STR_INIT("\\B"), STR_INIT("a\xc3\xa9"), -1,
                  STR_INIT("a\xc3\xa9"
                           "1"),
                  STR_INIT("1") },
                { STR_INIT("."), STR_INIT("\xff\xff"), -1, STR_INIT("||3"),
                  STR_INIT("\xff|\xff"
                           "2") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(regex_freep)
                struct regex *re = compile(cases[i].pattern);
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_arena_ struct arena a;
                struct str *texts;
                size_t n;

                arena_init(&a, "test", 0);
                n = regex_split(re, cases[i].text, cases[i].limit, &a, &texts);
                append_texts(&b, texts, n);
                ASSERT_STR_CASE(cases[i].pattern.p, buf_str(&b), cases[i].split);
                buf_clear(&b);
                n = regex_find_all(re, cases[i].text, cases[i].limit, &a, &texts);
                append_texts(&b, texts, n);
                ASSERT_STR_CASE(cases[i].pattern.p, buf_str(&b), cases[i].found);
        }
}

TEST(group_names)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("(a)(?P<n>b)(?:c)(?<n>d)((?<_9>e))"));

        ASSERT_INT(regex_group_count(re), 5);
        ASSERT_STR(regex_group_name(re, 0), STR(""));
        ASSERT_STR(regex_group_name(re, 1), STR(""));
        ASSERT_STR(regex_group_name(re, 2), STR("n"));
        ASSERT_STR(regex_group_name(re, 3), STR("n"));
        ASSERT_STR(regex_group_name(re, 4), STR(""));
        ASSERT_STR(regex_group_name(re, 5), STR("_9"));
        ASSERT_STR(regex_group_name(re, 6), STR(""));
        ASSERT_STR(regex_pattern(re), STR("(a)(?P<n>b)(?:c)(?<n>d)((?<_9>e))"));
}

/* The text before the start is context: ^ and word boundaries see it. */
TEST(find_from_a_start)
{
        static const struct {
                struct str pattern;
                struct str text;
                size_t start;
                ptrdiff_t found; /* -1: nothing */
        } cases[] = {
                { STR_INIT("^a"), STR_INIT("aa"), 1, -1 },
                { STR_INIT("(?m)^a"), STR_INIT("b\na"), 2, 2 },
                { STR_INIT("\\ba"), STR_INIT("xa a"), 1, 3 },
                { STR_INIT("\\Ba"), STR_INIT("xa a"), 1, 1 },
                { STR_INIT("a"), STR_INIT("aba"), 1, 2 },
                { STR_INIT("a*"), STR_INIT("ab"), 2, 2 },
                { STR_INIT("a"), STR_INIT("a"), 2, -1 },
                { STR_INIT("\\B"), STR_INIT("a\xc3\xa9"), 1, 3 },
                { STR_INIT("."), STR_INIT("\xff\xfe\xff"), 2, 2 },
                { STR_INIT("b"),
                  STR_INIT("\xff"
                           "b\xff"
                           "b"),
                  2, 3 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(regex_freep)
                struct regex *re = compile(cases[i].pattern);
                struct str match = STR_NONE;
                bool is_found = regex_find(re, cases[i].text, cases[i].start, &match, 1);

                ASSERT_CASE(cases[i].pattern.p, is_found == (cases[i].found >= 0));
                ASSERT_CASE(cases[i].pattern.p, !is_found || match.p - cases[i].text.p == cases[i].found);
        }
}

TEST(more_groups_than_there_are)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("(a)|(b)"));
        struct str text = STR("b"), groups[5] = { STR("x"), STR("x"), STR("x"), STR("x"), STR("x") };

        ASSERT(regex_find(re, text, 0, groups, 5));
        ASSERT(groups[0].p == text.p && !groups[1].p && groups[2].p == text.p && !groups[3].p && !groups[4].p);
        ASSERT(regex_find(re, text, 0, NULL, 0));
        ASSERT(regex_matches(re, STR("\xff"
                                     "b")));
}

TEST(no_text_is_the_empty_text)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR_NONE);
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct str match, *texts;

        arena_init(&a, "test", 0);
        ASSERT(regex_matches(re, STR_NONE));
        ASSERT(regex_find(re, STR_NONE, 0, &match, 1) && match.p && match.n == 0);
        regex_replace_all(re, STR_NONE, STR("x"), false, &b);
        ASSERT_STR(buf_str(&b), STR("x"));
        ASSERT_INT(regex_find_all(re, STR_NONE, -1, &a, &texts), 1);
        ASSERT_INT(regex_split(re, STR_NONE, -1, &a, &texts), 0);
}

TEST(expand)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("(?P<key>\\w+):\\s+(?P<value>\\w+)"));
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str groups[3];

        ASSERT(regex_find(re, STR("  option1: value1"), 0, groups, 3));
        regex_expand(re, STR("$key=$value;$$${key}$nope"), groups, 3, &b);
        ASSERT_STR(buf_str(&b), STR("option1=value1;$option1"));
}

TEST(quoted)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        regex_append_quoted(&b, STR("a\\.+*?()|[]{}^$-_ \0\xff"));
        ASSERT_STR(buf_str(&b), STR("a\\\\\\.\\+\\*\\?\\(\\)\\|\\[\\]\\{\\}\\^\\$-_ \0\xff"));
}

static void append_repeated(struct buf *b, const char *text, size_t count)
{
        while (count-- > 0)
                buf_append_str(b, str_from(text));
}

/* opening x count, inner, closing x count, in a buffer of the caller. */
static struct str nested(struct buf *b, size_t count, const char *opening, const char *inner, const char *closing)
{
        buf_clear(b);
        append_repeated(b, opening, count);
        append_repeated(b, inner, 1);
        append_repeated(b, closing, count);
        return buf_str(b);
}

static bool ends_in(const struct err *err, struct str pattern, const char *message)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "error parsing regexp: %s: `%.*s`", message, STR_ARG(pattern));
        return str_equal(buf_str(&b), str_from(err_message(err)));
}

TEST(nesting)
{
        static const struct {
                size_t limit; /* the deepest that Go takes */
                const char *opening, *inner, *closing;
        } cases[] = {
                { 999, "(", "a", ")" },       { 999, "(", "", ")" },   { 999, "(?:", "a", ")*" },
                { 999, "(?:", "a", ")+?" },   { 999, "(", "ab", ")" }, { 999, "(", "a|b", ")" },
                { 998, "(", "a|bc", ")" },    { 998, "(", "a*", ")" }, { 499, "(x", "a*", ")" },
                { 499, "(xx|", "ab", ")" },   { 499, "(", "a", ")*" }, { 998, "(", "\\dx", ")" },
                { 999, "(?i:", "a", "){1}" }, { 998, "(", "a|", ")" }, { 999, "(", "|", ")" },
                { 998, "(", "a(?i)b", ")" },
        };
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(regex_freep)
                struct regex *re = NULL;
                _cleanup_err_ struct err err = { 0 };
                struct str pattern;

                re = compile(nested(&b, cases[i].limit, cases[i].opening, cases[i].inner, cases[i].closing));
                pattern = nested(&b, cases[i].limit + 1, cases[i].opening, cases[i].inner, cases[i].closing);
                ASSERT_CASE(pattern.p, regex_compile(pattern, &(struct regex *) { NULL }, &err) == ERR_INVALID);
                ASSERT_CASE(pattern.p, ends_in(&err, pattern, "expression nests too deeply"));
        }
}

TEST(operators_stacked_by_empty_flags)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        _cleanup_(regex_freep)
        struct regex *re = NULL;

        buf_append_char(&b, 'a');
        append_repeated(&b, "*(?i)", 999);
        re = compile(buf_str(&b));
        ASSERT(regex_matches(re, STR("aaa")));
        append_repeated(&b, "*(?i)", 1);
        ASSERT_INT(regex_compile(buf_str(&b), &(struct regex *) { NULL }, &err), ERR_INVALID);
        ASSERT(ends_in(&err, buf_str(&b), "expression nests too deeply"));
}

TEST(open_groups_are_not_nesting)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        append_repeated(&b, "(", 20000);
        ASSERT_INT(regex_compile(buf_str(&b), &(struct regex *) { NULL }, &err), ERR_INVALID);
        ASSERT(ends_in(&err, buf_str(&b), "missing closing )"));
}

/* Go's limit of 3355443 instructions, by what each construct costs. Below it our own limit may strike. */
TEST(size_as_go_counts_it)
{
        static const struct {
                size_t count; /* the most that Go takes */
                const char *element;
        } cases[] = {
                { 3355, "\\d" },  { 838, "(\\d\\w)" }, { 1118, "\\d*" },    { 1677, "\\d+" },
                { 1677, "\\d?" }, { 1118, "\\d{0,}" }, { 1677, "\\d{1,}" }, { 3355, "a" },
        };

        for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
                _cleanup_(regex_freep)
                struct regex *re = NULL;
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };
                const char *element = cases[i / 2].element;
                int r;

                buf_append_literal(&b, "(?:");
                append_repeated(&b, element, cases[i / 2].count + i % 2);
                buf_append_literal(&b, "){1000}");
                r = regex_compile(buf_str(&b), &re, &err);
                if (i % 2)
                        ASSERT_CASE(element, r == ERR_INVALID && ends_in(&err, buf_str(&b), "expression too large"));
                else
                        ASSERT_CASE(element, r == 0 || r == ERR_LIMIT);
        }
}

TEST(our_limits)
{
        static const struct {
                const char *element;
                size_t count;
                const char *message;
        } cases[] = {
                { "a", LIMIT_REGEX_PATTERN_BYTES + 1, "regular expression is larger than the limit of 65536 bytes" },
                { "\\pL", 2000, "regular expression is larger than the limit of 8388608 bytes" },
                { "\\pL{100}", 5, "regular expression needs more memory than the limit of 8388608 bytes" },
                { "()", 1001, "regular expression has more than 1000 groups" },
                { "(?:)*", 1001, "regular expression repeats more than 1000 times what may be empty" },
                { "[\\pL\\PL]", 7000, "regular expression has more than 4000000 ranges of characters" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };

                append_repeated(&b, cases[i].element, cases[i].count);
                ASSERT_CASE(cases[i].element,
                            regex_compile(buf_str(&b), &(struct regex *) { NULL }, &err) == ERR_LIMIT);
                ASSERT_STR(str_from(err_message(&err)), str_from(cases[i].message));
        }
}

TEST(engine_refuses_what_it_does_not_know)
{
        _cleanup_err_ struct err err = { 0 };
        struct regex_engine *e = NULL;

        ASSERT_INT(regex_engine_new(STR("(?=a)"), &e, &err), ERR_UNSUPPORTED);
        ASSERT(!e && strstr(err_message(&err), "regular expression is beyond the engine: "));
}

/* A pattern that makes backtracking engines take forever. */
TEST(linear_time)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("^(a|a)*(a|a)*(a*)*b$"));
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_repeated(&b, "a", 100000);
        ASSERT(!regex_matches(re, buf_str(&b)));
}

/* The engine knows \B inside of every character of this text, and none of them counts. */
TEST(linear_time_between_bytes)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("[^a]*a|(\\B)"));
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str groups[3];

        append_repeated(&b, "x\xC3\xA9", 500000);
        ASSERT(regex_find(re, buf_str(&b), 0, groups, ARRAY_SIZE(groups)));
        ASSERT(groups[0].p == b.p + b.n && groups[0].n == 0);
        ASSERT(groups[1].p == groups[0].p && !groups[2].p);
        buf_append_char(&b, 'x');
        ASSERT(!regex_matches(re, buf_str(&b)));
}

TEST(replacing_stops_at_the_buffer_maximum)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("a"));
        _cleanup_buf_ struct buf text = BUF_INIT(0), b = BUF_INIT(100);

        append_repeated(&text, "a", 1000);
        regex_replace_all(re, buf_str(&text), STR("0123456789"), false, &b);
        ASSERT(b.has_failed && b.n <= 100);
}

TEST(class_tables)
{
        ASSERT(regex_class_has("l", 'a') && !regex_class_has("l", '1'));
        ASSERT(regex_class_has("greek", 0x3B1) && regex_class_has("any", 0x10FFFF) &&
               !regex_class_has("assigned", 0x378));
        ASSERT(regex_class_find(STR("Old_Italic")) == NULL);
        ASSERT(regex_class_find(STR("")) == NULL);
        ASSERT(regex_class_find((struct str) { "L\0", 2 }) == NULL);
        for (size_t i = 0; i < regex_class_count; i++)
                ASSERT(regex_class_find(str_from(regex_classes[i].name)) == &regex_classes[i]);
        for (size_t i = 1; i < regex_fold_count; i++)
                ASSERT(regex_folds[i].lo > regex_folds[i - 1].hi);
}

#define THREADS 4

static void *match_often(void *argument)
{
        const struct regex *re = argument;
        struct str groups[3];
        uintptr_t count = 0;

        for (int i = 0; i < 500; i++) {
                struct str text = i % 2 ? STR("xx key=value yy") : STR("\xff key=value \xfe");

                if (regex_matches(re, text) && regex_find(re, text, 0, groups, 3) && str_equal(groups[2], STR("value")))
                        count++;
        }
        return (void *)count;
}

TEST(one_expression_in_many_threads)
{
        _cleanup_(regex_freep)
        struct regex *re = compile(STR("(?i)\\b([a-z]+)=([^\\s\\pN]+)"));
        pthread_t threads[THREADS];

        for (size_t i = 0; i < THREADS; i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, match_often, re), 0);
        for (size_t i = 0; i < THREADS; i++) {
                void *count;

                ASSERT_INT(pthread_join(threads[i], &count), 0);
                ASSERT_INT((uintptr_t)count, 500);
        }
}
