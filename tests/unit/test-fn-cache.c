/* The response cache (docs/spec/engine 4.4): what is kept, for how long, and what is never written. */
#include "values.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "fault.h"
#include "fn-cache-entry.h"
#include "fn-cache.h"
#include "input.h"
#include "park.h"

#define SECOND 1000000000ll
#define SECRET "hunter2-and-then-some"

static struct sim_clock sim;
static struct fn_cache *cache;
static char directory[64];

static void set_up(struct fn_cache_options options)
{
        _cleanup_err_ struct err err = { 0 };

        begin();
        sim_clock_init(&sim, (struct instant) { 1700000000, 0 });
        clock_use(&sim);
        if (fn_cache_new(&options, &cache, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
}

static void tear_down(void)
{
        fn_cache_free(cache);
        clock_use(NULL);
        end();
}

static struct str make_directory(void)
{
        strcpy(directory, "/tmp/weft-test-XXXXXX");
        ASSERT(mkdtemp(directory));
        return str_from(directory);
}

/* Calls f for every file in the directory; returns how many there are. */
static size_t each_file(void (*f)(const char *path))
{
        DIR *d = opendir(directory);
        struct dirent *e;
        char path[512];
        size_t n = 0;

        ASSERT(d);
        while ((e = readdir(d))) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
                if (f)
                        f(path);
                n++;
        }
        closedir(d);
        return n;
}

static void remove_file(const char *path)
{
        unlink(path);
}

static void remove_directory(void)
{
        each_file(remove_file);
        ASSERT(rmdir(directory) == 0);
}

static struct fn_cache_key key_of(const char *function, const char *revision, const char *tag)
{
        return (struct fn_cache_key) { str_from(function), str_from(revision), str_from(tag), false };
}

static struct fn_cached answer(int64_t ttl_ns, const char *context)
{
        return (struct fn_cached) { .response = { .ttl_ns = ttl_ns, .context.value = parse(context) } };
}

static void put(const char *tag, int64_t ttl_ns)
{
        struct fn_cache_key key = key_of("f", "f-1", tag);
        struct fn_cached a = answer(ttl_ns, "{\"from\":\"f\"}");

        fn_cache_put(cache, &arena, &key, &a, false);
}

static bool get(const char *tag, struct fn_cached *ret)
{
        struct fn_cache_key key = key_of("f", "f-1", tag);

        return fn_cache_get(cache, &arena, &key, ret);
}

static bool is_there(const char *tag)
{
        struct fn_cached ignored;

        return get(tag, &ignored);
}

TEST(a_response_is_kept_for_its_ttl)
{
        const struct value *context;
        struct fn_cached found;

        set_up((struct fn_cache_options) { 0 });
        ASSERT(!is_there("t"));
        put("t", 10 * SECOND);
        sim_clock_advance(&sim, 4 * SECOND);
        ASSERT(get("t", &found));
        ASSERT_INT(found.response.ttl_ns, 6 * SECOND); /* what is left: the run comes back when it is over */
        ASSERT(fn_struct_value(&arena, &found.response.context, &context, NULL) >= 0);
        check_value("context", context, "{\"from\":\"f\"}");
        sim_clock_advance(&sim, 6 * SECOND);
        ASSERT(is_there("t")); /* at its deadline it may be used still */
        sim_clock_advance(&sim, 1);
        ASSERT(!is_there("t"));
        ASSERT_INT(fn_cache_stats(cache).n_entries, 0);
        ASSERT_INT(fn_cache_stats(cache).hits, 2);
        ASSERT_INT(fn_cache_stats(cache).misses, 2);
        tear_down();
}

TEST(what_has_no_tag_or_no_ttl_is_not_kept)
{
        static const int64_t ttls[] = { 0, -1, FN_TTL_ABSENT };

        set_up((struct fn_cache_options) { 0 });
        for (size_t i = 0; i < ARRAY_SIZE(ttls); i++)
                put("t", ttls[i]);
        put("", 10 * SECOND);
        ASSERT(!is_there("t"));
        ASSERT(!is_there(""));
        ASSERT_INT(fn_cache_stats(cache).n_entries, 0);
        tear_down();
}

TEST(a_fatal_result_with_a_ttl_is_kept)
{
        struct fn_result fatal = { .severity = FN_SEVERITY_FATAL, .message = STR("boom"), .target = FN_TARGET_ABSENT };
        struct fn_cache_key key = key_of("f", "f-1", "t");
        struct fn_cached a, found;

        set_up((struct fn_cache_options) { 0 });
        a = answer(SECOND, "{}");
        a.response.results = &fatal;
        a.response.n_results = 1;
        a.response.context.value = NULL;
        fn_cache_put(cache, &arena, &key, &a, false);
        ASSERT(fn_cache_get(cache, &arena, &key, &found));
        ASSERT_INT(found.response.results[0].severity, FN_SEVERITY_FATAL);
        ASSERT_STR(found.response.results[0].message, STR("boom"));
        tear_down();
}

TEST(no_ttl_is_longer_than_the_maximum)
{
        set_up((struct fn_cache_options) { .max_ttl_ns = 5 * SECOND });
        put("t", 100 * SECOND);
        put("huge", INT64_MAX);
        sim_clock_advance(&sim, 5 * SECOND);
        ASSERT(is_there("t") && is_there("huge"));
        sim_clock_advance(&sim, 1);
        ASSERT(!is_there("t") && !is_there("huge"));
        tear_down();
}

TEST(a_ttl_that_has_no_end_in_time_is_kept)
{
        set_up((struct fn_cache_options) { 0 });
        put("t", INT64_MAX);
        ASSERT(is_there("t"));
        tear_down();
}

TEST(another_revision_or_function_is_asked_again)
{
        struct fn_cache_key same = key_of("f", "f-1", "t"), others[] = {
                key_of("f", "f-2", "t"),
                key_of("g", "f-1", "t"),
                key_of("f", "f-1", "u"),
                key_of("f", "f-1", "t"),
        };
        struct fn_cached found;

        set_up((struct fn_cache_options) { 0 });
        others[3].watches_all = true;
        put("t", SECOND);
        ASSERT(fn_cache_get(cache, &arena, &same, &found));
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                ASSERT(!fn_cache_get(cache, &arena, &others[i], &found));
        tear_down();
}

TEST(watches_come_back_with_the_response)
{
        static const struct fn_watch watched[] = {
                { STR_INIT("v1"), STR_INIT("ConfigMap"), STR_INIT("ns"), STR_INIT("a") },
                { STR_INIT("e.org/v1"), STR_INIT("Thing"), STR_INIT(""), STR_INIT("b") },
        };
        struct fn_cache_key key = key_of("f", "f-1", "t");
        struct fn_cached a, found;

        set_up((struct fn_cache_options) { 0 });
        a = answer(SECOND, "{}");
        a.watched = watched;
        a.n_watched = ARRAY_SIZE(watched);
        fn_cache_put(cache, &arena, &key, &a, false);
        ASSERT(fn_cache_get(cache, &arena, &key, &found));
        ASSERT_INT(found.n_watched, 2);
        for (size_t i = 0; i < found.n_watched; i++) {
                ASSERT_STR(found.watched[i].api_version, watched[i].api_version);
                ASSERT_STR(found.watched[i].kind, watched[i].kind);
                ASSERT_STR(found.watched[i].ns, watched[i].ns);
                ASSERT_STR(found.watched[i].name, watched[i].name);
        }
        tear_down();
}

TEST(what_was_used_least_recently_goes_first)
{
        set_up((struct fn_cache_options) { .max_entries = 3 });
        put("a", SECOND);
        put("b", SECOND);
        put("c", SECOND);
        ASSERT(is_there("a"));
        put("d", SECOND);
        ASSERT(is_there("a") && !is_there("b") && is_there("c") && is_there("d"));
        put("a", SECOND); /* in its own place */
        ASSERT_INT(fn_cache_stats(cache).n_entries, 3);
        tear_down();
}

TEST(memory_is_bounded_in_bytes)
{
        char tag[32];

        set_up((struct fn_cache_options) { .max_bytes = 4096 });
        for (int i = 0; i < 1000; i++) {
                snprintf(tag, sizeof(tag), "%d", i);
                put(tag, SECOND);
                ASSERT(fn_cache_stats(cache).size_bytes <= 4096);
        }
        ASSERT(is_there("999") && !is_there("0"));
        ASSERT(fn_cache_stats(cache).n_entries > 2);
        tear_down();
        set_up((struct fn_cache_options) { .max_bytes = 10 }); /* less than anything needs */
        put("t", SECOND);
        ASSERT(!is_there("t"));
        tear_down();
}

TEST(a_sweep_drops_what_has_expired)
{
        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("a", SECOND);
        put("b", 1000 * SECOND);
        ASSERT_INT(each_file(NULL), 2);
        sim_clock_advance(&sim, 2 * SECOND);
        put("c", 1000 * SECOND); /* too early to sweep */
        ASSERT_INT(fn_cache_stats(cache).n_entries, 3);
        sim_clock_advance(&sim, 60 * SECOND);
        put("d", 1000 * SECOND);
        ASSERT_INT(fn_cache_stats(cache).n_entries, 3);
        ASSERT_INT(fn_cache_stats(cache).n_files, 3);
        ASSERT_INT(fn_cache_stats(cache).deletes, 1);
        ASSERT_INT(each_file(NULL), 3);
        remove_directory();
        tear_down();
}

/* --- Files --- */

static void reopen(struct fn_cache_options options)
{
        fn_cache_free(cache);
        options.directory = str_from(directory);
        ASSERT(fn_cache_new(&options, &cache, NULL) >= 0);
}

static struct stat file_status;

static void note_status(const char *path)
{
        ASSERT(stat(path, &file_status) == 0);
}

TEST(files_outlive_the_process)
{
        struct fn_cached found;

        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("t", 10 * SECOND);
        each_file(note_status);
        ASSERT_INT(file_status.st_mode & 0777, 0600);
        ASSERT_INT(file_status.st_mtime, 1700000010);
        sim_clock_advance(&sim, SECOND);
        reopen((struct fn_cache_options) { 0 });
        ASSERT_INT(fn_cache_stats(cache).n_files, 1);
        ASSERT(get("t", &found));
        ASSERT_INT(found.response.ttl_ns, 9 * SECOND);
        ASSERT_INT(fn_cache_stats(cache).n_entries, 1); /* and from memory next time */
        ASSERT_INT(fn_cache_stats(cache).bytes_written, 0);
        each_file(remove_file);
        ASSERT(is_there("t"));
        sim_clock_advance(&sim, 10 * SECOND);
        ASSERT(!is_there("t"));
        remove_directory();
        tear_down();
}

TEST(expired_files_go_when_the_cache_is_opened)
{
        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("a", SECOND);
        put("b", 10 * SECOND);
        sim_clock_advance(&sim, 2 * SECOND);
        reopen((struct fn_cache_options) { 0 });
        ASSERT_INT(each_file(NULL), 1);
        ASSERT(is_there("b"));
        remove_directory();
        tear_down();
}

TEST(a_clock_that_is_set_back_prolongs_nothing)
{
        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("t", 10 * SECOND);
        sim_clock_step_wall(&sim, -1000 * SECOND);
        ASSERT(!is_there("t"));
        ASSERT_INT(each_file(NULL), 0);
        remove_directory();
        tear_down();
}

TEST(files_are_bounded_too)
{
        char tag[32];

        set_up((struct fn_cache_options) { .directory = make_directory(), .max_disk_entries = 5 });
        for (int i = 0; i < 20; i++) {
                snprintf(tag, sizeof(tag), "%d", i);
                put(tag, 100 * SECOND);
        }
        ASSERT_INT(each_file(NULL), 5);
        reopen((struct fn_cache_options) { .max_disk_entries = 2 });
        ASSERT_INT(each_file(NULL), 2);
        reopen((struct fn_cache_options) { .max_disk_bytes = 1 });
        ASSERT_INT(each_file(NULL), 0);
        put("large", SECOND);
        ASSERT_INT(each_file(NULL), 0);
        ASSERT(is_there("large")); /* in memory */
        remove_directory();
        tear_down();
}

static bool found_secret;

static void look_for_secret(const char *path)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        ASSERT(input_read(path, &b, NULL) >= 0);
        found_secret = found_secret || str_find(buf_str(&b), STR(SECRET)) >= 0;
}

