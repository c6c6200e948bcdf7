#include "revision-history.h"

#include "owner.h"
#include "revision.h"
#include "xrd.h"

#include <stdlib.h>

#define GROUP STR("apiextensions.crossplane.io")

/* A revision that may be collected. */
struct candidate {
        const struct value *revision;
        struct object_key user; /* the last composite or claim that uses it; no name: none */
};

struct history {
        struct run *run;
        const struct value *composition;
        struct candidate *candidates; /* newest first */
        size_t n;
};

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

static int compare_newest_first(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;
        int64_t one = number_of(x->revision), other = number_of(y->revision);

        return (one < other) - (one > other);
}

/* All revisions of the Composition but the newest. */
static int find_candidates(struct history *h, struct cluster *c, struct err *err)
{
        struct str name = meta_name(h->composition);
        struct label_requirement own = {
                .key = STR("crossplane.io/composition-name"), .op = SELECT_EQUALS, .values = &name, .n_values = 1
        };
        struct label_selector labels = { .requirements = &own, .n = 1 };
        struct list_request req = { .gvk = { GROUP, STR("v1"), STR("CompositionRevision") }, .labels = &labels };
        struct object_list list;
        int r = cluster_list(c, h->run, &req, &list, err);

        if (r < 0)
                return err_wrap(err, "cannot list CompositionRevisions");
        h->candidates = ARENA_NEW_ARRAY(h->run->arena, struct candidate, list.n + 1);
        for (size_t i = 0; i < list.n; i++) {
                const struct value *v = object_list_value(&list, i, h->run->arena);
                struct owner_reference owner;

                if (owner_controller(v, &owner) && str_equal(owner.uid, meta_uid(h->composition)))
                        h->candidates[h->n++] = (struct candidate) { .revision = v };
        }
        qsort(h->candidates, h->n, sizeof(*h->candidates), compare_newest_first);
        if (h->n) {
                h->candidates++;
                h->n--;
        }
        return 0;
}

static struct str used_revision(const struct value *user)
{
        struct str name = value_str(value_find(user, "spec", "crossplane", "compositionRevisionRef", "name"));

        return name.n ? name : value_str(value_find(user, "spec", "compositionRevisionRef", "name"));
}

static void note_user(struct history *h, const struct value *user)
{
        struct str used = used_revision(user);
        struct object_key key = object_key_of(user);

        for (size_t i = 0; used.n && i < h->n; i++)
                if (str_equal(meta_name(h->candidates[i].revision), used))
                        h->candidates[i].user = object_key_copy(h->run->arena, &key);
}

/* Looks at all objects of the kind, a batch at a time. ERR_NOT_FOUND: the kind is not served. */
static int find_users_of_kind(struct history *h, struct cluster *c, struct gvk gvk, struct err *err)
{
        struct list_request req = { .gvk = gvk };
        struct list_cursor *cursor _cleanup_(list_cursor_freep)
        = NULL;
        int r = cluster_list_begin(c, h->run, &req, &cursor, err);

        while (r >= 0) {
                _cleanup_arena_ struct arena a;
                struct run run = *h->run;
                struct object_list batch = { 0 };

                arena_init(&a, "revisions", 0);
                run.arena = &a;
                r = list_cursor_next(cursor, &run, &batch, err);
                for (size_t i = 0; r > 0 && i < batch.n; i++)
                        note_user(h, object_peek(batch.objects[i], &a));
                if (r == 0)
                        return 0;
        }
        return r;
}

/* The kind of the composite's claims; false: it has none. */
static int find_claim_kind(struct history *h, struct cluster *c, struct gvk composite, struct gvk *ret, struct err *err)
{
        struct list_request req = { .gvk = { GROUP, STR("v1"), STR("CompositeResourceDefinition") } };
        struct object_list list;
        int r = cluster_list(c, h->run, &req, &list, err);

        for (size_t i = 0; r == 0 && i < list.n; i++) {
                const struct value *xrd = object_list_value(&list, i, h->run->arena);

                if (str_equal(value_str(value_find(xrd, "spec", "group")), composite.group) &&
                    str_equal(value_str(value_find(xrd, "spec", "names", "kind")), composite.kind))
                        return xrd_claim_gvk(xrd, ret);
        }
        return r < 0 ? err_wrap(err, "cannot list CompositeResourceDefinitions") : 0;
}

