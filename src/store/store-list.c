/* Lists. A list that takes the mutex several times still shows one version: it reads objects that changed in the meantime from the
 * history. A list is a cursor: between two batches it holds the key where it continues, a snapshot, and at most one batch of
 * objects. */
#include "store-state.h"

#include "list-token.h"

#define BATCH        256          /* entries read in one turn at the mutex; objects in one batch */
#define BATCH_BYTES  (128u << 10) /* approximate size of the objects in a batch: a piece of an answer */
#define INDEX_MOST   4096         /* index matches that are read in one turn at the mutex */
#define RECOUNT_MOST 1024         /* events that a count reads to be exact for an older version */

/* --- Walking a table --- */

/* Sets the buffer to the key. */
static void set_key(struct buf *b, struct str ns, struct str name)
{
        buf_clear(b);
        buf_append_str(b, ns);
        if (ns.n)
                buf_append_char(b, '/');
        buf_append_str(b, name);
}

int scan_begin(struct scan *scan, struct store *s, struct table *t, struct str ns, struct str start, uint64_t version)
{
        if (version == 0)
                version = s->version;
        if (version < t->dropped_version)
                return ERR_EXPIRED;
        *scan = (struct scan) { .s = s, .table = t, .prefix = BUF_INIT(0), .from = BUF_INIT(0), .most = BATCH };
        set_key(&scan->prefix, ns, STR(""));
        set_key(&scan->from, ns, start);
        snapshot_begin(s, &scan->snapshot, version);
        return 0;
}

int scan_begin_exact(struct scan *scan, struct store *s, struct table *t, struct str ns, struct str name,
                     uint64_t version)
{
        int r = scan_begin(scan, s, t, ns, name, version);

        if (r < 0)
                return r;
        set_key(&scan->prefix, ns, name);
        scan->is_exact = true;
        return 0;
}

void scan_end(struct scan *scan)
{
        mutex_lock(&scan->s->mutex);
        snapshot_end(scan->s, &scan->snapshot);
        mutex_unlock(&scan->s->mutex);
        buf_done(&scan->prefix);
        buf_done(&scan->from);
}

void listing_add(struct listing *l, struct arena *a, struct store_entry *e, struct object *o, uint32_t serial)
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

static bool is_in_scan(const struct scan *scan, struct str key)
{
        struct str prefix = buf_str(&scan->prefix);

        return scan->is_exact ? str_equal(key, prefix) : str_starts_with(key, prefix);
}

/* A walk spends most of its time waiting for memory, so it fetches entries and objects some steps ahead. */
static void prefetch(const struct tree_cursor *c)
{
        const struct store_entry *later = tree_ahead(c, 12), *soon = tree_ahead(c, 8), *next = tree_ahead(c, 3);

        __builtin_prefetch(later);
        if (soon && soon->object)
                object_prefetch(soon->object);
        if (next && next->object)
                object_prefetch_bytes(next->object);
}

/* Under the mutex. */
static void scan_entries(struct scan *scan, struct arena *a, struct listing *l)
{
        struct tree_cursor c = tree_seek_key(&scan->table->objects, buf_str(&scan->from));
        struct tree_item item;
        struct str last = STR("");
        size_t n_bytes = 0;

        for (size_t i = 0; i < scan->most && n_bytes < BATCH_BYTES; i++) {
                struct object *o;
                uint32_t serial;

                if (!tree_next(&c, &item) || !is_in_scan(scan, entry_key(item.entry))) {
                        scan->is_done = true;
                        return;
                }
                prefetch(&c);
                o = history_object(item.entry, scan->snapshot.version, &serial);
                if (o) {
                        listing_add(l, a, item.entry, o, serial);
                        n_bytes += object_size_bytes(o);
                }
                last = entry_key(item.entry);
        }
        set_key(&scan->from, STR(""), last);
        buf_append_char(&scan->from, 0);
}

int scan_batch(struct scan *scan, struct arena *a, struct listing *l)
{
        int r = 0;

        mutex_lock(&scan->s->mutex);
        if (scan->snapshot.version < scan->table->dropped_version)
                r = ERR_EXPIRED;
        else
                scan_entries(scan, a, l);
        mutex_unlock(&scan->s->mutex);
        return r;
}

