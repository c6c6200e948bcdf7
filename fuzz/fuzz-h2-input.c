/* Bytes into an HTTP/2 server connection, after the preface. */
#include "connection-run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct run run = { .before = STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"),
                           .input = str_make((const char *)data, size),
                           .is_h2 = true };

        play(&run);
        return 0;
}
