# SPDX-License-Identifier: Apache-2.0
"""`perfgate gate -- program`: the first call drafts a suite and keeps a baseline, later ones judge; with the mocks of
driver and CUPTI instead of a GPU."""

import os
import pathlib
import unittest

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "mock_program"
MOCKS = {"LD_LIBRARY_PATH": str(BUILD / "tests" / "inject" / "mocks"), "MOCK_WORK_NS": "5000"}
SUITE = "perfgate/train.yaml"


@unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers: programs cannot be recorded")
class Gate(tool.Case):
    def setUp(self):
        super().setUp()
        self.train()

    def train(self, kernels=4):
        step = f"push step kernels {kernels} gemm kernels 2 softmax pop sleep 1 "
        self.script("train.sh", f"#!/bin/sh\nexec {PROGRAM} {step * 6}\n")

    def gate(self, *options, program=("./train.sh",), code=0):
        return self.run_tool("gate", *options, "--backend", "host", "--", *program, env=MOCKS, code=code)

    def baselines(self):
        return sorted((self.folder / "perfgate/baselines").glob("*/*.json"))

    def test_first_a_suite_and_a_baseline_then_a_verdict(self):
        first = self.gate()
        self.assertIn("perfgate will hold the suite, its baselines and the results", first.stderr)
        for line in (self.folder / SUITE).read_text().splitlines():
            self.assertIn(f"  {line}\n", first.stdout)
        self.assertIn(f"Commit {SUITE} and perfgate/baselines", first.stdout)
        self.assertEqual(1, len(self.baselines()))
        self.assertFalse((self.folder / "perfgate/out/verdict.json").exists())

        text, baseline = (self.folder / SUITE).read_text(), self.baselines()[0].read_text()
        second = self.gate()
        self.assertIn("exit 0", second.stdout)
        self.assertEqual([text, baseline], [(self.folder / SUITE).read_text(), self.baselines()[0].read_text()])
        self.train(kernels=6)
        worse = self.gate(code=1)
        verdicts = {case["id"]: case["verdict"] for suite in self.read_json("perfgate/out/verdict.json")["suites"]
                    for case in suite["cases"]}
        self.assertEqual("regressed", verdicts["train/program"])
        self.assertEqual(baseline, self.baselines()[0].read_text())
        # The printed commands and the suite alone judge the same.
        self.assertIn("--baselines perfgate/baselines", worse.stdout)
        self.run_tool("run", SUITE, "--baselines", "perfgate/baselines", "--backend", "host", env=MOCKS, code=1)

    def test_where_a_missing_baseline_fails_none_is_stored(self):
        done = self.gate("--set", "no_baseline=fail", code=4)
        self.assertIn("no_baseline", done.stdout)
        self.assertEqual([], self.baselines())
        self.gate()
        self.gate("--set", "no_baseline=fail")

    def test_a_suite_is_the_users_once_it_is_there(self):
        self.gate()
        text = (self.folder / SUITE).read_text()
        self.write(SUITE, text.replace("program.kernels: 0", "program.kernels: 100%"))
        self.train(kernels=5)
        edited = (self.folder / SUITE).read_text()
        self.gate(code=1)
        self.assertEqual(edited, (self.folder / SUITE).read_text())
        self.write(SUITE, text + "nonsense: 1\n")
        self.assert_one_line(self.gate(code=2).stderr, f"{SUITE}:", "unknown key 'nonsense'")

    def test_another_command_is_not_gated_by_the_suite_of_its_name(self):
        self.gate()
        self.assert_one_line(self.gate(program=("./train.sh", "--other"), code=2).stderr, f"{SUITE}:",
                             "it gates another command: './train.sh'", "--out")
        self.gate("--out", "other", program=("./train.sh", "--other"))
        self.assertTrue((self.folder / "other/train.yaml").exists())

    def test_a_broken_baseline_is_neither_used_nor_replaced(self):
        self.gate()
        baseline, = self.baselines()
        baseline.write_text("{")
        self.assertIn(baseline.name, self.gate(code=2).stderr)
        self.assertEqual("{", baseline.read_text())

    def test_what_cannot_be_gated_leaves_no_suite(self):
        self.script("train.sh", "#!/bin/sh\nexit 0\n")
        self.assertIn("did not initialise CUDA", self.gate(code=3).stderr)
        self.script("train.sh", f"#!/bin/sh\nexec {PROGRAM} push step copy 64 pop\n")
        self.assert_one_line(self.gate(code=2).stderr.splitlines()[-1], "no kernel")
        self.script("train.sh", f"#!/bin/sh\n{PROGRAM} kernels 4 gemm\nexit 7\n")
        self.assertIn("7", self.gate(code=3).stderr)
        self.assert_one_line(self.gate(program=("./absent",), code=2).stderr.splitlines()[-1], "./absent")
        self.assertFalse((self.folder / SUITE).exists())

    def test_a_folder_that_cannot_be_written_is_said_before_the_program_runs(self):
        self.write("taken", "")
        self.assert_one_line(self.gate("--out", "taken", code=2).stderr, "taken")
        self.assert_one_line(self.run_tool("gate", code=2).stderr, "name the program to gate after --")


if __name__ == "__main__":
    tool.main()
