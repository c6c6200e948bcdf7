/* The data directory:
 *
 *      DIR/log.db...   the objects (src/store/log/log-directory.h)
 *      DIR/pki         the authority, keys and certificates (src/apiserver/auth/pki.h)
 *      DIR/port        the port that was chosen at the first start, so that kubeconfigs stay right
 *      DIR/address     where the process that has the directory serves, while it does
 *      DIR/kubeconfig  the administrator's, written at each start */
#include "server-run.h"

#include "access.h"
#include "address.h"
#include "apiserver.h"
#include "authenticator.h"
#include "buf.h"
#include "keeper.h"
#include "leftovers.h"
#include "log.h"
#include "park.h"
#include "pki.h"
#include "private-file.h"
#include "protection.h"
#include "sqlite-log.h"
#include "store-log.h"
#include "store.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#define DRAIN_MS        20000          /* for requests that are under way when the server is told to end */
#define RENEW_SECONDS   (12 * 60 * 60) /* between two looks at the certificates */
#define BOOTSTRAP_BYTES (256u << 20)

/* As for served functions: large blocks come from the system and return to it at once. */
#define MMAP_BYTES (1 << 20)
#define KEPT_BYTES (8 << 20)

/* glibc would use eight heaps for each processor: with a hundred threads they are all in use, each with room of its own. */
#define MOST_HEAPS 8

struct server {
        const struct server_options *options;
        char *temporary; /* directory for the kubeconfig of a server without data; NULL: none */
        char *kubeconfig;
        struct sqlite_log *sqlite;
        struct store *store;
        struct access *access;
        struct protection *protection; /* NULL: none */
        struct pki *pki;
        struct authenticator *authenticator;
        struct keeper *keeper;
        struct apiserver *api;
        struct apiserver_check check;
        struct apiserver_metrics *metrics; /* heap: of the store, and of the options */
};

static bool has_data(const struct server *s)
{
        return *s->options->data != '\0';
}

/* A file of the data directory, on the heap. */
static char *data_file(const struct server *s, const char *name)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%s/%s", s->options->data, name);
        return buf_take(&b);
}

/* --- The store --- */

static int check_log(void *arg, struct err *err)
{
        struct server *s = arg;
        struct store_log *log = s->sqlite ? sqlite_log_base(s->sqlite) : NULL;

        return log && log->ops->health ? log->ops->health(log, err) : 0;
}

static void forget_address(struct server *s)
{
        _cleanup_free_ char *path = data_file(s, "address");

        (void)unlink(path);
}

/* Adds the address of the process that has the directory to the error. */
static int tell_other(struct server *s, struct err *err)
{
        _cleanup_free_ char *path = data_file(s, "address");
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err why = { 0 };

        if (private_file_read(path, &b, NULL) < 0)
                return err->code;
        err_move(&why, err);
        return err_set(err, why.code, "%s. It serves at %.*s; to use it: export KUBECONFIG=%s/kubeconfig",
                       err_message(&why), STR_ARG(str_trim(buf_str(&b))), s->options->data);
}

static int open_store(struct server *s, struct err *err)
{
        struct store_options options = { .strategy_of = s->options->strategy_of, .starts_later = true };
        int r;

        if (has_data(s)) {
                r = sqlite_log_open(s->options->data, NULL, &s->sqlite, err);
                if (r < 0)
                        return r == ERR_EXISTS ? tell_other(s, err) : r;
                forget_address(s); /* of one that was killed */
                options.log = sqlite_log_base(s->sqlite);
        }
        return store_new(&options, &s->store, err);
}

/* --- Access --- */

static void add_protection(struct server *s)
{
        struct admission_hook hook;

        if (!s->options->protects_usages)
                return;
        s->protection = protection_new(store_cluster(s->store));
        hook = protection_hook(s->protection);
        store_add_hook(s->store, &hook);
}

static int open_access(struct server *s, struct err *err)
{
        static const struct str groups[] = { STR_INIT("system:masters") };
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a,
                           .deadline = DEADLINE_NONE,
                           .user = { .name = STR("system:apiserver"), .groups = groups, .n_groups = 1 },
                           .cause = STR("start of the server") };
        struct cluster *cluster = store_cluster(s->store);
        struct admission_hook hook;
        int r;

        arena_init(&a, "start of the server", BOOTSTRAP_BYTES);
        r = access_new(cluster, &s->access, err);
        if (r < 0)
                return r;
        hook = access_hook(s->access);
        store_add_hook(s->store, &hook);
        add_protection(s);
        r = store_start(s->store, err);
        if (r == 0)
                r = access_bootstrap(cluster, &run, err);
        return r < 0 ? r : access_start_aggregation(s->access, err);
}

