# SPDX-License-Identifier: Apache-2.0
"""Baselines in the flow of a project: accept, acknowledge, log, verify, prune, and git merging them."""

import datetime
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml

import tool

DEVICE = "nvidia-h100-80gb-hbm3"
RUN = tool.SOURCE / f"tests/data/aa/{DEVICE}/gemm-1.run.json"


def scale(case, metric, factor):
    """The metric as it would be if the kernel had taken so much longer, in every process."""
    series = case["metrics"][metric]
    series["value"] *= factor
    for batch in series["batches"]:
        batch["samples"] = [sample * factor for sample in batch["samples"]]


class Baselines(tool.Case):
    """A recorded H100 run is the baseline; variations of it are accepted."""

    def setUp(self):
        super().setUp()
        self.document = json.loads(RUN.read_text())
        # Of some length, so that 8 % are beyond the tolerance and its `abs`.
        self.cases = {case["id"]: case for case in self.document["suites"][0]["cases"]
                      if case["gates"][0]["worse"] < 0.05
                      and case["metrics"]["gpu_time"]["value"] > 50_000}
        self.document["suites"][0]["relations"] = []
        self.first, self.second = sorted(self.cases)[0], sorted(self.cases)[-1]
        self.store("base.json")
        self.run_tool("baseline", "refresh", "base.json", "--author", "Ada", "--reason", "first")
        self.path = self.folder / f"baselines/{DEVICE}/gemm.json"
        self.ledger = self.path.with_suffix(".ledger.jsonl")

    def store(self, name, **changes):
        self.write(name, json.dumps({**self.document, **changes}))

    def slower(self, name="slower.json", factor=1.08, ids=None, **changes):
        for case in ids or [self.first]:
            scale(self.cases[case], "gpu_time", factor)
        self.store(name, **changes)
        return name

    def accept(self, name, *words, code=0):
        return self.run_tool("baseline", "accept", name, "--author", "Ada", "--reason", "meant",
                             *words, code=code)

    def entries(self):
        return [json.loads(line) for line in self.ledger.read_text().splitlines()[1:]]

    def test_accept_changes_the_least_and_compare_passes(self):
        before = self.path.read_text().splitlines()
        self.run_tool("compare", self.slower(), code=1)
        done = self.accept("slower.json")
        self.assertIn("+8.0 %", done.stdout)
        after = self.path.read_text().splitlines()
        changed = [line for line in after if line not in before]
        self.assertEqual(3, len(changed), changed)
        for line, start in zip(changed, ('"provenance"', '"anchors"', '"gpu_time"')):
            self.assertTrue(line.strip().startswith(start), line)
        self.assertEqual(len(before) + 1, len(after))
        self.run_tool("compare", "slower.json")
        self.run_tool("baseline", "verify")

        # Once more there is nothing to accept, and nothing is touched.
        text, ledger = self.path.read_text(), self.ledger.read_text()
        self.assertIn("0 accepted", self.accept("slower.json").stdout)
        self.assertEqual((text, ledger), (self.path.read_text(), self.ledger.read_text()))

    def test_the_log_says_who_accepted_what_and_why(self):
        self.accept(self.slower())
        log = self.run_tool("baseline", "show", "--log", "gemm").stdout
        self.assertRegex(log.splitlines()[0], r"^20\d\d-.*Z  accept  " + self.first.split("[")[0])
        self.assertIn("    Ada: meant\n", log)
        self.assertRegex(log, r"gpu_time .* → .*, anchor ")
        self.assertRegex(log, r"refresh  \d+ cases\n    Ada: first\n")
        self.assertEqual("", self.run_tool("baseline", "show", "--log", "gemm", "--filter", "no*").stdout)
        # The suite's file says the same as its name.
        file = tool.SOURCE / "suites/gemm.yaml"
        self.assertEqual(log, self.run_tool("baseline", "show", "--log", file).stdout)
        self.assertEqual(self.run_tool("baseline", "show", "gemm").stdout,
                         self.run_tool("baseline", "show", file).stdout)
        self.ledger.unlink()
        done = self.run_tool("baseline", "show", "--log", "gemm", code=2)
        self.assert_one_line(done.stderr, "there is no ledger", "gemm.ledger.jsonl")
        done = self.run_tool("baseline", "show", "--log", "suites/gemm.yaml", code=2)
        self.assert_one_line(done.stderr, "suites/gemm.yaml: No such file")

    def test_refusals_name_each_case_and_write_nothing(self):
        self.slower()
        self.cases[self.first]["not_collected"] = [
            {"metric": "dram_bytes", "reason": "no permission"}]
        self.cases[self.second].update(status="error", reason="signal 11")
        self.store("bad.json")
        text = self.path.read_text()
        done = self.accept("bad.json", code=2)
        self.assertEqual(3, len(done.stderr.splitlines()), done.stderr)
        for part in (self.first, "no permission", self.second, "signal 11", "--filter"):
            self.assertIn(part, done.stderr)
        done = self.accept("base.json", "--filter", "gemm/nothing*", code=2)
        self.assert_one_line(done.stderr, "gemm/nothing*", "matches no case")
        self.run_tool("baseline", "accept", "base.json", code=2)
        for reason in (" ", "WHY", "why", "…", "why?", " why", "'Why'"):  # the word that reports leave for the user's own
            done = self.run_tool("baseline", "accept", "base.json", "--reason", reason, code=2)
            self.assertIn("expected a reason", done.stderr)
        self.accept("base.json", "--set", "creep=lots", code=2)
        self.accept("base.json", "--set", "creep=1", code=2)
        self.store("cut.json", interrupted=True)
        self.assert_one_line(self.accept("cut.json", code=2).stderr, "interrupted")
        self.store("checked.json", verify_only=True)
        self.assert_one_line(self.accept("checked.json", code=2).stderr, "--verify-only")
        self.assertEqual(text, self.path.read_text())
        self.assertEqual(1, len(self.entries()))

    def test_changes_add_up_until_the_anchor_is_reset(self):
        self.accept(self.slower("once.json", 1.08))
        text = self.path.read_text()
        done = self.accept(self.slower("twice.json", 1.08), code=2)
        self.assertIn("--reset-anchor", done.stderr)
        self.assertIn("+16.6 %", done.stderr)
        self.run_tool("baseline", "refresh", "twice.json", code=2)
        self.assertEqual(text, self.path.read_text())
        self.accept("twice.json", "--set", "creep=20%")
        self.accept(self.slower("thrice.json", 1.08), "--reset-anchor")
        self.assertEqual(0, self.path.read_text().count("anchors"))
        self.assertTrue(self.entries()[-1]["anchor_reset"])
        self.run_tool("baseline", "verify")

        self.write("profile.yaml", "creep: 5%\n")
        self.accept(self.slower("fourth.json", 1.06), "--config", "profile.yaml")
        self.accept(self.slower("fifth.json", 1.06), "--config", "profile.yaml", code=2)

    def test_a_first_change_may_be_large_and_the_next_ones_count_with_it(self):
        self.run_tool("baseline", "refresh", self.slower("large.json", 1.5), code=2)
        self.accept("large.json")
        for number, factor in enumerate((1.06, 1.2, 2)):
            done = self.accept(self.slower(f"next{number}.json", factor), code=2)
            self.assertIn("--reset-anchor", done.stderr)
            scale(self.cases[self.first], "gpu_time", 1 / factor)
        # The others have no accepted change yet.
        self.accept(self.slower("other.json", 1.5, [self.second]))

    def test_an_acknowledged_regression_is_reported_as_such_until_its_day(self):
        day = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=3)).date()
        over = day + datetime.timedelta(days=1)
        text = self.path.read_text()
        self.slower("slower.json", started_at=f"{day}T23:00:00Z")
        self.run_tool("compare", "slower.json", code=1)
        done = self.accept("slower.json", "--expires", str(day))
        self.assertIn("1 acknowledged", done.stdout)
        for line in text.splitlines():
            self.assertIn(line, self.path.read_text())

        done = self.run_tool("compare", "slower.json", "--report", "v.json", "--report", "j.xml")
        self.assertRegex(done.stdout, r"(?m)^acknowledged +gemm/")
        self.assertIn(f"acknowledged until {day} by Ada: meant", done.stdout)
        self.assertIn("1 acknowledged", done.stdout.splitlines()[-1])
        verdicts = {case["id"]: case for case in self.read_json("v.json")["suites"][0]["cases"]}
        self.assertEqual("acknowledged", verdicts[self.first]["verdict"])
        skipped = {case.get("name"): case.find("skipped")
                   for case in xml.parse(self.folder / "j.xml").getroot().iter("testcase")}
        self.assertIn("acknowledged until", skipped[self.first].get("message"))

        self.store("later.json", started_at=f"{over}T00:00:01Z")
        done = self.run_tool("compare", "later.json", "--verbose", code=1)
        self.assertIn(f"its acknowledgement ended on {day}", done.stdout)
        self.run_tool("baseline", "verify")

        done = self.accept("slower.json", "--expires", "2020-01-31", code=2)
        self.assert_one_line(done.stderr, "2020-01-31", "over")
        self.accept("slower.json", "--expires", "soon", code=2)

    def test_verify_finds_what_was_done_by_hand(self):
        self.accept(self.slower())
        self.run_tool("baseline", "verify", "--baselines", tool.SOURCE / "baselines")
        good = self.path.read_text()
        ledger = self.ledger.read_text()
        accepted = json.loads(good)

        def verify(change, *parts):
            document = json.loads(good)
            change(document["cases"][self.first], document["cases"])
            self.write(self.path, json.dumps(document))
            stderr = self.run_tool("baseline", "verify", code=2).stderr
            for part in parts:
                self.assertIn(part, stderr)
            self.path.write_text(good)

        verify(lambda case, _: None, "not as perfgate writes it")
        verify(lambda case, _: case["metrics"]["gpu_time"].update(value=1), "its samples say",
               "not as it was accepted")
        verify(lambda case, _: case["anchors"].update(gpu_time=1), "not as it was accepted")
        verify(lambda case, _: case["anchors"].update(nothing=1), "an anchor of nothing")
        verify(lambda case, cases: cases.pop(self.first), "the baseline does not have it")
        known = {"until": "2030-01-01", "known": accepted["cases"][self.first]["metrics"]["gpu_time"]}
        verify(lambda case, _: case.update(acknowledged={"gpu_time": known}),
               "which the ledger does not know")
        verify(lambda case, _: case.update(acknowledged={"other": known}), "has no value")
        for text, part in ((ledger + "<<<<<<< HEAD\n", "gemm.ledger.jsonl:4"),
                           (ledger.replace('"suite":"gemm"', '"suite":"other"'), "its place")):
            self.ledger.write_text(text)
            self.assertIn(part, self.run_tool("baseline", "verify", code=2).stderr)
        self.ledger.write_text(ledger)
        self.write(self.path.with_name("No Suite.json"), "{}")
        self.assertIn("No Suite", self.run_tool("baseline", "verify", code=2).stderr)
        self.run_tool("baseline", "verify", "--baselines", "nowhere", code=2)

    def digest(self, case):
        """As harness/model/baseline.hpp defines it, from the stored text."""
        lines = self.path.read_text().splitlines()
        first = next(i for i, line in enumerate(lines)
                     if line.startswith(f"    {json.dumps(case)}: {{"))
        last = next(i for i in range(first, len(lines)) if lines[i] in ("    }", "    },"))
        text = "".join(re.sub(r'^("(?:[^"\\]|\\.)*"): ', r"\1:", line.strip())
                       for line in lines[first:last + 1])
        return hashlib.sha256(text.removesuffix(",").encode()).hexdigest()[:32]

    def test_a_refresh_says_when_drift_is_not_known(self):
        one = self.run_tool("baseline", "refresh", "base.json")
        self.assertIn("note: recorded in one session: ", one.stdout)
        self.assertIn("'perfgate baseline refresh --runs 5 SUITE'", one.stdout)
        board = self.run_tool("baseline", "refresh", "--add-board", "base.json")
        self.assertIn("'perfgate baseline refresh --add-board --runs 5 SUITE'", board.stdout)
        self.document["started_at"] = "2026-07-02T00:00:00Z"
        self.store("second.json")
        two = self.run_tool("baseline", "refresh", "base.json", "second.json")
        self.assertIn("note: recorded in two sessions: too few", two.stdout)
        # 20 processes each, and in the second session all cases 0.01 % slower: nobody knows what a third would be.
        def processes(factor):
            for case in self.document["suites"][0]["cases"]:
                for series in case["metrics"].values():
                    if series["unit"] == "ns" and series.get("batches"):
                        first = series["batches"][0]
                        series["batches"] = [
                            {**first, "process": i, "samples": [factor * (1 + 1e-6 * i) * first["samples"][0]]}
                            for i in range(20)]

        processes(1)
        self.store("twenty.json")
        self.document["started_at"] = "2026-07-04T00:00:00Z"
        processes(1.0001)
        self.store("slower.json")
        apart = self.run_tool("baseline", "refresh", "twenty.json", "slower.json").stdout
        self.assertIn("more than 1000 %", apart)
        self.document["started_at"] = "2026-07-03T00:00:00Z"
        self.store("third.json")
        three = self.run_tool("baseline", "refresh", "base.json", "second.json", "third.json")
        self.assertNotIn("session", three.stdout)

    def test_a_refresh_says_what_is_slower_or_fails_also_of_cases_that_are_not_stored(self):
        scale(self.cases[self.first], "gpu_time", 1.5)
        self.cases[self.first]["not_collected"] = [{"metric": "dram_bytes", "reason": "no permission"}]
        others = [id for id in self.cases if id != self.first]
        for id, status in zip(others, ("incorrect", "error")):
            self.cases[id].update(status=status, reason="why", metrics={})
        self.store("bad.json")
        text = self.run_tool("baseline", "refresh", "--reset-anchor", "bad.json", code=4).stdout
        self.assertRegex(text, r"(?m)^  slower: " + re.escape(self.first) + r": gpu_time .*; not stored$")
        self.assertIn(f"  not stored: {self.first}: dram_bytes was not collected", text)
        for id, status in zip(others, ("incorrect", "error")):
            self.assertIn(f"  failed: {id}: {status}: why\n", text)

    def test_a_refresh_names_a_time_that_cannot_be_shown_and_the_tolerance_that_would_do(self):
        case = self.cases[self.first]
        self.document["suites"][0]["cases"] = [case]
        gate = case["gates"][0]
        self.assertEqual(("gpu_time", 0.04), (gate["metric"], gate["worse"]))
        series = case["metrics"]["gpu_time"]

        def refreshed(processes, spread):
            series["batches"] = [
                {**series["batches"][0], "process": i,
                 "samples": [series["value"] * (1 + spread * (i / (processes - 1) - 0.5))]}
                for i in range(processes)]
            self.store("spread.json")
            shutil.rmtree(self.folder / "baselines", ignore_errors=True)
            return self.run_tool("baseline", "refresh", "spread.json").stdout

        warning = f"  warning: {self.first}: gpu_time cannot be shown to be within "
        self.assertNotIn("cannot be shown", refreshed(20, 0.01))
        self.assertIn(f"{warning}4 %: there are too few processes, record at least 20\n", refreshed(2, 0.01))
        offered = re.search(re.escape(warning) + r"4 %: with this spread the tolerance should be ([\d.]+) %\n",
                            refreshed(20, 0.08))
        self.assertGreater(float(offered[1]), 4)
        gate["worse"] = float(offered[1]) / 100
        self.assertNotIn("cannot be shown", refreshed(20, 0.08), "the tolerance that is offered is enough")

    def test_a_run_is_one_session_however_often_it_is_named(self):
        shutil.copy(self.folder / "base.json", self.folder / "copy.json")
        for second in ("base.json", "copy.json"):
            done = self.run_tool("baseline", "refresh", "base.json", second, code=2)
            self.assert_one_line(done.stderr, "base.json and " + second, "the same content")

    def test_verify_sees_any_edit_after_a_refresh(self):
        (refresh,) = self.entries()
        self.assertEqual(self.digest(self.first), refresh["digests"][self.first])
        self.run_tool("baseline", "verify")
        good = self.path.read_text()
        document = json.loads(good)
        for case in document["cases"].values():
            series = case["metrics"]["gpu_time"]
            for key in ("value", "processes"):
                if key in series:
                    series[key] = ([2 * value for value in series[key]]
                                   if isinstance(series[key], list) else 2 * series[key])
            for batch in series.get("batches", []):
                batch["samples"] = [2 * sample for sample in batch["samples"]]
        self.path.write_text(json.dumps(document))
        stderr = self.run_tool("baseline", "verify", code=2).stderr
        self.assertIn(f"{self.first}: not as it was accepted", stderr)

        self.path.write_text(good)
        self.accept(self.slower())
        self.assertEqual(self.digest(self.first), self.entries()[-1]["digests"][self.first])
        self.run_tool("baseline", "verify")
        kept = self.ledger.read_text()
        self.ledger.unlink()
        stderr = self.run_tool("baseline", "verify", code=2).stderr
        self.assertIn("has no ledger: restore", stderr)
        self.ledger.write_text(kept)

    def test_a_case_whose_last_entry_has_no_digest_is_a_fault_until_it_is_refreshed(self):
        head, *entries = map(json.loads, self.ledger.read_text().splitlines())
        entries[-1].pop("digests")
        self.ledger.write_text("".join(json.dumps(line) + "\n" for line in [head, *entries]))
        self.assertIn("cannot show edits of", self.run_tool("baseline", "verify", code=2).stderr)
        self.run_tool("baseline", "refresh", "base.json", "--reason", "again")
        self.run_tool("baseline", "verify")

    def test_a_writer_waits_for_another_and_says_so(self):
        self.slower()
        folder = os.open(self.folder / "baselines", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        writer = subprocess.Popen([tool.PERFGATE, "baseline", "accept", "slower.json", "--reason",
                                   "meant"], cwd=self.folder, stderr=subprocess.PIPE, text=True,
                                  stdout=subprocess.DEVNULL)
        self.assertIn("another perfgate is writing baselines", writer.stderr.readline())
        self.assertEqual(1, len(self.entries()))
        self.run_tool("compare", "base.json")  # readers do not wait
        os.close(folder)
        self.assertEqual("", writer.stderr.read())
        self.assertEqual(0, writer.wait())
        writer.stderr.close()
        self.assertEqual(2, len(self.entries()))

    def test_a_short_document_that_repeats_much_is_refused(self):
        document = json.loads(self.path.read_text())
        case = document["cases"][self.first]
        case["metrics"] = {f"m{i}": {"unit": "ns", "value": 1, "method": "x", "device": "b",
                                     "seed": 1, "repeated": 100000} for i in range(300)}
        document["cases"] = {self.first: case}
        self.path.write_text(json.dumps(document))
        done = self.run_tool("compare", "base.json", code=2)
        self.assert_one_line(done.stderr, "repeats more than 500000 values", "m5.repeated")

    def test_prune_shows_orphans_and_takes_them_out(self):
        self.write("gemm.yaml", "name: gemm\ndefaults: {metrics: [gpu_time], "
                   "tolerances: {gpu_time: 3%}}\nworkloads:\n  - workload: gemm\n"
                   "    variants: [cublas]\n    params: {dtype: bf16, m: 1000, n: 1000, k: 1000}\n")
        before = self.path.read_text()
        total = len(json.loads(before)["cases"])
        done = self.run_tool("baseline", "prune", "gemm.yaml", "--dry-run")
        self.assertIn(f"{total - 1} orphans would be removed", done.stdout)
        self.assertEqual(before, self.path.read_text())
        self.run_tool("baseline", "prune", "gemm.yaml", "--reason", "suite split")
        left = json.loads(self.path.read_text())["cases"]
        self.assertEqual(["gemm/cublas[dtype=bf16,k=1000,m=1000,n=1000]"], list(left))
        self.assertEqual(total - 1, sum(entry["action"] == "prune" for entry in self.entries()))
        self.assertIn("0 orphans", self.run_tool("baseline", "prune", "gemm.yaml").stdout)
        self.run_tool("baseline", "verify")

        self.write("other.yaml", (self.folder / "gemm.yaml").read_text().replace("name: gemm",
                                                                                 "name: other"))
        done = self.run_tool("baseline", "prune", "other.yaml")
        self.assertIn("1 baseline of other suites kept", done.stdout)
        self.run_tool("baseline", "prune", "other.yaml", "--all-suites")
        self.assertFalse(self.path.exists())
        self.run_tool("baseline", "verify")
        self.write(f"baselines/{DEVICE}/other.json", "{")
        self.run_tool("baseline", "prune", "other.yaml", code=2)

    @unittest.skipUnless(shutil.which("git"), "git is missing")
    def test_acceptances_of_two_branches_merge(self):
        def git(*words):
            who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
            subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True,
                           env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
                                "GIT_CONFIG_SYSTEM": "/dev/null"})

        git("init", "-q", "-b", "main")
        git("add", "baselines")
        git("commit", "-qm", "base")
        git("checkout", "-qb", "one")
        self.accept(self.slower("one.json", ids=[self.first]))
        git("commit", "-qam", "one")
        git("checkout", "-q", "main")
        scale(self.cases[self.first], "gpu_time", 1 / 1.08)
        self.accept(self.slower("two.json", ids=[self.second]))
        git("commit", "-qam", "two")
        git("merge", "-q", "one")
        self.run_tool("baseline", "verify")
        scale(self.cases[self.first], "gpu_time", 1.08)
        self.store("both.json")
        self.run_tool("compare", "both.json")


if __name__ == "__main__":
    tool.main()
