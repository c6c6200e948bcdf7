/* A file has a header and a block of data twice: first with times of 32 bits, which the reader skips, then with times of 64
 * bits. A rule for all later times follows, between line feeds. Files of version 1 have only the first block.
 *
 *   header   "TZif" VERSION 15 unused bytes, then six counts of 4 bytes: UT marks, standard marks, leap seconds, changes,
 *            types, bytes of abbreviations
 *   data     times of changes, the type of each (1 byte), types (offset 4, is daylight 1, abbreviation 1), abbreviations,
 *            leap seconds, standard marks, UT marks */
#include "zone.h"

#include "buf.h"
#include "limits.h"
#include "map.h"
#include "zone-rule.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define HEADER_BYTES 44
#define TYPE_BYTES   6

struct zone {
        char *bytes; /* the file */
        struct str abbreviations;
        const char *times, *kinds, *types; /* in bytes */
        size_t n_times, n_types;
        size_t time_bytes; /* 4 or 8 */
        bool has_rule;
        struct zone_rule rule;
};

struct counts {
        uint32_t n_ut, n_standard, n_leap, n_times, n_types, n_abbreviations;
};

/* --- Reading a file --- */

static uint64_t read_number(const char *p, size_t n)
{
        uint64_t number = 0;

        for (size_t i = 0; i < n; i++)
                number = number << 8 | (unsigned char)p[i];
        return number;
}

static bool take_header(struct str *s, struct counts *ret, char *ret_version)
{
        uint32_t *const counts[] = { &ret->n_ut,    &ret->n_standard, &ret->n_leap,
                                     &ret->n_times, &ret->n_types,    &ret->n_abbreviations };

        if (s->n < HEADER_BYTES || !str_starts_with(*s, STR("TZif")))
                return false;
        *ret_version = s->p[4];
        for (size_t i = 0; i < 6; i++)
                *counts[i] = (uint32_t)read_number(s->p + 20 + 4 * i, 4);
        *s = str_skip(*s, HEADER_BYTES);
        return true;
}

static uint64_t data_bytes(const struct counts *c, size_t time_bytes)
{
        return (uint64_t)c->n_times * (time_bytes + 1) + (uint64_t)c->n_types * TYPE_BYTES + c->n_abbreviations +
               (uint64_t)c->n_leap * (time_bytes + 4) + c->n_standard + c->n_ut;
}

/* True if the type of every change exists, and the abbreviation of every type begins inside the abbreviations. */
static bool is_sound(const struct zone *z)
{
        for (size_t i = 0; i < z->n_times; i++)
                if ((unsigned char)z->kinds[i] >= z->n_types)
                        return false;
        for (size_t i = 0; i < z->n_types; i++)
                if ((unsigned char)z->types[i * TYPE_BYTES + 5] >= z->abbreviations.n)
                        return false;
        return z->n_types > 0;
}

static bool take_data(struct str *s, const struct counts *c, size_t time_bytes, struct zone *z)
{
        struct str rest = *s;

        if (rest.n < data_bytes(c, time_bytes))
                return false;
        z->time_bytes = time_bytes;
        z->n_times = c->n_times;
        z->n_types = c->n_types;
        z->times = rest.p;
        z->kinds = z->times + z->n_times * time_bytes;
        z->types = z->kinds + z->n_times;
        z->abbreviations = str_make(z->types + z->n_types * TYPE_BYTES, c->n_abbreviations);
        *s = str_skip(rest, data_bytes(c, time_bytes));
        return is_sound(z);
}

static void read_rule(struct zone *z, struct str rest)
{
        struct str rule;

        if (str_cut_prefix(&rest, STR("\n")) && str_split(&rest, '\n', &rule))
                z->has_rule = zone_rule_parse(rule, &z->rule);
}

static bool read_zone(struct zone *z, struct str rest)
{
        struct counts counts;
        char version;

        if (!take_header(&rest, &counts, &version))
                return false;
        if (version == 0)
                return take_data(&rest, &counts, 4, z);
        if (rest.n < data_bytes(&counts, 4))
                return false;
        rest = str_skip(rest, data_bytes(&counts, 4));
        if (!take_header(&rest, &counts, &version) || !take_data(&rest, &counts, 8, z))
                return false;
        read_rule(z, rest);
        return true;
}

int zone_parse(struct str bytes, struct zone **ret, struct err *err)
{
        struct zone *z;

        if (bytes.n > LIMIT_ZONE_BYTES)
                return err_set(err, ERR_LIMIT, "a time zone has at most %d bytes", LIMIT_ZONE_BYTES);
        z = xcalloc(1, sizeof(*z));
        z->bytes = xmalloc(bytes.n + 1);
        memcpy(z->bytes, bytes.p ? bytes.p : "", bytes.n);
        if (!read_zone(z, str_make(z->bytes, bytes.n))) {
                zone_free(z);
                return err_set(err, ERR_INVALID, "not a time zone");
        }
        *ret = z;
        return 0;
}

