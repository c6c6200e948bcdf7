/* A Composition as JSON: any content is read into steps or refused with a reason, and the Composition itself does not change. */
#include "fuzz.h"

#include "composition.h"
#include "json.h"

static void check_steps(const struct composition *c, const struct value *spec)
{
        size_t n = value_count(value_get(spec, STR("pipeline"))), n_native = 0;

        for (size_t i = 0; i < c->n_steps; i++) {
                bool is_native = str_equal(c->steps[i].function, NATIVE_PATCH_AND_TRANSFORM) ||
                                 str_equal(c->steps[i].function, NATIVE_ENVIRONMENT_CONFIGS);

                /* Steps that are made from fields of the Composition come first and have an input. */
                if (is_native && i == n_native) {
                        assert(c->steps[i].name.n > 0 && value_is_object(c->steps[i].input));
                        n_native++;
                }
        }
        assert(c->n_steps <= n_native + (c->mode == COMPOSITION_PIPELINE ? n : 0));
        assert(!c->is_anonymous || c->mode == COMPOSITION_RESOURCES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        enum composition_mode mode;
        const struct value *v, *before;
        struct composition c;

        arena_init(&a, "fuzz", 64 << 20);
        if (json_parse(&a, str_make((const char *)data, size), NULL, &v, NULL) < 0)
                return 0;
        before = value_copy(&a, v);
        if (composition_read(&a, v, &c, &err) >= 0) {
                assert(composition_mode(v, &mode, NULL) >= 0 && mode == c.mode);
                check_steps(&c, value_get(v, STR("spec")));
        } else {
                assert(err.code < 0 && str_starts_with(str_from(err_message(&err)), STR("Composition \"")));
        }
        assert(value_equal(before, v));
        return 0;
}
