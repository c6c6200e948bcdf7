/* Measures the cost of reading the store against its limits.
 *
 * List: the most memory that the process holds above the start, between the batches of a list of 100,000 objects of 1 KB that is
 * written as JSON. Watches: the additional memory with 10,000 waiting watches. Create: processor time of a create beside 10,000
 * watches of other names, against one and a half times the time without watches, in alternating rounds. Page: median processor time
 * of a list of 500 small objects, written as JSON, that begins anywhere among 1,000,000, against one and a half times the time
 * among 1,000, in alternating rounds. The store's cache keeps nothing, so every page decodes its objects. */
#include "bench.h"

#include "buf.h"
#include "json.h"
#include "list-token.h"
#include "store.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

#define OBJECTS 100000
#define WATCHES 10000
#define FEW     1000
#define MANY    1000000
#define PAGE    500
#define ROUNDS  400

static double now_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
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

static uint64_t scrambled(uint64_t i)
{
        i = (i ^ i >> 31) * 0x7fb5d329728ea185ull;
        i = (i ^ i >> 27) * 0x81dadef4bc2dd44dull;
        return i ^ i >> 33;
}

static struct store *new_store(size_t cache_bytes)
{
        struct store_options options = { .accepts_any_kind = true, .cache_bytes = cache_bytes };
        struct store *s;

        if (store_new(&options, &s, NULL) < 0)
                abort();
        return s;
}

static struct gvk small_gvk(void)
{
        return (struct gvk) { STR("example.org"), STR("v1"), STR("Small") };
}

/* Creates an object with a unique name; the names are in no order. */
static void create(struct store *s, uint64_t i, const char *filler)
{
        struct write_request req = { .verb = WRITE_CREATE, .manager = STR("bench") };
        struct write_result result;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        char text[2048];

        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Small\",\"metadata\":{\"name\":\"o-%016llx\","
                 "\"namespace\":\"default\",\"labels\":{\"group\":\"g-%llu\"}},\"spec\":{\"n\":%llu,\"text\":\"%s\"}}",
                 (unsigned long long)scrambled(i), (unsigned long long)i % 100, (unsigned long long)i, filler);
        arena_init(&a, "bench", 0);
        if (json_parse(&a, str_from(text), NULL, &req.body, NULL) < 0)
                abort();
        req.key = object_key_of(req.body);
        if (cluster_write(store_cluster(s), &run, &req, &result, NULL) < 0)
                abort();
        arena_done(&a);
}

/* --- List --- */

/* Writes a batch as if to send it, and drops the text; returns its bytes. */
static size_t write_batch(const struct object_list *l, struct buf *b)
{
        struct arena scratch;

        arena_init(&scratch, "bench", 0);
        buf_clear(b);
        for (size_t i = 0; i < l->n; i++)
                object_append_json(l->objects[i], &scratch, b);
        arena_done(&scratch);
        return b->n;
}

static int bench_list(void)
{
        struct list_request req = { .gvk = small_gvk() };
        struct store *s = new_store(0);
        struct buf b = BUF_INIT(0);
        struct list_cursor *c;
        struct object_list l;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        size_t before, most, n = 0, n_bytes = 0;
        char filler[640];
        int r;

        for (size_t i = 0; i < OBJECTS; i++) {
                for (size_t k = 0; k < sizeof(filler) - 1; k++)
                        filler[k] = (char)('a' + scrambled(i * 1000 + k) % 26);
                filler[sizeof(filler) - 1] = 0;
                create(s, i, filler);
        }
        arena_trim_cache();
        malloc_trim(0);
        before = most = resident_bytes();
        arena_init(&a, "bench", 0);
        if (cluster_list_begin(store_cluster(s), &run, &req, &c, NULL) < 0)
                abort();
        while ((r = list_cursor_next(c, &run, &l, NULL)) > 0) {
                size_t now;

                n += l.n;
                n_bytes += write_batch(&l, &b);
                now = resident_bytes();
                most = now > most ? now : most;
                arena_reset(&a);
        }
        if (r < 0 || n != OBJECTS)
                abort();
        list_cursor_free(c);
        arena_done(&a);
        buf_done(&b);
        printf("a list of %zu objects of %zu bytes of JSON: %.2f MB above the store\n", n, n_bytes / n,
               (double)(most - before) / 1e6);
        r = bench_report("memory of a list of 100,000", "MB resident", (double)(most - before) / 1e6, "MB", 8, 1);
        store_free(s);
        return r;
}

/* --- Watches --- */

static void told(void *arg)
{
        size_t *n = arg;

        ++*n;
}

/* A quarter each watches: all objects, the objects of a namespace, one name, one name with a label selector. */
static struct watch *begin_watch(struct store *s, size_t i, size_t *n_told)
{
        struct watch_request req = { .gvk = small_gvk(), .wants_bookmarks = true };
        struct field_requirement name = { .path = STR("metadata.name") };
        struct field_selector fields = { .requirements = &name, .n = 1 };
        struct label_requirement group = { .key = STR("group"), .op = SELECT_EXISTS };
        struct label_selector labels = { .requirements = &group, .n = 1 };
        struct watch_event e;
        struct watch *w;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        arena_init(&a, "bench", 0);
        name.value = arena_printf(&a, "o-%016llx", (unsigned long long)scrambled(i));
        if (i % 4 > 0)
                req.ns = STR("default");
        if (i % 4 > 1)
                req.fields = &fields;
        if (i % 4 > 2)
                req.labels = &labels;
        if (cluster_watch(store_cluster(s), &run, &req, &w, NULL) < 0)
                abort();
        while (watch_try_next(w, &run, (struct watch_wakeup) { .call = told, .arg = n_told }, &e, NULL) > 0)
                arena_reset(&a);
        arena_done(&a);
        return w;
}

