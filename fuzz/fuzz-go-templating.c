/* A call of function-go-templating. The first line of the input is JSON: the spec of the composite resource, and other parts of the
 * request where it has members of their names; the rest is the template. The function returns for every template; its response can
 * be sent and read again; a template without chance gives the same response twice, unless its time is up; a fatal result leaves the desired state as it was
 * and says why. */
#include "fuzz.h"

#include "buf.h"
#include "functions.h"
#include "json.h"

#define ARENA_BYTES (256u << 20)
#define DEADLINE_NS 1000000000ll

static const char request_text[] =
        "{\"composite\": {\"apiVersion\": \"e.org/v1\", \"kind\": \"X\", \"metadata\": {\"name\": \"xr\"}},"
        " \"composed\": {\"kind\": \"A\", \"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}},"
        " \"context\": {\"apiextensions.crossplane.io/environment\": {\"a\": {\"b\": 1}}}}";

static const struct value *read_json(struct arena *a, struct str text)
{
        const struct value *v;

        return json_parse(a, text, NULL, &v, NULL) == 0 ? v : &value_empty_object;
}

static const struct value *with_member(struct arena *a, const struct value *object, struct str key,
                                       const struct value *v)
{
        struct object_builder b;

        object_builder_init(&b, a, 8);
        VALUE_FOREACH_MEMBER (m, object)
                object_builder_set(&b, m->key, m->value);
        object_builder_set(&b, key, *v);
        return value_put(a, object_builder_finish(&b));
}

static const struct value *input_of(struct arena *a, struct str template_of, const struct value *given)
{
        const struct value *text = value_put(a, value_of_str(template_of));
        const struct value *input = read_json(a, STR("{\"source\": \"Inline\"}"));

        input = with_member(a, input, STR("inline"), with_member(a, &value_empty_object, STR("template"), text));
        return value_get(given, STR("options"))
                       ? with_member(a, input, STR("options"), value_get(given, STR("options")))
                       : input;
}

/* A part of the request: the given object of that name, or the usual one. */
static const struct value *part(const struct value *given, const struct value *usual, struct str name)
{
        const struct value *v = value_get(given, name);

        return value_is_object(v) ? v : value_get(usual, name);
}

struct parts {
        struct fn_bytes bytes[1];
        struct fn_resource composed[1], extra[1];
        struct fn_resources extras[1];
        struct fn_credentials credentials[1];
};

static void make_request(struct arena *a, struct str text, struct parts *p, struct fn_request *ret)
{
        const struct value *given, *usual = read_json(a, str_from(request_text));
        struct str line;

        str_split(&text, '\n', &line);
        given = read_json(a, line);
        p->bytes[0] = (struct fn_bytes) { STR("key"), STR("hidden") };
        p->composed[0] = (struct fn_resource) { .name = STR("a"),
                                                .object.value = part(given, usual, STR("composed")),
                                                .connection = { p->bytes, 1 } };
        p->extra[0] = (struct fn_resource) { .object.value = part(given, usual, STR("composed")) };
        p->extras[0] = (struct fn_resources) { STR("e"), p->extra, 1 };
        p->credentials[0] = (struct fn_credentials) { STR("c"), { p->bytes, 1 } };
        *ret = (struct fn_request) {
                .observed = { .is_present = true,
                              .is_open = true,
                              .has_composite = true,
                              .composite.object.value =
                                      with_member(a, part(given, usual, STR("composite")), STR("spec"), given),
                              .resources = p->composed,
                              .n_resources = 1 },
                .context.value = part(given, usual, STR("context")),
                .input.value = input_of(a, text, given),
                .required_resources = { p->extras, 1 },
                .credentials = p->credentials,
                .n_credentials = 1,
        };
}

static void check(struct arena *a, const struct fn_response *rsp, struct buf *ret)
{
        struct fn_response again;
        int r = fn_response_encode(a, rsp, ret, NULL);

        assert(r >= 0);
        r = fn_response_decode(a, buf_str(ret), &again, NULL);
        assert(r >= 0 && again.n_results == rsp->n_results && again.n_conditions == rsp->n_conditions);
        if (rsp->n_results == 0)
                return;
        assert(rsp->n_results == 1 && rsp->results[0].severity == FN_SEVERITY_FATAL && rsp->results[0].message.n > 0);
        assert(!rsp->desired.has_composite && rsp->desired.n_resources == 0);
}

static bool run_once(struct str text, struct buf *ret)
{
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = deadline_after_ns(DEADLINE_NS) };
        struct fn_request req;
        struct fn_response rsp;
        struct parts parts;
        bool varies;
        int r;

        arena_init(&a, "fuzz", ARENA_BYTES);
        make_request(&a, text, &parts, &req);
        varies = functions_input_varies(
                with_member(&a, req.input.value, STR("kind"), value_put(&a, value_of_str(STR("GoTemplate")))));
        r = function_go_templating.run(&run, &req, &rsp, NULL);
        assert(r == 0);
        check(&a, &rsp, ret);
        return !varies;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = str_make((const char *)data, size);
        static const struct str late = STR_INIT("deadline exceeded");
        _cleanup_buf_ struct buf first = BUF_INIT(0), second = BUF_INIT(0);

        if (!run_once(text, &first))
                return 0;
        run_once(text, &second);
        if (str_find(buf_str(&first), late) < 0 && str_find(buf_str(&second), late) < 0)
                assert(str_equal(buf_str(&first), buf_str(&second)));
        return 0;
}
