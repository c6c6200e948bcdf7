/* Shared by `weft json` and `weft yaml`: reads JSON or YAML and prints one of them. */
#pragma once

#include "command.h"

struct value;

/* Appends one document; index is the number of documents printed before it. */
typedef int (*convert_write_fn)(struct buf *b, const struct value *v, size_t index, const struct settings *settings,
                                struct err *err);

#define CONVERT_STRICT                                                                                               \
        {                                                                                                            \
                .name = "strict", .type = SETTING_BOOL, .help = "Refuse duplicate keys and, in JSON, invalid UTF-8." \
        }
#define CONVERT_KEEP_ORDER                                                                      \
        {                                                                                       \
                .name = "keep-order", .type = SETTING_BOOL,                                     \
                .help = "Print keys in the order they were written in instead of sorting them." \
        }

/* Converts every document of the files (of standard input if there are no files, or for `-`). Returns the exit status. */
int convert_files(const struct command *c, const struct settings *settings, struct arguments files,
                  convert_write_fn write);
