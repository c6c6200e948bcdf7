/* The paths of `weft up` for commands that look into it: /weft/v1/trace, /weft/v1/runs, /weft/v1/why, and /weft/v1/rollout
 * (up-rollout.c). Their parameters: type, name, namespace, and those below. Each reads as the user who asks. */
#include "up.h"

#include "apiserver.h"
#include "inspect.h"
#include "number.h"

#define MOST_RUNS 100

static int read_trace(struct api_call *call, const struct inspect_target *target, const struct value **ret,
                      struct err *err)
{
        struct str revisions = api_query_get(&call->query, STR("revisions")),
                   dependencies = api_query_get(&call->query, STR("dependencies"));
        struct inspect_trace_options options = {
                .shows_secrets = api_query_flag(&call->query, STR("secrets")),
                .revisions = str_equal(revisions, STR("all"))    ? INSPECT_REVISIONS_ALL
                             : str_equal(revisions, STR("none")) ? INSPECT_REVISIONS_NONE
                                                                 : INSPECT_REVISIONS_ACTIVE,
                .hides_dependencies = str_equal(dependencies, STR("none")),
                .repeats_dependencies = str_equal(dependencies, STR("all")),
        };

        return inspect_trace(call->cluster, &call->run, target, &options, ret, err);
}

static int read_runs(struct run_records *records, struct api_call *call, const struct inspect_target *target,
                     const struct value **ret, struct err *err)
{
        struct str text = api_query_get(&call->query, STR("most"));
        uint64_t most = MOST_RUNS;

        if (text.n && number_parse_uint(text, &most, NULL) < 0)
                return status_bad_request(err, "most=%.*s is not a number of runs", STR_ARG(text));
        return inspect_runs(call->cluster, &call->run, records, target, (size_t)MIN(most, (uint64_t)MOST_RUNS), ret,
                            err);
}

int up_inspect(void *context, struct api_call *call, struct api_reply *reply, struct err *err)
{
        const struct up_inspection *in = context;
        struct str what = call->path;
        struct inspect_target target = {
                .type = api_query_get(&call->query, STR("type")),
                .name = api_query_get(&call->query, STR("name")),
                .ns = api_query_get(&call->query, STR("namespace")),
        };
        const struct value *answer;
        int r;

        str_cut_prefix(&what, UP_INSPECT_PATH);
        if (str_equal(what, STR("/trace")))
                r = read_trace(call, &target, &answer, err);
        else if (str_equal(what, STR("/runs")))
                r = read_runs(in->records, call, &target, &answer, err);
        else if (str_equal(what, STR("/why")))
                r = inspect_why(call->cluster, &call->run, in->records, &target,
                                api_query_get(&call->query, STR("field")), &answer, err);
        else if (str_equal(what, STR("/rollout")))
                r = up_read_rollout(in, call, &answer, err);
        else
                r = err_set(err, ERR_NOT_FOUND, "404 page not found");
        if (r == 0)
                api_reply_value(reply, answer);
        return r;
}
