#pragma once

#include "render-files.h"

/* Replaces definitions and Compositions of the first design by modern ones. Wrong ones go to the list of broken files. */
void render_first_convert(struct arena *a, struct render_files *files);

/* Writes references of applications, infrastructure and requirements as the API stores them. */
void render_first_complete(struct arena *a, struct render_files *files);
