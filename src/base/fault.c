#include "fault.h"

#include "err.h"
#include "map.h"
#include "random.h"
#include "vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

struct point {
        char *name;
        struct fault how; /* code 0: not armed */
        struct random random;
        uint64_t hits;
        uint64_t fired;
};

_Atomic bool fault_is_watching = true; /* until the environment has been read */

static pthread_once_t environment_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map points; /* name to struct point; under the lock */
static bool is_recording; /* under the lock */

static struct point *get_point(struct str name)
{
        struct point *p = map_get(&points, name);

        if (!p) {
                p = xcalloc(1, sizeof(*p));
                p->name = str_to_cstring(name);
                map_add(&points, str_from(p->name), p);
        }
        return p;
}

/* Called under the lock, after every change of the armed points or of is_recording. */
static void update_watching(void)
{
        bool is_watching = is_recording;

        for (const struct map_entry *e = map_first(&points); e && !is_watching; e = map_next(&points, e))
                is_watching = ((const struct point *)e->value)->how.code != 0;
        atomic_store(&fault_is_watching, is_watching);
}

static void arm(struct str name, struct fault how)
{
        struct point *p;

        assert(how.code <= 0);
        if (how.code == 0)
                how.code = -EIO;
        pthread_mutex_lock(&lock);
        p = get_point(name);
        p->how = how;
        p->hits = p->fired = 0;
        random_seed(&p->random, how.seed);
        update_watching();
        pthread_mutex_unlock(&lock);
}

/* Cuts a number of decimal digits off *s; false when there is none or it does not fit. */
static bool take_number(struct str *s, uint64_t *ret)
{
        uint64_t number = 0;
        size_t i = 0;

        for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t)(s->p[i] - '0'), &number))
                        return false;
        *s = str_skip(*s, i);
        *ret = number;
        return i > 0;
}

/* A probability: 0 < p <= 1, digits with an optional point. */
static bool take_probability(struct str *s, double *ret)
{
        uint64_t whole, decimals = 0;
        double scale = 1;
        size_t before;

        if (!take_number(s, &whole))
                return false;
        if (str_cut_prefix(s, STR("."))) {
                before = s->n;
                if (!take_number(s, &decimals))
                        return false;
                for (size_t i = s->n; i < before; i++)
                        scale *= 10;
        }
        *ret = (double)whole + (double)decimals / scale;
        return *ret > 0 && *ret <= 1;
}

/* N, N+, NxCOUNT, pF or pF@SEED. */
static bool parse_when(struct str s, struct fault *ret)
{
        if (str_cut_prefix(&s, STR("p"))) {
                if (!take_probability(&s, &ret->probability))
                        return false;
                return s.n == 0 || (str_cut_prefix(&s, STR("@")) && take_number(&s, &ret->seed) && s.n == 0);
        }
        if (!take_number(&s, &ret->first) || ret->first == 0)
                return false;
        ret->count = 1;
        if (str_equal(s, STR("+"))) {
                ret->count = 0;
                return true;
        }
        return s.n == 0 || (str_cut_prefix(&s, STR("x")) && take_number(&s, &ret->count) && ret->count > 0 && s.n == 0);
}

/* The name of an errno, or a negative number. */
static bool parse_code(struct str s, int *ret)
{
        uint64_t number;

        if (str_cut_prefix(&s, STR("-"))) {
                if (!take_number(&s, &number) || s.n > 0 || number == 0 || number > INT32_MAX)
                        return false;
                *ret = -(int)number;
                return true;
        }
        for (int i = 1; i < 4096; i++) {
                if (!str_equal(s, str_from(strerrorname_np(i))) || s.n == 0)
                        continue;
                *ret = -i;
                return true;
        }
        return false;
}

struct armed {
        struct str name;
        struct fault how;
};

