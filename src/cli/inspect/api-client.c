#include "api-client.h"

#include "buf.h"
#include "bytes.h"
#include "data-directory.h"
#include "http-client.h"
#include "json.h"
#include "kubeconfig.h"
#include "limits.h"
#include "status.h"
#include "tls.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#define TIMEOUT_MS 60000
#define MOST_BYTES (256u << 20) /* of an answer */

struct api_client {
        struct arena arena;
        struct kubeconfig config;
        const char *path; /* of the kubeconfig */
        struct str ns;
        struct str prefix; /* the path of the server's URL, without a slash at its end */
        struct tls_config *tls;
        struct http_client *http;
        struct api_impersonation as;
};

/* --- Where it is --- */

static const char *in_directory(struct arena *a, const char *directory, const char *name)
{
        return arena_cstring(a, arena_printf(a, "%s/%s", directory, name));
}

/* The first of several files in $KUBECONFIG counts. */
static const char *from_environment(struct arena *a)
{
        const char *text = getenv("KUBECONFIG");
        struct str rest = str_from(text), first;

        str_split(&rest, ':', &first);
        return first.n ? arena_cstring(a, first) : NULL;
}

static int choose_config(struct arena *a, const struct settings *settings, const char **ret, struct err *err)
{
        struct str given = settings_str(settings, "kubeconfig"), data = settings_str(settings, "data");
        _cleanup_free_ char *usual = data_directory_default();
        const char *directory = data.n ? data.p : usual, *found = from_environment(a);

        if (given.n)
                found = given.p;
        else if (data.n || (!found && directory))
                found = in_directory(a, directory, "kubeconfig");
        if (!found)
                return err_set(err, ERR_INVALID, "give --kubeconfig FILE or --data DIR, or set KUBECONFIG");
        if (access(found, F_OK) < 0)
                return err_set_errno(err, errno,
                                     "cannot find a running weft; start `weft up`, or give --kubeconfig or --data: %s",
                                     found);
        *ret = found;
        return 0;
}

/* --- TLS --- */

/* A file in memory with this text, because TLS reads files; its name is written to `name`. */
static int memory_file(struct str text, char name[32], struct err *err)
{
        _cleanup_close_ int fd = memfd_create("weft", MFD_CLOEXEC);

        if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
                return err_set_errno(err, errno, "cannot make a file in memory");
        snprintf(name, 32, "/proc/self/fd/%d", fd);
        return TAKE_FD(fd);
}

static int open_tls(struct api_client *c, struct err *err)
{
        const struct kubeconfig *k = &c->config;
        const struct str texts[3] = { k->authority, k->certificate, k->key };
        int fds[3] = { -EBADF, -EBADF, -EBADF }, r = 0;
        char names[3][32];
        struct tls_options options = { .offers_http1 = true, .trusts_anyone = k->trusts_anyone };

        for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(texts); i++)
                if (texts[i].n)
                        r = fds[i] = memory_file(texts[i], names[i], err);
        if (r >= 0) {
                options.ca_file = fds[0] >= 0 ? names[0] : NULL;
                options.certificate_file = fds[1] >= 0 ? names[1] : NULL;
                options.key_file = fds[2] >= 0 ? names[2] : NULL;
                r = tls_config_new(&options, &c->tls, err);
        }
        for (size_t i = 0; r < 0 && i < ARRAY_SIZE(fds); i++)
                cleanup_closep(&fds[i]);
        return MIN(r, 0); /* the files stay open: each connection looks whether they changed */
}

/* --- Life --- */

/* `https://host:port` and the path behind it. */
static struct str split_server(struct str url, struct str *ret_path)
{
        ptrdiff_t scheme = str_find(url, STR("://"));
        struct str rest = str_skip(url, scheme < 0 ? 0 : (size_t)scheme + 3);
        ptrdiff_t slash = str_find_char(rest, '/');

