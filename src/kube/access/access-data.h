/* The file bootstrap.yaml; the last entry has a NULL path. */
#pragma once

#include "embed.h"

extern const struct embedded_file access_bootstrap_data[];
