/* Compares our JSON with Debian's libcjson and libjansson: the same texts and the same work, in one run. A parse includes freeing
 * the tree; a write makes the whole text and frees it.
 *
 * The list is like the output of an API server for a large cluster: Pods, ConfigMaps and composite resources with metadata, labels,
 * managed fields, nested specs and status conditions, compact, made from a fixed seed. The object is one of its Pods, cut or padded
 * to about 4 KB. */
#include "bench.h"

#include "buf.h"
#include "json.h"

#include <cjson/cJSON.h>
#include <jansson.h>
#include <stdio.h>

#define LIST_BYTES   (10u << 20)
#define OBJECT_BYTES 4096u

static uint64_t random_state = 0x853c49e6748fea9bu;

static uint32_t draw(uint32_t below)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)((random_state >> 33) % below);
}

static const char *pick(const char *const *words, size_t n)
{
        return words[draw((uint32_t)n)];
}
#define PICK(words) pick((words), ARRAY_SIZE(words))

static const char *const namespaces[] = { "default", "kube-system", "team-platform", "team-payments", "monitoring" };
static const char *const apps[] = { "frontend", "checkout-service", "prometheus", "ingress-nginx-controller",
                                    "db",       "queue-worker",     "coredns",    "cert-manager-webhook" };
static const char *const regions[] = { "eu-west-1", "eu-central-1", "us-east-2", "ap-southeast-1" };
static const char *const sizes[] = { "50m", "100m", "250m", "1", "2", "128Mi", "512Mi", "1Gi" };
static const char *const reasons[] = { "Available", "Creating", "ReconcileSuccess", "ContainersNotReady" };

static void add_uid(struct buf *b)
{
        buf_appendf(b, "%08x-%04x-4%03x-a%03x-%08x%04x", draw(UINT32_MAX), draw(65536), draw(4096), draw(4096),
                    draw(UINT32_MAX), draw(65536));
}

static void add_time(struct buf *b)
{
        buf_appendf(b, "\"2024-%02u-%02uT%02u:%02u:%02uZ\"", 1 + draw(12), 1 + draw(28), draw(24), draw(60), draw(60));
}

static void add_metadata(struct buf *b, const char *app, unsigned number)
{
        buf_appendf(b,
                    "\"metadata\":{\"annotations\":{\"crossplane.io/external-name\":\"%s-%u\",\"prometheus.io/scrape\":"
                    "\"true\",\"kubectl.kubernetes.io/restartedAt\":",
                    app, number);
        add_time(b);
        buf_append_literal(b, "},\"creationTimestamp\":");
        add_time(b);
        buf_appendf(
                b,
                ",\"generation\":%u,\"labels\":{\"app.kubernetes.io/name\":\"%s\",\"app.kubernetes.io/version\":\"v%u."
                "%u.%u\",\"crossplane.io/composite\":\"%s-%05x\",\"pod-template-hash\":\"%08x\"}",
                draw(40), app, draw(4), draw(30), draw(12), app, draw(1 << 20), draw(UINT32_MAX));
        buf_appendf(
                b,
                ",\"managedFields\":[{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{"
                "\"f:labels\":{\".\":{},\"f:app.kubernetes.io/name\":{}}},\"f:spec\":{\"f:replicas\":{}}},\"manager\":"
                "\"apiextensions.crossplane.io/composed\",\"operation\":\"Apply\",\"time\":");
        add_time(b);
        buf_appendf(
                b,
                "}],\"name\":\"%s-%08x-%05x\",\"namespace\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
                "\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":\"ReplicaSet\",\"name\":\"%s-%08x\",\"uid\":"
                "\"",
                app, draw(UINT32_MAX), draw(1 << 20), PICK(namespaces), app, draw(UINT32_MAX));
        add_uid(b);
        buf_appendf(b, "\"}],\"resourceVersion\":\"%u\",\"uid\":\"", draw(1u << 30));
        add_uid(b);
        buf_append_literal(b, "\"}");
}

