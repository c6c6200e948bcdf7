/* A store on its log that is killed at any moment, again and again, on the same directory.
 *
 * A child process writes with 16 threads and watches what it writes. It tells its parent, through a pipe, what each thread is about to
 * write, what was acknowledged and what the watch showed. The parent kills it, opens the store and looks: nothing acknowledged is
 * lost, what was on its way is there as a whole or not at all, no version is used twice, a watch from a remembered version goes on
 * without a gap or a repeat or is told that the version is too old, and no dependent is left without its owner.
 *
 * WEFT_CRASH_ROUNDS says how often (300, and 100 in builds with a sanitizer), WEFT_SEED where it begins. */
#include "log-test.h"

#include "log.h"
#include "random.h"
#include "vec.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum {
        WRITERS = 16,
        NAMES = 4, /* of each writer; the last one depends on the one before it */
        ALL_NAMES = WRITERS * NAMES,
        ABSENT = -1,
        ANY = -2, /* not known: the collector may be at it */
        MOST_MS = 20,
        MOST_MESSAGES = 60,
};

#if defined(__SANITIZE_THREAD__)
#define IS_SLOW true
#else
#define IS_SLOW HAS_ASAN
#endif

enum message_type {
        MESSAGE_INTENT, /* the name is about to have the state n */
        MESSAGE_DONE,   /* the intent is acknowledged */
        MESSAGE_EVENT,  /* of the watch; state n, ABSENT for DELETED */
};

struct message {
        uint8_t type;
        uint8_t name;
        int32_t n;
        uint64_t version;
};

static struct object_key widget_key(struct arena *a, unsigned name)
{
        return (struct object_key) { .gvk = widget_gvk(), .ns = STR("default"), .name = arena_printf(a, "o%u", name) };
}

/* --- The child --- */

struct child {
        struct durable *d;
        int pipe;
        uint64_t seed;
};

struct child_writer {
        struct child *child;
        struct thread *thread;
        unsigned id;
};

static void tell(struct child *c, struct message m)
{
        if (write(c->pipe, &m, sizeof(m)) != sizeof(m))
                _exit(1);
}

static const struct value *make_widget(struct fixture *f, unsigned name, int n, const struct value *owner)
{
        char *filler = arena_alloc(&f->arena, 2001);
        int size = n * 37 % 2000;

        memset(filler, 'a' + n % 26, (size_t)size);
        filler[size] = 0;
        return JSON(f,
                    "{'apiVersion':'example.org/"
                    "v1','kind':'Widget','metadata':{'name':'o%u','namespace':'default'%s%.*s%s},'spec':"
                    "{'n':%d,'check':%d,'text':'%s'}}",
                    name,
                    owner ? arena_cstring(&f->arena, arena_printf(&f->arena,
                                                                  ",'ownerReferences':[{'apiVersion':'example.org/v1',"
                                                                  "'kind':'Widget','name':'o%u','uid':'",
                                                                  name - 1))
                          : "",
                    STR_ARG(owner ? meta_uid(owner) : STR("")), owner ? "'}]" : "", n, n * 3, filler);
}

/* Creates, changes or deletes the name. A write that is refused stays an intent, which the parent then takes for unknown. */
static void write_name(struct child_writer *w, struct fixture *f, struct random *random, unsigned name)
{
        struct object_key key = widget_key(&f->arena, name);
        const struct value *there = get(f, key), *owner = NULL;
        struct write_request req = { .verb = WRITE_CREATE, .key = key };
        struct write_result result = { 0 };
        int n = (int)random_below(random, 1000000);

        if (name % NAMES == NAMES - 1) {
                owner = get(f, widget_key(&f->arena, name - 1));
                if (!owner || there)
                        return;
        } else if (there && random_below(random, 4) == 0) {
                n = ABSENT;
                req.verb = WRITE_DELETE;
        } else if (there) {
                req.verb = WRITE_UPDATE;
        }
        req.body = n == ABSENT ? NULL : make_widget(f, name, n, owner);
        if (req.verb == WRITE_UPDATE)
                req.body = value_with(&f->arena, there, STR("spec"), value_get(req.body, STR("spec")));
        tell(w->child, (struct message) { .type = MESSAGE_INTENT, .name = (uint8_t)name, .n = n });
        if (cluster_write(f->cluster, &f->run, &req, &result, NULL) < 0)
                return;
        tell(w->child, (struct message) { .type = MESSAGE_DONE,
                                          .name = (uint8_t)name,
                                          .n = n,
                                          .version = result.object ? object_version(result.object) : 0 });
}

