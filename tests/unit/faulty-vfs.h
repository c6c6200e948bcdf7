/* A disk that fails, for tests: a VFS of SQLite that hands everything to the real one and can, at a chosen write or sync,
 *
 *      fail the call, after a part of a write was written or none,
 *      be full,
 *      or lose power: from then on every call fails, and what remains of each file is what was synced, and any part of what was
 *      written since, in any order, each write whole, cut short or not at all.
 *
 * Files are known by their paths. The contents that are safe are kept in memory beside the writes that are not synced yet. One user at
 * a time, as in a simulation. */
#pragma once

#include "test.h"

#include "buf.h"
#include "random.h"
#include "vec.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

enum disk_fault {
        DISK_FINE,
        DISK_FAILS_WRITE, /* and later calls work again: nobody may rely on that */
        DISK_SHORT_WRITE,
        DISK_FAILS_SYNC, /* what was written is lost */
        DISK_IS_FULL,
        DISK_LOSES_POWER,
};

struct pending_write {
        char *bytes;
        size_t n;
        size_t at;
        bool is_truncate; /* to `at` */
};

struct shadow {
        char path[256];
        struct buf safe;
        VEC(struct pending_write) pending;
};

static struct {
        sqlite3_vfs vfs;
        sqlite3_vfs *real;
        VEC(struct shadow *) shadows;
        enum disk_fault fault;
        uint64_t fault_at; /* the number of the call, counted from 1 */
        uint64_t n_calls;  /* writes, truncations and syncs */
        bool is_off;       /* the power is lost */
        bool has_failed;
} disk;

struct disk_file {
        sqlite3_file base;
        struct shadow *shadow; /* NULL: a file that needs not survive */
        sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *f)
{
        return ((struct disk_file *)f)->real;
}

/* --- Contents --- */

static void put_bytes(struct buf *b, size_t at, const char *p, size_t n)
{
        if (b->n < at + n) {
                size_t old = b->n;

                ASSERT(buf_reserve(b, at + n - b->n));
                memset(b->p + old, 0, at + n - old);
                b->n = at + n;
        }
        if (n)
                memcpy(b->p + at, p, n);
}

static void perform_write(struct buf *b, const struct pending_write *w, size_t n)
{
        if (!w->is_truncate)
                put_bytes(b, w->at, w->bytes, n);
        else if (w->at < b->n)
                b->n = w->at;
}

static void drop_pending(struct shadow *s)
{
        for (size_t i = 0; i < s->pending.n; i++)
                free(s->pending.p[i].bytes);
        vec_clear(&s->pending);
}

static void make_safe(struct shadow *s)
{
        for (size_t i = 0; i < s->pending.n; i++)
                perform_write(&s->safe, &s->pending.p[i], s->pending.p[i].n);
        drop_pending(s);
}

static struct shadow *shadow_of(const char *path)
{
        struct shadow *s;
        char block[65536];
        ssize_t n;
        int fd;

        for (size_t i = 0; i < disk.shadows.n; i++)
                if (strcmp(disk.shadows.p[i]->path, path) == 0)
                        return disk.shadows.p[i];
        s = xcalloc(1, sizeof(*s));
        snprintf(s->path, sizeof(s->path), "%s", path);
        buf_init(&s->safe, 0);
        fd = open(path, O_RDONLY);
        while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0)
                buf_append(&s->safe, block, (size_t)n);
        if (fd >= 0)
                close(fd);
        vec_push(&disk.shadows, s);
        return s;
}

static void note_write(struct shadow *s, const void *p, size_t n, size_t at)
{
        struct pending_write w = { .n = n, .at = at, .bytes = xmalloc(n + 1) };

        memcpy(w.bytes, p, n);
        vec_push(&s->pending, w);
}

/* --- Faults --- */

/* Whether this call has the fault. */
static bool has_fault(void)
{
        return ++disk.n_calls == disk.fault_at && disk.fault != DISK_FINE;
}

static int fail(int code)
{
        disk.has_failed = true;
        return code;
}

static int disk_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
        struct shadow *s = ((struct disk_file *)f)->shadow;
        int r;

        if (disk.is_off)
                return SQLITE_IOERR_WRITE;
        if (s && has_fault()) {
                switch (disk.fault) {
                case DISK_IS_FULL:
                        return fail(SQLITE_FULL);
                case DISK_LOSES_POWER:
                        note_write(s, p, (size_t)n, (size_t)at);
                        disk.is_off = true;
                        return fail(SQLITE_IOERR_WRITE);
                case DISK_SHORT_WRITE:
                        note_write(s, p, (size_t)n / 3, (size_t)at);
                        real_of(f)->pMethods->xWrite(real_of(f), p, n / 3, at);
                        return fail(SQLITE_IOERR_WRITE);
                case DISK_FINE:
                case DISK_FAILS_WRITE:
                case DISK_FAILS_SYNC:
                        return fail(SQLITE_IOERR_WRITE);
                }
        }
        r = real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
        if (r == SQLITE_OK && s)
                note_write(s, p, (size_t)n, (size_t)at);
        return r;
}

static int disk_truncate(sqlite3_file *f, sqlite3_int64 size)
{
        struct shadow *s = ((struct disk_file *)f)->shadow;
        int r;

        if (disk.is_off)
                return SQLITE_IOERR_TRUNCATE;
        if (s && has_fault()) {
                disk.is_off = disk.fault == DISK_LOSES_POWER;
                return fail(SQLITE_IOERR_TRUNCATE);
        }
        r = real_of(f)->pMethods->xTruncate(real_of(f), size);
        if (r == SQLITE_OK && s)
                vec_push(&s->pending, (struct pending_write) { .at = (size_t)size, .is_truncate = true });
        return r;
}

