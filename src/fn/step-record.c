/* The record of a step: its reads, its watches, its changes. It contains no secrets. */
#include "step-state.h"

#include <stdlib.h>

#include "patch.h"
#include "redact.h"

/* --- Reads --- */

static int compare_labels(const struct fn_selector *a, const struct fn_selector *b)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < MIN(a->n_labels, b->n_labels); i++) {
                r = str_compare(a->labels[i].key, b->labels[i].key);
                if (r == 0)
                        r = str_compare(a->labels[i].value, b->labels[i].value);
        }
        return r ? r : (a->n_labels > b->n_labels) - (a->n_labels < b->n_labels);
}

static int compare_dependencies(const void *a, const void *b)
{
        const struct step_dependency *x = a, *y = b;
        const struct fn_selector *p = &x->selector, *q = &y->selector;
        int r = (int)x->read - (int)y->read;

        if (r || (r = str_compare(p->api_version, q->api_version)) || (r = str_compare(p->kind, q->kind)) ||
            (r = str_compare(p->ns, q->ns)) || (r = (p->match_name.p != NULL) - (q->match_name.p != NULL)) ||
            (r = str_compare(p->match_name, q->match_name)))
                return r;
        return compare_labels(p, q);
}

void step_note_dependencies(struct step_state *s)
{
        struct step_dependency *all = ARENA_NEW_ARRAY(step_arena(s), struct step_dependency, s->n_fetches + 1);
        size_t n = 0;

        for (size_t i = 0; i < s->n_fetches; i++)
                all[i] = s->fetches[i].dependency;
        if (s->n_fetches)
                qsort(all, s->n_fetches, sizeof(*all), compare_dependencies);
        for (size_t i = 0; i < s->n_fetches; i++)
                if (n == 0 || compare_dependencies(&all[n - 1], &all[i]) != 0)
                        all[n++] = all[i];
        s->record->dependencies = all;
        s->record->n_dependencies = n;
}

/* --- Watches (docs/spec/seeds 2) --- */

int fn_watch_compare(const struct fn_watch *a, const struct fn_watch *b)
{
        int r;

        if ((r = str_compare(a->api_version, b->api_version)) || (r = str_compare(a->kind, b->kind)) ||
            (r = str_compare(a->ns, b->ns)))
                return r;
        return str_compare(a->name, b->name);
}

static int compare_watches(const void *a, const void *b)
{
        return fn_watch_compare(a, b);
}

size_t fn_watches_sort(struct fn_watch *watches, size_t n)
{
        size_t kept = 0;

        if (n)
                qsort(watches, n, sizeof(*watches), compare_watches);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || fn_watch_compare(&watches[kept - 1], &watches[i]) != 0)
                        watches[kept++] = watches[i];
        return kept;
}

static size_t count_requested(const struct step_state *s)
{
        size_t n = 0;

        for (size_t i = 0; i < s->n_fetches; i++)
                n += s->fetches[i].dependency.selector.match_name.p ? 1 : s->fetches[i].found.n_items;
        return n;
}

/* Lists all resources that the step asked for. A resource that was asked for by name is listed even if it does not exist, because
 * it may be created later. */
static size_t list_requested(const struct step_state *s, struct fn_watch **ret)
{
        struct fn_watch *all = ARENA_NEW_ARRAY(step_arena(s), struct fn_watch, count_requested(s) + 1);
        size_t n = 0;

        for (size_t i = 0; i < s->n_fetches; i++) {
                const struct fn_selector *selector = &s->fetches[i].dependency.selector;
                const struct fn_resources *found = &s->fetches[i].found;

                if (s->fetches[i].dependency.read != STEP_READ_RESOURCES)
                        continue;
                if (selector->match_name.p)
                        all[n++] = (struct fn_watch) { selector->api_version, selector->kind, selector->ns,
                                                       selector->match_name };
                for (size_t j = 0; !selector->match_name.p && j < found->n_items; j++) {
                        const struct value *object = found->items[j].object.value;

                        all[n++] = (struct fn_watch) { selector->api_version, selector->kind, meta_namespace(object),
                                                       meta_name(object) };
                }
        }
        *ret = all;
        return fn_watches_sort(all, n);
}

static const struct fn_watch *find_watch(const struct fn_watch *all, size_t n, struct fn_watch watch)
{
        const struct fn_watch *found = n ? bsearch(&watch, all, n, sizeof(*all), compare_watches) : NULL;

        /* Ignore the namespace, for cluster-scoped resources. */
        watch.ns = STR("");
        return found || n == 0 ? found : bsearch(&watch, all, n, sizeof(*all), compare_watches);
}

