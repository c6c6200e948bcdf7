/* Opening a store again: its log (store-log.h) gives the objects as they were when the history began, then every commit since. The
 * objects are put in place, kinds are made from CRDs, and the commits are published as they were the first time. */
#include "store-commit.h"

#include "compact.h"
#include "crd-names.h"
#include "store-log.h"

struct replay {
        struct store *s;
        struct replayed *ret;
        struct arena arena; /* emptied after each record */
        uint64_t version;   /* the newest one of the log */
        bool is_history;    /* the state is complete */
};

/* --- One record --- */

/* A record with all that is made from it. */
struct item {
        const struct store_record *record;
        struct table *table;
        struct str key;
        const struct value *value; /* the head of the object, the whole of a CRD; NULL when the object is removed */
        struct facts facts;
};

static int refuse_record(const struct store_record *r, const char *why, struct err *err)
{
        return err_set(err, ERR_INVALID, "%.*s/%.*s %.*s/%.*s: %s", STR_ARG(r->group), STR_ARG(r->kind),
                       STR_ARG(r->namespace_name), STR_ARG(r->name), why);
}

/* Facts are made from the head of an object, kinds from the whole of a CRD. */
static int decode(struct replay *p, const struct table *t, struct str bytes, const struct value **ret, struct err *err)
{
        return t == p->s->crds ? compact_decode(&p->arena, bytes, ret, err)
                               : compact_decode_head(&p->arena, bytes, ret, err);
}

static int read_object(struct replay *p, struct item *i, struct err *err)
{
        const struct store_record *r = i->record;
        int result = decode(p, i->table, r->bytes, &i->value, err);

        if (result < 0)
                return err_wrap(err, "%.*s/%.*s %.*s/%.*s", STR_ARG(r->group), STR_ARG(r->kind),
                                STR_ARG(r->namespace_name), STR_ARG(r->name));
        if (!value_is_object(i->value) || !str_equal(meta_name(i->value), r->name) ||
            !str_equal(meta_namespace(i->value), r->namespace_name))
                return refuse_record(r, "the object has another name than its record", err);
        store_facts_of(&p->arena, i->table, i->value, &i->facts);
        return 0;
}

static int make_item(struct replay *p, const struct store_record *r, struct item *ret, struct err *err)
{
        if (r->kind.n == 0 || r->name.n == 0)
                return refuse_record(r, "the record has no kind or no name", err);
        *ret = (struct item) {
                .record = r,
                .table = kinds_table(p->s, r->group, r->kind),
                .key = store_make_key(&p->arena, r->namespace_name, r->name),
        };
        return r->is_removed || r->is_erased ? 0 : read_object(p, ret, err);
}

/* Notes what the collector has to look at when everything is there. */
static void note_doubts(struct replay *p, const struct facts *f)
{
        if (f->uid == 0)
                return;
        if (f->marks & (MARK_FOREGROUND | MARK_ORPHAN))
                vec_push(&p->ret->doubts, (struct doubt) { .uid = f->uid });
        for (size_t i = 0; i < f->n_owners; i++)
                vec_push(&p->ret->doubts, (struct doubt) { .uid = f->uid, .owner = f->owners[i] });
}

/* --- State: no events --- */

static void put_object(struct replay *p, struct store_entry *e, const struct item *i)
{
        struct store *s = p->s;

        publish_object(s, e, object_of_bytes(s->cache, i->record->version, i->record->bytes));
        index_update(s, e, NULL, &i->facts);
        publish_marks(s, e, i->facts.marks);
        note_doubts(p, &i->facts);
}

static int put_state(struct replay *p, const struct item *i, struct err *err)
{
        struct store_entry *e;

        if (!i->value)
                return refuse_record(i->record, "the record has no object", err);
        if (tree_find(&i->table->objects, i->key))
                return refuse_record(i->record, "the object is there twice", err);
        e = store_entry_new(i->table, i->record->namespace_name, i->key);
        put_object(p, e, i);
        tree_insert(&i->table->objects, (struct tree_item) { .entry = e });
        return 0;
}

/* --- Kinds of the state --- */

/* Objects that were stored after their CRD changed last need no conversion. */
static void set_serials(struct table *t, uint64_t crd_version)
{
        struct tree_cursor c = tree_seek_key(&t->objects, STR(""));
        struct tree_item item;

        while (tree_next(&c, &item))
                item.entry->serial = object_version(item.entry->object) > crd_version ? t->serial : 0;
}

