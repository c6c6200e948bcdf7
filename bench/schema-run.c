/* Our side of bench-schema, which describes what is measured. Makes schemas from a seed, in the form of generated
 * providers: forProvider, initProvider and atProvider that repeat each other, references and selectors, blocks in lists,
 * descriptions everywhere.
 *
 *   schema-run make > FILE      one schema, with objects of about 5 KB; the peer reads it too
 *   schema-run time FILE        prints nanoseconds and a name on each line
 *   schema-run memory           of 1,000 schemas: resident bytes, and the bytes that the schemas report */
#include "bench.h"

#include "buf.h"
#include "json.h"
#include "schema.h"

#include <stdio.h>

#define SCHEMAS 1000

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)((random_state >> 33) % below);
}

static const char *const words[] = { "name",   "region",  "subnet", "policy",  "instance", "cluster", "role",  "key",
                                     "bucket", "storage", "access", "network", "backup",   "version", "group", "tag" };

/* Adds a block: properties to the schema and, if object is not NULL, values for most of them to the object. */
static void add_block(struct buf *schema, struct buf *object, unsigned n, unsigned depth);

static void add_scalar(struct buf *schema, struct buf *object, unsigned number)
{
        switch (draw(10)) {
        case 0:
                buf_append_literal(schema, "\"type\":\"boolean\"}");
                if (object)
                        buf_append_literal(object, "true");
                break;
        case 1:
        case 2:
                buf_append_literal(schema, "\"type\":\"number\"}");
                if (object)
                        buf_appendf(object, "%u", draw(1000));
                break;
        case 3:
                buf_append_literal(
                        schema,
                        "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"x-kubernetes-list-type\":\"set\"}");
                if (object)
                        buf_appendf(object, "[\"one-%u\",\"two-%u\"]", number, number);
                break;
        case 4:
                buf_append_literal(schema, "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
                                           "\"x-kubernetes-map-type\":\"granular\"}");
                if (object)
                        buf_appendf(object, "{\"team\":\"platform\",\"cost-center\":\"cc-%u\"}", number);
                break;
        default:
                buf_append_literal(schema, "\"type\":\"string\"}");
                if (object)
                        buf_appendf(object, "\"%s-%08x\"", words[draw(ARRAY_SIZE(words))], draw(UINT32_MAX));
        }
}

static void add_reference(struct buf *schema, const char *name, unsigned number)
{
        buf_appendf(schema,
                    ",\"%s%uRef\":{\"description\":\"Reference to a resource to populate "
                    "%s.\",\"type\":\"object\",\"required\":"
                    "[\"name\"],\"properties\":{\"name\":{\"description\":\"Name of the referenced "
                    "object.\",\"type\":\"string\"},"
                    "\"policy\":{\"type\":\"object\",\"properties\":{\"resolution\":{\"type\":\"string\",\"default\":"
                    "\"Required\","
                    "\"enum\":[\"Required\",\"Optional\"]},\"resolve\":{\"type\":\"string\",\"enum\":[\"Always\","
                    "\"IfNotPresent\"]}}}}}",
                    name, number, name);
}

static void add_block(struct buf *schema, struct buf *object, unsigned n, unsigned depth)
{
        bool is_first = true;

        buf_append_literal(schema, "\"properties\":{");
        if (object)
                buf_append_char(object, '{');
        for (unsigned i = 0; i < n; i++) {
                const char *name = words[draw(ARRAY_SIZE(words))];
                struct buf *value = object && object->n < 5000 && draw(4) ? object : NULL;

                buf_appendf(schema,
                            "%s\"%s%u\":{\"description\":\"The %s of the resource, as the service has it; changing it "
                            "replaces the "
                            "resource.\",",
                            i ? "," : "", name, i, name);
                if (value)
                        buf_appendf(value, "%s\"%s%u\":", is_first ? "" : ",", name, i);
                is_first = is_first && !value;
                if (depth > 0 && draw(8) == 0) {
                        buf_append_literal(schema, "\"type\":\"array\",\"items\":{\"type\":\"object\",");
                        if (value)
                                buf_append_char(value, '[');
                        add_block(schema, value, 3 + draw(12), depth - 1);
                        if (value)
                                buf_append_char(value, ']');
                        buf_append_literal(schema, "}}");
                } else {
                        add_scalar(schema, value, i);
                }
                if (draw(12) == 0)
                        add_reference(schema, name, i);
        }
        buf_append_char(schema, '}');
        if (object)
                buf_append_char(object, '}');
}

