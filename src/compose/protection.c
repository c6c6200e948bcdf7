#include "protection.h"

#include "buf.h"
#include "log.h"
#include "map.h"
#include "prepare.h"
#include "status.h"
#include "usage.h"
#include "vec.h"

#define WEBHOOK "nousages.protection.crossplane.io" /* Crossplane's webhook, whose part the hook plays */

enum entry_text {
        TEXT_ID,
        TEXT_NAMESPACE,
        TEXT_NAME,
        TEXT_BY,
        TEXT_REASON,
        TEXT_BUCKET,   /* for objects of the namespace; for usages without one, for all objects */
        TEXT_ANYWHERE, /* for cluster-scoped objects that a usage in a namespace names */
        _TEXT_COUNT,
};

/* A usage: one allocation with its texts. */
struct entry {
        enum usage_kind kind;
        struct str texts[_TEXT_COUNT];
        uint64_t mark; /* of the watch that told it last */
        bool is_ending;
        char bytes[];
};

/* The usages of an object. */
struct bucket {
        VEC(struct entry *) entries;
        char key[];
};

struct feed {
        struct watch *watch; /* NULL: to be opened */
        uint64_t mark;
};

struct protection {
        struct cluster *cluster;
        struct semaphore turn; /* guards everything below; the holder may wait for the cluster */
        struct feed feeds[_USAGE_COUNT];
        struct map entries; /* by id: struct entry */
        struct map buckets; /* struct bucket */
};

/* --- The index --- */

static struct str bucket_key(struct arena *a, struct gvk gvk, struct str ns, struct str name)
{
        return arena_printf(a, "%.*s/%.*s/%.*s/%.*s", STR_ARG(gvk.group), STR_ARG(gvk.kind), STR_ARG(ns),
                            STR_ARG(name));
}

static struct str entry_id(struct arena *a, enum usage_kind kind, const struct value *usage)
{
        return arena_printf(a, "%d/%.*s/%.*s", kind, STR_ARG(meta_namespace(usage)), STR_ARG(meta_name(usage)));
}

static struct entry *entry_new(enum usage_kind kind, const struct str *texts)
{
        size_t size = 0;
        struct entry *e;
        char *at;

        for (size_t i = 0; i < _TEXT_COUNT; i++)
                size += texts[i].n;
        e = xcalloc(1, sizeof(*e) + size);
        e->kind = kind;
        at = e->bytes;
        for (size_t i = 0; i < _TEXT_COUNT; i++) {
                if (texts[i].n)
                        memcpy(at, texts[i].p, texts[i].n);
                e->texts[i] = str_make(at, texts[i].n);
                at += texts[i].n;
        }
        return e;
}

static struct entry *entry_of(struct arena *a, enum usage_kind kind, const struct value *usage)
{
        struct object_key of = usage_of(usage), by;
        bool is_namespaced = kind == USAGE_NAMESPACED;
        struct str texts[_TEXT_COUNT] = {
                [TEXT_ID] = entry_id(a, kind, usage),
                [TEXT_NAMESPACE] = meta_namespace(usage),
                [TEXT_NAME] = meta_name(usage),
                [TEXT_REASON] = usage_reason(usage),
        };

        if (usage_by(usage, &by))
                texts[TEXT_BY] = arena_printf(a, "%.*s/%.*s", STR_ARG(by.gvk.kind), STR_ARG(by.name));
        if (of.name.n) {
                texts[TEXT_BUCKET] = bucket_key(a, of.gvk, is_namespaced ? of.ns : STR("*"), of.name);
                if (is_namespaced)
                        texts[TEXT_ANYWHERE] = bucket_key(a, of.gvk, STR(""), of.name);
        }
        return entry_new(kind, texts);
}

static void bucket_add(struct protection *p, struct str key, struct entry *e)
{
        struct bucket *b = map_get(&p->buckets, key);

        if (key.n == 0)
                return;
        if (!b) {
                b = xcalloc(1, sizeof(*b) + key.n);
                memcpy(b->key, key.p, key.n);
                map_add(&p->buckets, str_make(b->key, key.n), b);
        }
        vec_push(&b->entries, e);
}