static int apply_crd(struct replay *p, struct store_entry *e, struct err *err)
{
        const struct value *crd = object_peek(e->object, &p->arena);
        struct kind_change change;
        int r = kinds_prepare(p->s, NULL, crd, &change, err);

        if (r == 0) {
                kinds_change(p->s, &change);
                set_serials(change.table, object_version(e->object));
        }
        kind_change_done(&change);
        return r < 0 ? err_wrap(err, "CustomResourceDefinition %.*s", STR_ARG(entry_name(e))) : 0;
}

static int apply_crds(struct replay *p, struct err *err)
{
        struct tree_cursor c = tree_seek_key(&p->s->crds->objects, STR(""));
        struct tree_item item;
        int r = 0;

        while (r == 0 && tree_next(&c, &item)) {
                r = apply_crd(p, item.entry, err);
                arena_reset(&p->arena);
        }
        return r;
}

static void make_up_kind(struct replay *p, struct table *t)
{
        struct tree_cursor c = tree_seek_key(&t->objects, STR(""));
        struct tree_item item;

        while (tree_next(&c, &item)) {
                const struct value *v = object_peek(item.entry->object, &p->arena);

                kinds_make_up(p->s, t, gvk_of(v), item.entry->n_namespace > 0);
                arena_reset(&p->arena);
        }
        set_serials(t, 0);
}

static void make_up_kinds(struct replay *p)
{
        struct store *s = p->s;

        for (const struct map_entry *e = map_first(&s->tables); e && s->options.accepts_any_kind;
             e = map_next(&s->tables, e)) {
                struct table *t = e->value;

                if (!t->kind || t->is_schemaless)
                        make_up_kind(p, t);
        }
}

static int finish_state(struct replay *p, struct err *err)
{
        int r = apply_crds(p, err);

        if (r == 0)
                make_up_kinds(p);
        p->is_history = true;
        return r;
}

/* --- History --- */

/* Part of the change is not known any more: the state changes without an event, and watches cannot begin before it. */
static void put_unseen(struct replay *p, struct store_entry *e, const struct item *i)
{
        struct store *s = p->s;
        struct table *t = i->table;
        struct event *gone = NULL;

        if (e && e->object) {
                struct object *old = e->object;
                struct facts before;

                store_facts_of(&p->arena, t, object_peek(old, &p->arena), &before);
                index_update(s, e, &before, NULL);
                publish_marks(s, e, 0);
                publish_object(s, e, NULL);
                object_unref(old);
        }
        if (i->value && !e) {
                e = store_entry_new(t, i->record->namespace_name, i->key);
                tree_insert(&t->objects, (struct tree_item) { .entry = e });
        }
        if (i->value)
                put_object(p, e, i);
        if (e)
                tree_set_present(&t->objects, e, e->object != NULL);
        if (e && !e->object && !e->newest) {
                tree_remove(&t->objects, (struct tree_item) { .entry = e });
                free(e);
        }
        s->version = t->dropped_version = i->record->version;
        history_append_gap(s, &gone);
        history_free_events(gone);
}

static struct event *make_event(const struct replay *p, const struct store_entry *e, const struct item *i)
{
        struct event *event = xcalloc(1, sizeof(*event));

        event->is_removed = i->record->is_removed;
        event->after = event->is_removed ? object_with_version(e->object, i->record->version)
                                         : object_of_bytes(p->s->cache, i->record->version, i->record->bytes);
        return event;
}

static int publish(struct replay *p, struct store_entry *e, const struct item *i, struct err *err)
{
        struct store *s = p->s;
        struct commit c = {
                .s = s,
                .arena = &p->arena,
                .table = i->table,
                .key = i->key,
                .after = i->facts,
                .version = i->record->version,
                .serial = i->table->is_builtin ? 0 : i->table->serial,
        };
        const struct value *before = NULL;
        struct event *gone = NULL;
        int r = 0;

        if (e && e->object)
                r = decode(p, i->table, object_bytes(e->object), &before, err);
        if (r < 0)
                return r;
        if (before)
                store_facts_of(&p->arena, i->table, before, &c.before);
        if (i->table == s->crds)
                r = kinds_prepare(s, before, i->value, &c.kind_change, err);
        if (r == 0) {
                if (!e)
                        c.entry = store_entry_new(i->table, i->record->namespace_name, i->key);
                c.event = make_event(p, e, i);
                commit_publish(&c, e, &gone);
                history_free_events(gone);
                note_doubts(p, &i->facts);
        }
        kind_change_done(&c.kind_change);
        return r;
}

