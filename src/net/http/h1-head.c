#include "h1-head.h"

size_t h1_head_end(struct str text)
{
        ptrdiff_t at = str_find(text, STR("\r\n\r\n"));

        return at < 0 ? 0 : (size_t)at + 4;
}

/* The next line without its CRLF; false when there is none. The caller must refuse a lone CR or LF inside the line. */
static bool next_line(struct str *rest, struct str *ret)
{
        ptrdiff_t at = str_find(*rest, STR("\r\n"));

        if (at < 0)
                return false;
        *ret = str_first(*rest, (size_t)at);
        *rest = str_skip(*rest, (size_t)at + 2);
        return true;
}

static struct str trim_blanks(struct str s)
{
        while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
                s = str_skip(s, 1);
        while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
                s.n--;
        return s;
}

static bool is_value(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
                        return false;
        return true;
}

static int add_field(struct http_fields *fields, struct arena *a, struct str line, struct err *err)
{
        ptrdiff_t colon = str_find_char(line, ':');
        char *name;
        struct str value;

        if (colon <= 0 || !http_is_token(str_first(line, (size_t)colon)))
                return err_set(err, ERR_INVALID, "malformed header line");
        value = trim_blanks(str_skip(line, (size_t)colon + 1));
        if (!is_value(value))
                return err_set(err, ERR_INVALID, "control character in header %.*s", (int)colon, line.p);
        name = arena_cstring(a, str_first(line, (size_t)colon));
        for (char *p = name; *p; p++)
                *p = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p;
        http_fields_add(fields, a, str_make(name, (size_t)colon), value);
        return 0;
}

