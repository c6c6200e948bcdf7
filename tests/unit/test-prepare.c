/* One write at a time through the pipeline. What is wanted is what kube-apiserver 1.36 answered to the same. */
#include "kube-test.h"

#include "draft.h"

static const char widget_crd[] =
        "{'spec':{'group':'example.org','scope':'Namespaced','names':{'kind':'Widget','plural':'widgets'},'versions':["
        "{'name':'v1','served':true,'storage':true,'subresources':{'status':{},'scale':{'specReplicasPath':'.spec."
        "replicas',"
        "'statusReplicasPath':'.status.replicas','labelSelectorPath':'.status.selector'}},'schema':{'openAPIV3Schema':{"
        "'type':'object','properties':{'spec':{'type':'object','properties':{'size':{'type':'integer','minimum':0},"
        "'replicas':{'type':'integer'},'color':{'type':'string','default':'red'},'any':{"
        "'x-kubernetes-preserve-unknown-fields':true},'embedded':{'type':'object','x-kubernetes-embedded-resource':"
        "true,"
        "'x-kubernetes-preserve-unknown-fields':true},'list':{'type':'array','items':{'type':'object',"
        "'x-kubernetes-embedded-resource':true,'x-kubernetes-preserve-unknown-fields':true}}}},'status':{'type':'"
        "object',"
        "'properties':{'phase':{'type':'string'},'replicas':{'type':'integer'},'selector':{'type':'string'}}}}}}},"
        "{'name':'v2','served':true,'storage':false,'deprecated':true,'schema':{'openAPIV3Schema':{'type':'object',"
        "'properties':{'spec':{'type':'object','properties':{'size':{'type':'integer'},'new':{'type':'string'}}}}}}}]}"
        "}";

/* Texts are written with ' for ". */
static const struct value *from_text(struct arena *a, const char *text)
{
        char *copy = arena_cstring(a, str_from(text));

        for (char *p = copy; *p; p++)
                if (*p == '\'')
                        *p = '"';
        return from_json(a, copy);
}

#define LIVE                                                                                               \
        "'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'a','namespace':'ns','uid':'u'," \
        "'resourceVersion':'7','generation':3,'creationTimestamp':'2001-02-03T04:05:06Z'"
#define TYPE "'apiVersion':'example.org/v1','kind':'Widget'"

struct write_case {
        const char *what;
        enum write_verb verb;
        const char *live; /* NULL: none */
        const char *body;
        const char *want;  /* a subset of {effect, object, answer, warnings}, or of the Status of an error */
        const char *error; /* its message */
        const char *subresource;
        const char *version;
        const char *name; /* of the request; "a" */
        const char *ns;
        const char *manager;
        const char *duplicate;
        const char *precondition_uid;
        const char *precondition_version;
        enum field_validation validation;
        enum propagation propagation;
        bool force;
        bool is_dry_run;
};

static bool holds(const struct value *got, const struct value *want)
{
        if (value_is_null(want))
                return !got || value_is_null(got);
        if (!value_is_object(want))
                return got && value_equal(got, want);
        VALUE_FOREACH_MEMBER (m, want)
                if (!holds(value_get(got, m->key), &m->value))
                        return false;
        return true;
}

static const struct value *texts(struct arena *a, const struct str_list *list)
{
        struct array_builder b;

        array_builder_init(&b, a, list->n);
        for (size_t i = 0; i < list->n; i++)
                array_builder_add(&b, value_of_str(list->p[i]));
        return value_put(a, array_builder_finish(&b));
}

static struct str or_empty(const char *text)
{
        return text ? str_from(text) : STR("");
}

static struct kind *widget(void)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct kind *kind = NULL;

        arena_init(&a, "crd", 0);
        if (kind_from_crd(from_text(&a, widget_crd), &kind, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return kind;
}

static const char *const effects[] = { [EFFECT_NONE] = "none", [EFFECT_STORE] = "store", [EFFECT_REMOVE] = "remove" };

/* The outcome as a value, or the Status of the error. */
static const struct value *run_case(struct arena *a, const struct preparation *p, const struct write_case *c,
                                    struct err *err)
{
        struct str_list warnings;
        struct run run = { .arena = a, .deadline = DEADLINE_NONE, .warnings = &warnings };
        struct str duplicate = or_empty(c->duplicate);
        struct write_request req = {
                .verb = c->verb,
                .key = { .ns = str_from(c->ns ? c->ns : "ns"), .name = str_from(c->name ? c->name : "a") },
                .subresource = or_empty(c->subresource),
                .body = c->body ? from_text(a, c->body) : NULL,
                .manager = str_from(c->manager ? c->manager : "m"),
                .force = c->force,
                .is_dry_run = c->is_dry_run,
                .field_validation = c->validation,
                .duplicate_fields = &duplicate,
                .n_duplicate_fields = c->duplicate ? 1 : 0,
                .precondition_uid = or_empty(c->precondition_uid),
                .precondition_version = or_empty(c->precondition_version),
                .propagation = c->propagation,
        };
        struct write_outcome outcome = { 0 };
        const struct value *v = &value_empty_object;

        str_list_init(&warnings, a);
        if (prepare_write(p, &run, &req, c->live ? from_text(a, c->live) : NULL, &outcome, err) < 0)
                return value_put(a, status_of_err(a, err));
        v = value_with(a, v, STR("effect"), value_put(a, value_of_str(str_from(effects[outcome.effect]))));
        v = value_with(a, v, STR("object"), outcome.object);
        v = value_with(a, v, STR("answer"), outcome.answer);
        return value_with(a, v, STR("warnings"), texts(a, &warnings));
}

static void check_case(struct kind *kind, const struct write_case *c)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct preparation p = {
                .kind = kind,
                .version = kind_version(kind, str_from(c->version ? c->version : "v1")),
                .now = { .seconds = 1000000000 },
        };
        const struct value *got;

        arena_init(&a, "case", 0);
        got = run_case(&a, &p, c, &err);
        if (c->error)
                ASSERT_STR_CASE(c->what, str_from(err_message(&err)), str_from(c->error));
        else if (err.code)
                test_fail(__FILE__, __LINE__, "[%s] %s", c->what, err_message(&err));
        if (c->want && !holds(got, from_text(&a, c->want)))
                test_fail(__FILE__, __LINE__, "[%s] got %.*s", c->what, STR_ARG(to_json(&a, got)));
}

