#include "directory.h"

#include <errno.h>
#include <sys/stat.h>

static int make_one(const char *path, mode_t mode, struct err *err)
{
        if (mkdir(path, mode) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make the directory %s", path);
        return 0;
}

int directory_make(const char *path, mode_t mode, mode_t above, struct err *err)
{
        _cleanup_free_ char *part = str_to_cstring(str_from(path));

        for (char *slash = part; *slash && (slash = strchr(slash + 1, '/'));) {
                int r;

                *slash = '\0';
                r = make_one(part, above, err);
                if (r < 0)
                        return r;
                *slash = '/';
        }
        return make_one(path, mode, err);
}
