"""What people get wrong, each a file of mistakes/, and what they are told: mistakes.py [MISTAKE...]. WEFT names the program. Prints TAP.

  steps   what the user wrote, as in scenarios
  flags   of `weft up`, if those are wrong; then there are no steps
  object  the object that tells of the mistake; without it the API refuses the last step
  says    texts that `kubectl describe` of that object (or the refusal), and the terminal of `weft up`, must have
  leaves  a state that must be there as well: nothing is half done"""

import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, here)
from drive import load
from kube import Kube, Refused
from scenario import Failed, Scenario

WEFT = os.environ["WEFT"]


class Paper:
    """Takes down what a scenario would apply, for a file."""

    name, has_kubectl, kinds = "paper", False, []

    def __init__(self):
        self.objects = []

    def apply(self, namespace, objects):
        for o in objects:
            self.objects.append(o)

    create = apply

    def kind_of(self, o):
        return None


class Writing(Scenario):
    """A scenario that only writes."""

    def do_want(self, side, given, words):
        pass


def told(text, says):
    """The texts that are missing. Lines are broken anywhere in a table of events."""
    flat = " ".join(text.split())
    return [s for s in says if s not in text and " ".join(s.split()) not in flat]


def on_terminal(m, directory):
    """Runs `weft up` with what the user wrote. Returns status and output."""
    words = {"ns": "default", "group": m.group}
    args = m.data.get("flags", [])
    if "steps" in m.data:
        paper = Paper()
        for step in m.data["steps"]:
            Writing.do(m_writing(m), paper, m.fill(step, words), words)
        path = os.path.join(directory, m.name + ".yaml")
        with open(path, "w") as f:
            f.write("\n---\n".join(json.dumps(o) for o in paper.objects))
        args = [path]
    done = subprocess.run([WEFT, "up", "--ephemeral", "--once", "--timeout", "4s", *args], capture_output=True, text=True, cwd=directory, timeout=120)
    return done.returncode, done.stdout + done.stderr


def m_writing(m):
    w = Writing(m.name, m.data)
    w.namespace = "default"
    return w


def described(m, side):
    """What people are told of the object: by kubectl if there is one, else the same from the API."""
    resource, _, name = m.fill(m.data["object"], {"ns": m.namespace, "group": m.group}).partition("/")
    kind = side.kind(resource, m.group)
    if side.has_kubectl:
        return side.kubectl("describe", kind.name, name, "-n", m.namespace)
    o = side.get(kind, m.namespace, name) or {}
    events = side.list(next(k for k in side.kinds if k.name == "events"), m.namespace if kind.is_namespaced else "default")
    said = [c.get("message", "") for c in o.get("status", {}).get("conditions", [])]
    return "\n".join(said + [e.get("message", "") for e in events if e["involvedObject"].get("name") == name])


def on_api(m, side):
    """Raises Failed."""
    words = {"ns": m.namespace, "group": m.group}
    says = m.fill(m.data["says"], words)
    side.apply("default", [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": m.namespace}}])
    try:
        for step in m.data["steps"]:
            m.do(side, m.fill(step, words), words)
    except Refused as e:
        if "object" in m.data or told(str(e), says):
            raise Failed(f"refused with {e}") from e
        return
    if "object" not in m.data:
        raise Failed("the API does not refuse it")

    def missing():
        text = described(m, side)
        return f"{told(text, says)} is not in what is said of {m.data['object']}:\n{text}" if told(text, says) else ""

    m.until(missing)
    if "leaves" in m.data:
        m.do_want(side, m.fill(m.data["leaves"], words), words)


def judge(m, side, directory):
    try:
        status, text = on_terminal(m, directory)
        words = {"ns": "default", "group": m.group}
        missing = told(text, m.fill(m.data.get("terminal", m.data["says"]), words))
        if status == 0 or missing:
            return f"on the terminal, with status {status}, {missing} is missing:\n{text}"
        if "steps" in m.data:
            on_api(m, side)
    except Failed as e:
        return str(e)
    except Exception:  # one mistake must not hide the others
        return traceback.format_exc()
    return ""


def main():
    wanted = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(here, "mistakes", "*.yaml")))
    mistakes = [load(p) for p in paths if not wanted or os.path.basename(p)[:-5] in wanted]
    failures = 0
    with tempfile.TemporaryDirectory() as directory, open(os.path.join(directory, "log"), "w") as log:
        config = os.path.join(directory, "kubeconfig")
        server = subprocess.Popen([WEFT, "up", "--ephemeral", "--kubeconfig", config], stdout=log, stderr=log)
        try:
            while not os.path.exists(config) or not open(config).read():
                if server.poll() is not None:
                    sys.exit(open(log.name).read())
                time.sleep(0.02)
            side = Kube("weft", config)
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                for i, (m, why) in enumerate(zip(mistakes, pool.map(lambda m: judge(m, side, directory), mistakes))):
                    print("not ok" if why else "ok", i + 1, "- mistake", m.name + ":", m.data["shows"], flush=True)
                    if why:
                        print("# " + why.replace("\n", "\n# "))
                    failures += bool(why)
        finally:
            server.terminate()
            server.wait()
    print(f"1..{len(mistakes)}")
    sys.exit(failures > 0)


main()
