/* Secrets and ConfigMaps: maps of data that the API completes and that may be immutable (docs/spec/apiserver 2.3). */
#include "builtin-strategies.h"

#include "base64.h"
#include "buf.h"
#include "gotext.h"
#include "json.h"
#include "name.h"

#define MAX_DATA_BYTES (1u << 20)
#define IMMUTABLE_TEXT "field is immutable when `immutable` is set"

static struct value encoded(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        base64_encode(&b, text, BASE64_STD);
        return value_of_str(buf_to_arena(&b, a));
}

/* The object without the map if the map is empty: empty maps are not stored. */
static const struct value *without_empty(struct arena *a, const struct value *object, struct str map)
{
        return value_count(value_get(object, map)) > 0 ? object : value_without(a, object, map);
}

/* stringData becomes part of data as soon as the object is decoded. */
static const struct value *complete_secret(struct arena *a, const struct value *object)
{
        const struct value *texts = value_get(object, STR("stringData")), *data = value_get(object, STR("data"));
        struct object_builder b;

        if (!texts)
                return object;
        object_builder_init(&b, a, value_count(data) + value_count(texts));
        VALUE_FOREACH_MEMBER (m, data)
                object_builder_add(&b, m->key, m->value);
        VALUE_FOREACH_MEMBER (m, texts)
                object_builder_set(&b, m->key, encoded(a, value_str(&m->value)));
        object = value_with(a, object, STR("data"), value_put(a, object_builder_finish(&b)));
        return without_empty(a, value_without(a, object, STR("stringData")), STR("data"));
}

static const struct value *prepare_secret(struct arena *a, const struct write_request *req _unused_,
                                          const struct value *old _unused_, const struct value *object)
{
        if (str_is_empty(value_str(value_get(object, STR("type")))))
                object = value_with(a, object, STR("type"), value_put(a, value_of_literal("Opaque")));
        return without_empty(a, object, STR("data"));
}

static void check_key(struct field_errors *errors, struct str map, struct str key)
{
        struct value v = value_of_str(key);
        struct str texts[4];
        size_t n = name_check_config_key(errors->arena, key, texts);
        struct str field = arena_printf(errors->arena, "%.*s[%.*s]", STR_ARG(map), STR_ARG(key));

        for (size_t i = 0; i < n; i++)
                field_error_add(errors, FIELD_INVALID, field, &v, "%.*s", STR_ARG(texts[i]));
}

/* Checks the keys in a map of a Secret or ConfigMap, and adds the bytes of all values to *total. */
static void check_map(struct field_errors *errors, const struct value *object, struct str map, bool is_base64,
                      size_t *total)
{
        VALUE_FOREACH_MEMBER (m, value_get(object, map)) {
                struct str text = value_str(&m->value);
                _cleanup_buf_ struct buf bytes = BUF_INIT(0);
                _cleanup_err_ struct err err = { 0 };

                check_key(errors, map, m->key);
                if (is_base64 && base64_decode(&bytes, text, BASE64_STD, &err) < 0)
                        field_error_add(errors, FIELD_INVALID,
                                        arena_printf(errors->arena, "%.*s[%.*s]", STR_ARG(map), STR_ARG(m->key)),
                                        &value_empty_string, "%s", err_message(&err));
                *total += is_base64 ? bytes.n : text.n;
        }
}

/* Once `immutable` is set, neither it nor the maps may change. */
static void check_immutable(struct field_errors *errors, const struct value *old, const struct value *object,
                            const struct str *maps, size_t n)
{
        if (!value_bool(value_get(old, STR("immutable")), false))
                return;
        if (!value_bool(value_get(object, STR("immutable")), false))
                field_error_add(errors, FIELD_FORBIDDEN, STR("immutable"), NULL, IMMUTABLE_TEXT);
        for (size_t i = 0; i < n; i++) {
                const struct value *before = value_get(old, maps[i]), *now = value_get(object, maps[i]);

                if (value_count(before) == 0 && value_count(now) == 0)
                        continue;
                if (!before || !now || !value_equal(before, now))
                        field_error_add(errors, FIELD_FORBIDDEN, maps[i], NULL, IMMUTABLE_TEXT);
        }
}

static void require_data(struct field_errors *errors, const struct value *object, struct str key)
{
        if (!value_find(object, "data") || !value_get(value_get(object, STR("data")), key))
                field_error_add(errors, FIELD_REQUIRED, arena_printf(errors->arena, "data[%.*s]", STR_ARG(key)), NULL,
                                "%s", "");
}

