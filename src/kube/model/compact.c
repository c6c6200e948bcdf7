/* The format. The first byte is the version of the format, 02. One value follows. A value is one byte for its type, followed by the
 * data of that type:
 *
 *      00 null   01 false   02 true   03 int: zigzag varint   04 double: 8 bytes, little endian
 *      05 string: varint length, bytes   06 array: varint count, values   07 object: varint count, members
 *      10-1f array of 0..15 items   20-2f object of 0..15 members   30-3f the int 0..15
 *      40-7f string of 0..63 bytes   80-ff string: word 0..127 of the dictionary
 *
 * A member is a key and a value. A key begins with one byte too: 00-3e that many bytes follow, 40-9f word 0..95 of the dictionary,
 * a0-ff the same with `f:` before it, as in the keys of managed fields. 3f is followed by a varint: 0..30 word 96..126, 31..61 the
 * same with `f:` before it, 63 or more: that many bytes follow. Members are in the order of the object. Varints are little endian,
 * seven bits per byte, as short as possible.
 *
 * The version counts changes that an older decoder cannot read: a decoder refuses bytes of an unknown version. The dictionary is
 * part of the format: words are appended to it, never moved, and each addition is a new version. It contains the words that nearly
 * every object uses, and then those of events, which are more than half of the objects of a busy control plane. So a stored object
 * is clearly smaller than its JSON. Keys, which are most of the strings, need no memory of their own: decoded keys point into the
 * dictionary.
 *
 * Version 01 had the words 0..93 alone. What it wrote means the same in version 02. */
#include "compact.h"

#include "buf.h"
#include "compact-format.h"
#include "limits.h"

#include <pthread.h>

/* Each text begins with `f:`; the word is the rest. */
const struct str compact_words[] = {
#define WORD(text) STR_INIT("f:" text)
        WORD("apiVersion"),
        WORD("kind"),
        WORD("metadata"),
        WORD("spec"),
        WORD("status"),
        WORD("name"),
        WORD("namespace"),
        WORD("uid"),
        WORD("creationTimestamp"),
        WORD("generation"),
        WORD("labels"),
        WORD("annotations"),
        WORD("ownerReferences"),
        WORD("finalizers"),
        WORD("managedFields"),
        WORD("generateName"),
        WORD("deletionTimestamp"),
        WORD("deletionGracePeriodSeconds"),
        WORD("controller"),
        WORD("blockOwnerDeletion"),
        WORD("manager"),
        WORD("operation"),
        WORD("time"),
        WORD("fieldsType"),
        WORD("fieldsV1"),
        WORD("subresource"),
        WORD("FieldsV1"),
        WORD("Update"),
        WORD("Apply"),
        WORD("conditions"),
        WORD("type"),
        WORD("reason"),
        WORD("message"),
        WORD("lastTransitionTime"),
        WORD("observedGeneration"),
        WORD("True"),
        WORD("False"),
        WORD("Unknown"),
        WORD("Ready"),
        WORD("Synced"),
        WORD("Available"),
        WORD("ReconcileSuccess"),
        WORD("v1"),
        WORD("data"),
        WORD("value"),
        WORD("key"),
        WORD("replicas"),
        WORD("selector"),
        WORD("matchLabels"),
        WORD("template"),
        WORD("containers"),
        WORD("image"),
        WORD("args"),
        WORD("env"),
        WORD("ports"),
        WORD("port"),
        WORD("protocol"),
        WORD("resources"),
        WORD("limits"),
        WORD("requests"),
        WORD("cpu"),
        WORD("memory"),
        WORD("crossplane"),
        WORD("compositionRef"),
        WORD("compositionRevisionRef"),
        WORD("compositionUpdatePolicy"),
        WORD("resourceRefs"),
        WORD("resourceRef"),
        WORD("claimRef"),
        WORD("compositionSelector"),
        WORD("writeConnectionSecretToRef"),
        WORD("providerConfigRef"),
        WORD("forProvider"),
        WORD("initProvider"),
        WORD("atProvider"),
        WORD("managementPolicies"),
        WORD("deletionPolicy"),
        WORD("region"),
        WORD("tags"),
        WORD("id"),
        WORD("crossplane.io/composite"),
        WORD("crossplane.io/claim-name"),
        WORD("crossplane.io/claim-namespace"),
        WORD("crossplane.io/composition-resource-name"),
        WORD("crossplane.io/external-name"),
        WORD("crossplane.io/external-create-pending"),
        WORD("crossplane.io/external-create-succeeded"),
        WORD("finalizer.managedresource.crossplane.io"),
        WORD("composite.apiextensions.crossplane.io"),
        WORD("kubectl.kubernetes.io/last-applied-configuration"),
        WORD("kubernetes.io/metadata.name"),
        WORD("app.kubernetes.io/name"),
        WORD("Opaque"),
        WORD("."),
        /* Version 02. */
        WORD("involvedObject"),
        WORD("firstTimestamp"),
        WORD("lastTimestamp"),
        WORD("eventTime"),
        WORD("count"),
        WORD("resourceVersion"),
        WORD("source"),
        WORD("component"),
        WORD("reportingComponent"),
        WORD("reportingInstance"),
        WORD("Event"),
        WORD("Normal"),
        WORD("Warning"),
        WORD("SelectComposition"),
        WORD("ComposeResources"),
        WORD("defined/compositeresourcedefinition.apiextensions.crossplane.io"),
        WORD("offered/compositeresourcedefinition.apiextensions.crossplane.io"),
        WORD("apiextensions.crossplane.io/composite"),
        WORD("Responsive"),
        WORD("WatchCircuitClosed"),
        WORD("Automatic"),
        WORD("ConfigMap"),
        WORD("Secret"),
        WORD("Deployment"),
        WORD("Service"),
        WORD("ServiceAccount"),
        WORD("Namespace"),
#undef WORD
};
_Static_assert(ARRAY_SIZE(compact_words) <= MAX_WORDS, "the tags have room for this many words");
const size_t compact_n_words = ARRAY_SIZE(compact_words);

