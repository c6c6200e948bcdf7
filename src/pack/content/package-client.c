#include "package-client.h"

#include "buf.h"
#include "base64.h"
#include "digest.h"
#include "image-config.h"
#include "json.h"
#include "package-login.h"
#include "semver.h"
#include "signature.h"
#include "xpkg-image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CONTENT_BYTES (200u << 20) /* of package.yaml */

struct package_client {
        struct package_client_options options;
        struct arena arena; /* the options' texts */
        struct package_logins *logins;
};

/* One call. */
struct fetch {
        struct package_client *client;
        struct kind_run *r;
        struct arena *arena;
        const struct package_request *request;
        struct package_result *result;
        struct object_list configs;
        struct package_login *login;
        struct str missing;               /* a pull secret that does not exist */
        struct oci_reference at;          /* after a rewrite */
        struct oci_reference exact;       /* the same by digest */
        const struct value *config;       /* the ImageConfig that asks for signatures, or NULL */
        const struct value *verification; /* what it asks for; NULL: nothing is checked */
};

int package_client_new(const struct package_client_options *options, struct package_client **ret, struct err *err)
{
        struct package_client *c = xcalloc(1, sizeof(*c));
        struct package_logins_options logins;

        if (options->directory && mkdir(options->directory, 0755) < 0 && errno != EEXIST) {
                int r = err_set_errno(err, errno, "cannot make directory %s", options->directory);

                free(c);
                return r;
        }
        arena_init(&c->arena, "package client", 0);
        c->options = *options;
        c->options.secrets_namespace = arena_copy(&c->arena, options->secrets_namespace);
        c->options.service_account = arena_copy(&c->arena, options->service_account);
        if (options->directory)
                c->options.directory = arena_cstring(&c->arena, str_from(options->directory));
        logins = (struct package_logins_options) { .registry = options->registry,
                                                   .uses_own_credentials = options->uses_own_credentials,
                                                   .secrets_namespace = c->options.secrets_namespace,
                                                   .service_account = c->options.service_account };
        c->logins = package_logins_new(&logins);
        *ret = c;
        return 0;
}

void package_client_free(struct package_client *c)
{
        if (!c)
                return;
        package_logins_free(c->logins);
        arena_done(&c->arena);
        free(c);
}

/* --- Content that was fetched before --- */

/* Content is kept by its digest and by the signatures that were asked for, so that what was fetched without a check never passes for
 * checked. */
static const char *content_path(const struct fetch *f, const char *suffix)
{
        struct str hex = f->result->digest, verification = STR("");
        _cleanup_buf_ struct buf name = BUF_INIT(0);

        str_cut_prefix(&hex, STR("sha256:"));
        buf_append_str(&name, hex);
        if (f->verification) {
                buf_append_char(&name, '-');
                if (json_to_str(f->arena, f->verification, JSON_SORT_KEYS, &verification, NULL) == 0)
                        sha256_append_hex(&name, verification);
        }
        return arena_cstring(f->arena, arena_printf(f->arena, "%s/%.*s%s", f->client->options.directory,
                                                    STR_ARG(buf_str(&name)), suffix));
}

/* False: there is none, or it cannot be read. */
static bool read_content(const struct fetch *f, struct str *ret)
{
        _cleanup_close_ int fd =
                f->client->options.directory ? open(content_path(f, ".yaml"), O_RDONLY | O_CLOEXEC) : -EBADF;
        struct stat info;
        size_t n = 0;
        char *bytes;

        if (fd < 0 || fstat(fd, &info) < 0 || info.st_size > (off_t)MAX_CONTENT_BYTES)
                return false;
        bytes = arena_alloc(f->arena, (size_t)info.st_size + 1);
        while (n < (size_t)info.st_size) {
                ssize_t got = read(fd, bytes + n, (size_t)info.st_size - n);

                if (got <= 0)
                        return false;
                n += (size_t)got;
        }
        *ret = str_make(bytes, n);
        return true;
}

