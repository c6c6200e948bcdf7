/* Looking into a control plane: trees as Crossplane's CLI prints them, the runs of a composite, and why an object is as it is. */
#include "store-test.h"

#include "buf.h"
#include "functions.h"
#include "input.h"
#include "inspect.h"
#include "json.h"
#include "own-kinds.h"
#include "plane.h"
#include "yaml.h"

#include <stdio.h>

/* --- Trees as text: tests/golden/trace has what the real CLI printed --- */

static const char *golden(struct arena *a, const char *name, const char *form)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        char path[512];

        snprintf(path, sizeof(path), "%s/tests/golden/trace/%s/%s", TEST_SOURCE_DIR, name, form);
        if (input_read(path, &b, &err) < 0)
                return NULL;
        return arena_cstring(a, buf_to_arena(&b, a));
}

/* The text of an error, which Go's JSON does not always have. */
static struct str error_text(struct arena *a, const struct value *error)
{
        const struct value *kind = value_get(error, STR("GroupKind"));

        if (value_get(error, STR("ErrStatus")))
                return value_str(value_find(error, "ErrStatus", "message"));
        if (!kind)
                return STR("resource name may not be empty");
        return arena_printf(a, "no matches for kind \"%.*s\" in version \"%.*s/%.*s\"",
                            STR_ARG(value_str(value_get(kind, STR("Kind")))),
                            STR_ARG(value_str(value_get(kind, STR("Group")))),
                            STR_ARG(value_str(value_item(value_get(error, STR("SearchedVersions")), 0))));
}

static const struct value *with_messages(struct arena *a, const struct value *node)
{
        static const char *const lists[] = { "children", "items" };
        const struct value *error = value_get(node, STR("error"));

        if (error) {
                struct value text = value_of_str(error_text(a, error));

                node = value_with(a, node, STR("message"), &text);
        }
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const struct value *list = value_get(node, str_from(lists[i]));

                for (size_t j = 0; j < value_count(list); j++)
                        list = value_with_item(a, list, j, with_messages(a, value_item(list, j)));
                if (list)
                        node = value_with(a, node, str_from(lists[i]), list);
        }
        return node;
}

static void check_form(struct arena *a, const char *name, const char *form, const struct value *trace)
{
        const char *wanted = golden(a, name, form);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!wanted)
                return;
        if (strcmp(form, "default") == 0 || strcmp(form, "wide") == 0)
                inspect_print_table(&b, trace, strcmp(form, "wide") == 0);
        else if (strcmp(form, "dot") == 0)
                inspect_print_dot(&b, trace);
        else if (strcmp(form, "json") == 0)
                ASSERT_INT(inspect_print_json(&b, trace, NULL), 0);
        else
                ASSERT_INT(inspect_print_yaml(&b, trace, NULL), 0);
        ASSERT_STR_CASE(form, buf_str(&b), str_from(wanted));
}

TEST(trees_are_printed_as_the_real_cli_does)
{
        static const char *const names[] = { "claim", "list", "packages", "xrs" };
        static const char *const forms[] = { "default", "wide", "dot", "json", "yaml" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct arena a;
                const struct value *trace;

                arena_init(&a, "test", 0);
                ASSERT(golden(&a, names[i], "default"));
                ASSERT_INT(json_parse(&a, str_from(golden(&a, names[i], "json")), NULL, &trace, NULL), 0);
                trace = with_messages(&a, trace);
                for (size_t j = 0; j < ARRAY_SIZE(forms); j++)
                        check_form(&a, names[i], forms[j], trace);
                arena_done(&a);
        }
}

/* --- A control plane --- */

struct world {
        struct fixture f;
        struct registry *registry;
        struct run_records *records;
        struct manager *manager;
        struct plane *plane;
};

static void world_init(struct world *w)
{
        struct store_options options = { .strategy_of = own_kind_strategy };
        struct manager_options manager = { .max_workers = 4 };
        struct plane_options plane = { 0 };

        *w = (struct world) { 0 };
        fixture_init_with(&w->f, &options);
        MUST(&w->f, plane_install(w->f.cluster, &w->f.run, (struct features) { 0 }, &w->f.err));
        w->registry = registry_new();
        for (size_t i = 0; i < builtin_n_functions; i++)
                registry_set(w->registry, str_from(builtin_functions[i]->name),
                             function_builtin_as(builtin_functions[i], STR("revision-1")));
        w->records = run_records_new(0, 0);
        manager.cluster = w->f.cluster;
        MUST(&w->f, manager_new(&manager, &w->manager, &w->f.err));
        plane = (struct plane_options) { .manager = w->manager,
                                         .steps = { .registry = w->registry },
                                         .records = w->records };
        MUST(&w->f, plane_new(&plane, &w->plane, &w->f.err));
}

