#include "desired.h"

int desired_rebuild(struct arena *a, struct fn_state *desired, struct fn_resource **ret, struct err *err)
{
        struct fn_resource *resources;
        int r = fn_state_open(a, desired, err);

        if (r < 0)
                return r;
        resources = ARENA_NEW_ARRAY(a, struct fn_resource, desired->n_resources + 1);
        for (size_t i = 0; i < desired->n_resources; i++) {
                resources[i] = desired->resources[i];
                resources[i].connection = (struct fn_bytes_map) { 0 };
                if (!fn_struct_is_present(&resources[i].object))
                        resources[i].object.value = &value_empty_object;
        }
        desired->resources = resources;
        desired->is_present = true;
        desired->encoded = STR_NONE;
        *ret = resources;
        return 0;
}

void desired_settle_ready(struct fn_resource *resources, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (resources[i].ready != FN_READY_TRUE && resources[i].ready != FN_READY_FALSE)
                        resources[i].ready = FN_READY_UNSPECIFIED;
}