/* Content that cannot be kept is fetched again the next time. */
static void keep_content(const struct fetch *f, struct str yaml)
{
        const char *path, *beside;
        size_t n = 0;
        int fd;

        if (!f->client->options.directory)
                return;
        path = content_path(f, ".yaml");
        beside = content_path(f, ".XXXXXX");
        fd = mkostemp((char *)beside, O_CLOEXEC);
        if (fd < 0)
                return;
        while (n < yaml.n) {
                ssize_t put = write(fd, yaml.p + n, yaml.n - n);

                if (put <= 0)
                        break;
                n += (size_t)put;
        }
        if (close(fd) < 0 || n < yaml.n || rename(beside, path) < 0)
                unlink(beside);
}

/* --- The steps of a call --- */

static void apply_config(struct fetch *f, const struct value *config, enum image_purpose purpose)
{
        f->result->applied[f->result->n_applied++] =
                (struct package_applied) { meta_name(config), image_purpose_reason(purpose) };
}

static struct oci_wait wait_of(const struct fetch *f)
{
        return (struct oci_wait) { f->r->run->deadline, f->r->run->cancel };
}

static struct oci_client *client_of(const struct fetch *f)
{
        return package_login_client(f->login);
}

static int rewrite(struct fetch *f, unsigned flags, struct err *err)
{
        struct str reference = f->request->reference;
        const struct value *config;
        struct oci_reference original;
        int e = image_configs_list(f->r->cluster, f->r->run, &f->configs, err);

        if (e < 0)
                return e;
        f->result->resolved = reference;
        config = image_config_best(&f->configs, f->arena, IMAGE_REWRITE, reference);
        if (config) {
                e = image_config_rewrite(f->arena, config, reference, &f->result->resolved, err);
                if (e < 0)
                        return err_wrap(err, "cannot rewrite image path");
                apply_config(f, config, IMAGE_REWRITE);
        }
        e = oci_reference_parse(f->arena, reference, flags, &original, err);
        if (e < 0)
                return err_wrap(err, "cannot parse package reference %.*s", STR_ARG(reference));
        e = oci_reference_parse(f->arena, f->result->resolved, flags, &f->at, err);
        if (e < 0)
                return err_wrap(err, "cannot parse resolved package reference %.*s", STR_ARG(f->result->resolved));
        f->result->source = original.source;
        if (original.digest.n > 0 && original.tag.n > 0) /* as Crossplane reads it: what stands before the digest */
                f->result->source = str_first(reference, (size_t)str_find_char(reference, '@'));
        f->result->version = oci_reference_version(&original);
        return 0;
}

static int log_in(struct fetch *f, struct err *err)
{
        const struct value *config = image_config_best(&f->configs, f->arena, IMAGE_PULL_SECRET, f->result->resolved);
        struct str more = image_config_pull_secret(config);

        if (config)
                apply_config(f, config, IMAGE_PULL_SECRET);
        return package_logins_get(f->client->logins, f->r, f->request->pull_secrets, more, &f->login, &f->missing, err);
}

/* Adds what may be the reason of a refusal. */
static int refused(const struct fetch *f, struct err *err)
{
        int code = err->code;
        _cleanup_free_ char *text = NULL;

        if (f->missing.n == 0 || (code != ERR_FORBIDDEN && code != ERR_NOT_FOUND))
                return code;
        text = str_to_cstring(str_from(err_message(err)));
        return err_set(err, code, "%s (pull secret \"%.*s\" does not exist in namespace %.*s)", text,
                       STR_ARG(f->missing), STR_ARG(f->client->options.secrets_namespace));
}

static bool may_pass(int code)
{
        return code != ERR_NOT_FOUND && code != ERR_FORBIDDEN && code != ERR_INVALID && code != ERR_UNSUPPORTED;
}

/* Finds the digest. A registry that cannot be reached changes nothing about what a tag meant before; for a revision that has its package
 * already, nor does a registry that has lost the tag. */
static int resolve(struct fetch *f, struct err *err)
{
        bool is_always = str_equal(f->request->pull_policy, STR("Always"));
        struct oci_cache *cache = f->client->options.cache;
        struct oci_descriptor found;
        int e = 0;

        found.digest = f->at.digest;
        if (f->at.digest.n == 0)
                e = oci_resolve(client_of(f), f->arena, &f->at, wait_of(f), &found, err);
        if (e == 0) {
                f->result->digest = found.digest;
                if (cache && f->at.digest.n == 0)
                        oci_cache_remember(cache, &f->at, found.digest);
        } else if (!is_always && (may_pass(e) || (f->request->is_installed && e == ERR_NOT_FOUND)) && cache &&
                   oci_cache_remembered(cache, f->arena, &f->at, &f->result->digest) > 0) {
                err_done(err);
                e = 0;
        }
        if (e < 0) {
                refused(f, err);
                return err_wrap(err, "cannot resolve %.*s to digest", STR_ARG(f->result->resolved));
        }
        f->exact = f->at;
        f->exact.tag = STR("");
        f->exact.digest = f->result->digest;
        return 0;
}

