# SPDX-License-Identifier: Apache-2.0
"""What users type wrong, and what they read: one line with the place, the remedy and the nearest name. A row is what
there is in the folder, the command and its exit code; the lines are in tests/data/golden/messages.txt
(PERFGATE_UPDATE_GOLDEN=1 writes them)."""

import fcntl
import os
import subprocess

import tool

GOLDEN = tool.SOURCE / "tests/data/golden/messages.txt"

BENCH = """name: bench
workloads:
  - benchmark: {words}
    name: bench
    format: {format}
    tolerances: {{real_time: {tolerance}}}
"""
PROBE = """name: probe
defaults: {tolerances: {host_time: 5%}, metrics: [host_time]}
workloads:
  - {workload: probe, variants: [host], tags: [quick]}
"""
GOOGLE = ('{"context": {}, "benchmarks": [{"name": "BM_a", "run_type": "iteration", "iterations": 9, "real_time": 5.0, '
          '"cpu_time": 5.0, "time_unit": "ns"}]}')


def bench(words="[./bench]", format="google-benchmark", tolerance="5%"):
    return BENCH.format(words=words, format=format, tolerance=tolerance)


PLUGIN = ["--plugin", tool.PLUGINS / "probe_base.so", "--backend", "host"]
# What is typed, the exit code, and the files besides those of setUp.
ROWS = [
    (["validate", "s.yaml"], 2, {"s.yaml": bench("[./bench, --benchmark_out={out}]")}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench("[./bench, {out}]")}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench() + "overrides:\n  - match: *naive*\n    skip: slow\n"}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench("[python3 bench.py]")}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench("[./bench --min-time 1]")}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench('[./bench, "{ouput}"]')}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench('[./bench, "{oout}"]')}),
    (["validate", "s.yaml"], 2, {"s.yaml": "name: s\nworkloads:\n  - {workload: sofmax, variants: [online]}\n"}),
    (["validate", "s.yaml"], 2, {"s.yaml": "name: s\nworkloads:\n  - {workload: scale, variants: [plain]}\n"}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench(tolerance=1)}),
    (["validate", "s.yaml"], 2, {"s.yaml": bench() + "plugins: [build/scale.so]\n"}),
    (["list", "probe.yaml", "--filter", "zzz*", *PLUGIN], 2, {}),
    (["list", "probe.yaml", "--filter", "probe/hots[n=100000]", *PLUGIN], 2, {}),
    (["list", "probe.yaml", "--tag", "quik", *PLUGIN], 2, {}),
    (["run", "probe.yaml", "--filter", "zzz*", *PLUGIN], 2, {}),
    (["run", "suites/"], 2, {"suites/s.yaml": bench()}),
    (["run", "nope.yaml"], 2, {}),
    (["run", "s.yaml", "--processes", "1"], 3, {"s.yaml": bench(format="nvbench"), "bench": f"echo '{GOOGLE}'"}),
    (["run", "s.yaml", "--processes", "1"], 3, {"s.yaml": bench(), "bench": "echo 1234 items"}),
    (["baseline", "verify"], 2, {"baselines/key/bench.json": "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n"}),
    (["baseline", "verify"], 2, {"baselines/key/bench.json": '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}\n'}),
    (["baseline", "accept", "r.json"], 2, {}),
    (["baseline"], 2, {}),
    (["baseline", "update"], 2, {}),
    (["baseline", "acept"], 2, {}),
    (["bench"], 2, {}),
    (["explain"], 2, {}),
    (["help", "rnu"], 2, {}),
    (["run", "probe.yaml", "--filter"], 2, {}),
    (["run", "probe.yaml", "--backend", "gpu"], 2, {}),
    (["run", "probe.yaml", "--backend", "hots"], 2, {}),
    (["run", "probe.yaml", "--processes", "abc"], 2, {}),
    (["init", "--from", "pytorch"], 2, {}),
    (["profile", "ls", "-l"], 2, {}),
    (["profile", "--quiet", "python3", "train.py", "--lr", "1"], 2, {}),
    (["gate", "./app", "--lr", "1"], 2, {}),
    (["gate"], 2, {}),
]