/* False when the snapshot expired, and the caller must collect again. */
static bool collect_all(struct store *s, struct table *t, struct arena *a, struct str ns, struct listing *l)
{
        struct scan scan;
        int r;

        mutex_lock(&s->mutex);
        r = scan_begin(&scan, s, t, ns, STR(""), 0);
        mutex_unlock(&s->mutex);
        assert(r == 0); /* the latest version is never expired */
        while (!scan.is_done && r == 0)
                r = scan_batch(&scan, a, l);
        scan_end(&scan);
        if (r < 0)
                listing_done(l);
        return r == 0;
}

void listing_collect(struct store *s, struct table *t, struct arena *a, struct str ns, struct listing *ret)
{
        *ret = (struct listing) { 0 };
        while (!collect_all(s, t, a, ns, ret))
                ;
}

/* --- A list --- */

/* Home: the thread that asks for batches. */
struct walk {
        struct list_cursor cursor;
        struct store *s;
        const struct list_request *req;
        struct arena arena; /* owns the fields below */
        struct served served;
        struct store_view view;
        struct str ns;
        uint64_t version; /* 0: the latest version at the time the walk begins */
        bool is_latest;   /* the request asked for the latest version */
        struct str start; /* a key, without the namespace if the request has one */

        bool has_begun;
        bool is_scanning;
        struct scan scan;
        struct listing found; /* found objects; those from `at` on are not considered yet */
        size_t at;
        struct arena keys;   /* the keys of found */
        size_t n_given;      /* objects given so far, in all batches */
        struct buf last_key; /* the key of the last considered object */
        bool has_more;       /* the page is full, and another object would be in the next one */
};

/* The state of one batch. */
struct batch {
        struct run *run;
        struct arena scratch;
        VEC(struct object *) objects;
        size_t n_bytes;
};

static bool has_selector(const struct walk *w)
{
        return w->view.labels || w->view.fields || w->view.owner_uid.n;
}

static bool is_page_full(const struct walk *w)
{
        return w->req->limit && w->n_given >= w->req->limit;
}

/* Adds the object if the selectors match it. */
static int consider(struct walk *w, struct batch *b, const struct listed *listed, struct err *err)
{
        struct object *o;
        int r = view_object(&w->view, &b->scratch, listed->object, listed->serial, &o, err);

        arena_reset(&b->scratch);
        set_key(&w->last_key, STR(""), listed->key);
        if (r <= 0)
                return r;
        vec_push(&b->objects, store_pin_counted(o, b->run->arena));
        b->n_bytes += object_size_bytes(o);
        w->n_given++;
        return 0;
}

/* Behind a full page: whether the next page would have this object. */
static int look_ahead(struct walk *w, struct batch *b, const struct listed *listed, struct err *err)
{
        struct object *o = NULL;
        int r = has_selector(w) ? view_object(&w->view, &b->scratch, listed->object, listed->serial, &o, err) : 1;

        arena_reset(&b->scratch);
        object_unref(o);
        w->has_more = r > 0;
        return MIN(r, 0);
}

/* Takes objects in order until the batch is full, or until one is found that the full page has no room for. */
static int take_found(struct walk *w, struct batch *b, struct err *err)
{
        while (w->at < w->found.n && b->objects.n < BATCH && b->n_bytes < BATCH_BYTES && !w->has_more) {
                const struct listed *listed = &w->found.p[w->at];
                int r = is_page_full(w) ? look_ahead(w, b, listed, err) : consider(w, b, listed, err);

                if (r < 0)
                        return r;
                w->at++;
        }
        return 0;
}

/* --- Beginning a list --- */

static int begin_scan(struct walk *w)
{
        int r;

        mutex_lock(&w->s->mutex);
        r = scan_begin(&w->scan, w->s, w->served.table, w->ns, w->start, w->version);
        mutex_unlock(&w->s->mutex);
        if (r < 0)
                return r;
        w->is_scanning = true;
        w->is_latest = w->version == 0;
        w->version = w->scan.snapshot.version;
        if (w->req->limit && !has_selector(w))
                w->scan.most = MIN(w->req->limit, (size_t)BATCH - 1) + 1; /* one more, to see if the page has a next */
        return 0;
}

