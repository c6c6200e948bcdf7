/* Shows a mistake in a template at its place in the file where its author wrote it. */
#pragma once

#include "render-files.h"
#include "step.h"

/* If the step with the number `number` failed because of a mistake in a template, puts the place before the error, and the value
 * that did not fit on a line after it; otherwise returns false. message is the whole message of the error. The place is that in the
 * Composition; of a template in a file or in an object that inputRef names, the place there; of any other template that of the
 * member which names it, and the line of the template follows. */
bool render_template_error(struct arena *a, const struct render_files *files, const struct manifest *composition,
                           const struct step_record *step, size_t number, struct str message, struct err *err);