static void add_conditions(struct buf *b)
{
        static const char *const types[] = { "Initialized", "Ready", "ContainersReady", "PodScheduled", "Synced" };

        buf_append_literal(b, "\"conditions\":[");
        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
                buf_append_str(b, i ? STR(",{") : STR("{"));
                buf_append_literal(b, "\"lastProbeTime\":null,\"lastTransitionTime\":");
                add_time(b);
                if (draw(3) == 0)
                        buf_appendf(
                                b,
                                ",\"message\":\"cannot compose resources: \\\"%s\\\" is not ready in %u attempts\\n\"",
                                PICK(apps), draw(9));
                buf_appendf(b, ",\"reason\":\"%s\",\"status\":\"%s\",\"type\":\"%s\"}", PICK(reasons),
                            draw(5) ? "True" : "False", types[i]);
        }
        buf_append_char(b, ']');
}

static void add_container(struct buf *b, const char *app)
{
        buf_appendf(b,
                    "{\"args\":[\"--listen=:%u\",\"--leader-elect\",\"--zap-log-level=info\"],\"env\":[{\"name\":"
                    "\"REGION\","
                    "\"value\":\"%s\"},{\"name\":\"POD_NAMESPACE\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\","
                    "\"fieldPath\":\"metadata.namespace\"}}}],\"image\":\"registry.example.org/%s/%s:v%u.%u.%u\","
                    "\"imagePullPolicy\":\"IfNotPresent\",\"name\":\"%s\",\"ports\":[{\"containerPort\":%u,\"name\":"
                    "\"http\","
                    "\"protocol\":\"TCP\"},{\"containerPort\":%u,\"name\":\"metrics\",\"protocol\":\"TCP\"}],",
                    1024 + draw(60000), PICK(regions), PICK(namespaces), app, draw(4), draw(30), draw(12), app,
                    1024 + draw(60000), 1024 + draw(60000));
        buf_appendf(
                b,
                "\"readinessProbe\":{\"failureThreshold\":3,\"httpGet\":{\"path\":\"/"
                "healthz\",\"port\":8081,\"scheme\":"
                "\"HTTP\"},\"initialDelaySeconds\":%u,\"periodSeconds\":10,\"timeoutSeconds\":1},\"resources\":{"
                "\"limits\":"
                "{\"cpu\":\"%s\",\"memory\":\"%s\"},\"requests\":{\"cpu\":\"%s\",\"memory\":\"%s\"}},"
                "\"securityContext\":{"
                "\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"]},\"runAsNonRoot\":true,"
                "\"runAsUser\":"
                "65532},\"volumeMounts\":[{\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\",\"name\":"
                "\"kube-api-access-%05x\",\"readOnly\":true}]}",
                draw(30), PICK(sizes), PICK(sizes), PICK(sizes), PICK(sizes), draw(1 << 20));
}

static void add_pod(struct buf *b, unsigned number, unsigned n_containers)
{
        const char *app = PICK(apps);

        buf_append_literal(b, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",");
        add_metadata(b, app, number);
        buf_append_literal(b, ",\"spec\":{\"containers\":[");
        for (unsigned i = 0; i < n_containers; i++) {
                if (i)
                        buf_append_char(b, ',');
                add_container(b, app);
        }
        buf_appendf(
                b,
                "],\"dnsPolicy\":\"ClusterFirst\",\"enableServiceLinks\":true,\"nodeName\":\"ip-10-0-%u-%u.%s.compute."
                "internal\",\"priority\":0,\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,"
                "\"tolerations\":"
                "[{\"effect\":\"NoExecute\",\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
                "\"tolerationSeconds\":300}]},\"status\":{",
                draw(256), draw(256), PICK(regions));
        add_conditions(b);
        buf_appendf(
                b,
                ",\"hostIP\":\"10.0.%u.%u\",\"phase\":\"Running\",\"podIP\":\"10.1.%u.%u\",\"qosClass\":\"Burstable\","
                "\"startTime\":",
                draw(256), draw(256), draw(256), draw(256));
        add_time(b);
        buf_append_literal(b, "}}");
}

