#include "subject.h"

const struct value *run_regex(struct arena *a, const struct value *c)
{
        return &value_null;
}
