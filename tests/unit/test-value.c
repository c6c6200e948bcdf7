#include "test.h"

#include "value.h"

TEST(lookup)
{
        _cleanup_arena_ struct arena a;
        struct member members[] = { { STR("b"), value_of_int(1) }, { STR("a"), value_of_int(2) } };
        struct value object;

        arena_init(&a, "test", 0);
        object = value_of_members(&a, members, 2, false);
        ASSERT_INT(value_int(value_get(&object, STR("a")), 0), 2);
        ASSERT(!value_get(&object, STR("c")));
}
