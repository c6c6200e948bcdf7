/* How many requests and watches each user has open, so that none takes all. Any thread. */
#pragma once

#include "map.h"
#include "park.h"

enum use {
        USE_REQUEST,
        USE_WATCH,
        _USE_COUNT,
};

struct user_use; /* of one user; freed when nothing of that user is open */

struct users {
        struct mutex mutex;
        struct map by_name;
        unsigned most[_USE_COUNT];
};

void users_init(struct users *u, unsigned max_requests, unsigned max_watches);
void users_done(struct users *u); /* nothing may be open */

/* ERR_LIMIT with REASON_TOO_MANY_REQUESTS when the user has as many open as allowed. */
int users_enter(struct users *u, struct str name, enum use use, struct user_use **ret, struct err *err);
void users_leave(struct users *u, struct user_use *of, enum use use);
