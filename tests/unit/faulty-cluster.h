/* A cluster in front of another one: counts the calls, injects faults, and can show writes of others late. */
#pragma once

#include "cluster.h"
#include "late-reads.h"

enum fault_mode {
        FAULT_NONE,
        FAULT_BEFORE,   /* the call is not made */
        FAULT_AFTER,    /* the call is made, but returns an error */
        FAULT_CONFLICT, /* a write fails with a conflict */
        FAULT_CRASH,    /* like FAULT_AFTER, and all later calls fail too */
        _FAULT_MODES,
};

struct counted_write {
        enum write_verb verb;
        struct object_key key;
        struct str subresource;
        struct str cause;
};

struct faulty_cluster {
        struct cluster cluster;
        struct cluster *inner;
        struct arena *arena; /* of the recorded writes */
        enum fault_mode mode;
        size_t at; /* the call that fails, or the write; counts from 1 */
        size_t n_calls;
        size_t n_writes;
        bool has_fired;
        struct counted_write writes[256];                      /* the first 256 */
        void (*before_write)(const struct write_request *req); /* called first; may be NULL */
        bool (*refuses)(const struct write_request *req);      /* a write that is not made, but fails; may be NULL */
        const char *missing_kind;                              /* a kind that the API does not have; NULL: none */
        struct late_reads late;
        const char *denied_verbs; /* verbs that are denied: `create update`; NULL: none */
};

static inline void faulty_reset(struct faulty_cluster *f, enum fault_mode mode, size_t at)
{
        f->mode = mode;
        f->at = at;
        f->n_calls = f->n_writes = 0;
        f->has_fired = false;
}

static inline int injected(struct faulty_cluster *f, struct err *err)
{
        struct status_subject subject = { .group = STR("example.org"), .plural = STR("things"), .name = STR("x") };

        f->has_fired = true;
        return f->mode == FAULT_CONFLICT ? status_modified(err, &subject) : err_set(err, ERR_FAILED, "injected");
}

/* The number that is compared with `at`. FAULT_BEFORE counts all calls, because each can end the run; the other modes count writes,
 * where a fault has an effect. */
static inline size_t position(const struct faulty_cluster *f)
{
        return f->mode == FAULT_BEFORE ? f->n_calls : f->n_writes;
}

static inline bool fails_before(struct faulty_cluster *f, bool is_write)
{
        f->n_calls++;
        f->n_writes += is_write;
        switch (f->mode) {
        case FAULT_BEFORE:
                return position(f) == f->at;
        case FAULT_CONFLICT:
                return is_write && position(f) == f->at;
        case FAULT_CRASH:
                return f->has_fired;
        case FAULT_NONE:
        case FAULT_AFTER:
        case _FAULT_MODES:
                return false;
        }
        return false;
}

static inline bool fails_after(const struct faulty_cluster *f, bool is_write)
{
        return is_write && (f->mode == FAULT_AFTER || f->mode == FAULT_CRASH) && position(f) == f->at;
}

#define FAULTY_CALL(f, err, is_write, call)                          \
        ({                                                           \
                int _r;                                              \
                if (fails_before((f), (is_write))) {                 \
                        _r = injected((f), (err));                   \
                } else {                                             \
                        _r = (call);                                 \
                        if (_r >= 0 && fails_after((f), (is_write))) \
                                _r = injected((f), err);             \
                }                                                    \
                _r;                                                  \
        })

static inline struct faulty_cluster *faulty_of(struct cluster *c)
{
        return CONTAINER_OF(c, struct faulty_cluster, cluster);
}

static inline bool is_missing(const struct faulty_cluster *f, struct gvk gvk)
{
        return f->missing_kind && str_equal(gvk.kind, str_from(f->missing_kind));
}

static inline int no_such_kind(struct err *err)
{
        return err_set(err, ERR_NOT_FOUND, "the server could not find the requested resource");
}

