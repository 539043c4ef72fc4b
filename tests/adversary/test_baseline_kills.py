# SPDX-License-Identifier: Apache-2.0
"""Commands that change baselines, and merge, ended at any moment or on a full disk.

    test_baseline_kills.py         # a bounded run, as CI does it
    test_baseline_kills.py 300     # a long one

Half of the kills wait until the command writes. Whatever is hit, and when: the next command that holds the lock
recovers, baseline and ledger are both old or both new, and no temporary file is left.
"""

import collections
import copy
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import adversary
import tool

DEVICE = "nvidia-h100-80gb-hbm3"
RUN = tool.SOURCE / f"tests/data/aa/{DEVICE}/gemm-1.run.json"
KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 24
CASES = 6
STAGING = ".perfgate-change"


def scale(case, factor):
    series = case["metrics"]["gpu_time"]
    series["value"] *= factor
    for batch in series["batches"]:
        batch["samples"] = [sample * factor for sample in batch["samples"]]


def suite_with(case):
    """A suite that has only this case."""
    params = ", ".join(f"{name}: {value}" for name, value in case["params"].items())
    return ("name: gemm\ndefaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}\nworkloads:\n"
            f"  - workload: gemm\n    variants: [{case['variant']}]\n    params: {{{params}}}\n"
            f"    cache: {case.get('cache', 'cold')}\n")


class BaselineKills(tool.Case):
    def setUp(self):
        super().setUp()
        self.seed = random.randrange(2**32)
        self.random = random.Random(self.seed)
        self.document = adversary.few_cases(RUN, CASES)
        self.stays = self.document["suites"][0]["cases"][0]["id"]
        self.write("base.json", json.dumps(self.document))
        slower = copy.deepcopy(self.document)
        for case in slower["suites"][0]["cases"][1:]:
            scale(case, 1.08)
        self.write("slower.json", json.dumps(slower))
        self.write("one.yaml", suite_with(self.document["suites"][0]["cases"][0]))
        self.run_tool("baseline", "refresh", "base.json", "--reason", "first")
        shutil.copytree(self.folder / "baselines", self.folder / "kept")

    def again(self):
        shutil.rmtree(self.folder / "baselines", ignore_errors=True)
        shutil.copytree(self.folder / "kept", self.folder / "baselines")

    def state(self):
        """The content of every file, but for the times in the ledger."""
        found = {}
        for path in sorted((self.folder / "baselines").rglob("*")):
            if path.is_file() or path.is_symlink():
                text = path.read_text()
                name = str(path.relative_to(self.folder / "baselines"))
                found[name] = re.sub(r'"at":"[^"]*"', "", text) if "ledger" in name else text
        return found

    def start(self, words, **how):
        return subprocess.Popen([tool.PERFGATE, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, env={**os.environ}, **how)

    def wait_until_it_writes(self, running, is_writing):
        while running.poll() is None and not is_writing():
            pass
        time.sleep(self.random.uniform(0, 0.01))

    def hit(self, words, usual_s, is_writing):
        """Ends the command at a random moment or lets it find a full disk; says how."""
        if self.random.random() < 0.2:
            most = int(2 ** self.random.uniform(6, 17))
            full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            running = self.start(words, preexec_fn=full)
            running.communicate(timeout=tool.PATIENCE_S)
            self.assertIn(running.returncode, (0, 3), words)
            return "full disk" if running.returncode else "room enough"
        running = self.start(words)
        if self.random.random() < 0.5:
            self.wait_until_it_writes(running, is_writing)
        else:
            time.sleep(self.random.uniform(0, usual_s))
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=tool.PATIENCE_S)
        return "killed" if running.returncode else "too late"

    def recover(self):
        """What verify says in between, and what the next command with the lock does."""
        left = (self.folder / "baselines" / STAGING).exists()
        done = self.run_tool("baseline", "verify", code=2 if left else 0)
        if left:
            self.assertIn(STAGING, done.stderr)
        # It has nothing to accept, and holds the lock.
        done = self.run_tool("baseline", "accept", "slower.json", "--filter", self.stays, "--reason", "no")
        self.assertIn("0 accepted", done.stdout)
        self.assertEqual(left, "interrupted" in done.stderr, done.stderr)
        self.run_tool("baseline", "verify")
        return left

    def campaign(self, words, kills):
        self.again()
        old = self.state()
        start = time.monotonic()
        self.run_tool(*words)
        usual_s = time.monotonic() - start
        new = self.state()
        self.assertNotEqual(old, new)
        staging = self.folder / "baselines" / STAGING
        figures = collections.Counter()
        for number in range(kills):
            with self.subTest(words=words, number=number, seed=self.seed):
                self.again()
                how = self.hit(words, usual_s, staging.exists)
                how += ", recovered" if self.recover() else ""
                state = self.state()
                self.assertIn(state, (old, new))
                figures[f"{how}: {'old' if state == old else 'new'} state"] += 1
        for what, count in sorted(figures.items()):
            print(f"{count:5}  {words[1]} {what}", file=sys.stderr)
        return kills

    def test_kills(self):
        each = max(4, KILLS // 4)
        self.campaign(["baseline", "accept", "slower.json", "--reason", "meant"], each)
        self.campaign(["baseline", "refresh", "slower.json", "--reason", "meant"], each)
        self.campaign(["baseline", "prune", "one.yaml", "--reason", "meant"], each)
        self.merges(each)
        print(f"{4 * each} kills, seed {self.seed}", file=sys.stderr)

    def merges(self, kills):
        """merge writes run.json and reports, each as a whole."""
        whole = self.document["suites"][0]
        ids = [case["id"] for case in whole["cases"]]
        for index in (1, 2):
            shard = copy.deepcopy(self.document)
            suite = shard["suites"][0]
            suite["cases"] = suite["cases"][index - 1::2]
            suite["partial"] = True
            shard["shard"] = {"index": index, "count": 2, "whole": [
                {"name": whole["name"], "cases": ids}]}
            self.write(f"shard-{index}.json", json.dumps(shard))
        words = ["compare", "shard-1.json", "shard-2.json", "--out", "out"]
        out = self.folder / "out"
        self.again()
        start = time.monotonic()
        self.run_tool(*words, code=(0, 1, 3, 4))
        usual_s = time.monotonic() - start
        names = sorted(path.name for path in out.iterdir())
        new = (out / "run.json").read_text()
        for _ in range(kills):
            shutil.rmtree(out)
            running = self.start(words)
            if self.random.random() < 0.5:
                self.wait_until_it_writes(running, lambda: out.exists() and any(out.iterdir()))
            else:
                time.sleep(self.random.uniform(0, usual_s))
            running.kill()
            running.communicate(timeout=tool.PATIENCE_S)
            with self.subTest(seed=self.seed):
                if (out / "run.json").exists():
                    self.assertEqual(new, (out / "run.json").read_text())
                self.run_tool(*words, code=(0, 1, 3, 4))
                self.assertEqual(names, sorted(path.name for path in out.iterdir()))
                self.assertEqual(new, (out / "run.json").read_text())


if __name__ == "__main__":
    tool.main()
