"""Runs the cases of cases.py: drive.py WORK [CASE...]. Prints TAP.

Each case has a directory of its own: what is written there outside of the cache, what is left in the cache and the most memory that the program had
resident are looked at after it, besides what it said."""

import base64
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "e2e", "composition"))
sys.path.insert(0, here)
import cases  # noqa: E402
from cases import Failed  # noqa: E402
from hostile import Registry  # noqa: E402
from kube import Kube, Refused  # noqa: E402

WEFT = os.path.abspath(os.environ["WEFT"])
GIVE_UP_S = 180
SECRET = "hunter2hunter2"
# The memory of the child, without that of this process, which it begins with.
MEASURE = """import os, resource, sys
status = os.spawnv(os.P_WAIT, sys.argv[2], sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status if status >= 0 else 128 - status)"""
COMPOSITE = """{apiVersion: a.example.org/v1, kind: App, metadata: {name: x, namespace: default}}
"""
COMPOSITION = """apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: apps}
spec:
  compositeTypeRef: {apiVersion: a.example.org/v1, kind: App}
  mode: Pipeline
  pipeline: [{step: one, functionRef: {name: function-hostile}}]
"""
FUNCTION = """{apiVersion: pkg.crossplane.io/v1, kind: Function, metadata: {name: function-hostile}, spec: {package: "%s"}}
"""


def bytes_below(directory):
    total = 0
    for at, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(at, name)).st_blocks * 512
            except OSError:
                pass  # it has just been removed
    return total


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def login(*hosts):
    auth = base64.b64encode(f"user:{SECRET}".encode()).decode()
    return json.dumps({"auths": {h: {"auth": auth} for h in hosts}})


