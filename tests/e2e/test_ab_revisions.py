# SPDX-License-Identifier: Apache-2.0
"""Two git revisions back to back, of a benchmark and of programs: nothing here measures time, the results are given.
The repository and what the user works on stay as they are."""

import os
import signal
import stat
import subprocess
import time

import tool

BENCH = tool.PYTHON + """
import json, os, sys, time
import helper
time.sleep(helper.SLEEP_S)
with open("{log}", "a") as log:
    log.write(os.getcwd() + "\\n")
json.dump({{"rows": [{{"name": "sort", "seconds": helper.SECONDS}}]}}, open(sys.argv[1], "w"))
"""

SUITE = """
name: mine
workloads:
  - benchmark: [./bench, "{out}"]
    name: bench
    format: json
    rows: /rows/*
    case: /name
    values: {real_time: {from: /seconds, unit: s}}
    tolerances: {real_time: 5%}
"""


class Revisions(tool.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()
        os.environ.update({"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"})
        self.git("init", "-q", "-b", "main", "repo", cwd=self.folder)
        self.write("repo/suites/mine.yaml", SUITE)
        bench = self.write("repo/suites/bench", BENCH.format(log=self.folder / "log"))
        bench.chmod(bench.stat().st_mode | stat.S_IXUSR)
        self.helper(1)
        self.write("repo/.gitignore", "__pycache__\nperfgate-out\n")
        self.commit("base")

    def git(self, *words, cwd=None):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words],
                              cwd=cwd or self.folder / "repo", check=True, capture_output=True,
                              text=True).stdout

    def helper(self, seconds, sleep_s=0):
        self.write("repo/suites/helper.py", f"SECONDS, SLEEP_S = {seconds}, {sleep_s}\n")

    def commit(self, tag, *removed):
        self.git("add", "-A")
        if removed:
            self.git("rm", "-q", "-r", "--cached", *removed)
        self.git("commit", "-q", "-m", tag)
        self.git("tag", tag)

    def ab(self, *words, code=0, suite="suites/mine.yaml", cwd="repo"):
        return self.run_tool("ab", suite, "--backend", "host", "--processes", 6, *words, code=code,
                             cwd=self.folder / cwd, env={"TMPDIR": str(self.folder / "tmp")})

    def real_time(self, name=""):
        suite, = self.read_json(f"repo/perfgate-out/{name}run.json")["suites"]
        return suite["cases"][0]["metrics"]["real_time"]["value"]

    def assert_as_it_was(self, status=""):
        self.assertEqual(status, self.git("status", "--porcelain"))
        self.assertEqual(1, len(self.git("worktree", "list").splitlines()))
        self.assertFalse((self.folder / "repo/.git/worktrees").exists())
        self.assertEqual([], os.listdir(self.folder / "tmp"))

    def test_the_working_tree_is_judged_against_a_revision(self):
        self.helper(2)  # not committed
        done = self.ab("--base", "rev:base", code=1)
        self.assertRegex(done.stdout, r"regressed .*\+100")
        self.assertIn("base base", done.stdout)
        self.assertEqual((1e9, 2e9), (self.real_time("base/"), self.real_time()))
        commit = self.git("rev-parse", "base").strip()
        self.assertEqual(commit, self.read_json("repo/perfgate-out/base/run.json")["git_revision"])
        self.assertEqual(f"{commit}-dirty", self.read_json("repo/perfgate-out/run.json")["git_revision"])
        self.assert_as_it_was(" M suites/helper.py\n")
        folders = set((self.folder / "log").read_text().split())
        self.assertIn(str(self.folder / "repo/suites"), folders)
        self.assertEqual(2, len(folders), "the working tree, and a folder for the base")

    def test_one_commit_is_not_compared_with_itself(self):
        same = "base and head are the same commit"
        self.assert_one_line(self.ab("--base", "rev:base", code=2).stderr, "--base rev:base: " + same)
        self.assert_one_line(self.ab("--base", "rev:base", "--head", "rev:HEAD", code=2).stderr, same)
        self.assertFalse((self.folder / "log").exists())
        self.assert_as_it_was()
        # Other variables differ, and what git does not know is in the working tree alone.
        self.ab("--base", "rev:base", "--head", "env:X=1")
        self.write("repo/suites/extra", "")
        self.assertIn(same, " ".join(self.ab("--base", "rev:base").stdout.split()))

    def test_two_revisions_and_not_what_is_worked_on(self):
        self.helper(2)
        self.commit("slow")
        self.helper("mend me", "1 / 0")
        self.ab("--base", "rev:base", "--head", "rev:slow", code=1)
        self.assertEqual((1e9, 2e9), (self.real_time("base/"), self.real_time()))
        self.assertEqual(self.git("rev-parse", "slow").strip(),
                         self.read_json("repo/perfgate-out/run.json")["git_revision"])
        self.ab("--base", "rev:main^{commit}", "--head", "rev:HEAD~1")
        self.assert_as_it_was(" M suites/helper.py\n")

    def test_what_git_does_not_have_is_not_in_a_revision(self):
        self.commit("untracked", "suites/helper.py")
        done = self.ab("--base", "rev:untracked", code=3)
        self.assertIn("No module named 'helper'", done.stdout)
        self.commit("without", "suites")
        self.ab("--base", "rev:without", code=3)
        said = str(self.read_json("repo/perfgate-out/verdict.json"))
        self.assertIn("in the base this case is error", said)
        self.assertIn("--set 'build=make'", said.replace("\\'", "'"))
        self.assert_as_it_was("?? suites/\n")

    def test_a_revision_is_built_and_the_working_tree_is_not(self):
        self.commit("built", "suites/helper.py")
        self.ab("--base", "rev:built", "--set", "build=echo 'SECONDS, SLEEP_S = 2, 0' >suites/helper.py")
        self.assertEqual((2e9, 1e9), (self.real_time("base/"), self.real_time()))
        done = self.ab("--base", "rev:built", "--set", "build=echo 'no rule\x1b[31m' >&2; exit 3", code=3)
        self.assert_one_line(done.stderr, "--base rev:built: the build (", "exited with 3: no rule?[31m")
        self.assert_as_it_was("?? suites/helper.py\n")

    def test_an_error_leaves_nothing_behind(self):
        self.write("repo/suites/mine.yaml", SUITE.replace("format: json", "format: jsn"))
        self.ab("--base", "rev:base", code=2)
        self.assert_as_it_was(" M suites/mine.yaml\n")
        self.git("checkout", "-q", ".")
        self.ab("--base", "rev:base", "--head", "rev:nowhere", code=2)
        self.assert_as_it_was()

    def test_an_interruption_leaves_nothing_behind(self):
        for sleep_s, ready in ((60, "suites/bench"), (0.05, None)):
            with self.subTest(sleep_s):
                self.helper(1, sleep_s)
                self.git("commit", "-q", "-a", "--allow-empty", "-m", "sleeps")
                self.git("commit", "-q", "--allow-empty", "-m", "again")
                running = subprocess.Popen(
                    [tool.PERFGATE, "ab", "suites/mine.yaml", "--backend", "host", "--processes", "1000",
                     "--base", "rev:HEAD~1"], cwd=self.folder / "repo", stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(self.folder / "tmp")})
                deadline = time.monotonic() + tool.PATIENCE_S
                log = self.folder / "log"
                while time.monotonic() < deadline and running.poll() is None:
                    if ready and list((self.folder / "tmp").glob(f"*/*/{ready}")):
                        break
                    if not ready and log.exists() and len(log.read_text().splitlines()) > 4:
                        break
                    time.sleep(0.02)
                running.send_signal(signal.SIGTERM)
                _, errors = running.communicate(timeout=tool.PATIENCE_S)
                self.assertEqual(130, running.returncode, errors)
                self.assert_as_it_was()

    def test_a_name_that_is_no_revision_is_refused(self):
        self.write("repo/-x", "")
        for name in ("nowhere", "--upload-pack=touch hacked", "-x", "--all", "HEAD^{tree}", "base:suites",
                     "base..HEAD", "base HEAD", "$(touch hacked)", "a\nb", " ", "^", "@{-1}"):
            with self.subTest(name):
                done = self.ab(f"--base=rev:{name}", code=2)
                self.assert_one_line(done.stderr, "--base rev:", "no such revision: correct its name, or fetch it")
                done = self.ab("--base", "rev:base", f"--head=rev:{name}", code=2)
                self.assert_one_line(done.stderr, "--head rev:", "no such revision")
        self.assertIn("--base rev:: expected a value", self.ab("--base=rev:", code=2).stderr)
        (self.folder / "repo/-x").unlink()
        self.assert_as_it_was()

    def test_a_shallow_clone_says_how_to_fetch(self):
        self.helper(2)
        self.commit("slow")
        self.git("clone", "-q", "--depth", "1", "--no-tags", f"file://{self.folder}/repo", "clone", cwd=self.folder)
        done = self.ab("--base", "rev:origin/base", code=2, cwd="clone")
        self.assert_one_line(done.stderr, "shallow", "'git fetch --depth=1 origin base' and name FETCH_HEAD")
        done = self.ab("--base=rev:-x;rm", code=2, cwd="clone")
        self.assertIn("origin BRANCH'", done.stderr)
        clone = self.folder / "clone"
        self.git("fetch", "-q", "--depth=1", "origin", "base", cwd=clone)
        self.ab("--base", "rev:FETCH_HEAD", code=1, cwd="clone")
        self.assertEqual("", self.git("status", "--porcelain", cwd=clone))

    def test_without_a_repository_there_are_no_revisions(self):
        self.write("plain/mine.yaml", SUITE)
        done = self.run_tool("ab", "plain/mine.yaml", "--base", "rev:HEAD", code=2,
                             env={"GIT_CEILING_DIRECTORIES": str(self.folder)})
        self.assert_one_line(done.stderr, "plain/mine.yaml is in no git repository", "--base dir:DIR and --head dir:DIR")
        done = self.run_tool("ab", "plain/mine.yaml", "--base", "rev:HEAD", code=2, env={"PATH": "/nowhere"})
        self.assert_one_line(done.stderr, "git was not found: install it")

    def test_suites_of_several_folders_and_of_another_repository(self):
        self.write("repo/other/more.yaml", SUITE.replace("name: mine", "name: more").replace("./bench", "../suites/bench"))
        self.write("repo/other/helper.py", "")
        self.commit("two")
        self.helper(2)
        self.ab("--base", "rev:two", "other/more.yaml", code=1)
        suites = self.read_json("repo/perfgate-out/verdict.json")["suites"]
        self.assertEqual([["regressed"]] * 2, [[case["verdict"] for case in suite["cases"]] for suite in suites])
        self.git("init", "-q", "another", cwd=self.folder)
        self.write("another/more.yaml", SUITE.replace("name: mine", "name: more"))
        done = self.ab("--base", "rev:base", "../another/more.yaml", code=2)
        self.assert_one_line(done.stderr, "../another/more.yaml is in another repository than suites/mine.yaml")

    def test_a_link_above_the_repository_and_one_within(self):
        os.symlink(self.folder / "repo", self.folder / "link")
        self.helper(2)
        self.run_tool("ab", "link/suites/mine.yaml", "--backend", "host", "--processes", 6, "--base", "rev:base",
                      code=1)
        os.symlink("suites", self.folder / "repo/same")
        done = self.ab("--base", "rev:base", suite="same/mine.yaml", code=2)
        self.assert_one_line(done.stderr, "a symbolic link leads to its folder: name it as ", "/repo/suites/mine.yaml")

    def test_a_folder_that_no_revision_has_of_its_own_is_refused(self):
        (self.folder / "outside").mkdir()
        self.write("repo/suites/mine.yaml", SUITE.replace("    name: bench\n", "    name: bench\n    cwd: ../../outside\n"))
        done = self.ab("--base", "rev:base", code=2)
        self.assert_one_line(done.stderr, "outside of", "so no revision has its own")

    def test_hooks_do_not_run_and_their_variables_change_nothing(self):
        hook = self.write("repo/.git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
        hook.chmod(0o755)
        index = (self.folder / "repo/.git/index").read_bytes()
        self.git("init", "-q", "another", cwd=self.folder)
        for name, value in (("GIT_INDEX_FILE", str(self.folder / "repo/.git/index")),
                            ("GIT_DIR", str(self.folder / "another/.git")), ("GIT_WORK_TREE", str(self.folder))):
            with self.subTest(name):
                done = subprocess.run(
                    [tool.PERFGATE, "ab", "suites/mine.yaml", "--backend", "host", "--processes", "2", "--base",
                     "rev:base", "--head", "env:X=1"], cwd=self.folder / "repo", capture_output=True, text=True,
                    timeout=tool.PATIENCE_S,
                    env={**os.environ, "TMPDIR": str(self.folder / "tmp"), name: value})
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                self.assertEqual(index, (self.folder / "repo/.git/index").read_bytes())
        self.assertEqual([], list(self.folder.rglob("hooked")))
        self.assert_as_it_was()

    def test_plugins_need_builds(self):
        self.write("repo/plugin.yaml", "name: p\ndefaults: {metrics: [host_time], tolerances: {host_time: 90%}}\n"
                                       "workloads:\n  - {workload: probe, variants: [host], params: {n: 1000}}\n")
        done = self.ab("--base", "rev:base", suite="plugin.yaml", code=2)
        self.assert_one_line(done.stderr, "plugin.yaml:4:5: ", "--base build:PATH --head build:PATH")
        self.assert_as_it_was("?? plugin.yaml\n")

    def test_it_stands_alone(self):
        for words in (["--head", "rev:base"], ["--base", "rev:base", "--base", "dir:.", "--head", "dir:."]):
            with self.subTest(words):
                self.assert_one_line(self.ab(*words, code=2).stderr, "rev:")
        self.assert_one_line(self.ab(code=2).stderr, "nothing to compare", "--base rev:REF")


if __name__ == "__main__":
    tool.main()
