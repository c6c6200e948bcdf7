/* Every maximum of the program, in one list. What a user can meet names the limit in its error. */
#pragma once

/* Memory */
#define LIMIT_BUFFER_BYTES       (1ull << 30) /* any buf without a smaller maximum of its own */
#define LIMIT_ARENA_CACHE_BLOCKS 16           /* recycled blocks kept per thread and size */
#define LIMIT_ERROR_BYTES        (64u << 10)  /* text of one error; the rest is cut off */

/* Documents: JSON, YAML and values in general */
#define LIMIT_DOCUMENT_BYTES  (512ull << 20) /* text of one document or stream */
#define LIMIT_DEPTH           1000           /* nesting of values, in every notation */
#define LIMIT_STRING_BYTES    (1ull << 31)   /* one string inside a value; lengths are 32 bit there */
#define LIMIT_JSON_DUPLICATES 10000          /* duplicate keys of one text that the reader tells of */

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
#define LIMIT_YAML_TAG_DIRECTIVES   1000          /* of one document: libyaml compares each with all before it */

/* Protobuf */
#define LIMIT_MESSAGE_BYTES (64ull << 20) /* one message, unless the caller says otherwise */
#define LIMIT_PROTO_GROUPS  100           /* nesting of groups, which are only ever skipped */

/* Small texts */
#define LIMIT_PATH_INDEX           1024          /* largest array index that setting a field path may create */
#define LIMIT_PATH_BYTES           (64u << 10)   /* text of a field path */
#define LIMIT_PATH_EXPANSION_BYTES (64ull << 20) /* texts of all paths behind the wildcards of one */
#define LIMIT_FORMAT_WIDTH         1000000       /* width or precision in a format, as in Go */
#define LIMIT_QUANTITY_EXPONENT    1000000       /* decimal exponent of a quantity */
#define LIMIT_PATCH_OPERATIONS     10000         /* operations of one JSON Patch */
#define LIMIT_PATCH_COPY_BYTES     (16ull << 20) /* values that the copies of one JSON Patch add */

/* Regular expressions */
#define LIMIT_REGEX_PATTERN_BYTES (64u << 10) /* text of one expression */
#define LIMIT_REGEX_GROUPS        1000        /* capture groups of one expression: searching costs their square */
#define LIMIT_REGEX_BYTES         (8u << 20)  /* memory of one compiled expression */
#define LIMIT_REGEX_RANGES        4000000     /* ranges that the classes of one expression may need on the way */

/* Logging */
#define LIMIT_LOG_LINE_BYTES (64u << 10) /* one line; longer fields are cut */
#define LIMIT_LOG_REPEATS    10          /* equal messages per LIMIT_LOG_WINDOW_MS before they are counted instead */
#define LIMIT_LOG_WINDOW_MS  10000
#define LIMIT_LOG_TRACKED    256 /* messages whose repeats are counted at a time */

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
        (65ull << 20) /* of one; more than a message, so that it is never what is too small */
#define LIMIT_FN_CACHE_DISK_BYTES   (512u << 20) /* of responses that are kept in files */
#define LIMIT_FN_CACHE_DISK_ENTRIES 50000
#define LIMIT_REMEMBERED_BYTES      (64u << 20) /* of requirements that are remembered */
#define LIMIT_REMEMBERED_COMPOSITES 100000      /* whose requirements are */

#define LIMIT_STABLE_RENDERS    100          /* renders of one composite with --until-stable */
#define LIMIT_SERVED_CALL_BYTES (1ull << 30) /* memory of one call of a built-in function that serves */
#define LIMIT_TRANSFORM_BYTES   (16u << 20)  /* text that one transform of a patch gives */

/* Kubernetes objects */
#define LIMIT_SCHEMA_VALUES    1000000      /* of an OpenAPI schema with its references in place */
#define LIMIT_ANNOTATION_BYTES (256u << 10) /* keys and values of one object's annotations */
#define LIMIT_MANAGER_BYTES    128          /* name of a field manager */

/* Threads */
#define LIMIT_THREAD_STACK_BYTES (2u << 20) /* must hold LIMIT_DEPTH levels of recursion */