/* --- The address --- */

static int read_port(struct server *s, uint16_t *ret, struct err *err)
{
        _cleanup_free_ char *path = data_file(s, "port");
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err missing = { 0 };
        unsigned long port;
        char *end;
        int r = private_file_read(path, &b, &missing);

        *ret = 0;
        if (r == ERR_NOT_FOUND)
                return 0;
        if (r < 0)
                return err_move(err, &missing);
        port = strtoul(buf_cstring(&b), &end, 10);
        if (end == b.p || *end != '\n' || port == 0 || port > UINT16_MAX)
                return err_set(err, ERR_INVALID, "%s does not hold a port: remove the file to have another one chosen",
                               path);
        *ret = (uint16_t)port;
        return 0;
}

static int keep_port(struct server *s, uint16_t port, struct err *err)
{
        _cleanup_free_ char *path = data_file(s, "port");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%u\n", port);
        return private_file_write(path, buf_str(&b), err);
}

static void append_url(struct buf *b, struct address a);

static int keep_address(struct server *s, const struct address *a, struct err *err)
{
        _cleanup_free_ char *path = data_file(s, "address");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_url(&b, *a);
        buf_append_char(&b, '\n');
        return private_file_write(path, buf_str(&b), err);
}

static uint16_t port_of(const struct address *a)
{
        return ntohs(a->any.sa_family == AF_INET6 ? a->ip6.sin6_port : a->ip4.sin_port);
}

static bool is_wildcard(const struct address *a)
{
        if (a->any.sa_family == AF_INET6)
                return IN6_IS_ADDR_UNSPECIFIED(&a->ip6.sin6_addr);
        return a->ip4.sin_addr.s_addr == htonl(INADDR_ANY);
}

static int parse_listen(const char *text, struct address *ret, struct err *err)
{
        struct str host;
        uint16_t port;
        int r = address_split(str_from(text), &host, &port, err);

        if (r == 0 && host.n == 0)
                host = STR("0.0.0.0");
        if (r == 0 && str_equal(host, STR("localhost")))
                host = STR("127.0.0.1");
        if (r == 0)
                r = address_from_ip(host, port, ret, err);
        return r < 0 ? err_wrap(err, "--listen %s: give an IP address and a port", text) : 0;
}

/* Port 0 stands for the port of the last start, or at the first one for any. */
static int choose_address(struct server *s, struct address *ret, struct err *err)
{
        uint16_t kept = 0;
        int r = parse_listen(*s->options->listen ? s->options->listen : "127.0.0.1:0", ret, err);

        if (r < 0 || port_of(ret) != 0 || !has_data(s))
                return r;
        r = read_port(s, &kept, err);
        if (ret->any.sa_family == AF_INET6)
                ret->ip6.sin6_port = htons(kept);
        else
                ret->ip4.sin_port = htons(kept);
        return r;
}

/* The address where clients on this machine find the server. */
static void append_url(struct buf *b, struct address a)
{
        if (is_wildcard(&a) && a.any.sa_family == AF_INET6)
                a.ip6.sin6_addr = in6addr_loopback;
        else if (is_wildcard(&a))
                a.ip4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        buf_append_literal(b, "https://");
        address_append(b, &a);
}

/* --- Certificates --- */

static int open_pki(struct server *s, const struct address *listen, struct err *err)
{
        _cleanup_free_ char *directory = has_data(s) ? data_file(s, "pki") : NULL;
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf host = BUF_INIT(0);
        struct pki_options options = { .directory = directory };
        struct str *names, own;
        uint16_t port;

        arena_init(&a, "names of the server", 0);
        names = ARENA_NEW_ARRAY(&a, struct str, s->options->n_names + 1);
        for (size_t i = 0; i < s->options->n_names; i++)
                names[options.n_names++] = s->options->names[i];
        address_append(&host, listen);
        if (!is_wildcard(listen) && address_split(buf_str(&host), &own, &port, NULL) == 0)
                names[options.n_names++] = own;
        options.names = names;
        return pki_open(&options, &s->pki, err);
}

struct pki_opening {
        struct server *server;
        const struct address *listen;
        int result;
        struct err err;
};

