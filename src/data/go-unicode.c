#include "gotext.h"

#include "utf8.h"

struct range {
        uint32_t first, last;
};

/* Every step-th rune from first to last moves by delta. */
struct mapping {
        uint32_t first, last;
        int32_t delta;
        uint32_t step;
};

#include "go-unicode-tables.h"

bool go_is_printable(uint32_t rune)
{
        size_t low = 0, high = ARRAY_SIZE(printable);

        if (rune < 0x7F)
                return rune >= 0x20;
        while (low < high) {
                size_t middle = (low + high) / 2;

                if (rune < printable[middle].first)
                        high = middle;
                else if (rune > printable[middle].last)
                        low = middle + 1;
                else
                        return true;
        }
        return false;
}

static uint32_t map_rune(const struct mapping *mappings, size_t n, uint32_t rune)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t middle = (low + high) / 2;
                const struct mapping *m = &mappings[middle];

                if (rune < m->first)
                        high = middle;
                else if (rune > m->last)
                        low = middle + 1;
                else
                        return (rune - m->first) % m->step == 0 ? rune + (uint32_t)m->delta : rune;
        }
        return rune;
}

uint32_t go_to_upper(uint32_t rune)
{
        return map_rune(to_upper, ARRAY_SIZE(to_upper), rune);
}

uint32_t go_to_lower(uint32_t rune)
{
        return map_rune(to_lower, ARRAY_SIZE(to_lower), rune);
}