#define CONDITIONS                                                                                                     \
        "\"conditions\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":["       \
        "\"type\"],\"items\":{"                                                                                        \
        "\"type\":\"object\",\"required\":[\"lastTransitionTime\",\"reason\",\"status\",\"type\"],\"properties\":{"    \
        "\"lastTransitionTime\":{\"type\":\"string\",\"format\":\"date-time\"},\"message\":{\"type\":\"string\"},"     \
        "\"reason\":{"                                                                                                 \
        "\"type\":\"string\"},\"status\":{\"type\":\"string\"},\"type\":{\"type\":\"string\"},\"observedGeneration\":" \
        "{"                                                                                                            \
        "\"type\":\"integer\",\"format\":\"int64\"}}}}"

/* object may be NULL. */
static void add_schema(struct buf *schema, struct buf *object, unsigned seed)
{
        unsigned n;

        random_state = seed;
        n = 30 + draw(100);
        buf_append_literal(
                schema,
                "{\"type\":\"object\",\"required\":[\"spec\"],\"properties\":{\"apiVersion\":{\"type\":\"string\"},"
                "\"kind\":{\"type\":\"string\"},\"metadata\":{\"type\":\"object\"},\"spec\":{\"type\":\"object\","
                "\"required\":[\"forProvider\"],\"properties\":{\"deletionPolicy\":{\"type\":\"string\",\"default\":"
                "\"Delete\",\"enum\":[\"Orphan\",\"Delete\"]},\"managementPolicies\":{\"type\":\"array\",\"default\":"
                "[\"*\"],\"items\":{\"type\":\"string\",\"enum\":[\"Observe\",\"Create\",\"Update\",\"Delete\","
                "\"LateInitialize\",\"*\"]}},\"providerConfigRef\":{\"type\":\"object\",\"default\":{\"name\":"
                "\"default\"},\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\"}}},"
                "\"forProvider\":{\"type\":\"object\",");
        if (object)
                buf_append_literal(
                        object,
                        "{\"apiVersion\":\"ex.org/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\"},\"spec\":{"
                        "\"forProvider\":");
        add_block(schema, object, n, 3);
        buf_append_literal(schema, "},\"initProvider\":{\"type\":\"object\",");
        random_state = seed;
        draw(1);
        add_block(schema, NULL, n, 3);
        buf_append_literal(schema, "}}},\"status\":{\"type\":\"object\",\"properties\":{" CONDITIONS
                                   ",\"atProvider\":{\"type\":\"object\",");
        random_state = seed;
        draw(1);
        add_block(schema, NULL, n, 3);
        buf_append_literal(schema, "}}}}}");
        if (object)
                buf_append_literal(
                        object,
                        "},\"status\":{\"conditions\":[{\"lastTransitionTime\":\"2024-01-02T03:04:05Z\",\"reason\":"
                        "\"Available\",\"status\":\"True\",\"type\":\"Ready\"},{\"lastTransitionTime\":"
                        "\"2024-01-02T03:04:05Z\",\"reason\":\"ReconcileSuccess\",\"status\":\"True\",\"type\":"
                        "\"Synced\"}]}}");
}

static int make(void)
{
        _cleanup_buf_ struct buf schema = BUF_INIT(0), object = BUF_INIT(0);

        add_schema(&schema, &object, 7);
        printf("{\"schema\":%s,\n\"object\":%s}\n", buf_cstring(&schema), buf_cstring(&object));
        return 0;
}

struct work {
        struct schema *schema;
        const struct value *object;
        struct arena arena;
};

static void run(void *context)
{
        struct work *w = context;
        struct schema_admit_options options = { .drop_nulls = true };
        struct field_errors errors;
        const struct value *v;

        arena_reset(&w->arena);
        field_errors_init(&errors, &w->arena);
        v = schema_admit(w->schema, &w->arena, w->object, &options);
        schema_validate(w->schema, v, NULL, STR(""), &errors);
        assert(errors.n == 0);
}

static struct schema *compile(struct arena *a, const struct value *openapi)
{
        struct field_errors errors;
        struct schema *s;

        field_errors_init(&errors, a);
        if (schema_compile(openapi, STR("schema"), &s, &errors) < 0) {
                fprintf(stderr, "%.*s: %.*s\n", STR_ARG(errors.p[0].field), STR_ARG(errors.p[0].text));
                exit(1);
        }
        return s;
}

/* Measures with the object as a user wrote it, then as it is stored, with all defaults filled in. */
static int measure(const char *name)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        struct work w = { 0 };
        struct contender contender = { "ours", run, &w };
        struct schema_admit_options options = { .drop_nulls = true };
        const struct value *file;
        FILE *f = fopen(name, "r");
        double ns;

        arena_init(&a, "bench", 0);
        arena_init(&w.arena, "work", 0);
        while (f && !feof(f) && !ferror(f) && buf_reserve(&text, 65536))
                text.n += fread(text.p + text.n, 1, 65536, f);
        if (!f || json_parse(&a, buf_str(&text), NULL, &file, NULL) < 0)
                return 1;
        fclose(f);
        w.schema = compile(&a, value_get(file, STR("schema")));
        w.object = value_get(file, STR("object"));
        bench_compare(&contender, 1, 0.7, &ns);
        printf("%.0f as written\n", ns);
        w.object = schema_admit(w.schema, &a, w.object, &options);
        bench_compare(&contender, 1, 0.7, &ns);
        printf("%.0f as stored\n", ns);
        schema_unref(w.schema);
        arena_done(&w.arena);
        return 0;
}

