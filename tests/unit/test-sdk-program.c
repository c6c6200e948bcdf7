/* The parts of a function as a program: its flags and its metrics. Texts of errors are those that alecthomas/kong v1.13.0 printed
 * for a program with the same flags, unless a comment says that we differ. */
#include "test.h"

#include <unistd.h>

#include "buf.h"
#include "flags.h"
#include "metrics.h"

static const struct weft_flag own[] = {
        { .name = "dir", .environment = "KDIR", .help = "Directory with things." },
        { .name = "n", .type = WEFT_FLAG_INT, .value = "4", .environment = "KN", .help = "N" },
        { .name = "r", .letter = 'r', .help = "r." },
        { .name = "bb", .letter = 'b', .type = WEFT_FLAG_BOOL, .environment = "KB" },
        { .name = "ttl", .type = WEFT_FLAG_DURATION, .value = "60s", .environment = "KTTL", .value_name = "TIME" },
        { .name = "low", .type = WEFT_FLAG_INT, .min = -5, .max = 5 },
        { .name = "wait", .type = WEFT_FLAG_DURATION },
        { .name = "where", .value_name = "PLACE" },
};

static const struct weft_function function = {
        .name = "function-x", .help = "Does things.", .flags = own, .n_flags = ARRAY_SIZE(own)
};

#define WORDS(...) ((const char *const[]) { __VA_ARGS__ __VA_OPT__(, ) NULL })

/* "" or the error; the flags are the caller's to give back. */
static const char *read_flags(struct flags *f, const char *const *arguments, const char *const *environment,
                              struct err *err)
{
        return flags_read(f, &function, arguments, environment, err) < 0 ? err_message(err) : "";
}

TEST(defaults)
{
        _cleanup_err_ struct err err = { 0 };
        struct flags f;

        ASSERT_TEXT(read_flags(&f, WORDS(), WORDS(), &err), "");
        ASSERT_TEXT(f.values[FLAG_NETWORK].text, "tcp");
        ASSERT_TEXT(f.values[FLAG_ADDRESS].text, ":9443");
        ASSERT_TEXT(f.values[FLAG_TLS_CERTS_DIR].text, "");
        ASSERT_TEXT(f.values[FLAG_METRICS_ADDRESS].text, "");
        ASSERT_INT(f.values[FLAG_MAX_RECV_MESSAGE_SIZE].i, 64);
        ASSERT(!f.values[FLAG_DEBUG].b && !f.values[FLAG_INSECURE].b && !f.values[FLAG_HELP].b);
        ASSERT_TEXT(flags_find(&f, "dir", WEFT_FLAG_TEXT)->text, "");
        ASSERT_INT(flags_find(&f, "n", WEFT_FLAG_INT)->i, 4);
        ASSERT(flags_find(&f, "ttl", WEFT_FLAG_DURATION)->i == INT64_C(60000000000));
        ASSERT(!flags_find(&f, "n", WEFT_FLAG_TEXT) && !flags_find(&f, "address", WEFT_FLAG_TEXT) &&
               !flags_find(&f, "nosuch", WEFT_FLAG_TEXT));
        flags_done(&f);
}

