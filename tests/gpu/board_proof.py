# SPDX-License-Identifier: Apache-2.0
"""On a GPU: all suites against the committed baselines, each gate proved; then known slowdowns of ten kernels.

    board_proof.py [--out DIR] [--devices ID] [--no-selftest] [SUITE.yaml...]

Each suite's counts are printed and kept in DIR/SUITE/counts.json as it ends; a call with the same DIR goes on where
the last one stopped. The self-test slows ten kernels of more than 20 µs down by 0, 2 and 5 %. Environment: PERFGATE,
as for profile_programs.py."""

import argparse
import collections
import json
import os
import pathlib
import sys
import time

import profile_programs as tools

ROOT = tools.HERE.parent.parent
LEAST_NS = 20000
SLOWED = 10
SIZES = "0,2,5"


def outcome(row):
    """What a verdict says of a time: shown by what, or why not."""
    if row["verdict"] == "pass":
        return "shown by its code" if "by its code" in row.get("sentence", "") else "shown by its interval"
    return row.get("reason_code", row["verdict"])


def counts_of(verdict):
    """Cases by verdict, times by outcome, and what regressed or was not shown, in words."""
    cases, times, said = collections.Counter(), collections.Counter(), []
    for suite in verdict["suites"]:
        for case in suite["cases"]:
            cases[case["verdict"]] += 1
            for row in case["metrics"]:
                if row["unit"] == "ns":
                    times[outcome(row)] += 1
                if row["verdict"] in ("regressed", "invalid", "inconclusive"):
                    said.append(f"{case['id']}: {row.get('sentence', row['metric'])}")
            if case["verdict"] in ("error", "incorrect", "missing"):
                said.append(f"{case['id']}: {case['verdict']}: {case.get('reason', '')}")
        said += [each.get("sentence", each["relation"]) for each in suite.get("relations", [])
                 if each["verdict"] != "pass"]
    return {"cases": dict(cases), "times": dict(times), "said": said}


def proved(suite, out, options):
    """Runs a suite, and its counts."""
    begin = time.monotonic()
    done = tools.run([tools.PERFGATE, "run", suite, "--backend", "cuda", "--prove", "--quiet", "--baselines",
                      ROOT / "baselines", "--out", out, *options], (0, 1, 3, 4), timeout=500)
    verdict = json.loads((out / "verdict.json").read_text())
    device = verdict["environment"]["device"]
    counts = {"suite": suite.stem, "device": device["name"], "board": device.get("board"), "exit": done.returncode,
              "seconds": round(time.monotonic() - begin, 1), **counts_of(verdict)}
    counts["gates"] = [line for line in (done.stdout + done.stderr).splitlines() if "proof:" in line]
    return counts


def slow_enough(runs):
    """Ten cases of one kernel of more than 20 µs, from as many suites as there are, with their suites' names."""
    found = collections.defaultdict(list)
    for path in runs:
        for suite in json.loads(path.read_text())["suites"]:
            for case in suite["cases"]:
                measured = case.get("metrics", {}).get("gpu_time", {}).get("value", 0)
                # What is hot measures launches and copies over the host's link.
                launches = sum(kernel.get("count", 1) for kernel in case.get("kernels", []))
                one = case.get("cache") == "cold" and launches == 1
                if one and LEAST_NS < measured < 50 * LEAST_NS:
                    found[suite["name"]].append(case["id"])
    chosen = []
    while any(found.values()) and len(chosen) < SLOWED:
        for name, cases in found.items():
            if cases and len(chosen) < SLOWED:
                chosen.append((name, cases.pop(len(cases) // 2)))
    return chosen


def self_test(suites, out, options):
    """Known slowdowns of ten cases: what was found of each size."""
    chosen = slow_enough(out / suite.stem / "run.json" for suite in suites)
    tools.expect(len(chosen) == SLOWED, f"{len(chosen)} cases of more than 20 µs")
    named = {name for name, _ in chosen}
    document = out / "selftest.json"
    done = tools.run([tools.PERFGATE, "selftest", *(suite for suite in suites if suite.stem in named), "--backend", "cuda",
                      "--sizes", SIZES, "--quiet", "--out", out / "selftest", "--report", f"json:{document}", *options,
                      *(word for _, case in chosen for word in ("--filter", case))], (0, 1, 3), timeout=560)
    tools.say(done.stdout)
    tools.say(f"self-test: exit {done.returncode}, {json.loads(document.read_text())['wall_s']:.0f} s")
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", type=pathlib.Path, metavar="SUITE.yaml")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("perfgate-out/board"), metavar="DIR")
    parser.add_argument("--devices", metavar="ID")
    parser.add_argument("--no-selftest", action="store_true")
    chosen = parser.parse_args()
    if not os.path.exists("/dev/nvidiactl"):
        tools.say("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        return 77
    suites = [path.resolve() for path in chosen.suites or sorted((ROOT / "suites").glob("*.yaml"))]
    options = ["--devices", chosen.devices] if chosen.devices else []
    total, worst = collections.Counter(), 0
    for suite in suites:
        out = chosen.out / suite.stem
        stored = out / "counts.json"
        try:
            if not stored.exists():
                counts = proved(suite, out, options)
                stored.write_text(json.dumps(counts, indent=1) + "\n")
            counts = json.loads(stored.read_text())
        except (tools.Failure, OSError, ValueError, KeyError) as failure:
            tools.say(f"{suite.stem}: FAILED: {failure}")
            worst = 3
            continue
        tools.say(f"{counts['suite']} on {counts['device']} {counts['board']}: exit {counts['exit']}, "
                  f"{counts['seconds']} s, cases {counts['cases']}, times {counts['times']}")
        for line in counts["gates"] + counts["said"]:
            tools.say(f"  {line}")
        total.update(counts["cases"])
        total.update({f"times {name}": count for name, count in counts["times"].items()})
        total["seconds"] += counts["seconds"]
        worst = max(worst, counts["exit"])
    tools.say(f"all: {dict(total)}")
    (chosen.out / "counts.json").write_text(json.dumps(total, indent=1) + "\n")
    if not chosen.no_selftest:
        try:
            worst = max(worst, self_test(suites, chosen.out, options))
        except (tools.Failure, OSError, ValueError, KeyError) as failure:
            tools.say(f"self-test: FAILED: {failure}")
            worst = 3
    return worst


if __name__ == "__main__":
    sys.exit(main())
