/* The paths and operations of a kind. Clients read from them which kinds there are, which verbs and which patches each takes. */
#include "openapi-document.h"

#include "ascii.h"
#include "buf.h"
#include "builtin.h"

/* --- Parameters --- */

struct parameter {
        const char *name;
        const char *type; /* NULL: a part of the path */
};

static const struct parameter list_parameters[] = {
        { "allowWatchBookmarks", "boolean" },
        { "continue", "string" },
        { "fieldSelector", "string" },
        { "labelSelector", "string" },
        { "limit", "integer" },
        { "resourceVersion", "string" },
        { "resourceVersionMatch", "string" },
        { "sendInitialEvents", "boolean" },
        { "timeoutSeconds", "integer" },
        { "watch", "boolean" },
};
static const struct parameter read_parameters[] = { { "resourceVersion", "string" } };
static const struct parameter write_parameters[] = {
        { "dryRun", "string" },
        { "fieldManager", "string" },
        { "fieldValidation", "string" },
        { "force", "boolean" }, /* of patches alone */
};
static const struct parameter delete_parameters[] = {
        { "dryRun", "string" },
        { "gracePeriodSeconds", "integer" },
        { "orphanDependents", "boolean" },
        { "propagationPolicy", "string" },
};
static const struct parameter path_parameters[] = { { "name", NULL }, { "namespace", NULL }, { "pretty", "string" } };

static struct value parameter_value(struct arena *a, const struct parameter *p)
{
        struct value schema = OPENAPI_OBJECT(a, { STR("type"), value_of_str(str_from(p->type ? p->type : "string")) },
                                             { STR("uniqueItems"), value_true });
        struct member members[] = {
                { STR("name"), value_of_str(str_from(p->name)) },
                { STR("in"), value_of_str(p->type ? STR("query") : STR("path")) },
                { STR("schema"), schema },
                { STR("required"), value_true },
        };

        return value_of_members(a, members, p->type ? 3 : 4, false);
}

static struct value parameter_list(struct arena *a, const struct parameter *list, size_t n)
{
        struct array_builder b;

        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, parameter_value(a, &list[i]));
        return array_builder_finish(&b);
}

/* --- Content --- */

/* The same schema for each of the media types. */
static struct value content_of(struct openapi_writer *w, const struct str *types, size_t n, struct str component)
{
        struct value schema = OPENAPI_OBJECT(w->arena, { STR("schema"), openapi_reference(w, component) });
        struct object_builder b;

        object_builder_init(&b, w->arena, n);
        for (size_t i = 0; i < n; i++)
                object_builder_add(&b, types[i], schema);
        return object_builder_finish(&b);
}

static struct value json_content(struct openapi_writer *w, struct str component)
{
        static const struct str types[] = { STR_INIT("application/json"), STR_INIT("application/yaml") };

        return content_of(w, types, ARRAY_SIZE(types), component);
}

static struct value patch_content(struct openapi_writer *w, bool is_custom)
{
        static const struct str types[] = {
                STR_INIT("application/apply-patch+yaml"),
                STR_INIT("application/json-patch+json"),
                STR_INIT("application/merge-patch+json"),
                STR_INIT("application/strategic-merge-patch+json"),
        };

        return content_of(w, types, ARRAY_SIZE(types) - is_custom, STR(OPENAPI_META "Patch"));
}

static struct value request_body(struct openapi_writer *w, struct value content, bool is_required)
{
        struct member members[] = { { STR("content"), content }, { STR("required"), value_true } };

        return value_of_members(w->arena, members, is_required ? 2 : 1, false);
}

/* --- Operations --- */

enum operation {
        OPERATION_LIST,
        OPERATION_CREATE,
        OPERATION_DELETE_COLLECTION,
        OPERATION_READ,
        OPERATION_REPLACE,
        OPERATION_DELETE,
        OPERATION_PATCH,
};

/* CODE(n): an answer with that status. */
#define CODE_200 1u
#define CODE_201 2u
#define CODE_202 4u

