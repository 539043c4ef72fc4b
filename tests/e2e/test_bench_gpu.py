# SPDX-License-Identifier: Apache-2.0
"""ci/bench-gpu over stand-ins for a GPU and ncu, which know the same counters: what it compares, loses and keeps."""

import functools
import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import unittest

import tool

PROGRAM = tool.SOURCE / "ci/bench-gpu"

ONE_CASE = ("suites/transfer.yaml", "--filter", "transfer/pinned*steps=1]*")

# `perfgate run`, which invents counters, and ncu, which knows them; $LIE names a counter that ncu doubles.
STAND_IN = f"""#!{sys.executable}
import hashlib, json, os, pathlib, runpy, sys, types
bench = types.SimpleNamespace(**runpy.run_path({str(PROGRAM)!r}))

def counters(case, kernel, names):
    kernel = min(kernel, 18)  # the last two of `launch` are equal
    return {{name: 1e6 + int(hashlib.sha256(f"{{case}} {{kernel}} {{name}}".encode()).hexdigest()[:4], 16)
            for name in names}}

def option(words, name):
    return words[words.index(name) + 1]

def cases(suite, words):
    filters = [words[i + 1] for i, word in enumerate(words) if word == "--filter"]
    return bench.cuda_cases(suite, filters)

def kernels(case):
    return 20 if case.startswith("launch/") else 1

words = sys.argv[1:]
if words[0] == "--clock-control":
    names = option(words, "--metrics").split(",")
    pathlib.Path(os.environ["TMPDIR"], "lock").touch(exist_ok=False)
    with open(option(words, "--log-file"), "w") as log:
        print("==PROF== hello", file=log)
        print(",".join(f'"{{name}}"' for name in ["ID", "Kernel Name", *names]), file=log)
        place = 0
        for case in cases(words[words.index("run") + 1], words):
            for kernel in range(kernels(case)):
                known = counters(case, kernel, names)
                if os.environ.get("LIE") in known:
                    known[os.environ["LIE"]] *= 2
                row = [place, f"void spin<{{kernel}}>(float*)", *known.values()]
                print(",".join(f'"{{value}}"' for value in row), file=log)
                place += 1
else:
    rows = bench.catalogue("GH100") if "--verify-only" not in words else {{}}
    names = sorted({{counter for row in rows.values() for counter in row["counters"]}} | {{"gpu__time_duration.sum"}})
    done = []
    for case in cases(words[1], words):
        found = []
        for kernel in range(kernels(case)):
            known = counters(case, kernel, names)
            metrics = {{name: bench.evaluate(row, known) for name, row in rows.items()}}
            facts = {{name: metrics.pop(name) for name in bench.FACTS if rows}}
            record = {{"name": "spin", **facts, "metrics": {{k: v for k, v in metrics.items() if v is not None}}}}
            if found and found[-1] == record:
                record["count"] = 2
                found.pop()
            found.append(record)
        copied = int(os.environ.get("COPIED", 0))
        done.append({{"id": case, "status": "measured", "kernels": found,
                      "memory_operations": [{{"kind": "memset", "bytes": copied, "to": "device"}}]}})
    if os.environ.get("LOSE") and done:
        done[-1] = {{"id": done[-1]["id"], "status": "error", "reason": "the driver said no"}}
    out = pathlib.Path(option(words, "--out"))
    out.mkdir(parents=True, exist_ok=True)
    (out / "run.json").write_text(json.dumps({{
        "environment": {{"driver": "0",
                         "device": {{"name": "none", "chip": "GH100", "board": os.environ.get("BOARD", "b0")}}}},
        "interrupted": False, "phase_s": {{"counters": 1}}, "suites": [{{"cases": done}}]}}))
"""

# What else perfgate is asked for, it answers itself: a shell starts in a tenth of the time.
LISTS = f"""#!/bin/sh
case $* in
run*) exec "${{0%/*}}/ncu" "$@" ;;
"list --metrics --chip GH100 --report json:-") exec cat "${{0%/*}}/metrics.json" ;;
*) exec '{tool.PERFGATE}' "$@" ;;
esac
"""


@functools.cache
def metrics():
    """perfgate's own list, which takes a second each time."""
    return subprocess.run([tool.PERFGATE, "list", "--metrics", "--chip", "GH100", "--report", "json:-"], check=True,
                          capture_output=True, text=True, timeout=tool.PATIENCE_S).stdout


