/* The durable log: its files, its bounds, and what it says about damage. */
#include "log-test.h"

#include "faulty-vfs.h"

#include "log.h"
#include "random.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/wait.h>

static struct gvk secret_gvk(void)
{
        return (struct gvk) { STR(""), STR("v1"), STR("Secret") };
}

static bool says(struct durable *d, const char *text)
{
        if (str_find(str_from(err_message(&d->f.err)), str_from(text)) >= 0)
                return true;
        printf("# %s\n", err_message(&d->f.err));
        return false;
}

static void set_text(struct fixture *f, const char *name, int n, size_t size_bytes)
{
        struct object_key key = key_of(widget_gvk(), "default", name);
        char *text = arena_alloc(&f->arena, size_bytes + 1);

        memset(text, 'a' + n % 26, size_bytes);
        text[size_bytes] = 0;
        MUST(f, merge(f, key, JSON(f, "{'spec':{'n':%d,'text':'%s'}}", n, text), NULL));
}

static void make(struct fixture *f, const char *name)
{
        MUST(f, create(f, widget(f, "default", name, "")));
}

static void sql(struct durable *d, const char *text)
{
        sqlite3 *db;

        ASSERT_INT(sqlite3_open(durable_file(d, "log.db"), &db), SQLITE_OK);
        ASSERT_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
}

/* --- The directory --- */

TEST(directory_and_files_are_private)
{
        _cleanup_durable_ struct durable d;
        const struct dirent *e;
        struct stat st;
        DIR *dir;

        durable_prepare(&d);
        ASSERT(chmod(d.directory, 0755) == 0);
        durable_open(&d);
        make(&d.f, "a");
        ASSERT(stat(d.directory, &st) == 0 && (st.st_mode & 07777) == 0700);
        dir = opendir(d.directory);
        while ((e = readdir(dir)))
                if (e->d_name[0] != '.')
                        ASSERT_CASE(e->d_name,
                                    fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && (st.st_mode & 07777) == 0600);
        closedir(dir);
}

TEST(a_directory_with_other_files_that_others_may_read_is_refused)
{
        _cleanup_durable_ struct durable d;

        durable_prepare(&d);
        write_file(durable_file(&d, "thesis.txt"), "x", 1);
        ASSERT(chmod(d.directory, 0755) == 0);
        ASSERT_INT(durable_try_open(&d), ERR_INVALID);
        ASSERT(says(&d, d.directory) && says(&d, "chmod 700"));
        ASSERT(chmod(d.directory, 0700) == 0);
        durable_open(&d);
}

TEST(a_directory_belongs_to_one_process)
{
        _cleanup_durable_ struct durable d;
        struct sqlite_log *other;
        char pid[32];

        durable_init(&d);
        ASSERT_INT(sqlite_log_open(d.directory, NULL, &other, &d.f.err), ERR_EXISTS);
        snprintf(pid, sizeof(pid), "process %d", (int)getpid());
        ASSERT(says(&d, d.directory) && says(&d, pid));
        durable_reopen(&d);
}

/* A process that has the lock for a while; returns when it has it. */
static pid_t start_holder(const char *path, unsigned ms)
{
        int fds[2];
        char c;
        pid_t pid;

        ASSERT(pipe(fds) == 0);
        pid = fork();
        ASSERT(pid >= 0);
        if (pid == 0) {
                int fd = open(path, O_RDWR | O_CLOEXEC);

                if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(fds[1], "x", 1) != 1)
                        _exit(1);
                usleep(ms * 1000);
                _exit(0);
        }
        ASSERT(read(fds[0], &c, 1) == 1);
        close(fds[0]);
        close(fds[1]);
        return pid;
}

static void name_in_lock(const char *path, pid_t pid)
{
        char line[65];
        int n = snprintf(line, sizeof(line), "pid %d version 0", (int)pid);

        memset(line + n, ' ', sizeof(line) - (size_t)n);
        line[63] = '\n';
        write_file(path, line, 64);
}