/* NAME=WHEN or NAME=WHEN:CODE. */
static int parse_entry(struct str entry, struct armed *ret, struct err *err)
{
        struct str rest = entry, when;

        *ret = (struct armed) { 0 };
        if (!str_split(&rest, '=', &ret->name) || ret->name.n == 0)
                return err_set(err, ERR_INVALID, "fault \"%.*s\" is not NAME=WHEN", STR_ARG(entry));
        if (str_split(&rest, ':', &when) && !parse_code(rest, &ret->how.code))
                return err_set(err, ERR_INVALID, "fault \"%.*s\": \"%.*s\" is neither an errno nor a negative number",
                               STR_ARG(entry), STR_ARG(rest));
        if (!parse_when(when, &ret->how))
                return err_set(err, ERR_INVALID,
                               "fault \"%.*s\": \"%.*s\" is not N, N+, NxCOUNT, pPROBABILITY or pPROBABILITY@SEED",
                               STR_ARG(entry), STR_ARG(when));
        return 0;
}

static int arm_text(struct str text, struct err *err)
{
        VEC(struct armed) all = { 0 };
        int r = 0;

        while (text.n > 0 && r >= 0) {
                struct armed one;
                struct str entry;

                str_split(&text, ',', &entry);
                r = parse_entry(str_trim(entry), &one, err);
                vec_push(&all, one);
        }
        for (size_t i = 0; i < all.n && r >= 0; i++)
                arm(all.p[i].name, all.p[i].how);
        vec_done(&all);
        return r;
}

static void read_environment(void)
{
        _cleanup_err_ struct err err = { 0 };

        if (arm_text(str_from(getenv("WEFT_FAULTS")), &err) < 0) {
                fprintf(stderr, "weft: WEFT_FAULTS: %s\n", err_message(&err));
                abort();
        }
        pthread_mutex_lock(&lock);
        update_watching();
        pthread_mutex_unlock(&lock);
}

/* Reads the environment first, so that a test can override it. */
static void lock_points(void)
{
        pthread_once(&environment_once, read_environment);
        pthread_mutex_lock(&lock);
}

static bool fails_now(struct point *p)
{
        if (p->how.code == 0)
                return false;
        if (p->how.probability > 0)
                return random_double(&p->random) < p->how.probability;
        return p->hits >= p->how.first && (p->how.count == 0 || p->hits - p->how.first < p->how.count);
}

int fault_hit(const char *name)
{
        struct point *p;
        int r = 0;

        lock_points();
        p = atomic_load(&fault_is_watching) ? get_point(str_from(name)) : NULL;
        if (p) {
                p->hits++;
                if (fails_now(p)) {
                        p->fired++;
                        r = p->how.code;
                }
        }
        pthread_mutex_unlock(&lock);
        return r;
}

void fault_arm(const char *name, struct fault how)
{
        assert(how.probability > 0 || how.first > 0);
        pthread_once(&environment_once, read_environment);
        arm(str_from(name), how);
}

int fault_arm_text(struct str text, struct err *err)
{
        pthread_once(&environment_once, read_environment);
        return arm_text(text, err);
}

void fault_reset(void)
{
        lock_points();
        for (const struct map_entry *e = map_first(&points); e; e = map_next(&points, e)) {
                struct point *p = e->value;

                free(p->name);
                free(p);
        }
        map_done(&points);
        is_recording = false;
        update_watching();
        pthread_mutex_unlock(&lock);
}

void fault_record(bool on)
{
        lock_points();
        is_recording = on;
        update_watching();
        pthread_mutex_unlock(&lock);
}

uint64_t fault_hits(const char *name)
{
        const struct point *p;
        uint64_t n;

        lock_points();
        p = map_get(&points, str_from(name));
        n = p ? p->hits : 0;
        pthread_mutex_unlock(&lock);
        return n;
}

uint64_t fault_fired(const char *name)
{
        const struct point *p;
        uint64_t n;

        lock_points();
        p = map_get(&points, str_from(name));
        n = p ? p->fired : 0;
        pthread_mutex_unlock(&lock);
        return n;
}

size_t fault_list(const char **ret_names, size_t max)
{
        size_t n = 0;

        lock_points();
        for (const struct map_entry *e = map_first(&points); e; e = map_next(&points, e)) {
                const struct point *p = e->value;

                if (p->hits == 0)
                        continue;
                if (n < max)
                        ret_names[n] = p->name;
                n++;
        }
        pthread_mutex_unlock(&lock);
        return n;
}
