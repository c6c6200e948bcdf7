"""auth.py PEER DIRECTORY OURS DIRECTORY ADMIN-TOKEN NOBODY-TOKEN: the table of requests below, to both. TAP on standard output.

Answers are compared as JSON with its order of keys; uids, times, tokens and the names of issuers are replaced first, and managedFields left out.
Left out of the comparison, each with its reason: texts of refused impersonation (1.36 answers about constrained impersonation, which is not
ours), and tokens of an account that was deleted (the real server remembers good tokens for ten seconds)."""
import http.client
import json
import re
import ssl
import sys
import urllib.parse

peer_url, peer_dir, our_url, our_dir, admin, nobody = sys.argv[1:]
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS = "/apis/authorization.k8s.io/v1/"
ROBOT = "/api/v1/namespaces/default/serviceaccounts/robot/token"


class Side:
    def __init__(self, url, directory):
        self.host = urllib.parse.urlparse(url).netloc
        self.directory = directory
        self.kept = {}

    def ask(self, method, path, body=None, headers=(), certificate=None):
        context = ssl._create_unverified_context()
        if certificate:
            context.load_cert_chain("%s/%s.crt" % (self.directory, certificate), "%s/%s.key" % (self.directory, certificate))
        c = http.client.HTTPSConnection(self.host, context=context, timeout=30)
        c.putrequest(method, path)
        for name, value in headers:
            c.putheader(name, value)
        data = json.dumps(body).encode() if body is not None else b""
        if body is not None:
            c.putheader("Content-Type", "application/json")
            c.putheader("Content-Length", str(len(data)))
        c.endheaders(data)
        r = c.getresponse()
        return r.status, r.read().decode()


def bearer(token):
    return [("Authorization", "Bearer " + token)]


ADMIN, NOBODY = bearer(admin), bearer(nobody)


def normal(v):
    if isinstance(v, dict):
        return {k: normal(x) for k, x in v.items() if k not in ("managedFields", "resourceVersion")}
    if isinstance(v, list):
        return [normal(x) for x in v]
    if isinstance(v, str):
        for pattern, to in ((r"eyJ[\w-]{20,}\.[\w-]+\.[\w-]+", "TOKEN"), (r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID"),
                            (r"20\d\d-\d\d-\d\dT[\d:]+Z", "TIME"), (r"X509SHA256=\w+", "X509"),
                            (r"https://(kubernetes\.default\.svc\.cluster\.local|localhost)(?!\S*jwks)", "ISSUER"),
                            (r"https://127\.0\.0\.1:\d+", "SERVER")):
            v = re.sub(pattern, to, v)
    return v


def shown(answer, status_only):
    status, body = answer
    if status_only:
        return str(status)
    try:
        v = normal(json.loads(body))
        if "keys" in v:
            v = [{k: len(x) for k, x in key.items()} for key in v["keys"]]
        body = json.dumps(v)
    except ValueError:
        pass
    return "%d %s" % (status, body)


sides = [Side(peer_url, peer_dir), Side(our_url, our_dir)]
number = failures = 0


def check(name, method, path, body=None, headers=(), certificate=None, keep=None, status_only=False):
    """headers and body may be functions of a side."""
    global number, failures
    answers = []
    for side in sides:
        h = headers(side) if callable(headers) else headers
        b = body(side) if callable(body) else body
        answer = side.ask(method, path, b, h, certificate)
        if keep:
            side.kept[keep] = json.loads(answer[1])["status"]["token"]
        answers.append(shown(answer, status_only))
    number += 1
    if answers[0] == answers[1]:
        print("ok %d - %s" % (number, name))
        return
    failures += 1
    print("not ok %d - %s\n# real: %s\n# ours: %s" % (number, name, answers[0], answers[1]))


def both(method, path, body=None):
    for side in sides:
        status, text = side.ask(method, path, body, ADMIN)
        if status >= 300:
            sys.exit("%s %s at %s: %d %s" % (method, path, side.host, status, text))


def who(name, headers=(), certificate=None, **more):
    check(name, "POST", WHO, {}, headers, certificate, **more)


# --- Credentials ---
for name in ("alice", "nameless", "server", "free", "stranger"):
    who("certificate " + name, certificate=name)
who("a certificate of another authority, and a token", ADMIN, "stranger")
who("a certificate, and a wrong token", bearer("nonsense"), "alice")
who("admin", ADMIN)
who("nobody", NOBODY)
for field in ("Bearer nonsense", "Bearer a.b.c", "bearer " + admin, "BEARER " + nobody, "Bearer  " + admin, "Bearer %s x" % admin, "Bearer ",
              "Bearer", "Basic YTpi", "", admin):
    who("Authorization: " + field.replace(admin, "ADMIN").replace(nobody, "NOBODY"), [("Authorization", field)])
for path in ("/healthz", "/livez", "/readyz", "/metrics", "/api", "/apis", "/openapi/v3", "/.well-known/openid-configuration", "/openid/v1/jwks"):
    check("anonymous GET " + path, "GET", path, status_only=path in ("/readyz", "/livez"))
    check("a wrong token for " + path, "GET", path, headers=bearer("nonsense"))
check("issuer", "GET", "/.well-known/openid-configuration", headers=ADMIN)
check("keys", "GET", "/openid/v1/jwks", headers=ADMIN)
check("POST of keys", "POST", "/openid/v1/jwks", headers=ADMIN)

# --- Impersonation ---
for name, fields in (
        ("user", [("User", "bob")]),
        ("everything", [("User", "bob"), ("Group", "g1"), ("Group", "g2"), ("Uid", "u-1"), ("Extra-Scopes", "a"), ("Extra-Scopes", "b"),
                        ("Extra-example.com%2Fkey", "c")]),
        ("service account", [("User", "system:serviceaccount:default:x")]),
        ("service account with a group", [("User", "system:serviceaccount:default:x"), ("Group", "g")]),
        ("anonymous", [("User", "system:anonymous")]),
        ("nobody's name", [("User", "")]),
        ("group alone", [("Group", "g1")]), ("uid alone", [("Uid", "u")]), ("extra alone", [("Extra-A", "v")]),
        ("authenticated", [("User", "bob"), ("Group", "system:authenticated")]),
        ("unauthenticated", [("User", "bob"), ("Group", "system:unauthenticated")])):
    who("impersonate " + name, ADMIN + [("Impersonate-" + k, v) for k, v in fields])
both("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
     {"metadata": {"name": "imp"}, "rules": [{"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"]}]})
