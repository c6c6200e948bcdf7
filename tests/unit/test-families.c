/* Objects that are served in more than one version or group: all of them show the same objects. */
#include "log-test.h"

#include "patch.h"

static struct gvk core_gvk(void)
{
        return (struct gvk) { STR(""), STR("v1"), STR("Event") };
}

static struct gvk new_gvk(void)
{
        return (struct gvk) { STR("events.k8s.io"), STR("v1"), STR("Event") };
}

#define TIME "2001-02-03T04:05:06.000007Z"

#define OLD_EVENT                                                                                              \
        "{'apiVersion':'v1','kind':'Event','metadata':{'name':'old','namespace':'default'},'involvedObject':{" \
        "'kind':'Widget','namespace':'default','name':'x'},'reason':'R','message':'m','type':'Normal',"        \
        "'source':{'component':'c'},'count':2,'firstTimestamp':'2001-02-03T04:05:06Z'}"
#define NEW_EVENT(name, more)                                                                                          \
        "{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'" name "','namespace':'default'},"        \
        "'eventTime':'" TIME "','reportingController':'example.org/c','reportingInstance':'i','action':'Act',"         \
        "'reason':'R','regarding':{'kind':'Widget','namespace':'default','name':'y'},'note':'n','type':'Warning'" more \
        "}"

/* The object without its metadata, or the error. */
static struct str shown(struct fixture *f, struct gvk gvk, const char *name)
{
        const struct value *v = get(f, key_of(gvk, "default", name));

        return v ? to_json(f, value_without(&f->arena, v, STR("metadata"))) : str_from(err_message(&f->err));
}

static size_t count(struct fixture *f, struct gvk gvk, const char *selector)
{
        struct field_selector fields;
        struct list_request req = { .gvk = gvk, .fields = &fields };
        struct object_list list;

        MUST(f, field_selector_parse(&f->arena, str_from(selector), &fields, &f->err));
        MUST(f, cluster_list(f->cluster, &f->run, &req, &list, &f->err));
        return list.n;
}

static void create_events(struct fixture *f)
{
        MUST(f, create(f, JSON(f, OLD_EVENT)));
        MUST(f, create(f, JSON(f, NEW_EVENT("new", ""))));
}

static const char old_in_core[] =
        "{'apiVersion':'v1','count':2,'eventTime':null,'firstTimestamp':'2001-02-03T04:05:06Z','involvedObject':{'kind'"
        ":'Widget','name':'x','namespace':'default'},'kind':'Event','lastTimestamp':null,'message':'m','reason':'R',"
        "'reportingComponent':'','reportingInstance':'','source':{'component':'c'},'type':'Normal'}";
static const char old_in_new[] =
        "{'apiVersion':'events.k8s.io/v1','deprecatedCount':2,'deprecatedFirstTimestamp':'2001-02-03T04:05:06Z',"
        "'deprecatedLastTimestamp':null,'deprecatedSource':{'component':'c'},'eventTime':null,'kind':'Event','note':'m'"
        ",'reason':'R','regarding':{'kind':'Widget','name':'x','namespace':'default'},'type':'Normal'}";
static const char new_in_core[] =
        "{'action':'Act','apiVersion':'v1','eventTime':'" TIME "','firstTimestamp':null,'involvedObject':{'kind':"
        "'Widget','name':'y','namespace':'default'},'kind':'Event','lastTimestamp':null,'message':'n','reason':'R',"
        "'reportingComponent':'example.org/c','reportingInstance':'i','source':{},'type':'Warning'}";
static const char new_in_new[] =
        "{'action':'Act','apiVersion':'events.k8s.io/v1','deprecatedFirstTimestamp':null,'deprecatedLastTimestamp':null"
        ",'deprecatedSource':{},'eventTime':'" TIME "','kind':'Event','note':'n','reason':'R','regarding':{'kind':"
        "'Widget','name':'y','namespace':'default'},'reportingController':'example.org/c','reportingInstance':'i',"
        "'type':'Warning'}";

static void check_events(struct fixture *f)
{
        static const struct {
                bool is_new;
                const char *name, *wanted;
        } cases[] = {
                { false, "old", old_in_core },
                { true, "old", old_in_new },
                { false, "new", new_in_core },
                { true, "new", new_in_new },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].name, shown(f, cases[i].is_new ? new_gvk() : core_gvk(), cases[i].name),
                                str_from(quoted(f, "%s", cases[i].wanted)));
}

