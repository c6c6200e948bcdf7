#include "data-directory.h"

#include "buf.h"

#include <stdlib.h>

char *data_directory_default(void)
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (state && *state)
                buf_appendf(&b, "%s/weft", state);
        else if (home && *home)
                buf_appendf(&b, "%s/.local/state/weft", home);
        else
                return NULL;
        return buf_take(&b);
}
