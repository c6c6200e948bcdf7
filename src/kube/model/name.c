#include "name.h"

#include "ascii.h"
#include "buf.h"
#include "digest.h"
#include "random.h"

#define MAX_LABEL     63
#define MAX_SUBDOMAIN 253

static const char subdomain_text[] =
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
static const char label_text[] =
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
static const char label_1035_text[] =
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
        "is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?')";
#define QUALIFIED_TEXT                                                                                           \
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " \
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                  \
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
static const char label_value_text[] =
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation "
        "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
static const char config_key_text[] = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
                                      "(e.g. 'key.name',  or 'KEY_NAME',  "
                                      "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

static bool is_lower(char c)
{
        return c >= 'a' && c <= 'z';
}

static bool is_lower_alnum(char c)
{
        return is_lower(c) || ascii_is_digit(c);
}

static bool is_alnum(char c)
{
        return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_dns_label(struct str s)
{
        if (s.n == 0 || !is_lower_alnum(s.p[0]) || !is_lower_alnum(s.p[s.n - 1]))
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (!is_lower_alnum(s.p[i]) && s.p[i] != '-')
                        return false;
        return true;
}

static bool is_dns_subdomain(struct str s)
{
        struct str label;
        bool goes_on;

        do {
                goes_on = str_split(&s, '.', &label);
                if (!is_dns_label(label))
                        return false;
        } while (goes_on);
        return true;
}

/* Checks the characters of a label value, or of a label key after its prefix. */
static bool is_qualified(struct str s)
{
        if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
                return false;
        for (size_t i = 0; i < s.n; i++)
                if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
                        return false;
        return true;
}

/* The name that upstream checks instead of a prefix: an `a` replaces the last dash and the character before it. */
static struct str masked(struct arena *a, struct str name, bool as_prefix)
{
        if (!as_prefix || name.n < 2 || name.p[name.n - 1] != '-')
                return name;
        return arena_printf(a, "%.*sa", STR_ARG(str_first(name, name.n - 2)));
}

static size_t add_too_long(struct arena *a, struct str *texts, struct str name, size_t max, const char *unit)
{
        if (name.n <= max)
                return 0;
        texts[0] = arena_printf(a, "must be no more than %zu %s", max, unit);
        return 1;
}

size_t name_check_subdomain(struct arena *a, struct str name, bool as_prefix, struct str *texts)
{
        size_t n;

        name = masked(a, name, as_prefix);
        n = add_too_long(a, texts, name, MAX_SUBDOMAIN, "characters");
        if (!is_dns_subdomain(name))
                texts[n++] = str_from(subdomain_text);
        return n;
}

size_t name_check_label(struct arena *a, struct str name, bool as_prefix, struct str *texts)
{
        size_t n;

        name = masked(a, name, as_prefix);
        n = add_too_long(a, texts, name, MAX_LABEL, "characters");
        if (!is_dns_label(name))
                texts[n++] = is_dns_subdomain(name) ? STR("must not contain dots") : str_from(label_text);
        return n;
}

size_t name_check_label_1035(struct arena *a, struct str name, bool as_prefix, struct str *texts)
{
        size_t n;

        name = masked(a, name, as_prefix);
        n = add_too_long(a, texts, name, MAX_LABEL, "characters");
        if (!is_dns_label(name) || !is_lower(name.p[0]))
                texts[n++] = str_from(label_1035_text);
        return n;
}

size_t name_check_path_segment(struct arena *a _unused_, struct str name, bool as_prefix, struct str *texts)
{
        size_t n = 0;

        if (!as_prefix && str_equal(name, STR(".")))
                texts[n++] = STR("may not be '.'");
        if (!as_prefix && str_equal(name, STR("..")))
                texts[n++] = STR("may not be '..'");
        if (str_find_char(name, '/') >= 0)
                texts[n++] = STR("may not contain '/'");
        if (str_find_char(name, '%') >= 0)
                texts[n++] = STR("may not contain '%'");
        return n;
}

static size_t check_prefix(struct arena *a, struct str prefix, struct str *texts)
{
        size_t n = 0;

        if (str_is_empty(prefix)) {
                texts[0] = STR("prefix part must be non-empty");
                return 1;
        }
        if (prefix.n > MAX_SUBDOMAIN)
                texts[n++] = arena_printf(a, "prefix part must be no more than %d bytes", MAX_SUBDOMAIN);
        if (!is_dns_subdomain(prefix))
                texts[n++] = arena_printf(a, "prefix part %s", subdomain_text);
        return n;
}

size_t name_check_qualified(struct arena *a, struct str name, struct str *texts)
{
        struct str rest = name, prefix;
        size_t n = 0;

        if (!str_split(&rest, '/', &prefix)) {
                rest = name;
        } else if (str_find_char(rest, '/') >= 0) {
                texts[0] = STR("a valid label key " QUALIFIED_TEXT
                               " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
                return 1;
        } else {
                n = check_prefix(a, prefix, texts);
        }
        if (str_is_empty(rest))
                texts[n++] = STR("name part must be non-empty");
        else if (rest.n > MAX_LABEL)
                texts[n++] = arena_printf(a, "name part must be no more than %d bytes", MAX_LABEL);
        if (!is_qualified(rest))
                texts[n++] = STR("name part " QUALIFIED_TEXT);
        return n;
}

size_t name_check_label_value(struct arena *a, struct str v, struct str *texts)
{
        size_t n = add_too_long(a, texts, v, MAX_LABEL, "bytes");

        if (v.n > 0 && !is_qualified(v))
                texts[n++] = str_from(label_value_text);
        return n;
}

static bool is_config_key(struct str key)
{
        for (size_t i = 0; i < key.n; i++)
                if (!is_alnum(key.p[i]) && key.p[i] != '-' && key.p[i] != '_' && key.p[i] != '.')
                        return false;
        return key.n > 0;
}

size_t name_check_config_key(struct arena *a, struct str key, struct str *texts)
{
        size_t n = add_too_long(a, texts, key, MAX_SUBDOMAIN, "characters");

        if (!is_config_key(key))
                texts[n++] = str_from(config_key_text);
        if (str_equal(key, STR(".")))
                texts[n++] = STR("must not be '.'");
        else if (str_equal(key, STR("..")))
                texts[n++] = STR("must not be '..'");
        else if (str_starts_with(key, STR("..")))
                texts[n++] = STR("must not start with '..'");
        return n;
}

#define GENERATED_PREFIX 58
#define GENERATED_SUFFIX 5

struct str name_generate(struct arena *a, struct str prefix)
{
        static const char letters[27] = "bcdfghjklmnpqrstvwxz2456789";
        struct random r;
        size_t n = MIN(prefix.n, (size_t)GENERATED_PREFIX);
        char *p = arena_alloc(a, n + GENERATED_SUFFIX);

        random_seed(&r, random_id_u64());
        if (n > 0)
                memcpy(p, prefix.p, n);
        for (size_t i = 0; i < GENERATED_SUFFIX; i++)
                p[n + i] = letters[random_below(&r, sizeof(letters))];
        return str_make(p, n + GENERATED_SUFFIX);
}

#define DETERMINISTIC_SUFFIX 12

struct str name_deterministic(struct arena *a, struct str prefix, struct str composite_uid, struct str resource_name)
{
        _cleanup_buf_ struct buf input = BUF_INIT(0), name = BUF_INIT(0), hex = BUF_INIT(0);
        size_t room = MAX_LABEL - DETERMINISTIC_SUFFIX;

        buf_append_str(&input, composite_uid);
        buf_append_str(&input, resource_name);
        sha256_append_hex(&hex, buf_str(&input));
        buf_append_str(&name, prefix);
        if (name.n > 0 && name.p[name.n - 1] != '-')
                buf_append_char(&name, '-');
        if (name.n > room) {
                name.n = room;
                name.p[room - 1] = '-';
        }
        buf_append_str(&name, str_first(buf_str(&hex), DETERMINISTIC_SUFFIX));
        return buf_to_arena(&name, a);
}
