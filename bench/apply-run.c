/* apply-run FILE: our side of bench-apply. Makes the object of the file, then times each apply under `measure`; prints one line for
 * each: nanoseconds and a name. */
#include "bench.h"

#include "buf.h"
#include "json.h"
#include "managed.h"
#include "patch.h"
#include "schema.h"
#include "yaml.h"

#include <stdio.h>

struct world {
        struct arena arena;
        struct schema *schema;
        const struct value *live;
        int64_t second;
};

struct measured {
        struct world *world;
        const struct value *step;
        struct arena arena;
};

static int write_object(struct world *w, struct arena *a, const struct value *step, const struct value **ret,
                        struct err *err)
{
        struct managed_type type = {
                .gvk = { STR("example.org"), value_str(value_get(step, STR("version"))), STR("Widget") },
                .schema = w->schema,
                .has_status = true,
                .hub_version = STR("v1"),
        };
        struct managed_request req = {
                .type = &type,
                .manager = value_str(value_get(step, STR("manager"))),
                .subresource = value_str(value_get(step, STR("sub"))),
                .now = { .seconds = 1577836800 + w->second },
                .force = value_bool(value_get(step, STR("force")), false),
        };
        const struct value *object = value_get(step, STR("object"));

        if (str_equal(value_str(value_get(step, STR("op"))), STR("apply")))
                return managed_apply(a, &req, w->live, object, ret, err);
        return managed_update(a, &req, w->live, merge_patch_apply(a, w->live, object), ret, err);
}

static void run(void *context)
{
        struct measured *m = context;
        const struct value *object;

        if (write_object(m->world, &m->arena, m->step, &object, NULL) < 0)
                abort();
        arena_reset(&m->arena);
}

/* The peer reads the same file, so it is read without changes. */
static int load(struct world *w, const char *name, const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        FILE *f = fopen(name, "r");

        if (!f)
                return err_set(err, ERR_SYSTEM, "cannot open %s", name);
        while (!feof(f) && !ferror(f) && buf_reserve(&text, 4096))
                text.n += fread(text.p + text.n, 1, 4096, f);
        fclose(f);
        return yaml_parse(&w->arena, buf_to_arena(&text, &w->arena), NULL, ret, err);
}

static int make_object(struct world *w, const struct value *file, struct err *err)
{
        const struct value *schemas = value_item(value_get(file, STR("schemas")), 0);
        const struct value *steps = value_get(file, STR("steps"));
        struct field_errors errors;

        field_errors_init(&errors, &w->arena);
        if (schema_compile(value_get(schemas, STR("v1")), STR("schema"), &w->schema, &errors) < 0)
                return err_set(err, ERR_INVALID, "%.*s: %.*s", STR_ARG(errors.p[0].field), STR_ARG(errors.p[0].text));
        VALUE_FOREACH_ITEM (step, steps) {
                const struct value *object;
                int r;

                r = write_object(w, &w->arena, step, &object, err);
                if (r < 0)
                        return r;
                w->live = meta_with_str(&w->arena, object, STR("uid"), STR("u-1"));
                w->second++;
        }
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *file, *measure;
        struct world w = { 0 };

        arena_init(&w.arena, "world", 0);
        if (argc != 2 || load(&w, argv[1], &file, &err) < 0 || make_object(&w, file, &err) < 0) {
                fprintf(stderr, "apply-run: %s\n", err_message(&err));
                return 1;
        }
        measure = value_get(file, STR("measure"));
        VALUE_FOREACH_ITEM (m, measure) {
                struct measured measured = { .world = &w, .step = value_get(m, STR("step")) };
                struct contender contender = { "ours", run, &measured };
                double ns;

                arena_init(&measured.arena, "apply", 0);
                bench_compare(&contender, 1, 0.7, &ns);
                printf("%.0f %.*s\n", ns, STR_ARG(value_str(value_get(m, STR("name")))));
                arena_done(&measured.arena);
        }
        schema_unref(w.schema);
        arena_done(&w.arena);
        return 0;
}
