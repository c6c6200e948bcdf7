#include "kube-test.h"

#include "buf.h"
#include "manifest.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct arena arena;
static struct manifests manifests;

static void finish(void)
{
        arena_done(&arena);
}

static void begin(void)
{
        static bool is_begun;

        if (!is_begun)
                atexit(finish);
        is_begun = true;
        arena_done(&arena);
        arena_init(&arena, "test", 0);
        manifests_init(&manifests, &arena);
}

TEST(documents)
{
        begin();
        ASSERT_INT(manifests_add_text(
                           &manifests, STR("x.yaml"),
                           STR("apiVersion: v1\nkind: A\n---\n# nothing\n---\napiVersion: ex.org/v1\nkind: B\n"), NULL),
                   0);
        ASSERT_INT(manifests_add_text(&manifests, STR("x.json"), STR("{\"apiVersion\":\"v1\",\"kind\":\"C\"}"), NULL),
                   0);
        ASSERT_INT(manifests.n, 3);
        ASSERT_STR(gvk_of(manifests.p[1].object).kind, STR("B"));
        ASSERT_INT(manifests.p[1].document, 1);
        ASSERT_STR(manifests.p[2].source->name, STR("x.json"));
}

TEST(lists)
{
        begin();
        ASSERT_INT(manifests_add_text(
                           &manifests, STR("l.yaml"),
                           STR("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n- apiVersion: v1\n"
                               "  kind: B\n---\napiVersion: v1\nkind: List\n"),
                           NULL),
                   0);
        ASSERT_INT(manifests.n, 2);
        ASSERT_STR(gvk_of(manifests.p[1].object).kind, STR("B"));
}

TEST(many)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        begin();
        for (int i = 0; i < 50; i++)
                buf_appendf(&b, "---\napiVersion: v1\nkind: K%d\n", i);
        ASSERT_INT(manifests_add_text(&manifests, STR("m.yaml"), buf_str(&b), NULL), 0);
        ASSERT_INT(manifests.n, 50);
        ASSERT_STR(gvk_of(manifests.p[49].object).kind, STR("K49"));
}