static void world_done(struct world *w)
{
        plane_free(w->plane);
        manager_free(w->manager);
        registry_free(w->registry);
        run_records_free(w->records);
        fixture_done(&w->f);
}

static void quiet(struct world *w)
{
        for (uint64_t before = 0; before != store_version(w->f.store);) {
                before = store_version(w->f.store);
                MUST(&w->f, manager_settle(w->manager, DEADLINE_NONE, NULL));
                settle(&w->f);
        }
}

static void apply(struct world *w, const char *text)
{
        const struct value *all;

        MUST(&w->f, yaml_parse_stream(&w->f.arena, str_from(text), NULL, &all, &w->f.err));
        VALUE_FOREACH_ITEM (body, all)
                MUST(&w->f, write_request(&w->f,
                                          (struct write_request) { .verb = WRITE_APPLY,
                                                                   .key = object_key_of(body),
                                                                   .body = body,
                                                                   .manager = STR("tester"),
                                                                   .force = true },
                                          NULL));
        quiet(w);
}

static const char platform[] =
        "apiVersion: apiextensions.crossplane.io/v2\n"
        "kind: CompositeResourceDefinition\n"
        "metadata: {name: apps.example.org}\n"
        "spec:\n"
        "  group: example.org\n"
        "  scope: Namespaced\n"
        "  names: {kind: App, plural: apps, shortNames: [ap]}\n"
        "  versions:\n"
        "  - name: v1\n"
        "    served: true\n"
        "    referenceable: true\n"
        "    schema:\n"
        "      openAPIV3Schema:\n"
        "        type: object\n"
        "        properties:\n"
        "          spec: {type: object, properties: {color: {type: string}}}\n"
        "          status: {type: object, properties: {color: {type: string}}}\n"
        "---\n"
        "apiVersion: apiextensions.crossplane.io/v1\n"
        "kind: Composition\n"
        "metadata: {name: apps}\n"
        "spec:\n"
        "  compositeTypeRef: {apiVersion: example.org/v1, kind: App}\n"
        "  mode: Pipeline\n"
        "  pipeline:\n"
        "  - step: make\n"
        "    functionRef: {name: function-patch-and-transform}\n"
        "    input:\n"
        "      apiVersion: pt.fn.crossplane.io/v1beta1\n"
        "      kind: Resources\n"
        "      resources:\n"
        "      - name: config\n"
        "        base: {apiVersion: v1, kind: ConfigMap}\n"
        "        patches:\n"
        "        - {fromFieldPath: spec.color, toFieldPath: data.color}\n"
        "        - {type: ToCompositeFieldPath, fromFieldPath: data.color, toFieldPath: status.color}\n"
        "        readinessChecks: [{type: NonEmpty, fieldPath: 'data.color'}]\n"
        "      - name: secret\n"
        "        base: {apiVersion: v1, kind: Secret, stringData: {password: correct horse battery}}\n"
        "        readinessChecks: [{type: NonEmpty, fieldPath: 'metadata.labels[ready]'}]\n";

static const char app[] =
        "apiVersion: example.org/v1\nkind: App\nmetadata: {name: web, namespace: default}\nspec: {color: red}\n";

static const struct inspect_target web = { STR_INIT("ap"), STR_INIT("web"), STR_INIT("default") };

static const char *as_text(struct world *w, struct buf *b)
{
        return arena_cstring(&w->f.arena, buf_to_arena(b, &w->f.arena));
}

static void must_have(const char *text, const char *part)
{
        if (!strstr(text, part))
                test_fail(__FILE__, __LINE__, "wanted \"%s\" in:\n%s", part, text);
}

static const char *json_of(struct world *w, const struct value *v)
{
        struct str text;

        MUST(&w->f, json_to_str(&w->f.arena, v, 0, &text, &w->f.err));
        return arena_cstring(&w->f.arena, text);
}

static const char *runs_text(struct world *w, size_t number)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *runs;

        MUST(&w->f, inspect_runs(w->f.cluster, &w->f.run, w->records, &web, 100, &runs, &w->f.err));
        ASSERT(!strstr(json_of(w, runs), "horse"));
        if (number)
                MUST(&w->f, inspect_print_run(&b, runs, number, &w->f.err));
        else
                inspect_print_runs(&b, runs);
        return as_text(w, &b);
}

