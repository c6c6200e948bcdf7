/* Composes a ConfigMap with a greeting for whom the composite resource names. Replace it with what your function is for. */
#include "function.h"

static const char *const input_keys[] = { "greeting", NULL };

static const struct weft_flag flags[] = {
        { .name = "greeting",
          .value = "Hello",
          .environment = "GREETING",
          .help = "Used where a step's input has none." },
};

static void run(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req), *input = weft_input(req);
        const char *greeting = weft_get_string_or(input, "greeting", weft_flag_text(req, "greeting"));
        const char *text = weft_format(req, "%s, %s!", greeting, weft_get_string(xr, "spec.name"));

        weft_check_keys(input, NULL, input_keys);
        if (weft_has_failed(rsp))
                return;
        weft_set_string(weft_compose(rsp, "greeting", "v1", "ConfigMap"), "data.text", text);
        weft_set_string(weft_status(rsp), "text", text);

        /* A ConfigMap has no conditions: it is ready when it exists. */
        if (weft_exists(weft_observed(req, "greeting"), "metadata"))
                weft_set_ready(rsp, "greeting", WEFT_READY_TRUE);
}

const struct weft_function function = {
        .name = "@NAME@",
        .help = "Composes a ConfigMap with a greeting.",
        .run = run,
        .flags = flags,
        .n_flags = sizeof(flags) / sizeof(flags[0]),
};