static const struct operation_facts {
        struct str method, action;
        struct str verb, infix; /* of the name of the operation */
        unsigned codes;
        const struct parameter *parameters;
        size_t n_parameters;
} operations[] = {
        [OPERATION_LIST] = { STR_INIT("get"), STR_INIT("list"), STR_INIT("list"), STR_INIT(""), CODE_200,
                             list_parameters, ARRAY_SIZE(list_parameters) },
        [OPERATION_CREATE] = { STR_INIT("post"), STR_INIT("post"), STR_INIT("create"), STR_INIT(""),
                               CODE_200 | CODE_201 | CODE_202, write_parameters, ARRAY_SIZE(write_parameters) - 1 },
        [OPERATION_DELETE_COLLECTION] = { STR_INIT("delete"), STR_INIT("deletecollection"), STR_INIT("delete"),
                                          STR_INIT("Collection"), CODE_200, list_parameters,
                                          ARRAY_SIZE(list_parameters) },
        [OPERATION_READ] = { STR_INIT("get"), STR_INIT("get"), STR_INIT("read"), STR_INIT(""), CODE_200,
                             read_parameters, ARRAY_SIZE(read_parameters) },
        [OPERATION_REPLACE] = { STR_INIT("put"), STR_INIT("put"), STR_INIT("replace"), STR_INIT(""),
                                CODE_200 | CODE_201, write_parameters, ARRAY_SIZE(write_parameters) - 1 },
        [OPERATION_DELETE] = { STR_INIT("delete"), STR_INIT("delete"), STR_INIT("delete"), STR_INIT(""),
                               CODE_200 | CODE_202, delete_parameters, ARRAY_SIZE(delete_parameters) },
        [OPERATION_PATCH] = { STR_INIT("patch"), STR_INIT("patch"), STR_INIT("patch"), STR_INIT(""), CODE_200,
                              write_parameters, ARRAY_SIZE(write_parameters) },
};

/* The values that all operations of one path share. */
struct path_facts {
        const struct openapi_kind *kind;
        struct gvk gvk;       /* in their extension */
        struct str component; /* read and written there */
        struct str name;      /* the end of the operations' names: NamespacedWidgetStatus */
        bool is_for_all_namespaces;
};

