/* The test harness: TEST(name) { ASSERT(...); } registers itself; test.c has main and prints TAP.
 * A failing ASSERT reports file, line and values and ends that test; the others still run. On another thread than the test's it
 * ends the process. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "str.h"

struct test {
        const char *name;
        void (*run)(void);
        struct test *next;
};

void test_register(struct test *t);
_Noreturn void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True if f, run in its own process, ends it by a signal or with a failure. */
bool test_dies(void (*f)(void));

#define TEST(test_name)                                                                 \
        static void test_##test_name(void);                                             \
        __attribute__((constructor)) static void register_##test_name(void)             \
        {                                                                               \
                static struct test t = { .name = #test_name, .run = test_##test_name }; \
                test_register(&t);                                                      \
        }                                                                               \
        static void test_##test_name(void)

#define ASSERT(condition)                                                \
        do {                                                             \
                if (!(condition))                                        \
                        test_fail(__FILE__, __LINE__, "%s", #condition); \
        } while (0)

/* ASSERT with context for table-driven tests: ASSERT_CASE(c->name, x == y). */
#define ASSERT_CASE(what, condition)                                                  \
        do {                                                                          \
                if (!(condition))                                                     \
                        test_fail(__FILE__, __LINE__, "[%s] %s", (what), #condition); \
        } while (0)

#define ASSERT_INT(a, b)                                                                               \
        do {                                                                                           \
                long long _a = (long long)(a), _b = (long long)(b);                                    \
                if (_a != _b)                                                                          \
                        test_fail(__FILE__, __LINE__, "%s is %lld, wanted %s = %lld", #a, _a, #b, _b); \
        } while (0)

/* Both sides are struct str. */
#define ASSERT_STR(a, b)                                                                                          \
        do {                                                                                                      \
                struct str _a = (a), _b = (b);                                                                    \
                if (!str_equal(_a, _b))                                                                           \
                        test_fail(__FILE__, __LINE__, "%s is\n#   |%.*s|\n# wanted\n#   |%.*s|", #a, STR_ARG(_a), \
                                  STR_ARG(_b));                                                                   \
        } while (0)

/* Like ASSERT_STR, with the name of the case in the message. */
#define ASSERT_STR_CASE(what, a, b)                                                                               \
        do {                                                                                                      \
                struct str _a = (a), _b = (b);                                                                    \
                if (!str_equal(_a, _b))                                                                           \
                        test_fail(__FILE__, __LINE__, "[%s] %s is\n#   |%.*s|\n# wanted\n#   |%.*s|", (what), #a, \
                                  STR_ARG(_a), STR_ARG(_b));                                                      \
        } while (0)

/* Like ASSERT_STR, for C strings. */
#define ASSERT_TEXT(a, b) ASSERT_STR(str_from(a), str_from(b))

/* For broken invariants: f must end the process. */
#define ASSERT_ABORTS(f) ASSERT_CASE(#f, test_dies(f))
