#include "event.h"

#include "buf.h"
#include "name.h"
#include "uuid.h"

static struct str event_name(struct arena *a, struct str name, struct instant now)
{
        uint64_t ns = (uint64_t)now.seconds * NS_PER_SECOND + (uint64_t)now.nanos;
        struct str made = arena_printf(a, "%.*s.%llx", STR_ARG(name), (unsigned long long)ns), texts[4];
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (name_check_subdomain(a, made, false, texts) == 0)
                return made;
        uuid_append(&b, uuid_v4());
        return buf_to_arena(&b, a);
}

static struct value time_value(struct arena *a, struct instant t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, t, 0);
        return value_of_str(buf_to_arena(&b, a));
}

static void add_str(struct object_builder *b, struct str key, struct str v)
{
        if (!str_is_empty(v))
                object_builder_add(b, key, value_of_str(v));
}

static struct value reference(struct arena *a, const struct value *regarding)
{
        struct object_builder b;

        object_builder_init(&b, a, 6);
        add_str(&b, STR("apiVersion"), value_str(value_get(regarding, STR("apiVersion"))));
        add_str(&b, STR("kind"), value_str(value_get(regarding, STR("kind"))));
        add_str(&b, STR("name"), meta_name(regarding));
        add_str(&b, STR("namespace"), meta_namespace(regarding));
        add_str(&b, STR("resourceVersion"), meta_resource_version(regarding));
        add_str(&b, STR("uid"), meta_uid(regarding));
        return object_builder_finish(&b);
}

static struct value metadata(struct arena *a, const struct value *regarding, struct instant now)
{
        struct str ns = meta_namespace(regarding);
        struct object_builder b;

        object_builder_init(&b, a, 2);
        object_builder_add(&b, STR("name"), value_of_str(event_name(a, meta_name(regarding), now)));
        object_builder_add(&b, STR("namespace"), value_of_str(str_is_empty(ns) ? STR("default") : ns));
        return object_builder_finish(&b);
}

struct value event_make(struct arena *a, const struct value *regarding, enum event_type type, struct str reason,
                        struct str message, struct str component, struct instant now)
{
        struct value time = time_value(a, now);
        struct member source = { STR("component"), value_of_str(component) };
        struct object_builder b;

        object_builder_init(&b, a, 16);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("count"), value_of_int(1));
        object_builder_add(&b, STR("eventTime"), value_of_null());
        object_builder_add(&b, STR("firstTimestamp"), time);
        object_builder_add(&b, STR("involvedObject"), reference(a, regarding));
        object_builder_add(&b, STR("kind"), value_of_literal("Event"));
        object_builder_add(&b, STR("lastTimestamp"), time);
        add_str(&b, STR("message"), message);
        object_builder_add(&b, STR("metadata"), metadata(a, regarding, now));
        add_str(&b, STR("reason"), reason);
        object_builder_add(&b, STR("reportingComponent"), value_of_str(component));
        object_builder_add(&b, STR("reportingInstance"), value_empty_string);
        object_builder_add(&b, STR("source"), value_of_members(a, &source, 1, true));
        object_builder_add(&b, STR("type"),
                           type == EVENT_NORMAL ? value_of_literal("Normal") : value_of_literal("Warning"));
        return object_builder_finish(&b);
}
