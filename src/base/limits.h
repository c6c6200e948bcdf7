/* Every maximum of the program, in one list. An error that a user can see names the limit that was reached. */
#pragma once

/* Memory */
#define LIMIT_BUFFER_BYTES       (1ull << 30) /* default maximum of a buf */
#define LIMIT_ARENA_CACHE_BLOCKS 16           /* recycled blocks kept per thread and size */
#define LIMIT_ARENA_DEPOT        4            /* times as many wait for a thread that needs them */
#define LIMIT_ERROR_BYTES        (64u << 10)  /* text of one error; the rest is cut off */

/* Documents: JSON, YAML and values in general */
#define LIMIT_DOCUMENT_BYTES  (512ull << 20) /* text of one document or stream */
#define LIMIT_DEPTH           1000           /* nesting of values, in every notation */
#define LIMIT_STRING_BYTES    (1ull << 31)   /* one string inside a value; lengths are 32 bit there */
#define LIMIT_JSON_DUPLICATES 10000          /* duplicate keys of one text that the reader reports */

/* Aliases of a YAML document, as go-yaml bounds them: past a small allowance the share of nodes that come from aliases may
 * be LOW_RATIO in documents of up to LOW_NODES nodes (aliases expanded), falling to HIGH_RATIO at HIGH_NODES. */
#define LIMIT_YAML_ALIAS_FREE       100
#define LIMIT_YAML_ALIAS_FREE_NODES 1000
#define LIMIT_YAML_ALIAS_LOW_NODES  400000
#define LIMIT_YAML_ALIAS_HIGH_NODES 4000000
#define LIMIT_YAML_ALIAS_LOW_RATIO  0.99
#define LIMIT_YAML_ALIAS_HIGH_RATIO 0.10
#define LIMIT_YAML_ALIAS_BYTES      (64ull << 20) /* text that aliases may add */
#define LIMIT_YAML_DUPLICATES       1000          /* duplicate keys that one error lists */
#define LIMIT_YAML_TAG_DIRECTIVES   1000 /* per document: libyaml compares each directive with all earlier ones */

/* Protobuf */
#define LIMIT_MESSAGE_BYTES (64ull << 20) /* one message, unless the caller says otherwise */
#define LIMIT_PROTO_GROUPS  100           /* nesting of groups; the decoder only skips groups */
#define LIMIT_BUILTIN_DEPTH 200           /* nesting of messages in Kubernetes' protobuf form */

/* Small texts */
#define LIMIT_SEMVER_CONSTRAINT    (16u << 10)    /* text of a constraint on versions */
#define LIMIT_ZONE_NAME_BYTES      256            /* name of a time zone */
#define LIMIT_ZONE_BYTES           (1 << 20)      /* file of a time zone */
#define LIMIT_PATH_INDEX           1024           /* largest array index that setting a field path may create */
#define LIMIT_PATH_FILL            32768          /* nulls that field paths of one call may fill arrays with */
#define LIMIT_PATH_EDIT_BYTES      (128ull << 20) /* containers that edits by field paths of one call may copy */
#define LIMIT_PATH_BYTES           (64u << 10)    /* text of a field path */
#define LIMIT_PATH_EXPANSION_BYTES (64ull << 20)  /* texts of all paths that the wildcards of one path expand to */
#define LIMIT_FORMAT_WIDTH         1000000        /* width or precision in a format, as in Go */
#define LIMIT_QUANTITY_EXPONENT    1000000        /* decimal exponent of a quantity */
#define LIMIT_PATCH_OPERATIONS     10000          /* operations of one JSON Patch */
#define LIMIT_PATCH_COPY_BYTES     (16ull << 20)  /* values that the copy operations of one JSON Patch add */
#define LIMIT_JSONPATH_BYTES       (16u << 10)    /* text of a JSONPath */
#define LIMIT_JSONPATH_STEPS       200000         /* values that all steps of one JSONPath find together */

