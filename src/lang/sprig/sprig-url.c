/* URLs, as Go's net/url reads and writes them. */
#include "sprig.h"

#include "gotext.h"

/* The parts of a URL. They differ in the characters that need no escape. */
enum part {
        PART_PATH,
        PART_USER,
        PART_HOST,
        PART_FRAGMENT,
};

struct url {
        struct str scheme, opaque, user, password, host, path, query, fragment;
        bool has_user, has_password;
};

/* --- Characters --- */

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
        if (is_digit(c))
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_one_of(char c, const char *set)
{
        return c && strchr(set, c);
}

/* True if the byte is written without an escape. */
static bool stands_for_itself(char c, enum part part)
{
        if (is_letter(c) || is_digit(c) || is_one_of(c, "-_.~"))
                return true;
        switch (part) {
        case PART_PATH:
                return is_one_of(c, "$&+,/:;=@");
        case PART_USER:
                return is_one_of(c, "$&+,;=");
        case PART_HOST:
                return is_one_of(c, "!$&'()*+,;=:[]<>\"");
        case PART_FRAGMENT:
                return is_one_of(c, "$&+,/:;=?@!()*");
        }
        return false;
}

static void append_escaped(struct buf *b, struct str s, enum part part)
{
        static const char hex[] = "0123456789ABCDEF";

        for (size_t i = 0; i < s.n && !b->has_failed; i++) {
                unsigned char c = (unsigned char)s.p[i];

                if (stands_for_itself((char)c, part)) {
                        buf_append_char(b, (char)c);
                        continue;
                }
                buf_append_char(b, '%');
                buf_append_char(b, hex[c >> 4]);
                buf_append_char(b, hex[c & 15]);
        }
}

/* --- Reading --- */

struct reader {
        struct gt_context *c;
        struct str text;  /* the whole, for errors */
        const char *what; /* the part that is being read, for errors */
};

/* `unable to parse url: parse TEXT: REASON` */
static int fail(const struct reader *r, const char *format, ...) _printf_(2, 3);

static int fail(const struct reader *r, const char *format, ...)
{
        struct str what;
        va_list arguments;

        va_start(arguments, format);
        what = arena_vprintf(r->c->arena, format, arguments);
        va_end(arguments);
        return gt_fail(r->c, "unable to parse %s: parse %.*s: %.*s", r->what, STR_ARG(go_quote(r->c->arena, r->text)),
                       STR_ARG(what));
}

static int check_host_escape(const struct reader *r, struct str s, size_t i)
{
        int high = hex_value(s.p[i + 1]);

        /* Only bytes beyond ASCII are escaped in a host, and %25 before a zone. */
        if (high < 8 && !str_equal(str_first(str_skip(s, i), 3), STR("%25")))
                return fail(r, "invalid URL escape %.*s", STR_ARG(go_quote(r->c->arena, str_first(str_skip(s, i), 3))));
        return 0;
}

static int unescape(const struct reader *r, struct str s, enum part part, struct str *ret)
{
        char *out = arena_alloc(r->c->arena, s.n + 1);
        size_t n = 0;
        int e;

        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] != '%') {
                        if (part == PART_HOST && (unsigned char)s.p[i] < 0x80 && !stands_for_itself(s.p[i], part))
                                return fail(r, "invalid character %.*s in host name",
                                            STR_ARG(go_quote(r->c->arena, str_first(str_skip(s, i), 1))));
                        out[n++] = s.p[i];
                        continue;
                }
                if (i + 2 >= s.n || hex_value(s.p[i + 1]) < 0 || hex_value(s.p[i + 2]) < 0)
                        return fail(r, "invalid URL escape %.*s",
                                    STR_ARG(go_quote(r->c->arena, str_first(str_skip(s, i), 3))));
                e = part == PART_HOST ? check_host_escape(r, s, i) : 0;
                if (e < 0)
                        return e;
                out[n++] = (char)(hex_value(s.p[i + 1]) << 4 | hex_value(s.p[i + 2]));
                i += 2;
        }
        *ret = str_make(out, n);
        return 0;
}

/* Removes the scheme and its colon from the front. */
static int take_scheme(const struct reader *r, struct str *s, struct str *ret)
{
        for (size_t i = 0; i < s->n; i++) {
                char c = s->p[i];

                if (is_letter(c) || (i > 0 && (is_digit(c) || is_one_of(c, "+-."))))
                        continue;
                if (c != ':')
                        return 0;
                if (i == 0)
                        return fail(r, "missing protocol scheme");
                *ret = str_first(*s, i);
                *s = str_skip(*s, i + 1);
                return 0;
        }
        return 0;
}

