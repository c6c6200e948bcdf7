#include "scenario-step.h"

#include "json.h"
#include "number.h"
#include "patch.h"

#include <inttypes.h>

#define WAIT_MS 30000

void sequence_init(struct sequence *s, struct arena *a, struct cluster *c)
{
        *s = (struct sequence) { .cluster = c, .arena = a, .answers = &value_empty_array };
}

void sequence_done(struct sequence *s)
{
        for (struct sequence_watch *w = s->watches; w; w = w->next)
                if (w->watch)
                        watch_free(w->watch);
}

static struct str text(const struct value *step, const char *key)
{
        return value_str(value_get(step, str_from(key)));
}

static bool flag(const struct value *step, const char *key)
{
        return value_bool(value_get(step, str_from(key)), false);
}

/* --- What earlier answers hold --- */

static const struct value *answer(const struct sequence *s, struct str which)
{
        uint64_t n;

        if (str_equal(which, STR("first")))
                return s->first;
        if (str_equal(which, STR("last")))
                return s->last;
        return number_parse_uint(which, &n, NULL) < 0 ? NULL : value_item(s->answers, n);
}

static struct str cut_part(struct str *path)
{
        struct str part = *path;
        const char *dot = path->n ? memchr(path->p, '.', path->n) : NULL;

        if (dot)
                part = str_first(part, (size_t)(dot - path->p));
        *path = str_skip(*path, dot ? part.n + 1 : part.n);
        return part;
}

/* `@last.metadata.uid` */
static const struct value *look_up(const struct sequence *s, struct str path)
{
        const struct value *v;
        uint64_t n;

        path = str_skip(path, 1);
        v = answer(s, cut_part(&path));
        while (path.n && v) {
                struct str part = cut_part(&path);

                if (value_is_array(v) && number_parse_uint(part, &n, NULL) == 0)
                        v = value_item(v, n);
                else
                        v = value_get(v, part);
        }
        return v ? v : &value_null;
}

const struct value *sequence_resolve(const struct sequence *s, const struct value *v)
{
        const struct value *result = v;

        if (value_is_string(v) && str_starts_with(value_str(v), STR("@")))
                return look_up(s, value_str(v));
        for (size_t i = 0; i < value_count(v) && value_is_array(v); i++) {
                const struct value *item = sequence_resolve(s, value_item(v, i));

                if (item != value_item(v, i))
                        result = value_with_item(s->arena, result, i, item);
        }
        VALUE_FOREACH_MEMBER (m, v) {
                const struct value *member = sequence_resolve(s, &m->value);

                if (member != &m->value)
                        result = value_with(s->arena, result, m->key, member);
        }
        return result;
}

static struct str resolved_text(const struct sequence *s, const struct value *step, const char *key)
{
        const struct value *v = value_get(step, str_from(key));

        return v ? value_str(sequence_resolve(s, v)) : STR("");
}

/* --- Requests --- */

static struct object_key key_of(const struct value *step)
{
        struct str of = text(step, "of"), api_version = of;
        struct object_key key = { .ns = text(step, "ns"), .name = text(step, "name") };
        const char *space = of.n ? memchr(of.p, ' ', of.n) : NULL;

        if (!space)
                return key;
        api_version = str_first(of, (size_t)(space - of.p));
        of = str_skip(of, api_version.n + 1);
        space = memchr(of.p, ' ', of.n);
        key.gvk.kind = space ? str_first(of, (size_t)(space - of.p)) : of;
        gvk_split_api_version(api_version, &key.gvk.group, &key.gvk.version, NULL);
        return key;
}

static void on_duplicate(void *list, struct str object_path, struct str key)
{
        str_list_printf(list, object_path.n ? "%.*s.%.*s" : "%.*s%.*s", STR_ARG(object_path), STR_ARG(key));
}

static const struct value *body_of(struct sequence *s, const struct value *step, struct str_list *duplicates)
{
        struct json_read_options options = { .is_kubernetes = true,
                                             .on_duplicate = on_duplicate,
                                             .context = duplicates };
        struct str base = text(step, "base");
        const struct value *body = value_get(step, STR("body"));

        if (value_get(step, STR("text")))
                return json_parse(s->arena, text(step, "text"), &options, &body, NULL) < 0 ? NULL : body;
        body = body ? sequence_resolve(s, body) : base.n ? &value_empty_object : NULL;
        if (base.n)
                body = merge_patch_apply(s->arena, answer(s, base) ?: &value_empty_object, body);
        return body;
}

static enum field_validation validation_of(const struct value *step)
{
        struct str v = text(step, "validation");

        return str_equal(v, STR("Strict")) ? FIELDS_STRICT : str_equal(v, STR("Ignore")) ? FIELDS_IGNORE : FIELDS_WARN;
}