int h1_parse_fields(struct str text, size_t max_bytes, struct arena *a, struct http_fields *ret, struct err *err)
{
        size_t bytes = 0;
        struct str line;

        while (next_line(&text, &line) && line.n > 0) {
                int r;

                bytes += line.n + 32;
                if (bytes > max_bytes)
                        return err_set(err, ERR_LIMIT, "the headers are larger than the limit of %zu bytes", max_bytes);
                r = add_field(ret, a, line, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Whether a comma-separated list contains the word, ignoring case. */
static bool list_has(struct str list, struct str word)
{
        bool is_more = true;

        while (is_more) {
                struct str item;

                is_more = str_split(&list, ',', &item);
                if (str_equal_ignore_case(trim_blanks(item), word))
                        return true;
        }
        return false;
}

static int parse_length(struct str text, uint64_t *ret, struct err *err)
{
        uint64_t n = 0;

        if (text.n == 0 || text.n > 19)
                return err_set(err, ERR_INVALID, "malformed content-length");
        for (size_t i = 0; i < text.n; i++) {
                if (text.p[i] < '0' || text.p[i] > '9')
                        return err_set(err, ERR_INVALID, "malformed content-length");
                n = n * 10 + (uint64_t)(text.p[i] - '0');
        }
        *ret = n;
        return 0;
}

static int read_framing(const struct http_fields *fields, bool is_http10, struct h1_framing *ret, struct err *err)
{
        struct h1_framing f = { .is_http10 = is_http10, .keeps_alive = !is_http10 };

        for (size_t i = 0; i < fields->n; i++) {
                struct str name = fields->p[i].name, value = fields->p[i].value;
                uint64_t length;

                if (str_equal(name, STR("content-length"))) {
                        if (parse_length(value, &length, err) < 0)
                                return ERR_INVALID;
                        if (f.has_length && f.length != length)
                                return err_set(err, ERR_INVALID, "two different content-lengths");
                        f.has_length = true;
                        f.length = length;
                } else if (str_equal(name, STR("transfer-encoding"))) {
                        if (!str_equal_ignore_case(value, STR("chunked")) || f.is_chunked || is_http10)
                                return err_set(err, ERR_UNSUPPORTED, "unknown transfer-encoding");
                        f.is_chunked = true;
                } else if (str_equal(name, STR("connection"))) {
                        if (list_has(value, STR("close")))
                                f.keeps_alive = false;
                        else if (is_http10 && list_has(value, STR("keep-alive")))
                                f.keeps_alive = true;
                } else if (str_equal(name, STR("expect"))) {
                        f.expects_continue = str_equal_ignore_case(value, STR("100-continue"));
                }
        }
        if (f.is_chunked && f.has_length)
                return err_set(err, ERR_INVALID, "both content-length and transfer-encoding");
        *ret = f;
        return 0;
}

/* `HTTP/1.1` or `HTTP/1.0`. */
static int parse_version(struct str text, bool *ret_is_http10, struct err *err)
{
        if (!str_equal(text, STR("HTTP/1.1")) && !str_equal(text, STR("HTTP/1.0")))
                return err_set(err, ERR_UNSUPPORTED, "unknown HTTP version");
        *ret_is_http10 = text.p[7] == '0';
        return 0;
}

static bool is_target(struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
                        return false;
        return s.n > 0;
}

/* Handles `http://host/path`, the form for proxies: the server uses only the path, and the host replaces the Host header. */
static void split_absolute(struct http_head *head, struct arena *a)
{
        struct str rest = head->path;
        ptrdiff_t slash;

        if (!str_cut_prefix(&rest, STR("http://")) && !str_cut_prefix(&rest, STR("https://")))
                return;
        slash = str_find_char(rest, '/');
        head->authority = arena_copy(a, slash < 0 ? rest : str_first(rest, (size_t)slash));
        head->path = slash < 0 ? STR("/") : str_skip(rest, (size_t)slash);
}

int h1_parse_request(struct str text, size_t max_bytes, struct arena *a, struct http_head *ret,
                     struct h1_framing *ret_framing, struct err *err)
{
        struct http_head head = { 0 };
        struct str line, method, target;
        bool is_http10, is_alone = true;
        int r;

        if (!next_line(&text, &line) || !str_split(&line, ' ', &method) || !str_split(&line, ' ', &target) ||
            !http_is_token(method) || !is_target(target))
                return err_set(err, ERR_INVALID, "malformed request line");
        r = parse_version(line, &is_http10, err);
        if (r >= 0)
                r = h1_parse_fields(text, max_bytes, a, &head.fields, err);
        if (r >= 0)
                r = read_framing(&head.fields, is_http10, ret_framing, err);
        if (r < 0)
                return r;
        head.method = arena_copy(a, method);
        head.path = arena_copy(a, target);
        head.authority = http_fields_get(&head.fields, STR("host"));
        for (size_t i = 0, n = 0; i < head.fields.n; i++)
                if (str_equal(head.fields.p[i].name, STR("host")) && ++n > 1)
                        is_alone = false;
        if ((!head.authority.p && !is_http10) || !is_alone)
                return err_set(err, ERR_INVALID, "a request has exactly one host header");
        split_absolute(&head, a);
        *ret = head;
        return 0;
}

int h1_parse_response(struct str text, size_t max_bytes, struct arena *a, struct http_head *ret,
                      struct h1_framing *ret_framing, struct err *err)
{
        struct http_head head = { 0 };
        struct str line, version;
        bool is_http10;
        int r;

        if (!next_line(&text, &line) || !str_split(&line, ' ', &version) || line.n < 3)
                return err_set(err, ERR_INVALID, "malformed status line");
        for (int i = 0; i < 3; i++) {
                if (line.p[i] < '0' || line.p[i] > '9')
                        return err_set(err, ERR_INVALID, "malformed status line");
                head.status = head.status * 10 + (line.p[i] - '0');
        }
        if (head.status < 100 || (line.n > 3 && line.p[3] != ' '))
                return err_set(err, ERR_INVALID, "malformed status line");
        r = parse_version(version, &is_http10, err);
        if (r >= 0)
                r = h1_parse_fields(text, max_bytes, a, &head.fields, err);
        if (r >= 0)
                r = read_framing(&head.fields, is_http10, ret_framing, err);
        if (r < 0)
                return r;
        *ret = head;
        return 0;
}

int h1_parse_chunk_size(struct str line, uint64_t *ret, struct err *err)
{
        uint64_t size = 0;
        size_t i = 0;

        for (; i < line.n && i < 16; i++) {
                char c = line.p[i] | 0x20;
                int digit = line.p[i] >= '0' && line.p[i] <= '9' ? line.p[i] - '0'
                            : c >= 'a' && c <= 'f'               ? c - 'a' + 10
                                                                 : -1;

                if (digit < 0)
                        break;
                if (size >> 59)
                        return err_set(err, ERR_INVALID, "malformed chunk size");
                size = size << 4 | (uint64_t)digit;
        }
        if (i == 0 || (i < line.n && line.p[i] != ';' && line.p[i] != ' ' && line.p[i] != '\t') || !is_value(line))
                return err_set(err, ERR_INVALID, "malformed chunk size");
        *ret = size;
        return 0;
}
