/* Moves a rollout from share to share, or waits for a dry run, and shows what happens. */
#include "rollout-client.h"

#include "command.h"
#include "map.h"
#include "meta.h"
#include "park.h"
#include "str-list.h"
#include "up.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#define LOOK_MS          300
#define EXIT_INTERRUPTED 130

struct rollout_progress {
        struct api_client *api;
        const struct rollout_options *options;
        struct up_screen screen;
        struct arena kept; /* what was shown */
        struct str said;   /* the last line about the state */
        struct map shown;  /* names of composites that came to the new revision */
        struct deadline deadline;
        sigset_t signals;
        size_t step; /* that is under way */
};

/* --- Showing --- */

/* The line about the state, if it is another one than before, and each composite that came to the new revision. */
static void tell(struct rollout_progress *p, struct arena *a, const struct rollout_look *look, struct str_list *ret)
{
        struct str message = value_str(value_get(look->status, STR("message"))), line;

        line = arena_printf(a, "%.*s at %" PRId64 " %%%s%.*s", STR_ARG(look->phase), look->percent,
                            message.n ? ": " : "", STR_ARG(message));
        if (look->phase.n && !str_equal(look->phase, STR("RolledBack")) && !str_equal(line, p->said)) {
                p->said = arena_copy(&p->kept, line);
                str_list_add(ret, p->said);
        }
        VALUE_FOREACH_ITEM (c, value_get(look->live, STR("composites"))) {
                struct str name = rollout_composite_name(a, c);

                if (!value_bool(value_get(c, STR("isNew")), false) || map_has(&p->shown, name))
                        continue;
                map_add(&p->shown, arena_copy(&p->kept, name), p);
                str_list_printf(ret, "  %.*s ran on %.*s%s", STR_ARG(name),
                                STR_ARG(value_str(value_get(c, STR("revision")))),
                                value_bool(value_get(c, STR("hasFailed")), false) ? ", and failed" : "");
        }
}

static void show(struct rollout_progress *p, struct arena *a, const struct rollout_look *look)
{
        struct str_list lines, block;

        str_list_init(&lines, a);
        str_list_init(&block, a);
        tell(p, a, look, &lines);
        str_list_printf(&block, "%" PRId64 " %%, %" PRId64 " still to run", look->percent,
                        value_int(value_get(look->status, STR("pending")), 0));
        rollout_summarize(&block, a, look);
        up_screen_show(&p->screen, lines.p, lines.n, block.p, block.n);
}

static void tell_ways(const struct rollout_options *o, const struct rollout_look *look)
{
        printf("To go on: weft rollout %.*s --to %.*s\nTo go back: weft rollout %.*s --back\n", STR_ARG(o->function),
               STR_ARG(value_str(value_get(look->rollout, STR("to")))), STR_ARG(o->function));
}

/* --- Waiting --- */

static int tell_late(struct rollout_progress *p, struct arena *a, const struct rollout_look *look, struct err *err)
{
        struct str message = value_str(value_get(look->status, STR("message")));
        struct str_list lines;

        str_list_init(&lines, a);
        rollout_summarize(&lines, a, look);
        return err_set(
                err, ERR_TIMEOUT,
                "the rollout of Function \"%.*s\" is not done in time; --timeout gives it more. It is %.*s%s%.*s: "
                "%.*s; %" PRId64 " composites have not run since the share moved%s",
                STR_ARG(p->options->function), STR_ARG(look->phase.n ? look->phase : STR("not begun")),
                message.n ? ", " : "", STR_ARG(message), STR_ARG(str_list_join(&lines, STR("; "))),
                value_int(value_get(look->status, STR("pending")), 0),
                p->options->is_dry_run ? "" : "; it is left as it is, --to goes on, --back goes back");
}

