# SPDX-License-Identifier: Apache-2.0
"""`deterministic: true` on the host: a launch is repeated and its outputs are compared bit for bit."""

import json

import tool

SUITE = """
name: repeats
defaults: {metrics: [host_time], tolerances: {host_time: 10000%%}, time_budget: 1ms, cache: hot%(defaults)s}
workloads:
  - workload: repeats
    variants: [%(variants)s]
%(more)s"""

DETERMINISTIC = ", deterministic: true"


class Deterministic(tool.Case):
    clock = "stated"

    def write_suite(self, variants, defaults=DETERMINISTIC, more=""):
        self.write("repeats.yaml", SUITE % {"variants": ", ".join(variants), "defaults": defaults, "more": more})

    def measure(self, *variants, code, words=(), **suite):
        """The cases by variant."""
        self.write_suite(variants, **suite)
        self.done = self.run_tool("run", "repeats.yaml", "--backend", "host", *self.plugin("repeats"), "--processes", 2,
                                  "--verbose", *words, code=code)
        case_list = self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
        self.assertEqual(list(variants), [case["variant"] for case in case_list])
        return {case["variant"]: case for case in case_list}

    def verdicts(self):
        cases = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]
        return [case["verdict"] for case in cases]

    def test_equal_outputs_pass_and_the_run_says_what_was_compared(self):
        good = ("same", "in_place", "moves")
        for case in self.measure(*good, code=0).values():
            self.assertEqual("measured", case["status"], case)
            self.assertTrue(case["verification"]["passed"])
            self.assertRegex(case["verification"]["detail"],
                             r"^all 4096 elements compared, .*; "
                             r"equal bit for bit when launched again \(1 output, 16384 bytes\)$")
        self.assertEqual(["no_baseline"] * 3, self.verdicts())

    def test_a_difference_is_incorrect_and_has_no_numbers(self):
        cases = self.measure("counts", "unfinished", "leftovers", "shrinks", "same", code=1)
        again = r"^wrong result \(inputs of seed \d+\): not deterministic: launched again with the same inputs, "
        value = r"0x[0-9a-f]{8} \(-?[0-9.e-]+\)"
        for variant, expected in {
            "counts": rf"output 'y' differs in 1 of 4096 elements \(\d bytes?\): element 3 was {value}, is {value}$",
            "unfinished": r"output 'y' differs in 1024 of 4096 elements \(4096 bytes\): element 3072 was "
                          r"0xffffffff \(-?nan\), is 0x55555555 .*, as before the launch: it may not write it$",
            "leftovers": r"output 'y' differs in 4096 of 4096 elements \(\d+ bytes\): element 0 .*may not write it$",
            "shrinks": r"output 'y' has 16376 bytes in elements of 4, before 16380 in elements of 4$",
        }.items():
            case = cases[variant]
            self.assertEqual("incorrect", case["status"], case)
            self.assertRegex(case["reason"], again + expected)
            self.assertFalse(case["verification"]["passed"])
            self.assertFalse(case.get("metrics"))
        self.assertEqual("measured", cases["same"]["status"])
        self.assertEqual(["incorrect"] * 4 + ["no_baseline"], self.verdicts())
        self.assertIn("not deterministic", self.done.stdout)

    def test_without_the_key_the_same_cases_pass(self):
        for case in self.measure("counts", "unfinished", "leftovers", "unnamed", defaults="", code=0).values():
            self.assertEqual("measured", case["status"], case)
            self.assertNotIn("bit for bit", case["verification"]["detail"])

    def test_a_case_that_names_no_outputs_is_an_error(self):
        cases = self.measure("unnamed", "wrong_and_unnamed", code=1)
        self.assertEqual("error", cases["unnamed"]["status"])
        self.assertIn("'deterministic: true' compares outputs, and this case names none", cases["unnamed"]["reason"])
        self.assertEqual("incorrect", cases["wrong_and_unnamed"]["status"])
        self.measure("unnamed", code=3)
        self.assertEqual(["error"], self.verdicts())

    def test_what_a_plugin_names_is_not_trusted(self):
        reasons = {"throws": "outputs: no idea", "nowhere": "is at no address", "empty": "has no bytes",
                   "beyond": "reaches beyond the address space", "huge": "more than this machine can keep a copy of",
                   "divided": "of 64 bytes cannot have elements of 7 bytes", "many": "names more than 256 outputs",
                   "unmapped": "signal 11"}
        cases = self.measure(*reasons, "same", code=3)
        for variant, reason in reasons.items():
            self.assertEqual("error", cases[variant]["status"], cases[variant])
            self.assertIn(reason, cases[variant]["reason"])
            self.assertNotIn("\033", cases[variant]["reason"])
        self.assertEqual("measured", cases["same"]["status"])

    def test_entries_and_overrides_decide_and_verify_only_compares_too(self):
        off = "    deterministic: false\n"
        self.assertEqual("measured", self.measure("counts", more=off, code=0)["counts"]["status"])
        over = "overrides:\n  - {match: '*/counts*', deterministic: true}\n"
        cases = self.measure("counts", "unfinished", defaults="", more=over, code=1)
        self.assertEqual(["incorrect", "measured"], [case["status"] for case in cases.values()])
        cases = self.measure("counts", "unfinished", defaults="", more=over, words=["--verify-only"], code=1)
        self.assertEqual(["incorrect", "measured"], [case["status"] for case in cases.values()])
        listed = self.run_tool("list", "repeats.yaml", *self.plugin("repeats"), "--report", "json:-").stdout
        self.assertEqual([True, None], [case.get("deterministic") for case in json.loads(listed)["suites"][0]["cases"]])

    def test_a_run_that_compared_is_not_resumed_without(self):
        self.measure("same", code=0)
        self.write_suite(["same"], defaults="")
        done = self.run_tool("run", "repeats.yaml", "--backend", "host", *self.plugin("repeats"), "--processes", 2,
                             "--resume", "perfgate-out", code=2)
        self.assertIn("deterministic", done.stderr)

    def test_a_program_has_no_outputs_that_could_be_compared(self):
        self.write("program.yaml", "name: p\nworkloads:\n  - command: ['true']\n    name: app\n"
                                   "    metrics: [wall_time]\n    tolerances: {wall_time: 50%}\n    deterministic: true\n")
        self.assertIn("unknown key 'deterministic'", self.run_tool("validate", "program.yaml", code=2).stderr)
        self.write("program.yaml", "name: p\nworkloads:\n  - command: ['true']\n    name: app\n"
                                   "    tolerances: {program.wall_time: 50%}\n"
                                   "overrides:\n  - {match: '*', deterministic: true}\n")
        self.assertIn("whose outputs perfgate does not know", self.run_tool("validate", "program.yaml", code=2).stderr)


if __name__ == "__main__":
    tool.main()