/* A child that a killed process was about to start has its files open for a moment. */
TEST(children_of_a_process_that_was_killed_are_waited_for)
{
        _cleanup_durable_ struct durable d;
        char text[32];
        pid_t gone, holder;

        durable_init(&d);
        durable_close(&d);
        gone = fork();
        if (gone == 0)
                _exit(0);
        ASSERT(waitpid(gone, NULL, 0) == gone);
        holder = start_holder(durable_file(&d, "lock"), 300);
        name_in_lock(durable_file(&d, "lock"), holder);
        ASSERT_INT(durable_try_open(&d), ERR_EXISTS);
        snprintf(text, sizeof(text), "process %d", (int)holder);
        ASSERT(says(&d, text));
        name_in_lock(durable_file(&d, "lock"), gone);
        durable_open(&d);
        ASSERT(waitpid(holder, NULL, 0) == holder);
}

TEST(a_newer_format_is_refused)
{
        _cleanup_durable_ struct durable d;

        durable_init(&d);
        durable_close(&d);
        sql(&d, "PRAGMA user_version=7");
        ASSERT_INT(durable_try_open(&d), ERR_UNSUPPORTED);
        ASSERT(says(&d, "log.db was written by a newer version of Weft (format 7, this one knows up to 2): install"));
        sql(&d, "PRAGMA user_version=1; PRAGMA application_id=4");
        ASSERT_INT(durable_try_open(&d), ERR_INVALID);
        ASSERT(says(&d, "it is not a log of Weft"));
}

static int read_int(void *ret, int n _unused_, char **texts, char **names _unused_)
{
        *(int *)ret = atoi(texts[0]);
        return 0;
}

TEST(an_older_format_is_raised_when_it_is_opened)
{
        _cleanup_durable_ struct durable d;
        int format = 0;
        sqlite3 *db;

        durable_init(&d);
        make(&d.f, "a");
        durable_close(&d);
        sql(&d, "PRAGMA user_version=1");
        durable_open(&d);
        ASSERT(get(&d.f, key_of(widget_gvk(), "default", "a")));
        durable_close(&d);
        ASSERT_INT(sqlite3_open(durable_file(&d, "log.db"), &db), SQLITE_OK);
        ASSERT_INT(sqlite3_exec(db, "PRAGMA user_version", read_int, &format, NULL), SQLITE_OK);
        sqlite3_close(db);
        ASSERT_INT(format, 2);
}

/* --- Bounds --- */

/* Constant writes to a few of many objects: file and WAL stay within a few times of what is needed. */
/* Writes about 1200 KB of rows to few names. *ret_file and *ret_wal are the most bytes that the files had meanwhile. */
static void write_much(struct durable *d, uint64_t *ret_file, uint64_t *ret_wal)
{
        struct sqlite_log_sizes sizes;
        uint64_t most_file = 0, most_wal = 0;
        char name[16];

        for (int i = 0; i < 100; i++) {
                snprintf(name, sizeof(name), "o%d", i);
                make(&d->f, name);
                set_text(&d->f, name, i, 1000);
        }
        for (int i = 0; i < 1200; i++) {
                snprintf(name, sizeof(name), "o%d", i * 7 % 10);
                set_text(&d->f, name, i, 1000);
                if (i % 50 == 0) {
                        MUST(&d->f, delete_with(&d->f, key_of(widget_gvk(), "default", "o99"), PROPAGATE_UNSET));
                        make(&d->f, "o99");
                }
                if (i % 100 == 0)
                        arena_reset(&d->f.arena), str_list_init(&d->f.warnings, &d->f.arena);
                sqlite_log_sizes(d->log, &sizes);
                most_file = MAX(most_file, sizes.file_bytes);
                most_wal = MAX(most_wal, sizes.wal_bytes);
        }
        printf("# file %llu KB, WAL %llu KB, rows %llu KB, garbage %llu KB\n", (unsigned long long)most_file >> 10,
               (unsigned long long)most_wal >> 10, (unsigned long long)sizes.row_bytes >> 10,
               (unsigned long long)sizes.garbage_bytes >> 10);
        ASSERT(sizes.version - sizes.floor <= 50);
        *ret_file = most_file;
        *ret_wal = most_wal;
}

static const struct sqlite_log_options small_log = { .history_events = 50,
                                                     .garbage_bytes = 64 << 10,
                                                     .wal_bytes = 1 << 20 };

