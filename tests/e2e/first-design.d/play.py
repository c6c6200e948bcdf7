#!/usr/bin/env python3
"""Plays scenarios of the first design on a running `weft up`, and reports each as one TAP line.
  play.py WEFT KUBECONFIG FILE...
  play.py WEFT KUBECONFIG --provide    only the provider below, until it is ended
A scenario is a text of steps; a step begins with a line `% VERB ARGUMENTS` and may have YAML behind it. GROUP stands for an API group of
the scenario's own, NAME for its name.
  % include FILE            the steps of another file, in this place
  % apply                   server-side apply of the documents; the API must take them
  % apply-when-served       the same; a kind that is not served yet is waited for
  % apply-file FILE         apply-when-served of a file beside the scenario
  % warn TEXT               the same, with a warning that holds TEXT
  % refuse TEXT             the API must refuse the last document, with a message that holds TEXT
  % replace REFUSED-TEXT    PUT of the document; a `-` instead of a text: it must be taken
  % wait KIND[.GROUP] [NAMESPACE/]NAME PATH = TEXT      until the field holds TEXT (`~ TEXT`: contains TEXT; `absent`: is not there)
  % wait-any KIND.GROUP PATH = TEXT     the same for any object of the kind
  % count KIND[.GROUP] N    until there are N objects of the kind
  % event KIND.GROUP NAME TEXT       until an event about the object holds TEXT
  % delete KIND.GROUP [NAMESPACE/]NAME
  % gone KIND.GROUP [NAMESPACE/]NAME
  % unwritten KIND.GROUP [NAMESPACE/]NAME   until the object is not written for half a second: nobody writes it in circles
While scenarios run, a small provider makes objects of the primitive kinds ready and fills their connection Secrets."""
import base64, http.client, json, os, re, ssl, subprocess, sys, tempfile, threading, time

PATIENCE = float(os.environ.get("PATIENCE", 90))
weft, kubeconfig, files = sys.argv[1], sys.argv[2], sys.argv[3:]
text = open(kubeconfig).read()


def config(key):
    return base64.b64decode(re.search(r"%s: (\S+)" % key, text).group(1)).decode()


host, port = re.search(r"server: \"?https://([^:]+):(\d+)", text).groups()
context = ssl.create_default_context(cadata=config("certificate-authority-data"))
with tempfile.NamedTemporaryFile("w") as f:
    f.write(config("client-certificate-data") + config("client-key-data"))
    f.flush()
    context.load_cert_chain(f.name)
local = threading.local()


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Wrong(Exception):
    pass


def call(method, path, body=None, content="application/json"):
    for again in (True, False):
        if not getattr(local, "connection", None):
            local.connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=60)
        try:
            local.connection.request(method, path, body, {"Content-Type": content})
            answer = local.connection.getresponse()
            data = json.loads(answer.read() or b"{}")
            break
        except (http.client.HTTPException, OSError):
            local.connection = None
            if not again:
                raise
    local.warnings = [re.search('"(.*)"', w).group(1).replace('\\"', '"') for w in answer.headers.get_all("Warning", [])]
    if answer.status >= 300:
        raise Refused(answer.status, data.get("message", str(data)))
    return data


served = {}


def resource(group, version, kind):
    """The path of a kind's group and version, its plural, whether it is namespaced; None when it is not served."""
    key = (group, version, kind)
    if key not in served:
        base = "/apis/%s/%s" % (group, version) if group else "/api/%s" % version
        try:
            found = [r for r in call("GET", base)["resources"] if r["kind"] == kind and "/" not in r["name"]]
        except Refused:
            found = []
        if not found:
            return None
        served[key] = (base, found[0]["name"], found[0]["namespaced"])
    return served[key]


def versions(group):
    if not group:
        return ["v1"]
    try:
        return [v["version"] for v in call("GET", "/apis/" + group)["versions"]]
    except Refused:
        return []


def path_of(document):
    group, _, version = document["apiVersion"].rpartition("/")
    r = resource(group, version, document["kind"])
    if not r:
        raise Refused(404, "no matches for kind %s in %s" % (document["kind"], document["apiVersion"]))
    base, plural, namespaced = r
    meta = document["metadata"]
    middle = "/namespaces/%s" % meta.get("namespace", "default") if namespaced else ""
    return "%s%s/%s/%s" % (base, middle, plural, meta["name"])


def path_of_reference(kind, name):
    kind, _, group = kind.partition(".")
    namespace, _, name = name.rpartition("/")
    for version in versions(group):
        r = resource(group, version, kind)
        if r:
            middle = "/namespaces/%s" % (namespace or "default") if r[2] else ""
            return "%s%s/%s/%s" % (r[0], middle, r[1], name)
    return None


