/* Runs a fuzzer over every file of its corpus, as a TAP test. */
#include "fuzz.h"

#include "buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

static void read_file(int directory, const char *name, struct buf *b)
{
        _cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        assert(fd >= 0);
        do {
                bool has_room = buf_reserve(b, 65536);

                assert(has_room);
                n = read(fd, b->p + b->n, 65536);
                assert(n >= 0);
                b->n += (size_t)n;
        } while (n > 0);
}

int main(int argc, char **argv)
{
        int number = 0;
        DIR *d;

        assert(argc == 2);
        d = opendir(argv[1]);
        if (!d) {
                perror(argv[1]);
                return 1;
        }
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (struct dirent *e; (e = readdir(d));) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);
                _cleanup_free_ char *exact = NULL; /* exactly as large as the input, so that an overrun is detected */

                if (e->d_name[0] == '.')
                        continue;
                read_file(dirfd(d), e->d_name, &b);
                exact = xmalloc(b.n);
                if (b.n)
                        memcpy(exact, b.p, b.n);
                printf("# %s\n", e->d_name);
                LLVMFuzzerTestOneInput((const uint8_t *)exact, b.n);
                printf("ok %d - %s\n", ++number, e->d_name);
        }
        closedir(d);
        printf("1..%d\n", number);
        return number == 0;
}
