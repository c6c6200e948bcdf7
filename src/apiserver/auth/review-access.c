/* The four reviews that ask whether a user may do something. */
#include "authenticator-state.h"

#include "review.h"
#include "status.h"

static const char *const resource_fields[] = { "namespace",   "verb", "group",         "version",       "resource",
                                               "subresource", "name", "fieldSelector", "labelSelector", NULL };
static const char *const path_fields[] = { "path", "verb", NULL };

static int check_attribute_types(const struct review *r, struct err *err)
{
        static const struct review_field spec[] = { { "resourceAttributes", "spec.resourceAttributes", REVIEW_OBJECT },
                                                    { "nonResourceAttributes", "spec.nonResourceAttributes",
                                                      REVIEW_OBJECT },
                                                    { "user", "spec.user", REVIEW_TEXT },
                                                    { "uid", "spec.uid", REVIEW_TEXT },
                                                    { "groups", "spec.groups", REVIEW_TEXTS },
                                                    { "extra", "spec.extra", REVIEW_OBJECT },
                                                    { "namespace", "spec.namespace", REVIEW_TEXT },
                                                    { 0 } };
        static const struct review_field resource[] = {
                { "namespace", "spec.resourceAttributes.namespace", REVIEW_TEXT },
                { "verb", "spec.resourceAttributes.verb", REVIEW_TEXT },
                { "group", "spec.resourceAttributes.group", REVIEW_TEXT },
                { "version", "spec.resourceAttributes.version", REVIEW_TEXT },
                { "resource", "spec.resourceAttributes.resource", REVIEW_TEXT },
                { "subresource", "spec.resourceAttributes.subresource", REVIEW_TEXT },
                { "name", "spec.resourceAttributes.name", REVIEW_TEXT },
                { "fieldSelector", "spec.resourceAttributes.fieldSelector", REVIEW_OBJECT },
                { "labelSelector", "spec.resourceAttributes.labelSelector", REVIEW_OBJECT },
                { 0 }
        };
        static const struct review_field path[] = { { "path", "spec.nonResourceAttributes.path", REVIEW_TEXT },
                                                    { "verb", "spec.nonResourceAttributes.verb", REVIEW_TEXT },
                                                    { 0 } };
        int result = review_check_types(r->kind->kind, r->spec, spec, err);

        if (result == 0)
                result =
                        review_check_types(r->kind->kind, value_get(r->spec, STR("resourceAttributes")), resource, err);
        if (result == 0)
                result = review_check_types(r->kind->kind, value_get(r->spec, STR("nonResourceAttributes")), path, err);
        VALUE_FOREACH_MEMBER (m, value_get(r->spec, STR("extra")))
                if (result == 0)
                        result = review_check_texts(r->kind->kind, &m->value, "spec.extra", err);
        return result;
}

static const struct value *attributes(const struct review *r, struct str name)
{
        const struct value *v = value_get(r->spec, name);

        return value_is_object(v) ? v : NULL;
}

/* The API shows the attributes of a path with the names that they have in Go. */
static const struct value *shown_path(struct arena *a, const struct value *path)
{
        struct object_builder b;

        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("Path"), value_of_str(value_str(value_get(path, STR("path")))));
        object_builder_add(&b, STR("Verb"), value_of_str(value_str(value_get(path, STR("verb")))));
        return value_put(a, object_builder_finish(&b));
}

