#include "source.h"

#include "utf8.h"

struct position source_position(struct str text, size_t offset)
{
        struct position p = { .line = 1, .column = 1, .offset = offset < text.n ? offset : text.n };
        size_t start = 0;

        for (size_t i = 0; i < p.offset; i++) {
                if (text.p[i] == '\n') {
                        p.line++;
                        start = i + 1;
                }
        }
        p.column = 1 + (uint32_t)utf8_count(str_make(text.p + start, p.offset - start));
        return p;
}
