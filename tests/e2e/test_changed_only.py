# SPDX-License-Identifier: Apache-2.0
"""run --changed-only on the host backend, where a variant's code is its plugin's file and libraries."""

import json
import shutil

import tool

HELPED = """
name: helped
defaults:
  metrics: [host_time]
  tolerances: {host_time: 100%%}
  time_budget: 10ms
  cache: hot
workloads:
  - workload: helped
    variants: [%s]
    params: {ns: 5000000}
"""

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 1000%%}
  time_budget: 10ms
  cache: hot
  seed: %d
workloads:
  - workload: probe
    variants: [host]
    matrix: {n: [1000, 2000]}
"""

# The seed of an entry is an input of its cases: another one changes them, and not the first entry's.
SEEDED = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 1000%%}
  time_budget: 10ms
  cache: hot
workloads:
  - {workload: probe, variants: [host], matrix: {n: [1000, 2000]}, seed: 1}
  - {workload: probe, variants: [host], matrix: {n: [3000]}, seed: %d}
"""
EXPECT = "\nexpect:\n"
HOLDS = '  "probe/host[n=1000].host_time": "<= 1000 * probe/host[n=3000].host_time"\n'
BROKEN = '  "probe/host[n=1000].host_time": "<= 1ns"\n'


class ChangedOnly(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE % 1)
        self.run_tool("baseline", "refresh", "probe.yaml", "--backend", "host",
                      *self.plugin("probe_base"), "--processes", "2")

    def changed_only(self, plugin="probe_base", code=0, *more):
        return self.run_tool("run", "probe.yaml", "--backend", "host", *self.plugin(plugin),
                             "--changed-only", "--processes", "1", *more, code=code)

    def statuses(self):
        suite = self.read_json("perfgate-out/run.json")["suites"][0]
        return [case["status"] for case in suite["cases"]]

    def test_unchanged_cases_are_left_out_and_counted(self):
        done = self.changed_only()
        self.assertEqual(["skipped", "skipped"], self.statuses())
        self.assertIn("code and inputs are the baseline's (--changed-only) (2 cases)", done.stdout)
        verdict = self.read_json("perfgate-out/verdict.json")
        self.assertEqual(["unchanged"] * 2, [case["code"] for case in verdict["suites"][0]["cases"]])
        # The stored run says the same again.
        self.run_tool("compare", "perfgate-out/run.json")

    def test_another_build_is_measured(self):
        self.changed_only("probe_slow")
        self.assertEqual(["measured", "measured"], self.statuses())
        cases = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"]
        self.assertEqual(["changed"] * 2, [case["code"] for case in cases])
        self.assertIn("host code changed", cases[0]["notes"])
        junit = (self.folder / "perfgate-out/junit.xml").read_text()
        self.assertIn('name="code" value="changed"', junit)

    def test_other_inputs_are_measured(self):
        self.write("probe.yaml", SUITE % 2)
        self.changed_only()
        self.assertEqual(["measured", "measured"], self.statuses())

    def test_the_profile_of_pull_requests_leaves_out_what_is_unchanged(self):
        profile = (tool.SOURCE / "configs/pull-request.yaml").read_text()
        self.write("fast.yaml", profile.replace("backend: cuda", "backend: host"))
        done = self.run_tool("run", "probe.yaml", *self.plugin("probe_base"), "--config", "fast.yaml")
        self.assertEqual(["skipped", "skipped"], self.statuses())
        self.assertIn("2 skipped", done.stdout)
        self.run_tool("run", "probe.yaml", *self.plugin("probe_slow"), "--config", "fast.yaml",
                      code=(0, 1, 3, 4))  # judged by a baseline of two processes
        self.assertEqual(["measured", "measured"], self.statuses())

    def test_a_new_case_is_measured_beside_those_left_out(self):
        self.write("probe.yaml", (SUITE % 1).replace("2000]", "2000, 3000]"))
        self.changed_only()
        self.assertEqual(["skipped", "skipped", "measured"], self.statuses())

    def relations(self, name="perfgate-out/verdict.json"):
        return self.read_json(name)["suites"][0]["relations"]

    def refresh_seeded(self):
        self.write("probe.yaml", SEEDED % 1)
        self.run_tool("baseline", "refresh", "probe.yaml", "--backend", "host",
                      *self.plugin("probe_base"), "--processes", "2")

    def test_a_relation_that_does_not_hold_on_the_baselines_values_is_measured(self):
        self.write("probe.yaml", SUITE % 1 + EXPECT + BROKEN)
        done = self.changed_only(code=1)
        self.assertEqual(["measured", "skipped"], self.statuses())
        self.assertIn("broken", done.stdout)

    def test_a_relation_that_holds_between_unchanged_cases_measures_nothing(self):
        self.refresh_seeded()
        self.write("probe.yaml", SEEDED % 1 + EXPECT + HOLDS)
        done = self.changed_only()
        self.assertEqual(["skipped"] * 3, self.statuses())
        (relation,) = self.relations()
        self.assertEqual("skipped", relation["verdict"])
        reason = "its relations hold on the baseline's values"
        self.assertIn(reason, relation["sentence"])
        self.assertIn(reason, " ".join(done.stdout.split()))
        self.assertIn(reason, (self.folder / "perfgate-out/junit.xml").read_text())
        self.run_tool("compare", "perfgate-out/run.json", "--report", "again.json")
        self.assertEqual([relation], self.relations("again.json"))

    def test_the_partner_of_a_changed_case_is_measured_and_no_other(self):
        self.refresh_seeded()
        self.write("probe.yaml", SEEDED % 2 + EXPECT + HOLDS)
        self.changed_only()
        self.assertEqual(["measured", "skipped", "measured"], self.statuses())
        self.assertEqual(["pass"], [found["verdict"] for found in self.relations()])
        done = self.run_tool("baseline", "refresh", "perfgate-out/run.json")
        baseline = self.read_json(next((self.folder / "baselines").glob("host-*/probe.json")))
        self.assertEqual(3, len(baseline["cases"]), done.stdout)

    def test_what_is_left_out_is_proved_on_the_baselines_values(self):
        self.refresh_seeded()
        self.write("probe.yaml", SEEDED % 1 + EXPECT + HOLDS)
        done = self.changed_only("probe_base", 0, "--prove")
        self.assertEqual(["skipped"] * 3, self.statuses())
        self.assertIn("1 relation tried: each relation can be broken", done.stderr)
        self.write("probe.yaml", SEEDED % 1 + EXPECT + '  "probe/host[n=1000].host_time": ">= 0ns"\n')
        done = self.changed_only("probe_base", 3, "--prove")
        self.assertEqual(["skipped"] * 3, self.statuses())
        self.assertIn("cannot be broken", done.stderr)

    def test_without_a_baseline_everything_is_measured(self):
        (self.folder / "none").mkdir()
        self.changed_only("probe_base", 0, "--baselines", "none")
        self.assertEqual(["measured", "measured"], self.statuses())

    def test_a_refresh_from_such_a_run_keeps_what_it_left_out(self):
        self.write("probe.yaml", (SUITE % 1).replace("2000]", "2000, 3000]"))
        self.changed_only()
        done = self.run_tool("baseline", "refresh", "perfgate-out/run.json")
        baseline = self.read_json(next((self.folder / "baselines").glob("host-*/probe.json")))
        self.assertEqual(3, len(baseline["cases"]), done.stdout)

    def helped(self, kind, library=None):
        """The plugin of a folder of its own, with the libraries of a kind beside it."""
        folder = self.folder / "plugin"
        folder.mkdir(exist_ok=True)
        for file in (tool.PLUGINS / "helped_pinned.so", *(tool.PLUGINS / "helpers" / kind).iterdir()):
            if library in (None, file.name):
                shutil.copy(file, folder)
        return ["--backend", "host", "--plugin", folder / "helped_pinned.so", "--processes", "2"]

    def refresh_helped(self, variant):
        self.write("helped.yaml", HELPED % variant)
        self.run_tool("baseline", "refresh", "helped.yaml", *self.helped("base"))
        self.run_tool("run", "helped.yaml", *self.helped("base"), "--changed-only")
        self.assertEqual(["skipped"], self.statuses())

    def test_a_library_that_the_plugin_links_or_loads_is_code(self):
        for variant, library in (("linked", "libhelper.so"), ("loaded", "liblater.so")):
            with self.subTest(variant):
                self.refresh_helped(variant)
                done = self.run_tool("run", "helped.yaml", *self.helped("slow", library),
                                     "--changed-only", "--verbose", code=(0, 1, 3))  # a busy host hides the time
                self.assertEqual(["measured"], self.statuses())
                case = self.read_json("perfgate-out/verdict.json")["suites"][0]["cases"][0]
                self.assertEqual("changed", case["code"])
                self.assertIn(f"library {library} changed", done.stdout)

    def test_the_platforms_libraries_are_not_code(self):
        self.refresh_helped("linked")
        baseline = self.read_json(next((self.folder / "baselines").glob("host-*/helped.json")))
        (case,) = baseline["cases"].values()
        self.assertEqual(["libhelper.so"], list(case["libraries"]))

    def test_a_baseline_from_before_libraries_were_recorded(self):
        for variant, status in (("linked", "measured"), ("host", "skipped")):
            with self.subTest(variant):
                if variant == "linked":
                    self.refresh_helped(variant)
                name = "helped" if variant == "linked" else "probe"
                file = next((self.folder / "baselines").glob(f"host-*/{name}.json"))
                baseline = json.loads(file.read_text())
                for case in baseline["cases"].values():
                    case.pop("libraries")
                file.write_text(json.dumps(baseline))
                if variant == "linked":
                    self.run_tool("run", "helped.yaml", *self.helped("base"), "--changed-only")
                else:
                    self.changed_only()
                self.assertEqual({status}, set(self.statuses()))

    def test_resume_refuses_another_library(self):
        self.refresh_helped("linked")
        done = self.run_tool("run", "helped.yaml", *self.helped("slow"), "--changed-only",
                             "--resume", "perfgate-out", code=2)
        self.assert_one_line(done.stderr, "library libhelper.so was '", "measure again")


if __name__ == "__main__":
    tool.main()
