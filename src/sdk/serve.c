/* The server of a function program: addresses, certificates, metrics, and a clean shutdown. */
#include "serve.h"

#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <sys/resource.h>

#include "address.h"
#include "buf.h"
#include "cgroup.h"
#include "clock.h"
#include "fn-server.h"
#include "limits.h"
#include "log.h"
#include "metrics.h"
#include "tls.h"

#define DRAIN_MS 30000

/* Memory blocks of at least MMAP_BYTES get their own pages. For smaller ones, up to KEPT_BYTES of free memory is kept at the end of
 * a heap. */
#define MMAP_BYTES (1 << 20)
#define KEPT_BYTES (4 << 20)

struct program {
        const struct serve_options *options;
        struct fn_handler handler;
        struct grpc_method methods[FN_N_METHODS];
        struct metrics metrics;
};

static enum grpc_status handle(void *context, struct grpc_request *call, const struct fn_parts *request,
                               struct buf *ret, struct err *err)
{
        struct program *p = context;
        int64_t start_ns = clock_mono_ns();
        enum grpc_status status;
        bool is_fatal = false;

        metrics_start(&p->metrics);
        status = p->options->run(p->options->context, call, request, ret, &is_fatal, err);
        metrics_finish(&p->metrics, status, is_fatal, clock_mono_ns() - start_ns);
        return status;
}

/* --- Addresses --- */

static int look_up(const char *host, uint16_t port, struct address *ret, struct err *err)
{
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
        int r = getaddrinfo(host, NULL, &hints, &found);

        if (r != 0)
                return err_set(err, ERR_INVALID, "lookup %s: %s", host, gai_strerror(r));
        *ret = (struct address) { 0 };
        if (found->ai_family == AF_INET) {
                memcpy(&ret->ip4, found->ai_addr, sizeof(ret->ip4));
                ret->ip4.sin_port = htons(port);
        } else {
                memcpy(&ret->ip6, found->ai_addr, sizeof(ret->ip6));
                ret->ip6.sin6_port = htons(port);
        }
        freeaddrinfo(found);
        return 0;
}

static bool has_ipv6(void)
{
        _cleanup_close_ int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

        return fd >= 0;
}

static int parse_address(const char *network, const char *text, struct address *ret, struct err *err)
{
        _cleanup_free_ char *name = NULL;
        struct str whole = str_from(text), host;
        uint16_t port;
        int r;

        if (strcmp(network, "unix") == 0)
                return *text == '@' ? address_from_unix(str_from(text + 1), true, ret, err)
                                    : address_from_unix(str_from(text), false, ret, err);
        if (strcmp(network, "tcp") != 0 && strcmp(network, "tcp4") != 0 && strcmp(network, "tcp6") != 0)
                return err_set(err, ERR_INVALID, "unknown network %s", network);
        r = address_split(whole, &host, &port, err);
        if (r < 0)
                return r;
        if (str_find_last_char(whole, ':') <= str_find_last_char(whole, ']'))
                return err_set(err, ERR_INVALID, "address %s: missing port in address", text);
        if (host.n == 0)
                host = strcmp(network, "tcp4") != 0 && has_ipv6() ? STR("::") : STR("0.0.0.0");
        if (address_from_ip(host, port, ret, NULL) == 0)
                return 0;
        name = str_to_cstring(host);
        return look_up(name, port, ret, err);
}

/* --- Certificates --- */

/* Reports a file that cannot be opened in Go's words. */
static int check_file(const char *directory, const char *name, const char *what, struct err *err)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);
        _cleanup_buf_ struct buf reason = BUF_INIT(0);

        buf_appendf(&path, "%s/%s", directory, name);
        if (access(buf_cstring(&path), R_OK) == 0)
                return 0;
        buf_appendf(&reason, "%s", strerror(errno));
        if (reason.n > 0 && reason.p[0] >= 'A' && reason.p[0] <= 'Z')
                reason.p[0] += 'a' - 'A';
        return err_set(err, ERR_SYSTEM, "cannot apply ServeOption: %s: open %s: %s", what, buf_cstring(&path),
                       buf_cstring(&reason));
}

static int load_certificates(const char *directory, struct tls_config **ret, struct err *err)
{
        struct tls_options options = { .is_server = true, .directory = directory, .needs_client_certificate = true };
        int r;

        r = check_file(directory, "tls.crt", "cannot load X509 keypair", err);
        if (r == 0)
                r = check_file(directory, "tls.key", "cannot load X509 keypair", err);
        if (r == 0)
                r = check_file(directory, "ca.crt", "cannot read CA certificate", err);
        if (r < 0)
                return r;
        r = tls_config_new(&options, ret, err);
        if (r == 0)
                return 0;
        if (str_find(str_from(err_message(err)), STR("ca.crt")) >= 0)
                return err_set(err, r, "cannot apply ServeOption: invalid CA certificate");
        return err_wrap(err, "cannot apply ServeOption: cannot load X509 keypair");
}

