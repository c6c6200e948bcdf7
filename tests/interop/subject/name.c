#include "subject.h"

#include "kind.h"
#include "name.h"

static size_t check(struct arena *a, struct str name, bool as_prefix, struct str kind, struct str *texts)
{
        if (str_equal(kind, STR("subdomain")))
                return name_check_subdomain(a, name, as_prefix, texts);
        if (str_equal(kind, STR("label")))
                return name_check_label(a, name, as_prefix, texts);
        if (str_equal(kind, STR("label1035")))
                return name_check_label_1035(a, name, as_prefix, texts);
        if (str_equal(kind, STR("path")))
                return name_check_path_segment(a, name, as_prefix, texts);
        if (str_equal(kind, STR("qualified")))
                return name_check_qualified(a, name, texts);
        if (str_equal(kind, STR("value")))
                return name_check_label_value(a, name, texts);
        return name_check_config_key(a, name, texts);
}

const struct value *run_name(struct arena *a, const struct value *c)
{
        struct str kind = value_str(value_get(c, STR("check"))), name = value_str(value_get(c, STR("name"))), texts[4];
        struct array_builder b;
        size_t n;

        if (str_equal(kind, STR("plural")))
                return value_put(a, value_of_str(kind_guess_plural(a, name)));
        if (str_equal(kind, STR("deterministic")))
                return value_put(a, value_of_str(name_deterministic(a, name, value_str(value_get(c, STR("uid"))),
                                                                    value_str(value_get(c, STR("resource"))))));
        n = check(a, name, value_bool(value_get(c, STR("asPrefix")), false), kind, texts);
        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_str(texts[i]));
        return value_put(a, array_builder_finish(&b));
}
