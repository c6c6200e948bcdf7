/* A function as a program: flags, certificates, the server, and an orderly end. */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>

#include "sdk.h"

#include "address.h"
#include "buf.h"
#include "clock.h"
#include "flags.h"
#include "fn-server.h"
#include "log.h"
#include "metrics.h"
#include "tls.h"

#define EXIT_BAD_FLAGS 80
#define DRAIN_MS       30000

struct program {
        const struct weft_function *function;
        struct flags flags;
        struct fn_handler handler;
        struct grpc_method methods[FN_N_METHODS];
        struct metrics metrics;
};

static enum grpc_status handle(void *context, struct grpc_request *call, const struct fn_parts *request,
                               struct buf *ret, struct err *err)
{
        struct program *p = context;
        int64_t start_ns = clock_mono_ns();
        enum grpc_status status = GRPC_OK;

        p->metrics.n_started++;
        if (sdk_run(p->function, call->arena, request, ret, err) < 0)
                status = GRPC_INTERNAL;
        p->metrics.n_handled[status]++;
        p->metrics.handling_ns += (uint64_t)(clock_mono_ns() - start_ns);
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
        struct str host;
        uint16_t port;
        int r;

        if (strcmp(network, "unix") == 0)
                return *text == '@' ? address_from_unix(str_from(text + 1), true, ret, err)
                                    : address_from_unix(str_from(text), false, ret, err);
        if (strcmp(network, "tcp") != 0 && strcmp(network, "tcp4") != 0 && strcmp(network, "tcp6") != 0)
                return err_set(err, ERR_INVALID, "unknown network %s", network);
        r = address_split(str_from(text), &host, &port, err);
        if (r < 0)
                return r;
        if (host.n == 0)
                host = strcmp(network, "tcp4") != 0 && has_ipv6() ? STR("::") : STR("0.0.0.0");
        if (address_from_ip(host, port, ret, NULL) == 0)
                return 0;
        name = str_to_cstring(host);
        return look_up(name, port, ret, err);
}

/* --- Certificates --- */

/* What Go says about a file that cannot be opened. */
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

static int start(struct program *p, struct tls_config *tls, struct grpc_server **ret, struct err *err)
{
        struct grpc_server_options options = {
                .http = { .tls = tls, .refuses_http1 = true },
                .methods = p->methods,
                .n_methods = FN_N_METHODS,
                .max_receive_bytes = (size_t)p->flags.max_receive_mib << 20,
                .max_receive_flag = "--max-recv-message-size",
                .has_reflection = true,
        };
        int r;

        p->handler = (struct fn_handler) { .run = handle, .context = p };
        fn_server_methods(&p->handler, p->methods);
        r = parse_address(p->flags.network, p->flags.address, &options.http.address, err);
        if (r == 0)
                r = grpc_server_new(&options, ret, err);
        if (r < 0)
                return err_wrap(err, "cannot listen for %s connections at address \"%s\"", p->flags.network,
                                p->flags.address);
        return 0;
}

static int start_metrics(struct program *p, struct http_server **ret, struct err *err)
{
        struct address address;
        int r;

        *ret = NULL;
        if (!*p->flags.metrics_address)
                return 0;
        r = parse_address("tcp", p->flags.metrics_address, &address, err);
        if (r == 0)
                r = metrics_serve(&p->metrics, &address, ret, err);
        if (r < 0)
                return err_wrap(err, "cannot serve metrics at address \"%s\"", p->flags.metrics_address);
        return 0;
}

/* The main thread has nothing to do but to wait for the end; all other threads have signals blocked. */
static void wait_for_signal(const sigset_t *signals)
{
        int number;

        while (sigwait(signals, &number) != 0)
                ;
        log_info("draining", LOG_TEXT("signal", number == SIGINT ? "SIGINT" : "SIGTERM"));
}

static void log_start(const struct program *p, const struct grpc_server *server, bool is_insecure)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address address = grpc_server_address(server);

        address_append(&text, &address);
        log_info("serving", LOG_TEXT("function", p->function->name), LOG_STR("address", buf_str(&text)),
                 LOG_BOOL("insecure", is_insecure));
}

static int serve(struct program *p, struct err *err)
{
        struct tls_config *tls = NULL;
        struct grpc_server *server = NULL;
        struct http_server *metrics = NULL;
        sigset_t signals;
        int r = 0;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        signal(SIGPIPE, SIG_IGN);
        if (*p->flags.tls_certs_dir)
                r = load_certificates(p->flags.tls_certs_dir, &tls, err);
        else if (!p->flags.is_insecure)
                r = err_set(err, ERR_INVALID,
                            "no credentials provided - did you specify the Insecure or MTLSCertificates options?");
        if (r == 0)
                r = start(p, p->flags.is_insecure ? NULL : tls, &server, err);
        if (r == 0)
                r = start_metrics(p, &metrics, err);
        if (r == 0) {
                log_start(p, server, p->flags.is_insecure);
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

static const char *program_name(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;

        return slash ? slash + 1 : path ? path : "function";
}

int weft_main(int argc, char **argv, const struct weft_function *function)
{
        struct program p = { .function = function };
        const char *name = program_name(argc > 0 ? argv[0] : NULL);
        _cleanup_err_ struct err err = { 0 };

        if (flags_read(&p.flags, argc, argv, &err) < 0) {
                fprintf(stderr, "%s: error: %s\n", name, err_message(&err));
                return EXIT_BAD_FLAGS;
        }
        if (p.flags.wants_help) {
                flags_print_help(function, name);
                return 0;
        }
        log_set_level(p.flags.is_debug ? LOG_DEBUG : LOG_INFO);
        log_set_output(STDERR_FILENO, p.flags.is_debug ? LOG_FORMAT_TEXT : LOG_FORMAT_JSON);
        if (serve(&p, &err) < 0) {
                fprintf(stderr, "%s: error: %s\n", name, err_message(&err));
                return 1;
        }
        log_flush();
        return 0;
}