class Messages(tool.Case):
    def read(self, words, code, files):
        for name, text in {"probe.yaml": PROBE, "bench": "exit 1", **files}.items():
            if name == "bench":
                self.script(name, "#!/bin/sh\n" + text + "\n")
            else:
                self.write(name, text)
        done = self.run_tool(*words, code=code)
        said = done.stderr
        if code == 3:  # what a case says is in the report
            said = "".join(case["reason"] + "\n" for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                           for case in suite["cases"])
        shown = " ".join(str(word).replace(str(tool.PLUGINS), "PLUGINS") for word in words)
        return f"$ perfgate {shown}\n{said.replace(str(self.folder), 'FOLDER')}exit {done.returncode}\n"

    def test_each_is_one_line_as_in_the_golden_file(self):
        text = ""
        for words, code, files in ROWS:
            with self.subTest(words=words, files=files):
                self.doCleanups()
                self.setUp()
                one = self.read(words, code, files)
                own = [line for line in one.splitlines()[1:-1] if line != "perfgate: baselines: invalid:"]
                self.assertEqual(1, len(own), one)
                self.assertNotIn("--help\n", one)
            text += one + "\n"
        if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
            GOLDEN.write_text(text)
        self.assertEqual(GOLDEN.read_text(), text)

    def test_an_output_folder_that_may_not_be_entered_is_said_to_be_forbidden(self):
        (self.folder / "closed/inner").mkdir(parents=True)
        (self.folder / "closed").chmod(0o600)
        self.folder.chmod(0o755)
        self.addCleanup((self.folder / "closed").chmod, 0o700)

        def as_a_user():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        try:
            done = subprocess.run([tool.PERFGATE, "demo", "--out", "closed/inner/out"], cwd=self.folder,
                                  capture_output=True, text=True, preexec_fn=as_a_user, timeout=tool.PATIENCE_S)
        except (PermissionError, subprocess.SubprocessError) as error:
            self.skipTest(f"another user may not run the binary here: {error}")
        self.assertEqual(2, done.returncode, done.stderr)
        self.assert_one_line(done.stderr, "closed/inner", "Permission denied")


class OrderOfWork(tool.Case):
    """What is wrong with a command is said before any device is waited for."""

    def setUp(self):
        super().setUp()
        self.write("good.yaml", PROBE)
        self.options = ["--backend", "host", "--lock-wait", "0"]
        self.plugin_options = [*self.options, *self.plugin("probe_base")]
        self.run_tool("run", "good.yaml", "--processes", "1", *self.plugin_options)
        lock, = (self.folder / "locks").iterdir()
        self.holder = open(lock, "r+")
        fcntl.flock(self.holder, fcntl.LOCK_EX)
        self.addCleanup(self.holder.close)

    def test_a_good_command_waits(self):
        for words in (["run", "good.yaml"], ["baseline", "refresh", "good.yaml"], ["selftest", "good.yaml"]):
            with self.subTest(words):
                self.assertIn("in use", self.run_tool(*words, *self.plugin_options, code=3).stderr)

    def test_a_wrong_one_does_not(self):
        self.write("wrong.yaml", PROBE.replace("variants: [host]", "variants: [hots]"))
        self.write("other.yaml", PROBE + "tolerances: {}\n")
        self.write("absent.yaml", PROBE + "plugins: [build/absent.so]\n")
        self.write("text.yaml", PROBE + "plugins: [good.yaml]\n")
        key = self.read_json("perfgate-out/run.json")["environment"]["device"]["key"]
        self.write(f"broken/{key}/probe.json", "{")
        for words, part in ((["run", "nope.yaml"], "nope.yaml"), (["run", "wrong.yaml"], "did you mean 'host'?"),
                            (["run", "other.yaml"], "unknown key 'tolerances'"),
                            (["run", "absent.yaml"], "absent.yaml:5:11: there is no plugin"),
                            (["run", "text.yaml"], "good.yaml: cannot be loaded"),
                            (["run", "good.yaml", "--filter", "zzz"], "selected by --filter"),
                            (["run", "good.yaml", "--resume", "nowhere"], "nowhere"),
                            (["run", "good.yaml", "--baselines", "broken"], f"broken/{key}/probe.json"),
                            (["run", "good.yaml", "--report", "x.pdf"], "x.pdf"),
                            (["baseline", "refresh", "wrong.yaml"], "did you mean 'host'?"),
                            (["baseline", "refresh", "good.yaml", "--baselines", "broken"], "probe.json"),
                            (["selftest", "wrong.yaml"], "did you mean 'host'?")):
            with self.subTest(words):
                self.assertIn(part, self.run_tool(*words, *self.plugin_options, code=2).stderr)


if __name__ == "__main__":
    tool.main()
