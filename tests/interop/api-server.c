/* The API server on a store in memory, for real clients to try.
 *   api-server PORT               plain text; port 0: the system chooses; the address is printed
 *   api-server PORT DIRECTORY     TLS and access control: keys in DIRECTORY/pki, an administrator's kubeconfig in
 *                                 DIRECTORY/admin.conf, static tokens from DIRECTORY/tokens.csv if that is there
 * It drains and ends when standard input ends. */
#include "access.h"
#include "apiserver.h"
#include "authenticator.h"
#include "buf.h"
#include "pki.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct program {
        struct store *store;
        struct access *access;
        struct pki *pki;
        struct authenticator *authenticator;
        struct apiserver *server;
        struct apiserver_options options;
        struct err err;
};

static void stop_on(int r, const struct program *p)
{
        if (r >= 0)
                return;
        fprintf(stderr, "api-server: %s\n", err_message(&p->err));
        exit(1);
}

/* Rules of access, keys and who asks. */
static void set_up_access(struct program *p, struct arena *a, const char *directory)
{
        struct cluster *cluster = store_cluster(p->store);
        struct run run = { .arena = a, .deadline = DEADLINE_NONE };
        const char *tokens = arena_printf(a, "%s/tokens.csv", directory).p;
        struct pki_options pki = { .directory = arena_printf(a, "%s/pki", directory).p };
        struct authenticator_options who = { .cluster = cluster };
        struct admission_hook hook;

        stop_on(access_new(cluster, &p->access, &p->err), p);
        hook = access_hook(p->access);
        store_add_hook(p->store, &hook);
        stop_on(access_bootstrap(cluster, &run, &p->err), p);
        stop_on(access_start_aggregation(p->access, &p->err), p);
        stop_on(pki_open(&pki, &p->pki, &p->err), p);
        who.access = p->access;
        who.pki = p->pki;
        who.token_file = access(tokens, R_OK) == 0 ? tokens : NULL;
        stop_on(authenticator_new(&who, &p->authenticator, &p->err), p);
        p->options.access = p->access;
        p->options.authenticator = p->authenticator;
        p->options.tls = pki_server_tls(p->pki);
}

static void tell(struct program *p, struct arena *a, const char *directory)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        struct address address = apiserver_address(p->server);

        address_append(&text, &address);
        if (directory)
                stop_on(pki_write_kubeconfig(p->pki, arena_printf(a, "%s/admin.conf", directory).p,
                                             arena_printf(a, "https://%s", buf_cstring(&text)), &p->err),
                        p);
        printf("%s\n", buf_cstring(&text));
        fflush(stdout);
}

int main(int argc, char **argv)
{
        struct store_options store = { 0 };
        struct program p = { 0 };
        const char *directory = argc > 2 ? argv[2] : NULL;
        _cleanup_arena_ struct arena a;
        char ignored[64];

        arena_init(&a, "program", 0);
        stop_on(address_from_ip(STR("127.0.0.1"), (uint16_t)(argc > 1 ? atoi(argv[1]) : 0), &p.options.address, &p.err),
                &p);
        stop_on(store_new(&store, &p.store, &p.err), &p);
        p.options.cluster = store_cluster(p.store);
        if (directory)
                set_up_access(&p, &a, directory);
        stop_on(apiserver_new(&p.options, &p.server, &p.err), &p);
        tell(&p, &a, directory);
        while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0)
                ;
        apiserver_drain(p.server, deadline_after_ms(5000));
        apiserver_free(p.server);
        authenticator_free(p.authenticator);
        pki_free(p.pki);
        store_free(p.store);
        access_free(p.access);
        return 0;
}
