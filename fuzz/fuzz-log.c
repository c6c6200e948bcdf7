/* Opening a damaged log: an error, or a store that can be read, settles, and is the same when it is opened again.
 *
 * The first byte says what is damaged. Even: bytes of a good log, in its database (0) or its WAL (2): the rest are edits of four bytes,
 * offset and new value. Odd: rows with right checksums are written into an empty log, as the input says: flags, versions, names, and
 * objects as JSON or as compact bytes. */
#include "fuzz.h"

#include "buf.h"
#include "compact.h"
#include "json.h"
#include "log-db.h"
#include "log.h"
#include "meta.h"
#include "sqlite-log.h"
#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char directory[64];
static struct buf database, wal; /* of a good log */

/* --- Files --- */

static const char *file(const char *name)
{
        static char path[128];

        snprintf(path, sizeof(path), "%s/%s", directory, name);
        return path;
}

static void read_all(const char *path, struct buf *b)
{
        char block[65536];
        ssize_t n;
        int fd = open(path, O_RDONLY);

        while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0)
                buf_append(b, block, (size_t)n);
        if (fd >= 0)
                close(fd);
}

static void write_all(const char *path, struct str bytes)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        assert(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
        close(fd);
}

static void remove_files(void)
{
        static const char *const names[] = { "log.db", "log.db-wal", "log.db-shm", "log.db.new", "lock" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                unlink(file(names[i]));
}

static void remove_all(void)
{
        remove_files();
        rmdir(directory);
}

/* --- A good log --- */

static void create(struct store *s, const char *text)
{
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct write_request req = { .verb = WRITE_CREATE };
        struct write_result result;

        arena_init(&a, "fuzz", 0);
        assert(json_parse(&a, str_from(text), NULL, &req.body, NULL) == 0);
        req.key = object_key_of(req.body);
        cluster_write(store_cluster(s), &run, &req, &result, NULL);
        req.verb = WRITE_APPLY;
        req.manager = STR("fuzz");
        cluster_write(store_cluster(s), &run, &req, &result, NULL);
        arena_done(&a);
}

static void make_good_log(void)
{
        static const char *const objects[] = {
                "{\"apiVersion\":\"apiextensions.k8s.io/"
                "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"widgets."
                "example.org\"},\"spec\":{\"group\":\"example.org\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"
                "\"widgets\","
                "\"kind\":\"Widget\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
                "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
                "{\"apiVersion\":\"example.org/"
                "v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":\"default\","
                "\"labels\":{\"x\":"
                "\"y\"}}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"namespace\":\"default\","
                "\"finalizers\":["
                "\"example.org/x\"]}}",
        };
        struct sqlite_log_options options = { .history_events = 4, .garbage_bytes = 1 };
        struct store_options store_options = { 0 };
        struct sqlite_log *log;
        struct store *s;

        log_set_level(_LOG_LEVEL_COUNT);
        snprintf(directory, sizeof(directory), "%s/weft-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        assert(mkdtemp(directory));
        atexit(remove_all);
        for (int i = 0; i < 2; i++) {
                assert(sqlite_log_open(directory, &options, &log, NULL) == 0);
                store_options.log = sqlite_log_base(log);
                assert(store_new(&store_options, &s, NULL) == 0);
                for (size_t k = 0; k < ARRAY_SIZE(objects); k++)
                        create(s, objects[k]);
                if (i == 1) { /* with a part of it in the WAL */
                        read_all(file("log.db"), &database);
                        read_all(file("log.db-wal"), &wal);
                }
                store_free(s);
                sqlite_log_close(log);
        }
}

/* --- Damage --- */

static void edit(struct buf *b, struct str edits)
{
        for (; edits.n >= 4; edits = str_skip(edits, 4)) {
                const unsigned char *p = (const unsigned char *)edits.p;
                size_t at = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];

                b->p[at % b->n] = (char)p[3];
        }
}

static void write_damaged(unsigned kind, struct str edits)
{
        struct buf copy = BUF_INIT(0);
        const struct buf *original = kind & 2 && wal.n ? &wal : &database;

        buf_append_str(&copy, buf_str(original));
        edit(&copy, edits);
        write_all(file("log.db"), original == &database ? buf_str(&copy) : buf_str(&database));
        write_all(file("log.db-wal"), original == &wal ? buf_str(&copy) : buf_str(&wal));
        buf_done(&copy);
}

static unsigned take_byte(struct str *input)
{
        unsigned byte = input->n ? (unsigned char)input->p[0] : 0;

        *input = str_skip(*input, 1);
        return byte;
}

/* An object of the name from JSON, or the bytes themselves. */
static struct str make_bytes(struct arena *a, struct str text, struct str ns, struct str name)
{
        struct json_read_options options = { .is_kubernetes = true };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        if (json_parse(a, text, &options, &v, NULL) < 0 || !value_is_object(v))
                return text;
        v = meta_with_str(a, v, STR("name"), name);
        if (ns.n)
                v = meta_with_str(a, v, STR("namespace"), ns);
        compact_encode(&b, v);
        return buf_to_arena(&b, a);
}

static void write_row(struct log_db *db, struct arena *a, uint64_t seq, uint64_t *version, struct str *input)
{
        static const char *const kinds[] = { "/Secret",         "/ConfigMap",
                                             "/Namespace",      "apiextensions.k8s.io/CustomResourceDefinition",
                                             "example.org/Any", "nonsense" };
        unsigned flags = take_byte(input), step = take_byte(input), previous = take_byte(input),
                 kind = take_byte(input);
        struct str ns = kind & 64 ? STR("default") : STR(""), name = arena_printf(a, "n%u", take_byte(input) % 4), text;
        struct log_row row = { .seq = seq, .flags = flags & 15, .has_bytes = flags & 16 };
        size_t n = take_byte(input) * 8;

        *version += flags & 32 ? step : 1;
        row.version = *version;
        row.previous = previous < *version && previous ? *version - previous : 0;
        row.floor = flags & 64 ? *version - MIN(*version, step) : 0;
        row.key = arena_printf(a, "%s/%.*s/%.*s", kinds[kind % ARRAY_SIZE(kinds)], STR_ARG(ns), STR_ARG(name));
        text = str_first(*input, n);
        *input = str_skip(*input, n);
        row.bytes = row.has_bytes ? make_bytes(a, text, ns, name) : STR("");
        log_db_insert(db, &row, NULL);
}

static void write_rows(struct str input)
{
        struct log_db db = { 0 };
        uint64_t version = 0;
        struct arena a;

        arena_init(&a, "rows", 0);
        assert(log_db_create(file("log.db"), NULL, NULL) == 0);
        assert(log_db_open(&db, file("log.db"), NULL, LOG_DB_WRITE, NULL) == 0);
        assert(log_db_begin(&db, NULL) == 0);
        for (uint64_t seq = 1; input.n; seq++)
                write_row(&db, &a, seq, &version, &input);
        assert(log_db_commit(&db, NULL) == 0);
        log_db_close(&db);
        arena_done(&a);
}

/* --- Looking --- */

static void append_kind(struct cluster *c, struct run *run, const struct kind *k, struct buf *b)
{
        struct list_request req = { .gvk = { k->group, kind_storage(k)->name, k->kind } };
        struct object_list l = { 0 };

        if (cluster_list(c, run, &req, &l, NULL) < 0)
                return;
        for (size_t i = 0; i < l.n; i++) {
                struct bytes *json = object_json(l.objects[i]);

                buf_appendf(b, "%llu %.*s\n", (unsigned long long)object_version(l.objects[i]), STR_ARG(json->str));
                bytes_unref(json);
        }
}

/* Everything that the store shows; false when the log cannot be opened. */
static bool look(struct buf *ret, uint64_t *ret_version)
{
        struct sqlite_log_options options = { .history_events = 4, .garbage_bytes = 1 };
        struct store_options store_options = { .accepts_any_kind = false };
        struct sqlite_log *log;
        struct err err = { 0 };
        struct kind_list kinds;
        struct store *s;
        struct arena a;
        struct run run = { .arena = &a };
        int r = sqlite_log_open(directory, &options, &log, &err);

        if (r == 0) {
                store_options.log = sqlite_log_base(log);
                r = store_new(&store_options, &s, &err);
                if (r < 0)
                        sqlite_log_close(log);
        }
        assert((r < 0) == (err.code != 0));
        err_done(&err);
        if (r < 0)
                return false;
        arena_init(&a, "look", 0);
        run.deadline = deadline_after_ms(100);
        store_settle(s, &run, NULL);
        assert(cluster_kinds(store_cluster(s), &run, &kinds, NULL) == 0);
        for (size_t i = 0; i < kinds.n; i++)
                append_kind(store_cluster(s), &run, kinds.kinds[i].kind, ret);
        *ret_version = store_version(s);
        arena_done(&a);
        store_free(s);
        sqlite_log_close(log);
        return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str input = str_make((const char *)data, size);
        struct buf first = BUF_INIT(0), second = BUF_INIT(0);
        uint64_t versions[2];
        unsigned kind;

        if (database.n == 0)
                make_good_log();
        remove_files();
        kind = take_byte(&input);
        if (kind % 2)
                write_rows(input);
        else
                write_damaged(kind, input);
        if (look(&first, &versions[0])) {
                assert(look(&second, &versions[1]) && versions[1] >= versions[0]);
                if (versions[0] == versions[1]) /* the collector may have had something left to do */
                        assert(str_equal(buf_str(&first), buf_str(&second)));
        }
        buf_done(&first);
        buf_done(&second);
        return 0;
}
