/* What is wrong, said where it stands and with a way out. */
#pragma once

#include "command.h"
#include "field-error.h"
#include "render-files.h"
#include "render.h"

/* Puts what to do about it behind the text of an error. Returns its code. */
int render_hint(struct err *err, const char *format, ...) _printf_(2, 3);

/* The names of the fields beside one that is not known, for suggestions. */
typedef size_t render_fields_fn(void *arg, struct arena *a, struct str parent, const struct str **ret);

/* One error of all these, each on a line of its own with its place in the file; those about unknown fields suggest the one that may be
 * meant. fields may be NULL. */
int render_field_errors(struct arena *a, const struct manifest *m, const struct field_errors *errors,
                        render_fields_fn *fields, void *arg, struct err *err);

void render_warn(const struct command *c, const struct err *err);

/* Says on standard error what the API would refuse of a Composition that is rendered nevertheless, as upstream does it. What has another
 * shape than its field is an error, as it is there. */
int render_check_composition(struct arena *a, const struct command *c, const struct manifest *composition,
                             struct err *err);

/* Puts its place before the error of a render, and what can be done behind it: in the Composition if it is about a step, otherwise that
 * of an observed resource or of the composite. */
int render_locate(struct arena *a, const struct render_files *files, const struct manifest *composite,
                  const struct manifest *composition, const struct render_output *out, struct err *err);

/* Says on standard error that a render composed nothing, and where to look, if that is so. */
void render_warn_of_nothing(const struct command *c, const struct manifest *composite,
                            const struct manifest *composition, const struct render_output *out);