/* --- Verification --- */

static int read_key(void *context, struct str secret, struct str key, struct str *ret, struct err *err)
{
        const struct fetch *f = context;
        struct object_key at = { .gvk = { STR(""), STR("v1"), STR("Secret") },
                                 .ns = f->client->options.secrets_namespace,
                                 .name = secret };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *object, *text;
        int e = cluster_get_value(f->r->cluster, f->r->run, &at, &object, err);

        if (e < 0)
                return e;
        text = value_get(value_get(object, STR("data")), key);
        if (!text)
                return err_set(err, ERR_NOT_FOUND, "secret \"%.*s\" has no key %.*s", STR_ARG(secret), STR_ARG(key));
        e = base64_decode(&b, value_str(text), BASE64_STD, err);
        if (e == 0)
                *ret = buf_to_arena(&b, f->arena);
        return e;
}

/* Finds out which signatures are asked for. */
static int find_verification(struct fetch *f, struct err *err)
{
        f->config = image_config_best(&f->configs, f->arena, IMAGE_VERIFICATION, f->result->resolved);
        if (!f->config || !f->client->options.verifies_signatures)
                return 0;
        f->verification = image_config_verification(f->config);
        if (!value_get(f->verification, STR("cosign")))
                return err_set(err, ERR_INVALID,
                               "verification of ImageConfig \"%.*s\" has no cosign: give its authorities",
                               STR_ARG(meta_name(f->config)));
        return 0;
}

static int verify(struct fetch *f, struct err *err)
{
        int e;

        if (f->config)
                apply_config(f, f->config, IMAGE_VERIFICATION);
        if (!f->verification)
                return 0;
        e = signature_verify(client_of(f), f->arena, &f->at, f->result->digest, f->verification, read_key, f,
                             wait_of(f), err);
        return e < 0 ? err_wrap(err, "signature verification failed with ImageConfig \"%.*s\"",
                                STR_ARG(meta_name(f->config)))
                     : 0;
}

int package_client_is_verified(struct kind_run *r, struct str reference, bool *ret, struct err *err)
{
        struct object_list configs;
        const struct value *config;
        struct str resolved = reference;
        int e = image_configs_list(r->cluster, r->run, &configs, err);

        if (e < 0)
                return e;
        config = image_config_best(&configs, r->run->arena, IMAGE_REWRITE, reference);
        if (config)
                e = image_config_rewrite(r->run->arena, config, reference, &resolved, err);
        if (e == 0)
                *ret = image_config_best(&configs, r->run->arena, IMAGE_VERIFICATION, resolved) != NULL;
        return e;
}

/* --- Content --- */

/* Documents that are wrong as a whole are the package's fault: a revision says so. */
static int parse(struct fetch *f, struct str yaml, struct err *err)
{
        _cleanup_err_ struct err invalid = { 0 };
        struct xpkg_reader reader;
        int e;

        xpkg_reader_init(&reader, f->arena);
        e = xpkg_reader_add(&reader, "package.yaml", yaml, err);
        if (e == 0 && xpkg_finish(&reader, &f->result->content, &invalid) < 0)
                f->result->invalid = arena_copy(f->arena, str_from(err_message(&invalid)));
        return e;
}

/* Where in package.yaml the trouble is means nothing to people who did not write it. */
static void drop_place(struct err *err)
{
        struct str text = str_from(err_message(err));
        ptrdiff_t end = str_find(text, STR("}: "));
        _cleanup_free_ char *rest = NULL;

        if (!str_starts_with(text, STR("failed to parse package: {")) || end < 0)
                return;
        rest = str_to_cstring(str_skip(text, (size_t)end + 3));
        err_set(err, err->code, "%s", rest);
}

