#include "rollout.h"

#include "buf.h"
#include "bytes.h"
#include "clock.h"
#include "compact.h"

/* A composite that has run since the rollout began. Its texts stand behind it. */
struct known {
        struct str uid, api_version, kind, ns, name;
        enum rollout_side side;
        bool is_no_evidence;
        uint64_t epoch; /* of its last run */
        bool has_failed;
        struct bytes *difference; /* encoded; NULL: none */
        struct str key;           /* in the map */
        char bytes[];
};

struct rollout {
        struct rollout_plan plan;
        struct arena names; /* the plan's texts */
        uint64_t epoch;     /* counts moves of the share */
        int64_t since_ns;
        struct rollout_counts counts[_ROLLOUT_SIDES];
        struct map composites; /* by type and name: struct known */
};

/* --- Places --- */

/* FNV-1a, and the finish of MurmurHash3 because the low bits of FNV alone are not even. */
static uint64_t stable_hash(struct str s)
{
        uint64_t h = 0xcbf29ce484222325u;

        for (size_t i = 0; i < s.n; i++)
                h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
        h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
        h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
        return h ^ h >> 33;
}

unsigned rollout_place(struct str uid)
{
        return (unsigned)(stable_hash(uid) % ROLLOUT_SHARES);
}

/* How much of all composites may run on the new revision now. */
static int64_t share_of(const struct rollout_plan *p)
{
        return p->is_on && !p->is_stopped && !p->is_dry_run ? p->percent : 0;
}

enum rollout_side rollout_side_of(const struct rollout_plan *plan, struct str uid)
{
        return (int64_t)rollout_place(uid) < share_of(plan) ? ROLLOUT_TO : ROLLOUT_FROM;
}

/* --- Life --- */

struct rollout *rollout_new(void)
{
        struct rollout *r = xcalloc(1, sizeof(*r));

        arena_init(&r->names, "rollout", 0);
        return r;
}

static void known_free(struct known *k)
{
        bytes_unref(k->difference);
        free(k);
}

static void forget_composites(struct rollout *r)
{
        for (struct map_entry *e = map_first(&r->composites); e; e = map_next(&r->composites, e))
                known_free(e->value);
        map_clear(&r->composites);
}

void rollout_free(struct rollout *r)
{
        if (!r)
                return;
        forget_composites(r);
        map_done(&r->composites);
        arena_done(&r->names);
        free(r);
}

/* --- Plans --- */

/* Whether the Function was read before the plan that is known. */
static bool is_outdated(const struct rollout_plan *known, const struct rollout_plan *plan)
{
        return str_equal(known->uid, plan->uid) && plan->generation < known->generation + plan->is_first_look;
}

/* Whether it is another rollout, whose runs say nothing about this one. */
static bool begins_anew(const struct rollout_plan *old, const struct rollout_plan *plan)
{
        return old->is_on != plan->is_on || !str_equal(old->uid, plan->uid) || !str_equal(old->from, plan->from) ||
               (old->to.n > 0 && !str_equal(old->to, plan->to)) || old->attempt != plan->attempt ||
               old->is_dry_run != plan->is_dry_run;
}

static void take_plan(struct rollout *r, const struct rollout_plan *plan)
{
        struct rollout_plan copy = *plan;
        struct arena names;

        arena_init(&names, "rollout", 0);
        copy.uid = arena_copy(&names, plan->uid);
        copy.from = arena_copy(&names, plan->from);
        copy.to = arena_copy(&names, plan->to);
        arena_done(&r->names);
        r->names = names;
        r->plan = copy;
}

static void begin_anew(struct rollout *r)
{
        forget_composites(r);
        memset(r->counts, 0, sizeof(r->counts));
        r->since_ns = clock_mono_ns();
}

bool rollout_set(struct rollout *r, const struct rollout_plan *wanted)
{
        struct rollout_plan plan = *wanted;
        bool is_anew = begins_anew(&r->plan, &plan), has_moved;

        if (is_outdated(&r->plan, &plan))
                return false;
        plan.is_stopped |= !is_anew && r->plan.is_stopped;
        has_moved = is_anew || share_of(&r->plan) != share_of(&plan) || !str_equal(r->plan.to, plan.to) ||
                    r->plan.gives_credentials != plan.gives_credentials;
        if (is_anew)
                begin_anew(r);
        else if (has_moved && !plan.is_stopped) /* the counts that stopped it stay: they are the reason */
                r->counts[ROLLOUT_TO] = (struct rollout_counts) { 0 };
        r->epoch += has_moved;
        take_plan(r, &plan);
        return has_moved;
}

const struct rollout_plan *rollout_plan(const struct rollout *r)
{
        return &r->plan;
}

/* --- Outcomes --- */

static struct str put_text(char **at, struct str s)
{
        struct str copy = str_make(*at, s.n);

