/* Messages are put together field by field (package crossplane.pipeline.v1alpha1):
 *
 *     EmitRequestRequest   1 request (JSON)   2 meta
 *     EmitResponseRequest  1 response (JSON)  2 error  3 meta
 *     StepMeta             1 timestamp {1 seconds 2 nanos}  2 trace_id  3 span_id  4 step_index  5 step_name  6 iteration
 *                          7 function_name  9 composition_meta
 *     composition_meta     1 composition_name  2 composite_resource_uid  3 _name  4 _namespace  5 _api_version  6 _kind */
#include "inspector.h"

#include "buf.h"
#include "bytes.h"
#include "grpc-client.h"
#include "json.h"
#include "log.h"
#include "meter.h"
#include "proto-tables.h"
#include "proto.h"
#include "redact.h"

#define SERVICE        "/crossplane.pipeline.v1alpha1.PipelineInspectorService/"
#define TIMEOUT_MS     100
#define REDACTED_BYTES STR("KipSRURBQ1RFRCoq") /* base64 of REDACTED: bytes in JSON */

struct inspector {
        struct grpc_channel *channel;
        struct meter *errors;
};

int inspector_new(struct str socket, struct meters *meters, struct inspector **ret, struct err *err)
{
        static const struct meter_options errors = { "function_run_function_pipeline_inspector_errors_total",
                                                     "Total number of errors encountered emitting pipeline inspector "
                                                     "data",
                                                     METER_COUNTER,
                                                     { "function_name", "type" } };
        struct inspector *i = xcalloc(1, sizeof(*i));
        struct grpc_channel_options options = { .backoff_ms = 100, .max_backoff_ms = 2000 };
        _cleanup_buf_ struct buf target = BUF_INIT(0);
        int r;

        if (!str_starts_with(socket, STR("unix:")))
                buf_append_literal(&target, "unix:");
        buf_append_str(&target, socket);
        i->errors = meters_get(meters, &errors);
        r = grpc_channel_new(buf_str(&target), &options, &i->channel, err);
        if (r < 0) {
                inspector_free(i);
                return err_wrap(err, "cannot use the pipeline inspector's socket %.*s", STR_ARG(socket));
        }
        *ret = i;
        return 0;
}

void inspector_free(struct inspector *i)
{
        if (!i)
                return;
        grpc_channel_unref(i->channel);
        free(i);
}

/* --- Without secrets --- */

/* The map with each value replaced. */
static const struct value *hide_values(struct arena *a, const struct value *map)
{
        struct value hidden = value_of_str(REDACTED_BYTES);

        VALUE_FOREACH_MEMBER (m, map)
                map = value_with(a, map, m->key, &hidden);
        return map;
}

static const struct value *hide_details(struct arena *a, const struct value *resource)
{
        const struct value *details = value_get(resource, STR("connectionDetails"));

        return value_count(details) ? value_with(a, resource, STR("connectionDetails"), hide_values(a, details))
                                    : resource;
}

static const struct value *hide_state(struct arena *a, const struct value *state)
{
        const struct value *composite = value_get(state, STR("composite")), *all = value_get(state, STR("resources"));

        if (composite)
                state = value_with(a, state, STR("composite"), hide_details(a, composite));
        VALUE_FOREACH_MEMBER (m, all)
                all = value_with(a, all, m->key, hide_details(a, &m->value));
        return all ? value_with(a, state, STR("resources"), all) : state;
}

/* Resources of requirements may come with connection details, too. */
static const struct value *hide_required(struct arena *a, const struct value *required)
{
        VALUE_FOREACH_MEMBER (m, required) {
                const struct value *items = value_get(&m->value, STR("items"));

                for (size_t j = 0; j < value_count(items); j++)
                        items = value_with_item(a, items, j, hide_details(a, value_item(items, j)));
                if (items)
                        required = value_with(a, required, m->key, value_with(a, &m->value, STR("items"), items));
        }
        return required;
}

static const struct value *hide_credentials(struct arena *a, const struct value *credentials)
{
        VALUE_FOREACH_MEMBER (m, credentials) {
                const struct value *data = value_find(&m->value, "credentialData", "data"), *hidden;

                if (!data)
                        continue;
                hidden = value_with(a, value_get(&m->value, STR("credentialData")), STR("data"), hide_values(a, data));
                credentials =
                        value_with(a, credentials, m->key, value_with(a, &m->value, STR("credentialData"), hidden));
        }
        return credentials;
}

/* A request or response as JSON values, without values of secrets. */
static const struct value *without_secrets(struct arena *a, const struct value *message)
{
        static const struct {
                struct str member;
                const struct value *(*hide)(struct arena *a, const struct value *v);
        } parts[] = {
                { STR_INIT("observed"), hide_state },          { STR_INIT("desired"), hide_state },
                { STR_INIT("credentials"), hide_credentials }, { STR_INIT("requiredResources"), hide_required },
                { STR_INIT("extraResources"), hide_required },
        };

        message = redact_object(a, message); /* Secrets, wherever they are */
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                const struct value *v = value_get(message, parts[i].member);

                if (v)
                        message = value_with(a, message, parts[i].member, parts[i].hide(a, v));
        }
        return message;
}