static void bucket_remove(struct protection *p, struct str key, const struct entry *e)
{
        struct bucket *b = key.n ? map_get(&p->buckets, key) : NULL;

        for (size_t i = 0; b && i < b->entries.n; i++)
                if (b->entries.p[i] == e) {
                        vec_remove(&b->entries, i);
                        break;
                }
        if (b && b->entries.n == 0) {
                map_remove(&p->buckets, key);
                vec_done(&b->entries);
                free(b);
        }
}

static void index_remove(struct protection *p, struct str id)
{
        struct entry *e = map_remove(&p->entries, id);

        if (!e)
                return;
        bucket_remove(p, e->texts[TEXT_BUCKET], e);
        bucket_remove(p, e->texts[TEXT_ANYWHERE], e);
        free(e);
}

static void index_set(struct protection *p, struct entry *e)
{
        struct str id = e->texts[TEXT_ID];
        const struct entry *before = map_get(&p->entries, id);

        e->is_ending = before && before->is_ending;
        index_remove(p, id);
        map_add(&p->entries, id, e);
        bucket_add(p, e->texts[TEXT_BUCKET], e);
        bucket_add(p, e->texts[TEXT_ANYWHERE], e);
}

/* Removes the usages that a new watch of the kind did not tell. */
static void index_sweep(struct protection *p, enum usage_kind kind)
{
        for (const struct map_entry *m = map_first(&p->entries); m; m = map_next(&p->entries, m)) {
                const struct entry *e = m->value;

                if (e->kind == kind && e->mark != p->feeds[kind].mark)
                        index_remove(p, e->texts[TEXT_ID]);
        }
}

/* --- Following the usages --- */

static struct run own_run(const struct run *asker, struct arena *a)
{
        static const struct str groups[] = { STR_INIT("system:masters") };

        return (struct run) { .arena = a,
                              .deadline = asker->deadline,
                              .cancel = asker->cancel,
                              .user = { .name = STR("system:apiserver"), .groups = groups, .n_groups = 1 },
                              .cause = STR("deletion protection") };
}

static void take_event(struct protection *p, enum usage_kind kind, struct arena *a, const struct watch_event *e)
{
        struct entry *entry;

        switch (e->type) {
        case WATCH_ADDED:
        case WATCH_MODIFIED:
                entry = entry_of(a, kind, object_peek(e->object, a));
                entry->mark = p->feeds[kind].mark;
                index_set(p, entry);
                break;
        case WATCH_DELETED:
                index_remove(p, entry_id(a, kind, object_peek(e->object, a)));
                break;
        case WATCH_BOOKMARK:
        case WATCH_ERROR:
                break;
        }
}

static void close_feed(struct protection *p, enum usage_kind kind)
{
        if (p->feeds[kind].watch)
                watch_free(p->feeds[kind].watch);
        p->feeds[kind].watch = NULL;
}

/* Takes the usages that exist, up to the bookmark behind them. */
static int take_initial(struct protection *p, enum usage_kind kind, struct run *asker, struct err *err)
{
        for (;;) {
                _cleanup_arena_ struct arena a;
                struct watch_event event = { 0 };
                struct run run;
                int r;

                arena_init(&a, "usages", 0);
                run = own_run(asker, &a);
                r = watch_next(p->feeds[kind].watch, &run, &event, err);
                if (r < 0)
                        return r;
                take_event(p, kind, &a, &event);
                if (event.ends_initial)
                        return 0;
        }
}