static void run_writer(void *arg)
{
        struct child_writer *w = arg;
        struct random random;

        random_seed(&random, w->child->seed * 100 + w->id);
        for (;;) {
                struct fixture f = { .store = w->child->d->f.store, .cluster = w->child->d->f.cluster };

                arena_init(&f.arena, "writer", 0);
                f.run = (struct run) { .arena = &f.arena, .deadline = DEADLINE_NONE };
                write_name(w, &f, &random, w->id * NAMES + (unsigned)random_below(&random, NAMES));
                err_done(&f.err);
                arena_done(&f.arena);
        }
}

static unsigned name_of(const struct value *v)
{
        return (unsigned)strtoul(meta_name(v).p + 1, NULL, 10);
}

static struct message event_message(const struct watch_event *e, struct arena *a)
{
        const struct value *v = object_value(e->object, a);
        int64_t n = value_int(value_find(v, "spec", "n"), -7);

        return (struct message) { .type = MESSAGE_EVENT,
                                  .name = (uint8_t)name_of(v),
                                  .n = e->type == WATCH_DELETED ? ABSENT : (int32_t)n,
                                  .version = e->version };
}

static void run_watch(struct child *c, uint64_t version)
{
        struct fixture *f = &c->d->f;
        struct watch_request req = { .gvk = widget_gvk() };
        struct watch *w;

        req.resource_version = arena_printf(&f->arena, "%llu", (unsigned long long)version);
        if (cluster_watch(f->cluster, &f->run, &req, &w, NULL) < 0)
                _exit(1);
        for (;;) {
                struct watch_event e;
                struct arena a;
                struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

                arena_init(&a, "watch", 0);
                if (watch_next(w, &run, &e, NULL) < 0)
                        _exit(1);
                tell(c, event_message(&e, &a));
                arena_done(&a);
        }
}

_Noreturn static void run_child(struct durable *d, int pipe, uint64_t seed)
{
        struct child c = { .d = d, .pipe = pipe, .seed = seed };
        static struct child_writer writers[WRITERS];
        uint64_t version;

        durable_open(d);
        version = store_version(d->f.store);
        for (unsigned i = 0; i < WRITERS; i++) {
                writers[i] = (struct child_writer) { .child = &c, .id = i };
                if (thread_start("writer", run_writer, &writers[i], &writers[i].thread, NULL) < 0)
                        _exit(1);
        }
        run_watch(&c, version);
        _exit(1);
}

/* --- What the parent knows --- */

struct known {
        int state;  /* acknowledged */
        int intent; /* on its way */
        bool has_intent;
        uint64_t version; /* of the acknowledged state, if it is known */
};

struct parent {
        struct durable d;
        struct random random;
        struct known known[ALL_NAMES];
        VEC(struct message) events; /* of one uninterrupted sequence; the first one is at `from` + 1 or later */
        int start[ALL_NAMES];       /* the states at version `from` */
        uint64_t from;
        uint64_t acknowledged; /* the newest version that anyone has seen */
        uint64_t n_done, n_events, n_resumed, n_expired, n_lost_races;
};

static void take_message(struct parent *p, const struct message *m)
{
        struct known *k = &p->known[m->name];

        p->acknowledged = MAX(p->acknowledged, m->version);
        switch ((enum message_type)m->type) {
        case MESSAGE_INTENT:
                if (k->has_intent) /* the last one was refused: the collector was faster */
                        p->n_lost_races++;
                k->has_intent = true;
                k->intent = m->n;
                if (m->n == ABSENT && m->name % NAMES == NAMES - 2)
                        p->known[m->name + 1].state = ANY;
                break;
        case MESSAGE_DONE:
                p->n_done++;
                *k = (struct known) { .state = m->n, .version = m->version };
                if (m->name % NAMES == NAMES - 1)
                        k->state = ANY;
                break;
        case MESSAGE_EVENT:
                p->n_events++;
                ASSERT(p->events.n == 0 || m->version > vec_last(&p->events)->version);
                vec_push(&p->events, *m);
                break;
        }
}