static int put_history(struct replay *p, const struct item *i, struct err *err)
{
        const struct store_record *r = i->record;
        struct store_entry *e = tree_find(&i->table->objects, i->key);
        uint64_t there = e && e->object ? object_version(e->object) : 0;

        if (r->version != p->s->version + 1)
                return refuse_record(r, "its version does not follow the one before", err);
        if (r->is_erased || (r->previous && !there && i->table->dropped_version >= r->previous)) {
                put_unseen(p, e, i);
                return 0;
        }
        if (there != r->previous || (r->is_removed && !there))
                return refuse_record(r, "the version that it replaces is not there", err);
        if (i->value && p->s->options.accepts_any_kind)
                kinds_make_up(p->s, i->table, gvk_of(i->value), r->namespace_name.n > 0);
        return publish(p, e, i, err);
}

/* --- The whole --- */

static int on_begin(void *arg, uint64_t floor, uint64_t version, struct err *err _unused_)
{
        struct replay *p = arg;
        struct store *s = p->s;

        s->floor = s->version = floor;
        p->version = version;
        for (const struct map_entry *e = map_first(&s->tables); e; e = map_next(&s->tables, e))
                ((struct table *)e->value)->dropped_version = floor;
        return 0;
}

static int on_record(void *arg, const struct store_record *record, struct err *err)
{
        struct replay *p = arg;
        struct item i;
        int r = record->is_state || p->is_history ? 0 : finish_state(p, err);

        if (r == 0)
                r = make_item(p, record, &i, err);
        if (r == 0)
                r = record->is_state ? put_state(p, &i, err) : put_history(p, &i, err);
        arena_reset(&p->arena);
        return r;
}

int replay_log(struct store *s, struct replayed *ret, struct err *err)
{
        struct replay p = { .s = s, .ret = ret };
        struct store_replay to = { .arg = &p, .begin = on_begin, .record = on_record };
        int r;

        arena_init(&p.arena, "replay", 0);
        r = s->options.log->ops->replay(s->options.log, &to, err);
        if (r == 0 && !p.is_history)
                r = finish_state(&p, err);
        if (r == 0 && s->version != p.version)
                r = err_set(err, ERR_INVALID, "the log ends at version %llu instead of %llu",
                            (unsigned long long)s->version, (unsigned long long)p.version);
        arena_done(&p.arena);
        return r < 0 ? err_wrap(err, "cannot open the store") : 0;
}

void replayed_done(struct replayed *r)
{
        vec_done(&r->doubts);
}

/* --- Tasks --- */

static bool is_doubtful(struct store *s, const struct store_entry *e, const struct doubt *d)
{
        return d->owner ? !collector_owner_is_solid(s, e, d->owner) : e->marks & (MARK_FOREGROUND | MARK_ORPHAN);
}

static bool has_all_names(struct store *s, struct str crd)
{
        const struct crd_accepted *a = map_get(&s->crd_names, crd);
        const struct table *t = a ? kinds_find_table(s, a->group, a->kind) : NULL;

        return a && a->is_complete && t && t->kind;
}

static void add_crd_task(struct store *s, const struct store_entry *e)
{
        if (e->marks & MARK_DELETING)
                collector_add(s, (struct store_task) { .type = TASK_CRD, .name = entry_name(e) });
        else if (!has_all_names(s, entry_name(e)))
                collector_add(s, (struct store_task) { .type = TASK_CRD_NAMES, .name = entry_name(e) });
}

void replay_add_tasks(struct store *s, const struct replayed *r)
{
        struct tree_cursor crds, namespaces;
        struct tree_item item;

        mutex_lock(&s->mutex);
        for (size_t i = 0; i < r->doubts.n; i++) {
                const struct doubt *d = &r->doubts.p[i];
                const struct store_entry *e = index_find_uid(s, d->uid);

                if (e && is_doubtful(s, e, d))
                        collector_add(s, (struct store_task) { .type = TASK_OBJECT, .uid = d->uid });
        }
        crds = tree_seek_key(&s->crds->objects, STR(""));
        while (tree_next(&crds, &item))
                if (item.entry->object)
                        add_crd_task(s, item.entry);
        namespaces = tree_seek_key(&s->namespaces->objects, STR(""));
        while (tree_next(&namespaces, &item))
                if (item.entry->marks & MARK_DELETING)
                        collector_add(s,
                                      (struct store_task) { .type = TASK_NAMESPACE, .name = entry_name(item.entry) });
        mutex_unlock(&s->mutex);
}
