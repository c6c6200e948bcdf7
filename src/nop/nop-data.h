/* The file nop.yaml; the last entry has a NULL path. */
#pragma once

#include "embed.h"

extern const struct embedded_file nop_data[];
