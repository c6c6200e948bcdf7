/* Shared by the tests of the durable log: a store on a log in a directory of its own, which can be closed and opened again, and
 * texts of all that a store shows. */
#pragma once

#include "store-test.h"

#include "buf.h"
#include "sqlite-log.h"
#include "store-log.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Files --- */

/* Removes the directory and the files in it. */
static inline void remove_directory(const char *path)
{
        DIR *d = opendir(path);
        const struct dirent *e;

        while (d && (e = readdir(d)))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        unlinkat(dirfd(d), e->d_name, 0);
        if (d)
                closedir(d);
        rmdir(path);
}

static inline void read_file_to(struct buf *b, const char *path)
{
        FILE *f = fopen(path, "rb");
        char block[65536];
        size_t n;

        buf_clear(b);
        if (!f)
                return;
        while ((n = fread(block, 1, sizeof(block), f)) > 0)
                buf_append(b, block, n);
        fclose(f);
}

static inline void write_file(const char *path, const void *p, size_t n)
{
        FILE *f = fopen(path, "wb");

        ASSERT(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

/* --- A store that can be opened again --- */

struct durable {
        char directory[64];
        struct sqlite_log_options log_options;
        struct store_options options;
        struct sqlite_log *log;
        struct fixture f; /* its run and arena last; its store comes and goes */
};

static inline int durable_try_open(struct durable *d)
{
        int r;

        err_done(&d->f.err);
        d->f.err = (struct err) { 0 };
        r = sqlite_log_open(d->directory, &d->log_options, &d->log, &d->f.err);
        if (r < 0)
                return r;
        d->options.log = sqlite_log_base(d->log);
        r = store_new(&d->options, &d->f.store, &d->f.err);
        if (r < 0) {
                sqlite_log_close(TAKE(d->log));
                return r;
        }
        d->f.cluster = store_cluster(d->f.store);
        return 0;
}

static inline void durable_open(struct durable *d)
{
        MUST(&d->f, durable_try_open(d));
}

static inline void durable_close(struct durable *d)
{
        store_free(TAKE(d->f.store));
        sqlite_log_close(TAKE(d->log));
}

static inline void durable_reopen(struct durable *d)
{
        durable_close(d);
        durable_open(d);
}

/* A file system in memory, where a sync costs nothing. A process that is killed loses nothing there either. */
static inline const char *fast_directory(void)
{
        return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* Without a store yet. */
static inline void durable_prepare(struct durable *d)
{
        *d = (struct durable) { .options = { .accepts_any_kind = true } };
        snprintf(d->directory, sizeof(d->directory), "%s/weft-log-XXXXXX", fast_directory());
        ASSERT(mkdtemp(d->directory));
        arena_init(&d->f.arena, "test", 0);
        str_list_init(&d->f.warnings, &d->f.arena);
        d->f.run = (struct run) { .arena = &d->f.arena, .deadline = DEADLINE_NONE, .warnings = &d->f.warnings };
}

static inline void durable_init(struct durable *d)
{
        durable_prepare(d);
        durable_open(d);
}

static inline void durable_done(struct durable *d)
{
        durable_close(d);
        err_done(&d->f.err);
        arena_done(&d->f.arena);
        remove_directory(d->directory);
}

#define _cleanup_durable_ _cleanup_(durable_done)

static inline const char *durable_file(struct durable *d, const char *name)
{
        return arena_cstring(&d->f.arena, arena_printf(&d->f.arena, "%s/%s", d->directory, name));
}

/* --- Texts --- */

static inline void dump_kind(struct fixture *f, const struct kind *k, const char *version, struct buf *b)
{
        struct list_request req = { .gvk = { k->group, str_from(version), k->kind } };
        struct object_list l = { 0 };

        MUST(f, cluster_list(f->cluster, &f->run, &req, &l, &f->err));
        for (size_t i = 0; i < l.n; i++) {
                struct bytes *json = object_json(l.objects[i]);

                buf_appendf(b, "%llu %.*s\n", (unsigned long long)object_version(l.objects[i]), STR_ARG(json->str));
                bytes_unref(json);
        }
}

/* Every object of every served kind and version, and the version of the store. */
static inline struct str dump(struct fixture *f)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct kind_list kinds;

        MUST(f, cluster_kinds(f->cluster, &f->run, &kinds, &f->err));
        for (size_t i = 0; i < kinds.n; i++)
                for (size_t j = 0; j < kinds.kinds[i].kind->n_versions; j++)
                        if (kinds.kinds[i].kind->versions[j].is_served)
                                dump_kind(f, kinds.kinds[i].kind,
                                          arena_cstring(&f->arena, kinds.kinds[i].kind->versions[j].name), &b);
        buf_appendf(&b, "version %llu\n", (unsigned long long)store_version(f->store));
        return buf_to_arena(&b, &f->arena);
}

/* The events of a watch of all objects of the gvk from a version: TYPE VERSION JSON, one per line; `expired` when the version is too
 * old. */
static inline struct str dump_events(struct fixture *f, struct gvk gvk, uint64_t version)
{
        static const char *const types[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR" };
        struct watch_request req = { .gvk = gvk };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct run run = f->run;
        struct watch_event e;
        struct watch *w;
        int r;

        req.resource_version = arena_printf(&f->arena, "%llu", (unsigned long long)version);
        run.deadline = deadline_after_ms(-1);
        MUST(f, cluster_watch(f->cluster, &f->run, &req, &w, &f->err));
        while ((r = watch_next(w, &run, &e, NULL)) == 0) {
                struct bytes *json = object_json(e.object);

                buf_appendf(&b, "%s %llu %.*s\n", types[e.type], (unsigned long long)e.version, STR_ARG(json->str));
                bytes_unref(json);
        }
        watch_free(w);
        if (r == ERR_EXPIRED)
                buf_appendf(&b, "expired\n");
        else
                ASSERT_INT(r, ERR_TIMEOUT);
        return buf_to_arena(&b, &f->arena);
}
