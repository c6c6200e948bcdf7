/* The package manager of `weft up`, and what it needs: a client for registries, a cache, and a place where programs run. */
#include "address.h"
#include "buf.h"
#include "clock.h"
#include "directory.h"
#include "functions.h"
#include "log.h"
#include "map.h"
#include "package-client.h"
#include "process-runtime.h"
#include "server-run.h"
#include "up.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_BYTES (20ull << 30) /* of images that no revision uses */

struct up_packages {
        struct arena arena;
        struct oci_cache *cache;
        struct package_client *client;
        struct runtime *runtime;
        struct packages *packages;
        char *keys;              /* a directory for the keys of calls; NULL: none yet */
        bool keys_are_ephemeral; /* the directory goes in the end */

        struct server *server;
        struct mutex mutex;     /* guards the map */
        struct map kubeconfigs; /* name of a service account -> struct made_kubeconfig */
};

/* HOST:PORT, or a target of gRPC with its scheme. */
static bool is_target(struct str text)
{
        struct str host;
        uint16_t port;

        return str_find(text, STR(":///")) > 0 || str_starts_with(text, STR("unix:")) ||
               (address_split(text, &host, &port, NULL) == 0 && port > 0);
}

static int read_externals(struct up_packages *p, const struct up_options *o, const struct packages_external **ret,
                          struct err *err)
{
        struct packages_external *all = ARENA_NEW_ARRAY(&p->arena, struct packages_external, o->n_functions + 1);

        for (size_t i = 0; i < o->n_functions; i++) {
                ptrdiff_t equals = str_find_char(o->functions[i], '=');

                if (equals <= 0 || !is_target(str_skip(o->functions[i], (size_t)equals + 1)))
                        return err_set(err, ERR_INVALID, "--function %.*s: give NAME=HOST:PORT",
                                       STR_ARG(o->functions[i]));
                all[i] = (struct packages_external) { str_first(o->functions[i], (size_t)equals),
                                                      str_skip(o->functions[i], (size_t)equals + 1) };
        }
        *ret = all;
        return 0;
}

/* --- Runtimes --- */

static int read_runtime(struct str kind, struct str runtime, struct packages_options *ret, struct err *err)
{
        bool is_external = str_equal(runtime, STR("External"));

        if (!is_external && !str_equal(runtime, STR("Process")))
                return err_set(err, ERR_INVALID,
                               "--package-runtime: there is no runtime %.*s: give Process or External",
                               STR_ARG(runtime));
        if (kind.n == 0 || str_equal(kind, STR("Function")))
                ret->functions_run_elsewhere = is_external;
        if (kind.n == 0 || str_equal(kind, STR("Provider")))
                ret->providers_run_elsewhere = is_external;
        if (kind.n > 0 && !str_equal(kind, STR("Function")) && !str_equal(kind, STR("Provider")) &&
            !str_equal(kind, STR("Configuration")))
                return err_set(err, ERR_INVALID,
                               "--package-runtime: there is no kind %.*s: give Function, Provider or Configuration",
                               STR_ARG(kind));
        return 0;
}

/* RUNTIME, or KIND=RUNTIME;KIND=RUNTIME. */
static int read_runtimes(struct str text, struct packages_options *ret, struct err *err)
{
        struct str part;
        int r = 0;

        if (str_find_char(text, '=') < 0)
                return read_runtime(STR(""), text, ret, err);
        while (r == 0 && text.n > 0) {
                ptrdiff_t equals;

                str_split(&text, ';', &part);
                equals = str_find_char(part, '=');
                r = equals < 0 ? read_runtime(STR(""), part, ret, err)
                               : read_runtime(str_first(part, (size_t)equals), str_skip(part, (size_t)equals + 1), ret,
                                              err);
        }
        return r;
}

/* In the data directory, so that a process that is killed leaves no key elsewhere. */
static int make_keys_directory(struct up_packages *p, const char *data, struct err *err)
{
        p->keys_are_ephemeral = !*data;
        p->keys = arena_cstring(&p->arena,
                                *data ? arena_printf(&p->arena, "%s/keys", data) : STR("/tmp/weft-keys.XXXXXX"));
        if (p->keys_are_ephemeral ? mkdtemp(p->keys) != NULL : mkdir(p->keys, 0700) == 0 || errno == EEXIST)
                return 0;
        err_set_errno(err, errno, "cannot make the directory %s for keys", p->keys);
        p->keys = NULL;
        return err->code;
}

/* Programs of packages run on this machine if that has what it takes; otherwise revisions with programs say that it has not. */
static int open_runtime(struct up_packages *p, const char *data, const struct packages_options *options,
                        struct err *err)
{
        struct process_runtime_options runtime = { .tls_namespace = STR("crossplane-system") };
        _cleanup_err_ struct err lacks = { 0 };

        if (options->functions_run_elsewhere && options->providers_run_elsewhere)
                return 0;
        if (process_runtime_check(&lacks) < 0) {
                log_warn("programs of packages cannot be run here", LOG_STR("error", str_from(err_message(&lacks))));
                return 0;
        }
        if (make_keys_directory(p, data, err) < 0)
                return err->code;
        return process_runtime_new(&runtime, &p->runtime, err);
}

static void remove_keys(struct up_packages *p)
{
        static const char *const files[] = { "tls.crt", "tls.key", "ca.crt" };

        if (!p->keys || !p->keys_are_ephemeral)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                unlink(arena_cstring(&p->arena, arena_printf(&p->arena, "%s/%s", p->keys, files[i])));
        rmdir(p->keys);
}

/* --- The client --- */