TEST(events_of_both_groups_are_the_same_objects)
{
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };

        fixture_init_with(&f, &options);
        create_events(&f);
        check_events(&f);
        ASSERT_INT(count(&f, core_gvk(), "involvedObject.name=y"), 1);
        ASSERT_INT(count(&f, new_gvk(), "regarding.name=y"), 1);
        ASSERT_INT(count(&f, new_gvk(), "regarding.name!=z"), 2);
        ASSERT_INT(count(&f, new_gvk(), "reportingController=example.org/c"), 1);
        ASSERT_STR(meta_uid(get(&f, key_of(core_gvk(), "default", "new"))),
                   meta_uid(get(&f, key_of(new_gvk(), "default", "new"))));
        ASSERT_STR(meta_resource_version(get(&f, key_of(core_gvk(), "default", "new"))),
                   meta_resource_version(get(&f, key_of(new_gvk(), "default", "new"))));
        ASSERT_INT(create(&f, JSON(&f, NEW_EVENT("old", ""))), ERR_EXISTS);
        ASSERT(strstr(err_message(&f.err), "events.events.k8s.io \"old\" already exists"));
        MUST(&f, delete_with(&f, key_of(new_gvk(), "default", "old"), PROPAGATE_BACKGROUND));
        ASSERT(!get(&f, key_of(core_gvk(), "default", "old")));
}

TEST(events_survive_a_restart_in_both_groups)
{
        _cleanup_durable_ struct durable d;

        durable_prepare(&d);
        d.options.accepts_any_kind = false;
        durable_open(&d);
        create_events(&d.f);
        for (int again = 0; again < 2; again++) {
                durable_reopen(&d);
                check_events(&d.f);
        }
        MUST(&d.f, delete_with(&d.f, key_of(new_gvk(), "default", "new"), PROPAGATE_BACKGROUND));
        durable_reopen(&d);
        ASSERT(!get(&d.f, key_of(core_gvk(), "default", "new")));
}

TEST(a_watch_shows_writes_of_the_other_group)
{
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        struct watch_request req = { .gvk = new_gvk(), .ns = STR("default") };
        struct watch_event event;
        struct watch *w;

        fixture_init_with(&f, &options);
        create_events(&f);
        MUST(&f, cluster_watch(f.cluster, &f.run, &req, &w, &f.err));
        for (int i = 0; i < 2; i++)
                MUST(&f, watch_next(w, &f.run, &event, &f.err));
        MUST(&f, merge(&f, key_of(core_gvk(), "default", "old"), JSON(&f, "{'message':'again'}"), NULL));
        MUST(&f, watch_next(w, &f.run, &event, &f.err));
        ASSERT_INT(event.type, WATCH_MODIFIED);
        ASSERT_STR(value_str(value_get(object_value(event.object, &f.arena), STR("note"))), STR("again"));
        watch_free(w);
}

static struct str managers(struct fixture *f, const char *name)
{
        const struct value *v = get(f, key_of(core_gvk(), "default", name));
        struct array_builder b;

        array_builder_init(&b, &f->arena, 2);
        VALUE_FOREACH_ITEM (m, value_get(meta(v), STR("managedFields"))) {
                struct object_builder o;

                object_builder_init(&o, &f->arena, 2);
                object_builder_add(&o, value_str(value_get(m, STR("manager"))), *value_get(m, STR("fieldsV1")));
                object_builder_add(&o, STR("in"), *value_get(m, STR("apiVersion")));
                array_builder_add(&b, object_builder_finish(&o));
        }
        return to_json(f, value_put(&f->arena, array_builder_finish(&b)));
}

/* Managers of another group are lost with the first write through this one, as upstream. */
TEST(managers_of_fields_are_those_of_one_group)
{
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        struct write_request req = {
                .verb = WRITE_CREATE,
                .key = key_of(core_gvk(), "default", "e"),
                .manager = STR("one"),
        };

        fixture_init_with(&f, &options);
        req.body = JSON(&f, "{'apiVersion':'v1','kind':'Event','metadata':{'name':'e','namespace':'default'},"
                            "'message':'m','reason':'R'}");
        MUST(&f, write_request(&f, req, NULL));
        ASSERT_STR(managers(&f, "e"), str_from(quoted(&f, "[{'in':'v1','one':{'f:message':{},'f:reason':{}}}]")));
        req.verb = WRITE_MERGE_PATCH;
        req.key.gvk = new_gvk();
        req.manager = STR("two");
        req.body = JSON(&f, "{'metadata':{'labels':{'a':'b'}}}");
        MUST(&f, write_request(&f, req, NULL));
        ASSERT_STR(managers(&f, "e"), str_from(quoted(&f, "[{'in':'events.k8s.io/v1','two':{'f:metadata':{'f:labels':"
                                                          "{'.':{},'f:a':{}}}}}]")));
}

