/* log-writer DIR N: a stand-in for a server with data: creates N objects in the data directory DIR, says `ready`, and goes on writing
 * to one of them until its standard input ends. */
#include "json.h"
#include "sqlite-log.h"
#include "store.h"

#include <poll.h>
#include <stdio.h>

static void write_object(struct store *s, enum write_verb verb, int i, int n)
{
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };
        struct write_request req = { .verb = verb, .manager = STR("test") };
        struct write_result result;
        char text[256];

        arena_init(&a, "writer", 0);
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c%d\",\"namespace\":"
                 "\"default\"},\"data\":{"
                 "\"n\":\"%d\"}}",
                 i, n);
        if (json_parse(&a, str_from(text), NULL, &req.body, &err) == 0) {
                req.key = object_key_of(req.body);
                cluster_write(store_cluster(s), &run, &req, &result, &err);
        }
        if (err.code) {
                fprintf(stderr, "log-writer: %s\n", err_message(&err));
                exit(1);
        }
}

int main(int argc, char **argv)
{
        _cleanup_err_ struct err err = { 0 };
        struct store_options options = { 0 };
        struct pollfd input = { .fd = 0, .events = POLLIN };
        struct sqlite_log *log;
        struct store *s;
        int n = argc == 3 ? atoi(argv[2]) : 0;

        if (argc != 3)
                return 2;
        if (sqlite_log_open(argv[1], NULL, &log, &err) < 0)
                goto failed;
        options.log = sqlite_log_base(log);
        if (store_new(&options, &s, &err) < 0)
                goto failed;
        for (int i = 0; i < n; i++)
                write_object(s, WRITE_APPLY, i, 0);
        printf("ready\n");
        fflush(stdout);
        for (int i = 1; poll(&input, 1, 0) == 0; i++)
                write_object(s, WRITE_APPLY, 0, i);
        store_free(s);
        sqlite_log_close(log);
        return 0;
failed:
        fprintf(stderr, "log-writer: %s\n", err_message(&err));
        return 1;
}
