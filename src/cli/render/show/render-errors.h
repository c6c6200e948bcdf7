/* Errors with their place in a file and a hint how to fix them. */
#pragma once

#include "command.h"
#include "field-error.h"
#include "render-files.h"
#include "render.h"

/* Appends a hint how to fix the error to its message. Returns the error's code. */
int render_hint(struct err *err, const char *format, ...) _printf_(2, 3);

/* Appends a separate line to the message: the larger task that failed, or another hint. Returns the error's code. */
int render_add_line(struct err *err, const char *format, ...) _printf_(2, 3);

/* Adds the task that failed because of the error. An error with a place in a file keeps the place first: the task is appended on
 * its own line. Otherwise the task is the prefix. */
int render_part_of(struct err *err, const char *format, ...) _printf_(2, 3);

/* The names of the known fields in the parent of an unknown field, for suggestions. */
typedef size_t render_fields_fn(void *arg, struct arena *a, struct str parent, const struct str **ret);

/* Makes one error of all these, each on its own line with its place in the file. An error about an unknown field suggests a similar
 * field. fields may be NULL. */
int render_field_errors(struct arena *a, const struct manifest *m, const struct field_errors *errors,
                        render_fields_fn *fields, void *arg, struct err *err);

void render_warn(const struct command *c, const struct err *err);

/* Prints the error on standard error. After each of its lines that begins with a place, prints the line of the file, with a
 * caret. */
void render_print_error(const struct command *c, const struct render_files *files, const struct err *err);

/* Warns on standard error about fields of a Composition that the API would refuse; the Composition is rendered nevertheless, as
 * upstream does. A value of the wrong type is an error, as it is upstream. */
int render_check_composition(struct arena *a, const struct command *c, const struct manifest *composition,
                             struct err *err);

/* Makes the error of a render readable. The cause comes first, with one place: in the Composition if the error is about a step,
 * otherwise of an observed resource or of the composite. Then follow a line with the whole original message, so that people can
 * search for it, and hints. */
int render_locate(struct arena *a, const struct render_files *files, const struct manifest *composite,
                  const struct manifest *composition, const struct render_output *out, struct err *err);

/* If a render composed nothing, warns on standard error and says where to look. */
void render_warn_of_nothing(const struct command *c, const struct manifest *composite,
                            const struct manifest *composition, const struct render_output *out);
