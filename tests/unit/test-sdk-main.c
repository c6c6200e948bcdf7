/* A function as a program, run by weft_main in a thread of the test and called over a socket. */
#include "test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "fn-client.h"
#include "json.h"
#include "log.h"
#include "proto-tables.h"
#include "weft/fn.h"

static void run(struct weft_request *req, struct weft_response *rsp)
{
        weft_log_debug(req, "debugging %d", 1);
        weft_log_info(req, "informing %d", 2);
        weft_normal(rsp, "%s", weft_flag_text(req, "word"));
}

static const struct weft_flag flags[] = { { .name = "word", .value = "default", .environment = "TEST_WORD" } };

static const struct weft_function function = {
        .name = "function-test", .run = run, .flags = flags, .n_flags = ARRAY_SIZE(flags)
};

/* A call of weft_main: its arguments, and the file that it writes to. */
struct program {
        char *argv[10];
        int argc;
        int status;
        int saved_out, saved_err;
        FILE *out;
        pthread_t thread;
};

static void begin(struct program *p, const char *const *arguments)
{
        *p = (struct program) { .argv = { (char *)"/bin/function-test" }, .argc = 1, .out = tmpfile() };
        for (; *arguments; arguments++)
                p->argv[p->argc++] = (char *)*arguments;
        fflush(stdout);
        p->saved_out = dup(STDOUT_FILENO);
        p->saved_err = dup(STDERR_FILENO);
        dup2(fileno(p->out), STDOUT_FILENO);
        dup2(fileno(p->out), STDERR_FILENO);
}

/* The text that was written so far; a static buffer. */
static const char *output(struct program *p)
{
        static char text[16384];
        ssize_t n;

        fflush(stdout);
        n = pread(fileno(p->out), text, sizeof(text) - 1, 0);
        text[n > 0 ? n : 0] = 0;
        return text;
}

static const char *end(struct program *p)
{
        const char *text = output(p);

        dup2(p->saved_out, STDOUT_FILENO);
        dup2(p->saved_err, STDERR_FILENO);
        close(p->saved_out);
        close(p->saved_err);
        fclose(p->out);
        log_set_output(STDERR_FILENO, LOG_FORMAT_JSON);
        return text;
}

/* --- What ends before it serves --- */

TEST(wrong_programs)
{
        static const struct {
                const char *arguments[6];
                int status;
                const char *wanted; /* how the output begins */
        } cases[] = {
                { { "--help" },
                  0,
                  "Usage: function-test [flags]\n\nA Composition Function.\n\nFlags of this function:\n" },
                { { "--nosuch" }, 80, "function-test: error: unknown flag --nosuch\n" },
                { { "--insecure", "--network=udp" },
                  1,
                  "function-test: error: cannot listen for udp connections at address \":9443\": unknown network "
                  "udp\n" },
                { { "--insecure", "--address=nonsense" },
                  1,
                  "function-test: error: cannot listen for tcp connections at address \"nonsense\": " },
                { { "--insecure", "--address=nobody.invalid:1" },
                  1,
                  "function-test: error: cannot listen for tcp connections at address \"nobody.invalid:1\": lookup "
                  "nobody.invalid: " },
                { { "--insecure", "--network=tcp4", "--address=:0", "--metrics-address=x" },
                  1,
                  "function-test: error: cannot serve metrics at address \"x\": " },
                { {},
                  1,
                  "function-test: error: no credentials provided - did you specify the Insecure or MTLSCertificates "
                  "options?\n" },
                { { "--tls-certs-dir=/nonexistent" },
                  1,
                  "function-test: error: cannot apply ServeOption: cannot load X509 keypair: open "
                  "/nonexistent/tls.crt: no such file or directory\n" },
        };

        unsetenv("TLS_SERVER_CERTS_DIR");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct program p;
                const char *got;

                begin(&p, cases[i].arguments);
                p.status = weft_main(p.argc, p.argv, &function);
                got = end(&p);
                if (!str_starts_with(str_from(got), str_from(cases[i].wanted)))
                        test_fail(__FILE__, __LINE__, "got\n#   %s# wanted\n#   %s", got, cases[i].wanted);
                ASSERT_INT(p.status, cases[i].status);
        }
}

TEST(a_wrong_variable_is_no_wrong_command_line)
{
        static const struct weft_flag number[] = { { .name = "n", .type = WEFT_FLAG_INT, .environment = "TEST_WORD" } };
        struct weft_function f = { .name = "function-test", .run = run, .flags = number, .n_flags = 1 };
        struct program p;

        setenv("TEST_WORD", "x", 1);
        begin(&p, (const char *const[]) { NULL });
        p.status = weft_main(0, p.argv + 1, &f);
        ASSERT_TEXT(end(&p),
                    "function: error: --n: expected a valid 64 bit int but got \"x\" (from envar TEST_WORD=\"x\")\n");
        ASSERT_INT(p.status, 1);
        unsetenv("TEST_WORD");
}

/* --- What serves --- */

static void *serve(void *arg)
{
        struct program *p = arg;

        p->status = weft_main(p->argc, p->argv, &function);
        return NULL;
}

/* Runs the program until it says that it serves. Signals go to whoever waits for them, which is weft_main. */
static void start(struct program *p)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        ASSERT_INT(pthread_create(&p->thread, NULL, serve, p), 0);
        while (!strstr(output(p), "serving"))
                usleep(1000);
}

static void stop(struct program *p, int signal_number)
{
        kill(getpid(), signal_number);
        pthread_join(p->thread, NULL);
}