static inline int faulty_get(struct cluster *c, struct run *run, const struct get_request *req, struct object **ret,
                             struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);

        return FAULTY_CALL(f, err, false,
                           is_missing(f, req->key.gvk) ? no_such_kind(err)
                           : f->late.store             ? late_get(&f->late, f->inner, run, req, ret, err)
                                                       : cluster_get(f->inner, run, req, ret, err));
}

/* A list is one call, with any number of batches. */
static inline int faulty_list_begin(struct cluster *c, struct run *run, const struct list_request *req,
                                    struct list_cursor **ret, struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);

        return FAULTY_CALL(f, err, false,
                           f->late.store ? late_list_begin(&f->late, f->inner, run, req, ret, err)
                                         : cluster_list_begin(f->inner, run, req, ret, err));
}

static inline int write_and_note(struct faulty_cluster *f, struct run *run, const struct write_request *req,
                                 struct write_result *ret, struct err *err)
{
        int r = cluster_write(f->inner, run, req, ret, err);

        if (r >= 0)
                late_note(&f->late, f->arena, req, ret);
        return r;
}

static inline int faulty_write(struct cluster *c, struct run *run, const struct write_request *req,
                               struct write_result *ret, struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);

        if (f->before_write)
                f->before_write(req);
        if (f->n_writes < ARRAY_SIZE(f->writes))
                f->writes[f->n_writes] = (struct counted_write) {
                        .verb = req->verb,
                        .key = object_key_copy(f->arena, &req->key),
                        .subresource = arena_copy(f->arena, req->subresource),
                        .cause = arena_copy(f->arena, run->cause),
                };
        return FAULTY_CALL(f, err, true,
                           is_missing(f, req->key.gvk)       ? no_such_kind(err)
                           : (f->refuses && f->refuses(req)) ? injected(f, err)
                                                             : write_and_note(f, run, req, ret, err));
}

static inline int faulty_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);

        if (is_missing(f, gvk))
                return err_set(err, ERR_NOT_FOUND, "no matches for kind \"%.*s\" in version \"%.*s/%.*s\"",
                               STR_ARG(gvk.kind), STR_ARG(gvk.group), STR_ARG(gvk.version));
        return fails_before(f, false) ? injected(f, err) : f->inner->ops->kind(f->inner, run, gvk, ret, err);
}

static inline int faulty_resource(struct cluster *c, struct run *run, struct gvr gvr, struct kind **ret,
                                  struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);

        return fails_before(f, false) ? injected(f, err) : f->inner->ops->resource(f->inner, run, gvr, ret, err);
}

static inline int faulty_kinds(struct cluster *c, struct run *run, struct kind_list *ret, struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);

        return FAULTY_CALL(f, err, false, cluster_kinds(f->inner, run, ret, err));
}

static inline uint64_t faulty_kinds_version(struct cluster *c)
{
        return cluster_kinds_version(faulty_of(c)->inner);
}

static inline int faulty_may(struct cluster *c, struct run *run, const struct access_request *req, bool *ret,
                             struct err *err)
{
        struct faulty_cluster *f = faulty_of(c);
        const char *verb = arena_cstring(run->arena, req->verb);

        *ret = !f->denied_verbs || (req->verb.p[0] != '*' && !strstr(f->denied_verbs, verb));
        return FAULTY_CALL(f, err, false, 0);
}

static inline void faulty_free(struct cluster *c)
{
}

static inline void faulty_init(struct faulty_cluster *f, struct cluster *inner, struct arena *a)
{
        static const struct cluster_ops ops = {
                .get = faulty_get,
                .list_begin = faulty_list_begin,
                .write = faulty_write,
                .kind = faulty_kind,
                .resource = faulty_resource,
                .kinds = faulty_kinds,
                .kinds_version = faulty_kinds_version,
                .may = faulty_may,
                .free = faulty_free,
        };

        *f = (struct faulty_cluster) { .cluster = { .ops = &ops }, .inner = inner, .arena = a };
}
