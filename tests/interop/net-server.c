/* A small gRPC server for real clients to try: an echo, health checks and reflection.
 *   net-server PORT [TLS_DIRECTORY]     port 0: the system chooses; the address is printed
 * It drains and ends when standard input ends. */
#include "buf.h"
#include "grpc-server.h"
#include "tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum grpc_status echo(void *context, struct grpc_request *request, struct buf *ret, struct err *err)
{
        (void)context, (void)err;
        buf_append_str(ret, request->message);
        return GRPC_OK;
}

static const struct grpc_method methods[] = { { "/weft.test.Echo/Echo", echo, NULL } };

static void stop_on(int r, const struct err *err)
{
        if (r >= 0)
                return;
        fprintf(stderr, "net-server: %s\n", err_message(err));
        exit(1);
}

int main(int argc, char **argv)
{
        struct grpc_server_options options = { .methods = methods,
                                               .n_methods = ARRAY_SIZE(methods),
                                               .has_reflection = true };
        struct tls_options tls = { .is_server = true, .needs_client_certificate = true };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct grpc_server *s;
        struct address address;
        char ignored[64];

        stop_on(address_from_ip(STR("127.0.0.1"), (uint16_t)(argc > 1 ? atoi(argv[1]) : 0), &options.http.address,
                                &err),
                &err);
        if (argc > 2) {
                tls.directory = argv[2];
                stop_on(tls_config_new(&tls, &options.http.tls, &err), &err);
        }
        stop_on(grpc_server_new(&options, &s, &err), &err);
        address = grpc_server_address(s);
        address_append(&text, &address);
        printf("%s\n", buf_cstring(&text));
        fflush(stdout);
        while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0)
                ;
        grpc_server_drain(s);
        grpc_server_wait(s, deadline_after_ms(5000), NULL);
        grpc_server_free(s);
        tls_config_unref(options.http.tls);
        return 0;
}
