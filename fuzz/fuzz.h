/* What every fuzzer is: one function over bytes. Properties are asserted, not only survived. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
