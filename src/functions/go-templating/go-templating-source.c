/* Reads the input of function-go-templating, and the sources of its templates. */
#include "go-templating.h"

#include "str-list.h"

static const struct input_field inline_fields[] = {
        { "template", INPUT_STRING, offsetof(struct templating_inline, text) },
        { "templates", INPUT_STRINGS, offsetof(struct templating_inline, texts) },
};
static const struct input_type inline_type = INPUT_TYPE(struct templating_inline, inline_fields);

static const struct input_field file_system_fields[] = {
        { "dirPath", INPUT_STRING, offsetof(struct templating_file_system, dir_path) },
};
static const struct input_type file_system_type = INPUT_TYPE(struct templating_file_system, file_system_fields);

static const struct input_field environment_fields[] = {
        { "key", INPUT_STRING, offsetof(struct templating_environment, key) },
};
static const struct input_type environment_type = INPUT_TYPE(struct templating_environment, environment_fields);

static const struct input_field delims_fields[] = {
        { "left", INPUT_STRING, offsetof(struct templating_delims, left) },
        { "right", INPUT_STRING, offsetof(struct templating_delims, right) },
};
static const struct input_type delims_type = INPUT_TYPE(struct templating_delims, delims_fields);

static const struct input_field input_fields[] = {
        { "source", INPUT_STRING, offsetof(struct templating_input, source) },
        { "inline", INPUT_OBJECT, offsetof(struct templating_input, inline_of), &inline_type },
        { "fileSystem", INPUT_OBJECT, offsetof(struct templating_input, file_system), &file_system_type },
        { "environment", INPUT_OBJECT, offsetof(struct templating_input, environment), &environment_type },
        { "delims", INPUT_OBJECT, offsetof(struct templating_input, delims), &delims_type },
        { "options", INPUT_STRINGS, offsetof(struct templating_input, options) },
        { "ttl", INPUT_STRING, offsetof(struct templating_input, ttl) },
        { "helmFunctions", INPUT_BOOL, offsetof(struct templating_input, helm_functions) },
};
static const struct input_type input_type = INPUT_TYPE(struct templating_input, input_fields);

/* The form of the oldest examples: `inline` is the text itself, and there is a source Remote. */
struct seed_input {
        struct str source;
        struct str text;
        struct str remote;
};

static const struct input_field seed_fields[] = {
        { "source", INPUT_STRING, offsetof(struct seed_input, source) },
        { "inline", INPUT_STRING, offsetof(struct seed_input, text) },
        { "remote", INPUT_STRING, offsetof(struct seed_input, remote) },
};
static const struct input_type seed_type = INPUT_TYPE(struct seed_input, seed_fields);

static int read_seed_input(struct templating *t, struct err *err)
{
        struct seed_input seed = { 0 };
        int r = fn_input_read(t->arena, t->req, &seed_type, "GoTemplate", &seed, err);

        if (r < 0)
                return r;
        t->input.is_seed = true;
        t->input.source = seed.source;
        t->input.remote = seed.remote;
        if (seed.text.p) {
                t->input.inline_of = ARENA_NEW(t->arena, struct templating_inline);
                t->input.inline_of->text = seed.text;
        }
        return 0;
}

int templating_read_input(struct templating *t, struct err *err)
{
        const struct value *input;
        int r = fn_struct_value(t->arena, &t->req->input, &input, err);

        if (r < 0)
                return err_wrap(err, "cannot read the input");
        if (str_equal(value_str(value_get(input, STR("apiVersion"))), STR("example.org/v1")))
                r = read_seed_input(t, err);
        else
                r = fn_input_read(t->arena, t->req, &input_type, "GoTemplate", &t->input, err);
        return r < 0 ? err_wrap(err, "cannot get Function input from *v1.RunFunctionRequest") : 0;
}

/* --- Sources --- */

static int join_texts(struct templating *t, const struct input_list *texts, struct str *ret)
{
        struct str_list list;
        const struct str *text;
        size_t i = 0;

        str_list_init(&list, t->arena);
        INPUT_FOREACH (text, texts) {
                str_list_add(&list, text->p ? *text : STR(""));
                templating_add_part(t, arena_printf(t->arena, "inline.templates[%zu]", i++), STR(""), text->n);
        }
        *ret = str_list_join(&list, TEMPLATING_SEPARATOR);
        return 0;
}

static int read_inline(struct templating *t, struct str *ret, struct err *err)
{
        const struct templating_inline *source = t->input.inline_of;

        if (source && source->text.n > 0) {
                templating_add_part(t, t->input.is_seed ? STR("inline") : STR("inline.template"), STR(""),
                                    source->text.n);
                *ret = source->text;
                return 0;
        }
        if (source && source->texts.n > 0)
                return join_texts(t, &source->texts, ret);
        return err_set(err, ERR_INVALID, "inline.template or inline.templates should be provided");
}

static int read_environment(struct templating *t, struct str *ret, struct err *err)
{
        static const char prefix[] = "cannot read tmpl from the environment";
        const struct value *environment = value_get(t->context, TEMPLATING_ENVIRONMENT), *text;
        struct str key = t->input.environment ? t->input.environment->key : STR("");

        if (key.n == 0)
                return err_set(err, ERR_INVALID, "environment.key should be provided");
        if (!value_is_object(environment))
                return err_set(err, ERR_INVALID, "%s: %.*s key does not exist in context", prefix,
                               STR_ARG(TEMPLATING_ENVIRONMENT));
        text = value_get(environment, key);
        if (!text)
                return err_set(err, ERR_INVALID, "%s: key: %.*s does not exist", prefix, STR_ARG(key));
        if (!value_is_string(text))
                return err_set(err, ERR_INVALID, "%s: key: %.*s value is not a string", prefix, STR_ARG(key));
        templating_add_part(t, STR("environment.key"), STR(""), value_str(text).n);
        *ret = value_str(text);
        return 0;
}

static int read_default(struct templating *t, struct str *ret, struct err *err)
{
        const char *path = templating_defaults.source;
        int r = templating_read_default_files(t, path, ret, err);

        return r < 0 ? err_wrap(err, "cannot read tmpl from the folder {%s}", path) : 0;
}

static int read_file_system(struct templating *t, struct str *ret, struct err *err)
{
        struct str path = t->input.file_system ? t->input.file_system->dir_path : STR("");
        int r;

        if (path.n == 0)
                return err_set(err, ERR_INVALID, "fileSystem.dirPath should be provided");
        r = templating_read_files(t, path, ret, err);
        return r < 0 ? err_wrap(err, "cannot read tmpl from the folder {%.*s}", STR_ARG(path)) : 0;
}

int templating_source(struct templating *t, struct str *ret, struct err *err)
{
        struct str source = t->input.source;

        if (source.n == 0 && templating_defaults.source)
                return read_default(t, ret, err);
        if (source.n == 0)
                return err_set(err, ERR_INVALID, "source is required");
        if (str_equal(source, STR("Inline")))
                return read_inline(t, ret, err);
        if (str_equal(source, STR("FileSystem")))
                return read_file_system(t, ret, err);
        if (str_equal(source, STR("Environment")))
                return read_environment(t, ret, err);
        if (str_equal(source, STR("Remote")))
                return err_set(err, ERR_INVALID,
                               "source Remote is not supported: give the template inline, or share an input between "
                               "Compositions with inputRef");
        return err_set(err, ERR_INVALID, "invalid source: %.*s", STR_ARG(source));
}