def documents(yaml):
    for part in re.split(r"(?m)^---\n", yaml):
        out = subprocess.run([weft, "json", "-"], input=part, capture_output=True, text=True)
        if out.returncode:
            raise Wrong("cannot read the scenario: " + out.stderr)
        if out.stdout.strip() not in ("", "null"):
            yield part, json.loads(out.stdout)


def apply(yaml, document):
    path = path_of(document) + "?fieldManager=scenario&force=true&fieldValidation=Strict"
    return call("PATCH", path, yaml, "application/apply-patch+yaml")


def get(kind, name):
    path = path_of_reference(kind, name)
    if not path:
        return None
    try:
        return call("GET", path)
    except Refused as e:
        if e.status != 404:
            raise
        return None


def field(value, path):
    """`a.b[Ready].c[0]`: members; in brackets the position, or the type of a condition."""
    for part in re.findall(r"[^.\[\]]+|\[[^\]]*\]", path.replace("\\.", "\0")):
        part = part.replace("\0", ".")
        if value is None:
            return None
        if part.startswith("["):
            inner = part[1:-1]
            if inner.isdigit():
                value = value[int(inner)] if int(inner) < len(value) else None
            elif isinstance(value, list):
                value = next((c for c in value if c.get("type") == inner), None)
            else:
                value = value.get(inner)
        else:
            value = value.get(part)
    return value


def until(what, fn):
    end = time.monotonic() + PATIENCE
    while True:
        said = fn()
        if said is True:
            return
        if time.monotonic() > end:
            raise Wrong("%s: %s" % (what, said))
        time.sleep(0.03)


def holds(value, wanted):
    if wanted == "absent":
        return value is None
    if isinstance(value, (dict, list)):
        value = json.dumps(value, sort_keys=True)
    elif isinstance(value, bool):
        value = str(value).lower()
    if wanted.startswith("= "):
        return str(value) == wanted[2:]
    if wanted.startswith("~ "):
        return value is not None and wanted[2:] in str(value)
    raise Wrong("unknown comparison " + wanted)


def wait(kind, name, path, wanted):
    def look():
        value = get(kind, name)
        if value is None:
            return wanted == "absent" and path == "." or "it does not exist"
        found = field(value, path)
        return holds(found, wanted) or "is %r; conditions: %s" % (
            found, [(c["type"], c["status"], c.get("message", "")) for c in field(value, "status.conditions") or []])

    until("wait %s %s %s %s" % (kind, name, path, wanted), look)


def items(kind):
    path = path_of_reference(kind, "x")
    return call("GET", re.sub(r"/namespaces/[^/]+", "", path).rsplit("/", 1)[0])["items"] if path else []


def wait_any(kind, path, wanted):
    until("wait-any %s %s %s" % (kind, path, wanted),
          lambda: any(holds(field(i, path), wanted) for i in items(kind)) or "there are %r" % [field(i, path) for i in items(kind)])


def count(kind, n):
    def look():
        found = len(items(kind))
        return found == n or "there are %d" % found

    until("count %s %d" % (kind, n), look)


def event(kind, name, wanted):
    short = kind.partition(".")[0]

    def look():
        found = [e for e in call("GET", "/api/v1/events")["items"]
                 if e["involvedObject"]["kind"] == short and e["involvedObject"]["name"] == name.rpartition("/")[2]]
        return any(wanted in e["message"] for e in found) or "there are %s" % [e["message"] for e in found]

    until("event %s %s" % (kind, name), look)


def unwritten(kind, name):
    def look():
        before = get(kind, name)["metadata"]["resourceVersion"]
        time.sleep(0.5)
        return get(kind, name)["metadata"]["resourceVersion"] == before or "it is written again and again"

    until("unwritten %s %s" % (kind, name), look)


def step_apply(yaml, wanted, waits=False):
    for part, document in documents(yaml):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                apply(part, document)
                break
            except Refused as e:
                if not waits or e.status != 404 or time.monotonic() > end:
                    raise Wrong("apply of %s %s: %s" % (document["kind"], document["metadata"]["name"], e))
                time.sleep(0.05)
        if wanted and not any(wanted in w for w in local.warnings):
            raise Wrong("warnings are %r, wanted %r" % (local.warnings, wanted))


def step_refuse(yaml, wanted):
    *first, last = documents(yaml)
    for part, document in first:
        apply(part, document)
    try:
        apply(*last)
    except Refused as e:
        if wanted not in str(e):
            raise Wrong("refused with %r, wanted %r" % (str(e), wanted))
        return
    raise Wrong("it was not refused")


def step_replace(yaml, wanted):
    for _, document in documents(yaml):
        path = path_of(document)
        document["metadata"]["resourceVersion"] = call("GET", path)["metadata"]["resourceVersion"]
        try:
            call("PUT", path, json.dumps(document))
        except Refused as e:
            if wanted == "-" or wanted not in str(e):
                raise Wrong("refused with %r, wanted %r" % (str(e), wanted))
            return
        if wanted != "-":
            raise Wrong("it was not refused")