/* `example.org` -> `ExampleOrg` or `exampleOrg`: letters and digits, with a capital letter behind anything else. */
static void append_camel(struct buf *b, struct str s, bool is_capital)
{
        for (size_t i = 0; i < s.n; i++) {
                char c = s.p[i];

                if (!ascii_is_letter(c) && !ascii_is_digit(c)) {
                        is_capital = true;
                        continue;
                }
                buf_append_char(b, is_capital && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
                is_capital = false;
        }
}

static struct str short_group(struct str group)
{
        if (group.n == 0)
                return STR("core");
        str_cut_suffix(&group, STR(".k8s.io"));
        return group;
}

/* `readExampleOrgV1NamespacedWidget`. */
static struct value operation_id(struct openapi_writer *w, const struct operation_facts *f, const struct path_facts *p)
{
        _cleanup_buf_ struct buf b = { 0 };

        buf_append_str(&b, f->verb);
        append_camel(&b, short_group(w->group), true);
        append_camel(&b, w->version, true);
        buf_append_str(&b, f->infix);
        buf_append_str(&b, p->name);
        return value_of_str(buf_to_arena(&b, w->arena));
}

static struct value tags(struct openapi_writer *w)
{
        _cleanup_buf_ struct buf b = { 0 };
        struct value tag;

        append_camel(&b, short_group(w->group), false);
        buf_append_char(&b, '_');
        buf_append_str(&b, w->version);
        tag = value_of_str(buf_to_arena(&b, w->arena));
        return value_of_items(w->arena, &tag, 1);
}

static struct str answered_component(struct openapi_writer *w, enum operation operation, const struct path_facts *p)
{
        if (operation == OPERATION_LIST)
                return openapi_list_component_of(w->arena, p->kind);
        if (operation == OPERATION_DELETE || operation == OPERATION_DELETE_COLLECTION)
                return STR(OPENAPI_META "Status");
        return p->component;
}

static struct value responses(struct openapi_writer *w, unsigned codes, struct str component)
{
        static const struct {
                unsigned code;
                struct str status, text;
        } answers[] = {
                { CODE_200, STR_INIT("200"), STR_INIT("OK") },
                { CODE_201, STR_INIT("201"), STR_INIT("Created") },
                { CODE_202, STR_INIT("202"), STR_INIT("Accepted") },
        };
        struct value content = json_content(w, component);
        struct object_builder b;

        object_builder_init(&b, w->arena, 4);
        for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
                if (codes & answers[i].code)
                        object_builder_add(&b, answers[i].status,
                                           OPENAPI_OBJECT(w->arena,
                                                          { STR("description"), value_of_str(answers[i].text) },
                                                          { STR("content"), content }));
        object_builder_add(&b, STR("401"),
                           OPENAPI_OBJECT(w->arena, { STR("description"), value_of_literal("Unauthorized") }));
        return object_builder_finish(&b);
}

static void add_request_body(struct openapi_writer *w, struct object_builder *b, enum operation operation,
                             const struct path_facts *p)
{
        struct value body;

        if (operation == OPERATION_CREATE || operation == OPERATION_REPLACE)
                body = request_body(w, json_content(w, p->component), true);
        else if (operation == OPERATION_PATCH)
                body = request_body(w, patch_content(w, p->kind->kind->is_custom), true);
        else if (operation == OPERATION_DELETE)
                body = request_body(w, json_content(w, STR(OPENAPI_META "DeleteOptions")), false);
        else
                return;
        object_builder_add(b, STR("requestBody"), body);
}

static void add_operation(struct openapi_writer *w, struct object_builder *path, enum operation operation,
                          const struct path_facts *p)
{
        const struct operation_facts *f = &operations[operation];
        struct arena *a = w->arena;
        struct object_builder b;

        object_builder_init(&b, a, 8);
        object_builder_add(&b, STR("tags"), tags(w));
        object_builder_add(&b, STR("operationId"), operation_id(w, f, p));
        if (!p->is_for_all_namespaces)
                object_builder_add(&b, STR("parameters"), parameter_list(a, f->parameters, f->n_parameters));
        add_request_body(w, &b, operation, p);
        object_builder_add(&b, STR("responses"), responses(w, f->codes, answered_component(w, operation, p)));
        object_builder_add(&b, STR("x-kubernetes-action"), value_of_str(f->action));
        object_builder_add(&b, STR("x-kubernetes-group-version-kind"),
                           OPENAPI_OBJECT(a, { STR("group"), value_of_str(p->gvk.group) },
                                          { STR("version"), value_of_str(p->gvk.version) },
                                          { STR("kind"), value_of_str(p->gvk.kind) }));
        object_builder_add(path, f->method, object_builder_finish(&b));
}

/* --- Paths --- */

static struct str path_of(struct openapi_writer *w, const struct kind *k, bool is_in_namespace, struct str rest)
{
        return ARENA_CONCAT(w->arena, w->group.n > 0 ? STR("/apis/") : STR("/api"), w->group, STR("/"), w->version,
                            is_in_namespace ? STR("/namespaces/{namespace}/") : STR("/"), k->plural, rest);
}

/* Operations of a path by the verbs of the kind or subresource. A verb that is allowed gives one operation. */
struct verb_operation {
        enum kind_verb verb;
        enum operation operation;
};

static void add_path(struct openapi_writer *w, const struct path_facts *p, struct str path, unsigned verbs,
                     const struct verb_operation *list, size_t n, bool has_name)
{
        bool is_namespaced = p->kind->kind->is_namespaced && !p->is_for_all_namespaces;
        const bool wanted[] = { has_name, is_namespaced, true }; /* of path_parameters */
        struct parameter parameters[ARRAY_SIZE(path_parameters) + ARRAY_SIZE(list_parameters)];
        size_t n_parameters = 0;
        struct object_builder b;
        struct value v;

        object_builder_init(&b, w->arena, n + 1);
        for (size_t i = 0; i < n; i++)
                if (verbs & list[i].verb)
                        add_operation(w, &b, list[i].operation, p);
        if (b.n == 0)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(path_parameters); i++)
                if (wanted[i])
                        parameters[n_parameters++] = path_parameters[i];
        for (size_t i = 0; i < ARRAY_SIZE(list_parameters) && p->is_for_all_namespaces; i++)
                parameters[n_parameters++] = list_parameters[i];
        object_builder_add(&b, STR("parameters"), parameter_list(w->arena, parameters, n_parameters));
        v = object_builder_finish(&b);
        openapi_emit(w, path, &v);
}