TEST(file_and_wal_stay_bounded)
{
        _cleanup_durable_ struct durable d;
        uint64_t file, wal;
        struct str before;

        durable_prepare(&d);
        d.log_options = small_log;
        durable_open(&d);
        write_much(&d, &file, &wal);
        ASSERT(file < 1 << 20);
        ASSERT(wal < 5 << 20);
        before = dump(&d.f);
        durable_reopen(&d);
        ASSERT_STR(dump(&d.f), before);
}

/* A VFS in which copies of the WAL are busy if another connection writes a commit within 20 ms. In SQLite they are busy for the moment in
 * which that connection writes the header of the shared index. */
static struct {
        sqlite3_vfs vfs, *real;
        sqlite3_io_methods methods;
        const sqlite3_io_methods *real_methods;
        _Atomic bool is_writing;
        _Atomic unsigned n_busy;
} busy;

static int busy_lock(sqlite3_file *f, int offset, int n, int flags)
{
        enum { WRITE_LOCK, CHECKPOINT_LOCK };
        int r;

        if (offset == CHECKPOINT_LOCK && n == 1 && flags & SQLITE_SHM_LOCK) {
                for (int i = 0; i < 20 && !busy.is_writing; i++)
                        thread_sleep(deadline_after_ms(1), NULL);
                if (busy.is_writing) {
                        busy.n_busy++;
                        return SQLITE_BUSY;
                }
        }
        if (offset == WRITE_LOCK && flags & SQLITE_SHM_UNLOCK)
                busy.is_writing = false;
        r = busy.real_methods->xShmLock(f, offset, n, flags);
        if (offset == WRITE_LOCK && flags & SQLITE_SHM_LOCK && r == SQLITE_OK)
                busy.is_writing = true;
        return r;
}

static int busy_open(sqlite3_vfs *vfs _unused_, const char *path, sqlite3_file *f, int flags, int *ret_flags)
{
        int r = busy.real->xOpen(busy.real, path, f, flags, ret_flags);

        if (r != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
                return r;
        busy.real_methods = f->pMethods;
        busy.methods = *f->pMethods;
        busy.methods.xShmLock = busy_lock;
        f->pMethods = &busy.methods;
        return SQLITE_OK;
}

TEST(a_wal_stays_bounded_while_copies_are_busy)
{
        _cleanup_durable_ struct durable d;
        uint64_t file, wal;

        busy.real = sqlite3_vfs_find(NULL);
        busy.vfs = *busy.real;
        busy.vfs.zName = "busy";
        busy.vfs.xOpen = busy_open;
        sqlite3_vfs_register(&busy.vfs, 0);
        durable_prepare(&d);
        d.log_options = small_log;
        d.log_options.vfs = "busy";
        durable_open(&d);
        write_much(&d, &file, &wal);
        ASSERT(wal < 5 << 20);
        ASSERT(busy.n_busy > 0);
}

/* Random writes to few names, with hardly any history and no tolerance for garbage, so that rows move all the time; opened again after
 * every few of them. */
TEST(moved_rows_bring_nothing_back)
{
        _cleanup_durable_ struct durable d;
        struct random random;
        uint64_t seed = 7;

        durable_prepare(&d);
        d.log_options = (struct sqlite_log_options) { .history_events = 3, .garbage_bytes = 1, .wal_bytes = 1 << 20 };
        durable_open(&d);
        random_seed(&random, seed);
        for (int i = 0; i < 400; i++) {
                char name[16];
                struct object_key key;

                snprintf(name, sizeof(name), "o%llu", (unsigned long long)random_below(&random, 8));
                key = key_of(widget_gvk(), "default", name);
                if (!get(&d.f, key))
                        make(&d.f, name);
                else if (random_below(&random, 3) == 0)
                        MUST(&d.f, delete_with(&d.f, key, PROPAGATE_UNSET));
                else
                        set_text(&d.f, name, i, 10 + random_below(&random, 5000));
                if (random_below(&random, 7) == 0) {
                        struct str before = dump(&d.f);

                        durable_reopen(&d);
                        ASSERT_STR(dump(&d.f), before);
                }
        }
}

/* --- Secrets --- */

static bool directory_has(struct durable *d, const char *word)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        DIR *dir = opendir(d->directory);
        const struct dirent *e;
        bool has = false;

        while ((e = readdir(dir))) {
                if (e->d_name[0] == '.')
                        continue;
                read_file_to(&b, durable_file(d, e->d_name));
                has = has || str_find(buf_str(&b), str_from(word)) >= 0;
        }
        closedir(dir);
        return has;
}