static int tell_interrupted(struct rollout_progress *p, const struct rollout_look *look)
{
        up_screen_clear(&p->screen);
        if (p->options->is_dry_run) {
                printf("The Function gets its package back.\n");
        } else {
                printf("The rollout is left as it is.\n");
                tell_ways(p->options, look);
        }
        fflush(stdout);
        return EXIT_INTERRUPTED;
}

/* Looks until done says so: 1 ends, 0 goes on. Returns EXIT_INTERRUPTED after a signal, with the state left as it is. */
static int follow(struct rollout_progress *p,
                  int (*done)(struct rollout_progress *p, struct arena *a, const struct rollout_look *look,
                              struct err *err),
                  struct err *err)
{
        struct timespec moment = { .tv_nsec = LOOK_MS * 1000000l };

        for (;;) {
                _cleanup_arena_ struct arena a;
                struct rollout_look look;
                int r;

                arena_init(&a, "rollout", 0);
                r = rollout_look(p->api, &a, p->options->function, &look, err);
                if (r == 0)
                        show(p, &a, &look);
                if (r == 0)
                        r = done(p, &a, &look, err);
                if (r != 0)
                        return r;
                if (deadline_has_passed(p->deadline))
                        return tell_late(p, &a, &look, err);
                if (sigtimedwait(&p->signals, NULL, &moment) > 0)
                        return tell_interrupted(p, &look);
        }
}

static void begin_progress(struct rollout_progress *p, struct api_client *api, const struct rollout_options *o)
{
        *p = (struct rollout_progress) { .api = api, .options = o, .deadline = deadline_after_ns(o->timeout_ns) };
        arena_init(&p->kept, "rollout", 0);
        up_screen_init(&p->screen, false);
        sigemptyset(&p->signals);
        sigaddset(&p->signals, SIGINT);
        sigaddset(&p->signals, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &p->signals, NULL);
}

static void end_progress(struct rollout_progress *p)
{
        up_screen_clear(&p->screen);
        map_done(&p->shown);
        arena_done(&p->kept);
}

/* An error if the new package has the image of the old one: the Function then gets its package back. */
static int check_image(struct rollout_progress *p, const struct rollout_look *look, struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };

        if (!str_equal(value_str(value_get(look->status, STR("reason"))), STR("SameImage")))
                return 0;
        rollout_go_back(p->api, p->options->function, p->options->timeout_ns, &inner);
        return err_set(err, ERR_INVALID, "%.*s%s%s", STR_ARG(value_str(value_get(look->status, STR("message")))),
                       inner.code ? "; cannot go back: " : "", inner.code ? err_message(&inner) : "");
}

/* --- Shares --- */

static int next_step(struct rollout_progress *p, const struct rollout_look *look, struct err *err)
{
        const struct rollout_options *o = p->options;
        int r;

        if (p->step + 1 == o->n_steps) {
                up_screen_clear(&p->screen);
                printf("The rollout stays at %" PRId64 " %%.\n", look->percent);
                tell_ways(o, look);
                return 1;
        }
        r = rollout_move(p->api, o->function, o->steps[++p->step], err);
        return r < 0 ? r : 0;
}

static int is_done(struct rollout_progress *p, struct arena *a _unused_, const struct rollout_look *look,
                   struct err *err)
{
        if (!look->rollout)
                return err_set(err, ERR_CONFLICT, "spec.rollout of Function \"%.*s\" was removed by somebody else",
                               STR_ARG(p->options->function));
        if (look->percent != p->options->steps[p->step])
                return err_set(err, ERR_CONFLICT,
                               "somebody else set the share of the rollout of Function \"%.*s\" to %" PRId64
                               " %%; it is left as it is",
                               STR_ARG(p->options->function), look->percent);
        if (str_equal(look->phase, STR("RolledBack")))
                return err_set(err, ERR_FAILED,
                               "rolled back: %.*s. `weft rollout %.*s --back` gives the Function its package back",
                               STR_ARG(value_str(value_get(look->status, STR("message")))),
                               STR_ARG(p->options->function));
        if (str_equal(look->phase, STR("Waiting")))
                return check_image(p, look, err);
        if (str_equal(look->phase, STR("Complete")))
                return 1;
        if (str_equal(look->phase, STR("Progressing")) && value_bool(value_get(look->status, STR("isSampled")), false))
                return next_step(p, look, err);
        return 0;
}