TEST(bad_documents)
{
        static const struct {
                const char *text, *error;
        } cases[] = {
                { "- a\n- b\n", "x.yaml:1:1: a manifest must be an object" },
                { "apiVersion: v1\nkind: A\n---\nkind: Widget\nmetadata:\n  name: w\n",
                  "x.yaml:4:1: Widget \"w\": apiVersion: Required value" },
                { "apiVersion: v1\nmetadata:\n  name: w\n", "x.yaml:1:1: object \"w\": kind: Required value" },
                { "apiVersion: 1\nkind: A\n", "x.yaml:1:13: A: apiVersion: must be a string" },
                { "apiVersion: v1\nkind: ''\n", "x.yaml:2:7: kind: Required value" },
                { "{\"apiVersion\":\"v1\",\"kind\":7}", "x.yaml:1:27: kind: must be a string" },
                { "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n- kind: B\n  metadata: "
                  "{generateName: g-}\n",
                  "x.yaml:6:3: B \"g-\": apiVersion: Required value" },
                { "apiVersion: v1\nkind: List\nitems: 7\n", "x.yaml:3:8: List: items: must be an array" },
                { "apiVersion: v1\nkind: List\nitems: [7]\n", "x.yaml:3:9: a manifest must be an object" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                begin();
                ASSERT_CASE(cases[i].text, manifests_add_text(&manifests, STR("x.yaml"), str_from(cases[i].text),
                                                              &err) == ERR_INVALID);
                ASSERT_STR_CASE(cases[i].text, str_from(err_message(&err)), str_from(cases[i].error));
                ASSERT_CASE(cases[i].text, err.position.line > 0);
        }
}

TEST(bad_syntax)
{
        _cleanup_err_ struct err err = { 0 };

        begin();
        ASSERT(manifests_add_text(&manifests, STR("x.yaml"), STR("a: 1\n---\nb: [\n"), &err) < 0);
        ASSERT(str_starts_with(str_from(err_message(&err)), STR("x.yaml:")));
        ASSERT(err.position.line >= 3);
        ASSERT(manifests_add_text(&manifests, STR("x.json"), STR("{\"a\":"), &err) < 0);
        ASSERT(str_starts_with(str_from(err_message(&err)), STR("x.json:")));
}

/* An error about a value, found long after reading. */
TEST(errors_about_values)
{
        static const char text[] =
                "# two objects\napiVersion: ex.org/v1\nkind: XBucket\nmetadata:\n  name: a\nspec:\n  size: big\n"
                "  tags:\n  - name: x\n  labels:\n    a.b/c: 1\n";
        static const struct {
                const char *path, *message, *wanted;
        } cases[] = {
                { "spec.size", "Invalid value: \"big\"",
                  "xr.yaml:7:9: XBucket \"a\": spec.size: Invalid value: \"big\"" },
                { "spec.size", "spec.size: Invalid value: \"big\"",
                  "xr.yaml:7:9: XBucket \"a\": spec.size: Invalid value: \"big\"" },
                { "spec.tags[0].name", "bad", "xr.yaml:9:11: XBucket \"a\": spec.tags[0].name: bad" },
                { "spec.labels[a.b/c]", "bad", "xr.yaml:11:12: XBucket \"a\": spec.labels[a.b/c]: bad" },
                { "spec.missing.deep", "bad", "xr.yaml:7:3: XBucket \"a\": spec.missing.deep: bad" },
                { "spec[", "bad", "xr.yaml:2:1: XBucket \"a\": spec[: bad" },
                { "", "bad", "xr.yaml:2:1: XBucket \"a\": bad" },
        };

        begin();
        ASSERT_INT(manifests_add_text(&manifests, STR("xr.yaml"), str_from(text), NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_err_ struct err err = { 0 };

                err_set(&err, ERR_CONFLICT, "%s", cases[i].message);
                ASSERT_INT(manifest_error(&manifests.p[0], str_from(cases[i].path), &err), ERR_CONFLICT);
                ASSERT_STR(str_from(err_message(&err)), str_from(cases[i].wanted));
        }
}

TEST(errors_in_list_items)
{
        _cleanup_err_ struct err err = { 0 };

        begin();
        ASSERT_INT(manifests_add_text(
                           &manifests, STR("l.yaml"),
                           STR("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  spec:\n    x: 1\n"),
                           NULL),
                   0);
        err_set(&err, ERR_INVALID, "bad");
        manifest_error(&manifests.p[0], STR("spec.x"), &err);
        ASSERT_TEXT(err_message(&err), "l.yaml:7:8: A: spec.x: bad");
        ASSERT_TEXT(err.path, "spec.x");
        ASSERT_INT(err.position.line, 7);
}

TEST(an_object_that_stands_in_no_file)
{
        _cleanup_err_ struct err err = { 0 };
        struct manifest m = { 0 };

        err_set(&err, ERR_INVALID, "it is wrong");
        ASSERT_INT(manifest_error(&m, STR("spec.a"), &err), ERR_INVALID);
        ASSERT_STR(str_from(err_message(&err)), STR("it is wrong"));
        ASSERT(manifest_error(&m, STR("spec.a"), NULL) < 0);
}

static void write_file(const char *directory, const char *name, const char *text)
{
        char path[256];
        FILE *f;

        snprintf(path, sizeof(path), "%s/%s", directory, name);
        f = fopen(path, "w");
        ASSERT(f);
        fputs(text, f);
        fclose(f);
}

TEST(files_and_directories)
{
        char directory[] = "/tmp/weft-manifests-XXXXXX", path[256];
        _cleanup_err_ struct err err = { 0 };

        begin();
        ASSERT(mkdtemp(directory));
        write_file(directory, "b.yml", "apiVersion: v1\nkind: B\n");
        write_file(directory, "a.yaml", "apiVersion: v1\nkind: A\n");
        write_file(directory, "c.json", "{\"apiVersion\":\"v1\",\"kind\":\"C\"}");
        write_file(directory, "d.txt", "not: read\n");
        write_file(directory, ".e.yaml", "not: read\n");
        snprintf(path, sizeof(path), "%s/sub.yaml", directory);
        ASSERT_INT(mkdir(path, 0700), 0);
        ASSERT_INT(manifests_load(&manifests, str_from(directory), &err), 0);
        ASSERT_INT(manifests.n, 3);
        for (size_t i = 0; i < 3; i++)
                ASSERT_INT(gvk_of(manifests.p[i].object).kind.p[0], 'A' + (int)i);
        snprintf(path, sizeof(path), "%s/a.yaml", directory);
        ASSERT_INT(manifests_load(&manifests, str_from(path), &err), 0);
        ASSERT_INT(manifests.n, 4);
        ASSERT_STR(manifests.p[3].source->name, str_from(path));
        snprintf(path, sizeof(path), "%s/none.yaml", directory);
        ASSERT_INT(manifests_load(&manifests, str_from(path), &err), ERR_SYSTEM);
        write_file(directory, "bb.yaml", "kind: X\n");
        ASSERT_INT(manifests_load(&manifests, str_from(directory), &err), ERR_INVALID);
        snprintf(path, sizeof(path), "rm -r %s", directory);
        ASSERT_INT(system(path), 0);
}
