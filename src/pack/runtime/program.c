#include "program.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "cgroup.h"
#include "digest.h"
#include "ids.h"
#include "launch.h"

#define DEFAULT_PATH   STR("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
#define MIN_DATA_BYTES (UINT64_C(1) << 30)
#define MAX_HOSTNAME   63

struct builder {
        struct arena *arena;
        const struct runtime_wish *wish;
        const struct runtime_config *config;
        struct str_list environment; /* NAME=VALUE; of equal names the last counts */
        struct str_list arguments;
        struct launch_file files[8];
        size_t n_files;
};

/* --- Environment --- */

static void set_variable(struct builder *b, struct str name, struct str value)
{
        struct str_list *list = &b->environment;
        struct str text = arena_printf(b->arena, "%.*s=%.*s", STR_ARG(name), STR_ARG(value));

        for (size_t i = 0; i < list->n; i++)
                if (str_starts_with(list->p[i], str_first(text, name.n + 1))) {
                        list->p[i] = text;
                        return;
                }
        str_list_add(list, text);
}

static bool find_variable(const struct builder *b, struct str name, struct str *ret)
{
        for (size_t i = 0; i < b->environment.n; i++) {
                struct str value = b->environment.p[i], key;

                if (str_split(&value, '=', &key) && str_equal(key, name)) {
                        *ret = value;
                        return true;
                }
        }
        return false;
}

/* Replaces $(NAME) by the variable's value, as Kubernetes does: $$ is one $, and what is unknown stays. */
static struct str expand(const struct builder *b, struct str text)
{
        _cleanup_buf_ struct buf out = BUF_INIT(0);

        while (text.n > 0) {
                struct str value, name = str_skip(text, MIN(text.n, 2u));
                ptrdiff_t end = str_find_char(name, ')');

                if (str_starts_with(text, STR("$$"))) {
                        buf_append_char(&out, '$');
                        text = str_skip(text, 2);
                } else if (str_starts_with(text, STR("$(")) && end >= 0 &&
                           find_variable(b, str_first(name, (size_t)end), &value)) {
                        buf_append_str(&out, value);
                        text = str_skip(name, (size_t)end + 1);
                } else {
                        buf_append_char(&out, text.p[0]);
                        text = str_skip(text, 1);
                }
        }
        return buf_to_arena(&out, b->arena);
}

static void add_image_variables(struct builder *b)
{
        struct oci_strings list = oci_image_config(b->wish->image)->environment;

        set_variable(b, STR("PATH"), DEFAULT_PATH);
        set_variable(b, STR("HOME"), STR("/"));
        for (size_t i = 0; i < list.n; i++) {
                struct str value = list.p[i], name;

                if (str_split(&value, '=', &name))
                        set_variable(b, name, value);
        }
}

static void add_variables(struct builder *b, struct str ns, bool is_insecure)
{
        const struct runtime_wish *w = b->wish;
        bool is_provider = w->kind == XPKG_PROVIDER;

        add_image_variables(b);
        set_variable(b, STR("HOSTNAME"), str_first(w->revision, MIN(w->revision.n, (size_t)MAX_HOSTNAME)));
        for (size_t i = 0; i < b->config->n_variables; i++)
                set_variable(b, b->config->variables[i].name, expand(b, b->config->variables[i].value));
        if (!is_insecure)
                set_variable(b, STR("TLS_SERVER_CERTS_DIR"), STR("/tls/server"));
        set_variable(b, is_provider ? STR("PROVIDER_NAME") : STR("FUNCTION_NAME"), w->package);
        set_variable(b, STR("REVISION_NAME"), w->revision);
        set_variable(b, STR("REVISION_UID"), w->uid);
        if (!is_provider)
                return;
        set_variable(b, STR("POD_NAMESPACE"), ns);
        if (!is_insecure) {
                set_variable(b, STR("TLS_CLIENT_CERTS_DIR"), STR("/tls/client"));
                set_variable(b, STR("WEBHOOK_TLS_CERT_DIR"), STR("/tls/server"));
        }
        if (w->kubeconfig.n)
                set_variable(b, STR("KUBECONFIG"), STR("/kube/config"));
}

/* --- Arguments and files --- */

static void add_all(struct builder *b, const struct str *list, size_t n, bool expands)
{
        for (size_t i = 0; i < n; i++)
                str_list_add(&b->arguments, expands ? expand(b, list[i]) : list[i]);
}

static int add_arguments(struct builder *b, bool is_insecure, struct err *err)
{
        const struct oci_config *image = oci_image_config(b->wish->image);
        const struct runtime_config *c = b->config;

        if (c->has_command)
                add_all(b, c->command, c->n_command, true);
        else
                add_all(b, image->entrypoint.p, image->entrypoint.n, false);
        if (c->has_arguments)
                add_all(b, c->arguments, c->n_arguments, true);
        else if (!c->has_command && !(is_insecure && image->entrypoint.n))
                add_all(b, image->command.p, image->command.n, false);
        if (is_insecure)
                str_list_add(&b->arguments, STR("--insecure"));
        if (b->arguments.n == (is_insecure ? 1u : 0u))
                return err_set(
                        err, ERR_INVALID,
                        "the image of package \"%.*s\" has no program: its configuration names neither an entrypoint "
                        "nor a command (it may be a package without a runtime, see `weft xpkg build --help`)",
                        STR_ARG(b->wish->package));
        return 0;
}

