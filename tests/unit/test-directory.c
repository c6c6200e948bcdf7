#include "test.h"

#include "buf.h"
#include "directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static unsigned mode_of(const char *path)
{
        struct stat st;

        ASSERT_INT(stat(path, &st), 0);
        return st.st_mode & 07777;
}

TEST(missing_directories_are_made)
{
        char top[] = "/tmp/weft-directory-XXXXXX", path[128];
        _cleanup_err_ struct err err = { 0 };

        ASSERT(mkdtemp(top));
        ASSERT_INT(chmod(top, 0750), 0);
        snprintf(path, sizeof(path), "%s/a//b/c/", top);
        ASSERT_INT(directory_make(path, 0700, 0710, &err), 0);
        snprintf(path, sizeof(path), "%s/a/b/d", top);
        ASSERT_INT(directory_make(path, 0700, 0711, &err), 0);
        ASSERT_INT(mode_of(path), 0700);
        ASSERT_INT(directory_make(path, 0755, 0755, &err), 0); /* it is there: nothing changes */
        ASSERT_INT(mode_of(path), 0700);
        snprintf(path, sizeof(path), "%s/a/b", top);
        ASSERT_INT(mode_of(path), 0710);
        ASSERT_INT(mode_of(top), 0750);
        ASSERT_INT(directory_make("/", 0700, 0700, &err), 0);

        snprintf(path, sizeof(path), "rm -rf %s", top);
        ASSERT_INT(system(path), 0);
}

TEST(an_error_names_the_directory)
{
        char top[] = "/tmp/weft-directory-XXXXXX", path[128], wanted[192];
        _cleanup_err_ struct err err = { 0 };

        ASSERT(mkdtemp(top));
        snprintf(path, sizeof(path), "%s/file", top);
        fclose(fopen(path, "w"));
        snprintf(wanted, sizeof(wanted), "cannot make the directory %s/file/a: Not a directory", top);
        snprintf(path, sizeof(path), "%s/file/a/b", top);
        ASSERT_INT(directory_make(path, 0700, 0700, &err), ERR_SYSTEM);
        ASSERT_TEXT(err_message(&err), wanted);

        snprintf(path, sizeof(path), "rm -rf %s", top);
        ASSERT_INT(system(path), 0);
}
