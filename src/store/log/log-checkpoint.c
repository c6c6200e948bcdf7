/* Checkpoints: a thread copies the pages of the WAL into the database while appends go on. When the WAL is large, or an erased Secret
 * is still in it, the thread takes the turn for the last pages, and the WAL begins again. */
#include "log-state.h"

#include "log.h"

#define PASSES       4                      /* copies without the turn before the last one */
#define FEW_FRAMES   64                     /* the turn is taken for at most about so many, if passes can keep up */
#define RETRY_MS     1000                   /* a reader, such as a backup, needs the WAL */
#define STEPS_OF_WAL 8                      /* copies of one WAL */
#define FRAME_BYTES  (LOG_PAGE_BYTES + 24u) /* a page and its header */

#define WAL_MOST 4 /* times the wanted size, before appends wait */

/* Whether the result means that another try may succeed. A full disk is one: the WAL still has everything. */
static bool is_temporary(int rc)
{
        return (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED || (rc & 0xff) == SQLITE_FULL;
}

static int copy(struct sqlite_log *l, int mode, int *ret_frames, int *ret_copied)
{
        return sqlite3_wal_checkpoint_v2(l->checkpoint_db.db, NULL, mode, ret_frames, ret_copied);
}

/* Under the mutex. */
static void grant_room(struct sqlite_log *l)
{
        while (waiters_grant(&l->room))
                ;
}

static bool is_much_too_large(const struct sqlite_log *l)
{
        return l->wal_frames * FRAME_BYTES > WAL_MOST * l->options.wal_bytes;
}

void checkpoint_await_room(struct sqlite_log *l)
{
        mutex_lock(&l->mutex);
        while (is_much_too_large(l) && !l->is_blocked && !l->is_closed && !l->failure.code) {
                struct waiter w;

                waiters_append(&l->room, &w);
                waiters_wait(&l->room, &w, &l->mutex, "checkpoint", "log", DEADLINE_NONE, NULL);
        }
        mutex_unlock(&l->mutex);
}

/* With the turn: no frame is added meanwhile. */
static int copy_rest(struct sqlite_log *l, int mode)
{
        int frames = 0, copied = 0, rc;
        uint64_t n_erased;

        mutex_lock(&l->mutex);
        n_erased = l->n_erased;
        mutex_unlock(&l->mutex);
        rc = copy(l, mode, &frames, &copied);
        if (rc != SQLITE_OK)
                return rc;
        mutex_lock(&l->mutex);
        l->wal_frames = l->tried_frames = 0;
        l->is_blocked = false;
        grant_room(l);
        if (mode == SQLITE_CHECKPOINT_TRUNCATE)
                l->n_cleared = n_erased;
        mutex_unlock(&l->mutex);
        return SQLITE_OK;
}

/* Copies frames while appends go on. *ret_bytes is the size of the WAL. */
static int copy_most(struct sqlite_log *l, size_t *ret_bytes)
{
        int frames = -1, copied = -1, rc = SQLITE_OK;

        for (int i = 0; i < PASSES; i++) {
                rc = copy(l, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
                if (rc != SQLITE_OK || frames - copied <= FEW_FRAMES ||
                    (size_t)MAX(frames, 0) * FRAME_BYTES > 2 * l->options.wal_bytes)
                        break;
        }
        mutex_lock(&l->mutex);
        l->tried_frames = frames < 0 ? l->wal_frames : (uint64_t)frames;
        *ret_bytes = l->tried_frames * FRAME_BYTES;
        mutex_unlock(&l->mutex);
        /* A commit that is about to end makes this busy for a moment. Only the copy with the turn shows that a reader needs the WAL. */
        return (rc & 0xff) == SQLITE_BUSY ? SQLITE_OK : rc;
}

static int run_checkpoint(struct sqlite_log *l, bool truncates)
{
        size_t wal_bytes;
        int rc = copy_most(l, &wal_bytes);

        if (rc != SQLITE_OK || (!truncates && wal_bytes <= l->options.wal_bytes))
                return rc;
        semaphore_acquire(&l->turn, DEADLINE_NONE, NULL);
        rc = copy_rest(l, truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART);
        semaphore_release(&l->turn);
        return rc;
}

/* Under the mutex. */
static bool has_work(const struct sqlite_log *l)
{
        return (l->wal_frames > l->tried_frames &&
                (l->wal_frames - l->tried_frames) * FRAME_BYTES > l->options.wal_bytes / STEPS_OF_WAL) ||
               (l->n_erased != l->n_cleared && deadline_has_passed(l->erase_by));
}

static struct deadline next_deadline(const struct sqlite_log *l)
{
        return l->n_erased != l->n_cleared ? l->erase_by : DEADLINE_NONE;
}

/* Waits until there is something to do: 1, or 0 when the log is closed or has failed. */
static int await_work(struct sqlite_log *l, bool *ret_truncates)
{
        bool goes_on;

        mutex_lock(&l->mutex);
        while (!l->is_closed && !l->failure.code && !has_work(l)) {
                struct waiter w;

                waiters_append(&l->waiters, &w);
                waiters_wait(&l->waiters, &w, &l->mutex, "commits", "checkpoint", next_deadline(l), NULL);
        }
        goes_on = !l->is_closed && !l->failure.code;
        *ret_truncates = l->n_erased != l->n_cleared && deadline_has_passed(l->erase_by);
        mutex_unlock(&l->mutex);
        return goes_on;
}

static void rest(struct sqlite_log *l)
{
        struct deadline deadline = deadline_after_ms(RETRY_MS);

        mutex_lock(&l->mutex);
        while (!l->is_closed && !deadline_has_passed(deadline)) {
                struct waiter w;

                waiters_append(&l->waiters, &w);
                waiters_wait(&l->waiters, &w, &l->mutex, "next try", "checkpoint", deadline, NULL);
        }
        mutex_unlock(&l->mutex);
}

static void note_failure(struct sqlite_log *l, int rc)
{
        _cleanup_err_ struct err err = { 0 };

        log_db_error(&l->checkpoint_db, rc, "cannot copy the WAL into", &err);
        mutex_lock(&l->mutex);
        l->is_blocked = true;
        grant_room(l);
        mutex_unlock(&l->mutex);
        if (is_temporary(rc)) {
                if ((rc & 0xff) == SQLITE_FULL)
                        log_warn("the log could not copy its WAL; it tries again", LOG_ERR("error", &err));
                rest(l);
                return;
        }
        log_error("the log takes no more writes", LOG_ERR("error", &err));
        log_fail(l, &err);
}

static void run_checkpoints(void *arg)
{
        struct sqlite_log *l = arg;
        bool truncates;

        while (await_work(l, &truncates)) {
                int rc = run_checkpoint(l, truncates);

                if (rc != SQLITE_OK)
                        note_failure(l, rc);
        }
}

void checkpoint_notice(struct sqlite_log *l, bool erases)
{
        mutex_lock(&l->mutex);
        if (erases) {
                if (l->n_erased == l->n_cleared)
                        l->erase_by = deadline_after_ms(l->options.erase_ms);
                l->n_erased++;
        }
        if (erases || has_work(l))
                waiters_grant(&l->waiters);
        mutex_unlock(&l->mutex);
}

static int on_commit(void *arg, sqlite3 *db _unused_, const char *name _unused_, int n_frames)
{
        struct sqlite_log *l = arg;

        mutex_lock(&l->mutex);
        l->wal_frames = (uint64_t)n_frames;
        if (l->tried_frames > l->wal_frames) /* the WAL has begun again */
                l->tried_frames = 0;
        mutex_unlock(&l->mutex);
        return SQLITE_OK;
}

int checkpoint_start(struct sqlite_log *l, struct err *err)
{
        int r = log_db_open(&l->checkpoint_db, l->path, l->options.vfs, log_mode(l), err);

        if (r < 0)
                return r;
        sqlite3_wal_hook(l->db.db, on_commit, l);
        return thread_start("log-checkpoint", run_checkpoints, l, &l->thread, err);
}

void checkpoint_stop(struct sqlite_log *l)
{
        mutex_lock(&l->mutex);
        l->is_closed = true;
        waiters_grant(&l->waiters);
        mutex_unlock(&l->mutex);
        if (l->thread) {
                thread_join(l->thread);
                if (log_check_failure(l, NULL) == 0)
                        copy_rest(l, SQLITE_CHECKPOINT_TRUNCATE); /* if it fails, the WAL has everything */
        }
        log_db_close(&l->checkpoint_db);
}
