/* The API's words for a refusal. */
#include "access.h"

#include "buf.h"
#include "gotext.h"

/* The message must not look like HTML, so the API escapes these characters even in JSON. */
static void append_escaped(struct buf *b, struct str s)
{
        for (size_t i = 0; i < s.n; i++)
                switch (s.p[i]) {
                case '&':
                        buf_append_literal(b, "&amp;");
                        break;
                case '<':
                        buf_append_literal(b, "&lt;");
                        break;
                case '>':
                        buf_append_literal(b, "&gt;");
                        break;
                default:
                        buf_append_char(b, s.p[i]);
                }
}

static void append_quoted_resource(struct buf *b, const struct access_request *req)
{
        _cleanup_buf_ struct buf name = BUF_INIT(0);

        buf_append_str(&name, req->plural);
        if (req->subresource.n) {
                buf_append_char(&name, '/');
                buf_append_str(&name, req->subresource);
        }
        go_append_quoted(b, buf_str(&name));
}

static void append_message(struct buf *b, const struct user *user, const struct access_request *req)
{
        buf_append_literal(b, "User ");
        go_append_quoted(b, user->name);
        buf_appendf(b, " cannot %.*s ", STR_ARG(req->verb));
        if (req->path.n) {
                buf_append_literal(b, "path ");
                go_append_quoted(b, req->path);
                return;
        }
        buf_append_literal(b, "resource ");
        append_quoted_resource(b, req);
        buf_append_literal(b, " in API group ");
        go_append_quoted(b, req->gvk.group);
        if (req->ns.n == 0) {
                buf_append_literal(b, " at the cluster scope");
                return;
        }
        buf_append_literal(b, " in the namespace ");
        go_append_quoted(b, req->ns);
}

int access_forbidden_because(const struct user *user, const struct access_request *req, struct str reason,
                             struct err *err)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0), text = BUF_INIT(0);
        struct status_subject subject = { .group = req->gvk.group, .plural = req->plural, .name = req->name };

        append_message(&message, user, req);
        append_escaped(&text, buf_str(&message));
        if (reason.n)
                buf_appendf(&text, ": %.*s", STR_ARG(reason));
        if (req->path.n)
                subject = (struct status_subject) { 0 };
        return status_forbidden(err, &subject, "%.*s", STR_ARG(buf_str(&text)));
}

int access_forbidden(const struct user *user, const struct access_request *req, struct err *err)
{
        return access_forbidden_because(user, req, STR(""), err);
}