static void await_gone(struct durable *d, const char *word)
{
        struct deadline deadline = deadline_after_ms(20000);

        while (directory_has(d, word)) {
                ASSERT_CASE(word, !deadline_has_passed(deadline));
                thread_sleep(deadline_after_ms(20), NULL);
        }
}

/* base64 of words that do not share a prefix. */
static const struct value *secret(struct fixture *f, const char *name, const char *word)
{
        return JSON(f,
                    "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'%s','namespace':'default'},'data':{'word':'"
                    "%s'}}",
                    name, word);
}

TEST(replaced_secrets_leave_all_files)
{
        _cleanup_durable_ struct durable d;
        struct object_key key = key_of(secret_gvk(), "default", "s"), other = key_of(secret_gvk(), "default", "t");
        char *large;

        durable_prepare(&d);
        d.log_options.erase_ms = 50;
        durable_open(&d);
        large = arena_alloc(&d.f.arena, 40001);
        memset(large, 'Q', 40000);
        memcpy(large, "TGFyZ2Ux", 8);
        memcpy(large + 39992, "TGFyZ2Uy", 8);
        large[40000] = 0;
        MUST(&d.f, create(&d.f, secret(&d.f, "s", "Rmlyc3Qx")));
        MUST(&d.f, create(&d.f, secret(&d.f, "t", large)));
        ASSERT(directory_has(&d, "Rmlyc3Qx") && directory_has(&d, "TGFyZ2Uy"));
        MUST(&d.f, merge(&d.f, key, JSON(&d.f, "{'data':{'word':'U2Vjb25k'}}"), NULL));
        await_gone(&d, "Rmlyc3Qx");
        ASSERT(directory_has(&d, "U2Vjb25k"));
        MUST(&d.f, delete_with(&d.f, key, PROPAGATE_UNSET));
        MUST(&d.f, delete_with(&d.f, other, PROPAGATE_UNSET));
        await_gone(&d, "U2Vjb25k");
        await_gone(&d, "TGFyZ2Ux");
        await_gone(&d, "TGFyZ2Uy");
        ASSERT(!directory_has(&d, "QQQQQQQQ"));
}

/* Rows move, pages are split, joined and freed: nothing of a replaced Secret stays in a corner of a page. */
TEST(secrets_leave_pages_that_are_rearranged)
{
        _cleanup_durable_ struct durable d;
        struct random random;

        durable_prepare(&d);
        d.log_options = (struct sqlite_log_options) { .erase_ms = 1, .history_events = 20, .garbage_bytes = 1 };
        durable_open(&d);
        random_seed(&random, 3);
        make(&d.f, "w0");
        make(&d.f, "w1");
        for (int i = 0; i < 12; i++) {
                char name[16], word[32];

                snprintf(name, sizeof(name), "s%d", i);
                snprintf(word, sizeof(word), "c2VjcmV0MDA%c", 'A' + i);
                MUST(&d.f, create(&d.f, secret(&d.f, name, word)));
                set_text(&d.f, "w0", i, 700);
        }
        for (int i = 0; i < 600; i++)
                set_text(&d.f, random_below(&random, 2) ? "w0" : "w1", i, 10 + random_below(&random, 4000));
        for (int i = 0; i < 12; i++) {
                char name[16];

                snprintf(name, sizeof(name), "s%d", i);
                MUST(&d.f, delete_with(&d.f, key_of(secret_gvk(), "default", name), PROPAGATE_UNSET));
                for (int k = 0; k < 5; k++)
                        set_text(&d.f, "w1", k, 10 + random_below(&random, 4000));
        }
        await_gone(&d, "c2VjcmV0MDA");
}

/* --- Damage --- */

static void fill(struct durable *d)
{
        durable_prepare(d);
        d->log_options.history_events = 20;
        durable_open(d);
        for (int i = 0; i < 30; i++) {
                char name[16];

                snprintf(name, sizeof(name), "o%d", i);
                make(&d->f, name);
                set_text(&d->f, name, i, 600);
        }
}

