#include "subject.h"

const struct value *run_path(struct arena *a, const struct value *c)
{
        return &value_null;
}
