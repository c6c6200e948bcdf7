#include "render-print.h"

#include "buf.h"
#include "json.h"
#include "yaml.h"

#define RENDER_API STR("render.crossplane.io/v1beta1")

struct printer {
        struct arena *arena;
        struct buf *b;
        const struct render_print_options *options;
};

static int print(const struct printer *p, const struct value *document, struct err *err)
{
        int r;

        if (p->options->format == RENDER_YAML) {
                buf_append_literal(p->b, "---\n");
                return yaml_write(p->b, document, 0, err);
        }
        r = json_write(p->b, document, JSON_SORT_KEYS, err);
        buf_append_char(p->b, '\n');
        return r;
}

const struct value *render_with_fixed_times(struct arena *a, const struct value *composite)
{
        const struct value *status = value_get(composite, STR("status")), *list = value_get(status, STR("conditions"));
        struct value time = value_of_literal("2024-01-01T00:00:00Z");

        for (size_t i = 0; i < value_count(list); i++)
                list = value_with_item(a, list, i,
                                       value_with(a, value_item(list, i), STR("lastTransitionTime"), &time));
        if (!list)
                return composite;
        return value_with(a, composite, STR("status"), value_with(a, status, STR("conditions"), list));
}

const struct value *render_merge(struct arena *a, const struct value *base, const struct value *over)
{
        if (!value_is_object(base) || !value_is_object(over))
                return over;
        VALUE_FOREACH_MEMBER (m, over) {
                const struct value *there = value_get(base, m->key);

                base = value_with(a, base, m->key, there ? render_merge(a, there, &m->value) : &m->value);
        }
        return base;
}

static int print_results(const struct printer *p, const struct render_output *out, struct err *err)
{
        for (size_t i = 0; i < out->n_events; i++) {
                const struct reconcile_event *e = &out->events[i];
                struct object_builder result;
                int r;

                object_builder_init(&result, p->arena, 5);
                object_builder_add(&result, STR("apiVersion"), value_of_str(RENDER_API));
                object_builder_add(&result, STR("kind"), value_of_literal("Result"));
                object_builder_add(&result, STR("message"), value_of_str(e->message));
                object_builder_add(&result, STR("reason"), value_of_str(e->reason));
                object_builder_add(&result, STR("severity"),
                                   value_of_str(e->is_warning ? STR("Warning") : STR("Normal")));
                r = print(p, value_put(p->arena, object_builder_finish(&result)), err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print_context(const struct printer *p, const struct value *fields, struct err *err)
{
        struct object_builder context;

        if (!fields)
                return 0;
        object_builder_init(&context, p->arena, 3);
        object_builder_add(&context, STR("apiVersion"), value_of_str(RENDER_API));
        object_builder_add(&context, STR("fields"), *fields);
        object_builder_add(&context, STR("kind"), value_of_literal("Context"));
        return print(p, value_put(p->arena, object_builder_finish(&context)), err);
}

int render_print(struct arena *a, struct buf *b, const struct render_print_options *options, const struct value *claim,
                 const struct value *given, const struct render_output *out, struct err *err)
{
        struct printer p = { a, b, options };
        const struct value *composite = out->composite;
        int r = 0;

        if (options->full_composite)
                composite = render_merge(a, given, composite);
        if (claim)
                r = print(&p, render_with_fixed_times(a, claim), err);
        if (r >= 0)
                r = print(&p, render_with_fixed_times(a, composite), err);
        for (size_t i = 0; r >= 0 && i < value_count(out->composed); i++)
                r = print(&p, value_item(out->composed, i), err);
        if (r >= 0 && options->results)
                r = print_results(&p, out, err);
        if (r >= 0 && options->context)
                r = print_context(&p, out->context, err);
        return r < 0 ? r : buf_check(b, "the output", err);
}
