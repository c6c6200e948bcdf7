#include "test.h"

#include "buf.h"
#include "number.h"

#include <math.h>

/* What encoding/json prints. */
TEST(json)
{
        static const struct {
                double d;
                const char *wanted;
        } cases[] = {
                { 0.0, "0" },
                { -0.0, "-0" },
                { 1, "1" },
                { -42, "-42" },
                { 0.1, "0.1" },
                { 1.5, "1.5" },
                { 1e-6, "0.000001" },
                { 1e-7, "1e-7" },
                { 1.25e-7, "1.25e-7" },
                { 1e20, "100000000000000000000" },
                { 1e21, "1e+21" },
                { -1.5e300, "-1.5e+300" },
                { 12345678901234567890.0, "12345678901234567000" },
                { 5e-324, "5e-324" },
                { 1.7976931348623157e308, "1.7976931348623157e+308" },
                { 9007199254740993.0, "9007199254740992" },
                { 0x1p-44, "5.684341886080802e-14" },
                { 1 / 3.0, "0.3333333333333333" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                number_append_json(&b, cases[i].d);
                ASSERT_STR_CASE(cases[i].wanted, buf_str(&b), str_from(cases[i].wanted));
        }
}
