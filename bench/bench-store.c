/* Measures the cost of the store against its limits.
 *
 * Memory: the additional memory of the process after creating 100,000 objects of 2 KB, caches and history included, against one and
 * a half times their JSON text. Create: processor time of the process for one create of a small object with a random name among
 * 1,000,000 objects, against one and a half times the time among 1,000, in alternating rounds. Wall time is printed too, but it
 * means nothing on a machine with other users; the ratios use processor time, which includes the store's own threads. */
#include "bench.h"

#include "json.h"
#include "store.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

#define BIG_OBJECTS 100000
#define FEW         1000
#define MANY        1000000
#define ROUNDS      60
#define BATCH       500

/* Nanoseconds: a start time, or a time span. */
struct times {
        double wall;
        double process; /* processor time of all threads */
};

static double clock_ns(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct times times_now(void)
{
        return (struct times) { clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID) };
}

/* The time since the start, per operation. */
static struct times times_since(struct times start, size_t n)
{
        struct times now = times_now();

        return (struct times) { (now.wall - start.wall) / (double)n, (now.process - start.process) / (double)n };
}

static struct times times_best(struct times a, struct times b)
{
        return (struct times) { a.wall < b.wall ? a.wall : b.wall, a.process < b.process ? a.process : b.process };
}

static void report_times(const char *what, struct times t)
{
        printf("%s: %.2f us of processor time, %.2f us of wall time\n", what, t.process / 1e3, t.wall / 1e3);
}

static size_t resident_bytes(void)
{
        unsigned long total, resident = 0;
        FILE *f = fopen("/proc/self/statm", "r");

        if (!f || fscanf(f, "%lu %lu", &total, &resident) != 2)
                resident = 0;
        if (f)
                fclose(f);
        return resident * 4096;
}

static struct store *new_store(void)
{
        struct store_options options = { .accepts_any_kind = true };
        struct store *s;

        if (store_new(&options, &s, NULL) < 0)
                abort();
        return s;
}

static uint64_t scrambled(uint64_t i)
{
        i = (i ^ i >> 31) * 0x7fb5d329728ea185ull;
        i = (i ^ i >> 27) * 0x81dadef4bc2dd44dull;
        return i ^ i >> 33;
}

/* --- Memory --- */

/* A composed resource of 2 KB; all have the same form and different values. */
static const char big_format[] =
        "{\"apiVersion\":\"s3.aws.example.org/"
        "v1beta1\",\"kind\":\"Bucket\",\"metadata\":{\"name\":\"bucket-%1$016llx\","
        "\"namespace\":\"default\",\"labels\":{\"crossplane.io/composite\":\"shop-%2$05llx\",\"app.kubernetes.io/"
        "name\":\"shop\"},"
        "\"annotations\":{\"crossplane.io/composition-resource-name\":\"bucket\",\"crossplane.io/"
        "external-name\":\"bucket-%1$016llx\"}},"
        "\"spec\":{\"deletionPolicy\":\"Delete\",\"managementPolicies\":[\"*\"],\"providerConfigRef\":{\"name\":"
        "\"default\"},"
        "\"forProvider\":{\"region\":\"eu-west-1\",\"acl\":\"private\",\"forceDestroy\":true,\"tags\":{\"team\":\"team-"
        "%2$05llx\",\"cost\":"
        "\"%3$llu\"},\"lifecycleRule\":[{\"enabled\":true,\"id\":\"rule-%1$016llx\",\"prefix\":\"logs/%2$05llx/"
        "\",\"expiration\":[{"
        "\"days\":%3$llu}],\"noncurrentVersionExpiration\":[{\"days\":30}]},{\"enabled\":false,\"id\":\"second-%1$"
        "016llx\",\"prefix\":"
        "\"tmp/%2$05llx/"
        "\",\"expiration\":[{\"days\":7}]}],\"corsRule\":[{\"allowedHeaders\":[\"*\"],\"allowedMethods\":[\"PUT\","
        "\"POST\"],"
        "\"allowedOrigins\":[\"https://"
        "shop-%2$05llx.example.org\"],\"exposeHeaders\":[\"ETag\"],\"maxAgeSeconds\":3000}],\"versioning\":[{"
        "\"enabled\":true}],\"serverSideEncryptionConfiguration\":[{\"rule\":[{\"applyServerSideEncryptionByDefault\":["
        "{\"sseAlgorithm\":"
        "\"aws:kms\",\"kmsMasterKeyId\":\"arn:aws:kms:eu-west-1:123456789012:key/"
        "%1$016llx\"}]}]}],\"description\":\"%4$s\"}}}";

