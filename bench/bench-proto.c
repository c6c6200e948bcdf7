/* Compares our Struct codec with Debian's protobuf-c and its code for the same struct.proto: the same object of about 5 KB of JSON,
 * from tree to new bytes and from bytes to a tree that is freed. Both trees exist before an encode begins.
 *
 * The object has the keys of a composed resource in the order in which people write them, so that our encoder must sort some of
 * them (protobuf-c does not sort). The bytes to decode come once in our order and once with the entries of every Struct reversed,
 * because the wire format promises no order; the latter is the worst case that Go can send. */
#include "bench.h"

#include "buf.h"
#include "json.h"
#include "proto-tables.h"

#include "struct.pb-c.h"

#include <stdio.h>

#define JSON_BYTES 5120

static void add_container(struct buf *b, int i)
{
        buf_appendf(
                b,
                "%s{\"name\":\"container-%d\",\"image\":\"registry.example.org/team/"
                "app-%d:v1.%d.3\",\"args\":[\"--listen=:8%d80\","
                "\"--log-level=info\"],\"env\":[{\"name\":\"REGION\",\"value\":\"eu-west-1\"},{\"name\":\"REPLICA\","
                "\"value\":"
                "\"%d\"}],\"ports\":[{\"containerPort\":8%d80,\"name\":\"http\",\"protocol\":\"TCP\"}],\"resources\":{"
                "\"limits\":{"
                "\"cpu\":\"500m\",\"memory\":\"256Mi\"},\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},"
                "\"readinessProbe\":{\"httpGet\":{\"path\":\"/ready\",\"port\":8%d80},\"initialDelaySeconds\":5,"
                "\"periodSeconds\":10},\"securityContext\":{\"runAsNonRoot\":true,\"allowPrivilegeEscalation\":false}}",
                i ? "," : "", i, i, i, i, i, i, i);
}

static void add_condition(struct buf *b, int i)
{
        buf_appendf(b,
                    "%s{\"type\":\"Condition%d\",\"status\":\"True\",\"reason\":\"ReconcileSuccess\","
                    "\"lastTransitionTime\":"
                    "\"2024-05-01T10:00:%02dZ\",\"observedGeneration\":%d,\"message\":null}",
                    i ? "," : "", i, i, i);
}

/* A resource of at least JSON_BYTES of text. */
static void make_json(struct buf *b)
{
        int n = 0;

        buf_append_literal(
                b,
                "{\"apiVersion\":\"apps/"
                "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web-7d4b9\",\"namespace\":\"team-a\","
                "\"uid\":\"0d7c6f0e-6f4a-4b0e-9d0a-3a9e5b6b7c11\",\"resourceVersion\":\"48211\",\"generation\":3,"
                "\"creationTimestamp\":\"2024-05-01T09:59:12Z\",\"labels\":{\"app.kubernetes.io/name\":\"web\","
                "\"app.kubernetes.io/part-of\":\"shop\",\"crossplane.io/composite\":\"shop-x2v8k\"},\"annotations\":{"
                "\"crossplane.io/"
                "composition-resource-name\":\"web\",\"note\":\"gr\\u00fc\\u00dfe\"},\"ownerReferences\":[{"
                "\"apiVersion\":\"example.org/v1\",\"kind\":\"XShop\",\"name\":\"shop-x2v8k\",\"controller\":true}]},"
                "\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{"
                "\"labels\":{\"app\":\"web\"}},\"spec\":{\"serviceAccountName\":\"web\",\"containers\":[");
        while (b->n < JSON_BYTES - 1200)
                add_container(b, n++);
        buf_append_literal(b, "],\"terminationGracePeriodSeconds\":30,\"volumes\":[]}}},\"status\":{\"replicas\":3,"
                              "\"readyReplicas\":2.5,\"conditions\":[");
        for (n = 0; b->n < JSON_BYTES - 120; n++)
                add_condition(b, n);
        buf_append_literal(b, "]}}");
}

/* The value with the members of every object in reverse order of their keys. */
static struct value reversed(struct arena *a, const struct value *v)
{
        struct object_builder object;
        struct array_builder array;

        if (value_is_array(v)) {
                array_builder_init(&array, a, v->n);
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&array, reversed(a, item));
                return array_builder_finish(&array);
        }
        if (!value_is_object(v))
                return *v;
        v = value_sorted(a, v);
        object_builder_init(&object, a, v->n);
        for (size_t i = v->n; i > 0; i--)
                object_builder_add(&object, v->members[i - 1].key, reversed(a, &v->members[i - 1].value));
        return object_builder_finish(&object);
}

