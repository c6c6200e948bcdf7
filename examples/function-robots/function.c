/* Composes as many Robots as an XRobotGroup asks for. Each gets a colour once and keeps it. */
#include "function.h"

static const char *const colors[] = { "red", "green", "blue", "yellow", "orange" };

#define N_COLORS   (sizeof(colors) / sizeof(colors[0]))
#define MAX_ROBOTS 1000

/* Any colour would do; one that follows from the name makes the same request give the same response. */
static const char *pick_color(const char *external_name)
{
        uint32_t hash = 2166136261u;

        for (const char *p = external_name; *p; p++)
                hash = (hash ^ (unsigned char)*p) * 16777619u;
        return colors[hash % N_COLORS];
}

/* The colour that an earlier step wants or that the robot already has, else a new one, of which the user is told once. */
static const char *choose_color(struct weft_request *req, struct weft_response *rsp, const char *name,
                                const char *external_name)
{
        const char *color = weft_get_string_or(weft_desired(req, name), "spec.forProvider.color", "");

        if (!*color)
                color = weft_get_string_or(weft_observed(req, name), "spec.forProvider.color", "");
        if (!*color) {
                color = pick_color(external_name);
                weft_normal(rsp, "set robot \"%s\" color to \"%s\"", name, color);
        }
        return color;
}

static void compose_robot(struct weft_request *req, struct weft_response *rsp, const char *group, int64_t i)
{
        const char *name = weft_format(req, "robot-%lld", (long long)i);
        const char *external_name = weft_format(req, "%s-%s", group, name);
        struct weft_value *robot = weft_compose(rsp, name, "iam.dummy.upbound.io/v1alpha1", "Robot");

        weft_set_external_name(robot, external_name);
        weft_set_string(robot, "spec.forProvider.color", choose_color(req, rsp, name, external_name));
        if (weft_is_ready(weft_observed(req, name)))
                weft_set_ready(rsp, name, WEFT_READY_TRUE);
}

void robots_run(struct weft_request *req, struct weft_response *rsp)
{
        const struct weft_value *xr = weft_observed_composite(req);
        const char *group = weft_external_name(xr);
        int64_t count = weft_get_int(xr, "spec.count");

        if (!*group)
                group = weft_get_string(xr, "metadata.name");
        if (count < 0 || count > MAX_ROBOTS)
                weft_fatal(rsp, "spec.count: %lld is not between 0 and %d", (long long)count, MAX_ROBOTS);
        if (weft_has_failed(rsp))
                return;
        for (int64_t i = 0; i < count; i++)
                compose_robot(req, rsp, group, i);
}
