/* The report of a check: what is in a log, and everything that is wrong with it. */
#include "log-state.h"

#include "arena.h"
#include "buf.h"
#include "compact.h"
#include "map.h"

#include <stdio.h>
#include <sys/stat.h>

#define MAX_PROBLEMS 20 /* of SQLite's own check that are reported */

struct kind_count {
        struct str name;
        size_t n;
};

struct check {
        struct buf *report;
        size_t n_problems;
        struct arena arena;
        struct arena scratch; /* of one object */
        struct map kinds;     /* GROUP/KIND -> struct kind_count */
        struct map objects;   /* GROUP/KIND NAMESPACE/NAME, those that exist -> their kind_count */
};

static void note_problem(struct check *c, const char *text)
{
        buf_appendf(c->report, "problem: %s\n", text);
        c->n_problems++;
}

/* --- The file --- */

static double megabytes(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
}

/* SQLite's own check of its pages. */
static int check_pages(struct check *c, struct log_db *db, struct err *err)
{
        char sql[64];
        sqlite3_stmt *s = NULL;
        int rc;

        snprintf(sql, sizeof(sql), "PRAGMA integrity_check(%d)", MAX_PROBLEMS);
        rc = sqlite3_prepare_v2(db->db, sql, -1, &s, NULL);
        while (rc == SQLITE_OK || rc == SQLITE_ROW) {
                const char *text;

                rc = sqlite3_step(s);
                text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
                if (text && strcmp(text, "ok") != 0)
                        note_problem(c, text);
        }
        sqlite3_finalize(s);
        return rc == SQLITE_DONE ? 0 : log_db_error(db, rc, "cannot read", err);
}

/* --- Objects --- */