TEST(secrets_are_never_written)
{
        static const struct fn_bytes password = { STR_INIT("password"), STR_INIT(SECRET) };
        struct fn_resource secret = { .name = STR("s") }, plain = { .name = STR("p") };
        struct fn_cache_key key = key_of("f", "f-1", "t");
        struct fn_cached found;

        set_up((struct fn_cache_options) { .directory = make_directory() });
        secret.object.value =
                parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"stringData\":{\"password\":\"" SECRET "\"}}");
        plain.object.value = parse("{\"apiVersion\":\"e.org/v1\",\"kind\":\"Secret\"}");
        for (int i = 0; i < 6; i++) {
                struct fn_cached a = answer(SECOND, i == 5 ? "{\"copied\":\"" SECRET "\"}" : "{}");
                struct fn_state *desired = &a.response.desired;

                desired->is_present = true;
                desired->is_open = i != 4;
                desired->resources = i == 0 ? &secret : &plain;
                desired->n_resources = i == 0 || i == 3 ? 1 : 0;
                desired->has_composite = i == 1;
                if (i == 1)
                        desired->composite.connection = (struct fn_bytes_map) { &password, 1 };
                if (i == 2) {
                        desired->resources = ARENA_NEW(&arena, struct fn_resource);
                        ((struct fn_resource *)desired->resources)->connection = (struct fn_bytes_map) { &password, 1 };
                        desired->n_resources = 1;
                }
                if (i == 4) /* a state nobody can read */
                        desired->encoded = STR("\xff" SECRET);
                fn_cache_put(cache, &arena, &key, &a, i == 5);
                ASSERT_INT(each_file(NULL), i == 3 ? 1 : 0);
                ASSERT(fn_cache_get(cache, &arena, &key, &found)); /* memory has it */
                each_file(look_for_secret);
                each_file(remove_file);
        }
        ASSERT(!found_secret);
        remove_directory();
        tear_down();
}

