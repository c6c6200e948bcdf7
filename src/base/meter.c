#include "meter.h"

#include "buf.h"
#include "map.h"
#include "park.h"
#include "timetext.h"

#define BUCKETS 11

static const double bounds[BUCKETS] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

struct series {
        double value;              /* of a histogram: the sum of seconds */
        uint64_t n;                /* observations */
        uint64_t buckets[BUCKETS]; /* observations up to each bound, and above the one before */
        struct str labels;         /* `a="x",b="y"` */
        char text[];
};

struct meter {
        struct meters *owner;
        struct meter_options options;
        struct meter *next;
        struct map series; /* by labels */
};

struct meters {
        struct mutex mutex; /* guards everything */
        struct meter *first, *last;
};

struct meters *meters_new(void)
{
        struct meters *m = xcalloc(1, sizeof(*m));

        mutex_init(&m->mutex);
        return m;
}

void meters_free(struct meters *m)
{
        if (!m)
                return;
        for (struct meter *one = m->first, *next; one; one = next) {
                next = one->next;
                for (struct map_entry *e = map_first(&one->series); e; e = map_next(&one->series, e))
                        free(e->value);
                map_done(&one->series);
                free(one);
        }
        mutex_done(&m->mutex);
        free(m);
}

struct meter *meters_get(struct meters *m, const struct meter_options *options)
{
        struct meter *found;

        if (!m)
                return NULL;
        mutex_lock(&m->mutex);
        for (found = m->first; found && strcmp(found->options.name, options->name) != 0; found = found->next)
                ;
        if (!found) {
                found = xcalloc(1, sizeof(*found));
                found->owner = m;
                found->options = *options;
                *(m->last ? &m->last->next : &m->first) = found;
                m->last = found;
        }
        mutex_unlock(&m->mutex);
        return found;
}

/* --- Series --- */

/* The text form has escapes for three characters. */
static void append_escaped(struct buf *b, struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '\n') {
                        buf_append_literal(b, "\\n");
                        continue;
                }
                if (s.p[i] == '"' || s.p[i] == '\\')
                        buf_append_char(b, '\\');
                buf_append_char(b, s.p[i]);
        }
}

static struct str labels_of(struct buf *b, const struct meter *m, const struct str *values)
{
        for (size_t i = 0; i < METER_LABELS && m->options.labels[i]; i++) {
                buf_appendf(b, "%s%s=\"", i ? "," : "", m->options.labels[i]);
                append_escaped(b, values[i]);
                buf_append_char(b, '"');
        }
        return b->n ? buf_str(b) : STR("");
}

/* The mutex is held. */
static struct series *need_series(struct meter *m, struct str labels)
{
        struct series *s = map_get(&m->series, labels);

        if (s)
                return s;
        s = xcalloc(1, sizeof(*s) + labels.n + 1);
        memcpy(s->text, labels.p, labels.n);
        s->labels = str_make(s->text, labels.n);
        map_add(&m->series, s->labels, s);
        return s;
}

static void change(struct meter *m, double n, bool is_set, const struct str *values)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct series *s;

        if (!m)
                return;
        labels_of(&b, m, values);
        mutex_lock(&m->owner->mutex);
        s = need_series(m, b.n ? buf_str(&b) : STR(""));
        s->value = is_set ? n : s->value + n;
        mutex_unlock(&m->owner->mutex);
}

void meter_add(struct meter *m, double n, const struct str *values)
{
        change(m, n, false, values);
}

void meter_set(struct meter *m, double n, const struct str *values)
{
        change(m, n, true, values);
}

void meter_observe(struct meter *m, int64_t ns, const struct str *values)
{
        double seconds = (double)ns / NS_PER_SECOND;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct series *s;
        size_t i = 0;

        if (!m)
                return;
        labels_of(&b, m, values);
        while (i < BUCKETS && seconds > bounds[i])
                i++;
        mutex_lock(&m->owner->mutex);
        s = need_series(m, b.n ? buf_str(&b) : STR(""));
        s->value += seconds;
        s->n++;
        if (i < BUCKETS)
                s->buckets[i]++;
        mutex_unlock(&m->owner->mutex);
}

double meter_value(struct meter *m, const struct str *values)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct series *s;
        double found = 0;

        labels_of(&b, m, values);
        mutex_lock(&m->owner->mutex);
        s = map_get(&m->series, b.n ? buf_str(&b) : STR(""));
        if (s)
                found = m->options.type == METER_HISTOGRAM ? (double)s->n : s->value;
        mutex_unlock(&m->owner->mutex);
        return found;
}

/* --- Text --- */

static void append_histogram(struct buf *b, const char *name, const struct series *s)
{
        const char *comma = s->labels.n ? "," : "";
        uint64_t n = 0;

        for (size_t i = 0; i < BUCKETS; i++) {
                n += s->buckets[i];
                buf_appendf(b, "%s_bucket{%.*s%sle=\"%g\"} %llu\n", name, STR_ARG(s->labels), comma, bounds[i],
                            (unsigned long long)n);
        }
        buf_appendf(b, "%s_bucket{%.*s%sle=\"+Inf\"} %llu\n", name, STR_ARG(s->labels), comma,
                    (unsigned long long)s->n);
        buf_appendf(b, "%s_sum%s%.*s%s %.9g\n", name, s->labels.n ? "{" : "", STR_ARG(s->labels),
                    s->labels.n ? "}" : "", s->value);
        buf_appendf(b, "%s_count%s%.*s%s %llu\n", name, s->labels.n ? "{" : "", STR_ARG(s->labels),
                    s->labels.n ? "}" : "", (unsigned long long)s->n);
}

static void append_meter(struct buf *b, const struct meter *m)
{
        static const char *const types[] = {
                [METER_COUNTER] = "counter", [METER_GAUGE] = "gauge", [METER_HISTOGRAM] = "histogram"
        };
        const struct meter_options *o = &m->options;

        buf_appendf(b, "# HELP %s %s\n# TYPE %s %s\n", o->name, o->help, o->name, types[o->type]);
        for (struct map_entry *e = map_first(&m->series); e; e = map_next(&m->series, e)) {
                const struct series *s = e->value;

                if (o->type == METER_HISTOGRAM)
                        append_histogram(b, o->name, s);
                else
                        buf_appendf(b, "%s%s%.*s%s %.15g\n", o->name, s->labels.n ? "{" : "", STR_ARG(s->labels),
                                    s->labels.n ? "}" : "", s->value);
        }
}

void meters_append(struct meters *m, struct buf *b)
{
        if (!m)
                return;
        mutex_lock(&m->mutex);
        for (const struct meter *one = m->first; one; one = one->next)
                if (one->series.n)
                        append_meter(b, one);
        mutex_unlock(&m->mutex);
}
