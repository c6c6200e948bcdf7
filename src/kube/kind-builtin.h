/* What built-in kinds do beyond CRUD; the table is in kind-builtin.c. */
#pragma once

#include "kind.h"
#include "pipeline.h"

extern const struct kind_strategy secret_strategy;
extern const struct kind_strategy config_map_strategy;