/* Opening fails, and names the file and a way out. */
static void assert_damaged(struct durable *d, const char *file, const char *text)
{
        ASSERT_INT(durable_try_open(d), ERR_INVALID);
        ASSERT(says(d, durable_file(d, file)) && says(d, text) && says(d, "weft restore"));
}

TEST(a_flipped_bit_is_noticed)
{
        _cleanup_durable_ struct durable d;
        _cleanup_buf_ struct buf whole = BUF_INIT(0);
        struct str state;
        size_t n_refused = 0, n_same = 0;
        const char *path;

        fill(&d);
        state = dump(&d.f);
        durable_close(&d);
        path = durable_file(&d, "log.db");
        read_file_to(&whole, path);
        for (size_t i = 0; i < whole.n; i += 97) {
                whole.p[i] ^= (char)(1 << i % 8);
                write_file(path, whole.p, whole.n);
                if (durable_try_open(&d) < 0) {
                        ASSERT(says(&d, "log.db"));
                        n_refused++;
                } else {
                        ASSERT_STR(dump(&d.f), state); /* the bit was in a place that means nothing */
                        n_same++;
                        durable_close(&d);
                        read_file_to(&whole, path); /* it wrote nothing but its header */
                }
                whole.p[i] ^= (char)(1 << i % 8);
        }
        printf("# %zu flipped bits refused, %zu without meaning\n", n_refused, n_same);
        ASSERT(n_refused > 100);
        write_file(path, whole.p, whole.n);
        durable_open(&d);
        ASSERT_STR(dump(&d.f), state);
}

TEST(a_cut_or_overwritten_end_is_noticed)
{
        _cleanup_durable_ struct durable d;
        _cleanup_buf_ struct buf whole = BUF_INIT(0);
        const char *path;

        fill(&d);
        durable_close(&d);
        path = durable_file(&d, "log.db");
        read_file_to(&whole, path);
        for (size_t cut = 1; cut < whole.n; cut += 5000) {
                write_file(path, whole.p, whole.n - cut);
                ASSERT(durable_try_open(&d) < 0);
                ASSERT(says(&d, "log.db"));
        }
        for (size_t size = 16; size < whole.n; size *= 4) {
                write_file(path, whole.p, whole.n);
                memset(whole.p + whole.n - size, 0, size);
                write_file(path, whole.p, whole.n);
                if (durable_try_open(&d) == 0) { /* no row ends there */
                        ASSERT(size < 4096);
                        durable_close(&d);
                }
        }
}

TEST(a_lost_database_is_not_replaced_by_an_empty_one)
{
        _cleanup_durable_ struct durable d;
        _cleanup_buf_ struct buf whole = BUF_INIT(0);
        const char *path;

        fill(&d);
        durable_close(&d);
        path = durable_file(&d, "log.db");
        read_file_to(&whole, path);
        write_file(path, "", 0);
        assert_damaged(&d, "log.db", "it is empty");
        write_file(path, "something else entirely", 23);
        assert_damaged(&d, "log.db", "file is not a database");
        unlink(path);
        assert_damaged(&d, "log.db", "it is missing");
        unlink(durable_file(&d, "lock"));
        assert_damaged(&d, "log.db", "it is missing, but");
        write_file(path, whole.p, whole.n);
        durable_open(&d);
}

/* Writes to the store in a process that is killed, so that the WAL has what is not in the database yet. */
static void write_and_die(struct durable *d)
{
        pid_t pid = fork();

        if (pid == 0) {
                durable_open(d);
                for (int i = 0; i < 20; i++)
                        set_text(&d->f, "o1", 100 + i, 300);
                kill(getpid(), SIGKILL);
        }
        ASSERT(pid > 0 && waitpid(pid, NULL, 0) == pid);
}

