# SPDX-License-Identifier: Apache-2.0
"""On a GPU: wall time of all suites with two builds, in turns; and of a pull request that changed one kernel.

    quick_runs.py [--out DIR] [--rounds 1] BASE HEAD [CHANGED]

BASE, HEAD and CHANGED are perfgate binaries in their build folders; CHANGED is HEAD with one kernel edited. Each run
is printed and kept in DIR/seconds.json as it ends; a call with the same DIR goes on where the last one stopped.
CHANGED, in which a kernel of suites/transpose.yaml was edited, runs with configs/pull-request.yaml. HEAD measures the
baseline of that suite in the usual number of processes. The other baselines are made of HEAD's first run."""

import argparse
import collections
import json
import pathlib
import statistics
import sys
import time

import board_proof
import profile_programs as tools

CHANGED_SUITE = "transpose"


def timed(name, words, out, codes=(0, 1, 3, 4)):
    """Runs perfgate; its seconds and the counts of its verdict, printed."""
    begin = time.monotonic()
    done = tools.run([*words, "--quiet", "--out", out], codes, timeout=560)
    seconds = time.monotonic() - begin
    counts = board_proof.counts_of(json.loads((out / "verdict.json").read_text()))
    result = {"seconds": round(seconds, 1), "exit": done.returncode, "cases": counts["cases"], "times": counts["times"]}
    tools.say(f"{name}: {result}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs="+", type=pathlib.Path, metavar="BASE HEAD [CHANGED]")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("perfgate-out/quick"), metavar="DIR")
    parser.add_argument("--rounds", type=int, default=1)
    chosen = parser.parse_args()
    if len(chosen.binaries) not in (2, 3):
        parser.error("expected BASE, HEAD and perhaps CHANGED")
    out = chosen.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    stored = out / "seconds.json"
    results = json.loads(stored.read_text()) if stored.exists() else {}
    suites = sorted((board_proof.ROOT / "suites").glob("*.yaml"))
    binaries = dict(zip(("base", "head", "changed"), (path.resolve() for path in chosen.binaries)))

    def once(name, *words):
        if name not in results:
            results[name] = timed(name, words, out / name)
            stored.write_text(json.dumps(results, indent=1) + "\n")

    for number in range(chosen.rounds):
        # In the other order each time, so that a machine that warms up favours neither.
        for side in ("base", "head")[:: -1 if number % 2 else 1]:
            once(f"{side}-{number}", binaries[side], "run", *suites, "--backend", "cuda", "--baselines",
                 board_proof.ROOT / "baselines")
    if "changed" in binaries:
        baselines = out / "baselines"
        for suite in suites:
            if not list(baselines.glob(f"*/{suite.stem}.json")):
                # A suite whose processes disagree gets no baseline and is measured in full.
                source = [out / "head-0/run.json", "--filter", f"{suite.stem}/*"]
                if suite.stem == CHANGED_SUITE:
                    source = [suite, "--backend", "cuda", "--out", out / "refresh"]
                done = tools.run([binaries["head"], "baseline", "refresh", *source, "--baselines", baselines], (0, 2))
                if done.returncode != 0:
                    tools.say(f"{suite.stem} has no baseline: {done.stderr[-500:]}")
        for number in range(chosen.rounds):
            once(f"pull-request-{number}", binaries["changed"], "run", *suites, "--config",
                 board_proof.ROOT / "configs/pull-request.yaml", "--baselines", baselines)
    sides = collections.defaultdict(list)
    for name, result in results.items():
        sides[name.rsplit("-", 1)[0]].append(result["seconds"])
    for side, seconds in sides.items():
        tools.say(f"{side}: median {statistics.median(seconds):.1f} s of {seconds}")
    if sides["base"] and sides["head"]:
        tools.say(f"head / base: {statistics.median(sides['head']) / statistics.median(sides['base']):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
