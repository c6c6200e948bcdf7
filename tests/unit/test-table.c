/* Tables: against rows of a real API server, and the parts that those rows do not reach. */
#include "test.h"

#include "buf.h"
#include "input.h"
#include "json.h"
#include "table.h"

static struct str text_of(struct arena *a, const struct value *v)
{
        struct str s = STR("nothing");

        if (v)
                ASSERT_INT(json_to_str(a, v, JSON_SORT_KEYS, &s, NULL), 0);
        return s;
}

static const struct value *parsed(struct arena *a, const char *json)
{
        _cleanup_buf_ struct buf b = { 0 };
        const struct value *v = NULL;

        for (const char *c = json; *c; c++)
                buf_append_char(&b, *c == '\'' ? '"' : *c);
        ASSERT_INT(json_parse(a, buf_to_arena(&b, a), NULL, &v, NULL), 0);
        return v;
}

/* The table of the kind of a case: of its CRD, or of a built-in kind. */
static struct table *table_of(struct arena *a, const struct value *c)
{
        struct kind_version version = { .name = value_str(value_get(c, STR("version"))) };
        struct kind builtin = {
                .group = value_str(value_get(c, STR("group"))),
                .kind = value_str(value_get(c, STR("kind"))),
                .versions = &version,
                .n_versions = 1,
        };
        struct kind *k = &builtin;
        struct table *t = NULL;

        if (value_is_object(value_get(c, STR("crd")))) {
                ASSERT_INT(kind_from_crd(value_get(c, STR("crd")), &k, NULL), 0);
                arena_pin(a, k, kind_unpin);
        }
        ASSERT_INT(table_new(k, &k->versions[0], &t, NULL), 0);
        return t;
}

static struct value columns_of(struct arena *a, const struct table *t)
{
        size_t n;
        const struct table_column *columns = table_columns(t, &n);
        struct array_builder list;

        array_builder_init(&list, a, n);
        for (size_t i = 0; i < n; i++) {
                struct value items[] = {
                        value_of_str(columns[i].name),
                        value_of_str(columns[i].type),
                        value_of_str(columns[i].format),
                        value_of_int(columns[i].priority),
                };

                array_builder_add(&list, value_of_items(a, items, ARRAY_SIZE(items)));
        }
        return array_builder_finish(&list);
}

static void check_row(struct arena *a, const struct value *c)
{
        _cleanup_(table_unrefp)
        struct table *t = table_of(a, c);
        struct instant now = { .seconds = value_int(value_get(c, STR("now")), 0) };
        const struct value *object = value_get(c, STR("object"));
        struct value row = table_row(t, a, object, NULL, now), columns = columns_of(a, t);
        const char *name = arena_cstring(a, arena_printf(a, "%.*s %.*s", STR_ARG(value_str(value_get(c, STR("kind")))),
                                                         STR_ARG(meta_name(object))));
        const struct value *conditions = value_get(c, STR("conditions"));

        ASSERT_STR_CASE(name, text_of(a, &columns), text_of(a, value_get(c, STR("columns"))));
        ASSERT_STR_CASE(name, text_of(a, value_get(&row, STR("cells"))), text_of(a, value_get(c, STR("cells"))));
        ASSERT_STR_CASE(name, text_of(a, value_get(&row, STR("conditions"))),
                        value_is_null(conditions) ? STR("nothing") : text_of(a, conditions));
        ASSERT(value_is_null(value_get(&row, STR("object"))));
}

TEST(rows_are_those_of_a_real_server)
{
        _cleanup_buf_ struct buf b = { 0 };
        struct str rest, line;
        size_t n = 0;

        ASSERT(input_read(TEST_SOURCE_DIR "/tests/golden/tables/rows.json", &b, NULL) >= 0);
        rest = buf_str(&b);
        while (str_split(&rest, '\n', &line)) {
                _cleanup_arena_ struct arena a;
                const struct value *c;

                arena_init(&a, "test", 0);
                ASSERT_INT(json_parse(&a, line, NULL, &c, NULL), 0);
                check_row(&a, c);
                n++;
        }
        ASSERT(n > 150);
}