TEST(a_lost_or_damaged_wal_is_noticed)
{
        _cleanup_durable_ struct durable d;
        _cleanup_buf_ struct buf wal = BUF_INIT(0), database = BUF_INIT(0);
        uint64_t version;
        const char *path;

        fill(&d);
        version = store_version(d.f.store);
        durable_close(&d);
        write_and_die(&d);
        path = durable_file(&d, "log.db-wal");
        read_file_to(&wal, path);
        read_file_to(&database, durable_file(&d, "log.db"));
        ASSERT(wal.n > 20 * 4096);
        for (int i = 0; i < 4; i++) {
                if (i == 0)
                        unlink(path);
                else if (i == 1)
                        write_file(path, wal.p, wal.n / 2);
                else if (i == 2)
                        write_file(path, wal.p, wal.n - 1);
                wal.p[wal.n / 3] ^= 1;
                if (i == 3)
                        write_file(path, wal.p, wal.n);
                wal.p[wal.n / 3] ^= 1;
                assert_damaged(&d, "log.db", "its end or");
                write_file(path, wal.p, wal.n);
                write_file(durable_file(&d, "log.db"), database.p, database.n);
        }
        durable_open(&d);
        ASSERT_INT(store_version(d.f.store), version + 20);
}

/* --- Disks that fail --- */

/* Writes until the disk fails. The write that fails and all later ones say why; reads go on; after a restart everything that was
 * acknowledged is there. */
TEST(a_failing_disk_stops_writes_until_a_restart)
{
        static const struct {
                enum disk_fault fault;
                const char *text;
        } cases[] = {
                { DISK_FAILS_WRITE, "disk I/O error" },
                { DISK_SHORT_WRITE, "disk I/O error" },
                { DISK_FAILS_SYNC, "disk I/O error" },
                { DISK_IS_FULL, "database or disk is full" },
        };

        log_set_level(_LOG_LEVEL_COUNT);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_durable_ struct durable d;
                struct random random = { 0 };
                struct object_key key = key_of(widget_gvk(), "default", "a");
                int n = 0;

                disk_init(cases[i].fault, 60);
                durable_prepare(&d);
                d.log_options.vfs = "faulty";
                durable_open(&d);
                make(&d.f, "a");
                ASSERT_INT(store_health(d.f.store, &d.f.err), 0);
                while (merge(&d.f, key, JSON(&d.f, "{'spec':{'n':%d}}", n + 1), NULL) == 0)
                        n++;
                ASSERT(n > 5 && disk.has_failed);
                ASSERT_CASE(cases[i].text, says(&d, "may or may not be there") && says(&d, durable_file(&d, "log.db")));
                ASSERT(says(&d, cases[i].text));
                ASSERT(merge(&d.f, key, JSON(&d.f, "{'spec':{'n':-1}}"), NULL) == ERR_FAILED);
                ASSERT(says(&d, "the store takes no more writes, its log has failed: ") && says(&d, cases[i].text));
                ASSERT_INT(d.f.err.reason, REASON_SERVICE_UNAVAILABLE);
                ASSERT(store_health(d.f.store, &d.f.err) < 0 && says(&d, cases[i].text));
                ASSERT_INT(value_int(value_find(get(&d.f, key), "spec", "n"), -1), n);
                durable_close(&d);
                disk_end(&random);
                disk_init(DISK_FINE, 0);
                durable_open(&d);
                ASSERT_INT(store_health(d.f.store, &d.f.err), 0);
                ASSERT(value_int(value_find(get(&d.f, key), "spec", "n"), -1) >= n);
                MUST(&d.f, merge(&d.f, key, JSON(&d.f, "{'spec':{'n':-1}}"), NULL));
                durable_close(&d);
                disk_end(&random);
        }
}

/* --- Backups --- */

/* A dump without its last line, the version of the store. */
static struct str objects_of(struct str text)
{
        return str_first(text, (size_t)str_find(text, STR("\nversion ")));
}

