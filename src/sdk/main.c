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
        struct flags flags;
        struct fn_handler handler;
        struct grpc_method methods[FN_N_METHODS];
        struct metrics metrics;
};

static const char *text_of(const struct program *p, enum standard_flag flag)
{
        return p->flags.values[flag].text;
}

static enum grpc_status handle(void *context, struct grpc_request *call, const struct fn_parts *request,
                               struct buf *ret, struct err *err)
{
        struct program *p = context;
        int64_t start_ns = clock_mono_ns();
        bool is_fatal;

        (void)err;
        metrics_start(&p->metrics);
        sdk_run(&p->flags, call->arena, request, ret, &is_fatal);
        metrics_finish(&p->metrics, GRPC_OK, is_fatal, clock_mono_ns() - start_ns);
        return GRPC_OK;
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
                .max_receive_bytes = (size_t)p->flags.values[FLAG_MAX_RECV_MESSAGE_SIZE].i << 20,
                .max_receive_flag = "--max-recv-message-size",
                .has_reflection = true,
        };
        int r;

        p->handler = (struct fn_handler) { .run = handle, .context = p };
        fn_server_methods(&p->handler, p->methods);
        r = parse_address(text_of(p, FLAG_NETWORK), text_of(p, FLAG_ADDRESS), &options.http.address, err);
        if (r == 0)
                r = grpc_server_new(&options, ret, err);
        if (r < 0)
                return err_wrap(err, "cannot listen for %s connections at address \"%s\"", text_of(p, FLAG_NETWORK),
                                text_of(p, FLAG_ADDRESS));
        return 0;
}

static int start_metrics(struct program *p, struct http_server **ret, struct err *err)
{
        struct address address;
        int r;

        *ret = NULL;
        if (!*text_of(p, FLAG_METRICS_ADDRESS))
                return 0;
        r = parse_address("tcp", text_of(p, FLAG_METRICS_ADDRESS), &address, err);
        if (r == 0)
                r = metrics_serve(&p->metrics, &address, ret, err);
        if (r < 0)
                return err_wrap(err, "cannot serve metrics at address \"%s\"", text_of(p, FLAG_METRICS_ADDRESS));
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

/* An address that was given with port 0 is known only now. */
static void log_start(const struct program *p, const struct grpc_server *server, const struct http_server *metrics)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), metrics_text = BUF_INIT(0);
        struct address address = grpc_server_address(server);

        address_append(&text, &address);
        if (metrics) {
                address = http_server_address(metrics);
                address_append(&metrics_text, &address);
        }
        log_info("serving", LOG_TEXT("function", p->flags.function->name), LOG_STR("address", buf_str(&text)),
                 LOG_BOOL("insecure", p->flags.values[FLAG_INSECURE].b), LOG_STR("metrics", buf_str(&metrics_text)));
}

static int serve(struct program *p, struct err *err)
{
        struct tls_config *tls = NULL;
        struct grpc_server *server = NULL;
        struct http_server *metrics = NULL;
        bool is_insecure = p->flags.values[FLAG_INSECURE].b;
        sigset_t signals;
        int r = 0;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        signal(SIGPIPE, SIG_IGN);
        if (*text_of(p, FLAG_TLS_CERTS_DIR))
                r = load_certificates(text_of(p, FLAG_TLS_CERTS_DIR), &tls, err);
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

static const char *program_name(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;

        return slash ? slash + 1 : path ? path : "function";
}

static int fail(const char *program, const struct err *err, int status)
{
        fprintf(stderr, "%s: error: %s\n", program, err_message(err));
        return status;
}

static int run_program(struct program *p, const char *name)
{
        _cleanup_err_ struct err err = { 0 };
        bool is_debug = p->flags.values[FLAG_DEBUG].b;

        log_set_level(is_debug ? LOG_DEBUG : LOG_INFO);
        log_set_output(STDERR_FILENO, is_debug ? LOG_FORMAT_TEXT : LOG_FORMAT_JSON);
        if (serve(p, &err) < 0)
                return fail(name, &err, 1);
        log_flush();
        return 0;
}

int weft_main(int argc, char **argv, const struct weft_function *function)
{
        static const char *const none[] = { NULL };
        const char *const *arguments = argc > 0 ? (const char *const *)argv + 1 : none;
        const char *name = program_name(argc > 0 ? argv[0] : NULL);
        _cleanup_err_ struct err err = { 0 };
        struct program p = { 0 };
        int r, status = 0;

        r = flags_read(&p.flags, function, arguments, (const char *const *)environ, &err);
        if (r < 0)
                status = fail(name, &err, r == ERR_INVALID ? EXIT_BAD_FLAGS : 1);
        else if (p.flags.values[FLAG_HELP].b)
                flags_print_help(&p.flags, name);
        else
                status = run_program(&p, name);
        flags_done(&p.flags);
        return status;
}