        *ret_path = STR("");
        if (slash < 0)
                return url;
        *ret_path = str_skip(rest, (size_t)slash);
        while (str_cut_suffix(ret_path, STR("/")))
                ;
        return str_first(url, url.n - (rest.n - (size_t)slash));
}

static int connect_to(struct api_client *c, struct err *err)
{
        struct str target = split_server(c->config.server, &c->prefix);
        struct http_client_options options = { 0 };
        int r = 0;

        if (str_starts_with(target, STR("https://")))
                r = open_tls(c, err);
        options.tls = c->tls;
        if (c->config.tls_server_name.n)
                options.authority = arena_cstring(&c->arena, c->config.tls_server_name);
        return r < 0 ? r : http_client_new(target, &options, &c->http, err);
}

int api_client_new(const struct settings *settings, struct api_client **ret, struct err *err)
{
        struct api_client *c = xcalloc(1, sizeof(*c));
        int r;

        arena_init(&c->arena, "kubeconfig", 0);
        r = choose_config(&c->arena, settings, &c->path, err);
        if (r == 0)
                r = kubeconfig_read(&c->arena, c->path, settings_str(settings, "context"), &c->config, err);
        if (r == 0)
                r = connect_to(c, err);
        if (r < 0) {
                api_client_free(c);
                return r;
        }
        for (size_t i = 0; i < settings->n; i++)
                if (strcmp(settings->table[i].name, "namespace") == 0)
                        c->ns = settings_str(settings, "namespace");
        if (c->ns.n == 0)
                c->ns = c->config.ns.n ? c->config.ns : STR("default");
        *ret = c;
        return 0;
}

void api_client_free(struct api_client *c)
{
        if (!c)
                return;
        http_client_unref(c->http);
        tls_config_unref(c->tls);
        arena_done(&c->arena);
        free(c);
}

struct str api_client_namespace(const struct api_client *c)
{
        return c->ns;
}

/* --- Requests --- */

