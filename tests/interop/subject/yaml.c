#include "subject.h"

const struct value *run_yaml(struct arena *a, const struct value *c)
{
        return &value_null;
}