/* Begins again at a newer version when the latest one expired before any object was considered. Otherwise ERR_EXPIRED. */
static int begin_again(struct walk *w)
{
        if (!w->is_latest || w->last_key.n > 0)
                return ERR_EXPIRED;
        scan_end(&w->scan);
        w->is_scanning = false;
        w->version = 0;
        return begin_scan(w);
}

/* Releases the considered objects and finds more; 0 when there are no more. */
static int find_more(struct walk *w)
{
        int r = 0;

        listing_done(&w->found);
        w->at = 0;
        arena_reset(&w->keys);
        while (w->found.n == 0 && w->is_scanning && !w->scan.is_done && r == 0) {
                r = scan_batch(&w->scan, &w->keys, &w->found);
                if (r == ERR_EXPIRED)
                        r = begin_again(w);
        }
        return r < 0 ? r : w->found.n > 0;
}

/* The index head for a part of the selector; false when no part is indexed. */
static bool indexed_head(const struct walk *w, uint64_t *ret)
{
        const struct list_request *req = w->req;

        if (w->version || w->start.n)
                return false;
        if (req->owner_uid.n) {
                *ret = index_owner(req->owner_uid);
                return true;
        }
        for (size_t i = 0; req->labels && i < req->labels->n; i++) {
                const struct label_requirement *part = &req->labels->requirements[i];

                if ((part->op == SELECT_EQUALS || part->op == SELECT_IN) && part->n_values == 1) {
                        *ret = index_label(w->served.table, part->key, part->values[0]);
                        return true;
                }
        }
        return false;
}

/* False when there are too many matches for one turn at the mutex. */
static bool find_indexed(struct walk *w, uint64_t head)
{
        struct listing *found = &w->found;
        struct tree_cursor c;
        struct tree_item item;
        uint64_t version;

        mutex_lock(&w->s->mutex);
        version = w->s->version;
        c = tree_seek(&w->s->index, (struct tree_item) { .head = head });
        while (found->n < INDEX_MOST && tree_next(&c, &item) && item.head == head) {
                struct store_entry *e = item.entry;

                if (e->table == w->served.table && (w->ns.n == 0 || str_equal(entry_namespace(e), w->ns)))
                        listing_add(found, &w->keys, e, e->object, e->serial);
        }
        mutex_unlock(&w->s->mutex);
        if (found->n == INDEX_MOST) {
                listing_done(found);
                return false;
        }
        w->version = version;
        listing_sort(found);
        return true;
}

/* A single object by its name. */
static bool find_named(struct walk *w)
{
        struct str name = w->view.fields ? field_selector_name(w->view.fields) : STR("");
        struct store_entry *e;

        if (name.n == 0 || w->version || w->start.n || (w->served.kind->is_namespaced && w->ns.n == 0))
                return false;
        mutex_lock(&w->s->mutex);
        w->version = w->s->version;
        e = tree_find(&w->served.table->objects, store_make_key(&w->arena, w->ns, name));
        if (e && e->object)
                listing_add(&w->found, &w->keys, e, e->object, e->serial);
        mutex_unlock(&w->s->mutex);
        return true;
}

/* Chooses the version, and finds the first objects if an index has them. */
static int begin_walk(struct walk *w)
{
        uint64_t head;

        w->has_begun = true;
        if (!w->served.kind) {
                uint64_t version = store_version(w->s);

                /* Looks the kind up again after reading the version: the first object may have been created in between. */
                kinds_lookup(w->s, &w->arena, w->req->gvk, SCOPE_UNKNOWN, &w->served, NULL);
                if (!w->served.kind) {
                        w->version = w->version ? w->version : version;
                        return 0;
                }
        }
        if (find_named(w) || (indexed_head(w, &head) && find_indexed(w, head)))
                return 0;
        return begin_scan(w);
}

/* --- Ending a list --- */

/* The key after the last considered one, relative to the namespace. */
static struct str next_start(const struct walk *w, struct arena *a)
{
        struct str key = buf_str(&w->last_key);

        if (key.n == 0)
                return w->start;
        if (w->ns.n)
                key = str_skip(key, w->ns.n + 1);
        return ARENA_CONCAT(a, key, str_make("", 1));
}