static int bench_watches(void)
{
        struct store *s = new_store(0);
        struct watch **watches = calloc(WATCHES, sizeof(*watches));
        size_t before, n_told = 0, held;
        int is_met;

        for (size_t i = 0; i < 10; i++)
                create(s, i, "");
        malloc_trim(0);
        before = resident_bytes();
        for (size_t i = 0; i < WATCHES; i++)
                watches[i] = begin_watch(s, i, &n_told);
        held = resident_bytes() - before;
        create(s, WATCHES, "");
        printf("%d watches that wait: %.2f MB; one create wakes %zu\n", WATCHES, (double)held / 1e6, n_told);
        is_met = bench_report("memory of 10,000 idle watches", "MB resident", (double)held / 1e6, "MB", 40, 1);
        for (size_t i = 0; i < WATCHES; i++)
                watch_free(watches[i]);
        free(watches);
        store_free(s);
        return is_met;
}

#define COMMIT_ROUNDS 40
#define COMMITS       200

static double time_creates(struct store *s, uint64_t from)
{
        double start = now_ns();

        for (uint64_t i = 0; i < COMMITS; i++)
                create(s, from + i, "");
        return (now_ns() - start) / COMMITS;
}

static int bench_commit(void)
{
        struct store *quiet = new_store(0), *watched = new_store(0);
        struct watch **watches = calloc(WATCHES, sizeof(*watches));
        double best_quiet = 1e18, best_watched = 1e18;
        size_t n_told = 0;
        int is_met;

        create(watched, 0, ""); /* makes the kind known */
        for (size_t i = 0; i < WATCHES; i++)
                watches[i] = begin_watch(watched, 4 * i + 2, &n_told);
        for (uint64_t round = 0; round < COMMIT_ROUNDS; round++) {
                uint64_t from = 4 * WATCHES + round * COMMITS;
                double x = time_creates(quiet, from), y = time_creates(watched, from);

                best_quiet = x < best_quiet ? x : best_quiet;
                best_watched = y < best_watched ? y : best_watched;
        }
        if (n_told > 0)
                abort();
        printf("create beside no watch: %.2f us, beside %d of other names: %.2f us, ratio %.2f\n", best_quiet / 1e3,
               WATCHES, best_watched / 1e3, best_watched / best_quiet);
        is_met = bench_report("create beside 10,000 watches", "us", best_watched / 1e3, "us = 1.5 x beside none",
                              1.5 * best_quiet / 1e3, 1);
        for (size_t i = 0; i < WATCHES; i++)
                watch_free(watches[i]);
        free(watches);
        store_free(quiet);
        store_free(watched);
        return is_met;
}

/* --- Page --- */

/* Times a page that begins somewhere in the first two fifths. */
static double time_page(struct store *s, uint64_t round, struct buf *b)
{
        struct list_request req = { .gvk = small_gvk(), .ns = STR("default"), .limit = PAGE };
        struct object_list l;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        double start, end;

        arena_init(&a, "bench", 0);
        req.continue_token =
                list_token_make(&a, (int64_t)store_version(s),
                                arena_printf(&a, "o-%016llx", (unsigned long long)(scrambled(round) / 5 * 2)));
        start = now_ns();
        if (cluster_list(store_cluster(s), &run, &req, &l, NULL) < 0 || l.n != PAGE || l.remaining <= 0)
                abort();
        write_batch(&l, b);
        end = now_ns();
        arena_done(&a);
        return end - start;
}

static int compare_times(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* The median, because the best time would be that of a page that was read before. */
static double median(double times[ROUNDS])
{
        qsort(times, ROUNDS, sizeof(*times), compare_times);
        return times[ROUNDS / 2];
}

static int bench_page(void)
{
        static double times_few[ROUNDS], times_many[ROUNDS];
        struct store *few = new_store(1), *many = new_store(1);
        struct buf b = BUF_INIT(0);
        double us_few, us_many;
        int is_met;

        for (uint64_t i = 0; i < FEW; i++)
                create(few, i, "");
        for (uint64_t i = 0; i < MANY; i++)
                create(many, i, "");
        for (size_t round = 0; round < ROUNDS; round++) {
                times_few[round] = time_page(few, round, &b);
                times_many[round] = time_page(many, round, &b);
        }
        us_few = median(times_few) / 1e3;
        us_many = median(times_many) / 1e3;
        printf("page of %d among %d: %.0f us, among %d: %.0f us, ratio %.2f\n", PAGE, FEW, us_few, MANY, us_many,
               us_many / us_few);
        is_met = bench_report("page among 1,000,000", "us", us_many, "us = 1.5 x among 1,000", 1.5 * us_few, 1);
        buf_done(&b);
        store_free(few);
        store_free(many);
        return is_met;
}

int main(void)
{
        int is_met = bench_list();

        is_met &= bench_watches();
        is_met &= bench_commit();
        is_met &= bench_page();
        return is_met ? 0 : 1;
}
