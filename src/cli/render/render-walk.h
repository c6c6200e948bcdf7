/* Finds the manifests below a directory. */
#pragma once

#include "str-list.h"

struct err;

struct render_walk {
        struct str_list files; /* paths of all *.yaml, *.yml and *.json, each directory sorted by name */
        size_t n_chart_files;  /* templates of Helm charts, which are not in `files` */
};

/* Visits all directories whose names do not begin with a dot. Links to directories are not followed: they may form a loop. */
int render_walk(struct arena *a, struct str directory, struct render_walk *ret, struct err *err);

/* Whether the file name is that of a manifest: not hidden, and with one of the extensions above. */
bool render_walk_is_manifest(struct str name);

/* Whether a directory of this name contains tests. */
bool render_walk_is_test(struct str name);
