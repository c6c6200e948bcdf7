/* Meters: what a program counts about itself, in Prometheus' text form. A meter has a name and label names; each combination of label
 * values is a series of its own. Any thread. */
#pragma once

#include "str.h"

struct buf;
struct meter;
struct meters;

enum meter_type {
        METER_COUNTER,
        METER_GAUGE,
        METER_HISTOGRAM, /* of seconds, with Prometheus' default buckets */
};

#define METER_LABELS 6 /* a meter has at most */

struct meter_options {
        const char *name; /* static texts, all of them */
        const char *help;
        enum meter_type type;
        const char *labels[METER_LABELS]; /* names; NULL behind the last one */
};

struct meters *meters_new(void);
void meters_free(struct meters *m); /* with all meters; NULL is fine */

/* The meter of that name; it is made when it is asked for the first time. NULL gives NULL. */
struct meter *meters_get(struct meters *m, const struct meter_options *options);

/* Values of the labels, in the order of their names. A NULL meter counts nothing. */
void meter_add(struct meter *m, double n, const struct str *values);       /* COUNTER, GAUGE */
void meter_set(struct meter *m, double n, const struct str *values);       /* COUNTER, GAUGE */
void meter_observe(struct meter *m, int64_t ns, const struct str *values); /* HISTOGRAM */

/* The value of a series, or the number of its observations; 0: there is none. */
double meter_value(struct meter *m, const struct str *values);

/* Appends all meters, in the order in which they were made; series in that order, too. */
void meters_append(struct meters *m, struct buf *b);
