/* Time zones of the system's tz database, read from its files (TZif, RFC 9636) once each. */
#pragma once

#include "err.h"
#include "str.h"

struct zone;

/* The zone with this name (`Europe/Berlin`), or NULL if there is none. It lives as long as the process. Any thread. */
const struct zone *zone_find(struct str name);

/* Offset from UTC and abbreviation at a time, in seconds since 1970. */
void zone_at(const struct zone *z, int64_t seconds, int32_t *ret_offset_seconds, struct str *ret_abbreviation);

/* Parses the contents of a file, which are copied. The caller frees the zone. */
int zone_parse(struct str bytes, struct zone **ret, struct err *err);
void zone_free(struct zone *z); /* NULL is fine */