static void add_file(struct builder *b, const char *path, struct str content)
{
        if (content.n)
                b->files[b->n_files++] = (struct launch_file) { path, content };
}

static void add_files(struct builder *b, bool is_insecure)
{
        const struct runtime_wish *w = b->wish;

        if (!is_insecure) {
                add_file(b, "/tls/server/tls.crt", w->server.cert);
                add_file(b, "/tls/server/tls.key", w->server.key);
                add_file(b, "/tls/server/ca.crt", w->server.ca);
                add_file(b, "/tls/client/tls.crt", w->client.cert);
                add_file(b, "/tls/client/tls.key", w->client.key);
                add_file(b, "/tls/client/ca.crt", w->client.ca);
        }
        add_file(b, "/kube/config", w->kubeconfig);
}

/* --- The program --- */

/* The memory that one process may use where control groups set no limit: half of the memory that there is. */
static uint64_t data_limit(void)
{
        struct sysinfo info;
        uint64_t all = cgroup_memory_limit("");

        if (sysinfo(&info) == 0)
                all = MIN(all, (uint64_t)info.totalram * info.mem_unit);
        return MAX(all / 2, MIN_DATA_BYTES);
}

static const char *const *to_cstrings(struct arena *a, const struct str_list *list)
{
        const char **p = ARENA_NEW_ARRAY(a, const char *, list->n + 1);

        for (size_t i = 0; i < list->n; i++)
                p[i] = arena_cstring(a, list->p[i]);
        p[list->n] = NULL;
        return p;
}

static int write_spec(const struct launch *l, struct program *p, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), hex = BUF_INIT(0);
        struct sha256 sum;

        launch_encode(l, &text);
        p->spec_fd = memfd_create("launch", MFD_CLOEXEC);
        if (p->spec_fd < 0 || write(p->spec_fd, text.p, text.n) != (ssize_t)text.n)
                return err_set_errno(err, errno, "cannot describe the program");
        sha256_begin(&sum);
        sha256_add(&sum, buf_str(&text));
        sha256_add(&sum, oci_image_digest(p->image));
        sha256_add(&sum, str_make((const char *)&p->memory_bytes, sizeof(p->memory_bytes)));
        sha256_add(&sum, str_make((const char *)&p->cpu_millis, sizeof(p->cpu_millis)));
        sha256_end_hex(&sum, &hex);
        p->digest = str_to_cstring(buf_str(&hex));
        return 0;
}

static int build(struct builder *b, const struct process_runtime_options *o, struct program *p, struct err *err)
{
        const struct oci_config *image = oci_image_config(b->wish->image);
        struct str ns = o->tls_namespace.n ? o->tls_namespace : STR("crossplane-system");
        struct launch l = {
                .directory = image->working_directory.n ? arena_cstring(b->arena, image->working_directory) : "/",
                .hostname = arena_cstring(b->arena,
                                          str_first(b->wish->revision, MIN(b->wish->revision.n, (size_t)MAX_HOSTNAME))),
                .port = b->config->port,
                .first_id = o->first_id ? o->first_id : IDS_FIRST,
                .data_bytes = data_limit(),
                .shares_network = p->shares_network,
        };

        add_variables(b, ns, o->is_insecure);
        if (add_arguments(b, o->is_insecure, err) < 0)
                return err->code;
        add_files(b, o->is_insecure);
        l.arguments = to_cstrings(b->arena, &b->arguments);
        l.environment = to_cstrings(b->arena, &b->environment);
        l.files = b->files;
        l.n_files = b->n_files;
        return write_spec(&l, p, err);
}

int program_make(const struct process_runtime_options *options, const struct runtime_wish *wish,
                 const struct runtime_config *config, struct program **ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct builder b = { .arena = &a, .wish = wish, .config = config };
        struct program *p = xcalloc(1, sizeof(*p));

        arena_init(&a, "program", 0);
        str_list_init(&b.environment, &a);
        str_list_init(&b.arguments, &a);
        atomic_init(&p->references, 1);
        p->image = oci_image_ref(wish->image);
        p->spec_fd = -1;
        p->port = config->port;
        p->answers_calls = wish->kind == XPKG_FUNCTION;
        p->shares_network = config->shares_network || wish->kind == XPKG_PROVIDER;
        p->memory_bytes = config->memory_bytes;
        p->cpu_millis = config->cpu_millis;
        if (build(&b, options, p, err) < 0) {
                program_unref(p);
                return err->code;
        }
        *ret = p;
        return 0;
}

struct program *program_ref(struct program *p)
{
        atomic_fetch_add_explicit(&p->references, 1, memory_order_relaxed);
        return p;
}

void program_unref(struct program *p)
{
        if (!p || atomic_fetch_sub_explicit(&p->references, 1, memory_order_acq_rel) != 1)
                return;
        oci_image_unref(p->image);
        if (p->spec_fd >= 0)
                close(p->spec_fd);
        free(p->digest);
        free(p);
}
