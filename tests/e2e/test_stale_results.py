# SPDX-License-Identifier: Apache-2.0
"""What an earlier call left where this one writes does not pass for this one's, and no input is lost."""

import shutil

import tool

DEVICE = "nvidia-h100-80gb-hbm3"
RUN = tool.SOURCE / f"tests/data/aa/{DEVICE}/gemm-1.run.json"
FORMATS = ("json", "junit", "csv", "markdown", "html", "annotations")


class StaleResults(tool.Case):
    def yesterday(self, *names):
        for name in names:
            self.write(name, "yesterday")

    def assert_gone(self, *names):
        for name in names:
            self.assertFalse((self.folder / name).exists(), name)

    def test_a_call_that_ends_early_leaves_no_results_in_its_folder(self):
        self.write("broken.yaml", "no: profile")
        shutil.copy(RUN, self.folder / "good.json")
        results = ["perfgate-out/verdict.json", "perfgate-out/junit.xml"]
        run = [*results, "perfgate-out/run.json"]
        out = ["--out", "perfgate-out"]
        for words, stale in (
                (["run", "none.yaml"], run),
                (["run", "none.yaml", "--report-url", "no address"], run),
                (["run", "none.yaml", "--no-such-option"], run),
                (["run", "none.yaml", "--shard", ""], run),
                (["run", "none.yaml", "--config", "broken.yaml"], run),
                (["run", "none.yaml", "--resume", "perfgate-out"], run),
                (["ab", "none.yaml", "--base", "build:.", "--head", "build:."],
                 [*run, "perfgate-out/base/run.json"]),
                (["compare", "none.json", "other.json", "--out", "perfgate-out"], run),
                (["compare", "none.json", *out], results),
                (["compare", "good.json", "--filter", "nothing/*", *out], results),
                (["report", "none.json", *out], results)):
            with self.subTest(words):
                self.yesterday(*stale, "perfgate-out/journal.jsonl", "perfgate-out/mine.txt")
                done = self.run_tool(*words, code=2)
                self.assertNotEqual("", done.stderr)
                self.assert_gone(*stale)
                self.assertTrue((self.folder / "perfgate-out/mine.txt").exists())
                self.assertTrue((self.folder / "perfgate-out/journal.jsonl").exists())

    def test_neither_do_the_files_of_its_reports(self):
        for verb in (["compare", "none.json"], ["report", "none.json"], ["run", "none.yaml"],
                     ["compare", "none.json", "other.json", "--out", "perfgate-out", "--color", "pink"]):
            with self.subTest(verb):
                self.yesterday(*FORMATS)
                words = [word for name in FORMATS for word in ("--report", f"{name}:{name}")]
                self.run_tool(*verb, *words, code=2)
                self.assert_gone(*FORMATS)

    def test_nor_a_self_test(self):
        stale = ["perfgate-selftest/base/run.json", "perfgate-selftest/trial-7/run.json", "s.json"]
        self.yesterday(*stale)
        self.run_tool("selftest", "none.yaml", "--report", "s.json", code=2)
        self.assert_gone(*stale)

    def test_devices_pipes_and_links_stay(self):
        self.yesterday("target.xml")
        (self.folder / "link.xml").symlink_to("target.xml")
        self.run_tool("compare", "none.json", "--report", "json:/dev/null", "--report", "link.xml", code=2)
        self.assertEqual("", (self.folder / "target.xml").read_text())
        self.assertTrue((self.folder / "link.xml").is_symlink())

    def test_inputs_are_never_removed_nor_overwritten(self):
        text = RUN.read_text()
        self.write("perfgate-out/run.json", text)
        run = "perfgate-out/run.json"
        self.run_tool("compare", run, "--out", "perfgate-out")
        self.assertEqual(text, (self.folder / run).read_text())
        self.assertTrue((self.folder / "perfgate-out/junit.xml").exists())
        for words in (["compare", run, "--report", f"json:{run}"],
                      ["report", run, "--report", f"junit:./perfgate-out/../{run}"],
                      ["compare", run, "--config", "none.yaml"]):
            with self.subTest(words):
                self.run_tool(*words, code=2)
                self.assertEqual(text, (self.folder / run).read_text())
        self.run_tool("baseline", "refresh", run, "--reason", "first")
        baseline = self.folder / f"baselines/{DEVICE}/gemm.json"
        kept = baseline.read_text()
        done = self.run_tool("compare", run, "--report", f"json:{baseline}", code=2)
        self.assert_one_line(done.stderr, "it is an input")
        self.assertEqual(kept, baseline.read_text())

    def test_the_verb_alone_is_a_question_and_clears_nothing(self):
        self.yesterday("perfgate-out/run.json")
        self.run_tool("run", code=2)
        self.run_tool("run", "--help")
        self.assertTrue((self.folder / "perfgate-out/run.json").exists())


if __name__ == "__main__":
    tool.main()
