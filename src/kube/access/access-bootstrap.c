/* The default roles and bindings (bootstrap.yaml). Existing ones get what they lack and keep everything else, so that a second run
 * writes nothing. */
#include "access-state.h"

#include "access-data.h"
#include "write-group.h"
#include "yaml.h"

#define AUTO_UPDATE  "rbac.authorization.kubernetes.io/autoupdate"
#define MAX_ATTEMPTS 5 /* for one object, when others write it at the same time */

static const struct {
        const char *section;
        struct str kind;
        bool is_binding;
} sections[] = {
        { "clusterRoles", STR_INIT("ClusterRole"), false },
        { "roles", STR_INIT("Role"), false },
        { "clusterRoleBindings", STR_INIT("ClusterRoleBinding"), true },
        { "roleBindings", STR_INIT("RoleBinding"), true },
};

static const struct value *text_value(struct arena *a, struct str s)
{
        return value_put(a, value_of_str(s));
}

/* --- Objects from the file --- */

static const struct value *metadata_of(struct arena *a, const struct value *entry)
{
        const struct value *m = &value_empty_object, *labels = value_get(entry, STR("labels"));

        if (!labels)
                labels = &value_empty_object;
        labels = value_with(a, labels, STR("kubernetes.io/bootstrapping"), text_value(a, STR("rbac-defaults")));
        m = value_with(a, m, STR("name"), value_get(entry, STR("name")));
        if (value_get(entry, STR("namespace")))
                m = value_with(a, m, STR("namespace"), value_get(entry, STR("namespace")));
        m = value_with(a, m, STR("labels"), labels);
        return value_with(a, m, STR("annotations"),
                          value_with(a, &value_empty_object, STR(AUTO_UPDATE), text_value(a, STR("true"))));
}

/* Subjects that are not service accounts, and all roles, are of the group of this API. */
static const struct value *with_group(struct arena *a, const struct value *v)
{
        if (str_equal(value_str(value_get(v, STR("kind"))), STR("ServiceAccount")))
                return v;
        return value_with(a, v, STR("apiGroup"), text_value(a, STR(RBAC_GROUP)));
}

static const struct value *subjects_of(struct arena *a, const struct value *entry)
{
        struct array_builder b;

        array_builder_init(&b, a, 4);
        VALUE_FOREACH_ITEM (s, value_get(entry, STR("subjects")))
                array_builder_add(&b, *with_group(a, s));
        return value_put(a, array_builder_finish(&b));
}

static const struct value *object_of(struct arena *a, const struct value *entry, struct str kind, bool is_binding)
{
        struct object_builder b;

        object_builder_init(&b, a, 6);
        object_builder_add(&b, STR("apiVersion"), value_of_literal(RBAC_GROUP "/" RBAC_VERSION));
        object_builder_add(&b, STR("kind"), value_of_str(kind));
        object_builder_add(&b, STR("metadata"), *metadata_of(a, entry));
        if (is_binding) {
                object_builder_add(&b, STR("roleRef"), *with_group(a, value_get(entry, STR("roleRef"))));
                if (value_get(entry, STR("subjects")))
                        object_builder_add(&b, STR("subjects"), *subjects_of(a, entry));
        }
        if (value_get(entry, STR("aggregationRule")))
                object_builder_add(&b, STR("aggregationRule"), *value_get(entry, STR("aggregationRule")));
        if (value_get(entry, STR("rules")))
                object_builder_add(&b, STR("rules"), *value_get(entry, STR("rules")));
        return value_put(a, object_builder_finish(&b));
}

/* --- What an existing object lacks --- */

/* Adds labels or annotations that the object does not have. */
static const struct value *complete_map(struct arena *a, const struct value *object, const struct value *expected,
                                        struct str field)
{
        const struct value *old = value_get(meta(object), field),
                           *map = value_is_object(old) ? old : &value_empty_object;

        VALUE_FOREACH_MEMBER (m, value_get(meta(expected), field))
                if (!value_get(map, m->key))
                        map = value_with(a, map, m->key, &m->value);
        return map == old || value_count(map) == 0 ? object : meta_with(a, object, field, map);
}

static bool has_item(const struct value *list, const struct value *wanted)
{
        VALUE_FOREACH_ITEM (item, list)
                if (value_equal(item, wanted))
                        return true;
        return false;
}

/* The list with those items of expected that it lacks; itself if it lacks none. */
static const struct value *complete_list(struct arena *a, const struct value *list, const struct value *expected)
{
        if (!value_is_array(list))
                list = &value_empty_array;
        VALUE_FOREACH_ITEM (item, expected)
                if (!has_item(list, item))
                        list = value_with_appended(a, list, item);
        return list;
}

static const struct value *with_list(struct arena *a, const struct value *object, struct str key,
                                     const struct value *expected)
{
        const struct value *old = value_get(object, key), *list = complete_list(a, old, expected);

        return list == old || value_count(list) == 0 ? object : value_with(a, object, key, list);
}

static const struct value *complete_rules(struct arena *a, const struct value *object, const struct value *expected)
{
        const struct value *old = value_get(object, STR("rules"));
        _cleanup_(rules_unrefp)
        struct rules *held = rules_compile(old);
        _cleanup_(rules_unrefp)
        struct rules *wanted = rules_compile(value_get(expected, STR("rules")));
        struct array_builder b;

        array_builder_init(&b, a, 16);
        VALUE_FOREACH_ITEM (item, old)
                array_builder_add(&b, *item);
        rules_missing_values((struct held_rules) { &held, 1 }, wanted, &b);
        if (b.n == (value_is_array(old) ? value_count(old) : 0))
                return object;
        return value_with(a, object, STR("rules"), value_put(a, array_builder_finish(&b)));
}

