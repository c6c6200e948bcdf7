/* The program to start, and how to start it. The runtime makes a launch; the process that becomes the program reads it. */
#pragma once

#include "arena.h"
#include "buf.h"
#include "err.h"

/* The descriptors that the new process begins with, besides 0 to 2. */
enum {
        LAUNCH_FD_EVENTS = 3,   /* packets: what happens, and what to do */
        LAUNCH_FD_REQUESTS = 4, /* packets: questions and their answers */
        LAUNCH_FD_SPEC = 5,     /* the text of launch_encode */
        LAUNCH_FD_ROOT = 6,     /* the directory of the image */
        LAUNCH_FD_END = 7,
};

/* The first byte of a packet on the events. */
enum {
        EVENT_GO = 'g',      /* to it: the limits hold, begin */
        EVENT_TERM = 't',    /* to it: SIGTERM for the program */
        EVENT_RUNNING = 'R', /* from it: the program has begun */
        EVENT_FAILED = 'F',  /* from it: it cannot begin; the reason follows */
        EVENT_ENDED = 'E',   /* from it: the program has ended; an int follows, as waitpid has it */
};

/* A packet on the requests. */
enum {
        REQUEST_SOCKET = 's', /* the answer brings a TCP socket of the program's network, not connected */
        REQUEST_COUNT = 'c', /* the answer is the number of connections to the program's port, as an int; -1: unknown */
};

#define LAUNCH_USER 2000 /* and group, of the program */

struct launch_file {
        const char *path; /* absolute, below a directory that only such files are in */
        struct str content;
};

struct launch {
        const char *const *arguments; /* ends with NULL, as the next one */
        const char *const *environment;
        const char *directory; /* where it starts */
        const char *hostname;
        const struct launch_file *files; /* read-only in the program's eyes */
        size_t n_files;
        uint16_t port;
        uint32_t first_id;   /* user 0 inside is this id outside */
        uint64_t data_bytes; /* RLIMIT_DATA */
        bool shares_network; /* with the host */
};

void launch_encode(const struct launch *l, struct buf *b);

/* The text is of launch_encode; it is borrowed. */
void launch_decode(struct arena *a, struct str text, struct launch *ret);
