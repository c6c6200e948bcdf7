/* Our side of tests/interop/openapi: kinds from the documents that are named, and what they make of writes.
 *
 * Writes a line of JSON for each kind, an empty line, and then for each line {verb, live, body, manager} of its input the object that the
 * API would answer, or {"error": TEXT}. */
#include <stdio.h>

#include "buf.h"
#include "input.h"
#include "json.h"
#include "openapi.h"
#include "predict.h"
#include "vec.h"

struct documents {
        struct cluster cluster;
        VEC(struct openapi_kinds) p;
};

static int find_kind(struct cluster *c, struct run *run, struct gvk gvk, struct kind **ret, struct err *err)
{
        struct documents *d = CONTAINER_OF(c, struct documents, cluster);

        for (size_t i = 0; i < d->p.n; i++)
                for (size_t k = 0; k < d->p.p[i].n; k++) {
                        struct kind *kind = d->p.p[i].p[k];

                        if (str_equal(kind->group, gvk.group) && str_equal(kind->kind, gvk.kind) &&
                            kind_served_version(kind, gvk.version)) {
                                *ret = kind_ref(kind);
                                return 0;
                        }
                }
        return err_set(err, ERR_NOT_FOUND, "no kind %.*s", STR_ARG(gvk.kind));
}

static void print_value(struct arena *a, const struct value *v)
{
        struct str text;

        if (json_to_str(a, v, 0, &text, NULL) < 0)
                abort();
        printf("%.*s\n", STR_ARG(text));
}

/* --- Kinds --- */

static struct value verbs_value(struct arena *a, unsigned verbs)
{
        struct array_builder b;

        array_builder_init(&b, a, 8);
        for (unsigned i = 0; i < 8; i++)
                if (verbs & 1u << i)
                        array_builder_add(&b, value_of_str(kind_verb_name((enum kind_verb)(1u << i))));
        return array_builder_finish(&b);
}

static struct value resource_value(struct arena *a, const struct kind *k, struct str name, struct str kind,
                                   unsigned verbs)
{
        struct object_builder b;

        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("name"), value_of_str(name));
        object_builder_add(&b, STR("groupVersion"),
                           value_of_str(gvk_api_version(a, (struct gvk) { k->group, k->versions[0].name, k->kind })));
        object_builder_add(&b, STR("kind"), value_of_str(kind));
        object_builder_add(&b, STR("namespaced"), value_of_bool(k->is_namespaced));
        object_builder_add(&b, STR("verbs"), verbs_value(a, verbs));
        return object_builder_finish(&b);
}

static void print_kind(const struct kind *k)
{
        const struct kind_version *v = kind_storage(k);
        _cleanup_arena_ struct arena a;
        struct value r;

        arena_init(&a, "kind", 0);
        r = resource_value(&a, k, k->plural, k->kind, v->verbs);
        print_value(&a, &r);
        for (size_t i = 0; i < v->n_subresources; i++) {
                const struct kind_subresource *s = &v->subresources[i];

                r = resource_value(&a, k, arena_printf(&a, "%.*s/%.*s", STR_ARG(k->plural), STR_ARG(s->name)),
                                   s->gvk.kind, s->verbs);
                print_value(&a, &r);
        }
}

/* --- Writes --- */

static void print_error(struct arena *a, const struct err *err)
{
        struct value text = value_of_str(str_from(err_message(err)));

        print_value(a, value_with(a, &value_empty_object, STR("error"), &text));
}

static void predict_line(struct documents *d, struct str line)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct write_request req = { .force = true };
        const struct value *v, *live;
        struct write_outcome outcome;
        struct str verb;
        int r;

        arena_init(&a, "case", 0);
        if (json_parse(&a, line, NULL, &v, &err) < 0) {
                print_error(&a, &err);
                return;
        }
        verb = value_str(value_get(v, STR("verb")));
        live = value_get(v, STR("live"));
        req.verb = str_equal(verb, STR("apply"))       ? WRITE_APPLY
                   : str_equal(verb, STR("strategic")) ? WRITE_STRATEGIC_PATCH
                                                       : WRITE_MERGE_PATCH;
        req.force = req.verb == WRITE_APPLY;
        req.key = object_key_of(live);
        req.body = value_get(v, STR("body"));
        req.manager = value_str(value_get(v, STR("manager")));
        r = predict_write(&d->cluster, &run, &a, &req, live, &outcome, &err);
        if (r < 0)
                print_error(&a, &err);
        else
                print_value(&a, outcome.answer);
}

static void read_document(struct documents *d, const char *name)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct openapi_kinds kinds;

        if (input_read(name, &text, &err) < 0 || openapi_parse(buf_str(&text), &kinds, &err) < 0) {
                fprintf(stderr, "%s: %s\n", name, err_message(&err));
                exit(1);
        }
        for (size_t i = 0; i < kinds.n; i++)
                print_kind(kinds.p[i]);
        vec_push(&d->p, kinds);
}

int main(int argc, char **argv)
{
        static const struct cluster_ops ops = { .kind = find_kind };
        struct documents d = { .cluster = { .ops = &ops } };
        char *line = NULL;
        size_t capacity = 0;
        ssize_t n;

        for (int i = 1; i < argc; i++)
                read_document(&d, argv[i]);
        putchar('\n');
        while ((n = getline(&line, &capacity, stdin)) > 0)
                predict_line(&d, str_make(line, (size_t)n));
        free(line);
        for (size_t i = 0; i < d.p.n; i++)
                openapi_kinds_done(&d.p.p[i]);
        vec_done(&d.p);
        return 0;
}
