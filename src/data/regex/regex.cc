/* The only C++ in the program: RE2 behind regex-engine.h. Nothing throws past these functions: they are noexcept, and the
 * only exception there is, no memory, ends the program as it does everywhere else. */
extern "C" {
#include "regex-engine.h"
#include "limits.h"
}

#include <re2/re2.h>

struct regex_engine {
        RE2 re;

        regex_engine(struct str pattern, const RE2::Options &options)
            : re(re2::StringPiece(pattern.p ? pattern.p : "", pattern.n), options)
        {
        }
};

extern "C" int regex_engine_new(struct str pattern, struct regex_engine **ret, struct err *err) noexcept
{
        RE2::Options options(RE2::Quiet);
        struct regex_engine *e;

        options.set_max_mem(LIMIT_REGEX_BYTES);
        e = new regex_engine(pattern, options);
        if (e->re.ok()) {
                *ret = e;
                return 0;
        }
        const int code = e->re.error_code() == RE2::ErrorPatternTooLarge ? ERR_LIMIT : ERR_UNSUPPORTED;
        if (code == ERR_LIMIT)
                err_set(err, code, "regular expression needs more memory than the limit of %u bytes",
                        LIMIT_REGEX_BYTES);
        else
                err_set(err, code, "regular expression is beyond the engine: %s", e->re.error().c_str());
        delete e;
        return code;
}

extern "C" void regex_engine_free(struct regex_engine *e) noexcept
{
        delete e;
}

extern "C" bool regex_engine_find(const struct regex_engine *e, struct str text, size_t start, struct str *groups,
                                  size_t n) noexcept
{
        const size_t on_stack = 16;
        re2::StringPiece few[on_stack], *found = n <= on_stack ? few : new re2::StringPiece[n];
        bool has_match = e->re.Match(re2::StringPiece(text.p ? text.p : "", text.n), start, text.n, RE2::UNANCHORED,
                                     found, (int)n);

        for (size_t i = 0; has_match && i < n; i++) {
                groups[i].p = found[i].data();
                groups[i].n = found[i].size();
        }
        if (found != few)
                delete[] found;
        return has_match;
}
