# SPDX-License-Identifier: Apache-2.0
"""`perfgate adopt` in a folder with suites: what it checks, what it writes for each CI, and what it leaves alone.
tests/e2e/test_adopter.py plays what it writes for GitHub, test_setup.py what it writes for the others."""

import gzip
import hashlib
import os
import pathlib
import re
import subprocess

import yaml

import tool

SHA = "5eed" * 10
FROM = f"tools/perfgate@{SHA}"
HOST = """name: {name}
defaults: {{metrics: [host_time], tolerances: {{host_time: 30%}}}}
workloads:
  - {{workload: gemm, variants: [reference], params: {{dtype: f32, m: 16, n: 16, k: 16}}}}
"""
GPU = """name: {name}
defaults: {{metrics: [gpu_time], tolerances: {{gpu_time: 3%}}}}
workloads:
  - {{workload: gemm, variants: [naive], params: {{dtype: f32, m: 16, n: 16, k: 16}}}}
"""
PLUGIN = """name: {name}
defaults: {{metrics: [host_time], tolerances: {{host_time: 30%}}}}
workloads:
  - {{workload: somebodys, variants: [plain], params: {{n: 16}}}}
"""
PROGRAM = "name: {name}\nworkloads:\n  - {{command: [./app], name: app, tolerances: {{program.gpu_time: 5%}}}}\n"
BENCHMARK = """name: {name}
workloads:
  - {{benchmark: [./bench, "--benchmark_out={{out}}"], name: bench, format: {format}, tolerances: {{real_time: 5%}}}}
"""
PYTHON = "name: {name}\nworkloads:\n  - {{python: ../{target}.py, tolerances: {{{metric}: 5%}}}}\n"
SOURCE = """name: {name}
workloads:
  - {{source: k.cu, kernel: k, launch: {{grid: 1, block: 32}}, arguments: [{{out: f32, size: 32}}], check: none,
      tolerances: {{gpu_time: 5%}}}}
"""
FILES = {
    "github": {f".github/workflows/{name}.yml" for name in
               ("perfgate", "perfgate-accept", "perfgate-comment", "perfgate-nightly")},
    "gitlab": {".gitlab/perfgate.yml"},
    "buildkite": {".buildkite/perfgate.yml"},
    "jenkins": {"Jenkinsfile.perfgate"},
}


