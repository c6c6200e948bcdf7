#include "subject.h"

#include "discovery.h"
#include "store.h"

static int apply(struct cluster *c, struct run *run, const struct value *objects, struct err *err)
{
        VALUE_FOREACH_ITEM (object, objects) {
                struct write_request req = { .verb = WRITE_CREATE, .key = object_key_of(object), .body = object };
                struct write_result result;
                int r = cluster_write(c, run, &req, &result, err);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* {"status": ..., "type": ..., "body": the JSON of the answer}. */
static struct value ask(struct discovery *d, struct cluster *c, struct run *run, const struct value *request)
{
        struct str path = value_str(value_get(request, STR("path")));
        struct http_head head = { .method = STR("GET"), .path = path };
        struct api_call call = { .run = *run, .cluster = c, .head = &head, .path = path };
        struct arena *a = run->arena;
        _cleanup_err_ struct err err = { 0 };
        const struct value *body = &value_null;
        struct api_reply reply;
        struct member members[3];
        int r;

        if (value_get(request, STR("accept")))
                http_fields_add(&head.fields, a, STR("accept"), value_str(value_get(request, STR("accept"))));
        r = str_starts_with(path, STR("/openapi")) ? openapi_handle(d, &call, &reply, &err)
                                                   : discovery_handle(d, &call, &reply, &err);
        if (r < 0) {
                struct value status = status_of_err(a, &err);

                members[0] = (struct member) { STR("status"), value_of_int(reason_http_status(err.reason)) };
                members[1] = (struct member) { STR("body"), *value_copy(a, &status) };
                return value_of_members(a, members, 2, false);
        }
        if (reply.body) {
                arena_pin(a, reply.body, bytes_unpin);
                if (str_starts_with(reply.content_type, STR("application/yaml")))
                        body = value_put(a, value_of_str(reply.body->str));
                else if (json_parse(a, reply.body->str, NULL, &body, &err) < 0)
                        abort();
        }
        members[0] = (struct member) { STR("status"), value_of_int(reply.status ? reply.status : 200) };
        members[1] = (struct member) { STR("type"), value_of_str(reply.content_type) };
        members[2] = (struct member) { STR("body"), *body };
        return value_of_members(a, members, 3, false);
}

static void free_store(void *s)
{
        store_free(s);
}

/* Answers to requests for documents, of a store with the objects. */
const struct value *run_discovery(struct arena *a, const struct value *c)
{
        struct store_options options = { 0 };
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        _cleanup_err_ struct err err = { 0 };
        struct array_builder answers;
        struct discovery *d = NULL;
        struct store *s = NULL;
        struct value result;

        if (store_new(&options, &s, &err) < 0)
                return result_error(a, &err);
        arena_pin(a, s, free_store); /* after all objects that are pinned later */
        if (apply(store_cluster(s), &run, value_get(c, STR("objects")), &err) < 0 || store_settle(s, &run, &err) < 0 ||
            discovery_new(store_cluster(s), &d, &err) < 0)
                return result_error(a, &err);
        array_builder_init(&answers, a, 8);
        VALUE_FOREACH_ITEM (request, value_get(c, STR("requests")))
                array_builder_add(&answers, ask(d, store_cluster(s), &run, request));
        result = array_builder_finish(&answers);
        discovery_free(d);
        return value_put(a, *value_copy(a, &result));
}
