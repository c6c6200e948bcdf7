/* The function, apart from its main, so that its test can run it. */
#pragma once

#include <weft/fn.h>

extern const struct weft_function function;
