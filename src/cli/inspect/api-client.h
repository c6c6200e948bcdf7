/* A client of a running `weft up`, for commands that look into it: it finds the API by a kubeconfig and reads one path. */
#pragma once

#include "err.h"
#include "settings.h"
#include "value.h"

struct buf;

/* Settings that say where the API is. */
#define API_CLIENT_ADDRESS_SETTINGS                                                                                  \
        { .name = "kubeconfig",                                                                                      \
          .type = SETTING_STRING,                                                                                    \
          .value_name = "FILE",                                                                                      \
          .help = "The kubeconfig of the API. The default is the one in --data, else $KUBECONFIG, else that of the " \
                  "default data directory." },                                                                       \
                { .name = "data",                                                                                    \
                  .type = SETTING_STRING,                                                                            \
                  .value_name = "DIR",                                                                               \
                  .help = "The data directory of the `weft up` to look into." },                                     \
        {                                                                                                            \
                .name = "context", .short_name = 'c', .type = SETTING_STRING, .value_name = "NAME",                  \
                .help = "The context of the kubeconfig; the default is its current one."                             \
        }

/* The same for commands about objects in namespaces. */
#define API_CLIENT_SETTINGS                                                                                  \
        API_CLIENT_ADDRESS_SETTINGS,                                                                         \
        {                                                                                                    \
                .name = "namespace", .short_name = 'n', .type = SETTING_STRING, .value_name = "NAME",        \
                .help = "The namespace of the object; the default is that of the context, else \"default\"." \
        }

struct api_client;

/* The settings must have all of API_CLIENT_ADDRESS_SETTINGS. */
int api_client_new(const struct settings *settings, struct api_client **ret, struct err *err);
void api_client_free(struct api_client *c); /* NULL is fine */

static inline void api_client_freep(struct api_client **c)
{
        api_client_free(*c);
}

/* The namespace to look in: that of the setting, of the context, or `default`. Borrowed. */
struct str api_client_namespace(const struct api_client *c);

/* A parameter of a request; those with an empty value are left out. */
struct api_parameter {
        struct str name;
        struct str value;
};

/* Reads a path below /weft/v1; *ret lives in the arena. An error of the API has its message. */
int api_client_read(struct api_client *c, struct arena *a, const char *path, const struct api_parameter *parameters,
                    size_t n, const struct value **ret, struct err *err);

/* As whom requests are made, if not as the user of the kubeconfig. Texts are borrowed. */
struct api_impersonation {
        struct str user, uid;
        const struct str *groups;
        size_t n_groups;
};
void api_client_impersonate(struct api_client *c, const struct api_impersonation *as);

/* One request of the Kubernetes API, with an object as its body (NULL: none), or a merge patch. *ret lives in the arena. The error is the API's own. */
int api_client_call(struct api_client *c, struct arena *a, struct str method, struct str path, const struct value *body,
                    const struct value **ret, struct err *err);

/* The object that the arguments name: TYPE/NAME, or TYPE and NAME. *ret_rest is the number of arguments that were used. A name is
 * not needed if is_optional. Errors are Crossplane's (docs/spec/packages 6.4). */
int api_client_target(struct arguments arguments, bool is_optional, struct str *ret_type, struct str *ret_name,
                      size_t *ret_used, struct err *err);
