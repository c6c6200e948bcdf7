/* `weft up`: the embedded API with all controllers, the user's manifests, and what becomes of them. */
#pragma once

#include "features.h"
#include "manifest.h"
#include "packages.h"
#include "server-run.h"

struct up_options {
        struct server_options server;
        const char *const *paths; /* files and directories of manifests, or `-` */
        size_t n_paths;
        const struct str *functions; /* NAME=HOST:PORT */
        size_t n_functions;
        struct str tls_certs_dir;
        struct features features;
        struct str package_runtime;   /* Process, External, or KIND=RUNTIME;... */
        struct str package_directory; /* of packages that were pulled; "": the user's cache */
        struct str ca_file;           /* authorities of registries; "": the system's */
        struct str cache_directory;   /* of the response cache; "": in memory alone */
        int64_t cache_max_ttl_ns;
        struct str inspector_socket; /* of the pipeline inspector */
        bool ignores_versions;       /* of packages whose functions are built in */
        bool is_once;                /* end when everything is ready */
        int64_t timeout_ns;          /* for that */
        bool watches;                /* applies files again when they are saved */
        bool prunes;                 /* and deletes what left them */
};

/* Returns the exit status. Errors are printed. */
int up_run(const struct up_options *options, struct err *err);

/* --- Packages --- */

struct up_packages;

/* Starts the package manager and all that it needs. The options outlive it, as do manager, registry and server. */
int up_packages_start(const struct up_options *options, struct manager *manager, struct registry *registry,
                      struct server *server, struct up_packages **ret, struct err *err);

/* Ends the programs of packages after the package manager. NULL is fine. */
void up_packages_stop(struct up_packages *p);

/* --- Looking into it --- */

struct api_call;
struct api_reply;

#define UP_INSPECT_PATH STR("/weft/v1")

/* The state that the handler of UP_INSPECT_PATH reads. */
struct up_inspection {
        struct run_records *records;
        struct registry *registry;
        struct features features;
};

/* A Function and its rollout. */
int up_read_rollout(const struct up_inspection *in, struct api_call *call, const struct value **ret, struct err *err);

/* The handler of the paths for `weft trace`, `weft runs`, `weft why` and `weft rollout`; the context is a struct up_inspection. */
int up_inspect(void *context, struct api_call *call, struct api_reply *reply, struct err *err);

/* --- Files --- */

/* Watches the given files and directories; *fd is -1 at first. Again after each load: directories may have come. */
int up_files_watch(const struct up_options *o, int *fd, struct err *err);

/* Whether one was saved since the last call, once no more are being saved. */
bool up_files_changed(int fd);

/* --- The screen --- */

struct up_screen {
        bool is_live;     /* a terminal */
        unsigned n_drawn; /* lines of the block that is there now */
        uint64_t drawn_hash;
        bool has_news; /* the last look found some */
        bool holds_log;
        int null_fd;
};

void up_screen_init(struct up_screen *s, bool is_debug);

/* Logs stay off the terminal while there is a block. */
void up_screen_hold_log(struct up_screen *s);
void up_screen_release_log(struct up_screen *s);

/* Removes the block; what is printed now stays. */
void up_screen_clear(struct up_screen *s);

/* Prints lines that stay, and the block if there is news in either. */
void up_screen_show(struct up_screen *s, const struct str *stays, size_t n_stays, const struct str *block, size_t n);

/* --- Objects that were given --- */

/* One object of the user's manifests. */
struct up_item {
        const struct manifest *manifest;
        struct object_key key;
        bool is_applied;
        bool is_ready;
        bool is_refused;  /* the API refused it as it is */
        unsigned n_looks; /* since then */
        struct str why;   /* it is not applied yet */
        struct str shown; /* the state that was printed last */
};

struct up_items {
        struct up_item *p; /* in an order that works */
        size_t n;
};

/* Sorts the manifests into an order that works: what defines before what uses it. */
void up_sort(struct arena *a, const struct manifests *m, struct up_items *ret);

/* Applies what is not applied yet. Items whose kind is not served yet stay for the next call; *ret_left is their number. Another
 * error is returned with the item's file and line; with keeps_going it is the item's state instead, kept in the arena. */
int up_apply(struct cluster *c, struct run *run, struct arena *kept, struct up_items *items, bool keeps_going,
             size_t *ret_left, struct err *err);

/* The files were loaded again: items that are as before keep their state, whose texts go to the arena. *ret_gone are the items, as they
 * were, that are no longer there. */
void up_take_over(struct arena *a, const struct up_items *old, struct up_items *items, struct up_items *ret_gone);

/* Deletes what left the files, what uses before what defines. */
void up_prune(struct cluster *c, struct run *run, const struct up_items *gone);

/* `Site/shop in default`. */
struct str up_name(struct arena *a, const struct up_item *item);

/* The state of an object for people: `Ready`, `Creating: ...`. True if it is as it should be. */
bool up_state(struct arena *a, const struct value *object, struct str *ret);

/* Prints what has changed since the last call; true if all items are ready. The states that are kept go to the arena. */
bool up_show(struct cluster *c, struct run *run, struct arena *kept, struct up_screen *screen, struct up_items *items);

/* Why not everything is ready: a line for each item that is not, and below it what its last warning says. */
void up_reasons(struct cluster *c, struct run *run, struct buf *b, const struct up_items *items);

/* The composites and claims among the items with all that they are made of, as a tree. */
void up_print_trees(struct cluster *c, struct run *run, const struct up_items *items);