static void check_attributes(struct review *r)
{
        const struct value *resource = attributes(r, STR("resourceAttributes"));
        const struct value *path = attributes(r, STR("nonResourceAttributes"));

        if (resource && path)
                field_error_add(&r->errors, FIELD_INVALID, STR("spec.nonResourceAttributes"),
                                shown_path(r->run->arena, path),
                                "cannot be specified in combination with resourceAttributes");
        if (!resource && !path)
                field_error_add(&r->errors, FIELD_INVALID, STR("spec.resourceAttributes"), NULL,
                                "exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

static void check_subject(struct review *r)
{
        if (review_is_empty(value_get(r->spec, STR("user"))) && review_is_empty(value_get(r->spec, STR("groups"))))
                field_error_add(&r->errors, FIELD_INVALID, STR("spec.user"), &value_empty_string,
                                "at least one of user or group must be specified");
}

static void check_metadata(struct review *r, const char *text)
{
        const struct value *metadata = value_get(r->body, STR("metadata"));

        VALUE_FOREACH_MEMBER (m, metadata)
                if (!review_is_empty(&m->value) && !str_equal(m->key, STR("namespace")) &&
                    !str_equal(m->key, STR("managedFields"))) {
                        field_error_add(&r->errors, FIELD_INVALID, STR("metadata"), metadata, "%s", text);
                        return;
                }
}

static void check_local(struct review *r)
{
        const struct value *resource = attributes(r, STR("resourceAttributes"));
        const struct value *path = attributes(r, STR("nonResourceAttributes"));
        const struct value *ns = value_get(resource, STR("namespace"));

        if (resource && !str_equal(value_str(ns), r->ns))
                field_error_add(&r->errors, FIELD_INVALID, STR("spec.resourceAttributes.namespace"),
                                ns ? ns : &value_empty_string, "must match metadata.namespace");
        if (path)
                field_error_add(&r->errors, FIELD_INVALID, STR("spec.nonResourceAttributes"),
                                shown_path(r->run->arena, path), "disallowed on this kind of request");
}

static int report(struct review *r, struct err *err)
{
        struct status_subject subject = { .group = r->kind->group };

        return r->errors.n ? status_invalid(err, &subject, &r->errors) : 0;
}

static struct str attribute(const struct value *attributes_value, const char *name)
{
        return value_str(value_get(attributes_value, str_from(name)));
}

static struct access_request question(const struct review *r)
{
        const struct value *path = attributes(r, STR("nonResourceAttributes"));
        const struct value *resource = attributes(r, STR("resourceAttributes"));

        if (path)
                return (struct access_request) { .verb = attribute(path, "verb"), .path = attribute(path, "path") };
        return (struct access_request) { .verb = attribute(resource, "verb"),
                                         .gvk = { .group = attribute(resource, "group"),
                                                  .version = attribute(resource, "version") },
                                         .plural = attribute(resource, "resource"),
                                         .subresource = attribute(resource, "subresource"),
                                         .ns = attribute(resource, "namespace"),
                                         .name = attribute(resource, "name") };
}

static struct user subject_of(const struct review *r)
{
        struct arena *a = r->run->arena;
        const struct value *extra = value_get(r->spec, STR("extra"));
        struct user_extra *list = ARENA_NEW_ARRAY(a, struct user_extra, value_count(extra));
        struct user u = { .name = value_str(value_get(r->spec, STR("user"))),
                          .uid = value_str(value_get(r->spec, STR("uid"))),
                          .extra = list };

        review_read_texts(a, value_get(r->spec, STR("groups")), &u.groups, &u.n_groups);
        VALUE_FOREACH_MEMBER (m, extra) {
                list[u.n_extra].key = m->key;
                review_read_texts(a, &m->value, &list[u.n_extra].values, &list[u.n_extra].n_values);
                u.n_extra++;
        }
        return u;
}

static struct value spec_of(const struct review *r, bool has_subject)
{
        static const char *const subject[] = { "user", "groups", "extra", "uid" };
        struct arena *a = r->run->arena;
        const struct value *resource = attributes(r, STR("resourceAttributes"));
        const struct value *path = attributes(r, STR("nonResourceAttributes"));
        struct object_builder b;

        object_builder_init(&b, a, 6);
        if (resource)
                object_builder_add(&b, STR("resourceAttributes"), review_pick(a, resource, resource_fields));
        if (path)
                object_builder_add(&b, STR("nonResourceAttributes"), review_pick(a, path, path_fields));
        for (size_t i = 0; has_subject && i < ARRAY_SIZE(subject); i++) {
                const struct value *v = value_get(r->spec, str_from(subject[i]));

                if (!review_is_empty(v))
                        object_builder_add(&b, str_from(subject[i]), *v);
        }
        return object_builder_finish(&b);
}

static struct value metadata_of(const struct review *r)
{
        struct object_builder b;

        object_builder_init(&b, r->run->arena, 1);
        if (r->kind->is_namespaced)
                object_builder_add(&b, STR("namespace"), value_of_str(r->ns));
        return object_builder_finish(&b);
}

static int decide(const struct review *r, struct user user, struct value *ret, struct err *err)
{
        struct access_request req = question(r);
        struct run run = *r->run;
        struct object_builder b;
        struct str reason = STR("");
        bool may = false;
        int result;

        run.user = user;
        result = access_may(r->authenticator->access, &run, &req, &may, &reason, err);
        if (result < 0)
                return result;
        object_builder_init(&b, run.arena, 2);
        object_builder_add(&b, STR("allowed"), value_of_bool(may));
        if (reason.n)
                object_builder_add(&b, STR("reason"), value_of_str(reason));
        *ret = object_builder_finish(&b);
        return 0;
}

static int answer_access(struct review *r, bool is_self, const struct value **ret, struct err *err)
{
        struct value spec, status;
        int result = check_attribute_types(r, err);

        if (result < 0)
                return result;
        check_attributes(r);
        if (!is_self)
                check_subject(r);
        check_metadata(r, r->kind->is_namespaced ? "must be empty except for namespace" : "must be empty");
        if (r->kind->is_namespaced)
                check_local(r);
        result = report(r, err);
        if (result == 0)
                result = decide(r, is_self ? r->run->user : subject_of(r), &status, err);
        if (result < 0)
                return result;
        spec = spec_of(r, !is_self);
        *ret = review_answer(r, metadata_of(r), &spec, status);
        return 0;
}

int review_subject_access(struct review *r, const struct value **ret, struct err *err)
{
        return answer_access(r, false, ret, err);
}

int review_self_access(struct review *r, const struct value **ret, struct err *err)
{
        return answer_access(r, true, ret, err);
}

int review_self_rules(struct review *r, const struct value **ret, struct err *err)
{
        struct str ns;
        struct value rules;
        int result = check_attribute_types(r, err);

        if (result < 0)
                return result;
        ns = value_str(value_get(r->spec, STR("namespace")));
        if (ns.n == 0)
                return status_bad_request(err, "no namespace on request");
        result = access_rules(r->authenticator->access, r->run, ns, &rules, err);
        if (result < 0)
                return result;
        *ret = review_answer(r, value_empty_object, &value_empty_object, rules);
        return 0;
}