TEST(durations)
{
        static const struct {
                int64_t seconds;
                const char *wanted;
        } cases[] = {
                { -2, "<invalid>" },
                { -1, "0s" },
                { 0, "0s" },
                { 119, "119s" },
                { 120, "2m" },
                { 125, "2m5s" },
                { 599, "9m59s" },
                { 600, "10m" },
                { 10799, "179m" },
                { 10800, "3h" },
                { 10860, "3h1m" },
                { 28799, "7h59m" },
                { 28800, "8h" },
                { 172799, "47h" },
                { 172800, "2d" },
                { 176400, "2d1h" },
                { 691199, "7d23h" },
                { 691200, "8d" },
                { 2 * 365 * 86400 - 1, "729d" },
                { 2 * 365 * 86400, "2y" },
                { 2 * 365 * 86400 + 86400, "2y1d" },
                { 8ll * 365 * 86400 - 1, "7y364d" },
                { 8ll * 365 * 86400, "8y" },
                { 100ll * 365 * 86400 + 5 * 86400, "100y" },
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                ASSERT_STR_CASE(cases[i].wanted, table_duration(&a, cases[i].seconds), str_from(cases[i].wanted));
}

/* A CRD with the columns. */
static const struct value *case_with_columns(struct arena *a, const char *columns)
{
        return parsed(
                a,
                arena_cstring(
                        a,
                        arena_printf(
                                a,
                                "{'version':'v1','crd':{'spec':{'group':'example.org','scope':'Cluster','names':"
                                "{'plural':'things','kind':'Thing'},'versions':[{'name':'v1','served':true,'storage':"
                                "true,'schema':{'openAPIV3Schema':{'type':'object'}},'additionalPrinterColumns':%s}]}}"
                                "}",
                                columns)));
}

TEST(ages_and_times)
{
        static const struct {
                const char *time, *wanted;
        } cases[] = {
                { "'2026-01-01T00:00:00Z'", "'10s'" },
                { "'2026-01-01T00:00:11Z'", "'0s'" },
                { "'2026-01-01T00:00:13Z'", "'<invalid>'" },
                { "'2026-01-01T01:00:00+01:00'", "'10s'" },
                { "'tomorrow'", "'<invalid>'" },
                { "''", "'<unknown>'" },
                { "'null'", "'<unknown>'" },
                { "5", "null" },
                { "null", "null" },
                { "'0001-01-01T00:00:00Z'", "'292y'" },
        };
        _cleanup_arena_ struct arena a;
        _cleanup_(table_unrefp)
        struct table *t = NULL;

        arena_init(&a, "test", 0);
        t = table_of(&a, case_with_columns(&a, "[{'name':'T','type':'date','jsonPath':'.t'}]"));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const struct value *object =
                        parsed(&a,
                               arena_cstring(&a, arena_printf(&a, "{'metadata':{'name':'a'},'t':%s}", cases[i].time)));
                struct value cells = table_cells(t, &a, object, (struct instant) { .seconds = 1767225610 });

                ASSERT_STR_CASE(cases[i].time, text_of(&a, value_item(&cells, 1)),
                                text_of(&a, parsed(&a, cases[i].wanted)));
        }
}

TEST(definitions)
{
        _cleanup_arena_ struct arena a;
        _cleanup_(table_unrefp)
        struct table *t = NULL, *plain = NULL;
        struct value v;

        arena_init(&a, "test", 0);
        t = table_of(&a, case_with_columns(
                                 &a, "[{'name':'A','type':'string','jsonPath':'.spec.a'},"
                                     "{'name':'B','type':'integer','jsonPath':'.b','priority':1,'description':'bee',"
                                     "'format':'int32'},{'name':'C','type':'string','jsonPath':'.a['},"
                                     "{'name':'D','type':'string','jsonPath':'.d'}]"));
        v = table_definitions(t, &a);
        ASSERT_INT(value_count(&v), 3); /* the path of C cannot be read */
        ASSERT_STR(text_of(&a, value_item(&v, 1)), STR("{\"description\":\"Custom resource definition column (in "
                                                       "JSONPath format): .spec.a\",\"format\":\"\","
                                                       "\"name\":\"A\",\"priority\":0,\"type\":\"string\"}"));
        ASSERT_STR(text_of(&a, value_item(&v, 2)), STR("{\"description\":\"bee\",\"format\":\"int32\",\"name\":\"B\","
                                                       "\"priority\":1,\"type\":\"integer\"}"));
        plain = table_of(&a, case_with_columns(&a, "[]"));
        v = table_definitions(plain, &a);
        ASSERT_INT(value_count(&v), 2);
        ASSERT_STR(value_str(value_get(value_item(&v, 1), STR("name"))), STR("Age"));
        ASSERT_STR(value_str(value_get(value_item(&v, 1), STR("type"))), STR("date"));
}

TEST(shown_objects)
{
        _cleanup_arena_ struct arena a;
        _cleanup_(table_unrefp)
        struct table *t = NULL;
        const struct value *object;
        struct value only, row;

        arena_init(&a, "test", 0);
        object = parsed(&a, "{'apiVersion':'v1','kind':'Role','metadata':{'name':'a','creationTimestamp':'2026-01-"
                            "01T00:00:00Z'},'x':1}");
        only = table_metadata_only(&a, object);
        ASSERT_STR(text_of(&a, &only),
                   text_of(&a, parsed(&a, "{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1','metadata':"
                                          "{'name':'a','creationTimestamp':'2026-01-01T00:00:00Z'}}")));
        t = table_of(&a, parsed(&a, "{'group':'rbac.authorization.k8s.io','kind':'Role','version':'v1'}"));
        row = table_row(t, &a, object, object, clock_wall());
        ASSERT_STR(text_of(&a, value_get(&row, STR("cells"))), STR("[\"a\",\"2026-01-01T00:00:00Z\"]"));
        ASSERT(value_equal(value_get(&row, STR("object")), object));
}

/* An object of any shape gives a row: the API stores what it is given. */
TEST(odd_objects)
{
        static const char *const kinds[] = { "Pod", "Service", "Node", "Event", "Endpoints", "PersistentVolume" };
        static const char *const objects[] = {
                "{}",
                "null",
                "{'metadata':null,'spec':[],'status':5}",
                "{'status':{'containerStatuses':[null,5,{'state':[]}],'initContainerStatuses':{},'conditions':[[]]},"
                "'spec':{'containers':{},'ports':[5],'clusterIPs':[{}],'type':'LoadBalancer'},'subsets':[{'ports':[1],'"
                "addresses':[2]}]}",
        };
        _cleanup_arena_ struct arena a;

        arena_init(&a, "test", 0);
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                _cleanup_(table_unrefp)
                struct table *t = table_of(
                        &a, parsed(&a, arena_cstring(&a, arena_printf(&a, "{'group':'','version':'v1','kind':'%s'}",
                                                                      kinds[i]))));
                size_t n;

                table_columns(t, &n);
                for (size_t j = 0; j < ARRAY_SIZE(objects); j++) {
                        struct value cells = table_cells(t, &a, parsed(&a, objects[j]), clock_wall());

                        ASSERT_INT(value_count(&cells), n);
                }
        }
}
