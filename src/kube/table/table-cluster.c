/* The cells of nodes, events, certificates, roles and policies. */
#include "table-cells.h"

#include "buf.h"

struct value table_config_data(const struct table_source *s)
{
        return value_of_int(
                (int64_t)(value_count(table_get(s->object, "data")) + value_count(table_get(s->object, "binaryData"))));
}

/* --- Nodes --- */

struct value table_node_status(const struct table_source *s)
{
        struct str ready = table_condition(s->object, STR("Ready"));
        const char *text = ready.n == 0 ? "Unknown" : str_equal(ready, STR("True")) ? "Ready" : "NotReady";

        return table_printf(s, "%s%s", text,
                            value_bool(table_get(s->object, "spec.unschedulable"), false) ? ",SchedulingDisabled" : "");
}

struct value table_node_roles(const struct table_source *s)
{
        struct str_list roles;
        size_t n = 0;

        str_list_init(&roles, s->arena);
        VALUE_FOREACH_MEMBER (m, table_get(s->object, "metadata.labels")) {
                struct str role = m->key;

                if (str_equal(m->key, STR("kubernetes.io/role")))
                        role = value_str(&m->value);
                else if (!str_cut_prefix(&role, STR("node-role.kubernetes.io/")))
                        continue;
                if (role.n > 0)
                        str_list_add(&roles, role);
        }
        str_list_sort(&roles);
        for (size_t i = 0; i < roles.n; i++)
                if (n == 0 || !str_equal(roles.p[n - 1], roles.p[i]))
                        roles.p[n++] = roles.p[i];
        roles.n = n;
        return value_of_str(n > 0 ? str_list_join(&roles, STR(",")) : STR("<none>"));
}

/* The path is the type of the address. */
struct value table_node_address(const struct table_source *s)
{
        VALUE_FOREACH_ITEM (address, table_get(s->object, "status.addresses"))
                if (str_equal(value_str(value_get(address, STR("type"))), s->path))
                        return value_of_str(value_str(value_get(address, STR("address"))));
        return value_of_literal("<none>");
}

struct value table_node_kernel(const struct table_source *s)
{
        struct str kernel = table_text(s->object, "status.nodeInfo.kernelVersion");
        struct str architecture = table_text(s->object, "status.nodeInfo.architecture");

        if (kernel.n == 0)
                kernel = STR("<unknown>");
        return architecture.n == 0 ? value_of_str(kernel)
                                   : table_printf(s, "%.*s (%.*s)", STR_ARG(kernel), STR_ARG(architecture));
}

/* --- Events of both groups --- */

/* The first of the paths that is there: the two groups have different names for the same fields. */
static const struct value *either(const struct value *event, const char *core, const char *other)
{
        const struct value *v = table_get(event, core);

        return v ? v : table_get(event, other);
}

struct value table_event_first(const struct table_source *s)
{
        const struct value *v = either(s->object, "firstTimestamp", "deprecatedFirstTimestamp");

        return value_of_str(table_since(s, value_is_string(v) ? v : table_get(s->object, "eventTime")));
}

struct value table_event_last(const struct table_source *s)
{
        const struct value *v = either(s->object, "lastTimestamp", "deprecatedLastTimestamp");

        if (value_is_object(table_get(s->object, "series")))
                return value_of_str(table_since(s, table_get(s->object, "series.lastObservedTime")));
        return value_is_string(v) ? value_of_str(table_since(s, v)) : table_event_first(s);
}

struct value table_event_count(const struct table_source *s)
{
        int64_t count = value_int(either(s->object, "count", "deprecatedCount"), 0);

        if (value_is_object(table_get(s->object, "series")))
                return value_of_int(value_int(table_get(s->object, "series.count"), 0));
        return value_of_int(count == 0 ? 1 : count);
}

struct value table_event_target(const struct table_source *s)
{
        const struct value *target = either(s->object, "involvedObject", "regarding");
        struct str kind = kind_lower(s->arena, table_text(target, "kind")), name = table_text(target, "name");

        return name.n == 0 ? value_of_str(kind) : table_printf(s, "%.*s/%.*s", STR_ARG(kind), STR_ARG(name));
}

struct value table_event_path(const struct table_source *s)
{
        return value_of_str(table_text(either(s->object, "involvedObject", "regarding"), "fieldPath"));
}

struct value table_event_source(const struct table_source *s)
{
        const struct value *source = either(s->object, "source", "deprecatedSource");
        struct str component = table_text(source, "component"), host = table_text(source, "host");

        if (component.n == 0)
                component = value_str(either(s->object, "reportingComponent", "reportingController"));
        if (host.n == 0)
                host = table_text(s->object, "reportingInstance");
        return host.n == 0 ? value_of_str(component) : table_printf(s, "%.*s, %.*s", STR_ARG(component), STR_ARG(host));
}

struct value table_event_message(const struct table_source *s)
{
        return value_of_str(str_trim(value_str(either(s->object, "message", "note"))));
}

/* --- Roles --- */

