#include "subject.h"

const struct value *run_proto(struct arena *a, const struct value *c)
{
        return &value_null;
}
