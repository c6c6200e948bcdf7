/* function-sequencer: holds back resources until the resources before them in a sequence are ready, and protects resources from
 * being deleted before the resources after them (docs/spec/functions 4.4). */
#include "functions.h"

#include <stdlib.h>

#include "bounds.h"
#include "buf.h"
#include "desired.h"
#include "digest.h"
#include "fn-input.h"
#include "gotext.h"
#include "regex.h"
#include "timetext.h"

struct sequencer_rule {
        struct input_list sequence; /* struct str */
        struct str condition;
        struct input_bool create_only;
        struct input_bool delete_only;
};

struct sequencer_input {
        struct str cache_ttl;
        struct input_bool enable_deletion_sequencing;
        struct input_bool replay_deletion;
        struct str usage_version;
        struct input_bool reset_composite_readiness;
        struct input_list rules; /* struct sequencer_rule */
};

static const struct input_field rule_fields[] = {
        { "sequence", INPUT_STRINGS, offsetof(struct sequencer_rule, sequence) },
        { "condition", INPUT_STRING, offsetof(struct sequencer_rule, condition) },
        { "createOnly", INPUT_BOOL, offsetof(struct sequencer_rule, create_only) },
        { "deleteOnly", INPUT_BOOL, offsetof(struct sequencer_rule, delete_only) },
};
static const struct input_type rule_type = INPUT_TYPE(struct sequencer_rule, rule_fields);

static const struct input_field input_fields[] = {
        { "cacheTTL", INPUT_STRING, offsetof(struct sequencer_input, cache_ttl) },
        { "enableDeletionSequencing", INPUT_BOOL, offsetof(struct sequencer_input, enable_deletion_sequencing) },
        { "replayDeletion", INPUT_BOOL, offsetof(struct sequencer_input, replay_deletion) },
        { "usageVersion", INPUT_STRING, offsetof(struct sequencer_input, usage_version) },
        { "resetCompositeReadiness", INPUT_BOOL, offsetof(struct sequencer_input, reset_composite_readiness) },
        { "rules", INPUT_OBJECTS, offsetof(struct sequencer_input, rules), &rule_type },
};
static const struct input_type input_type = INPUT_TYPE(struct sequencer_input, input_fields);

/* A usage that a rule adds, and its position in the order of adding. */
struct added {
        struct fn_resource resource;
        size_t position;
};

/* An element of the current rule. */
struct element {
        struct regex *re; /* compiled on first use */
        size_t version;   /* version of the desired resources when they were counted; 0: not counted */
        size_t n;         /* number of desired resources that match */
        size_t n_ready;
};

/* One call. */
struct sequencer {
        struct run *run;
        struct arena *arena;
        const struct sequencer_input *input;
        struct fn_state *observed;
        struct fn_state desired;       /* the resulting desired state */
        struct fn_resource *resources; /* the resources of `desired`, writable */
        size_t version;                /* changes when desired resources are dropped */
        struct element *elements;
        struct added *added; /* usages of all rules so far */
        size_t n_added;
        size_t added_capacity;
        struct fn_response *rsp;
        struct err *err;
        bool was_reset;    /* the composite's readiness was reset */
        bool is_rpc_error; /* return an error of the call, not a fatal result */
};

/* --- Patterns --- */

/* A pattern with neither a leading ^ nor a trailing $ must match the whole name. It is not put into a group, so the alternatives of
 * `a|b` are `^a` and `b$`, as upstream. */
static int compile(struct sequencer *s, struct str element, struct regex **ret)
{
        struct str pattern = element;

        if (!str_starts_with(element, STR("^")) && !str_ends_with(element, STR("$")))
                pattern = arena_printf(s->arena, "^%.*s$", STR_ARG(element));
        if (regex_compile(pattern, ret, s->err) < 0)
                return err_wrap(s->err, "cannot compile regex %.*s", STR_ARG(element));
        return 0;
}

static int pattern(struct sequencer *s, const struct sequencer_rule *rule, size_t i, const struct regex **ret)
{
        const struct str *texts = rule->sequence.p;
        struct element *e = &s->elements[i];
        int r = e->re ? 0 : compile(s, texts[i], &e->re);

        *ret = e->re;
        return r;
}

