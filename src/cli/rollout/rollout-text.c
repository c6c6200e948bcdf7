#include "rollout-client.h"

#include "buf.h"
#include "json.h"
#include "meta.h"
#include "str-list.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t number(const struct value *v, const char *key)
{
        return value_int(value_get(v, str_from(key)), 0);
}

/* Live counts, or those of the status. */
static const struct value *counts_of(const struct rollout_look *look, struct str key)
{
        const struct value *v = value_get(look->live, key);

        return v ? v : value_get(look->status, key);
}

static struct str counts_text(struct arena *a, const struct value *counts)
{
        return arena_printf(a, "%" PRId64 " runs, %" PRId64 " failed, %" PRId64 " deletions", number(counts, "runs"),
                            number(counts, "failed"), number(counts, "deletions"));
}

void rollout_summarize(struct str_list *lines, struct arena *a, const struct rollout_look *look)
{
        size_t n_new = 0, n = value_count(value_get(look->live, STR("composites")));

        VALUE_FOREACH_ITEM (c, value_get(look->live, STR("composites"))) {
                n_new += value_bool(value_get(c, STR("isNew")), false);
        }
        str_list_printf(lines, "%zu of %zu composites ran on the new revision", n_new, n);
        str_list_printf(lines, "new: %.*s", STR_ARG(counts_text(a, counts_of(look, STR("toCounts")))));
        str_list_printf(lines, "old: %.*s", STR_ARG(counts_text(a, counts_of(look, STR("fromCounts")))));
}

struct str rollout_composite_name(struct arena *a, const struct value *c)
{
        struct str ns = value_str(value_get(c, STR("namespace")));

        return arena_printf(a, "%.*s/%.*s%s%.*s", STR_ARG(value_str(value_get(c, STR("kind")))),
                            STR_ARG(value_str(value_get(c, STR("name")))), ns.n ? " in " : "", STR_ARG(ns));
}

static void print_composites(struct arena *a, const struct rollout_look *look)
{
        VALUE_FOREACH_ITEM (c, value_get(look->live, STR("composites"))) {
                struct str revision = value_str(value_get(c, STR("revision")));

                printf("  %.*s: %.*s%s%s\n", STR_ARG(rollout_composite_name(a, c)),
                       STR_ARG(revision.n ? revision : STR("its pipeline names a revision, or a cache answered")),
                       value_bool(value_get(c, STR("hasFailed")), false) ? ", failed" : "",
                       value_bool(value_get(c, STR("isCurrent")), false) ? "" : ", has not run since the share moved");
        }
}

void rollout_print(const struct rollout_look *look)
{
        _cleanup_arena_ struct arena a;
        struct str name = meta_name(look->function), message = value_str(value_get(look->status, STR("message")));
        struct str_list lines;

        arena_init(&a, "text", 0);
        str_list_init(&lines, &a);
        printf("Function %.*s: %.*s\n", STR_ARG(name),
               STR_ARG(value_str(value_find(look->function, "spec", "package"))));
        if (!look->rollout) {
                printf("No rollout. All composites run on %.*s.\n",
                       STR_ARG(value_str(value_find(look->function, "status", "currentRevision"))));
                return;
        }
        printf("Rollout from %.*s to %.*s: %.*s, %" PRId64 " %%\n",
               STR_ARG(value_str(value_get(look->rollout, STR("from")))),
               STR_ARG(value_str(value_get(look->status, STR("toRevision")))),
               STR_ARG(look->phase.n ? look->phase : STR("not looked at yet")), number(look->status, "percent"));
        if (message.n)
                printf("%.*s\n", STR_ARG(message));
        rollout_summarize(&lines, &a, look);
        printf("%.*s\n", STR_ARG(str_list_join(&lines, STR("\n"))));
        print_composites(&a, look);
        printf("\nTo go on: weft rollout %.*s --to %.*s\nTo go back: weft rollout %.*s --back\n", STR_ARG(name),
               STR_ARG(value_str(value_get(look->rollout, STR("to")))), STR_ARG(name));
}

/* --- Differences --- */

static void append_value(struct buf *b, const struct value *v)
{
        if (v)
                json_write(b, v, 0, NULL);
}

static void print_change(const struct value *change)
{
        _cleanup_buf_ struct buf b = BUF_INIT(SIZE_MAX);
        const struct value *old = value_get(change, STR("old")), *new = value_get(change, STR("value"));

        buf_appendf(&b, "    %-7.*s %.*s ", STR_ARG(value_str(value_get(change, STR("op")))),
                    STR_ARG(value_str(value_get(change, STR("path")))));
        append_value(&b, old);
        if (old && new)
                buf_append_literal(&b, " -> ");
        append_value(&b, new);
        printf("%.*s\n", STR_ARG(buf_str(&b)));
}

/* True if there is a difference. */
static bool print_step(struct str name, const struct value *step)
{
        const struct value *fatal = value_get(step, STR("fatal")), *recovers = value_get(step, STR("recovers")),
                           *changes = value_get(step, STR("changes"));

        if (!fatal && !recovers && value_count(changes) == 0)
                return false;
        printf("  step %.*s:\n", STR_ARG(name));
        if (fatal)
                printf("    the new revision fails: %.*s\n", STR_ARG(value_str(fatal)));
        if (recovers)
                printf("    the old revision fails, the new one does not: %.*s\n", STR_ARG(value_str(recovers)));
        VALUE_FOREACH_ITEM (change, changes)
                print_change(change);
        return true;
}

size_t rollout_print_differences(const struct rollout_look *look)
{
        _cleanup_arena_ struct arena a;
        size_t n = 0;

        arena_init(&a, "text", 0);
        VALUE_FOREACH_ITEM (c, value_get(look->live, STR("composites"))) {
                bool differs = false;

                printf("%.*s\n", STR_ARG(rollout_composite_name(&a, c)));
                VALUE_FOREACH_MEMBER (step, value_get(c, STR("difference"))) {
                        differs |= print_step(step->key, &step->value);
                }
                if (!differs)
                        printf("  %s\n", value_get(c, STR("difference"))
                                                 ? "no difference"
                                                 : "not compared: its pipeline names a revision");
                n += differs;
        }
        return n;
}
