/* A function for tests of rollouts: composes ConfigMaps with a text, or fails. Each call leaves the composite's name in a file. */
#include <weft/fn.h>

#include <stdatomic.h>
#include <stdio.h>

static const struct weft_flag flags[] = {
        { .name = "text", .value = "v1", .help = "Goes into every ConfigMap." },
        { .name = "composes", .type = WEFT_FLAG_INT, .value = "2", .help = "How many ConfigMaps." },
        { .name = "password", .value = "djE=", .help = "Goes into a Secret, in base64." },
        { .name = "fails", .type = WEFT_FLAG_BOOL, .help = "Return a fatal result." },
        { .name = "calls", .help = "The file that gets a line for each call." },
};

static void note_call(struct weft_request *req, const char *name)
{
        FILE *f = fopen(weft_flag_text(req, "calls"), "a");

        if (!f)
                return;
        fprintf(f, "%s%s\n", name, weft_has_credential(req, "login") ? " with credentials" : "");
        fclose(f);
}

static void compose_secret(struct weft_request *req, struct weft_response *rsp)
{
        struct weft_value *secret = weft_compose(rsp, "secret", "v1", "Secret");

        weft_set_string(secret, "data.password", weft_flag_text(req, "password"));
        weft_set_ready(rsp, "secret", WEFT_READY_TRUE);
}

static void run(struct weft_request *req, struct weft_response *rsp)
{
        static atomic_int number;
        const char *name = weft_get_string(weft_observed_composite(req), "metadata.name");

        note_call(req, name);
        weft_normal(rsp, "call %d of this program", atomic_fetch_add(&number, 1)); /* differs between equal requests */
        if (weft_flag_bool(req, "fails")) {
                weft_fatal(rsp, "%s cannot do it", weft_flag_text(req, "text"));
                return;
        }
        compose_secret(req, rsp);
        for (int64_t i = 0; i < weft_flag_int(req, "composes"); i++) {
                const char *key = weft_format(req, "map-%lld", (long long)i);
                struct weft_value *map = weft_compose(rsp, key, "v1", "ConfigMap");

                weft_set_string(map, "data.text", weft_flag_text(req, "text"));
                weft_set_ready(rsp, key, WEFT_READY_TRUE);
        }
}

int main(int argc, char **argv)
{
        return weft_main(argc, argv,
                         &(struct weft_function) { .name = "function-rollout",
                                                   .run = run,
                                                   .flags = flags,
                                                   .n_flags = sizeof(flags) / sizeof(flags[0]) });
}
