/* The inside of an authenticator, for the files of this room. */
#pragma once

#include "authenticator.h"
#include "service-token.h"

struct static_tokens;

/* immutable after creation */
struct authenticator {
        struct cluster *cluster;
        struct access *access;
        struct static_tokens *tokens; /* NULL: there is no file */
        struct token_issuer issuer;
        struct arena arena; /* of the issuer's texts */
};

/* The user behind a bearer token for at least one of the audiences, with system:authenticated in the groups; all of it is in the run's
 * arena. The audiences of the token that were asked for are added to ret_audiences. The error text is that of a TokenReview. */
int authenticator_token(struct authenticator *a, struct run *run, struct str token, const struct str *audiences,
                        size_t n_audiences, struct user *ret, struct str_list *ret_audiences, struct err *err);

/* The token of an Authorization field; false if it has none. */
bool authorization_bearer(struct str field, struct str *ret_token);

/* Puts the user that impersonation fields of the head ask for in place of *user, if *user may do that. */
int authenticator_impersonate(struct authenticator *a, struct run *run, const struct http_head *head, struct user *user,
                              struct err *err);

/* The group is added unless it is there already. In the arena. */
void user_add_group(struct user *u, struct arena *a, struct str group);
bool user_has_group(const struct user *u, struct str group);
