#include "values.h"

#include "owner.h"
#include "revision.h"

static const char composition_text[] =
        "{\"apiVersion\":\"apiextensions.crossplane.io/"
        "v1\",\"kind\":\"Composition\",\"metadata\":{\"name\":\"c\",\"uid\":\"u\",\"labels\":"
        "{\"l\":\"1\"}},\"spec\":{\"compositeTypeRef\":{\"apiVersion\":\"e.org/"
        "v1\",\"kind\":\"X\"},\"mode\":\"Pipeline\"}}";

TEST(the_hash_is_that_of_crossplane)
{
        struct str hash;

        begin();
        /* docs/spec/engine 7.1: an empty Composition. */
        ASSERT(revision_hash(&arena, parse("{\"spec\":{\"compositeTypeRef\":{\"apiVersion\":\"\",\"kind\":\"\"}}}"),
                             &hash, NULL) >= 0);
        ASSERT_STR(hash, STR("775265aaf20123c08e3eee3fc546e69c8f0bbff595a6030600dcf90fe9dd9ef1"));
        end();
}

static size_t plan(const struct value *composition, const struct value *const *revisions, size_t n,
                   struct revision_step **ret)
{
        _cleanup_err_ struct err err = { 0 };
        size_t n_steps = 0;

        if (revision_plan(&arena, composition, revisions, n, ret, &n_steps, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&err));
        return n_steps;
}

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

TEST(a_composition_gets_its_first_revision)
{
        const struct value *composition;
        struct revision_step *steps;
        struct owner_reference owner;
        struct str hash;

        begin();
        composition = parse(composition_text);
        ASSERT(revision_hash(&arena, composition, &hash, NULL) >= 0);
        ASSERT_INT(plan(composition, NULL, 0, &steps), 1);
        ASSERT_INT(steps[0].action, REVISION_CREATE);
        ASSERT_INT(number_of(steps[0].object), 1);
        ASSERT_STR(meta_name(steps[0].object), arena_printf(&arena, "c-%.7s", hash.p));
        ASSERT_STR(meta_label(steps[0].object, STR("crossplane.io/composition-name")), STR("c"));
        ASSERT_STR(meta_label(steps[0].object, STR("crossplane.io/composition-hash")), str_first(hash, 63));
        ASSERT_STR(meta_label(steps[0].object, STR("l")), STR("1"));
        ASSERT(owner_controller(steps[0].object, &owner));
        ASSERT_STR(owner.uid, STR("u"));
        end();
}

TEST(a_change_makes_a_revision_and_going_back_renumbers_the_old_one)
{
        const struct value *first, *second, *revisions[2];
        struct revision_step *steps;

        begin();
        first = parse(composition_text);
        second = meta_with_label(&arena, first, STR("l"), STR("2"));
        plan(first, NULL, 0, &steps);
        revisions[0] = steps[0].object;
        ASSERT_INT(plan(first, revisions, 1, &steps), 1);
        ASSERT_INT(steps[0].action, REVISION_KEEP);
        ASSERT_INT(plan(second, revisions, 1, &steps), 1);
        ASSERT_INT(steps[0].action, REVISION_CREATE);
        ASSERT_INT(number_of(steps[0].object), 2);
        revisions[1] = steps[0].object;
        ASSERT_INT(plan(first, revisions, 2, &steps), 1);
        ASSERT_INT(steps[0].action, REVISION_UPDATE);
        ASSERT_INT(number_of(steps[0].object), 3);
        ASSERT_STR(meta_name(steps[0].object), meta_name(revisions[0]));
        end();
}

TEST(revisions_without_a_controller_are_adopted_and_foreign_ones_are_not)
{
        const struct value *composition, *orphan, *foreign;
        _cleanup_err_ struct err err = { 0 };
        struct revision_step *steps;
        struct owner_reference owner;
        size_t n;

        begin();
        composition = parse(composition_text);
        plan(composition, NULL, 0, &steps);
        orphan = meta_with(&arena, steps[0].object, STR("ownerReferences"), NULL);
        ASSERT_INT(plan(composition, &orphan, 1, &steps), 1);
        ASSERT_INT(steps[0].action, REVISION_UPDATE);
        ASSERT(owner_controller(steps[0].object, &owner));
        foreign = meta_with(
                &arena, orphan, STR("ownerReferences"),
                parse("[{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"z\",\"controller\":true}]"));
        ASSERT_INT(revision_plan(&arena, composition, &foreign, 1, &steps, &n, &err), ERR_CONFLICT);
        end();
}