TEST(backups_are_restored)
{
        _cleanup_durable_ struct durable d, restored;
        struct str state;
        uint64_t version, restored_version;
        const char *file;
        struct stat st;

        fill(&d);
        durable_prepare(&restored);
        file = durable_file(&d, "backup");
        state = dump(&d.f);
        version = store_version(d.f.store);
        MUST(&d.f, sqlite_log_backup(d.log, file, NULL, &d.f.err));
        ASSERT(stat(file, &st) == 0 && (st.st_mode & 07777) == 0600);
        ASSERT_INT(sqlite_log_backup(d.log, file, NULL, &d.f.err), ERR_EXISTS);
        set_text(&d.f, "o1", 1, 10);                                                   /* is not in it */
        ASSERT_INT(sqlite_log_restore(file, d.directory, NULL, &d.f.err), ERR_EXISTS); /* in use */
        MUST(&d.f, sqlite_log_restore(file, restored.directory, &restored_version, &d.f.err));
        ASSERT_INT(restored_version, version + 1000000000);
        ASSERT_INT(sqlite_log_restore(file, restored.directory, NULL, &d.f.err), ERR_EXISTS);
        durable_open(&restored);
        ASSERT_INT(store_version(restored.f.store), restored_version);
        ASSERT_STR(objects_of(dump(&restored.f)), objects_of(state));
        ASSERT_STR(dump_events(&restored.f, widget_gvk(), version), STR("expired\n"));
        ASSERT_STR(dump_events(&restored.f, widget_gvk(), restored_version - 1), STR("expired\n"));
        ASSERT_STR(dump_events(&restored.f, widget_gvk(), restored_version), STR(""));
        make(&restored.f, "new");
        ASSERT_INT(store_version(restored.f.store), restored_version + 1);
        durable_reopen(&restored);
        ASSERT_INT(store_version(restored.f.store), restored_version + 1);
        ASSERT(get(&restored.f, key_of(widget_gvk(), "default", "new")));
        ASSERT(get(&restored.f, key_of(widget_gvk(), "default", "o1")));
        unlink(file);
}

struct writing {
        struct durable *d;
        _Atomic bool stops;
};

static void write_on(void *arg)
{
        struct writing *w = arg;
        struct fixture f = { .store = w->d->f.store, .cluster = w->d->f.cluster };

        arena_init(&f.arena, "writing", 0);
        f.run = (struct run) { .arena = &f.arena, .deadline = DEADLINE_NONE };
        for (int i = 0; !w->stops; i++)
                set_text(&f, "o2", i, 500);
        arena_done(&f.arena);
}

TEST(backups_are_made_while_writes_go_on)
{
        _cleanup_durable_ struct durable d;
        struct writing w = { .d = &d };
        struct thread *thread;

        fill(&d);
        ASSERT_INT(thread_start("writing", write_on, &w, &thread, NULL), 0);
        for (int i = 0; i < 5; i++) {
                struct durable restored;
                const char *file = durable_file(&d, "backup");

                durable_prepare(&restored);
                MUST(&d.f,
                     sqlite_log_backup_directory(d.directory, file, NULL, &d.f.err)); /* as another process does */
                MUST(&d.f, sqlite_log_restore(file, restored.directory, NULL, &d.f.err));
                durable_open(&restored);
                ASSERT(get(&restored.f, key_of(widget_gvk(), "default", "o29")));
                durable_done(&restored);
                unlink(file);
        }
        w.stops = true;
        thread_join(thread);
}

TEST(check_reports_contents_and_damage)
{
        _cleanup_durable_ struct durable d;
        _cleanup_buf_ struct buf report = BUF_INIT(0), whole = BUF_INIT(0);
        const char *path;
        ssize_t at;

        fill(&d);
        ASSERT_INT(sqlite_log_check(d.directory, &report, &d.f.err), ERR_EXISTS);
        durable_close(&d);
        MUST(&d.f, sqlite_log_check(d.directory, &report, &d.f.err));
        ASSERT(str_find(buf_str(&report), STR("34 objects\n")) >= 0);
        ASSERT(str_find(buf_str(&report), STR("        30 example.org/Widget\n")) >= 0);
        ASSERT(str_find(buf_str(&report), STR("newest version 64; watches can begin at version 44\n")) >= 0);
        ASSERT(str_find(buf_str(&report), STR("no damage found")) >= 0);
        path = durable_file(&d, "log.db");
        read_file_to(&whole, path);
        while ((at = str_find(buf_str(&whole), STR("eeeeeeee"))) > 0)
                whole.p[at] = 'f';
        write_file(path, whole.p, whole.n);
        buf_clear(&report);
        ASSERT_INT(sqlite_log_check(d.directory, &report, &d.f.err), ERR_INVALID);
        ASSERT(str_find(buf_str(&report), STR("problem: ")) >= 0 &&
               str_find(buf_str(&report), STR("the checksum of row")) >= 0);
        assert_damaged(&d, "log.db", "the checksum of row");
        ASSERT_INT(sqlite_log_backup_directory(d.directory, durable_file(&d, "backup"), NULL, &d.f.err), ERR_INVALID);
        ASSERT(access(durable_file(&d, "backup"), F_OK) < 0);
}