static void run_pki_opening(void *arg)
{
        struct pki_opening *o = arg;

        o->result = open_pki(o->server, o->listen, &o->err);
}

/* At a first start both wait for the disk, and neither uses the other. */
static int open_pki_and_access(struct server *s, const struct address *listen, struct err *err)
{
        struct pki_opening opening = { .server = s, .listen = listen };
        struct thread *thread = NULL;
        int r;

        if (thread_start("certificates", run_pki_opening, &opening, &thread, NULL) < 0)
                run_pki_opening(&opening);
        r = open_access(s, err);
        if (thread)
                thread_join(thread);
        if (opening.result < 0 && r == 0)
                return err_move(err, &opening.err);
        err_done(&opening.err);
        return r;
}

static int choose_kubeconfig(struct server *s, struct err *err)
{
        const char *temporary = getenv("TMPDIR");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (*s->options->kubeconfig) {
                s->kubeconfig = str_to_cstring(str_from(s->options->kubeconfig));
                return 0;
        }
        if (has_data(s)) {
                s->kubeconfig = data_file(s, "kubeconfig");
                return 0;
        }
        buf_appendf(&b, "%s/weft-server.XXXXXX", temporary && *temporary ? temporary : "/tmp");
        (void)buf_cstring(&b);
        if (!mkdtemp(b.p))
                return err_set_errno(err, errno, "cannot make a directory for the kubeconfig");
        s->temporary = str_to_cstring(buf_str(&b));
        buf_append_literal(&b, "/kubeconfig");
        s->kubeconfig = buf_take(&b);
        return 0;
}

static int write_kubeconfig(struct server *s, struct err *err)
{
        _cleanup_buf_ struct buf url = BUF_INIT(0);

        append_url(&url, apiserver_address(s->api));
        return pki_write_kubeconfig(s->pki, s->kubeconfig, buf_str(&url), err);
}

static int open_authenticator(struct server *s, struct err *err)
{
        struct authenticator_options options = { .cluster = store_cluster(s->store),
                                                 .access = s->access,
                                                 .pki = s->pki,
                                                 .token_file =
                                                         *s->options->token_file ? s->options->token_file : NULL };

        return authenticator_new(&options, &s->authenticator, err);
}

/* --- The API --- */

static void append_metrics(void *arg, struct buf *b)
{
        struct server *s = arg;
        struct store_stats stats;
        struct sqlite_log_sizes sizes = { 0 };

        store_stats(s->store, &stats);
        buf_appendf(b,
                    "# TYPE weft_store_objects gauge\nweft_store_objects %zu\n"
                    "# TYPE weft_store_object_bytes gauge\nweft_store_object_bytes %zu\n"
                    "# TYPE weft_store_kinds gauge\nweft_store_kinds %zu\n"
                    "# TYPE weft_store_watches gauge\nweft_store_watches %zu\n"
                    "# TYPE weft_store_history_bytes gauge\nweft_store_history_bytes %zu\n",
                    stats.n_objects, stats.object_bytes, stats.n_kinds, stats.n_watches, stats.history_bytes);
        if (!s->sqlite)
                return;
        sqlite_log_sizes(s->sqlite, &sizes);
        buf_appendf(b,
                    "# TYPE weft_log_file_bytes gauge\nweft_log_file_bytes %llu\n"
                    "# TYPE weft_log_wal_bytes gauge\nweft_log_wal_bytes %llu\n"
                    "# TYPE weft_log_rows gauge\nweft_log_rows %llu\n"
                    "# TYPE weft_log_garbage_bytes gauge\nweft_log_garbage_bytes %llu\n",
                    (unsigned long long)sizes.file_bytes, (unsigned long long)sizes.wal_bytes,
                    (unsigned long long)sizes.n_rows, (unsigned long long)sizes.garbage_bytes);
}

/* Adds the way out to the error of a port that is taken. */
static int cannot_listen(struct err *err)
{
        _cleanup_err_ struct err why = { 0 };

        if (str_find(str_from(err_message(err)), STR(": Address already in use")) < 0)
                return err->code;
        err_move(&why, err);
        return err_set(err, why.code, "%s: end the other process, or choose another port with --listen",
                       err_message(&why));
}

