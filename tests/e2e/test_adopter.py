# SPDX-License-Identifier: Apache-2.0
"""The life of somebody's repository with perfgate (tests/adopter): its workflows as `perfgate adopt` of an unpacked
release writes them, real git, the real actions, a release on loopback. GitHub's API is a file or two. Each test prints
how many steps a person took, and how long the machine was busy."""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import threading
import time
import unittest

import test_actions
import tool
from actions_runner import GH_OPTIONS

SHA = test_actions.SHA
PERFGATE = test_actions.PERFGATE
REPOSITORIES = tool.SOURCE / "tests/adopter"
BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
MOCKS = BUILD / "tests/inject/mocks"  # of driver and CUPTI; they stand for a GPU

GH = "#!/bin/bash\n" + GH_OPTIONS + r"""
case "$*" in
    *"/collaborators/ada/permission"*) echo '{"permission": "write"}' | jq -r "$jq" ;;
    *"/pulls/7 "*) jq -r "$jq" "$HOME/pull" ;;
    *"/actions/workflows/perfgate.yml/runs "*) jq -r "$jq" "$HOME/runs" ;;
    "run download"*) cp -a "$HOME/artifacts/perfgate/." "$directory" ;;
    *"/issues/7/comments "*) cp "$body" "$HOME/answer" ;;
    *"/reactions "*) ;;
    "pr list"*) ;;
    "pr create"*) echo "$*" >>"$HOME/proposed" ;;
    *) echo "what is gh $*?" >&2; exit 1 ;;
esac
"""