/* Skips the shares that a rollout of the same package has behind it. */
static int choose_first_step(struct rollout_progress *p, struct err *err)
{
        const struct rollout_options *o = p->options;
        _cleanup_arena_ struct arena a;
        struct rollout_look look;
        int r;

        arena_init(&a, "rollout", 0);
        r = rollout_look(p->api, &a, o->function, &look, err);
        if (r < 0)
                return r;
        if (o->to.n == 0 && !look.rollout)
                return err_set(err, ERR_INVALID, "Function \"%.*s\" has no rollout to go on with: give --to IMAGE",
                               STR_ARG(o->function));
        if (str_equal(look.phase, STR("RolledBack")) ||
            (o->to.n && look.rollout && !str_equal(value_str(value_get(look.rollout, STR("to"))), o->to)))
                return 0;
        while (look.rollout && p->step + 1 < o->n_steps && o->steps[p->step] < look.percent)
                p->step++;
        return 0;
}

int rollout_run(struct api_client *api, const struct rollout_options *o, struct err *err)
{
        struct rollout_progress p;
        bool is_whole;
        int r;

        begin_progress(&p, api, o);
        r = choose_first_step(&p, err);
        if (r == 0)
                r = rollout_begin(api, o, o->steps[p.step], err);
        if (r == 0)
                r = follow(&p, is_done, err);
        is_whole = r == 1 && o->steps[p.step] == 100;
        end_progress(&p);
        if (is_whole && rollout_finish(api, o->function, err) < 0)
                return EXIT_ERROR;
        if (is_whole)
                printf("All composites run on the new revision. The rollout is complete.\n"
                       "Put the new package into the manifests of Function %.*s too: applied as they are, they would "
                       "undo "
                       "it.\n",
                       STR_ARG(o->function));
        return r < 0 ? EXIT_ERROR : r == EXIT_INTERRUPTED ? r : EXIT_OK;
}

/* --- Dry runs --- */

static int is_compared(struct rollout_progress *p, struct arena *a _unused_, const struct rollout_look *look,
                       struct err *err)
{
        size_t n_changed;

        if (str_equal(look->phase, STR("Waiting")))
                return check_image(p, look, err);
        if (!str_equal(look->phase, STR("DryRun")) || !look->live ||
            value_int(value_get(look->status, STR("pending")), 1) > 0)
                return 0;
        VALUE_FOREACH_ITEM (c, value_get(look->live, STR("composites"))) {
                if (!value_bool(value_get(c, STR("isCompared")), false))
                        return 0;
        }
        up_screen_clear(&p->screen);
        n_changed = rollout_print_differences(look);
        printf("%zu of %zu composites would change.\n", n_changed,
               value_count(value_get(look->live, STR("composites"))));
        return 1;
}

int rollout_dry_run(struct api_client *api, const struct rollout_options *o, struct err *err)
{
        _cleanup_err_ struct err inner = { 0 };
        struct rollout_progress p;
        int r, back;

        begin_progress(&p, api, o);
        r = rollout_begin(api, o, 0, err);
        if (r < 0) {
                end_progress(&p);
                return EXIT_ERROR;
        }
        r = follow(&p, is_compared, err);
        end_progress(&p);
        back = rollout_go_back(api, o->function, o->timeout_ns, &inner);
        if (back < 0 && r >= 0)
                r = err_move(err, &inner);
        return r < 0 ? EXIT_ERROR : r == EXIT_INTERRUPTED ? r : EXIT_OK;
}
