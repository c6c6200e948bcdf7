"""Versions of one function (function-version.c) in a registry of the test, and objects of the function and of what it composes.
    versions.py PORT VERSION...   only the registry, until it is killed"""
import http.client
import json
import os
import sys
import threading
import time

from plane import GIVE_UP_S, Client

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "packages"))
from registry import Registry  # noqa: E402

PKG, EXT = "/apis/pkg.crossplane.io/v1", "/apis/apiextensions.crossplane.io/v1"
FUNCTIONS, REVISIONS = PKG + "/functions", PKG + "/functionrevisions"
BUCKETS = "/apis/custom-api.example.org/v1alpha1/acmebuckets"
MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"
FUNCTION = "function-patch-and-transform"
PACKAGE_LABEL = "pkg.crossplane.io/package"
REPOSITORY, OTHER = "acme/function-buckets", "acme/function-other"
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"

XRD = {
    "apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition",
    "metadata": {"name": "acmebuckets.custom-api.example.org"},
    "spec": {
        "group": "custom-api.example.org", "names": {"kind": "AcmeBucket", "plural": "acmebuckets"},
        "versions": [{"name": "v1alpha1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": {"value": {"type": "string"}}}}}}}]}}


# What the package brings: all of its revisions share it.
INPUT = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "inputs.buckets.fn.example.org"},
    "spec": {"group": "buckets.fn.example.org", "names": {"kind": "Input", "plural": "inputs"}, "scope": "Cluster", "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}


def serve(versions, port=0):
    """A registry with the function's package in each version, which is also its tag."""
    registry = Registry(port, False)
    meta = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Function", "metadata": {"name": FUNCTION}, "spec": {}}
    for version in versions:
        for repository, documents in ((REPOSITORY, [meta, INPUT]), (OTHER, [meta])):
            registry.push(repository + ":" + version, documents, True, ["VERSION=" + version.split("-")[0]])
    registry.open()
    return registry


def function(host, version, labels=None, **spec):
    return {"apiVersion": "pkg.crossplane.io/v1", "kind": "Function", "metadata": {"name": FUNCTION, "labels": labels or {}},
            "spec": {"package": "%s/%s:%s" % (host, REPOSITORY, version), **spec}}


def composition(labels=None, name="example", **step):
    return {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"compositeTypeRef": {"apiVersion": "custom-api.example.org/v1alpha1", "kind": "AcmeBucket"}, "mode": "Pipeline",
                     "pipeline": [{"step": "patch-and-transform", "functionRef": {"name": FUNCTION}, **step}]}}


def bucket(name, **spec):
    return {"apiVersion": "custom-api.example.org/v1alpha1", "kind": "AcmeBucket", "metadata": {"name": name}, "spec": spec}


PATHS = {"Function": FUNCTIONS, "FunctionRevision": REVISIONS, "Composition": EXT + "/compositions", "AcmeBucket": BUCKETS,
         "CompositeResourceDefinition": EXT + "/compositeresourcedefinitions", "Provider": PKG + "/providers",
         "Configuration": PKG + "/configurations"}


class Cluster(Client):
    """A client that knows the objects of these tests."""

    def apply(self, o, manager="test"):
        path = "%s/%s?fieldManager=%s&force=true" % (PATHS[o["kind"]], o["metadata"]["name"], manager)
        while True:
            status, answer = self.send("PATCH", path, o, APPLY)
            if status in (200, 201):
                return answer
            if status != 404:  # a kind that is not served yet
                raise RuntimeError("%s: %s" % (path, answer.get("message")))
            time.sleep(0.05)

    def refuses(self, o):
        """The message of the refusal; "" if the object is accepted."""
        status, answer = self.send("PATCH", "%s/%s?fieldManager=test&force=true" % (PATHS[o["kind"]], o["metadata"]["name"]), o, APPLY)
        return "" if status in (200, 201) else answer.get("message", "")

    def patch(self, path, body):
        status, answer = self.send("PATCH", path, body, MERGE)
        if status != 200:
            raise RuntimeError("%s: %s" % (path, answer.get("message")))

    def get(self, path):
        status, answer = self.send("GET", path)
        return answer if status == 200 else None

    def function(self):
        return self.get("%s/%s" % (FUNCTIONS, FUNCTION))

    def revisions(self):
        """The revisions of the function by their numbers."""
        return {o["spec"]["revision"]: o for o in self.items(REVISIONS) if o["metadata"]["labels"].get(PACKAGE_LABEL) == FUNCTION}

    def revision(self, number):
        return self.revisions().get(number, {"metadata": {}, "spec": {}})

    def bucket(self, name):
        return self.get("%s/%s" % (BUCKETS, name)) or {}

    def made(self, name):
        """The data of the ConfigMap that the bucket composes."""
        return (self.get("%s/%s" % (MAPS, name)) or {}).get("data", {})


class Watcher(threading.Thread):
    """Sees the states of all objects of a path, also while the control plane is started again, and keeps what the check says of them."""

    def __init__(self, plane, path=BUCKETS, check=None):
        super().__init__(daemon=True)
        self.plane, self.path, self.check = plane, path, check or failure
        self.problems, self.n_seen, self.is_over = [], 0, False
        self.start()

    def run(self):
        while not self.is_over:
            try:
                self.follow(http.client.HTTPSConnection(self.plane.host, context=self.plane.context, timeout=5))
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.02)

    def follow(self, connection):
        connection.request("GET", self.path)
        listed = json.loads(connection.getresponse().read())
        for o in listed.get("items", []):
            self.look(o)
        connection.request("GET", "%s?watch=1&resourceVersion=%s" % (self.path, listed["metadata"]["resourceVersion"]))
        for line in connection.getresponse():
            if self.is_over:
                return
            event = json.loads(line)
            if event["type"] in ("ADDED", "MODIFIED"):
                self.look(event["object"])

    def look(self, o):
        self.n_seen += 1
        problem = self.check(o)
        if problem:
            self.problems.append("%s: %s" % (o["metadata"]["name"], problem))

    def end(self):
        self.is_over = True
        return sorted(set(self.problems)) + ([] if self.n_seen else ["nothing was seen"])


def failure(o):
    synced = condition(o, "Synced")
    return synced if synced.startswith("False") else ""


def condition(o, kind):
    """`STATUS REASON MESSAGE`"""
    for c in (o or {}).get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return ("%s %s %s" % (c["status"], c["reason"], c.get("message", ""))).strip()
    return ""


def wait(check, give_up_s=float(os.environ.get("STORY_PATIENCE", GIVE_UP_S / 5))):
    """Waits until the check finds no problem; the last problems otherwise."""
    end = time.monotonic() + give_up_s
    while True:
        try:
            problems = check()
        except (KeyError, IndexError, TypeError) as e:  # what it looks at is not there yet
            problems = [repr(e)]
        if not problems or time.monotonic() > end:
            return problems
        time.sleep(0.1)


if __name__ == "__main__":
    serve(sys.argv[2:], int(sys.argv[1]))
    threading.Event().wait()