/* Programs of packages run as other users, who must be able to reach their images: the home of root is often closed to them. */
static bool is_closed_to_others(const char *directory)
{
        struct stat info;

        return geteuid() == 0 && stat(directory, &info) == 0 && !(info.st_mode & S_IXOTH);
}

static const char *default_directory(struct arena *a)
{
        const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

        if (cache && *cache)
                return arena_cstring(a, arena_printf(a, "%s/weft", cache));
        if (home && *home && is_closed_to_others(home) && access("/var/cache", W_OK) == 0)
                return "/var/cache/weft";
        return home && *home ? arena_cstring(a, arena_printf(a, "%s/.cache/weft", home)) : NULL;
}

static int open_client(struct up_packages *p, const struct up_options *o, struct err *err)
{
        const char *directory =
                o->package_directory.n ? arena_cstring(&p->arena, o->package_directory) : default_directory(&p->arena);
        struct package_client_options options = {
                /* The controllers try again themselves, so that people soon read what is wrong. */
                .registry = { .ca_file = o->ca_file.n ? arena_cstring(&p->arena, o->ca_file) : NULL, .retry_ms = 20 },
                .uses_own_credentials = true,
                .secrets_namespace = STR("crossplane-system"),
                .service_account = STR("crossplane"),
                .verifies_signatures = feature_is_on(o->features, FEATURE_SIGNATURE_VERIFICATION),
        };
        struct oci_cache_options cache = { .max_bytes = CACHE_BYTES, .max_image_bytes = CACHE_BYTES };
        int r;

        if (!directory)
                return err_set(err, ERR_INVALID, "HOME is not set: give --xpkg-cache-dir DIR");
        r = directory_make(directory, 0755, 0755, err);
        cache.directory = arena_cstring(&p->arena, arena_printf(&p->arena, "%s/images", directory));
        options.directory = arena_cstring(&p->arena, arena_printf(&p->arena, "%s/packages", directory));
        if (r == 0)
                r = oci_cache_open(&cache, &p->cache, err);
        options.cache = p->cache;
        return r < 0 ? r : package_client_new(&options, &p->client, err);
}

/* --- Kubeconfigs of providers --- */

#define KUBECONFIG_NS \
        (240ll * 24 * 60 * 60 * 1000000000) /* a text is used for so long; its certificate is good for a year */

struct made_kubeconfig {
        int64_t made_ns;
        char *text;
        char account[]; /* the key of the map */
};

static void made_kubeconfig_free(struct made_kubeconfig *m)
{
        if (!m)
                return;
        free(m->text);
        free(m);
}

static int make_kubeconfig(void *context, struct arena *a, struct str account, struct str *ret, struct err *err)
{
        struct up_packages *p = context;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct made_kubeconfig *m;
        int r = 0;

        mutex_lock(&p->mutex);
        m = map_get(&p->kubeconfigs, account);
        if (!m || clock_mono_ns() - m->made_ns > KUBECONFIG_NS) {
                r = server_append_kubeconfig(p->server, &b, STR("crossplane-system"), account, err);
                if (r == 0) {
                        if (m)
                                map_remove(&p->kubeconfigs, account);
                        made_kubeconfig_free(m);
                        m = xcalloc(1, sizeof(*m) + account.n + 1);
                        memcpy(m->account, account.p, account.n);
                        m->made_ns = clock_mono_ns();
                        m->text = buf_take(&b);
                        map_add(&p->kubeconfigs, str_make(m->account, account.n), m);
                }
        }
        if (r == 0)
                *ret = arena_copy(a, str_from(m->text));
        mutex_unlock(&p->mutex);
        return r;
}

/* --- Life --- */

int up_packages_start(const struct up_options *o, struct manager *manager, struct registry *registry,
                      struct server *server, struct up_packages **ret, struct err *err)
{
        struct up_packages *p = xcalloc(1, sizeof(*p));
        struct packages_options options = {
                .manager = manager,
                .registry = registry,
                .features = o->features,
                .upgrades_dependencies = feature_is_on(o->features, FEATURE_DEPENDENCY_VERSION_UPGRADES),
                .downgrades_dependencies = feature_is_on(o->features, FEATURE_DEPENDENCY_VERSION_DOWNGRADES),
                .find_builtin = builtin_find,
                .ignores_versions = o->ignores_versions,
                .n_externals = o->n_functions,
                .tls_certs_dir = o->tls_certs_dir,
                .make_kubeconfig = make_kubeconfig,
                .kubeconfig_context = p,
        };
        int r;

        arena_init(&p->arena, "packages of up", 0);
        mutex_init(&p->mutex);
        p->server = server;
        r = read_externals(p, o, &options.externals, err);
        if (r == 0)
                r = read_runtimes(o->package_runtime, &options, err);
        if (r == 0)
                r = open_client(p, o, err);
        if (r == 0)
                r = open_runtime(p, o->server.data, &options, err);
        options.client = p->client;
        options.runtime = p->runtime;
        options.keys_directory = p->keys;
        if (r == 0)
                r = packages_new(&options, &p->packages, err);
        if (r < 0)
                up_packages_stop(p);
        else
                *ret = p;
        return r;
}

void up_packages_stop(struct up_packages *p)
{
        if (!p)
                return;
        packages_free(p->packages);
        runtime_free(p->runtime);
        package_client_free(p->client);
        oci_cache_free(p->cache);
        remove_keys(p);
        for (struct map_entry *e = map_first(&p->kubeconfigs); e; e = map_next(&p->kubeconfigs, e))
                made_kubeconfig_free(e->value);
        map_done(&p->kubeconfigs);
        mutex_done(&p->mutex);
        arena_done(&p->arena);
        free(p);
}
