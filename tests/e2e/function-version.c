/* A function for tests of revisions: it composes a ConfigMap that says which version of it ran (variable VERSION of its image), as which
 * revision, and for which value of the composite. With VERSION=broken it ends at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/fn.h"

static const char *variable(const char *name)
{
        const char *value = getenv(name);

        return value ? value : "";
}

static void run(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req);
        struct weft_value *map = weft_compose(rsp, "map", "v1", "ConfigMap");

        weft_set_string(map, "metadata.namespace", "default");
        weft_set_string(map, "metadata.name", weft_get_string(xr, "metadata.name"));
        weft_set_string(map, "data.version", variable("VERSION"));
        weft_set_string(map, "data.revision", variable("REVISION_NAME"));
        weft_set_string(map, "data.value", weft_get_string_or(xr, "spec.value", ""));
        weft_set_ready(rsp, "map", WEFT_READY_TRUE);
}

int main(int argc, char **argv)
{
        if (strcmp(variable("VERSION"), "broken") == 0) {
                fprintf(stderr, "this version is broken\n");
                return 3;
        }
        return weft_main(argc, argv, &(struct weft_function) { .name = "function-version", .run = run });
}
