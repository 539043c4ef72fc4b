# SPDX-License-Identifier: Apache-2.0
"""What other profilers recorded, without a GPU: reports of it, differences of two, several of each side judged."""

import sqlite3
import sys
import unittest

import tool

sys.path.insert(0, str(tool.SOURCE / "tests/data/traces"))
import made  # noqa: E402

SUITE = """
name: training
workloads:
  - command: [python3, train.py]
    name: train
    measure:
      step: {nvtx: step, skip: 1}
      gemm: {kernel: "*gemm*", within: step, skip: 1}
    tolerances:
      step.gpu_time: 2%
      gemm.gpu_time: 2%
      program.kernels: 0
    expect:
      step.syncs: "<= 1"
    health:
      step: {pageable_copies: 1, syncs: 1, idle_share: none, time_per_launch: none}
"""


class Traces(tool.Case):
    def processes(self, *recording, code=0):
        self.run_tool("profile", "--recording", *recording, "--report", "profile.json", code=code)
        return self.read_json("profile.json")["processes"]

    def capture(self, side, number=1, gemm_ns=40_000, count=6):
        """So many traces, of which no two are the same."""
        files = [f"{side}{place}.json" for place in range(number)]
        for place, file in enumerate(files):
            made.kineto(self.folder / file, count, gemm_ns=gemm_ns + 37 * place)
        return files

    def judge(self, base, head, code, suite=SUITE):
        self.write("suite.yaml", suite)
        self.run_tool("compare", "--suite", "suite.yaml", "--base", *base, "--head", *head, "--report", "verdict.json",
                      code=code)
        return {case["id"]: case["verdict"] for each in self.read_json("verdict.json")["suites"] for case in each["cases"]}

    def test_both_profilers_tell_the_same_of_a_program(self):
        made.kineto(self.folder / "t.json.gz", 3, rank=1)
        made.nsys(self.folder / "t.sqlite", 3)
        for file in ("t.json.gz", "t.sqlite"):
            with self.subTest(file):
                process, = self.processes(file)
                self.assertEqual(("4242", "1", []),
                                 (process["recording"]["pid"], process["recording"]["rank"], process["incomplete"]))
                program = process["program"]
                self.assertEqual((9, 3, 3, 3, 3 * 4096),
                                 tuple(program[key] for key in ("kernels", "copies", "pageable_copies",
                                                                "synchronisations", "copied_bytes")))
                self.assertEqual({made.GEMM: (6, 240_000), "relu": (3, 12_003)},
                                 {each["name"]: (each["count"], each["total_ns"]) for each in process["kernels"]})
                step, = process["ranges"]
                self.assertEqual(("step", 3, 9), (step["name"], step["count"], step["work"]["kernels"]))
                self.assertEqual("NVIDIA Test GPU", process["devices"][0]["name"])

    def test_an_export_has_a_process_for_each_and_a_folder_of_ranks_too(self):
        made.nsys(self.folder / "t.sqlite", 2, pids=(10, 11))
        self.assertEqual(["10", "11"], [each["recording"]["pid"] for each in self.processes("t.sqlite")])
        (self.folder / "ranks").mkdir()
        for rank in (1, 0):
            made.kineto(self.folder / f"ranks/rank{rank}.pt.trace.json", 2, rank=rank)
        self.assertEqual(["0", "1"], [each["recording"]["rank"] for each in self.processes("ranks")])

    def test_all_reports_can_be_made_of_a_trace(self):
        made.kineto(self.folder / "t.json", 2)
        self.run_tool("profile", "--recording", "t.json", "--report", "run.sqlite", "--report", "trace:run.trace.json",
                      "--capture", "range:step")
        count, = sqlite3.connect(self.folder / "run.sqlite").execute("SELECT count(*) FROM kernels").fetchone()
        self.assertEqual(6, count)
        # perfgate's own database and trace are no recordings.
        self.assertIn("--out keeps", self.run_tool("profile", "--recording", "run.sqlite", code=2).stderr)
        self.assertIn("no trace of torch.profiler", self.run_tool("profile", "--recording", "run.trace.json", code=2).stderr)

    def test_what_is_missing_is_said_and_never_judged(self):
        made.nsys(self.folder / "graphs.sqlite", 2, sql=f"""
            CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (globalPid INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES ({made.process(4242)});""")
        self.assertIn("--cuda-graph-trace=node", self.processes("graphs.sqlite", code=3)[0]["incomplete"][0])
        made.kineto(self.folder / "lost.json", 2, extra='"WARNING": ["Dropped 3 activity records"],')
        made.nsys(self.folder / "kernels.sqlite", 2, sql="DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId > 6;")
        whole = self.capture("whole", 2)
        self.write("suite.yaml", SUITE)
        for file in ("graphs.sqlite", "lost.json", "kernels.sqlite"):
            done = self.run_tool("compare", "--suite", "suite.yaml", "--base", *whole, "--head", whole[0], file, code=2)
            self.assertIn(f"{file}: the recording is incomplete", done.stderr)

    def test_counts_of_calls_are_not_collected_where_the_calls_are_not_on_record(self):
        gated = SUITE.replace("step.gpu_time: 2%", "step.gpu_time: 2%\n      step.syncs: 0")
        base = self.capture("base", 3)
        head = self.capture("head", 3)
        for file in head:
            text = (self.folder / file).read_text()
            self.write(file, text.replace('"cat": "cuda_runtime"', '"cat": "cpu_op"'))
        self.assertEqual("not_collected", self.judge(base, head, 3, gated)["train/step"])
        self.assertEqual(["error"], [each["verdict"] for each in self.read_json("verdict.json")["suites"][0]["relations"]
                                     if each["leading"] == "train/step" and "syncs" in each["relation"]][:1])

    def test_one_recording_of_each_side_is_never_judged(self):
        base, head = self.capture("base"), self.capture("head", gemm_ns=80_000)
        done = self.run_tool("compare", "--base", *base, "--head", *head)
        self.assertRegex(done.stdout, r"gemm.*\(80\.00 µs → 160\.0 µs\)")
        self.assertIn("one run each", done.stdout)
        self.write("suite.yaml", SUITE)
        self.run_tool("compare", "--suite", "suite.yaml", "--base", *base, "--head", *head, code=2)
        for words in (["--base", *base, "--head", *head], ["--base", ".", "--head", "."]):
            self.assertIn("judges several recordings", self.run_tool(
                "compare", "--suite", "suite.yaml", *words, code=2).stderr)
        self.assertIn("--suite FILE", self.run_tool("compare", "--base", *base, "--head", *head, *base, code=2).stderr)
        self.run_tool("compare", *base, code=2)

    def test_several_of_each_side_are_judged_by_the_labels_and_health_of_a_suite(self):
        base = self.capture("base", 8)
        all_pass = {"train/step": "pass", "train/gemm": "pass", "train/program": "pass"}
        self.assertEqual(all_pass, self.judge(base, self.capture("same", 8, gemm_ns=40_011), 0))
        slow = self.judge(base, self.capture("slow", 8, gemm_ns=48_000), 1)
        self.assertEqual({**all_pass, "train/step": "regressed", "train/gemm": "regressed"}, slow)
        self.judge(base, self.capture("same", 8, gemm_ns=40_011), 1, SUITE.replace("pageable_copies: 1", "pageable_copies: 0"))

    def test_another_number_of_kernels_fails_whatever_the_times_are(self):
        verdicts = self.judge(self.capture("base", 3), self.capture("more", 3, count=7), 1)
        self.assertEqual("regressed", verdicts["train/program"])

    def test_what_cannot_be_compared_never_passes(self):
        base = self.capture("base", 3)
        for place in range(3):
            made.nsys(self.folder / f"other{place}.sqlite", 6, gemm_ns=40_000 + place)
        others = [f"other{place}.sqlite" for place in range(3)]
        self.assertEqual({"invalid"}, set(self.judge(base, others, 3).values()))
        # The same recording twice would look like precision.
        done = self.run_tool("compare", "--suite", "suite.yaml", "--base", *base, "--head", base[0], base[0], code=2)
        self.assertIn("same content", done.stderr)
        gated = SUITE.replace("step.gpu_time: 2%", "step.gpu_time: 2%\n      gemm.dynamic_smem: 0\n      program.wall_time: 5%")
        verdicts = self.judge(base, self.capture("head", 3), 3, gated)
        self.assertEqual(("not_collected", "not_collected"), (verdicts["train/gemm"], verdicts["train/program"]))

    def test_the_suite_must_say_whose_recordings_they_are(self):
        base = self.capture("base", 2)

        def refusal(suite, *words):
            self.write("suite.yaml", suite)
            return self.run_tool("compare", "--suite", *words, "--base", *base, "--head", *base, code=2).stderr

        two = SUITE + SUITE[SUITE.index("  - command"):].replace("name: train", "name: test")
        self.assertIn("one of several commands", refusal(two, "suite.yaml"))
        self.assertIn("did you mean 'train'", refusal(two, "suite.yaml/tran"))
        self.assertIn("has a matrix", refusal(SUITE.replace("train.py]", 'train.py, "{n}"]\n    matrix: {n: [1, 2]}'), "suite.yaml"))


if __name__ == "__main__":
    unittest.main()
