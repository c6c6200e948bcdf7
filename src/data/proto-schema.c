#include "proto.h"

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