/* Appends a Struct with its entries in the order of the object; our encoder never writes that order. */
static void append_unsorted(struct buf *b, const struct value *object);

static void append_value(struct buf *b, const struct value *v)
{
        _cleanup_buf_ struct buf inner = BUF_INIT(0);

        if (value_is_object(v)) {
                append_unsorted(&inner, v);
                proto_append_bytes_field(b, 5, buf_str(&inner));
        } else if (value_is_array(v)) {
                VALUE_FOREACH_ITEM (item, v) {
                        _cleanup_buf_ struct buf one = BUF_INIT(0);

                        append_value(&one, item);
                        proto_append_bytes_field(&inner, 1, buf_str(&one));
                }
                proto_append_bytes_field(b, 6, buf_str(&inner));
        } else {
                proto_encode(b, &proto_google_Value, v, NULL, NULL);
        }
}

static void append_unsorted(struct buf *b, const struct value *object)
{
        VALUE_FOREACH_MEMBER (m, object) {
                _cleanup_buf_ struct buf entry = BUF_INIT(0), value = BUF_INIT(0);

                append_value(&value, &m->value);
                proto_append_bytes_field(&entry, 1, m->key);
                proto_append_bytes_field(&entry, 2, buf_str(&value));
                proto_append_bytes_field(b, 1, buf_str(&entry));
        }
}

static void our_encode(void *context)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r = proto_encode_struct(&b, context, NULL);

        assert(r == 0);
}

static void their_encode(void *context)
{
        Google__Protobuf__Struct *message = context;
        size_t n = google__protobuf__struct__get_packed_size(message);
        _cleanup_free_ uint8_t *bytes = xmalloc(n);

        google__protobuf__struct__pack(message, bytes);
}

static void our_decode(void *context)
{
        _cleanup_arena_ struct arena a;
        const struct value *v;
        struct buf *b = context;
        int r;

        arena_init(&a, "bench", 0);
        r = proto_decode_struct(&a, buf_str(b), NULL, &v, NULL);
        assert(r == 0);
}

static void their_decode(void *context)
{
        struct buf *b = context;
        Google__Protobuf__Struct *message = google__protobuf__struct__unpack(NULL, b->n, (const uint8_t *)b->p);

        assert(message);
        google__protobuf__struct__free_unpacked(message, NULL);
}

static int compare(const char *what, void (*ours)(void *), void *our_context, void (*theirs)(void *),
                   void *their_context, double wanted)
{
        struct contender contenders[] = { { "ours", ours, our_context }, { "protobuf-c", theirs, their_context } };
        double ns[2];

        bench_compare(contenders, 2, 2, ns);
        return bench_report(what, "ours", ns[0], "protobuf-c", ns[1], wanted);
}

int main(void)
{
        _cleanup_buf_ struct buf json = BUF_INIT(0), bytes = BUF_INIT(0), mixed = BUF_INIT(0);
        _cleanup_arena_ struct arena a;
        Google__Protobuf__Struct *message;
        const struct value *v;
        struct value backwards;
        int r, is_ok = 1;

        arena_init(&a, "bench", 0);
        make_json(&json);
        r = json_parse(&a, buf_str(&json), NULL, &v, NULL);
        assert(r == 0);
        r = proto_encode_struct(&bytes, v, NULL);
        assert(r == 0);
        backwards = reversed(&a, v);
        append_unsorted(&mixed, &backwards);
        assert(mixed.n == bytes.n);
        message = google__protobuf__struct__unpack(NULL, bytes.n, (const uint8_t *)bytes.p);
        assert(message);
        printf("object: %zu bytes of JSON, %zu bytes on the wire\n", json.n, bytes.n);

        is_ok &= compare("Struct encode", our_encode, (void *)v, their_encode, message, 4);
        is_ok &= compare("Struct encode, keys reversed", our_encode, &backwards, their_encode, message, 4);
        is_ok &= compare("Struct decode", our_decode, &bytes, their_decode, &bytes, 6);
        is_ok &= compare("Struct decode, keys reversed", our_decode, &mixed, their_decode, &mixed, 6);
        google__protobuf__struct__free_unpacked(message, NULL);
        return !is_ok;
}
