# SPDX-License-Identifier: Apache-2.0
"""What the mean of a time leaves out: slow samples, slow processes. A benchmark reports given times: nothing here
measures any."""

import json
import stat

import tool

# A first start shows which cases there are. The nth process after it is of the speed that SPEEDS says ("1,1,2": the
# third twice as slow; the last one goes on), and of its N samples every STALL-th takes ten times as long.
BENCH = """#!/usr/bin/env python3
import json, os, sys
with open("started", "a") as mark:
    mark.write("x")
count = os.path.getsize("started")
speeds = [float(speed) for speed in os.environ.get("SPEEDS", "1").split(",")]
speed = speeds[max(min(count - 1, len(speeds)), 1) - 1] * (1 + 0.001 * (count % 7) + 1e-6 * count)
stall, n = int(os.environ.get("STALL", "0")), int(os.environ.get("N", "30"))
times = [1e-3 * speed * (1 + 0.002 * (i * 5 % 7)) * (10 if stall and i % stall == 0 else 1) for i in range(n)]
json.dump({"results": [{"name": "a", "times": times}]}, open(sys.argv[1], "w"))
"""

SUITE = """
name: fake
workloads:
  - benchmark: [./bench, "{out}"]
    name: bench
    format: json
    rows: /results/*
    case: /name
    values:
      real_time: {from: "/times/*", unit: s}
    tolerances: {real_time: TOLERANCE}
"""

HOST = ["--backend", "host"]
STRICT = ["--set", "not_shown=fail"]


class Fake(tool.Case):
    def setUp(self):
        super().setUp()
        self.suite()
        path = self.write("bench", BENCH)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def suite(self, tolerance="5%"):
        self.write("suite.yaml", SUITE.replace("TOLERANCE", tolerance))

    def refresh(self, *words):
        self.forget_starts()
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, *words)

    def forget_starts(self):
        (self.folder / "started").unlink(missing_ok=True)

    def measure(self, *words, code=0, **env):
        """Returns the time's verdict and how many processes measured it."""
        self.forget_starts()
        self.run_tool(*(words if words[:1] == ("ab",) else ("run", "suite.yaml", *words)), *HOST, code=code, env=env)
        case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
        verdict = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
        return verdict["metrics"][0], len(case["metrics"]["real_time"]["batches"])


class Tails(Fake):
    def test_a_tenth_of_the_samples_ten_times_slower_is_no_pass(self):
        self.refresh()
        for env in ({"STALL": "10"}, {"STALL": "10", "N": "400"}):
            with self.subTest(env):
                time, _ = self.measure(*STRICT, code=4, **env)
                self.assertEqual(("inconclusive", "slow_tail"), (time["verdict"], time["reason_code"]))
                self.assertLess(abs(time["change"]), 0.01)
                self.assertGreater(time["tail"]["measured"], 9 * time["tail"]["baseline"])
                self.assertAlmostEqual(0.1, time["tail"]["beyond"], 2)
                self.assertEqual("N" in env, "p99" in time["tail"])
                self.assertIn("slowest tenth", time["sentence"])
        # Otherwise it is said, with its figure.
        self.measure(STALL="10")
        done = self.run_tool("compare", "perfgate-out/run.json")
        self.assertIn("slowest tenth 1.0", done.stdout)

    def test_unchanged_samples_pass(self):
        self.refresh()
        for env in ({}, {"N": "400"}):
            with self.subTest(env):
                time, processes = self.measure(*STRICT, **env)
                self.assertEqual(("pass", 3), (time["verdict"], processes))
                self.assertLess(time["tail"]["beyond"], 0.001)

    def test_the_suite_says_how_much_slower_a_tail_may_be(self):
        self.suite("{worse: 5%, tail: 1000%}")
        self.refresh()
        time, _ = self.measure(*STRICT, STALL="10")
        self.assertEqual((10, "pass"), (time["tail"]["tolerance"], time["verdict"]))
        self.suite("{worse: 5%, tail: 20%, severity: warn}")
        time, _ = self.measure(*STRICT, STALL="10")
        self.assertEqual("slow_tail", time["reason_code"])

    def test_results_of_two_commits_are_compared_by_their_tails(self):
        def results(name, times):
            self.write(name, json.dumps({"results": [{"command": "a", "times": times, "exit_codes": [0] * len(times)}]}))
            return name

        base = [results(f"base{i}.json", [0.01 * (1 + 1e-3 * (j % 5) + 1e-5 * i) for j in range(20)]) for i in range(20)]
        slow = [results(f"slow{i}.json", [0.01 * (20 if j < 2 else 1 + 1e-3 * (j % 5) + 1e-5 * i) for j in range(20)])
                for i in range(20)]
        mode = [results(f"mode{i}.json", [0.01 * (20 if i < 4 else 1) * (1 + 1e-3 * (j % 5) + 1e-5 * i) for j in range(20)])
                for i in range(20)]
        for head, reason in ((slow, "slow_tail"), (mode, "slow_processes")):
            with self.subTest(reason):
                self.run_tool("compare", "--base", *base, "--head", *head, *STRICT, "--out", "perfgate-out", code=4)
                case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
                self.assertEqual(reason, case["reason_code"])
                done = self.run_tool("compare", "--base", *base, "--head", *head)
                self.assertIn("inconclusive", done.stdout)


