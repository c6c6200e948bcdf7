#include "watch.h"

#include "buf.h"
#include "json.h"

#define SHARE_FROM_BYTES         (4u << 10)  /* longer texts of objects are sent as they are, shorter ones are copied */
#define SHARE_INITIAL_FROM_BYTES (32u << 10) /* of an initial object, as it is stored */

#define EVENT_BYTES 64 /* that an event adds to its object, at most */

struct watch_source {
        struct watch *watch;
        struct form form;
        struct kind *kind; /* counted */
        struct gvk gvk;
        struct arena arena; /* owns the texts of gvk */
        bool has_columns;   /* the definitions of a Table's columns were sent */
        bool is_live; /* everything that existed at first was sent; texts from now on are kept for other watches */
        bool was_cut_off;
};

int watch_source_new(struct cluster *cluster, struct run *run, const struct watch_request *request, struct form *form,
                     struct watch_source **ret, struct err *err)
{
        struct watch *watch;
        struct watch_source *w;
        int r = cluster_watch(cluster, run, request, &watch, err);

        if (r < 0)
                return r;
        w = xcalloc(1, sizeof(*w));
        w->watch = watch;
        arena_init_pieces(&w->arena, "watch", 0);
        w->gvk = gvk_copy(&w->arena, request->gvk);
        w->form = *form;
        w->kind = kind_ref((struct kind *)form->kind);
        *form = (struct form) { 0 };
        *ret = w;
        return 0;
}

void watch_source_free(struct watch_source *w)
{
        if (!w)
                return;
        watch_free(w->watch);
        form_done(&w->form);
        kind_unref(w->kind);
        arena_done(&w->arena);
        free(w);
}

static struct str type_name(enum watch_event_type type)
{
        switch (type) {
        case WATCH_ADDED:
                return STR("ADDED");
        case WATCH_MODIFIED:
                return STR("MODIFIED");
        case WATCH_DELETED:
                return STR("DELETED");
        case WATCH_BOOKMARK:
                return STR("BOOKMARK");
        case WATCH_ERROR:
                break;
        }
        return STR("ERROR");
}

static void begin_event(struct buf *b, enum watch_event_type type)
{
        buf_append_literal(b, "{\"type\":\"");
        buf_append_str(b, type_name(type));
        buf_append_literal(b, "\",\"object\":");
}

/* The text of a change is made once for all watches: the object keeps it. So is that of a large initial object, because readers that
 * are slow would each hold it. Other initial objects may be many, so their texts are not kept. */
static void append_object(struct watch_source *w, const struct watch_event *e, struct arena *scratch,
                          struct watch_piece *piece)
{
        struct bytes *json;

        if (!w->is_live && object_size_bytes(e->object) < SHARE_INITIAL_FROM_BYTES) {
                begin_event(&piece->text, e->type);
                object_append_json(e->object, scratch, &piece->text);
                buf_append_literal(&piece->text, "}\n");
                return;
        }
        json = object_json(e->object);
        if (json->str.n < SHARE_FROM_BYTES)
                buf_reserve(&piece->text, json->str.n + EVENT_BYTES);
        begin_event(&piece->text, e->type);
        if (json->str.n >= SHARE_FROM_BYTES) {
                piece->shared = json;
                return;
        }
        buf_append_str(&piece->text, json->str);
        buf_append_literal(&piece->text, "}\n");
        bytes_unref(json);
}

static void append_event(struct watch_source *w, const struct watch_event *e, struct arena *scratch,
                         struct watch_piece *piece)
{
        if (e->type != WATCH_BOOKMARK && w->form.accepted.form == ANSWER_OBJECT) {
                append_object(w, e, scratch, piece);
                return;
        }
        begin_event(&piece->text, e->type);
        if (e->type == WATCH_BOOKMARK)
                form_append_bookmark(&w->form, w->gvk, e->version, e->ends_initial, !w->has_columns, scratch,
                                     &piece->text);
        else
                form_append_event(&w->form, e->object, !w->has_columns, scratch, &piece->text);
        w->has_columns = true;
        buf_append_literal(&piece->text, "}\n");
}

/* A watch that the API has ended is closed without a word: the client watches again. Other errors are an event. */
static void append_error(struct watch_source *w, const struct err *err, struct arena *scratch, struct buf *b)
{
        struct value status;

        w->was_cut_off = err->code == ERR_EXPIRED;
        if (err->code == ERR_CLOSED || err->code == ERR_CANCELED)
                return;
        status = status_of_err(scratch, err);
        begin_event(b, WATCH_ERROR);
        json_write(b, &status, JSON_ESCAPE_HTML, NULL);
        buf_append_literal(b, "}\n");
}

enum watch_state watch_source_fill(struct watch_source *w, struct run *run, struct watch_wakeup wakeup,
                                   size_t max_events, size_t max_bytes, struct watch_piece *piece)
{
        struct arena pins, scratch, *arena = run->arena;
        _cleanup_err_ struct err err = { 0 };
        struct watch_event event;
        int r = 1;

        arena_init(&pins, "watch", 0);
        arena_init(&scratch, "watch", 0);
        run->arena = &pins;
        for (size_t i = 0; i < max_events && piece->text.n < max_bytes && !piece->shared; i++) {
                r = watch_try_next(w->watch, run, wakeup, &event, &err);
                if (r <= 0)
                        break;
                append_event(w, &event, &scratch, piece);
                arena_reset(&pins);
        }
        if (r < 0)
                append_error(w, &err, &scratch, &piece->text);
        w->is_live |= r == 0;
        run->arena = arena;
        arena_done(&pins);
        arena_done(&scratch);
        return r < 0 ? WATCH_HAS_ENDED : r == 0 ? WATCH_WAITS : WATCH_HAS_MORE;
}

struct deadline watch_source_next_bookmark(const struct watch_source *w)
{
        return watch_next_bookmark(w->watch);
}

bool watch_source_was_cut_off(const struct watch_source *w)
{
        return w->was_cut_off;
}
