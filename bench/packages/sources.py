#!/usr/bin/env python3
"""sources.py DIRECTORY REGISTRY COUNT EACH: writes the sources of Configurations, each with as many dependencies of its own: an XRD and a Composition
in every package. Prints their names, dependencies first."""

import os
import sys

PACKAGE = """apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata: {{ name: {name} }}
spec:
  dependsOn: [{dependencies}]
"""
DEPENDENCY = """{{ apiVersion: pkg.crossplane.io/v1, kind: Configuration, package: "{registry}/bench/{name}", version: ">=v1.0.0" }}"""
DEFINITION = """apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {{ name: {plural}.bench.example.org }}
spec:
  group: bench.example.org
  names: {{ kind: {kind}, plural: {plural} }}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{ type: object, properties: {{ region: {{ type: string }}, size: {{ type: integer, minimum: 1 }} }} }}
          status: {{ type: object, properties: {{ address: {{ type: string }} }} }}
"""
COMPOSITION = """apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {{ name: {plural} }}
spec:
  compositeTypeRef: {{ apiVersion: bench.example.org/v1, kind: {kind} }}
  mode: Pipeline
  pipeline: [{{ step: one, functionRef: {{ name: function-auto-ready }} }}]
"""


def write(directory, name, registry, dependencies):
    kind = name.title().replace("-", "")
    values = {"name": name, "kind": kind, "plural": kind.lower() + "s",
              "dependencies": ", ".join(DEPENDENCY.format(registry=registry, name=each) for each in dependencies)}
    os.makedirs(f"{directory}/{name}")
    for file, text in (("crossplane", PACKAGE), ("definition", DEFINITION), ("composition", COMPOSITION)):
        with open(f"{directory}/{name}/{file}.yaml", "w") as f:
            f.write(text.format(**values))
    print(name)


def main():
    directory, registry, count, each = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for i in range(count):
        below = [f"part-{i}-{k}" for k in range(each)]
        for name in below:
            write(directory, name, registry, [])
        write(directory, f"top-{i}", registry, below)


main()
