#include "api-output.h"

#include "buf.h"
#include "json.h"
#include "yaml.h"

const char *const api_output_names[] = { "default", "json", "yaml", NULL };

int api_output_append(struct buf *b, const struct value *v, enum api_output form, struct err *err)
{
        int r;

        assert(form != API_OUTPUT_DEFAULT);
        if (form == API_OUTPUT_YAML)
                return yaml_write(b, v, YAML_KEEP_ORDER, err);
        r = json_write(b, v, JSON_PRETTY, err);
        buf_append_char(b, '\n');
        return r;
}
