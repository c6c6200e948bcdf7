#include "run-record.h"

#include "buf.h"
#include "composite.h"

#define COMPOSED_NAME_ANNOTATION STR("crossplane.io/composition-resource-name")

/* --- Members that are left out when they say nothing --- */

static void put_str(struct object_builder *b, struct str key, struct str v)
{
        if (v.n)
                object_builder_add(b, key, value_of_str(v));
}

static void put_count(struct object_builder *b, struct str key, size_t n)
{
        if (n)
                object_builder_add(b, key, value_of_int((int64_t)n));
}

static void put_array(struct object_builder *b, struct str key, struct array_builder *items)
{
        if (items->n)
                object_builder_add(b, key, array_builder_finish(items));
}

static struct value milliseconds(int64_t ns)
{
        return value_of_double((double)(ns / 1000) / 1000);
}

/* --- Writes --- */

static const char *const verb_names[] = {
        [WRITE_CREATE] = "create",     [WRITE_UPDATE] = "update",         [WRITE_JSON_PATCH] = "patch",
        [WRITE_MERGE_PATCH] = "patch", [WRITE_STRATEGIC_PATCH] = "patch", [WRITE_APPLY] = "apply",
        [WRITE_DELETE] = "delete",
};

static const char *outcome_of(const struct write_request *req, const struct write_result *result)
{
        if (!result)
                return "refused";
        if (result->is_removed)
                return "removed";
        if (result->is_created)
                return "created";
        if (!result->is_changed)
                return "unchanged";
        return req->verb == WRITE_DELETE ? "marked for deletion" : "changed";
}

/* The text of a refused write, without the values of a Secret that it tried to write. */
static struct str refusal(struct run_notes *n, const struct write_request *req, const struct err *err)
{
        struct fn_resource item = { .object = { .value = req->body } };
        struct fn_resources body = { .items = &item, .n_items = 1 };

        if (value_is_object(req->body))
                redactor_add_resources(&n->redactor, &body);
        return redact_text(&n->redactor, arena_copy(n->redactor.arena, str_from(err_message(err))));
}

static void on_write(void *arg, const struct run *run, const struct write_request *req,
                     const struct write_result *result, const struct err *err)
{
        struct run_notes *n = arg;
        struct arena *a = n->redactor.arena;
        const struct value *object = result && result->value ? result->value : req->body;
        struct object_builder b;
        struct str more = run->cause;

        n->n_deleted += req->verb == WRITE_DELETE && result;
        object_builder_init(&b, a, 12);
        object_builder_add(&b, STR("verb"), value_of_str(str_from(verb_names[req->verb])));
        object_builder_add(&b, STR("apiVersion"), value_of_str(gvk_api_version(a, req->key.gvk)));
        object_builder_add(&b, STR("kind"), value_of_str(req->key.gvk.kind));
        put_str(&b, STR("namespace"), req->key.ns);
        put_str(&b, STR("name"), req->key.name.n ? req->key.name : meta_name(object));
        put_str(&b, STR("subresource"), req->subresource);
        put_str(&b, STR("resource"), meta_annotation(object, COMPOSED_NAME_ANNOTATION));
        put_str(&b, STR("manager"), req->manager);
        object_builder_add(&b, STR("outcome"), value_of_str(str_from(outcome_of(req, result))));
        if (result)
                put_str(&b, STR("version"), meta_resource_version(result->value));
        if (str_cut_prefix(&more, n->r->run->cause) && str_cut_prefix(&more, STR(": ")))
                put_str(&b, STR("cause"), more);
        if (!result) {
                put_str(&b, STR("reason"), str_from(reason_name(err->reason)));
                put_str(&b, STR("error"), refusal(n, req, err));
        }
        array_builder_add(&n->writes, object_builder_finish(&b));
}

void run_notes_begin(struct run_notes *n, struct kind_run *r)
{
        *n = (struct run_notes) { .r = r,
                                  .cause = tracked_run_cause(r->tracked, r->run->arena),
                                  .begin = clock_wall(),
                                  .begin_ns = clock_mono_ns() };
        array_builder_init(&n->writes, r->run->arena, 4);
        redactor_init(&n->redactor, r->run->arena);
        tracked_run_observe_writes(r->tracked, on_write, n);
}

/* --- Steps --- */

static const char *severity_name(enum fn_severity severity)
{
        switch (severity) {
        case FN_SEVERITY_FATAL:
                return "Fatal";
        case FN_SEVERITY_WARNING:
        case FN_SEVERITY_UNSPECIFIED:
                return "Warning";
        case FN_SEVERITY_NORMAL:
                break;
        }
        return "Normal";
}

static struct value results_value(struct arena *a, const struct step_record *record)
{
        struct array_builder all;

        array_builder_init(&all, a, record->n_results);
        for (size_t i = 0; i < record->n_results; i++) {
                struct object_builder b;

                object_builder_init(&b, a, 3);
                object_builder_add(&b, STR("severity"),
                                   value_of_str(str_from(severity_name(record->results[i].severity))));
                put_str(&b, STR("reason"), record->results[i].reason);
                put_str(&b, STR("message"), record->results[i].message);
                array_builder_add(&all, object_builder_finish(&b));
        }
        return array_builder_finish(&all);
}

static struct value step_value(struct arena *a, const struct step_record *record)
{
        struct object_builder b;

