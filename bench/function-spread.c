/* A function for bench-render: a step with a count in its input composes that many resources of about 5 KB; any other step changes
 * nothing. */
#include <weft/fn.h>

#define N_FIELDS 40

static const char filler[] =
        "what a resource of a provider has for a description, an identity or a policy: a hundred characters";

static void compose(struct weft_request *req, struct weft_response *rsp, int64_t i)
{
        const char *name = weft_format(req, "part-%03lld", (long long)i);
        struct weft_value *part = weft_compose(rsp, name, "bench.example.org/v1", "Part");

        for (int field = 0; field < N_FIELDS; field++)
                weft_set_string(part, weft_format(req, "spec.forProvider.group%d.field%d", field / 8, field), filler);
}

static void run(struct weft_request *req, struct weft_response *rsp)
{
        int64_t count = weft_get_int_or(weft_input(req), "count", 0);

        for (int64_t i = 0; i < count; i++)
                compose(req, rsp, i);
}

int main(int argc, char **argv)
{
        return weft_main(argc, argv,
                         &(struct weft_function) {
                                 .name = "function-spread",
                                 .help = "Composes as many resources as its input says.",
                                 .run = run,
                         });
}
