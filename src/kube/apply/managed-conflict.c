/* Conflicts as text and as causes, in upstream's words. */
#include "managed-update.h"

#include "buf.h"
#include "gotext.h"
#include "json.h"

static struct str who(struct arena *a, const struct field_manager *m)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        go_append_quoted(&b, m->name);
        if (!str_is_empty(m->subresource)) {
                buf_append_literal(&b, " with subresource ");
                go_append_quoted(&b, m->subresource);
        }
        if (!m->is_apply) {
                buf_append_literal(&b, " using ");
                buf_append_str(&b, m->api_version);
        }
        return buf_to_arena(&b, a);
}

static int compare_conflicts(const void *a, const void *b)
{
        const struct conflict *x = a, *y = b;

        return str_compare(x->identifier, y->identifier);
}

struct writing {
        struct buf *message;
        struct buf *details;
        struct str who;
        bool is_alone;
};

static void write_conflict(void *arg, struct str path)
{
        struct writing *w = arg;
        _cleanup_buf_ struct buf message = BUF_INIT(0);

        if (w->is_alone) {
                buf_append_literal(w->message, ": ");
                buf_append_str(w->message, path);
        } else {
                buf_append_literal(w->message, "\n- ");
                buf_append_str(w->message, path);
        }
        if (w->details->p[w->details->n - 1] != '[')
                buf_append_char(w->details, ',');
        buf_append_literal(w->details, "{\"reason\":\"FieldManagerConflict\",\"message\":");
        buf_append_literal(&message, "conflict with ");
        buf_append_str(&message, w->who);
        json_write_string(w->details, buf_str(&message), 0);
        buf_append_literal(w->details, ",\"field\":");
        json_write_string(w->details, path, 0);
        buf_append_char(w->details, '}');
}

int conflicts_refuse(const struct update *u, struct conflicts *c, struct err *err)
{
        _cleanup_buf_ struct buf message = BUF_INIT(0), details = BUF_INIT(0);
        int r;

        for (size_t i = 0; i < c->n; i++) {
                c->p[i].who = who(u->arena, c->p[i].manager);
                c->p[i].identifier = manager_identifier(u->arena, c->p[i].manager);
                c->count += field_set_count(c->p[i].set);
        }
        qsort(c->p, c->n, sizeof(*c->p), compare_conflicts);
        buf_append_literal(&details, "{\"causes\":[");
        buf_appendf(&message, "Apply failed with %zu conflict%s: ", c->count, c->count == 1 ? "" : "s");
        for (size_t i = 0; i < c->n; i++) {
                struct writing w = { &message, &details, c->p[i].who, c->count == 1 };

                if (i > 0)
                        buf_append_char(&message, '\n');
                buf_append_str(&message, w.is_alone ? STR("conflict with ") : STR("conflicts with "));
                buf_append_str(&message, w.who);
                if (!w.is_alone)
                        buf_append_char(&message, ':');
                field_set_each(c->p[i].set, write_conflict, &w);
        }
        buf_append_literal(&details, "]}");
        r = err_set(err, ERR_CONFLICT, "%s", buf_cstring(&message));
        if (err)
                err_set_details(err, buf_str(&details));
        return r;
}
