/* Events: one kind of object in two groups (docs/spec/apiserver 6). The core group has all rules of an Event's life; events.k8s.io shows the
 * same objects with the fields that remain in it under new names, and asks more of those who write there. */
#include "builtin-strategies.h"

#include "json.h"
#include "name.h"

#define MAX_WORD_BYTES 128 /* of reportingInstance, action and reason */
#define MAX_NOTE_BYTES 1024

/* --- Conversion --- */

#define RENAMED(field, new_field)                                         \
        {                                                                 \
                .operation = CONVERT_MOVE, .from = field, .to = new_field \
        }

static const struct convert_step to_new[] = {
        RENAMED("involvedObject", "regarding"),
        RENAMED("message", "note"),
        RENAMED("reportingComponent", "reportingController"),
        RENAMED("source", "deprecatedSource"),
        RENAMED("firstTimestamp", "deprecatedFirstTimestamp"),
        RENAMED("lastTimestamp", "deprecatedLastTimestamp"),
        RENAMED("count", "deprecatedCount"),
};

static const struct convert_step to_core[] = {
        RENAMED("regarding", "involvedObject"),
        RENAMED("note", "message"),
        RENAMED("reportingController", "reportingComponent"),
        RENAMED("deprecatedSource", "source"),
        RENAMED("deprecatedFirstTimestamp", "firstTimestamp"),
        RENAMED("deprecatedLastTimestamp", "lastTimestamp"),
        RENAMED("deprecatedCount", "count"),
};

const struct conversion event_conversions[2] = {
        { "v1", "events.k8s.io/v1", to_new, ARRAY_SIZE(to_new) },
        { "events.k8s.io/v1", "v1", to_core, ARRAY_SIZE(to_core) },
};

static const struct value *in_core(struct arena *a, const struct value *event)
{
        /* A table of moves cannot fail. */
        if (event)
                convert_object(a, event_conversions, ARRAY_SIZE(event_conversions), event, STR("v1"), &event, NULL);
        return event;
}

/* --- Rules of both groups --- */

/* Adds the fields that the API always writes in an Event, even if the client did not set them. */
static const struct value *prepare_event(struct arena *a, const struct write_request *req _unused_,
                                         const struct value *old _unused_, const struct value *object)
{
        static const struct {
                struct str key;
                const struct value *value;
        } fields[] = {
                { STR_INIT("involvedObject"), &value_empty_object },
                { STR_INIT("source"), &value_empty_object },
                { STR_INIT("firstTimestamp"), &value_null },
                { STR_INIT("lastTimestamp"), &value_null },
                { STR_INIT("eventTime"), &value_null },
                { STR_INIT("reportingComponent"), &value_empty_string },
                { STR_INIT("reportingInstance"), &value_empty_string },
        };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (!value_get(object, fields[i].key))
                        object = value_with(a, object, fields[i].key, fields[i].value);
        return object;
}

static struct str text_of(const struct value *event, const char *field)
{
        return value_str(value_get(event, str_from(field)));
}

static bool has_time(const struct value *object, const char *field)
{
        return !str_is_empty(text_of(object, field));
}

static void refuse_namespace(struct field_errors *errors, const struct value *event)
{
        const struct value *other = value_find(event, "involvedObject", "namespace");

        field_error_add(errors, FIELD_INVALID, STR("involvedObject.namespace"), other ? other : &value_empty_string,
                        "does not match event.namespace");
}

static void check_length(struct field_errors *errors, const struct value *event, const char *field, size_t most)
{
        if (text_of(event, field).n > most)
                field_error_add(errors, FIELD_INVALID, str_from(field), &value_empty_string,
                                "can have at most %zu characters", most);
}

static void check_word(struct field_errors *errors, const struct value *event, const char *field)
{
        if (str_is_empty(text_of(event, field)))
                field_error_add(errors, FIELD_REQUIRED, str_from(field), NULL, "%s", "");
        check_length(errors, event, field, MAX_WORD_BYTES);
}

static void check_reporter(struct field_errors *errors, const struct value *event, const char *field)
{
        struct str name = text_of(event, "reportingComponent"), texts[4];
        struct value shown = value_of_str(name);
        size_t n = name_check_qualified(errors->arena, name, texts);

        if (str_is_empty(name))
                field_error_add(errors, FIELD_REQUIRED, str_from(field), NULL, "%s", "");
        for (size_t i = 0; i < n; i++)
                field_error_add(errors, FIELD_INVALID, str_from(field), &shown, "%.*s", STR_ARG(texts[i]));
}

/* An Event of an old client, without a time of its own. Events about cluster-scoped objects are kept in default. */
static void check_old(struct field_errors *errors, const struct value *event)
{
        struct str own = meta_namespace(event), other = value_str(value_find(event, "involvedObject", "namespace"));

        if (str_is_empty(other) ? !str_equal(own, STR("default")) : !str_equal(other, own))
                refuse_namespace(errors, event);
}

static void check_timed(struct field_errors *errors, const struct value *event, const char *reporter)
{
        struct str own = meta_namespace(event), other = value_str(value_find(event, "involvedObject", "namespace"));

        if (str_is_empty(other) && !str_equal(own, STR("default")) && !str_equal(own, STR("kube-system")))
                refuse_namespace(errors, event);
        check_reporter(errors, event, reporter);
        check_word(errors, event, "reportingInstance");
        check_word(errors, event, "action");
        check_word(errors, event, "reason");
        check_length(errors, event, "message", MAX_NOTE_BYTES);
}

static void check_event(struct field_errors *errors, const struct value *event, const char *reporter)
{
        if (has_time(event, "eventTime"))
                check_timed(errors, event, reporter);
        else
                check_old(errors, event);
}

