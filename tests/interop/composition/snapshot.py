"""What of a scenario's objects is compared between two control planes: everything but times, versions, counts of writes, and names and uids
that are random, which are replaced by words for what they name."""

import json
import re

GENERATED = re.compile(r"-[0-9a-z]{5,12}$")


def objects_of(scenario, side):
    """The objects of the scenario, whatever made them."""
    side.discover()
    seen, found = set(), []
    for kind in side.kinds:
        if kind.group == scenario.group and kind.name not in seen:
            seen.add(kind.name)
            found += side.list(kind, None)
    for resource in ("configmaps", "secrets"):
        found += [o for o in side.list(side.kind(resource, None), scenario.namespace) if o["metadata"]["name"] != "kube-root-ca.crt"]
    for resource in ("xrds", "crds"):
        found += [o for o in side.list(side.kind(resource, None), None) if o["spec"]["group"] == scenario.group]
    for resource in ("compositions", "compositionrevisions"):
        found += [o for o in side.list(side.kind(resource, None), None) if o["spec"]["compositeTypeRef"]["apiVersion"].startswith(scenario.group + "/")]
    return found


def events_of(scenario, side, found):
    known = {(o["kind"], o["metadata"]["name"]) for o in found}
    kind = side.kind("events", None)
    kind = next(k for k in side.kinds if k.name == "events")
    all_ = side.list(kind, scenario.namespace) + side.list(kind, "default")
    return [e for e in all_ if (e["involvedObject"]["kind"], e["involvedObject"].get("name")) in known]


def references(o):
    spec = o.get("spec", {})
    refs = spec.get("crossplane", {}).get("resourceRefs") or spec.get("resourceRefs") or []
    return refs if isinstance(refs, list) else []


def words(found):
    """What is random, and words for it. A composed resource is called by its composite and its name there."""
    names = {}
    for o in found:
        m = o["metadata"]
        labels, annotations = m.get("labels", {}), m.get("annotations", {})
        if o["kind"] == "CompositionRevision":
            names[m["name"]] = f"{labels.get('crossplane.io/composition-name')}~{o['spec']['revision']}"
        elif "claimRef" in o.get("spec", {}) and GENERATED.search(m["name"]) and m["name"].startswith(o["spec"]["claimRef"]["name"] + "-"):
            names[m["name"]] = o["spec"]["claimRef"]["name"] + "~composite"
        elif "crossplane.io/composition-resource-name" in annotations and m["name"].startswith(labels.get("crossplane.io/composite", "?") + "-"):
            names[m["name"]] = f"{labels['crossplane.io/composite']}~{annotations['crossplane.io/composition-resource-name']}"
    for o in found:  # references to what could not be made
        for ref in references(o):
            if "name" in ref and ref["name"] not in names and re.fullmatch(re.escape(o["metadata"]["name"]) + "-[0-9a-f]{12}", ref["name"]):
                names[ref["name"]] = o["metadata"]["name"] + "~missing"
    for o in found:
        names[o["metadata"]["uid"]] = f"uid of {o['kind']} {names.get(o['metadata']['name'], o['metadata']['name'])}"
    return names


def replaced(v, names):
    text = json.dumps(v, sort_keys=True)
    for old in sorted(names, key=len, reverse=True):
        text = text.replace(old, names[old])
    for old in sorted(names, key=len, reverse=True):  # words hold names of composites, which may be random themselves
        text = text.replace(old, names[old])
    return json.loads(text)


def fields(tree, path=""):
    """The fields of one manager, as a list of paths."""
    out = []
    for k, v in tree.items():
        if k == ".":
            out.append(path)
        else:
            out += fields(v, f"{path}/{k}") if v else [f"{path}/{k}"]
    return out


def managers(o, group):
    """[manager, operation, subresource, fields] of each. Peers are named by their files. Crossplane applies conditions with the status and updates them
    besides, so that either may own them; here a status that would change nothing is not applied."""
    out = []
    for e in o["metadata"].get("managedFields", []):
        owned = sorted(fields(e.get("fieldsV1", {})))
        if e.get("subresource") == "status" and o["apiVersion"].startswith(group + "/"):
            owned = [f for f in owned if f != "/f:status" and not f.startswith("/f:status/f:conditions")]
            if not owned:
                continue
        manager = re.sub(r"(-2\.4)?-[0-9a-f]{16}$", "", e["manager"])
        manager = re.sub(r"/composed/[0-9a-f]{64}$", "/composed/HASH", manager)  # of names that may be random
        out.append([manager, e["operation"], e.get("subresource", ""), owned])
    return sorted(out)


