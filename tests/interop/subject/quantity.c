#include "subject.h"

const struct value *run_quantity(struct arena *a, const struct value *c)
{
        return &value_null;
}
