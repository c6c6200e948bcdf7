"""One API server, as a scenario sees it. What changes objects goes through kubectl when KUBECTL names it, else straight to the API; what only
looks always goes to the API."""

import base64
import http.client
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
SHORT = {
    "xrds": "compositeresourcedefinitions.apiextensions.crossplane.io",
    "crds": "customresourcedefinitions.apiextensions.k8s.io",
}


class Refused(Exception):
    """The API, or kubectl, did not do it."""


class Kind:
    def __init__(self, group, version, resource, kind, is_namespaced):
        self.group, self.version, self.resource, self.kind, self.is_namespaced = group, version, resource, kind, is_namespaced

    @property
    def name(self):
        return self.resource + "." + self.group if self.group else self.resource

    def path(self, namespace, name=None, subresource=None):
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if self.is_namespaced and namespace:
            parts += ["namespaces", namespace]
        return "/" + "/".join(parts + [self.resource] + [p for p in (name, subresource) if p])


class Kube:
    def __init__(self, name, kubeconfig):
        self.name, self.kubeconfig = name, kubeconfig
        self.local = threading.local()
        self.kinds = []
        self.read_config()
        self.discover()

    def read_config(self):
        text = open(self.kubeconfig).read()

        def find(key):
            found = re.search(key + r'"?: *"?([^\s",}]+)', text)
            return found and found.group(1)

        def data(key):
            return base64.b64decode(find(key + "-data")).decode() if find(key + "-data") else None

        self.host = find("server").removeprefix("https://")
        self.token = find("token")
        authority = find("certificate-authority")
        self.context = ssl.create_default_context(cadata=data("certificate-authority") or open(authority).read())
        if not self.token:
            with tempfile.NamedTemporaryFile("w") as f:
                f.write(data("client-certificate") + data("client-key"))
                f.flush()
                self.context.load_cert_chain(f.name)

    # --- HTTP ---

    def send(self, method, path, body, headers):
        if not getattr(self.local, "connection", None):
            self.local.connection = http.client.HTTPSConnection(self.host, context=self.context, timeout=60)
        self.local.connection.request(method, path, body=body, headers=headers)
        answer = self.local.connection.getresponse()
        return answer.status, answer.read()

    def request(self, method, path, body=None, kind="application/json", accept="application/json"):
        headers = {"Accept": accept, **({"Content-Type": kind} if body is not None else {})}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        text = json.dumps(body) if body is not None else None
        try:
            status, data = self.send(method, path, text, headers)
        except (http.client.HTTPException, OSError):
            self.local.connection = None  # the server ended an idle connection
            status, data = self.send(method, path, text, headers)
        if status == 429:  # the server asks for patience, while it opens the storage of a new kind
            time.sleep(0.5)
            return self.request(method, path, body, kind, accept)
        answer = json.loads(data) if data[:1] == b"{" else {"message": data.decode(errors="replace")}
        if status >= 400:
            raise Refused(f"{status} {answer.get('message')}")
        return answer

    # --- Kinds ---

    def discover(self):
        kinds = []
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=DISCOVERY)["items"]:
                for version in group["versions"]:
                    for r in version.get("resources", []):
                        kinds.append(
                            Kind(group["metadata"].get("name", ""), version["version"], r["resource"], r["responseKind"]["kind"], r["scope"] == "Namespaced")
                        )
        self.kinds = kinds

    def find(self, is_it):
        """The first kind that it is, looked for anew for a while: a definition may just have made it."""
        for _ in range(100):
            for k in self.kinds:
                if is_it(k):
                    return k
            time.sleep(0.2)
            self.discover()
        return None

    def kind(self, resource, group):
        """`things` of the scenario's group if it has such, else the first of that name; `things.example.org` of that group."""
        resource = SHORT.get(resource, resource)
        if "." in resource:
            found = self.find(lambda k: k.name == resource)
        else:
            found = next((k for k in self.kinds if k.resource == resource and k.group == group), None) or self.find(
                lambda k: k.resource == resource and (k.group == group or "example" not in k.group)
            )
        if not found:
            raise Refused(f"there is no resource {resource}")
        return found

    def kind_of(self, o):
        group, _, version = o["apiVersion"].rpartition("/")
        found = self.find(lambda k: (k.group, k.version, k.kind) == (group, version, o["kind"]))
        if not found:
            raise Refused(f"there is no kind {o['kind']} in {o['apiVersion']}")
        return found

    # --- Reading ---

    def get(self, kind, namespace, name):
        try:
            return self.request("GET", kind.path(namespace, name))
        except Refused as e:
            if str(e).startswith("404"):
                return None
            raise

    def list(self, kind, namespace, selector=""):
        query = "?labelSelector=" + urllib.parse.quote(selector) if selector else ""
        try:
            items = self.request("GET", kind.path(namespace) + query)["items"]
        except Refused as e:
            if str(e).startswith("404"):
                return []
            raise
        for o in items:
            o.setdefault("apiVersion", kind.group + "/" + kind.version if kind.group else kind.version)
            o.setdefault("kind", kind.kind)
        return items

    # --- Writing ---

    def kubectl(self, *args, given=None):
        """Its standard output. The cache is shared, so that commands do not ask for all kinds again."""
        command = [os.environ["KUBECTL"], "--kubeconfig", self.kubeconfig, "--cache-dir", self.kubeconfig + ".cache", *args]
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    @property
    def has_kubectl(self):
        return "KUBECTL" in os.environ

    def kubectl_objects(self, namespace, objects, *args):
        """One command for objects that say their namespace, and one for the others: kubectl takes no namespace beside the object's own."""
        for flags, some in (
            (["-n", namespace], [o for o in objects if "namespace" not in o["metadata"]]),
            ([], [o for o in objects if "namespace" in o["metadata"]]),
        ):
            if some:
                self.kubectl(*args, *flags, "-f", "-", given="\n---\n".join(map(json.dumps, some)))

    def apply(self, namespace, objects):
        if self.has_kubectl:
            return self.kubectl_objects(namespace, objects, "apply", "--server-side", "--force-conflicts", "--field-manager=kubectl")
        for o in objects:
            path = self.kind_of(o).path(o["metadata"].get("namespace", namespace), o["metadata"]["name"])
            self.request("PATCH", path + "?fieldManager=kubectl&force=true&fieldValidation=Strict", o, PATCHES["apply"])

    def create(self, namespace, objects):
        if self.has_kubectl:
            return self.kubectl_objects(namespace, objects, "create")
        for o in objects:
            path = self.kind_of(o).path(o["metadata"].get("namespace", namespace))
            self.request("POST", path + "?fieldManager=kubectl-create&fieldValidation=Strict", o)

    def patch(self, namespace, kind, name, how, body, subresource=None):
        if self.has_kubectl:
            flags = ["--subresource", subresource] if subresource else []
            return self.kubectl("patch", kind.name, name, "-n", namespace, "--type", how, "-p", json.dumps(body), *flags)
        self.request("PATCH", kind.path(namespace, name, subresource) + "?fieldManager=kubectl-patch", body, PATCHES[how])

    def delete(self, namespace, kind, name, cascade):
        if self.has_kubectl:
            return self.kubectl("delete", kind.name, name, "-n", namespace, "--wait=false", "--cascade=" + cascade)
        self.request("DELETE", kind.path(namespace, name), {"propagationPolicy": cascade.capitalize()})