void step_note_watches(struct step_state *s, const struct fn_response *rsp, const struct fn_watch *cached,
                       size_t n_cached)
{
        size_t n_wanted = rsp->requirements.n_watches, n_allowed = n_cached;
        struct fn_watch *refused, *watched, *allowed = (struct fn_watch *)cached;
        struct step_record *record = s->record;

        if (n_wanted == 0 && !s->step->watches_extra_resources)
                return;
        if (!s->record->was_cached)
                n_allowed = list_requested(s, &allowed);
        refused = ARENA_NEW_ARRAY(step_arena(s), struct fn_watch, n_wanted + 1);
        watched = ARENA_NEW_ARRAY(step_arena(s), struct fn_watch, n_wanted + 1);
        for (size_t i = 0; i < n_wanted; i++) {
                const struct fn_watch *found = find_watch(allowed, n_allowed, rsp->requirements.watches[i]);

                if (found)
                        watched[record->n_watched++] = *found;
                else
                        refused[record->n_refused++] = rsp->requirements.watches[i];
        }
        record->n_refused = fn_watches_sort(refused, record->n_refused);
        record->refused = refused;
        record->n_watched = fn_watches_sort(watched, record->n_watched);
        record->watched = watched;
        if (s->step->watches_extra_resources) {
                record->watched = allowed;
                record->n_watched = n_allowed;
        }
}

/* --- Changes --- */

static void put_ready(struct object_builder *b, struct str name, enum fn_ready ready)
{
        if (ready != FN_READY_UNSPECIFIED)
                object_builder_set(b, name, value_of_str(ready == FN_READY_TRUE ? STR("True") : STR("False")));
}

/* The resource's object in the other state; NULL: none. */
static const struct value *before_of(struct arena *a, const struct fn_state *before, struct str name)
{
        const struct fn_resource *there = before ? fn_state_find(before, name) : NULL;
        struct fn_struct object;
        const struct value *v = NULL;

        if (!there)
                return NULL;
        object = there->object;
        return fn_struct_value(a, &object, &v, NULL) < 0 ? NULL : v;
}

const struct value *step_state_value(struct arena *a, struct fn_state *s, const struct fn_state *before)
{
        struct object_builder b, resources, ready;
        const struct value *v;

        if (fn_state_open(a, s, NULL) < 0)
                return &value_empty_object;
        object_builder_init(&b, a, 4);
        object_builder_init(&resources, a, s->n_resources);
        object_builder_init(&ready, a, s->n_resources);
        if (s->has_composite && fn_struct_value(a, &s->composite.object, &v, NULL) >= 0 && v)
                object_builder_set(&b, STR("composite"), *redact_object(a, v));
        if (s->has_composite)
                put_ready(&b, STR("compositeReady"), s->composite.ready);
        for (size_t i = 0; i < s->n_resources; i++) {
                struct fn_struct object = s->resources[i].object;

                if (fn_struct_value(a, &object, &v, NULL) >= 0 && v)
                        object_builder_set(&resources, s->resources[i].name,
                                           *redact_object_over(a, v, before_of(a, before, s->resources[i].name)));
                put_ready(&ready, s->resources[i].name, s->resources[i].ready);
        }
        object_builder_set(&b, STR("resources"), object_builder_finish(&resources));
        object_builder_set(&b, STR("ready"), object_builder_finish(&ready));
        return value_put(a, object_builder_finish(&b));
}

/* The secrets of the request and of all resources that were fetched for any of the calls. They are collected on first use, which is
 * after the last call. */
static struct redactor *redactor_of(struct step_state *s)
{
        if (s->redactor)
                return s->redactor;
        s->redactor = ARENA_NEW(step_arena(s), struct redactor);
        redactor_init(s->redactor, step_arena(s));
        redactor_add_request(s->redactor, &s->req);
        for (size_t i = 0; i < s->n_fetches; i++)
                redactor_add_resources(s->redactor, &s->fetches[i].found);
        return s->redactor;
}

bool step_saw_secrets(struct step_state *s)
{
        return s->req.n_credentials > 0 || redactor_of(s)->has_any;
}

void step_redact(struct step_state *s, struct fn_response *rsp)
{
        /* Most responses have no texts that could contain a secret. */
        if (rsp->n_results == 0 && rsp->n_conditions == 0)
                return;
        redactor_add_state(redactor_of(s), &rsp->desired);
        redact_response(s->redactor, rsp);
}

const struct value *step_redact_value(struct step_state *s, const struct fn_state *state, const struct value *v)
{
        redactor_add_state(redactor_of(s), state);
        return redact_value(s->redactor, v);
}

void step_redact_error(struct step_state *s, struct err *err)
{
        if (err)
                redact_error(redactor_of(s), err);
}

static const struct value *diff(struct step_state *s, const struct fn_state *desired, const struct fn_response *rsp)
{
        struct fn_state before = *desired, after = rsp->desired;
        struct arena *a = step_arena(s);
        const struct value *from = step_state_value(a, &before, NULL), *to = step_state_value(a, &after, &before);

        return step_redact_value(s, &rsp->desired, value_diff(a, from, to, true));
}

void step_finish(struct step_state *s, const struct fn_state *desired, const struct fn_response *rsp)
{
        if (s->c->options.wants_diff)
                s->record->desired_diff = diff(s, desired, rsp);
        s->record->results = rsp->results;
        s->record->n_results = rsp->n_results;
}
