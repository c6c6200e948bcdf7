#!/usr/bin/env python3
"""install.py KUBECONFIG REGISTRY COUNT TOTAL: installs so many Configurations and waits until so many, with their dependencies, are healthy. Prints the
seconds from the first request to the last healthy package."""

import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "e2e", "composition"))
from kube import Kube  # noqa: E402

GIVE_UP_S = 1800
PATH = "/apis/pkg.crossplane.io/v1/configurations"


def is_healthy(o):
    true = {c["type"] for c in o.get("status", {}).get("conditions") or [] if c["status"] == "True"}
    return {"Installed", "Healthy"} <= true


def main():
    kubeconfig, registry, count, total = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    kube = Kube("plane", kubeconfig)
    kube.find(lambda k: k.kind == "Configuration" and k.group == "pkg.crossplane.io")
    began, healthy, items = time.monotonic(), 0, []
    for i in range(count):
        kube.request("POST", PATH, {"apiVersion": "pkg.crossplane.io/v1", "kind": "Configuration", "metadata": {"name": f"top-{i}"},
                                    "spec": {"package": f"{registry}/bench/top-{i}:v1.0.0"}})
    while time.monotonic() - began < GIVE_UP_S:
        items = kube.request("GET", PATH)["items"]
        healthy = sum(map(is_healthy, items))
        if healthy == total:
            print("%.3f" % (time.monotonic() - began))
            return
        time.sleep(0.02)
    waiting = [(o["metadata"]["name"], o.get("status", {}).get("conditions")) for o in items if not is_healthy(o)]
    sys.exit(f"only {healthy} of {total} are healthy, of {len(items)}; one that is not: {waiting[:1]}")


main()
