/* The cells of built-in kinds: each column of a kind is a function with a path, a row of a table in table-kinds.c. */
#pragma once

#include "table.h"

/* The inputs from which a cell is made. */
struct table_source {
        struct arena *arena;
        const struct value *object;
        struct instant now;
        struct str path; /* of the column: keys joined by dots */
        struct str otherwise;
};

typedef struct value table_cell(const struct table_source *s);

struct table_cell_spec {
        struct str name;
        struct str type; /* "": string */
        int priority;
        table_cell *cell;
        struct str path;
        struct str otherwise; /* the text where there is none */
};

struct table_kind_spec {
        struct str group;
        struct str kind;
        const struct table_cell_spec *cells;
        size_t n_cells;
        struct value (*conditions)(struct arena *a, const struct value *object); /* of the row; NULL: none */
};

/* The columns of a kind; those for all kinds without their own if there are none. */
const struct table_kind_spec *table_kind_spec(struct str group, struct str kind);

/* --- Pieces of cells --- */

const struct value *table_get(const struct value *object, const char *path); /* keys joined by dots; NULL if missing */
struct str table_text(const struct value *object, const char *path);
struct value table_printf(const struct table_source *s, const char *format, ...) _printf_(2, 3);

/* The age of a time in RFC 3339; `<unknown>` for none. */
struct str table_since(const struct table_source *s, const struct value *time);

/* Texts joined by the separator. */
struct str table_join(struct arena *a, const struct str *texts, size_t n, struct str separator);

/* `a,b,c + 2 more...`: the first texts of count. */
struct str table_join_some(struct arena *a, const struct str *texts, size_t n, size_t max, size_t count);

/* The quantity in its canonical form; `0` for none. */
struct str table_quantity(struct arena *a, const struct value *v);

/* The status of the condition of that type: `True`, ...; "" if there is none. */
struct str table_condition(const struct value *object, struct str type);

/* --- Cells of many kinds --- */

table_cell table_name;       /* metadata.name */
table_cell table_age;        /* of metadata.creationTimestamp */
table_cell table_created_at; /* metadata.creationTimestamp */
table_cell table_string;     /* the text at the path; `otherwise` if it is missing */
table_cell table_filled;     /* the same; `otherwise` also if it is empty */
table_cell table_integer;    /* 0 if it is missing */
table_cell table_boolean;    /* `otherwise` is "true" if a missing one is true */
table_cell table_count;      /* of items or members */
table_cell table_labels;     /* a=b,c=d or <none> */
table_cell table_selector;   /* a label selector, or <none> */
table_cell table_containers; /* names of the containers in the pod spec at the path */
table_cell table_images;
table_cell table_list; /* texts of an array, joined by commas */
/* The name, and ` (default)` if one of the annotations named by path and otherwise is true. */
table_cell table_named_default;

/* --- Cells of one kind --- */

table_cell table_config_data;
table_cell table_controller_reference;
table_cell table_cron_suspended, table_cron_last;
table_cell table_csr_status, table_csr_duration;
table_cell table_csi_tokens;
table_cell table_deployment_selector;
table_cell table_endpoints, table_slice_ports, table_slice_addresses;
table_cell table_event_first, table_event_last, table_event_target, table_event_path, table_event_source,
        table_event_message, table_event_count;
table_cell table_hpa_reference, table_hpa_metrics, table_hpa_min;
table_cell table_ingress_hosts, table_ingress_address, table_ingress_ports, table_ingress_parameters;
table_cell table_ip_parent;
table_cell table_job_status, table_job_completions, table_job_duration;
table_cell table_node_status, table_node_roles, table_node_address, table_node_kernel;
table_cell table_pdb_value;
table_cell table_pod_ready, table_pod_status, table_pod_restarts, table_pod_ip, table_pod_gates;
struct value table_pod_conditions(struct arena *a, const struct value *object);
table_cell table_policy_kind, table_policy_reference;
table_cell table_quota;
table_cell table_ready_replicas;
table_cell table_role, table_subjects;
table_cell table_service_cluster_ip, table_service_external_ip, table_service_ports;
table_cell table_volume_capacity, table_volume_modes, table_volume_phase, table_volume_claim, table_volume_class;
table_cell table_claim_capacity, table_claim_modes;
table_cell table_api_service, table_api_available;
