/* Packages: what is read, refused and written, against files that Crossplane's CLI wrote (tests/golden/xpkg); and packages as images. */
#include "oci-toy.h"

#include "input.h"
#include "oci-layer.h"
#include "xpkg-image.h"

#include <sys/mman.h>

#define GOLDEN TEST_SOURCE_DIR "/tests/golden/xpkg/"

static struct str read_text(struct arena *a, const char *path)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (input_read(path, &b, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return buf_to_arena(&b, a);
}

static struct str encode(struct arena *a, const struct xpkg *p)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        ASSERT(xpkg_encode(&b, p, NULL) == 0);
        return buf_to_arena(&b, a);
}

TEST(as_the_real_cli)
{
        static const struct {
                const char *name;
                enum xpkg_kind kind;
                const char *files[4];
        } cases[] = {
                { "function", XPKG_FUNCTION, { "crds/input.yaml", "crossplane.yaml" } },
                { "provider", XPKG_PROVIDER, { "crossplane.yaml", "objects.yaml" } },
                { "configuration",
                  XPKG_CONFIGURATION,
                  { "crossplane.yaml", "definitions.yaml", "more/compositions.yml" } },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct xpkg_reader reader;
                struct xpkg p, again;
                struct str wanted;
                int r = 0;

                arena_init(&a, "test", 0);
                xpkg_reader_init(&reader, &a);
                for (const char *const *file = cases[i].files; r >= 0 && *file; file++) {
                        struct str path = arena_printf(&a, GOLDEN "%s/%s", cases[i].name, *file);

                        r = xpkg_reader_add(&reader, path.p, read_text(&a, path.p), &err);
                }
                if (r < 0 || xpkg_finish(&reader, &p, &err) < 0 || xpkg_lint(&p, &err) < 0)
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].name, err_message(&err));
                ASSERT(p.kind == cases[i].kind);
                wanted = read_text(&a, arena_printf(&a, GOLDEN "%s.package.yaml", cases[i].name).p);
                ASSERT_STR_CASE(cases[i].name, encode(&a, &p), wanted);
                /* The written package reads back as the same. */
                ASSERT_CASE(cases[i].name, xpkg_parse(&a, wanted, &again, &err) == 0 && xpkg_lint(&again, &err) == 0);
                ASSERT_STR_CASE(cases[i].name, encode(&a, &again), wanted);
        }
}

#define META(kind, rest) "apiVersion: meta.pkg.crossplane.io/v1\nkind: " kind "\nmetadata: {name: x}\n" rest "\n---\n"

TEST(refused)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "", "not exactly one package meta type" },
                { META("Function", "") META("Function", ""), "not exactly one package meta type" },
                { META("Function", "") "apiVersion: v1\nkind: ConfigMap\n",
                  "failed to parse package: {path:package.yaml position:0}: no kind \"ConfigMap\" is registered for "
                  "version \"v1\"" },
                { "apiVersion: meta.pkg.crossplane.io/v1alpha1\nkind: Function\n",
                  "no kind \"Function\" is registered for version \"meta.pkg.crossplane.io/v1alpha1\"" },
                { META("Function", "") "kind: X\n", "Object 'apiVersion' is missing" },
                { META("Function", "") "a: b\n", "Object 'Kind' is missing" },
                { META("Function", "") "- a\n", "couldn't get version/kind" },
                { META("Function", "") "a: [\n", "yaml: line" },
                { META("Function", "spec: {crossplane: {version: foo}}"),
                  "failed to lint package: package version constraints are poorly formatted: improper constraint: "
                  "foo" },
                { META("Function", "") "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\n",
                  "failed to lint package: object is not a CRD" },
                { META("Provider", "") "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\n",
                  "failed to lint package: object did not pass any of the linters with following errors: object is not "
                  "a CRD, "
                  "object is not an MRD, object is not an ValidatingWebhookConfiguration, object is not a "
                  "MutatingWebhookConfiguration" },
                { META("Configuration", "") "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
                  "failed to lint package: object did not pass any of the linters with following errors: object is not "
                  "an XRD, "
                  "object is not an ManagedResourceActivationPolicy, object is not a Composition, object is not an "
                  "Operation, "
                  "object is not a CronOperation, object is not a WatchOperation" },
                { META("Configuration", "") "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nspec: "
                                            "{pipeline: [{step: 3}]}\n",
                  "json: cannot unmarshal number into Go struct field PipelineStep.spec.pipeline.step of type string" },
                { META("Function", "spec: {dependsOn: [{version: v1}]}"),
                  "spec.dependsOn[0]: encountered an invalid dependency" },
                { META("Function", "") "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n",
                  "v1beta1" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_arena_ struct arena a;
                _cleanup_err_ struct err err = { 0 };
                struct xpkg p;

                arena_init(&a, "test", 0);
                ASSERT_CASE(cases[i].error,
                            xpkg_parse(&a, str_from(cases[i].text), &p, &err) < 0 || xpkg_lint(&p, &err) < 0);
                if (!strstr(err_message(&err), cases[i].error))
                        test_fail(__FILE__, __LINE__, "[%s] %s", cases[i].error, err_message(&err));
        }
}

