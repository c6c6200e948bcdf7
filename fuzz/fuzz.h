/* The interface of every fuzzer: one function over bytes. A fuzzer asserts properties; to survive is not enough. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