/* [a b] */
static struct str sequence_text(struct sequencer *s, const struct sequencer_rule *rule)
{
        struct str_list texts;
        const struct str *element;

        str_list_init(&texts, s->arena);
        INPUT_FOREACH (element, &rule->sequence)
                str_list_add(&texts, *element);
        return arena_printf(s->arena, "[%.*s]", STR_ARG(str_list_join(&texts, STR(" "))));
}

/* --- Usages --- */

static int object_of(struct sequencer *s, const struct fn_resource *resource, const struct value **ret)
{
        struct fn_struct object = resource->object;
        int r = fn_struct_value(s->arena, &object, ret, s->err);

        if (r >= 0 && !*ret)
                *ret = &value_empty_object;
        return r;
}

static struct str kind_of(const struct value *object)
{
        return value_str(value_get(object, STR("kind")));
}

static bool is_v1(const struct sequencer *s)
{
        return str_equal(s->input->usage_version, STR("v1"));
}

static struct str usage_api_version(const struct sequencer *s)
{
        return is_v1(s) ? STR("apiextensions.crossplane.io/v1beta1") : STR("protection.crossplane.io/v1beta1");
}

/* Whether the object is a usage of the version that this call adds; a usage of another version counts as an ordinary resource. */
static bool is_usage(const struct sequencer *s, const struct value *object)
{
        struct str kind = kind_of(object);

        if (!str_equal(value_str(value_get(object, STR("apiVersion"))), usage_api_version(s)))
                return false;
        return str_equal(kind, STR("Usage")) || (!is_v1(s) && str_equal(kind, STR("ClusterUsage")));
}

static struct str name_of(const struct value *object)
{
        return value_str(value_find(object, "metadata", "name"));
}

/* How many bytes of the text fit into max bytes without splitting a character. */
static size_t cut_bytes(struct str text, size_t max)
{
        while (max > 0 && ((unsigned char)text.p[max] & 0xc0) == 0x80)
                max--;
        return max;
}

/* The kinds and names of both resources in lower case, with a part of their digest; cut to the length of a label. */
static struct str usage_name(struct arena *a, const struct value *by, const struct value *of)
{
        static const struct str suffix = STR_INIT("-dependency");
        _cleanup_buf_ struct buf b = BUF_INIT(0), hash = BUF_INIT(0);
        size_t hash_chars = 6, max_chars = 63;
        struct str parts = arena_printf(a, "%.*s-%.*s-%.*s-%.*s", STR_ARG(kind_of(by)), STR_ARG(name_of(by)),
                                        STR_ARG(kind_of(of)), STR_ARG(name_of(of)));

        go_append_mapped(&b, parts, go_to_lower);
        sha256_append_hex(&hash, buf_str(&b));
        if (b.n + 1 + hash_chars + suffix.n > max_chars)
                b.n = cut_bytes(buf_str(&b), max_chars - suffix.n - hash_chars - 1);
        else
                buf_append_char(&b, '-');
        if (!str_ends_with(buf_str(&b), STR("-")))
                buf_append_char(&b, '-');
        buf_append_str(&b, str_first(buf_str(&hash), hash_chars));
        buf_append_str(&b, suffix);
        return buf_to_arena(&b, a);
}

static struct value reference_to(struct arena *a, const struct value *object)
{
        struct object_builder b, ref;

        object_builder_init(&ref, a, 1);
        object_builder_add(&ref, STR("name"), value_of_str(name_of(object)));
        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("apiVersion"), value_of_str(value_str(value_get(object, STR("apiVersion")))));
        object_builder_add(&b, STR("kind"), value_of_str(kind_of(object)));
        object_builder_add(&b, STR("resourceRef"), object_builder_finish(&ref));
        return object_builder_finish(&b);
}

static struct value usage_spec(struct sequencer *s, const struct value *by, const struct value *of)
{
        struct object_builder b;

