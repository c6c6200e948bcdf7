/* Services get an address. Nothing here routes it, so that it only has to look like one: it is made from the Service's uid, and two
 * Services may have the same. Ports of nodes are not given out. */
#include "builtin-strategies.h"

/* 10.96.0.0/12; the first addresses are those of the API and of DNS. */
#define NETWORK       0x0a600000u
#define HOST_BITS     20
#define FIRST_ADDRESS 16u

static struct str address_of(struct arena *a, struct str uid)
{
        uint32_t hash = 2166136261u, host;

        for (size_t i = 0; i < uid.n; i++)
                hash = (hash ^ (uint8_t)uid.p[i]) * 16777619u;
        host = FIRST_ADDRESS + hash % ((1u << HOST_BITS) - FIRST_ADDRESS - 1);
        host |= NETWORK;
        return arena_printf(a, "%u.%u.%u.%u", host >> 24, host >> 16 & 255, host >> 8 & 255, host & 255);
}

static const struct value *one_text(struct arena *a, struct value text)
{
        return value_put(a, value_of_items(a, &text, 1));
}

static bool has_address(const struct value *spec)
{
        return !str_equal(value_str(value_get(spec, STR("type"))), STR("ExternalName"));
}

static const struct value *with_families(struct arena *a, const struct value *spec)
{
        struct value v4 = value_of_literal("IPv4"), v6 = value_of_literal("IPv6"), both[] = { v4, v6 };
        struct value single = value_of_literal("SingleStack"), dual = value_of_literal("RequireDualStack");
        /* Without a selector a Service without an address may stand for addresses of both families. */
        bool is_open = str_equal(value_str(value_get(spec, STR("clusterIP"))), STR("None")) &&
                       value_count(value_get(spec, STR("selector"))) == 0;
        bool is_v6 = str_find_char(value_str(value_get(spec, STR("clusterIP"))), ':') >= 0;

        if (!value_get(spec, STR("ipFamilies")))
                spec = value_with(a, spec, STR("ipFamilies"),
                                  is_open ? value_put(a, value_of_items(a, both, 2)) : one_text(a, is_v6 ? v6 : v4));
        if (!value_get(spec, STR("ipFamilyPolicy")))
                spec = value_with(a, spec, STR("ipFamilyPolicy"), is_open ? &dual : &single);
        return spec;
}

static const struct value *with_address(struct arena *a, const struct value *object, const struct value *spec)
{
        const struct value *all = value_get(spec, STR("clusterIPs"));
        struct str address = value_str(value_get(spec, STR("clusterIP")));
        struct value v;

        if (address.n == 0)
                address = value_count(all) ? value_str(value_item(all, 0)) : address_of(a, meta_uid(object));
        v = value_of_str(address);
        spec = value_with(a, spec, STR("clusterIP"), &v);
        if (value_count(all) == 0)
                spec = value_with(a, spec, STR("clusterIPs"), one_text(a, v));
        return with_families(a, spec);
}

/* An update that leaves out what the API gave keeps it. */
static const struct value *keep_given(struct arena *a, const struct value *old, const struct value *spec)
{
        static const char *const fields[] = { "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy" };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                const struct value *before = value_get(old, str_from(fields[i]));

                if (before && !value_get(spec, str_from(fields[i])))
                        spec = value_with(a, spec, str_from(fields[i]), before);
        }
        return spec;
}

static const struct value *prepare_service(struct arena *a, const struct write_request *req _unused_,
                                           const struct value *old, const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec")), *before = value_get(old, STR("spec"));

        if (!has_address(spec))
                return object;
        if (before && has_address(before))
                spec = keep_given(a, before, spec);
        return value_with(a, object, STR("spec"), with_address(a, object, spec));
}

static void validate_service(struct arena *a _unused_, const struct write_request *req _unused_,
                             const struct value *old, const struct value *object, struct field_errors *errors,
                             struct str_list *warnings _unused_)
{
        const struct value *spec = value_get(object, STR("spec")), *before = value_get(old, STR("spec"));
        const struct value *addresses = value_get(spec, STR("clusterIPs")), *was = value_get(before, STR("clusterIPs"));

        if (!before || !has_address(before) || !has_address(spec) || !was || value_equal(addresses, was))
                return;
        field_error_add(errors, FIELD_INVALID, STR("spec.clusterIPs[0]"), addresses, "may not change once set");
}

const struct kind_strategy service_strategy = { .prepare = prepare_service, .validate = validate_service };
