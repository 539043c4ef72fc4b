# SPDX-License-Identifier: Apache-2.0
"""What bad input gets: one clear line, the right exit code, nothing half-written."""

import os
import subprocess

import tool

GOOD = """
name: probe
defaults: {metrics: [host_time], tolerances: {host_time: 900%}, time_budget: 10ms, cache: hot}
workloads:
  - {workload: probe, variants: [host], params: {n: 1000}}
"""


class BadSuites(tool.Case):
    def refused(self, path, *parts):
        done = self.run_tool("validate", path, *self.plugin("probe_base"), code=2)
        self.assertEqual("", done.stdout)
        for part in parts:
            self.assertIn(part, done.stderr)
        return done.stderr

    def test_missing_file(self):
        self.assert_one_line(self.refused("nowhere.yaml"), "nowhere.yaml")

    def test_directory(self):
        self.assert_one_line(self.refused(self.folder), str(self.folder))

    def test_binary_junk(self):
        path = self.folder / "junk.yaml"
        path.write_bytes(os.urandom(4096) + b"\0" * 10)
        self.refused(path, "junk.yaml")

    def test_a_gigabyte(self):
        path = self.folder / "huge.yaml"
        with open(path, "wb") as file:
            file.truncate(1 << 30)
        self.assert_one_line(self.refused(path), "huge.yaml")

    def test_alias_bomb(self):
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        for i in range(1, 12):
            lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]")
        self.refused(self.write("bomb.yaml", "\n".join(lines)), "bomb.yaml")

    def test_deep_nesting(self):
        self.refused(self.write("deep.yaml", "[" * 100000), "deep.yaml")
        self.refused(self.write("deep2.yaml", "- " * 50000), "deep2.yaml")

    def test_every_error_at_once_with_its_place(self):
        text = self.refused(self.write("many.yaml", GOOD.replace("variants: [host]", "variants: [hots]")
                            .replace("name: probe", "name: Probe\nnmae: x")), "many.yaml:2:", "hots",
                            "did you mean")
        self.assertGreaterEqual(len(text.strip().splitlines()), 3)

    def test_tolerances_that_are_no_number(self):
        for bad in ("nan", ".inf", "-3%", "3 apples"):
            with self.subTest(bad):
                self.refused(self.write("t.yaml", GOOD.replace("900%", bad)), "t.yaml:3:")

    def test_negative_sizes(self):
        self.refused(self.write("n.yaml", GOOD.replace("1000", "-5")), "n.yaml:5:", "-5")