/* All runs in full; how many there are depends on the order in which threads run. */
static const char *text_of_all(struct world *w)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *runs;

        MUST(&w->f, inspect_runs(w->f.cluster, &w->f.run, w->records, &web, 100, &runs, &w->f.err));
        for (size_t i = 1; i <= value_count(value_get(runs, STR("runs"))); i++)
                MUST(&w->f, inspect_print_run(&b, runs, i, &w->f.err));
        return as_text(w, &b);
}

static const char *why_text(struct world *w, const struct inspect_target *target, const char *field)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *why;

        MUST(&w->f, inspect_why(w->f.cluster, &w->f.run, w->records, target, str_from(field), &why, &w->f.err));
        ASSERT(!strstr(json_of(w, why), "horse"));
        inspect_print_why(&b, why);
        return as_text(w, &b);
}

static const struct value *child_of(struct world *w, const char *kind)
{
        const struct value *xr =
                get(&w->f, key_of((struct gvk) { STR("example.org"), STR("v1"), STR("App") }, "default", "web"));
        struct list_request req = { .gvk = { STR(""), STR("v1"), str_from(kind) }, .owner_uid = meta_uid(xr) };
        struct object_list list;

        MUST(&w->f, cluster_list(w->f.cluster, &w->f.run, &req, &list, &w->f.err));
        ASSERT_INT(list.n, 1);
        return object_list_value(&list, 0, &w->f.arena);
}

TEST(runs_say_what_caused_them_and_what_they_did)
{
        const char *text;
        struct world w;

        world_init(&w);
        apply(&w, platform);
        apply(&w, app);
        text = runs_text(&w, 0);
        must_have(text, "the first run: the object is new, or the controller has started");
        MUST(&w.f,
             merge(&w.f, object_key_of(child_of(&w, "ConfigMap")), JSON(&w.f, "{'data':{'color':'blue'}}"), NULL));
        quiet(&w);
        must_have(runs_text(&w, 0), "MODIFIED ConfigMap default/web-");
        text = runs_text(&w, 1);
        must_have(text, "Composition apps, revision apps-");
        must_have(text, "step make: function-patch-and-transform, revision revision-1, ");
        must_have(text, "add /resources/secret {");
        must_have(text_of_all(&w), " (config): changed\n");
        world_done(&w);
}

TEST(refused_applies_are_recorded_without_secrets)
{
        static const char refused[] = "apiVersion: apiextensions.crossplane.io/v1\n"
                                      "kind: Composition\n"
                                      "metadata: {name: apps}\n"
                                      "spec:\n"
                                      "  compositeTypeRef: {apiVersion: example.org/v1, kind: App}\n"
                                      "  mode: Pipeline\n"
                                      "  pipeline:\n"
                                      "  - step: make\n"
                                      "    functionRef: {name: function-patch-and-transform}\n"
                                      "    input:\n"
                                      "      apiVersion: pt.fn.crossplane.io/v1beta1\n"
                                      "      kind: Resources\n"
                                      "      resources:\n"
                                      "      - name: secret\n"
                                      "        base:\n"
                                      "          apiVersion: v1\n"
                                      "          kind: Secret\n"
                                      "          data: {'bad key hunter22': YmFkIGtleSBodW50ZXIyMg==}\n";
        const char *text;
        struct world w;

        world_init(&w);
        apply(&w, platform);
        apply(&w, refused);
        MUST(&w.f, write_request(&w.f,
                                 (struct write_request) {
                                         .verb = WRITE_CREATE,
                                         .key = key_of((struct gvk) { STR("example.org"), STR("v1"), STR("App") },
                                                       "default", "web"),
                                         .body = JSON(&w.f, "{'apiVersion':'example.org/v1','kind':'App','metadata':{"
                                                            "'name':'web','namespace':'default'},'spec':{}}"),
                                         .manager = STR("tester") },
                                 NULL));
        quiet(&w);
        text = runs_text(&w, 1);
        must_have(text, "apply Secret default/web-");
        must_have(text, " (secret): refused: Secret \"web-");
        text = strstr(text, "refused: ");
        ASSERT(!memmem(text, strcspn(text, "\n"), "hunter22",
                       8)); /* its key is the same text, to have it in the error */
        ASSERT(memmem(text, strcspn(text, "\n"), "**REDACTED**", 12));
        must_have(why_text(&w, &web, ""), "  refused: Secret \"web-");
        world_done(&w);
}