static void add_composite(struct buf *b, unsigned number)
{
        const char *app = PICK(apps);

        buf_append_literal(b, "{\"apiVersion\":\"platform.example.org/v1alpha1\",\"kind\":\"XDatabase\",");
        add_metadata(b, app, number);
        buf_appendf(
                b,
                ",\"spec\":{\"compositionRef\":{\"name\":\"xdatabases.%s.platform.example.org\"},\"parameters\":{"
                "\"backup\":{\"enabled\":%s,\"retentionDays\":%u,\"window\":null},\"engine\":\"postgres\","
                "\"engineVersion\":"
                "\"%u.%u\",\"maxCostPerHour\":%u.%02u,\"storageGB\":%u,\"threshold\":%u.%03ue-%u},\"resourceRefs\":[",
                PICK(regions), draw(2) ? "true" : "false", draw(35), 10 + draw(7), draw(12), draw(90), draw(100),
                20 + draw(2000), 1 + draw(9), draw(1000), 1 + draw(9));
        for (unsigned i = 0; i < 6; i++)
                buf_appendf(
                        b,
                        "%s{\"apiVersion\":\"rds.aws.upbound.io/v1beta1\",\"kind\":\"Instance\",\"name\":\"%s-%05x\"}",
                        i ? "," : "", app, draw(1 << 20));
        buf_append_literal(b, "]},\"status\":{");
        add_conditions(b);
        buf_append_literal(b, "}}");
}

static void add_config_map(struct buf *b, unsigned number)
{
        buf_append_literal(b, "{\"apiVersion\":\"v1\",\"data\":{\"config.yaml\":\"");
        for (unsigned i = 0, n = 5 + draw(30); i < n; i++)
                buf_appendf(b, "%s: \\\"%s\\\"\\n  replicas: %u\\n", PICK(apps), PICK(regions), draw(10));
        buf_append_literal(b, "\",\"notes.txt\":\"Gr\xc3\xb6\xc3\x9f"
                              "e und Ma\xc3\x9f: ");
        for (unsigned i = 0, n = draw(40); i < n; i++)
                buf_appendf(b, "the %s of %s ", PICK(reasons), PICK(apps));
        buf_append_literal(b, "\"},\"kind\":\"ConfigMap\",");
        add_metadata(b, PICK(apps), number);
        buf_append_char(b, '}');
}

static void make_list(struct buf *b)
{
        buf_append_literal(b, "{\"apiVersion\":\"v1\",\"items\":[");
        for (unsigned i = 0; b->n < LIST_BYTES; i++) {
                if (i)
                        buf_append_char(b, ',');
                switch (draw(4)) {
                case 0:
                        add_composite(b, i);
                        break;
                case 1:
                        add_config_map(b, i);
                        break;
                default:
                        add_pod(b, i, 1 + draw(2));
                }
        }
        buf_append_literal(b, "],\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"123456789\"}}");
}

/* Work. The texts end with NUL, which only the peers need. */

struct input {
        const char *text;
        size_t n;
        size_t arena_bytes; /* of our last parse */
        const struct value *ours;
        cJSON *cjson;
        json_t *jansson;
};

static void must(bool ok, const char *what)
{
        if (!ok) {
                fprintf(stderr, "bench-json: %s failed\n", what);
                exit(2);
        }
}

static void parse_ours(void *context)
{
        struct input *in = context;
        _cleanup_arena_ struct arena a;
        const struct value *v;

        arena_init(&a, "bench", 0);
        must(json_parse(&a, str_make(in->text, in->n), NULL, &v, NULL) == 0, "json_parse");
        in->arena_bytes = a.used_bytes - (size_t)(a.end - a.next);
}

static void parse_cjson(void *context)
{
        struct input *in = context;
        cJSON *v = cJSON_ParseWithLength(in->text, in->n);

        must(v, "cJSON_ParseWithLength");
        cJSON_Delete(v);
}