static const struct value *parse(struct arena *a, const char *text)
{
        const struct value *v;

        if (json_parse(a, str_from(text), NULL, &v, NULL) < 0)
                abort();
        return v;
}

static void create(struct store *s, struct arena *a, const struct value *body, struct write_result *ret)
{
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct write_request req = {
                .verb = WRITE_CREATE, .key = object_key_of(body), .body = body, .manager = STR("bench")
        };

        if (cluster_write(store_cluster(s), &run, &req, ret, NULL) < 0)
                abort();
}

static int bench_memory(void)
{
        struct store *s = new_store();
        struct times start = times_now();
        size_t json_bytes = 0, before;
        struct store_stats stats;
        char filler[600], text[4096];
        int is_met;

        malloc_trim(0);
        before = resident_bytes();
        for (size_t i = 0; i < BIG_OBJECTS; i++) {
                unsigned long long x = scrambled(i);
                struct write_result result;
                struct bytes *json;
                struct arena a;

                for (size_t k = 0; k < sizeof(filler) - 1; k++)
                        filler[k] = (char)('a' + scrambled(i * 1000 + k) % 26);
                filler[sizeof(filler) - 1] = 0;
                snprintf(text, sizeof(text), big_format, x, x % 5000, x % 365, filler);
                arena_init(&a, "bench", 0);
                create(s, &a, parse(&a, text), &result);
                if (i % 100 == 0) {
                        json = object_json(result.object);
                        json_bytes += 100 * json->str.n;
                        bytes_unref(json);
                }
                arena_done(&a);
        }
        report_times("create of 2 KB, and what makes and parses it", times_since(start, BIG_OBJECTS));
        store_stats(s, &stats);
        malloc_trim(0);
        printf("%d objects of %zu bytes of JSON; objects and indexes %zu MB, history %zu MB\n", BIG_OBJECTS,
               json_bytes / BIG_OBJECTS, stats.object_bytes >> 20, stats.history_bytes >> 20);
        is_met = bench_report("memory of 100,000 objects", "MB resident", (double)(resident_bytes() - before) / 1e6,
                              "MB = 1.5 x JSON", 1.5 * (double)json_bytes / 1e6, 1);
        store_free(s);
        return is_met;
}

/* --- Create --- */

static const struct value *small(struct arena *a, uint64_t i)
{
        char text[256];

        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"example.org/"
                 "v1\",\"kind\":\"Small\",\"metadata\":{\"name\":\"o-%016llx\",\"namespace\":"
                 "\"default\",\"labels\":{\"group\":\"g-%llu\"}},\"spec\":{\"n\":%llu}}",
                 (unsigned long long)scrambled(i), (unsigned long long)i % 100, (unsigned long long)i);
        return parse(a, text);
}

static void create_small(struct store *s, uint64_t i)
{
        struct write_result result;
        struct arena a;

        arena_init(&a, "bench", 0);
        create(s, &a, small(&a, i), &result);
        arena_done(&a);
}

/* The time of a create, averaged over some objects, which are deleted afterwards. */
static struct times time_creates(struct store *s, uint64_t from)
{
        struct times start = times_now(), taken;

        for (uint64_t i = from; i < from + BATCH; i++)
                create_small(s, i);
        taken = times_since(start, BATCH);
        for (uint64_t i = from; i < from + BATCH; i++) {
                struct arena a;
                struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
                struct write_request req = { .verb = WRITE_DELETE };
                struct write_result result;

                arena_init(&a, "bench", 0);
                req.key = object_key_of(small(&a, i));
                if (cluster_write(store_cluster(s), &run, &req, &result, NULL) < 0)
                        abort();
                arena_done(&a);
        }
        return taken;
}

static int bench_create(void)
{
        struct store *few = new_store(), *many = new_store();
        struct times best_few = { 1e18, 1e18 }, best_many = best_few;
        int is_met;

        for (uint64_t i = 0; i < FEW; i++)
                create_small(few, i);
        for (uint64_t i = 0; i < MANY; i++)
                create_small(many, i);
        for (uint64_t round = 0; round < ROUNDS; round++) {
                uint64_t from = MANY + round * BATCH;

                best_few = times_best(best_few, time_creates(few, from));
                best_many = times_best(best_many, time_creates(many, from));
        }
        report_times("create among 1,000", best_few);
        report_times("create among 1,000,000", best_many);
        is_met = bench_report("create among 1,000,000", "us of processor time", best_many.process / 1e3,
                              "us = 1.5 x among 1,000", 1.5 * best_few.process / 1e3, 1);
        store_free(few);
        store_free(many);
        return is_met;
}

int main(void)
{
        int is_met = bench_memory();

        is_met &= bench_create();
        return is_met ? 0 : 1;
}
