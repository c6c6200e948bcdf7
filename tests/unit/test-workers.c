#include "test.h"

#include "loop.h"
#include "park.h"
#include "workers.h"

#include <stdatomic.h>

#define PATIENT deadline_after_ms(30000)

/* A loop, workers, and jobs that say where they ran. */
struct bench {
        struct loop *loop;
        struct workers *workers;
        _Atomic unsigned n_run;
        unsigned n_finished; /* loop thread only */
        unsigned wanted;
        struct completion all; /* wanted jobs are finished */
};

struct task {
        struct job job;
        struct bench *bench;
        struct completion *waits_for; /* NULL: nothing */
        struct completion *completes; /* the same */
        struct completion finished;
        bool is_endless; /* submitted again until that is refused */
        bool is_kept;    /* it goes on when run has returned */
        bool is_on_loop;
        int result;
};

static void run(struct job *j)
{
        struct task *t = CONTAINER_OF(j, struct task, job);

        t->is_on_loop = loop_is_current(t->bench->loop);
        if (t->is_kept)
                job_keep(j);
        if (t->completes)
                completion_complete(t->completes);
        if (t->waits_for)
                t->result = completion_wait(t->waits_for, PATIENT, NULL);
        atomic_fetch_add(&t->bench->n_run, 1);
}

static void finish(struct job *j)
{
        struct task *t = CONTAINER_OF(j, struct task, job);
        struct bench *b = t->bench;

        if (t->is_on_loop || !loop_is_current(b->loop))
                t->result = ERR_FAILED;
        if (t->is_endless && (t->result = workers_submit(b->workers, b->loop, &t->job)) == 0)
                return;
        completion_complete(&t->finished);
        if (++b->n_finished == b->wanted)
                completion_complete(&b->all);
}

static void setup(struct bench *b, unsigned n_workers, size_t max_waiting, unsigned wanted)
{
        *b = (struct bench) { .wanted = wanted };
        completion_init(&b->all, "all");
        ASSERT_INT(loop_new("loop", &b->loop, NULL), 0);
        ASSERT_INT(workers_new("worker", n_workers, max_waiting, &b->workers, NULL), 0);
}

static void teardown(struct bench *b)
{
        workers_free(b->workers);
        loop_free(b->loop);
        completion_done(&b->all);
}

static void task_init(struct task *t, struct bench *b)
{
        *t = (struct task) { .job = { .run = run, .finish = finish }, .bench = b };
        completion_init(&t->finished, "job");
}

/* The tasks that are submitted in one turn of the loop. */
struct turn {
        struct bench *bench;
        struct task *tasks;
        unsigned n;
        int last_result;
};

static void submit_turn(void *arg)
{
        struct turn *turn = arg;

        for (unsigned i = 0; i < turn->n; i++)
                turn->last_result = workers_submit(turn->bench->workers, turn->bench->loop, &turn->tasks[i].job);
}

static int submit(struct bench *b, struct task *tasks, unsigned n)
{
        struct turn turn = { b, tasks, n, 0 };

        loop_call(b->loop, submit_turn, &turn);
        return turn.last_result;
}

TEST(many_jobs_run_on_workers_and_finish_on_their_loop)
{
        enum { TURNS = 200, EACH = 50 };
        static struct task tasks[TURNS * EACH];
        struct bench b;

        setup(&b, 4, TURNS * EACH, TURNS * EACH);
        for (unsigned i = 0; i < TURNS * EACH; i++)
                task_init(&tasks[i], &b);
        for (unsigned i = 0; i < TURNS; i++)
                ASSERT_INT(submit(&b, tasks + i * EACH, EACH), 0);
        ASSERT_INT(completion_wait(&b.all, PATIENT, NULL), 0);
        ASSERT_INT(atomic_load(&b.n_run), TURNS * EACH);
        for (unsigned i = 0; i < TURNS * EACH; i++)
                ASSERT_INT(tasks[i].result, 0);
        teardown(&b);
}

/* Each job waits for one that stands behind it, so all must run at once, however they were submitted. */
static void run_chain(unsigned n, bool in_one_turn)
{
        struct completion steps[8];
        struct task tasks[8];
        struct bench b;

        setup(&b, n, 100, n);
        for (unsigned i = 0; i < n; i++) {
                completion_init(&steps[i], "step");
                task_init(&tasks[i], &b);
                tasks[i].waits_for = &steps[n - 1];
        }
        tasks[n - 1].completes = &steps[n - 1];
        if (in_one_turn)
                ASSERT_INT(submit(&b, tasks, n), 0);
        for (unsigned i = 0; i < n && !in_one_turn; i++)
                ASSERT_INT(submit(&b, tasks + i, 1), 0);
        ASSERT_INT(completion_wait(&b.all, PATIENT, NULL), 0);
        for (unsigned i = 0; i < n; i++)
                ASSERT_INT(tasks[i].result, 0);
        teardown(&b);
        for (unsigned i = 0; i < n; i++)
                completion_done(&steps[i]);
}

