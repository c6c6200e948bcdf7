#include "fetch.h"

#include <stdlib.h>

#include "gotext.h"
#include "secret.h"

static struct str optional(const struct value *v)
{
        return value_is_string(v) ? value_str(v) : STR_NONE;
}

static int compare_labels(const void *a, const void *b)
{
        return str_compare(((const struct fn_label *)a)->key, ((const struct fn_label *)b)->key);
}

struct fn_selector fetch_selector_of(struct arena *a, const struct value *requirement)
{
        const struct value *labels = value_get(requirement, STR("matchLabels"));
        struct fn_selector s = {
                .name = value_str(value_get(requirement, STR("requirementName"))),
                .api_version = value_str(value_get(requirement, STR("apiVersion"))),
                .kind = value_str(value_get(requirement, STR("kind"))),
                .ns = optional(value_get(requirement, STR("namespace"))),
                .match_name = optional(value_get(requirement, STR("name"))),
                .has_labels = value_count(labels) > 0,
        };
        struct fn_label *p = ARENA_NEW_ARRAY(a, struct fn_label, value_count(labels) + 1);

        VALUE_FOREACH_MEMBER (m, labels)
                p[s.n_labels++] = (struct fn_label) { m->key, value_str(&m->value) };
        qsort(p, s.n_labels, sizeof(*p), compare_labels);
        s.labels = p;
        return s;
}

/* --- Recording reads --- */

static void note(struct step_state *s, enum step_read read, const struct fn_selector *selector,
                 const struct fn_resources *found)
{
        struct step_fetch *all;

        if ((s->n_fetches & (s->n_fetches - 1)) == 0) {
                all = ARENA_NEW_ARRAY(step_arena(s), struct step_fetch, s->n_fetches ? 2 * s->n_fetches : 1);
                if (s->n_fetches)
                        memcpy(all, s->fetches, s->n_fetches * sizeof(*all));
                s->fetches = all;
        }
        s->fetches[s->n_fetches] = (struct step_fetch) { .dependency = { read, *selector } };
        s->fetches[s->n_fetches].dependency.selector.name = STR("");
        if (found)
                s->fetches[s->n_fetches].found = *found;
        s->n_fetches++;
}

/* --- Resources --- */

static int find_kind(struct step_context *c, const struct fn_selector *selector, const struct kind **ret,
                     struct gvk *ret_gvk, struct err *err)
{
        int r;

        ret_gvk->kind = selector->kind;
        r = gvk_split_api_version(selector->api_version, &ret_gvk->group, &ret_gvk->version, err);
        if (r < 0)
                return r;
        *ret_gvk = gvk_current(*ret_gvk);
        return cluster_kind(c->cluster, c->run, *ret_gvk, ret, err);
}

static struct str namespace_of(const struct kind *kind, const struct fn_selector *selector)
{
        return kind->is_namespaced && selector->ns.p ? selector->ns : STR("");
}

/* Both functions set the selector's namespace to the one that they read. */

static int fetch_by_name(struct step_context *c, struct fn_selector *selector, struct fn_resources *ret,
                         struct err *err)
{
        struct get_request get = { 0 };
        const struct kind *kind;
        struct fn_resource *item;
        struct object *object;
        int r = find_kind(c, selector, &kind, &get.key.gvk, err);

        if (r < 0)
                return r;
        get.key.ns = selector->ns = namespace_of(kind, selector);
        get.key.name = selector->match_name;
        r = cluster_get(c->cluster, c->run, &get, &object, err);
        if (r == ERR_NOT_FOUND) {
                if (err)
                        err_done(err);
                return 0;
        }
        if (r < 0)
                return r;
        item = ARENA_NEW(c->run->arena, struct fn_resource);
        item->object.object = object;
        ret->items = item;
        ret->n_items = 1;
        return 0;
}

/* Compares `namespace/name` as one text: this differs from comparing the two parts, because a slash sorts before letters but after
 * a dash. */
static int compare_places(const void *a, const void *b)
{
        const struct value *const *x = a, *const *y = b;
        struct str parts[2][3] = { { meta_namespace(*x), STR("/"), meta_name(*x) },
                                   { meta_namespace(*y), STR("/"), meta_name(*y) } };
        size_t at[2] = { 0, 0 }, part[2] = { 0, 0 };

        for (;;) {
                for (int i = 0; i < 2; i++)
                        while (part[i] < 3 && at[i] == parts[i][part[i]].n) {
                                part[i]++;
                                at[i] = 0;
                        }
                if (part[0] == 3 || part[1] == 3)
                        return (part[0] < 3) - (part[1] < 3);
                unsigned char p = (unsigned char)parts[0][part[0]].p[at[0]++];
                unsigned char q = (unsigned char)parts[1][part[1]].p[at[1]++];

                if (p != q)
                        return p < q ? -1 : 1;
        }
}