/* --- Messages --- */

static void append_text(struct buf *b, uint32_t number, struct str text)
{
        if (text.n)
                proto_append_bytes_field(b, number, text);
}

static void append_number(struct buf *b, uint32_t number, uint64_t n)
{
        if (n)
                proto_append_varint_field(b, number, n);
}

static void append_uuid(struct buf *b, uint32_t number, struct uuid id)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        uuid_append(&text, id);
        append_text(b, number, buf_str(&text));
}

static void append_composition(struct buf *b, uint32_t number, const struct inspected_step *s)
{
        _cleanup_buf_ struct buf m = BUF_INIT(0);

        append_text(&m, 1, s->composition);
        append_text(&m, 2, meta_uid(s->composite));
        append_text(&m, 3, meta_name(s->composite));
        append_text(&m, 4, meta_namespace(s->composite));
        append_text(&m, 5, value_str(value_get(s->composite, STR("apiVersion"))));
        append_text(&m, 6, value_str(value_get(s->composite, STR("kind"))));
        proto_append_bytes_field(b, number, buf_str(&m));
}

static void append_meta(struct buf *b, uint32_t number, const struct inspected_step *s)
{
        _cleanup_buf_ struct buf m = BUF_INIT(0), time = BUF_INIT(0);

        append_number(&time, 1, (uint64_t)s->time.seconds);
        append_number(&time, 2, (uint64_t)s->time.nanos);
        proto_append_bytes_field(&m, 1, buf_str(&time));
        append_uuid(&m, 2, s->trace);
        append_uuid(&m, 3, s->span);
        append_number(&m, 4, (uint64_t)s->index);
        append_text(&m, 5, s->name);
        append_text(&m, 7, s->function);
        append_composition(&m, 9, s);
        proto_append_bytes_field(b, number, buf_str(&m));
}

static int append_json(struct buf *b, struct arena *a, const struct proto_message *type, struct str encoded,
                       struct err *err)
{
        const struct value *message;
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r = proto_decode(a, type, encoded, NULL, &message, err);

        if (r == 0)
                r = json_write(&text, without_secrets(a, message), 0, err);
        if (r == 0)
                append_text(b, 1, buf_str(&text));
        return r;
}

/* --- Telling --- */

static int send_message(struct inspector *i, struct run *run, const char *method, struct buf *message, struct err *err)
{
        struct grpc_call_options options = { .deadline = deadline_after_ms(TIMEOUT_MS),
                                             .cancel = run->cancel,
                                             .fails_fast = true }; /* nobody there costs no time */
        _cleanup_bytes_ struct bytes *request = bytes_take(message);
        struct grpc_reply reply;
        int r = grpc_call(i->channel, str_from(method), request, &options, run->arena, &reply, err);

        if (r == 0)
                bytes_unref(reply.response);
        return r;
}

static void count_error(struct inspector *i, const struct inspected_step *s, struct str type, const struct err *err)
{
        struct str labels[2] = { s->function, type };

        meter_add(i->errors, 1, labels);
        log_debug("cannot tell the pipeline inspector", LOG_STR("function", s->function), LOG_STR("type", type),
                  LOG_ERR("error", err));
}

void inspector_tell_request(struct inspector *i, struct run *run, const struct inspected_step *step,
                            struct fn_request *req)
{
        _cleanup_buf_ struct buf encoded = BUF_INIT(0), message = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        int r = fn_request_encode(run->arena, req, &encoded, &err);

        if (r == 0)
                r = append_json(&message, run->arena, &proto_fn_v1_RunFunctionRequest, buf_str(&encoded), &err);
        append_meta(&message, 2, step);
        if (r == 0)
                r = send_message(i, run, SERVICE "EmitRequest", &message, &err);
        if (r < 0)
                count_error(i, step, STR("request"), &err);
}

void inspector_tell_response(struct inspector *i, struct run *run, const struct inspected_step *step,
                             const struct fn_response *rsp, const struct err *failure)
{
        _cleanup_buf_ struct buf encoded = BUF_INIT(0), message = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        int r = rsp ? fn_response_encode(run->arena, rsp, &encoded, &err) : 0;

        if (r == 0 && rsp)
                r = append_json(&message, run->arena, &proto_fn_v1_RunFunctionResponse, buf_str(&encoded), &err);
        if (!rsp)
                append_text(&message, 2, str_from(err_message(failure)));
        append_meta(&message, 3, step);
        if (r == 0)
                r = send_message(i, run, SERVICE "EmitResponse", &message, &err);
        if (r < 0)
                count_error(i, step, STR("response"), &err);
}
