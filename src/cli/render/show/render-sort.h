/* Sorts the objects in the files by their use. */
#pragma once

#include "render-files.h"
#include "vec.h"

/* An object that may be a composite resource. The Compositions and definitions decide, and they may come later. */
struct render_candidate {
        struct manifest manifest;
        bool is_found;  /* found below a directory; otherwise its file was named */
        bool is_test;   /* in a directory of tests */
        bool is_output; /* its file has composed resources */
};

struct render_sorter {
        struct arena *arena;
        struct render_files *files;
        VEC(struct render_candidate) candidates;
        VEC(struct render_candidate) compositions, definitions; /* found below directories */
        bool has_named_composition;
};

void render_sorter_done(struct render_sorter *s);

/* Adds the objects of a file that was named. An object that is known to be of no use for a render is an error. */
int render_sorter_add_named(struct render_sorter *s, const struct manifests *m, struct err *err);

/* Adds the objects of a file below a directory. path is the path below that directory. Errors go to the list of broken files. */
void render_sorter_add_found(struct render_sorter *s, const struct manifests *m, struct str path);

/* Sorts the remaining objects, after all have been added. */
void render_sorter_finish(struct render_sorter *s);