static void append_escaped(struct buf *b, struct str s)
{
        for (size_t i = 0; i < s.n; i++) {
                unsigned char u = (unsigned char)s.p[i];

                if ((u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u == '-' ||
                    u == '_' || u == '.' || u == '~')
                        buf_append_char(b, (char)u);
                else
                        buf_appendf(b, "%%%02X", u);
        }
}

static void append_target(struct buf *b, const struct api_client *c, const char *path,
                          const struct api_parameter *parameters, size_t n)
{
        char separator = '?';

        buf_appendf(b, "%.*s/weft/v1/%s", STR_ARG(c->prefix), path);
        for (size_t i = 0; i < n; i++) {
                if (parameters[i].value.n == 0)
                        continue;
                buf_append_char(b, separator);
                buf_append_str(b, parameters[i].name);
                buf_append_char(b, '=');
                append_escaped(b, parameters[i].value);
                separator = '&';
        }
}

/* The error of an answer that is not 200. */
static int refused(const struct api_client *c, struct arena *a, int status, struct str body, struct err *err)
{
        const struct value *v;

        if (status == 404 && str_starts_with(body, STR("404 page not found")))
                return err_set(err, ERR_UNSUPPORTED,
                               "the API at %.*s is not that of `weft up`: it has no runs to look into",
                               STR_ARG(c->config.server));
        if (json_parse(a, body, NULL, &v, NULL) == 0 && value_str(value_get(v, STR("message"))).n)
                return status_to_err(v, err);
        return err_set(err, ERR_FAILED, "the API at %.*s answered with status %d", STR_ARG(c->config.server), status);
}

static void add_impersonation(const struct api_client *c, struct arena *a, struct http_fields *fields)
{
        if (c->as.user.n)
                http_fields_add(fields, a, STR("impersonate-user"), c->as.user);
        if (c->as.uid.n)
                http_fields_add(fields, a, STR("impersonate-uid"), c->as.uid);
        for (size_t i = 0; i < c->as.n_groups; i++)
                http_fields_add(fields, a, STR("impersonate-group"), c->as.groups[i]);
}

static int send_request(struct api_client *c, struct arena *a, struct str method, struct str target, struct bytes *body,
                        struct http_response **ret, struct err *err)
{
        struct http_fields fields = { 0 };
        struct http_request request = { .method = method,
                                        .path = target,
                                        .fields = &fields,
                                        .body = body,
                                        .deadline = deadline_after_ms(TIMEOUT_MS) };
        int r;

        http_fields_add(&fields, a, STR("accept"), STR("application/json"));
        if (body)
                http_fields_add(&fields, a, STR("content-type"),
                                str_equal(method, STR("PATCH")) ? STR("application/merge-patch+json")
                                                                : STR("application/json"));
        add_impersonation(c, a, &fields);
        if (c->config.token.n)
                http_fields_add(&fields, a, STR("authorization"), ARENA_CONCAT(a, STR("Bearer "), c->config.token));
        r = http_client_open(c->http, &request, ret, err);
        return r < 0 ? err_wrap(err, "cannot reach the API of kubeconfig %s; is `weft up` running", c->path) : 0;
}

static int call(struct api_client *c, struct arena *a, struct str method, struct str target, struct bytes *sent,
                const struct value **ret, struct err *err)
{
        _cleanup_(http_response_freep)
        struct http_response *response = NULL;
        struct json_read_options options = { .max_bytes = MOST_BYTES };
        struct bytes *body;
        int r = send_request(c, a, method, target, sent, &response, err);

        if (r == 0)
                r = http_response_read_all(response, MOST_BYTES, deadline_after_ms(TIMEOUT_MS), NULL, &body, err);
        if (r < 0)
                return r;
        arena_pin(a, body, bytes_unpin);
        if (response->status != 200 && response->status != 201)
                return refused(c, a, response->status, body->str, err);
        r = json_parse(a, body->str, &options, ret, err);
        return r < 0 ? err_wrap(err, "cannot read the answer of the API") : 0;
}

int api_client_read(struct api_client *c, struct arena *a, const char *path, const struct api_parameter *parameters,
                    size_t n, const struct value **ret, struct err *err)
{
        _cleanup_buf_ struct buf target = BUF_INIT(0);

        append_target(&target, c, path, parameters, n);
        return call(c, a, STR("GET"), buf_str(&target), NULL, ret, err);
}

void api_client_impersonate(struct api_client *c, const struct api_impersonation *as)
{
        c->as = *as;
}

int api_client_call(struct api_client *c, struct arena *a, struct str method, struct str path, const struct value *body,
                    const struct value **ret, struct err *err)
{
        _cleanup_bytes_ struct bytes *bytes = NULL;
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r = body ? json_write(&text, body, 0, err) : 0;

        if (r < 0)
                return r;
        if (body)
                bytes = bytes_take(&text);
        return call(c, a, method, ARENA_CONCAT(a, c->prefix, path), bytes, ret, err);
}

/* --- Arguments --- */

int api_client_target(struct arguments arguments, bool is_optional, struct str *ret_type, struct str *ret_name,
                      size_t *ret_used, struct err *err)
{
        struct str first;

        if (arguments.n == 0)
                return err_set(err, ERR_INVALID, "give the type of an object%s",
                               is_optional ? ", and its name unless all are meant" : " and its name");
        first = str_from(arguments.p[0]);
        *ret_used = 1;
        *ret_name = STR("");
        if (str_split(&first, '/', ret_type)) {
                *ret_name = first;
                if (str_find_char(first, '/') >= 0 || first.n == 0 || ret_type->n == 0)
                        return err_set(err, ERR_INVALID,
                                       "invalid resource and name: \"%s\" must be TYPE[.VERSION][.GROUP][/NAME]",
                                       arguments.p[0]);
                return 0;
        }
        if (arguments.n > 1) {
                *ret_name = str_from(arguments.p[1]);
                *ret_used = 2;
        } else if (!is_optional) {
                return err_set(err, ERR_INVALID, "give the name of the %.*s", STR_ARG(*ret_type));
        }
        return 0;
}
