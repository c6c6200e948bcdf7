/* Counts resources of this process, for tests that nothing leaks and nothing grows. */
#pragma once

#include <dirent.h>
#include <malloc.h>

#include "test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* From <sanitizer/allocator_interface.h>, which not every compiler package has. */
size_t __sanitizer_get_current_allocated_bytes(void);
#define HEAP_IS_SANITIZED 1
#endif

static inline int count_entries(const char *directory)
{
        DIR *d = opendir(directory);
        int n = 0;

        ASSERT(d);
        for (struct dirent *e = readdir(d); e; e = readdir(d))
                n += e->d_name[0] != '.';
        closedir(d);
        return n;
}

static inline int count_fds(void)
{
        return count_entries("/proc/self/fd") - 1; /* without the fd of this opendir */
}

static inline int count_threads(void)
{
        return count_entries("/proc/self/task");
}

/* Bytes in use on the heap. */
static inline size_t count_heap_bytes(void)
{
#ifdef HEAP_IS_SANITIZED
        return __sanitizer_get_current_allocated_bytes();
#else
        struct mallinfo2 m = mallinfo2();

        return m.uordblks + m.hblkhd;
#endif
}
