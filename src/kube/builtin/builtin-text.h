/* builtin.txt and packaged.txt, as tools/embed puts them into the program. */
#pragma once

#include "embed.h"

extern const struct embedded_file builtin_text[];
