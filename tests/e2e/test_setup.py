# SPDX-License-Identifier: Apache-2.0
"""ci/setup: a release that a server on loopback has, installed into a runner's tool cache; and the
scripts of ci/examples, which install the same release elsewhere."""

import functools
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
import time

import yaml

import tool
from actions_runner import Runner

CI = tool.SOURCE / "ci"
VERSION = "1.2.3"
NAME = f"perfgate-{VERSION}-linux-x86_64"


class Server(http.server.SimpleHTTPRequestHandler):
    may_end = threading.Event()  # the last byte of an archive waits for it
    asked = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def copyfile(self, source, outputfile):
        data = source.read()
        outputfile.write(data[:-1])
        if self.path.endswith(".gz"):
            self.may_end.wait()
        outputfile.write(data[-1:])


class Served(tool.Case):
    def setUp(self):
        super().setUp()
        self.served = self.folder / "served"
        self.release()
        Server.may_end.set()
        Server.asked = []
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Server, directory=self.served))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.stop_server)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.tools, self.cache = self.folder / "tools", self.folder / "tool cache"
        self.tools.mkdir()
        self.home = self.cache / "perfgate" / VERSION / "x64"

    def stop_server(self):
        if self.server:
            Server.may_end.set()
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    def release(self, program=f"#!/bin/sh\necho perfgate {VERSION}\n"):
        """A release whose program is a script; SHA256SUMS beside it, as ci/release writes it."""
        folder = self.served / f"v{VERSION}"
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(folder / f"{NAME}.tar.gz", "w:gz") as archive:
            member = tarfile.TarInfo(f"{NAME}/bin/perfgate")
            member.mode, member.size = 0o755, len(program.encode())
            archive.addfile(member, io.BytesIO(program.encode()))
        self.archive = folder / f"{NAME}.tar.gz"
        self.sum = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{'0' * 64}  {NAME}.tar.zst\n{self.sum}  {NAME}.tar.gz\n")


