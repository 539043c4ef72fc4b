#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads JUnit XML with other people's parsers and compares what they count with the verdicts.

    junit_readers.py VERDICT.json JUNIT.xml...

VERDICT.json is the verdict document of the same run (`--report json:FILE`). Readers: Python's junitparser
and, where Node resolves it from the current folder, npm's junit2json. Exit 0: all agree; 1: they do
not; 77: no reader is installed.
"""

import json
import re
import shutil
import subprocess
import sys

SKIP = 77

# The table of verdicts, written a second time on purpose: the two must agree.
OUTCOME = {
    "pass": "passed",
    "improved": "passed",
    "skipped": "skipped",
    "acknowledged": "skipped",
    "warned": "skipped",
    "regressed": "failures",
    "incorrect": "failures",
    "missing": "failures",
    "error": "errors",
    "invalid": "errors",
    "not_collected": "errors",
}

JUNIT2JSON = """
import fs from 'node:fs';
import {parse} from 'junit2json';
const root = await parse(fs.readFileSync(process.argv[1], 'utf8'));
const suites = (root.testsuite ?? []).map((suite) => {
  const cases = suite.testcase ?? [];
  const having = (what) => cases.filter((one) => one[what] !== undefined).length;
  const {name, tests, failures, errors, skipped} = suite;
  const counted = {tests: cases.length, failures: having('failure'), errors: having('error'),
                   skipped: having('skipped')};
  return {name, counted, claimed: {tests, failures, errors, skipped},
          ids: cases.map((one) => one.name)};
});
console.log(JSON.stringify(suites));
"""


def node(program, *arguments):
    """Packages are resolved from the current folder's node_modules."""
    command = ["node", "--input-type=module", "-e", program, "--", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def expected_suites(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    policy = document["policy"]
    outcome = dict(OUTCOME)
    for verdict in ("no_baseline", "inconclusive"):
        outcome[verdict] = "failures" if policy[verdict + "_fails"] else "skipped"
    suites = []
    for suite in document["suites"]:
        counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        for case in suite["cases"]:
            counts["tests"] += 1
            kind = outcome[case["verdict"]]
            if kind in counts:
                counts[kind] += 1
        ids = [case["id"] for case in suite["cases"]]
        for relation in suite.get("relations", []):
            counts["tests"] += 1
            kind = outcome[relation["verdict"]]
            if kind in counts:
                counts[kind] += 1
            parameters = re.search(r"[\[@].*", relation["leading"])
            ids.append(relation["relation"] + (" " + parameters.group() if parameters else ""))
        suites.append({"name": suite["name"], "counted": counts, "claimed": counts, "ids": ids})
    return suites


def read_with_junitparser(path):
    import junitparser

    suites = []
    for suite in junitparser.JUnitXml.fromfile(path):
        counted = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        ids = []
        for case in suite:
            counted["tests"] += 1
            ids.append(case.name)
            for result in case.result:
                kind = {
                    junitparser.Failure: "failures",
                    junitparser.Error: "errors",
                    junitparser.Skipped: "skipped",
                }[type(result)]
                counted[kind] += 1
        claimed = {name: int(getattr(suite, name)) for name in counted}
        suites.append({"name": suite.name, "counted": counted, "claimed": claimed, "ids": ids})
    return suites


def read_with_junit2json(path):
    result = node(JUNIT2JSON, path)
    if result.returncode != 0:
        raise RuntimeError(f"junit2json: {path}: {result.stderr}")
    return json.loads(result.stdout)


def available_readers():
    readers = {}
    try:
        import junitparser  # noqa: F401

        readers["junitparser"] = read_with_junitparser
    except ImportError:
        print("junitparser is not installed (Debian: python3-junitparser)")
    if shutil.which("node") and node("import 'junit2json'").returncode == 0:
        readers["junit2json"] = read_with_junit2json
    else:
        print("junit2json is not installed (npm install junit2json)")
    return readers


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    readers = available_readers()
    if not readers:
        return SKIP
    expected = expected_suites(sys.argv[1])
    agree = True
    for path in sys.argv[2:]:
        for name, read in readers.items():
            seen = read(path)
            if seen == expected:
                print(f"{name}: {path}: as expected")
                continue
            agree = False
            print(f"{name}: {path}: expected {expected}, got {seen}", file=sys.stderr)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