static void check_cases(const struct write_case *cases, size_t n)
{
        struct kind *kind = widget();

        for (size_t i = 0; i < n; i++)
                check_case(kind, &cases[i]);
        kind_unref(kind);
}

TEST(creates)
{
        static const struct write_case cases[] = {
                { "an object gets its metadata, defaults and managers", WRITE_CREATE, NULL,
                  "{" TYPE ",'metadata':{'name':'a','uid':'x','deletionTimestamp':'2001-02-03T04:05:06Z'},"
                  "'spec':{'size':1,'color':null},'status':{'phase':'Up'}}",
                  "{'effect':'store','object':{'metadata':{'namespace':'ns','generation':1,'deletionTimestamp':null,"
                  "'resourceVersion':null,'creationTimestamp':'2001-09-09T01:46:40Z'},'spec':{'size':1,'color':'red'},"
                  "'status':null}}" },
                { "a name is taken from the request", WRITE_CREATE, NULL, "{" TYPE "}",
                  "{'answer':{'metadata':{'name':'a'}}}" },
                { "a prefix is enough", WRITE_CREATE, NULL, "{" TYPE ",'metadata':{'generateName':'b-'}}",
                  "{'effect':'store','object':{'metadata':{'generateName':'b-'}}}", .name = "" },
                { "nothing is not", WRITE_CREATE, NULL, "{" TYPE "}",
                  "{'reason':'Invalid','code':422,'details':{'kind':'Widget'}}",
                  "Widget.example.org \"\" is invalid: metadata.name: Required value: name or generateName is required",
                  .name = "" },
                { "a version", WRITE_CREATE, NULL, "{" TYPE ",'metadata':{'resourceVersion':'5'}}", "{'code':500}",
                  "resourceVersion should not be set on objects to be created" },
                { "version 0", WRITE_CREATE, NULL, "{" TYPE ",'metadata':{'resourceVersion':'0'}}",
                  "{'effect':'store'}" },
                { "no object", WRITE_CREATE, NULL, "[1]", "{'reason':'BadRequest'}",
                  "the object provided is unrecognized (must be of type Widget)" },
                { "no kind", WRITE_CREATE, NULL, "{'apiVersion':'example.org/v1','metadata':{'name':'a'}}",
                  "{'reason':'BadRequest'}",
                  "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
                  "'{\"apiVersion\":\"example.org/v1\",\"metadata\":{\"name\":\"a\"}}' "
                  "({\"apiVersion\":\"example.org/v1\" "
                  "...)" },
                { "no kind, and nobody asks about fields", WRITE_CREATE, NULL, "{'apiVersion':'example.org/v1'}",
                  "{'reason':'BadRequest'}",
                  "Widget in version \"v1\" cannot be handled as a Widget: Object 'Kind' is missing in "
                  "'{\"apiVersion\":\"example.org/v1\"}'",
                  .validation = FIELDS_IGNORE },
                { "another version", WRITE_CREATE, NULL, "{'apiVersion':'example.org/v3','kind':'Widget','spec':{}}",
                  "{'reason':'BadRequest'}",
                  "the API version in the data (example.org/v3) does not match the expected API version "
                  "(example.org/v1)" },
                { "another version, strictly", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v3','kind':'Widget','spec':{}}", "{'reason':'BadRequest'}",
                  "Widget in version \"v3\" cannot be handled as a Widget: strict decoding error: unknown field "
                  "\"spec\"",
                  .validation = FIELDS_STRICT },
                { "another version, and bad metadata", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v3','kind':'Widget','metadata':{'labels':5}}", "{'reason':'BadRequest'}",
                  "Widget in version \"v3\" cannot be handled as a Widget: json: cannot unmarshal number into Go "
                  "struct "
                  "field ObjectMeta.labels of type map[string]string" },
                { "another version and unknown metadata, strictly", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v3','kind':'Widget','metadata':{'foo':1},'spec':{}}",
                  "{'reason':'BadRequest'}",
                  "Widget in version \"v3\" cannot be handled as a Widget: strict decoding error: unknown field "
                  "\"metadata.foo\", unknown field \"spec\"",
                  .validation = FIELDS_STRICT },
                { "another version of another kind, strictly", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v3','kind':'Other','metadata':{'foo':1},'spec':{}}",
                  "{'reason':'BadRequest'}",
                  "Other in version \"v3\" cannot be handled as a Other: strict decoding error: unknown field "
                  "\"metadata.foo\"",
                  .validation = FIELDS_STRICT },
                { "another group, and bad metadata", WRITE_CREATE, NULL,
                  "{'apiVersion':'v1','kind':'Widget','metadata':{'labels':[]}}", "{'reason':'BadRequest'}",
                  "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal array into Go struct "
                  "field ObjectMeta.labels of type map[string]string" },
                { "no version and unknown metadata, strictly", WRITE_CREATE, NULL,
                  "{'apiVersion':'','kind':'Widget','metadata':{'foo':1}}", "{'reason':'BadRequest'}",
                  "Object 'apiVersion' is missing in 'object has no apiVersion field'", .validation = FIELDS_STRICT },
                { "a null version", WRITE_CREATE, NULL, "{'apiVersion':null,'kind':'Widget'}",
                  "{'reason':'BadRequest'}",
                  "Widget in version \"\" cannot be handled as a Widget: .apiVersion accessor error: <nil> is of the "
                  "type <nil>, expected string" },
                { "a version that is none", WRITE_CREATE, NULL, "{'apiVersion':'a/b/c','kind':''}",
                  "{'reason':'BadRequest'}",
                  "the object provided is unrecognized (must be of type Widget): unexpected GroupVersion string: a/b/c "
                  "({\"apiVersion\":\"a/b/c\",\"kind\":\" ...)" },
                { "a kind that is no text", WRITE_CREATE, NULL, "{'apiVersion':'a','kind':7}",
                  "{'reason':'BadRequest'}",
                  "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse "
                  "error: json: cannot unmarshal number into Go struct field .kind of type string "
                  "({\"apiVersion\":\"a\",\"kind\":7})",
                  .validation = FIELDS_IGNORE },
                { "no kind, another version, and nobody asks about fields", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v3'}", "{'reason':'BadRequest'}",
                  "Widget in version \"v3\" cannot be handled as a Widget: Object 'Kind' is missing in "
                  "'{\"apiVersion\":\"example.org/v3\"}'",
                  .validation = FIELDS_IGNORE },
                { "another kind", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v1','kind':'Other','metadata':{'name':'a'},'spec':{'bogus':1}}",
                  "{'reason':'Invalid','details':{'kind':'Other','name':'a'}}",
                  "Other.example.org \"a\" is invalid: kind: Invalid value: \"Other\": must be Widget", .name = "" },
                { "another namespace", WRITE_CREATE, NULL, "{" TYPE ",'metadata':{'namespace':'other'}}",
                  "{'reason':'BadRequest'}",
                  "the namespace of the provided object does not match the namespace sent on the request" },
                { "a bad label", WRITE_CREATE, NULL, "{" TYPE ",'metadata':{'labels':{'a':'-'}}}",
                  "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: metadata.labels: Invalid value: \"-\": a valid label must be "
                  "an "
                  "empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
                  "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')" },
                { "a bad label of another type", WRITE_CREATE, NULL, "{" TYPE ",'metadata':{'labels':{'a':1}}}",
                  "{'reason':'BadRequest'}",
                  "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal number into Go "
                  "struct "
                  "field ObjectMeta.labels of type string" },
                { "what the schema refuses", WRITE_CREATE, NULL, "{" TYPE ",'spec':{'size':-1}}",
                  "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: spec.size: Invalid value: -1: spec.size in body should be "
                  "greater "
                  "than or equal to 0" },
                { "replicas below zero", WRITE_CREATE, NULL, "{" TYPE ",'spec':{'replicas':-1}}",
                  "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative "
                  "integer" },
                { "a deprecated version says so", WRITE_CREATE, NULL,
                  "{'apiVersion':'example.org/v2','kind':'Widget','spec':{'new':'x'}}",
                  "{'warnings':['example.org/v2 Widget is deprecated'],'object':{'apiVersion':'example.org/v1','spec':{"
                  "'new':null,'color':'red'}},'answer':{'apiVersion':'example.org/"
                  "v2','spec':{'new':null,'color':null}}}",
                  .version = "v2" },
                { "a bad manager", WRITE_CREATE, NULL, "{" TYPE "}",
                  "{'reason':'Invalid','details':{'group':'meta.k8s.io','kind':'CreateOptions'}}",
                  "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\x01b\": invalid "
                  "character "
                  "U+0001 (at position 1)",
                  .manager = "a\x01"
                             "b" },
                { "a long manager", WRITE_CREATE, NULL, "{" TYPE "}", "{'reason':'Invalid'}",
                  "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more than 128 bytes",
                  .manager = "0123456789012345678901234567890123456789012345678901234567890123456789"
                             "01234567890123456789012345678901234567890123456789012345678901234567" },
                { "a subresource", WRITE_CREATE, NULL, "{" TYPE "}", "{'reason':'MethodNotAllowed'}",
                  "create is not supported on resources of kind \"widgets.example.org\"", .subresource = "status" },
                { "a subresource that is not there", WRITE_UPDATE, NULL, "{" TYPE "}", "{'reason':'NotFound'}",
                  "widgets.example.org \"a\" not found", .subresource = "log" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

TEST(fields)
{
        static const struct write_case cases[] = {
                { "unknown ones go, with a warning", WRITE_CREATE, NULL,
                  "{" TYPE ",'metadata':{'foo':1},'spec':{'bogus':1}}",
                  "{'warnings':['duplicate field \\'x\\'','unknown field \\'metadata.foo\\'','unknown field "
                  "\\'spec.bogus\\''],'object':{'spec':{'bogus':null}}}",
                  .duplicate = "x" },
                { "or without", WRITE_CREATE, NULL, "{" TYPE ",'spec':{'bogus':1}}", "{'warnings':[]}",
                  .validation = FIELDS_IGNORE },
                { "or not at all", WRITE_CREATE, NULL, "{" TYPE ",'spec':{'bogus':1}}", "{'reason':'BadRequest'}",
                  "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field "
                  "\"spec.bogus\"",
                  .validation = FIELDS_STRICT },
                { "of a patch", WRITE_MERGE_PATCH, "{" LIVE "}}", "{'spec':{'bogus':1}}",
                  "{'reason':'Invalid','details':{'causes':[{'reason':'FieldValueInvalid','field':'patch','message':"
                  "'Invalid value: \\'{\\\\\\'apiVersion\\\\\\':\\\\\\'example.org/v1\\\\\\',\\\\\\'kind\\\\\\':"
                  "\\\\\\'Widget\\\\\\',\\\\\\'metadata\\\\\\':{\\\\\\'creationTimestamp\\\\\\':"
                  "\\\\\\'2001-02-03T04:05:06Z\\\\\\',\\\\\\'generation\\\\\\':3,\\\\\\'name\\\\\\':\\\\\\'a\\\\\\',"
                  "\\\\\\'namespace\\\\\\':\\\\\\'ns\\\\\\',\\\\\\'resourceVersion\\\\\\':\\\\\\'7\\\\\\',\\\\\\'"
                  "uid\\\\\\':"
                  "\\\\\\'u\\\\\\'},\\\\\\'spec\\\\\\':{\\\\\\'bogus\\\\\\':1}}\\': strict decoding error: unknown "
                  "field "
                  "\\'spec.bogus\\''}]}}",
                  " \"\" is invalid: patch: Invalid value: "
                  "\"{\\\"apiVersion\\\":\\\"example.org/v1\\\",\\\"kind\\\":\\\"Widget\\\",\\\"metadata\\\":"
                  "{\\\"creationTimestamp\\\":\\\"2001-02-03T04:05:06Z\\\",\\\"generation\\\":3,\\\"name\\\":\\\"a\\\","
                  "\\\"namespace\\\":\\\"ns\\\",\\\"resourceVersion\\\":\\\"7\\\",\\\"uid\\\":\\\"u\\\"},\\\"spec\\\":"
                  "{\\\"bogus\\\":1}}\": strict decoding error: unknown field \"spec.bogus\"",
                  .validation = FIELDS_STRICT },
                { "of a patch's operations", WRITE_JSON_PATCH, "{" LIVE "}}",
                  "[{'op':'add','path':'/spec','value':{},'foo':1}]",
                  "{'warnings':['json patch unknown field \\'[0].foo\\'','json patch duplicate field "
                  "\\'[0].value\\'']}",
                  .duplicate = "[0].value" },
                { "metadata of embedded resources is typed", WRITE_CREATE, NULL,
                  "{" TYPE
                  ",'spec':{'embedded':{'apiVersion':'v1','kind':'X','metadata':{'name':'x','foo':1}},'list':[{"
                  "'apiVersion':'v1','kind':'X','metadata':{'labels':{'a':null}}},{'apiVersion':'v1','kind':'X'}]}}",
                  "{'warnings':['unknown field \\'spec.embedded.metadata.foo\\''],'object':{'spec':{'embedded':{"
                  "'metadata':{'name':'x','foo':null}}}}}" },
                { "or refused", WRITE_CREATE, NULL,
                  "{" TYPE ",'spec':{'list':[{'apiVersion':'v1','kind':'X','metadata':{'labels':{'a':1}}}]}}",
                  "{'reason':'BadRequest'}",
                  "Widget in version \"v1\" cannot be handled as a Widget: spec.list[0].metadata: Invalid value: "
                  "{\"labels\":{\"a\":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of "
                  "type "
                  "string" },
                { "as is a type that is no text", WRITE_CREATE, NULL, "{" TYPE ",'spec':{'embedded':{'apiVersion':1}}}",
                  "{'reason':'BadRequest'}",
                  "Widget in version \"v1\" cannot be handled as a Widget: spec.embedded.apiVersion: Invalid value: 1: "
                  "must be a string" },
                { "owners that are there twice", WRITE_CREATE, NULL,
                  "{" TYPE ",'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'K','name':'n','uid':'u'},{"
                  "'apiVersion':'v1','kind':'K','name':'n','uid':'u'}]}}",
                  "{'object':{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'K','name':'n','uid':'u'}]}},"
                  "'warnings':['.metadata.ownerReferences contains duplicate entries; API server dedups owner "
                  "references "
                  "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) "
                  "observed: u']}" },
                { "two controllers", WRITE_CREATE, NULL,
                  "{" TYPE ",'metadata':{'ownerReferences':[{'apiVersion':'v1','controller':true,'kind':'K','name':'a',"
                  "'uid':'u'},{'apiVersion':'v1','kind':'K','name':'b','uid':'v','controller':true}]}}",
                  "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: metadata.ownerReferences: Invalid value: "
                  "[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"a\",\"uid\":\"u\",\"controller\":true},{"
                  "\"apiVersion\":"
                  "\"v1\",\"kind\":\"K\",\"name\":\"b\",\"uid\":\"v\",\"controller\":true}]: Only one reference can "
                  "have "
                  "Controller set to true. Found \"true\" in references for K/a and K/b" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

TEST(updates)
{
        static const struct write_case cases[] = {
                { "a new spec is a new generation", WRITE_UPDATE, "{" LIVE "}}",
                  "{" LIVE ",'generation':9,'creationTimestamp':null},'spec':{'size':1},'status':{'phase':'Up'}}",
                  "{'effect':'store','object':{'metadata':{'generation':4,'creationTimestamp':'2001-02-03T04:05:06Z'},"
                  "'spec':{'size':1,'color':'red'},'status':null},'answer':{'metadata':{'resourceVersion':'7'}}}" },
                { "the same is nothing", WRITE_UPDATE, "{" LIVE "}}", "{" LIVE "}}",
                  "{'effect':'none','answer':{'metadata':{'resourceVersion':'7'}}}" },
                { "what is not there", WRITE_UPDATE, NULL, "{" LIVE "}}", "{'reason':'NotFound','code':404}",
                  "widgets.example.org \"a\" not found" },
                { "without a version", WRITE_UPDATE, "{" LIVE "}}", "{" TYPE ",'metadata':{'name':'a'}}",
                  "{'reason':'Invalid','details':{'kind':'widgets'}}",
                  "widgets.example.org \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified "
                  "for "
                  "an update" },
                { "with a stale one", WRITE_UPDATE, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a','resourceVersion':'6'}}", "{'reason':'Conflict'}",
                  "Operation cannot be fulfilled on widgets.example.org \"a\": the object has been modified; please "
                  "apply "
                  "your changes to the latest version and try again" },
                { "with none that is one", WRITE_UPDATE, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a','resourceVersion':'x'}}", "{'code':500,'reason':null}",
                  "strconv.ParseUint: parsing \"x\": invalid syntax" },
                { "of another uid", WRITE_UPDATE, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a','uid':'other','resourceVersion':'7'}}", "{'reason':'Conflict'}",
                  "Operation cannot be fulfilled on widgets.example.org \"a\": StorageError: invalid object, Code: 4, "
                  "Key: "
                  "/registry/example.org/widgets/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
                  "UID in "
                  "precondition: other, UID in object meta: u" },
                { "of another uid, only to see", WRITE_UPDATE, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a','uid':'other','resourceVersion':'7'}}", "{'reason':'Conflict'}",
                  "Operation cannot be fulfilled on widgets.example.org \"a\": StorageError: invalid object, Code: 4, "
                  "Key: "
                  "/example.org/widgets/ns/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                  "precondition: other, UID in object meta: u",
                  .is_dry_run = true },
                { "of another name", WRITE_UPDATE, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'b','resourceVersion':'7'}}", "{'reason':'BadRequest'}",
                  "the name of the object (b) does not match the name on the URL (a)" },
                { "without a name", WRITE_UPDATE, "{" LIVE "}}", "{" TYPE "}", "{'reason':'BadRequest'}",
                  "the name of the object (a based on URL) was undeterminable: name must be provided" },
                { "a status alone", WRITE_UPDATE, "{" LIVE "},'spec':{'size':1,'color':'red'}}",
                  "{" LIVE ",'labels':{'a':'b'}},'spec':{'size':2},'status':{'phase':'Up'}}",
                  "{'effect':'store','object':{'metadata':{'generation':3,'labels':null},'spec':{'size':1},'status':{"
                  "'phase':'Up'}}}",
                  .subresource = "status" },
                { "a status that goes", WRITE_UPDATE, "{" LIVE "},'status':{'phase':'Up'}}", "{" LIVE "}}",
                  "{'effect':'store','object':{'status':null}}", .subresource = "status" },
                { "a bad status", WRITE_UPDATE, "{" LIVE "}}", "{" LIVE "},'status':{'selector':5}}",
                  "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: [status.selector: Invalid value: \"integer\": selector in body "
                  "must "
                  "be of type string: \"integer\", .status.selector: Invalid value: \"\": .status.selector accessor "
                  "error: "
                  "5 is of the type int64, expected string]",
                  .subresource = "status" },
                { "the end of what was deleted", WRITE_UPDATE,
                  "{" LIVE ",'deletionTimestamp':'2001-02-03T04:05:07Z','deletionGracePeriodSeconds':0,"
                  "'finalizers':['a/b']}}",
                  "{" LIVE "}}",
                  "{'effect':'remove','object':{'metadata':{'finalizers':['a/b']}},'answer':{'metadata':{"
                  "'resourceVersion':'7','finalizers':null,'deletionTimestamp':'2001-02-03T04:05:07Z'}}}" },
                { "its grace", WRITE_MERGE_PATCH,
                  "{" LIVE ",'deletionTimestamp':'2001-02-03T04:05:07Z','deletionGracePeriodSeconds':0,"
                  "'finalizers':['a/b']}}",
                  "{'metadata':{'deletionGracePeriodSeconds':7}}", "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 7: field "
                  "is "
                  "immutable" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

TEST(patches)
{
        static const struct write_case cases[] = {
                { "a merge", WRITE_MERGE_PATCH, "{" LIVE "},'spec':{'size':1,'color':'red'}}", "{'spec':{'size':null}}",
                  "{'object':{'spec':{'size':null,'color':'red'}}}" },
                { "of what is not there", WRITE_MERGE_PATCH, NULL, "{}", "{'reason':'NotFound'}",
                  "widgets.example.org \"a\" not found" },
                { "of nothing", WRITE_MERGE_PATCH, "{" LIVE "}}", "null", "{'reason':'BadRequest'}",
                  "Invalid JSON Patch" },
                { "of a list", WRITE_MERGE_PATCH, "{" LIVE "}}", "[]", "{'reason':'BadRequest'}",
                  "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}" },
                { "of another uid", WRITE_MERGE_PATCH, "{" LIVE "}}", "{'metadata':{'uid':'x'}}",
                  "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: metadata.uid: Invalid value: \"x\": field is immutable" },
                { "of another type", WRITE_MERGE_PATCH, "{" LIVE "}}", "{'apiVersion':'v1','kind':'Pod'}",
                  "{'reason':'Invalid','details':{'group':null,'kind':'Pod'}}",
                  "Pod \"a\" is invalid: [apiVersion: Invalid value: \"v1\": must be example.org/v1, kind: Invalid "
                  "value: "
                  "\"Pod\": must be Widget]" },
                { "of no version", WRITE_MERGE_PATCH, "{" LIVE "}}", "{'apiVersion':null}",
                  "{'reason':'InternalError','details':{'causes':[{'message':'Object \\u0027apiVersion\\u0027 is "
                  "missing "
                  "in \\u0027object has no apiVersion field\\u0027'}]}}",
                  "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'" },
                { "operations", WRITE_JSON_PATCH, "{" LIVE "}}", "[{'op':'add','path':'/spec','value':{'size':2}}]",
                  "{'object':{'spec':{'size':2}}}" },
                { "none", WRITE_JSON_PATCH, "{" LIVE "}}", "null", "{'effect':'none'}" },
                { "that fail", WRITE_JSON_PATCH, "{" LIVE "}}", "[{'op':'remove','path':'/spec/size'}]",
                  "{'reason':'Invalid','details':{}}",
                  "the server rejected our request due to an error in our request" },
                { "that are none", WRITE_JSON_PATCH, "{" LIVE "}}", "{}", "{'reason':'BadRequest'}",
                  "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp" },
                { "one that is none", WRITE_JSON_PATCH, "{" LIVE "}}", "[true]", "{'reason':'BadRequest'}",
                  "error decoding patch: json: cannot unmarshal bool into Go value of type handlers.jsonPatchOp" },
                { "with a number for a path", WRITE_JSON_PATCH, "{" LIVE "}}", "[{'op':'add','path':1.5}]",
                  "{'reason':'BadRequest'}",
                  "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type "
                  "string" },
                { "that leave no kind", WRITE_JSON_PATCH, "{" LIVE "}}", "[{'op':'replace','path':'','value':{}}]",
                  "{'reason':'Invalid'}",
                  " \"\" is invalid: patch: Invalid value: \"{}\": Object 'Kind' is missing in '{}'" },
                { "that leave a text", WRITE_JSON_PATCH, "{" LIVE "}}", "[{'op':'replace','path':'','value':'x'}]",
                  "{'reason':'Invalid'}",
                  " \"\" is invalid: patch: Invalid value: \"\\\"x\\\"\": couldn't get version/kind; json parse error: "
                  "json: cannot unmarshal string into Go value of type struct { APIVersion string "
                  "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }" },
                { "force is for apply", WRITE_MERGE_PATCH, "{" LIVE "}}", "{}",
                  "{'reason':'Invalid','details':{'kind':'PatchOptions'}}",
                  "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply "
                  "patch",
                  .force = true },
                { "a bad type", WRITE_MERGE_PATCH, "{" LIVE "}}", "{'metadata':{'labels':'x'}}", "{'reason':'Invalid'}",
                  " \"\" is invalid: patch: Invalid value: "
                  "\"{\\\"apiVersion\\\":\\\"example.org/v1\\\",\\\"kind\\\":\\\"Widget\\\",\\\"metadata\\\":"
                  "{\\\"creationTimestamp\\\":\\\"2001-02-03T04:05:06Z\\\",\\\"generation\\\":3,\\\"labels\\\":"
                  "\\\"x\\\","
                  "\\\"name\\\":\\\"a\\\",\\\"namespace\\\":\\\"ns\\\",\\\"resourceVersion\\\":\\\"7\\\",\\\"uid\\\":"
                  "\\\"u\\\"}}\": json: cannot unmarshal string into Go struct field ObjectMeta.labels of type "
                  "map[string]string" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

TEST(applies)
{
        static const struct write_case cases[] = {
                { "creates", WRITE_APPLY, NULL, "{" TYPE ",'metadata':{'name':'a'},'spec':{'size':1}}",
                  "{'effect':'store','object':{'metadata':{'namespace':'ns','generation':1},'spec':{'color':'red'}}}" },
                { "without a name", WRITE_APPLY, NULL, "{" TYPE ",'spec':{'size':1}}", "{'reason':'BadRequest'}",
                  "the name of the object (a based on URL) was undeterminable: name must be provided" },
                { "updates", WRITE_APPLY, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a','labels':{},'creationTimestamp':5,'generation':1.5}}",
                  "{'object':{'metadata':{'creationTimestamp':'2001-02-03T04:05:06Z','generation':3,'labels':null}}}" },
                { "drops nulls it may not keep", WRITE_APPLY, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a'},'spec':{'any':null,'color':null}}",
                  "{'object':{'spec':{'any':null,'color':'red'}}}" },
                { "needs a manager", WRITE_APPLY, "{" LIVE "}}", "{" TYPE "}", "{'reason':'Invalid'}",
                  "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
                  .manager = "" },
                { "needs the type", WRITE_APPLY, "{" LIVE "}}", "{'kind':'Widget','apiVersion':'example.org/v9'}",
                  "{'reason':'BadRequest'}", "invalid object type: example.org/v9, Kind=Widget" },
                { "has no managers", WRITE_APPLY, "{" LIVE "}}", "{" TYPE ",'metadata':{'managedFields':[]}}",
                  "{'reason':'BadRequest'}", "metadata.managedFields must be nil" },
                { "knows no successor", WRITE_APPLY, NULL, "{" TYPE ",'metadata':{'name':'a','uid':'zz'}}",
                  "{'reason':'Conflict'}",
                  "Operation cannot be fulfilled on widgets.example.org \"a\": uid mismatch: the provided object "
                  "specified "
                  "uid zz, and no existing object was found" },
                { "a status of nothing", WRITE_APPLY, NULL, "{" TYPE "}", "{'reason':'NotFound'}",
                  "widgets.example.org \"a\" not found", .subresource = "status" },
                { "what is not of its type", WRITE_APPLY, "{" LIVE "}}",
                  "{" TYPE ",'metadata':{'name':'a'},'spec':{'size':'x'}}", "{'code':500,'reason':null}",
                  "failed to create typed patch object (/a; example.org/v1, Kind=Widget): .spec.size: expected numeric "
                  "(int "
                  "or float), got string" },
                { "through another version", WRITE_APPLY, "{" LIVE "},'spec':{'size':1,'color':'blue'}}",
                  "{'apiVersion':'example.org/v2','kind':'Widget','metadata':{'name':'a'},'spec':{'size':1}}",
                  "{'object':{'apiVersion':'example.org/v1','spec':{'size':1}},'answer':{'apiVersion':'example.org/"
                  "v2'}}",
                  .version = "v2" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

TEST(deletions)
{
        static const struct write_case cases[] = {
                { "at once", WRITE_DELETE, "{" LIVE "}}", NULL,
                  "{'effect':'remove','object':{'metadata':{'uid':'u'}}}" },
                { "of nothing", WRITE_DELETE, NULL, NULL, "{'reason':'NotFound'}",
                  "widgets.example.org \"a\" not found" },
                { "held", WRITE_DELETE, "{" LIVE ",'finalizers':['a/b']}}", NULL,
                  "{'effect':'store','object':{'metadata':{'generation':4,'deletionTimestamp':'2001-09-09T01:46:40Z',"
                  "'deletionGracePeriodSeconds':0,'finalizers':['a/b']}}}" },
                { "held already", WRITE_DELETE,
                  "{" LIVE ",'finalizers':['a/b'],'deletionTimestamp':'2001-02-03T04:05:07Z'}}", NULL,
                  "{'effect':'none'}" },
                { "in the foreground", WRITE_DELETE, "{" LIVE ",'finalizers':['orphan']}}", NULL,
                  "{'effect':'store','object':{'metadata':{'finalizers':['foregroundDeletion']}}}",
                  .propagation = PROPAGATE_FOREGROUND },
                { "without what it owns", WRITE_DELETE, "{" LIVE "}}", NULL,
                  "{'effect':'store','object':{'metadata':{'finalizers':['orphan']}}}",
                  .propagation = PROPAGATE_ORPHAN },
                { "in the background", WRITE_DELETE, "{" LIVE ",'finalizers':['orphan']}}", NULL, "{'effect':'remove'}",
                  .propagation = PROPAGATE_BACKGROUND },
                { "of another uid", WRITE_DELETE, "{" LIVE "}}", NULL,
                  "{'reason':'Conflict','details':{'kind':'Widget'}}",
                  "Operation cannot be fulfilled on Widget.example.org \"a\": the UID in the precondition (x) does not "
                  "match the UID in record (u). The object might have been deleted and then recreated",
                  .precondition_uid = "x" },
                { "of another version", WRITE_DELETE, "{" LIVE "}}", NULL, "{'reason':'Conflict'}",
                  "Operation cannot be fulfilled on Widget.example.org \"a\": the ResourceVersion in the precondition "
                  "(1) "
                  "does not match the ResourceVersion in record (7). The object might have been modified",
                  .precondition_uid = "u", .precondition_version = "1" },
                { "of a subresource", WRITE_DELETE, "{" LIVE "}}", NULL, "{'reason':'MethodNotAllowed'}",
                  "delete is not supported on resources of kind \"widgets.example.org\"", .subresource = "status" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

#define MANAGED(fields)                                                                                              \
        "'managedFields':[{'manager':'o','operation':'Apply','apiVersion':'example.org/v1','fieldsType':'FieldsV1'," \
        "'time':'2001-02-03T04:05:06Z','fieldsV1':{'f:spec':{" fields "}}}]"

TEST(scales)
{
        static const struct write_case cases[] = {
                { "by merge", WRITE_MERGE_PATCH, "{" LIVE "," MANAGED("'f:replicas':{}") "},'spec':{'replicas':1}}",
                  "{'spec':{'replicas':3}}",
                  "{'object':{'spec':{'replicas':3},'metadata':{'generation':4,'managedFields':[{'manager':'m',"
                  "'operation':'Update','apiVersion':'example.org/v1','subresource':'scale','fieldsType':'FieldsV1',"
                  "'fieldsV1':{'f:spec':{'f:replicas':{}}}}]}},'answer':{'kind':'Scale','apiVersion':'autoscaling/v1',"
                  "'spec':{'replicas':3},'status':{'replicas':0}}}",
                  .subresource = "scale" },
                { "to nothing", WRITE_JSON_PATCH, "{" LIVE "," MANAGED("'f:replicas':{}") "},'spec':{'replicas':1}}",
                  "[{'op':'remove','path':'/spec/replicas'}]",
                  "{'object':{'spec':{'replicas':0},'metadata':{'managedFields':null}},'answer':{'spec':{}}}",
                  .subresource = "scale" },
                { "what nobody manages", WRITE_MERGE_PATCH, "{" LIVE "," MANAGED("'f:size':{}") "},'spec':{'size':1}}",
                  "{'spec':{'replicas':3}}",
                  "{'object':{'spec':{'replicas':3},'metadata':{" MANAGED("'f:size':{}") "}}}",
                  .subresource = "scale" },
                { "by update", WRITE_UPDATE,
                  "{" LIVE "},'spec':{'replicas':1},'status':{'replicas':4,'selector':'a=b'}}",
                  "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'a','resourceVersion':'7'},'spec':{"
                  "'replicas':2}}",
                  "{'object':{'spec':{'replicas':2}},'answer':{'status':{'replicas':4,'selector':'a=b'}}}",
                  .subresource = "scale" },
                { "of an old version", WRITE_UPDATE, "{" LIVE "},'spec':{'replicas':1}}",
                  "{'metadata':{'resourceVersion':'6'},'spec':{'replicas':-2}}", "{'reason':'Conflict'}",
                  "Operation cannot be fulfilled on widgets.example.org \"a\": the object has been modified; please "
                  "apply "
                  "your changes to the latest version and try again",
                  .subresource = "scale" },
                { "below zero", WRITE_MERGE_PATCH, "{" LIVE "},'spec':{'replicas':1}}", "{'spec':{'replicas':-1}}",
                  "{'reason':'Invalid','details':{'kind':'Widget'}}",
                  "Widget.example.org \"a\" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative "
                  "integer",
                  .subresource = "scale" },
                { "by a text", WRITE_MERGE_PATCH, "{" LIVE "},'spec':{'replicas':1}}", "{'spec':{'replicas':'x'}}",
                  "{'reason':'Invalid'}",
                  " \"\" is invalid: patch: Invalid value: \"{\\\"apiVersion\\\":\\\"autoscaling/v1\\\",\\\"kind\\\":"
                  "\\\"Scale\\\",\\\"metadata\\\":{\\\"name\\\":\\\"a\\\",\\\"namespace\\\":\\\"ns\\\",\\\"uid\\\":"
                  "\\\"u\\\",\\\"resourceVersion\\\":\\\"7\\\",\\\"creationTimestamp\\\":\\\"2001-02-03T04:05:06Z\\\"},"
                  "\\\"spec\\\":{\\\"replicas\\\":\\\"x\\\"},\\\"status\\\":{\\\"replicas\\\":0}}\": json: cannot "
                  "unmarshal "
                  "string into Go struct field ScaleSpec.spec.replicas of type int32",
                  .subresource = "scale" },
                { "by apply", WRITE_APPLY, "{" LIVE "},'spec':{'replicas':1}}", "{'spec':{'replicas':2}}",
                  "{'code':500}", "apply to the scale subresource of widgets is not supported: patch it instead",
                  .subresource = "scale" },
                { "what is not there", WRITE_MERGE_PATCH, NULL, "{}", "{'reason':'NotFound'}",
                  "widgets.example.org \"a\" not found", .subresource = "scale" },
                { "a spec that is none", WRITE_CREATE, NULL, "{" TYPE ",'spec':[1]}", "{'reason':'Invalid'}",
                  "Widget.example.org \"a\" is invalid: [spec: Invalid value: \"array\": spec in body must be of type "
                  "object: \"array\", .spec.replicas: Invalid value: 0: .spec.replicas accessor error: [1] is of the "
                  "type "
                  "[]interface {}, expected map[string]interface{}]" },
        };

        check_cases(cases, ARRAY_SIZE(cases));
}

/* --- Built-in kinds, hooks, reading --- */

TEST(builtin_kinds_may_leave_out_their_type)
{
        static const struct write_case cases[] = {
                { "left out", WRITE_CREATE, NULL, "{'metadata':{'name':'a'},'data':{'x':'y'}}",
                  "{'object':{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generation':null}}}" },
                { "resets managers", WRITE_UPDATE,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'ns','uid':'u','"
                  "resourceVersion':'7',"
                  "'managedFields':[{'manager':'m','operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1',"
                  "'fieldsV1':{'f:data':{}}}]},'data':{'x':'y'}}",
                  "{'metadata':{'name':'a','managedFields':[]},'data':{'x':'z'}}",
                  "{'object':{'metadata':{'managedFields':null},'data':{'x':'z'}}}" },
                { "of a kind that is not there", WRITE_CREATE, NULL, "{'kind':'Foo','metadata':{'name':'a'}}",
                  "{'reason':'BadRequest'}",
                  "Foo in version \"v1\" cannot be handled as a ConfigMap: no kind \"Foo\" is registered for version "
                  "\"v1\" in scheme "
                  "\"pkg/runtime/scheme.go:111\"" },
                { "another", WRITE_CREATE, NULL, "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a'}}",
                  "{'reason':'BadRequest'}",
                  "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to "
                  "(core.ConfigMap): "
                  "unknown conversion" },
                { "another version", WRITE_CREATE, NULL, "{'apiVersion':'v2','metadata':{'name':'a'}}",
                  "{'reason':'BadRequest'}",
                  "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind "
                  "\"ConfigMap\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\"" },
                { "without a version of what is there", WRITE_UPDATE,
                  "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'ns','resourceVersion':'7'}"
                  "}",
                  "{'metadata':{'name':'a'},'data':{'x':'z'}}", "{'effect':'store','object':{'data':{'x':'z'}}}" },
        };

        for (struct kind *const *k = kind_builtins(); *k; k++)
                for (size_t i = 0; str_equal((*k)->kind, STR("ConfigMap")) && i < ARRAY_SIZE(cases); i++)
                        check_case(*k, &cases[i]);
}

static int add_label(void *arg, struct run *run, struct admission *admission, struct err *err)
{
        if (admission->object)
                admission->object = meta_with_label(run->arena, admission->object, STR("hook"), str_from(arg));
        return 0;
}

static int refuse(void *arg, struct run *run, struct admission *admission, struct err *err)
{
        return err_set(err, ERR_FORBIDDEN, "no %s", admission->object ? "write" : "deletion");
}

static int refuse_creation(void *arg, struct err *err)
{
        return err_set(err, ERR_FORBIDDEN, "nowhere");
}

TEST(hooks_change_and_refuse)
{
        static const struct write_case create = { "create", WRITE_CREATE, NULL, "{" TYPE "}" };
        static const struct write_case update = { "update", WRITE_MERGE_PATCH, "{" LIVE "}}", "{'spec':{'size':1}}" };
        static const struct write_case deletion = { "delete", WRITE_DELETE, "{" LIVE "}}" };
        static const struct write_case *const cases[] = { &create, &update, &deletion };
        const struct admission_hook label = { "label", true, add_label, (void *)"yes" };
        const struct admission_hook ignored = { "ignored", false, add_label, (void *)"no" };
        const struct admission_hook refusing = { "refusing", false, refuse, NULL };
        const struct admission_hook first = { "first", true, refuse, NULL };
        struct kind *kind = widget();

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct admission_hook hooks[] = { label, ignored };
                struct preparation p = {
                        .kind = kind, .version = kind_storage(kind), .hooks = hooks, .n_hooks = ARRAY_SIZE(hooks)
                };
                _cleanup_err_ struct err err = { 0 };
                _cleanup_arena_ struct arena a;
                const struct value *got;

                arena_init(&a, "hooks", 0);
                got = run_case(&a, &p, cases[i], &err);
                ASSERT_INT(err.code, 0);
                if (i < 2)
                        ASSERT_STR(meta_label(value_get(got, STR("object")), STR("hook")), STR("yes"));
                hooks[1] = refusing;
                run_case(&a, &p, cases[i], &err);
                ASSERT_STR(str_from(err_message(&err)), i < 2 ? STR("no write") : STR("no deletion"));
                hooks[0] = first;
                run_case(&a, &p, cases[i], &err);
                ASSERT_INT(err.code, ERR_FORBIDDEN);
                p.n_hooks = 0;
                p.may_create = refuse_creation;
                if (i == 0) {
                        run_case(&a, &p, cases[i], &err);
                        ASSERT_STR(str_from(err_message(&err)), STR("nowhere"));
                }
        }
        kind_unref(kind);
}

TEST(readers_get_their_version)
{
        struct kind *kind = widget();
        _cleanup_arena_ struct arena a;
        const struct value *read;

        arena_init(&a, "read", 0);
        ASSERT_INT(prepare_read(kind, kind_version(kind, STR("v1")), &a, from_text(&a, "{" LIVE "},'spec':{'old':1}}"),
                                &read, NULL),
                   0);
        ASSERT_JSON(&a, value_get(read, STR("spec")), "{\"color\":\"red\"}");
        ASSERT_INT(prepare_read(kind, kind_version(kind, STR("v2")), &a, from_text(&a, "{" LIVE "},'spec':{'size':1}}"),
                                &read, NULL),
                   0);
        ASSERT_JSON(&a, value_get(read, STR("spec")), "{\"size\":1}");
        ASSERT_STR(value_str(value_get(read, STR("apiVersion"))), STR("example.org/v2"));
        kind_unref(kind);
}

TEST(a_scale_needs_its_replicas)
{
        struct kind *kind = widget();
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct value scale;

        arena_init(&a, "scale", 0);
        ASSERT_INT(scale_of(&a, kind_storage(kind), from_text(&a, "{" LIVE "},'spec':{'replicas':2}}"), &scale, &err),
                   0);
        ASSERT_JSON(&a, value_get(&scale, STR("spec")), "{\"replicas\":2}");
        ASSERT(scale_of(&a, kind_storage(kind), from_text(&a, "{" LIVE "}}"), &scale, &err) < 0);
        ASSERT_STR(str_from(err_message(&err)),
                   STR("Internal error occurred: the spec replicas field \".spec.replicas\" does not exist"));
        ASSERT_INT(err.reason, REASON_INTERNAL_ERROR);
        kind_unref(kind);
}
