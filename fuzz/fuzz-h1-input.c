/* Bytes into an HTTP/1.1 connection. The first byte chooses the side (even: server); half of it is the number of bytes that arrive
 * at a time. */
#include "connection-run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct run run = { 0 };

        if (size == 0)
                return 0;
        run.is_client = data[0] & 1;
        run.piece = data[0] >> 1;
        run.input = str_make((const char *)data + 1, size - 1);
        play(&run);
        return 0;
}