static void parse_jansson(void *context)
{
        struct input *in = context;
        json_t *v = json_loadb(in->text, in->n, 0, NULL);

        must(v, "json_loadb");
        json_decref(v);
}

static void write_ours(void *context)
{
        struct input *in = context;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        must(json_write(&b, in->ours, 0, NULL) == 0, "json_write");
}

static void write_cjson(void *context)
{
        struct input *in = context;
        char *text = cJSON_PrintUnformatted(in->cjson);

        must(text, "cJSON_PrintUnformatted");
        cJSON_free(text);
}

static void write_jansson(void *context)
{
        struct input *in = context;
        char *text = json_dumps(in->jansson, JSON_COMPACT);

        must(text, "json_dumps");
        free(text);
}

static int compare_input(const char *name, struct input *in, double seconds, double parse_wanted_cjson,
                         double parse_wanted_jansson, double both_wanted)
{
        struct contender parse[] = { { "ours", parse_ours, in },
                                     { "cJSON", parse_cjson, in },
                                     { "jansson", parse_jansson, in } };
        struct contender write[] = { { "ours", write_ours, in },
                                     { "cJSON", write_cjson, in },
                                     { "jansson", write_jansson, in } };
        double p[3], w[3];
        char what[64];
        int ok = 1;

        bench_compare(parse, 3, seconds, p);
        bench_compare(write, 3, seconds, w);
        snprintf(what, sizeof(what), "parse %s", name);
        ok &= bench_report(what, "us", p[0] / 1e3, "us (cJSON)", p[1] / 1e3, parse_wanted_cjson);
        ok &= bench_report(what, "us", p[0] / 1e3, "us (jansson)", p[2] / 1e3, parse_wanted_jansson);
        snprintf(what, sizeof(what), "write %s", name);
        ok &= bench_report(what, "us", w[0] / 1e3, "us (cJSON)", w[1] / 1e3, 1);
        ok &= bench_report(what, "us", w[0] / 1e3, "us (jansson)", w[2] / 1e3, 1);
        snprintf(what, sizeof(what), "parse + write %s", name);
        ok &= bench_report(what, "us", (p[0] + w[0]) / 1e3, "us (cJSON)", (p[1] + w[1]) / 1e3, both_wanted);
        printf("%-34s %9.2f MB/s parse, %.2f MB/s write\n", name, (double)in->n / p[0] * 1e3,
               (double)in->n / w[0] * 1e3);
        return ok;
}

static int run_input(const char *name, struct buf *text, double seconds, double parse_wanted_cjson,
                     double parse_wanted_jansson, double both_wanted, double memory_wanted)
{
        _cleanup_arena_ struct arena a;
        struct input in = { .text = buf_cstring(text), .n = text->n };
        int ok;

        arena_init(&a, "bench", 0);
        must(json_parse(&a, buf_str(text), NULL, &in.ours, NULL) == 0, "json_parse");
        in.cjson = cJSON_ParseWithLength(in.text, in.n);
        in.jansson = json_loadb(in.text, in.n, 0, NULL);
        must(in.cjson && in.jansson, "a peer");
        ok = compare_input(name, &in, seconds, parse_wanted_cjson, parse_wanted_jansson, both_wanted);
        if (memory_wanted > 0)
                ok &= bench_report("memory of the tree", "KB", (double)in.arena_bytes / 1e3, "KB (3 x the text)",
                                   3.0 * (double)in.n / 1e3, memory_wanted);
        cJSON_Delete(in.cjson);
        json_decref(in.jansson);
        return ok;
}

int main(void)
{
        _cleanup_buf_ struct buf list = BUF_INIT(0), object = BUF_INIT(0);
        int ok = 1;

        make_list(&list);
        add_pod(&object, 1, 2);
        ok &= run_input("list of 10 MB", &list, 4, 3, 10, 3, 1);
        ok &= run_input("object of 4 KB", &object, 1, 2, 2, 3, 0);
        return !ok;
}