struct value table_role(const struct table_source *s)
{
        return table_printf(s, "%.*s/%.*s", STR_ARG(table_text(s->object, "roleRef.kind")),
                            STR_ARG(table_text(s->object, "roleRef.name")));
}

/* The path is the kind of the subjects. */
struct value table_subjects(const struct table_source *s)
{
        struct str_list list;

        str_list_init(&list, s->arena);
        VALUE_FOREACH_ITEM (subject, table_get(s->object, "subjects")) {
                struct str name = table_text(subject, "name"), name_space = table_text(subject, "namespace");

                if (!str_equal(table_text(subject, "kind"), s->path))
                        continue;
                if (str_equal(s->path, STR("ServiceAccount")) && name_space.n > 0)
                        str_list_printf(&list, "%.*s/%.*s", STR_ARG(name_space), STR_ARG(name));
                else
                        str_list_add(&list, name);
        }
        return value_of_str(str_list_join(&list, STR(", ")));
}

/* --- Certificates --- */

static bool has_condition(const struct value *object, struct str type)
{
        VALUE_FOREACH_ITEM (c, table_get(object, "status.conditions"))
                if (str_equal(value_str(value_get(c, STR("type"))), type))
                        return true;
        return false;
}

struct value table_csr_status(const struct table_source *s)
{
        const char *decision = has_condition(s->object, STR("Denied"))     ? "Denied"
                               : has_condition(s->object, STR("Approved")) ? "Approved"
                                                                           : "Pending";

        return table_printf(s, "%s%s%s", decision, has_condition(s->object, STR("Failed")) ? ",Failed" : "",
                            table_text(s->object, "status.certificate").n > 0 ? ",Issued" : "");
}

struct value table_csr_duration(const struct table_source *s)
{
        const struct value *v = table_get(s->object, "spec.expirationSeconds");

        return value_is_number(v) ? value_of_str(table_duration(s->arena, value_int(v, 0)))
                                  : value_of_literal("<none>");
}

/* --- Admission policies --- */

struct value table_policy_kind(const struct table_source *s)
{
        const struct value *kind = table_get(s->object, "spec.paramKind");

        if (!value_is_object(kind))
                return value_of_literal("<unset>");
        return table_printf(s, "%.*s/%.*s", STR_ARG(table_text(kind, "apiVersion")), STR_ARG(table_text(kind, "kind")));
}

/* A selector as Go prints the struct. */
static struct value selector_as_struct(const struct table_source *s, const struct value *selector)
{
        const struct value *labels = value_get(selector, STR("matchLabels"));
        _cleanup_buf_ struct buf b = { 0 };

        buf_append_literal(&b, "&LabelSelector{MatchLabels:map[string]string{");
        if (value_is_object(labels))
                labels = value_sorted(s->arena, labels);
        VALUE_FOREACH_MEMBER (m, labels)
                buf_appendf(&b, "%.*s: %.*s,", STR_ARG(m->key), STR_ARG(value_str(&m->value)));
        buf_append_literal(&b, "},MatchExpressions:[]LabelSelectorRequirement{");
        VALUE_FOREACH_ITEM (e, value_get(selector, STR("matchExpressions"))) {
                size_t n = 0;

                buf_appendf(&b, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[",
                            STR_ARG(table_text(e, "key")), STR_ARG(table_text(e, "operator")));
                VALUE_FOREACH_ITEM (v, value_get(e, STR("values")))
                        buf_appendf(&b, "%s%.*s", n++ > 0 ? " " : "", STR_ARG(value_str(v)));
                buf_append_literal(&b, "],},");
        }
        buf_append_literal(&b, "},}");
        return value_of_str(buf_to_arena(&b, s->arena));
}

struct value table_policy_reference(const struct table_source *s)
{
        const struct value *p = table_get(s->object, "spec.paramRef"), *selector = value_get(p, STR("selector"));
        struct str name = table_text(p, "name"), name_space = table_text(p, "namespace");

        if (name.n > 0)
                return table_printf(s, "%.*s/%.*s", STR_ARG(name_space.n > 0 ? name_space : STR("*")), STR_ARG(name));
        return value_is_object(selector) ? selector_as_struct(s, selector) : value_of_literal("<unset>");
}

/* --- API services --- */

struct value table_api_service(const struct table_source *s)
{
        const struct value *service = table_get(s->object, "spec.service");

        if (!value_is_object(service))
                return value_of_literal("Local");
        return table_printf(s, "%.*s/%.*s", STR_ARG(table_text(service, "namespace")),
                            STR_ARG(table_text(service, "name")));
}

struct value table_api_available(const struct table_source *s)
{
        VALUE_FOREACH_ITEM (c, table_get(s->object, "status.conditions")) {
                struct str status = table_text(c, "status"), reason = table_text(c, "reason");

                if (!str_equal(table_text(c, "type"), STR("Available")))
                        continue;
                if (str_equal(status, STR("True")) || reason.n == 0)
                        return value_of_str(status);
                return table_printf(s, "%.*s (%.*s)", STR_ARG(status), STR_ARG(reason));
        }
        return value_of_literal("Unknown");
}