static const struct value *complete_aggregation(struct arena *a, const struct value *object,
                                                const struct value *expected)
{
        const struct value *old = value_get(object, STR("aggregationRule")), *rule;
        const struct value *wanted = value_get(expected, STR("aggregationRule"));

        if (!wanted)
                return old ? value_without(a, object, STR("aggregationRule")) : object;
        rule = with_list(a, value_is_object(old) ? old : &value_empty_object, STR("clusterRoleSelectors"),
                         value_get(wanted, STR("clusterRoleSelectors")));
        return rule == old ? object : value_with(a, object, STR("aggregationRule"), rule);
}

static const struct value *complete(struct arena *a, const struct value *object, const struct value *expected,
                                    bool is_binding)
{
        object = complete_map(a, object, expected, STR("annotations"));
        object = complete_map(a, object, expected, STR("labels"));
        if (is_binding)
                return with_list(a, object, STR("subjects"), value_get(expected, STR("subjects")));
        return complete_aggregation(a, complete_rules(a, object, expected), expected);
}

/* --- Writes --- */

/* The cluster, and the writes that are under way. */
struct bootstrap {
        struct cluster *cluster;
        struct run run;
        struct write_group writes;
};

static int write_object(struct bootstrap *b, struct write_request req, struct err *err)
{
        struct write_result result = { 0 };
        int r;

        req.promise = write_group_promise(&b->writes, b->run.arena);
        r = cluster_write(b->cluster, &b->run, &req, &result, err);
        write_group_add(&b->writes, req.promise);
        return r;
}

static int put_object(struct bootstrap *b, enum write_verb verb, const struct value *object, struct err *err)
{
        struct write_request req = {
                .verb = verb, .key = object_key_of(object), .body = object, .manager = STR("kube-apiserver")
        };

        return write_object(b, req, err);
}

static int delete_object(struct bootstrap *b, const struct value *object, struct err *err)
{
        struct write_request req = { .verb = WRITE_DELETE,
                                     .key = object_key_of(object),
                                     .precondition_uid = meta_uid(object) };
        int r = write_object(b, req, err);

        return r == ERR_NOT_FOUND ? 0 : r;
}

/* A binding keeps its role for life: one to another role is replaced. */
static bool refers_elsewhere(const struct value *object, const struct value *expected)
{
        const struct value *is = value_get(object, STR("roleRef")), *wanted = value_get(expected, STR("roleRef"));

        return wanted && !(is && value_equal(is, wanted));
}

static int try_ensure(struct bootstrap *b, const struct value *expected, bool is_binding, struct err *err)
{
        struct object_key key = object_key_of(expected);
        _cleanup_err_ struct err missing = { 0 };
        const struct value *object, *completed;
        int r = cluster_get_value(b->cluster, &b->run, &key, &object, &missing);

        if (r == ERR_NOT_FOUND)
                return put_object(b, WRITE_CREATE, expected, err);
        if (r < 0)
                return err_move(err, &missing);
        if (str_equal(meta_annotation(object, STR(AUTO_UPDATE)), STR("false")))
                return 0;
        if (refers_elsewhere(object, expected)) {
                r = delete_object(b, object, err);
                return r < 0 ? r : put_object(b, WRITE_CREATE, expected, err);
        }
        completed = complete(b->run.arena, object, expected, is_binding);
        return completed == object ? 0 : put_object(b, WRITE_UPDATE, completed, err);
}

static int ensure(struct bootstrap *b, const struct value *expected, bool is_binding, struct err *err)
{
        int r;

        for (unsigned attempt = 1;; attempt++) {
                r = try_ensure(b, expected, is_binding, err);
                if ((r != ERR_CONFLICT && r != ERR_EXISTS && r != ERR_NOT_FOUND) || attempt == MAX_ATTEMPTS)
                        break;
        }
        if (r < 0)
                return err_wrap(err, "cannot make the default %.*s %.*s", STR_ARG(gvk_of(expected).kind),
                                STR_ARG(meta_name(expected)));
        return 0;
}

/* --- All of them --- */

static int ensure_all(struct bootstrap *b, const struct value *data, struct err *err)
{
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
                VALUE_FOREACH_ITEM (entry, value_get(data, str_from(sections[i].section))) {
                        bool is_binding = sections[i].is_binding;

                        if (r == 0)
                                r = ensure(b, object_of(b->run.arena, entry, sections[i].kind, is_binding), is_binding,
                                           err);
                }
        return r;
}

/* Waits for the writes, those before a failure included. */
static int finish(struct bootstrap *b, int r, struct err *err)
{
        _cleanup_err_ struct err lost = { 0 };
        int waited = write_group_wait(&b->writes, &lost);

        if (r < 0 || waited == 0)
                return r;
        err_move(err, &lost);
        return err_wrap(err, "cannot make the default roles");
}

int access_bootstrap(struct cluster *cluster, struct run *run, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct bootstrap b = { .cluster = cluster, .run = *run };
        const struct value *data;
        int r;

        arena_init(&a, "default roles", 0);
        b.run.arena = &a;
        b.run.user = access_own_user("system:apiserver");
        b.run.cause = STR("default roles");
        b.run.warnings = NULL;
        r = yaml_parse(&a, access_bootstrap_data[0].text, NULL, &data, err);
        if (r < 0)
                return r;
        write_group_init(&b.writes);
        return finish(&b, ensure_all(&b, data, err), err);
}