static char only_file[512];

static void note_path(const char *path)
{
        strcpy(only_file, path);
}

static void overwrite(struct str contents)
{
        FILE *f = fopen(only_file, "w");

        ASSERT(f && fwrite(contents.p, 1, contents.n, f) == contents.n && fclose(f) == 0);
}

TEST(a_damaged_file_is_ignored_and_replaced)
{
        _cleanup_buf_ struct buf whole = BUF_INIT(0);
        uint64_t errors;

        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("t", 1000 * SECOND);
        each_file(note_path);
        ASSERT(input_read(only_file, &whole, NULL) >= 0);
        for (size_t i = 0; i < whole.n; i++) {
                struct str damaged = arena_copy(&arena, buf_str(&whole));

                ((char *)damaged.p)[i] ^= 1 << (i % 8);
                overwrite(damaged);
                reopen((struct fn_cache_options) { 0 });
                ASSERT(!is_there("t"));
                ASSERT_INT(fn_cache_stats(cache).errors, 1);
                ASSERT_INT(each_file(NULL), 0);
                overwrite(str_first(buf_str(&whole), i)); /* cut short */
                errors = fn_cache_stats(cache).errors;
                ASSERT(!is_there("t"));
                ASSERT_INT(fn_cache_stats(cache).errors, errors + 1);
        }
        put("t", 1000 * SECOND);
        reopen((struct fn_cache_options) { 0 });
        ASSERT(is_there("t"));
        remove_directory();
        tear_down();
}

