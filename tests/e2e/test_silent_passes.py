# SPDX-License-Identifier: Apache-2.0
"""What once passed without a word: cases that were no longer measured, baselines that hide a regression, selections and
tolerances that mean nothing, and runs that only verified."""

import copy
import datetime
import json
import sys
import xml.etree.ElementTree as xml

import tool

SUITE = """
name: probe
defaults:
  metrics: [host_time]
  tolerances: {host_time: 10000%}
  time_budget: 5ms
  cache: hot
workloads:
  - workload: probe
    variants: [host]
    matrix: {n: [1000, 2000]}
    params: {iterations: 10}
  - workload: probe
    variants: [host]
    params: {iterations: 10, n: 3000}
    tags: [nightly]
"""
WITHOUT_NIGHTLY = SUITE[: SUITE.rindex("  - workload")]


def case_id(n):
    return f"probe/host[iterations=10,n={n}]@hot"


class SilentPasses(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)
        self.measuring = ["--backend", "host", *self.plugin("probe_base"), "--processes", 2]

    def refresh(self, *words, code=0):
        done = self.run_tool("baseline", "refresh", *(words or ("probe.yaml", *self.measuring)), code=code)
        if code == 0:
            (self.baseline,) = (self.folder / "baselines").glob("host-*/probe.json")
        return done

    def measure(self, *words, code=0):
        return self.run_tool("run", "probe.yaml", *self.measuring, "--verbose", *words, code=code)

    def verdicts(self, out="perfgate-out"):
        document = self.read_json(f"{out}/verdict.json")
        return {case["id"]: case for suite in document["suites"] for case in suite["cases"]}

    def compare(self, run, *words, code=0):
        self.write("changed.json", json.dumps(run))
        return self.run_tool("compare", "changed.json", "--out", "out", "--verbose", *words, code=code)

    def edit_baseline(self, change):
        document = json.loads(self.baseline.read_text())
        for case in document["cases"].values():
            change(case)
        self.baseline.write_text(json.dumps(document))

    # --- cases that are no longer measured

    def test_a_case_that_cannot_run_any_more_is_missing_unless_the_suite_says_so(self):
        self.refresh()
        self.measure()
        run = self.read_json("perfgate-out/run.json")
        for reason in ("not built: the CUDA module of plugin 'probe' is missing",
                       "needs compute capability 99.0, the device has 9.0"):
            changed = copy.deepcopy(run)
            case = changed["suites"][0]["cases"][0]
            case["status"], case["reason"], case["metrics"] = "skipped", reason, {}
            done = self.compare(changed, code=1)
            self.assertEqual("missing", self.verdicts("out")[case_id(1000)]["verdict"])
            self.assertIn(reason, done.stdout)

        self.write("probe.yaml", SUITE + "overrides:\n  - {match: '*n=1000*', skip: not on this machine}\n")
        done = self.measure()
        self.assertEqual("skipped", self.verdicts()[case_id(1000)]["verdict"])
        self.assertIn("the suite skips it: not on this machine", done.stdout)
        self.run_tool("compare", "perfgate-out/run.json")

    def test_a_deleted_case_is_missing_where_the_selection_covers_it(self):
        self.refresh()
        self.write("probe.yaml", WITHOUT_NIGHTLY)
        self.measure("--filter", "*n=?000*", code=1)
        self.assertEqual("missing", self.verdicts()[case_id(3000)]["verdict"])
        self.run_tool("compare", "perfgate-out/run.json", code=1)
        self.run_tool("compare", "perfgate-out/run.json", "--filter", "*n=1000*")
        self.measure("--filter", "*n=1000*")
        self.assertEqual([case_id(1000)], list(self.verdicts()))

    def test_a_deleted_case_is_missing_where_the_tags_cover_it(self):
        self.refresh()
        self.assertEqual(["nightly"], json.loads(self.baseline.read_text())["cases"][case_id(3000)]["tags"])
        moved = SUITE.replace("n: 3000}", "n: 4000}").replace("[nightly]", "[nightly, large]")
        self.write("probe.yaml", moved)
        self.measure("--tag", "nightly", code=1)
        self.assertEqual("missing", self.verdicts()[case_id(3000)]["verdict"])
        self.assertNotIn(case_id(1000), self.verdicts(), "it has no such tag")
        self.measure("--tag", "large")

        self.edit_baseline(lambda case: case.pop("tags"))
        done = self.measure("--tag", "nightly", "--report", "report.md")
        expected = "3 cases of the baseline are not in the run and not judged as missing"
        for text in (done.stdout, (self.folder / "report.md").read_text(),
                     (self.folder / "perfgate-out/junit.xml").read_text()):
            self.assertIn(expected, text)

    def test_a_resumed_run_has_the_tags_that_the_suite_has_now(self):
        self.measure()
        journal = self.folder / "perfgate-out/journal.jsonl"
        journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-2]))
        self.write("probe.yaml", SUITE.replace("[nightly]", "[weekly]"))
        self.measure("--resume", "perfgate-out")
        self.refresh("perfgate-out/run.json")
        self.write("probe.yaml", WITHOUT_NIGHTLY.replace("    matrix", "    tags: [weekly]\n    matrix"))
        self.measure("--tag", "weekly", code=1)
        self.assertEqual("missing", self.verdicts()[case_id(3000)]["verdict"])

    def test_shards_miss_what_none_of_them_has(self):
        self.refresh()
        self.write("probe.yaml", WITHOUT_NIGHTLY)
        for index in (1, 2):
            self.measure("--shard", f"{index}/2", "--out", f"shard-{index}", code=1)
            self.assertEqual("missing", self.verdicts(f"shard-{index}")[case_id(3000)]["verdict"])
        self.run_tool("compare", "shard-1/run.json", "shard-2/run.json", "--out", "merged", code=1)
        verdicts = {id: case["verdict"] for id, case in self.verdicts("merged").items()}
        # Two processes against two show nothing of a time.
        self.assertEqual({case_id(1000): "inconclusive", case_id(2000): "inconclusive",
                          case_id(3000): "missing"}, verdicts)

    def test_a_suite_that_was_not_given_is_missing_if_the_profile_is_complete(self):
        self.write("other.yaml", SUITE.replace("name: probe", "name: other"))
        self.write("complete.yaml", "complete: true")
        self.refresh("probe.yaml", "other.yaml", *self.measuring)
        complete = ["--config", "complete.yaml"]

        def suites(out="perfgate-out"):
            return {suite["name"]: {case["verdict"] for case in suite["cases"]}
                    for suite in self.read_json(f"{out}/verdict.json")["suites"]}

        done = self.measure("--report", "report.md")
        self.assertEqual(["probe"], list(suites()))
        for text in (done.stdout, (self.folder / "report.md").read_text()):
            self.assertRegex(" ".join(text.split()), "1 suite with a baseline of this device was not given.*other")
        reports = ["--report", "junit.xml", "--report", "report.html", "--report", "annotations:annotations", "--report", "values.csv"]
        done = self.measure(*complete, "--report", "report.md", *reports, code=1)
        self.assertEqual({"missing"}, suites()["other"])
        self.assertNotIn("missing", suites()["probe"])
        for text in (done.stdout, *((self.folder / name).read_text()
                                    for name in ("report.md", "junit.xml", "annotations"))):
            self.assertIn("the suite 'other', which was not given", " ".join(text.split()))
        self.run_tool("compare", "perfgate-out/run.json", "--out", "out", code=0)
        self.run_tool("report", "perfgate-out/run.json", "--report", "again.json", *complete)
        self.assertEqual(["other", "probe"], sorted(suite["name"] for suite in self.read_json("again.json")["suites"]))
        # A stored run is compared as it is.
        done = self.run_tool("compare", "perfgate-out/run.json", "--out", "out", *complete)
        self.assertEqual(["probe"], list(suites("out")))
        self.assertIn("was not given", " ".join(done.stdout.split()))

        # A part of the cases need not have every suite.
        for words in (["--filter", "*n=1000*"], ["--tag", "nightly"]):
            done = self.run_tool("compare", "perfgate-out/run.json", "--out", "out", *words)
            self.assertEqual(["probe"], list(suites("out")))
            self.assertNotIn("was not given", done.stdout)
            done = self.measure(*complete, *words, "--out", "part")
            self.assertEqual(["probe"], list(suites("part")))
            self.assertIn("only a part of the cases", " ".join(done.stdout.split()))
            self.assertNotIn("given", self.measure(*words).stdout)
            self.measure(*complete, code=1)
        self.run_tool("run", "probe.yaml", "other.yaml", *self.measuring, *complete)
        self.assertEqual({"probe", "other"}, set(suites()))
        for index in (1, 2):
            self.measure("--shard", f"{index}/2", "--out", f"shard-{index}", *complete)
        self.run_tool("compare", "shard-1/run.json", "shard-2/run.json", "--out", "merged", *complete, code=1)
        self.assertEqual({"missing"}, suites("merged")["other"])

        # Fails closed where the other baseline cannot be read.
        self.measure()
        baseline, = (self.folder / "baselines").glob("host-*/other.json")
        baseline.write_text("{")
        self.run_tool("compare", "perfgate-out/run.json", "--filter", "*n=1000*", "--out", "out", *complete)
        self.measure(*complete, code=2)
        self.measure()
        baseline.unlink()
        self.measure(*complete)

    # --- times that the gate cannot vouch for

    def test_a_time_that_no_machine_explains_is_invalid(self):
        self.refresh()
        self.measure()
        # As if it were a GPU's time: of a host variant nobody says that nothing changed.
        def as_gpu_time(case):
            case["metrics"]["gpu_time"] = case["metrics"].pop("host_time")
        self.edit_baseline(as_gpu_time)
        run = self.read_json("perfgate-out/run.json")
        run["metric_definitions"]["gpu_time"] = run["metric_definitions"].pop("host_time")
        for case in run["suites"][0]["cases"]:
            as_gpu_time(case)
            case["gates"][0]["metric"] = "gpu_time"
            case["gates"][0]["worse"] = 0.1
            for batch in case["metrics"]["gpu_time"]["batches"]:
                batch["samples"] = [1e6 * sample for sample in batch["samples"]]
        done = self.compare(run, code=3)
        self.assertIn("by more than a factor of 1.5", " ".join(done.stdout.split()))

    def test_a_baseline_whose_processes_disagree_is_refused_and_hides_nothing(self):
        self.refresh()
        self.measure()
        run = self.read_json("perfgate-out/run.json")

        def with_times(times):
            changed = copy.deepcopy(run)
            for case in changed["suites"][0]["cases"]:
                case["gates"][0]["worse"] = 0.1
                batch = case["metrics"]["host_time"]["batches"][0]
                case["metrics"]["host_time"]["batches"] = [
                    {**batch, "process": i, "samples": [time]} for i, time in enumerate(times)]
            return changed

        disturbed = with_times([1e5] * 10 + [2.4e5] * 6)
        self.write("disturbed.json", json.dumps(disturbed))
        done = self.refresh("disturbed.json", code=2)
        self.assertIn("the processes disagree about host_time by more than its tolerance of 10 %", done.stderr)
        self.write("modes.json", json.dumps(with_times([1e5] * 10 + [1.08e5] * 6)))
        self.refresh("modes.json", "--reset-anchor")

        # Stored before refresh looked at it.
        def disturb(case):
            case["metrics"]["host_time"]["processes"] = [1e5] * 10 + [2.4e5] * 6
        self.edit_baseline(disturb)
        self.compare(with_times([1.5e5] * 5))
        self.assertEqual({"inconclusive"}, {case["verdict"] for case in self.verdicts("out").values()})
        for case in self.verdicts("out").values():
            self.assertIn("the baseline's processes disagree by more than the tolerance", case["reason"])
        for policy in ("inconclusive", "not_shown"):
            self.compare(with_times([1.5e5] * 5), "--set", f"{policy}=fail", code=4)

    # --- selections, shards and suites that do not fit

    def test_a_second_filter_or_tag_that_selects_nothing_is_refused_by_every_verb(self):
        self.measure()
        stored = "perfgate-out/run.json"
        for option, good, typo in (("--filter", "*n=1000*", "*n=1001*"), ("--tag", "nightly", "nigthly")):
            self.measure(option, good, option, typo, "--out", "other", code=2)
            for verb in ("compare", "report"):
                done = self.run_tool(verb, stored, option, good, option, typo, code=2)
                self.assert_one_line(done.stderr, option, typo, "selects no case")

    def test_shards_with_other_tolerances_are_no_run(self):
        self.measure("--shard", "1/2", "--out", "shard-1")
        self.write("probe.yaml", SUITE.replace("10000%", "5000%"))
        self.measure("--shard", "2/2", "--out", "shard-2")
        done = self.run_tool("compare", "shard-1/run.json", "shard-2/run.json", "--out", "merged", code=2)
        self.assert_one_line(done.stderr, "suite 'probe' has different tolerances")

    def test_two_suites_of_one_name_are_no_run(self):
        self.write("again.yaml", SUITE)
        self.run_tool("run", "probe.yaml", "again.yaml", *self.measuring, code=2)
        self.measure()
        run = self.read_json("perfgate-out/run.json")
        run["suites"].append(copy.deepcopy(run["suites"][0]))
        self.assert_one_line(self.compare(run, code=2).stderr, "suites[1]", "'probe' appears twice")

    def test_a_tolerance_of_everything_and_a_division_by_zero_are_no_suite(self):
        self.write("wide.yaml", SUITE.replace("10000%", "1e308%"))
        self.write("zero.yaml", SUITE + 'expect: {probe/host.host_time: "<= probe/host.host_time / 0"}\n')
        self.write("rate.yaml", BENCH_SUITE.replace("better: lower", "better: higher")
                   .replace("misses: 0", "misses: 100%"))
        for name, part in (("wide.yaml", "at most 10000%"), ("zero.yaml", "division by zero"),
                           ("rate.yaml", "expected less than 100%")):
            done = self.run_tool("validate", name, *self.plugin("probe_base"), code=2)
            self.assert_one_line(done.stderr, name, part)
        self.write("results.json", "{}")
        self.assert_one_line(self.run_tool("compare", "--suite", "rate.yaml", "results.json", code=2).stderr, "rate.yaml", "expected less than 100%")

    # --- acknowledgements

    def test_an_acknowledgement_is_bounded_and_warns_before_its_end(self):
        self.refresh()
        self.measure()

        def steady(case):
            case["metrics"]["host_time"] = {
                "unit": "ns", "value": 1.005e5, "method": case["metrics"]["host_time"]["method"], "device": "host",
                "seed": 1, "processes": [1e5, 1.01e5] * 8}
        self.edit_baseline(steady)
        run = self.read_json("perfgate-out/run.json")
        run["started_at"] = "2026-01-01T00:00:00Z"
        for case in run["suites"][0]["cases"]:
            case["gates"][0]["worse"] = 0.1
            # As many processes as the test needs to be certain.
            batch = case["metrics"]["host_time"]["batches"][0]
            case["metrics"]["host_time"]["batches"] = [
                {**batch, "process": i, "samples": [9e5]} for i in range(6)]
        self.compare(run, code=1)
        done = self.run_tool("baseline", "accept", "changed.json", "--reason", "later",
                             "--expires", "9999-12-31", code=2)
        self.assert_one_line(done.stderr, "9999-12-31", "more than 90 days ahead", "acknowledgement_days")

        def acknowledge(until):
            def change(case):
                known = {"unit": "ns", "method": case["metrics"]["host_time"]["method"], "value": 1e12,
                         "batches": [{"process": 0, "device": "", "seed": 1, "samples": [1e12]}]}
                case["acknowledged"] = {"host_time": {"until": until, "known": known}}
            self.edit_baseline(change)

        acknowledge("9999-12-31")
        self.assertIn("more than 90 days ahead", self.compare(run, code=1).stdout)
        acknowledge("2026-03-15")
        self.compare(run)
        self.write("strict.yaml", "policy: {acknowledgement_days: 30}\n")
        self.compare(run, "--config", "strict.yaml", code=1)
        acknowledge("2026-01-04")
        done = self.compare(run, "--report", "report.md")
        for text in (done.stdout, (self.folder / "report.md").read_text(),
                     (self.folder / "out/junit.xml").read_text()):
            self.assertIn("its acknowledgement ends in 3 days, on 2026-01-04; from the next day on", text)

    # --- runs that measured nothing

    def test_a_run_that_only_verified_says_so_everywhere(self):
        self.refresh()
        done = self.measure("--verify-only", "--config", tool.SOURCE / "configs/ci.yaml", "--report",
                            "report.md", "--report", "annotations:annotations.txt")
        told = "verified only, nothing was measured"
        for text in (done.stdout, (self.folder / "report.md").read_text(),
                     (self.folder / "annotations.txt").read_text(),
                     (self.folder / "perfgate-out/junit.xml").read_text()):
            self.assertIn(told, text)
        self.assertTrue(self.read_json("perfgate-out/verdict.json")["verify_only"])
        self.assertEqual({"skipped"}, {case["verdict"] for case in self.verdicts().values()})
        for profile in ("github", "strict"):
            self.run_tool("report", "perfgate-out/run.json", "--report", "again.xml", "--set", f"junit_profile={profile}")
            suite = xml.parse(self.folder / "again.xml").getroot().find("testsuite")
            self.assertEqual(("3", "3"), (suite.get("tests"), suite.get("skipped")))
            for case in suite.findall("testcase"):
                self.assertIn("not measured", case.find("skipped").get("message"))