/* A kind that is not served has no usages. */
static int open_feed(struct protection *p, enum usage_kind kind, struct run *asker, struct err *err)
{
        struct watch_request req = { .gvk = usage_gvk(kind), .sends_initial_events = true, .wants_bookmarks = true };
        _cleanup_arena_ struct arena a;
        struct run run;
        int r;

        arena_init(&a, "usages", 0);
        run = own_run(asker, &a);
        p->feeds[kind].mark++;
        r = cluster_watch(p->cluster, &run, &req, &p->feeds[kind].watch, err);
        if (r == 0)
                r = take_initial(p, kind, asker, err);
        if (r == ERR_NOT_FOUND) {
                err_done(err);
                r = 0;
        } else if (r < 0) {
                close_feed(p, kind);
        }
        if (r == 0)
                index_sweep(p, kind);
        return r;
}

/* 1 when the watch has ended. */
static int take_waiting(struct protection *p, enum usage_kind kind, struct run *asker, struct err *err)
{
        struct watch_wakeup nobody = { 0 };
        int r = 1;

        while (p->feeds[kind].watch && r > 0) {
                _cleanup_arena_ struct arena a;
                struct watch_event event = { 0 };
                struct run run;

                arena_init(&a, "usages", 0);
                run = own_run(asker, &a);
                r = watch_try_next(p->feeds[kind].watch, &run, nobody, &event, err);
                if (r > 0)
                        take_event(p, kind, &a, &event);
        }
        if (r != ERR_EXPIRED && r != ERR_CLOSED)
                return r;
        close_feed(p, kind);
        err_done(err);
        return 1;
}

static int refresh(struct protection *p, struct run *asker, struct err *err)
{
        for (enum usage_kind i = 0; i < _USAGE_COUNT; i++) {
                int r;

                do {
                        r = take_waiting(p, i, asker, err);
                        if (r > 0)
                                r = open_feed(p, i, asker, err);
                } while (r == ERR_EXPIRED || r == ERR_CLOSED);
                if (r < 0)
                        return err_wrap(err, "cannot read the usages (%.*s)", STR_ARG(usage_gvk(i).kind));
        }
        return 0;
}

static int begin(struct protection *p, struct run *run, struct err *err)
{
        int r = semaphore_acquire(&p->turn, run->deadline, run->cancel);

        if (r < 0)
                return wait_error(r, run->cancel, "reading the usages", err);
        r = refresh(p, run, err);
        if (r < 0)
                semaphore_release(&p->turn);
        return r;
}

/* --- Questions --- */

struct found {
        size_t n;
        size_t n_staying; /* that are not about to end */
        const struct entry *first;
};

static bool is_before(const struct entry *a, const struct entry *b)
{
        int order;

        if (a->kind != b->kind)
                return a->kind < b->kind;
        order = str_compare(a->texts[TEXT_NAMESPACE], b->texts[TEXT_NAMESPACE]);
        return order < 0 || (order == 0 && str_compare(a->texts[TEXT_NAME], b->texts[TEXT_NAME]) < 0);
}

static void find_in(struct protection *p, struct str key, struct found *ret)
{
        const struct bucket *b = map_get(&p->buckets, key);

        for (size_t i = 0; b && i < b->entries.n; i++) {
                const struct entry *e = b->entries.p[i];

                ret->n++;
                ret->n_staying += !e->is_ending;
                if (!ret->first || is_before(e, ret->first))
                        ret->first = e;
        }
}

/* All usages of the object. */
static struct found find(struct protection *p, struct arena *a, const struct object_key *used)
{
        struct found found = { 0 };

        find_in(p, bucket_key(a, used->gvk, used->ns, used->name), &found);
        find_in(p, bucket_key(a, used->gvk, STR("*"), used->name), &found);
        return found;
}

int protection_end(struct protection *p, struct run *run, const struct value *usage, const struct object_key *used,
                   bool *ret_is_last, struct err *err)
{
        struct str id = entry_id(run->arena, usage_kind_of(usage), usage);
        struct entry *e;
        int r = begin(p, run, err);

        if (r < 0)
                return r;
        e = map_get(&p->entries, id);
        if (e)
                e->is_ending = true;
        *ret_is_last = find(p, run->arena, used).n_staying == 0;
        semaphore_release(&p->turn);
        return 0;
}

/* --- The hook --- */