TEST(a_body_must_be_in_the_version_of_its_path)
{
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        struct write_request req = { .verb = WRITE_CREATE, .key = key_of(new_gvk(), "default", "") };

        fixture_init_with(&f, &options);
        req.body = JSON(&f, OLD_EVENT);
        ASSERT(write_request(&f, req, NULL) < 0);
        ASSERT_STR(str_from(err_message(&f.err)), STR("the API version in the data (v1) does not match the expected "
                                                      "API version (events.k8s.io/v1)"));
}

/* The text after `Event "e" is invalid: `, or "". */
static struct str refusal(struct fixture *f, int r)
{
        struct str text = r < 0 ? arena_copy(&f->arena, str_from(err_message(&f->err))) : STR("");
        ptrdiff_t at = str_find(text, STR(" is invalid: "));

        return at < 0 ? text : str_skip(text, (size_t)at + strlen(" is invalid: "));
}

/* Without a time the rules are those of old Events, whichever group it comes through; events.k8s.io wants a time. */
TEST(rules_of_new_events)
{
#define LONG                                                                                                           \
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
        "aaaaaaaaaaaaaaaaaaaaaaaaa"
        static const struct {
                bool is_new;
                const char *change, *wanted;
        } cases[] = {
                { true, "{}", "" },
                { true, "{'eventTime':null}", "eventTime: Required value" },
                { true, "{'type':'Odd'}", "type: Invalid value: \"\": has invalid value: Odd" },
                { true, "{'series':{'count':1}}",
                  "[series.count: Invalid value: \"\": should be at least 2, series.lastObservedTime: Required "
                  "value]" },
                { true, "{'series':{'count':2,'lastObservedTime':'" TIME "'}}", "" },
                { true, "{'deprecatedCount':1}", "count: Invalid value: \"\": needs to be unset" },
                { true, "{'deprecatedSource':{'host':'h'}}", "source: Invalid value: \"\": needs to be unset" },
                { true, "{'deprecatedFirstTimestamp':'2001-02-03T04:05:06Z'}",
                  "firstTimestamp: Invalid value: \"\": needs to be unset" },
                { true, "{'reportingInstance':'','action':null}",
                  "[reportingInstance: Required value, action: Required value]" },
                { true, "{'action':'" LONG "'}", "action: Invalid value: \"\": can have at most 128 characters" },
                { true, "{'regarding':{'namespace':'other'}}", "" },
                { false, "{}", "" },
                { false, "{'type':'Odd','count':1}", "" },
                { false, "{'reason':''}", "reason: Required value" },
                { false, "{'involvedObject':{'namespace':'other'}}", "" },
                { false, "{'involvedObject':{'namespace':'other'},'eventTime':null}",
                  "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace" },
        };
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        const struct value *body;

        fixture_init_with(&f, &options);
        MUST(&f, create(&f, JSON(&f, NEW_EVENT("e", ""))));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct object_key key = key_of(cases[i].is_new ? new_gvk() : core_gvk(), "default", "e");

                body = get(&f, key);
                body = merge_patch_apply(&f.arena, body, JSON(&f, "%s", cases[i].change));
                body = value_with(&f.arena, body, STR("metadata"),
                                  from_json(&f, "{\"name\":\"f\",\"namespace\":\"default\"}"));
                ASSERT_STR_CASE(cases[i].change, refusal(&f, create(&f, body)), str_from(cases[i].wanted));
                if (!*cases[i].wanted)
                        MUST(&f, delete_with(&f, key_of(core_gvk(), "default", "f"), PROPAGATE_BACKGROUND));
        }
}

TEST(only_the_series_of_a_new_event_changes)
{
        static const struct {
                bool is_new;
                const char *change, *wanted;
        } cases[] = {
                { true, "{'note':'other'}", "message: Invalid value: \"other\": field is immutable" },
                { true, "{'reportingController':'x/y'}",
                  "reportingController: Invalid value: \"x/y\": field is immutable" },
                { true, "{'series':{'count':2,'lastObservedTime':'" TIME "'}}", "" },
                { true, "{'series':{'count':1}}", "series.count: Invalid value: \"\": should be at least 2" },
                { true, "{'metadata':{'labels':{'a':'b'}}}", "" },
                { false, "{'message':'other'}", "" },
        };
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };

        fixture_init_with(&f, &options);
        MUST(&f, create(&f, JSON(&f, NEW_EVENT("e", ""))));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct object_key key = key_of(cases[i].is_new ? new_gvk() : core_gvk(), "default", "e");

                ASSERT_STR_CASE(cases[i].change, refusal(&f, merge(&f, key, JSON(&f, "%s", cases[i].change), NULL)),
                                str_from(cases[i].wanted));
        }
}

