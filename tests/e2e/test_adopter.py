# SPDX-License-Identifier: Apache-2.0
"""The life of somebody's repository with perfgate (tests/adopter): its workflows as ci/adopt writes them,
real git, the real actions, a release on loopback. GitHub's API is a file or two."""

import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import tarfile
import threading

import test_actions
import tool
from actions_runner import GH_OPTIONS

SHA = "5eed" * 10
PERFGATE = "tools/perfgate"
REPOSITORY = tool.SOURCE / "tests/adopter/repository"

GH = "#!/bin/bash\n" + GH_OPTIONS + r"""
case "$*" in
    *"/collaborators/ada/permission"*) echo '{"permission": "write"}' | jq -r "$jq" ;;
    *"/pulls/7 "*) jq -r "$jq" "$HOME/pull" ;;
    *"/actions/workflows/pull-request.yml/runs "*) jq -r "$jq" "$HOME/runs" ;;
    "run download"*) cp -a "$HOME/artifacts/perfgate/." "$directory" ;;
    *"/issues/7/comments "*) cp "$body" "$HOME/answer" ;;
    *"/reactions "*) ;;
    "pr list"*) ;;
    "pr create"*) echo "$*" >>"$HOME/proposed" ;;
    *) echo "what is gh $*?" >&2; exit 1 ;;
esac
"""


class Adopter(test_actions.Played):
    def setUp(self):
        super().setUp()
        for program in ("jq", "cmake"):
            if not shutil.which(program):
                self.skipTest(f"no {program}")
        shutil.rmtree(self.repository)
        (self.tools / "curl").unlink()
        test_actions.script(self.tools / "gh", GH)
        self.serve_release()
        self.environment.update(tool.with_clock("stated"))  # its times are those of the sleeps in its code
        self.steps = []  # that a person took

    def serve_release(self):
        """The release of the version that the templates name, made of this build."""
        text = (tool.SOURCE / "ci/workflows/pull-request.yml").read_text()
        version = re.search(r"^ +version: (.*)$", text, re.MULTILINE)[1]
        name = f"perfgate-{version}-linux-x86_64"
        folder = self.folder / f"served/{PERFGATE}/releases/download/v{version}"
        folder.mkdir(parents=True)
        subprocess.run(["cmake", "--install", os.environ["PERFGATE_BUILD_DIR"], "--prefix", self.folder / name],
                       check=True, capture_output=True)
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(self.folder / name, name)
        shutil.rmtree(self.folder / name)
        total = hashlib.sha256((folder / f"{name}.tar.gz").read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{total}  {name}.tar.gz\n")

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=self.folder / "served"))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.server = f"http://127.0.0.1:{server.server_port}"

    def check_out(self, runner, inputs):
        if inputs.get("repository") == PERFGATE:
            self.assertEqual(SHA, inputs["ref"])
            shutil.copytree(test_actions.CI, runner.workspace / inputs["path"] / "ci")
        else:
            super().check_out(runner, inputs)

    def play(self, name, event_name, event=None, **github):
        shutil.rmtree(self.artifacts, ignore_errors=True)
        runner = self.runner(event=event or {}, event_name=event_name, server_url=self.server, **github)
        runner.repositories = {f"{PERFGATE}@{SHA}": tool.SOURCE}
        return runner.run_workflow(self.repository / f".github/workflows/{name}.yml")

    def night(self):
        return self.play("nightly", "workflow_dispatch")

    def pull_request(self, branch):
        """What the pull request's workflow says of the branch merged into main, as GitHub does it."""
        self.git("branch", "--force", "merged", "main")
        self.git("switch", "--quiet", "merged")
        self.git("merge", "--quiet", "--no-ff", "-m", "merge", branch)
        self.git("switch", "--quiet", "main")
        event = {"pull_request": {
            "number": 7, "head": {"repo": {"full_name": "owner/kernels"}, "sha": self.revision(branch)},
            "base": {"sha": self.revision("main")}}}
        return self.play("pull-request", "pull_request", event, sha=self.revision("merged"))

    def revision(self, name):
        return self.git("rev-parse", name).strip()

    def test_from_the_first_commit_to_an_accepted_change(self):
        self.steps.append("registers a runner")
        self.steps.append("commits a suite, a profile and a plugin")
        shutil.copytree(REPOSITORY, self.repository)
        self.git("init", "--quiet", "-b", "main")
        self.steps.append("writes the workflows")
        subprocess.run([tool.SOURCE / "ci/adopt", f"{PERFGATE}@{SHA}", "perf/sums.yaml", "perf/ci.yaml",
                        "build/sums_perf.so"], cwd=self.repository, check=True)
        self.commit("perfgate")
        # Of perfgate the repository names two actions, and a checkout for two workflows.
        brought = {line for path in (self.repository / ".github/workflows").iterdir()
                   for line in re.findall(rf"{PERFGATE}\S*", path.read_text())}
        self.assertEqual({PERFGATE, f"{PERFGATE}/ci/setup@{SHA}", f"{PERFGATE}/ci/action@{SHA}"}, brought)

        # The first run has no baselines; it fails and proposes them.
        self.steps.append("presses Run workflow, and merges what it proposes")
        jobs = self.night()
        self.assertEqual("4", jobs["measure"].outputs.get("exit-code", "4"))
        self.assertEqual("success", jobs["propose"].result, jobs["measure"].log + jobs["propose"].log)
        self.assertIn("pr create", (self.folder / "proposed").read_text())
        self.git("merge", "--quiet", "perfgate/baselines")
        self.assertLessEqual(len(self.steps), 4)
        jobs = self.night()
        self.assertEqual(("success", "skipped"), (jobs["measure"].result, jobs["propose"].result), jobs["measure"].log)
        self.assertIn("is in the tool cache", jobs["measure"].log)

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
        self.assertEqual("success", jobs["review"].result, jobs["review"].log)
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
        jobs = self.play("accept", "issue_comment", event)
        self.assertEqual(["success", "success"], [job.result for job in jobs.values()],
                         "".join(job.log for job in jobs.values()))
        self.assertIn("Accepted for ada", (self.folder / "answer").read_text())
        self.assertEqual({"baselines"}, {name.split("/")[0] for name in self.git(
            "diff", "--name-only", head, "slower").split()})
        jobs = self.pull_request("slower")
        self.assertEqual("success", jobs["measure"].result, jobs["measure"].log)

        # Merged, and the next night finds nothing new.
        self.git("merge", "--quiet", "slower")
        jobs = self.night()
        self.assertEqual(("success", "skipped"), (jobs["measure"].result, jobs["propose"].result), jobs["measure"].log)


if __name__ == "__main__":
    tool.main()
