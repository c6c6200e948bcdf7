"""Runs scenarios on two control planes at once: compare.py THEIRS OURS WHICH [SCENARIO...], kubeconfigs and `ci` or `full`. What a scenario wants must
come about on both, and after each `want` the objects must be the same, but for the differences in `known`. Prints TAP."""

import concurrent.futures
import os
import re
import sys
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path += [here, os.path.join(here, "../../e2e/composition")]
from drive import load_all
from kube import Kube
from scenario import Failed
import snapshot

SETTLE = float(os.environ.get("SCENARIO_SETTLE", "20"))  # seconds until both are the same


def read_known():
    """Patterns of lines of differences, one a line; comments say why."""
    with open(os.path.join(here, "known")) as f:
        return [re.compile(line.rstrip("\n")) for line in f if line.strip() and not line.startswith("#")]


KNOWN = read_known()


def compare(scenario, step, sides):
    end = time.monotonic() + SETTLE
    while True:
        theirs, ours = (snapshot.take(scenario, s) for s in sides)
        left = [d for d in snapshot.differences(theirs, ours) if not any(k.search(d) for k in KNOWN)]
        if not left:
            return
        if time.monotonic() > end:
            raise Failed(f"after step {step} theirs | ours differ:\n" + "\n".join(left))
        time.sleep(0.3)


def main():
    theirs, ours = Kube("crossplane", sys.argv[1]), Kube("weft", sys.argv[2])
    which = sys.argv[3]
    wanted = sys.argv[4:]
    scenarios = [s for s in load_all(wanted) if wanted or s.data.get("peer") == "ci" or (which == "full" and s.data.get("peer", "full") == "full")]

    def run(s):
        try:
            s.run([theirs, ours], compare=compare)
        except Exception as e:  # one scenario must not hide the others
            return s, str(e) if isinstance(e, Failed) else traceback.format_exc()
        return s, ""

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SCENARIO_JOBS", "6"))) as pool:
        for i, (s, why) in enumerate(pool.map(run, scenarios)):
            print("not ok" if why else "ok", i + 1, "- composition on both:", s.name, flush=True)
            if why:
                print("# " + why.replace("\n", "\n# "), flush=True)
            failures += bool(why)
    print(f"1..{len(scenarios)}")
    sys.exit(failures > 0)


main()
