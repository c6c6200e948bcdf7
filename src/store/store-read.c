/* Reading: finds objects under the mutex and decodes them without it. */
#include "store-state.h"

#include "number.h"

#define AWAIT_MS 3000 /* how long a read waits for a version that does not exist yet */

int read_version_number(struct str text, uint64_t *ret, struct err *err)
{
        *ret = 0;
        if (text.n == 0)
                return 0;
        if (number_parse_uint(text, ret, err) == 0)
                return 0;
        (err_wrap)(err, "resourceVersion: Invalid value: \"%.*s\"", STR_ARG(text));
        return ERR_INVALID;
}

static int too_large_version(uint64_t wanted, uint64_t current, struct err *err)
{
        err_set(err, ERR_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
                (unsigned long long)wanted, (unsigned long long)current);
        err_set_reason(err, REASON_TIMEOUT);
        err_set_details(err,
                        STR("{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large resource "
                            "version\"}],\"retryAfterSeconds\":1}"));
        return ERR_TIMEOUT;
}

int read_await_version(struct store *s, struct run *run, uint64_t version, struct err *err)
{
        struct deadline deadline = deadline_earliest(run->deadline, deadline_after_ms(AWAIT_MS));
        uint64_t current;
        int r = 0;

        mutex_lock(&s->mutex);
        while (s->version < version && r == 0) {
                struct waiter w;

                waiters_append(&s->version_waiters, &w);
                r = waiters_wait(&s->version_waiters, &w, &s->mutex, "version", "store", deadline, run->cancel);
        }
        current = s->version;
        mutex_unlock(&s->mutex);
        if (current >= version)
                return 0;
        return r == ERR_TIMEOUT ? too_large_version(version, current, err)
                                : wait_error(r, run->cancel, "waiting for a resource version", err);
}

/* --- Views --- */

static bool is_selective(const struct store_view *v)
{
        return v->labels || v->fields || v->owner_uid.n;
}

static bool has_owner(struct arena *a, const struct value *object, struct str uid)
{
        const struct owner_reference *owners;
        size_t n = owner_references(a, object, &owners);

        for (size_t i = 0; i < n; i++)
                if (str_equal(owners[i].uid, uid))
                        return true;
        return false;
}

static bool selects(const struct store_view *v, struct arena *scratch, const struct value *object)
{
        if (v->labels && !label_selector_matches(v->labels, value_get(meta(object), STR("labels"))))
                return false;
        if (v->fields && !field_selector_matches(v->fields, object))
                return false;
        return v->owner_uid.n == 0 || has_owner(scratch, object, v->owner_uid);
}

static const struct value *look_at(const struct store_view *v, struct arena *scratch, struct object *o)
{
        return v->is_shared ? object_value(o, scratch) : object_peek(o, scratch);
}

/* For an object that needs no conversion: the reader gets the stored object. */
static int view_as_is(const struct store_view *v, struct arena *scratch, struct object *o, struct object **ret)
{
        if (is_selective(v) && !selects(v, scratch, look_at(v, scratch, o)))
                return 0;
        *ret = object_ref(o);
        return 1;
}

/* The key of a converted object among the variants of the stored one: the table's serial and the version. */
static uint64_t variant_key(const struct served *served)
{
        return (uint64_t)served->serial << 32 | (uint64_t)(served->version - served->kind->versions) << 1;
}

/* The object in the reader's version, counted; *ret_value is its value, in scratch. */
static int convert(const struct store_view *v, struct arena *scratch, struct object *stored, struct object **ret,
                   const struct value **ret_value, struct err *err)
{
        const struct served *served = v->served;
        const struct value *from = look_at(v, scratch, stored);
        struct object *made;
        int r = prepare_read(served->kind, served->version, scratch, from, ret_value, err);

        if (r < 0)
                return r;
        if (*ret_value == from) {
                *ret = object_ref(stored);
                return 0;
        }
        if (!v->is_shared && !selects(v, scratch, *ret_value)) {
                *ret = NULL;
                return 0;
        }
        made = object_new(v->s->cache, object_version(stored), *ret_value);
        *ret = v->is_shared ? object_add_variant(stored, variant_key(served), made) : object_ref(made);
        object_unref(made);
        return 0;
}

int view_object(const struct store_view *v, struct arena *scratch, struct object *stored, uint32_t serial,
                struct object **ret, struct err *err)
{
        const struct served *served = v->served;
        _cleanup_object_ struct object *found = NULL;
        const struct value *value;
        int r;

