"""Runs the scenarios of packages on one `weft up`: drive.py KUBECONFIG [SCENARIO...]. Prints TAP."""

import concurrent.futures
import os
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from registry import Registry
from scenario import Failed, Kube, load_all


def main():
    side, registry, scenarios = Kube("weft", sys.argv[1]), Registry(), load_all(sys.argv[2:])

    def run(s):
        try:
            s.run([side], registry)
        except Exception as e:  # one scenario must not hide the others
            return s, str(e) if isinstance(e, Failed) else traceback.format_exc()
        return s, ""

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for i, (s, why) in enumerate(pool.map(run, scenarios)):
            print("not ok" if why else "ok", i + 1, "-", s.name + ":", s.data["shows"], flush=True)
            if why:
                print("# " + why.replace("\n", "\n# "), flush=True)
            failures += bool(why)
    print(f"1..{len(scenarios)}")
    sys.exit(failures > 0)


main()