class Adopter(test_actions.Played):
    @classmethod
    def setUpClass(cls):
        """A release made of this build: unpacked, as on a person's machine, and served, as the workflows install it."""
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-release-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        version = subprocess.run([tool.PERFGATE, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        name = f"perfgate-{version}-linux-x86_64"
        folder = cls.place / f"served/{PERFGATE}/releases/download/v{version}"
        folder.mkdir(parents=True)
        cls.release = cls.place / name
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.release], check=True, capture_output=True)
        for kernels in cls.release.glob("lib/perfgate/plugins/*_cuda.so"):  # half of what 22 jobs unpack; none runs one
            kernels.unlink()
        # As ci/release writes it.
        (cls.release / "share/perfgate/BUILD").write_text(f"commit {SHA}\nrepository {PERFGATE}\n")
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(cls.release, name)
        total = hashlib.sha256((folder / f"{name}.tar.gz").read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{total}  {name}.tar.gz\n")

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=cls.place / "served"))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.server = f"http://127.0.0.1:{server.server_port}"

    def setUp(self):
        super().setUp()
        for program in ("jq", "cmake"):
            if not shutil.which(program):
                self.skipTest(f"no {program}")
        shutil.rmtree(self.repository)
        (self.tools / "curl").unlink()
        test_actions.script(self.tools / "gh", GH)
        (self.tools / "cmake").symlink_to(shutil.which("cmake"))

    def play(self, name, event_name, event=None, **github):
        shutil.rmtree(self.artifacts, ignore_errors=True)
        runner = self.runner(event=event or {}, event_name=event_name, server_url=self.server, **github)
        return runner.run_workflow(self.workflows / f"{name}.yml")

    def night(self):
        return self.play("perfgate-nightly", "workflow_dispatch")

    def pull_request(self, branch):
        """What the pull request's workflow says of the branch merged into main, as GitHub does it."""
        self.git("branch", "--force", "merged", "main")
        self.git("switch", "--quiet", "merged")
        self.git("merge", "--quiet", "--no-ff", "-m", "merge", branch)
        self.git("switch", "--quiet", "main")
        event = {"pull_request": {
            "number": 7, "head": {"repo": {"full_name": "owner/kernels"}, "sha": self.revision(branch)},
            "base": {"sha": self.revision("main")}}}
        return self.play("perfgate", "pull_request", event, sha=self.revision("merged"))

    def revision(self, name):
        return self.git("rev-parse", name).strip()

    def branch(self, name, file, text, by):
        self.git("switch", "--quiet", "-c", name)
        path = self.repository / file
        self.assertIn(text, path.read_text())
        path.write_text(path.read_text().replace(text, by))
        self.commit(name)
        self.git("switch", "--quiet", "main")

    def adopted(self, kind, words, backend=None):
        """Takes the steps that a person has to: types what the words are, and does what the release prints then, until the
        first baselines are merged and a night finds nothing new. Returns what it printed."""
        shutil.copytree(REPOSITORIES / kind, self.repository)
        if kind == "training":
            shutil.copy(tool.SOURCE / "harness/runner/templates/command/program.py", self.repository / "train.py")
        self.git("init", "--quiet", "-b", "main")
        done = subprocess.run([self.release / "bin/perfgate", *words], cwd=self.repository, capture_output=True, text=True,
                              env=self.environment)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        steps = re.findall(r"^  \d\. (.*)$", done.stdout, re.MULTILINE)
        registers, *python, commits, starts, requires = steps
        self.assertEqual(1 if kind == "training" else 0, len(python), python)
        label = re.search(r"runner with the label (\S+): ", registers)[1]
        self.assertIn("Commit these files", commits)
        if backend:
            config = self.repository / "configs/ci.yaml"
            self.assertIn("\nbackend: cuda\n", config.read_text())
            config.write_text(config.read_text().replace("backend: cuda", f"backend: {backend}"))
        self.commit("perfgate")
        # Of perfgate the repository names two actions, and what jobs with permissions check out at the same commit.
        brought = {line for path in self.workflows.iterdir()
                   for line in re.findall(rf"{PERFGATE}\S*", re.sub("https://.*", "", path.read_text()))}
        self.assertEqual({f"{PERFGATE}/ci/setup@{SHA}", f"{PERFGATE}/ci/action@{SHA}", PERFGATE}, brought)
        for path in self.workflows.iterdir():
            for after in path.read_text().split(f"repository: {PERFGATE}\n")[1:]:
                self.assertRegex(after, rf"\A\s+ref: {SHA}\n")
        self.assertIn("workflow 'perfgate nightly'", starts)
        begin = time.monotonic()
        jobs = self.night()
        self.assertEqual("success", jobs["propose"].result, jobs["measure"].log + jobs["propose"].log)
        self.assertIn("pr create", (self.folder / "proposed").read_text())
        self.git("merge", "--quiet", "perfgate/baselines")
        first_s = time.monotonic() - begin
        self.assertIn("the check 'gate'", requires)
        jobs = self.night()
        self.assertEqual(("success", "skipped"), (jobs["measure"].result, jobs["propose"].result), jobs["measure"].log)
        self.assertIn("is in the tool cache", jobs["measure"].log)
        print(f"  {kind}: adopt and {len(steps)} steps, on a runner with the label {label}; the first baselines took "
              f"{first_s:.0f} s", flush=True)
        return done.stdout

    def assert_gate(self, jobs, result, title=None):
        self.assertEqual((result, "success"), (jobs["gate"].result, jobs["review"].result),
                         jobs["measure"].log + jobs["gate"].log + jobs["review"].log)
        self.assertEqual([title] if title else [], [each.properties["title"] for each in jobs["gate"].annotations],
                         jobs["measure"].summary)

    def test_a_benchmark_on_a_processor(self):
        if not (BUILD / "bin/example_benchmark").exists():
            self.skipTest("needs Google Benchmark")
        self.adopted("benchmark", ["adopt", "perf/*.yaml"])
        jobs = self.pull_request("main")
        self.assert_gate(jobs, "success")
        self.branch("slower", "bench.cpp", "seconds_each = 1e-9", "seconds_each = 2e-9")
        jobs = self.pull_request("slower")
        self.assert_gate(jobs, "failure", "perfgate regression")
        self.assertIn("real_time regressed", jobs["measure"].summary)
        # Whatever else is wrong says nothing about the change.
        self.branch("broken", "bench.cpp", "BENCHMARK_MAIN();", "int main() { return 1; }")
        jobs = self.pull_request("broken")
        self.assert_gate(jobs, "failure", "perfgate infrastructure")
        self.assertEqual("failure", jobs["measure"].result)

    @unittest.skipUnless((MOCKS / "libcuda.so.1").exists(), "built without CUDA's headers")
    def test_a_program_on_a_gpu(self):
        """The mocks of driver and CUPTI stand for a GPU, and a program that calls the driver for PyTorch."""
        self.environment |= {"LD_LIBRARY_PATH": str(MOCKS)}
        del self.environment["CUDA_VISIBLE_DEVICES"]
        # The mocks are no device of the CUDA backend, which measures kernels and no programs.
        self.adopted("training", ["adopt"], backend="host")
        self.assert_gate(self.pull_request("main"), "success")
        self.branch("slower", "train.py", "range(100)", "range(200)")
        jobs = self.pull_request("slower")
        self.assert_gate(jobs, "failure", "perfgate regression")
        self.assertIn("memsets", jobs["measure"].summary)

    def test_from_the_first_commit_to_an_accepted_change(self):
        # As README.md prints it.
        shown = re.search(r"^\$ perfgate (adopt .*)\n((?:.*\n)*?)```$", (tool.SOURCE / "README.md").read_text(), re.MULTILINE)
        printed = self.adopted("kernels", shlex.split(shown[1]))
        self.assertEqual(shown[2].replace("OWNER/perfgate/blob/SHA/", f"{PERFGATE}/blob/{SHA}/"), printed)

        # A variant becomes slower: the pull request fails, and says which and by how much.
        self.git("switch", "--quiet", "-c", "slower")
        header = self.repository / "include/sums.hpp"
        header.write_text(header.read_text().replace(
            "    double sum = 0;\n    for (const double value : values) sum += value;\n",
            "    double sum = 0;\n    for (const double value : values) sum += value;\n"
            "    std::this_thread::sleep_for(std::chrono::milliseconds(1));\n").replace(
            "#include <cstddef>\n", "#include <chrono>\n#include <cstddef>\n#include <thread>\n"))
        self.commit("simpler")
        self.git("switch", "--quiet", "main")
        jobs = self.pull_request("slower")
        measured = jobs["measure"]
        self.assertEqual("failure", measured.result, measured.log)
        self.assert_gate(jobs, "failure", "perfgate regression")
        self.assertRegex(measured.summary, r"sum/plain\[n=1000\]")
        self.assertIn("host_time regressed", measured.summary)
        head = self.revision("slower")
        self.assertIn(f"/perfgate accept --head {head} REASON", measured.summary)
        self.assertEqual([("perf/sums.yaml", "8")], [
            (each.properties["file"], each.properties["line"]) for each in measured.annotations
            if each.kind == "error"])

        # Accepted in a comment: the baselines on the branch change, and the pull request passes.
        self.write("pull", json.dumps({"state": "open", "head": {
            "sha": head, "ref": "slower", "repo": {"full_name": "owner/kernels"}}}))
        self.write("runs", json.dumps({"workflow_runs": [{
            "id": 41, "head_sha": head, "updated_at": "2026-11-21T10:00:00Z",
            "head_repository": {"full_name": "owner/kernels"}}]}))
        kept = self.folder / "kept"
        shutil.copytree(self.artifacts, kept)
        (self.tools / "gh").write_text(GH.replace("$HOME/artifacts", "$HOME/kept"))
        event = {"issue": {"number": 7, "pull_request": {"url": "…"}}, "comment": {
            "id": 9, "body": f"/perfgate accept --head {head} clarity matters more here",
            "created_at": "2026-11-21T10:30:00Z", "user": {"login": "ada", "id": 1815},
            "html_url": "https://github.com/owner/kernels/pull/7#issuecomment-9"}}
        jobs = self.play("perfgate-accept", "issue_comment", event)
        self.assertEqual(["success", "success"], [job.result for job in jobs.values()],
                         "".join(job.log for job in jobs.values()))
        self.assertIn("Accepted for ada", (self.folder / "answer").read_text())
        self.assertEqual({"baselines"}, {name.split("/")[0] for name in self.git(
            "diff", "--name-only", head, "slower").split()})
        jobs = self.pull_request("slower")
        self.assertEqual("success", jobs["measure"].result, jobs["measure"].log)
        self.assert_gate(jobs, "success")

        # Merged, and the next night finds nothing new.
        self.git("merge", "--quiet", "slower")
        jobs = self.night()
        self.assertEqual(("success", "skipped"), (jobs["measure"].result, jobs["propose"].result), jobs["measure"].log)


if __name__ == "__main__":
    tool.main()
