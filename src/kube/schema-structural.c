#include "schema-props.h"

void structural_check(const struct props *root, struct str field, struct field_errors *errors)
{
        (void)root;
        (void)field;
        (void)errors;
}
