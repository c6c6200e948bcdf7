/* CustomResourceDefinitions as objects: which fields the API fills in, and which a write may change. crd-check.c validates them. */
#include "kind.h"

#include "map.h"
#include "prepare.h"

static const struct value *default_names(struct arena *a, const struct value *names)
{
        struct str kind = value_str(value_get(names, STR("kind")));

        if (str_is_empty(value_str(value_get(names, STR("singular")))))
                names = value_with(a, names, STR("singular"), value_put(a, value_of_str(kind_lower(a, kind))));
        if (str_is_empty(value_str(value_get(names, STR("listKind")))) && !str_is_empty(kind))
                names = value_with(a, names, STR("listKind"),
                                   value_put(a, value_of_str(arena_printf(a, "%.*sList", STR_ARG(kind)))));
        return names;
}

static const struct value *default_conversion(struct arena *a, const struct value *conversion)
{
        static const struct member none = { STR_INIT("strategy"), { .type = VALUE_STRING, .n = 4, .bytes = "None" } };
        const struct value *webhook = value_get(conversion, STR("webhook"));
        const struct value *client = value_get(webhook, STR("clientConfig"));
        const struct value *service = value_get(client, STR("service"));

        if (!value_is_object(conversion))
                return value_put(a, value_of_members(a, &none, 1, true));
        if (!value_is_object(service) || value_get(service, STR("port")))
                return conversion;
        service = value_with(a, service, STR("port"), value_put(a, value_of_int(443)));
        webhook = value_with(a, webhook, STR("clientConfig"), value_with(a, client, STR("service"), service));
        return value_with(a, conversion, STR("webhook"), webhook);
}

const struct value *crd_default(struct arena *a, const struct value *crd)
{
        const struct value *spec = value_get(crd, STR("spec")), *names = value_get(spec, STR("names"));
        const struct value *conversion = value_get(spec, STR("conversion"));
        const struct value *defaulted = default_conversion(a, conversion);

        if (!value_is_object(spec))
                return crd;
        if (defaulted != conversion)
                spec = value_with(a, spec, STR("conversion"), defaulted);
        if (value_is_object(names) && (defaulted = default_names(a, names)) != names)
                spec = value_with(a, spec, STR("names"), defaulted);
        return spec == value_get(crd, STR("spec")) ? crd : value_with(a, crd, STR("spec"), spec);
}

/* The status of a new CRD, in the API's form. */
static const struct value *new_status(struct arena *a)
{
        struct object_builder names, status;

        object_builder_init(&names, a, 2);
        object_builder_add(&names, STR("kind"), value_empty_string);
        object_builder_add(&names, STR("plural"), value_empty_string);
        object_builder_init(&status, a, 3);
        object_builder_add(&status, STR("acceptedNames"), object_builder_finish(&names));
        object_builder_add(&status, STR("conditions"), value_null);
        object_builder_add(&status, STR("storedVersions"), value_null);
        return value_put(a, object_builder_finish(&status));
}

/* Adds the storage version to storedVersions. Objects written from now on may be stored in it, so it has to stay in the list as
 * long as such objects exist. */
static const struct value *with_stored_versions(struct arena *a, const struct value *crd)
{
        const struct value *status = value_get(crd, STR("status"));
        const struct value *stored = value_get(status, STR("storedVersions"));
        _cleanup_map_ struct map seen = { 0 };
        struct array_builder b;
        struct value list;

        array_builder_init(&b, a, value_count(stored) + 1);
        VALUE_FOREACH_ITEM (name, stored) {
                map_add(&seen, value_str(name), &seen);
                array_builder_add(&b, *name);
        }
        VALUE_FOREACH_ITEM (version, value_find(crd, "spec", "versions")) {
                struct str name = value_str(value_get(version, STR("name")));

                if (value_bool(value_get(version, STR("storage")), false) && map_add(&seen, name, &seen))
                        array_builder_add(&b, value_of_str(name));
        }
        if (b.n == value_count(stored))
                return crd;
        list = array_builder_finish(&b);
        status = value_with(a, value_is_object(status) ? status : &value_empty_object, STR("storedVersions"), &list);
        return value_with(a, crd, STR("status"), status);
}

static const struct value *prepare(struct arena *a, const struct write_request *req, const struct value *old,
                                   const struct value *object)
{
        if (req->verb == WRITE_DELETE || str_equal(req->subresource, STR("status")))
                return object;
        if (!old)
                object = value_with(a, object, STR("status"), new_status(a));
        return with_stored_versions(a, object);
}

static void validate(struct arena *a, const struct write_request *req, const struct value *old,
                     const struct value *object, struct field_errors *errors, struct str_list *warnings)
{
        if (str_equal(req->subresource, STR("status")))
                crd_check_status(a, object, errors);
        else
                crd_check(a, object, old, errors, warnings);
}

const struct kind_strategy crd_strategy = { .complete = crd_default, .prepare = prepare, .validate = validate };
