#include "function-test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "go-templating.h"

#define FUNCTION     "function-go-templating"
#define INLINE(text) "{source: Inline, inline: {template: " text "}}"
#define XR                                                                                                            \
        "observed: {composite: {resource: {apiVersion: e.org/v1, kind: X, metadata: {name: xr}, spec: {num: 3, big: " \
        "1000000}}}}"
#define FATAL(text) "{results: [{severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: " text "}]}"
#define NAMED(name) "metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: " name "}}"
#define BARE        "metadata: {annotations: {}}"
#define EMPTY_XR    "composite: {resource: {}}"

TEST(makes_resources)
{
        static const struct function_case cases[] = {
                { "nothing", INLINE("' '"), "{}", "{desired: {" EMPTY_XR "}}" },
                { "one", INLINE("'{apiVersion: v1, kind: A, " NAMED("a") "}'"), "{}",
                  "{desired: {" EMPTY_XR ", resources: {a: {resource: {apiVersion: v1, kind: A, " BARE "}}}}}" },
                { "from the request",
                  INLINE("\"kind: A\\n" NAMED("a") "\\nnum: {{ .observed.composite.resource.spec.num }}\\nbig: {{ "
                                                   ".observed.composite.resource.spec.big }}\\n\""),
                  "{" XR "}",
                  "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE ", num: 3, big: 1000000}}}}}" },
                { "a range",
                  INLINE("\"{{ range $i := until 2 }}\\n---\\nkind: A\\n" NAMED("r-{{ $i }}") "\\n{{ end }}\""), "{}",
                  "{desired: {" EMPTY_XR ", resources: {r-0: {resource: {kind: A, " BARE
                  "}}, r-1: {resource: {kind: A, " BARE "}}}}}" },
                { "templates are joined",
                  "{source: Inline, inline: {templates: ['{{ define \"a\" }}A{{ end }}', '{kind: {{ template \"a\" "
                  "}}, " NAMED("a") "}']}}",
                  "{}", "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE "}}}}}" },
                { "readiness",
                  INLINE("'{kind: A, metadata: {annotations: {gotemplating.fn.crossplane.io/composition-resource-name: "
                         "a, "
                         "gotemplating.fn.crossplane.io/ready: \"True\"}}}'"),
                  "{}",
                  "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE "}, ready: READY_TRUE}}}}" },
                { "the composite's status",
                  INLINE("'{apiVersion: e.org/v1, kind: X, status: {b: {d: 2}, l: [2]}, spec: {ignored: 1}}'"),
                  "{" XR ", desired: {composite: {resource: {status: {a: 1, b: {c: 1}, l: [1, 1]}}}}}",
                  "{desired: {composite: {resource: {status: {a: 1, b: {c: 1, d: 2}, l: [2]}}}}}" },
                { "JSON",
                  INLINE("'{\"kind\": \"A\", \"metadata\": {\"annotations\": "
                         "{\"gotemplating.fn.crossplane.io/composition-resource-name\": \"a\"}}}'"),
                  "{}", "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE "}}}}}" },
                { "delimiters",
                  "{source: Inline, inline: {template: '{kind: [[ .observed.composite.resource.kind ]], " NAMED(
                          "a") "}'}, delims: {left: '[[', right: ']]'}}",
                  "{" XR "}", "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: X, " BARE "}}}}}" },
                { "from the environment", "{source: Environment, environment: {key: k}}",
                  "{context: {apiextensions.crossplane.io/environment: {k: '{kind: A, " NAMED("a") "}'}}}",
                  "{context: {apiextensions.crossplane.io/environment: {k: '{kind: A, " NAMED(
                          "a") "}'}}, desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE "}}}}}" },
                { "ttl", "{source: Inline, inline: {template: ' '}, ttl: 5m}", "{}",
                  "{meta: {ttl: 300s}, desired: {" EMPTY_XR "}}" },
                { "a condition as JSON keeps the order of its fields",
                  INLINE("'{kind: A, " NAMED("a") ", b: {{ dict \"z\" 1 \"c\" (getResourceCondition \"R\" .) \"a\" 2 | "
                                                  "toJson | quote }}}'"),
                  "{}",
                  "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE
                  ", b: '{\"a\":2,\"c\":{\"type\":\"R\",\"status\":\"Unknown\",\"lastTransitionTime\":null,\"reason\":"
                  "\"\"},\"z\":1}'}}}}}" },
                { "toYaml",
                  INLINE("\"kind: A\\n" NAMED(
                          "a") "\\nspec:\\n  {{ .observed.composite.resource.spec | toYaml | printf \\\"%s\\\" }}\""),
                  "{observed: {composite: {resource: {spec: {a: 'yes'}}}}}",
                  "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE ", spec: {a: 'yes'}}}}}}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(makes_other_things)
{
#define META "apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1"
        static const struct function_case cases[] = {
                { "connection details", INLINE("'{" META ", kind: CompositeConnectionDetails, data: {k: aGk=}}'"), "{}",
                  "{desired: {composite: {resource: {}, connectionDetails: {k: aGk=}}}}" },
                { "conditions",
                  INLINE("'{" META
                         ", kind: ClaimConditions, conditions: [{type: T, status: \"True\", reason: R, message: M, "
                         "target: CompositeAndClaim}]}'"),
                  "{}",
                  "{desired: {" EMPTY_XR
                  "}, conditions: [{type: T, status: STATUS_CONDITION_TRUE, reason: R, message: M, "
                  "target: TARGET_COMPOSITE_AND_CLAIM}]}" },
                { "context", INLINE("'{" META ", kind: Context, data: {a: {b: 1}}}'"), "{context: {a: {c: 2}, d: 3}}",
                  "{desired: {" EMPTY_XR "}, context: {a: {b: 1, c: 2}, d: 3}}" },
                { "extra resources",
                  INLINE("'{" META
                         ", kind: ExtraResources, requirements: {x: {apiVersion: v1, kind: K, matchName: m}}}'"),
                  "{}",
                  "{desired: {" EMPTY_XR "}, requirements: {resources: {x: {apiVersion: v1, kind: K, matchName: m}}, "
                  "extraResources: {x: {apiVersion: v1, kind: K, matchName: m}}}}" },
                { "both kinds of them, without a context", INLINE("' '"),
                  "{extraResources: {e: {items: [{resource: {a: 1}}]}}, requiredResources: {x: {items: [{resource: {a: "
                  "1}, ready: READY_TRUE, "
                  "connectionDetails: {k: aGk=}}]}, none: {}}}",
                  "{desired: {" EMPTY_XR
                  "}, context: {apiextensions.crossplane.io/extra-resources: {x: {items: [{resource: {a: 1}, ready: 1, "
                  "connection_details: {k: aGk=}}]}, none: {}}}}" },
                { "and with one", INLINE("' '"),
                  "{context: {c: 1}, extraResources: {e: {items: [{resource: {a: 1}}]}}, requiredResources: {x: {}}}",
                  "{desired: {" EMPTY_XR "}, context: {c: 1, apiextensions.crossplane.io/extra-resources: {e: {items: "
                  "[{resource: {a: 1}}]}, x: {}}}}" },
                { "extra resources that came", INLINE("' '"), "{requiredResources: {x: {items: [{resource: {a: 1}}]}}}",
                  "{desired: {" EMPTY_XR
                  "}, context: {apiextensions.crossplane.io/extra-resources: {x: {items: [{resource: {a: "
                  "1}}]}}}}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

TEST(refuses_in_the_words_of_upstream)
{
        static const struct function_case cases[] = {
                { "no source", "{}", "{}", FATAL("'invalid function input: source is required'") },
                { "unknown source", "{source: X}", "{}", FATAL("'invalid function input: invalid source: X'") },
                { "no template", "{source: Inline}", "{}",
                  FATAL("'invalid function input: inline.template or inline.templates should be provided'") },
                { "no environment", "{source: Environment, environment: {key: k}}", "{}",
                  FATAL("'invalid function input: cannot read tmpl from the environment: "
                        "apiextensions.crossplane.io/environment key does not exist in context'") },
                { "syntax", INLINE("\"a\\n{{ if }}\""), "{}",
                  FATAL("'invalid function input: cannot parse the provided templates: template: manifests:2: missing "
                        "value for if'") },
                { "unknown function", INLINE("'{{ lookup 1 }}'"), "{}",
                  FATAL("'invalid function input: cannot parse the provided templates: template: manifests:1: function "
                        "\"lookup\" not "
                        "defined'") },
                { "option", "{source: Inline, inline: {template: a}, options: [x]}", "{}",
                  FATAL("'cannot apply template options: panic occurred while applying template options: unrecognized "
                        "option: x'") },
                { "execution", INLINE("'{{ .observed.composite.resource.kind.x }}'"), "{" XR "}",
                  FATAL("'cannot execute template: template: manifests:1:12: executing \"manifests\" at "
                        "<.observed.composite.resource.kind.x>: can''t evaluate field x in type interface {}'") },
                { "missing key", "{source: Inline, inline: {template: '{{ .a.b }}'}, options: ['missingkey=error']}",
                  "{}",
                  FATAL("'cannot execute template: template: manifests:1:5: executing \"manifests\" at <.a.b>: map has "
                        "no entry for "
                        "key \"a\"'") },
                { "include", INLINE("'{{ include \"q\" . }}'"), "{}",
                  FATAL("'cannot execute template: template: manifests:1:3: executing \"manifests\" at <include \"q\" "
                        ".>: error "
                        "calling include: template: no template \"q\" associated with template \"manifests\"'") },
                { "plain text", INLINE("'<no value>'"), "{}",
                  FATAL("'cannot decode manifest: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
                        "string into Go "
                        "value of type map[string]interface {}'") },
                { "no kind", INLINE("'a: <b>'"), "{}",
                  FATAL("'cannot decode manifest: error unmarshaling JSON: while decoding JSON: Object ''Kind'' is "
                        "missing in "
                        "''{\"a\":\"\\u003cb\\u003e\"}'''") },
                { "no name", INLINE("'{kind: A}'"), "{}",
                  FATAL("'\"A\" template is missing required "
                        "\"gotemplating.fn.crossplane.io/composition-resource-name\" "
                        "annotation'") },
                { "separator", INLINE("\"kind: A\\n---x\\n\""), "{}",
                  FATAL("'cannot decode manifest: invalid Yaml document separator: x'") },
                { "annotation", INLINE("'{apiVersion: e.org/v1, kind: A, metadata: {annotations: {a: true}}}'"), "{}",
                  FATAL("'invalid annotations in resource ''e.org/v1, Kind=A resource-name=<nil>'': "
                        ".metadata.annotations accessor "
                        "error: contains non-string value in the map under key \"a\": true is of the type bool, "
                        "expected string'") },
                { "readiness", INLINE("'{kind: A, metadata: {annotations: {gotemplating.fn.crossplane.io/ready: x}}}'"),
                  "{}",
                  FATAL("'invalid function input: invalid \"gotemplating.fn.crossplane.io/ready\" annotation value "
                        "\"x\": must be "
                        "True, False, or Unspecified'") },
                { "YAML", INLINE("\"kind: A\\n---\\nkind: B\\na: b: c\\n\""), "{}",
                  FATAL("'cannot decode manifest: error converting YAML to JSON: yaml: line 4 (document 2, line 2) "
                        "near: ''a: b: c'': "
                        "mapping values are not allowed in this context'") },
                { "reserved condition",
                  INLINE("'{apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1, kind: ClaimConditions, "
                         "conditions: [{type: "
                         "Ready}]}'"),
                  "{}", FATAL("'cannot set ClaimCondition type: Ready is a reserved Crossplane Condition'") },
                { "no directory is open to templates", "{source: FileSystem, fileSystem: {dirPath: /etc}}", "{}",
                  FATAL("'invalid function input: cannot read tmpl from the folder {/etc}: open /etc: no such file or "
                        "directory'") },
                { "remote", "{apiVersion: example.org/v1, kind: GoTemplate, source: Remote, remote: 'git://x'}", "{}",
                  FATAL("'invalid function input: source Remote is not supported: give the template inline, or share "
                        "an input between "
                        "Compositions with inputRef'") },
        };

        CHECK_CASES(FUNCTION, cases);
}

/* The example of the design document, with its typing errors mended. */
TEST(runs_the_oldest_example)
{
#define ROBOTS                                                                                                       \
        "{apiVersion: example.org/v1, kind: GoTemplate, source: Inline, inline: \"{{- range $i := until (int "       \
        ".desired.composite.resource.spec.count) }}\\n---\\napiVersion: iam.dummy.upbound.io/v1alpha1\\nkind: "      \
        "Robot\\nmetadata:\\n  annotations:\\n    crossplane.io/external-name: {{ $.desired.composite.resource | "   \
        "getExternalName }}-robot-{{ $i }}\\nspec:\\n  forProvider:\\n  {{- with $i | printf \\\"xr-robot-%d\\\" | " \
        "getComposedResource }}\\n    color: {{ .spec.forProvider.color }}\\n  {{- else }}\\n    color: {{ "         \
        "randomChoice \\\"red\\\" }}\\n  {{- end }}\\n{{- end }}\"}"
#define ROBOT(name, color)                                                                                    \
        name ": {resource: {apiVersion: iam.dummy.upbound.io/v1alpha1, kind: Robot, metadata: {annotations: " \
             "{crossplane.io/external-name: " name "}}, spec: {forProvider: {color: " color "}}}}"
        static const struct function_case cases[] = {
                { "robots", ROBOTS,
                  "{desired: {composite: {resource: {metadata: {name: xr}, spec: {count: 2}}}}, observed: {resources: "
                  "{xr-robot-1: "
                  "{resource: {spec: {forProvider: {color: green}}}}}}}",
                  "{desired: {composite: {resource: {metadata: {name: xr}, spec: {count: 2}}}, resources: {" ROBOT(
                          "xr-robot-0", "red") ", " ROBOT("xr-robot-1", "green") "}}}" },
        };

        CHECK_CASES(FUNCTION, cases);
}

static void write_file(int at, const char *name, const char *text)
{
        _cleanup_close_ int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ASSERT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void check_files(struct arena *a, const char *path, const char *wanted)
{
        _cleanup_err_ struct err err = { 0 };
        struct templating t = { .arena = a };
        struct str text = STR("");

        templating_read_files(&t, str_from(path), &text, &err);
        if (!str_equal(err.code < 0 ? str_from(err_message(&err)) : text, str_from(wanted)))
                test_fail(__FILE__, __LINE__, "[%s] %s", path,
                          err.code < 0 ? err_message(&err) : arena_cstring(a, text));
}

/* Links to the system, links in a circle, and things that are not files. */
static void check_links(struct arena *a, int fd)
{
        static const char *const targets[] = {
                "/etc/passwd", "/proc/self/environ", "/proc/self/cwd", "/dev/zero", "..", "../..", "link", "/"
        };

        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                ASSERT(symlinkat(targets[i], fd, "t/link") == 0);
                check_files(a, "link", "open link: no such file or directory");
                check_files(a, "link/etc", "open link/etc: no such file or directory");
                ASSERT(unlinkat(fd, "t/link", 0) == 0);
        }
        ASSERT(mkfifoat(fd, "t/pipe", 0600) == 0);
        check_files(a, "pipe", "open pipe: no such file or directory");
        ASSERT(unlinkat(fd, "t/pipe", 0) == 0);
}

/* Files outside of the directory do not exist for templates: there is no way out by .., by links or through /proc. */
TEST(reads_files_beneath_one_directory)
{
        _cleanup_arena_ struct arena a;
        char directory[] = "/tmp/test-go-templating-XXXXXX";
        _cleanup_close_ int fd = -1;

        arena_init(&a, "test", 0);
        ASSERT(mkdtemp(directory));
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT(mkdirat(fd, "t", 0700) == 0 && mkdirat(fd, "t/sub", 0700) == 0 && mkdirat(fd, "secret", 0700) == 0);
        write_file(fd, "t/b", "B");
        write_file(fd, "t/a", "A");
        write_file(fd, "t/.hidden", "H");
        write_file(fd, "t/sub/c", "C");
        write_file(fd, "secret/s", "S");
        ASSERT(symlinkat("../secret", fd, "t/out") == 0 && symlinkat("b", fd, "t/sub/in") == 0);
        functions_set_template_directory(arena_cstring(&a, arena_printf(&a, "%s/t", directory)));
        check_files(&a, "sub/c", "C\n---\n");
        check_files(&a, "a", "A\n---\n");
        check_files(&a, "./a", "A\n---\n");
        check_files(&a, ".", "");
        check_files(&a, "none", "open none: no such file or directory");
        check_files(&a, "../secret", "open ../secret: no such file or directory");
        check_files(&a, "sub/../../secret/s", "open sub/../../secret/s: no such file or directory");
        check_files(&a, "out", "open out: no such file or directory");
        check_files(&a, "out/s", "open out/s: no such file or directory");
        check_files(&a, "/etc/passwd", "open /etc/passwd: no such file or directory");
        check_files(&a, "/proc/self/environ", "open /proc/self/environ: no such file or directory");
        ASSERT(unlinkat(fd, "t/out", 0) == 0 && unlinkat(fd, "t/sub/in", 0) == 0);
        check_links(&a, fd);
        functions_set_template_directory(arena_cstring(&a, str_from(directory)));
        check_files(&a, "t", "A\n---\nB\n---\nC\n---\n");
        functions_set_template_directory(NULL);
        for (const char *const *name = (const char *const[]) { "t/a", "t/b", "t/.hidden", "t/sub/c", "secret/s", NULL };
             *name; name++)
                unlinkat(fd, *name, 0);
        unlinkat(fd, "t/sub", AT_REMOVEDIR);
        unlinkat(fd, "t", AT_REMOVEDIR);
        unlinkat(fd, "secret", AT_REMOVEDIR);
        rmdir(directory);
}

/* --- Mistakes --- */

static const struct fn_mistake *mistake_of(struct arena *a, const char *input, const char *request)
{
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        struct function_case c = { input, input, request, NULL };
        struct fn_request req;
        struct fn_response rsp;

        read_request(a, &c, false, &req);
        ASSERT_INT(function_go_templating.run(&run, &req, &rsp, NULL), 0);
        ASSERT_INT(rsp.n_results, 1);
        ASSERT(rsp.results[0].mistake);
        return rsp.results[0].mistake;
}

TEST(shows_the_value_of_a_mistake_but_no_secret)
{
#define SECRET                                                                                                \
        "requiredResources: {s: {items: [{resource: {kind: Secret, data: {p: aHVudGVyMg==}, stringData: {q: " \
        "letmein}}}]}}"
        static const struct {
                const char *template_of, *request, *value;
        } cases[] = {
                { "{{ .observed.composite.resource.spec.num.x }}", "{" XR "}", "3" },
                { "{{ (list 1 nil \"a\" (dict \"b\" 1.5)).x }}", "{}", "[1,null,\"a\",{\"b\":1.5}]" },
                { "{{ now.x }}", "{}", NULL },
                { "{{ upper .none }}", "{}", "missing" },
                { "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ until $d }}", "{}", "a map[string]interface {}" },
                { "{{ (b64dec ((getExtraResources . \"s\") | first).resource.data.p).x }}", "{" SECRET "}",
                  "\"(hidden)\"" },
                { "{{ until (dict \"a\" \"letmein\" \"b\" \"x letmein y\" \"c\" \"letme\" \"d\" \"no\") }}",
                  "{" SECRET "}", "{\"a\":\"(hidden)\",\"b\":\"(hidden)\",\"c\":\"(hidden)\",\"d\":\"no\"}" },
                { "{{ until .credentials }}", "{credentials: {c: {credentialData: {data: {k: aHVudGVyMg==}}}}}",
                  "{\"c\":{\"credentialData\":{\"data\":{\"k\":\"(hidden)\"}}}}" },
                { "{{ until (getCredentialData . \"c\") }}",
                  "{credentials: {c: {credentialData: {data: {k: aHVudGVyMg==}}}}}", "(hidden)" },
                { "{{ until .observed.composite.connectionDetails }}",
                  "{observed: {composite: {resource: {a: 1}, connectionDetails: {pin: MTIzNA==}}}}",
                  "{\"pin\":\"(hidden)\"}" },
                { "{{ until (list (\"1234\" | atoi) 12345 12) }}",
                  "{observed: {composite: {resource: {a: 1}, connectionDetails: {pin: MTIzNA==}}}}",
                  "[(hidden),(hidden),12]" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                const struct fn_mistake *m;

                arena_init(&a, "test", 0);
                m = mistake_of(&a,
                               arena_printf(&a, "{source: Inline, inline: {template: '%s'}}", cases[i].template_of).p,
                               cases[i].request);
                if (cases[i].value && !str_equal(m->value, str_from(cases[i].value)))
                        test_fail(__FILE__, __LINE__, "[%s] %.*s", cases[i].template_of, STR_ARG(m->value));
                ASSERT(str_equal(m->text, str_from(cases[i].template_of)));
        }
}

TEST(cuts_a_long_value_of_a_mistake)
{
        _cleanup_arena_ struct arena a;
        const struct fn_mistake *m;

        arena_init(&a, "test", 0);
        m = mistake_of(&a, INLINE("'{{ until (list (repeat 199 \"a\") \"b\") }}'"), "{}");
        ASSERT_INT(m->value.n, 203);
        ASSERT(str_ends_with(m->value, STR("aaa...")));
        m = mistake_of(&a, INLINE("'{{ until (list (repeat 196 \"a\")) }}'"), "{}");
        ASSERT_INT(m->value.n, 200);
        m = mistake_of(&a, INLINE("'{{ until (list (repeat 150 \"é\")) }}'"), "{}");
        ASSERT_INT(m->value.n, 203);
        m = mistake_of(&a, INLINE("'{{ until (list (repeat 1000000 \"é\")) }}'"), "{}");
        ASSERT_INT(m->value.n, 203);
}

TEST(finds_the_place_that_a_message_names)
{
        static const struct {
                const char *input, *message, *path;
                size_t offset;
        } cases[] = {
                { INLINE("\"a\\n{{ .x.y }}\""), "x: template: manifests:2:5: executing", "inline.template", 7 },
                { INLINE("\"a\\n{{ if }}\""), "template: manifests:2: missing value", "inline.template", 2 },
                { INLINE("\"a\\nb\""), "template: manifests:9:1: x", "inline.template", 3 },
                { INLINE("\"a\\nbcd\""), "template: manifests:1:1: at <include>: template: manifests:2:2: x",
                  "inline.template", 4 },
                { "{source: Inline, inline: {templates: [a, \"b\\nc\"]}}", "template: manifests:1:0: x",
                  "inline.templates[0]", 0 },
                { "{source: Inline, inline: {templates: [a, \"b\\nc\"]}}", "template: manifests:4:0: x",
                  "inline.templates[1]", 2 },
                { INLINE("a"), "cannot decode manifest", NULL, 0 },
                { "{source: Environment, environment: {key: k}}", "template: manifests:1:0: x", NULL, 0 },
                { "{a: 1}", "template: manifests:1:0: x", NULL, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct fn_mistake m;
                bool is_found;

                arena_init(&a, "test", 0);
                is_found = functions_find_mistake(&a, from_yaml(&a, "input", cases[i].input),
                                                  str_from(cases[i].message), &m);
                ASSERT_CASE(cases[i].message, is_found == (cases[i].path != NULL));
                ASSERT_CASE(cases[i].message,
                            !is_found || (str_equal(m.path, str_from(cases[i].path)) && m.offset == cases[i].offset));
        }
}

/* A response is protobuf: its texts are UTF-8, even if the error quotes other bytes. */
TEST(messages_are_utf8)
{
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct function_case c = { "utf8", INLINE("'{{ fail (b64dec \"Yf9i\") }}'"), "{}", NULL };
        struct fn_request req;
        struct fn_response rsp;

        arena_init(&a, "test", 0);
        read_request(&a, &c, false, &req);
        ASSERT_INT(function_go_templating.run(&run, &req, &rsp, NULL), 0);
        ASSERT(str_ends_with(rsp.results[0].message, STR("error calling fail: a\xEF\xBF\xBD"
                                                         "b")));
}

/* --- What an operator sets --- */

static void set_defaults(const char *source, const struct str *options, size_t n, int64_t ttl_ns)
{
        struct templating_defaults defaults = {
                .source = source, .options = { options, n }, .has_ttl = ttl_ns >= 0, .ttl_ns = ttl_ns
        };

        functions_set_templating_defaults(&defaults);
}

TEST(an_operator_sets_defaults)
{
        static const struct str zero[] = { STR_INIT("missingkey=error"), STR_INIT("missingkey=zero") };
        static const struct str wrong[] = { STR_INIT("x") };
        static const struct function_case without[] = {
                { "from the default source", "{}", "{}",
                  "{desired: {" EMPTY_XR ", resources: {a: {resource: {kind: A, " BARE "}}}}, meta: {ttl: 5s}}" },
                { "the default TTL", INLINE("' '"), "{}", "{desired: {" EMPTY_XR "}, meta: {ttl: 5s}}" },
                { "the input's TTL", "{source: Inline, inline: {template: ' '}, ttl: 7s}", "{}",
                  "{desired: {" EMPTY_XR "}, meta: {ttl: 7s}}" },
                { "a source of the input's own", "{source: X}", "{}",
                  "{meta: {ttl: 5s}, results: [{severity: SEVERITY_FATAL, target: TARGET_COMPOSITE, message: 'invalid "
                  "function input: invalid source: X'}]}" },
        };
        static const struct function_case options[] = {
                { "default options", INLINE("'{{ .a.b }}'"), "{}",
                  FATAL("'cannot execute template: template: manifests:1:5: executing \"manifests\" at <.a.b>: nil "
                        "pointer evaluating interface {}.b'") },
                { "options of the input's own",
                  "{source: Inline, inline: {template: '{{ .a.b }}'}, options: [missingkey=error]}", "{}",
                  FATAL("'cannot execute template: template: manifests:1:5: executing \"manifests\" at <.a.b>: map has "
                        "no entry for key \"a\"'") },
                { "none of its own", "{source: Inline, inline: {template: '{{ if .a.b }}{{ end }}'}, options: []}",
                  "{}", "{desired: {" EMPTY_XR "}}" },
        };
        static const struct function_case refused[] = {
                { "a wrong default option", INLINE("' '"), "{}",
                  FATAL("'cannot apply template options: panic occurred while applying template options: unrecognized "
                        "option: x'") },
                { "no default source there", "{}", "{}",
                  FATAL("'invalid function input: cannot read tmpl from the folder {/none/here}: open /none/here: no "
                        "such file or directory'") },
        };
        char path[] = "/tmp/weft-templates-XXXXXX", *made = mkdtemp(path);
        _cleanup_close_ int fd = made ? open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

        ASSERT(fd >= 0);
        write_file(fd, "a.yaml", "{kind: A, " NAMED("a") "}");
        set_defaults(path, NULL, 0, 5 * 1000000000ll);
        CHECK_CASES(FUNCTION, without);
        set_defaults(NULL, zero, 2, -1);
        CHECK_CASES(FUNCTION, options);
        set_defaults("/none/here", wrong, 1, -1);
        CHECK_CASES(FUNCTION, refused);
        set_defaults(NULL, NULL, 0, -1);
        ASSERT(unlinkat(fd, "a.yaml", 0) == 0 && rmdir(path) == 0);
}

TEST(says_which_responses_are_pure)
{
        static const struct {
                const char *input;
                bool is_pure;
        } cases[] = {
                { INLINE("' '"), true },
                { INLINE("'{{ now }}'"), false },
                { INLINE("'{{ randAlpha 3 }}'"), false },
                { INLINE("'{{ .x.y | upper }}'"), true },
                { INLINE("'{{ if }}'"), true },
                { "{source: Environment, environment: {key: k}}", true },
                { "{source: FileSystem, fileSystem: {dirPath: none}}", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
                struct function_case c = { cases[i].input, cases[i].input,
                                           "{context: {apiextensions.crossplane.io/environment: {k: ' '}}}", NULL };
                struct fn_request req;
                struct fn_response rsp;

                arena_init(&a, "test", 0);
                read_request(&a, &c, false, &req);
                ASSERT_INT(function_go_templating.run(&run, &req, &rsp, NULL), 0);
                ASSERT_CASE(cases[i].input, rsp.is_pure == cases[i].is_pure);
        }
}

/* --- Hostile templates --- */

#define LAUGHS                                                                                       \
        "a: &a [x, x, x, x, x, x, x, x, x]\\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\\n"          \
        "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\\n" \
        "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\\n" \
        "g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]\\nh: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]\\ni: [*h, *h]\\n"

/* The text for a double-quoted scalar: quotes are escaped, escapes stay. */
static struct str escaped(struct arena *a, const char *text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (; *text; text++) {
                if (*text == '"')
                        buf_append_char(&b, '\\');
                buf_append_char(&b, *text);
        }
        return buf_to_arena(&b, a);
}

/* Every call ends, with a fatal result that says why, within a budget of memory and soon after its deadline. */
TEST(stops_hostile_calls)
{
        static const struct {
                const char *name, *template_of, *reason;
        } cases[] = {
                { "a loop without end", "{{ range 9223372036854775807 }}{{ end }}", "" },
                { "includes of itself", "{{ define \"r\" }}{{ include \"r\" . }}{{ end }}{{ include \"r\" . }}",
                  "nested" },
                { "includes in turn",
                  "{{ define \"p\" }}{{ include \"q\" . }}{{ end }}{{ define \"q\" }}{{ include \"p\" . }}{{ end "
                  "}}{{ include \"p\" . }}",
                  "nested" },
                { "twice as many each time",
                  "{{ define \"r\" }}{{ include \"r\" . }}{{ include \"r\" . }}{{ end }}{{ include \"r\" . }}", "" },
                { "aliases in fromYaml", "{{ fromYaml `" LAUGHS "` | toJson | len }}", "" },
                { "aliases in the output", "kind: A\\n" LAUGHS, "" },
                { "a deep output", "kind: A\\na: {{ repeat 100000 \"[\" }}", "" },
                { "a deep JSON output", "{{ printf \"{%q: \" \"kind\" | repeat 100000 }}", "" },
                { "toYaml of a map in itself", "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ toYaml $d }}", "" },
                { "the request in itself", "{{ $_ := set . \"me\" . }}{{ toJson . }}{{ . | toYaml }}", "" },
                { "its Go syntax", "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ printf \"%#v\" $d }}", "limit" },
                { "a time in Go syntax", "{{ printf \"%#v%+v%d%x\" now now now now }}", "cannot decode manifest" },
                { "a condition in Go syntax", "{{ printf \"%#v\" (getResourceCondition \"a\" .) }}",
                  "cannot decode manifest" },
                { "a large output", "{{ range 1000000 }}{{ repeat 1000 \"abc \" }}{{ end }}", "limit" },
                { "many documents", "{{ range 3000000 }}{}\\n---\\n{{ end }}", "" },
                { "a mistake on a large value",
                  "{{ $l := list 1 }}{{ range 20 }}{{ $l = concat $l $l }}{{ end }}{{ $l.x }}",
                  "can't evaluate field" },
                { "a width", "{{ printf \"%1000000000d\" 1 }}{{ printf \"%*d\" 1000000000 1 }}", "" },
                { "regular expressions",
                  "{{ $x := repeat 4000000 \"ab\" }}{{ range 1000000 }}{{ $y := regexReplaceAll "
                  "\"(a|b)+\" $x \"c\" }}{{ end }}",
                  "" },
                { "steps of 1", "{{ untilStep 0 4611686018427387904 1 }}", "limit" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                struct run run = { .arena = &a, .deadline = deadline_after_ns(500 * 1000000ll) };
                struct function_case c = { cases[i].name, NULL, "{" XR "}", NULL };
                struct fn_request req;
                struct fn_response rsp;

                arena_init(&a, "call", 512u << 20);
                c.input = arena_printf(&a, "{source: Inline, inline: {template: \"%.*s\"}}",
                                       STR_ARG(escaped(&a, cases[i].template_of)))
                                  .p;
                read_request(&a, &c, false, &req);
                ASSERT_INT(function_go_templating.run(&run, &req, &rsp, NULL), 0);
                ASSERT_CASE(c.name, rsp.n_results == 1 && rsp.results[0].severity == FN_SEVERITY_FATAL);
                if (str_find(rsp.results[0].message, str_from(cases[i].reason)) < 0 &&
                    str_find(rsp.results[0].message, STR("deadline exceeded")) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %.*s", c.name,
                                  STR_ARG(str_first(rsp.results[0].message, MIN(rsp.results[0].message.n, 300u))));
                ASSERT_CASE(c.name, a.used_bytes < 700u << 20);
        }
}