static bool is_port(struct str s)
{
        if (s.n == 0)
                return true;
        if (s.p[0] != ':')
                return false;
        for (size_t i = 1; i < s.n; i++)
                if (!is_digit(s.p[i]))
                        return false;
        return true;
}

static int read_host(const struct reader *r, struct str host, struct str *ret)
{
        struct str port;

        if (str_starts_with(host, STR("["))) {
                ptrdiff_t end = str_find_last_char(host, ']');

                if (end < 0)
                        return fail(r, "missing ']' in host");
                port = str_skip(host, (size_t)end + 1);
        } else {
                ptrdiff_t colon = str_find_last_char(host, ':');

                port = colon < 0 ? STR("") : str_skip(host, (size_t)colon);
        }
        if (!is_port(port))
                return fail(r, "invalid port %.*s after host", STR_ARG(go_quote(r->c->arena, port)));
        return unescape(r, host, PART_HOST, ret);
}

static bool is_user_info(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!is_letter(s.p[i]) && !is_digit(s.p[i]) && !is_one_of(s.p[i], "-._:~!$&'()*+,;=%@"))
                        return false;
        return true;
}

static int read_authority(const struct reader *r, struct str authority, struct url *u)
{
        ptrdiff_t at = str_find_last_char(authority, '@');
        struct str info, name;
        int e = read_host(r, str_skip(authority, (size_t)(at + 1)), &u->host);

        if (e < 0 || at < 0)
                return e;
        info = str_first(authority, (size_t)at);
        if (!is_user_info(info))
                return fail(r, "net/url: invalid userinfo");
        u->has_user = true;
        u->has_password = str_split(&info, ':', &name);
        e = unescape(r, name, PART_USER, &u->user);
        return e < 0 || !u->has_password ? e : unescape(r, info, PART_USER, &u->password);
}

static struct str lower(struct gt_context *c, struct str s)
{
        char *out = arena_alloc(c->arena, s.n + 1);

        for (size_t i = 0; i < s.n; i++)
                out[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]);
        return str_make(out, s.n);
}

static int check_first_segment(const struct reader *r, struct str path)
{
        struct str segment;

        str_split(&path, '/', &segment);
        return str_find_char(segment, ':') >= 0 ? fail(r, "first path segment in URL cannot contain colon") : 0;
}

static int read_url(const struct reader *r, struct str s, struct url *u)
{
        struct str rest;
        int e;

        for (size_t i = 0; i < s.n; i++)
                if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7F)
                        return fail(r, "net/url: invalid control character in URL");
        e = take_scheme(r, &s, &u->scheme);
        if (e < 0)
                return e;
        u->scheme = lower(r->c, u->scheme);
        str_split(&s, '?', &rest);
        u->query = s;
        if (!str_starts_with(rest, STR("/"))) {
                if (u->scheme.n) {
                        u->opaque = rest;
                        return 0;
                }
                e = check_first_segment(r, rest);
                if (e < 0)
                        return e;
        }
        if ((u->scheme.n || !str_starts_with(rest, STR("///"))) && str_cut_prefix(&rest, STR("//"))) {
                ptrdiff_t slash = str_find_char(rest, '/');
                struct str authority = slash < 0 ? rest : str_first(rest, (size_t)slash);

                rest = str_skip(rest, authority.n);
                e = read_authority(r, authority, u);
                if (e < 0)
                        return e;
        }
        return unescape(r, rest, PART_PATH, &u->path);
}

static int parse_url(struct gt_context *c, const char *what, struct str text, struct url *ret)
{
        struct reader r = { .c = c, .text = text, .what = what };
        struct str fragment = text, rest;
        int e;

        *ret = (struct url) { 0 };
        str_split(&fragment, '#', &rest);
        r.text = rest;
        e = read_url(&r, rest, ret);
        r.text = text;
        return e < 0 ? e : unescape(&r, fragment, PART_FRAGMENT, &ret->fragment);
}

static void append_user(struct buf *b, const struct url *u)
{
        append_escaped(b, u->user, PART_USER);
        if (u->has_password) {
                buf_append_char(b, ':');
                append_escaped(b, u->password, PART_USER);
        }
}

/* The host without the port, and without the brackets of an address. */
static struct str host_name(struct str host)
{
        ptrdiff_t colon = str_find_last_char(host, ':');

