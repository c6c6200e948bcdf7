/* The log on a disk that fails. In each run, batches of records are appended until a fault; then the log is opened again and gives
 * back everything that it acknowledged, and of the batch that failed everything or nothing. WEFT_FAULT_RUNS says how many (200). */
#include "log-test.h"

#include "faulty-vfs.h"
#include "log.h"
#include "map.h"
#include "sim.h"

enum { NAMES = 12, MOST_RECORDS = 2000, MOST_BATCH = 8 };

/* A record as it was appended. */
struct entry_of_test {
        uint64_t previous;
        unsigned name;
        bool is_secret;
        bool is_removed;
        uint32_t size_bytes;
};

struct trial {
        struct durable d;
        struct random random;
        struct entry_of_test records[MOST_RECORDS + 1]; /* by version */
        uint64_t version;                               /* of the newest record that was ever tried */
        uint64_t acknowledged;
        uint64_t state[2 * NAMES]; /* version of the newest acknowledged record of the name; 0: no object */
        uint64_t on_its_way;       /* the first version of a failed batch */

        /* Of a replay. */
        uint64_t floor, newest, next;
        uint64_t found[2 * NAMES];
        bool erased[2 * NAMES];
};

static struct {
        uint64_t n_runs, n_failed, n_power, n_kept, n_lost, n_appends, n_expired;
} seen;

/* --- Records --- */

/* Bytes that follow from the version. */
static struct str bytes_of(struct arena *a, uint64_t version, uint32_t n)
{
        char *p = arena_alloc(a, n);

        for (uint32_t i = 0; i < n; i++)
                p[i] = (char)(version * 31 + i);
        return str_make(p, n);
}

static struct store_record record_of(struct trial *t, struct arena *a, uint64_t version)
{
        const struct entry_of_test *e = &t->records[version];

        return (struct store_record) {
                .version = version,
                .previous = e->previous,
                .group = e->is_secret ? STR("") : STR("example.org"),
                .kind = e->is_secret ? STR("Secret") : STR("Widget"),
                .namespace_name = STR("default"),
                .name = arena_printf(a, "o%u", e->name),
                .is_removed = e->is_removed,
                .bytes = e->is_removed ? STR("") : bytes_of(a, version, e->size_bytes),
        };
}

static bool is_in_batch(const struct trial *t, uint64_t first, uint64_t end, unsigned name)
{
        for (uint64_t v = first; v < end; v++)
                if (t->records[v].name == name)
                        return true;
        return false;
}

/* One batch; a name is in it once at most. */
static int append_batch(struct trial *t)
{
        struct store_log *log = sqlite_log_base(t->d.log);
        size_t n = 1 + random_below(&t->random, MOST_BATCH);
        struct store_record records[MOST_BATCH];
        uint64_t first = t->acknowledged + 1;
        struct arena a;
        int r;

        arena_init(&a, "batch", 0);
        for (uint64_t v = first; v < first + n; v++) {
                struct entry_of_test *e = &t->records[v];

                do {
                        e->name = (unsigned)random_below(&t->random, 2 * NAMES);
                } while (is_in_batch(t, first, v, e->name));
                e->is_secret = e->name >= NAMES && e->name < NAMES + 3;
                e->previous = t->state[e->name];
                e->is_removed = e->previous && random_below(&t->random, 4) == 0;
                e->size_bytes = (uint32_t)(10 + random_below(&t->random, random_below(&t->random, 10) ? 900 : 40000));
                records[v - first] = record_of(t, &a, v);
        }
        r = log->ops->append(log, records, n, NULL);
        t->version = first + n - 1;
        t->on_its_way = first;
        for (uint64_t v = first; v <= t->version && r == 0; v++)
                t->state[t->records[v].name] = t->records[v].is_removed ? 0 : v;
        if (r == 0)
                t->acknowledged = t->version;
        seen.n_appends++;
        arena_done(&a);
        return r;
}

/* --- What is there --- */

/* The version of the name's object at a version, 0: none. */
static uint64_t state_at(const struct trial *t, unsigned name, uint64_t version)
{
        for (uint64_t v = version; v > 0; v--)
                if (t->records[v].name == name)
                        return t->records[v].is_removed ? 0 : v;
        return 0;
}

static int on_begin(void *arg, uint64_t floor, uint64_t version, struct err *err)
{
        struct trial *t = arg;

        t->floor = floor;
        t->newest = version;
        t->next = floor + 1;
        memset(t->found, 0, sizeof(t->found));
        return 0;
}

static int on_record(void *arg, const struct store_record *r, struct err *err)
{
        struct trial *t = arg;
        struct store_record wanted;
        struct arena a;

        ASSERT(r->version <= t->version);
        arena_init(&a, "record", 0);
        wanted = record_of(t, &a, r->version);
        ASSERT(str_equal(r->name, wanted.name) && str_equal(r->kind, wanted.kind) && r->previous == wanted.previous);
        ASSERT(r->is_removed == wanted.is_removed);
        if (r->is_erased)
                ASSERT(t->records[r->version].is_secret && r->bytes.n == 0);
        else
                ASSERT(str_equal(r->bytes, wanted.bytes));
        if (r->is_state) {
                ASSERT(r->version <= t->floor && !r->is_removed && !r->is_erased);
                ASSERT(t->found[t->records[r->version].name] == 0);
        } else {
                ASSERT_INT(r->version, t->next);
                t->next++;
        }
        t->found[t->records[r->version].name] = r->is_removed ? 0 : r->version;
        arena_done(&a);
        return 0;
}