static enum propagation propagation_of(const struct value *step)
{
        struct str p = text(step, "propagation");

        return str_equal(p, STR("Background"))   ? PROPAGATE_BACKGROUND
               : str_equal(p, STR("Foreground")) ? PROPAGATE_FOREGROUND
               : str_equal(p, STR("Orphan"))     ? PROPAGATE_ORPHAN
                                                 : PROPAGATE_UNSET;
}

static const struct {
        const char *name;
        enum write_verb verb;
} verbs[] = {
        { "create", WRITE_CREATE },
        { "update", WRITE_UPDATE },
        { "json", WRITE_JSON_PATCH },
        { "merge", WRITE_MERGE_PATCH },
        { "strategic", WRITE_STRATEGIC_PATCH },
        { "apply", WRITE_APPLY },
        { "delete", WRITE_DELETE },
};

static bool find_verb(struct str op, enum write_verb *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
                if (str_equal(op, str_from(verbs[i].name))) {
                        *ret = verbs[i].verb;
                        return true;
                }
        return false;
}

/* The user of the real API's tests (tests/interop/kube-peer.sh). */
static struct run run_of(struct sequence *s, struct str_list *warnings)
{
        static const struct str groups[] = { STR_INIT("system:masters"), STR_INIT("system:authenticated") };

        str_list_init(warnings, s->arena);
        return (struct run) {
                .arena = s->arena,
                .deadline = deadline_after_ms(WAIT_MS),
                .user = { .name = STR("admin"), .uid = STR("1"), .groups = groups, .n_groups = ARRAY_SIZE(groups) },
                .cause = STR("a step of a sequence"),
                .warnings = warnings,
        };
}

/* --- Results --- */

struct result {
        struct sequence *s;
        struct object_builder b;
};

static void add(struct result *r, const char *key, struct value v)
{
        object_builder_set(&r->b, str_from(key), v);
}

static void add_texts(struct result *r, const char *key, const struct str_list *list)
{
        struct array_builder b;

        array_builder_init(&b, r->s->arena, list->n);
        for (size_t i = 0; i < list->n; i++)
                array_builder_add(&b, value_of_str(list->p[i]));
        add(r, key, array_builder_finish(&b));
}

static void add_status(struct result *r, const struct err *err)
{
        static const char *const kept[] = { "reason", "message", "details" };
        const struct value *status = value_put(r->s->arena, status_of_err(r->s->arena, err));
        struct object_builder b;

        object_builder_init(&b, r->s->arena, ARRAY_SIZE(kept));
        for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
                if (value_get(status, str_from(kept[i])))
                        object_builder_add(&b, str_from(kept[i]), *value_get(status, str_from(kept[i])));
        add(r, "code", *value_get(status, STR("code")));
        add(r, "status", object_builder_finish(&b));
}

/* Keeps the answer of this step for later steps. */
static void remember(struct sequence *s, const struct value *step, const struct value *object)
{
        s->answers = value_with_appended(s->arena, s->answers, object ? object : &value_null);
        if (!object || flag(step, "dryRun") || str_equal(text(step, "sub"), STR("scale")) ||
            str_equal(text(step, "op"), STR("list")) || str_equal(text(step, "op"), STR("deletecollection")))
                return;
        if (!s->first)
                s->first = object;
        s->last = object;
}

/* --- Writes and reads --- */

static const struct value *do_write(struct result *r, const struct value *step, enum write_verb verb, struct run *run)
{
        struct sequence *s = r->s;
        _cleanup_err_ struct err err = { 0 };
        struct str_list duplicates;
        struct write_result result;
        struct write_request req = {
                .verb = verb,
                .key = key_of(step),
                .subresource = text(step, "sub"),
                .manager = text(step, "manager"),
                .force = flag(step, "force"),
                .is_dry_run = flag(step, "dryRun"),
                .field_validation = validation_of(step),
                .precondition_uid = verb == WRITE_DELETE ? resolved_text(s, step, "uid") : STR(""),
                .precondition_version = verb == WRITE_DELETE ? resolved_text(s, step, "version") : STR(""),
                .propagation = propagation_of(step),
        };

        str_list_init(&duplicates, s->arena);
        req.body = body_of(s, step, &duplicates);
        req.duplicate_fields = duplicates.p;
        req.n_duplicate_fields = duplicates.n;
        if (verb == WRITE_CREATE)
                req.key.name = STR("");
        if (cluster_write(s->cluster, run, &req, &result, &err) < 0) {
                add_status(r, &err);
                return NULL;
        }
        add(r, "code", value_of_int(result.is_created ? 201 : 200));
        if (!result.object) {
                add(r, "removed", value_of_str(meta_uid(result.value)));
                return NULL;
        }
        add(r, "object", *result.value);
        return result.value;
}

