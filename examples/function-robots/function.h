/* The function, apart from its main, so that its test can run it. */
#pragma once

#include <weft/fn.h>

void robots_run(struct weft_request *req, struct weft_response *rsp);
