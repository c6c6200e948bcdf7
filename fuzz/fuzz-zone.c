#include "fuzz.h"

#include "zone.h"

/* The file of a zone: with any content, every time has an offset and an abbreviation. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const int64_t times[] = { INT64_MIN / 2, -3000000000, 0, 1700000000, 4200000000, INT64_MAX / 2 };
        struct zone *z;
        struct str abbreviation;
        int32_t offset;

        if (zone_parse(str_make((const char *)data, size), &z, NULL) < 0)
                return 0;
        for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
                zone_at(z, times[i], &offset, &abbreviation);
                assert(abbreviation.n <= size);
        }
        zone_free(z);
        return 0;
}