@unittest.skipUnless(importlib.util.find_spec("yaml"), "needs python3-yaml")
class BenchGpu(tool.Case):
    def setUp(self):
        super().setUp()
        self.script("ncu", STAND_IN)
        self.script("perfgate", LISTS)
        self.write("metrics.json", metrics())

    def bench(self, *words, code=0, **env):
        done = subprocess.run(
            [sys.executable, PROGRAM, "--runs", "1", "--ncu-runs", "1", "--out", self.folder / "out", *words],
            cwd=tool.SOURCE, capture_output=True, text=True, timeout=tool.PATIENCE_S,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1",
                 "PERFGATE": str(self.folder / "perfgate"), **env})
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        return done

    def result(self, suite):
        return self.read_json(f"out/{suite}/result.json")

    def test_a_kernel_is_the_same_by_either_tool(self):
        function_name = runpy.run_path(str(PROGRAM))["function_name"]
        for expected, *names in (
                ("transpose_naive", "void (anonymous namespace)::transpose_naive<unsigned int>(int, int)",
                 "void unnamed>::transpose_naive<unsigned int>(int, int, const T1 *, T1 *)",
                 "void <unnamed>::transpose_naive<unsigned int>(int, int, const T1 *, T1 *)"),
                ("launch_step", "unnamed>::launch_step(int, unsigned int *)", "(anonymous namespace)::launch_step(int)"),
                ("eager_unary", "void unnamed>::eager_unary<unnamed>::Clamp>(T1, float *)",
                 "void (anonymous namespace)::eager_unary<(anonymous namespace)::Clamp>((anonymous namespace)::Clamp)"),
                ("attention_flash", "void attention::<unnamed>::attention_flash<attention::<unnamed>::Shape<128, 0>>(int)"),
                ("nvjet_sm90_hss_64x48", "nvjet_sm90_hss_64x48"), ("copy", "copy<float>(float*)")):
            for name in names:
                self.assertEqual(expected, function_name(name), name)

    def test_suites_are_compared_apart_and_without_graphs(self):
        done = self.bench("suites/launch.yaml", "suites/transfer.yaml")
        launch, transfer = self.result("launch"), self.result("transfer")
        self.assertEqual((4, 80), (launch["cases"], launch["kernels"]))
        self.assertEqual((6, 6), (transfer["cases"], transfer["kernels"]))
        for result in (launch, transfer):
            self.assertEqual(([], {}), (result["failures"], result["lost"]))
            self.assertGreater(result["equal"], 100)
        bench = (self.folder / "out/launch/bench.yaml").read_text()
        self.assertIn("kernels: 20", bench)
        self.assertNotIn("hot", bench)
        self.assertIn("| `transfer` | b0 | 6 |", done.stdout)
        # What is there is not measured again.
        done = self.bench("suites/launch.yaml", "suites/transfer.yaml", "--resume", PERFGATE="/nonexistent")
        self.assertIn("| `transfer` | b0 | 6 |", done.stdout)
        (self.folder / "out/transfer/result.json").unlink()
        done = self.bench("suites/transfer.yaml", "--resume")
        self.assertNotIn("run 1 of 1", done.stderr)

    def test_every_suite_is_launched_once_and_cold(self):
        bench_suite = runpy.run_path(str(PROGRAM))["bench_suite"]
        for suite in sorted((tool.SOURCE / "suites").glob("*.yaml")):
            text = bench_suite(suite, {}, self.folder)[0].read_text()
            for word in ("deterministic", "cache: hot", "kernels: 1000"):
                self.assertNotIn(word, text, suite.name)
            self.run_tool("validate", "bench.yaml")

    def test_a_difference_is_found(self):
        done = self.bench(*ONE_CASE, "--no-again", code=1, LIE="smsp__inst_executed.sum")
        self.assertNotIn("measured again", done.stdout)
        self.assertIn("instructions: perfgate", done.stdout)
        self.assertIn("measured again", self.bench(*ONE_CASE, code=1, LIE="smsp__inst_executed.sum").stdout)

    def test_copied_bytes_have_no_leeway_for_what_a_flush_leaves(self):
        done = self.bench(*ONE_CASE, "--no-again", code=1, LIE="smsp__sass_data_bytes_mem_global_op_ldgsts.sum")
        self.assertIn("async_copy_bytes: perfgate", done.stdout)

    def test_what_an_earlier_comparison_measured_again_is_not_taken_for_fresh(self):
        self.bench(*ONE_CASE, code=1, LIE="smsp__inst_executed.sum")
        self.assertTrue((self.folder / "out/transfer/again0").exists())
        self.bench(*ONE_CASE, "--no-again", code=1, LIE="smsp__sass_data_bytes_mem_global_op_ldgsts.sum")
        self.assertFalse((self.folder / "out/transfer/again0").exists())

    def test_other_values_are_measured_again_afresh(self):
        self.bench(*ONE_CASE, code=1, LIE="smsp__inst_executed.sum")
        out = self.folder / "out/transfer"
        (out / "result.json").unlink()
        for path in out.glob("run0*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = self.bench(*ONE_CASE, "--resume", code=1, LIE="smsp__sass_data_bytes_mem_global_op_ldgsts.sum")
        self.assertIn("ncu, run 3 of 3", done.stderr)
        self.assertNotIn("absent", done.stdout)
        self.assertEqual(["async_copy_bytes"], [text.split(": ")[1] for text in self.result("transfer")["failures"]])

    def test_results_of_an_unknown_board_are_not_resumed(self):
        self.bench(*ONE_CASE)
        (self.folder / "out/transfer/result.json").unlink()
        (self.folder / "out/transfer/environment.json").unlink()
        done = self.bench(*ONE_CASE, "--resume", code=1)
        self.assertIn("does not say on which board it was measured", done.stdout)

    def test_what_was_not_measured_again_is_when_resumed_on_the_same_board(self):
        lie = {"LIE": "smsp__inst_executed.sum"}
        self.bench(*ONE_CASE, "--no-again", code=1, **lie)
        kept = self.bench(*ONE_CASE, "--no-again", "--resume", code=1, PERFGATE="/nonexistent")
        self.assertIn("from ", kept.stderr)
        other = self.bench(*ONE_CASE, "--resume", code=1, BOARD="b1", **lie)
        self.assertIn("is of board b0, and this is b1", other.stdout)
        again = self.bench(*ONE_CASE, "--resume", code=1, **lie)
        self.assertIn("measured again", again.stdout)
        self.assertNotIn("run 1 of 1", again.stderr)
        self.assertTrue(self.result("transfer")["measured_again"])
        self.assertIn("from ", self.bench(*ONE_CASE, "--resume", code=1, PERFGATE="/nonexistent").stderr)

    def test_ncu_measures_again_only_the_counters_of_what_disagreed(self):
        self.bench(*ONE_CASE, code=1, LIE="smsp__inst_executed.sum")

        def counters(log):
            header = (self.folder / f"out/transfer/{log}.ncu.csv").read_text().splitlines()[1]
            return {name.strip('"') for name in header.split(",")} - {"ID", "Kernel Name"}

        self.assertIn("smsp__inst_executed.sum", counters("again0"))
        self.assertLess(counters("again0"), counters("run0"))
        self.assertNotIn("smsp__sass_data_bytes_mem_global_op_ld.sum", counters("again0"))

    def test_what_a_large_memset_leaves_in_the_cache_is_not_compared(self):
        def compare(lie, copied, code):
            words = ("suites/transpose.yaml", "--no-again", "--filter", "transpose/naive*")
            return self.bench(*words, code=code, LIE=lie, COPIED=copied).stdout

        hits, instructions = "lts__t_sectors_lookup_hit.sum", "smsp__inst_executed.sum"
        self.assertIn("l2_hit_rate: perfgate", compare(hits, "4096", 1))
        self.assertNotIn("l2_hit_rate: perfgate", compare(hits, "36000000", 0))
        self.assertIn("instructions: perfgate", compare(instructions, "36000000", 1))

    def test_a_lost_case_costs_itself_only(self):
        self.bench("suites/transfer.yaml", code=1, LOSE="1")
        result = self.result("transfer")
        self.assertEqual((5, []), (result["cases"], result["failures"]))
        self.assertEqual(["the driver said no"], list(result["lost"].values()))

    def test_a_suite_that_fails_costs_itself_only(self):
        self.write("broken.yaml", "name: broken\nworkloads: []\n")
        done = self.bench(self.folder / "broken.yaml", "suites/transfer.yaml", code=1)
        self.assertIn("| `broken` | not compared: perfgate list", done.stdout)
        self.assertEqual(6, self.result("transfer")["cases"])


if __name__ == "__main__":
    tool.main()