static void check_docker_config(struct field_errors *errors, const struct value *object, struct str key)
{
        const struct value *encoded_config = value_get(value_get(object, STR("data")), key), *config;
        struct value redacted = value_of_literal("<secret contents redacted>");
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        require_data(errors, object, key);
        if (!encoded_config || base64_decode(&bytes, value_str(encoded_config), BASE64_STD, NULL) < 0)
                return;
        if (json_parse(errors->arena, buf_str(&bytes), NULL, &config, &err) == 0 && !value_is_object(config) &&
            !value_is_null(config))
                err_set(&err, ERR_INVALID, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                        go_json_type(config));
        if (err.code < 0)
                field_error_add(errors, FIELD_INVALID, arena_printf(errors->arena, "data[%.*s]", STR_ARG(key)),
                                &redacted, "%s", err_message(&err));
}

static void check_secret_type(struct field_errors *errors, const struct value *object)
{
        struct str type = value_str(value_get(object, STR("type")));
        const struct value *data = value_get(object, STR("data"));

        if (!str_cut_prefix(&type, STR("kubernetes.io/")))
                return;
        if (str_equal(type, STR("tls"))) {
                require_data(errors, object, STR("tls.crt"));
                require_data(errors, object, STR("tls.key"));
        } else if (str_equal(type, STR("ssh-auth"))) {
                require_data(errors, object, STR("ssh-privatekey"));
        } else if (str_equal(type, STR("basic-auth"))) {
                if (!value_get(data, STR("username")) && !value_get(data, STR("password"))) {
                        require_data(errors, object, STR("username"));
                        require_data(errors, object, STR("password"));
                }
        } else if (str_equal(type, STR("dockercfg"))) {
                check_docker_config(errors, object, STR(".dockercfg"));
        } else if (str_equal(type, STR("dockerconfigjson"))) {
                check_docker_config(errors, object, STR(".dockerconfigjson"));
        } else if (str_equal(type, STR("service-account-token"))) {
                if (str_is_empty(meta_annotation(object, STR("kubernetes.io/service-account.name"))))
                        field_error_add(errors, FIELD_REQUIRED,
                                        STR("metadata.annotations[kubernetes.io/service-account.name]"), NULL, "%s",
                                        "");
        }
}

static void validate_secret(struct arena *a _unused_, const struct write_request *req _unused_, const struct value *old,
                            const struct value *object, struct field_errors *errors, struct str_list *warnings _unused_)
{
        static const struct str maps[] = { STR_INIT("data") };
        const struct value *type = value_get(object, STR("type"));
        size_t total = 0;

        if (old && !str_equal(value_str(type), value_str(value_get(old, STR("type")))))
                field_error_add(errors, FIELD_INVALID, STR("type"), type, "field is immutable");
        if (old)
                check_immutable(errors, old, object, maps, ARRAY_SIZE(maps));
        check_map(errors, object, STR("data"), true, &total);
        if (total > MAX_DATA_BYTES)
                field_error_add(errors, FIELD_TOO_LONG, STR("data"), NULL, "may not be more than %u bytes",
                                MAX_DATA_BYTES);
        check_secret_type(errors, object);
}

const struct kind_strategy secret_strategy = {
        .complete = complete_secret,
        .prepare = prepare_secret,
        .validate = validate_secret,
};

static void validate_config_map(struct arena *a _unused_, const struct write_request *req _unused_,
                                const struct value *old, const struct value *object, struct field_errors *errors,
                                struct str_list *warnings _unused_)
{
        static const struct str maps[] = { STR_INIT("data"), STR_INIT("binaryData") };
        size_t total = 0;

        if (old)
                check_immutable(errors, old, object, maps, ARRAY_SIZE(maps));
        check_map(errors, object, STR("data"), false, &total);
        VALUE_FOREACH_MEMBER (m, value_get(object, STR("binaryData"))) {
                struct value key = value_of_str(m->key);

                if (value_get(value_get(object, STR("data")), m->key))
                        field_error_add(errors, FIELD_INVALID,
                                        arena_printf(errors->arena, "data[%.*s]", STR_ARG(m->key)), &key,
                                        "duplicate of key present in binaryData");
        }
        check_map(errors, object, STR("binaryData"), true, &total);
        if (total > MAX_DATA_BYTES)
                field_error_add(errors, FIELD_TOO_LONG, STR("[]"), NULL, "may not be more than %u bytes",
                                MAX_DATA_BYTES);
}

static const struct value *prepare_config_map(struct arena *a, const struct write_request *req _unused_,
                                              const struct value *old _unused_, const struct value *object)
{
        return without_empty(a, without_empty(a, object, STR("data")), STR("binaryData"));
}

const struct kind_strategy config_map_strategy = {
        .prepare = prepare_config_map,
        .validate = validate_config_map,
};
