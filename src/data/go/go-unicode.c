#include "gotext.h"

#include "buf.h"
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

/* Every step-th rune from first to last. */
struct run {
        uint32_t first, last, step;
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

void go_append_mapped(struct buf *b, struct str s, uint32_t (*map)(uint32_t rune))
{
        while (s.n) {
                char out[4];
                size_t width;
                uint32_t rune = utf8_decode(s, &width);

                buf_append(b, out, utf8_encode(map(rune), out));
                s = str_skip(s, width);
        }
}

uint32_t go_to_title(uint32_t rune)
{
        return map_rune(to_title, ARRAY_SIZE(to_title), rune);
}

static bool is_in_runs(const struct run *runs, size_t n, uint32_t rune)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (rune < runs[middle].first)
                        high = middle;
                else if (rune > runs[middle].last)
                        low = middle + 1;
                else
                        return (rune - runs[middle].first) % runs[middle].step == 0;
        }
        return false;
}

bool go_is_upper(uint32_t rune)
{
        return is_in_runs(upper, ARRAY_SIZE(upper), rune);
}

bool go_is_lower(uint32_t rune)
{
        return is_in_runs(lower, ARRAY_SIZE(lower), rune);
}

bool go_is_title(uint32_t rune)
{
        return is_in_runs(title, ARRAY_SIZE(title), rune);
}

bool go_is_space(uint32_t rune)
{
        if (rune <= 0xFF)
                return (rune >= '\t' && rune <= '\r') || rune == ' ' || rune == 0x85 || rune == 0xA0;
        return rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 || rune == 0x2029 ||
               rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

bool go_is_number(uint32_t rune)
{
        return is_in_runs(number, ARRAY_SIZE(number), rune);
}

bool go_is_punctuation(uint32_t rune)
{
        return is_in_runs(punctuation, ARRAY_SIZE(punctuation), rune);
}