static int open_api(struct server *s, const struct address *address, struct err *err)
{
        struct apiserver_options options = {
                .cluster = store_cluster(s->store),
                .access = s->access,
                .authenticator = s->authenticator,
                .address = *address,
                .tls = pki_server_tls(s->pki),
                .checks = &s->check,
                .n_checks = 1,
                .metrics = s->metrics,
                .n_metrics = s->options->n_metrics + 1,
                .paths = s->options->paths,
                .n_paths = s->options->n_paths,
                .version = *s->options->version ? s->options->version : NULL,
                .max_user_requests = s->options->max_user_requests,
                .max_user_watches = s->options->max_user_watches,
                .max_memory_bytes = s->options->max_memory_bytes,
        };
        struct address real;
        int r;

        s->check = (struct apiserver_check) { .name = "log", .check = check_log, .arg = s };
        s->metrics[0] = (struct apiserver_metrics) { .append = append_metrics, .arg = s };
        for (size_t i = 0; i < s->options->n_metrics; i++)
                s->metrics[i + 1] = s->options->metrics[i];
        r = apiserver_new(&options, &s->api, err);
        if (r < 0)
                return cannot_listen(err);
        real = apiserver_address(s->api);
        if (!has_data(s))
                return 0;
        r = keep_port(s, port_of(&real), err);
        return r < 0 ? r : keep_address(s, &real, err);
}

static int start_keeper(struct server *s, struct err *err)
{
        struct keeper_options options = { .cluster = store_cluster(s->store), .pki = s->pki };

        return keeper_start(&options, &s->keeper, err);
}

/* After the directory was taken: a file that another server writes at the moment is no leftover. */
static void clean_data(struct server *s)
{
        static const char *const files[] = { "kubeconfig", "port", "address", NULL };
        static const char *const keys[] = { "ca.crt",    "ca.key",    "server.crt", "server.key",
                                            "admin.crt", "admin.key", "sa.key",     NULL };
        _cleanup_free_ char *pki = data_file(s, "pki");

        leftovers_remove(s->options->data, files);
        leftovers_remove(pki, keys);
}

static int open_all(struct server *s, struct err *err)
{
        struct address address;
        int r = 0;

        if (has_data(s))
                r = private_directory_make(s->options->data, err);
        if (r == 0)
                r = open_store(s, err); /* first: it takes the directory for this process */
        if (r == 0 && has_data(s))
                clean_data(s);
        if (r == 0)
                r = choose_address(s, &address, err);
        if (r == 0)
                r = open_pki_and_access(s, &address, err);
        if (r == 0)
                r = open_authenticator(s, err);
        if (r == 0)
                r = start_keeper(s, err);
        if (r == 0)
                r = choose_kubeconfig(s, err);
        if (r == 0)
                r = open_api(s, &address, err);
        return r < 0 ? r : write_kubeconfig(s, err);
}

/* In the order in which the parts use each other. */
static void close_all(struct server *s)
{
        if (s->sqlite)
                forget_address(s);
        apiserver_free(s->api);
        keeper_free(s->keeper);
        authenticator_free(s->authenticator);
        if (s->store)
                store_stop(s->store);
        protection_free(s->protection);
        access_free(s->access);
        store_free(s->store);
        sqlite_log_close(s->sqlite);
        pki_free(s->pki);
        if (s->temporary) {
                (void)unlink(s->kubeconfig);
                (void)rmdir(s->temporary);
        }
        free(s->temporary);
        free(s->kubeconfig);
        free(s->metrics);
}

/* --- Parts --- */

static void tell_log(const struct server *s)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address address = apiserver_address(s->api);

        address_append(&text, &address);
        log_info("serving", LOG_STR("address", buf_str(&text)), LOG_TEXT("data", s->options->data),
                 LOG_TEXT("config", s->kubeconfig));
}

int server_open(const struct server_options *options, struct server **ret, struct err *err)
{
        struct server *s = xcalloc(1, sizeof(*s));
        int r;

        s->options = options;
        s->metrics = xcalloc(options->n_metrics + 1, sizeof(*s->metrics));
        r = open_all(s, err);
        if (r < 0) {
                close_all(s);
                free(s);
                return r;
        }
        tell_log(s);
        *ret = s;
        return 0;
}

void server_close(struct server *s)
{
        if (!s)
                return;
        apiserver_drain(s->api, deadline_after_ms(DRAIN_MS));
        close_all(s);
        free(s);
}

struct protection *server_protection(const struct server *s)
{
        return s->protection;
}

struct cluster *server_cluster(const struct server *s)
{
        return store_cluster(s->store);
}