TEST(a_file_that_was_moved_is_not_believed)
{
        char other[512];

        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("u", 1000 * SECOND);
        each_file(note_path);
        strcpy(other, only_file);
        each_file(remove_file);
        reopen((struct fn_cache_options) { 0 });
        put("t", 1000 * SECOND);
        each_file(note_path);
        ASSERT(rename(only_file, other) == 0);
        ASSERT(!is_there("u"));
        ASSERT_INT(fn_cache_stats(cache).errors, 1);
        remove_directory();
        tear_down();
}

TEST(links_and_directories_are_no_entries)
{
        set_up((struct fn_cache_options) { .directory = make_directory() });
        put("t", 1000 * SECOND);
        each_file(note_path);
        each_file(remove_file);
        ASSERT(symlink("/etc/passwd", only_file) == 0);
        reopen((struct fn_cache_options) { 0 });
        ASSERT(!is_there("t"));
        ASSERT_INT(each_file(NULL), 0);
        ASSERT(mkdir(only_file, 0700) == 0);
        ASSERT(!is_there("t"));
        ASSERT(rmdir(only_file) == 0);
        remove_directory();
        tear_down();
}

TEST(failing_disks_fail_no_call)
{
        static const char *const points[] = { "fn-cache.open", "fn-cache.write", "fn-cache.rename", "fn-cache.read" };

        set_up((struct fn_cache_options) { .directory = make_directory() });
        for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
                bool is_read = i == 3;

                if (is_read)
                        put("t", 1000 * SECOND);
                fault_arm(points[i], (struct fault) { .first = 1, .code = -EIO });
                if (!is_read)
                        put("t", 1000 * SECOND);
                reopen((struct fn_cache_options) { 0 });
                ASSERT(!is_there("t"));
                ASSERT(fault_fired(points[i]) > 0);
                fault_reset();
                ASSERT_INT(each_file(NULL), 0); /* nothing half-written either */
        }
        put("t", 1000 * SECOND);
        reopen((struct fn_cache_options) { 0 });
        ASSERT(is_there("t"));
        remove_directory();
        tear_down();
}