class SlowProcesses(Fake):
    def test_no_run_that_contains_one_is_shown(self):
        self.refresh()
        for speeds, measured in (("2,1", 13), ("1,1,2,1", 13), ("1,2,1,1,1,1,1,1,1,2,1", 13)):
            with self.subTest(speeds):
                time, processes = self.measure(*STRICT, code=4, SPEEDS=speeds)
                self.assertEqual("slow_processes", time["reason_code"])
                self.assertEqual(measured, processes)
                self.assertIn("slower than each of the baseline's", time["sentence"])
        time, _ = self.measure(*STRICT, "--processes", 20, code=4, SPEEDS="1,2,1,1,2,1,2,1,1,2,1")
        self.assertEqual("slow_processes", time["reason_code"])

    def test_a_baseline_with_the_mode_allows_it(self):
        self.forget_starts()
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, env={"SPEEDS": "1,1,2,1"})
        time, _ = self.measure(*STRICT, SPEEDS="1,2,1")
        self.assertEqual("pass", time["verdict"])


class Starts(Fake):
    def test_half_as_slow_again_is_decided_by_the_first_look(self):
        self.refresh("--processes", 20)
        self.assertEqual(("regressed", 5), self.decided("1.5"))
        self.assertEqual(("regressed", 5), self.decided("1.06"))
        # One that is near the tolerance is measured again.
        self.assertGreater(self.decided("1.051", code=(0, 1))[1], 5)

    def test_against_the_few_processes_of_a_first_baseline_the_first_look_takes_as_many_as_decide(self):
        self.refresh()
        self.assertEqual(("regressed", 6), self.decided("1.5"))

    def decided(self, speed, code=1):
        time, processes = self.measure(code=code, SPEEDS=speed)
        return time["verdict"], processes

    def test_equal_builds_are_shown_by_the_usual_pairs(self):
        time, processes = self.measure("ab", "suite.yaml", "--base", "env:A=1", "--head", "env:A=2", *STRICT)
        self.assertEqual(("pass", 6), (time["verdict"], processes))
        self.assertIn("interval", time)

    def test_a_round_of_pairs_decides(self):
        for words, measured in (((), 6 + 13), (("--processes", 4), 4 + 13)):
            with self.subTest(words):
                self.assertEqual(("regressed", measured), self.pairs(*words, "--head", "env:SPEEDS=8", code=1))

    def pairs(self, *words, code):
        time, processes = self.measure("ab", "suite.yaml", "--base", "env:SPEEDS=1", *words, code=code)
        return time["verdict"], processes


if __name__ == "__main__":
    tool.main()
