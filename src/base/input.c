#include "input.h"

#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define READ_BYTES (64u << 10)

struct str input_name(const char *name)
{
        return strcmp(name, "-") == 0 ? STR("<stdin>") : str_from(name);
}

/* A regular file's size and one byte more, so that its end is seen without growing the buffer; else, what a pipe may have at once. */
static size_t expected_bytes(int fd)
{
        struct stat st;

        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
                return READ_BYTES;
        return (size_t)MIN((unsigned long long)st.st_size, LIMIT_DOCUMENT_BYTES) + 1;
}

static int read_all(int fd, struct str name, struct buf *ret, struct err *err)
{
        size_t wanted = expected_bytes(fd);

        for (;;) {
                ssize_t n;

                if (ret->n > LIMIT_DOCUMENT_BYTES || !buf_reserve(ret, wanted))
                        return err_set(err, ERR_LIMIT, "%.*s is larger than the limit of %llu bytes", STR_ARG(name),
                                       LIMIT_DOCUMENT_BYTES);
                n = read(fd, ret->p + ret->n, wanted);
                if (n == 0)
                        return 0;
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_set_errno(err, errno, "cannot read %.*s", STR_ARG(name));
                ret->n += (size_t)n;
                wanted -= (size_t)n;
                if (wanted == 0)
                        wanted = READ_BYTES;
        }
}

int input_read(const char *name, struct buf *ret, struct err *err)
{
        _cleanup_close_ int opened = -1;
        int fd = STDIN_FILENO;

        ret->max_bytes = LIMIT_DOCUMENT_BYTES + READ_BYTES;
        if (strcmp(name, "-") != 0) {
                fd = opened = open(name, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        return err_set_errno(err, errno, "cannot open %s", name);
        }
        return read_all(fd, input_name(name), ret, err);
}
