# SPDX-License-Identifier: Apache-2.0
"""`perfgate history`: what is kept of runs, and what is shown of it."""

import json
import os
import re
import shutil
import sqlite3
import subprocess

import tool

RUN = tool.SOURCE / "tests/data/runs/nvidia-h200/softmax-1.run.json"
CASE = "softmax/copy[dtype=f32,rows=4096,width=1024]"


class History(tool.Case):
    def night(self, number, factor=1.0, revision=None, driver=None):
        run = json.loads(RUN.read_text())
        run["started_at"] = f"2026-01-{number + 1:02d}T02:00:00Z"
        run["git_revision"] = revision or f"{number:040x}"
        if driver:
            run["environment"]["driver"] = driver
        run["suites"][0]["cases"] = run["suites"][0]["cases"][:1]
        run["suites"][0]["relations"] = []
        for series in run["suites"][0]["cases"][0]["metrics"].values():
            for batch in series["batches"]:
                # Nights differ a little, each in its own way.
                off = 1 + 0.001 * ((number * 7 + batch["process"] * 3) % 5 - 2)
                batch["samples"] = [value * factor * off for value in batch["samples"]]
        return self.write(f"night-{number}.run.json", json.dumps(run))

    def add(self, *files, code=0):
        return self.run_tool("history", "add", "h.db", *files, code=code)

    def test_a_slower_driver_is_shown_with_its_night(self):
        self.add(*(self.night(n, 1.05 if n >= 18 else 1, driver="999.1" if n >= 18 else None) for n in range(28)))
        for words in ([], ["softmax"], ["softmax", CASE]):
            shown = self.run_tool("history", "show", "h.db", *words).stdout
            self.assertRegex(shown, r"2026-01-19 .*\(\+[45]\.\d+ %\)  driver or toolkit: .*580\.159\.04 → 999\.1")
            self.assertRegex(shown, "[▁▂▃▄▅▆▇█]{28}")

    def test_a_loss_that_the_baseline_hides_behind_an_improvement_is_seen(self):
        """100, 50, then 90: against the baseline of 100 both are faster."""
        self.add(*(self.night(n, 1 if n < 8 else 0.5 if n < 16 else 0.9) for n in range(24)))
        shown = self.run_tool("history", "show", "h.db", "softmax", CASE).stdout
        self.assertRegex(shown, r"2026-01-09 .*\(-50\.\d %\)[^▁]*2026-01-17 .*\(\+80\.\d %\)")
        self.site()
        badge = json.loads((self.folder / "site/badge.json").read_text())
        self.assertEqual(("1 case worse", "red"), (badge["message"], badge["color"]))

    def test_unchanged_nights_show_no_change(self):
        self.add(*(self.night(n) for n in range(28)))
        self.assertRegex(self.run_tool("history", "show", "h.db").stdout, r"^0 of \d+ series changed")

    def test_a_run_is_added_once_also_through_another_history(self):
        first, second = self.night(0), self.night(1)
        self.assertIn("1 run added", self.add(first).stdout)
        self.assertIn("1 run added", self.add(first, second).stdout)
        shutil.copy(self.folder / "h.db", self.folder / "other.db")
        (self.folder / "h.db").unlink()
        self.add(first)
        self.assertIn("1 run added", self.add("other.db").stdout)
        self.assertIn("0 runs added", self.add("other.db").stdout)
        self.assert_one_line(self.add("other.db", "h.db", code=2).stderr, "cannot be added to itself")

    def test_commits_are_in_the_order_of_git(self):
        self.run_git = lambda *words, **env: subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@x", *words], cwd=self.folder, check=True,
            capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **env}).stdout.strip()
        self.run_git("init", "-q")
        revisions = []
        for day in ("2025-01-01", "2025-01-02"):
            when = f"{day}T00:00:00Z"
            self.run_git("commit", "-q", "--allow-empty", "-m", "x", GIT_COMMITTER_DATE=when, GIT_AUTHOR_DATE=when)
            revisions.append(self.run_git("rev-parse", "HEAD"))
        # The older commit was measured later.
        self.add(self.night(0, revision=revisions[1]), self.night(1, revision=revisions[0]))
        with sqlite3.connect(self.folder / "h.db") as connection:
            found = [row[0] for row in connection.execute("SELECT revision FROM run ORDER BY ordered")]
        self.assertEqual(revisions, found)

    def test_old_runs_are_removed_on_request(self):
        self.assertIn("3 runs added, 2 removed (--keep)", self.add(*(self.night(n) for n in (0, 1, 20)), "--keep", "5").stdout)
        run = json.loads(self.night(21).read_text())
        run["started_at"] = "2099-01-01T00:00:00Z"
        future = self.write("future.run.json", json.dumps(run))
        self.assert_one_line(self.add(future, "--keep", "5", code=2).stderr, "2099-01-01T00:00:00Z is in the future")
        with sqlite3.connect(self.folder / "h.db") as connection:
            self.assertEqual([("2026-01-21T02:00:00Z",)], list(connection.execute("SELECT started FROM run")))
            connection.execute("UPDATE run SET started = '2099-01-01T00:00:00Z', fingerprint = 'f'")
        os.rename(self.folder / "h.db", self.folder / "future.db")
        self.assertIn("1 run added; 1 run dated in the future left out", self.add(self.night(0), "future.db").stdout)

    def test_the_verdict_beside_a_run_is_kept(self):
        self.add(RUN)
        with sqlite3.connect(self.folder / "h.db") as connection:
            self.assertNotEqual([("",)], list(connection.execute("SELECT DISTINCT verdict FROM night")))
        shown = self.run_tool("history", "show", "h.db").stdout
        self.assertRegex(shown, r"\n2026-11: \d+ verdicts, \d+ alarms? \(0 false\), \? acknowledged, \? accepted, 0 runs measured again\n$")

    def test_what_is_no_history_or_no_run_is_refused(self):
        self.write("text", "no history")
        self.assert_one_line(self.run_tool("history", "show", "text", code=2).stderr, "text")
        self.assert_one_line(self.run_tool("history", "show", "absent", code=2).stderr, "no such history")
        self.assert_one_line(self.add("text", code=2).stderr, "text")
        self.assertFalse((self.folder / "h.db").exists())
        self.add(self.night(0))
        self.assert_one_line(self.run_tool("history", "show", "h.db", "absent", code=2).stderr, "no runs of absent")
        foreign = sqlite3.connect(self.folder / "foreign.db")
        foreign.execute("CREATE TABLE run (id)")
        foreign.commit()
        foreign.close()
        self.assert_one_line(self.add("foreign.db", code=2).stderr, "foreign.db is not a history of this perfgate")
        with sqlite3.connect(self.folder / "h.db") as connection:
            connection.execute("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM night; END")
        self.assert_one_line(self.add(self.night(1), code=2).stderr, "it has other tables")

    RESULTS = tool.SOURCE / "tests/data/benchmarks"

    def runs(self):
        with sqlite3.connect(self.folder / "h.db") as connection:
            return list(connection.execute("SELECT started, revision FROM run ORDER BY started"))

    def test_dated_results_of_benchmarks_are_runs(self):
        self.add(self.RESULTS / "google-benchmark.json", self.RESULTS / "pytest-benchmark-4.0.0.json")
        self.assertEqual(["2026-11-23T05:19:03Z", "2026-11-26T20:06:34Z"], [started for started, _ in self.runs()])
        self.assertIn("0 runs added", self.add(self.RESULTS / "google-benchmark.json").stdout)
        shown = self.run_tool("history", "show", "h.db").stdout
        self.assertRegex(shown, r"^0 of \d+ series changed")
        # A time without its offset, and none.
        google = json.loads((self.RESULTS / "google-benchmark.json").read_text())
        google["context"]["date"] = "2026-11-24 07:19:03-02:30"
        self.add(self.write("offset.json", json.dumps(google)))
        self.assertIn("2026-11-24T09:49:03Z", [started for started, _ in self.runs()])
        google["benchmarks"] = [{**google["benchmarks"][0], "real_time": 0, "cpu_time": 0}]
        self.assertIn("0 runs added; 1 run without a value left out", self.add(self.write("zero.json", json.dumps(google))).stdout)
        del google["context"]["date"]
        self.assert_one_line(self.add(self.write("dateless.json", json.dumps(google)), code=2).stderr, "dateless.json", "with their date")

    def data_js(self, count, **changes):
        entries = [{"commit": {"id": f"{i:040x}"}, "date": 1767225600000 + i * 86400000, "tool": "customBiggerIsBetter",
                    "benches": [{"name": "copy", "value": 100 + i % 3 - (20 if i >= 15 else 0), "unit": "GB/s", "range": "± 1"},
                                {"name": "sort/8", "value": 5 + i % 2, "unit": "ms"}], **changes}
                   for i in range(count)]
        return "window.BENCHMARK_DATA = " + json.dumps({"lastUpdate": 0, "entries": {"On a/b ~ GPU": entries}})

    def test_the_history_of_github_action_benchmark_is_read_and_grows(self):
        self.assertIn("25 runs added", self.add(self.write("data.js", self.data_js(25))).stdout)
        self.assertIn("3 runs added", self.add(self.write("data.js", self.data_js(28) + ";\n")).stdout)
        self.assertEqual(("2026-01-02T00:00:00Z", f"{1:040x}"), self.runs()[1])
        shown = self.run_tool("history", "show", "h.db", "On a/b ~ GPU", "bench/copy").stdout
        self.assertRegex(shown, r"2026-01-16 .*\(-(19|20)\.\d %\)")
        with sqlite3.connect(self.folder / "h.db") as connection:
            self.assertEqual([("bench/copy", "GB/s", "GB/s", 1), ("bench/sort/8", "real_time", "ns", 0)],
                             list(connection.execute("SELECT case_id, metric, unit, direction FROM series ORDER BY case_id")))

    def test_a_data_js_is_read_and_never_executed(self):
        hostile = self.data_js(1) + "; process.exit(0)"
        for text in (hostile, "window.BENCHMARK_DATA = alert(1)", "window.BENCHMARK_DATA =", "window.BENCHMARK_DATA = {}",
                     self.data_js(1, date=-1), self.data_js(1, date="today"), self.data_js(1, benches=7), self.data_js(1, commit={}),
                     self.data_js(1).replace("On a/b ~ GPU", "*")):
            with self.subTest(text[:60]):
                self.assert_one_line(self.add(self.write("bad.js", text), code=2).stderr, "bad.js")
        self.assertFalse((self.folder / "h.db").exists())

    def site(self, code=0):
        done = self.run_tool("history", "site", "h.db", "site", code=(0, 2))
        if "without the HTML report" in done.stderr:
            self.skipTest("this build has no pages")
        self.assertEqual(code, done.returncode, done.stderr)
        return done

    def site_data(self):
        index = (self.folder / "site/index.html").read_text()
        index = json.loads(re.search(r'id="data">(.*?)</script>', index, re.DOTALL)[1])
        files = {}
        for file in (self.folder / "site/data").iterdir():
            call = re.fullmatch(r"perfgate_case\((.*)\);\n", file.read_text())
            files[file.stem] = json.loads(call[1])
        return index, files

    def test_a_site_has_a_file_for_each_case_and_is_the_same_each_time(self):
        self.add(*(self.night(n, 1.05 if n >= 18 else 1) for n in range(28)))
        self.site()
        index, files = self.site_data()
        (suite, case, file), = index["cases"]
        self.assertEqual(["softmax", CASE], [index["texts"][suite], case])
        self.assertEqual([file], list(files))
        self.assertEqual(index["edition"], files[file]["edition"])
        self.assertEqual({28}, {len(series["nights"]) for series in files[file]["series"]})
        self.assertEqual("red", json.loads((self.folder / "site/badge.json").read_text())["color"])
        first = {path: path.read_bytes() for path in (self.folder / "site").rglob("*") if path.is_file()}
        self.site()
        self.assertEqual(first, {path: path.read_bytes() for path in (self.folder / "site").rglob("*") if path.is_file()})

    def test_accepted_changes_are_no_alarm_on_the_badge(self):
        self.add(*(self.night(n, 1.05 if n >= 18 else 1) for n in range(28)))
        folder = self.folder / "baselines/nvidia-h200"
        folder.mkdir(parents=True)
        head = {"schema": "perfgate.ledger", "version": 2, "suite": "softmax", "device": "nvidia-h200"}
        entry = {"case": CASE, "at": "2026-01-20T00:00:00Z", "action": "accept", "by": "Ada", "reason": "needed", "changes": {}}
        (folder / "softmax.ledger.jsonl").write_text(json.dumps(head) + "\n" + json.dumps(entry) + "\n")
        self.site()
        self.assertEqual("green", json.loads((self.folder / "site/badge.json").read_text())["color"])
        index, _ = self.site_data()
        self.assertEqual([["2026-01-20T00:00:00Z", "accept", "Ada", "needed"]], [note[3:] for note in index["notes"]])

    def test_a_site_follows_no_link(self):
        self.add(self.night(0))
        (self.folder / "elsewhere").mkdir()
        (self.folder / "site").mkdir()
        (self.folder / "site/data").symlink_to("../elsewhere")
        self.assert_one_line(self.site(code=2).stderr, "data")
        self.assertEqual([], list((self.folder / "elsewhere").iterdir()))

    def test_hostile_names_cannot_reach_the_terminal(self):
        run = json.loads(self.night(0).read_text())
        run["suites"][0]["name"] = "s\x1b[31m"
        run["git_revision"] = "r\x1b]0;"
        self.add(self.write("hostile.run.json", json.dumps(run)))
        shown = self.run_tool("history", "show", "h.db", "s\x1b[31m", CASE)
        self.assertIsNone(re.search("\x1b", shown.stdout))


if __name__ == "__main__":
    tool.main()
