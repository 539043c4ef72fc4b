# SPDX-License-Identifier: Apache-2.0
"""The recorded pull request of five regressions: what perfgate says of it today, and that it is right."""

import difflib
import os
import re
import shutil
import subprocess
import unittest

import tool

RECORD = tool.SOURCE / "tests/data/pull_request"
DEVICES = sorted(path.parent for path in RECORD.glob("*/head.run.json"))

# What was done to each stage (README.md there), as the first reason should begin.
CAUSES = {
    "tone_curve": "fewer warps fit on an SM: theoretical_occupancy",
    "blend": "narrower loads: sectors_per_request_load",
    "filter_bank": "spills to local memory: spill_sectors",
    "pointwise": "more kernels, and more traffic to memory: launches 1 → 2",
    "row_scan": "more instructions for the same work: instructions",
}
UNCHANGED = {"row_sum", "normalize"}


class PullRequest(tool.Case):
    def explained(self, folder, run):
        """Stage -> its line and its reasons, of `perfgate report --why`."""
        shutil.copytree(folder, self.folder, dirs_exist_ok=True)
        done = self.run_tool("report", run, "--why", "--filter", "*")
        stages, stage = {}, None
        for line in done.stdout.splitlines():
            begins = re.match(r"(\w+)/device\[[^]]*\]: (?!machine code)", line)
            if begins:
                stage = begins.group(1)
                stages[stage] = [line]
            elif line.startswith("    why: "):
                stages[stage].append(line.removeprefix("    why: "))
        return stages

    def test_each_cause_is_named_first(self):
        for folder in DEVICES:
            stages = self.explained(folder, "head.run.json")
            self.assertEqual(set(CAUSES) | UNCHANGED, set(stages))
            for stage, cause in CAUSES.items():
                self.assertIn("regressed", stages[stage][0])
                self.assertTrue(stages[stage][1].startswith(cause), stages[stage])
            for stage in UNCHANGED:
                self.assertTrue(stages[stage][1].startswith("nothing moved"), stages[stage])

    def test_nothing_moved_between_two_runs_of_the_same_code(self):
        for folder in DEVICES:
            for run in ("aa-1.run.json", "aa-2.run.json"):
                for stage in self.explained(folder, run).values():
                    self.assertIn(": pass, ", stage[0])
                    self.assertEqual(2, len(stage), stage)
                    self.assertTrue(stage[1].startswith("nothing moved"), stage)

    def test_a_baseline_of_an_older_version_is_called_that_and_renewed(self):
        for folder in DEVICES:
            shutil.copytree(folder, self.folder, dirs_exist_ok=True)
            baseline, ledger = (self.folder / f"baselines/{folder.name}/camera.{end}" for end in ("json", "ledger.jsonl"))
            for file, version in ((baseline, r'"version": \d'), (ledger, r'"version":\d')):
                file.write_text(re.sub(version, '"version": 1', file.read_text(), count=1))
            ledger.write_text(re.sub(r',"digests":\{[^}]*\}', "", ledger.read_text()))
            said = self.run_tool("baseline", "verify", code=2).stderr
            self.assertIn("camera.json: of an older format version", said)
            self.assertIn("'perfgate baseline refresh'", said)
            self.assertNotIn("by hand", said)
            self.assertNotIn("never accepted", said)
            done = self.run_tool("baseline", "accept", "head.run.json", "--filter", "tone_curve/*", "--reason", "meant")
            self.assertIn("older format version", done.stdout)
            done = self.run_tool("baseline", "accept", "head.run.json", "--filter", "blend/*", "--reason", "meant")
            self.assertNotIn("older format version", done.stdout)

    def test_the_texts_kept_are_what_is_said_today(self):
        for folder in DEVICES:
            done = subprocess.run([RECORD / "tell", folder, self.folder], text=True, timeout=tool.PATIENCE_S,
                                  capture_output=True,
                                  env={**os.environ, "PERFGATE": str(tool.PERFGATE)})
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            for name in ("transcript.txt", "head.md"):
                kept = (folder / name).read_text().splitlines()
                today = (self.folder / name).read_text().splitlines()
                self.assertEqual(kept, today, "\n".join(difflib.unified_diff(
                    kept, today, f"{folder.name}/{name}", "today", lineterm="")) +
                    "\nwhere this is meant: tests/data/pull_request/tell FOLDER")

    def test_there_is_a_record(self):
        self.assertIn("nvidia-h100-80gb-hbm3", [folder.name for folder in DEVICES])


if __name__ == "__main__":
    unittest.main(verbosity=2)
