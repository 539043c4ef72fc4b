# SPDX-License-Identifier: Apache-2.0
"""What of the scripts in tests/gpu needs no GPU: the parts that words choose, what is read from stored documents, and,
with the mocks of driver and CUPTI, programs that are killed."""

import contextlib
import difflib
import io
import json
import os
import pathlib
import sys
import types
import unittest

import tool

sys.path.insert(0, str(tool.SOURCE / "tests/gpu"))
import board_proof  # noqa: E402
import ceiling_spread  # noqa: E402
import gate_programs  # noqa: E402
import lines_study  # noqa: E402
import lines_study_kernels  # noqa: E402
import more_work_study  # noqa: E402
import profile_programs  # noqa: E402

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])
PROGRAM = BUILD / "bin/mock_program"
RUNS = tool.SOURCE / "tests/data/runs"


def said(call, *words):
    """What the function prints, and what it returns."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        result = call(*words)
    return text.getvalue(), result


class Scripts(tool.Case):
    def parts(self, *words):
        return [name for name, _ in gate_programs.chosen_parts(words)]

    def test_parts_are_chosen_one_by_one(self):
        self.assertEqual(["f32 instead of bf16", "unchanged 1", "unchanged 2", "ab"],
                         self.parts("edits:f32 instead of bf16", "unchanged:2", "ab"))
        self.assertIn("nvlink", self.parts())
        self.assertEqual(len(set(self.parts())), len(self.parts()))
        for wrong in ("nothing", "edits:nothing", "ab:2", "unchanged:many"):
            with self.assertRaises(ValueError, msg=wrong):
                self.parts(wrong)

    def test_the_study_of_more_work_reads_the_tolerances_that_refresh_names(self):
        done = self.run_tool("baseline", "refresh", *(RUNS / f"nvidia-h200/softmax-{number}.run.json" for number in (1, 2)))
        half, most = more_work_study.named(done.stdout)["dram_bytes"]
        self.assertLess(0.01, float(half.rstrip("%")))
        self.assertLess(float(half.rstrip("%")), float(most.rstrip("%")))

    def test_the_study_of_more_work_edits_the_work_of_ten_kernels(self):
        os.chdir(self.folder)
        self.addCleanup(os.chdir, tool.SOURCE)
        more_work_study.write_suite(["gpu_time"], {"gpu_time": "0.5%"}, [32768])
        sides = []
        for work in (1000, 1050):
            more_work_study.write_kernels(work)
            sides.append((self.folder / "work.cu").read_text())
        self.assertEqual(sides[1], sides[0].replace("kWork = 1000", "kWork = 1050"))
        done = self.run_tool("list", "work.yaml")
        self.assertIn("10 cases", done.stdout)

    def test_each_edit_still_applies(self):
        program = (tool.SOURCE / "tests/gpu/programs/training_step.py").read_text()
        for name, edit in gate_programs.EDITS.items():
            self.assertIn(edit.old, program, name)

    def test_each_edit_of_the_study_of_lines_changes_three_places_one_of_them_slow(self):
        edits = {name: kernel.text for name, kernel in lines_study_kernels.EDITS.items()} | lines_study_kernels.TRITON
        self.assertGreaterEqual(len(edits), 15)
        for name, text in edits.items():
            base, head = (lines_study_kernels.side(text, mark) for mark in "-+")
            places = difflib.SequenceMatcher(None, base.split("\n"), head.split("\n"), autojunk=False).get_opcodes()
            self.assertGreaterEqual(sum(tag != "equal" for tag, *_ in places), 3, name)
            self.assertTrue(lines_study_kernels.slow_lines(head), name)
        texts = [change(lines_study_kernels.EQUAL) for change in lines_study_kernels.EQUALS.values()]
        self.assertEqual(10, len(set(texts)))

    def test_each_edit_of_the_study_of_lines_is_launched_as_its_suite_says(self):
        for name, kernel in lines_study_kernels.EDITS.items():
            launch = lines_study.launch_of(name, kernel, "its.cubin")
            self.assertEqual(kernel.arguments.count("{"), len(launch["arguments"]), name)
            self.assertEqual(kernel.arguments.count("size"), sum("size" in each for each in launch["arguments"]), name)
        self.assertEqual({"type": "uint8", "size": lines_study_kernels.N, "iota": True},
                         lines_study.launch_of("blend", lines_study_kernels.EDITS["blend"], "its.cubin")["arguments"][1])

    def test_samples_and_executions_of_ncu_are_compared_instruction_by_instruction(self):
        def printed(samples, executed):
            rows = zip(("LDC R1, c[0x0][0x28] ", "@!P0 LDG.E R2, desc[UR4][R2.64] ", "EXIT ", "NOP"), samples + [0], executed + [0])
            lines = [f'"{i}","7fe0{i}0","{text}","{all:,}","0","{counts:,}"' for i, (text, all, counts) in enumerate(rows)]
            return "\n".join(['"Kernel Name","moved"', '"#","Address","Source","Warp Stall Sampling (All Samples)",'
                              '"Warp Stall Sampling (Not-issued Samples)","# Instructions Executed"', *lines, "==PROF== Disconnected"])

        def found(samples, executed):
            tables = lines_study.ncu_tables(2 * (printed(samples, executed) + "\n"))
            self.assertEqual([("LDC", "LDG.E", "EXIT")], list(tables))
            return {"ncu": tables["LDC", "LDG.E", "EXIT"], "ncu again": tables["LDC", "LDG.E", "EXIT"]}

        kernel = {"name": "moved(float *)", "launches": 800, "instructions": [
            {"at": 16 * i, "text": text, "executed": 131072, "samples": {"wait": count, "selected": 10}}
            for i, (text, count) in enumerate((("LDC R1, c[0x0][0x28]", 190), ("@!P0 LDG.E R2, desc[UR4][R2.64]", 5990), ("EXIT", 1790)))]}
        executed = [131072] * 3
        text, equal = said(lines_study.compare, kernel, found([200, 6000, 1800], executed))
        self.assertTrue(equal, text)
        self.assertIn("8000 samples of 800 launches, ncu 16000 of 2", text)
        self.assertIn("executions equal at 3 of 3", text)
        text, equal = said(lines_study.compare, kernel, found([200, 6000, 1800], [131072, 131071, 131072]))
        self.assertFalse(equal)
        self.assertIn("executions equal at 2 of 3", text)
        text, equal = said(lines_study.compare, kernel, found([200, 5600, 2200], executed))
        self.assertFalse(equal)
        self.assertIn("at worst +5.0 ± 0.", text)
        with self.assertRaisesRegex(ValueError, "no samples or no executions"):
            lines_study.ncu_tables(printed([1, 1, 1], executed).replace("# Instructions", "Other"))

    def test_a_part_that_fails_costs_itself_only(self):
        def broken():
            """Breaks."""
            return next(iter(()))

        done = []
        text, code = said(profile_programs.run_parts, [("broken", broken), ("fine", lambda: done.append(1))])
        self.assertEqual((1, [1]), (code, done))
        self.assertIn("StopIteration", text)
        self.assertIn("1 failed: broken", text)
        with self.assertRaisesRegex(profile_programs.Failure, "not done after 0.5 s:\nhello"):
            profile_programs.run(["sh", "-c", "echo hello; sleep 60"], timeout=0.5)

    def test_what_is_kept_is_used_again(self):
        gate_programs.KEEP = self.folder
        self.addCleanup(setattr, gate_programs, "KEEP", None)
        first = gate_programs.training(name="training")
        (first.path / "out-1").mkdir()
        self.write("training/baselines/nvidia-none/training.json", "{}")
        (first.path / "training_step.py").write_text("edited")
        again = said(gate_programs.trained)[1]
        self.addCleanup(gate_programs.baseline_of_training.cache_clear)
        self.assertEqual((first.path, 1), (again.path, again.calls))
        self.assertNotEqual("edited", (again.path / "training_step.py").read_text())

    def test_counts_of_a_board(self):
        self.run_tool("compare", RUNS / "nvidia-h200/softmax-1.run.json", "--baselines", tool.SOURCE / "baselines",
                      "--out", "perfgate-out")
        counts = board_proof.counts_of(self.read_json("perfgate-out/verdict.json"))
        # Of the times, those that no unchanged code shows: there are too few boards.
        self.assertEqual({"pass": 28, "inconclusive": 6}, counts["cases"])
        self.assertEqual(34, sum(counts["times"].values()))
        chosen = board_proof.slow_enough(sorted((RUNS / "nvidia-h200").glob("*-1.run.json")))
        self.assertEqual(board_proof.SLOWED, len(set(chosen)))

    def test_the_spread_between_boards(self):
        runs = sorted(RUNS.glob("*/transpose-*.run.json"))
        boards = ceiling_spread.by_board(runs)
        self.assertEqual(2, len(boards))
        found = ceiling_spread.spreads(list(boards.values()))
        self.assertEqual(30, len(found))
        # The share by formula is that of the verdict.
        stored = json.loads((RUNS / "nvidia-h200/transpose-1.verdict.json").read_text())
        run = json.loads((RUNS / "nvidia-h200/transpose-1.run.json").read_text())
        cases = {case["id"]: case for case in run["suites"][0]["cases"]}
        for case in stored["suites"][0]["cases"]:
            if "ceiling_share" in case:
                share = ceiling_spread.ceiling_share(cases[case["id"]], run["environment"]["ceilings"])
                self.assertAlmostEqual(100 * case["ceiling_share"], share, delta=0.02 * share)

    @unittest.skipUnless(PROGRAM.exists(), "built without CUDA's headers")
    def test_killed_programs_leave_a_valid_document(self):
        # In place of the C++ program, with the mocks in place of a GPU.
        self.write("streams_and_graphs", f"""#!/bin/sh
echo '{{"spin": 4000, "node": 100}}'
sleep 0.5
LD_LIBRARY_PATH={BUILD}/tests/inject/mocks exec {PROGRAM} kernels 4000 spin sleep 1500 kernels 100 node sleep 700
""").chmod(0o755)
        before = profile_programs.PROGRAMS
        self.addCleanup(setattr, profile_programs, "PROGRAMS", before)
        profile_programs.PROGRAMS = self.folder
        text, _ = said(profile_programs.part_kills, types.SimpleNamespace(kills=16))
        self.assertIn("16 moments", text)


if __name__ == "__main__":
    tool.main()
