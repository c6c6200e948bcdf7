/* The index of notes: subjects (keys of controllers), their notes, and the places where events find the notes. */
#include "tracker-state.h"

#include "buf.h"
#include "meter.h"

/* --- Keys --- */

void tracker_append_part(struct buf *b, struct str s)
{
        buf_append_str(b, s);
        buf_append_char(b, '\0');
}

struct str tracker_object_note_key(struct buf *b, struct str kind, struct str ns, struct str name)
{
        buf_clear(b);
        buf_append_char(b, 'O');
        tracker_append_part(b, kind);
        tracker_append_part(b, ns);
        buf_append_str(b, name);
        return buf_str(b);
}

struct str tracker_selection_place_key(struct buf *b, struct str kind, struct str label, struct str v)
{
        buf_clear(b);
        buf_append_char(b, 'S');
        tracker_append_part(b, kind);
        tracker_append_part(b, label);
        buf_append_str(b, v);
        return buf_str(b);
}

struct str tracker_kind_note_key(struct buf *b, struct str group, struct str name)
{
        buf_clear(b);
        buf_append_char(b, 'K');
        tracker_append_part(b, group);
        buf_append_str(b, name);
        return buf_str(b);
}

struct str tracker_topic_note_key(struct buf *b, struct str topic)
{
        buf_append_char(b, 'T');
        buf_append_str(b, topic);
        return buf_str(b);
}

/* --- Subjects, places, notes: with the mutex held --- */

struct tracked_controller *tracker_find_controller(struct tracker *t, const struct controller *c)
{
        return u64_map_get(&t->controllers, (uint64_t)(uintptr_t)c);
}

struct subject *tracker_find_subject(struct tracker *t, const struct controller *c, struct str key)
{
        struct tracked_controller *tc = tracker_find_controller(t, c);

        return tc ? map_get(&tc->subjects, key) : NULL;
}

struct tracked_controller *tracker_need_controller(struct tracker *t, const struct controller *c)
{
        struct tracked_controller *tc = tracker_find_controller(t, c);

        if (!tc) {
                tc = xcalloc(1, sizeof(*tc));
                u64_map_set(&t->controllers, (uint64_t)(uintptr_t)c, tc);
        }
        return tc;
}

struct subject *tracker_need_subject(struct tracker *t, struct controller *c, struct str key)
{
        struct tracked_controller *tc = tracker_need_controller(t, c);
        struct subject *s = map_get(&tc->subjects, key);

        if (s)
                return s;
        s = xcalloc(1, sizeof(*s) + key.n);
        s->owner = tc;
        s->controller = c;
        memcpy(s->text, key.p, key.n);
        s->key = str_make(s->text, key.n);
        map_add(&tc->subjects, s->key, s);
        t->stats.n_keys++;
        return s;
}

static struct tracker_place *need_place(struct tracker *t, struct str key)
{
        struct tracker_place *p = map_get(&t->places, key);

        if (p)
                return p;
        p = xcalloc(1, sizeof(*p) + key.n);
        memcpy(p->text, key.p, key.n);
        p->key = str_make(p->text, key.n);
        map_add(&t->places, p->key, p);
        return p;
}

static void enter_place(struct tracker_place *p, struct note *n)
{
        n->place = p;
        n->next = p->first;
        if (p->first)
                p->first->previous = n;
        p->first = n;
}

static void leave_place(struct tracker *t, struct note *n)
{
        struct tracker_place *p = n->place;

        if (n->next)
                n->next->previous = n->previous;
        *(n->previous ? &n->previous->next : &p->first) = n->next;
        if (!p->first) {
                map_remove(&t->places, p->key);
                free(p);
        }
}

struct note *tracker_new_note(struct tracker *t, struct subject *s, enum note_type type, struct str key,
                              struct str place_key)
{
        bool has_place_key = str_equal(key, place_key); /* the note then needs no text of its own */
        struct note *n = xcalloc(1, sizeof(*n) + (has_place_key ? 0 : key.n));

        enter_place(need_place(t, place_key), n);
        if (!has_place_key)
                memcpy(n->text, key.p, key.n);
        n->key = has_place_key ? n->place->key : str_make(n->text, key.n);
        n->type = type;
        n->subject = s;
        map_add(&s->notes, n->key, n);
        t->stats.n_notes++;
        return n;
}

void tracker_free_note(struct tracker *t, struct note *n)
{
        tracker_end_watch(t, n);
        if (n->kind)
                n->kind->n_notes--;
        map_remove(&n->subject->notes, n->key);
        leave_place(t, n); /* may free the key */
        free(n);
        t->stats.n_notes--;
}

void tracker_free_subject(struct tracker *t, struct subject *s)
{
        struct tracked_controller *tc = tracker_find_controller(t, s->controller);

        for (struct map_entry *e; (e = map_first(&s->notes));)
                tracker_free_note(t, e->value);
        map_done(&s->notes);
        breaker_done(&s->breaker);
        map_remove(&tc->subjects, s->key);
        free(s->cause);
        free(s);
        t->stats.n_keys--;
}

void tracker_count_circuit(struct tracker *t, const struct subject *s, bool was_open)
{
        struct str name = controller_name(s->controller);

        if (!was_open && s->breaker.opened_ns)
                meter_add(t->opens, 1, &name);
        if (was_open && !s->breaker.opened_ns)
                meter_add(t->closes, 1, &name);
}

bool tracker_wants_cause(struct subject *s)
{
        return s->n_causes++ == 0;
}

void tracker_note_cause(struct subject *s, const char *format, ...)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        va_list arguments;

        free(s->cause);
        va_start(arguments, format);
        buf_appendv(&b, format, arguments);
        va_end(arguments);
        s->cause = buf_take(&b);
}

bool tracker_is_news(const struct note *n, uint64_t version)
{
        bool is_own = n->own_first <= version && version <= n->own;

        return version > MAX(n->seen, n->told) && !(n->subject->knows_writes && is_own);
}

void tracker_enqueue(struct subject *s)
{
        if (!s->owner->is_muted)
                controller_enqueue(s->controller, s->key);
}

void tracker_enqueue_after(struct subject *s, int64_t delay_ns)
{
        if (!s->owner->is_muted)
                controller_enqueue_after(s->controller, s->key, delay_ns);
}
