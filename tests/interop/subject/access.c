/* Roles, bindings, questions and writes by all kinds of users, which a real API server has been through as well (tests/interop/access). */
#include "subject.h"

#include "access.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

static struct store *the_store;
static struct access *the_access;
static struct cluster *the_cluster; /* checks the user */

static void must(int r, const struct err *err)
{
        if (r == 0)
                return;
        fprintf(stderr, "subject: %s\n", err_message(err));
        exit(1);
}

static void set_up(struct arena *a)
{
        _cleanup_err_ struct err err = { 0 };
        struct store_options options = { .without_gc = true };
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct admission_hook hook;

        must(store_new(&options, &the_store, &err), &err);
        must(access_new(store_cluster(the_store), &the_access, &err), &err);
        hook = access_hook(the_access);
        store_add_hook(the_store, &hook);
        must(access_cluster_new(store_cluster(the_store), the_access, &the_cluster, &err), &err);
        must(access_bootstrap(store_cluster(the_store), &run, &err), &err);
}

/* --- Requests --- */

static struct user user_of(struct arena *a, const struct value *v)
{
        const struct value *list = value_get(v, STR("groups"));
        struct str *groups = ARENA_NEW_ARRAY(a, struct str, value_count(list) + 1);

        for (size_t i = 0; i < value_count(list); i++)
                groups[i] = value_str(value_item(list, i));
        return (struct user) { .name = value_str(value_get(v, STR("user"))),
                               .groups = groups,
                               .n_groups = value_count(list) };
}

static struct str text_of(const struct value *v, const char *key)
{
        return value_str(value_get(v, str_from(key)));
}

static struct gvk kind_of(const struct value *v)
{
        return (struct gvk) { text_of(v, "group"), STR("v1"), text_of(v, "kind") };
}

static struct object_key key_of(const struct value *v)
{
        return (struct object_key) { .gvk = kind_of(v), .ns = text_of(v, "namespace"), .name = text_of(v, "name") };
}

static const struct field_selector *fields_of(struct arena *a, const struct value *v)
{
        struct field_selector *s = ARENA_NEW(a, struct field_selector);
        struct str text = text_of(v, "fields");
        _cleanup_err_ struct err err = { 0 };

        if (text.n == 0)
                return NULL;
        must(field_selector_parse(a, text, s, &err), &err);
        return s;
}

static int call_list(struct run *run, const struct value *c, struct err *err)
{
        struct list_request req = { .gvk = kind_of(c),
                                    .ns = text_of(c, "namespace"),
                                    .fields = fields_of(run->arena, c) };
        struct object_list list;

        return cluster_list(the_cluster, run, &req, &list, err);
}

static int call_watch(struct run *run, const struct value *c, struct err *err)
{
        struct watch_request req = { .gvk = kind_of(c),
                                     .ns = text_of(c, "namespace"),
                                     .fields = fields_of(run->arena, c) };
        _cleanup_(watch_freep)
        struct watch *w = NULL;

        return cluster_watch(the_cluster, run, &req, &w, err);
}

static int call_delete_collection(struct run *run, const struct value *c, struct err *err)
{
        struct list_request list = { .gvk = kind_of(c),
                                     .ns = text_of(c, "namespace"),
                                     .fields = fields_of(run->arena, c) };
        struct write_request req = { .verb = WRITE_DELETE };
        struct object_list deleted;

        return cluster_delete_collection(the_cluster, run, &list, &req, &deleted, err);
}

static int call_write(struct run *run, const struct value *c, enum write_verb verb, int *ret_code, struct err *err)
{
        struct write_request req = {
                .verb = verb,
                .key = key_of(c),
                .subresource = text_of(c, "subresource"),
                .body = value_get(c, STR("body")),
                .manager = STR("test"),
        };
        struct write_result result = { 0 };
        int r;

        if (verb == WRITE_CREATE)
                req.key.name = STR("");
        r = cluster_write(the_cluster, run, &req, &result, err);
        *ret_code = r == 0 && result.is_created ? 201 : 200;
        return r;
}

static int call(struct run *run, const struct value *c, int *ret_code, struct err *err)
{
        static const struct {
                const char *verb;
                enum write_verb write;
        } writes[] = {
                { "create", WRITE_CREATE },        { "update", WRITE_UPDATE }, { "patch", WRITE_MERGE_PATCH },
                { "jsonpatch", WRITE_JSON_PATCH }, { "apply", WRITE_APPLY },   { "delete", WRITE_DELETE },
        };
        struct str verb = text_of(c, "verb");
        struct get_request get = { .key = key_of(c), .subresource = text_of(c, "subresource") };
        struct object *o;

        *ret_code = 200;
        for (size_t i = 0; i < ARRAY_SIZE(writes); i++)
                if (str_equal(verb, str_from(writes[i].verb)))
                        return call_write(run, c, writes[i].write, ret_code, err);
        if (str_equal(verb, STR("get")))
                return cluster_get(the_cluster, run, &get, &o, err);
        if (str_equal(verb, STR("list")))
                return call_list(run, c, err);
        if (str_equal(verb, STR("watch")))
                return call_watch(run, c, err);
        return call_delete_collection(run, c, err);
}