static struct str word(size_t i)
{
        return str_skip(compact_words[i], 2);
}

/* A hash table of word numbers + 1, made once. Length and three bytes are enough to spread the fixed words; most keys and many
 * strings are looked up here. */
#define SLOTS        512
#define LONGEST_WORD 64
static uint8_t slots[SLOTS];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static size_t slot_of(struct str s)
{
        unsigned first = (unsigned char)s.p[0], middle = (unsigned char)s.p[s.n / 2],
                 last = (unsigned char)s.p[s.n - 1];

        return (s.n * 126 + first * 67 + middle * 103 + last * 98) % SLOTS;
}

static void fill_slots(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(compact_words); i++) {
                size_t slot = slot_of(word(i));

                while (slots[slot])
                        slot = (slot + 1) % SLOTS;
                slots[slot] = (uint8_t)(i + 1);
        }
}

/* The number of the word, or -1. */
static int find_word(struct str s)
{
        if (s.n > LONGEST_WORD || s.n == 0)
                return -1;
        for (size_t slot = slot_of(s); slots[slot]; slot = (slot + 1) % SLOTS)
                if (str_equal(word(slots[slot] - 1u), s))
                        return slots[slot] - 1;
        return -1;
}

/* --- Encoding --- */

static void append_varint(struct buf *b, uint64_t u)
{
        while (u >= 0x80) {
                buf_append_char(b, (char)(u | 0x80));
                u >>= 7;
        }
        buf_append_char(b, (char)u);
}

static void append_count(struct buf *b, size_t n, int short_tag, int tag)
{
        if (n < SHORT_COUNT) {
                buf_append_char(b, (char)(short_tag + (int)n));
                return;
        }
        buf_append_char(b, (char)tag);
        append_varint(b, n);
}

static void append_word_key(struct buf *b, int i, bool is_field)
{
        if (i < NEAR_WORDS) {
                buf_append_char(b, (char)((is_field ? KEY_FIELD_WORD : KEY_WORD) + i));
                return;
        }
        buf_append_char(b, KEY_LONG);
        buf_append_char(b, (char)(i - NEAR_WORDS + (is_field ? FAR_WORDS : 0)));
}

static void append_key(struct buf *b, struct str key)
{
        int i = find_word(key);
        bool is_field = i < 0 && str_starts_with(key, STR("f:"));

        if (is_field)
                i = find_word(str_skip(key, 2));
        if (i >= 0) {
                append_word_key(b, i, is_field);
                return;
        }
        if (key.n < KEY_LONG) {
                buf_append_char(b, (char)key.n);
        } else {
                buf_append_char(b, KEY_LONG);
                append_varint(b, key.n);
        }
        buf_append_str(b, key);
}

static void append_string(struct buf *b, struct str s)
{
        int i = find_word(s);

        if (i >= 0) {
                buf_append_char(b, (char)(TAG_WORD + i));
                return;
        }
        if (s.n < SHORT_STRING) {
                buf_append_char(b, (char)(TAG_SHORT_STRING + (int)s.n));
        } else {
                buf_append_char(b, TAG_STRING);
                append_varint(b, s.n);
        }
        buf_append_str(b, s);
}

