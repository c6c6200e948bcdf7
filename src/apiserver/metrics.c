#include "metrics.h"

#include "buf.h"
#include "timetext.h"

static const double bounds[METRICS_BUCKETS] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30 };

static void observe(struct histogram *h, int64_t ns)
{
        size_t i = 0;

        while (i < METRICS_BUCKETS && (double)ns > bounds[i] * NS_PER_SECOND)
                i++;
        atomic_fetch_add_explicit(&h->buckets[i], 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&h->sum_ns, (uint64_t)ns, memory_order_relaxed);
}

void metrics_count(struct metrics *m, enum api_verb verb, int status, int64_t duration_ns)
{
        unsigned hundreds = status / 100 > 5 || status < 0 ? 0 : (unsigned)status / 100;

        atomic_fetch_add_explicit(&m->requests[verb][hundreds], 1, memory_order_relaxed);
        if (status == 429)
                atomic_fetch_add_explicit(&m->too_many_requests, 1, memory_order_relaxed);
        if (verb != API_WATCH)
                observe(&m->durations[verb], duration_ns);
}

static const char *verb_label(enum api_verb verb)
{
        return verb == API_OTHER ? "other" : api_verb_name(verb).p;
}

static void append_requests(struct metrics *m, struct buf *b)
{
        buf_append_literal(b, "# HELP weft_apiserver_requests_total Answered requests by verb and class of status.\n"
                              "# TYPE weft_apiserver_requests_total counter\n");
        for (enum api_verb v = 0; v < _API_VERB_COUNT; v++)
                for (unsigned i = 1; i < 6; i++) {
                        uint64_t n = atomic_load(&m->requests[v][i]);

                        if (n)
                                buf_appendf(b, "weft_apiserver_requests_total{verb=\"%s\",code=\"%uxx\"} %llu\n",
                                            verb_label(v), i, (unsigned long long)n);
                }
}

static void append_histogram(struct histogram *h, enum api_verb verb, struct buf *b)
{
        uint64_t n = 0;

        for (size_t i = 0; i <= METRICS_BUCKETS; i++)
                n += atomic_load(&h->buckets[i]);
        if (n == 0)
                return;
        n = 0;
        for (size_t i = 0; i < METRICS_BUCKETS; i++) {
                n += atomic_load(&h->buckets[i]);
                buf_appendf(b, "weft_apiserver_request_seconds_bucket{verb=\"%s\",le=\"%g\"} %llu\n", verb_label(verb),
                            bounds[i], (unsigned long long)n);
        }
        n += atomic_load(&h->buckets[METRICS_BUCKETS]);
        buf_appendf(b,
                    "weft_apiserver_request_seconds_bucket{verb=\"%s\",le=\"+Inf\"} %llu\n"
                    "weft_apiserver_request_seconds_sum{verb=\"%s\"} %.6f\n"
                    "weft_apiserver_request_seconds_count{verb=\"%s\"} %llu\n",
                    verb_label(verb), (unsigned long long)n, verb_label(verb),
                    (double)atomic_load(&h->sum_ns) / NS_PER_SECOND, verb_label(verb), (unsigned long long)n);
}

static void append_number(struct buf *b, const char *name, const char *type, const char *help, int64_t n)
{
        buf_appendf(b, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", name, help, name, type, name, (long long)n);
}

void metrics_write(struct metrics *m, struct buf *b)
{
        append_requests(m, b);
        buf_append_literal(b, "# HELP weft_apiserver_request_seconds Time from a request's head to its answer. Writes "
                              "include the commit.\n# TYPE weft_apiserver_request_seconds histogram\n");
        for (enum api_verb v = 0; v < _API_VERB_COUNT; v++)
                append_histogram(&m->durations[v], v, b);
        append_number(b, "weft_apiserver_open_requests", "gauge", "Requests that are open now, watches included.",
                      atomic_load(&m->open_requests));
        append_number(b, "weft_apiserver_watches", "gauge", "Watches that are open now.",
                      atomic_load(&m->open_watches));
        append_number(b, "weft_apiserver_watches_cut_off_total", "counter",
                      "Watches that were ended because their reader fell behind.",
                      (int64_t)atomic_load(&m->watches_cut_off));
        append_number(b, "weft_apiserver_too_many_requests_total", "counter", "Requests that were answered with 429.",
                      (int64_t)atomic_load(&m->too_many_requests));
}