static const struct value *do_get(struct result *r, const struct value *step, struct run *run)
{
        _cleanup_err_ struct err err = { 0 };
        struct object *object;
        struct get_request req = {
                .key = key_of(step),
                .subresource = text(step, "sub"),
                .resource_version = resolved_text(r->s, step, "version"),
        };
        const struct value *v;

        if (cluster_get(r->s->cluster, run, &req, &object, &err) < 0) {
                add_status(r, &err);
                return NULL;
        }
        v = object_value(object, r->s->arena);
        add(r, "code", value_of_int(200));
        add(r, "object", *v);
        return v;
}

static enum version_match match_of(const struct value *step)
{
        struct str match = text(step, "match");

        return str_equal(match, STR("Exact"))          ? MATCH_EXACT
               : str_equal(match, STR("NotOlderThan")) ? MATCH_NOT_OLDER_THAN
                                                       : MATCH_UNSET;
}

/* Selectors from text, as clients send them. */
struct selectors {
        struct label_selector labels;
        struct field_selector fields;
        const struct label_selector *with_labels;
        const struct field_selector *with_fields;
};

static int parse_selectors(struct sequence *s, const struct value *step, struct selectors *ret, struct err *err)
{
        int r = 0;

        *ret = (struct selectors) { 0 };
        if (text(step, "labels").n) {
                r = label_selector_parse(s->arena, text(step, "labels"), &ret->labels, err);
                ret->with_labels = &ret->labels;
        }
        if (r == 0 && text(step, "fields").n) {
                r = field_selector_parse(s->arena, text(step, "fields"), &ret->fields, err);
                ret->with_fields = &ret->fields;
        }
        if (r < 0)
                err_set_reason(err, REASON_BAD_REQUEST);
        return r;
}

/* A list as the API writes it, as far as the interface tells. */
static struct value list_value(struct arena *a, const struct object_list *list)
{
        struct object_builder b, metadata;
        struct array_builder items;

        object_builder_init(&metadata, a, 3);
        object_builder_add(&metadata, STR("resourceVersion"), value_of_str(list->resource_version));
        if (list->continue_token.n)
                object_builder_add(&metadata, STR("continue"), value_of_str(list->continue_token));
        if (list->remaining > 0)
                object_builder_add(&metadata, STR("remainingItemCount"), value_of_int(list->remaining));
        array_builder_init(&items, a, list->n);
        for (size_t i = 0; i < list->n; i++)
                array_builder_add(&items, *object_list_value(list, i, a));
        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("items"), array_builder_finish(&items));
        return object_builder_finish(&b);
}

static int make_list(struct result *r, const struct value *step, struct run *run, struct object_list *ret,
                     struct err *err)
{
        struct sequence *s = r->s;
        struct object_key key = key_of(step);
        struct selectors selectors;
        struct list_request req;
        struct write_request deletion = { .verb = WRITE_DELETE,
                                          .propagation = propagation_of(step),
                                          .is_dry_run = flag(step, "dryRun") };
        int result = parse_selectors(s, step, &selectors, err);

        if (result < 0)
                return result;
        req = (struct list_request) {
                .gvk = key.gvk,
                .ns = key.ns,
                .labels = selectors.with_labels,
                .fields = selectors.with_fields,
                .limit = (size_t)value_int(value_get(step, STR("limit")), 0),
                .continue_token = resolved_text(s, step, "continue"),
                .resource_version = resolved_text(s, step, "version"),
                .match = match_of(step),
        };
        if (str_equal(text(step, "op"), STR("list")))
                return cluster_list(s->cluster, run, &req, ret, err);
        return cluster_delete_collection(s->cluster, run, &req, &deletion, ret, err);
}

static const struct value *do_list(struct result *r, const struct value *step, struct run *run)
{
        _cleanup_err_ struct err err = { 0 };
        struct object_list list;
        const struct value *v;

        if (make_list(r, step, run, &list, &err) < 0) {
                add_status(r, &err);
                return NULL;
        }
        v = value_put(r->s->arena, list_value(r->s->arena, &list));
        add(r, "code", value_of_int(200));
        add(r, "object", *v);
        return v;
}

/* --- Watches --- */