TEST(meta)
{
        _cleanup_arena_ struct arena a;
        struct xpkg p;

        arena_init(&a, "test", 0);
        ASSERT(xpkg_parse(&a, read_text(&a, GOLDEN "configuration.package.yaml"), &p, NULL) == 0);
        ASSERT_INT(p.n_dependencies, 3);
        ASSERT_STR(p.dependencies[0].package, STR("xpkg.crossplane.io/contrib/function-auto-ready"));
        ASSERT_STR(p.dependencies[0].gvk.kind, STR("Function"));
        ASSERT_STR(p.dependencies[1].gvk.kind, STR("Provider"));
        ASSERT_STR(p.dependencies[1].gvk.group, STR("pkg.crossplane.io"));
        ASSERT_STR(p.dependencies[2].gvk.kind, STR("Function"));
        ASSERT(str_starts_with(p.dependencies[2].version, STR("sha256:")));
        ASSERT_STR(p.crossplane, STR(">=v2.0.0-0"));
        ASSERT(!p.has_capabilities && p.n_objects == 7);
        ASSERT(xpkg_parse(&a, read_text(&a, GOLDEN "function.package.yaml"), &p, NULL) == 0);
        ASSERT(p.has_capabilities && p.n_capabilities == 1 && str_equal(p.capabilities[0], STR("composition")));
}

TEST(names)
{
        static const struct {
                const char *text, *wanted;
        } cases[] = {
                { "acme/function-a", "acme-function-a" },
                { "Acme_x.y", "cmex-y" },
                { "-a-", "a" },
                { "a:b", "a-b" },
                { "0123456789012345678901234567890123456789012345678901234567890.X",
                  "0123456789012345678901234567890123456789012345678901234567890" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].text, xpkg_dns_label(&a, str_from(cases[i].text)), str_from(cases[i].wanted));
        ASSERT_STR(xpkg_friendly_id(&a, STR("function-kcl"), STR("ecc25c121431ffff")),
                   STR("function-kcl-ecc25c121431"));
}

