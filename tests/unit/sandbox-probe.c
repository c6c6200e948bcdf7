/* A program for tests of the process runtime: it does what it is told over TCP, one command a line, and says what came of it. A call
 * that fails answers with the name of its error. Built alone and static, so that an image needs nothing else. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Thread_local char answer[16384];

static void say(const char *text)
{
        snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), "%s", text);
}

static void say_result(long r)
{
        say(r < 0 ? strerrorname_np(errno) : "ok");
}

static void say_number(long n)
{
        char text[32];

        snprintf(text, sizeof(text), "%ld", n);
        say(text);
}

static void read_file(const char *path)
{
        char text[8192];
        int fd = open(path, O_RDONLY);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

        if (n < 0) {
                say_result(-1);
        } else {
                text[n] = '\0';
                for (char *c = text; *c; c++)
                        *c = *c == '\n' ? '|' : *c;
                say(text);
        }
        if (fd >= 0)
                close(fd);
}

static void write_file(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT, 0755);

        say_result(fd < 0 ? -1 : write(fd, "x", 1));
        if (fd >= 0)
                close(fd);
}

static int by_name(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
        DIR *d = opendir(path);
        char *names[1024];
        size_t n = 0;

        if (!d) {
                say_result(-1);
                return;
        }
        for (struct dirent *e; (e = readdir(d)) && n < 1024;)
                if (e->d_name[0] != '.')
                        names[n++] = strdup(e->d_name);
        closedir(d);
        qsort(names, n, sizeof(*names), by_name);
        for (size_t i = 0; i < n; i++) {
                say(i ? " " : "");
                say(names[i]);
                free(names[i]);
        }
}

static _Atomic int is_ours[4096]; /* descriptors that we opened for connections */

/* Descriptors that are open, without our own. */
static void list_descriptors(void)
{
        for (int i = 0; i < 4096; i++)
                if (!is_ours[i] && fcntl(i, F_GETFD) >= 0) {
                        say(answer[0] ? " " : "");
                        say_number(i);
                }
}

/* How many processes it can have at a time. */
static void fork_bomb(void)
{
        int ends[2], n = 0;
        char byte;

        if (pipe(ends) < 0)
                _exit(9);
        for (; n < 100000; n++) {
                pid_t pid = fork();

                if (pid < 0)
                        break;
                if (pid == 0) {
                        close(ends[1]);
                        (void)!read(ends[0], &byte, 1);
                        _exit(0);
                }
        }
        close(ends[1]);
        close(ends[0]);
        while (wait(NULL) > 0)
                ;
        say_number(n);
}

static void allocate(long mebibytes)
{
        for (long i = 0; i < mebibytes; i++) {
                char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

                if (p == MAP_FAILED) {
                        say_result(-1);
                        return;
                }
                memset(p, 1, 1 << 20);
        }
        say("ok");
}

/* Memory that it could write to, and does not. */
static void reserve(long mebibytes)
{
        void *p = mmap(NULL, (size_t)mebibytes << 20, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        say_result(p == MAP_FAILED ? -1 : munmap(p, (size_t)mebibytes << 20));
}

static void connect_to(char *rest)
{
        const char *address = strsep(&rest, " ");
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(rest)) };
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        inet_pton(AF_INET, address, &to.sin_addr);
        say_result(connect(fd, (struct sockaddr *)&to, sizeof(to)));
        close(fd);
}