TEST(long_jobs_do_not_keep_others_from_running)
{
        run_chain(2, true);
        run_chain(2, false);
        run_chain(8, true);
        run_chain(8, false);
}

TEST(short_jobs_are_answered_while_a_long_one_runs)
{
        struct completion release;
        struct task slow, quick;
        struct bench b;

        completion_init(&release, "release");
        setup(&b, 2, 100, 101);
        task_init(&slow, &b);
        slow.waits_for = &release;
        ASSERT_INT(submit(&b, &slow, 1), 0);
        for (unsigned i = 0; i < 100; i++) {
                task_init(&quick, &b);
                ASSERT_INT(submit(&b, &quick, 1), 0);
                ASSERT_INT(completion_wait(&quick.finished, PATIENT, NULL), 0);
                ASSERT_INT(quick.result, 0);
        }
        ASSERT(!completion_is_done(&slow.finished));
        completion_complete(&release);
        ASSERT_INT(completion_wait(&slow.finished, PATIENT, NULL), 0);
        teardown(&b);
        completion_done(&release);
}

TEST(what_waits_is_bounded)
{
        struct completion begun, release;
        struct task tasks[4];
        struct bench b;

        completion_init(&begun, "begun");
        completion_init(&release, "release");
        setup(&b, 1, 2, 3);
        for (unsigned i = 0; i < 4; i++)
                task_init(&tasks[i], &b);
        tasks[0].completes = &begun;
        tasks[0].waits_for = &release;
        ASSERT_INT(submit(&b, &tasks[0], 1), 0);
        ASSERT_INT(completion_wait(&begun, PATIENT, NULL), 0);
        ASSERT_INT(submit(&b, &tasks[1], 2), 0);
        ASSERT_INT(submit(&b, &tasks[3], 1), ERR_LIMIT);
        completion_complete(&release);
        ASSERT_INT(completion_wait(&b.all, PATIENT, NULL), 0);
        teardown(&b);
        completion_done(&begun);
        completion_done(&release);
}

TEST(the_end_waits_for_all_jobs_and_takes_no_more)
{
        struct completion release;
        struct task tasks[4];
        struct bench b;

        completion_init(&release, "release");
        setup(&b, 2, 100, 4);
        for (unsigned i = 0; i < 4; i++)
                task_init(&tasks[i], &b);
        tasks[0].is_endless = true;
        tasks[1].is_endless = true;
        tasks[2].waits_for = &release;
        tasks[3].completes = &release;
        ASSERT_INT(submit(&b, tasks, 4), 0);
        ASSERT_INT(completion_wait(&tasks[2].finished, PATIENT, NULL), 0);
        ASSERT(!completion_is_done(&tasks[0].finished));
        workers_free(b.workers);
        for (unsigned i = 0; i < 4; i++) {
                ASSERT(completion_is_done(&tasks[i].finished));
                ASSERT_INT(tasks[i].result, tasks[i].is_endless ? ERR_CLOSED : 0);
        }
        loop_free(b.loop);
        completion_done(&b.all);
        completion_done(&release);
}

/* More jobs are kept than there are workers, and others run meanwhile. */
TEST(kept_jobs_need_no_worker)
{
        enum { N = 5 };
        struct task kept[N], quick;
        struct bench b;

        setup(&b, 1, 100, N + 1);
        for (unsigned i = 0; i < N; i++) {
                task_init(&kept[i], &b);
                kept[i].is_kept = true;
        }
        ASSERT_INT(submit(&b, kept, N), 0);
        task_init(&quick, &b);
        ASSERT_INT(submit(&b, &quick, 1), 0);
        ASSERT_INT(completion_wait(&quick.finished, PATIENT, NULL), 0);
        for (unsigned i = 0; i < N; i++)
                ASSERT(!completion_is_done(&kept[i].finished));
        for (unsigned i = 0; i < N; i++)
                job_finish(&kept[i].job);
        ASSERT_INT(completion_wait(&b.all, PATIENT, NULL), 0);
        for (unsigned i = 0; i < N; i++)
                ASSERT_INT(kept[i].result, 0);
        teardown(&b);
}

static void finish_later(void *arg)
{
        struct task *t = arg;

        completion_wait(t->completes, PATIENT, NULL);
        thread_yield();
        job_finish(&t->job);
}

TEST(the_end_waits_for_kept_jobs)
{
        struct completion begun;
        struct thread *thread;
        struct task kept;
        struct bench b;

        completion_init(&begun, "begun");
        setup(&b, 1, 100, 1);
        task_init(&kept, &b);
        kept.is_kept = true;
        kept.completes = &begun;
        ASSERT_INT(submit(&b, &kept, 1), 0);
        ASSERT_INT(thread_start("finisher", finish_later, &kept, &thread, NULL), 0);
        workers_free(b.workers);
        ASSERT(completion_is_done(&kept.finished));
        thread_join(thread);
        loop_free(b.loop);
        completion_done(&b.all);
        completion_done(&begun);
}

TEST(workers_that_have_nothing_to_do_end_too)
{
        struct bench b;

        setup(&b, 3, 1, 0);
        teardown(&b);
        workers_free(NULL);
}