/* --- Autoscalers --- */

static struct gvk autoscaler_gvk(const char *version)
{
        return (struct gvk) { STR("autoscaling"), str_from(version), STR("HorizontalPodAutoscaler") };
}

#define TARGET "'scaleTargetRef':{'kind':'Deployment','name':'d'}"
#define MEMORY "{'resource':{'name':'memory','target':{'averageValue':'1Gi','type':'AverageValue'}},'type':'Resource'}"

static void create_autoscaler(struct fixture *f, const char *version, const char *annotations, const char *spec)
{
        MUST(f, create(f, JSON(f,
                               "{'apiVersion':'autoscaling/%s','kind':'HorizontalPodAutoscaler','metadata':{'name':"
                               "'h','namespace':'default'%s},'spec':{" TARGET ",'maxReplicas':3%s}}",
                               version, annotations, spec)));
}

static struct str spec_of(struct fixture *f, const char *version)
{
        const struct value *v = get(f, key_of(autoscaler_gvk(version), "default", "h"));

        return to_json(f, value_get(v, STR("spec")));
}

static void check_spec(struct fixture *f, const char *version, const char *wanted)
{
        ASSERT_STR_CASE(version, spec_of(f, version), str_from(quoted(f, "%s", wanted)));
}

/* v1 has a field for the CPU alone; the rest is in annotations and comes back from them. */
TEST(autoscalers_keep_in_v1_what_only_v2_can_say)
{
        static const char metrics[] =
                "[{'type':'Resource','resource':{'name':'memory','targetAverageValue':'1Gi'}},{'type':'Object',"
                "'object':{'target':{'kind':'Service','name':'s'},'metricName':'hits','targetValue':'0','selector':{"
                "'matchLabels':{'a':'b'}},'averageValue':'5'}},{'type':'Pods','pods':{'metricName':'qps',"
                "'targetAverageValue':'7'}},{'type':'External','external':{'metricName':'len','targetValue':'9'}},"
                "{'type':'ContainerResource','containerResource':{'name':'cpu','targetAverageUtilization':40,"
                "'container':'c'}}]";
        static const char behavior[] =
                "{'ScaleUp':{'StabilizationWindowSeconds':0,'SelectPolicy':'Max','Policies':[{'Type':'Pods','Value':4,"
                "'PeriodSeconds':15},{'Type':'Percent','Value':100,'PeriodSeconds':15}],'Tolerance':null},'ScaleDown':"
                "{'StabilizationWindowSeconds':60,'SelectPolicy':'Max','Policies':[{'Type':'Percent','Value':100,"
                "'PeriodSeconds':15}],'Tolerance':null}}";
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        struct object_key key = key_of(autoscaler_gvk("v1"), "default", "h");
        const struct value *annotations;
        struct str before;

        fixture_init_with(&f, &options);
        create_autoscaler(&f, "v2", "",
                          ",'behavior':{'scaleDown':{'stabilizationWindowSeconds':60}},'metrics':[{'type':'Resource',"
                          "'resource':{'name':'memory','target':{'type':'AverageValue','averageValue':'1Gi'}}},"
                          "{'type':'Object','object':{'metric':{'name':'hits','selector':{'matchLabels':{'a':'b'}}},"
                          "'target':{'type':'AverageValue','averageValue':'5'},'describedObject':{'kind':'Service',"
                          "'name':'s'}}},{'type':'Pods','pods':{'metric':{'name':'qps'},'target':{'type':"
                          "'AverageValue','averageValue':'7'}}},{'type':'External','external':{'metric':{'name':'len'}"
                          ",'target':{'type':'Value','value':'9'}}},{'type':'ContainerResource','containerResource':"
                          "{'name':'cpu','target':{'type':'Utilization','averageUtilization':40},'container':'c'}},"
                          "{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization',"
                          "'averageUtilization':70}}}]");
        check_spec(&f, "v1", "{'maxReplicas':3,'minReplicas':1," TARGET ",'targetCPUUtilizationPercentage':70}");
        annotations = value_get(meta(get(&f, key)), STR("annotations"));
        ASSERT_STR(value_str(value_get(annotations, STR("autoscaling.alpha.kubernetes.io/metrics"))),
                   str_from(quoted(&f, "%s", metrics)));
        ASSERT_STR(value_str(value_get(annotations, STR("autoscaling.alpha.kubernetes.io/behavior"))),
                   str_from(quoted(&f, "%s", behavior)));
        ASSERT(!value_get(meta(get(&f, key_of(autoscaler_gvk("v2"), "default", "h"))), STR("annotations")));

        before = spec_of(&f, "v2");
        MUST(&f, merge(&f, key, JSON(&f, "{'metadata':{'labels':{'a':'b'}}}"), NULL));
        ASSERT_STR(spec_of(&f, "v2"), before);
        MUST(&f, merge(&f, key, JSON(&f, "{'spec':{'targetCPUUtilizationPercentage':50}}"), NULL));
        ASSERT_INT(value_int(value_find(value_item(value_find(get(&f, key_of(autoscaler_gvk("v2"), "default", "h")),
                                                              "spec", "metrics"),
                                                   5),
                                        "resource", "target", "averageUtilization"),
                             0),
                   50);
}