/* A package with a runtime through a file and a registry and back. */
TEST(images)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct xpkg_image runtime, image, read;
        struct oci_client *client;
        struct oci_reference ref;
        struct str digest, yaml, top, manifest;
        struct toy toy;
        char path[64];
        int fd = memfd_create("package", MFD_CLOEXEC);

        arena_init(&a, "test", 0);
        toy_init(&toy);
        ASSERT(oci_client_new(&(struct oci_client_options) { .ignores_environment = true }, &client, NULL) == 0);
        if (xpkg_image_build(&a, STR("the runtime"), STR(""), NULL, &runtime, &err) < 0 ||
            xpkg_image_build(&a, STR("package: yaml\n"), STR("examples"), &runtime, &image, &err) < 0 ||
            xpkg_image_write(&image, fd, NULL, NULL, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (xpkg_image_read(&a, path, &read, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(read.config, image.config);
        ASSERT_INT(read.n_layers, 3);
        ASSERT_STR(read.layers[2].bytes, image.layers[2].bytes);
        /* The runtime of this test says `base` of its layer as well. */
        ASSERT(xpkg_image_yaml(&a, &read, &yaml, &err) == ERR_INVALID &&
               strstr(err_message(&err), "multiple annotated base"));
        ASSERT(xpkg_image_yaml(&a, &runtime, &yaml, &err) == 0);
        ASSERT_STR(yaml, STR("the runtime"));

        ref = toy_ref(&toy, &a, "good/x:v1");
        if (xpkg_push(client, &a, &ref, &read, 1, NULL, OCI_WAIT_NONE, &digest, &err) < 0 ||
            xpkg_pull_yaml(client, &a, &ref, false, OCI_WAIT_NONE, &yaml, &top, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_STR(top, digest);
        ASSERT_STR(yaml, STR("the runtime")); /* the first base layer wins */
        ASSERT(xpkg_pull_yaml(client, &a, &ref, true, OCI_WAIT_NONE, &yaml, &top, &err) == ERR_INVALID);
        ASSERT(xpkg_image_manifest(&a, &read, false, NULL, &manifest, &err) == 0);
        ASSERT(str_find(manifest, STR("annotations")) < 0);
        oci_client_unref(client);
        toy_done(&toy);
        close(fd);
}

static void put_layers(struct toy *t, struct arena *a, const char *repo, const struct str *tars, size_t n)
{
        _cleanup_buf_ struct buf manifest = BUF_INIT(0);

        toy_put(t, oci_digest_of(a, STR("{}")), "", STR("{}"));
        buf_appendf(&manifest, "{\"schemaVersion\":2,\"config\":{\"digest\":\"%.*s\",\"size\":2},\"layers\":[",
                    STR_ARG(oci_digest_of(a, STR("{}"))));
        for (size_t i = 0; i < n; i++) {
                toy_put(t, oci_digest_of(a, tars[i]), "", tars[i]);
                buf_appendf(&manifest, "%s{\"digest\":\"%.*s\",\"size\":%zu}", i > 0 ? "," : "",
                            STR_ARG(oci_digest_of(a, tars[i])), tars[i].n);
        }
        buf_append_literal(&manifest, "]}");
        toy_put(t, arena_printf(a, "%s:v1", repo), OCI_MEDIA_MANIFEST, buf_str(&manifest));
}

static struct str tar_of(struct arena *a, const char *name, const char *text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        oci_tar_append_file(&b, STR("other"), 0644, STR("x"));
        oci_tar_append_file(&b, str_from(name), 0644, str_from(text));
        oci_tar_append_end(&b);
        return buf_to_arena(&b, a);
}

/* Without an annotated layer the files of all layers count, from the top, without what whiteouts removed. */
TEST(layers_without_roles)
{
        _cleanup_arena_ struct arena a;
        struct oci_client *client;
        struct toy toy;
        static const struct {
                const char *repo;
                const char *layers[3][2];
                const char *wanted; /* NULL: not found */
        } cases[] = {
                { "good/one", { { "package.yaml", "1" }, { "b", "" }, { "c", "" } }, "1" },
                { "good/top", { { "package.yaml", "1" }, { "./package.yaml", "2" }, { "c", "" } }, "2" },
                { "good/deep", { { "etc/package.yaml", "1" }, { "b", "" }, { "c", "" } }, "1" },
                { "good/gone", { { "package.yaml", "1" }, { ".wh.package.yaml", "" }, { "c", "" } }, NULL },
                { "good/hidden", { { "etc/package.yaml", "1" }, { ".wh.etc", "" }, { "c", "" } }, NULL },
                { "good/opaque", { { "etc/package.yaml", "1" }, { "etc/.wh..wh..opq", "" }, { "c", "" } }, NULL },
                { "good/again", { { "package.yaml", "1" }, { ".wh.package.yaml", "" }, { "package.yaml", "3" } }, "3" },
                { "good/near", { { "package.yaml2", "1" }, { "xpackage.yaml", "" }, { "c", "" } }, NULL },
        };

        arena_init(&a, "test", 0);
        toy_init(&toy);
        ASSERT(oci_client_new(&(struct oci_client_options) { .ignores_environment = true }, &client, NULL) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str tars[3], yaml = STR("");
                struct oci_reference ref = toy_ref(&toy, &a, arena_printf(&a, "%s:v1", cases[i].repo).p);
                int r;

                for (size_t k = 0; k < 3; k++)
                        tars[k] = tar_of(&a, cases[i].layers[k][0], cases[i].layers[k][1]);
                put_layers(&toy, &a, cases[i].repo, tars, 3);
                r = xpkg_pull_yaml(client, &a, &ref, false, OCI_WAIT_NONE, &yaml, NULL, NULL);
                ASSERT_CASE(cases[i].repo, r == (cases[i].wanted ? 0 : ERR_NOT_FOUND));
                if (cases[i].wanted)
                        ASSERT_STR_CASE(cases[i].repo, yaml, str_from(cases[i].wanted));
        }
        oci_client_unref(client);
        toy_done(&toy);
}