static void append_int(struct buf *b, int64_t i)
{
        if (i >= 0 && i < SHORT_COUNT) {
                buf_append_char(b, (char)(TAG_SHORT_INT + i));
                return;
        }
        buf_append_char(b, TAG_INT);
        append_varint(b, ((uint64_t)i << 1) ^ (i < 0 ? UINT64_MAX : 0));
}

static void append_double(struct buf *b, double d)
{
        char bytes[8];
        uint64_t bits;

        memcpy(&bits, &d, sizeof(bits));
        for (int i = 0; i < 8; i++)
                bytes[i] = (char)(bits >> (8 * i));
        buf_append_char(b, TAG_DOUBLE);
        buf_append(b, bytes, sizeof(bytes));
}

static void append_value(struct buf *b, const struct value *v)
{
        switch (value_type(v)) {
        case VALUE_NULL:
                buf_append_char(b, TAG_NULL);
                break;
        case VALUE_BOOL:
                buf_append_char(b, v->boolean ? TAG_TRUE : TAG_FALSE);
                break;
        case VALUE_INT:
                append_int(b, v->integer);
                break;
        case VALUE_DOUBLE:
                append_double(b, v->number);
                break;
        case VALUE_STRING:
                append_string(b, value_str(v));
                break;
        case VALUE_ARRAY:
                append_count(b, v->n, TAG_SHORT_ARRAY, TAG_ARRAY);
                VALUE_FOREACH_ITEM (item, v)
                        append_value(b, item);
                break;
        case VALUE_OBJECT:
                append_count(b, v->n, TAG_SHORT_OBJECT, TAG_OBJECT);
                VALUE_FOREACH_MEMBER (m, v) {
                        append_key(b, m->key);
                        append_value(b, &m->value);
                }
                break;
        }
}

void compact_encode(struct buf *b, const struct value *v)
{
        pthread_once(&slots_once, fill_slots);
        buf_append_char(b, FORMAT_VERSION);
        append_value(b, v);
}

/* --- Decoding --- */

struct decoder {
        struct arena *arena;
        const unsigned char *next;
        const unsigned char *end;
        unsigned depth;
        bool is_head;    /* members that a head does not have are left out */
        bool leaves_out; /* values are checked, but not made */
        bool is_unclear; /* an object that was left out has many keys, and one may be there twice */
        struct err *err;
};

static int refuse(const struct decoder *d, const char *why)
{
        return err_set(d->err, ERR_INVALID, "cannot decode compact value: %s", why);
}

static int take_byte(struct decoder *d, unsigned *ret)
{
        if (d->next == d->end)
                return refuse(d, "it ends early");
        *ret = *d->next++;
        return 0;
}

static int take_varint(struct decoder *d, uint64_t *ret)
{
        uint64_t u = 0;
        unsigned byte;

        for (unsigned shift = 0; shift < 64; shift += 7) {
                if (take_byte(d, &byte) < 0)
                        return ERR_INVALID;
                if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
                        return refuse(d, "a number is too long");
                u |= (uint64_t)(byte & 0x7f) << shift;
                if (byte < 0x80) {
                        *ret = u;
                        return 0;
                }
        }
        return refuse(d, "a number is too long");
}

/* Reads the number of items that follow. Each item takes at least min_bytes. */
static int take_count(struct decoder *d, size_t min_bytes, uint32_t *ret)
{
        uint64_t n;

        if (take_varint(d, &n) < 0)
                return ERR_INVALID;
        if (n > (size_t)(d->end - d->next) / min_bytes || n > UINT32_MAX)
                return refuse(d, "a count is larger than what follows");
        *ret = (uint32_t)n;
        return 0;
}

static int take_bytes(struct decoder *d, uint64_t n, struct str *ret)
{
        if (n > (size_t)(d->end - d->next))
                return refuse(d, "a string ends early");
        *ret = n ? str_make((const char *)d->next, n) : STR("");
        d->next += n;
        return 0;
}

static int take_word(struct decoder *d, unsigned i, bool is_field, struct str *ret)
{
        if (i >= ARRAY_SIZE(compact_words))
                return refuse(d, "a word is not in the dictionary");
        *ret = is_field ? compact_words[i] : word(i);
        return 0;
}