/* Regular expressions */
#define LIMIT_REGEX_PATTERN_BYTES (64u << 10) /* text of one expression */
#define LIMIT_REGEX_GROUPS        1000        /* capture groups of one expression: searching costs their square */
#define LIMIT_REGEX_BYTES         (8u << 20)  /* memory of one compiled expression */
#define LIMIT_REGEX_RANGES        4000000 /* ranges that the parser may add while it builds the classes of one expression */

/* Logging */
#define LIMIT_LOG_LINE_BYTES (64u << 10) /* one line; longer fields are cut */
#define LIMIT_LOG_REPEATS    10 /* equal messages written per LIMIT_LOG_WINDOW_MS; further ones are only counted */
#define LIMIT_LOG_WINDOW_MS  10000
#define LIMIT_LOG_TRACKED    256 /* messages whose repeats are counted at the same time */

/* Network */
#define LIMIT_STREAM_QUEUE_BYTES   (256u << 10) /* output of one connection that waits for the kernel */
#define LIMIT_CONNECTIONS          4096         /* of one server */
#define LIMIT_EXCHANGES            256          /* open at a time on one connection */
#define LIMIT_HEAD_BYTES           (64u << 10)  /* of one HTTP head or trailers */
#define LIMIT_WINDOW_BYTES         (256u << 10) /* of one exchange's body that waits to be consumed */
#define LIMIT_STATUS_MESSAGE_BYTES (8u << 10)   /* of the text of a gRPC status; longer ones are cut */

/* Functions */
#define LIMIT_FUNCTION_FAILURES \
        100 /* fatal results that the SDK adds to one response for reads and writes that failed */

#define LIMIT_REQUIREMENTS     10000       /* of one response of a function */
#define LIMIT_FN_CACHE_BYTES   (64u << 20) /* of responses that are kept in memory */
#define LIMIT_FN_CACHE_ENTRIES 10000
#define LIMIT_FN_CACHE_ENTRY_BYTES \
        (65ull << 20) /* of one response; larger than a message, so that every message fits */
#define LIMIT_FN_CACHE_DISK_BYTES   (512u << 20) /* of responses that are kept in files */
#define LIMIT_FN_CACHE_DISK_ENTRIES 50000
#define LIMIT_REMEMBERED_BYTES      (64u << 20) /* all remembered requirements together */
#define LIMIT_REMEMBERED_COMPOSITES 100000      /* composites whose requirements are remembered */

#define LIMIT_STABLE_RENDERS   100          /* renders of one composite with --until-stable */
#define LIMIT_DIRECTORY_LEVELS 64           /* nesting of directories below one that is rendered */
#define LIMIT_SERVED_BYTES     (192u << 20) /* memory of all calls of a served function, without --max-memory */
#define LIMIT_TRANSFORM_BYTES  (16u << 20)  /* text that one transform of a patch returns */

/* Templates */
#define LIMIT_TEMPLATE_BYTES        (16ull << 20)  /* text of one template */
#define LIMIT_TEMPLATE_TREE_BYTES   (512ull << 20) /* memory of one parsed template */
#define LIMIT_TEMPLATE_PARENS       1000           /* nesting of parentheses */
#define LIMIT_TEMPLATE_CONTROLS     1000           /* nesting of if, with and range */
#define LIMIT_TEMPLATE_CALLS        100000         /* templates that call each other, as in Go */
#define LIMIT_TEMPLATE_OUTPUT_BYTES (64ull << 20)  /* of one execution, and of each text in it */
#define LIMIT_TEMPLATE_STEPS        (100ull << 20) /* of one execution */
#define LIMIT_TEMPLATE_CACHE        256            /* parsed templates that are kept */
#define LIMIT_TEMPLATE_CACHE_BYTES  (64u << 20)    /* memory of the parsed templates that are kept */

/* Kubernetes objects */
#define LIMIT_SCHEMA_VALUES      1000000 /* values of an OpenAPI schema after its references are replaced by their targets */
#define LIMIT_OPENAPI_BYTES      (64ull << 20) /* text of the OpenAPI document of one group and version */
#define LIMIT_OPENAPI_KIND_NODES 100000  /* schemas below one kind of the document, after references are replaced */
#define LIMIT_OPENAPI_NODES      2000000 /* schemas of all kinds of the document together */
#define LIMIT_ANNOTATION_BYTES   (256u << 10) /* keys and values of one object's annotations */
#define LIMIT_MANAGER_BYTES      128          /* name of a field manager */
#define LIMIT_SINGLE_RULES \
        100000 /* combinations of verb, group, resource and name in one role that is checked for escalation */

