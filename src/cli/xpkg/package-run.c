#include "package-run.h"

#include "process-runtime.h"
#include "xpkg-client.h"
#include "xpkg-image.h"

#define CACHE_BYTES (10ull << 30)

struct package_runner {
        struct package_runner_options options;
        char *cache_directory;
        struct xpkg_client client;
        struct oci_cache *cache;
        struct runtime *runtime;
        struct semaphore changed;
};

const char *const package_pulls[] = { "missing", "always", "never", NULL };

struct package_runner *package_runner_new(const struct package_runner_options *options)
{
        struct package_runner *p = xcalloc(1, sizeof(*p));

        p->options = *options;
        p->cache_directory = str_to_cstring(options->cache_directory);
        semaphore_init(&p->changed, "a function to start", 0);
        return p;
}

void package_runner_free(struct package_runner *p)
{
        if (!p)
                return;
        runtime_free(p->runtime);
        oci_cache_free(p->cache);
        if (p->client.credentials)
                xpkg_client_done(&p->client);
        semaphore_done(&p->changed);
        free(p->cache_directory);
        free(p);
}

static void on_change(void *context, struct str revision)
{
        struct package_runner *p = context;

        (void)revision;
        semaphore_release(&p->changed);
}

static void hide_line(void *context, struct str revision, struct str line)
{
        (void)context, (void)revision, (void)line;
}

static int open_cache(struct package_runner *p, struct arena *a, struct err *err)
{
        const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
        struct oci_cache_options options = { .directory = p->cache_directory,
                                             .max_bytes = CACHE_BYTES,
                                             .max_image_bytes = CACHE_BYTES };

        if (!options.directory[0] && base && base[0])
                options.directory = arena_printf(a, "%s/weft/images", base).p;
        else if (!options.directory[0] && home && home[0])
                options.directory = arena_printf(a, "%s/.cache/weft/images", home).p;
        if (!options.directory[0])
                return err_set(err, ERR_INVALID,
                               "there is no directory for images: set HOME, XDG_CACHE_HOME or --cache-dir");
        return oci_cache_open(&options, &p->cache, err);
}

/* Opens the client, the cache and the runtime when the first function is started. */
static int open_all(struct package_runner *p, struct arena *a, struct err *err)
{
        struct process_runtime_options options = { .is_insecure = true,
                                                   .on_log = p->options.shows_logs ? NULL : hide_line };
        int r = 0;

        if (p->runtime)
                return 0;
        if (!p->cache)
                r = open_cache(p, a, err);
        if (r >= 0 && !p->client.client)
                r = xpkg_client_init(&p->client, p->options.skips_verification, err);
        if (r >= 0)
                r = process_runtime_new(&options, &p->runtime, err);
        if (r < 0)
                return r;
        p->runtime->on_change = on_change;
        p->runtime->context = p;
        return 0;
}

/* --- Images --- */

static bool is_file(struct str package)
{
        return str_ends_with(package, STR(".xpkg")) || str_starts_with(package, STR("/")) ||
               str_starts_with(package, STR("./"));
}

static int read_file(struct package_runner *p, struct arena *a, struct str path, struct oci_image **ret,
                     struct err *err)
{
        struct xpkg_image image;
        struct oci_content content;
        struct str *layers;
        int r = xpkg_image_read(a, arena_cstring(a, path), &image, err);

        if (r >= 0)
                r = xpkg_image_manifest(a, &image, false, NULL, &content.manifest, err);
        if (r < 0)
                return r;
        layers = ARENA_NEW_ARRAY(a, struct str, image.n_layers);
        for (size_t i = 0; i < image.n_layers; i++)
                layers[i] = image.layers[i].bytes;
        content.config = image.config;
        content.layers = layers;
        content.n_layers = image.n_layers;
        return oci_cache_import(p->cache, &content, ret, err);
}