        object_builder_init(&b, s->arena, 4);
        object_builder_add(&b, STR("by"), reference_to(s->arena, by));
        object_builder_add(&b, STR("of"), reference_to(s->arena, of));
        object_builder_add(&b, STR("reason"), value_of_literal("dependency"));
        object_builder_add(&b, STR("replayDeletion"), value_of_bool(s->input->replay_deletion.value));
        return object_builder_finish(&b);
}

/* Version 1 has one kind, without a namespace. In later versions, a Usage is in the namespace of the resource that it protects. */
static struct value usage(struct sequencer *s, const struct value *by, const struct value *of)
{
        struct str ns = is_v1(s) ? STR("") : value_str(value_find(of, "metadata", "namespace"));
        struct object_builder b, metadata;

        object_builder_init(&metadata, s->arena, 2);
        object_builder_add(&metadata, STR("name"), value_of_str(usage_name(s->arena, by, of)));
        if (ns.n)
                object_builder_add(&metadata, STR("namespace"), value_of_str(ns));
        object_builder_init(&b, s->arena, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_str(usage_api_version(s)));
        object_builder_add(&b, STR("kind"),
                           is_v1(s) || ns.n ? value_of_literal("Usage") : value_of_literal("ClusterUsage"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("spec"), usage_spec(s, by, of));
        return object_builder_finish(&b);
}

static void add_usage(struct sequencer *s, const struct fn_resource *resource)
{
        if (s->n_added == s->added_capacity) {
                size_t capacity = s->added_capacity ? 2 * s->added_capacity : 8;
                struct added *grown = ARENA_NEW_ARRAY(s->arena, struct added, capacity);

                if (s->n_added)
                        memcpy(grown, s->added, s->n_added * sizeof(*grown));
                s->added = grown;
                s->added_capacity = capacity;
        }
        s->added[s->n_added] = (struct added) { *resource, s->n_added };
        s->n_added++;
}

static int compare_added(const void *a, const void *b)
{
        const struct added *x = a, *y = b;
        int order = str_compare(x->resource.name, y->resource.name);

        return order ? order : (x->position > y->position) - (x->position < y->position);
}

/* Adds the usages to the desired resources after the last rule, so that no rule holds them back or counts them. Of equal names, the
 * last one counts. */
static void merge_added(struct sequencer *s)
{
        const struct fn_resource *old = s->desired.resources, *end = old + s->desired.n_resources;
        struct fn_resource *merged;
        size_t n = 0;

        if (s->n_added == 0)
                return;
        qsort(s->added, s->n_added, sizeof(*s->added), compare_added);
        merged = ARENA_NEW_ARRAY(s->arena, struct fn_resource, s->desired.n_resources + s->n_added);
        for (size_t i = 0; i < s->n_added; i++) {
                const struct fn_resource *resource = &s->added[i].resource;

                while (old < end && str_compare(old->name, resource->name) < 0)
                        merged[n++] = *old++;
                if (old < end && str_equal(old->name, resource->name))
                        old++;
                if (n > 0 && str_equal(merged[n - 1].name, resource->name))
                        n--;
                merged[n++] = *resource;
        }
        while (old < end)
                merged[n++] = *old++;
        s->desired.resources = s->resources = merged;
        s->desired.n_resources = n;
}

/* Protects the resources that match `before`, and are both desired and observed, from being deleted before the user is deleted. */
static int protect(struct sequencer *s, const struct fn_resource *user, const struct value *by,
                   const struct regex *before)
{
        for (size_t i = 0; i < s->observed->n_resources; i++) {
                const struct fn_resource *used = &s->observed->resources[i];
                struct fn_resource added = { .ready = FN_READY_TRUE };
                const struct value *of;
                int r;

                if (!regex_matches(before, used->name) || !fn_state_find(&s->desired, used->name))
                        continue;
                if ((r = object_of(s, used, &of)) < 0 || (r = arena_check(s->arena, s->err)) < 0)
                        return r;
                added.name = arena_printf(s->arena, "%.*s-%.*s-usage", STR_ARG(user->name), STR_ARG(used->name));
                added.object.value = value_put(s->arena, usage(s, by, of));
                add_usage(s, &added);
        }
        return 0;
}

/* Element i uses element i - 1, so the resources of element i - 1 are protected. */
static int protect_pair(struct sequencer *s, const struct sequencer_rule *rule, size_t i)
{
        const struct regex *before, *after;
        int r = pattern(s, rule, i, &after);

        if (r >= 0)
                r = pattern(s, rule, i - 1, &before);
        for (size_t j = 0; r >= 0 && j < s->observed->n_resources; j++) {
                const struct fn_resource *user = &s->observed->resources[j];
                const struct value *by;

                if (!regex_matches(after, user->name))
                        continue;
                r = bounds_check(s->run, s->err);
                if (r >= 0)
                        r = object_of(s, user, &by);
                if (r >= 0 && !is_usage(s, by))
                        r = protect(s, user, by, before);
        }
        return r;
}

static int sequence_deletion(struct sequencer *s, const struct sequencer_rule *rule)
{
        for (size_t i = 1; i < rule->sequence.n; i++)
                if (protect_pair(s, rule, i) < 0) {
                        s->is_rpc_error = true;
                        return s->err->code;
                }
        return 0;
}

/* --- Creation --- */

/* Drops the desired resources that match and do not exist yet. */
static int hold_back(struct sequencer *s, const struct regex *re)
{
        size_t n = 0, n_before = s->desired.n_resources;

        for (size_t i = 0; i < n_before; i++) {
                const struct fn_resource *resource = &s->resources[i];

                if (!regex_matches(re, resource->name) || fn_state_find(s->observed, resource->name))
                        s->resources[n++] = *resource;
        }
        s->desired.n_resources = n;
        s->version += n != n_before;
        if (n == n_before || !s->input->reset_composite_readiness.value)
                return 0;
        if (!s->desired.has_composite)
                return err_set(s->err, ERR_INVALID,
                               "cannot reset readiness of the composite resource: there is no desired one");
        s->desired.composite.ready = FN_READY_FALSE;
        s->was_reset = true;
        return 0;
}

/* Counts the desired resources that match, and the ready ones among them; the counts are kept until the desired resources
 * change. */
static void count(const struct sequencer *s, struct element *e)
{
        if (e->version == s->version)
                return;
        e->version = s->version;
        e->n = e->n_ready = 0;
        for (size_t i = 0; i < s->desired.n_resources; i++)
                if (regex_matches(e->re, s->resources[i].name)) {
                        e->n++;
                        e->n_ready += s->resources[i].ready == FN_READY_TRUE;
                }
}

/* Returns 1 when element i must wait for element j, which is before it; its resources are then held back. */
static int wait_for(struct sequencer *s, const struct sequencer_rule *rule, size_t i, size_t j)
{
        const struct str *texts = rule->sequence.p;
        struct element *counted = &s->elements[j];
        const struct regex *re, *re_before;
        struct str element, before;
        int r = pattern(s, rule, j, &re_before);

        if (r >= 0)
                r = pattern(s, rule, i, &re);
        if (r < 0)
                return r;
        count(s, counted);
        if (counted->n > 0 && counted->n == counted->n_ready)
                return 0;
        element = go_quote(s->arena, texts[i]);
        before = go_quote(s->arena, texts[j]);
        if (counted->n == 0)
                fn_response_add_result(s->arena, s->rsp, FN_SEVERITY_NORMAL,
                                       "Delaying creation of resource(s) matching %.*s because %.*s does not exist yet",
                                       STR_ARG(element), STR_ARG(before));
        else
                fn_response_add_result(
                        s->arena, s->rsp, FN_SEVERITY_NORMAL,
                        "Delaying creation of resource(s) matching %.*s because %.*s is not fully ready (%zu of %zu)",
                        STR_ARG(element), STR_ARG(before), counted->n_ready, counted->n);
        r = hold_back(s, re);
        return r < 0 ? r : 1;
}

static int sequence_creation(struct sequencer *s, const struct sequencer_rule *rule)
{
        const struct str *elements = rule->sequence.p;

        for (size_t i = 1; i < rule->sequence.n; i++) {
                int r = 0;

                if (fn_state_find(s->observed, elements[i]))
                        continue;
                for (size_t j = 0; r == 0 && j < i; j++)
                        r = wait_for(s, rule, i, j);
                if (r < 0 || (r = bounds_check(s->run, s->err)) < 0)
                        return r;
        }
        return 0;
}

/* --- The call --- */

static int apply_rule(struct sequencer *s, const struct sequencer_rule *rule)
{
        int r;

        if (rule->create_only.value && rule->delete_only.value)
                return err_set(s->err, ERR_INVALID,
                               "rule for sequence %.*s cannot have both deleteOnly and createOnly set to true",
                               STR_ARG(sequence_text(s, rule)));
        if (rule->condition.n)
                return err_set(s->err, ERR_UNSUPPORTED,
                               "cannot evaluate condition %.*s for sequence %.*s: CEL is not part of this build of "
                               "weft; remove the condition, or run the function outside of weft",
                               STR_ARG(go_quote(s->arena, rule->condition)), STR_ARG(sequence_text(s, rule)));
        if (s->input->enable_deletion_sequencing.value && !rule->create_only.value) {
                r = sequence_deletion(s, rule);
                if (r < 0)
                        return r;
        }
        return rule->delete_only.value ? 0 : sequence_creation(s, rule);
}

static int apply_with_patterns(struct sequencer *s, const struct sequencer_rule *rule)
{
        int r;

        s->elements = ARENA_NEW_ARRAY(s->arena, struct element, rule->sequence.n + 1);
        r = apply_rule(s, rule);
        for (size_t i = 0; i < rule->sequence.n; i++)
                regex_free(s->elements[i].re);
        return r;
}

static int read_state(struct sequencer *s, struct fn_request *req)
{
        int r = fn_state_open(s->arena, &req->observed, s->err);

        if (r < 0)
                return r;
        s->observed = &req->observed;
        s->version = 1;
        s->desired = req->desired;
        r = desired_rebuild(s->arena, &s->desired, &s->resources, s->err);
        if (r >= 0)
                desired_settle_ready(s->resources, s->desired.n_resources);
        return r;
}

static int answer(struct sequencer *s, struct fn_request *req, struct sequencer_input *input)
{
        const struct sequencer_rule *rule;
        int64_t ttl_ns;
        int r = fn_input_read(s->arena, req, &input_type, "Input", input, s->err);

        if (r < 0)
                return err_wrap(s->err, "cannot get Function input from *v1.RunFunctionRequest");
        if (input->cache_ttl.n) {
                if (duration_parse(input->cache_ttl, &ttl_ns, s->err) < 0)
                        return err_wrap(s->err, "cannot set cacheTTL");
                s->rsp->ttl_ns = ttl_ns;
        }
        r = read_state(s, req);
        if (r < 0)
                return r;
        INPUT_FOREACH (rule, &input->rules) {
                r = apply_with_patterns(s, rule);
                if (r < 0)
                        return r;
        }
        merge_added(s);
        s->rsp->desired = s->desired;
        return 0;
}

/* Keeps the reset of the composite's readiness in the response, as upstream; otherwise a fatal result leaves the desired state as
 * requested. */
static void keep_reset(struct sequencer *s, struct fn_response *rsp)
{
        if (!s->was_reset || fn_state_open(s->arena, &rsp->desired, NULL) < 0)
                return;
        rsp->desired.composite.ready = FN_READY_FALSE;
        rsp->desired.encoded = STR_NONE;
}

static int run_sequencer(struct run *run, struct fn_request *req, struct fn_response *rsp, struct err *err)
{
        _cleanup_err_ struct err problem = { 0 };
        struct sequencer_input input = { 0 };
        struct sequencer s = { .run = run, .arena = run->arena, .input = &input, .rsp = rsp, .err = &problem };

        fn_response_init(rsp, req);
        if (answer(&s, req, &input) >= 0)
                return 0;
        if (s.is_rpc_error)
                return err_move(err, &problem);
        keep_reset(&s, rsp);
        fn_response_add_result(run->arena, rsp, FN_SEVERITY_FATAL, "%s", err_message(&problem));
        return 0;
}

const struct builtin_function function_sequencer = {
        .name = "function-sequencer",
        .version = "v0.6.0",
        .is_pure = true,
        .run = run_sequencer,
};
