/* The store is a cluster. */
#include "scenario.h"
#include "store.h"

#include <stdio.h>

int main(int argc, char **argv)
{
        /* A short history, so that the first version has expired when it is asked for. */
        struct store_options options = { .history_events = 30 };
        _cleanup_err_ struct err err = { 0 };
        struct store *store;
        int failed;

        if (argc != 2 || store_new(&options, &store, &err) < 0) {
                printf("Bail out! %s\n", argc == 2 ? err_message(&err) : "usage: test-store SCENARIOS");
                return 1;
        }
        failed = conformance_run(store_cluster(store), argv[1]);
        store_free(store);
        return failed != 0;
}