class Setup(Served):
    def environment(self):
        return {"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.folder),
                "RUNNER_TOOL_CACHE": str(self.cache)}

    def set_up(self, **inputs):
        """A job with the action, and a step after it that calls perfgate."""
        given = {"version": VERSION, "url": self.url, **inputs}
        workflow = self.write("workflow.yml", json.dumps({"name": "w", "jobs": {"job": {
            "outputs": {name: "${{ steps.it.outputs." + name + " }}" for name in ("path", "cached")},
            "steps": [{"uses": "actions/checkout@x"},
                      {"id": "it", "uses": "./ci/setup", "with": given},
                      {"shell": "bash", "run": "perfgate --version"}]}}}))
        runner = Runner(self.folder / "runner", self.environment(), {}, {
            "actions/checkout": lambda runner, _: shutil.copytree(CI / "setup", runner.workspace / "ci/setup") and None})
        return runner.run_workflow(workflow)["job"]

    def wait_for_requests(self, count):
        """Waits until the archive has been requested `count` times."""
        until = time.monotonic() + tool.PATIENCE_S
        while sum(path.endswith(".gz") for path in Server.asked) < count:
            self.assertLess(time.monotonic(), until, f"the archive was not requested {count} times")
            time.sleep(0.02)

    def start(self, **environment):
        """The step by itself, as a process."""
        files = {name: str(self.write(f"{name}-{time.monotonic_ns()}", ""))
                 for name in ("GITHUB_PATH", "GITHUB_OUTPUT")}
        return subprocess.Popen([CI / "setup/install"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**self.environment(), "PERFGATE_SETUP_VERSION": VERSION,
                                     "PERFGATE_SETUP_SHA256": "", "PERFGATE_SETUP_URL": self.url,
                                     "GITHUB_SERVER_URL": "https://github.invalid",
                                     "PERFGATE_SETUP_REPOSITORY": "owner/perfgate", **files, **environment})

    def assert_refused(self, job, *parts):
        self.assertEqual("failure", job.result, job.log)
        self.assertEqual(["error"], [each.kind for each in job.annotations], job.log)
        for part in parts:
            self.assertIn(part, job.annotations[0].message)
        self.assertEqual("", job.outputs["path"])
        self.assert_nothing_installed()

    def assert_nothing_installed(self):
        self.assertEqual([], [path for path in self.cache.glob("perfgate/*/*")])

    def test_a_release_is_installed_once_and_then_needs_no_server(self):
        job = self.set_up()
        self.assertEqual("success", job.result, job.log)
        self.assertIn(f"perfgate {VERSION}\n", job.log)
        self.assertEqual((str(self.home), "false"), (job.outputs["path"], job.outputs["cached"]))
        self.assertEqual(["x64"], os.listdir(self.home.parent))
        self.stop_server()
        job = self.set_up(version=f"v{VERSION}")
        self.assertEqual(("success", "true"), (job.result, job.outputs["cached"]), job.log)
        self.assertIn(f"perfgate {VERSION}\n", job.log)

    def test_a_sum_that_is_given_is_what_counts(self):
        self.archive.with_name("SHA256SUMS").unlink()
        self.assertEqual("success", self.set_up(sha256=self.sum).result)
        self.assertEqual("success", self.set_up(sha256=self.sum).result)
        # A copy in the cache that came from another archive.
        job = self.set_up(sha256="1" * 64)
        self.assertEqual("failure", job.result)
        self.assertIn("remove the folder", job.annotations[0].message)

    def test_another_archive_than_the_sums_say_is_not_installed(self):
        with self.archive.open("ab") as file:
            file.write(b"more")
        changed = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        self.assert_refused(self.set_up(), f"has the SHA-256 {changed}, and {self.sum} is expected",
                            "nothing was installed")
        self.assert_refused(self.set_up(sha256="2" * 64), "2" * 64)
        self.archive.with_name("SHA256SUMS").write_text(f"{self.sum}  another.tar.gz\n")
        self.assert_refused(self.set_up(), "has no line for")

    def test_without_a_server_or_a_release_the_remedy_is_named(self):
        self.assert_refused(self.set_up(version="9.9.9"), "cannot download", "404", "v9.9.9/SHA256SUMS")
        shutil.rmtree(self.cache)
        self.stop_server()
        self.assert_refused(self.set_up(), "cannot download", "give a mirror as 'url'")
        environment = {"PATH": str(self.tools)}
        for program in ("bash", "cat", "uname", "env", "mkdir"):
            (self.tools / program).symlink_to(shutil.which(program))
        step = self.start(**environment)
        self.assertIn("no curl on this runner", step.communicate()[0])
        self.assertEqual(1, step.returncode)

    def test_a_program_that_does_not_run_here_is_not_installed(self):
        self.release("#!/bin/sh\necho \"version 'GLIBC_2.35' not found\" >&2\nexit 1\n")
        self.assert_refused(self.set_up(), "does not run on this machine", "'GLIBC_2.35' not found")
        self.release("#!/bin/sh\necho perfgate 1.2.2\n")
        self.assert_refused(self.set_up(), "does not run on this machine", "perfgate 1.2.2")

    def test_jobs_that_install_at_once_do_not_disturb_each_other(self):
        Server.may_end.clear()
        steps = [self.start() for _ in range(5)]
        self.wait_for_requests(5)
        Server.may_end.set()
        for step in steps:
            said = step.communicate(timeout=tool.PATIENCE_S)[0]
            self.assertEqual(0, step.returncode, said)
        self.assertEqual(["x64"], os.listdir(self.home.parent))
        self.assertEqual(["bin", ".sha256"], sorted(os.listdir(self.home), reverse=True))

    def test_a_job_that_is_killed_leaves_nothing_that_counts(self):
        Server.may_end.clear()
        step = self.start()
        self.wait_for_requests(1)
        step.send_signal(signal.SIGKILL)
        step.wait()
        Server.may_end.set()
        step.communicate()  # returns when the download, which outlives the step, has ended
        self.assertFalse(self.home.exists())
        partial, = self.home.parent.iterdir()
        os.utime(partial, (time.time() - 2 * 86400,) * 2)
        self.assertEqual("success", self.set_up().result)
        self.assertEqual(["x64"], os.listdir(self.home.parent))

    def test_inputs_are_data(self):
        for version in ("", "latest", "../../etc", "1.2", "1.2.3; touch pwned", "$(touch pwned)", "1.2.3\nx"):
            with self.subTest(version):
                self.assert_refused(self.set_up(version=version), "must be that of a release")
        for sum_ in ("abc", "A" * 64, f"{self.sum}\n{self.sum}", "$(touch pwned)"):
            with self.subTest(sum_):
                self.assert_refused(self.set_up(sha256=sum_), "64 lower-case hexadecimal digits")
        for url in ("ftp://x", "-o pwned", "$(touch pwned)", "file://host/x"):
            with self.subTest(url):
                self.assert_refused(self.set_up(url=url), "must begin with https://")
        # Sums that come the same way as the archive protect against nobody who can change it.
        for url in ("http://mirror.invalid", "http://127.0.0.1.mirror.invalid", "http://localhost.invalid"):
            self.assert_refused(self.set_up(url=url), "give 'sha256' as well")
        self.assertEqual([], list(self.folder.rglob("pwned")))

    def test_a_folder_serves_as_mirror(self):
        self.stop_server()
        self.assertEqual("success", self.set_up(url=self.served.as_uri() + "/").result)

    def test_other_machines_are_told_to_build(self):
        (self.tools / "uname").write_text("#!/bin/sh\necho Linux aarch64\n")
        (self.tools / "uname").chmod(0o755)
        self.assert_refused(self.set_up(), "Linux aarch64", "build from source")


