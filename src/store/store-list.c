/* Lists. One that takes several turns at the mutex still shows one version: what changed meanwhile is read as it was. */
#include "store-state.h"

#include "list-token.h"

#define BATCH      256  /* entries looked at in one turn at the mutex */
#define INDEX_MOST 4096 /* matches of an index that are worth one turn */

/* --- Walking a table --- */

/* A walk through a table at one version. */
struct scan {
        struct store *s;
        struct table *table;
        struct arena *arena;
        struct str prefix; /* keys begin with it */
        struct str from;   /* the next key is not before it */
        struct snapshot snapshot;
        bool is_done;
};

/* Under the mutex. */
static void scan_begin(struct scan *scan, struct store *s, struct table *t, struct arena *a, struct str namespace,
                       struct str start, uint64_t version)
{
        struct str prefix = namespace.n ? make_key(a, namespace, STR("")) : STR("");

        *scan = (struct scan) { .s = s, .table = t, .arena = a, .prefix = prefix };
        scan->from = namespace.n ? make_key(a, namespace, start) : start;
        snapshot_begin(s, &scan->snapshot, version);
}

static void scan_end(struct scan *scan)
{
        mutex_lock(&scan->s->mutex);
        snapshot_end(scan->s, &scan->snapshot);
        mutex_unlock(&scan->s->mutex);
}

void listing_add(struct listing *l, struct arena *a, struct entry *e, struct object *o, uint32_t serial)
{
        if (l->n == l->capacity) {
                l->capacity = l->capacity ? 2 * l->capacity : 16;
                l->p = xrealloc(l->p, l->capacity * sizeof(*l->p));
        }
        l->p[l->n++] = (struct listed) {
                .object = object_ref(o), .entry = e, .serial = serial, .key = arena_copy(a, entry_key(e))
        };
}

static int compare_listed(const void *a, const void *b)
{
        return str_compare(((const struct listed *)a)->key, ((const struct listed *)b)->key);
}

void listing_sort(struct listing *l)
{
        if (l->n)
                qsort(l->p, l->n, sizeof(*l->p), compare_listed);
}

void listing_done(struct listing *l)
{
        for (size_t i = 0; i < l->n; i++)
                object_unref(l->p[i].object);
        free(l->p);
        *l = (struct listing) { 0 };
}

/* One turn at the mutex. */
static void scan_batch(struct scan *scan, struct listing *l)
{
        struct tree_cursor c;
        struct tree_item item;
        struct str last = STR("");
        char *from;
        size_t i;

        mutex_lock(&scan->s->mutex);
        c = tree_seek_key(&scan->table->objects, scan->from);
        for (i = 0; i < BATCH; i++) {
                struct object *o;
                uint32_t serial;

                if (!tree_next(&c, &item) || !str_starts_with(entry_key(item.entry), scan->prefix)) {
                        scan->is_done = true;
                        break;
                }
                o = history_object(item.entry, scan->snapshot.version, &serial);
                if (o)
                        listing_add(l, scan->arena, item.entry, o, serial);
                last = entry_key(item.entry);
        }
        if (!scan->is_done) {
                from = arena_alloc(scan->arena, last.n + 1);
                memcpy(from, last.p, last.n);
                from[last.n] = 0;
                scan->from = str_make(from, last.n + 1);
        }
        mutex_unlock(&scan->s->mutex);
}

void listing_collect(struct store *s, struct table *t, struct arena *a, struct str namespace, struct listing *ret)
{
        struct scan scan;

        *ret = (struct listing) { 0 };
        mutex_lock(&s->mutex);
        ret->version = s->version;
        scan_begin(&scan, s, t, a, namespace, STR(""), s->version);
        mutex_unlock(&s->mutex);
        while (!scan.is_done)
                scan_batch(&scan, ret);
        scan_end(&scan);
}

/* --- List --- */

struct list {
        struct store *s;
        struct run *run;
        const struct list_request *req;
        struct served served;
        struct str namespace;
        uint64_t version;     /* 0: the latest */
        struct str start;     /* key, without the namespace if that is given */
        bool is_inconsistent; /* a token that goes on at the latest version */
        VEC(struct object *) objects;
        VEC(const struct value *) values;
        struct str last_key;
        int64_t remaining;
        bool has_more;
};

static bool has_selector(const struct list_request *req)
{
        return (req->labels && (req->labels->n || req->labels->matches_nothing)) || (req->fields && req->fields->n) ||
               req->owner_uid.n;
}

static bool has_owner(struct arena *a, const struct value *v, struct str uid)
{
        const struct owner_reference *owners;
        size_t n = owner_references(a, v, &owners);

        for (size_t i = 0; i < n; i++)
                if (str_equal(owners[i].uid, uid))
                        return true;
        return false;
}