static struct label_selector labels_of(struct arena *a, const struct fn_selector *selector)
{
        struct label_requirement *p = ARENA_NEW_ARRAY(a, struct label_requirement, selector->n_labels + 1);

        for (size_t i = 0; i < selector->n_labels; i++)
                p[i] = (struct label_requirement) {
                        .key = selector->labels[i].key,
                        .op = SELECT_EQUALS,
                        .values = &selector->labels[i].value,
                        .n_values = 1,
                };
        return (struct label_selector) { .requirements = p, .n = selector->n_labels };
}

static int fetch_by_labels(struct step_context *c, struct fn_selector *selector, struct fn_resources *ret,
                           struct err *err)
{
        struct arena *a = c->run->arena;
        struct label_selector labels = labels_of(a, selector);
        struct list_request list = { .labels = &labels };
        const struct value **values;
        struct fn_resource *items;
        const struct kind *kind;
        struct object_list found;
        int r = find_kind(c, selector, &kind, &list.gvk, err);

        if (r < 0)
                return r;
        list.ns = selector->ns = namespace_of(kind, selector);
        r = cluster_list(c->cluster, c->run, &list, &found, err);
        if (r < 0)
                return r;
        values = ARENA_NEW_ARRAY(a, const struct value *, found.n + 1);
        items = ARENA_NEW_ARRAY(a, struct fn_resource, found.n + 1);
        for (size_t i = 0; i < found.n; i++)
                values[i] = object_list_value(&found, i, a);
        qsort(values, found.n, sizeof(*values), compare_places);
        for (size_t i = 0; i < found.n; i++)
                items[i].object.value = values[i];
        ret->items = items;
        ret->n_items = found.n;
        return 0;
}

int fetch_resources(struct step_state *s, const struct fn_selector *selector, struct fn_resources *ret, struct err *err)
{
        struct fn_selector place = *selector;
        int r;

        *ret = (struct fn_resources) { .name = selector->name };
        if (s->c->hooks.on_fetch)
                s->c->hooks.on_fetch(s->c->hooks.arg, s->step, selector);
        r = place.match_name.p ? fetch_by_name(s->c, &place, ret, err) : fetch_by_labels(s->c, &place, ret, err);
        note(s, STEP_READ_RESOURCES, &place, ret);
        if (r < 0)
                return err_wrap(err, place.match_name.p ? "cannot get required resource by name"
                                                        : "cannot list required resources");
        return 0;
}

/* --- Schemas --- */

/* The version's schema in the CRD, with its group, version and kind, as in OpenAPI documents. */
static const struct value *schema_of_crd(struct arena *a, const struct value *crd, struct gvk gvk)
{
        struct object_builder b;
        struct array_builder kinds;

        VALUE_FOREACH_ITEM (version, value_find(crd, "spec", "versions")) {
                const struct value *schema = value_find(version, "schema", "openAPIV3Schema");

                if (!str_equal(value_str(value_get(version, STR("name"))), gvk.version) || !schema)
                        continue;
                object_builder_init(&b, a, 3);
                object_builder_add(&b, STR("group"), value_of_str(gvk.group));
                object_builder_add(&b, STR("kind"), value_of_str(gvk.kind));
                object_builder_add(&b, STR("version"), value_of_str(gvk.version));
                array_builder_init(&kinds, a, 1);
                array_builder_add(&kinds, object_builder_finish(&b));
                return value_with(a, schema, STR("x-kubernetes-group-version-kind"),
                                  value_put(a, array_builder_finish(&kinds)));
        }
        return NULL;
}