static const struct value *call_result(struct run *run, const struct value *c)
{
        _cleanup_err_ struct err err = { 0 };
        struct object_builder b;
        struct value status;
        int code;

        object_builder_init(&b, run->arena, 4);
        if (call(run, c, &code, &err) == 0) {
                object_builder_add(&b, STR("code"), value_of_int(code));
                return value_put(run->arena, object_builder_finish(&b));
        }
        status = status_of_err(run->arena, &err);
        VALUE_FOREACH_MEMBER (m, &status)
                if (str_equal(m->key, STR("code")) || str_equal(m->key, STR("message")) ||
                    str_equal(m->key, STR("reason")) || str_equal(m->key, STR("details")))
                        object_builder_add(&b, m->key, m->value);
        return value_put(run->arena, object_builder_finish(&b));
}

/* --- Reviews --- */

/* The spec of a SubjectAccessReview as a question. */
static struct access_request question_of(const struct value *spec)
{
        const struct value *r = value_get(spec, STR("resourceAttributes"));
        const struct value *p = value_get(spec, STR("nonResourceAttributes"));

        if (p)
                return (struct access_request) { .verb = text_of(p, "verb"), .path = text_of(p, "path") };
        return (struct access_request) {
                .verb = text_of(r, "verb"),
                .gvk = { .group = text_of(r, "group"), .version = text_of(r, "version") },
                .plural = text_of(r, "resource"),
                .subresource = text_of(r, "subresource"),
                .ns = text_of(r, "namespace"),
                .name = text_of(r, "name"),
        };
}

static const struct value *review(struct run *run, const struct value *spec)
{
        struct access_request q = question_of(spec);
        _cleanup_err_ struct err err = { 0 };
        struct object_builder b;
        struct str reason;
        bool is_allowed;

        must(access_may(the_access, run, &q, &is_allowed, &reason, &err), &err);
        object_builder_init(&b, run->arena, 2);
        object_builder_add(&b, STR("allowed"), value_of_bool(is_allowed));
        if (reason.n)
                object_builder_add(&b, STR("reason"), value_of_str(reason));
        return value_put(run->arena, object_builder_finish(&b));
}

static const struct value *rules(struct run *run, struct str ns)
{
        _cleanup_err_ struct err err = { 0 };
        struct value v;

        must(access_rules(the_access, run, ns, &v, &err), &err);
        return value_put(run->arena, v);
}

/* --- Aggregation --- */

static const struct value *rules_of(struct run *run, struct str name)
{
        struct object_key key = { .gvk = { STR("rbac.authorization.k8s.io"), STR("v1"), STR("ClusterRole") },
                                  .name = name };
        _cleanup_err_ struct err err = { 0 };
        const struct value *role, *list;

        must(cluster_get_value(store_cluster(the_store), run, &key, &role, &err), &err);
        list = value_get(role, STR("rules"));
        return value_is_array(list) ? list : &value_empty_array;
}

/* Starts the aggregation, and returns the rules of the role as soon as it has some. */
static const struct value *await_rules(struct run *run, struct str name)
{
        struct watch_request req = { .gvk = { STR("rbac.authorization.k8s.io"), STR("v1"), STR("ClusterRole") } };
        _cleanup_(watch_freep)
        struct watch *w = NULL;
        _cleanup_err_ struct err err = { 0 };
        static bool is_started;

        if (!is_started)
                must(access_start_aggregation(the_access, &err), &err);
        is_started = true;
        must(cluster_watch(store_cluster(the_store), run, &req, &w, &err), &err);
        while (value_count(rules_of(run, name)) == 0) {
                struct watch_event e;

                must(watch_next(w, run, &e, &err), &err);
        }
        return rules_of(run, name);
}

static void tear_down(void)
{
        if (the_cluster)
                cluster_free(the_cluster);
        access_free(the_access);
        store_free(the_store);
}

const struct value *run_access(struct arena *a, const struct value *c)
{
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };

        if (!the_store) {
                set_up(a);
                atexit(tear_down);
        }
        if (value_get(c, STR("await")))
                return await_rules(&run, text_of(c, "await"));
        if (value_get(c, STR("show")))
                return rules_of(&run, text_of(c, "show"));
        if (value_get(c, STR("review"))) {
                run.user = user_of(a, value_get(c, STR("review")));
                return review(&run, value_get(c, STR("review")));
        }
        run.user = user_of(a, value_get(c, STR("as")));
        if (value_get(c, STR("rules")))
                return rules(&run, text_of(c, "rules"));
        return call_result(&run, value_get(c, STR("call")));
}