/* Adds the object if the selectors take it. */
static int list_consider(struct list *l, const struct listed *listed, struct err *err)
{
        const struct list_request *req = l->req;
        const struct value *v;
        struct object *o;
        int r = read_object(l->s, &l->served, l->run->arena, listed->object, listed->serial, &o, &v, err);

        if (r < 0)
                return r;
        if (req->labels && !label_selector_matches(req->labels, value_get(meta(v), STR("labels"))))
                return 0;
        if (req->fields && !field_selector_matches(req->fields, v))
                return 0;
        if (req->owner_uid.n && !has_owner(l->run->arena, v, req->owner_uid))
                return 0;
        vec_push(&l->objects, o);
        vec_push(&l->values, v);
        return 0;
}

/* Takes objects in order until the page is full; those left over are counted. */
static int list_take(struct list *l, const struct listing *found, struct err *err)
{
        for (size_t i = 0; i < found->n; i++) {
                int r;

                if (l->req->limit && l->objects.n >= l->req->limit) {
                        l->has_more = true;
                        l->remaining += (int64_t)(found->n - i);
                        return 0;
                }
                r = list_consider(l, &found->p[i], err);
                if (r < 0)
                        return r;
                l->last_key = found->p[i].key;
        }
        return 0;
}

static int list_scan(struct list *l, struct err *err)
{
        struct scan scan;
        int r = 0;

        mutex_lock(&l->s->mutex);
        if (l->version == 0)
                l->version = l->s->version;
        if (l->version < l->served.table->dropped_version)
                r = ERR_EXPIRED;
        else
                scan_begin(&scan, l->s, l->served.table, l->run->arena, l->namespace, l->start, l->version);
        mutex_unlock(&l->s->mutex);
        if (r < 0)
                return r;
        while (!scan.is_done && r == 0) {
                struct listing found = { 0 };

                scan_batch(&scan, &found);
                r = list_take(l, &found, err);
                listing_done(&found);
                if (l->has_more && has_selector(l->req))
                        break; /* what remains is not counted */
        }
        scan_end(&scan);
        return r;
}

/* The number that the index has for the selector, if one of its parts is in the index. */
static bool indexed_head(const struct list *l, uint64_t *ret)
{
        const struct list_request *req = l->req;

        if (l->version || l->start.n)
                return false;
        if (req->owner_uid.n) {
                *ret = index_owner(req->owner_uid);
                return true;
        }
        for (size_t i = 0; req->labels && i < req->labels->n; i++) {
                const struct label_requirement *part = &req->labels->requirements[i];

                if ((part->operator== SELECT_EQUALS || part->operator== SELECT_IN) && part->n_values == 1) {
                        *ret = index_label(l->served.table, part->key, part->values[0]);
                        return true;
                }
        }
        return false;
}

/* False when there are too many for one turn at the mutex. */
static bool list_indexed(struct list *l, uint64_t head, struct listing *found)
{
        struct tree_cursor c;
        struct tree_item item;

        mutex_lock(&l->s->mutex);
        l->version = l->s->version;
        c = tree_seek(&l->s->index, (struct tree_item) { .head = head });
        while (found->n < INDEX_MOST && tree_next(&c, &item) && item.head == head) {
                struct entry *e = item.entry;

                if (e->table == l->served.table && (l->namespace.n == 0 || str_equal(entry_namespace(e), l->namespace)))
                        listing_add(found, l->run->arena, e, e->object, e->serial);
        }
        mutex_unlock(&l->s->mutex);
        if (found->n == INDEX_MOST)
                return false;
        listing_sort(found);
        return true;
}

/* A single object by its name. */
static bool list_named(struct list *l, struct listing *found)
{
        struct str name = l->req->fields ? field_selector_name(l->req->fields) : STR("");
        struct entry *e;

        if (name.n == 0 || l->version || l->start.n || (l->served.kind->is_namespaced && l->namespace.n == 0))
                return false;
        mutex_lock(&l->s->mutex);
        l->version = l->s->version;
        e = tree_find(&l->served.table->objects, make_key(l->run->arena, l->namespace, name));
        if (e && e->object)
                listing_add(found, l->run->arena, e, e->object, e->serial);
        mutex_unlock(&l->s->mutex);
        return true;
}

static int list_find(struct list *l, struct err *err)
{
        struct listing found = { 0 };
        uint64_t head;
        bool is_found = list_named(l, &found);
        int r;

        if (!is_found && indexed_head(l, &head)) {
                is_found = list_indexed(l, head, &found);
                if (!is_found)
                        l->version = 0;
        }
        r = is_found ? list_take(l, &found, err) : list_scan(l, err);
        listing_done(&found);
        return r;
}

static int list_options_invalid(struct run *run, struct err *err, const char *text)
{
        struct status_subject subject = { .group = STR("meta.k8s.io"), .kind = STR("ListOptions") };
        struct field_errors errors;

        field_errors_init(&errors, run->arena);
        field_error_add(&errors, FIELD_FORBIDDEN, STR("resourceVersionMatch"), NULL, "%s", text);
        return status_invalid(err, &subject, &errors);
}