class BadDocuments(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.suite = self.write("probe.yaml", GOOD)
        self.options = ["--backend", "host", *self.plugin("probe_base")]

    def measured(self):
        self.run_tool("run", "probe.yaml", *self.options)
        return (self.folder / "perfgate-out/run.json").read_text()

    def test_truncated_run(self):
        text = self.measured()
        self.write("cut.json", text[: len(text) // 2])
        self.assert_one_line(self.run_tool("compare", "cut.json", code=2).stderr, "cut.json")

    def test_unknown_major_version(self):
        self.write("new.json", self.measured().replace('"version": 3', '"version": 99'))
        self.assert_one_line(self.run_tool("compare", "new.json", code=2).stderr, "version 99")

    def test_baseline_of_another_device(self):
        self.run_tool("baseline", "refresh", "probe.yaml", *self.options)
        (baseline,) = (self.folder / "baselines").glob("*/probe.json")
        text = baseline.read_text()
        key = baseline.parent.name
        baseline.write_text(text.replace(f'"{key}"', '"host-another-machine"'))
        done = self.run_tool("run", "probe.yaml", *self.options, code=2)
        self.assertIn("host-another-machine", done.stderr)

    def test_broken_baseline_is_invalid_and_untouched(self):
        self.run_tool("baseline", "refresh", "probe.yaml", *self.options)
        (baseline,) = (self.folder / "baselines").glob("*/probe.json")
        baseline.write_text(baseline.read_text()[:-40])
        before = baseline.read_bytes()
        self.run_tool("run", "probe.yaml", *self.options, code=2)
        self.run_tool("baseline", "refresh", "probe.yaml", *self.options, code=2)
        self.assertEqual(before, baseline.read_bytes())

    def test_a_refused_refresh_writes_nothing(self):
        self.run_tool("baseline", "refresh", "probe.yaml", "--backend", "host",
                      *self.plugin("probe_wrong"), code=2)
        self.assertEqual([], list(self.folder.glob("baselines/**/*.json")))


class BadPlugins(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("probe.yaml", GOOD)

    def refused(self, plugin, *parts, code=2):
        done = self.run_tool("run", "probe.yaml", "--backend", "host", "--plugin", plugin,
                             code=code)
        self.assert_one_line(done.stderr, *parts)

    def test_missing(self):
        self.refused("nowhere.so", "nowhere.so")

    def test_text_file(self):
        self.refused(self.write("text.so", "hello"), "text.so")

    def test_library_without_entry(self):
        self.refused(tool.PLUGINS / "no_plugin.so", "no_plugin.so", "pg_plugin_entry")

    def test_other_abi(self):
        self.refused(tool.PLUGINS / "other_abi.so", "other_abi.so", "ABI 2")

    def test_same_workload_twice(self):
        self.run_tool("run", "probe.yaml", "--backend", "host", *self.plugin("probe_base"),
                      *self.plugin("probe_slow"), code=2)


class BadOutputs(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("probe.yaml", GOOD)
        self.options = ["--backend", "host", *self.plugin("probe_base")]

    def test_out_is_a_file(self):
        self.write("taken", "x")
        done = self.run_tool("run", "probe.yaml", *self.options, "--out", "taken", code=2)
        self.assertIn("taken", done.stderr)
        self.assertEqual("x", (self.folder / "taken").read_text())

    def test_out_cannot_be_written(self):
        # /proc refuses new folders, for root too.
        done = self.run_tool("run", "probe.yaml", *self.options, "--out", "/proc/perfgate", code=2)
        self.assertIn("/proc/perfgate", done.stderr)

    def test_no_space_left(self):
        # A full disk for real: a small tmpfs in a mount namespace of its own.
        script = ("mount -t tmpfs -o size=16k tmpfs full && "
                  "head -c 12000 /dev/zero > full/filler; "
                  f'"$0" run probe.yaml "$@" --out full; code=$?; ls full; exit $code')
        (self.folder / "full").mkdir()
        probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no mount namespaces here: " + probe.stderr.decode().strip())
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", script, tool.PERFGATE, *self.options],
            cwd=self.folder, capture_output=True, text=True, timeout=tool.PATIENCE_S)
        self.assertEqual(3, done.returncode, done.stdout + done.stderr)
        self.assertIn("No space left", done.stderr)
        self.assertNotIn(".tmp", done.stdout)

    def test_two_reports_in_one_place(self):
        self.run_tool("run", "probe.yaml", *self.options, "--report", "junit:-", "--report", "csv:-", code=2)
        done = self.run_tool("run", "probe.yaml", *self.options, "--report", "x.md", "--report", "json:./x.md", code=2)
        self.assert_one_line(done.stderr, "x.md", "both want")
        done = self.run_tool("run", "probe.yaml", *self.options, "--report-url", "ftp://a b", code=2)
        self.assert_one_line(done.stderr, "--report-url ftp://a b", "https://")


class Usage(tool.Case):
    def test_no_verb(self):
        self.run_tool(code=2)

    def test_unknown_option(self):
        self.run_tool("run", "--frobnicate", code=2)

    def test_every_help_text(self):
        for verb in ("run", "compare", "report", "baseline", "validate", "list", "doctor"):
            with self.subTest(verb):
                self.assertIn("Usage", self.run_tool(verb, "--help").stdout)
        self.assertNotIn("worker", self.run_tool("--help").stdout)

    def test_version(self):
        self.assertRegex(self.run_tool("--version").stdout, r"^perfgate \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    tool.main()