/* The API server */
#define LIMIT_DISCOVERY_BYTES      (32u << 20) /* discovery documents that are kept */
#define LIMIT_OPENAPI_KEPT         (32u << 20) /* bytes of OpenAPI documents that are kept */
#define LIMIT_OPENAPI_DIGESTS      (4u << 20)  /* bytes of digests of CRDs, a few hundred each */
#define LIMIT_OPENAPI_SCHEMA_BYTES (64u << 20) /* memory of one kind's schema while its document is made */

/* The store */
#define LIMIT_COMMITS       4000          /* commits in the writer, not yet finished by the log */
#define LIMIT_COMMIT_BYTES  (64ull << 20) /* of those; a single one may have more */
#define LIMIT_BATCH_RECORDS 1000          /* records that the log gets at once */
#define LIMIT_BATCH_BYTES   (4ull << 20)  /* of those; a single one may have more */

/* Controllers */
#define LIMIT_CONTROL_WORKERS 64             /* threads that reconcile */
#define LIMIT_CONTROL_CALLS   32             /* in flight for one function outside the process */
#define LIMIT_RUN_BYTES       (256ull << 20) /* the arena of one reconcile */

/* The API server */
#define LIMIT_API_BODY_BYTES     (3u << 20)   /* body of one request, also after decompression */
#define LIMIT_API_BYTES          (192u << 20) /* memory of all requests and answers, without another setting */
#define LIMIT_API_EXCHANGES      1000         /* open at a time on one connection: informers watch every kind on one */
#define LIMIT_API_USER_REQUESTS  400          /* open at a time per user */
#define LIMIT_API_USER_WATCHES   2000         /* open at a time per user */
#define LIMIT_API_WAITING        10000        /* requests that wait for a worker */
#define LIMIT_API_WARNINGS_BYTES (4u << 10)   /* texts of the warnings of one answer */
#define LIMIT_QUERY_PARAMETERS   1000         /* of one request */

/* Images */
#define LIMIT_MANIFEST_BYTES     (4u << 20)    /* text of a manifest, an index or an image's configuration */
#define LIMIT_IMAGE_LAYERS       1000          /* of one image */
#define LIMIT_SIGNATURE_BYTES    (8u << 20)    /* payload of a signature, or an attestation */
#define LIMIT_SIGNATURES         50            /* of one image that are looked at */
#define LIMIT_INDEX_MANIFESTS    1000          /* of one index */
#define LIMIT_INDEX_LEVELS       3             /* indexes that name indexes */
#define LIMIT_BLOB_BYTES         (16ull << 30) /* one layer, as it is sent */
#define LIMIT_IMAGE_BYTES        (32ull << 30) /* all files of an unpacked image */
#define LIMIT_IMAGE_ENTRIES      500000        /* entries of all layers of an image */
#define LIMIT_LAYER_RATIO        200 /* of a layer's size to its compressed size, beyond LIMIT_LAYER_FREE_BYTES */
#define LIMIT_LAYER_FREE_BYTES   (64ull << 20)
#define LIMIT_ZSTD_WINDOW_LOG    27           /* memory that a zstd layer may ask for: 128 MiB */
#define LIMIT_TAR_RECORD_BYTES   (1u << 20)   /* names and pax records of one entry of a tar */
#define LIMIT_TAR_PATH_BYTES     4096         /* path of one entry */
#define LIMIT_TAR_LEVELS         256          /* directories in the path of one entry */
#define LIMIT_TAGS               100000       /* tags that a registry lists for one repository */
#define LIMIT_PACKAGE_YAML_BYTES (200u << 20) /* package.yaml of a package, as in Crossplane */

/* Threads */
#define LIMIT_THREAD_STACK_BYTES (2u << 20) /* must hold LIMIT_DEPTH levels of recursion */