/* A claim that is not bound yet has no composite that would name the revision it chose. */
static int find_claims(struct history *h, struct cluster *c, struct gvk composite, struct err *err)
{
        struct gvk claim;
        int r = find_claim_kind(h, c, composite, &claim, err);

        if (r > 0)
                r = find_users_of_kind(h, c, claim, err);
        if (r != ERR_NOT_FOUND)
                return r;
        err_done(err);
        return 0;
}

/* ERR_NOT_FOUND: the kind of composites is not served. */
static int find_users(struct history *h, struct cluster *c, struct err *err)
{
        struct gvk composite = gvk_of(value_find(h->composition, "spec", "compositeTypeRef"));
        int r = find_users_of_kind(h, c, composite, err);

        return r < 0 ? r : find_claims(h, c, composite, err);
}

/* The revision is in use: when its user changes, it may not be any more. */
static int follow_user(struct history *h, struct cluster *tracked, const struct candidate *c, struct err *err)
{
        const struct value *ignored;
        int r = cluster_get_value(tracked, h->run, &c->user, &ignored, err);

        if (r != ERR_NOT_FOUND)
                return r;
        err_done(err);
        return 0;
}

static int delete_revision(struct history *h, struct cluster *c, const struct candidate *candidate, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE,
                                     .key = object_key_of(candidate->revision),
                                     .precondition_uid = meta_uid(candidate->revision) };
        struct write_result result;
        int r = cluster_write(c, h->run, &req, &result, err);

        if (r != ERR_NOT_FOUND)
                return r < 0 ? err_wrap(err, "cannot delete CompositionRevision \"%.*s\"", STR_ARG(req.key.name)) : 0;
        err_done(err);
        return 0;
}

static int collect(struct history *h, struct cluster *tracked, int64_t limit, size_t *ret_n, struct err *err)
{
        int64_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < h->n; i++) {
                const struct candidate *c = &h->candidates[i];

                if (c->user.name.n) {
                        r = follow_user(h, tracked, c, err);
                } else if (n_kept < limit) {
                        n_kept++;
                } else {
                        r = delete_revision(h, tracked, c, err);
                        *ret_n += r == 0;
                }
        }
        return r;
}

static void tell(struct history *h, size_t n, struct revisions_result *ret)
{
        struct reconcile_event *e = ARENA_NEW(h->run->arena, struct reconcile_event);

        *e = (struct reconcile_event) {
                .reason = STR("CollectRevisions"),
                .message = arena_printf(h->run->arena,
                                        "Deleted %zu old revision(s) that no composite resource or claim uses", n),
        };
        ret->events = e;
        ret->n_events = 1;
}

int revision_history_collect(struct run *run, struct cluster *all, struct cluster *tracked, struct str composition,
                             struct revisions_result *ret, struct err *err)
{
        struct object_key key = { .gvk = { GROUP, STR("v1"), STR("Composition") }, .name = composition };
        struct history h = { .run = run };
        int64_t limit;
        size_t n = 0;
        int r = cluster_get_value(tracked, run, &key, &h.composition, err);

        *ret = (struct revisions_result) { 0 };
        if (r == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        if (r < 0)
                return err_wrap(err, "cannot get Composition");
        limit = value_int(value_find(h.composition, "spec", REVISION_HISTORY_LIMIT), 0);
        if (limit <= 0 || meta_is_deleting(h.composition))
                return 0;
        r = find_candidates(&h, all, err);
        if (r < 0 || h.n <= (size_t)limit)
                return r;
        r = find_users(&h, all, err);
        if (r == ERR_NOT_FOUND) {
                err_done(err);
                return 0;
        }
        if (r == 0)
                r = collect(&h, tracked, limit, &n, err);
        if (n)
                tell(&h, n, ret);
        return r;
}
