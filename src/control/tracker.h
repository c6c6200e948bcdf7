/* Notes of the objects that each key's runs read, so that a change runs exactly the keys that read the changed object.
 *
 * A run reads and writes through a cluster of its own (tracked_run_cluster), which notes everything: objects that were found or not
 * found, selections of lists, kinds that were looked up. A note is made before the read, and the kind is watched before it, so that a
 * change in between runs the key again. The version that a run decided on is part of the note: an event about that version or an older
 * one runs nothing. Of several reads of an object in one run the first counts, because the run decided after it. A successful run
 * replaces the notes of earlier ones, a failed run only adds to them.
 *
 * Nothing is kept on disk: after a start each key runs once.
 *
 * Between an event and the queue is a circuit breaker for each key (breaker.h). */
#pragma once

#include "control.h"
#include "hub.h"

struct tracker;
struct tracked_run;

/* The cluster, the hub and the meters must outlive the tracker. meters counts circuits that open and close; NULL: nothing is
 * counted. */
int tracker_new(struct cluster *cluster, struct hub *hub, struct meters *meters, struct tracker **ret, struct err *err);

/* No run may be open. NULL is fine. */
void tracker_free(struct tracker *t);

/* Begins a run of the key; the key is being reconciled. The result lives until tracked_run_end. knows_writes: what the run writes is
 * no news to it. Otherwise its own changes run it once more, because it decided before it saw them. */
struct tracked_run *tracker_begin(struct tracker *t, struct controller *c, struct str key, bool knows_writes);

/* A cluster that notes what the run reads and writes. Only the run's thread may use it. */
struct cluster *tracked_run_cluster(struct tracked_run *r);

/* Why the key runs: the first event since its last run began, such as `MODIFIED ConfigMap default/a by kubectl-edit`, and how many
 * others came; or what the last run planned. In the arena. */
struct str tracked_run_cause(struct tracked_run *r, struct arena *a);

/* Why the key will run again if no event comes; a static text, NULL if nothing is planned. */
void tracked_run_plan(struct tracked_run *r, const char *why);

/* Is called after each write of the run, with its result, or with NULL and the error if it failed. One function for each run. */
typedef void tracked_run_on_write(void *arg, const struct run *run, const struct write_request *req,
                                  const struct write_result *result, const struct err *err);
void tracked_run_observe_writes(struct tracked_run *r, tracked_run_on_write *on_write, void *arg);

/* The noisiest source if the key's circuit is open, else "". */
struct str tracked_run_open_circuit(struct tracked_run *r, struct arena *a);

/* Notes that the run depends on something that is no object of the cluster, before it is used; tracker_tell runs all keys that noted
 * it, once it has changed. Topics are texts like `function/NAME`. */
void tracked_run_note(struct tracked_run *r, struct str topic);
void tracker_tell(struct tracker *t, struct str topic);

/* How many keys noted the topic in their last runs. */
size_t tracker_count(struct tracker *t, struct str topic);

/* The controller and the key of the run; borrowed until its end. */
struct controller *tracked_run_controller(const struct tracked_run *r);
struct str tracked_run_key(const struct tracked_run *r);

/* How many events the key's circuit takes at once: 100, or twice the number of its composed resources if that is more. */
void tracked_run_expect(struct tracked_run *r, size_t n_composed);

/* Ends the run. is_complete: it succeeded, and its notes replace the earlier ones. */
void tracked_run_end(struct tracked_run *r, bool is_complete);

/* Forgets the key: its object is gone. */
void tracker_forget(struct tracker *t, struct controller *c, struct str key);

/* From now on no event adds a key of the controller to its queue; for a controller that is about to stop. tracker_notice must not be
 * called for it any more. */
void tracker_mute(struct tracker *t, struct controller *c);

/* Counts the kinds that the controller's runs read in engine_watches_started_total and _stopped_total; its own kind counts at once, as
 * own_type, which is static. Before its first run. */
void tracker_count_watches(struct tracker *t, struct controller *c, struct gvk own, const char *own_type);

/* Forgets all keys of a controller that has stopped. */
void tracker_forget_controller(struct tracker *t, struct controller *c);

/* A change of the object that the key stands for. Adds the key to the queue unless its last run knew this version. For the callbacks
 * of a hub. */
void tracker_notice(struct tracker *t, struct controller *c, struct str key, const struct hub_event *e);

struct tracker_stats {
        size_t n_keys;
        size_t n_notes;
        uint64_t n_events; /* that ran a key */
        uint64_t n_dropped;
};
struct tracker_stats tracker_stats(struct tracker *t);
