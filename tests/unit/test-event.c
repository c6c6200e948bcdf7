#include "kube-test.h"

#include "event.h"

static const struct instant now = { .seconds = 1700000000, .nanos = 123456789 };

/* As client-go's recorder made them. */
TEST(events)
{
        _cleanup_arena_ struct arena a;
        const struct value *o;
        struct value e;

        arena_init(&a, "test", 0);
        o = from_json(&a, "{\"apiVersion\":\"ex.org/"
                          "v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"n\",\"namespace\":\"ns\",\"uid\":\"u\","
                          "\"resourceVersion\":\"7\"}}");
        e = event_make(&a, o, EVENT_NORMAL, STR("Rea"), STR("msg"), STR("comp"), now);
        ASSERT_JSON(
                &a, &e,
                "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"n.17979cfe3d85cd15\",\"namespace\":"
                "\"ns\"},"
                "\"involvedObject\":{\"kind\":\"W\",\"namespace\":\"ns\",\"name\":\"n\",\"uid\":\"u\",\"apiVersion\":"
                "\"ex.org/v1\","
                "\"resourceVersion\":\"7\"},\"reason\":\"Rea\",\"message\":\"msg\",\"source\":{\"component\":\"comp\"},"
                "\"firstTimestamp\":\"2023-11-14T22:13:20Z\",\"lastTimestamp\":\"2023-11-14T22:13:20Z\",\"count\":1,"
                "\"type\":\"Normal\",\"eventTime\":null,\"reportingComponent\":\"comp\",\"reportingInstance\":\"\"}");
}

TEST(cluster_scoped_objects_and_odd_names)
{
        _cleanup_arena_ struct arena a;
        const struct value *o;
        struct value e;

        arena_init(&a, "test", 0);
        o = from_json(&a, "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"W\",\"metadata\":{\"name\":\"N_bad/\"}}");
        e = event_make(&a, o, EVENT_WARNING, STR("Rea"), STR(""), STR("comp"), now);
        ASSERT_STR(meta_namespace(&e), STR("default"));
        ASSERT_INT(meta_name(&e).n, 36);
        ASSERT_STR(value_str(value_get(&e, STR("type"))), STR("Warning"));
        ASSERT(!value_get(&e, STR("message")));
        ASSERT_JSON(&a, value_get(&e, STR("involvedObject")),
                    "{\"kind\":\"W\",\"name\":\"N_bad/\",\"apiVersion\":\"ex.org/v1\"}");
}
