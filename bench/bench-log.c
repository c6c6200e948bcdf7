/* Measures the durable log of the store (src/store/log).
 *
 * Writes: wall time for each durable update of a 2 KB object, by 16 and by 64 writers at once, against the limit that the disk's own sync
 * sets: all writers together cannot be faster than one sync for one write of each. The disk's sync is an append of as many 2 KB blocks
 * to a file, then fdatasync. Both take turns; each figure is the median of its rounds. Load: the processor time to open a log of
 * 100,000 objects of 2 KB, best of some, against 1.5 s; wall time is printed too. The files are in TMPDIR, or /var/tmp; other work on the same disk disturbs. */
#include "bench.h"

#include "arena.h"
#include "json.h"
#include "sqlite-log.h"
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OBJECT_BYTES 2048
#define ROUNDS       7
#define ROUND_MS     700
#define MOST_WRITERS 64
#define LOADED       100000
#define LOADERS      16

static double clock_s(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now_s(void)
{
        return clock_s(CLOCK_MONOTONIC);
}

static int compare_numbers(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double median(double *p, size_t n)
{
        qsort(p, n, sizeof(*p), compare_numbers);
        return p[n / 2];
}

/* --- A directory --- */

static void make_directory(char *path, size_t n)
{
        const char *parent = getenv("TMPDIR");

        snprintf(path, n, "%s/weft-bench-XXXXXX", parent ? parent : "/var/tmp");
        if (!mkdtemp(path))
                abort();
}

static void remove_directory(const char *path)
{
        DIR *d = opendir(path);
        const struct dirent *e;

        while (d && (e = readdir(d)))
                if (e->d_name[0] != '.')
                        unlinkat(dirfd(d), e->d_name, 0);
        if (d)
                closedir(d);
        rmdir(path);
}

static struct store *open_store(const char *directory, struct sqlite_log **ret_log)
{
        struct store_options options = { .accepts_any_kind = true };
        struct err err = { 0 };
        struct store *s;

        if (sqlite_log_open(directory, NULL, ret_log, &err) < 0) {
                fprintf(stderr, "%s\n", err_message(&err));
                abort();
        }
        options.log = sqlite_log_base(*ret_log);
        if (store_new(&options, &s, &err) < 0) {
                fprintf(stderr, "%s\n", err_message(&err));
                abort();
        }
        return s;
}

/* --- The disk --- */

/* Syncs of n blocks each, per second. */
static double measure_disk(const char *directory, size_t n)
{
        static char blocks[MOST_WRITERS * OBJECT_BYTES];
        double start = now_s(), taken;
        size_t n_syncs = 0;
        char path[512];
        int fd;

        snprintf(path, sizeof(path), "%s/disk", directory);
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0)
                abort();
        do {
                if (write(fd, blocks, n * OBJECT_BYTES) < 0 || fdatasync(fd) < 0)
                        abort();
                n_syncs++;
                taken = now_s() - start;
        } while (taken * 1000 < ROUND_MS);
        close(fd);
        unlink(path);
        return (double)n_syncs / taken;
}

/* --- Writers --- */

struct load {
        struct store *store;
        struct thread *thread;
        size_t id;
        size_t first, end; /* objects that it creates; first == end: it updates one until the time is over */
        struct deadline deadline;
        size_t n_writes;
};

static const struct value *make_object(struct arena *a, size_t id, size_t n)
{
        char filler[OBJECT_BYTES - 200], text[OBJECT_BYTES + 200];
        const struct value *v;

        for (size_t i = 0; i < sizeof(filler) - 1; i++)
                filler[i] = (char)('a' + (i * 7 + n * 13 + id) % 26);
        filler[sizeof(filler) - 1] = 0;
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"o-%zu\",\"namespace\":"
                 "\"default\",\"labels\":{\"group\":\"g-%zu\"}},\"spec\":{\"n\":%zu,\"text\":\"%s\"}}",
                 id, id % 100, n, filler);
        if (json_parse(a, arena_copy(a, str_from(text)), NULL, &v, NULL) < 0)
                abort();
        return v;
}

static void write_one(struct load *l, enum write_verb verb, size_t id, size_t n)
{
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct write_request req = { .verb = verb, .manager = STR("bench") };
        struct write_result result;
        int r;

        arena_init(&a, "bench", 0);
        req.body = make_object(&a, id, n);
        req.key = object_key_of(req.body);
        r = cluster_write(store_cluster(l->store), &run, &req, &result, NULL);
        if (r < 0 && r != ERR_EXISTS)
                abort();
        arena_done(&a);
}

