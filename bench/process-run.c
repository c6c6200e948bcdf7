/* process-run ROUNDS COMMAND...: runs shell-quoted commands in turn, ROUNDS times each, and prints a line for each command: the
 * best time of one run, in microseconds of wall time and of processor time (of the command's process alone, user and system), and
 * its peak resident memory, in KiB.
 *
 * A COMMAND is INPUT PROGRAM ARGUMENTS...; commands are separated by `--`. The output is dropped; a status other than 0 is an
 * error. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 8

extern char **environ;

struct command {
        char **argv; /* the first is the input */
        double wall_us;
        double cpu_us;
        long memory_kib;
};

static double now_us(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us_of(struct timeval t)
{
        return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static _Noreturn void die(const struct command *c, const char *what)
{
        fprintf(stderr, "process-run: %s: %s\n", c->argv[1], what);
        exit(1);
}

static pid_t start(const struct command *c)
{
        posix_spawn_file_actions_t files;
        pid_t pid;
        int e;

        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, c->argv[0], O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
        e = posix_spawn(&pid, c->argv[1], &files, NULL, c->argv + 1, environ);
        posix_spawn_file_actions_destroy(&files);
        if (e)
                die(c, strerror(e));
        return pid;
}

static void keep_least(double *best, double v)
{
        if (*best == 0 || v < *best)
                *best = v;
}

static void run(struct command *c)
{
        double begin = now_us();
        pid_t pid = start(c);
        struct rusage used;
        int status;

        while (wait4(pid, &status, 0, &used) < 0)
                if (errno != EINTR)
                        die(c, strerror(errno));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                die(c, "it fails");
        keep_least(&c->wall_us, now_us() - begin);
        keep_least(&c->cpu_us, us_of(used.ru_utime) + us_of(used.ru_stime));
        if (used.ru_maxrss > c->memory_kib)
                c->memory_kib = used.ru_maxrss;
}

static size_t split(char **argv, int n, struct command *commands)
{
        size_t count = 0;

        for (int i = 0, first = 0; i <= n; i++) {
                if (i < n && strcmp(argv[i], "--") != 0)
                        continue;
                if (i - first < 2 || count == MAX_COMMANDS)
                        return 0;
                argv[i] = NULL;
                commands[count++].argv = argv + first;
                first = i + 1;
        }
        return count;
}

int main(int argc, char **argv)
{
        struct command commands[MAX_COMMANDS] = { 0 };
        int rounds = argc > 1 ? atoi(argv[1]) : 0;
        size_t n = rounds > 0 ? split(argv + 2, argc - 2, commands) : 0;

        if (n == 0) {
                fprintf(stderr, "usage: process-run ROUNDS INPUT PROGRAM [ARGUMENT...] [-- INPUT PROGRAM ...]\n");
                return 2;
        }
        for (int i = 0; i < rounds; i++)
                for (size_t j = 0; j < n; j++)
                        run(&commands[j]);
        for (size_t j = 0; j < n; j++)
                printf("%.0f %.0f %ld\n", commands[j].wall_us, commands[j].cpu_us, commands[j].memory_kib);
        return 0;
}