static int disk_sync(sqlite3_file *f, int flags)
{
        struct shadow *s = ((struct disk_file *)f)->shadow;

        if (disk.is_off)
                return SQLITE_IOERR_FSYNC;
        if (s && has_fault()) {
                disk.is_off = disk.fault == DISK_LOSES_POWER;
                if (!disk.is_off)
                        drop_pending(s); /* as a kernel that marks the pages clean */
                return fail(SQLITE_IOERR_FSYNC);
        }
        if (s)
                make_safe(s);
        return SQLITE_OK;
}

/* --- The rest goes to the real file --- */

static int disk_close(sqlite3_file *f)
{
        int r = real_of(f)->pMethods ? real_of(f)->pMethods->xClose(real_of(f)) : SQLITE_OK;

        return r;
}

static int disk_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
        return disk.is_off ? SQLITE_IOERR_READ : real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int disk_size(sqlite3_file *f, sqlite3_int64 *ret)
{
        return real_of(f)->pMethods->xFileSize(real_of(f), ret);
}

static int disk_lock(sqlite3_file *f, int level)
{
        return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int disk_unlock(sqlite3_file *f, int level)
{
        return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int disk_is_reserved(sqlite3_file *f, int *ret)
{
        return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}

static int disk_control(sqlite3_file *f, int op, void *arg)
{
        return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int disk_sector_size(sqlite3_file *f)
{
        return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int disk_properties(sqlite3_file *f)
{
        return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int disk_shm_map(sqlite3_file *f, int page, int size, int extends, void volatile **ret)
{
        return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extends, ret);
}

static int disk_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
        return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void disk_shm_barrier(sqlite3_file *f)
{
        real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int disk_shm_unmap(sqlite3_file *f, int deletes)
{
        return real_of(f)->pMethods->xShmUnmap(real_of(f), deletes);
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *ret_flags)
{
        static const sqlite3_io_methods methods = {
                .iVersion = 2,
                .xClose = disk_close,
                .xRead = disk_read,
                .xWrite = disk_write,
                .xTruncate = disk_truncate,
                .xSync = disk_sync,
                .xFileSize = disk_size,
                .xLock = disk_lock,
                .xUnlock = disk_unlock,
                .xCheckReservedLock = disk_is_reserved,
                .xFileControl = disk_control,
                .xSectorSize = disk_sector_size,
                .xDeviceCharacteristics = disk_properties,
                .xShmMap = disk_shm_map,
                .xShmLock = disk_shm_lock,
                .xShmBarrier = disk_shm_barrier,
                .xShmUnmap = disk_shm_unmap,
        };
        struct disk_file *d = (struct disk_file *)f;
        int r;

        d->base.pMethods = NULL;
        d->real = (sqlite3_file *)(d + 1);
        d->shadow = NULL;
        if (disk.is_off)
                return SQLITE_CANTOPEN;
        r = disk.real->xOpen(disk.real, path, d->real, flags, ret_flags);
        if (r != SQLITE_OK)
                return r;
        if (path && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) && !strstr(path, ".new"))
                d->shadow = shadow_of(path);
        d->base.pMethods = &methods;
        return SQLITE_OK;
}

/* --- The disk --- */

static inline void disk_init(enum disk_fault fault, uint64_t fault_at)
{
        if (!disk.real) {
                disk.real = sqlite3_vfs_find(NULL);
                disk.vfs = *disk.real;
                disk.vfs.zName = "faulty";
                disk.vfs.szOsFile = (int)sizeof(struct disk_file) + disk.real->szOsFile;
                disk.vfs.xOpen = disk_open;
                sqlite3_vfs_register(&disk.vfs, 0);
        }
        disk.fault = fault;
        disk.fault_at = fault_at;
        disk.n_calls = 0;
        disk.is_off = disk.has_failed = false;
}

/* Exchanges some of the writes: without a sync between them there is no order. */
static void shuffle(struct shadow *s, struct random *random)
{
        for (size_t i = s->pending.n; i > 1; i--) {
                size_t j = random_below(random, i);
                struct pending_write w = s->pending.p[i - 1];

                if (w.is_truncate || s->pending.p[j].is_truncate)
                        continue;
                s->pending.p[i - 1] = s->pending.p[j];
                s->pending.p[j] = w;
        }
}

/* Some of the writes reach the disk, in any order, some of them in part. */
static void lose_writes(struct shadow *s, struct random *random)
{
        uint64_t share = random_below(random, 5); /* of four, that reach it */

        if (random_below(random, 2))
                shuffle(s, random);
        for (size_t i = 0; i < s->pending.n; i++) {
                const struct pending_write *w = &s->pending.p[i];
                size_t n = w->n;

                if (random_below(random, 4) >= share)
                        continue;
                if (random_below(random, 4) == 0)
                        n = random_below(random, w->n / 512 + 1) * 512;
                perform_write(&s->safe, w, MIN(n, w->n));
        }
        drop_pending(s);
}

/* After all files are closed: with lost power, the files become what remained of them. Forgets them. */
static inline void disk_end(struct random *random)
{
        for (size_t i = 0; i < disk.shadows.n; i++) {
                struct shadow *s = disk.shadows.p[i];

                if (disk.is_off) {
                        int fd;

                        lose_writes(s, random);
                        fd = open(s->path, O_WRONLY | O_TRUNC);
                        ASSERT(fd < 0 || write(fd, s->safe.p, s->safe.n) == (ssize_t)s->safe.n);
                        if (fd >= 0)
                                close(fd);
                }
                drop_pending(s);
                vec_done(&s->pending);
                buf_done(&s->safe);
                free(s);
        }
        vec_done(&disk.shadows);
}