static size_t resident_bytes(void)
{
        unsigned long size, resident = 0;
        FILE *f = fopen("/proc/self/statm", "r");

        if (f && fscanf(f, "%lu %lu", &size, &resident) != 2)
                resident = 0;
        if (f)
                fclose(f);
        return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t count_nodes(const struct schema_node *n)
{
        size_t count = 1;
        struct str key;

        for (size_t i = 0; i < schema_node_property_count(n); i++)
                count += count_nodes(schema_node_property_at(n, i, &key));
        if (schema_node_items(n))
                count += count_nodes(schema_node_items(n));
        if (schema_node_additional(n))
                count += count_nodes(schema_node_additional(n));
        return count;
}

static int memory(void)
{
        static struct schema *schemas[SCHEMAS];
        size_t before = 0, said = 0, nodes = 0, text_bytes = 0;

        for (unsigned i = 0; i < SCHEMAS; i++) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);
                _cleanup_arena_ struct arena a;
                const struct value *openapi;

                arena_init(&a, "bench", 0);
                add_schema(&text, NULL, i);
                if (json_parse(&a, buf_str(&text), NULL, &openapi, NULL) < 0)
                        return 1;
                schemas[i] = compile(&a, openapi);
                said += schema_size_bytes(schemas[i]);
                nodes += count_nodes(schema_root(schemas[i]));
                text_bytes += text.n;
                if (i == 0)
                        before = resident_bytes(); /* the program and the memory that a compile needs */
        }
        arena_trim_cache();
        fprintf(stderr, "# %d schemas: %zu nodes and %.0f KB of text each on average, %.1f MB said\n", SCHEMAS,
                nodes / SCHEMAS, (double)text_bytes / SCHEMAS / 1e3, (double)said / 1e6);
        printf("%zu\n", resident_bytes() - before);
        for (unsigned i = 0; i < SCHEMAS; i++)
                schema_unref(schemas[i]);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 2 && strcmp(argv[1], "make") == 0)
                return make();
        if (argc == 2 && strcmp(argv[1], "memory") == 0)
                return memory();
        if (argc == 3 && strcmp(argv[1], "time") == 0)
                return measure(argv[2]);
        fprintf(stderr, "usage: schema-run make|memory|time FILE\n");
        return 2;
}
