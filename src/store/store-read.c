/* Reading: objects are found under the mutex and looked at without it. */
#include "store-state.h"

#include "number.h"

#define AWAIT_MS 3000 /* for a version that does not exist yet */

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

int read_object(struct store *s, const struct served *served, struct arena *a, struct object *stored, uint32_t serial,
                struct object **ret, const struct value **ret_value, struct err *err)
{
        const struct value *v, *read;
        struct object *made;
        int r;

        if (!served->kind || (serial == served->serial && served->version == kind_storage(served->kind))) {
                *ret = object_pin(stored, a);
                if (ret_value)
                        *ret_value = object_value(stored, a);
                return 0;
        }
        v = object_value(stored, a);
        r = pipeline_read(served->kind, served->version, a, v, &read, err);
        if (r < 0)
                return r;
        if (ret_value)
                *ret_value = read;
        if (read == v) {
                *ret = object_pin(stored, a);
                return 0;
        }
        made = object_new(s->cache, object_version(stored), read);
        *ret = object_pin(made, a);
        object_unref(made);
        return 0;
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
               (str_equal(subresource, STR("scale")) && version->has_scale);
}

static int get_scale(struct store *s, const struct served *served, struct run *run, struct object *o,
                     const struct value *v, struct object **ret, struct err *err)
{
        struct value scale;
        struct object *made;
        int r = scale_of(run->arena, served->version, v, &scale, err);

        if (r < 0)
                return r;
        made = object_new(s->cache, object_version(o), &scale);
        *ret = object_pin(made, run->arena);
        object_unref(made);
        return 0;
}

/* The object as it is now, counted; NULL when it is not there. */
static struct object *find_object(struct store *s, struct arena *a, const struct served *served,
                                  const struct object_key *wanted, uint32_t *ret_serial)
{
        struct str key = make_key(a, served->kind->is_namespaced ? wanted->namespace : STR(""), wanted->name);
        struct object *o = NULL;
        const struct entry *e;

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
        const struct value *v;
        struct served served;
        uint64_t version;
        uint32_t serial = 0;
        int r = kinds_lookup(s, run->arena, req->key.gvk, SCOPE_UNKNOWN, &served, err);

        if (r < 0)
                return r;
        pipeline_warn_deprecated(served.version, run);
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
        r = read_object(s, &served, run->arena, o, serial, ret, &v, err);
        if (r == 0 && str_equal(req->subresource, STR("scale")))
                r = get_scale(s, &served, run, o, v, ret, err);
        return r;
}
