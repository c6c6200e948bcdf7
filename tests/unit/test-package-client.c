/* Getting packages from a registry in this process: rewrites, secrets, pull policies, and a registry that goes down. */
#include "oci-toy.h"
#include "store-test.h"

#include "base64.h"
#include "package-client.h"
#include "xpkg-image.h"

#include <sys/stat.h>

struct scene {
        struct fixture f;
        struct kind_run r;
        struct toy toy;
        struct oci_cache *cache;
        struct package_client *client;
        char directory[64];
};

static void scene_init(struct scene *s)
{
        struct oci_cache_options cache = { 0 };
        struct package_client_options options = { .registry = { .ignores_environment = true, .retry_ms = 1 },
                                                  .secrets_namespace = STR("crossplane-system"),
                                                  .service_account = STR("crossplane"),
                                                  .verifies_signatures = true };
        char images[96], packages[96];

        *s = (struct scene) { 0 };
        fixture_init(&s->f);
        toy_init(&s->toy);
        snprintf(s->directory, sizeof(s->directory), "/tmp/package-client.XXXXXX");
        ASSERT(mkdtemp(s->directory));
        snprintf(images, sizeof(images), "%s/images", s->directory);
        snprintf(packages, sizeof(packages), "%s/packages", s->directory);
        cache.directory = images;
        ASSERT(oci_cache_open(&cache, &s->cache, &s->f.err) == 0);
        options.cache = s->cache;
        options.directory = packages;
        ASSERT(package_client_new(&options, &s->client, &s->f.err) == 0);
        ASSERT(create(&s->f,
                      JSON(&s->f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'crossplane-system'}}")) ==
               0);
        s->r = (struct kind_run) { .cluster = s->f.cluster, .run = &s->f.run };
}

static void scene_done(struct scene *s)
{
        char command[96];

        package_client_free(s->client);
        oci_cache_free(s->cache);
        toy_done(&s->toy);
        fixture_done(&s->f);
        snprintf(command, sizeof(command), "rm -rf %s", s->directory);
        ASSERT(system(command) == 0);
}

/* Pushes a Configuration whose meta object has this name; returns what the tag then means. */
static struct str push(struct scene *s, const char *reference, const char *name)
{
        _cleanup_(oci_client_unrefp)
        struct oci_client *client = NULL;
        struct oci_client_options options = { .ignores_environment = true };
        struct oci_reference ref = toy_ref(&s->toy, &s->f.arena, reference);
        struct xpkg_image image;
        struct str digest = STR("");
        struct str yaml = arena_printf(
                &s->f.arena,
                "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata:\n  name: %s\nspec: {}\n", name);

        ASSERT(oci_client_new(&options, &client, NULL) == 0);
        ASSERT(xpkg_image_build(&s->f.arena, yaml, STR(""), NULL, &image, NULL) == 0);
        if (xpkg_push(client, &s->f.arena, &ref, &image, 1, NULL, OCI_WAIT_NONE, &digest, &s->f.err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&s->f.err));
        return digest;
}

/* The name of the meta object, or the error. */
static const char *fetch(struct scene *s, const char *reference, const char *policy, const char *secret,
                         struct package_result *ret)
{
        struct package_request req = {
                .reference = arena_printf(&s->f.arena, "%s/%s", s->toy.host, reference),
                .pull_policy = str_from(policy),
                .pull_secrets = secret ? JSON(&s->f, "[{'name':'%s'}]", secret) : NULL,
        };
        _cleanup_err_ struct err err = { 0 };

        if (package_client_get(s->client, &s->r, &req, ret, &err) < 0)
                return arena_cstring(&s->f.arena, str_from(err_message(&err)));
        return arena_cstring(&s->f.arena, ret->content.name);
}

TEST(what_was_got_is_kept)
{
        struct package_result result;
        struct scene s;
        struct str first;
        int n;

        scene_init(&s);
        first = push(&s, "good/conf:v1", "one");
        ASSERT(strstr(fetch(&s, "good/conf:v1", "Never", NULL, &result),
                      "package not in cache and pull policy is Never"));
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "", NULL, &result), "one");
        ASSERT_STR(result.digest, first);
        ASSERT_STR(result.version, STR("v1"));
        ASSERT(str_ends_with(result.source, STR("/good/conf")));
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "Never", NULL, &result), "one");

        /* The second time, only what the tag means is asked for; a tag that moved means something else. */
        n = atomic_load(&s.toy.n_requests);
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "", NULL, &result), "one");
        ASSERT_INT(atomic_load(&s.toy.n_requests) - n, 1);
        push(&s, "good/conf:v1", "two");
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "", NULL, &result), "two");
        ASSERT_TEXT(fetch(&s, arena_printf(&s.f.arena, "good/conf@%.*s", STR_ARG(first)).p, "", NULL, &result), "one");
        ASSERT_STR(result.version, first);
        ASSERT_TEXT(fetch(&s, arena_printf(&s.f.arena, "good/conf:v1@%.*s", STR_ARG(first)).p, "", NULL, &result),
                    "one");
        ASSERT(str_ends_with(result.source, STR("/good/conf:v1")));
        ASSERT(strstr(fetch(&s, "good/none:v1", "", NULL, &result), "cannot resolve "));
        scene_done(&s);
}