static int get_image(struct package_runner *p, struct arena *a, const struct package_to_run *what,
                     struct oci_image **ret, struct err *err)
{
        struct oci_platform here = oci_platform_here();
        struct oci_reference ref;
        struct oci_wait wait = { .deadline = what->deadline };
        int r;

        if (is_file(what->package))
                return read_file(p, a, what->package, ret, err);
        r = oci_reference_parse(a, what->package, OCI_NEEDS_REGISTRY, &ref, err);
        if (r < 0)
                return r;
        if (what->pull == PULL_ALWAYS)
                return oci_cache_image(p->cache, p->client.client, &ref, &here, wait, ret, err);
        r = oci_cache_image(p->cache, NULL, &ref, &here, wait, ret, err);
        if (r != ERR_NOT_FOUND)
                return r;
        if (what->pull == PULL_NEVER)
                return err_wrap(err, "it is not pulled (--pull=never)");
        err_done(err);
        return oci_cache_image(p->cache, p->client.client, &ref, &here, wait, ret, err);
}

/* --- Programs --- */

/* The environment as a runtime config has it. */
static const struct value *config_of(struct arena *a, const struct package_to_run *what)
{
        struct value *variables = ARENA_NEW_ARRAY(a, struct value, what->n_environment + 1), container;
        struct object_builder b;
        static const char *const levels[] = { "spec", "template", "spec", "deploymentTemplate" };
        size_t n = 0;

        for (size_t i = 0; i < what->n_environment; i++) {
                struct str value = what->environment[i], name;

                if (!str_split(&value, '=', &name))
                        continue; /* as Crossplane's CLI */
                object_builder_init(&b, a, 2);
                object_builder_add(&b, STR("name"), value_of_str(name));
                object_builder_add(&b, STR("value"), value_of_str(value));
                variables[n++] = object_builder_finish(&b);
        }
        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("name"), value_of_literal("package-runtime"));
        object_builder_add(&b, STR("env"), value_of_items(a, variables, n));
        container = object_builder_finish(&b);
        object_builder_init(&b, a, 1);
        object_builder_add(&b, STR("containers"), value_of_items(a, &container, 1));
        for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
                struct value inner = object_builder_finish(&b);

                object_builder_init(&b, a, 1);
                object_builder_add(&b, str_from(levels[i]), inner);
        }
        return value_put(a, object_builder_finish(&b));
}

static int await(struct package_runner *p, struct arena *a, const struct runtime_wish *wish, struct deadline deadline,
                 struct runtime_state *ret, struct err *err)
{
        for (;;) {
                int r = runtime_ensure(p->runtime, a, wish, ret, err);

                if (r < 0 || ret->phase == RUNTIME_READY)
                        return r;
                if (ret->phase == RUNTIME_FAILED || semaphore_acquire(&p->changed, deadline, NULL) < 0) {
                        err_set(err, ret->phase == RUNTIME_FAILED ? ERR_FAILED : ERR_TIMEOUT, "%.*s",
                                STR_ARG(ret->message));
                        runtime_stop(p->runtime, wish->revision);
                        return err->code;
                }
        }
}

int package_runner_start(struct package_runner *p, struct arena *a, const struct package_to_run *what,
                         struct dialer **ret_dialer, struct str *ret_target, struct err *err)
{
        _cleanup_(oci_image_unrefp)
        struct oci_image *image = NULL;
        struct runtime_state state;
        struct runtime_wish wish = { .revision = what->name, .package = what->name, .kind = XPKG_FUNCTION };
        int r = open_all(p, a, err);

        if (r >= 0)
                r = get_image(p, a, what, &image, err);
        if (r < 0)
                return r;
        wish.image = image;
        wish.config = config_of(a, what);
        r = await(p, a, &wish, what->deadline, &state, err);
        if (r < 0)
                return r;
        *ret_dialer = runtime_dialer(p->runtime, what->name);
        *ret_target = state.endpoint;
        return 0;
}