static int take_key(struct decoder *d, struct str *ret)
{
        unsigned byte;
        uint64_t n;

        if (take_byte(d, &byte) < 0)
                return ERR_INVALID;
        if (byte >= KEY_FIELD_WORD)
                return take_word(d, byte - KEY_FIELD_WORD, true, ret);
        if (byte >= KEY_WORD)
                return take_word(d, byte - KEY_WORD, false, ret);
        if (byte < KEY_LONG)
                return take_bytes(d, byte, ret);
        if (take_varint(d, &n) < 0)
                return ERR_INVALID;
        if (n >= KEY_LONG)
                return take_bytes(d, n, ret);
        return compact_far_key(n, ret) ? 0 : refuse(d, "a word is not in the dictionary");
}

static int take_double(struct decoder *d, struct value *ret)
{
        uint64_t bits = 0;
        struct str bytes;
        double number;

        if (take_bytes(d, 8, &bytes) < 0)
                return ERR_INVALID;
        for (int i = 0; i < 8; i++)
                bits |= (uint64_t)(unsigned char)bytes.p[i] << (8 * i);
        memcpy(&number, &bits, sizeof(number));
        *ret = value_of_double(number);
        return 0;
}

static int take_value(struct decoder *d, struct value *ret);

static int compare_keys(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

#define FEW_KEYS 16

static bool few_have_duplicates(const struct str *keys, uint32_t n)
{
        for (uint32_t i = 1; i < n; i++)
                for (uint32_t j = 0; j < i; j++)
                        if (str_equal(keys[i], keys[j]))
                                return true;
        return false;
}

/* Compares each pair when there are few keys; sorts the keys first when there are many. */
static bool has_duplicates(const struct member *members, uint32_t n)
{
        struct str few[FEW_KEYS], *keys = n <= FEW_KEYS ? few : xmalloc(n * sizeof(*keys));
        bool found = false;

        for (uint32_t i = 0; i < n; i++)
                keys[i] = members[i].key;
        if (n <= FEW_KEYS)
                return few_have_duplicates(keys, n);
        qsort(keys, n, sizeof(*keys), compare_keys);
        for (uint32_t i = 1; i < n && !found; i++)
                found = str_equal(keys[i - 1], keys[i]);
        free(keys);
        return found;
}

/* Arrays and objects whose values are not wanted. */

static int pass_items(struct decoder *d, uint32_t n)
{
        struct value ignored;
        int r = 0;

        for (uint32_t i = 0; i < n && r == 0; i++)
                r = take_value(d, &ignored);
        d->depth--;
        return r;
}

static int pass_members(struct decoder *d, uint32_t n)
{
        struct str keys[FEW_KEYS], key, last = STR("");
        struct value ignored;
        bool is_sorted = true;

        for (uint32_t i = 0; i < n; i++, last = key) {
                int r = take_key(d, &key);

                if (r == 0)
                        r = take_value(d, &ignored);
                if (r < 0)
                        return r;
                if (i < FEW_KEYS)
                        keys[i] = key;
                is_sorted = is_sorted && (i == 0 || str_compare(last, key) < 0);
        }
        d->depth--;
        d->is_unclear |= !is_sorted && n > FEW_KEYS;
        return !is_sorted && n <= FEW_KEYS && few_have_duplicates(keys, n) ? refuse(d, "a key is there twice") : 0;
}

/* Whether a head does not have the member of the object that is being read. */
static bool is_left_out(const struct decoder *d, struct str key)
{
        if (!d->is_head || d->depth > 2)
                return false;
        if (d->depth == 2)
                return str_equal(key, STR("managedFields"));
        return !str_equal(key, STR("metadata")) && !str_equal(key, STR("apiVersion")) && !str_equal(key, STR("kind"));
}

static int take_items(struct decoder *d, uint32_t n, struct value *ret)
{
        struct array_builder b;

        if (d->depth == LIMIT_DEPTH)
                return refuse(d, "it is nested too deeply");
        d->depth++;
        if (d->leaves_out)
                return pass_items(d, n);
        array_builder_init(&b, d->arena, n);
        for (uint32_t i = 0; i < n; i++) {
                struct value item;
                int r = take_value(d, &item);

                if (r < 0)
                        return r;
                array_builder_add(&b, item);
        }
        d->depth--;
        *ret = array_builder_finish(&b);
        return 0;
}

static struct value without_left_out(const struct decoder *d, struct object_builder *b)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < b->n; i++)
                if (!is_left_out(d, b->members[i].key))
                        b->members[n++] = b->members[i];
        b->n = n;
        return object_builder_finish(b);
}