static void do_watch(struct result *r, const struct value *step, struct run *run)
{
        struct sequence *s = r->s;
        struct sequence_watch *w = ARENA_NEW(s->arena, struct sequence_watch);
        _cleanup_err_ struct err err = { 0 };
        struct object_key key = key_of(step);
        struct selectors selectors;
        struct watch_request req;
        int result = parse_selectors(s, step, &selectors, &err);

        *w = (struct sequence_watch) { .next = s->watches, .name = text(step, "watch") };
        req = (struct watch_request) {
                .gvk = key.gvk,
                .ns = key.ns,
                .labels = selectors.with_labels,
                .fields = selectors.with_fields,
                .resource_version = resolved_text(s, step, "version"),
                .sends_initial_events = flag(step, "initial"),
                .wants_bookmarks = flag(step, "bookmarks"),
        };
        if (result == 0)
                result = cluster_watch(s->cluster, run, &req, &w->watch, &err);
        if (result < 0) {
                add_status(r, &err);
                return;
        }
        s->watches = w;
        add(r, "code", value_of_int(200));
}

static struct sequence_watch *find_watch(const struct sequence *s, const struct value *step)
{
        struct sequence_watch *w = s->watches;

        while (w && !str_equal(w->name, text(step, "watch")))
                w = w->next;
        return w;
}

static struct value bookmark(struct arena *a, const struct watch_event *e)
{
        const struct value *v =
                meta_with_str(a, &value_empty_object, STR("resourceVersion"), arena_printf(a, "%" PRIu64, e->version));

        return e->ends_initial ? *meta_with_annotation(a, v, STR("k8s.io/initial-events-end"), STR("true")) : *v;
}

static struct value event_value(struct arena *a, const char *type, const struct value *object)
{
        struct object_builder b;

        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("type"), value_of_str(str_from(type)));
        if (object)
                object_builder_add(&b, STR("object"), *object);
        return object_builder_finish(&b);
}

/* False when no more can come. */
static bool next_event(struct sequence *s, struct sequence_watch *w, struct run *run, struct array_builder *events)
{
        static const char *const types[] = {
                [WATCH_ADDED] = "ADDED",       [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED",
                [WATCH_BOOKMARK] = "BOOKMARK", [WATCH_ERROR] = "ERROR",
        };
        _cleanup_err_ struct err err = { 0 };
        struct watch_event e = { 0 };
        struct value v;
        int r;

        do
                r = watch_next(w->watch, run, &e, &err);
        while (r >= 0 && e.type == WATCH_BOOKMARK && !e.ends_initial); /* a clock sends these between any two events */
        if (r == ERR_CLOSED || r == ERR_TIMEOUT) {
                array_builder_add(events, event_value(s->arena, r == ERR_CLOSED ? "CLOSED" : "NOTHING", NULL));
                return false;
        }
        if (r < 0) {
                v = status_of_err(s->arena, &err);
                array_builder_add(events, event_value(s->arena, "ERROR", &v));
                return false;
        }
        v = e.object ? *object_value(e.object, s->arena) : bookmark(s->arena, &e);
        array_builder_add(events, event_value(s->arena, types[e.type], &v));
        return true;
}

static void do_events(struct result *r, const struct value *step, struct run *run)
{
        int64_t count = value_int(value_get(step, STR("count")), 1);
        struct sequence_watch *w = find_watch(r->s, step);
        struct array_builder events;

        array_builder_init(&events, r->s->arena, (size_t)count);
        for (int64_t i = 0; w && w->watch && i < count; i++)
                if (!next_event(r->s, w, run, &events))
                        break;
        add(r, "events", array_builder_finish(&events));
}

static void do_stop(struct sequence *s, const struct value *step)
{
        struct sequence_watch *w = find_watch(s, step);

        if (w && w->watch)
                watch_free(TAKE(w->watch));
}

const struct value *sequence_do(struct sequence *s, const struct value *step)
{
        struct result r = { .s = s };
        struct str op = text(step, "op");
        const struct value *object = NULL;
        struct str_list warnings;
        struct run run = run_of(s, &warnings);
        enum write_verb verb;

        object_builder_init(&r.b, s->arena, 4);
        if (find_verb(op, &verb)) {
                object = do_write(&r, step, verb, &run);
                add_texts(&r, "warnings", &warnings);
        } else if (str_equal(op, STR("get"))) {
                object = do_get(&r, step, &run);
                add_texts(&r, "warnings", &warnings);
        } else if (str_equal(op, STR("list")) || str_equal(op, STR("deletecollection"))) {
                object = do_list(&r, step, &run);
                add_texts(&r, "warnings", &warnings);
        } else if (str_equal(op, STR("watch"))) {
                do_watch(&r, step, &run);
        } else if (str_equal(op, STR("events"))) {
                do_events(&r, step, &run);
        } else if (str_equal(op, STR("stop"))) {
                do_stop(s, step);
        } else if (str_equal(op, STR("tick")) && s->tick) {
                s->tick(s->tick_arg);
        }
        remember(s, step, object);
        return value_put(s->arena, object_builder_finish(&r.b));
}