static void run_load(void *arg)
{
        struct load *l = arg;

        for (size_t i = l->first; i < l->end; i++)
                write_one(l, WRITE_CREATE, i, 0);
        if (l->first != l->end)
                return;
        write_one(l, WRITE_CREATE, l->id, l->n_writes);
        while (!deadline_has_passed(l->deadline))
                write_one(l, WRITE_MERGE_PATCH, l->id, ++l->n_writes);
}

static void start(struct load *l)
{
        if (thread_start("writer", run_load, l, &l->thread, NULL) < 0)
                abort();
}

/* Writes per second of all writers; adds their number. */
static double measure_writers(struct store *s, size_t n, size_t *n_writes)
{
        static size_t round;
        struct load loads[MOST_WRITERS];
        struct deadline deadline = deadline_after_ms(ROUND_MS);
        double begin = now_s();
        size_t n_round = 0;

        round++;
        for (size_t i = 0; i < n; i++) {
                loads[i] =
                        (struct load) { .store = s, .id = 1000000 + i, .deadline = deadline, .n_writes = round << 32 };
                start(&loads[i]);
        }
        for (size_t i = 0; i < n; i++) {
                thread_join(loads[i].thread);
                n_round += loads[i].n_writes - (round << 32) + 1;
        }
        *n_writes += n_round;
        return (double)n_round / (now_s() - begin);
}

static int bench_writes(const char *directory, size_t n_writers, double wanted)
{
        double writes[ROUNDS], syncs[ROUNDS], ours, disk, processor = 0;
        struct sqlite_log_sizes sizes;
        struct sqlite_log *log;
        struct store *s = open_store(directory, &log);
        size_t n_writes = 0;
        char what[64];
        int is_met;

        for (size_t i = 0; i < ROUNDS; i++) {
                double begin;

                syncs[i] = measure_disk(directory, n_writers);
                begin = clock_s(CLOCK_PROCESS_CPUTIME_ID);
                writes[i] = measure_writers(s, n_writers, &n_writes);
                processor += clock_s(CLOCK_PROCESS_CPUTIME_ID) - begin;
        }
        ours = median(writes, ROUNDS);
        disk = median(syncs, ROUNDS) * (double)n_writers;
        sqlite_log_sizes(log, &sizes);
        printf("%zu writers: %.0f durable writes/s, %.0f us of processor time each; the disk does %.0f syncs/s; file "
               "%llu MB, WAL %llu "
               "MB\n",
               n_writers, ours, processor / (double)n_writes * 1e6, disk / (double)n_writers,
               (unsigned long long)sizes.file_bytes >> 20, (unsigned long long)sizes.wal_bytes >> 20);
        snprintf(what, sizeof(what), "durable writes, %zu writers", n_writers);
        is_met = bench_report(what, "us", 1e6 / ours, "us = disk's sync", 1e6 / disk, wanted);
        store_free(s);
        sqlite_log_close(log);
        return is_met;
}

/* --- Loading --- */

static void fill(const char *directory)
{
        struct load loads[LOADERS];
        struct sqlite_log *log;
        struct store *s = open_store(directory, &log);

        for (size_t i = 0; i < LOADERS; i++) {
                loads[i] = (struct load) { .store = s,
                                           .first = i * (LOADED / LOADERS),
                                           .end = (i + 1) * (LOADED / LOADERS) };
                start(&loads[i]);
        }
        for (size_t i = 0; i < LOADERS; i++)
                thread_join(loads[i].thread);
        store_free(s);
        sqlite_log_close(log);
}

static int bench_load(const char *directory)
{
        double best = 1e9, best_wall = 1e9;

        fill(directory);
        for (int i = 0; i < 3; i++) {
                double begin = clock_s(CLOCK_PROCESS_CPUTIME_ID), begin_wall = now_s();
                struct sqlite_log *log;
                struct store *s;

                s = open_store(directory, &log);
                best = MIN(best, clock_s(CLOCK_PROCESS_CPUTIME_ID) - begin);
                best_wall = MIN(best_wall, now_s() - begin_wall);
                store_free(s);
                sqlite_log_close(log);
        }
        printf("open a log of 100,000 objects: %.2f s of wall time\n", best_wall);
        return bench_report("open a log of 100,000 objects", "s of processor time", best, "s", 1.5, 1);
}

int main(void)
{
        char directory[512];
        int is_met;

        make_directory(directory, sizeof(directory));
        is_met = bench_writes(directory, 16, 0.3);
        is_met &= bench_writes(directory, 64, 0.3);
        remove_directory(directory);
        make_directory(directory, sizeof(directory));
        is_met &= bench_load(directory);
        remove_directory(directory);
        return is_met ? 0 : 1;
}