        object_builder_init(&b, a, 10);
        object_builder_add(&b, STR("step"), value_of_str(record->step));
        object_builder_add(&b, STR("function"), value_of_str(record->function));
        put_str(&b, STR("revision"), record->revision);
        object_builder_add(&b, STR("durationMs"), milliseconds(record->duration_ns));
        object_builder_add(&b, STR("calls"), value_of_int(record->calls));
        if (record->was_cached)
                object_builder_add(&b, STR("isCached"), value_true);
        put_count(&b, STR("requestBytes"), record->request_bytes);
        put_count(&b, STR("responseBytes"), record->response_bytes);
        put_count(&b, STR("reads"), record->n_dependencies);
        if (record->n_results)
                object_builder_add(&b, STR("results"), results_value(a, record));
        return object_builder_finish(&b);
}

static void put_steps(struct object_builder *b, struct arena *a, const struct reconcile_result *result)
{
        struct array_builder steps;

        array_builder_init(&steps, a, result->n_records);
        for (size_t i = 0; i < result->n_records; i++)
                array_builder_add(&steps, step_value(a, &result->records[i]));
        put_array(b, STR("steps"), &steps);
}

static const struct value **changes_of(struct arena *a, const struct reconcile_result *result)
{
        const struct value **changes = ARENA_NEW_ARRAY(a, const struct value *, result->n_records + 1);

        for (size_t i = 0; i < result->n_records; i++)
                changes[i] = result->records[i].desired_diff;
        return changes;
}

/* --- The whole record --- */

static void put_events(struct object_builder *b, struct run_notes *n, const struct reconcile_result *result)
{
        struct array_builder events;

        array_builder_init(&events, n->redactor.arena, result->n_events);
        for (size_t i = 0; i < result->n_events; i++) {
                const struct reconcile_event *e = &result->events[i];
                struct object_builder event;

                object_builder_init(&event, n->redactor.arena, 3);
                object_builder_add(&event, STR("type"), value_of_str(e->is_warning ? STR("Warning") : STR("Normal")));
                put_str(&event, STR("reason"), e->reason);
                put_str(&event, STR("message"), redact_text(&n->redactor, e->message));
                array_builder_add(&events, object_builder_finish(&event));
        }
        put_array(b, STR("events"), &events);
}

static void put_conditions(struct object_builder *b, struct run_notes *n, const struct value *composite)
{
        struct array_builder conditions;

        array_builder_init(&conditions, n->redactor.arena, 4);
        VALUE_FOREACH_ITEM (item, value_find(composite, "status", "conditions")) {
                struct condition c = condition_of(item);
                struct object_builder condition;

                object_builder_init(&condition, n->redactor.arena, 4);
                put_str(&condition, STR("type"), c.type);
                put_str(&condition, STR("status"), str_from(condition_status_name(c.status)));
                put_str(&condition, STR("reason"), c.reason);
                put_str(&condition, STR("message"), redact_text(&n->redactor, c.message));
                array_builder_add(&conditions, object_builder_finish(&condition));
        }
        put_array(b, STR("conditions"), &conditions);
}

static const char *run_outcome(const struct reconcile_result *result, const struct err *err)
{
        if (result->is_fatal)
                return "fatal result";
        if (err->code)
                return "error";
        return result->requeues ? "tries again" : "success";
}

static struct str time_text(struct arena *a, struct instant t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, t, 3);
        return buf_to_arena(&b, a);
}

static struct str duration_text(struct arena *a, int64_t ns)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        duration_append(&b, ns / NS_PER_MS * NS_PER_MS);
        return buf_to_arena(&b, a);
}

static const struct value *run_value(struct run_notes *n, const struct reconcile_result *result,
                                     const struct places *places, const struct err *err)
{
        struct composite xr = { result->composite, places };
        struct arena *a = n->redactor.arena;
        struct object_builder b;

        object_builder_init(&b, a, 14);
        object_builder_add(&b, STR("time"), value_of_str(time_text(a, n->begin)));
        object_builder_add(&b, STR("durationMs"), milliseconds(clock_mono_ns() - n->begin_ns));
        put_str(&b, STR("cause"), n->cause);
        put_str(&b, STR("uid"), meta_uid(result->composite));
        object_builder_add(&b, STR("generation"), value_of_int(meta_generation(result->composite)));
        put_str(&b, STR("composition"), composite_ref(&xr, STR("compositionRef")));
        put_str(&b, STR("revision"), composite_ref(&xr, STR("compositionRevisionRef")));
        object_builder_add(&b, STR("outcome"), value_of_str(str_from(run_outcome(result, err))));
        if (err->code)
                put_str(&b, STR("error"), redact_text(&n->redactor, arena_copy(a, str_from(err_message(err)))));
        if (result->requeue_after_ns)
                put_str(&b, STR("againAfter"), duration_text(a, result->requeue_after_ns));
        put_conditions(&b, n, result->composite);
        put_steps(&b, a, result);
        put_array(&b, STR("writes"), &n->writes);
        put_events(&b, n, result);
        return value_put(a, object_builder_finish(&b));
}

void run_notes_end(struct run_notes *n, struct run_records *records, const struct reconcile_result *result,
                   const struct places *places, const struct err *err)
{
        struct run_record record = {
                .run = run_value(n, result, places, err),
                .changes = changes_of(n->redactor.arena, result),
                .n_changes = result->n_records,
        };

        run_records_add(records, &n->r->key, &record);
}