static void add_subresource(struct openapi_writer *w, const struct path_facts *of, const struct kind_subresource *s)
{
        static const struct verb_operation list[] = {
                { VERB_CREATE, OPERATION_CREATE }, { VERB_GET, OPERATION_READ },    { VERB_UPDATE, OPERATION_REPLACE },
                { VERB_DELETE, OPERATION_DELETE }, { VERB_PATCH, OPERATION_PATCH },
        };
        const struct kind *k = of->kind->kind;
        struct path_facts p = *of;
        struct str component = builtin_component_of(s->gvk);
        _cleanup_buf_ struct buf name = { 0 };

        if (builtin_unimplemented(k, s->name).n > 0)
                return;
        if (!k->is_custom)
                p.gvk = s->gvk;
        if (component.n > 0)
                p.component = component;
        buf_append_str(&name, of->name);
        append_camel(&name, s->name, true);
        p.name = buf_to_arena(&name, w->arena);
        add_path(w, &p, path_of(w, k, k->is_namespaced, ARENA_CONCAT(w->arena, STR("/{name}/"), s->name)), s->verbs,
                 list, ARRAY_SIZE(list), true);
}

void openapi_add_paths(struct openapi_writer *w, const struct openapi_kind *kind)
{
        static const struct verb_operation of_collection[] = {
                { VERB_LIST, OPERATION_LIST },
                { VERB_CREATE, OPERATION_CREATE },
                { VERB_DELETE_COLLECTION, OPERATION_DELETE_COLLECTION },
        };
        static const struct verb_operation of_object[] = {
                { VERB_GET, OPERATION_READ },
                { VERB_UPDATE, OPERATION_REPLACE },
                { VERB_DELETE, OPERATION_DELETE },
                { VERB_PATCH, OPERATION_PATCH },
        };
        const struct kind *k = kind->kind;
        unsigned verbs = kind->version->verbs;
        struct path_facts p = {
                .kind = kind,
                .gvk = { w->group, w->version, k->kind },
                .component = openapi_component_of(w->arena, kind),
                .name = ARENA_CONCAT(w->arena, k->is_namespaced ? STR("Namespaced") : STR(""), k->kind),
        };
        struct path_facts all = p;

        all.is_for_all_namespaces = true;
        all.name = ARENA_CONCAT(w->arena, k->kind, STR("ForAllNamespaces"));
        if (k->is_namespaced)
                add_path(w, &all, path_of(w, k, false, STR("")), verbs, of_collection, 1, false);
        add_path(w, &p, path_of(w, k, k->is_namespaced, STR("")), verbs, of_collection, ARRAY_SIZE(of_collection),
                 false);
        add_path(w, &p, path_of(w, k, k->is_namespaced, STR("/{name}")), verbs, of_object, ARRAY_SIZE(of_object), true);
        for (size_t i = 0; i < kind->version->n_subresources; i++)
                add_subresource(w, &p, &kind->version->subresources[i]);
}