both("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
     {"metadata": {"name": "imp"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "imp"},
      "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}]})
for name, fields in (("user", [("User", "bob")]), ("service account", [("User", "system:serviceaccount:default:x")]),
                     ("group", [("User", "bob"), ("Group", "g1")]), ("uid", [("User", "bob"), ("Uid", "u")]),
                     ("extra", [("User", "bob"), ("Extra-Foo", "v")])):
    who("nobody impersonates " + name, NOBODY + [("Impersonate-" + k, v) for k, v in fields], status_only=name != "user")
who("anonymous impersonates", [("Impersonate-User", "bob")], status_only=True)

# --- Token requests ---
both("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "robot"}})
for name in ("s1", "s2"):
    both("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": name}})
secret = {"kind": "Secret", "apiVersion": "v1", "name": "s1"}
for name, keep, spec in (
        ("default", "api", {}), ("audiences", "x", {"audiences": ["x"], "expirationSeconds": 700}), ("two audiences", None, {"audiences": ["x", "y"]}),
        ("short", None, {"expirationSeconds": 100}), ("zero", None, {"expirationSeconds": 0}), ("huge", None, {"expirationSeconds": 4294967297}),
        ("long", None, {"expirationSeconds": 315360000}), ("bound", None, {"boundObjectRef": secret}),
        ("bound to s2", "s2", {"boundObjectRef": dict(secret, name="s2")}), ("bound to nothing", None, {"boundObjectRef": dict(secret, name="no")}),
        ("bound to a pod", None, {"boundObjectRef": dict(secret, kind="Pod")}), ("bound to a node", None, {"boundObjectRef": dict(secret, kind="Node")}),
        ("another uid", None, {"boundObjectRef": dict(secret, uid="zzz")}), ("a ConfigMap", None, {"boundObjectRef": dict(secret, kind="ConfigMap")}),
        ("another version", None, {"boundObjectRef": dict(secret, apiVersion="v2")})):
    check("token request: " + name, "POST", ROBOT, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}, ADMIN, keep=keep)
check("token request: empty", "POST", ROBOT, {}, ADMIN)
check("token request: dry run", "POST", ROBOT + "?dryRun=All", {}, ADMIN)
for metadata in ({"name": "robot", "namespace": "default"}, {"name": "other"}, {"namespace": "other"}):
    check("token request: metadata %s" % metadata, "POST", ROBOT, {"metadata": metadata}, ADMIN)
