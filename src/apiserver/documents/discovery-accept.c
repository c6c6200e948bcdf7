#include "discovery-accept.h"

#include "number.h"

/* One clause of an Accept header. */
struct clause {
        struct str type;
        struct str group, version, as; /* parameters g, v and as; p == NULL: absent */
        double quality;
};

static void parse_parameter(struct str text, struct clause *c)
{
        struct str name, value;

        if (!str_split(&text, '=', &name))
                return;
        name = str_trim(name);
        value = str_trim(text);
        if (str_equal_ignore_case(name, STR("g")))
                c->group = value;
        else if (str_equal_ignore_case(name, STR("v")))
                c->version = value;
        else if (str_equal_ignore_case(name, STR("as")))
                c->as = value;
        else if (str_equal_ignore_case(name, STR("q")) && number_parse_double(value, &c->quality, NULL) < 0)
                c->quality = 1;
}

static struct clause parse_clause(struct str text)
{
        struct clause c = { .quality = 1 };
        struct str part;

        str_split(&text, ';', &part);
        c.type = str_trim(part);
        while (text.n > 0) {
                str_split(&text, ';', &part);
                parse_parameter(part, &c);
        }
        return c;
}

static bool find_notation(struct str type, enum discovery_notation *ret)
{
        static const struct {
                struct str type;
                enum discovery_notation notation;
        } types[] = {
                { STR_INIT("application/json"), DISCOVERY_JSON },
                { STR_INIT("application/*"), DISCOVERY_JSON },
                { STR_INIT("*/*"), DISCOVERY_JSON },
                { STR_INIT("application/yaml"), DISCOVERY_YAML },
        };

        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                if (str_equal_ignore_case(type, types[i].type)) {
                        *ret = types[i].notation;
                        return true;
                }
        return false;
}

/* False for a clause that asks for an object of some other type, which discovery does not have. */
static bool find_form(const struct clause *c, bool may_aggregate, enum discovery_form *ret)
{
        *ret = DISCOVERY_LEGACY;
        if (!c->group.p && !c->version.p && !c->as.p)
                return true;
        if (!may_aggregate || !str_equal(c->group, STR("apidiscovery.k8s.io")) ||
            !str_equal(c->as, STR("APIGroupDiscoveryList")))
                return false;
        *ret = str_equal(c->version, STR("v2")) ? DISCOVERY_V2 : DISCOVERY_V2BETA1;
        return *ret == DISCOVERY_V2 || str_equal(c->version, STR("v2beta1"));
}

int discovery_accept_parse(struct str header, bool may_aggregate, struct discovery_accept *ret, struct err *err)
{
        double best = 0;

        *ret = (struct discovery_accept) { 0 };
        if (str_trim(header).n == 0)
                return 0;
        while (header.n > 0) {
                struct discovery_accept accept;
                struct clause c;
                struct str part;

                str_split(&header, ',', &part);
                c = parse_clause(part);
                if (!(c.quality > 0) || !find_notation(c.type, &accept.notation) ||
                    !find_form(&c, may_aggregate, &accept.form))
                        continue;
                if (accept.form < ret->form || (accept.form == ret->form && c.quality <= best))
                        continue;
                *ret = accept;
                best = c.quality;
        }
        if (best > 0)
                return 0;
        err_set(err, ERR_UNSUPPORTED,
                "only the following media types are accepted: application/json, application/yaml");
        err_set_reason(err, REASON_NOT_ACCEPTABLE);
        return ERR_UNSUPPORTED;
}

struct str discovery_content_type(struct discovery_accept accept)
{
        static const struct str types[][2] = {
                [DISCOVERY_LEGACY] = { STR_INIT("application/json"), STR_INIT("application/yaml") },
                [DISCOVERY_V2BETA1] = {
                        STR_INIT("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"),
                        STR_INIT("application/yaml;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"),
                },
                [DISCOVERY_V2] = {
                        STR_INIT("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
                        STR_INIT("application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
                },
        };

        return types[accept.form][accept.notation];
}

bool discovery_has_tag(struct str if_none_match, struct str tag)
{
        struct str part;

        while (if_none_match.n > 0) {
                str_split(&if_none_match, ',', &part);
                part = str_trim(part);
                str_cut_prefix(&part, STR("W/"));
                if (str_equal(part, tag) || str_equal(part, STR("*")))
                        return true;
        }
        return false;
}
