# SPDX-License-Identifier: Apache-2.0
"""`run --set canary=true` on the host backend: a slowdown that the gate must find, and one that it cannot."""

import re

import tool

SUITE = """
name: fault
defaults: {metrics: [host_time], tolerances: {host_time: 100%}, time_budget: 20ms, cache: hot}
workloads:
  - workload: fault
    variants: [VARIANT]
"""


class Canary(tool.Case):
    clock = "stated"

    def run_suite(self, variant, *words, code=0, processes=4):
        self.write("fault.yaml", SUITE.replace("VARIANT", variant))
        return self.run_tool("run", "fault.yaml", "--backend", "host", *self.plugin("fault"),
                             "--processes", processes, *words, code=code,
                             env={"FAULT_PROCESSES": str(self.folder / "processes")})

    def test_a_gate_that_finds_it_passes(self):
        self.write("ci.yaml", "canary: true")
        done = self.run_suite("ok", "--config", "ci.yaml")
        # At least twice the tolerance of 100 %.
        claim = re.search(r"canary: fault/ok@hot, made at least (\S+) % slower \(twice what the gate "
                          "claims to detect\), is reported as regressed, as it should be",
                          done.stderr)
        self.assertIsNotNone(claim, done.stderr)
        self.assertGreaterEqual(float(claim[1]), 200)
        self.run_tool("report", "perfgate-out/canary/run.json")

    def test_a_gate_that_does_not_find_it_cannot_be_believed(self):
        # Of two processes no test tells anything, however many the canary has.
        done = self.run_suite("ok", "--set", "canary=true", processes=2, code=3)
        self.assertIn("so few processes that the gate cannot fail", done.stderr)

    def test_without_a_time_there_is_none(self):
        done = self.run_suite("ok", "--set", "canary=true", "--verify-only")
        self.assertNotIn("canary", done.stderr)


if __name__ == "__main__":
    tool.main()
