# SPDX-License-Identifier: Apache-2.0
"""Many writers of one baseline at once: nothing that was accepted is lost.

    test_writers.py                # a bounded run, as CI does it
    test_writers.py --pairs 200    # a long one, by hand
"""

import argparse
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import time

import adversary
import tool

DEVICE = "nvidia-h100-80gb-hbm3"
RUN = tool.SOURCE / f"tests/data/aa/{DEVICE}/gemm-1.run.json"
PAIRS = 8
CASES = 4


def scale(case, factor):
    """The times as they would be if the kernel had taken so much longer, in every process."""
    series = case["metrics"]["gpu_time"]
    series["value"] *= factor
    for batch in series["batches"]:
        batch["samples"] = [sample * factor for sample in batch["samples"]]


class Writers(tool.Case):
    """A few cases of a recorded run are the baseline; what is accepted is 8 % slower."""

    def setUp(self):
        super().setUp()
        self.document = adversary.few_cases(RUN, CASES)
        self.ids = [case["id"] for case in self.document["suites"][0]["cases"]]
        self.store("base.json", 1)
        self.store("slower.json", 1.08)
        self.run_tool("baseline", "refresh", "base.json", "--reason", "first")
        shutil.copytree(self.folder / "baselines", self.folder / "kept")
        self.path = self.folder / f"baselines/{DEVICE}/gemm.json"

    def store(self, name, factor):
        document = copy.deepcopy(self.document)
        for case in document["suites"][0]["cases"]:
            scale(case, factor)
        self.write(name, json.dumps(document))

    def again(self):
        shutil.rmtree(self.folder / "baselines")
        shutil.copytree(self.folder / "kept", self.folder / "baselines")

    def entries(self):
        lines = self.path.with_suffix(".ledger.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines[1:]]

    def value(self, case):
        return json.loads(self.path.read_text())["cases"][case]["metrics"]["gpu_time"]["value"]

    def start(self, *words):
        return subprocess.Popen([tool.PERFGATE, "baseline", *map(str, words)], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ})

    def accept(self, case):
        # Ids hold brackets, which a glob takes as they are.
        return self.start("accept", "slower.json", "--filter", case, "--reason", f"of {case}")

    def finish(self, writers):
        for writer in writers:
            stdout, stderr = writer.communicate(timeout=tool.PATIENCE_S)
            self.assertEqual(0, writer.returncode, stdout + stderr)

    def test_of_two_acceptances_at_once_none_is_lost(self):
        before = {case: self.value(case) for case in self.ids}
        for pair in range(PAIRS):
            self.again()
            chosen = [self.ids[pair % CASES], self.ids[(pair + 1) % CASES]]
            self.finish([self.accept(case) for case in chosen])
            self.assertCountEqual(chosen, [entry["case"] for entry in self.entries()[1:]])
            for case in chosen:
                self.assertGreater(self.value(case), before[case] * 1.07)
            self.run_tool("baseline", "verify")

    def test_of_many_refreshes_at_once_each_has_its_line(self):
        count = max(8, PAIRS // 4)
        for number in range(count):
            self.store(f"run-{number}.json", 1 + (number + 1) * 1e-4)
        self.finish([self.start("refresh", f"run-{number}.json", "--reason", f"run {number}")
                     for number in range(count)])
        self.assertCountEqual(["first", *(f"run {number}" for number in range(count))],
                              [entry["reason"] for entry in self.entries()])
        self.run_tool("baseline", "verify")

    def test_pruning_and_accepting_at_once_lose_nothing(self):
        self.write("gemm.yaml", "name: gemm\ndefaults: {metrics: [gpu_time], "
                   "tolerances: {gpu_time: 3%}}\nworkloads:\n  - workload: gemm\n"
                   "    variants: [cublas]\n    params: {dtype: bf16, m: 1000, n: 1000, k: 1000}\n")
        for _ in range(max(2, PAIRS // 4)):
            self.again()
            acceptance = self.accept(self.ids[0])
            self.finish([self.start("prune", "gemm.yaml", "--reason", "gone")])
            stdout, stderr = acceptance.communicate(timeout=tool.PATIENCE_S)
            self.assertIn(acceptance.returncode, (0, 2), stdout + stderr)
            self.run_tool("baseline", "verify")
            removed = {entry["case"] for entry in self.entries() if entry["action"] == "prune"}
            self.assertLessEqual(set(self.ids[1:]), removed)

    def test_a_writer_that_is_killed_leaves_no_lock_and_can_be_repeated(self):
        start = time.monotonic()
        self.finish([self.accept(self.ids[0])])
        usual_s = time.monotonic() - start
        seed = random.randrange(2**32)
        moments = random.Random(seed)
        for _ in range(PAIRS):
            self.again()
            writer = self.accept(self.ids[0])
            time.sleep(moments.uniform(0, usual_s))
            writer.kill()
            writer.communicate()
            with self.subTest(seed=seed):
                self.finish([self.accept(self.ids[0])])
                self.run_tool("baseline", "verify")
                self.assertTrue(any(entry.get("case") == self.ids[0] for entry in self.entries()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    arguments, sys.argv[1:] = parser.parse_known_args()
    PAIRS = arguments.pairs
    tool.main()