BENCH = """
import json, sys
out, state = sys.argv[1:]
values = json.load(open(state))
made = values["made"] = values.get("made", 0) + 1
json.dump(values, open(state, "w"))
factor = 9 if made == values.get("bad_process") else 1
with open(out, "w") as file:
    file.write("name,t,misses\\n")
    for i, name in enumerate("abcd"):
        time = values["time"] * (1 + 0.001 * ((7 * made + 3 * i) % 5))
        file.write(f"{name},{time},{values['misses'] * factor}\\n")
"""
BENCH_SUITE = f"""
name: mine
workloads:
  - benchmark: [{sys.executable}, bench.py, "{{out}}", state.json]
    name: bench
    format: csv
    case: name
    values:
      real_time: {{from: t, unit: s}}
      misses: {{from: misses, better: lower}}
    tolerances: {{real_time: 5%, misses: 0}}
"""


class BenchmarkThatGotWorse(tool.Case):
    def setUp(self):
        super().setUp()
        self.make("base", 1, 10000)

    def make(self, folder, time, misses, bad_process=0, expect=""):
        """A checkout whose benchmark reports four times and counts."""
        self.write(f"{folder}/mine.yaml", BENCH_SUITE + expect)
        self.write(f"{folder}/bench.py", BENCH)
        self.write(f"{folder}/state.json",
                   json.dumps({"time": time, "misses": misses, "bad_process": bad_process}))

    def run_bench(self, *words, code=0, folder="base"):
        return self.run_tool(*words, "--backend", "host", cwd=self.folder / folder, code=code)

    def verdicts(self, folder="base"):
        return {case["id"]: case["verdict"]
                for case in self.read_json(f"{folder}/perfgate-out/verdict.json")["suites"][0]["cases"]}

    def test_acknowledged_regressions_hide_no_further_one(self):
        self.run_bench("baseline", "refresh", "mine.yaml")
        self.make("base", 1.2, 10000)
        self.run_bench("run", "mine.yaml", code=1)
        day = datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(days=3)
        self.run_tool("baseline", "accept", "perfgate-out/run.json", "--author", "Ada", "--reason", "known",
                      "--expires", day, cwd=self.folder / "base")
        self.run_bench("run", "mine.yaml")
        self.assertEqual({"acknowledged"}, set(self.verdicts().values()))
        for factor in (1.5, 9):
            self.make("base", 1.2 * factor, 10000)
            done = self.run_bench("run", "mine.yaml", code=1)
            self.assertEqual({"regressed"}, set(self.verdicts().values()))
            self.assertIn(f"s that are acknowledged until {day}", " ".join(done.stdout.split()))
        # Nor by so much that few processes need not show it.
        self.write("base/quick.yaml", "policy: {rounds: 0}\n")
        self.make("base", 120, 10000)
        self.run_bench("run", "mine.yaml", "--config", "quick.yaml", code=3)
        self.assertEqual({"invalid"}, set(self.verdicts().values()))

    def test_one_process_with_another_count_fails(self):
        self.run_bench("baseline", "refresh", "mine.yaml")
        self.make("base", 1, 10000, bad_process=3)
        done = self.run_bench("run", "mine.yaml", "--verbose", code=1)
        self.assertIn("the worst one decides", done.stdout)
        expect = 'expect: {bench/a.misses: "<= 10000"}\n'
        self.make("base", 1, 10000, expect=expect)
        self.run_bench("run", "mine.yaml")
        self.make("base", 1, 10000, bad_process=3, expect=expect)
        (self.folder / "none").mkdir()
        self.run_bench("run", "mine.yaml", "--baselines", self.folder / "none", "--processes", 5, code=1)

    def test_ab_compares_counts_to_the_digit(self):
        self.make(".", 1, 10000)
        self.make("head", 1, 10005)
        ab = ("ab", "--base", "dir:base", "--head", "dir:head", "mine.yaml")
        self.run_bench(*ab, folder=".", code=1)
        self.make("head", 1, 10000)
        self.run_bench(*ab, folder=".")