static int take_members(struct decoder *d, uint32_t n, struct value *ret)
{
        struct object_builder b;
        bool is_sorted = true;

        if (d->depth == LIMIT_DEPTH)
                return refuse(d, "it is nested too deeply");
        d->depth++;
        if (d->leaves_out)
                return pass_members(d, n);
        object_builder_init(&b, d->arena, n);
        for (uint32_t i = 0; i < n; i++) {
                struct value item = value_of_null();
                struct str key;
                int r = take_key(d, &key);

                if (r < 0)
                        return r;
                d->leaves_out = is_left_out(d, key);
                r = take_value(d, &item);
                d->leaves_out = false;
                if (r < 0)
                        return r;
                is_sorted = is_sorted && (i == 0 || str_compare(b.members[i - 1].key, key) < 0);
                object_builder_add(&b, key, item);
        }
        if (!is_sorted && has_duplicates(b.members, n))
                return refuse(d, "a key is there twice");
        *ret = d->is_head ? without_left_out(d, &b) : object_builder_finish(&b);
        d->depth--;
        return 0;
}

static int take_long(struct decoder *d, unsigned tag, struct value *ret)
{
        struct str s;
        uint64_t u;
        uint32_t n;

        if (tag == TAG_INT) {
                if (take_varint(d, &u) < 0)
                        return ERR_INVALID;
                *ret = value_of_int((int64_t)((u >> 1) ^ (u & 1 ? UINT64_MAX : 0)));
                return 0;
        }
        if (take_count(d, tag == TAG_OBJECT ? 2 : 1, &n) < 0)
                return ERR_INVALID;
        if (tag == TAG_ARRAY)
                return take_items(d, n, ret);
        if (tag == TAG_OBJECT)
                return take_members(d, n, ret);
        if (take_bytes(d, n, &s) < 0)
                return ERR_INVALID;
        *ret = value_of_str(s);
        return 0;
}

static int take_string(struct decoder *d, unsigned tag, struct value *ret)
{
        struct str s;
        int r = tag >= TAG_WORD ? take_word(d, tag - TAG_WORD, false, &s) : take_bytes(d, tag - TAG_SHORT_STRING, &s);

        if (r == 0)
                *ret = value_of_str(s);
        return r;
}

static int take_value(struct decoder *d, struct value *ret)
{
        unsigned tag;

        if (take_byte(d, &tag) < 0)
                return ERR_INVALID;
        if (tag >= TAG_SHORT_STRING)
                return take_string(d, tag, ret);
        if (tag >= TAG_SHORT_INT) {
                *ret = value_of_int(tag - TAG_SHORT_INT);
                return 0;
        }
        if (tag >= TAG_SHORT_OBJECT)
                return take_members(d, tag - TAG_SHORT_OBJECT, ret);
        if (tag >= TAG_SHORT_ARRAY)
                return take_items(d, tag - TAG_SHORT_ARRAY, ret);
        if (tag >= TAG_INT && tag <= TAG_OBJECT)
                return tag == TAG_DOUBLE ? take_double(d, ret) : take_long(d, tag, ret);
        if (tag > TAG_TRUE)
                return refuse(d, "a byte stands for nothing");
        *ret = tag == TAG_NULL ? value_of_null() : value_of_bool(tag == TAG_TRUE);
        return 0;
}

static int take_version(struct decoder *d)
{
        unsigned version;

        if (take_byte(d, &version) < 0)
                return ERR_INVALID;
        if (version < FIRST_FORMAT_VERSION || version > FORMAT_VERSION)
                return err_set(d->err, ERR_INVALID,
                               "cannot decode compact value: its format has version %u, known are versions %d to %d",
                               version, FIRST_FORMAT_VERSION, FORMAT_VERSION);
        return 0;
}

static int decode(struct decoder *d, const struct value **ret)
{
        struct value root;
        int r = take_version(d);

        if (r == 0)
                r = take_value(d, &root);
        if (r < 0)
                return r;
        if (d->next != d->end)
                return refuse(d, "something follows it");
        *ret = value_put(d->arena, root);
        return 0;
}

static struct decoder decoder_of(struct arena *a, struct str bytes, struct err *err)
{
        return (struct decoder) { .arena = a,
                                  .next = (const unsigned char *)bytes.p,
                                  .end = (const unsigned char *)bytes.p + bytes.n,
                                  .err = err };
}

int compact_decode(struct arena *a, struct str bytes, const struct value **ret, struct err *err)
{
        struct decoder d = decoder_of(a, bytes, err);

        return decode(&d, ret);
}

int compact_decode_head(struct arena *a, struct str bytes, const struct value **ret, struct err *err)
{
        struct decoder d = decoder_of(a, bytes, err);
        const struct value *whole;
        int r;

        d.is_head = true;
        r = decode(&d, ret);
        if (r < 0 || !d.is_unclear)
                return r;
        return compact_decode(a, bytes, &whole, err); /* looks for keys that are there twice */
}