/* Reads the log and compares; afterwards the trial goes on with what is there. */
static void check_log(struct trial *t)
{
        struct store_replay to = { .arg = t, .begin = on_begin, .record = on_record };
        struct store_log *log = sqlite_log_base(t->d.log);

        if (log->ops->replay(log, &to, &t->d.f.err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&t->d.f.err));
        ASSERT_INT(t->next, t->newest + 1);
        ASSERT(t->newest >= t->acknowledged);
        ASSERT(t->newest == t->acknowledged || t->newest == t->version); /* a batch is there as a whole, or not */
        for (unsigned i = 0; i < 2 * NAMES; i++) {
                ASSERT_INT(t->found[i], state_at(t, i, t->newest));
                t->state[i] = t->found[i];
        }
        *(t->newest > t->acknowledged ? &seen.n_kept : &seen.n_lost) += 1;
        t->acknowledged = t->version = t->newest;
}

static int open_log(struct trial *t, const char *vfs)
{
        struct sqlite_log_options options = {
                .history_events = 30, .garbage_bytes = 20000, .wal_bytes = 300000, .erase_ms = 1, .vfs = vfs
        };

        err_done(&t->d.f.err);
        t->d.f.err = (struct err) { 0 };
        return sqlite_log_open(t->d.directory, &options, &t->d.log, &t->d.f.err);
}

static void close_log(struct trial *t)
{
        sqlite_log_close(TAKE(t->d.log));
        disk_end(&t->random);
        if (disk.is_off)
                unlink(durable_file(&t->d, "log.db-shm"));
        disk_init(DISK_FINE, 0);
}

/* --- One run --- */

/* Appends until a fault or the end, then opens the log again on a disk that works. */
static void run_to_fault(struct trial *t, enum disk_fault fault)
{
        bool is_off;
        int r = 0;

        disk_init(fault, fault == DISK_FINE ? 0 : 1 + random_below(&t->random, 200));
        if (open_log(t, "faulty") < 0) {
                ASSERT(disk.has_failed);
                ASSERT(str_find(str_from(err_message(&t->d.f.err)), STR("log.db")) >= 0);
        }
        for (int i = 0; t->d.log && r == 0 && i < 40 && t->version + MOST_BATCH < MOST_RECORDS; i++) {
                r = append_batch(t);
                if (random_below(&t->random, 8) == 0)
                        thread_sleep(deadline_after_ms(2), NULL); /* the checkpoints have their turn */
        }
        if (r < 0) {
                struct store_log *log = sqlite_log_base(t->d.log);
                struct store_record another = { .version = t->version + 1, .kind = STR("Widget"), .name = STR("x") };

                ASSERT(disk.has_failed);
                ASSERT(log->ops->health(log, &t->d.f.err) < 0);
                ASSERT(log->ops->append(log, &another, 1, NULL) < 0); /* it stays so */
                seen.n_failed++;
        }
        is_off = disk.is_off;
        seen.n_power += is_off;
        close_log(t);
        if (open_log(t, NULL) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&t->d.f.err));
        check_log(t);
        close_log(t);
}

static void run_trial(void *arg _unused_)
{
        static const enum disk_fault faults[] = { DISK_FAILS_WRITE, DISK_SHORT_WRITE, DISK_FAILS_SYNC,  DISK_IS_FULL,
                                                  DISK_LOSES_POWER, DISK_LOSES_POWER, DISK_LOSES_POWER, DISK_FINE };
        struct trial *t = xcalloc(1, sizeof(*t));

        durable_prepare(&t->d);
        random_seed(&t->random, random_system_u64());
        disk_init(DISK_FINE, 0);
        for (int i = 0; i < 4; i++)
                run_to_fault(t, faults[random_below(&t->random, ARRAY_SIZE(faults))]);
        durable_done(&t->d);
        seen.n_runs++;
        free(t);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
        const char *text = getenv(name);

        return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

TEST(faults)
{
        _cleanup_err_ struct err err = { 0 };
        struct sim_report report;

        log_set_level(_LOG_LEVEL_COUNT);
        if (sim_explore(number_from("WEFT_SEED", 1), number_from("WEFT_FAULT_RUNS", 200), NULL, run_trial, NULL,
                        &report, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        printf("# %llu runs, %llu appends; failed %llu, power lost %llu; of batches on their way %llu were kept\n",
               (unsigned long long)seen.n_runs, (unsigned long long)seen.n_appends, (unsigned long long)seen.n_failed,
               (unsigned long long)seen.n_power, (unsigned long long)seen.n_kept);
        ASSERT(seen.n_failed > seen.n_runs / 4 && seen.n_power > seen.n_runs / 4);
}