static int walk_expired(const struct walk *w, struct run *run, struct object_list *ret, struct err *err)
{
        if (!w->req->continue_token.n && w->last_key.n == 0)
                return status_expired(err, "The resourceVersion for the provided list is too old.");
        ret->continue_token = list_token_make(run->arena, -1, next_start(w, run->arena));
        return status_expired(
                err,
                "The provided continue parameter is too old to display a consistent list result. You can start a new "
                "list without the continue parameter, or use the continue token in this response to retrieve the "
                "remainder of the results. Continuing with the provided token results in an inconsistent list - "
                "objects that were created, modified, or deleted between the time the first chunk was returned and now "
                "may show up in the list.");
}

/* Under the mutex: the number of objects in [from, end) at the walk's version, minus the number now. False when counting would take
 * too long. */
static bool count_changes(const struct walk *w, struct str from, struct str end, int64_t *ret)
{
        const struct event *e = history_after(w->s, w->served.table, w->version);

        *ret = 0;
        for (size_t i = 0; e; i++, e = e->next) {
                struct str key = entry_key(e->entry);

                if (i == RECOUNT_MOST)
                        return false;
                if (e->older && e->older->version > w->version)
                        continue; /* the entry was counted with its first event */
                if (str_compare(key, from) >= 0 && (end.n == 0 || str_compare(key, end) < 0))
                        *ret += (e->before != NULL) - (e->entry->object != NULL);
        }
        return true;
}

/* The number of objects after the page. It is exact for the version of the list, unless very many objects have changed since; then
 * it is the current number. */
static int64_t count_rest(const struct walk *w, struct arena *a)
{
        const struct table *t = w->served.table;
        struct str from = ARENA_CONCAT(a, buf_str(&w->last_key), str_make("", 1));
        struct str end = w->ns.n ? ARENA_CONCAT(a, w->ns, STR("0")) : STR(""); /* '0' sorts after '/' */
        int64_t n, changes;

        mutex_lock(&w->s->mutex);
        n = (int64_t)(end.n ? tree_count_before(&t->objects, end) : t->n_objects) -
            (int64_t)tree_count_before(&t->objects, from);
        if (count_changes(w, from, end, &changes))
                n += changes;
        mutex_unlock(&w->s->mutex);
        return MAX(n, 1); /* the caller knows of one */
}

static void set_version(const struct walk *w, struct arena *a, struct object_list *ret)
{
        ret->resource_version = arena_printf(a, "%llu", (unsigned long long)w->version);
}

static void finish_walk(const struct walk *w, struct run *run, struct object_list *ret)
{
        set_version(w, run->arena, ret);
        ret->remaining = 0;
        if (!w->has_more)
                return;
        ret->continue_token = list_token_make(run->arena, (int64_t)w->version, next_start(w, run->arena));
        ret->remaining = has_selector(w) ? -1 : count_rest(w, run->arena);
}

/* --- Batches --- */

/* 1 when the batch has objects, 0 at the end. */
static int fill_batch(struct walk *w, struct batch *b, struct err *err)
{
        int r = w->has_begun ? 0 : begin_walk(w);

        while (r == 0 && b->objects.n == 0 && !w->has_more) {
                r = cancel_check(b->run->cancel, err);
                if (r == 0 && w->at == w->found.n) {
                        r = find_more(w);
                        if (r == 0)
                                return 0;
                        r = MIN(r, 0);
                }
                if (r == 0)
                        r = take_found(w, b, err);
        }
        return r < 0 ? r : b->objects.n > 0;
}

static void give_batch(const struct walk *w, const struct batch *b, struct object_list *ret)
{
        struct arena *a = b->run->arena;
        struct object **objects = ARENA_NEW_ARRAY(a, struct object *, b->objects.n);

        memcpy(objects, b->objects.p, b->objects.n * sizeof(*objects));
        ret->objects = objects;
        ret->n = b->objects.n;
        set_version(w, a, ret);
}

