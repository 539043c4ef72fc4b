# SPDX-License-Identifier: Apache-2.0
"""The commit that made a case slower, in histories of git whose times are given: nothing here measures time."""

import os
import re
import signal
import subprocess
import time

import tool

# What a commit's `time` says: its time in ns, the spread in thousandths either way, whether half of its processes are
# slow, and a file that shows that it hangs.
BENCH = """#!/bin/sh
. ./time
[ -z "$WAIT" ] || [ ! -e "$WAIT" ] || { echo >>"$WAIT"; exec sleep 60; }
if [ "$NOISE" -gt 0 ]; then
    read n <%(folder)s/count; n=$((n + 1)); echo $n >%(folder)s/count
    x=$(((n + 23757) * 1103515245 %% 2147483648)); x=$((x ^ (x >> 13)))
    x=$((x * 69069 %% 2147483648)); x=$((x ^ (x >> 15)))
    [ -z "$FLAKY" ] || [ $((x / 1000 %% 2)) = 0 ] || TIME=$((TIME * 2))
    TIME=$((TIME + TIME * (x / 7 %% (2 * NOISE + 1) - NOISE) / 1000))
fi
echo name,ns; echo sort,$TIME; echo copy,$COPY
"""

BUILD = """#!/bin/sh
echo >>%(folder)s/builds
[ ! -e broken ] || { echo 'no rule to make it' >&2; exit 2; }
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

# Given times need few processes.
QUICK = ("--set", "rounds=0", "--set", "false_alarms=40%")


class Bisect(tool.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()
        self.write("count", "0\n")
        os.environ.update({"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"})
        self.repo = self.folder / "it's a \"repo\"; $(touch hacked)"
        self.git("init", "-q", "-b", "main", self.repo, cwd=self.folder)
        self.put("mine.yaml", SUITE)
        for name, text in (("bench", BENCH), ("build", BUILD)):
            self.put(name, text % {"folder": self.folder})
            (self.repo / name).chmod(0o755)
        self.put(".gitignore", "perfgate-out\n")
        self.commit("c0")

    def git(self, *words, cwd=None, **more):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *map(str, words)],
                              cwd=cwd or self.repo, check=True, capture_output=True, text=True, **more).stdout

    def put(self, name, text):
        (self.repo / name).write_text(text)

    def commit(self, message, time_ns=1000, *, copy=1000, noise=0, broken=False, flaky=False, wait=""):
        self.put("time", f"TIME={time_ns} COPY={copy} NOISE={noise} FLAKY={'1' if flaky else ''} WAIT={wait}\n")
        if broken:
            self.put("broken", "")
        else:
            (self.repo / "broken").unlink(missing_ok=True)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def history(self, count, culprit, every=None, **others):
        """Commits c1 to c<count>, of which one takes 4 % more time than those before; others: c7={"broken": True}."""
        for number in range(1, count + 1):
            slow = culprit is not None and number >= culprit
            self.commit(f"c{number}", **{"time_ns": 1040 if slow else 1000, **(every or {}), **others.get(f"c{number}", {})})

    def name_of(self, subject):
        return self.git("log", "--all", "--format=%H", f"--grep=^{subject}$").strip()

    def subjects(self, commits):
        return [self.git("log", "-1", "--format=%s", commit).strip() for commit in commits]

    def bisect(self, *words, code=1, quick=QUICK, processes=3):
        return self.run_tool("bisect", *words, "--backend", "host", "--processes", processes, "--set", "build=./build",
                             *quick, code=code, cwd=self.repo, env={"TMPDIR": str(self.folder / "tmp")})

    def search(self):
        return self.read_json(self.repo / "perfgate-out/bisect.json")

    def found(self):
        search = self.search()
        return search["outcome"], self.subjects(search.get("commits", []))

    def decisions(self):
        return {self.subjects([step["commit"]])[0]: step["decision"] for step in self.search()["steps"]}

    def builds(self):
        return len((self.folder / "builds").read_text())

    def assert_as_it_was(self, status=""):
        self.assertEqual(status, self.git("status", "--porcelain"))
        self.assertEqual(1, len(self.git("worktree", "list").splitlines()))
        self.assertEqual([], os.listdir(self.folder / "tmp"))
        self.assertEqual([], list(self.folder.rglob("hacked")))


class Searches(Bisect):
    def test_a_change_within_the_spread_of_one_process_is_found_among_24_commits(self):
        self.history(24, 15, {"noise": 25}, c12={"broken": True}, c11={"flaky": True})
        done = self.bisect(self.name_of("c0"), "main", "mine.yaml", quick=("--set", "rounds=1", "--set", "false_alarms=10%"))
        self.assertEqual(("found", ["c15"]), self.found())
        self.assertEqual({"c12": "broken", "c11": "undecided", "c14": "not slower", "c15": "slower"},
                         {name: said for name, said in self.decisions().items() if name in ("c11", "c12", "c14", "c15")})
        self.assertIn(f"bisect: found: {self.name_of('c15')[:12]} c15", done.stdout)
        self.assertIn("no rule to make it", done.stderr)
        self.assertIn("its processes differ far more than GOOD's and BAD's", done.stderr)
        for step in self.search()["steps"]:
            self.assertTrue(step["decision"] in ("broken", "undecided") or step["pairs"] >= 6, step)
        self.assert_as_it_was()

    def test_the_report_is_that_of_the_culprit_against_the_commit_before_it(self):
        self.history(3, 2)
        self.put("mine.yaml", SUITE + "# not committed\n")
        done = self.bisect("main~3", "main", "mine.yaml", "--report", "markdown:out.md")
        self.assertEqual(("found", ["c2"]), self.found())
        self.assertEqual({"c1": "not slower", "c2": "slower"}, self.decisions())
        verdict, = self.read_json(self.repo / "perfgate-out/verdict.json")["suites"]
        self.assertEqual(["b/sort"], [case["id"] for case in verdict["cases"] if case["verdict"] == "regressed"])
        runs = [self.read_json(self.repo / f"perfgate-out/{side}run.json")["git_revision"] for side in ("base/", "")]
        self.assertEqual([self.name_of("c1"), self.name_of("c2")], runs)
        self.assertIn(f"--base rev:{self.name_of('c1')[:12]} --head rev:{self.name_of('c2')[:12]}",
                      (self.repo / "out.md").read_text())
        self.assertIn("followed: b/sort, real_time", done.stdout)
        self.assertFalse((self.repo / "perfgate-out/step").exists(), "a step is no result")
        self.assert_as_it_was(" M mine.yaml\n?? out.md\n")

    def test_an_unchanged_history_has_no_culprit(self):
        self.history(3, None, c2={"time_ns": 2000})
        done = self.bisect("main~3", "main", "mine.yaml", code=0)
        self.assertEqual(("not shown", []), self.found())
        self.assertEqual([], self.search()["steps"])
        self.assertIn("bisect: not shown: BAD", done.stdout)
        self.assertEqual(2, self.builds())

    def test_neighbours_that_cannot_be_built_stay_candidates(self):
        self.history(4, 3, c2={"broken": True}, c3={"broken": True})
        done = self.bisect("main~4", "main", "mine.yaml")
        self.assertEqual(("one of", ["c2", "c3", "c4"]), self.found())
        self.assertIn("one of these 3", done.stdout)
        self.assertEqual({"c1": "not slower", "c2": "broken", "c3": "broken"}, self.decisions())

    def test_the_case_decides_what_is_followed(self):
        self.history(2, 2, {"copy": 1100})
        self.bisect("main~2", "main", "mine.yaml")
        self.assertEqual(("found", ["c1"]), self.found(), "what is slower by most")
        self.bisect("main~2", "main", "mine.yaml", "b/sort")
        self.assertEqual(("found", ["c2"]), self.found())
        self.assertIn("b/none", self.bisect("main~2", "main", "mine.yaml", "b/none", code=2).stderr)

    def test_a_merge_is_one_commit_and_its_branch_another_search(self):
        self.git("checkout", "-q", "-b", "side")
        self.history(2, 2)
        self.git("checkout", "-q", "main")
        self.put("other", "")
        self.git("add", "other")
        self.git("commit", "-q", "-m", "m1")
        self.git("merge", "-q", "--no-ff", "-m", "merged", "side")
        done = self.bisect("main~2", "main", "mine.yaml")
        self.assertEqual(("found", ["merged"]), self.found())
        words = done.stdout.split("it is a merge; its branch: perfgate bisect ")[1].split()[:4]
        self.assertEqual([self.name_of("c0")[:12], self.name_of("c2")[:12], "mine.yaml", "b/sort"], words)
        self.bisect(*words)
        self.assertEqual(("found", ["c2"]), self.found())

    def test_the_build_fetches_submodules(self):
        self.git("init", "-q", "part", cwd=self.folder)
        part = self.folder / "part"
        self.write("part/file", "")
        self.git("add", "-A", cwd=part)
        self.git("commit", "-q", "-m", "part", cwd=part)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", part, "part")
        self.put("build", "#!/bin/sh\ngit -c protocol.file.allow=always submodule update -q --init && test -e part/file\n")
        self.commit("with a part")
        self.history(1, 1)
        self.bisect("main~1", "main", "mine.yaml")
        self.assertEqual(("found", ["c1"]), self.found())
        self.assert_as_it_was()


class Restarts(Bisect):
    def test_what_was_decided_is_not_measured_again(self):
        flag = self.write("flag", "")
        self.history(4, 3, c3={"wait": flag})
        for number, ends in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 130)):
            flag.write_text("")
            running = subprocess.Popen(
                [tool.PERFGATE, "bisect", "main~4", "main", "mine.yaml", "--backend", "host", "--processes", "3",
                 "--set", "build=./build", *QUICK], cwd=self.repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "TMPDIR": str(self.folder / "tmp")})
            deadline = time.monotonic() + tool.PATIENCE_S
            while time.monotonic() < deadline and running.poll() is None and not flag.read_text():
                time.sleep(0.02)
            running.send_signal(number)
            output = running.communicate(timeout=tool.PATIENCE_S)
            self.assertEqual(ends, running.returncode, output)
        self.assertEqual({"c2": "not slower"}, self.decisions())
        self.assertEqual("running", self.search()["outcome"])
        flag.unlink()
        # Another device is no commit's fault.
        file = self.repo / "perfgate-out/bisect.json"
        text = file.read_text()
        file.write_text(text.replace(self.search()["device"], "another"))
        done = self.bisect("main~4", "main", "mine.yaml", code=2)
        self.assertIn("its steps were measured on another", done.stderr.splitlines()[-1])
        self.assertEqual({"c2": "not slower"}, self.decisions())
        file.write_text(text)
        before = self.builds()
        done = self.bisect("main~4", "main", "mine.yaml")
        self.assertIn("going on after 1 step", done.stderr)
        self.assertEqual(("found", ["c3"]), self.found())
        # GOOD, c3, and c2 and c3 for the report.
        self.assertEqual(4, self.builds() - before)

    def test_a_file_that_is_no_search_is_refused_and_a_link_is_not_followed(self):
        self.history(1, 1)
        (self.repo / "perfgate-out").mkdir()
        self.put("perfgate-out/bisect.json", '{"schema": "perfgate.bisect"')
        self.assert_one_line(self.bisect("main~1", "main", "mine.yaml", code=2).stderr, "perfgate-out/bisect.json")
        (self.repo / "perfgate-out/bisect.json").unlink()
        (self.repo / "perfgate-out/bisect.json").symlink_to(self.folder / "outside")
        self.bisect("main~1", "main", "mine.yaml")
        self.assertEqual(("found", ["c1"]), self.found())
        self.assertFalse((self.folder / "outside").exists())
        self.put("mine.yaml", SUITE.replace("1%", "9%"))
        self.bisect("main~1", "main", "mine.yaml", code=0)
        self.assertEqual(("not shown", []), self.found(), "another suite is another search")


class Refusals(Bisect):
    def test_names_and_histories_that_are_none(self):
        self.history(2, 2)
        self.git("checkout", "-q", "--orphan", "alone")
        self.commit("alone")
        self.git("checkout", "-q", "main")
        for words, parts in (
                (("--", "-x", "main", "mine.yaml"), ["GOOD -x: the repository has no such revision"]),
                (("--", "main", "--upload-pack=touch hacked", "mine.yaml"), ["BAD --upload-pack", "no such revision"]),
                (("main~1", "$(touch hacked)", "mine.yaml"), ["no such revision"]),
                (("main", "HEAD", "mine.yaml"), ["GOOD and BAD are the same commit"]),
                (("main", "main~1", "mine.yaml"), ["GOOD main is no ancestor of BAD main~1", "common ancestor"]),
                (("alone", "main", "mine.yaml"), ["is no ancestor of", "no common ancestor"]),
                (("main~1", "main"), ["GOOD BAD SUITE [CASE]"]),
                (("main~1", "main", "none.yaml"), ["none.yaml"])):
            with self.subTest(words):
                self.assert_one_line(self.run_tool("bisect", "--backend", "host", *words, code=2, cwd=self.repo).stderr, *parts)
        self.assert_as_it_was()

    def test_a_good_or_bad_commit_without_a_build_is_an_error(self):
        self.commit("\x1b[31mred", broken=True)
        self.commit("c2")
        for words in (("main~2", "main~1"), ("main~1", "main")):
            done = self.bisect(*words, "mine.yaml", code=3)
            self.assertIn("the build ('./build') exited with 2: no rule to make it", done.stderr)
            self.assertNotIn("\x1b", done.stderr + done.stdout)
        self.assert_as_it_was()


class GitBisectRun(Bisect):
    def step(self, *words, code):
        return self.bisect("--step", *words, code=code)

    def test_a_step_says_of_the_working_tree_what_git_understands(self):
        self.commit("slow", 1040)
        done = self.step("main~1", "mine.yaml", code=1)
        again = re.sub(r"\\\\\n *", "", done.stdout[done.stdout.index("ab again"):])
        self.assertRegex(again, "perfgate ab mine.yaml .*--base '?rev:main~1")
        self.step("main~1", "mine.yaml", "b/copy", code=0)
        self.put("time", "TIME=many NOISE=0\n")
        self.step("main~1", "mine.yaml", code=125)
        self.put("broken", "")
        self.assertIn("the working tree: the build", self.step("main~1", "mine.yaml", code=125).stderr)
        # Any other number below 128 would be a bad commit.
        for words in (("nowhere", "mine.yaml"), ("main~1",), ("main~1", "mine.yaml", "--config", "none.yaml"),
                      ("main~1", "mine.yaml", "--proceses", "3")):
            self.step(*words, code=128)

    def test_git_finds_the_culprit_with_it(self):
        self.history(3, 1, c2={"broken": True})
        self.git("bisect", "start", "main", "main~3")
        done = self.git("bisect", "run", tool.PERFGATE, "bisect", "--step", "main~3", "mine.yaml", "--backend", "host",
                        "--processes", "3", "--set", "build=./build", "--quiet", *QUICK,
                        env={**os.environ, "TMPDIR": str(self.folder / "tmp")})
        self.assertIn(f"{self.name_of('c1')} is the first bad commit", done)
        self.assertEqual([], os.listdir(self.folder / "tmp"))


if __name__ == "__main__":
    tool.main()