static void validate_event(struct arena *a _unused_, const struct write_request *req _unused_,
                           const struct value *old _unused_, const struct value *object, struct field_errors *errors,
                           struct str_list *warnings _unused_)
{
        check_event(errors, object, "reportingComponent");
}

const struct kind_strategy event_strategy = { .prepare = prepare_event, .validate = validate_event };

/* --- Rules of events.k8s.io. Its errors name the fields of the core group --- */

static void check_series(struct field_errors *errors, const struct value *event)
{
        const struct value *series = value_get(event, STR("series"));

        if (!value_is_object(series))
                return;
        if (value_int(value_get(series, STR("count")), 0) < 2)
                field_error_add(errors, FIELD_INVALID, STR("series.count"), &value_empty_string,
                                "should be at least 2");
        if (!has_time(series, "lastObservedTime"))
                field_error_add(errors, FIELD_REQUIRED, STR("series.lastObservedTime"), NULL, "%s", "");
}

static void check_unset(struct field_errors *errors, const char *field, bool is_set)
{
        if (is_set)
                field_error_add(errors, FIELD_INVALID, str_from(field), &value_empty_string, "needs to be unset");
}

static void check_new(struct field_errors *errors, const struct value *event)
{
        struct str type = text_of(event, "type");

        check_series(errors, event);
        if (!has_time(event, "eventTime"))
                field_error_add(errors, FIELD_REQUIRED, STR("eventTime"), NULL, "%s", "");
        if (!str_equal(type, STR("Normal")) && !str_equal(type, STR("Warning")))
                field_error_add(errors, FIELD_INVALID, STR("type"), &value_empty_string, "has invalid value: %.*s",
                                STR_ARG(type));
        check_unset(errors, "firstTimestamp", has_time(event, "firstTimestamp"));
        check_unset(errors, "lastTimestamp", has_time(event, "lastTimestamp"));
        check_unset(errors, "count", value_int(value_get(event, STR("count")), 0) != 0);
        check_unset(errors, "source", value_count(value_get(event, STR("source"))) > 0);
}

static bool is_same(const struct value *a, const struct value *b)
{
        return a == b || (a && b && value_equal(a, b));
}

/* `Invalid value: {"Component":"c","Host":""}: field is immutable`: errors show a struct by the names and the order of Go's fields. */
static void refuse_struct(struct field_errors *errors, struct str field, const struct value *v)
{
        static const struct {
                struct str name, go_name;
                bool is_source;
        } fields[] = {
                { STR_INIT("component"), STR_INIT("Component"), true },
                { STR_INIT("host"), STR_INIT("Host"), true },
                { STR_INIT("kind"), STR_INIT("Kind"), false },
                { STR_INIT("namespace"), STR_INIT("Namespace"), false },
                { STR_INIT("name"), STR_INIT("Name"), false },
                { STR_INIT("uid"), STR_INIT("UID"), false },
                { STR_INIT("apiVersion"), STR_INIT("APIVersion"), false },
                { STR_INIT("resourceVersion"), STR_INIT("ResourceVersion"), false },
                { STR_INIT("fieldPath"), STR_INIT("FieldPath"), false },
        };
        bool is_source = str_equal(field, STR("source"));
        struct arena *a = errors->arena;
        struct object_builder b;
        struct str text = STR("");
        struct value shown;

        object_builder_init(&b, a, ARRAY_SIZE(fields));
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (fields[i].is_source == is_source)
                        object_builder_add(&b, fields[i].go_name,
                                           value_of_str(value_str(value_get(v, fields[i].name))));
        shown = object_builder_finish(&b);
        json_to_str(a, &shown, JSON_ESCAPE_HTML, &text, NULL); /* texts alone: it cannot fail */
        field_error_add_text(errors, FIELD_INVALID, field,
                             arena_printf(a, "Invalid value: %.*s: field is immutable", STR_ARG(text)));
}

/* Only the series of an Event may change: how often the same thing has happened since. */
static void check_changes(struct field_errors *errors, const struct value *old, const struct value *event)
{
        static const struct str fields[] = {
                STR_INIT("involvedObject"),
                STR_INIT("reason"),
                STR_INIT("message"),
                STR_INIT("source"),
                STR_INIT("firstTimestamp"),
                STR_INIT("lastTimestamp"),
                STR_INIT("count"),
                STR_INIT("reason"), /* twice, as upstream */
                STR_INIT("type"),
                STR_INIT("eventTime"),
                STR_INIT("action"),
                STR_INIT("related"),
                STR_INIT("reportingController"),
                STR_INIT("reportingInstance"),
        };

        if (!is_same(value_get(old, STR("series")), value_get(event, STR("series"))))
                check_series(errors, event);
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                bool is_reporter = str_equal(fields[i], STR("reportingController"));
                struct str key = is_reporter ? STR("reportingComponent") : fields[i];
                const struct value *now = value_get(event, key);

                if (is_same(value_get(old, key), now))
                        continue;
                if (value_is_object(now))
                        refuse_struct(errors, fields[i], now);
                else
                        field_error_add(errors, FIELD_INVALID, fields[i], now, "field is immutable");
        }
}

static void validate_new_event(struct arena *a, const struct write_request *req _unused_, const struct value *old,
                               const struct value *object, struct field_errors *errors,
                               struct str_list *warnings _unused_)
{
        object = in_core(a, object);
        old = in_core(a, old);
        check_event(errors, object, "reportingController");
        if (old)
                check_changes(errors, old, object);
        else
                check_new(errors, object);
}

const struct kind_strategy new_event_strategy = { .validate = validate_new_event };
