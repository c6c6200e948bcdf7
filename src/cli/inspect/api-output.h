/* The forms in which `weft runs` and `weft why` print an answer of the API. */
#pragma once

#include "err.h"
#include "settings.h"
#include "value.h"

struct buf;

enum api_output {
        API_OUTPUT_DEFAULT, /* for people; each command has its own */
        API_OUTPUT_JSON,
        API_OUTPUT_YAML,
};

extern const char *const api_output_names[]; /* of the enum; NULL ends them */

#define API_OUTPUT_SETTING(text)                                                                        \
        {                                                                                               \
                .name = "output", .short_name = 'o', .type = SETTING_ENUM, .choices = api_output_names, \
                .default_text = "default", .value_name = "FORM",                                        \
                .help = "Form of the output: default, json or yaml." text                               \
        }

/* Appends the value as JSON or YAML; the form is not API_OUTPUT_DEFAULT. */
int api_output_append(struct buf *b, const struct value *v, enum api_output form, struct err *err);
