/* The documents of rendered text, as function-go-templating reads them. */
#include "buf.h"
#include "go-templating.h"
#include "json.h"
#include "subject.h"

int subject_decode(struct arena *a, const struct value *one, struct buf *out, struct err *err)
{
        struct templating t = { .arena = a };
        int r = templating_decode(&t, value_str(value_get(one, STR("text"))), err);

        for (size_t i = 0; i < t.n_documents; i++) {
                if (json_write(out, &t.documents[i], JSON_GO, NULL) < 0)
                        return err_set(err, ERR_FAILED, "cannot write a document");
                buf_append_char(out, '\n');
        }
        return r;
}