        if (s.n)
                memcpy(*at, s.p, s.n);
        *at += s.n;
        return copy;
}

static struct str append_key(struct buf *b, const struct rollout_run *run)
{
        buf_appendf(b, "%.*s/%.*s/%.*s/%.*s", STR_ARG(run->api_version), STR_ARG(run->kind), STR_ARG(run->ns),
                    STR_ARG(run->name));
        return buf_str(b);
}

void rollout_forget(struct rollout *r, const struct rollout_run *of)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct known *k = map_remove(&r->composites, append_key(&b, of));

        if (k)
                known_free(k);
}

static struct known *know(struct rollout *r, const struct rollout_run *run)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct str key = append_key(&b, run);
        struct known *k = map_get(&r->composites, key);
        char *at;

        if (k && str_equal(k->uid, run->uid))
                return k;
        rollout_forget(r, run); /* one of the same name, which is gone */
        k = xcalloc(1, sizeof(*k) + key.n + run->uid.n + run->api_version.n + run->kind.n + run->ns.n + run->name.n);
        at = k->bytes;
        k->key = put_text(&at, key);
        k->uid = put_text(&at, run->uid);
        k->api_version = put_text(&at, run->api_version);
        k->kind = put_text(&at, run->kind);
        k->ns = put_text(&at, run->ns);
        k->name = put_text(&at, run->name);
        map_add(&r->composites, k->key, k);
        return k;
}

bool rollout_count(struct rollout *r, const struct rollout_run *run)
{
        enum rollout_side side = str_equal(run->revision, r->plan.to) ? ROLLOUT_TO : ROLLOUT_FROM;
        struct rollout_counts *c = &r->counts[side];
        struct known *k;

        if (!r->plan.is_on || run->revision.n == 0)
                return false;
        if (!run->is_no_evidence && side == ROLLOUT_FROM && !str_equal(run->revision, r->plan.from))
                return false;
        k = know(r, run);
        k->is_no_evidence = run->is_no_evidence;
        if (run->is_no_evidence) {
                k->epoch = r->epoch;
                return false;
        }
        k->side = side;
        k->has_failed = run->has_failed;
        /* A run that began before the share moved may end on the wrong side: the composite runs again. */
        if (side == rollout_side_of(&r->plan, run->uid))
                k->epoch = r->epoch;
        c->runs++;
        c->failed += run->has_failed;
        c->deletions += run->deletions;
        c->duration_ns += run->duration_ns;
        return true;
}

void rollout_compare(struct rollout *r, const struct rollout_run *of, const struct value *difference)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct known *k;

        if (!r->plan.is_on || !r->plan.is_dry_run)
                return;
        k = know(r, of);
        compact_encode(&b, difference);
        bytes_unref(k->difference);
        k->difference = bytes_copy(buf_str(&b));
}

/* --- Reading --- */

static const struct value *decode(struct arena *a, const struct bytes *bytes)
{
        const struct value *v = NULL;

        if (!bytes || compact_decode(a, arena_copy(a, bytes->str), &v, NULL) < 0)
                return NULL;
        return v;
}

static struct rollout_composite composite_of(const struct rollout *r, struct arena *a, const struct known *k)
{
        return (struct rollout_composite) {
                .uid = arena_copy(a, k->uid),
                .api_version = arena_copy(a, k->api_version),
                .kind = arena_copy(a, k->kind),
                .ns = arena_copy(a, k->ns),
                .name = arena_copy(a, k->name),
                .side = k->side,
                .is_no_evidence = k->is_no_evidence,
                .is_current = k->epoch == r->epoch,
                .has_failed = k->has_failed,
                .difference = decode(a, k->difference),
        };
}

static int compare_composites(const void *a, const void *b)
{
        const struct rollout_composite *x = a, *y = b;
        int r = str_compare(x->kind, y->kind);

        if (r == 0)
                r = str_compare(x->ns, y->ns);
        return r ? r : str_compare(x->name, y->name);
}

void rollout_read(const struct rollout *r, struct arena *a, struct rollout_state *ret)
{
        struct rollout_composite *all = ARENA_NEW_ARRAY(a, struct rollout_composite, r->composites.n + 1);

        *ret = (struct rollout_state) { .plan = r->plan, .composites = all };
        ret->plan.uid = arena_copy(a, r->plan.uid);
        ret->plan.from = arena_copy(a, r->plan.from);
        ret->plan.to = arena_copy(a, r->plan.to);
        memcpy(ret->counts, r->counts, sizeof(r->counts));
        ret->since_ns = r->since_ns;
        for (struct map_entry *e = map_first(&r->composites); e; e = map_next(&r->composites, e)) {
                all[ret->n_composites] = composite_of(r, a, e->value);
                ret->n_current += all[ret->n_composites++].is_current;
        }
        if (ret->n_composites)
                qsort(all, ret->n_composites, sizeof(*all), compare_composites);
}
