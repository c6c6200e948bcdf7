#include "proto-wire.h"

#include "buf.h"

#define PATH_BYTES 512

const struct proto_field *proto_field_by_number(const struct proto_message *m, uint32_t number)
{
        size_t low = 0, high = m->n_fields;

        /* Most messages count their fields from 1 without gaps. */
        if (LIKELY(number - 1 < m->n_fields && m->fields[number - 1].number == number))
                return &m->fields[number - 1];
        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (m->fields[middle].number == number)
                        return &m->fields[middle];
                if (m->fields[middle].number < number)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

const struct proto_field *proto_field_by_name(const struct proto_message *m, struct str name)
{
        for (size_t i = 0; i < m->n_fields; i++)
                if (str_equal(m->fields[i].json_name, name) || str_equal(m->fields[i].name, name))
                        return &m->fields[i];
        return NULL;
}

const struct proto_message *proto_message_by_name(struct str full_name)
{
        size_t low = 0, high = proto_n_messages;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = str_compare(proto_messages[middle]->name, full_name);

                if (order == 0)
                        return proto_messages[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

void proto_path_prepend(struct buf *path, const char *before, struct str name, const char *after)
{
        _cleanup_buf_ struct buf longer = BUF_INIT(0);
        struct str old = buf_str(path);

        if (old.n > PATH_BYTES) {
                if (str_starts_with(old, STR("...")))
                        return;
                buf_appendf(&longer, "...%.*s", STR_ARG(old));
        } else {
                buf_appendf(&longer, "%s%.*s%s%.*s", before, STR_ARG(str_first(name, PATH_BYTES)), after, STR_ARG(old));
        }
        buf_clear(path);
        buf_append_str(path, buf_str(&longer));
}

int proto_report(struct err *err, const char *verb, const struct proto_message *m, struct str path)
{
        str_cut_prefix(&path, STR("."));
        if (path.n) {
                err_set_path(err, path);
                err_wrap(err, "field %.*s", STR_ARG(path));
        }
        return err_wrap(err, "cannot %s %.*s", verb, STR_ARG(m->name));
}