        if (!served->kind || (serial == served->serial && served->version == kind_storage(served->kind)))
                return view_as_is(v, scratch, stored, ret);
        found = object_variant(stored, variant_key(served));
        if (found)
                return view_as_is(v, scratch, found, ret);
        r = convert(v, scratch, stored, &found, &value, err);
        if (r < 0 || !found || !selects(v, scratch, value))
                return r;
        *ret = TAKE(found);
        return 1;
}

/* The object before an event, with the event's version. It is kept as a variant of the event's own object. */
struct object *view_departed(const struct store_view *v, struct object *before, struct object *after)
{
        uint64_t key = (v->served->kind ? variant_key(v->served) : 0) | 1;
        struct object *made, *kept = object_variant(after, key);

        if (kept)
                return kept;
        made = object_with_version(before, object_version(after));
        kept = object_add_variant(after, key, made);
        object_unref(made);
        return kept;
}

struct object *store_pin_counted(struct object *o, struct arena *a)
{
        object_pin(o, a);
        object_unref(o);
        return o;
}

/* --- Get --- */

static int not_found(const struct served *served, struct arena *a, const struct object_key *key, struct err *err)
{
        struct status_subject subject = { .group = key->gvk.group, .kind = key->gvk.kind, .name = key->name };

        subject.plural = served->kind ? served->kind->plural : kind_guess_plural(a, key->gvk.kind);
        return status_not_found(err, &subject);
}

static bool has_subresource(const struct kind_version *version, struct str subresource)
{
        return subresource.n == 0 || (str_equal(subresource, STR("status")) && version->has_status) ||
               (str_equal(subresource, STR("approval")) && version->has_approval) ||
               (str_equal(subresource, STR("scale")) && version->has_scale);
}

static int get_scale(struct store *s, const struct served *served, struct run *run, struct object *o,
                     struct object **ret, struct err *err)
{
        struct value scale;
        int r = scale_of(run->arena, served->version, object_value(o, run->arena), &scale, err);

        if (r < 0)
                return r;
        *ret = store_pin_counted(object_new(s->cache, object_version(o), &scale), run->arena);
        return 0;
}

/* The object in the version that was asked for, pinned to the run's arena. */
static int get_view(struct store *s, const struct served *served, struct run *run, struct object *stored,
                    uint32_t serial, struct object **ret, struct err *err)
{
        struct store_view view = { .s = s, .served = served, .is_shared = true };
        _cleanup_arena_ struct arena scratch;
        int r;

        arena_init(&scratch, "get", 0);
        r = view_object(&view, &scratch, stored, serial, ret, err);
        if (r < 0)
                return r;
        store_pin_counted(*ret, run->arena);
        return 0;
}

/* The object as it is now, counted; NULL when it is not there. */
static struct object *find_object(struct store *s, struct arena *a, const struct served *served,
                                  const struct object_key *wanted, uint32_t *ret_serial)
{
        struct str key = store_make_key(a, served->kind->is_namespaced ? wanted->ns : STR(""), wanted->name);
        struct object *o = NULL;
        const struct store_entry *e;

        mutex_lock(&s->mutex);
        e = tree_find(&served->table->objects, key);
        if (e && e->object) {
                o = object_ref(e->object);
                *ret_serial = e->serial;
        }
        mutex_unlock(&s->mutex);
        return o;
}

int read_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret, struct err *err)
{
        struct store *s = store_of(c);
        _cleanup_object_ struct object *o = NULL;
        struct served served;
        uint64_t version;
        uint32_t serial = 0;
        int r = kinds_lookup(s, run->arena, req->key.gvk, SCOPE_UNKNOWN, &served, err);

        if (r < 0)
                return r;
        prepare_warn_deprecated(served.version, run);
        r = read_version_number(req->resource_version, &version, err);
        if (r < 0) {
                err_set_reason(err, REASON_UNKNOWN);
                return r;
        }
        r = read_await_version(s, run, version, err);
        if (r < 0)
                return r;
        if (served.kind && has_subresource(served.version, req->subresource))
                o = find_object(s, run->arena, &served, &req->key, &serial);
        if (!o)
                return not_found(&served, run->arena, &req->key, err);
        r = get_view(s, &served, run, o, serial, ret, err);
        if (r == 0 && str_equal(req->subresource, STR("scale")))
                r = get_scale(s, &served, run, *ret, ret, err);
        return r;
}
