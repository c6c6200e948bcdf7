/* One run of a program, from its start to its end. Loop thread only. */
#pragma once

#include "gate.h"
#include "loop.h"
#include "program.h"

struct process;

struct process_callbacks {
        void (*on_ready)(struct process *p);
        void (*on_line)(struct process *p, struct str line); /* that it wrote, without its end */
        /* The last call, never from within a call of the owner: no process of the program is left. why is a text for people. */
        void (*on_ended)(struct process *p, const char *why);
};

/* The name is for its control groups. On success on_ended follows some time later. */
int process_start(struct loop *l, struct program *program, struct str name, const struct process_callbacks *callbacks,
                  void *owner, struct process **ret, struct err *err);

void *process_owner(const struct process *p);
struct program_gate *process_gate(const struct process *p); /* borrowed */

void process_terminate(struct process *p); /* SIGTERM */
void process_kill(struct process *p);      /* with all that it has started */
