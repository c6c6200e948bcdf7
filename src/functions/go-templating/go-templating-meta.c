/* Documents that are not resources: connection details, conditions, context, requirements. */
#include "go-templating.h"

#include "base64.h"
#include "buf.h"
#include "gotext.h"
#include "path.h"
#include "timetext.h"

/* The error of encoding/json for a value of the wrong type. */
static int wrong_type(struct err *err, const struct value *v, const char *into)
{
        return err_set(err, ERR_INVALID, "cannot unmarshal value from JSON: json: cannot unmarshal %s into Go %s",
                       go_json_type(v), into);
}

/* A string field of a struct: absent and null are empty. */
static int get_text(const struct value *object, const char *key, const char *into, struct str *ret, struct err *err)
{
        const struct value *v = value_get(object, str_from(key));

        *ret = value_str(v);
        if (!v || value_is_null(v) || value_is_string(v))
                return 0;
        return wrong_type(err, v, into);
}

/* --- CompositeConnectionDetails --- */

static int compare_details(const void *a, const void *b)
{
        return str_compare(((const struct fn_bytes *)a)->key, ((const struct fn_bytes *)b)->key);
}

static void set_detail(struct templating *t, struct str key, struct str bytes)
{
        struct fn_bytes_map *map = &t->composite.connection;
        struct fn_bytes *grown = ARENA_NEW_ARRAY(t->arena, struct fn_bytes, map->n + 1);
        size_t n = 0;

        for (size_t i = 0; i < map->n; i++)
                if (!str_equal(map->p[i].key, key))
                        grown[n++] = map->p[i];
        grown[n++] = (struct fn_bytes) { key, bytes };
        qsort(grown, n, sizeof(*grown), compare_details);
        map->p = grown;
        map->n = n;
}

static void apply_connection_details(struct templating *t, const struct value *document)
{
        const struct value *data = value_get(document, STR("data"));

        VALUE_FOREACH_MEMBER (m, data)
                if (!value_is_string(&m->value))
                        return;
        VALUE_FOREACH_MEMBER (m, data) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                base64_decode(&b, value_str(&m->value), BASE64_STD, NULL);
                set_detail(t, m->key, buf_to_arena(&b, t->arena));
        }
}

/* --- ClaimConditions --- */

static bool is_reserved(struct str type)
{
        static const char *const types[] = { "Ready", "Synced", "Healthy", "UpToDate" };

        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                if (str_equal(type, str_from(types[i])))
                        return true;
        return false;
}

static int32_t status_number(struct str status)
{
        if (str_equal(status, STR("True")))
                return 2;
        return str_equal(status, STR("False")) ? 3 : 1;
}

static int read_time(const struct value *v, struct err *err)
{
        struct instant at;
        int r;

        if (!v || value_is_null(v))
                return 0;
        if (!value_is_string(v))
                return wrong_type(err, v, "struct field TargetedCondition.Condition.lastTransitionTime of type string");
        r = time_parse_rfc3339(value_str(v), &at, err);
        return r < 0 ? err_wrap(err, "cannot unmarshal value from JSON") : 0;
}

static int read_condition(const struct value *v, struct fn_condition *ret, struct err *err)
{
        struct str status, target;
        int r;

        *ret = (struct fn_condition) { 0 };
        if (!value_is_object(v) && !value_is_null(v))
                return wrong_type(err, v, "value of type main.TargetedCondition");
        r = get_text(v, "type", "struct field TargetedCondition.Condition.type of type v2.ConditionType", &ret->type,
                     err);
        if (r == 0)
                r = get_text(v, "status", "struct field TargetedCondition.Condition.status of type v1.ConditionStatus",
                             &status, err);
        if (r == 0)
                r = read_time(value_get(v, STR("lastTransitionTime")), err);
        if (r == 0)
                r = get_text(v, "reason", "struct field TargetedCondition.Condition.reason of type v2.ConditionReason",
                             &ret->reason, err);
        if (r == 0)
                r = get_text(v, "message", "struct field TargetedCondition.Condition.message of type string",
                             &ret->message, err);
        if (r == 0)
                r = get_text(v, "target", "struct field TargetedCondition.target of type main.CompositionTarget",
                             &target, err);
        if (r < 0)
                return r;
        if (ret->message.n == 0)
                ret->message = STR_NONE;
        ret->status = status_number(status);
        ret->target = str_equal(target, STR("CompositeAndClaim")) ? FN_TARGET_COMPOSITE_AND_CLAIM : FN_TARGET_COMPOSITE;
        return 0;
}