void zone_free(struct zone *z)
{
        if (!z)
                return;
        free(z->bytes);
        free(z);
}

/* --- Use --- */

static int64_t time_of(const struct zone *z, size_t i)
{
        uint64_t number = read_number(z->times + i * z->time_bytes, z->time_bytes);

        return z->time_bytes == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
}

static bool is_daylight(const struct zone *z, size_t type)
{
        return z->types[type * TYPE_BYTES + 4] != 0;
}

static bool is_used(const struct zone *z, size_t type)
{
        return z->n_times > 0 && memchr(z->kinds, (int)type, z->n_times);
}

/* The type of times before the first change: the first type if no change uses it, else the nearest standard-time type before
 * that of the first change, else the first standard-time type. */
static size_t first_type(const struct zone *z)
{
        if (!is_used(z, 0))
                return 0;
        if (z->n_times > 0 && is_daylight(z, (unsigned char)z->kinds[0]))
                for (size_t i = (unsigned char)z->kinds[0]; i-- > 0;)
                        if (!is_daylight(z, i))
                                return i;
        for (size_t i = 0; i < z->n_types; i++)
                if (!is_daylight(z, i))
                        return i;
        return 0;
}

/* The number of changes up to the time. */
static size_t changes_until(const struct zone *z, int64_t seconds)
{
        size_t low = 0, high = z->n_times;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (time_of(z, middle) <= seconds)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

void zone_at(const struct zone *z, int64_t seconds, int32_t *ret_offset_seconds, struct str *ret_abbreviation)
{
        size_t n = changes_until(z, seconds), type;
        struct str abbreviation;
        const char *end;

        if (n == z->n_times && z->has_rule)
                return zone_rule_at(&z->rule, seconds, ret_offset_seconds, ret_abbreviation);
        type = n == 0 ? first_type(z) : (unsigned char)z->kinds[n - 1];
        abbreviation = str_skip(z->abbreviations, (unsigned char)z->types[type * TYPE_BYTES + 5]);
        end = memchr(abbreviation.p, 0, abbreviation.n);
        *ret_abbreviation = end ? str_first(abbreviation, (size_t)(end - abbreviation.p)) : abbreviation;
        *ret_offset_seconds = (int32_t)(uint32_t)read_number(z->types + type * TYPE_BYTES, 4);
}

/* --- The database --- */

#define DIRECTORY "/usr/share/zoneinfo/"

struct cached {
        struct zone *zone;
        char name[];
};

/* The zones that were requested and exist. A name has one spelling, so the cache has no more entries than there are files.
 * Guarded by the mutex. */
static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct map cache;

static bool is_name_byte(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '+' ||
               c == '-';
}

/* True for words with slashes between them, so that a name cannot lead out of the directory. */
static bool is_name(struct str name)
{
        bool is_open = true;

        for (size_t i = 0; i < name.n; i++) {
                if (name.p[i] == '/' ? is_open : !is_name_byte(name.p[i]))
                        return false;
                is_open = name.p[i] == '/';
        }
        return !is_open && name.n <= LIMIT_ZONE_NAME_BYTES;
}

static bool read_file(const char *path, struct buf *ret)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        char block[4096];
        ssize_t n;

        if (fd < 0)
                return false;
        while ((n = read(fd, block, sizeof(block))) > 0 && !ret->has_failed)
                buf_append(ret, block, (size_t)n);
        return n == 0;
}

static struct zone *load(struct str name)
{
        _cleanup_buf_ struct buf bytes = BUF_INIT(LIMIT_ZONE_BYTES), path = BUF_INIT(0);
        struct zone *z;

        buf_appendf(&path, DIRECTORY "%.*s", STR_ARG(name));
        if (!read_file(buf_cstring(&path), &bytes) || zone_parse(buf_str(&bytes), &z, NULL) < 0)
                return NULL;
        return z;
}

static const struct zone *find_cached(struct str name)
{
        struct cached *c = map_get(&cache, name);

        if (!c) {
                struct zone *z = load(name);

                if (!z)
                        return NULL;
                c = xmalloc(sizeof(*c) + name.n);
                c->zone = z;
                memcpy(c->name, name.p, name.n);
                map_set(&cache, str_make(c->name, name.n), c);
        }
        return c->zone;
}

const struct zone *zone_find(struct str name)
{
        const struct zone *z;

        if (!is_name(name))
                return NULL;
        pthread_mutex_lock(&cache_mutex);
        z = find_cached(name);
        pthread_mutex_unlock(&cache_mutex);
        return z;
}