static struct kind_count *count_of(struct check *c, const struct store_record *r)
{
        struct str name = arena_printf(&c->arena, "%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->kind));
        struct kind_count *k = map_get(&c->kinds, name);

        if (k)
                return k;
        k = ARENA_NEW(&c->arena, struct kind_count);
        k->name = name;
        map_add(&c->kinds, name, k);
        return k;
}

static void count_object(struct check *c, const struct store_record *r)
{
        struct kind_count *k = count_of(c, r), *there;
        struct str id = arena_printf(&c->arena, "%.*s %.*s/%.*s", STR_ARG(k->name), STR_ARG(r->namespace_name),
                                     STR_ARG(r->name));

        there = map_remove(&c->objects, id);
        if (there)
                there->n--;
        if (r->is_removed || r->is_erased)
                return;
        map_add(&c->objects, id, k);
        k->n++;
}

static int on_begin(void *arg _unused_, uint64_t floor _unused_, uint64_t version _unused_, struct err *err _unused_)
{
        return 0;
}

static int on_record(void *arg, const struct store_record *r, struct err *err _unused_)
{
        struct check *c = arg;
        _cleanup_err_ struct err problem = { 0 };
        const struct value *v;

        count_object(c, r);
        if (r->is_removed || r->is_erased)
                return 0;
        if (compact_decode(&c->scratch, r->bytes, &v, &problem) < 0) {
                (err_wrap)(&problem, "version %llu, %.*s/%.*s %.*s/%.*s", (unsigned long long)r->version,
                           STR_ARG(r->group), STR_ARG(r->kind), STR_ARG(r->namespace_name), STR_ARG(r->name));
                note_problem(c, err_message(&problem));
        }
        arena_reset(&c->scratch);
        return 0;
}

static void report_rows(struct check *c, const struct log_rows *rows)
{
        buf_appendf(c->report, "%zu rows of %.1f MB, %.1f MB of them not needed any more\n", rows->n,
                    (double)rows->total_bytes / 1e6, (double)rows->garbage_bytes / 1e6);
        buf_appendf(c->report, "newest version %llu; watches can begin at version %llu\n",
                    (unsigned long long)rows->version, (unsigned long long)rows->floor);
}

static void report_objects(struct check *c)
{
        buf_appendf(c->report, "%zu objects\n", c->objects.n);
        for (const struct map_entry *e = map_first(&c->kinds); e; e = map_next(&c->kinds, e)) {
                const struct kind_count *k = e->value;

                if (k->n)
                        buf_appendf(c->report, "%10zu %.*s\n", k->n, STR_ARG(k->name));
        }
}

/* --- The whole --- */

/* All rows that cannot be read, up to a number. */
static void report_bad_rows(struct check *c, struct log_db *db)
{
        uint64_t first, last;
        size_t n = 0;

        if (log_db_range(db, &first, &last, NULL) < 0)
                return;
        for (uint64_t seq = first; seq <= last && n < MAX_PROBLEMS; seq++) {
                _cleanup_err_ struct err problem = { 0 };
                struct log_row row;

                if (log_db_read(db, seq, &row, &problem) == 0)
                        continue;
                buf_appendf(c->report, "row %llu cannot be read\n", (unsigned long long)seq);
                n++;
        }
        if (n == MAX_PROBLEMS)
                buf_appendf(c->report, "there may be more such rows\n");
}

static int check_rows(struct check *c, struct log_db *db, uint64_t acknowledged, struct err *err)
{
        struct store_replay to = { .arg = c, .begin = on_begin, .record = on_record };
        struct log_rows rows = { 0 };
        uint64_t head, next;
        int r = log_load(db, &rows, &head, &next, err);

        if (r == 0) {
                report_rows(c, &rows);
                r = log_replay(db, &rows, &to, err);
        }
        if (r == 0)
                report_objects(c);
        if (r == 0 && rows.version < acknowledged) {
                buf_appendf(c->report, "problem: version %llu was written, but the log ends at %llu\n",
                            (unsigned long long)acknowledged, (unsigned long long)rows.version);
                c->n_problems++;
        }
        log_rows_done(&rows);
        return r;
}

static int check_database(struct check *c, const char *path, uint64_t acknowledged, struct err *err)
{
        struct log_db db = { 0 };
        int r = log_db_open(&db, path, NULL, LOG_DB_READ, err);

        if (r == 0)
                r = check_pages(c, &db, err);
        if (r == 0) {
                r = check_rows(c, &db, acknowledged, err);
                if (r == ERR_INVALID)
                        report_bad_rows(c, &db);
        }
        log_db_close(&db);
        return r;
}

static int check_directory(struct check *c, const struct log_directory *d, struct err *err)
{
        _cleanup_free_ char *path = log_directory_file(d->path, LOG_DATABASE),
                            *wal = log_directory_file(d->path, LOG_DATABASE "-wal");
        _cleanup_err_ struct err problem = { 0 };
        int r;

        if (access(path, F_OK) < 0)
                return err_set(err, ERR_NOT_FOUND, "directory %s has no log: there is no %s", d->path, path);
        buf_appendf(c->report, "%s: %.1f MB, and %.1f MB in its WAL\n", path, megabytes(path), megabytes(wal));
        r = check_database(c, path, d->acknowledged, &problem);
        if (r < 0 && r != ERR_INVALID)
                return err_move(err, &problem);
        if (r < 0)
                note_problem(c, err_message(&problem));
        if (c->n_problems)
                return err_set(err, ERR_INVALID, "%s is damaged, see the report", path);
        buf_appendf(c->report, "no damage found\n");
        return 0;
}

int sqlite_log_check(const char *directory, struct buf *report, struct err *err)
{
        struct check c = { .report = report };
        struct log_directory d = { .lock_fd = -1 };
        int r = log_directory_open(directory, false, &d, err);

        if (r < 0)
                return r;
        arena_init(&c.arena, "check", 0);
        arena_init(&c.scratch, "object", 0);
        r = check_directory(&c, &d, err);
        map_done(&c.kinds);
        map_done(&c.objects);
        arena_done(&c.arena);
        arena_done(&c.scratch);
        log_directory_close(&d);
        return r;
}