struct access *server_access(const struct server *s)
{
        return s->access;
}

char *server_url(const struct server *s)
{
        _cleanup_buf_ struct buf url = BUF_INIT(0);

        append_url(&url, apiserver_address(s->api));
        return buf_take(&url);
}

char *server_kubeconfig(const struct server *s)
{
        char *path = realpath(s->kubeconfig, NULL);

        return path ? path : str_to_cstring(str_from(s->kubeconfig));
}

int server_append_kubeconfig(struct server *s, struct buf *b, struct str ns, struct str service_account,
                             struct err *err)
{
        _cleanup_buf_ struct buf url = BUF_INIT(0), user = BUF_INIT(0), group = BUF_INIT(0);
        struct str groups[2];

        append_url(&url, apiserver_address(s->api));
        buf_appendf(&user, "system:serviceaccount:%.*s:%.*s", STR_ARG(ns), STR_ARG(service_account));
        buf_appendf(&group, "system:serviceaccounts:%.*s", STR_ARG(ns));
        groups[0] = STR("system:serviceaccounts");
        groups[1] = buf_str(&group);
        return pki_append_kubeconfig(s->pki, b, buf_str(&url), buf_str(&user), groups, ARRAY_SIZE(groups), err);
}

static void renew(struct server *s)
{
        _cleanup_err_ struct err err = { 0 };
        int r = pki_renew(s->pki, &err);

        if (r == 0)
                r = write_kubeconfig(s, &err);
        if (r < 0)
                log_warn("cannot renew the certificates, will try again", LOG_ERR("error", &err));
}

/* The main thread only waits for the end and looks after the certificates; all other threads block signals. The first signal starts
 * a clean end. A second one has its default effect. */
int server_wait(struct server *s, const sigset_t *signals)
{
        return server_wait_for(s, signals, -1);
}

/* The number of the signal that came; 0: none did. */
static int read_signal(int fd)
{
        struct signalfd_siginfo info;

        return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

int server_wait_for(struct server *s, const sigset_t *signals, int fd)
{
        _cleanup_close_ int signal_fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
        struct pollfd p[] = { { .fd = signal_fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
        int number = 0;

        while (number == 0) {
                int n = poll(p, ARRAY_SIZE(p), RENEW_SECONDS * 1000);

                if (n == 0)
                        renew(s);
                number = n > 0 ? read_signal(signal_fd) : 0;
                if (number == 0 && n > 0 && p[1].revents)
                        return 0;
        }
        pthread_sigmask(SIG_UNBLOCK, signals, NULL);
        return number;
}

/* Every watch and every idle client is a descriptor: raises the soft limit, which shells set low. */
static void raise_descriptor_limit(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
                limit.rlim_cur = limit.rlim_max;
                setrlimit(RLIMIT_NOFILE, &limit);
        }
}

void server_set_up_process(bool is_debug, sigset_t *ret_signals)
{
        raise_descriptor_limit();
#ifdef __GLIBC__
        mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
        mallopt(M_ARENA_MAX, MIN(MAX(get_nprocs(), 2), MOST_HEAPS));
#endif
        umask(077);
        log_set_level(is_debug ? LOG_DEBUG : LOG_INFO);
        log_set_output(STDERR_FILENO, is_debug ? LOG_FORMAT_TEXT : LOG_FORMAT_AUTO);
        sigemptyset(ret_signals);
        sigaddset(ret_signals, SIGTERM);
        sigaddset(ret_signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
        signal(SIGPIPE, SIG_IGN);
}

/* --- Running --- */

static void tell(const struct server *s)
{
        _cleanup_free_ char *url = server_url(s), *path = server_kubeconfig(s);

        printf("The Kubernetes API is at %s until SIGINT or SIGTERM.%s\n\n  export KUBECONFIG=%s\n  kubectl get "
               "namespaces\n",
               url, has_data(s) ? "" : " Nothing is kept.", path);
        fflush(stdout);
}

int server_run(const struct server_options *options, struct err *err)
{
        struct server *s;
        sigset_t signals;
        int r;

        server_set_up_process(options->is_debug, &signals);
        r = server_open(options, &s, err);
        if (r == 0) {
                tell(s);
                log_info("draining", LOG_TEXT("signal", server_wait(s, &signals) == SIGINT ? "SIGINT" : "SIGTERM"));
                log_flush();
                server_close(s);
        }
        log_flush();
        return r;
}
