#include "test.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct test *tests, **last = &tests;
static jmp_buf end_of_test;

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
        return failed != 0;
}