TEST(what_dead_writers_left_behind_is_removed)
{
        const struct timespec old = { 1600000000, 0 };
        char path[512], strange[512];

        set_up((struct fn_cache_options) { .directory = make_directory() });
        snprintf(path, sizeof(path), "%s/.tmp-1-2", directory);
        snprintf(strange, sizeof(strange), "%s/README", directory);
        strcpy(only_file, strange);
        overwrite(STR("not ours"));
        strcpy(only_file, path);
        overwrite(STR("half"));
        reopen((struct fn_cache_options) { 0 });
        ASSERT_INT(each_file(NULL), 2); /* somebody may be writing it */
        ASSERT(utimensat(AT_FDCWD, path, (struct timespec[]) { old, old }, 0) == 0);
        reopen((struct fn_cache_options) { 0 });
        ASSERT_INT(each_file(NULL), 1); /* what is not ours stays */
        remove_directory();
        tear_down();
}

TEST(a_directory_that_others_can_write_is_refused)
{
        struct fn_cache_options options = { .directory = make_directory() };
        _cleanup_err_ struct err err = { 0 }, missing = { 0 }, file = { 0 };
        char message[256];

        ASSERT(chmod(directory, 0777) == 0);
        ASSERT_INT(fn_cache_new(&options, &cache, &err), ERR_FORBIDDEN);
        snprintf(message, sizeof(message),
                 "cache directory %s can be written by others: it must be yours, with mode 0700", directory);
        ASSERT_TEXT(err_message(&err), message);
        remove_directory();
        options.directory = STR("/nonexistent/weft/cache");
        ASSERT_INT(fn_cache_new(&options, &cache, &missing), ERR_SYSTEM);
        ASSERT_TEXT(err_message(&missing),
                    "cannot make cache directory /nonexistent/weft/cache: No such file or directory");
        options.directory = STR("/etc/passwd");
        ASSERT_INT(fn_cache_new(&options, &cache, &file), ERR_SYSTEM);
        ASSERT_TEXT(err_message(&file), "cannot open cache directory /etc/passwd: Not a directory");
        options.directory = make_directory();
        ASSERT(rmdir(directory) == 0);
        ASSERT(fn_cache_new(&options, &cache, NULL) >= 0); /* made when it is not there */
        fn_cache_free(cache);
        remove_directory();
}

/* --- Entries that somebody made --- */