static struct str refusal(struct arena *a, const struct found *found)
{
        const struct entry *e = found->first;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "This resource is in-use by %zu usage(s), including the *v1beta1.%.*s \"%.*s\"", found->n,
                    STR_ARG(usage_gvk(e->kind).kind), STR_ARG(e->texts[TEXT_NAME]));
        if (e->texts[TEXT_NAMESPACE].n)
                buf_appendf(&b, " (in namespace \"%.*s\")", STR_ARG(e->texts[TEXT_NAMESPACE]));
        if (e->texts[TEXT_BY].n)
                buf_appendf(&b, " by resource %.*s.", STR_ARG(e->texts[TEXT_BY]));
        else
                buf_appendf(&b, " with reason: \"%.*s\".", STR_ARG(e->texts[TEXT_REASON]));
        return buf_to_arena(&b, a);
}

static struct str policy_name(enum propagation propagation)
{
        switch (propagation) {
        case PROPAGATE_UNSET:
        case PROPAGATE_BACKGROUND:
                return STR("Background");
        case PROPAGATE_FOREGROUND:
                return STR("Foreground");
        case PROPAGATE_ORPHAN:
                return STR("Orphan");
        }
        return STR("Background");
}

/* Notes the attempt on the object, for replays. A failure is logged: the refusal counts. */
static void record_attempt(struct protection *p, const struct run *asker, const struct admission *in, struct str policy)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct write_request req = { .verb = WRITE_MERGE_PATCH, .key = in->request->key, .manager = STR("crossplane") };
        struct write_result result;
        struct run run;

        arena_init(&a, "usages", 0);
        run = own_run(asker, &a);
        run.user = (struct user) { .name = STR("system:serviceaccount:crossplane-system:crossplane") };
        run.cause = STR("a refused deletion");
        req.body = meta_with_annotation(&a, &value_empty_object, USAGE_DELETION_ATTEMPT, policy);
        if (cluster_write(p->cluster, &run, &req, &result, &err) < 0 && err.code != ERR_NOT_FOUND)
                log_warn("cannot record a refused deletion", LOG_STR("object", req.key.name), LOG_ERR("error", &err));
}

static int admit(void *arg, struct run *run, struct admission *in, struct err *err)
{
        struct protection *p = arg;
        struct str policy = policy_name(in->request->propagation), text;
        struct object_key used;
        struct found found;
        int r;

        if (in->request->verb != WRITE_DELETE || !str_equal(meta_label(in->old, USAGE_IN_USE), STR("true")))
                return 0;
        used = (struct object_key) { .gvk = { in->kind->group, STR(""), in->kind->kind },
                                     .ns = meta_namespace(in->old),
                                     .name = meta_name(in->old) };
        r = begin(p, run, err);
        if (r < 0)
                return r;
        found = find(p, run->arena, &used);
        text = found.n ? refusal(run->arena, &found) : STR("");
        semaphore_release(&p->turn);
        if (found.n == 0)
                return 0;
        if (!in->request->is_dry_run && !str_equal(meta_annotation(in->old, USAGE_DELETION_ATTEMPT), policy))
                record_attempt(p, run, in, policy);
        return status_denied(err, WEBHOOK, text);
}

struct admission_hook protection_hook(struct protection *p)
{
        return (struct admission_hook) { .name = WEBHOOK, .admit = admit, .arg = p };
}

/* --- Life --- */

struct protection *protection_new(struct cluster *cluster)
{
        struct protection *p = xcalloc(1, sizeof(*p));

        p->cluster = cluster;
        semaphore_init(&p->turn, "usages", 1);
        return p;
}

void protection_free(struct protection *p)
{
        if (!p)
                return;
        for (enum usage_kind i = 0; i < _USAGE_COUNT; i++)
                close_feed(p, i);
        for (struct map_entry *m; (m = map_first(&p->entries));)
                index_remove(p, m->key);
        map_done(&p->entries);
        map_done(&p->buckets);
        semaphore_done(&p->turn);
        free(p);
}