check("token request: another kind", "POST", ROBOT, {"apiVersion": "v1", "kind": "Pod"}, ADMIN)
check("token request: no account", "POST", ROBOT.replace("robot", "none"), {}, ADMIN)
check("token request: GET", "GET", ROBOT, headers=ADMIN)
check("token request: nobody", "POST", ROBOT, {}, NOBODY)
for name in ("api", "x"):  # not s2: the real server would remember it for ten seconds
    who("token " + name, lambda side: bearer(side.kept[name]))

# --- Reviews ---


def token_review(name, token, audiences=None):
    def body(side):
        spec = {"token": token(side)}
        if audiences:
            spec["audiences"] = audiences
        return {"spec": spec}
    check("token review: " + name, "POST", TOKENS, body, ADMIN)


token_review("static", lambda side: admin)
token_review("static for x", lambda side: admin, ["x"])
token_review("nonsense", lambda side: "nonsense")
token_review("no token", lambda side: "")
token_review("of the API", lambda side: side.kept["api"])
token_review("of the API for x", lambda side: side.kept["api"], ["x"])
token_review("of x", lambda side: side.kept["x"])
token_review("of x for x and y", lambda side: side.kept["x"], ["x", "y"])
token_review("changed", lambda side: side.kept["api"][:-5] + "AAAAA")
check("token review: nobody", "POST", TOKENS, {"spec": {"token": "x"}}, NOBODY)
check("token review: metadata", "POST", TOKENS, {"metadata": {"name": "foo", "labels": {"a": "b"}}, "spec": {"token": "x"}}, ADMIN)
check("GET of a review", "GET", WHO, headers=ADMIN)
check("v1beta1 of a review", "POST", WHO.replace("/v1/", "/v1beta1/"), {}, ADMIN)
check("dry run of a review", "POST", WHO + "?dryRun=All", {}, ADMIN)
both("DELETE", "/api/v1/namespaces/default/secrets/s2")
who("a token bound to a Secret that is gone", lambda side: bearer(side.kept["s2"]))
token_review("bound to a Secret that is gone", lambda side: side.kept["s2"])

pods = {"verb": "get", "resource": "pods"}
healthz = {"verb": "get", "path": "/healthz"}
for name, spec in (
        ("master", {"user": "x", "groups": ["system:masters"], "resourceAttributes": dict(pods, namespace="default")}),
        ("no", {"user": "nobody", "resourceAttributes": pods}),
        ("yes", {"user": "nobody", "resourceAttributes": {"verb": "impersonate", "resource": "users", "name": "z"}}),
        ("both", {"user": "nobody", "resourceAttributes": pods, "nonResourceAttributes": healthz}), ("neither", {"user": "nobody"}),
        ("no user", {"resourceAttributes": pods}), ("group", {"groups": ["g"], "resourceAttributes": pods}), ("empty", {}),
        ("extra", {"user": "u", "uid": "1", "extra": {"k": ["v"]}, "resourceAttributes": pods})):
    check("access review: " + name, "POST", ACCESS + "subjectaccessreviews", {"spec": spec}, ADMIN)
check("access review: namespace", "POST", ACCESS + "subjectaccessreviews",
      {"metadata": {"namespace": "x"}, "spec": {"user": "nobody", "resourceAttributes": pods}}, ADMIN)
local = ACCESS + "namespaces/default/localsubjectaccessreviews"
for name, metadata, attributes in (("yes", {}, {"resourceAttributes": dict(pods, namespace="default")}),
                                   ("mismatch", {}, {"resourceAttributes": dict(pods, namespace="x")}),
                                   ("metadata", {"namespace": "x"}, {"resourceAttributes": dict(pods, namespace="x")}),
                                   ("path", {}, {"nonResourceAttributes": healthz})):
    check("local access review: " + name, "POST", local, {"metadata": metadata, "spec": dict(attributes, user="nobody")}, ADMIN)
for name, headers, spec in (("admin", ADMIN, {"resourceAttributes": {"verb": "*", "resource": "*", "group": "*"}}),
                            ("nobody", NOBODY, {"resourceAttributes": pods}), ("neither", NOBODY, {}),
                            ("allowed", NOBODY, {"resourceAttributes": {"verb": "impersonate", "resource": "users"}}),
                            ("selector", NOBODY, {"resourceAttributes": dict(pods, fieldSelector={"rawSelector": "a=b"})}),
                            ("anonymous", [], {"resourceAttributes": pods})):
    check("self access review: " + name, "POST", ACCESS + "selfsubjectaccessreviews", {"spec": spec}, headers)
check("self rules review without a namespace", "POST", ACCESS + "selfsubjectrulesreviews", {"spec": {}}, NOBODY)

print("1..%d" % number)
sys.exit(failures > 0)