TEST(a_registry_that_is_down)
{
        struct package_result result;
        struct scene s;
        char host[64];

        scene_init(&s);
        push(&s, "good/conf:v1", "one");
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "", NULL, &result), "one");
        memcpy(host, s.toy.host, sizeof(host));
        toy_done(&s.toy);
        memcpy(s.toy.host, host, sizeof(host));
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "", NULL, &result), "one");
        ASSERT(strstr(fetch(&s, "good/conf:v1", "Always", NULL, &result), "cannot resolve "));
        ASSERT(strstr(fetch(&s, "good/conf:v2", "", NULL, &result), "cannot resolve "));
        toy_init(&s.toy);
        scene_done(&s);
}

static void put_secret(struct scene *s, const char *name)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), text = BUF_INIT(0);

        buf_appendf(&text, "{\"auths\":{\"%s\":{\"username\":\"user\",\"password\":\"secret\"}}}", s->toy.host);
        base64_encode(&b, buf_str(&text), BASE64_STD);
        ASSERT(create(&s->f, JSON(&s->f,
                                  "{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/"
                                  "dockerconfigjson','metadata':{'name':'%s',"
                                  "'namespace':'crossplane-system'},'data':{'.dockerconfigjson':'%s'}}",
                                  name, buf_cstring(&b))) == 0);
}

static void put_config(struct scene *s, const char *name, const char *prefix, const char *rest)
{
        ASSERT(create(&s->f, JSON(&s->f,
                                  "{'apiVersion':'pkg.crossplane.io/"
                                  "v1beta1','kind':'ImageConfig','metadata':{'name':'%s'},'spec':{"
                                  "'matchImages':[{'prefix':'%s/%s'}],%s}}",
                                  name, s->toy.host, prefix, rest)) == 0);
}

TEST(secrets_and_rewrites)
{
        struct package_result result;
        struct scene s;

        scene_init(&s);
        push(&s, "good/conf:v1", "one");
        /* basic/ wants credentials, also to push: what it has is what good/ has. */
        for (size_t i = 0, n = s.toy.things.n; i < n; i++) {
                struct str name = str_from(s.toy.things.p[i].name);

                if (str_cut_prefix(&name, STR("good/")))
                        toy_put(&s.toy, arena_printf(&s.f.arena, "basic/%.*s", STR_ARG(name)), s.toy.things.p[i].type,
                                str_make(s.toy.things.p[i].bytes, s.toy.things.p[i].n));
        }
        ASSERT(strstr(fetch(&s, "basic/conf:v1", "", "login", &result),
                      "(pull secret \"login\" does not exist in namespace crossplane-system)"));
        put_secret(&s, "login");
        ASSERT_TEXT(fetch(&s, "basic/conf:v1", "", "login", &result), "one");
        ASSERT_INT(result.n_applied, 0);

        /* The same by ImageConfigs, of which the longest prefix counts; the secret is chosen by the rewritten reference. */
        put_config(&s, "short", "old", quoted(&s.f, "'rewriteImage':{'prefix':'%s/none'}", s.toy.host));
        put_config(&s, "long", "old/conf", quoted(&s.f, "'rewriteImage':{'prefix':'%s/basic/conf'}", s.toy.host));
        put_config(&s, "login", "basic", "'registry':{'authentication':{'pullSecretRef':{'name':'login'}}}");
        ASSERT_TEXT(fetch(&s, "old/conf:v1", "Always", NULL, &result), "one");
        ASSERT(str_ends_with(result.source, STR("/old/conf")));
        ASSERT(str_ends_with(result.resolved, STR("/basic/conf:v1")));
        ASSERT_INT(result.n_applied, 2);
        ASSERT_STR(result.applied[0].name, STR("long"));
        ASSERT_STR(result.applied[0].reason, STR("RewriteImage"));
        ASSERT_STR(result.applied[1].name, STR("login"));
        ASSERT_STR(result.applied[1].reason, STR("SetImagePullSecret"));
        scene_done(&s);
}

/* A package that was fetched before signatures were asked for does not pass for signed. */
TEST(signatures_asked_for_later)
{
        struct package_result result;
        struct scene s;

        scene_init(&s);
        push(&s, "good/conf:v1", "one");
        ASSERT_TEXT(fetch(&s, "good/conf:v1", "", NULL, &result), "one");
        put_config(&s, "signed", "good",
                   "'verification':{'provider':'Cosign','cosign':{'authorities':[{'name':'us','key':{'secretRef':{"
                   "'name':'none','key':'cosign.pub'}}}]}}");
        ASSERT(strstr(fetch(&s, "good/conf:v1", "", NULL, &result),
                      "signature verification failed with ImageConfig \"signed\""));
        ASSERT(strstr(fetch(&s, "good/conf:v1", "Never", NULL, &result),
                      "package not in cache and pull policy is Never"));
        scene_done(&s);
}

TEST(versions_are_sorted)
{
        struct scene s;
        struct str *versions;
        size_t n = 0;

        scene_init(&s);
        ASSERT(package_client_versions(s.client, &s.r, arena_printf(&s.f.arena, "%s/versions/conf", s.toy.host),
                                       &versions, &n, &s.f.err) == 0);
        ASSERT_INT(n, 3);
        ASSERT_STR(versions[0], STR("v1.9.0"));
        ASSERT_STR(versions[1], STR("v1.10.0"));
        ASSERT_STR(versions[2], STR("v2"));
        scene_done(&s);
}