class EditedSuite(tool.Case):
    """A suite that was edited beside its baseline: numbers of something else are compared with nothing."""

    def setUp(self):
        super().setUp()
        self.checkout("base")
        self.run_bench("baseline", "refresh", "mine.yaml")

    def checkout(self, folder):
        for state in ("state", "other"):
            self.write(f"{folder}/{state}.json", json.dumps({"time": 1, "misses": 10000}))
        self.write(f"{folder}/bench.py", BENCH)
        self.edit(folder=folder)

    def give_misses(self, misses):
        self.write("base/state.json", json.dumps({"time": 1, "misses": misses}))

    def edit(self, *changes, folder="base"):
        text = BENCH_SUITE
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write(f"{folder}/mine.yaml", text)

    def run_bench(self, *words, code=0, folder="base"):
        return self.run_tool(*words, "--backend", "host", cwd=self.folder / folder, code=code)

    def assert_another(self, difference):
        done = self.run_bench("run", "mine.yaml", code=3)
        for case in self.read_json("base/perfgate-out/verdict.json")["suites"][0]["cases"]:
            self.assertEqual("invalid", case["verdict"])
            self.assertEqual(f"the suite changed what is measured since the baseline ({difference}): accept its "
                             "values with 'perfgate baseline refresh mine.yaml'", case["reason"])
        self.assertIn("the suite changed what is measured", " ".join(done.stdout.split()))

    def test_another_command_environment_or_value_is_invalid_until_it_is_refreshed(self):
        self.run_bench("run", "mine.yaml")
        stored = self.folder / "base/perfgate-out/run.json"
        stored.rename(self.folder / "base/before.json")
        for changes, difference in (
                ([("state.json]", "other.json]")], None),
                ([("    name: bench", "    name: bench\n    env: {MODE: quick}")], "env.MODE not stated → quick"),
                ([("    name: bench", "    name: bench\n    warmup: 1")], "warmup not stated → 1"),
                ([("from: misses", "from: t")], "values.misses misses, times 1, count → t, times 1, count")):
            with self.subTest(difference):
                self.edit(*changes)
                if difference is None:
                    done = self.run_bench("run", "mine.yaml", code=3)
                    self.assertRegex(" ".join(done.stdout.split()), r"\(command \S.*state\.json → .*other\.json\)")
                else:
                    self.assert_another(difference)

        # A stored run says the same, and is not accepted by the case; a refresh measures what the suite has now.
        self.run_tool("compare", "perfgate-out/run.json", cwd=self.folder / "base", code=3)
        done = self.run_tool("baseline", "accept", "perfgate-out/run.json", "--author", "Ada", "--reason", "tested",
                             cwd=self.folder / "base", code=2)
        self.assertIn("the suite changed what is measured", done.stderr)
        # Two runs are compared because somebody names them.
        done = self.run_tool("compare", "--base", "before.json", "--head", "perfgate-out/run.json", "--verbose",
                             cwd=self.folder / "base", code=(0, 1, 3))
        self.assertIn("the suites of base and head differ: values.misses", " ".join(done.stdout.split()))
        self.run_bench("baseline", "refresh", "mine.yaml")
        self.run_bench("run", "mine.yaml")
        self.run_tool("baseline", "verify", cwd=self.folder / "base")

    def test_tolerances_and_time_limits_are_no_other_case(self):
        self.edit(("real_time: 5%", "real_time: 6%"), ("    name: bench", "    name: bench\n    timeout: 50s"))
        self.run_bench("run", "mine.yaml")
        self.run_bench("run", "mine.yaml", "--processes", 7)

    def test_a_further_value_is_a_metric_without_a_baseline(self):
        self.edit(("      misses:", "      rate: {from: t, unit: GB/s}\n      misses:"), ("misses: 0}", "misses: 0, rate: 9%}"))
        self.run_bench("run", "mine.yaml")
        metrics = self.read_json("base/perfgate-out/verdict.json")["suites"][0]["cases"][0]["metrics"]
        self.assertEqual({"real_time": "pass", "misses": "pass", "rate": "no_baseline"},
                         {metric["metric"]: metric["verdict"] for metric in metrics})

    def test_another_place_of_the_checkout_is_no_other_case(self):
        for folder, change in (("base", "refresh"), ("elsewhere/deeper", "run")):
            self.checkout(folder)
            place = self.folder / folder
            self.edit(("bench.py", f"{place}/bench.py"),
                      ("    name: bench", f'    name: bench\n    env: {{DATA: "/usr:{place}/data"}}'), folder=folder)
            if change == "refresh":
                self.run_bench("baseline", "refresh", "mine.yaml", folder=folder)
            else:
                self.run_bench("run", "mine.yaml", "--baselines", self.folder / "base/baselines", folder=folder)
        stored = self.read_json("elsewhere/deeper/perfgate-out/run.json")["suites"][0]["cases"][0]["measured_as"]
        self.assertEqual("/usr:data", stored["env.DATA"])

    def test_another_better_way_is_invalid_until_it_is_refreshed(self):
        flip = ("better: lower", "better: higher")
        self.give_misses(5)
        self.run_bench("baseline", "refresh", "mine.yaml")
        self.run_bench("run", "mine.yaml")
        (self.folder / "base/perfgate-out/run.json").rename(self.folder / "base/before.json")
        self.give_misses(50)
        self.edit(flip)
        self.assert_another("values.misses.better lower → higher")
        # Also between two runs, where another suite is meant.
        compare = ["compare", "--base", "before.json", "--head", "perfgate-out/run.json", "--out", "compared"]
        self.run_tool(*compare, cwd=self.folder / "base", code=3)
        metrics = self.read_json("base/compared/verdict.json")["suites"][0]["cases"][0]["metrics"]
        self.assertEqual({"misses": "invalid"}, {metric["metric"]: metric["verdict"] for metric in metrics
                                                 if metric["metric"] == "misses"})
        self.run_bench("baseline", "refresh", "mine.yaml", "--reset-anchor")
        self.run_bench("run", "mine.yaml")

    def test_where_a_baseline_does_not_say_which_way_is_better_both_ways_fail(self):
        self.give_misses(5)
        self.run_bench("baseline", "refresh", "mine.yaml")
        (file,) = (self.folder / "base/baselines").glob("*/mine.json")
        document = json.loads(file.read_text())
        for case in document["cases"].values():
            del case["measured_as"]["values.misses.better"]
        file.write_text(json.dumps(document))
        self.edit(("better: lower", "better: higher"))
        for misses, code in ((50, 1), (1, 1), (5, 0)):
            self.give_misses(misses)
            self.run_bench("run", "mine.yaml", code=code)
            self.assertIn("does not say which way is better", json.dumps(
                self.read_json("base/perfgate-out/verdict.json")))

    def test_what_an_older_baseline_measured_is_not_known(self):
        (file,) = (self.folder / "base/baselines").glob("*/mine.json")
        document = json.loads(file.read_text())
        for case in document["cases"].values():
            del case["measured_as"]
        file.write_text(json.dumps(document))
        self.edit(("state.json]", "other.json]"))
        self.run_bench("run", "mine.yaml")


