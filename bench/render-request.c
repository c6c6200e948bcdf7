/* render-request [NAME=ADDRESS...] FILE...: writes the render request that `internal render` reads, as protobuf, to standard
 * output.
 *
 * The YAML files contain a Composition; the first other object is the composite resource, and all objects after it are observed
 * resources. */
#include "buf.h"
#include "input.h"
#include "proto-tables.h"
#include "proto.h"
#include "yaml.h"

#include <stdio.h>

struct request {
        struct arena *arena;
        const struct value *composite;
        const struct value *composition;
        struct array_builder observed;
        struct array_builder functions;
};

static void add_function(struct request *req, struct str argument)
{
        struct object_builder b;
        struct str name;

        str_split(&argument, '=', &name);
        object_builder_init(&b, req->arena, 2);
        object_builder_add(&b, STR("name"), value_of_str(name));
        object_builder_add(&b, STR("address"), value_of_str(argument));
        array_builder_add(&req->functions, object_builder_finish(&b));
}

static int add_file(struct request *req, const char *name, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        const struct value *objects;
        int r;

        if ((r = input_read(name, &text, err)) < 0 ||
            (r = yaml_parse_stream(req->arena, buf_to_arena(&text, req->arena), NULL, &objects, err)) < 0)
                return r;
        VALUE_FOREACH_ITEM (item, objects) {
                if (str_equal(value_str(value_get(item, STR("kind"))), STR("Composition")))
                        req->composition = item;
                else if (!req->composite)
                        req->composite = item;
                else
                        array_builder_add(&req->observed, *item);
        }
        return 0;
}

static struct value request_value(struct request *req)
{
        struct object_builder composite, b;

        object_builder_init(&composite, req->arena, 4);
        object_builder_add(&composite, STR("compositeResource"), *req->composite);
        object_builder_add(&composite, STR("composition"), *req->composition);
        object_builder_add(&composite, STR("functions"), array_builder_finish(&req->functions));
        object_builder_add(&composite, STR("observedResources"), array_builder_finish(&req->observed));
        object_builder_init(&b, req->arena, 1);
        object_builder_add(&b, STR("composite"), object_builder_finish(&composite));
        return object_builder_finish(&b);
}

static int write_request(struct request *req, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value v;
        int r;

        if (!req->composite || !req->composition)
                return err_set(err, ERR_INVALID, "a composite resource and a Composition are needed");
        v = request_value(req);
        r = proto_encode(&b, &proto_render_RenderRequest, &v, NULL, err);
        if (r >= 0 && fwrite(b.p, 1, b.n, stdout) != b.n)
                r = err_set(err, ERR_SYSTEM, "cannot write the request");
        return r;
}

int main(int argc, char **argv)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct request req = { .arena = &a };
        int r = 0;

        arena_init(&a, "render request", 0);
        array_builder_init(&req.functions, &a, 0);
        array_builder_init(&req.observed, &a, 0);
        for (int i = 1; i < argc && r >= 0; i++) {
                if (strchr(argv[i], '='))
                        add_function(&req, str_from(argv[i]));
                else
                        r = add_file(&req, argv[i], &err);
        }
        if (r >= 0)
                r = write_request(&req, &err);
        if (r < 0)
                fprintf(stderr, "render-request: %s\n", err_message(&err));
        return r < 0;
}