class Examples(Served):
    """What GitLab, Buildkite and Jenkins hand to a shell, as they do."""

    PROGRAM = f"""#!/bin/sh
[ "$1" != --version ] || {{ echo perfgate {VERSION}; exit; }}
printf '<%s>' "$@" >>calls
mkdir -p perfgate-out && echo summary >perfgate-out/summary.md
exit 4
"""

    def setUp(self):
        super().setUp()
        self.release(self.PROGRAM)
        self.write("suites/a.yaml", "")
        self.write("suites/b.yaml", "")

    def gitlab(self):
        job = yaml.safe_load((CI / "examples/gitlab-ci.yml").read_text())["perfgate"]
        return job["variables"], "\n".join(job["before_script"] + job["script"])

    def buildkite(self):
        pipeline = yaml.safe_load((CI / "examples/buildkite.yml").read_text())
        step, = pipeline["steps"]
        self.assertNotRegex(step["command"], r"(?<!\$)\$(?!\$)")
        return pipeline["env"], step["command"].replace("$$", "$")

    def jenkins(self):
        text = (CI / "examples/Jenkinsfile").read_text()
        scripts = re.findall(r"'''(.*?)'''", text, re.DOTALL)
        self.assertEqual(2, len(scripts))
        # Groovy takes the backslash before a line's end out of the text.
        return dict(re.findall(r"(PERFGATE_\w+) = '(.*)'", text)), "\n".join(scripts).replace("\\\n", "")

    def run_script(self, example, **changed):
        variables, script = example()
        self.assertEqual({"PERFGATE_VERSION", "PERFGATE_SHA256", "PERFGATE_RELEASES"}, set(variables))
        self.assertIn("OWNER/perfgate/releases/download", variables["PERFGATE_RELEASES"])
        self.assertEqual("", variables["PERFGATE_SHA256"])
        self.write("tools/buildkite-agent", f"#!/bin/sh\ncat >'{self.folder}/annotated'\n").chmod(0o755)
        return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={"PATH": f"{self.folder}/tools:/usr/bin:/bin", "PERFGATE_VERSION": VERSION,
                                   "PERFGATE_SHA256": self.sum, "PERFGATE_RELEASES": self.url, **changed})

    def test_each_installs_the_release_and_has_its_exit_code(self):
        for example in (self.gitlab, self.buildkite, self.jenkins):
            with self.subTest(example.__name__):
                done = self.run_script(example)
                self.assertEqual(4, done.returncode, done.stdout + done.stderr)
                calls = (self.folder / "calls").read_text()
                (self.folder / "calls").unlink()
                self.assertTrue(calls.startswith("<run><suites/a.yaml><suites/b.yaml><--profile><configs/ci.yaml>"), calls)
                for option in re.findall(r"<(--[a-z-]+)>", calls):
                    self.assertIn(option, tool.options(["run"]))
        self.assertEqual("summary\n", (self.folder / "annotated").read_text())

    def test_none_runs_an_archive_with_another_sum(self):
        for example in (self.gitlab, self.buildkite, self.jenkins):
            for sum_ in ("", "0" * 64):
                with self.subTest(example.__name__, sum=sum_):
                    done = self.run_script(example, PERFGATE_SHA256=sum_)
                    self.assertNotIn(done.returncode, (0, 4))
                    self.assertFalse((self.folder / "calls").exists())


if __name__ == "__main__":
    tool.main()
