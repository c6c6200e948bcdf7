#include "leftovers.h"

#include "ascii.h"
#include "log.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_CHARACTERS 6 /* of mkostemp */

static bool is_random(struct str s)
{
        if (s.n != RANDOM_CHARACTERS)
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (!ascii_is_digit(s.p[i]) && !ascii_is_letter(s.p[i]))
                        return false;
        return true;
}

static bool is_temporary(struct str file, const char *const *names)
{
        for (; *names; names++) {
                struct str name = str_from(*names);

                if (str_starts_with(file, name) && file.n > name.n && file.p[name.n] == '.' &&
                    is_random(str_skip(file, name.n + 1)))
                        return true;
        }
        return false;
}

static bool is_regular(int directory, const char *file)
{
        struct stat st;

        return fstatat(directory, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

void leftovers_remove(const char *directory, const char *const *names)
{
        DIR *d = opendir(directory);
        const struct dirent *e;

        if (!d)
                return;
        while ((e = readdir(d))) {
                if (!is_temporary(str_from(e->d_name), names) || !is_regular(dirfd(d), e->d_name))
                        continue;
                if (unlinkat(dirfd(d), e->d_name, 0) < 0)
                        log_warn("cannot remove a temporary file", LOG_TEXT("directory", directory),
                                 LOG_TEXT("file", e->d_name), LOG_TEXT("error", strerror(errno)));
        }
        closedir(d);
}
