#include "bounds.h"

#include "park.h"

int bounds_check(const struct run *run, struct err *err)
{
        int r = cancel_check(run->cancel, err);

        if (r < 0)
                return r;
        if (deadline_has_passed(run->deadline))
                return err_set(err, ERR_TIMEOUT, "the deadline of the call has passed");
        return arena_check(run->arena, err);
}