class Victim:
    """One command against one image."""

    def __init__(self, case, registry, work):
        self.case, self.registry = case, registry
        self.directory = os.path.join(work, case.name)
        self.reference = f"{case.host or registry.main}/{case.name}:v1"
        self.cache = os.path.join(self.directory, "cache")

    def environment(self):
        through_proxy = {"HTTPS_PROXY": "http://" + self.registry.proxy} if self.case.host else {}
        return {"PATH": os.environ["PATH"], "HOME": self.directory + "/home", "TMPDIR": self.directory + "/tmp", "CA_BUNDLE_PATH": self.case.authority,
                "DOCKER_CONFIG": self.directory + "/home", **through_proxy}

    def command(self):
        if self.case.victim != "render":
            return [WEFT, "xpkg", self.case.victim, self.reference, "-o", self.directory + "/out/package.gz"]
        for name, text in (("xr", COMPOSITE), ("composition", COMPOSITION), ("functions", FUNCTION % self.reference)):
            put(f"{self.directory}/home/{name}.yaml", text)
        files = [f"{self.directory}/home/{name}.yaml" for name in ("xr", "composition", "functions")]
        return [WEFT, "render", *files, "--cache-dir", self.cache, "--timeout", "2m"]

    def watch_disk(self, is_over, found):
        while not is_over.wait(0.05):
            found.append(bytes_below(self.cache))

    def run(self):
        put(self.directory + "/home/config.json", login(self.registry.main, "registry.example"))
        put(self.directory + "/outside/kept", "as it was")
        for name in ("tmp", "out"):
            os.makedirs(f"{self.directory}/{name}")
        rss, is_over, disk = self.directory + "/home/rss", threading.Event(), [0]
        looker = threading.Thread(target=self.watch_disk, args=(is_over, disk))
        if self.case.max_disk:
            looker.start()
        began = time.monotonic()
        child = subprocess.Popen([sys.executable, "-S", "-c", MEASURE, rss, *self.command()], env=self.environment(), cwd=self.directory + "/out",
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            done = subprocess.CompletedProcess([], 0, *child.communicate(timeout=GIVE_UP_S))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise Failed("it does not end")
        finally:
            is_over.set()
        done.returncode = child.returncode
        self.check(done, int(open(rss).read()) << 10, max(disk))
        return f"{time.monotonic() - began:.1f} s, {int(open(rss).read()) >> 10} MiB resident, {max(disk) >> 20} MiB on disk; {done.stderr.strip()[:400]}"

    def check(self, done, resident, disk):
        self.check_words(done)
        if resident > self.case.max_memory:
            raise Failed(f"{resident >> 20} MiB resident: {done.stderr}")
        if disk > (self.case.max_disk or disk):
            raise Failed(f"{disk >> 20} MiB on disk")
        left = bytes_below(self.cache)
        if left > self.case.max_left:
            raise Failed(f"{left >> 20} MiB are left in the cache")
        self.check_files(done.returncode == 0)
        self.case.also(self.registry)

    def check_words(self, done):
        if SECRET in done.stdout + done.stderr:
            raise Failed(f"it shows the password: {done.stderr}")
        if self.case.says is None:
            if done.returncode:
                raise Failed(f"status {done.returncode}: {done.stderr}")
            return
        if done.returncode != 1:
            raise Failed(f"status {done.returncode}: {done.stdout[:1000]} {done.stderr}")
        for text in (self.case.name, *self.case.says):
            if text not in done.stderr:
                raise Failed(f"it does not say {text!r}: {done.stderr}")
        if len(done.stderr) > 4000:
            raise Failed(f"it says too much: {len(done.stderr)} bytes")

    def check_files(self, is_written):
        """Nothing is written but the cache and, when all went well, the output."""
        found = {os.path.relpath(os.path.join(at, name), self.directory)
                 for at, inside, names in os.walk(self.directory) if not at.startswith(self.cache) for name in names}
        wanted = {"outside/kept", "home/config.json", "home/rss"} | ({"out/package.gz"} if is_written and self.case.victim != "render" else set())
        if self.case.victim == "render":
            wanted |= {"home/xr.yaml", "home/composition.yaml", "home/functions.yaml"}
        if found != wanted or open(self.directory + "/outside/kept").read() != "as it was":
            raise Failed(f"files: {sorted(found)}, not {sorted(wanted)}")
        for at in (self.cache, self.cache + "/images"):
            left = [n for n in (os.listdir(at) if os.path.isdir(at) else []) if n.startswith("new-") or (at.endswith("images") and not is_written)]
            if left:
                raise Failed(f"an image that was refused is in the cache: {left}")


class Plane:
    """The package manager of a control plane that all hostile packages come to at once."""

    def __init__(self, registry, work, chosen):
        self.registry, self.chosen, self.directory = registry, chosen, work + "/plane"
        self.process = None

    def start(self, authority):
        put(self.directory + "/home/config.json", login(self.registry.main, "registry.example"))
        os.makedirs(self.directory + "/tmp")
        environment = {"PATH": os.environ["PATH"], "HOME": self.directory + "/home", "TMPDIR": self.directory + "/tmp", "CA_BUNDLE_PATH": authority,
                       "DOCKER_CONFIG": self.directory + "/home", "HTTPS_PROXY": "http://" + self.registry.proxy, "NO_PROXY": "127.0.0.1"}
        self.process = subprocess.Popen([WEFT, "up", "--ephemeral", "--kubeconfig", self.directory + "/kubeconfig", "--xpkg-cache-dir", self.directory + "/cache"],
                                        env=environment, stdout=open(self.directory + "/said", "w"), stderr=open(self.directory + "/log", "w"))
        end = time.monotonic() + GIVE_UP_S
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return Kube("weft", self.directory + "/kubeconfig")
            except (OSError, Refused, AttributeError):
                time.sleep(0.05)
        raise Failed("weft up does not serve: " + open(self.directory + "/log").read()[-2000:])

    def message(self, kube, kind, name):
        """What is wrong with the package, as its conditions and those of its revision say."""
        text = ""
        for plural in (kind.lower() + "s", kind.lower() + "revisions"):
            for o in kube.request("GET", "/apis/pkg.crossplane.io/v1/" + plural)["items"]:
                if name in (o["metadata"]["name"], o["metadata"].get("labels", {}).get("pkg.crossplane.io/package")):
                    text += " ".join(f"{c['type']}={c['status']}: {c.get('message', '')}" for c in o.get("status", {}).get("conditions") or [])
        return text

    def install(self, kube, kind, case):
        host = case.host or self.registry.main
        kube.find(lambda k: k.kind == kind and k.group == "pkg.crossplane.io")  # the API serves it soon
        kube.request("POST", f"/apis/pkg.crossplane.io/v1/{kind.lower()}s",
                     {"apiVersion": "pkg.crossplane.io/v1", "kind": kind, "metadata": {"name": case.name}, "spec": {"package": f"{host}/{case.name}:v1"}})

    def wait(self, kube, kind, case):
        end, text = time.monotonic() + GIVE_UP_S, ""
        while time.monotonic() < end:
            text = self.message(kube, kind, case.name)
            if all(words in text for words in case.in_plane):
                return
            time.sleep(0.2)
        raise Failed(f"{case.name} does not say {case.in_plane}: {text}")

    def resident(self):
        return int(next(line for line in open(f"/proc/{self.process.pid}/status") if line.startswith("VmHWM")).split()[1]) << 10

    def run(self, authority):
        kube = self.start(authority)
        before = self.resident()
        for case in self.chosen:
            self.install(kube, "Function", case)
        for case in self.chosen:
            self.wait(kube, "Function", case)
        self.install(kube, "Configuration", cases.GOOD)
        self.wait(kube, "Configuration", cases.GOOD)
        most, left = self.resident(), bytes_below(self.directory + "/cache")
        self.process.terminate()
        if self.process.wait(60) != 0:
            raise Failed(f"weft up ended with status {self.process.returncode}: " + open(self.directory + "/log").read()[-2000:])
        if most > cases.PLANE_MEMORY:
            raise Failed(f"{most >> 20} MiB resident")
        if left > cases.PLANE_LEFT:
            raise Failed(f"{left >> 20} MiB are left in the cache")
        if SECRET in open(self.directory + "/log").read():
            raise Failed("the log shows the password")
        return f"{before >> 20} MiB resident before, {most >> 20} at most; {left >> 20} MiB in the cache"


def check_credentials(registry):
    """Over all cases: the password was seen at the registries that it is for and at the token server that they name, and nowhere else."""
    secret = base64.b64encode(f"user:{SECRET}".encode()).decode()
    for place, host, method, path, authorization in registry.seen:
        is_for_it = (place == "main" or host in ("registry.example", "tokens.example")) and "?moved" not in path
        if (secret in authorization or SECRET in authorization or "Bearer" in authorization) and not is_for_it:
            raise Failed(f"{place} {host} {method} {path} got {authorization.split()[0]} credentials")
    return f"{len(registry.seen)} requests"


def main():
    work, wanted = sys.argv[1], sys.argv[2:]
    authority = work + "/cert.pem"
    registry = Registry((authority, work + "/key.pem"))
    chosen = [c for c in cases.all_cases(registry, work, authority) if not wanted or c.name in wanted]
    for case in chosen + [cases.GOOD]:
        registry.images[case.name] = case.image
        registry.manners.update({case.name: case.manner} if case.manner else {})
    jobs = [(c.name + ": " + c.shows, Victim(c, registry, work).run) for c in sorted(chosen, key=lambda c: not c.is_slow)]
    plane = Plane(registry, work, [c for c in chosen if c.in_plane])
    if plane.chosen:
        jobs.append(("plane: all of them as packages of a control plane", lambda: plane.run(authority)))

    def attempt(job):
        try:
            return job[0], job[1](), ""
        except Failed as e:
            return job[0], "", str(e)
        except Exception:  # one case must not hide the others
            return job[0], "", traceback.format_exc()

    failures, number = 0, 0
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = list(pool.map(attempt, jobs))
    done.append(attempt(("credentials", lambda: check_credentials(registry))))
    for number, (name, figures, why) in enumerate(done, 1):
        print("not ok" if why else "ok", number, "-", name, flush=True)
        print("# " + (why or figures).replace("\n", "\n# "), flush=True)
        failures += bool(why)
    if plane.process and plane.process.poll() is None:
        plane.process.kill()
    print(f"1..{number}")
    sys.exit(failures > 0)


main()
