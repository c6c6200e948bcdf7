#include "subject.h"

#include "condition.h"
#include "kind.h"
#include "prepare.h"

/* As the oracle has it: the versions that an error shows are its own matter. */
static struct str text_of(struct arena *a, const struct field_error *e)
{
        ptrdiff_t detail = str_find(e->text, STR("must "));

        if (str_equal(e->field, STR("spec.versions")))
                return arena_printf(a, "spec.versions: Invalid value: VERSIONS: %.*s",
                                    STR_ARG(str_skip(e->text, (size_t)detail)));
        return arena_printf(a, "%.*s: %.*s", STR_ARG(e->field), STR_ARG(e->text));
}

static struct value texts_of(struct arena *a, const struct field_errors *errors)
{
        struct str_list texts;
        struct array_builder b;

        str_list_init(&texts, a);
        for (size_t i = 0; i < errors->n; i++)
                str_list_add(&texts, text_of(a, &errors->p[i]));
        str_list_sort(&texts);
        array_builder_init(&b, a, texts.n);
        for (size_t i = 0; i < texts.n; i++)
                array_builder_add(&b, value_of_str(texts.p[i]));
        return array_builder_finish(&b);
}

static const struct value *prepare(struct arena *a, const struct value *old, const struct value *crd)
{
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };

        return crd_strategy.prepare(a, &req, old, crd_strategy.complete(a, crd));
}

static const struct value *old_of(struct arena *a, const struct value *c)
{
        struct condition established = { .type = STR("Established"), .status = CONDITION_TRUE };
        const struct value *old = value_get(c, STR("old"));

        if (!old)
                return NULL;
        old = prepare(a, NULL, old);
        return value_bool(value_get(c, STR("established")), false) ? conditions_set(a, old, &established, 1) : old;
}

static struct value text_or_empty(const struct value *v)
{
        return v ? *v : value_empty_string;
}

const struct value *run_crd(struct arena *a, const struct value *c)
{
        const struct value *old = old_of(a, c), *crd = value_get(c, STR("crd")), *stored, *port;
        struct write_request req = { .verb = old ? WRITE_UPDATE : WRITE_CREATE };
        struct field_errors errors;
        struct object_builder b, names, conversion;

        if (old) {
                crd = value_with(a, crd, STR("status"), value_get(old, STR("status")));
                crd = meta_with_str(a, crd, STR("name"), meta_name(old));
        }
        crd = prepare(a, old, crd);
        field_errors_init(&errors, a);
        crd_strategy.validate(a, &req, old, crd, &errors, NULL);
        object_builder_init(&names, a, 2);
        object_builder_add(&names, STR("singular"), text_or_empty(value_find(crd, "spec", "names", "singular")));
        object_builder_add(&names, STR("listKind"), text_or_empty(value_find(crd, "spec", "names", "listKind")));
        stored = value_find(crd, "status", "storedVersions");
        port = value_find(crd, "spec", "conversion", "webhook", "clientConfig", "service", "port");
        object_builder_init(&conversion, a, 2);
        object_builder_add(&conversion, STR("strategy"),
                           text_or_empty(value_find(crd, "spec", "conversion", "strategy")));
        object_builder_add(&conversion, STR("port"), port ? *port : value_null);
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("errors"), texts_of(a, &errors));
        object_builder_add(&b, STR("names"), object_builder_finish(&names));
        object_builder_add(&b, STR("conversion"), object_builder_finish(&conversion));
        object_builder_add(&b, STR("stored"), stored ? *stored : value_null);
        return value_put(a, object_builder_finish(&b));
}
