# SPDX-License-Identifier: Apache-2.0
"""The self-test on the host backend: work of known size is found, none is not."""

import tool

SUITE = """
name: fault
defaults: {metrics: [host_time], tolerances: {host_time: 50%}, time_budget: 20ms, cache: hot}
workloads:
  - workload: fault
    variants: [ok]
    matrix: {item: [0, 1, 2]}
"""


class SelfTest(tool.Case):
    clock = "stated"

    def selftest(self, *words, code=0, suite=SUITE):
        self.write("fault.yaml", suite)
        return self.run_tool("selftest", "fault.yaml", "--backend", "host", *self.plugin("fault"),
                             "--processes", 4, *words, code=code)

    def test_what_is_added_is_found(self):
        done = self.selftest("--sizes", "0,1000", "--tolerance", "100", "--seed", 1,
                             "--report", "selftest.json")
        self.assertRegex(done.stdout, r"nine of ten or more were found: with 95 % confidence the gate finds at least \d+ %")
        result = self.read_json("selftest.json")
        self.assertEqual(([], 0), (result["problems"], result["exit_code"]))
        none, much = result["sizes"]
        self.assertEqual((0, 0), (none["regressed"], none["improved"]))
        self.assertEqual(3, much["regressed"])
        self.assertEqual({"0": "pass", "10": "regressed"}, result["cases"][0]["verdicts"])
        for name in ("base", "trial-1", "trial-2"):
            self.run_tool("report", f"perfgate-selftest/{name}/run.json")

    def test_sizes_below_the_claim_prove_nothing(self):
        done = self.selftest("--sizes", "1", "--tolerance", "100", "--report", "selftest.json", code=3)
        self.assertEqual(3, self.read_json("selftest.json")["exit_code"])
        self.assertIn("no slowdown was as large as what the gate claims to detect: nothing was proved; use larger --sizes",
                      done.stdout)
        self.assertNotIn("95 % confidence", done.stdout)

    def test_the_json_can_be_standard_output(self):
        done = self.selftest("--sizes", "0", "--tolerance", "100", "--report", "json:-")
        self.assertTrue(done.stdout.startswith("{"))

    def test_what_could_not_be_measured_is_told(self):
        suite = SUITE.replace("[ok]", "[ok, exits]").replace("[0, 1, 2]", "[0]")
        done = self.selftest("--sizes", "0", "--tolerance", "100", suite=suite, code=3)
        self.assertIn("not judged: 1;", done.stdout)
        self.assertNotIn("detects what it claims", done.stdout)

    def test_bad_input(self):
        self.selftest("--sizes", "0,minus", code=2)
        self.selftest("--filter", "nothing/*", code=2)


if __name__ == "__main__":
    tool.main()
