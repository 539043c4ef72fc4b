# SPDX-License-Identifier: Apache-2.0
"""tests/bench/beside_scripts.py: verdicts beside those of the benchmarks' own scripts, on recorded results."""

import copy
import json
import pathlib
import subprocess
import sys

import tool

TABLE = tool.SOURCE / "tests/bench/beside_scripts.py"
RESULTS = tool.SOURCE / "tests/data/benchmarks"
COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")  # libbenchmark-tools

# What Google's script writes of two cases, and of means, which have no test.
COMPARES = """
import json, sys
report = [{"name": "a", "utest": {"time_pvalue": 0.01}}, {"name": "b", "utest": {"time_pvalue": 0.4}},
          {"name": "a_mean", "utest": {}}]
json.dump(report, open(sys.argv[sys.argv.index("--dump_to_json") + 1], "w"))
"""

# What nvbench's scripts print.
SUMMARY = """
print('''| I32 | SLOW |
# Summary

- Total Matches: 18
  - Pass    (diff <= min_noise): 15
  - Unknown (infinite noise):    0
  - Failure (diff > min_noise):  3''')
raise SystemExit(3)
"""


class BesideScripts(tool.Case):
    def table(self, *words, code=0):
        done = subprocess.run([sys.executable, TABLE, "--perfgate", tool.PERFGATE, *map(str, words)],
                              capture_output=True, text=True)
        self.assertEqual(code, done.returncode, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def sides(self, processes=1):
        """Folders with Google Benchmark's results of that many processes, of twice as many in `same` and, with times twice as
        long, in `slow`."""
        results = json.loads((RESULTS / "google-benchmark.json").read_text())
        results["benchmarks"] = [row for row in results["benchmarks"] if not row.get("error_occurred")]

        def give(side, number, factor=1):
            given = copy.deepcopy(results)
            for row in given["benchmarks"]:
                row["real_time"] *= factor * (1 + 0.0001 * number)  # no two processes are the same
            self.write(f"{side}/{number}.json", json.dumps(given))

        for number in range(processes):
            give("base", number)
        for number in range(2 * processes):
            give("same", number + 0.5)
            give("slow", number, 2)
        return (self.folder / side for side in ("base", "same", "slow"))

    def test_one_row_for_each_pair_of_folders(self):
        base, same, slow = self.sides(9)
        script = self.write("compare.py", COMPARES)
        lines = self.table("--script", script, "--processes", 9, "--row", "no", base, same, "--row", "twice", base,
                           slow).splitlines()
        self.assertEqual("| changed | `perfgate compare` | `compare.py` |", lines[0])
        self.assertRegex(lines[2], r"^\| no \| [^|]*; exit 0 \(2 comparisons\) \| 9 flagged, 9 not flagged; exit 0 \(9 ")
        self.assertNotIn("regressed", lines[2])
        self.assertRegex(lines[3], r"^\| twice \| .*\d+ regressed; exit 1 \(2 comparisons\)")

    def test_what_nvbench_s_scripts_say(self):
        (self.folder / "base").mkdir()
        self.write("base/1.json", (RESULTS / "nvbench-medians.json").read_text())
        for name in ("nvbench_compare.py", "nvbench_compare_robust.py"):
            script = self.write(name, SUMMARY)
            line = self.table("--script", script, "--row", "no", self.folder / "base",
                              self.folder / "base").splitlines()[2]
            self.assertRegex(line, r"\| 3 failure, 15 pass; exit 3 \(1 comparison\) \|$")

    def test_what_a_script_says_when_it_fails(self):
        base, _, _ = self.sides()
        for name in ("compare.py", "nvbench_compare.py"):
            script = self.write(name, "raise SystemExit('no tabulate')\n")
            self.assertIn("no tabulate", self.table("--script", script, "--row", "no", base, base, code=1))
        self.assertIn("unknown script", self.table("--script", "other.py", "--row", "no", base, base, code=2))
        self.assertIn("no results in", self.table("--script", script, "--row", "no", base, self.folder / "none", code=1))

    def test_google_s_own_script(self):
        if not COMPARE.exists() or subprocess.run(["/usr/bin/python3", "-c", "import scipy"],
                                                  capture_output=True).returncode:
            self.skipTest("libbenchmark-tools or scipy is missing")
        base, _, slow = self.sides()
        line = self.table("--python", "/usr/bin/python3", "--script", COMPARE, "--row", "twice", base,
                          slow).splitlines()[2]
        self.assertRegex(line, r"\d+ (not )?flagged; exit 0 \(1 comparison\) \|$")


if __name__ == "__main__":
    tool.main()
