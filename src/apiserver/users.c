#include "users.h"

struct user_use {
        unsigned n[_USE_COUNT];
        size_t n_name;
        char name[];
};

void users_init(struct users *u, unsigned max_requests, unsigned max_watches)
{
        *u = (struct users) { .most = { [USE_REQUEST] = max_requests, [USE_WATCH] = max_watches } };
        mutex_init(&u->mutex);
}

void users_done(struct users *u)
{
        assert(u->by_name.n == 0);
        map_done(&u->by_name);
        mutex_done(&u->mutex);
}

/* Under the mutex. */
static struct user_use *find_or_add(struct users *u, struct str name)
{
        struct user_use *of = map_get(&u->by_name, name);

        if (of)
                return of;
        of = xcalloc(1, sizeof(*of) + name.n);
        of->n_name = name.n;
        if (name.n)
                memcpy(of->name, name.p, name.n);
        map_add(&u->by_name, str_make(of->name, of->n_name), of);
        return of;
}

static int too_many(struct str name, enum use use, unsigned most, struct err *err)
{
        int r = err_set(err, ERR_LIMIT, "user \"%.*s\" has %u %s open, which is the most that one user may have",
                        STR_ARG(name), most, use == USE_WATCH ? "watches" : "requests");

        err_set_reason(err, REASON_TOO_MANY_REQUESTS);
        err_set_details(err, STR("{\"retryAfterSeconds\":1}"));
        return r;
}

int users_enter(struct users *u, struct str name, enum use use, struct user_use **ret, struct err *err)
{
        struct user_use *of;
        bool is_full;

        mutex_lock(&u->mutex);
        of = find_or_add(u, name);
        is_full = of->n[use] >= u->most[use];
        if (!is_full)
                of->n[use]++;
        mutex_unlock(&u->mutex);
        if (is_full)
                return too_many(name, use, u->most[use], err);
        *ret = of;
        return 0;
}

void users_leave(struct users *u, struct user_use *of, enum use use)
{
        mutex_lock(&u->mutex);
        of->n[use]--;
        if (of->n[USE_REQUEST] == 0 && of->n[USE_WATCH] == 0) {
                map_remove(&u->by_name, str_make(of->name, of->n_name));
                free(of);
        }
        mutex_unlock(&u->mutex);
}
