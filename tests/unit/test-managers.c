/* Expectations are those of docs/spec/engine 2.12. */
#include "values.h"

#include "managers.h"

#define CLAIM STR("apiextensions.crossplane.io/claim")

static const struct value *object_with(const char *managers)
{
        return parse(arena_cstring(&arena, arena_printf(&arena,
                                                        "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\","
                                                        "\"resourceVersion\":\"7\",\"managedFields\":[%s]}}",
                                                        managers)));
}

TEST(managers_are_reset_once)
{
        static const struct {
                const char *managers;
                bool is_prefix;
                const char *patch; /* NULL: none */
        } cases[] = {
                { "{\"manager\":\"crossplane\"}", false,
                  "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{}]},"
                  "{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"}]" },
                { "{\"manager\":\"crossplane\"},{\"manager\":\"apiextensions.crossplane.io/claim\"}", false, NULL },
                { "{\"manager\":\"x\"},{\"manager\":\"before-first-apply\"},{\"manager\":\"apiextensions.crossplane.io/"
                  "claim\"}",
                  false,
                  "[{\"op\":\"remove\",\"path\":\"/metadata/managedFields/1\"},"
                  "{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"}]" },
                { "{\"manager\":\"apiextensions.crossplane.io/claims\"}", true, NULL },
                { "{\"manager\":\"apiextensions.crossplane.io/claims\"}", false,
                  "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{}]},"
                  "{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"}]" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *patch;

                begin();
                patch = managers_upgrade(&arena, object_with(cases[i].managers), CLAIM, cases[i].is_prefix);
                if (cases[i].patch)
                        check_value("patch", patch, cases[i].patch);
                else
                        ASSERT(!patch);
                end();
        }
}

TEST(an_object_that_is_not_stored_has_none)
{
        begin();
        ASSERT(!managers_upgrade(&arena, parse("{\"metadata\":{\"name\":\"x\"}}"), CLAIM, false));
        end();
}
