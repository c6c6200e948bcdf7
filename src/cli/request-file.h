/* Files with messages of the function protocol, in YAML or JSON. */
#pragma once

#include "bytes.h"
#include "err.h"
#include "proto.h"
#include "value.h"

/* One document as an encoded message. `-` is standard input. Errors name the file. */
int request_file_read(struct arena *a, const char *name, const struct proto_message *type, struct bytes **ret,
                      struct err *err);

/* Whether a response, as proto_decode returns it, has a fatal result. */
bool response_is_fatal(const struct value *response);

/* Prints it on standard output: sorted JSON, or YAML. */
int response_print(const struct value *response, bool as_yaml, struct err *err);