static int walk_next(struct list_cursor *cursor, struct run *run, struct object_list *ret, struct err *err)
{
        struct walk *w = CONTAINER_OF(cursor, struct walk, cursor);
        struct batch b = { .run = run };
        int r;

        arena_init(&b.scratch, "list", 0);
        r = fill_batch(w, &b, err);
        if (r > 0)
                give_batch(w, &b, ret);
        else if (r == 0)
                finish_walk(w, run, ret);
        else if (r == ERR_EXPIRED)
                walk_expired(w, run, ret, err);
        vec_done(&b.objects);
        arena_done(&b.scratch);
        return r;
}

static void walk_free(struct list_cursor *cursor)
{
        struct walk *w = CONTAINER_OF(cursor, struct walk, cursor);

        if (w->is_scanning)
                scan_end(&w->scan);
        listing_done(&w->found);
        buf_done(&w->last_key);
        arena_done(&w->keys);
        arena_done(&w->arena);
        free(w);
}

static const struct list_cursor_ops cursor_ops = { .next = walk_next, .free = walk_free };

/* --- Requests --- */

static int check_match(struct run *run, const struct list_request *req, struct err *err)
{
        static const struct str field = STR_INIT("resourceVersionMatch");
        struct status_subject subject = { .group = STR("meta.k8s.io"), .kind = STR("ListOptions") };
        struct field_errors errors;

        if (req->match == MATCH_UNSET)
                return 0;
        field_errors_init(&errors, run->arena);
        if (req->resource_version.n == 0)
                field_error_add(&errors, FIELD_FORBIDDEN, field, NULL,
                                "resourceVersionMatch is forbidden unless resourceVersion is provided");
        if (req->continue_token.n)
                field_error_add(&errors, FIELD_FORBIDDEN, field, NULL,
                                "resourceVersionMatch is forbidden when continue is provided");
        if (req->match == MATCH_EXACT && str_equal(req->resource_version, STR("0")))
                field_error_add(&errors, FIELD_FORBIDDEN, field, NULL,
                                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        return errors.n ? status_invalid(err, &subject, &errors) : 0;
}

/* Reads from the request which version to list, and from which key on. */
static int read_request(struct walk *w, struct run *run, struct err *err)
{
        const struct list_request *req = w->req;
        uint64_t number;
        int r = check_match(run, req, err);

        if (r == 0 && req->fields && w->served.version)
                r = field_selector_check(req->fields, w->served.version->selectable_fields,
                                         w->served.version->n_selectable_fields, err);
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

                r = list_token_parse(&w->arena, req->continue_token, &version, &w->start, err);
                if (r < 0)
                        return r;
                if (number > 0)
                        return status_bad_request(err,
                                                  "specifying resource version is not allowed when using continue");
                w->version = version < 0 ? 0 : (uint64_t)version; /* -1: continue at the latest version */
                return 0;
        }
        r = read_await_version(w->s, run, number, err);
        if (r == 0 && (req->match == MATCH_EXACT || (req->match == MATCH_UNSET && req->limit)))
                w->version = number;
        return r;
}

static void set_view(struct walk *w)
{
        const struct list_request *req = w->req;

        w->view = (struct store_view) { .s = w->s, .served = &w->served, .owner_uid = req->owner_uid };
        if (req->labels && (req->labels->n || req->labels->matches_nothing))
                w->view.labels = req->labels;
        if (req->fields && req->fields->n)
                w->view.fields = req->fields;
        w->ns = !w->served.kind || w->served.kind->is_namespaced ? req->ns : STR("");
}

static int prepare_walk(struct walk *w, struct run *run, struct err *err)
{
        int r = kinds_lookup(w->s, &w->arena, w->req->gvk, SCOPE_UNKNOWN, &w->served, err);

        if (r < 0)
                return r;
        prepare_warn_deprecated(w->served.version, run);
        set_view(w);
        return read_request(w, run, err);
}

int read_list_begin(struct cluster *c, struct run *run, const struct list_request *req, struct list_cursor **ret,
                    struct err *err)
{
        struct walk *w = xcalloc(1, sizeof(*w));
        int r;

        w->cursor.ops = &cursor_ops;
        w->s = store_of(c);
        w->req = req;
        arena_init(&w->arena, "list", 0);
        arena_init(&w->keys, "list", 0);
        buf_init(&w->last_key, 0);
        r = prepare_walk(w, run, err);
        if (r < 0) {
                walk_free(&w->cursor);
                return r;
        }
        *ret = &w->cursor;
        return 0;
}