def step_delete(kind, name):
    call("DELETE", path_of_reference(kind, name))


def play(steps):
    for line, yaml in steps:
        words = line.split()
        verb, rest = words[0], line[len(words[0]):].strip()
        if verb in ("apply", "apply-when-served"):
            step_apply(yaml, None, verb != "apply")
        elif verb == "warn":
            step_apply(yaml, rest)
        elif verb == "refuse":
            step_refuse(yaml, rest)
        elif verb == "replace":
            step_replace(yaml, rest)
        elif verb == "wait":
            wait(words[1], words[2], words[3], line.split(None, 4)[4])
        elif verb == "wait-any":
            wait_any(words[1], words[2], line.split(None, 3)[3])
        elif verb == "count":
            count(words[1], int(words[2]))
        elif verb == "event":
            event(words[1], words[2], line.split(None, 3)[3])
        elif verb == "delete":
            step_delete(words[1], words[2])
        elif verb == "gone":
            wait(words[1], words[2], ".", "absent")
        elif verb == "unwritten":
            unwritten(words[1], words[2])
        else:
            raise Wrong("unknown step " + verb)


def read(path, name):
    steps = []
    for line in open(path):
        line = line.replace("GROUP", name + ".example.org").replace("NAME", name)
        if line.startswith("% include "):
            steps += read(os.path.join(os.path.dirname(path), line.split()[2]), name)
        elif line.startswith("% apply-file "):
            steps.append(["apply-when-served", open(os.path.join(os.path.dirname(path), line.split()[2])).read()])
        elif line.startswith("% "):
            steps.append([line[2:].strip(), ""])
        elif line.startswith("#") and not steps:
            continue
        elif steps:
            steps[-1][1] += line
    return steps


# --- The provider ---

PRIMITIVES = [("azure.crossplane.io", "v1alpha3", "ResourceGroup"), ("database.azure.crossplane.io", "v1beta1", "MySQLServer"),
              ("database.azure.crossplane.io", "v1alpha3", "MySQLServerVirtualNetworkRule"),
              ("workload.crossplane.io", "v1alpha1", "KubernetesApplication"), ("primitive.example.org", "v1", "Disk"),
              ("primitive.example.org", "v1", "Network"), ("primitive.example.org", "v1", "Pod")]
READY = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Available",
                                    "lastTransitionTime": "2020-01-01T00:00:00Z"}]}}


def provide_one(base, plural, item):
    meta, reference = item["metadata"], (item.get("spec") or {}).get("writeConnectionSecretToRef") or {}
    middle = "/namespaces/" + meta["namespace"] if "namespace" in meta else ""
    if field(item, "metadata.annotations") and "test/never" in meta["annotations"]:
        return
    if reference.get("name"):
        keys = item["spec"].get("keys") or ["username", "password", "endpoint"]
        data = {k: base64.b64encode(("%s of %s" % (k, meta["name"])).encode()).decode() for k in keys}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": reference["name"]}, "data": data}
        call("PATCH", "/api/v1/namespaces/%s/secrets/%s?fieldManager=provider&force=true" % (
            reference.get("namespace", "default"), reference["name"]), json.dumps(secret), "application/apply-patch+yaml")
    if not field(item, "status.conditions[Ready]"):
        call("PATCH", "%s%s/%s/%s/status" % (base, middle, plural, meta["name"]), json.dumps(READY), "application/merge-patch+json")


def provide(stop):
    seen = {}
    while not stop.wait(0.1):
        for primitive in PRIMITIVES:
            r = resource(*primitive)
            try:
                for item in call("GET", "%s/%s" % r[:2])["items"] if r else []:
                    if seen.get(item["metadata"]["uid"]) != item["metadata"]["generation"]:
                        provide_one(r[0], r[1], item)
                        seen[item["metadata"]["uid"]] = item["metadata"]["generation"]
            except Refused:
                pass  # deleted meanwhile, or written by another: the next round sees it


def main():
    stop, failures = threading.Event(), 0
    if files == ["--provide"]:
        provide(stop)
    first = read(files[0], "primitives")
    play(first)
    thread = threading.Thread(target=provide, args=(stop,), daemon=True)
    thread.start()
    for number, path in enumerate(files[1:], 1):
        name = os.path.basename(path)
        began = time.monotonic()
        try:
            play(read(path, name))
            print("ok %d - %s" % (number, name))
        except (Wrong, Refused) as e:
            failures += 1
            print("not ok %d - %s\n# %s" % (number, name, str(e).replace("\n", "\n# ")))
        if os.environ.get("TIMES"):
            print("# %.1f s" % (time.monotonic() - began))
        sys.stdout.flush()
    stop.set()
    print("1..%d" % (len(files) - 1))
    sys.exit(1 if failures else 0)


main()