        if (colon >= 0 && is_port(str_skip(host, (size_t)colon)))
                host = str_first(host, (size_t)colon);
        if (str_starts_with(host, STR("[")) && str_ends_with(host, STR("]")))
                host = str_skip(str_first(host, host.n - 1), 1);
        return host;
}

SPRIG(url_parse)
{
        _cleanup_buf_ struct buf user = BUF_INIT(gt_max_text(c));
        struct gt_value info;
        struct url u;
        int r = parse_url(c, "url", gt_str(arguments[0]), &u);

        if (r < 0)
                return r;
        append_user(&user, &u);
        r = gt_take_text(c, &user, &info);
        if (r < 0)
                return r;
        *ret = gt_map_new(c, GT_MAP);
        gt_map_set(c, *ret, STR("scheme"), gt_boxed(gt_string(u.scheme)));
        gt_map_set(c, *ret, STR("host"), gt_boxed(gt_string(u.host)));
        gt_map_set(c, *ret, STR("hostname"), gt_boxed(gt_string(host_name(u.host))));
        gt_map_set(c, *ret, STR("path"), gt_boxed(gt_string(u.path)));
        gt_map_set(c, *ret, STR("query"), gt_boxed(gt_string(u.query)));
        gt_map_set(c, *ret, STR("opaque"), gt_boxed(gt_string(u.opaque)));
        gt_map_set(c, *ret, STR("fragment"), gt_boxed(gt_string(u.fragment)));
        gt_map_set(c, *ret, STR("userinfo"), gt_boxed(info));
        return 0;
}

/* --- Writing --- */

static void append_url(struct buf *b, const struct url *u)
{
        if (u->scheme.n) {
                buf_append_str(b, u->scheme);
                buf_append_char(b, ':');
        }
        if (u->opaque.n) {
                buf_append_str(b, u->opaque);
        } else {
                struct str path = u->path, segment;

                if (u->scheme.n || u->host.n || u->has_user) {
                        if (u->host.n || u->path.n || u->has_user)
                                buf_append_literal(b, "//");
                        if (u->has_user) {
                                append_user(b, u);
                                buf_append_char(b, '@');
                        }
                        append_escaped(b, u->host, PART_HOST);
                        if (u->path.n && u->path.p[0] != '/' && u->host.n)
                                buf_append_char(b, '/');
                }
                str_split(&path, '/', &segment);
                if (buf_str(b).n == 0 && str_find_char(segment, ':') >= 0)
                        buf_append_literal(b, "./");
                if (str_equal(u->path, STR("*")))
                        buf_append_char(b, '*');
                else
                        append_escaped(b, u->path, PART_PATH);
        }
        if (u->query.n) {
                buf_append_char(b, '?');
                buf_append_str(b, u->query);
        }
        if (u->fragment.n) {
                buf_append_char(b, '#');
                append_escaped(b, u->fragment, PART_FRAGMENT);
        }
}

/* A member of the map, "" if it is missing. Fails if it is not a text, where Go panics. */
static int member(struct gt_context *c, struct gt_value map, struct str key, struct str *ret)
{
        struct gt_value v;

        *ret = STR("");
        if (!gt_map_get(c, map, key, &v))
                return 0;
        if (v.type != GT_STRING)
                return gt_fail(c, "unable to parse %.*s key, must be of type string, but %.*s found", STR_ARG(key),
                               STR_ARG(gt_type_name(v)));
        *ret = gt_str(v);
        return 0;
}

SPRIG(url_join)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct url u = { 0 }, with_user;
        struct str user;
        const struct {
                struct str key;
                struct str *ret;
        } members[] = { { STR("scheme"), &u.scheme }, { STR("host"), &u.host },     { STR("path"), &u.path },
                        { STR("query"), &u.query },   { STR("opaque"), &u.opaque }, { STR("fragment"), &u.fragment },
                        { STR("userinfo"), &user } };
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(members) && r == 0; i++)
                r = member(c, arguments[0], members[i].key, members[i].ret);
        if (r == 0 && user.n) {
                r = parse_url(c, "userinfo in dict", ARENA_CONCAT(c->arena, STR("proto://"), user, STR("@host")),
                              &with_user);
                u.has_user = true;
                u.has_password = with_user.has_password;
                u.user = with_user.user;
                u.password = with_user.password;
        }
        if (r < 0)
                return r;
        append_url(&b, &u);
        return gt_take_text(c, &b, ret);
}

/* Always fails: templates must not depend on the answers of name servers. */
SPRIG(get_host_by_name)
{
        return gt_fail(c, "names of hosts are not looked up: give the address to the template as data");
}