TEST(what_is_wrong_with_an_entry)
{
        static const struct {
                struct str bytes;
                int code;
        } cases[] = {
                { STR_INIT(""), 0 },
                { STR_INIT("\x0a\x00"), 0 },
                { STR_INIT("\x0a\x06\x08\xff\xff\xff\xff\x7f"), ERR_INVALID }, /* seconds that are no time */
                { STR_INIT("\x0a\x06\x10\xff\xff\xff\xff\x0f"), ERR_INVALID }, /* as are nanoseconds */
                { STR_INIT("\x0a\x01\xff"), ERR_INVALID },                     /* cut off */
                { STR_INIT("\xd2\x3e\x02\xff\xff"), ERR_INVALID },             /* in a watch */
                { STR_INIT("\x12\xff"), ERR_INVALID },
                { STR_INIT("\x08\x01\x18\x01\x22\x01x"), 0 }, /* fields of another type, or unknown */
        };

        begin();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fn_cache_entry entry;
                int r = fn_cache_entry_read(&arena, cases[i].bytes, &entry, NULL);

                ASSERT_INT(r, cases[i].code);
                if (r >= 0)
                        ASSERT(!fn_cache_entry_is_fresh(&entry, 1));
        }
        end();
}

TEST(a_file_of_another_format_is_not_read)
{
        static const struct {
                size_t at;
                char byte;
                const char *message;
        } cases[] = {
                { 0, 'W', "not a file of the response cache" },
                { 8, 2, "version 2 of the format is not known" },
                { 12, 1, "version 1 of the format is not known" },
                { 20, 0, "its contents are not what was written" },
        };
        char file[FN_CACHE_HEAD_BYTES + 4];
        struct str entry;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                memcpy(file + FN_CACHE_HEAD_BYTES, "abcd", 4);
                fn_cache_head_write(file, 4);
                ASSERT(fn_cache_file_read(str_make(file, sizeof(file)), &entry, NULL) >= 0);
                ASSERT_STR(entry, STR("abcd"));
                file[cases[i].at] = (char)(file[cases[i].at] == cases[i].byte ? 0x55 : cases[i].byte);
                ASSERT(fn_cache_file_read(str_make(file, sizeof(file)), &entry, &err) < 0);
                ASSERT_TEXT(err_message(&err), cases[i].message);
        }
        ASSERT(fn_cache_file_read(str_make(file, FN_CACHE_HEAD_BYTES - 1), &entry, NULL) < 0);
}

/* --- Threads --- */

#define THREADS 4

static void use_cache(void *arg)
{
        unsigned seed = (unsigned)(size_t)arg;
        struct arena a;
        char tag[8];

        arena_init(&a, "thread", 0);
        for (int i = 0; i < 300; i++) {
                struct fn_cached found, put_in = { .response = { .ttl_ns = SECOND, .tag = STR("answer") } };
                struct fn_cache_key key = { STR("f"), STR("f-1"), STR_NONE, false };

                seed = seed * 1103515245 + 12345;
                snprintf(tag, sizeof(tag), "%u", seed >> 16 & 15);
                key.tag = str_from(tag);
                if (fn_cache_get(cache, &a, &key, &found))
                        ASSERT_STR(found.response.tag, STR("answer"));
                else
                        fn_cache_put(cache, &a, &key, &put_in, false);
                if (i % 50 == 0)
                        fn_cache_sweep(cache);
                arena_reset(&a);
        }
        arena_done(&a);
}

TEST(threads_share_it)
{
        struct fn_cache_options options = { .directory = make_directory(), .max_entries = 5, .max_disk_entries = 9 };
        struct thread *threads[THREADS];
        struct fn_cache_stats stats;

        ASSERT(fn_cache_new(&options, &cache, NULL) >= 0);
        for (size_t i = 0; i < THREADS; i++)
                ASSERT(thread_start("cache user", use_cache, (void *)(i + 1), &threads[i], NULL) >= 0);
        for (size_t i = 0; i < THREADS; i++)
                thread_join(threads[i]);
        stats = fn_cache_stats(cache);
        ASSERT_INT(stats.hits + stats.misses, THREADS * 300);
        ASSERT(stats.n_entries <= 5 && stats.n_files <= 9 && stats.hits > 0 && stats.writes > 0);
        fn_cache_free(cache);
        remove_directory();
}