class CodeThatGotSlower(tool.Case):
    """A recorded case, as if another code had been measured: what a baseline must not take in unseen."""

    def setUp(self):
        super().setUp()
        self.day = datetime.datetime.now(datetime.timezone.utc).date()
        recorded = tool.SOURCE / "tests/data/runs/nvidia-h100-80gb-hbm3/transpose-1.run.json"
        self.run = json.loads(recorded.read_text())
        suite = self.run["suites"][0]
        self.id = "transpose/naive[cols=4096,dtype=f32,rows=8192]"
        self.case = next(case for case in suite["cases"] if case["id"] == self.id)
        self.case["gates"] = [gate for gate in self.case["gates"] if gate["metric"] != "gpu_span"]
        suite["cases"], suite["relations"], suite["partial"] = [self.case], [], True
        self.run["selections"] = [{"filters": [self.id], "tags": []}]
        self.store("base.json", [1 + 0.001 * (i % 5) for i in range(20)])
        self.run_tool("baseline", "refresh", "base.json", "--author", "Ada", "--reason", "first")

    def store(self, name, factors, code=None, registers=None, days=0, **launch):
        """The case as measured so many times slower in these processes."""
        run = copy.deepcopy(self.run)
        run["started_at"] = f"{self.day + datetime.timedelta(days=days)}T10:00:00Z"
        case = run["suites"][0]["cases"][0]
        for kernel in case["kernels"]:
            kernel.update(launch)
            if code:
                kernel["code"] = code
        if registers:
            for batch in case["metrics"]["registers"]["batches"]:
                batch["samples"] = [registers]
        time = case["metrics"]["gpu_time"]
        like = time["batches"][0]
        middle = sorted(like["samples"])[len(like["samples"]) // 2]
        time["value"] = middle
        time["batches"] = [{**like, "process": i, "round": 1, "samples": [middle * factor]}
                           for i, factor in enumerate(factors)]
        self.write(name, json.dumps(run))
        return name

    def accept(self, name, *words, code=0):
        return self.run_tool("baseline", "accept", name, "--author", "Ada", "--reason", "meant", *words,
                             code=code)

    def test_a_refresh_during_an_acknowledgement_does_not_make_it_permanent(self):
        slow = [1.3, 1.301] * 4
        self.store("slow.json", slow, code="f" * 32)
        self.run_tool("compare", "slow.json", code=1)
        self.accept("slow.json", "--expires", self.day + datetime.timedelta(days=3))
        self.run_tool("baseline", "refresh", "slow.json", "--author", "Ada", "--reason", "new counts")
        self.run_tool("compare", "slow.json")
        self.store("late.json", slow, code="f" * 32, days=4)
        done = self.run_tool("compare", "late.json", "--verbose", code=1)
        self.assertIn("its acknowledgement ended on", done.stdout)
        self.assertNotIn("nothing changed", done.stdout)

    def test_accept_does_not_store_code_beside_a_time_that_is_not_shown(self):
        self.store("slow.json", [1, 1.07, 1.01, 1.06, 1.08, 1, 1.07, 1.05], code="f" * 32, registers=15)
        done = self.accept("slow.json", code=2)
        self.assertIn("5 of 8 processes are slower than each of the baseline's by more than the tolerance", done.stderr)
        self.store("noisy.json", [1, 1.04], code="f" * 32, registers=15)
        done = self.accept("noisy.json", code=2)
        self.assertIn("gpu_time is not shown to be within its tolerance, and the code is not the baseline's",
                      done.stderr)
        self.store("shown.json", [1.01] * 8, code="f" * 32, registers=15)
        self.accept("shown.json")

    def test_another_boards_times_are_of_code_that_is_launched_alike(self):
        for name, launch in (("alike.json", {}), ("other.json", {"grid": [128, 2048, 1], "block": [32, 4, 1]})):
            run = json.loads((self.folder / self.store(name, [1.07] * 8, **launch)).read_text())
            text = json.dumps(run).replace(self.case["metrics"]["gpu_time"]["batches"][0]["device"], "f" * 16)
            self.write(name, text)
        done = self.run_tool("baseline", "refresh", "other.json", "--add-board", "--author", "Ada", "--reason",
                             "board", code=2)
        self.assertIn("grid of ", done.stderr)
        self.run_tool("baseline", "refresh", "alike.json", "--add-board", "--author", "Ada", "--reason", "board")


if __name__ == "__main__":
    tool.main()