static int find_crd_schema(struct step_context *c, struct gvk gvk, const struct value **ret, struct err *err)
{
        struct object_key key = {
                .gvk = { STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition") },
        };
        const struct value *crd;
        const struct kind *kind;
        int r = cluster_kind(c->cluster, c->run, gvk, &kind, err);

        *ret = NULL;
        if (r >= 0) {
                key.name = arena_printf(c->run->arena, "%.*s.%.*s", STR_ARG(kind->plural), STR_ARG(kind->group));
                r = cluster_get_value(c->cluster, c->run, &key, &crd, err);
        }
        if (r == ERR_NOT_FOUND) {
                if (err)
                        err_done(err);
                return 0;
        }
        if (r >= 0)
                *ret = schema_of_crd(c->run->arena, crd, gvk);
        return r;
}

int fetch_schema(struct step_state *s, const struct fn_selector *selector, struct fn_schema *ret, struct err *err)
{
        struct gvk gvk = { .kind = selector->kind };
        int r = gvk_split_api_version(selector->api_version, &gvk.group, &gvk.version, err);

        *ret = (struct fn_schema) { .name = selector->name };
        if (r < 0)
                return err_wrap(err, "cannot parse apiVersion %s", go_quote(step_arena(s), selector->api_version).p);
        note(s, STEP_READ_SCHEMA, selector, NULL);
        if (s->c->hooks.find_schema)
                return s->c->hooks.find_schema(s->c->hooks.arg, s->c->run, gvk, &ret->openapi.value, err);
        return find_crd_schema(s->c, gvk, &ret->openapi.value, err);
}

/* --- Credentials --- */

static int compare_credentials(const void *a, const void *b)
{
        return str_compare(((const struct fn_credentials *)a)->name, ((const struct fn_credentials *)b)->name);
}

static int fetch_secret(struct step_state *s, const struct value *reference, struct fn_bytes_map *ret, struct err *err)
{
        struct fn_selector place = {
                .api_version = STR("v1"),
                .kind = STR("Secret"),
                .ns = value_str(value_get(reference, STR("namespace"))),
                .match_name = value_str(value_get(reference, STR("name"))),
        };

        note(s, STEP_READ_CREDENTIALS, &place, NULL);
        return secret_fetch(s->c->cluster, s->c->run, place.ns, place.match_name, ret, err);
}

int fetch_credentials(struct step_state *s, struct fn_request *req, struct err *err)
{
        const struct value *list = s->step->credentials;
        struct fn_credentials *p = ARENA_NEW_ARRAY(step_arena(s), struct fn_credentials, value_count(list) + 1);
        int r;

        VALUE_FOREACH_ITEM (credential, list) {
                struct fn_credentials *entry = &p[req->n_credentials];
                const struct value *reference = value_get(credential, STR("secretRef"));

                if (!str_equal(value_str(value_get(credential, STR("source"))), STR("Secret")) || !reference)
                        continue;
                entry->name = value_str(value_get(credential, STR("name")));
                r = fetch_secret(s, reference, &entry->data, err);
                if (r < 0)
                        return err_wrap(err, "cannot get Composition pipeline step %s credential %s from Secret",
                                        go_quote(step_arena(s), s->step->name).p,
                                        go_quote(step_arena(s), entry->name).p);
                req->n_credentials++;
        }
        qsort(p, req->n_credentials, sizeof(*p), compare_credentials);
        req->credentials = p;
        return 0;
}

/* --- Input --- */

static int composite_namespace(struct step_context *c, struct str *ret, struct err *err)
{
        const struct value *composite;
        int r = fn_struct_value(c->run->arena, &c->observed->composite.object, &composite, err);

        if (r >= 0)
                *ret = meta_namespace(composite);
        return r;
}

/* Reads the referenced object. Fills in the namespace of the reference, for the record of reads. */
static int get_input(struct step_state *s, struct fn_selector *place, struct fn_struct *ret, struct err *err)
{
        struct get_request get = { .key.name = place->match_name };
        const struct kind *kind;
        int r = find_kind(s->c, place, &kind, &get.key.gvk, err);

        if (r >= 0 && kind->is_namespaced) {
                r = composite_namespace(s->c, &place->ns, err);
                if (r >= 0 && place->ns.n == 0)
                        r = err_set(
                                err, ERR_INVALID,
                                "its kind is namespaced, and the composite resource has no namespace to find it in: "
                                "use a cluster scoped kind");
        }
        if (r < 0)
                return r;
        get.key.ns = place->ns;
        *ret = (struct fn_struct) { 0 };
        return cluster_get(s->c->cluster, s->c->run, &get, &ret->object, err);
}

int fetch_input(struct step_state *s, struct fn_struct *input, struct err *err)
{
        const struct value *reference = s->step->input_ref;
        struct fn_selector place = {
                .api_version = value_str(value_get(reference, STR("apiVersion"))),
                .kind = value_str(value_get(reference, STR("kind"))),
                .ns = STR(""),
                .match_name = value_str(value_get(reference, STR("name"))),
        };
        int r;

        if (!reference)
                return 0;
        if (place.api_version.n == 0 || place.kind.n == 0 || place.match_name.n == 0)
                return err_set(
                        err, ERR_INVALID,
                        "inputRef of Composition pipeline step \"%.*s\" must have an apiVersion, a kind and a name",
                        STR_ARG(s->step->name));
        r = get_input(s, &place, input, err);
        note(s, STEP_READ_INPUT, &place, NULL);
        if (r < 0)
                return err_wrap(err, "cannot get the input of Composition pipeline step \"%.*s\", %.*s %.*s \"%.*s\"",
                                STR_ARG(s->step->name), STR_ARG(place.api_version), STR_ARG(place.kind),
                                STR_ARG(place.match_name));
        return 0;
}
