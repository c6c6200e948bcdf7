#include "registry.h"

#include "map.h"
#include "park.h"

struct entry {
        struct str name;
        struct function *function;
};

struct registry {
        struct mutex mutex;
        struct map entries; /* by `name` and by `name/revision` */
        const char *hint;
};

struct registry *registry_new(void)
{
        struct registry *r = xcalloc(1, sizeof(*r));

        mutex_init(&r->mutex);
        r->hint = "";
        return r;
}

static void entry_free(struct entry *e)
{
        if (!e)
                return;
        function_unref(e->function);
        free((char *)e->name.p);
        free(e);
}

void registry_free(struct registry *r)
{
        if (!r)
                return;
        for (struct map_entry *e = map_first(&r->entries); e; e = map_next(&r->entries, e))
                entry_free(e->value);
        map_done(&r->entries);
        mutex_done(&r->mutex);
        free(r);
}

void registry_set_hint(struct registry *r, const char *hint)
{
        r->hint = hint;
}

static void set_entry(struct registry *r, struct str name, struct function *f)
{
        struct entry *e = xcalloc(1, sizeof(*e)), *old;

        e->name = str_make(str_to_cstring(name), name.n);
        e->function = f;
        mutex_lock(&r->mutex);
        old = map_remove(&r->entries, name);
        map_set(&r->entries, e->name, e);
        mutex_unlock(&r->mutex);
        entry_free(old);
}

static struct str revision_key(struct arena *a, struct str name, struct str revision)
{
        return arena_printf(a, "%.*s/%.*s", STR_ARG(name), STR_ARG(revision));
}

void registry_set(struct registry *r, struct str name, struct function *f)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "registry", 0);
        if (f->revision.n)
                set_entry(r, revision_key(&a, name, f->revision), function_ref(f));
        set_entry(r, name, f);
}

int registry_find(struct registry *r, struct str name, struct str revision, struct function **ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct entry *e;

        arena_init(&a, "registry", 0);
        mutex_lock(&r->mutex);
        e = map_get(&r->entries, revision.n ? revision_key(&a, name, revision) : name);
        if (e)
                *ret = function_ref(e->function);
        mutex_unlock(&r->mutex);
        if (e)
                return 0;
        if (revision.n)
                return err_set(err, ERR_NOT_FOUND, "unknown revision \"%.*s\" of function \"%.*s\"%s",
                               STR_ARG(revision), STR_ARG(name), r->hint);
        return err_set(err, ERR_NOT_FOUND, "unknown function \"%.*s\"%s", STR_ARG(name), r->hint);
}