TEST(why_names_the_step_the_manager_and_the_cause)
{
        struct inspect_target config = { .type = STR("cm"), .ns = STR("default") },
                              secret = { .type = STR("Secret"), .ns = STR("default") };
        const char *text;
        struct world w;

        world_init(&w);
        apply(&w, platform);
        apply(&w, app);
        config.name = meta_name(child_of(&w, "ConfigMap"));
        secret.name = meta_name(child_of(&w, "Secret"));
        text = why_text(&w, &config, "data.color");
        must_have(text,
                  "data.color is \"red\"\n  set by step make: function-patch-and-transform, revision revision-1\n");
        must_have(text, "    of CompositionRevision apps-");
        must_have(text, "in the run of App/web (default) at ");
        must_have(text, "  owned by apiextensions.crossplane.io/composed/");
        must_have(text, "last write: apply by apiextensions.crossplane.io/composed/");
        must_have(text, "its run was caused by: ");
        text = why_text(&w, &secret, "data.password");
        must_have(text, "data.password is \"**REDACTED**\"\n  set by step make");
        text = why_text(&w, &web, "spec.color");
        must_have(text, "spec.color is \"red\"\n  owned by tester (Apply) at ");
        text = why_text(&w, &web, "status.color");
        must_have(text, "status.color is \"red\"\n  set by step make: ");
        text = why_text(&w, &web, "status.nothing");
        must_have(text, "status.nothing is not set\n  no step of the last run set it, and no manager owns it\n");
        must_have(text, "Ready is False: Creating: Unready resources: secret\n");
        must_have(text, "  secret, Secret/web-");
        must_have(text, "no step said that it is ready: ");
        ASSERT(!strstr(text, "config, ConfigMap"));
        world_done(&w);
}

TEST(why_names_what_holds_a_deletion_up)
{
        struct object_key key = key_of((struct gvk) { STR("example.org"), STR("v1"), STR("App") }, "default", "web");
        const char *text;
        struct world w;

        world_init(&w);
        apply(&w, platform);
        apply(&w, app);
        MUST(&w.f, merge(&w.f, object_key_of(child_of(&w, "ConfigMap")),
                         JSON(&w.f, "{'metadata':{'finalizers':['example.org/hold']}}"), NULL));
        MUST(&w.f, delete_with(&w.f, key, PROPAGATE_FOREGROUND));
        quiet(&w);
        text = why_text(&w, &web, "");
        must_have(text, "being deleted since ");
        must_have(text,
                  "  finalizer foregroundDeletion: the API removes it when the dependents that block it are gone");
        must_have(text, "  child ConfigMap/web-");
        must_have(text, ": it has the finalizer example.org/hold\n");
        world_done(&w);
}

TEST(a_usage_would_refuse_the_deletion)
{
        const char *text;
        struct world w;

        world_init(&w);
        apply(&w, platform);
        apply(&w, app);
        MUST(&w.f, merge(&w.f, key_of((struct gvk) { STR("example.org"), STR("v1"), STR("App") }, "default", "web"),
                         JSON(&w.f, "{'metadata':{'labels':{'crossplane.io/in-use':'true'}}}"), NULL));
        apply(&w, "apiVersion: protection.crossplane.io/v1beta1\n"
                  "kind: Usage\n"
                  "metadata: {name: keep, namespace: default}\n"
                  "spec:\n"
                  "  of: {apiVersion: example.org/v1, kind: App, resourceRef: {name: web}}\n"
                  "  reason: it is precious\n");
        text = why_text(&w, &web, "");
        must_have(text, "a deletion would be refused\n  usage Usage/keep (default): it is precious\n");
        world_done(&w);
}

TEST(the_tree_of_a_composite)
{
        struct inspect_trace_options options = { 0 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct inspect_target unknown = { .type = STR("nope"), .name = STR("x") }, missing = web;
        const struct value *trace;
        struct world w;

        world_init(&w);
        apply(&w, platform);
        apply(&w, app);
        MUST(&w.f, inspect_trace(w.f.cluster, &w.f.run, &web, &options, &trace, &w.f.err));
        ASSERT_INT(value_count(value_get(trace, STR("children"))), 2);
        ASSERT(!strstr(json_of(&w, trace), "horse") && !strstr(json_of(&w, trace), "Y29ycmVjdCBob3JzZ"));
        inspect_print_table(&b, trace, true);
        must_have(as_text(&w, &b), "\n├─ ConfigMap/web-");
        ASSERT_INT(inspect_trace(w.f.cluster, &w.f.run, &unknown, &options, &trace, &w.f.err), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&w.f.err),
                    "cannot get mapping for resource: the server doesn't have a resource type \"nope\"");
        missing.name = STR("none");
        ASSERT_INT(inspect_trace(w.f.cluster, &w.f.run, &missing, &options, &trace, &w.f.err), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&w.f.err),
                    "cannot get requested resource: kind=App name=none namespace=default (verify context, namespace, "
                    "and that the resource exists): apps.example.org \"none\" not found");
        err_done(&w.f.err);
        world_done(&w);
}
