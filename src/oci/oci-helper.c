#include "oci-helper.h"

#include "arena.h"
#include "buf.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#define MAX_ANSWER_BYTES (1u << 20)
#define MAX_HELPER_MS    60000
#define POLL_MS          50

extern char **environ;

struct child {
        pid_t pid;
        int output; /* the helper's standard output */
};

static void child_end(struct child *c)
{
        if (c->output >= 0)
                close(c->output);
        if (c->pid > 0) {
                kill(c->pid, SIGKILL);
                while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
}

/* The name becomes part of a program's name: it must not be a path. */
static bool is_helper_name(struct str name)
{
        for (size_t i = 0; i < name.n; i++)
                if (name.p[i] == '/' || name.p[i] == 0)
                        return false;
        return name.n > 0 && name.n <= 128;
}

/* Starts the helper with its whole input in a pipe. The input is far smaller than what a pipe holds. */
static int start(const char *program, struct str server, struct child *ret, struct err *err)
{
        char *const arguments[] = { (char *)program, (char *)"get", NULL };
        _cleanup_close_ int in_read = -1, in_write = -1, out_read = -1, out_write = -1;
        posix_spawn_file_actions_t actions;
        sigset_t none;
        posix_spawnattr_t attributes;
        int in[2], out[2], r;
        pid_t pid;

        if (pipe2(in, O_CLOEXEC) < 0)
                return err_set_errno(err, errno, "cannot make a pipe");
        in_read = in[0];
        in_write = in[1];
        if (pipe2(out, O_CLOEXEC) < 0)
                return err_set_errno(err, errno, "cannot make a pipe");
        out_read = out[0];
        out_write = out[1];
        if (write(in_write, server.p, server.n) != (ssize_t)server.n)
                return err_set_errno(err, errno, "cannot write to a pipe");
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in_read, 0);
        posix_spawn_file_actions_adddup2(&actions, out_write, 1);
        posix_spawnattr_init(&attributes);
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        r = posix_spawnp(&pid, program, &actions, &attributes, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        if (r != 0)
                return err_set_errno(err, r,
                                     "cannot run the credential helper %s; install it or remove it from the "
                                     "configuration",
                                     program);
        *ret = (struct child) { .pid = pid, .output = TAKE_FD(out_read) };
        return 0;
}

/* Reads all of the helper's output; the helper may hang or never stop. */
static int read_output(struct child *c, const char *program, struct deadline deadline, struct cancel *cancel,
                       struct buf *b, struct err *err)
{
        for (;;) {
                struct pollfd p = { .fd = c->output, .events = POLLIN };
                char block[4096];
                ssize_t n;
                int r = cancel_check(cancel, err);

                if (r < 0)
                        return r;
                if (deadline_has_passed(deadline))
                        return err_set(err, ERR_TIMEOUT, "the credential helper %s did not answer in time", program);
                r = poll(&p, 1, MIN((unsigned)deadline_remaining_ms(deadline), (unsigned)POLL_MS));
                if (r == 0 || (r < 0 && errno == EINTR))
                        continue;
                n = r < 0 ? -1 : read(c->output, block, sizeof(block));
                if (n < 0 && errno != EINTR)
                        return err_set_errno(err, errno, "cannot read from the credential helper %s", program);
                if (n == 0)
                        return buf_check(b, "the credential helper's answer", err);
                if (n > 0)
                        buf_append(b, block, (size_t)n);
                if (b->has_failed)
                        return buf_check(b, "the credential helper's answer", err);
        }
}

/* Its output is at its end, so it is about to end or misbehaves. */
static int wait_for(struct child *c, struct deadline deadline)
{
        int status;

        for (;;) {
                pid_t r = waitpid(c->pid, &status, WNOHANG);

                if (r == c->pid) {
                        c->pid = 0;
                        return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
                }
                if ((r < 0 && errno != EINTR) || deadline_has_passed(deadline))
                        return 128;
                thread_sleep(deadline_after_ms(1), NULL);
        }
}

static int read_login(struct arena *a, const char *program, struct str json, struct oci_login *ret, struct err *err)
{
        struct oci_login login = { 0 };
        const struct value *answer;

        if (json_parse(a, json, NULL, &answer, NULL) < 0 || !value_is_object(answer))
                return err_set(err, ERR_INVALID, "the credential helper %s did not answer with a JSON object", program);
        login.username = value_str(value_get(answer, STR("Username")));
        login.password = value_str(value_get(answer, STR("Secret")));
        if (str_equal(login.username, STR("<token>")))
                login = (struct oci_login) { .identity_token = login.password };
        *ret = login;
        return login.username.n > 0 || login.password.n > 0 || login.identity_token.n > 0;
}

int oci_helper_get(struct arena *a, struct str name, struct str server, struct deadline deadline, struct cancel *cancel,
                   struct oci_login *ret, struct err *err)
{
        _cleanup_(child_end)
        struct child child = { .output = -1 };
        _cleanup_buf_ struct buf answer = BUF_INIT(MAX_ANSWER_BYTES);
        const char *program;
        int r, status;

        if (!is_helper_name(name))
                return err_set(err, ERR_INVALID, "\"%.*s\" is not the name of a credential helper", STR_ARG(name));
        program = arena_printf(a, "docker-credential-%.*s", STR_ARG(name)).p;
        deadline = deadline_earliest(deadline, deadline_after_ms(MAX_HELPER_MS));
        r = start(program, server, &child, err);
        if (r >= 0)
                r = read_output(&child, program, deadline, cancel, &answer, err);
        if (r < 0)
                return r;
        status = wait_for(&child, deadline);
        if (status != 0 && str_find(buf_str(&answer), STR("not found")) >= 0)
                return 0; /* `credentials not found in native keychain` */
        if (status != 0)
                return err_set(err, ERR_FAILED, "the credential helper %s failed with status %d: %.*s", program, status,
                               STR_ARG(str_first(str_trim(buf_str(&answer)), 200)));
        return read_login(a, program, buf_to_arena(&answer, a), ret, err);
}