static int check_match(struct run *run, const struct list_request *req, struct err *err)
{
        if (req->match == MATCH_UNSET)
                return 0;
        if (req->continue_token.n)
                return list_options_invalid(run, err, "resourceVersionMatch is forbidden when continue is provided");
        if (req->resource_version.n == 0)
                return list_options_invalid(run, err,
                                            "resourceVersionMatch is forbidden unless resourceVersion is provided");
        if (req->match == MATCH_EXACT && str_equal(req->resource_version, STR("0")))
                return list_options_invalid(run, err,
                                            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        return 0;
}

/* Which version is to be listed, and from which key on. */
static int list_begin(struct list *l, struct err *err)
{
        const struct list_request *req = l->req;
        uint64_t number;
        int r = check_match(l->run, req, err);

        if (r < 0)
                return r;
        r = read_version_number(req->resource_version, &number, err);
        if (r < 0)
                return status_bad_request(err,
                                          "invalid resource version: resourceVersion: Invalid value: \"%.*s\": "
                                          "strconv.ParseUint: parsing \"%.*s\": invalid syntax",
                                          STR_ARG(req->resource_version), STR_ARG(req->resource_version));
        if (req->continue_token.n) {
                int64_t version;

                if (number > 0)
                        return status_bad_request(err,
                                                  "specifying resource version is not allowed when using continue");
                r = list_token_parse(l->run->arena, req->continue_token, &version, &l->start, err);
                if (r < 0)
                        return r;
                l->is_inconsistent = version < 0;
                l->version = version < 0 ? 0 : (uint64_t)version;
                return 0;
        }
        r = read_await_version(l->s, l->run, number, err);
        if (r == 0 && (req->match == MATCH_EXACT || (req->match == MATCH_UNSET && req->limit)))
                l->version = number;
        return r;
}

static int list_expired(struct list *l, struct object_list *ret, struct err *err)
{
        if (!l->req->continue_token.n)
                return status_expired(err, "The resourceVersion for the provided list is too old.");
        ret->continue_token = list_token_make(l->run->arena, -1, l->start);
        return status_expired(
                err,
                "The provided continue parameter is too old to display a consistent list result. You can start a new "
                "list without the continue parameter, or use the continue token in this response to retrieve the "
                "remainder of the results. Continuing with the provided token results in an inconsistent list - "
                "objects that were created, modified, or deleted between the time the first chunk was returned and now "
                "may show up in the list.");
}

static struct str next_token(const struct list *l)
{
        struct str key = l->last_key;
        char *start;

        if (l->namespace.n)
                key = str_skip(key, l->namespace.n + 1);
        start = arena_alloc(l->run->arena, key.n + 1);
        memcpy(start, key.p, key.n);
        start[key.n] = 0;
        return list_token_make(l->run->arena, (int64_t)l->version, str_make(start, key.n + 1));
}

static void list_finish(struct list *l, struct object_list *ret)
{
        struct arena *a = l->run->arena;
        struct object **objects = ARENA_NEW_ARRAY(a, struct object *, l->objects.n);
        const struct value **values = ARENA_NEW_ARRAY(a, const struct value *, l->objects.n);

        for (size_t i = 0; i < l->objects.n; i++) {
                objects[i] = l->objects.p[i];
                values[i] = l->values.p[i];
        }
        *ret = (struct object_list) {
                .objects = objects,
                .values = values,
                .n = l->objects.n,
                .resource_version = arena_printf(a, "%llu", (unsigned long long)l->version),
                .continue_token = l->has_more ? next_token(l) : STR(""),
                .remaining = !l->has_more           ? 0
                             : has_selector(l->req) ? -1
                                                    : l->remaining,
        };
}

static int list_run(struct list *l, struct object_list *ret, struct err *err)
{
        const struct served *served = &l->served;
        int r = list_begin(l, err);

        if (r < 0)
                return r;
        if (l->req->fields && served->version) {
                r = field_selector_check(l->req->fields, served->version->selectable_fields,
                                         served->version->n_selectable_fields, err);
                if (r < 0)
                        return r;
        }
        if (served->kind)
                r = list_find(l, err);
        else if (l->version == 0)
                l->version = store_version(l->s);
        if (r == ERR_EXPIRED)
                return list_expired(l, ret, err);
        if (r == 0)
                list_finish(l, ret);
        return r;
}

int read_list(struct cluster *c, struct run *run, const struct list_request *req, struct object_list *ret,
              struct err *err)
{
        struct list l = { .s = store_of(c), .run = run, .req = req };
        int r = kinds_lookup(l.s, run->arena, req->gvk, SCOPE_UNKNOWN, &l.served, err);

        if (r < 0)
                return r;
        pipeline_warn_deprecated(l.served.version, run);
        l.namespace = !l.served.kind || l.served.kind->is_namespaced ? req->namespace : STR("");
        r = list_run(&l, ret, err);
        vec_done(&l.objects);
        vec_done(&l.values);
        return r;
}
