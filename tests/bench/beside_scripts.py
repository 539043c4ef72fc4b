# SPDX-License-Identifier: Apache-2.0
"""Verdicts of perfgate beside those of the benchmarks' own scripts, on the same recorded results, as a Markdown table.

    beside_scripts.py --script SCRIPT... --row TEXT BASE HEAD... [--tolerance 1.5%] [--processes 5]

BASE and HEAD are folders with the results (*.json) of one process each. perfgate judges HEAD's, --processes at a time,
by all of BASE's; a script compares each of HEAD's with the one of BASE that has the same place. SCRIPT is known by its
name: Google Benchmark's compare.py (Debian: libbenchmark-tools; needs scipy), nvbench's nvbench_compare.py and
nvbench_compare_robust.py (they need tabulate, numpy and colorama). --python names the interpreter that has what they
need. PERFGATE or --perfgate is the binary. The results for docs/benchmarks.md, in turns:

    for i in $(seq 10 59); do for side in base same slow; do
        case $side$i in base[345]?) continue;; esac    # 20 of base, 50 of the others
        work=1; [ $side = slow ] && work=1.03
        WORK=$work chrt -f 50 example_benchmark --benchmark_repetitions=10 --benchmark_out_format=json --benchmark_out=$side/$i.json
    done; done

and with programs of tests/gpu/nvbench: {base,slow}/bench --devices 0 --no-batch --stopping-criterion sample-count
--target-samples 100 --benchmark fma --benchmark copy --jsonbin FOLDER/$i.json.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ALPHA = 0.05


class Failure(Exception):
    pass


class Count(collections.Counter):
    """Cases by what was said of them, and `exit N`."""

    def text(self):
        codes = {key: times for key, times in sorted(self.items()) if key.startswith("exit ")}
        said = ", ".join(f"{times} {key}" for key, times in sorted(self.items()) if key not in codes and times)
        exits = ", ".join(key if len(codes) == 1 else f"{key} {times} times" for key, times in codes.items())
        times = sum(codes.values())
        return f"{said}; {exits} ({times} comparison{'s' if times > 1 else ''})"


def run(words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def judged(perfgate, tolerance, base, head):
    with tempfile.TemporaryDirectory() as out:
        done = run([perfgate, "compare", "--base", *base, "--head", *head, "--tolerance", tolerance, "--out", out])
        verdict = pathlib.Path(out) / "verdict.json"
        if not verdict.exists():
            raise Failure(f"perfgate compare: {done.stderr}")
        suites = json.loads(verdict.read_text())["suites"]
    return Count([case["verdict"] for suite in suites for case in suite["cases"]] + [f"exit {done.returncode}"])


def google_benchmark(python, script, base, head):
    """What `compare.py benchmarks` says: the U test of the repetitions' real times."""
    with tempfile.TemporaryDirectory() as out:
        report = pathlib.Path(out) / "report.json"
        done = run([python, script, "--dump_to_json", report, "benchmarks", base, head])
        if not report.exists():
            raise Failure(f"{script}: {done.stderr}")
        tests = [row["utest"] for row in json.loads(report.read_text()) if row["utest"]]
    said = ["flagged" if test["time_pvalue"] < ALPHA else "not flagged" for test in tests]
    return Count(said + [f"exit {done.returncode}"])


def nvbench(python, script, base, head):
    """What nvbench's scripts say in their summary: `- Total Matches: 18`, `  - Failure (diff > min_noise):  3`, ..."""
    done = run([python, script, "--no-color", base, head])
    summary = done.stdout.partition("# Summary")[2]
    lines = re.findall(r"^  - (\w+)\b[^\n]*: +(\d+)$", summary, re.MULTILINE)
    if not lines:
        raise Failure(f"{script}: {done.stdout[-500:]}{done.stderr}")
    count = Count({f"exit {done.returncode}": 1})
    count.update({name.lower(): int(number) for name, number in lines})
    return count


SCRIPTS = {"compare.py": google_benchmark, "nvbench_compare.py": nvbench, "nvbench_compare_robust.py": nvbench}


def results(folder):
    found = sorted(pathlib.Path(folder).glob("*.json"))
    if not found:
        raise Failure(f"no results in {folder}")
    return [path for path in found if path.is_file()]


def table(chosen):
    lines = ["| changed | `perfgate compare` | " + " | ".join(f"`{script.name}`" for script in chosen.script) + " |",
             "|" + "---|" * (2 + len(chosen.script))]
    for text, base, head in chosen.row:
        base, head = results(base), results(head)
        verdicts = Count()
        for first in range(0, len(head), chosen.processes):
            verdicts.update(judged(chosen.perfgate, chosen.tolerance, base, head[first:first + chosen.processes]))
        cells = [text, verdicts.text()]
        for script in chosen.script:
            said = Count()
            for pair in zip(base, head):
                said.update(SCRIPTS[script.name](chosen.python, script, *pair))
            cells.append(said.text())
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfgate", default=os.environ.get("PERFGATE", "perfgate"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--script", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--row", nargs=3, action="append", required=True, metavar=("TEXT", "BASE", "HEAD"))
    parser.add_argument("--tolerance", default="1.5%")
    parser.add_argument("--processes", type=int, default=5)
    chosen = parser.parse_args()
    for script in chosen.script:
        if script.name not in SCRIPTS:
            parser.error(f"unknown script {script.name}; known are: {', '.join(SCRIPTS)}")
    try:
        print(table(chosen))
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
