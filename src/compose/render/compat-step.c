/* Finds resources in the given lists by apiVersion, kind and either name or labels; ignores namespaces. Requests have no tag. */
#include "compat-step.h"

#include <stdlib.h>

#include "fetch.h"
#include "gotext.h"
#include "render-schema.h"
#include "secret.h"

#define MAX_CALLS        6
#define ALL_CAPABILITIES (1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5)

/* A requirement of a step: from the Composition, or requested by the function. */
struct question {
        struct fn_selector selector;
        size_t index;
        bool is_asked; /* requested by the function */
};

static int compare_questions(const void *a, const void *b)
{
        const struct question *x = a, *y = b;
        int order = str_compare(x->selector.name, y->selector.name);

        return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Sorted by name. The last one with the same name wins, so that the function's request overrides the Composition's. */
static size_t questions_of(struct arena *a, const struct value *bootstrap, const struct fn_selector *asked,
                           size_t n_asked, struct question **ret)
{
        struct question *q = ARENA_NEW_ARRAY(a, struct question, value_count(bootstrap) + n_asked + 1);
        size_t n = 0, n_kept = 0;

        VALUE_FOREACH_ITEM (item, bootstrap) {
                q[n] = (struct question) { .selector = fetch_selector_of(a, item), .index = n };
                n++;
        }
        for (size_t i = 0; i < n_asked; i++, n++)
                q[n] = (struct question) { .selector = asked[i], .index = n, .is_asked = true };
        qsort(q, n, sizeof(*q), compare_questions);
        for (size_t i = 0; i < n; i++)
                if (i + 1 == n || !str_equal(q[i].selector.name, q[i + 1].selector.name))
                        q[n_kept++] = q[i];
        *ret = q;
        return n_kept;
}

/* --- Looking for things --- */

static bool has_labels(const struct value *object, const struct fn_selector *selector)
{
        for (size_t i = 0; i < selector->n_labels; i++)
                if (!meta_has_label(object, selector->labels[i].key) ||
                    !str_equal(meta_label(object, selector->labels[i].key), selector->labels[i].value))
                        return false;
        return true;
}

static bool is_wanted(const struct value *object, const struct fn_selector *selector)
{
        if (!str_equal(value_str(value_get(object, STR("apiVersion"))), selector->api_version) ||
            !str_equal(value_str(value_get(object, STR("kind"))), selector->kind))
                return false;
        return selector->match_name.p ? str_equal(meta_name(object), selector->match_name)
                                      : has_labels(object, selector);
}

struct found {
        const struct value *object;
        size_t index;
};

static int compare_found(const void *a, const void *b)
{
        const struct found *x = a, *y = b;
        int order = str_compare(meta_name(x->object), meta_name(y->object));

        return order ? order : (x->index > y->index) - (x->index < y->index);
}

static size_t find_in(const struct value *list, const struct fn_selector *selector, struct found *found, size_t n)
{
        VALUE_FOREACH_ITEM (object, list) {
                if (selector->match_name.p && n > 0)
                        break;
                if (is_wanted(object, selector))
                        found[n] = (struct found) { object, n }, n++;
        }
        return n;
}

/* With a name to match, the first object; otherwise all objects, sorted by name. */
static struct fn_resources find_resources(struct arena *a, const struct value *extra, const struct value *required,
                                          const struct fn_selector *selector)
{
        struct found *found = ARENA_NEW_ARRAY(a, struct found, value_count(extra) + value_count(required) + 1);
        struct fn_resources ret = { .name = selector->name };
        struct fn_resource *items;

        ret.n_items = find_in(required, selector, found, find_in(extra, selector, found, 0));
        qsort(found, ret.n_items, sizeof(*found), compare_found);
        items = ARENA_NEW_ARRAY(a, struct fn_resource, ret.n_items + 1);
        for (size_t i = 0; i < ret.n_items; i++)
                items[i].object.value = found[i].object;
        ret.items = items;
        return ret;
}

static int find_schema(struct arena *a, const struct compat_input *in, const struct fn_selector *selector,
                       struct fn_schema *ret, struct err *err)
{
        struct gvk gvk = { .kind = selector->kind };

        *ret = (struct fn_schema) { .name = selector->name };
        if (gvk_split_api_version(selector->api_version, &gvk.group, &gvk.version, err) < 0)
                return err_wrap(err, "cannot parse apiVersion %s", go_quote(a, selector->api_version).p);
        return render_find_schema(a, in->schemas, gvk, &ret->openapi.value, err);
}

static const struct value *find_secret(const struct value *list, const struct value *reference)
{
        struct str name = value_str(value_get(reference, STR("name")));
        struct str ns = value_str(value_get(reference, STR("namespace")));

        VALUE_FOREACH_ITEM (item, list)
                if (str_equal(meta_name(item), name) && str_equal(meta_namespace(item), ns))
                        return item;
        return NULL;
}

/* --- The request --- */

static int compare_credentials(const void *a, const void *b)
{
        return str_compare(((const struct fn_credentials *)a)->name, ((const struct fn_credentials *)b)->name);
}

static size_t index_of_credentials(const struct fn_credentials *p, size_t n, struct str name)
{
        size_t i = 0;

        while (i < n && !str_equal(p[i].name, name))
                i++;
        return i;
}

static int add_credentials(struct arena *a, const struct compat_input *in, const struct value *step,
                           struct fn_request *req, struct err *err)
{
        const struct value *list = value_get(step, STR("credentials"));
        struct fn_credentials *p = ARENA_NEW_ARRAY(a, struct fn_credentials, value_count(list) + 1);

        VALUE_FOREACH_ITEM (item, list) {
                const struct value *reference = value_get(item, STR("secretRef")), *secret;
                struct str name = value_str(value_get(reference, STR("name")));
                struct fn_credentials c = { .name = value_str(value_get(item, STR("name"))) };
                size_t at = index_of_credentials(p, req->n_credentials, c.name);

                if (!str_equal(value_str(value_get(item, STR("source"))), STR("Secret")) || !reference)
                        continue;
                secret = find_secret(in->credentials, reference);
                if (!secret)
                        return err_set(err, ERR_NOT_FOUND, "cannot get credentials from secret %s: secret %s not found",
                                       go_quote(a, name).p, go_quote(a, name).p);
                if (secret_data(a, secret, &c.data, err) < 0)
                        return err_wrap(err, "cannot get credentials from secret %s", go_quote(a, name).p);
                p[at] = c;
                req->n_credentials += at == req->n_credentials;
        }
        qsort(p, req->n_credentials, sizeof(*p), compare_credentials);
        req->credentials = p;
        return 0;
}

static struct fn_resources_map answer_resources(struct arena *a, const struct compat_input *in,
                                                const struct question *questions, size_t n)
{
        struct fn_resources *p = ARENA_NEW_ARRAY(a, struct fn_resources, n + 1);

        for (size_t i = 0; i < n; i++)
                p[i] = find_resources(a, questions[i].is_asked ? in->extra : NULL, in->required,
                                      &questions[i].selector);
        return (struct fn_resources_map) { p, n };
}

static int answer_schemas(struct arena *a, const struct compat_input *in, const struct question *questions, size_t n,
                          struct fn_request *req, struct err *err)
{
        struct fn_schema *p = ARENA_NEW_ARRAY(a, struct fn_schema, n + 1);

        for (size_t i = 0; i < n; i++) {
                struct str name = questions[i].selector.name;

                if (find_schema(a, in, &questions[i].selector, &p[i], err) >= 0)
                        continue;
                if (questions[i].is_asked)
                        return err_wrap(err, "fetching schema for %.*s", STR_ARG(name));
                return err_wrap(err, "cannot fetch bootstrap required schema for requirement %s", go_quote(a, name).p);
        }
        req->schemas = p;
        req->n_schemas = n;
        return 0;
}

static int answer(struct arena *a, const struct compat_input *in, const struct value *step,
                  const struct fn_requirements *asked, struct fn_request *req, struct err *err)
{
        const struct value *bootstrap = value_get(step, STR("requirements"));
        struct question *q;
        size_t n = questions_of(a, value_get(bootstrap, STR("requiredResources")), asked->resources, asked->n_resources,
                                &q);

        req->required_resources = answer_resources(a, in, q, n);
        n = questions_of(a, NULL, asked->extra_resources, asked->n_extra_resources, &q);
        req->extra_resources = answer_resources(a, in, q, n);
        n = questions_of(a, value_get(bootstrap, STR("requiredSchemas")), asked->schemas, asked->n_schemas, &q);
        return answer_schemas(a, in, q, n, req, err);
}

/* --- The requirements loop --- */

static bool is_fatal(const struct fn_response *rsp)
{
        for (size_t i = 0; i < rsp->n_results; i++)
                if (rsp->results[i].severity == FN_SEVERITY_FATAL)
                        return true;
        return false;
}

static int call_until_stable(struct run *run, const struct compat_input *in, const struct value *step,
                             struct function *f, struct fn_request *req, struct fn_response *ret, struct err *err)
{
        struct fn_requirements before = { 0 };
        int r;

        for (int i = 0; i < MAX_CALLS; i++) {
                *ret = (struct fn_response) { .ttl_ns = FN_TTL_ABSENT };
                if ((r = f->ops->call(f, run, req, ret, err)) < 0)
                        return r;
                if (is_fatal(ret) || fn_requirements_equal(&ret->requirements, &before))
                        return 0;
                before = ret->requirements;
                req->context = ret->context;
                if ((r = answer(run->arena, in, step, &before, req, err)) < 0 || (r = arena_check(run->arena, err)) < 0)
                        return r;
        }
        return err_set(err, ERR_FAILED, "requirements didn't stabilize after the maximum number of iterations (%d)",
                       MAX_CALLS - 1);
}

int compat_step_run(struct run *run, const struct compat_input *in, const struct value *step,
                    const struct fn_state *observed, const struct fn_state *desired, const struct fn_struct *context,
                    struct fn_response *ret, struct err *err)
{
        struct str function = value_str(value_find(step, "functionRef", "name"));
        struct fn_requirements nothing = { 0 };
        struct fn_request req = {
                .capabilities = ALL_CAPABILITIES,
                .observed = *observed,
                .desired = *desired,
                .context = *context,
                .input = { .value = value_get(step, STR("input")) },
        };
        struct function *f;
        int r;

        if ((r = add_credentials(run->arena, in, step, &req, err)) < 0 ||
            (r = answer(run->arena, in, step, &nothing, &req, err)) < 0)
                return r;
        r = registry_find(in->registry, function, NULL, &f, err);
        if (r == ERR_NOT_FOUND)
                err_set(err, r, "unknown Function %s - does it exist in your Functions file?",
                        go_quote(run->arena, function).p);
        if (r >= 0) {
                r = call_until_stable(run, in, step, f, &req, ret, err);
                function_unref(f);
        }
        return r < 0 ? err_wrap(err, "cannot run pipeline step %s",
                                go_quote(run->arena, value_str(value_get(step, STR("step")))).p)
                     : 0;
}
