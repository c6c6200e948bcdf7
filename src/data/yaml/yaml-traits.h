/* Properties of a text that decide in which styles YAML may write it. */
#pragma once

#include "str.h"

struct yaml_traits {
        bool has_indicators; /* at places where they mean something to YAML */
        bool has_breaks;
        bool has_tabs;
        bool has_special; /* characters that are not printable; tabs are counted apart */
        bool has_space_at_edge;
        bool has_space_at_end;
        bool has_break_at_edge;
        bool has_break_then_space;
        bool has_space_then_break;
};

struct yaml_traits yaml_traits_of(struct str s);

bool yaml_is_break(uint32_t rune);

/* Everything beyond the basic plane counts as not printable, and so do tabs. */
bool yaml_is_printable(uint32_t rune);
