"""Runs scenarios: drive.py KUBECONFIG [--functions FILE] [--jobs N] [SCENARIO...]. Prints TAP. WEFT reads their YAML.
FILE has lines NAME COMMAND... of functions that run beside; they are started here."""

import argparse
import concurrent.futures
import glob
import json
import os
import shlex
import subprocess
import sys
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, here)
from kube import Kube
from scenario import Failed, Process, Scenario


def load(path):
    done = subprocess.run([os.environ["WEFT"], "json", path], capture_output=True, text=True, check=True)
    return Scenario(os.path.splitext(os.path.basename(path))[0], json.loads(done.stdout))


def load_all(wanted=()):
    paths = sorted(glob.glob(os.path.join(here, "scenarios", "*.yaml")))
    known = [os.path.splitext(os.path.basename(p))[0] for p in paths]
    for w in wanted:
        if w not in known:
            sys.exit(f"there is no scenario {w}")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(load, [p for p, k in zip(paths, known) if not wanted or k in wanted]))


def start_functions(path):
    processes = {}
    for line in open(path) if path else []:
        name, *command = shlex.split(line)
        processes[name] = Process(command, os.path.join(os.path.dirname(path), name + ".log"))
        processes[name].start()
    return processes


def main():
    p = argparse.ArgumentParser()
    p.add_argument("kubeconfig")
    p.add_argument("--functions")
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("scenarios", nargs="*")
    a = p.parse_args()
    side = Kube("weft", a.kubeconfig)
    scenarios = load_all(a.scenarios)
    processes = start_functions(a.functions)
    failures = 0

    def run(s):
        began = time.monotonic()
        if missing := [f for f in s.data.get("needs", []) if f not in processes]:
            return s, "# SKIP without " + ", ".join(missing), 0
        try:
            s.run([side], processes)
        except Exception as e:  # one scenario must not hide the others
            return s, str(e) if isinstance(e, Failed) else traceback.format_exc(), time.monotonic() - began
        return s, "", time.monotonic() - began

    def report(i, s, why, seconds):
        nonlocal failures
        if why.startswith("# SKIP"):
            print("ok", i, "-", s.name, why, flush=True)
            return
        print("not ok" if why else "ok", i, "-", s.name + ":", s.data["shows"], flush=True)
        if why or "SCENARIO_TIMES" in os.environ:
            print(f"# {seconds:.1f} s {why}".replace("\n", "\n# "), flush=True)
        failures += bool(why)

    together = [s for s in scenarios if not s.data.get("alone")]
    alone = [s for s in scenarios if s.data.get("alone")]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for i, done in enumerate(pool.map(run, together)):
            report(i + 1, *done)
    for i, s in enumerate(alone):
        report(len(together) + i + 1, *run(s))
    print(f"1..{len(scenarios)}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
