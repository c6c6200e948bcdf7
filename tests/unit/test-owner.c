#include "kube-test.h"

#include "owner.h"

static const char two_owners[] =
        "{\"metadata\":{\"name\":\"obj\",\"ownerReferences\":["
        "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"name\":\"a\",\"uid\":\"ua\"},"
        "{\"apiVersion\":\"ex.org/"
        "v1\",\"kind\":\"B\",\"name\":\"b\",\"uid\":\"ub\",\"controller\":true,\"blockOwnerDeletion\":true}]}}";

TEST(reading)
{
        _cleanup_arena_ struct arena a;
        const struct owner_reference *refs;
        struct owner_reference c;

        arena_init(&a, "test", 0);
        ASSERT_INT(owner_references(&a, from_json(&a, two_owners), &refs), 2);
        ASSERT_STR(refs[0].uid, STR("ua"));
        ASSERT(!refs[0].is_controller && !refs[0].blocks_owner_deletion);
        ASSERT_STR(refs[1].api_version, STR("ex.org/v1"));
        ASSERT(refs[1].is_controller && refs[1].blocks_owner_deletion);
        ASSERT(owner_controller(from_json(&a, two_owners), &c));
        ASSERT_STR(c.name, STR("b"));
        ASSERT(!owner_controller(from_json(&a, "{}"), &c));
        ASSERT_INT(owner_references(&a, from_json(&a, "{\"metadata\":{\"ownerReferences\":7}}"), &refs), 0);
}

TEST(making)
{
        _cleanup_arena_ struct arena a;
        const struct value *owner;
        struct owner_reference r;
        struct value v;

        arena_init(&a, "test", 0);
        owner = from_json(&a,
                          "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"n\",\"uid\":\"u\"}}");
        r = owner_reference_to(&a, owner, true, true);
        v = owner_reference_value(&a, &r);
        ASSERT_JSON(&a, &v,
                    "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\",\"controller\":true,"
                    "\"blockOwnerDeletion\":true}");
        r = owner_reference_to(&a, owner, false, false);
        v = owner_reference_value(&a, &r);
        ASSERT_JSON(&a, &v, "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\"}");
}

TEST(adding)
{
        _cleanup_arena_ struct arena a;
        _cleanup_err_ struct err err = { 0 };
        struct owner_reference r = { STR("v1"), STR("K"), STR("n"), STR("un"), true, false };
        const struct value *o;

        arena_init(&a, "test", 0);
        ASSERT_INT(owner_with_reference(&a, from_json(&a, two_owners), &r, &o, &err), ERR_CONFLICT);
        ASSERT_TEXT(err_message(&err), "obj is already controlled by B b (UID ub)");
        r.is_controller = false;
        ASSERT_INT(owner_with_reference(&a, from_json(&a, two_owners), &r, &o, &err), 0);
        ASSERT_INT(value_count(value_find(o, "metadata", "ownerReferences")), 3);
        r.uid = STR("ub");
        r.is_controller = true;
        ASSERT_INT(owner_with_reference(&a, from_json(&a, two_owners), &r, &o, &err), 0);
        ASSERT_JSON(&a, value_item(value_find(o, "metadata", "ownerReferences"), 1),
                    "{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"ub\",\"controller\":true}");
        ASSERT_INT(owner_with_reference(&a, from_json(&a, "{}"), &r, &o, &err), 0);
        ASSERT_INT(value_count(value_find(o, "metadata", "ownerReferences")), 1);
}

TEST(removing)
{
        _cleanup_arena_ struct arena a;
        const struct value *o;

        arena_init(&a, "test", 0);
        o = from_json(&a, two_owners);
        ASSERT(owner_without_reference(&a, o, STR("x")) == o);
        o = owner_without_reference(&a, o, STR("ub"));
        ASSERT_JSON(&a, value_find(o, "metadata", "ownerReferences"),
                    "[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"name\":\"a\",\"uid\":\"ua\"}]");
        o = owner_without_reference(&a, o, STR("ua"));
        ASSERT_JSON(&a, o, "{\"metadata\":{\"name\":\"obj\"}}");
}
