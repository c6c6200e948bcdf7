#include "request-file.h"

#include "buf.h"
#include "input.h"
#include "json.h"
#include "yaml.h"

#include <stdio.h>

int request_file_read(struct arena *a, const char *name, const struct proto_message *type, struct bytes **ret,
                      struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0), message = BUF_INIT(0);
        const struct value *documents;
        int r = input_read(name, &text, err);

        if (r < 0)
                return r;
        r = yaml_parse_stream(a, buf_str(&text), NULL, &documents, err);
        if (r == 0 && value_count(documents) != 1)
                r = err_set(err, ERR_INVALID, "there must be one document, not %zu", value_count(documents));
        if (r == 0)
                r = proto_encode(&message, type, value_item(documents, 0), NULL, err);
        if (r < 0) {
                struct str shown = input_name(name);

                return err_wrap(err, "%.*s", STR_ARG(shown));
        }
        *ret = bytes_take(&message);
        return 0;
}

bool response_is_fatal(const struct value *response)
{
        const struct value *results = value_find(response, "results");

        for (size_t i = 0; i < value_count(results); i++) {
                if (str_equal(value_str(value_find(value_item(results, i), "severity")), STR("SEVERITY_FATAL")))
                        return true;
        }
        return false;
}

int response_print(const struct value *response, bool as_yaml, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        if (as_yaml) {
                r = yaml_write(&b, response, 0, err);
        } else {
                r = json_write(&b, response, JSON_SORT_KEYS | JSON_PRETTY, err);
                buf_append_char(&b, '\n');
        }
        if (r == 0)
                fwrite(b.p, 1, b.n, stdout);
        return r;
}
