"""Objects that the cases of several suites are made of."""


def xr(ns="default", meta=None, spec=None, **rest):
    metadata = {"name": "web", **({"namespace": ns} if ns else {}), **(meta or {})}
    return {"apiVersion": "example.org/v1", "kind": "App", "metadata": metadata, "spec": spec or {"size": 3}, **rest}


def composition(*steps, meta=None, **spec):
    of = {"apiVersion": "example.org/v1", "kind": "App"}
    metadata = {"name": "apps", **(meta or {})}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": metadata,
        "spec": {"compositeTypeRef": of, "mode": "Pipeline", "pipeline": list(steps), **spec},
    }


def cm(name="cm", ns="default", **labels):
    metadata = {"name": name, **({"namespace": ns} if ns else {}), **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": name}}


def secret(name="sec", ns="n", **rest):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": ns}, "data": {"a": "YQ=="}, **rest}


def result(severity, message, **rest):
    return {"severity": "SEVERITY_" + severity, "message": message, **rest}


def selector(name=None, labels=None, kind="ConfigMap", **rest):
    s = {"apiVersion": "v1", "kind": kind, **rest}
    if name is not None:
        s["matchName"] = name
    if labels is not None:
        s["matchLabels"] = {"labels": labels}
    return s
