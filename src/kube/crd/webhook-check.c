#include "webhook-check.h"

#include "kind.h"
#include "map.h"
#include "name.h"

#define URL_FORMAT "; desired format: https://host[/path]"

static const struct value *field_of(const struct value *object, const char *key)
{
        return value_get(object, str_from(key));
}

static void add_invalid(struct field_errors *errors, struct str field, struct str value, const char *text)
{
        struct value shown = value_of_str(value);

        field_error_add(errors, FIELD_INVALID, field, &shown, "%s", text);
}

/* --- The URL of a webhook --- */

struct url {
        struct str scheme, user, host, query, fragment;
};

static bool is_scheme(struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                char c = s.p[i];
                bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

                if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
                        return false;
        }
        return s.n > 0;
}

/* The text begins with something that only a scheme may be. */
static bool has_colon_in_first_segment(struct str path)
{
        struct str segment;

        str_split(&path, '/', &segment);
        return str_find(segment, STR(":")) >= 0;
}

/* Splits a URL into the parts that the rules check. Returns Go's words if the text is no URL, or NULL. */
static const char *split_url(struct arena *a, struct str text, struct url *ret)
{
        struct str rest = text, authority, head;

        *ret = (struct url) { 0 };
        if (rest.n > 0 && rest.p[0] == ':')
                return "missing protocol scheme";
        if (str_split(&rest, '#', &head))
                ret->fragment = rest;
        rest = head;
        if (str_split(&rest, '?', &head))
                ret->query = rest;
        rest = head;
        if (str_split(&rest, ':', &ret->scheme) && is_scheme(ret->scheme)) {
                ret->scheme = kind_lower(a, ret->scheme);
        } else {
                ret->scheme = STR("");
                rest = head;
                if (has_colon_in_first_segment(rest))
                        return "first path segment in URL cannot contain colon";
        }
        if (!str_cut_prefix(&rest, STR("//")))
                return NULL;
        str_split(&rest, '/', &authority);
        ret->host = authority;
        for (size_t i = authority.n; i > 0; i--) {
                if (authority.p[i - 1] == '@') {
                        ret->user = str_first(authority, i - 1);
                        ret->host = str_skip(authority, i);
                        break;
                }
        }
        return NULL;
}

static void check_url(struct field_errors *errors, struct str field, struct str text)
{
        struct url url;
        const char *why = split_url(errors->arena, text, &url);

        if (why) {
                field_error_add(errors, FIELD_REQUIRED, field, NULL, "url must be a valid URL: parse \"%.*s\": %s%s",
                                STR_ARG(text), why, URL_FORMAT);
                return;
        }
        if (!str_equal(url.scheme, STR("https")))
                add_invalid(errors, field, url.scheme, "'https' is the only allowed URL scheme" URL_FORMAT);
        if (str_is_empty(url.host))
                add_invalid(errors, field, url.host, "host must be specified" URL_FORMAT);
        if (!str_is_empty(url.user))
                add_invalid(errors, field, url.user, "user information is not permitted in the URL");
        if (!str_is_empty(url.fragment))
                add_invalid(errors, field, url.fragment, "fragments are not permitted in the URL");
        if (!str_is_empty(url.query))
                add_invalid(errors, field, url.query, "query parameters are not permitted in the URL");
}

/* --- The service of a webhook --- */

static void check_segments(struct field_errors *errors, struct str field, struct str path)
{
        struct str rest, segment, texts[4];
        struct value shown = value_of_str(path);
        bool goes_on;

        rest = str_skip(path, 1); /* the first character is not checked */
        for (size_t i = 0;; i++) {
                goes_on = str_split(&rest, '/', &segment);
                if (str_is_empty(segment) && !goes_on && i > 0)
                        return; /* one slash at the end is allowed */
                if (str_is_empty(segment))
                        field_error_add(errors, FIELD_INVALID, field, &shown, "segment[%zu] may not be empty", i);
                else if (name_check_subdomain(errors->arena, segment, false, texts) > 0)
                        field_error_add(errors, FIELD_INVALID, field, &shown, "segment[%zu]: %.*s", i,
                                        STR_ARG(texts[0]));
                if (!goes_on)
                        return;
        }
}

static void check_path(struct field_errors *errors, struct str field, struct str path)
{
        if (str_is_empty(path) || str_equal(path, STR("/")))
                return;
        if (path.p[0] != '/')
                add_invalid(errors, field, path, "must start with a '/'");
        check_segments(errors, field, path);
}

static void check_service(struct field_errors *errors, struct str field, const struct value *service)
{
        const struct value *port = field_of(service, "port");

        if (str_is_empty(value_str(field_of(service, "name"))))
                field_error_add(errors, FIELD_REQUIRED, field_below(errors, field, "name"), NULL, "%s", "");
        if (str_is_empty(value_str(field_of(service, "namespace"))))
                field_error_add(errors, FIELD_REQUIRED, field_below(errors, field, "namespace"), NULL, "%s", "");
        if (value_is_int(port) && (port->integer < 1 || port->integer > 65535))
                field_error_add(errors, FIELD_INVALID, field_below(errors, field, "port"), port,
                                "port is not valid: must be between 1 and 65535, inclusive");
        check_path(errors, field_below(errors, field, "path"), value_str(field_of(service, "path")));
}

/* --- Both --- */

void webhook_check_client(struct field_errors *errors, struct str field, const struct value *client)
{
        const struct value *url = field_of(client, "url"), *service = field_of(client, "service");

        if (value_is_string(url) == value_is_object(service))
                field_error_add(errors, FIELD_REQUIRED, field, NULL, "exactly one of url or service is required");
        else if (value_is_string(url))
                check_url(errors, field_below(errors, field, "url"), value_str(url));
        else
                check_service(errors, field_below(errors, field, "service"), service);
}

void webhook_check_versions(struct field_errors *errors, struct str field, const struct value *list,
                            const char *none_text)
{
        _cleanup_map_ struct map seen = { 0 };
        size_t n = value_count(list);

        if (n == 0) {
                field_error_add(errors, FIELD_REQUIRED, field, NULL, "%s", none_text);
                return;
        }
        for (size_t i = 0; i < n; i++) {
                const struct value *v = value_item(list, i);
                struct str item = field_item(errors, field, i), texts[4];
                size_t n_texts = name_check_label_1035(errors->arena, value_str(v), false, texts);
                bool is_new = map_add(&seen, value_str(v), &seen);

                if (!is_new)
                        field_error_add(errors, FIELD_INVALID, item, v, "duplicate version");
                for (size_t j = 0; is_new && j < n_texts; j++)
                        field_error_add(errors, FIELD_INVALID, item, v, "%.*s", STR_ARG(texts[j]));
        }
        if (!map_has(&seen, STR("v1")) && !map_has(&seen, STR("v1beta1")))
                field_error_add(errors, FIELD_INVALID, field, list, "must include at least one of v1, v1beta1");
}