static void call(const char *what)
{
        char empty[256] = { 0 };

        if (!strcmp(what, "mount"))
                say_result(mount("tmpfs", "/tmp", "tmpfs", 0, ""));
        else if (!strcmp(what, "umount"))
                say_result(umount2("/proc", MNT_DETACH));
        else if (!strcmp(what, "unshare"))
                say_result(unshare(CLONE_NEWUSER));
        else if (!strcmp(what, "clone"))
                say_result(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
        else if (!strcmp(what, "clone3"))
                say_result(syscall(SYS_clone3, empty, 64));
        else if (!strcmp(what, "ptrace"))
                say_result(ptrace(PTRACE_ATTACH, 1, NULL, NULL));
        else if (!strcmp(what, "bpf"))
                say_result(syscall(SYS_bpf, 0, empty, 64));
        else if (!strcmp(what, "keyctl"))
                say_result(syscall(SYS_keyctl, 0, -3, 1));
        else if (!strcmp(what, "userfaultfd"))
                say_result(syscall(SYS_userfaultfd, 0));
        else if (!strcmp(what, "io_uring"))
                say_result(syscall(SYS_io_uring_setup, 1, empty));
        else if (!strcmp(what, "module"))
                say_result(syscall(SYS_init_module, empty, 1, ""));
        else if (!strcmp(what, "kexec"))
                say_result(syscall(SYS_kexec_load, 0, 0, NULL, 0));
        else if (!strcmp(what, "process_vm"))
                say_result(syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0));
        else if (!strcmp(what, "handle"))
                say_result(syscall(SYS_open_by_handle_at, 0, empty, 0));
        else if (!strcmp(what, "chroot"))
                say_result(chroot("/tmp"));
        else if (!strcmp(what, "hostname"))
                say_result(sethostname("x", 1));
        else if (!strcmp(what, "mknod"))
                say_result(mknod("/tmp/disk", S_IFBLK | 0600, 1 << 8));
        else if (!strcmp(what, "setuid"))
                say_result(setuid(0));
        else if (!strcmp(what, "vsock"))
                say_result(socket(40, SOCK_STREAM, 0));
        else if (!strcmp(what, "packet"))
                say_result(socket(AF_PACKET, SOCK_RAW, 0));
        else if (!strcmp(what, "raw"))
                say_result(socket(AF_INET, SOCK_RAW, 1));
        else if (!strcmp(what, "kill"))
                say_result(kill(-1, 0));
        else if (!strcmp(what, "killinit"))
                say_result(kill(1, SIGKILL));
        else
                say("unknown call");
}

static void obey(char *line, int connection)
{
        char *word = strsep(&line, " "), *rest = line ? line : (char *)"";

        answer[0] = '\0';
        if (!strcmp(word, "read"))
                read_file(rest);
        else if (!strcmp(word, "write"))
                write_file(rest);
        else if (!strcmp(word, "list"))
                list(rest);
        else if (!strcmp(word, "open"))
                say_result(open(rest, O_RDWR));
        else if (!strcmp(word, "descriptors"))
                list_descriptors();
        else if (!strcmp(word, "ids"))
                snprintf(answer, sizeof(answer), "%d %d %d %d", getuid(), geteuid(), getgid(), getpid());
        else if (!strcmp(word, "forks"))
                fork_bomb();
        else if (!strcmp(word, "allocate"))
                allocate(atol(rest));
        else if (!strcmp(word, "reserve"))
                reserve(atol(rest));
        else if (!strcmp(word, "connect"))
                connect_to(rest);
        else if (!strcmp(word, "call"))
                call(rest);
        else if (!strcmp(word, "environment"))
                say(getenv(rest) ? getenv(rest) : "(none)");
        else if (!strcmp(word, "print"))
                fprintf(stderr, "%s\n", rest);
        else if (!strcmp(word, "exit"))
                exit(atoi(rest));
        else if (!strcmp(word, "abort"))
                raise(SIGSEGV);
        else
                say("unknown command");
        say("\n");
        (void)!write(connection, answer, strlen(answer));
}

static void *serve(void *arg)
{
        int connection = (int)(intptr_t)arg;
        char text[4096];
        size_t n = 0;
        ssize_t got;

        while (n < sizeof(text) - 1 && (got = read(connection, text + n, sizeof(text) - 1 - n)) > 0) {
                char *end;

                n += (size_t)got;
                text[n] = '\0';
                while ((end = strchr(text, '\n'))) {
                        *end = '\0';
                        obey(text, connection);
                        n -= (size_t)(end + 1 - text);
                        memmove(text, end + 1, n + 1);
                }
        }
        close(connection); /* the next connection may have its number at once, so it stays marked */
        return NULL;
}

int main(int argc, char **argv)
{
        struct sockaddr_in at = { .sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(getenv("PORT") ? getenv("PORT") : "9443")) };
        int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;

        for (int i = 1; i < argc; i++)
                printf("argument %s\n", argv[i]);
        fflush(stdout);
        if (argc > 1 && !strcmp(argv[1], "fail")) {
                fprintf(stderr, "it fails\n");
                return 3;
        }
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (bind(listening, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listening, 16) < 0) {
                fprintf(stderr, "{\"error\":\"listen tcp :%d: bind: %s\"}\ngoodbye\n", ntohs(at.sin_port),
                        strerror(errno));
                return 1;
        }
        is_ours[listening] = 1;
        signal(SIGCHLD, SIG_DFL);
        for (;;) {
                int connection = accept(listening, NULL, NULL);

                pthread_t thread;

                if (connection >= 0)
                        is_ours[connection] = 1;
                if (connection >= 0 && pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) == 0)
                        pthread_detach(thread);
        }
}