def conditions(o):
    generation = o["metadata"].get("generation")
    out = {}
    for c in o["status"]["conditions"]:
        c = dict(c)
        c.pop("lastTransitionTime", None)
        if "observedGeneration" in c:
            c["observedGeneration"] = "current" if c["observedGeneration"] == generation else "older"
        out[c.pop("type")] = c
    return out


def plain(o, group):
    """The object without what is never the same twice."""
    o = json.loads(json.dumps(o))
    m = o["metadata"]
    m["managedFields"] = managers(o, group)
    if "conditions" in o.get("status", {}):
        o["status"]["conditions"] = conditions(o)
    if "lastPublishedTime" in o.get("status", {}).get("connectionDetails", {}):
        o["status"]["connectionDetails"]["lastPublishedTime"] = "TIME"
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "selfLink"):
        m.pop(key, None)
    references(o).sort(key=json.dumps)  # Crossplane walks a map
    if "deletionTimestamp" in m:
        m["deletionTimestamp"] = "TIME"
    if "finalizers" in m:
        m["finalizers"].sort()  # two controllers of a definition add theirs in any order
    return o


def take(scenario, side):
    found = objects_of(scenario, side)
    names = words(found)
    state = {}
    for o in found:
        # names inside managed fields' keys hold quotes; replace uids before the fields become paths
        o = plain(replaced(o, {**names, o["metadata"]["uid"]: names[o["metadata"]["uid"]]}), scenario.group)
        state[f"{o['kind']}/{o['metadata']['name']}"] = o
    events = [[e["involvedObject"]["kind"], e["involvedObject"]["name"], e["type"], e["reason"], e.get("message", "")] for e in events_of(scenario, side, found)]
    state["events"] = sorted(set(map(tuple, replaced(events, names))))
    return state


def goes_on(theirs, ours):
    """Our messages may go on behind Crossplane's, with the cause and the way out."""
    return isinstance(theirs, str) and isinstance(ours, str) and len(ours) > len(theirs) > 0 and ours.startswith(theirs.rstrip("."))


def differences(theirs, ours, path=""):
    """Lines `path: theirs | ours`."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return [d for k in sorted({**theirs, **ours}) for d in differences(theirs.get(k), ours.get(k), f"{path}.{k}" if path else k)]
    if path.endswith("managedFields") and theirs and ours:
        one = {tuple(e[:3]): set(e[3]) for e in theirs}
        other = {tuple(e[:3]): set(e[3]) for e in ours}
        out = []
        for k in sorted({**one, **other}):
            if k not in one or k not in other:
                out.append(f"{path}[{' '.join(k)}]: {sorted(one[k]) if k in one else 'absent'} | {sorted(other[k]) if k in other else 'absent'}")
            elif one[k] != other[k]:
                out.append(f"{path}[{' '.join(k)}]: {sorted(one[k] - other[k])} | {sorted(other[k] - one[k])}")
        return out
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours) and path != "events":
        return [d for i, (one, other) in enumerate(zip(theirs, ours)) for d in differences(one, other, f"{path}[{i}]")]
    if path == "events":
        one, other = set(map(tuple, theirs or [])), set(map(tuple, ours or []))
        longer = {(e, o) for e in one - other for o in other - one if e[:4] == o[:4] and goes_on(e[4], o[4])}
        one, other = one - {e for e, _ in longer}, other - {o for _, o in longer}
        return [f"event: {' '.join(e)} | absent" for e in sorted(one - other)] + [f"event: absent | {' '.join(e)}" for e in sorted(other - one)]
    if path.endswith(".message") and goes_on(theirs, ours):
        return []
    return [] if theirs == ours else [f"{path}: {json.dumps(theirs)} | {json.dumps(ours)}"]
