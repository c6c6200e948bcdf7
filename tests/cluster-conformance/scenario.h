/* Scenarios (scenarios.yaml says how they are written) on any cluster. */
#pragma once

#include "cluster.h"

/* Does all scenarios of the file and prints TAP. The result is the number of those that failed, or negative if the file
 * cannot be read or its kinds not made. For clusters that start empty of the file's kinds and namespaces s0, s1, ... */
int conformance_run(struct cluster *c, const char *file_name);
