"""Compares what kubectl printed on two servers, command by command: kubectl.py REAL OURS [REAL AGAIN]. Prints the differences as comments of TAP.
A command that the real server answers in two ways is left out, and named."""
import difflib
import sys


def answers(path):
    """The text of each command, from its line `$ COMMAND` on."""
    found = []
    for line in open(path, encoding="utf-8", errors="replace"):
        if line.startswith("$ "):
            found.append("")
        found[-1] += line
    return found


def main():
    real, ours, *again = (answers(path) for path in sys.argv[1:])
    n_different = 0
    if len(real) != len(ours):
        print("# %d commands on the real server, %d on ours" % (len(real), len(ours)))
        n_different += 1
    for i, (a, b) in enumerate(zip(real, ours)):
        if a == b:
            continue
        if again and again[0][i:i + 1] != [a]:
            print("# left out, because the real server answers it in two ways: " + a.splitlines()[0])
            continue
        n_different += 1
        for line in difflib.unified_diff(a.splitlines(), b.splitlines(), "real", "ours", n=100, lineterm=""):
            print("# " + line)
    sys.exit(n_different > 0)


main()