class Adopt(tool.Case):
    def setUp(self):
        super().setUp()
        (self.folder / ".git").mkdir()

    def adopt(self, *words, code=0, given=("--from", FROM)):
        return self.run_tool("adopt", *given, *words, code=code)

    def suite(self, text, name="s", folder="suites", **values):
        self.write(f"{folder}/{name}.yaml", text.format(name=name, **values))

    def write_bytes(self, name, content):
        (self.folder / name).write_bytes(content)

    def refused(self, *words, given=("--from", FROM)):
        """Nothing is written then."""
        before = self.everything()
        done = self.adopt(*words, code=2, given=given)
        self.assertEqual("", done.stdout)
        self.assertEqual(before, self.everything())
        return done.stderr

    def everything(self):
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and "locks" not in path.parts}

    def workflow(self, name="perfgate"):
        return yaml.safe_load((self.folder / f".github/workflows/{name}.yml").read_text())

    def test_each_ci_gets_its_files_and_at_most_four_steps_are_left(self):
        self.suite(GPU)
        for ci, files in FILES.items():
            with self.subTest(ci):
                text = self.adopt("--ci", ci).stdout
                wrote = set(re.findall(r"^wrote (.*)$", text, re.MULTILINE)) - {"configs/ci.yaml"}
                self.assertEqual(files, wrote)
                steps = re.findall(r"^  (\d)\. (.*)$", text, re.MULTILINE)
                self.assertLessEqual(len(steps), 4)
                self.assertIn(f"\n{len(steps)} steps left:\n", text)
                self.assertTrue(any("equire" in step for _, step in steps), "which check is required")
                self.assertTrue(any("first baselines" in step for _, step in steps))
                self.assertIn("suites/*.yaml", (self.folder / sorted(files)[-1]).read_text())
                for file in files:
                    written = (self.folder / file).read_text()
                    self.assertNotRegex(written, r"@[a-z_]+@|OWNER|another repository|SPDX")
                    self.assertIn("perfgate adopt", written.splitlines()[0])
                    self.assertIn("perfgate", written)
        # The same again replaces its own files, and says what had another content.
        self.assertNotIn("replaced", self.adopt().stdout)
        with open(self.folder / ".github/workflows/perfgate-nightly.yml", "a") as file:
            file.write("# edited\n")
        self.assertIn("\nreplaced other content of .github/workflows/perfgate-nightly.yml: git diff", self.adopt().stdout)
        self.adopt("--ci", "github", "--runner", "h100")
        self.assertEqual(["self-hosted", "h100"], self.workflow()["jobs"]["measure"]["runs-on"])

    def test_the_machine_is_what_the_suites_need(self):
        for target in ("cuda", "host"):
            self.write(f"{target}.py", f"import perfgate\n\n@perfgate.workload(target='{target}')\ndef add(seed):\n    pass\n")
        for text, values, label, backend in ((GPU, {}, "gpu", "cuda"), (HOST, {}, "quiet", "host"), (PROGRAM, {}, "gpu", "cuda"),
                                             (BENCHMARK, {"format": "google-benchmark"}, "quiet", "host"),
                                             (BENCHMARK, {"format": "nvbench"}, "gpu", "cuda"),
                                             (PYTHON, {"target": "cuda", "metric": "gpu_time"}, "gpu", "cuda"),
                                             (PYTHON, {"target": "host", "metric": "host_time"}, "quiet", "host")):
            with self.subTest(text, **values):
                self.suite(text, **values)
                self.write("suites/app", "#!/bin/sh\n")
                self.write("suites/bench", "#!/bin/sh\n")
                done = self.adopt()
                self.assertEqual("", done.stderr)
                self.assertEqual(text == PYTHON, "python3 on the PATH of the jobs" in done.stdout)
                for ci, place in (("github", "the file .path"), ("gitlab", "config.toml"), ("buildkite", "the agent's"), ("jenkins", "the agent's")):
                    self.assertEqual(text == PYTHON, f"virtual environment: its bin comes first in {place}" in
                                     self.adopt("--ci", ci).stdout.replace("'environment' of the runner's ", ""), ci)
                self.assertEqual(["self-hosted", label], self.workflow()["jobs"]["measure"]["runs-on"])
                config = (self.folder / "configs/ci.yaml").read_text()
                self.assertEqual(backend, yaml.safe_load(config)["backend"])
                self.assertNotRegex(config, "suites/gemm|config.schema")
                self.assertEqual("fail", yaml.safe_load(config)["policy"]["no_baseline"])
                (self.folder / "configs/ci.yaml").unlink()
        self.suite(PROGRAM.replace("./app", "python3, app.py"))
        self.assertIn("python3 on the PATH of the jobs", self.adopt().stdout)
        # One case for a GPU among others is enough.
        self.suite(HOST, "a")
        self.suite(GPU, "b")
        self.adopt()
        self.assertEqual(["self-hosted", "gpu"], self.workflow()["jobs"]["measure"]["runs-on"])

    def test_a_config_that_contradicts_the_suites_is_named(self):
        self.suite(HOST)
        self.write("configs/ci.yaml", "backend: cuda\n")
        self.assert_one_line(self.refused(), "configs/ci.yaml", "no case of these suites is for a GPU", "'backend: host'")
        self.suite(BENCHMARK, format="google-benchmark")
        self.write("suites/bench", "#!/bin/sh\n")
        self.assert_one_line(self.adopt().stderr, "warning", "seem to need no GPU")
        self.suite(GPU)
        self.write("configs/ci.yaml", "policy: {no_baseline: fail}\n")
        self.assert_one_line(self.adopt().stderr, "warning", "'backend: auto'", "'backend: cuda' fails instead")

    def test_the_config_is_never_a_suite(self):
        self.suite(HOST, "a", "perf")
        self.write("perf/ci.yaml", "backend: host\nbaselines: perf/baselines\n")
        for suites in (["perf/*.yaml"], ["perf/a.yaml", "perf/ci.yaml"]):  # a pattern, and what a shell makes of it
            text = self.adopt(*suites, "--config", "perf/ci.yaml").stdout
            self.assertIn("1 suite with 1 case, config perf/ci.yaml", text)
            measured = self.workflow()["jobs"]["measure"]["steps"][-1]["with"]
            self.assertEqual(("perf/ci.yaml", suites[0]), (measured["config"], measured["suites"]))
        review = next(step["run"] for step in self.workflow()["jobs"]["review"]["steps"] if step.get("name") == "Review")
        self.assertIn("'perf/a.yaml' --base rev:HEAD^1 --config perf/ci.yaml", review)
        self.assertIn("perf/baselines", (self.folder / ".github/workflows/perfgate-accept.yml").read_text())
        self.assertNotRegex((self.folder / ".github/workflows/perfgate-nightly.yml").read_text(), r"(?<!perf/)(?<!-)baselines$")
        self.write("perf/other.yaml", "backend: host\n")
        self.assert_one_line(self.refused("perf/*.yaml", "--config", "perf/ci.yaml"),
                             "perf/other.yaml: is a config and no suite", "--config")

    def test_what_is_absent_or_wrong_is_refused_with_its_place(self):
        self.assertIn("no suite matches 'suites/*.yaml'", self.refused())
        self.suite(HOST)
        for words, parts in ((["none.yaml"], ["no suite matches 'none.yaml'"]),
                             (["--config", "perf/none.yaml"], ["perf/none.yaml"]),
                             (["../up.yaml"], ["SUITE '../up.yaml': expected a path below this folder"]),
                             (["/etc/*.yaml"], ["SUITE '/etc/*.yaml'"]),
                             (["suites/$(touch x).yaml"], ["expected a path"]),
                             (["--plugin", "a b.so"], ["--plugin 'a b.so'"]),
                             (["--plugin", "build/a.so"], ["how is build/a.so built", "--build COMMAND"]),
                             (["--build", "a\nb"], ["--build: expected a command of one line"]),
                             (["--runner", "a, b"], ["--runner a, b: expected a label"]),
                             (["--runner", "a", "--runner", "a"], ["each label once"])):
            with self.subTest(words):
                self.assert_one_line(self.refused(*words), *parts)
        self.write("suites/bad.yaml", "name: bad\nworkloads:\n  - {workload: gemm, vairants: [naive]}\n")
        self.assertIn("suites/bad.yaml:3:", self.refused())
        self.suite(HOST.replace("{name}", "s"), "bad")
        self.assertIn("suites/s.yaml: the suite 's' is also in suites/bad.yaml", self.refused())
        (self.folder / "suites/bad.yaml").unlink()
        os.symlink("/etc/passwd", self.folder / "suites/bad.yaml")
        self.assertIn("suites/bad.yaml: a link, which is not followed", self.refused())

    def test_where_the_release_is_from_is_known_or_asked_for(self):
        self.suite(HOST)
        for given, part in (((), "--archive FILE, or the repository of its release, --from OWNER/perfgate@SHA"),
                            (("--from", "tools"), "expected OWNER/NAME"),
                            (("--from", "tools/perfgate"), "40 hexadecimal digits"),
                            (("--from", "tools/perfgate@main"), "40 hexadecimal digits"),
                            (("--from", f"to'ols/perfgate@{SHA}"), "expected OWNER/NAME")):
            with self.subTest(given):
                self.assert_one_line(self.refused(given=given), part)

    def test_an_archive_is_for_a_release_that_is_published_nowhere(self):
        self.suite(HOST)
        version = tool.VERSION
        end = "-linux-x86_64.tar.gz"
        name = f"perfgate-{version}+g0123456789ab{end}"
        whole = gzip.compress(os.urandom(1000))
        self.write_bytes(name, whole)
        gitlab = ("--ci", "gitlab")
        for file, content, part in ((f"none{end}", whole, "expected a release"), ("other.tar.gz", whole, "expected a release"),
                                    (f"perfgate-{version}-$(x){end}", whole, "expected a release"),
                                    (f"perfgate-{version}0{end}", whole, f"perfgate-{version}{end}"),
                                    (f"perfgate-{version}-none{end}", None, "there is no such file"),
                                    (f"perfgate-{version}-text{end}", b"text", "is no gzip file"),
                                    (f"perfgate-{version}-start{end}", whole[:2], "cut or damaged"),
                                    (f"perfgate-{version}-cut{end}", whole[:-1], "cut or damaged"),
                                    (f"perfgate-{version}-half{end}", whole[:500], "cut or damaged"),
                                    (f"perfgate-{version}-bad{end}", whole[:500] + bytes(9) + whole[509:], "cut or damaged")):
            with self.subTest(file):
                if content is not None:
                    self.write_bytes(file, content)
                self.assert_one_line(self.refused(*gitlab, given=("--archive", file)), part)
        (self.folder / "\x1b[31m").mkdir()
        self.write_bytes(f"\x1b[31m/{name}", whole)
        self.assertNotIn("\x1b", self.adopt(*gitlab, given=("--archive", f"\x1b[31m/{name}")).stdout)
        said = self.adopt(*gitlab, given=("--archive", name)).stdout
        self.assertIn(f"--upload-file {name} ", said)
        written = (self.folder / ".gitlab/perfgate.yml").read_text()
        self.assertIn(hashlib.sha256(whole).hexdigest(), written)
        self.assertNotIn("github.com", written)
        self.adopt(given=("--archive", name))
        for file in FILES["github"]:
            written = (self.folder / file).read_text()
            self.assertIn(hashlib.sha256(whole).hexdigest(), written)
            self.assertNotRegex(written, r"@[a-z_]+@|uses: [^a.]|OWNER")

    def test_the_place_of_an_archive_is_an_address_or_a_file_that_jobs_have(self):
        self.suite(HOST)
        name = f"perfgate-{tool.VERSION}-linux-x86_64.tar.gz"
        self.write_bytes(name, gzip.compress(b"x"))
        for ci, place in (("github", "https://files.example:8443/a/perfgate.tar.gz?version=1"), ("github", "tools/perfgate.tar.gz"),
                          ("gitlab", "http://files.example/p.tar.gz"), ("jenkins", "/srv/p.tar.gz")):
            with self.subTest(ci, place=place):
                said = self.adopt("--ci", ci, given=("--archive", name, "--archive-at", place)).stdout
                self.assertIn(f"Let {place} be {name}", said)
                # There, jobs that do not measure are not on the user's machines.
                self.assertEqual(ci == "github" and "://" in place, "GitHub's own machines" in said)
                self.assertIn(f"'{place}'", (self.folder / sorted(FILES[ci])[0]).read_text())
                if ci == "github":  # unless they are said to be
                    said = self.adopt("--other-runner", "light", given=("--archive", name, "--archive-at", place)).stdout
                    self.assertNotIn("GitHub's own machines", said)
        said = self.adopt("--ci", "gitlab", given=("--archive", name, "--archive-at", "http://files.example/tools/")).stdout
        self.assertIn(f"Let http://files.example/tools/{name} be {name}", said)
        for ci, place in (("github", "/opt/p.tar.gz"), ("github", "../p.tar.gz"), ("github", "ftp://files.example/p"), ("github", "file:///p"),
                          ("gitlab", "tools/p.tar.gz"), ("jenkins", "/opt/'$(touch x)'"), ("github", "https://x/${{ secrets.X }}"),
                          ("github", "https://x/@archive@"), ("github", "https://x/a\nb: c"), ("github", "https://")):
            with self.subTest(ci, place=place):
                self.assertIn("--archive-at", self.refused("--ci", ci, given=("--archive", name, "--archive-at", place)))
        self.assertIn("--archive-at requires --archive", self.refused("--archive-at", "/opt/p.tar.gz", given=()))

    def test_a_plugin_is_named_and_built(self):
        self.suite(PLUGIN)
        self.assert_one_line(self.refused(), "suites/s.yaml:4:", "somebodys", "--plugin FILE")
        self.write("CMakeLists.txt", "")
        self.adopt("--plugin", "build/a.so", "--plugin", "build/b.so")
        steps = self.workflow()["jobs"]["measure"]["steps"]
        self.assertEqual("--plugin=build/a.so\n--plugin=build/b.so", steps[-1]["with"]["arguments"].strip())
        self.assertIn("cmake --build build", steps[-2]["run"])
        self.assertTrue(steps[-3]["uses"].startswith("actions/cache@"))
        refresh = (self.folder / ".github/workflows/perfgate-nightly.yml").read_text()
        self.assertIn("baseline refresh --plugin build/a.so --plugin build/b.so --config", refresh)
        self.adopt("--plugin", "build/a.so", "--build", """printf '%s\\n' "a: {b}" && make -C bench""")
        self.assertIn("""printf '%s\\n' "a: {b}" && make -C bench""", self.workflow()["jobs"]["measure"]["steps"][-2]["run"])

    def test_a_suite_may_name_its_plugins_itself(self):
        self.suite(PLUGIN + "plugins: [../build/somebodys.so]\n")
        self.assert_one_line(self.refused(), "how is ../build/somebodys.so built", "--build COMMAND")
        self.write("CMakeLists.txt", "")
        self.adopt()
        self.assertNotIn("arguments", self.workflow()["jobs"]["measure"]["steps"][-1]["with"])
        # Another suite's plugin is not this one's.
        self.suite(PLUGIN, "other")
        self.assert_one_line(self.refused(), "suites/other.yaml:4:", "'plugins' in the suite", "--plugin FILE")

    def test_what_needs_no_build_is_not_built(self):
        """Sources, Python and scripts are measured as they are, whatever else the repository builds."""
        self.write("CMakeLists.txt", "")
        self.write("suites/bench", "#!/bin/sh\n")
        workload = "import perfgate\n@perfgate.workload(n={}, target='{}')\ndef k(n):\n    pass\n"
        self.write("cuda.py", workload.format("[1, 2]", "cuda"))
        self.write("host.py", workload.format("[1, 2]", "host"))
        self.write("open.py", workload.format("sizes()", "cuda"))
        gpu, host = {"target": "cuda", "metric": "gpu_time"}, {"target": "host", "metric": "host_time"}
        google = {"format": "google-benchmark"}
        for text, values, cases, label in ((PYTHON, gpu, 2, "gpu"), (PYTHON, host, 2, "quiet"), (SOURCE, {}, 1, "gpu"),
                                           (PYTHON, {**gpu, "target": "open"}, 1, "gpu"), (BENCHMARK, google, 1, "quiet"),
                                           (BENCHMARK.replace("./bench", "python3, bench.py"), google, 1, "quiet")):
            with self.subTest(text, **values):
                self.suite(text, **values)
                done = self.adopt()
                self.assertEqual("", done.stderr)
                self.assertRegex(done.stdout, rf"1 suite with {cases} cases?, .* runner {label}, nothing is built")
                self.assertNotIn("cmake", str(self.workflow()))
                (self.folder / "configs/ci.yaml").unlink()
        self.suite(BENCHMARK, **google)
        (self.folder / "suites/bench").unlink()
        self.assertIn("built by: cmake", self.adopt().stdout)
        (self.folder / "CMakeLists.txt").unlink()
        self.assert_one_line(self.adopt().stderr, "warning", "./bench is no script", "--build COMMAND")
        self.suite(PYTHON, target="none", metric="gpu_time")
        self.assert_one_line(self.refused(), "suites/s.yaml:3:5: there is no file")

    def test_machine_code_that_git_does_not_have_is_built(self):
        (self.folder / ".git").rmdir()
        for words in (["init", "-q"], ["config", "core.excludesFile", os.devnull]):  # the user's file may have build/
            subprocess.run(["git", *words], cwd=self.folder, check=True)
        self.suite(SOURCE.replace("k.cu", "../build/k.cubin"))
        warning = ("warning: ../build/k.cubin is not here, or git ignores it, and there is no CMakeLists.txt", "--build COMMAND")
        self.assert_one_line(self.adopt().stderr, *warning)
        self.write("build/k.cubin", "")
        self.assertEqual("", self.adopt().stderr)
        self.write(".gitignore", "build/\n")
        self.assert_one_line(self.adopt().stderr, *warning)
        done = self.adopt("--build", "nvcc -cubin -o build/k.cubin k.cu")
        self.assertEqual("", done.stderr)
        self.assertIn("nvcc -cubin", str(self.workflow()))
        self.write("CMakeLists.txt", "")
        self.assertIn("built by: cmake", self.adopt().stdout)

    def test_each_kind_of_machine_measures(self):
        self.suite(GPU)
        words = ["--runner", "h100", "--runner", "b200"]
        self.adopt(*words)
        measure = self.workflow()["jobs"]["measure"]
        self.assertEqual({"runner": ["h100", "b200"]}, measure["strategy"]["matrix"])
        self.assertEqual(["self-hosted", "${{ matrix.runner }}"], measure["runs-on"])
        self.assertIn("matrix.runner", measure["concurrency"]["group"])
        for labels, runs_on, registered in ((["ubuntu-latest"], "ubuntu-latest", None),
                                            (["ubuntu-24.04", "h100"], "${{ matrix.runner }}", "h100:"),
                                            (["ubuntuish"], ["self-hosted", "ubuntuish"], "ubuntuish:")):
            with self.subTest(labels):  # GitHub's own machines are not registered
                said = self.adopt(*(word for label in labels for word in ("--runner", label))).stdout
                self.assertEqual(runs_on, self.workflow()["jobs"]["measure"]["runs-on"])
                self.assertEqual([registered] if registered else [], re.findall(r"runner with the label (.*:) http", said))
        self.adopt(*words)
        for name in ("accept", "comment"):
            self.assertIn("ARTIFACT: perfgate-h100 perfgate-b200",
                          (self.folder / f".github/workflows/perfgate-{name}.yml").read_text())
        self.adopt("--ci", "gitlab", *words)
        jobs = yaml.safe_load((self.folder / ".gitlab/perfgate.yml").read_text())
        self.assertEqual([{"RUNNER": ["h100", "b200"]}], jobs["perfgate"]["parallel"]["matrix"])
        self.assertEqual(["$RUNNER"], jobs[".perfgate"]["tags"])
        self.adopt("--ci", "buildkite", *words)
        step, = yaml.safe_load((self.folder / ".buildkite/perfgate.yml").read_text())["steps"]
        self.assertEqual((["h100", "b200"], "{{matrix}}"), (step["matrix"], step["agents"]["queue"]))
        self.adopt("--ci", "jenkins", *words)
        self.assertIn("values 'h100', 'b200'", (self.folder / "Jenkinsfile.perfgate").read_text())

    def test_jobs_that_do_not_measure_have_machines_of_their_own(self):
        self.suite(GPU)
        self.assertIn("runner with the label gpu and one for light:", self.adopt("--other-runner", "light").stdout)
        for file in FILES["github"]:
            for name, job in self.workflow(pathlib.Path(file).stem)["jobs"].items():
                self.assertEqual(["self-hosted", "gpu"] if name == "measure" else "light", job["runs-on"], (file, name))
        self.assertIn("runner with the label gpu:", self.adopt("--other-runner", "ubuntu-24.04").stdout)
        for words, tags in (([], None), (["--other-runner", "light"], ["light"])):
            self.adopt("--ci", "gitlab", *words)
            jobs = yaml.safe_load((self.folder / ".gitlab/perfgate.yml").read_text())
            self.assertEqual(tags, jobs["perfgate-comment"].get("tags"))
            review = jobs["perfgate-review"]  # it waits for measurements on their machine alone
            self.assertEqual((tags or ["gpu"], None if tags else "perfgate"), (review["tags"], review["resource_group"]))
        for words, part in ((["--runner", "light"], "may write"), (["--ci", "jenkins"], "every job measures"), (["--ci", "buildkite"], "--runner")):
            self.assert_one_line(self.refused("--other-runner", "light", *words), "--other-runner", part)
        self.assert_one_line(self.refused("--other-runner", "a b"), "--other-runner a b: expected a label")

    def test_machines_that_measure_are_no_others_by_any_name(self):
        self.suite(GPU)
        refused = [["--other-runner", label] for label in ("gpu", "GPU", "self-hosted", "Linux", "x64")]
        refused += [["--other-runner", "light", "--runner", label] for label in ("Light", "self-hosted", "X64")]
        refused += [["--other-runner", "gpu", "--ci", "gitlab"]]
        for words in refused:
            with self.subTest(words):
                self.assert_one_line(self.refused(*words), "--other-runner", "measure")
        (self.folder / "suites/s.yaml").unlink()
        self.suite(HOST)
        self.assert_one_line(self.refused("--other-runner", "quiet"), "may write")
        for ci in ("github", "gitlab"):
            said = self.adopt("--other-runner", "gpu", "--ci", ci).stdout  # no other machine has it
            self.assertIn("quiet and one for gpu: https", said)
            self.assertIn("Those with gpu run jobs that may write: make them ephemeral", said)
            self.assertNotIn("ephemeral", self.adopt("--ci", ci).stdout)

    def test_somebody_elses_file_is_not_replaced(self):
        self.suite(HOST)
        for ci, files in FILES.items():
            for kind in ("a file", "a link"):
                theirs = self.folder / sorted(files)[0]
                theirs.parent.mkdir(parents=True, exist_ok=True)
                if kind == "a file":
                    theirs.write_text("name: perfgate\n")
                else:
                    os.symlink(self.write("elsewhere", "Written by 'perfgate adopt'\n"), theirs)
                with self.subTest(ci, kind=kind):
                    self.assert_one_line(self.refused("--ci", ci), f"{sorted(files)[0]} exists", "rename or remove it")
                theirs.unlink()

    def test_it_runs_in_the_root_of_a_repository(self):
        (self.folder / ".git").rmdir()
        self.suite(HOST)
        self.assert_one_line(self.refused(), "no .git in this folder", "root of the repository")

    def test_nothing_of_a_suite_is_executed(self):
        pwned = self.folder / "pwned"
        self.script("bench", f"#!/bin/sh\ntouch '{pwned}'\n")
        self.write("suites/kernels.py", f"open({str(pwned)!r}, 'w')\nimport perfgate\n@perfgate.workload(n=[1])\ndef k(n):\n    pass\n")
        self.suite("name: {name}\nworkloads:\n  - {{benchmark: [../bench, '{{out}}'], name: b, format: google-benchmark, "
                   "tolerances: {{real_time: 5%}}}}\n")
        self.adopt()
        self.assertFalse(pwned.exists())


if __name__ == "__main__":
    tool.main()