/* Reads what the child tells until it is killed, or was killed and everything is read. One child in four is killed after a time, perhaps
 * while it opens the store; the others after a number of messages and a moment, so that a slow machine writes as much as a fast one. */
static void hear(struct parent *p, int fd, pid_t pid)
{
        struct deadline moment = deadline_after_ns((int64_t)random_below(&p->random, MOST_MS * 1000000));
        bool by_time = random_below(&p->random, 4) == 0, is_killed = false;
        uint64_t left =
                by_time ? 0 : 1 + random_below(&p->random, MOST_MESSAGES); /* messages until the moment is set */
        int64_t pause_ns = (int64_t)random_below(&p->random, 2000000);
        struct message m[512];

        if (!by_time)
                moment = DEADLINE_NONE;
        for (;;) {
                struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
                ssize_t n;

                if (!is_killed && deadline_has_passed(moment)) {
                        kill(pid, SIGKILL);
                        is_killed = true;
                }
                if (poll(&poll_fd, 1, is_killed ? -1 : 1) == 0)
                        continue;
                n = read(fd, m, sizeof(m));
                ASSERT(n >= 0 && n % (ssize_t)sizeof(*m) == 0);
                if (n == 0)
                        return;
                for (size_t i = 0; i < (size_t)n / sizeof(*m); i++)
                        take_message(p, &m[i]);
                if (left > 0 && left <= (uint64_t)n / sizeof(*m))
                        moment = deadline_after_ns(pause_ns);
                left -= MIN(left, (uint64_t)n / sizeof(*m));
        }
}

/* --- Looking --- */

static void read_states(struct parent *p, int *ret_states, uint64_t *ret_versions)
{
        struct fixture *f = &p->d.f;
        struct list_request req = { .gvk = widget_gvk() };
        struct object_list l = { 0 };

        for (unsigned i = 0; i < ALL_NAMES; i++)
                ret_states[i] = ABSENT;
        MUST(f, cluster_list(f->cluster, &f->run, &req, &l, &f->err));
        for (size_t i = 0; i < l.n; i++) {
                const struct value *v = object_list_value(&l, i, &f->arena), *spec = value_get(v, STR("spec"));
                int n = (int)value_int(value_get(spec, STR("n")), -7);
                struct str text = value_str(value_get(spec, STR("text")));

                ASSERT_INT(value_int(value_get(spec, STR("check")), 0), n * 3);
                ASSERT_INT(text.n, n * 37 % 2000);
                ASSERT(text.n == 0 || text.p[text.n - 1] == 'a' + n % 26);
                ret_states[name_of(v)] = n;
                ret_versions[name_of(v)] = object_version(l.objects[i]);
        }
}

static void check_states(struct parent *p)
{
        int states[ALL_NAMES];
        uint64_t versions[ALL_NAMES] = { 0 };

        read_states(p, states, versions);
        for (unsigned i = 0; i < ALL_NAMES; i++) {
                struct known *k = &p->known[i];
                bool is_intended = k->has_intent && states[i] == k->intent;

                if (k->state != ANY && !is_intended && states[i] != k->state)
                        test_fail(__FILE__, __LINE__, "o%u is %d, acknowledged was %d, on its way %d", i, states[i],
                                  k->state, k->has_intent ? k->intent : k->state);
                if (k->state != ANY && !is_intended && states[i] != ABSENT && k->version)
                        ASSERT_INT(versions[i], k->version);
                *k = (struct known) { .state = states[i], .version = versions[i] };
                if (i % NAMES == NAMES - 1)
                        k->state = ANY;
        }
}

