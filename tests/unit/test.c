#include "test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct test *tests, **last = &tests;
static jmp_buf end_of_test;
static pthread_t main_thread;

#ifdef __SANITIZE_THREAD__
/* libuv closes files by syscall(), where ThreadSanitizer does not see it. It would then take another thread's next file of the same
 * number for the closed one and report a race between the two. Closes go through close() here, which it does see. */
typedef long syscall_function(long number, ...);

long syscall(long number, ...)
{
        static _Atomic(syscall_function *) real;
        syscall_function *f = real; /* gcc reads an atomic pointer that is called directly without an atomic load */
        long a[6];
        va_list arguments;

        va_start(arguments, number);
        for (size_t i = 0; i < 6; i++)
                a[i] = va_arg(arguments, long);
        va_end(arguments);
        if (number == SYS_close)
                return close((int)a[0]);
        if (!f)
                real = f = (syscall_function *)dlsym(RTLD_NEXT, "syscall");
        return f(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif

/* Ends the process while threads of a failed test may still run: nothing that they use is taken down. */
static _Noreturn void end_failed(void)
{
        fflush(NULL);
        _exit(1);
}

void test_register(struct test *t)
{
        *last = t;
        last = &t->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
        va_list arguments;

        printf("# %s:%d: ", file, line);
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
        if (!pthread_equal(pthread_self(), main_thread))
                end_failed();
        longjmp(end_of_test, 1);
}

bool test_dies(void (*f)(void))
{
        int status = 0;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0) {
                const struct rlimit no_core = { 0, 0 };
                int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

                setrlimit(RLIMIT_CORE, &no_core);
                dup2(null, STDOUT_FILENO);
                dup2(null, STDERR_FILENO);
                f();
                _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
                test_fail(__FILE__, __LINE__, "cannot start a process");
        return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool passes(const struct test *t)
{
        if (setjmp(end_of_test) != 0)
                return false;
        t->run();
        return true;
}

int main(int argc, char **argv)
{
        int number = 0, failed = 0;

        main_thread = pthread_self();
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (struct test *t = tests; t; t = t->next) {
                bool is_ok;

                if (argc > 1 && strcmp(argv[1], t->name) != 0)
                        continue;
                is_ok = passes(t);
                failed += !is_ok;
                printf("%s %d - %s\n", is_ok ? "ok" : "not ok", ++number, t->name);
        }
        printf("1..%d\n", number);
        if (number == 0) {
                fprintf(stderr, "no test ran\n");
                return 1;
        }
        if (failed)
                end_failed();
        return 0;
}
