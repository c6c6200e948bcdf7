/* Text as (pointer, length), passed by value. A str never owns its bytes; the function or struct that gives a str says how long
 * its bytes live. The bytes need not be UTF-8 and need not end in NUL. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "macro.h"

struct str {
        const char *p;
        size_t n;
};

/* A str from a string literal. STR_INIT is for initialisers of static data. */
#define STR(literal) ((struct str) { "" literal, sizeof(literal) - 1 })
#define STR_INIT(literal)                       \
        {                                       \
                "" literal, sizeof(literal) - 1 \
        }
#define STR_NONE ((struct str) { NULL, 0 })

/* printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) ((s).n > INT32_MAX ? INT32_MAX : (int)(s).n), ((s).p ? (s).p : "")

static inline struct str str_make(const char *p, size_t n)
{
        return (struct str) { p, n };
}

/* NULL gives the empty str. */
static inline struct str str_from(const char *cstring)
{
        return (struct str) { cstring, cstring ? strlen(cstring) : 0 };
}

static inline bool str_is_empty(struct str s)
{
        return s.n == 0;
}

static inline bool str_equal(struct str a, struct str b)
{
        /* Most texts of one length differ in their last byte, which costs no call. */
        return a.n == b.n && (a.n == 0 || (a.p[a.n - 1] == b.p[a.n - 1] && memcmp(a.p, b.p, a.n) == 0));
}

/* Bytewise order, as Go and Kubernetes sort keys: negative, 0 or positive. */
static inline int str_compare(struct str a, struct str b)
{
        size_t n = a.n < b.n ? a.n : b.n;
        int r = n ? memcmp(a.p, b.p, n) : 0;

        if (r != 0)
                return r;
        return (a.n > b.n) - (a.n < b.n);
}

/* From offset (clamped) to the end, and the first n bytes (clamped). */
static inline struct str str_skip(struct str s, size_t offset)
{
        if (offset >= s.n)
                return (struct str) { s.p ? s.p + s.n : NULL, 0 };
        return (struct str) { s.p + offset, s.n - offset };
}

static inline struct str str_first(struct str s, size_t n)
{
        return (struct str) { s.p, n < s.n ? n : s.n };
}

bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);
bool str_equal_ignore_case(struct str a, struct str b); /* ASCII only */

/* Offset of the first (last) occurrence, or -1. */
ptrdiff_t str_find(struct str s, struct str needle);
ptrdiff_t str_find_char(struct str s, char c);
ptrdiff_t str_find_last_char(struct str s, char c);

/* s without leading and trailing ASCII white space (space, \t, \n, \v, \f, \r). */
struct str str_trim(struct str s);

/* If s starts (ends) with the affix, cuts it off *s and returns true. */
bool str_cut_prefix(struct str *s, struct str prefix);
bool str_cut_suffix(struct str *s, struct str suffix);

/* Splits at the first c: *ret_head is the part before it, *s becomes the part after it. Without c, *ret_head is all of *s, *s
 * becomes empty and the result is false. */
bool str_split(struct str *s, char c, struct str *ret_head);

/* A hash for tables in memory: seeded at random once per process, so that an attacker cannot choose keys that collide. */
uint64_t str_hash(struct str s);

/* The same function with a given seed: equal on every run and machine. */
uint64_t str_hash_seeded(struct str s, uint64_t seed);

/* A NUL-terminated heap copy, for calls into libc; the caller frees it. */
char *str_to_cstring(struct str s);