static int read_conditions(struct templating *t, const struct value *document, struct fn_condition **ret, size_t *ret_n,
                           struct err *err)
{
        const struct value *list = value_get(document, STR("conditions"));
        size_t n = value_count(list);
        int r = 0;

        if (!list)
                return err_set(err, ERR_INVALID, "conditions: no such field");
        if (!value_is_array(list) && !value_is_null(list))
                return wrong_type(err, list, "value of type []main.TargetedCondition");
        *ret = ARENA_NEW_ARRAY(t->arena, struct fn_condition, n + 1);
        *ret_n = n;
        for (size_t i = 0; i < n && r == 0; i++)
                r = read_condition(value_item(list, i), &(*ret)[i], err);
        return r;
}

static int apply_conditions(struct templating *t, const struct value *document, struct err *err)
{
        struct fn_condition *conditions;
        size_t n;
        int r = read_conditions(t, document, &conditions, &n, err);

        if (r < 0)
                return err_wrap(err, "cannot get Conditions from input");
        for (size_t i = 0; i < n; i++) {
                if (is_reserved(conditions[i].type))
                        return err_set(err, ERR_INVALID,
                                       "cannot set ClaimCondition type: %.*s is a reserved Crossplane Condition",
                                       STR_ARG(conditions[i].type));
                fn_response_add_condition(t->arena, t->rsp, &conditions[i]);
        }
        return 0;
}

/* --- Context --- */

static int apply_context(struct templating *t, const struct value *document, struct err *err)
{
        const struct merge_options options = { 0 };
        const struct value *data = value_get(document, STR("data")), *merged, *context;
        int r;

        if (!data)
                return err_set(err, ERR_INVALID, "cannot get Contexts from input: data: no such field");
        if (value_is_null(data))
                data = &value_empty_object;
        if (!value_is_object(data)) {
                wrong_type(err, data, "value of type map[string]interface {}");
                return err_wrap(err, "cannot get Contexts from input");
        }
        r = fn_struct_value(t->arena, &t->rsp->context, &context, err);
        if (r < 0)
                return err_wrap(err, "cannot read the context");
        /* Merge over the response's context, which has the documents before. If the request's context was empty, merge over
         * nothing, as upstream, so that the documents before do not count. */
        r = merge_values(t->arena, value_count(t->context) > 0 ? context : &value_empty_object, data, &options, &merged,
                         err);
        if (r < 0)
                return err_wrap(err, "cannot merge data into the context");
        context = context ?: &value_empty_object;
        VALUE_FOREACH_MEMBER (m, merged)
                context = value_with(t->arena, context, m->key, &m->value);
        t->rsp->context = (struct fn_struct) { .value = context };
        return 0;
}

/* --- ExtraResources --- */

static int read_labels(struct templating *t, const struct value *labels, struct fn_selector *s, struct err *err)
{
        struct fn_label *list = ARENA_NEW_ARRAY(t->arena, struct fn_label, value_count(labels) + 1);
        const struct value *sorted = value_is_object(labels) ? value_sorted(t->arena, labels) : NULL;

        if (labels && !value_is_null(labels) && !value_is_object(labels))
                return wrong_type(err, labels,
                                  "struct field ExtraResourcesRequirement.matchLabels of type map[string]string");
        VALUE_FOREACH_MEMBER (m, sorted) {
                if (!value_is_string(&m->value) && !value_is_null(&m->value))
                        return wrong_type(err, &m->value,
                                          "struct field ExtraResourcesRequirement.matchLabels of type string");
                list[s->n_labels++] = (struct fn_label) { m->key, value_str(&m->value) };
        }
        s->has_labels = true;
        s->labels = list;
        return 0;
}

