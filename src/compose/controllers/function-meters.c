#include "function-meters.h"

#define METHOD STR("/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction")

void function_meters_open(struct function_meters *m, struct meters *meters)
{
        static const struct meter_options requests = {
                "function_run_function_request_total",
                "Total number of RunFunctionRequests sent.",
                METER_COUNTER,
                { "function_name", "function_package", "grpc_target", "grpc_method" },
        };
        static const struct meter_options responses = {
                "function_run_function_response_total",
                "Total number of RunFunctionResponses received.",
                METER_COUNTER,
                { "function_name", "function_package", "grpc_target", "grpc_method", "grpc_code", "result_severity" },
        };
        static const struct meter_options seconds = {
                "function_run_function_seconds",
                "Histogram of RunFunctionResponse latency (seconds).",
                METER_HISTOGRAM,
                { "function_name", "function_package", "grpc_target", "grpc_method", "grpc_code", "result_severity" },
        };
        static const struct meter_options hits = { "function_run_function_response_cache_hits_total",
                                                   "Total number of RunFunctionResponse cache hits.",
                                                   METER_COUNTER,
                                                   { "function_name" } };
        static const struct meter_options misses = { "function_run_function_response_cache_misses_total",
                                                     "Total number of RunFunctionResponse cache misses.",
                                                     METER_COUNTER,
                                                     { "function_name" } };

        *m = (struct function_meters) { meters_get(meters, &requests), meters_get(meters, &responses),
                                        meters_get(meters, &seconds), meters_get(meters, &hits),
                                        meters_get(meters, &misses) };
}

/* `Unavailable` of `...rpc error: code = Unavailable desc = ...`. */
static struct str code_of(const struct err *err)
{
        struct str text = str_from(err_message(err)), code;
        ptrdiff_t at = str_find(text, STR("code = "));

        if (at < 0)
                return STR("Unknown");
        text = str_skip(text, (size_t)at + strlen("code = "));
        str_split(&text, ' ', &code);
        return code;
}

static struct str worst_severity(const struct fn_response *rsp)
{
        struct str worst = STR("Normal");

        for (size_t i = 0; i < rsp->n_results; i++) {
                if (rsp->results[i].severity == FN_SEVERITY_FATAL)
                        return STR("Fatal");
                if (rsp->results[i].severity == FN_SEVERITY_WARNING)
                        worst = STR("Warning");
        }
        return worst;
}

void function_meters_count(struct function_meters *m, const struct step_call *call)
{
        struct str labels[6] = {
                call->step->function,
                str_from(call->function->package),
                str_from(call->function->target),
                METHOD,
                call->response ? STR("OK") : code_of(call->err),
                call->response ? worst_severity(call->response) : STR("Unknown"),
        };

        meter_add(m->requests, 1, labels);
        meter_add(m->responses, 1, labels);
        meter_observe(m->seconds, call->duration_ns, labels);
}

/* Functions in this process are not cached; they have no bytes of requests. */
void function_meters_count_cache(struct function_meters *m, const struct reconcile_result *result)
{
        for (size_t i = 0; i < result->n_records; i++) {
                const struct step_record *record = &result->records[i];

                if (record->was_cached)
                        meter_add(m->hits, 1, &record->function);
                else if (record->request_bytes)
                        meter_add(m->misses, 1, &record->function);
        }
}
