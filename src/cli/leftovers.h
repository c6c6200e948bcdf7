/* Temporary files of a process that was killed while it wrote a file: NAME.XXXXXX, as private_file_write makes them. They may hold keys,
 * and nothing else would ever remove them. */
#pragma once

/* Removes them from the directory, for these names (NULL behind the last one); other files stay. A file that cannot be removed is left
 * and logged. The caller has the directory to itself. A directory that does not exist is fine. */
void leftovers_remove(const char *directory, const char *const *names);