/* --- Serving --- */

/* Half of the container's memory: the other half is for connections, the function's own data and free memory that the allocator
 * keeps. */
static size_t max_memory(const struct serve_options *o)
{
        uint64_t limit = cgroup_memory_limit("");

        return o->max_memory_bytes ? o->max_memory_bytes : (size_t)MIN(limit / 2, (uint64_t)LIMIT_SERVED_BYTES);
}

static int start(struct program *p, struct tls_config *tls, struct grpc_server **ret, struct err *err)
{
        struct grpc_server_options options = {
                .http = { .tls = tls, .refuses_http1 = true },
                .methods = p->methods,
                .n_methods = FN_N_METHODS,
                .max_receive_bytes = p->options->max_receive_bytes,
                .max_receive_flag = "--max-recv-message-size",
                .max_memory_bytes = max_memory(p->options),
                .max_memory_flag = "--max-memory",
                .has_reflection = true,
        };
        int r;

        p->handler = (struct fn_handler) { .run = handle, .context = p };
        fn_server_methods(&p->handler, p->methods);
        r = parse_address(p->options->network, p->options->address, &options.http.address, err);
        if (r == 0)
                r = grpc_server_new(&options, ret, err);
        if (r < 0)
                return err_wrap(err, "cannot listen for %s connections at address \"%s\"", p->options->network,
                                p->options->address);
        return 0;
}

static int start_metrics(struct program *p, struct http_server **ret, struct err *err)
{
        struct address address;
        int r;

        *ret = NULL;
        if (!*p->options->metrics_address)
                return 0;
        r = parse_address("tcp", p->options->metrics_address, &address, err);
        if (r == 0)
                r = metrics_serve(&p->metrics, &address, ret, err);
        if (r < 0)
                return err_wrap(err, "cannot serve metrics at address \"%s\"", p->options->metrics_address);
        return 0;
}

/* The main thread only waits for the end; all other threads block signals. The first signal starts a clean shutdown, which lasts as
 * long as the open calls. A second signal has its default effect. */
static void wait_for_signal(const sigset_t *signals)
{
        int number;

        while (sigwait(signals, &number) != 0)
                ;
        log_info("draining", LOG_TEXT("signal", number == SIGINT ? "SIGINT" : "SIGTERM"));
        log_flush();
        pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

/* Logs the addresses here, because a port that was given as 0 is known only now. */
static void log_start(const struct program *p, const struct grpc_server *server, const struct http_server *metrics)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), metrics_text = BUF_INIT(0);
        struct address address = grpc_server_address(server);

        address_append(&text, &address);
        if (metrics) {
                address = http_server_address(metrics);
                address_append(&metrics_text, &address);
        }
        log_info("serving", LOG_TEXT("function", p->options->name), LOG_STR("address", buf_str(&text)),
                 LOG_BOOL("insecure", p->options->is_insecure), LOG_STR("metrics", buf_str(&metrics_text)));
}

static int serve(struct program *p, struct err *err)
{
        struct tls_config *tls = NULL;
        struct grpc_server *server = NULL;
        struct http_server *metrics = NULL;
        bool is_insecure = p->options->is_insecure;
        sigset_t signals;
        int r = 0;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        signal(SIGPIPE, SIG_IGN);
        if (*p->options->certs_directory)
                r = load_certificates(p->options->certs_directory, &tls, err);
        else if (!is_insecure)
                r = err_set(err, ERR_INVALID,
                            "no credentials provided - did you specify the Insecure or MTLSCertificates options?");
        if (r == 0)
                r = start(p, is_insecure ? NULL : tls, &server, err);
        if (r == 0)
                r = start_metrics(p, &metrics, err);
        if (r == 0) {
                log_start(p, server, metrics);
                wait_for_signal(&signals);
                grpc_server_drain(server);
                grpc_server_wait(server, deadline_after_ms(DRAIN_MS), NULL);
        }
        http_server_free(metrics);
        if (server)
                grpc_server_free(server);
        tls_config_unref(tls);
        return r;
}

/* Large blocks come from the system and return to it at once. Without a fixed threshold, the C library would raise it with each
 * large block that is freed, and keep all memory of a burst. */
static void set_up_memory(void)
{
#ifdef __GLIBC__
        mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

/* Raises the soft limit, which shells set low, to the system's hard limit, to allow more connections. */
static void raise_descriptor_limit(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
                limit.rlim_cur = limit.rlim_max;
                setrlimit(RLIMIT_NOFILE, &limit);
        }
}

int serve_function(const struct serve_options *options, struct err *err)
{
        struct program p = { .options = options };
        int r;

        set_up_memory();
        raise_descriptor_limit();

        log_set_level(options->is_debug ? LOG_DEBUG : LOG_INFO);
        log_set_output(STDERR_FILENO, options->is_debug ? LOG_FORMAT_TEXT : LOG_FORMAT_JSON);
        r = serve(&p, err);
        if (r >= 0)
                log_flush();
        return r;
}