/* Each case is read as `dir n r bb ttl-in-ms debug`. */
TEST(where_values_come_from)
{
        const struct {
                const char *const *arguments, *const *environment;
                const char *wanted;
        } cases[] = {
                { WORDS("--dir=x", "--n=5", "-d"), WORDS(), "x 5  0 60000 1" },
                { WORDS("--dir", "x", "--n", "5", "--debug=false"), WORDS(), "x 5  0 60000 0" },
                { WORDS("-rx"), WORDS(), " 4 x 0 60000 0" },
                { WORDS("-r", "x", "-b"), WORDS(), " 4 x 1 60000 0" },
                { WORDS("-r=x"), WORDS(), " 4 =x 0 60000 0" },
                { WORDS("-dbr", "x"), WORDS(), " 4 x 1 60000 1" },
                { WORDS("-dbrx"), WORDS(), " 4 x 1 60000 1" },
                { WORDS("--r", "-"), WORDS(), " 4 - 0 60000 0" },
                { WORDS("--r="), WORDS(), " 4  0 60000 0" },
                { WORDS("--bb=yes", "--ttl=1.5s", "--"), WORDS(), " 4  1 1500 0" },
                { WORDS("--n=0x10", "--bb=1"), WORDS(), " 16  1 60000 0" },
                { WORDS("--n=010", "--bb=no"), WORDS(), " 8  0 60000 0" },
                { WORDS("--n=-1", "--bb=0", "--n=+2"), WORDS(), " 2  0 60000 0" },
                { WORDS(), WORDS("KN=7", "KDIR=y", "KB=true", "KTTL=1m", "KNX=8"), "y 7  1 60000 0" },
                { WORDS("--n=8"), WORDS("KN=x", "KDIR=y"), "y 8  0 60000 0" },
                /* An empty variable is the same as none; in Go it is read, which only texts survive. */
                { WORDS(), WORDS("KN=", "KDIR="), " 4  0 60000 0" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                struct flags f;

                ASSERT_TEXT(read_flags(&f, cases[i].arguments, cases[i].environment, &err), "");
                buf_appendf(&b, "%s %lld %s %d %lld %d", flags_find(&f, "dir", WEFT_FLAG_TEXT)->text,
                            (long long)flags_find(&f, "n", WEFT_FLAG_INT)->i, flags_find(&f, "r", WEFT_FLAG_TEXT)->text,
                            flags_find(&f, "bb", WEFT_FLAG_BOOL)->b,
                            (long long)flags_find(&f, "ttl", WEFT_FLAG_DURATION)->i / 1000000, f.values[FLAG_DEBUG].b);
                ASSERT_TEXT(buf_cstring(&b), cases[i].wanted);
                flags_done(&f);
        }
}

TEST(wrong_flags)
{
        const struct {
                const char *const *arguments;
                const char *wanted;
        } cases[] = {
                { WORDS("--zzzzzz"), "unknown flag --zzzzzz" },
                { WORDS("--addres=1"), "unknown flag --addres, did you mean \"--address\"?" },
                { WORDS("-x"), "unknown flag -x" }, /* there it guesses what was meant */
                { WORDS("x"), "unexpected argument x" },
                { WORDS("-"), "unexpected argument -" },
                { WORDS("--", "y"), "unexpected argument y" },
                { WORDS("--dir"), "--dir: expected string value but got \"EOL\" (<EOL>)" },
                { WORDS("-dr"), "--r: expected string value but got \"EOL\" (<EOL>)" },
                { WORDS("--dir", "--debug"),
                  "--dir: expected string value but got \"--debug\" (long flag); perhaps try --dir=\"--debug\"?" },
                { WORDS("--n", "-1"), "--n: expected int value but got \"-1\" (short flag); perhaps try --n=\"-1\"?" },
                { WORDS("--n="), "--n: expected a valid 64 bit int but got \"\"" },
                { WORDS("--n= 1"), "--n: expected a valid 64 bit int but got \" 1\"" },
                { WORDS("--n=1x"), "--n: expected a valid 64 bit int but got \"1x\"" },
                { WORDS("--n=99999999999999999999"),
                  "--n: expected a valid 64 bit int but got \"99999999999999999999\"" },
                { WORDS("--max-recv-message-size", "x"),
                  "--max-recv-message-size: expected a valid 64 bit int but got \"x\"" },
                /* Bounds are ours. */
                { WORDS("--max-recv-message-size=0"), "--max-recv-message-size: must be between 1 and 2047 but got 0" },
                { WORDS("--max-memory=15"), "--max-memory: must be between 16 and 1048576 but got 15" },
                { WORDS("--low=-6"), "--low: must be between -5 and 5 but got -6" },
                { WORDS("--low=6"), "--low: must be between -5 and 5 but got 6" },
                { WORDS("--debug=maybe"),
                  "--debug: bool value must be true, 1, yes, false, 0 or no but got \"maybe\"" },
                { WORDS("--debug="), "--debug: bool value must be true, 1, yes, false, 0 or no but got \"\"" },
                { WORDS("--ttl=x"), "--ttl: expected duration but got \"x\": time: invalid duration \"x\"" },
                { WORDS("--ttl=90"), "--ttl: expected duration but got \"90\": time: missing unit in duration \"90\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct flags f;

                ASSERT_TEXT(read_flags(&f, cases[i].arguments, WORDS(), &err), cases[i].wanted);
                ASSERT_INT(err.code, ERR_INVALID);
                flags_done(&f);
        }
}

TEST(wrong_variables)
{
        static const struct {
                const char *variable, *wanted;
        } cases[] = {
                { "KN=x", "--n: expected a valid 64 bit int but got \"x\" (from envar KN=\"x\")" },
                { "KB=maybe", "--bb: bool value must be true, 1, yes, false, 0 or no but got \"maybe\" (from envar "
                              "KB=\"maybe\")" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };
                struct flags f;

                ASSERT_TEXT(read_flags(&f, WORDS(), WORDS(cases[i].variable), &err), cases[i].wanted);
                ASSERT_INT(err.code, ERR_FAILED);
                flags_done(&f);
        }
}

TEST(wrong_declarations)
{
        static const struct {
                struct weft_flag flags[2];
                const char *wanted;
        } cases[] = {
                { { { .name = "debug" } }, "the flag --debug is declared twice" },
                { { { .name = "a" }, { .name = "a" } }, "the flag --a is declared twice" },
                { { { .name = "a", .letter = 'd' } }, "the flag -d is declared twice" },
                { { { .name = NULL } }, "the function declares a flag without a name" },
                { { { .name = "a", .type = 99 } }, "the flag --a is declared with an unknown type" },
                { { { .name = "a", .type = WEFT_FLAG_INT, .value = "x" } },
                  "the default of a flag: --a: expected a valid 64 bit int but got \"x\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct weft_function f = { .name = "function-x", .flags = cases[i].flags, .n_flags = 2 };
                _cleanup_err_ struct err err = { 0 };
                struct flags flags;

                ASSERT_INT(flags_read(&flags, &f, WORDS(), NULL, &err), ERR_FAILED);
                ASSERT_TEXT(err_message(&err), cases[i].wanted);
                flags_done(&flags);
        }
}

TEST(help)
{
        _cleanup_err_ struct err err = { 0 };
        int out = dup(STDOUT_FILENO);
        FILE *file = tmpfile();
        char got[4096] = "";
        struct flags f;

        ASSERT_TEXT(read_flags(&f, WORDS("--help"), NULL, &err), "");
        ASSERT(f.values[FLAG_HELP].b);
        fflush(stdout);
        dup2(fileno(file), STDOUT_FILENO);
        flags_print_help(&f, "function-x");
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
        close(out);
        ASSERT(pread(fileno(file), got, sizeof(got) - 1, 0) > 0);
        fclose(file);
        flags_done(&f);
        ASSERT_TEXT(got, "Usage: function-x [flags]\n"
                         "\n"
                         "Does things.\n"
                         "\n"
                         "Flags of this function:\n"
                         "      --dir=TEXT                  Directory with things ($KDIR).\n"
                         "      --n=4                       N ($KN).\n"
                         "  -r, --r=TEXT                    r.\n"
                         "  -b, --bb                         ($KB).\n"
                         "      --ttl=60s                    ($KTTL).\n"
                         "      --low=NUMBER\n"
                         "      --wait=DURATION\n"
                         "      --where=PLACE\n"
                         "\n"
                         "Flags:\n"
                         "  -h, --help                      Show this help.\n"
                         "  -d, --debug                     Log debug messages, in a form for people.\n"
                         "      --network=tcp               Network to listen on: tcp or unix.\n"
                         "      --address=:9443             Address to listen at.\n"
                         "      --tls-certs-dir=DIR         Directory with tls.crt, tls.key and the ca.crt that client "
                         "certificates must be signed by ($TLS_SERVER_CERTS_DIR).\n"
                         "      --insecure                  Serve without TLS. A directory with certificates is then "
                         "not used.\n"
                         "      --max-recv-message-size=64  Largest request that is accepted, in MiB.\n"
                         "      --max-memory=MIB            Memory for all calls together, in MiB; one call may have "
                         "7/8 of it. By default 192, or half of what the container may have if that is less.\n"
                         "      --metrics-address=ADDRESS   Serve Prometheus metrics at this address. Off by "
                         "default.\n");
}

/* --- Metrics --- */

#define LABELS                                                                                          \
        "grpc_method=\"RunFunction\",grpc_service=\"apiextensions.fn.proto.v1.FunctionRunnerService\"," \
        "grpc_type=\"unary\""

TEST(metrics_count)
{
        static const char *const wanted[] = {
                "\ngrpc_server_started_total{" LABELS "} 5\n",
                "\ngrpc_server_handled_total{grpc_code=\"OK\"," LABELS "} 3\n",
                "\ngrpc_server_handled_total{grpc_code=\"Internal\"," LABELS "} 1\n",
                "# TYPE grpc_server_handling_seconds histogram\n",
                "\ngrpc_server_handling_seconds_bucket{" LABELS ",le=\"0.00025\"} 1\n",
                "\ngrpc_server_handling_seconds_bucket{" LABELS ",le=\"0.0005\"} 2\n",
                "\ngrpc_server_handling_seconds_bucket{" LABELS ",le=\"1\"} 2\n",
                "\ngrpc_server_handling_seconds_bucket{" LABELS ",le=\"2.5\"} 3\n",
                "\ngrpc_server_handling_seconds_bucket{" LABELS ",le=\"10\"} 3\n",
                "\ngrpc_server_handling_seconds_bucket{" LABELS ",le=\"+Inf\"} 4\n",
                "\ngrpc_server_handling_seconds_sum{" LABELS "} 61.500500001\n",
                "\ngrpc_server_handling_seconds_count{" LABELS "} 4\n",
                "\nweft_function_fatal_total 1\n",
        };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct metrics m = { 0 };

        for (size_t i = 0; i < 5; i++)
                metrics_start(&m);
        metrics_finish(&m, GRPC_OK, false, 250000);
        metrics_finish(&m, GRPC_OK, true, 250001);
        metrics_finish(&m, GRPC_OK, false, 1500000000);
        metrics_finish(&m, GRPC_INTERNAL, false, 60000000000);
        metrics_append(&b, &m);
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                ASSERT_CASE(wanted[i], str_find(buf_str(&b), str_from(wanted[i])) >= 0);
        ASSERT(str_find(buf_str(&b), STR("grpc_code=\"Unavailable\"," LABELS "} 0\n")) > 0);
}
