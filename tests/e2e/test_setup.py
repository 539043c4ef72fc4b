# SPDX-License-Identifier: Apache-2.0
"""ci/setup: a release that a server on loopback has, kept in a runner's tool cache and verified for each job; and
the scripts that `perfgate adopt` writes for other CI, which install the same release."""

import base64
import functools
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
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

    redirect = None  # where everything else is

    def do_GET(self):
        self.asked.append(self.path)
        if not self.redirect:
            super().do_GET()
            return
        self.send_response(302)
        self.send_header("Location", self.redirect + self.path)
        self.end_headers()

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
        self.server = self.serve(Server)
        self.addCleanup(self.stop_server)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.tools, self.cache = self.folder / "tools", self.folder / "tool cache"
        self.tools.mkdir()
        self.kept = self.cache / "perfgate" / VERSION

    def serve(self, handler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=self.served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def stop_server(self):
        if self.server:
            Server.may_end.set()
            self.server.shutdown()
            self.server.server_close()
        self.server = None

    def pack(self, path, program):
        """An archive of a release whose program and library are these texts."""
        with tarfile.open(path, "w:gz") as archive:
            for name in ("bin/perfgate", "lib/perfgate/plugins/gemm.so"):
                member = tarfile.TarInfo(f"{NAME}/{name}")
                member.mode, member.size = 0o755, len(program.encode())
                archive.addfile(member, io.BytesIO(program.encode()))

    def release(self, program=f"#!/bin/sh\necho perfgate {VERSION}\n"):
        """A release whose program is a script; SHA256SUMS beside it, as ci/release writes it."""
        folder = self.served / f"v{VERSION}"
        folder.mkdir(parents=True, exist_ok=True)
        self.pack(folder / f"{NAME}.tar.gz", program)
        self.archive = folder / f"{NAME}.tar.gz"
        self.sum = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{'0' * 64}  {NAME}.tar.zst\n{self.sum}  {NAME}.tar.gz\n")


class Setup(Served):
    github = "https://github.invalid"

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
                      {"shell": "bash", "run": 'perfgate --version; cat "$(dirname "$(command -v perfgate)")"/../lib/*/*/*'}]}}}))
        runner = Runner(self.folder / "runner", self.environment(), {"server_url": self.github}, {
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
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        return subprocess.Popen([CI / "setup/install"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**self.environment(), "RUNNER_TEMP": str(temporary), "PERFGATE_SETUP_VERSION": VERSION,
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
        self.assertEqual([], [path for path in self.folder.glob("runner/_temp/perfgate-setup-*")])

    def assert_genuine(self, job, cached):
        self.assertEqual(("success", cached), (job.result, job.outputs["cached"]), job.log)
        self.assertEqual(f"perfgate {VERSION}\n#!/bin/sh\necho perfgate {VERSION}\n", job.steps[-1].log)
        self.assertTrue(pathlib.Path(job.outputs["path"]).is_relative_to(self.folder / "runner/_temp"))
        self.assertEqual([f"{NAME}.tar.gz"], os.listdir(self.kept))

    def test_a_release_is_downloaded_once_and_a_given_sum_needs_no_server_then(self):
        first = self.set_up()
        self.assert_genuine(first, "false")
        Server.asked.clear()
        second = self.set_up(version=f"v{VERSION}")
        self.assert_genuine(second, "true")
        self.assertNotEqual(first.outputs["path"], second.outputs["path"])
        self.assertEqual([f"/v{VERSION}/SHA256SUMS"], Server.asked)
        self.stop_server()
        self.assert_genuine(self.set_up(sha256=self.sum), "true")
        job = self.set_up()
        self.assertEqual("failure", job.result)
        self.assertIn("give 'sha256'", job.annotations[0].message)

    def test_a_sum_that_is_given_is_what_counts(self):
        self.archive.with_name("SHA256SUMS").unlink()
        self.assert_genuine(self.set_up(sha256=self.sum), "false")
        self.assert_genuine(self.set_up(sha256=self.sum), "true")
        job = self.set_up(sha256="1" * 64)
        self.assertEqual(("failure", ""), (job.result, job.outputs["path"]))
        self.assertIn(f"{'1' * 64} is expected", job.annotations[0].message)

    def test_what_an_earlier_job_did_to_the_tool_cache_is_neither_executed_nor_loaded(self):
        evil = "#!/bin/sh\necho all passed\n"
        kept = self.kept / f"{NAME}.tar.gz"

        def change_all():
            """Every file that the first job left, archives by archives of a changed program."""
            for path in [*self.cache.rglob("*"), *self.folder.glob("runner/_temp/perfgate-setup-*/**/*")]:
                if path.name.endswith(".gz"):
                    self.pack(path, evil)
                elif path.is_file():
                    path.write_text(evil)

        def plant_what_may_have_been_looked_for():
            for name in ("bin/perfgate", ".sha256", ".verified", "SHA256SUMS"):
                path = self.kept / "x64" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(evil if name == "bin/perfgate" else f"{self.sum}  {NAME}.tar.gz\n")
                path.chmod(0o755)
            shutil.copy(self.kept / "x64/SHA256SUMS", self.kept)

        def plant_a_pipe():
            kept.unlink()
            os.mkfifo(kept)

        def plant_a_link():
            kept.unlink()
            self.pack(self.folder / "elsewhere.gz", evil)
            kept.symlink_to(self.folder / "elsewhere.gz")

        def plant_a_configuration_of_curl():
            change_all()
            self.write(".curlrc", f'url = "{self.url}/evil"\noutput = "/dev/null"\nproxy = "http://127.0.0.1:1"\n')

        for plant in (change_all, plant_what_may_have_been_looked_for, plant_a_pipe, plant_a_link,
                      plant_a_configuration_of_curl):
            for inputs in ({}, {"sha256": self.sum}):
                with self.subTest(plant.__name__, **inputs):
                    self.assertEqual("success", self.set_up(**inputs).result)
                    plant()
                    job = self.set_up(**inputs)
                    shutil.rmtree(self.kept / "x64", ignore_errors=True)
                    (self.kept / "SHA256SUMS").unlink(missing_ok=True)
                    cached = str(plant is plant_what_may_have_been_looked_for).lower()
                    self.assert_genuine(job, cached)
        (self.folder / ".curlrc").unlink()
        change_all()
        self.stop_server()
        job = self.set_up(sha256=self.sum)
        self.assertEqual(("failure", ""), (job.result, job.outputs["path"]))
        self.assertIn("cannot download", job.annotations[0].message)

    def test_without_a_tool_cache_it_is_downloaded_each_time(self):
        self.cache.write_text("no folder")
        for _ in range(2):
            job = self.set_up()
            self.assertEqual(("success", "false"), (job.result, job.outputs["cached"]), job.log)
            self.assertIn("cannot be kept in the tool cache", job.log)

    def test_a_redirect_leads_to_https_or_to_what_a_given_sum_verifies(self):
        class Elsewhere(Server):
            redirect = self.url
        other = self.serve(Elsewhere)
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        url = f"http://127.0.0.1:{other.server_port}"
        self.assert_refused(self.set_up(url=url), "cannot download")
        self.assertEqual("success", self.set_up(url=url, sha256=self.sum).result)  # as with a mirror
        if not shutil.which("openssl"):
            self.skipTest("no openssl, which makes a server's certificate")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost", "-keyout", self.folder / "key", "-out", self.folder / "certificate"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "certificate", self.folder / "key")
        other.socket = context.wrap_socket(other.socket, server_side=True)
        url = f"https://localhost:{other.server_port}"
        shutil.rmtree(self.cache)
        for given in ("", self.sum):
            Server.asked.clear()
            step = self.start(PERFGATE_SETUP_URL=url, PERFGATE_SETUP_SHA256=given,
                              CURL_CA_BUNDLE=str(self.folder / "certificate"))
            said = step.communicate(timeout=tool.PATIENCE_S)[0]
            self.assertEqual(1, step.returncode, said)
            self.assertIn("cannot download", said)
            self.assertEqual(1, len(Server.asked), "the server with TLS was asked, and no other")

    def attested(self, gh, **inputs):
        """A job whose release is from github.com, with a `gh` that does this for `attestation verify`."""
        if gh is not None:
            self.script("tools/gh", f"""#!/bin/bash
echo "$GH_TOKEN $*" "${{HOME##*/}}" >>'{self.folder}/gh-calls'
if [ "${{*: -1}}" = --help ]; then {"echo unknown command; exit 1" if gh == "old" else "exec echo --signer-workflow"}; fi
{gh}
""")
        self.script("tools/curl", f"""#!/bin/bash
while [ $# -gt 1 ]; do [ "$1" != --output ] || file=$2; shift; done
cp "{self.served}/${{1#https://github.com/owner/kernels/releases/download/}}" "$file"
""")
        self.github = "https://github.com"
        return self.set_up(url="", **inputs)

    def test_an_archive_that_the_release_workflow_did_not_build_is_not_installed(self):
        for gh in ("echo 'no attestations found for subject' >&2; exit 1", "exit 0", "echo 0",
                   "echo 'verification failed: certificate of another workflow' >&2; exit 1", "exit 127"):
            with self.subTest(gh):
                self.assert_refused(self.attested(gh), "no valid attestation", "give 'sha256'")

    def test_what_vouches_for_an_archive_is_said(self):
        self.release("#!/bin/sh\n[ -z \"$GH_TOKEN\" ] || exit 1\necho perfgate 1.2.3\n")
        for gh, said in ((None, "no gh on this runner"), ("old", "this gh is too old"), ("exit 4", "token of this job"),
                         ("echo 'HTTP 403: Resource not accessible by integration' >&2; exit 1", "token of this job"),
                         ("echo 1", "owner/kernels/.github/workflows/release.yml attests that it built it")):
            with self.subTest(gh):
                job = self.attested(gh)
                self.assertEqual("success", job.result, job.log)
                self.assertIn(said, job.log)
                self.assertEqual(gh != "echo 1", "not checked" in job.log)
        calls = (self.folder / "gh-calls").read_text()
        self.assertRegex(calls, "a token attestation verify [^ ]*/release.tar.gz --repo owner/kernels "
                                "--signer-workflow owner/kernels/.github/workflows/release.yml .* perfgate-setup-")
        (self.folder / "gh-calls").unlink()
        job = self.attested("exit 1", sha256=self.sum)
        self.assertEqual("success", job.result, job.log)
        self.assertIn("its SHA-256 is the input's", job.log)
        self.assertFalse((self.folder / "gh-calls").exists())

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
        self.stop_server()
        self.assert_refused(self.set_up(), "cannot download", "give a mirror as 'url'")
        environment = {"PATH": str(self.tools)}
        for program in ("bash", "cat", "uname", "env", "mktemp", "rm"):
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
        self.assertEqual([f"{NAME}.tar.gz"], os.listdir(self.kept))

    def test_a_job_that_is_killed_leaves_nothing_that_counts(self):
        Server.may_end.clear()
        step = self.start()
        self.wait_for_requests(1)
        step.send_signal(signal.SIGKILL)
        step.wait()
        Server.may_end.set()
        step.communicate()  # returns when the download, which outlives the step, has ended
        self.assert_nothing_installed()
        # What a job that was killed while it wrote leaves behind.
        partial = self.write(self.kept / ".partial-x", "")
        os.utime(partial, (time.time() - 2 * 86400,) * 2)
        self.assert_genuine(self.set_up(), "false")

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


class Elsewhere(Served):
    """What GitLab, Buildkite and Jenkins hand to a shell, as they do, of what `perfgate adopt` writes."""

    PROGRAM = f"""#!/bin/sh
[ "$1" != --version ] || {{ echo perfgate {VERSION}; exit; }}
if [ "$1 $2" = 'history add' ]; then shift 5; cat "$@" >>history.db; exit; fi
if [ "$1 $2" = 'history site' ]; then
    [ -z "$5" ] || [ -d "$6" ] || exit 2
    mkdir -p "$4" && echo site >"$4/index.html"
    while read -r commit; do # another job's push; the next ones are for later calls
        git -c core.hooksPath=/dev/null push --quiet --force origin "$commit:refs/heads/perfgate-history"
        sed -i 1d other
        break
    done <other
    exit
fi
printf '<%s>' "$@" >>calls
[ -z "$PERFGATE_TOKEN" ] || echo "$PERFGATE_TOKEN" >>stolen
mkdir -p perfgate-out && echo summary >perfgate-out/summary.md && echo night >perfgate-out/run.json
[ "$2" != refresh ] || echo '  slower: a/b[n=1]@hot: gpu_time regressed: 1 µs → 2 µs (+100 %)'
[ "$2" != refresh ] || echo '  slower: bench/mix<std::pair<int, @all>>`x`@hot: cpu_time regressed'
[ "$2" != refresh ] || for i in $(seq 51); do echo "  slower: c/$i@hot: gpu_time regressed"; done
if [ "$2" = refresh ] && [ "$(cat code)" != 3 ]; then mkdir -p baselines/k && echo new >baselines/k/a.json; fi
exit "$(cat code)"
"""
    SUITE = ("name: {}\ndefaults: {{metrics: [host_time], tolerances: {{host_time: 30%}}}}\nworkloads:\n"
             "  - {{workload: gemm, variants: [reference], params: {{dtype: f32, m: 16, n: 16, k: 16}}}}\n")
    VARIABLES = {"PERFGATE_ARCHIVE", "PERFGATE_SHA256"}

    def setUp(self):
        super().setUp()
        self.release(self.PROGRAM)
        self.write("code", "4")
        for name in ("a", "b"):
            self.write(f"suites/{name}.yaml", self.SUITE.format(name))
        (self.folder / ".git").mkdir()
        for ci in ("gitlab", "buildkite", "jenkins"):
            self.adopt(ci)
        (self.folder / ".git").rmdir()
        # What measured code left, and a curl that notes how it was called.
        self.write(".curlrc", 'proxy = "http://127.0.0.1:1"\n')
        self.write("tools/curl", f"#!/bin/sh\nprintf '%s\\n' \"$*\" >>'{self.folder}/curl-lines'\nexec /usr/bin/curl \"$@\"\n").chmod(0o755)

    def commit_first(self):
        """A repository with one commit, whose hash this returns."""
        git = ["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "--quiet", "-b", "main"], ["add", "suites"], ["commit", "--quiet", "-m", "first"]):
            subprocess.run([*git, *words], check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    def adopt(self, ci):
        self.run_tool("adopt", "--ci", ci, "--from", f"owner/perfgate@{'5eed' * 10}",
                      "--build", """echo "built \\ it's" >built""")

    def gitlab_jobs(self):
        return yaml.safe_load((self.folder / ".gitlab/perfgate.yml").read_text())

    def gitlab(self, job="perfgate"):
        jobs = self.gitlab_jobs()
        self.assertEqual(".perfgate", jobs[job]["extends"])
        return jobs[".perfgate"]["variables"], "\n".join(jobs[".perfgate"]["before_script"] + jobs[job]["script"])

    def buildkite(self):
        pipeline = yaml.safe_load((self.folder / ".buildkite/perfgate.yml").read_text())
        step, = pipeline["steps"]
        self.assertEqual("true", pipeline["env"].pop("BUILDKITE_CLEAN_CHECKOUT"))
        return pipeline["env"], step["command"]

    def jenkins(self, script=2):
        text = (self.folder / "Jenkinsfile.perfgate").read_text()
        scripts = re.findall(r"\'\'\'(.*?)\'\'\'", text, re.DOTALL)
        self.assertEqual(3, len(scripts))
        # As Groovy reads the texts.
        return (dict(re.findall(r"(PERFGATE_\w+) = '(.*)'", text)),
                re.sub(r"\\(.)", r"\1", scripts[0] + "\n" + scripts[script]))

    def run_script(self, example, **changed):
        variables, script = example
        self.assertEqual(self.VARIABLES, set(variables))
        self.assertEqual("https://github.com/owner/perfgate/releases/download/v{0}/perfgate-{0}-linux-x86_64.tar.gz".format(tool.VERSION),
                         variables["PERFGATE_ARCHIVE"])
        self.assertEqual("", variables["PERFGATE_SHA256"])
        self.write("tools/buildkite-agent", f"#!/bin/sh\necho \"$@\" >'{self.folder}/words'\ncat >'{self.folder}/annotated'\n").chmod(0o755)
        return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={"PATH": f"{self.folder}/tools:/usr/bin:/bin", "PERFGATE_SHA256": self.sum,
                                   "PERFGATE_ARCHIVE": f"{self.url}/v{VERSION}/{NAME}.tar.gz", "HOME": str(self.folder), **changed})

    def all_of_them(self):
        return {"gitlab": self.gitlab(), "buildkite": self.buildkite(), "jenkins": self.jenkins()}

    def test_each_installs_the_release_builds_and_has_its_exit_code(self):
        for name, example in self.all_of_them().items():
            for code, sum_ in (("0", self.sum), ("1", ""), ("3", self.sum), ("4", "")):  # without a sum: the release's own
                with self.subTest(name, code=code):
                    self.write("code", code)
                    done = self.run_script(example, PERFGATE_SHA256=sum_)
                    self.assertEqual(int(code), done.returncode, done.stdout + done.stderr)
                    calls = (self.folder / "calls").read_text()
                    (self.folder / "calls").unlink()
                    self.assertTrue(calls.startswith("<run><suites/a.yaml><suites/b.yaml><--config><configs/ci.yaml>"), calls)
                    for option in re.findall(r"<(--[a-z-]+)>", calls):
                        self.assertIn(option, tool.options(["run"]))
                    self.assertEqual("built \\ it's\n", (self.folder / "built").read_text())
                    if name != "jenkins":  # which says it in its own words
                        said = {"0": "", "1": "slower", "3": "infrastructure", "4": "no baseline"}[code]
                        self.assertIn(said, done.stdout)
                    if name == "buildkite":
                        style = {"0": "success", "1": "error", "3": "warning", "4": "error"}[code]
                        self.assertIn(f"--style {style} ", (self.folder / "words").read_text())
        self.assertEqual("summary\n", (self.folder / "annotated").read_text())

    def test_none_runs_an_archive_with_another_sum(self):
        sums = self.archive.with_name("SHA256SUMS")
        for name, example in self.all_of_them().items():
            for sum_, listed in (("0" * 64, self.sum), ("", "0" * 64), ("", None)):
                with self.subTest(name, sum=sum_, listed=listed):
                    sums.write_text(f"{listed}  {NAME}.tar.gz\n" if listed else "")
                    done = self.run_script(example, PERFGATE_SHA256=sum_)
                    self.assertNotIn(done.returncode, (0, 4))
                    self.assertFalse((self.folder / "calls").exists())

    def test_a_release_that_is_published_nowhere_is_where_adopt_says(self):
        """In GitLab's package registry or a release of the repository on GitHub, for which jobs have a token, or in a file on
        the agents."""
        tokens, asked, redirected = [], [], []

        class Storage(Server):
            def do_GET(self):
                redirected.append({name for name, value in self.headers.items() if name not in ("Host", "User-Agent", "Accept")})
                super().do_GET()

        class Registry(Server):
            def do_GET(self):
                scheme, _, token = (self.headers["Authorization"] or "").partition(" ")
                self.redirect = storage_url if self.path.startswith(("/projects/", "/repos/o/r/releases/assets/")) else None
                if self.path.startswith("/repos/"):
                    asked.append((token, self.headers["Accept"]))
                else:
                    tokens.append(base64.b64decode(token).decode() if scheme == "Basic" else None)
                super().do_GET()
        servers = [self.serve(Registry), self.serve(Storage)]
        for server in servers:
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)
        api = f"http://127.0.0.1:{servers[0].server_port}"
        storage_url = f"http://localhost:{servers[1].server_port}"
        file = shutil.copy(self.archive, self.folder / f"perfgate-{tool.VERSION}+g0123456789ab-linux-x86_64.tar.gz")
        name = f"perfgate-{tool.VERSION}-g0123456789ab-linux-x86_64.tar.gz"
        published = self.served / f"projects/3/packages/generic/perfgate/{tool.VERSION}/{name}"
        published.parent.mkdir(parents=True)
        shutil.copy(file, published)
        self.write("tools/buildkite-agent", "#!/bin/sh\ncat >annotated\n").chmod(0o755)
        (self.folder / ".git").mkdir()
        # As GitHub lists a release, another archive first.
        assets = [{"url": f"{api}/repos/o/r/releases/assets/{number}", "id": number, "name": each, "uploader": {"url": f"{api}/users/a"},
                   "browser_download_url": f"https://github.invalid/o/r/releases/download/perfgate-{tool.VERSION}/{each}"}
                  for number, each in ((1, "perfgate-0.0.1-linux-x86_64.tar.gz"), (2, name), (3, f"{name}.asc"))]
        listing = self.served / f"repos/o/r/releases/tags/perfgate-{tool.VERSION}"
        listing.parent.mkdir(parents=True)
        (self.served / "repos/o/r/releases/assets").mkdir()
        shutil.copy(file, self.served / "repos/o/r/releases/assets/2")
        said = self.run_tool("adopt", "--archive", str(file)).stdout
        self.assertIn(f"gh release create perfgate-{tool.VERSION} ", said)
        self.assertIn(f"/{name}\n", said)
        workflow = yaml.safe_load((self.folder / ".github/workflows/perfgate.yml").read_text())
        self.assertEqual(self.sum, workflow["env"]["PERFGATE_SHA256"])
        place = workflow["env"]["PERFGATE_ARCHIVE"].replace("${{ github.server_url }}", api).replace("${{ github.repository }}", "o/r")
        install, = [step["run"] for step in workflow["jobs"]["review"]["steps"] if step.get("id") == "setup"]
        for text, sum_, code in ((json.dumps({"url": api, "assets": assets}), self.sum, 0),
                                 (json.dumps({"url": api, "assets": assets}, indent=2), self.sum, 0),
                                 (json.dumps({"url": api, "assets": assets}), "0" * 64, 1)):
            listing.write_text(text)
            shutil.rmtree(self.folder / ".perfgate", ignore_errors=True)
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", install], cwd=self.folder, text=True,
                                  capture_output=True, env={
                "PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.folder), "GITHUB_SERVER_URL": api, "GITHUB_API_URL": api, "GITHUB_REPOSITORY": "o/r",
                "GH_TOKEN": "secret", "PERFGATE_ARCHIVE": place, "PERFGATE_SHA256": sum_,
                "GITHUB_PATH": str(self.folder / "path"), "GITHUB_OUTPUT": str(self.folder / "output")})
            self.assertEqual(code, done.returncode, done.stdout + done.stderr)
            self.assertEqual(code == 0, (self.folder / ".perfgate/bin/perfgate").exists())
        self.assertEqual([("secret", "*/*"), ("secret", "application/octet-stream")] * 3, asked)
        for ci, example in (("gitlab", self.gitlab), ("buildkite", self.buildkite), ("jenkins", self.jenkins)):
            with self.subTest(ci):
                said = self.run_tool("adopt", "--ci", ci, "--archive", str(file)).stdout
                variables, script = example()
                self.assertEqual(self.sum, variables["PERFGATE_SHA256"])
                place = variables["PERFGATE_ARCHIVE"].replace("$CI_API_V4_URL", api).replace("$CI_PROJECT_ID", "3")
                self.assertIn(place.replace(api, "$GITLAB/api/v4").replace("/3/", "/$ID/"), said)
                if ci != "gitlab":
                    self.assertEqual(f"/opt/{name}", place)
                    place = str(file)
                    self.run_tool("adopt", "--ci", ci, "--archive", str(file), "--archive-at", place)
                    self.assertEqual(place, example()[0]["PERFGATE_ARCHIVE"])
                self.write("code", "0")
                done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder, capture_output=True, text=True, env={
                    "PATH": f"{self.folder}/tools:/usr/bin:/bin", "HOME": str(self.folder), "CI_API_V4_URL": api, "CI_JOB_TOKEN": "secret",
                    "PERFGATE_SHA256": self.sum, "PERFGATE_ARCHIVE": place})
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                self.assertTrue((self.folder / "calls").exists())
        self.assertEqual(["gitlab-ci-token:secret"], tokens)
        self.assertEqual([set()] * 4, redirected)  # the storage that has the registry's files gets no token
        # Another server does not get the job's token.
        self.adopt("gitlab")
        self.run_script(self.gitlab(), CI_API_V4_URL="https://gitlab.invalid/api/v4", CI_JOB_TOKEN="secret",
                        PERFGATE_ARCHIVE=f"{api}/v{VERSION}/{NAME}.tar.gz")
        self.assertEqual(["gitlab-ci-token:secret", None], tokens)
        self.assertNotIn("secret", (self.folder / "curl-lines").read_text())

    def test_each_measures_baselines(self):
        sha = self.commit_first()
        for name, example, changed in (("gitlab", self.gitlab("perfgate-baselines"), {"CI_COMMIT_SHA": sha}),
                                       ("buildkite", self.buildkite(), {"PERFGATE_BASELINES": "1", "BUILDKITE_COMMIT": sha}),
                                       ("jenkins", self.jenkins(1), {"GIT_COMMIT": sha})):
            with self.subTest(name):
                for code in (3, 124):
                    self.write("code", str(code))
                    done = self.run_script(example, GITLAB_USER_NAME="ada", **changed)
                    self.assertEqual(code, done.returncode)
                    self.assertEqual(1, done.stdout.count("slower: a/b"))
                    (self.folder / "calls").unlink()
                self.write("code", "4")  # of some cases: the others are stored
                done = self.run_script(example, GITLAB_USER_NAME="ada", **changed)
                # GitLab shows a job with it as one with a warning.
                self.assertEqual(4 if name == "gitlab" else 0, done.returncode, done.stdout + done.stderr)
                calls = (self.folder / "calls").read_text()
                (self.folder / "calls").unlink()
                self.assertTrue(calls.startswith("<baseline><refresh><--config><configs/ci.yaml>"), calls)
                self.assertEqual(1, done.stdout.count("  slower: a/b"))
                self.assertIn(f"<refresh at {sha}>", calls)
                self.assertTrue(calls.endswith("<--><suites/a.yaml><suites/b.yaml>"), calls)
                for option in re.findall(r"<(--[a-z-]+)>", calls):
                    self.assertIn(option, tool.options(["baseline", "refresh"]))
                if name == "gitlab":
                    self.assertIn("no PERFGATE_TOKEN: commit the folder baselines", done.stdout)
                    self.assertEqual({"exit_codes": 4}, self.gitlab_jobs()["perfgate-baselines"]["allow_failure"])
                    kept = self.gitlab_jobs()["perfgate-baselines"]["artifacts"]
                    self.assertEqual(("always", ["baselines", "perfgate-refresh"]), (kept["when"], kept["paths"]))
                    done = self.run_script(example, GITLAB_USER_NAME="ada", CI_PIPELINE_SOURCE="schedule", **changed)
                    self.assertEqual(1, done.returncode, "a schedule on a slower branch is red")
                    self.assertIn("the default branch became slower", done.stdout)
                    (self.folder / "calls").unlink()

    def test_gitlab_opens_a_merge_request_with_them(self):
        sha = self.commit_first()
        # git, whose push only asks for what it would sign in with.
        self.write("tools/git", f"""#!/bin/bash
printf '%s\\n' "$*" >>'{self.folder}/command-lines'
case " $* " in *" push "*) ;; *) exec /usr/bin/git "$@" ;; esac
printf '%s\\n' "$*" >'{self.folder}/pushed'
options=()
while [ "$1" != push ]; do options+=("$1"); shift; done
for host in gitlab.example other.example; do
    printf 'protocol=https\\nhost=%s\\nusername=perfgate\\n' "$host" |
        GIT_ASKPASS=/bin/false GIT_TERMINAL_PROMPT=0 /usr/bin/git "${{options[@]}}" credential fill >>'{self.folder}/signed-in'
done
exit 0
""").chmod(0o755)
        # What a merge request's job left: it is not run.
        hook = self.write(".git/hooks/pre-commit", f"#!/bin/sh\nenv >'{self.folder}/stolen'\n")
        hook.chmod(0o755)
        for key in ("core.fsmonitor", "credential.helper"):
            subprocess.run(["/usr/bin/git", "config", key, hook], cwd=self.folder, check=True)
        done = self.run_script(self.gitlab("perfgate-baselines"), CI_COMMIT_SHA=sha, CI_COMMIT_SHORT_SHA="c0ffee",
                               GITLAB_USER_NAME="ada", PERFGATE_TOKEN="secret", CI_SERVER_HOST="gitlab.example",
                               CI_PROJECT_PATH="o/p", CI_DEFAULT_BRANCH="main")
        self.assertEqual(4, done.returncode, done.stdout + done.stderr)
        self.assertIn("merge_request.create -o merge_request.target=main", (self.folder / "pushed").read_text())
        self.assertIn("HEAD:refs/heads/perfgate-baselines\n", (self.folder / "pushed").read_text())
        # In one line, and as code, which mentions nobody.
        slower = "- `a/b[n=1]@hot: gpu_time regressed: 1 µs → 2 µs (+100 %)`"
        spaced = "- `bench/mix<std::pair<int, @all>>'x'@hot: cpu_time regressed`"
        self.assertIn(f" -o merge_request.description=Slower than the baselines that these replace:<br>{slower}<br>{spaced}<br>- `c/1@hot: ",
                      (self.folder / "pushed").read_text())
        self.assertIn("- `c/48@hot: gpu_time regressed`<br>- and 3 more<br>If that was not ", (self.folder / "pushed").read_text())
        message = subprocess.run(["git", "show", "--no-patch", "--format=%b"], cwd=self.folder / ".perfgate-git", text=True, capture_output=True).stdout
        self.assertIn(f"\n{slower}\n{spaced}\n", message)
        self.assertIn(slower.replace("- `", "  slower: ").replace("`", ""), done.stdout)
        named = subprocess.run(["git", "show", "--name-only", "--format="], cwd=self.folder / ".perfgate-git", text=True, capture_output=True)
        self.assertEqual("baselines/k/a.json\n", named.stdout)
        self.assertFalse((self.folder / "stolen").exists(), "the token reached a hook or what is measured")
        self.assertNotIn("secret", (self.folder / "command-lines").read_text())
        self.assertEqual(["password=secret"], re.findall("password=.*", (self.folder / "signed-in").read_text()))
        self.assertIn("host=gitlab.example", (self.folder / "signed-in").read_text())
        for job in ("perfgate-baselines", "perfgate-history"):
            self.assertEqual({"GIT_STRATEGY": "clone"}, self.gitlab_jobs()[job]["variables"])

    def test_gitlab_reviews_a_merge_request_before_anything_of_it_is_built(self):
        job = self.gitlab_jobs()["perfgate-review"]
        self.assertEqual(("clone", 0), (job["variables"]["GIT_STRATEGY"], job["variables"]["GIT_DEPTH"]))
        example = self.gitlab_jobs()[".perfgate"]["variables"], "\n".join(job["before_script"] + job["script"])
        for code in (0, 1):
            self.write("code", str(code))
            # In a pipeline of merged results, the target's commit is what the change was merged into.
            base = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "c0ffee"} if code == 0 else {
                "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "c0ffee", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "older"}
            done = self.run_script(example, PERFGATE_TOKEN="secret", **base)
            self.assertEqual(code, done.returncode, done.stdout + done.stderr)
            calls = (self.folder / "calls").read_text()
            (self.folder / "calls").unlink()
            self.assertEqual("<review><suites/*.yaml><--base><rev:c0ffee><--config><configs/ci.yaml><--advisory>" +
                             ("<baseline><verify><--baselines><baselines>" if (self.folder / "baselines").exists() and code == 0 else ""), calls)
            (self.folder / "baselines").mkdir(exist_ok=True)
        for option in re.findall(r"<(--[a-z-]+)>", calls):
            self.assertIn(option, tool.options(["review"]))
        self.assertFalse((self.folder / "built").exists())
        self.assertFalse((self.folder / "stolen").exists())

    def test_no_setting_of_git_that_a_pull_request_left_is_used(self):
        def git(*words):
            return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *map(str, words)], cwd=self.folder,
                                  check=True, capture_output=True, text=True).stdout
        git("init", "--quiet", "-b", "main", self.folder)
        git("commit", "--quiet", "--allow-empty", "-m", "first")
        pwned = self.write("left/run", f"#!/bin/sh\ntouch '{self.folder}/pwned'\nexit 1\n")
        pwned.chmod(0o755)
        shutil.copy(pwned, pwned.with_name("pre-push"))
        self.write(".gitconfig", f"[core]\nfsmonitor = {pwned}\nhooksPath = {pwned.parent}\n")  # of the agent's user
        for name, example, nightly in (
                ("gitlab", self.gitlab("perfgate-history"), {"PERFGATE_TOKEN": "secret", "CI_SERVER_HOST": "gitlab.example", "CI_PROJECT_PATH": "o/p"}),
                ("buildkite", self.buildkite(), {"PERFGATE_HISTORY": "1", "BUILDKITE_PULL_REQUEST": "false",
                                                 "BUILDKITE_BRANCH": "trunk", "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "trunk"}),
                ("jenkins", self.jenkins(), {"HISTORY": "true", "BRANCH_IS_PRIMARY": "true"})):
            with self.subTest(name):
                remote = self.folder / f"{name}.git"
                git("init", "--quiet", "--bare", remote)
                for key, value in (("core.fsmonitor", pwned), ("core.hooksPath", pwned.parent), ("credential.helper", pwned),
                                   (f"url.{self.folder}/elsewhere.insteadOf", remote), ("remote.origin.url", self.folder / "elsewhere")):
                    git("config", key, value)
                self.write("code", "0")
                self.write("other", "")
                # An index that keeps a file of its own.
                entry = f"100644,{git('hash-object', '-w', pwned).strip()},evil"
                for words in (("--add", "--cacheinfo", entry), ("--skip-worktree", "evil")):
                    subprocess.run(["git", "-c", "core.fsmonitor=false", "update-index", *words], cwd=self.folder, check=True,
                                   env={**os.environ, "GIT_INDEX_FILE": str(self.folder / ".git/perfgate-site-index")})
                given = {"BUILDKITE_REPO": str(remote), "PERFGATE_REMOTE": str(remote), "GIT_CONFIG_COUNT": "1",
                         "GIT_CONFIG_KEY_0": f"url.{remote}.insteadOf", "GIT_CONFIG_VALUE_0": "https://perfgate@gitlab.example/o/p.git"}
                done = self.run_script(example, **{**nightly, **given})
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                listed = subprocess.run(["git", "--git-dir", remote, "ls-tree", "--name-only", "perfgate-history"], text=True,
                                        capture_output=True, check=True, cwd="/").stdout.split()
                self.assertEqual([".nojekyll", "history.db", "index.html"], listed)
        self.assertFalse((self.folder / "pwned").exists())
        # The checkout itself is made anew, before anything is called in it.
        text = (self.folder / "Jenkinsfile.perfgate").read_text()
        places = [text.index(part) for part in ("skipDefaultCheckout()", "deleteDir()", "checkout(scm)", "sh \'\'\'")]
        self.assertEqual(sorted(places), places)

    def test_each_keeps_a_history_of_its_nights_on_a_branch(self):
        def git(*words, **more):
            return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null",
                                   *map(str, words)], cwd=self.folder,
                                  check=True, capture_output=True, text=True, **more).stdout

        def kept():
            self.assertEqual("1\n", git("-C", remote, "rev-list", "--count", "perfgate-history"))
            self.assertEqual({".nojekyll", "history.db", "index.html"},
                             set(git("-C", remote, "ls-tree", "--name-only", "perfgate-history").split()))
            return git("-C", remote, "show", "perfgate-history:history.db").split()

        git("init", "--quiet", "-b", "main", self.folder)
        git("commit", "--quiet", "--allow-empty", "-m", "first")
        self.write(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n").chmod(0o755)  # of a pull request's job: it is not run
        tree = git("mktree", input=f"100644 blob {git('hash-object', '-w', '--stdin', input='another').strip()}\thistory.db\n").strip()
        others = [git("commit-tree", "-m", f"another job's {number}", tree) for number in range(5)]
        self.write("tools/sleep", f"#!/bin/sh\necho \"$1\" >>'{self.folder}/slept'\n").chmod(0o755)
        for name, example, nightly in (
                ("gitlab", self.gitlab("perfgate-history"), {"PERFGATE_TOKEN": "secret", "CI_SERVER_HOST": "gitlab.example",
                                                             "CI_PROJECT_PATH": "o/p"}),
                ("buildkite", self.buildkite(), {"PERFGATE_HISTORY": "1", "BUILDKITE_PULL_REQUEST": "false",
                                                  "BUILDKITE_BRANCH": "trunk", "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "trunk"}),
                ("jenkins", self.jenkins(), {"HISTORY": "true", "BRANCH_IS_PRIMARY": "true"})):
            remote = self.folder / f"{name}.git"
            git("init", "--quiet", "--bare", remote)
            git("config", "remote.origin.url", remote)
            nightly |= {"BUILDKITE_REPO": str(remote), "PERFGATE_REMOTE": str(remote)}
            for key, value in (("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", f"url.{remote}.insteadOf"),
                               ("GIT_CONFIG_VALUE_0", "https://perfgate@gitlab.example/o/p.git")):
                nightly[key] = value

            def run(code=1, **changed):
                """The exit code is the gate's; 5: only the history could not be kept."""
                self.write("code", str(code if code != 5 else 0))
                done = self.run_script(example, **{**nightly, **changed})
                self.assertEqual(code, done.returncode, done.stdout + done.stderr)
                return done
            with self.subTest(name):
                self.write("other", "")
                run()
                self.assertEqual(["night"], kept())
                run()
                self.assertEqual(["night", "night"], kept())
                self.write("other", "".join(others))  # pushed while this job makes its site
                run(code=0)
                self.assertEqual(["another", "night"], [word for line in kept() for word in re.findall("another|night", line)])
                self.assertEqual("", (self.folder / "other").read_text())
                self.assertEqual("1\n2\n3\n4\n5\n", (self.folder / "slept").read_text())
                (self.folder / "slept").unlink()
                # What cannot be read is not replaced, and the gate's verdict stands.
                git("push", "--quiet", "--force", remote, "main:other", "main:perfgate-history")
                for code in (1, 3, 5):
                    done = run(code)
                    self.assertIn("the history of this night could not be kept", done.stderr)
                    if name == "gitlab":
                        self.assertIn({1: "slower", 3: "infrastructure", 5: ""}[code], done.stdout)
                    elif name == "buildkite":
                        self.assertIn({1: "error", 3: "warning", 5: "success"}[code], (self.folder / "words").read_text())
                self.assertEqual(git("rev-parse", "main"), git("-C", remote, "rev-parse", "perfgate-history"))
                self.assertFalse((self.folder / "slept").exists())
                # Only the default branch has nights; GitLab's rules say so.
                git("-C", remote, "update-ref", "-d", "refs/heads/perfgate-history")
                for changed in {"gitlab": [], "buildkite": [{"PERFGATE_HISTORY": ""}, {"BUILDKITE_PULL_REQUEST": "7"},
                                                            {"BUILDKITE_BRANCH": "topic"}],
                                "jenkins": [{"HISTORY": "false"}, {"CHANGE_ID": "7"}, {"BRANCH_IS_PRIMARY": ""}]}[name]:
                    done = run(**changed)
                    self.assertEqual("HISTORY" not in next(iter(changed)), "only builds of the" in done.stderr, done.stderr)
                    self.assertEqual("other\n", git("-C", remote, "branch", "--format=%(refname:short)"))

    def test_compiled_objects_are_kept_where_nothing_deletes_them(self):
        self.write("tools/ccache", "").chmod(0o755)
        self.write("code", "0")
        for ci, kept in (("gitlab", f"{self.folder}/.ccache"), ("buildkite", ""), ("jenkins", "")):
            (self.folder / ".git").mkdir()
            self.run_tool("adopt", "--ci", ci, "--from", f"owner/perfgate@{'5eed' * 10}", "--build", 'echo "${CCACHE_DIR:-} $CMAKE_CUDA_COMPILER_LAUNCHER" >built')
            (self.folder / ".git").rmdir()
            done = self.run_script(getattr(self, ci)())
            self.assertEqual((0, f"{kept} ccache\n"), (done.returncode, (self.folder / "built").read_text()), done.stderr)

    def test_no_build_is_measured_again_for_its_history_alone(self):
        pipeline = yaml.safe_load((self.folder / ".buildkite/perfgate.yml").read_text())
        self.assertEqual([3], [retry["exit_status"] for retry in pipeline["steps"][0]["retry"]["automatic"]])
        self.assertIn("if (code == 5) {", (self.folder / "Jenkinsfile.perfgate").read_text())

    def test_gitlab_shows_the_result_in_one_comment(self):
        notes = [{"id": number, "body": "other", "system": False} for number in range(130)]

        class GitLab(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do(self):
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                address, _, query = self.path.partition("?")
                assert self.headers["PRIVATE-TOKEN"] == "secret"
                assert address.startswith("/projects/3/merge_requests/7/notes"), address
                if self.command == "GET":
                    page = int(query.rpartition("=")[2])
                    answer = notes[100 * (page - 1):100 * page]
                elif self.command == "POST":
                    answer = {"id": 900, "system": False, **json.loads(text)}
                    notes.append(answer)
                else:
                    answer = next(each for each in notes if each["id"] == int(address.rpartition("/")[2]))
                    answer.update(json.loads(text))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())
            do_GET = do_POST = do_PUT = do
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitLab)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        job = self.gitlab_jobs()["perfgate-comment"]
        self.assertEqual("always", job["rules"][0]["when"])

        def comment():
            done = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])], cwd=self.folder, text=True,
                                  capture_output=True, env={
                                      "PATH": os.environ["PATH"], "PERFGATE_TOKEN": "secret", "CI_PROJECT_ID": "3",
                                      "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": "c0ffee", "CI_PIPELINE_URL": "https://p",
                                      "CI_API_V4_URL": f"http://127.0.0.1:{server.server_port}"})
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        comment()
        self.assertIn("no results", notes[-1]["body"])
        self.write("perfgate-out/summary.md", "## perfgate: 1 regressed\n\n/merge\n  /approve\nfor @everyone\n")
        comment()
        self.assertEqual(131, len(notes))
        self.assertIn("## perfgate: 1 regressed", notes[-1]["body"])
        self.assertNotRegex(notes[-1]["body"], r"(?m)^\s*/|@everyone")

    def test_only_what_merges_is_required_and_the_default_branch_alone_gets_baselines(self):
        jobs = self.gitlab_jobs()
        self.assertEqual(['$CI_PIPELINE_SOURCE == "merge_request_event"'], [rule["if"] for rule in jobs["perfgate"]["rules"]])
        self.assertNotIn("allow_failure", jobs["perfgate"])

        def started(**variables):
            variables = {"CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BRANCH": "main", **variables}

            def holds(rule):
                terms = re.sub(r"\$(\w+)", r'variables.get("\1")', rule["if"]).replace("&&", "and").replace("null", "None")
                return eval(terms, {"variables": variables})  # of this repository's own file
            rules = {job: next(filter(holds, jobs[job].get("rules", [])), None) for job in jobs}
            return {job for job in rules if rules[job] and rules[job].get("when") != "manual"}
        nightly = {"CI_PIPELINE_SOURCE": "schedule", "PERFGATE_TOKEN": "secret"}
        self.assertEqual({"perfgate-baselines"}, started(**nightly))
        self.assertEqual({"perfgate-history"}, started(**nightly, PERFGATE_HISTORY="1"))
        self.assertEqual(set(), started(CI_PIPELINE_SOURCE="push", PERFGATE_TOKEN="secret", PERFGATE_HISTORY="1"))
        self.assertEqual(set(), started(**nightly, CI_COMMIT_BRANCH="topic"))
        self.assertEqual(set(), started(**nightly, CI_COMMIT_BRANCH="topic", PERFGATE_HISTORY="1"))
        self.assertEqual({"perfgate", "perfgate-review"}, started(CI_PIPELINE_SOURCE="merge_request_event", CI_COMMIT_BRANCH=None))
        self.assertEqual({"perfgate", "perfgate-review", "perfgate-comment"},
                         started(CI_PIPELINE_SOURCE="merge_request_event", PERFGATE_TOKEN="secret", CI_COMMIT_BRANCH=None))
        self.assertEqual({".perfgate", "perfgate", "perfgate-review", "perfgate-comment", "perfgate-baselines", "perfgate-history"}, set(jobs))

    def test_the_page_names_its_jobs_and_its_image_is_theirs(self):
        page = (tool.SOURCE / "docs/github-actions.md").read_text()
        added = yaml.safe_load(re.search(r"```yaml\n(include: .*?)```", page, re.DOTALL)[1])
        # GitLab merges what stands beside the include into what is included.
        self.assertEqual({"include": ".gitlab/perfgate.yml", ".perfgate": {"image": added[".perfgate"]["image"]}}, added)
        jobs = self.gitlab_jobs()
        extend = [name for name in jobs if jobs[name].get("extends") == ".perfgate"]
        self.assertEqual(["perfgate", "perfgate-review", "perfgate-baselines", "perfgate-history"], extend)
        for job in jobs.values():
            self.assertTrue("image" not in job or "extends" not in job)
        self.assertTrue(all(f"`{name}`" in page for name in (*extend, "PERFGATE_BASELINES=1", "BASELINES", "PERFGATE_HISTORY=1", "HISTORY")))


if __name__ == "__main__":
    tool.main()