static int read_requirement(struct templating *t, const struct member *m, struct fn_selector *ret, struct err *err)
{
        const struct value *v = &m->value;
        struct str match_name;
        int r;

        *ret = (struct fn_selector) { .name = m->key };
        if (!value_is_object(v) && !value_is_null(v))
                return wrong_type(err, v, "value of type main.ExtraResourcesRequirement");
        r = get_text(v, "apiVersion", "struct field ExtraResourcesRequirement.apiVersion of type string",
                     &ret->api_version, err);
        if (r == 0)
                r = get_text(v, "kind", "struct field ExtraResourcesRequirement.kind of type string", &ret->kind, err);
        if (r == 0)
                r = read_labels(t, value_get(v, STR("matchLabels")), ret, err);
        if (r == 0)
                r = get_text(v, "matchName", "struct field ExtraResourcesRequirement.matchName of type string",
                             &match_name, err);
        if (r == 0)
                r = get_text(v, "namespace", "struct field ExtraResourcesRequirement.namespace of type string",
                             &ret->ns, err);
        if (r < 0)
                return r;
        if (match_name.n > 0) {
                ret->match_name = match_name;
                ret->has_labels = false;
                ret->n_labels = 0;
        } else {
                ret->match_name = STR_NONE;
        }
        return 0;
}

static int compare_selectors(const void *a, const void *b)
{
        return str_compare(((const struct fn_selector *)a)->name, ((const struct fn_selector *)b)->name);
}

static void set_selector(struct arena *a, const struct fn_selector **list, size_t *n, const struct fn_selector *s)
{
        struct fn_selector *grown = ARENA_NEW_ARRAY(a, struct fn_selector, *n + 1);
        size_t count = 0;

        for (size_t i = 0; i < *n; i++)
                if (!str_equal((*list)[i].name, s->name))
                        grown[count++] = (*list)[i];
        grown[count++] = *s;
        qsort(grown, count, sizeof(*grown), compare_selectors);
        *list = grown;
        *n = count;
}

/* Adds the requirement under the newer name; also under the older name if it has no namespace, because the older form has none. */
static int require(struct templating *t, const struct fn_selector *selector, struct err *err)
{
        struct fn_requirements *all = &t->requirements;
        struct fn_selector s = *selector;
        bool has_namespace = s.ns.n > 0;

        for (size_t i = 0; i < all->n_extra_resources; i++)
                if (str_equal(all->extra_resources[i].name, s.name))
                        return err_set(err, ERR_INVALID, "duplicate extra resource key %.*s",
                                       STR_ARG(go_quote(t->arena, s.name)));
        if (!has_namespace || !s.match_name.p)
                s.ns = STR_NONE;
        set_selector(t->arena, &all->resources, &all->n_resources, &s);
        if (!has_namespace)
                set_selector(t->arena, &all->extra_resources, &all->n_extra_resources, &s);
        all->is_present = true;
        return 0;
}

static int read_requirements(struct templating *t, const struct value *document, struct fn_selector **ret,
                             size_t *ret_n, struct err *err)
{
        const struct value *map = value_get(document, STR("requirements"));
        size_t n = 0;
        int r = 0;

        if (!map)
                return err_set(err, ERR_INVALID, "requirements: no such field");
        if (!value_is_object(map) && !value_is_null(map))
                return wrong_type(err, map, "value of type main.ExtraResourcesRequirements");
        *ret = ARENA_NEW_ARRAY(t->arena, struct fn_selector, value_count(map) + 1);
        VALUE_FOREACH_MEMBER (m, map)
                if (r == 0)
                        r = read_requirement(t, m, &(*ret)[n++], err);
        *ret_n = n;
        return r;
}

static int apply_requirements(struct templating *t, const struct value *document, struct err *err)
{
        struct fn_selector *selectors;
        size_t n;
        int r = read_requirements(t, document, &selectors, &n, err);

        if (r < 0)
                return err_wrap(err, "cannot get extra resources requirements");
        for (size_t i = 0; i < n && r == 0; i++)
                r = require(t, &selectors[i], err);
        return r;
}

int templating_apply_meta(struct templating *t, const struct value *document, struct err *err)
{
        struct str kind = value_str(value_get(document, STR("kind")));

        if (str_equal(kind, STR("CompositeConnectionDetails"))) {
                apply_connection_details(t, document);
                return 0;
        }
        if (str_equal(kind, STR("ClaimConditions")))
                return apply_conditions(t, document, err);
        if (str_equal(kind, STR("Context")))
                return apply_context(t, document, err);
        if (str_equal(kind, STR("ExtraResources")))
                return apply_requirements(t, document, err);
        return err_set(err, ERR_INVALID,
                       "invalid kind %.*s for apiVersion %.*s - must be one of CompositeConnectionDetails, Context or "
                       "ExtraResources",
                       STR_ARG(go_quote(t->arena, kind)), STR_ARG(go_quote(t->arena, TEMPLATING_META)));
}