/* The events after a remembered version are those that were seen before, and lead to what is there now. */
static void check_watch(struct parent *p)
{
        struct fixture *f = &p->d.f;
        size_t at = p->events.n ? (size_t)random_below(&p->random, p->events.n + 1) : 0;
        uint64_t version = at ? p->events.p[at - 1].version : p->from, versions[ALL_NAMES];
        struct watch_request req = { .gvk = widget_gvk() };
        int states[ALL_NAMES], now[ALL_NAMES];
        struct run run = f->run;
        struct watch_event e;
        struct watch *w;
        int r;

        memcpy(states, p->start, sizeof(states));
        for (size_t i = 0; i < at; i++)
                states[p->events.p[i].name] = p->events.p[i].n;
        req.resource_version = arena_printf(&f->arena, "%llu", (unsigned long long)version);
        run.deadline = deadline_after_ms(-1);
        MUST(f, cluster_watch(f->cluster, &f->run, &req, &w, &f->err));
        for (size_t i = at; (r = watch_next(w, &run, &e, NULL)) == 0; i++) {
                struct message m = event_message(&e, &f->arena);

                ASSERT(m.version > version);
                if (i < p->events.n)
                        ASSERT(m.version == p->events.p[i].version && m.name == p->events.p[i].name &&
                               m.n == p->events.p[i].n);
                ASSERT((e.type == WATCH_ADDED) == (states[m.name] == ABSENT));
                version = m.version;
                states[m.name] = m.n;
        }
        watch_free(w);
        ASSERT(r == ERR_TIMEOUT || r == ERR_EXPIRED);
        if (r == ERR_EXPIRED) {
                p->n_expired++;
                return;
        }
        p->n_resumed++;
        ASSERT(p->events.n == 0 || version >= vec_last(&p->events)->version);
        read_states(p, now, versions);
        ASSERT(memcmp(states, now, sizeof(now)) == 0);
}

static void check_owners(struct parent *p)
{
        struct fixture *f = &p->d.f;

        for (unsigned i = NAMES - 1; i < ALL_NAMES; i += NAMES) {
                const struct value *v = get(f, widget_key(&f->arena, i)), *owner = get(f, widget_key(&f->arena, i - 1));

                if (v)
                        ASSERT(owner &&
                               str_equal(meta_uid(owner),
                                         value_str(value_find(
                                                 value_item(value_find(v, "metadata", "ownerReferences"), 0), "uid"))));
        }
}

static void look(struct parent *p)
{
        uint64_t versions[ALL_NAMES];

        durable_open(&p->d);
        ASSERT(store_version(p->d.f.store) >= p->acknowledged);
        check_states(p);
        settle(&p->d.f);
        check_watch(p);
        check_owners(p);
        read_states(p, p->start, versions);
        p->from = p->acknowledged = store_version(p->d.f.store);
        vec_clear(&p->events);
        durable_close(&p->d);
        arena_reset(&p->d.f.arena);
        str_list_init(&p->d.f.warnings, &p->d.f.arena);
}

static void crash_once(struct parent *p, uint64_t seed)
{
        int fds[2];
        pid_t pid;

        ASSERT(pipe2(fds, O_CLOEXEC) == 0);
        fflush(stdout);
        pid = fork();
        ASSERT(pid >= 0);
        if (pid == 0) {
                close(fds[0]);
                run_child(&p->d, fds[1], seed);
        }
        close(fds[1]);
        hear(p, fds[0], pid);
        close(fds[0]);
        ASSERT(waitpid(pid, NULL, 0) == pid);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
        const char *text = getenv(name);

        return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

TEST(crashes)
{
        uint64_t rounds = number_from("WEFT_CRASH_ROUNDS", IS_SLOW ? 100 : 300), seed = number_from("WEFT_SEED", 1);
        struct parent p = { 0 };

        log_set_level(_LOG_LEVEL_COUNT);
        durable_prepare(&p.d);
        p.d.log_options = (struct sqlite_log_options) { .history_events = 150,
                                                        .garbage_bytes = 64 << 10,
                                                        .wal_bytes = 512 << 10 };
        random_seed(&p.random, seed);
        for (unsigned i = 0; i < ALL_NAMES; i++) {
                p.known[i].state = p.start[i] = ABSENT;
                if (i % NAMES == NAMES - 1)
                        p.known[i].state = ANY;
        }
        look(&p);
        for (uint64_t i = 0; i < rounds; i++) {
                crash_once(&p, seed * 1000000 + i);
                look(&p);
        }
        printf("# %llu rounds, %llu acknowledged writes, %llu events; watches resumed %llu, expired %llu; refused "
               "writes %llu\n",
               (unsigned long long)rounds, (unsigned long long)p.n_done, (unsigned long long)p.n_events,
               (unsigned long long)p.n_resumed, (unsigned long long)p.n_expired, (unsigned long long)p.n_lost_races);
        ASSERT(p.n_done > rounds && p.n_resumed > rounds / 10);
        vec_done(&p.events);
        durable_done(&p.d);
}