static int load(struct fetch *f, struct err *err)
{
        struct str policy = f->request->pull_policy, yaml;
        int e = find_verification(f, err);

        if (e < 0)
                return e;
        if (!str_equal(policy, STR("Always")) && read_content(f, &yaml) && parse(f, yaml, NULL) == 0)
                return 0;
        if (str_equal(policy, STR("Never")))
                return err_set(err, ERR_NOT_FOUND, "package not in cache and pull policy is Never");
        e = verify(f, err);
        if (e == 0)
                e = xpkg_pull_yaml(client_of(f), f->arena, &f->exact, false, wait_of(f), &yaml, NULL, err);
        if (e < 0)
                return refused(f, err);
        if (yaml.n > MAX_CONTENT_BYTES)
                return err_set(err, ERR_LIMIT, "package.yaml has %zu bytes; %u are allowed", yaml.n, MAX_CONTENT_BYTES);
        e = parse(f, yaml, err);
        if (e < 0)
                drop_place(err);
        if (e < 0)
                return err_wrap(err, "cannot parse package %.*s", STR_ARG(f->request->reference));
        keep_content(f, yaml);
        return 0;
}

int package_client_get(struct package_client *c, struct kind_run *r, const struct package_request *req,
                       struct package_result *ret, struct err *err)
{
        struct fetch f = { .client = c, .r = r, .arena = r->run->arena, .request = req, .result = ret };
        int e;

        *ret = (struct package_result) { 0 };
        e = rewrite(&f, OCI_NEEDS_REGISTRY | OCI_NEEDS_TAG, err);
        if (e == 0)
                e = log_in(&f, err);
        if (e == 0)
                e = resolve(&f, err);
        if (e == 0)
                e = load(&f, err);
        package_login_unref(f.login);
        return e;
}

int package_client_image(struct package_client *c, struct kind_run *r, const struct package_request *req,
                         struct oci_image **ret, struct err *err)
{
        struct package_result result = { 0 };
        struct fetch f = { .client = c, .r = r, .arena = r->run->arena, .request = req, .result = &result };
        struct oci_platform platform = oci_platform_here();
        int e;

        if (!c->options.cache)
                return err_set(err, ERR_UNSUPPORTED,
                               "images of packages are not kept: start with a directory for them");
        e = rewrite(&f, OCI_NEEDS_REGISTRY | OCI_NEEDS_TAG, err);
        if (e == 0)
                e = log_in(&f, err);
        if (e == 0)
                e = oci_cache_image(c->options.cache, client_of(&f), &f.at, &platform, wait_of(&f), ret, err);
        package_login_unref(f.login);
        return e < 0 ? refused(&f, err) : 0;
}

/* --- Versions --- */

struct tag {
        struct semver version;
        struct str text;
        size_t number;
};

static int compare_tags(const void *a, const void *b)
{
        const struct tag *x = a, *y = b;
        int order = semver_compare(&x->version, &y->version);

        return order ? order : (x->number > y->number) - (x->number < y->number);
}

int package_client_versions(struct package_client *c, struct kind_run *r, struct str source, struct str **ret,
                            size_t *ret_n, struct err *err)
{
        struct package_request request = { .reference = source };
        struct package_result result = { 0 };
        struct fetch f = { .client = c, .r = r, .arena = r->run->arena, .request = &request, .result = &result };
        struct oci_strings tags = { 0 };
        struct tag *versions;
        size_t n = 0;
        int e = rewrite(&f, OCI_NEEDS_REGISTRY, err);

        if (e == 0)
                e = log_in(&f, err);
        if (e == 0)
                e = oci_list_tags(client_of(&f), f.arena, &f.at, wait_of(&f), &tags, err);
        package_login_unref(f.login);
        if (e < 0)
                return refused(&f, err);
        versions = ARENA_NEW_ARRAY(f.arena, struct tag, tags.n + 1);
        for (size_t i = 0; i < tags.n; i++) {
                versions[n] = (struct tag) { .text = tags.p[i], .number = i };
                n += semver_parse(tags.p[i], &versions[n].version, NULL) == 0;
        }
        qsort(versions, n, sizeof(*versions), compare_tags);
        *ret = ARENA_NEW_ARRAY(f.arena, struct str, n + 1);
        for (size_t i = 0; i < n; i++)
                (*ret)[i] = versions[i].text;
        *ret_n = n;
        return 0;
}
