# SPDX-License-Identifier: Apache-2.0
"""`expect` the whole way on the host backend: judged without a baseline, redone from the stored run,
refused with the place of each mistake."""

import xml.etree.ElementTree as xml

import tool

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 80%}
  time_budget: 10ms
  cache: hot
workloads:
  - workload: probe
    variants: [host]
    matrix: {n: [1000, 2000]}
    params: {iterations: 10}
expect:
"""
HOLDS = '  probe/host.host_time: "> 0ns"\n'
BROKEN = '  probe/host[n=2000].host_time: "< 0.001ns"\n'


class Relations(tool.Case):
    def setUp(self):
        super().setUp()
        self.base = ["--backend", "host", *self.plugin("probe_base")]

    def measure(self, expect, code):
        self.write("probe.yaml", SUITE + expect)
        return self.run_tool("run", "probe.yaml", *self.base, code=code)

    def relations(self):
        return self.read_json("perfgate-out/verdict.json")["suites"][0]["relations"]

    def test_one_that_holds_passes_without_a_baseline(self):
        done = self.measure(HOLDS, code=0)
        self.assertIn("2 relations hold", done.stdout)
        self.assertEqual(["pass", "pass"], [found["verdict"] for found in self.relations()])

    def test_a_broken_one_fails_like_a_regression(self):
        done = self.measure(HOLDS + BROKEN, code=1)
        self.assertRegex(" ".join(done.stdout.split()), r"broken: probe/host\[n=2000\]\.host_time is .* and should be "
                                      r"less than 0\.001 ns")
        suite = xml.parse(self.folder / "perfgate-out/junit.xml").getroot().find("testsuite")
        expect = [case for case in suite.findall("testcase")
                  if case.get("classname") == "probe.expect"]
        self.assertEqual(3, len(expect))
        self.assertEqual("1", suite.get("failures"))

        # The stored run has all that it takes.
        (self.folder / "probe.yaml").unlink()
        self.run_tool("compare", "perfgate-out/run.json", "--report", "again.json", code=1)
        again = self.read_json("again.json")["suites"][0]["relations"]
        self.assertEqual(self.relations(), again)
        self.run_tool("compare", "perfgate-out/run.json", "--filter", "*n=1000*")

    def test_the_first_case_alone_has_no_relation_of_the_second(self):
        self.write("probe.yaml", SUITE + BROKEN)
        self.run_tool("run", "probe.yaml", *self.base, "--filter", "*n=1000*")

    def test_list_and_validate_know_them(self):
        self.write("probe.yaml", SUITE + HOLDS)
        plugin = self.plugin("probe_base")
        self.assertIn("1 relation\n", self.run_tool("validate", "probe.yaml", *plugin).stdout)
        self.assertIn("probe/host.host_time > 0ns  (2 times)",
                      self.run_tool("list", "probe.yaml", *plugin).stdout)

    def test_mistakes_are_named_with_their_place(self):
        self.write("probe.yaml", SUITE + '  probe/host.host_tim: "> 0"\n'
                                         '  probe/host.host_time: "> 0 GB"\n')
        done = self.run_tool("run", "probe.yaml", *self.base, code=2)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(2, len(lines), done.stderr)
        self.assertIn("probe.yaml:14:14: unknown metric 'host_tim'", lines[0])
        self.assertIn("probe.yaml:15:26: compares a time with bytes", lines[1])


if __name__ == "__main__":
    tool.main()
