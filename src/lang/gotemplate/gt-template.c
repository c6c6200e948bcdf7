/* Parsed templates: reference counts, lookups by name, and purity. */
#include "gotemplate.h"

#include "gt-node.h"
#include "gt-parser.h"
#include "limits.h"

struct gt_template *gt_template_ref(struct gt_template *t)
{
        t->references++;
        return t;
}

void gt_template_unref(struct gt_template *t)
{
        if (!t || --t->references > 0)
                return;
        arena_done(&t->arena);
        free(t);
}

bool gt_template_is_pure(const struct gt_template *t)
{
        return t->is_pure;
}

const struct gt_tree *gt_template_tree(const struct gt_template *t, struct str name)
{
        for (size_t i = 0; i < t->n_trees; i++)
                if (str_equal(t->trees[i]->name, name))
                        return t->trees[i];
        return NULL;
}

/* --- Functions by name --- */

static int compare_name(const void *key, const void *element)
{
        return str_compare(*(const struct str *)key, str_from(((const struct gt_func *)element)->name));
}

static const struct gt_func *find_function(const struct gt_func_table *table, struct str name)
{
        return bsearch(&name, table->functions, table->n, sizeof(*table->functions), compare_name);
}

const struct gt_func *gt_parse_function(struct gt_parser *p, struct str name, bool *ret_is_builtin)
{
        const struct gt_parse_options *o = p->shared->options;

        *ret_is_builtin = false;
        for (size_t i = 0; i < o->n_tables; i++) {
                const struct gt_func *f = find_function(o->tables[i], name);

                if (f)
                        return f;
        }
        *ret_is_builtin = true;
        return find_function(&gt_builtin_functions, name);
}

/* --- Purity --- */

static const struct gt_func *called(const struct gt_command_node *command)
{
        const struct gt_identifier_node *i = (const struct gt_identifier_node *)command->arguments[0];

        return i->node.type == GT_NODE_IDENTIFIER ? i->function : NULL;
}

/* True if the pipeline's result is certainly a time. */
static bool gives_time(const struct gt_pipe_node *pipe, uint32_t n_commands)
{
        const struct gt_func *f = n_commands > 0 ? called(pipe->commands[n_commands - 1]) : NULL;

        return f && f->flags & GT_RETURNS_TIME;
}

/* True if command i of the pipeline gets a time that the template made, as its piped value or as its last argument. */
static bool takes_time(const struct gt_pipe_node *pipe, uint32_t i)
{
        const struct gt_command_node *command = pipe->commands[i];
        const struct gt_node *last = command->arguments[command->n - 1];

        if (i > 0)
                return gives_time(pipe, i);
        return last->type == GT_NODE_PIPE &&
               gives_time((const struct gt_pipe_node *)last, ((const struct gt_pipe_node *)last)->n);
}

void gt_parse_note_purity(struct gt_parser *p, const struct gt_pipe_node *pipe)
{
        for (uint32_t i = 0; i < pipe->n; i++) {
                const struct gt_command_node *command = pipe->commands[i];

                for (uint32_t k = 0; k < command->n; k++) {
                        const struct gt_identifier_node *f = (const void *)command->arguments[k];

                        if (f->node.type == GT_NODE_CHAIN)
                                f = (const void *)((const struct gt_names_node *)command->arguments[k])->operand;
                        if (f->node.type != GT_NODE_IDENTIFIER)
                                continue;
                        if (f->function->flags & GT_IMPURE ||
                            (f->function->flags & GT_IMPURE_WITHOUT_TIME && (k > 0 || !takes_time(pipe, i))))
                                p->shared->result->is_pure = false;
                }
        }
}
