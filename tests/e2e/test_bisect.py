# SPDX-License-Identifier: Apache-2.0
"""The commit that made a case slower, in histories of git whose times are given: nothing here measures time."""

import os
import signal
import subprocess
import time

import tool

# Its time in ns is in `time`, which a commit changes; `noise`, if there is one, is the spread in thousandths either way.
BENCH = """#!/bin/sh
. ./time
[ -z "$WAIT" ] || { echo >>"$WAIT"; sleep 60; }
if [ "$NOISE" -gt 0 ]; then
    n=$(($(cat {count} 2>/dev/null || echo 0) + 1))
    echo $n >{count}
    x=$(((n + {seed} * 7919) * 1103515245 % 2147483648)); x=$((x ^ (x >> 13)))
    x=$((x * 69069 % 2147483648)); x=$((x ^ (x >> 15)))
    TIME=$((TIME + TIME * (x / 7 % (2 * NOISE + 1) - NOISE) / 1000))
fi
[ -z "$FLAKY" ] || [ $(($$ / 2 % 2)) = 0 ] || TIME=$((TIME * 2))
printf 'name,ns\\n%s,%d\\n' sort $TIME copy 1000
"""

SUITE = """
name: mine
workloads:
  - benchmark: [./bench]
    name: b
    format: csv
    case: name
    values: {real_time: {from: ns, unit: ns}}
    tolerances: {real_time: 1%}
"""

QUICK = ("--backend", "host", "--processes", 2, "--set", "build=./build", "--set", "false_alarms=1%")


class Bisect(tool.Case):
    seed = 1

    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()
        os.environ.update({"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"})
        self.git("init", "-q", "-b", "main", "repo", cwd=self.folder)
        self.write("repo/mine.yaml", SUITE)
        self.script("repo/bench", BENCH.replace("{count}", str(self.folder / "count")).replace("{seed}", str(self.seed)))
        self.script("repo/build", f"#!/bin/sh\necho >>{self.folder}/builds\n[ ! -e broken ] || {{ echo no rule >&2; exit 2; }}\n")
        self.write("repo/.gitignore", "perfgate-out\n")
        self.commit(0)

    def git(self, *words, cwd=None):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *map(str, words)],
                              cwd=cwd or self.folder / "repo", check=True, capture_output=True, text=True).stdout

    def commit(self, number, time_ns=1000, *, noise=0, broken=False, flaky=False, wait="", message=None):
        self.write("repo/time", f"TIME={time_ns} NOISE={noise} FLAKY={'1' if flaky else ''} WAIT={wait}\n")
        self.write("repo/broken", "") if broken else (self.folder / "repo/broken").unlink(missing_ok=True)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message or f"commit {number}")
        self.git("tag", f"c{number}")

    def history(self, count=24, culprit=None, **others):
        """Commits c1 to c<count>; from the culprit on the case takes 1040 ns. others: c7={"broken": True}."""
        for number in range(1, count + 1):
            slow = culprit is not None and number >= culprit
            self.commit(number, 1040 if slow else 1000, **{"noise": self.noise, **others.get(f"c{number}", {})})

    noise = 0

    def bisect(self, *words, code=1, cwd="repo", **more):
        return self.run_tool("bisect", *words, *QUICK, code=code, cwd=self.folder / cwd,
                             env={"TMPDIR": str(self.folder / "tmp")}, **more)

    def found(self):
        return self.read_json("repo/perfgate-out/bisect.json")

    def name_of(self, tag):
        return self.git("rev-parse", tag).strip()

    def names_of(self, commits):
        tags = {self.name_of(tag): tag for tag in self.git("tag").split()}
        return [tags[commit] for commit in commits]

    def decisions(self):
        steps = self.found()["steps"]
        return dict(zip(self.names_of([step["commit"] for step in steps]), [step["decision"] for step in steps]))

    def assert_as_it_was(self, status=""):
        self.assertEqual(status, self.git("status", "--porcelain"))
        self.assertEqual(1, len(self.git("worktree", "list").splitlines()))
        self.assertEqual([], os.listdir(self.folder / "tmp"))


class Noisy(Bisect):
    noise = 25
    seed = 3

    def test_a_change_within_the_spread_of_one_process_is_found_among_24_commits(self):
        self.history(culprit=15, c12={"broken": True}, c18={"flaky": True})
        done = self.bisect("c0", "main", "mine.yaml")
        print(done.stdout, done.stderr)
        self.assertEqual(("found", ["c15"]), (self.found()["outcome"], self.names_of(self.found()["commits"])))
        self.assertIn("found: " + self.name_of("c15")[:12] + " commit 15", done.stdout)


class Steps(Bisect):
    def test_the_report_is_that_of_the_culprit(self):
        self.history(8, culprit=5)
        self.bisect("c0", "c8", "mine.yaml")
        print(self.found())


if __name__ == "__main__":
    tool.main()