TEST(autoscalers_of_v1)
{
        static const struct {
                const char *annotations, *spec, *in_v1, *in_v2;
        } cases[] = {
                { "", "", ",'targetCPUUtilizationPercentage':80",
                  "'metrics':[{'resource':{'name':'cpu','target':{'averageUtilization':80,'type':'Utilization'}},'type'"
                  ":'Resource'}]," },
                { "", ",'targetCPUUtilizationPercentage':5", ",'targetCPUUtilizationPercentage':5",
                  "'metrics':[{'resource':{'name':'cpu','target':{'averageUtilization':5,'type':'Utilization'}},'type'"
                  ":'Resource'}]," },
                { ",'annotations':{'autoscaling.alpha.kubernetes.io/metrics':'[{\\u0022type\\u0022:\\u0022Resource"
                  "\\u0022,\\u0022resource\\u0022:{\\u0022name\\u0022:\\u0022memory\\u0022,\\u0022targetAverageValue"
                  "\\u0022:\\u00221Gi\\u0022}}]'}",
                  "", "", "'metrics':[" MEMORY "]," },
                { ",'annotations':{'autoscaling.alpha.kubernetes.io/metrics':'[1]','autoscaling.alpha.kubernetes.io/"
                  "behavior':'{'}",
                  ",'targetCPUUtilizationPercentage':5", ",'targetCPUUtilizationPercentage':5",
                  "'metrics':[{'resource':{'name':'cpu','target':{'averageUtilization':5,'type':'Utilization'}},'type'"
                  ":'Resource'}]," },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_fixture_ struct fixture f;
                struct store_options options = { 0 };

                fixture_init_with(&f, &options);
                create_autoscaler(&f, "v1", cases[i].annotations, cases[i].spec);
                check_spec(&f, "v1", quoted(&f, "{'maxReplicas':3,'minReplicas':1," TARGET "%s}", cases[i].in_v1));
                check_spec(&f, "v2", quoted(&f, "{'maxReplicas':3,%s'minReplicas':1," TARGET "}", cases[i].in_v2));
        }
}

TEST(the_status_of_autoscalers)
{
        _cleanup_fixture_ struct fixture f;
        struct store_options options = { 0 };
        struct write_request req = {
                .verb = WRITE_MERGE_PATCH,
                .key = key_of(autoscaler_gvk("v2"), "default", "h"),
                .subresource = STR("status"),
        };
        const struct value *v1;

        fixture_init_with(&f, &options);
        create_autoscaler(&f, "v2", "", "");
        req.body = JSON(&f, "{'status':{'desiredReplicas':2,'currentReplicas':1,'conditions':[{'type':'AbleToScale',"
                            "'status':'True','lastTransitionTime':'2001-02-03T04:05:06Z'}],'currentMetrics':[{'type':"
                            "'Resource','resource':{'name':'cpu','current':{'averageUtilization':7,'averageValue':"
                            "'3m'}}}]}}");
        MUST(&f, write_request(&f, req, NULL));
        v1 = get(&f, key_of(autoscaler_gvk("v1"), "default", "h"));
        ASSERT_STR(to_json(&f, value_get(v1, STR("status"))),
                   str_from(quoted(&f, "{'currentCPUUtilizationPercentage':7,'currentReplicas':1,'desiredReplicas':"
                                       "2}")));
        ASSERT_STR(meta_annotation(v1, STR("autoscaling.alpha.kubernetes.io/current-metrics")),
                   str_from(quoted(&f, "[{'type':'Resource','resource':{'name':'cpu','currentAverageUtilization':7,"
                                       "'currentAverageValue':'3m'}}]")));
        ASSERT_STR(meta_annotation(v1, STR("autoscaling.alpha.kubernetes.io/conditions")),
                   str_from(quoted(&f, "[{'type':'AbleToScale','status':'True','lastTransitionTime':"
                                       "'2001-02-03T04:05:06Z'}]")));
}