/* The message of the response's first result. */
static struct str call(struct arena *a, const char *target, struct str request)
{
        struct grpc_call_options options = { .deadline = deadline_after_ms(20000) };
        _cleanup_bytes_ struct bytes *bytes = bytes_copy(request);
        _cleanup_err_ struct err err = { 0 };
        const struct value *response;
        struct grpc_channel *channel;
        struct grpc_reply reply;

        ASSERT_INT(grpc_channel_new(str_from(target), &(struct grpc_channel_options) { 0 }, &channel, &err), 0);
        if (fn_call(channel, bytes, &options, a, &reply, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        ASSERT_INT(proto_decode(a, &proto_fn_v1_RunFunctionResponse, reply.response->str, NULL, &response, &err), 0);
        bytes_unref(reply.response);
        grpc_channel_unref(channel);
        return value_str(value_find(value_item(value_find(response, "results"), 0), "message"));
}

#define TAGGED STR("\n\x05\n\x03tag") /* meta: {tag: tag} */

TEST(a_function_serves_until_a_signal)
{
        static const struct {
                const char *flag;
                int signal_number;
                const char *log[3]; /* what is in the log */
        } cases[] = {
                { "--word=given",
                  SIGTERM,
                  { "\"message\":\"informing 2\",\"function\":\"function-test\",\"tag\":\"tag\"",
                    "\"message\":\"draining\",\"signal\":\"SIGTERM\"" } },
                { "-d", SIGINT, { "debugging 1", "informing 2", "signal=SIGINT" } },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                char directory[] = "/tmp/weft-test-XXXXXX", path[64], target[80];
                struct program p;
                struct arena a;
                const char *log;

                ASSERT(mkdtemp(directory));
                snprintf(path, sizeof(path), "%s/socket", directory);
                snprintf(target, sizeof(target), "unix:%s", path);
                arena_init(&a, "test", 0);
                begin(&p, (const char *const[]) { "--insecure", "--network=unix", "--address", path, cases[i].flag,
                                                  "--metrics-address=localhost:0", NULL });
                start(&p);
                ASSERT_STR(call(&a, target, TAGGED), i == 0 ? STR("given") : STR("default"));
                stop(&p, cases[i].signal_number);
                log = end(&p);
                ASSERT_INT(p.status, 0);
                for (size_t j = 0; j < ARRAY_SIZE(cases[i].log) && cases[i].log[j]; j++) {
                        if (!strstr(log, cases[i].log[j]))
                                test_fail(__FILE__, __LINE__, "%s is not in\n# %s", cases[i].log[j], log);
                }
                arena_done(&a);
                unlink(path);
                rmdir(directory);
        }
}

/* --- Under load, with metrics --- */

#define N_THREADS 8
#define N_CALLS   40

struct load {
        struct grpc_channel *channel;
        _Atomic int n_ok;
};

static void *call_often(void *arg)
{
        struct load *load = arg;

        for (int i = 0; i < N_CALLS; i++) {
                struct grpc_call_options options = { .deadline = deadline_after_ms(60000) };
                _cleanup_bytes_ struct bytes *request = bytes_copy(TAGGED);
                _cleanup_arena_ struct arena a;
                struct grpc_reply reply;

                arena_init(&a, "test", 0);
                if (fn_call(load->channel, request, &options, &a, &reply, NULL) == 0) {
                        bytes_unref(reply.response);
                        load->n_ok++;
                }
        }
        return NULL;
}

static int call_by_many(const char *target)
{
        struct load load = { 0 };
        pthread_t threads[N_THREADS];

        ASSERT_INT(grpc_channel_new(str_from(target), &(struct grpc_channel_options) { 0 }, &load.channel, NULL), 0);
        for (size_t i = 0; i < N_THREADS; i++)
                ASSERT_INT(pthread_create(&threads[i], NULL, call_often, &load), 0);
        for (size_t i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        grpc_channel_unref(load.channel);
        return load.n_ok;
}

/* Behind the quoted name in the log that weft_main wrote. */
static unsigned port_in_log(struct program *p, const char *name)
{
        const char *at = strstr(output(p), name);

        at = at ? strchr(at + strlen(name), ':') : NULL; /* behind the name */
        at = at ? strchr(at + 1, ':') : NULL;            /* behind the host */
        return at ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
}

/* The answer of an HTTP server on this host to GET; a static buffer. */
static const char *get(unsigned port)
{
        static const char request[] = "GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
        static char text[16384];
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
        _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        size_t n = 0;
        ssize_t got;

        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ASSERT_INT(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
        ASSERT_INT(write(fd, request, sizeof(request) - 1), sizeof(request) - 1);
        while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
                n += (size_t)got;
        text[n] = 0;
        return text;
}

TEST(many_calls_are_counted)
{
        char directory[] = "/tmp/weft-test-XXXXXX", path[64], target[80], wanted[32];
        const char *metrics;
        struct program p;
        int n_ok;

        ASSERT(mkdtemp(directory));
        snprintf(path, sizeof(path), "%s/socket", directory);
        snprintf(target, sizeof(target), "unix:%s", path);
        snprintf(wanted, sizeof(wanted), "le=\"+Inf\"} %d\n", N_THREADS * N_CALLS);
        begin(&p, (const char *const[]) { "--insecure", "--network=unix", "--address", path,
                                          "--metrics-address=127.0.0.1:0", NULL });
        start(&p);
        n_ok = call_by_many(target);
        metrics = get(port_in_log(&p, "\"metrics\""));
        stop(&p, SIGTERM);
        end(&p);
        ASSERT_INT(n_ok, N_THREADS * N_CALLS);
        ASSERT_INT(p.status, 0);
        ASSERT(strstr(metrics, "content-type: text/plain; version=0.0.4; charset=utf-8\r\n"));
        ASSERT_CASE(metrics, strstr(metrics, wanted));
        unlink(path);
        rmdir(directory);
}
