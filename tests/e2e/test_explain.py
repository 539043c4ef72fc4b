# SPDX-License-Identifier: Apache-2.0
"""perfgate report --why on recorded runs, and the same sentences in every report."""

import json
import xml.etree.ElementTree

import tool

RUNS = tool.SOURCE / "tests/data/aa/nvidia-h100-80gb-hbm3"
CASE = "gemm/tiled[dtype=f32,k=4096,m=4096,n=4096]"


class Explain(tool.Case):
    def setUp(self):
        super().setUp()
        # The first run is what is expected of the second.
        self.run_tool("baseline", "refresh", RUNS / "gemm-1.run.json", "--baselines", "base")

    def slower(self):
        """The second run, one case of it with fewer tiles: naive's counters and more time."""
        run = json.loads((RUNS / "gemm-2.run.json").read_text())
        cases = {case["id"]: case for case in run["suites"][0]["cases"]}
        naive = cases[CASE.replace("tiled", "naive")]
        for metric in ("gpu_time", "instructions", "dram_bytes", "sectors_per_request_load"):
            cases[CASE]["metrics"][metric] = naive["metrics"][metric]
        return self.write("slower.json", json.dumps(run))

    def test_the_same_code_twice_did_not_move(self):
        done = self.run_tool("report", RUNS / "gemm-2.run.json", "--why", "--baselines", "base")
        self.assertEqual("nothing moved: 81 inconclusive (81 not shown)\n", done.stdout)
        done = self.run_tool("report", RUNS / "gemm-2.run.json", "--why", "--filter", "*", "--baselines", "base")
        self.assertEqual(81, done.stdout.count("why: nothing moved (2"), done.stdout)
        self.assertEqual(162, len([line for line in done.stdout.splitlines()[2:]
                                   if not line.startswith("ceilings: ")]))

    def test_a_slower_case_is_explained(self):
        run = self.slower()
        done = self.run_tool("report", run, "--why", "--baselines", "base", "--report", "why.json")
        self.assertIn(f"{CASE}: regressed, gpu_time ", done.stdout)
        for sentence in ("why: narrower loads: sectors_per_request_load ",
                         "why: more traffic to memory for the same work: dram_bytes "):
            self.assertIn(sentence, done.stdout)
        self.assertIn("80 more cases have nothing to explain", done.stdout)
        cases = self.read_json("why.json")["suites"][0]["cases"]
        rules = {case["id"]: [cause["rule"] for cause in case["why"]] for case in cases
                 if "why" in case}
        self.assertEqual({CASE: ["narrow_accesses", "dram"]}, rules)
        dram = [cause for case in cases if case["id"] == CASE for cause in case["why"]][1]
        self.assertEqual("dram_bytes", dram["figures"][0]["metric"])
        self.assertLess(dram["figures"][0]["before"], dram["figures"][0]["after"])

    def test_every_report_says_why(self):
        done = self.run_tool("compare", self.slower(), "--baselines", "base", "--report", "v.json",
                             "--report", "j.xml", "--report", "m.md", "--report", "annotations:a.txt",
                             code=1)
        verdict = self.read_json("v.json")
        why = [cause["sentence"] for case in verdict["suites"][0]["cases"] for cause in case.get("why", [])]
        self.assertEqual(2, len(why))
        brief = next(case["why"][0]["brief"] for case in verdict["suites"][0]["cases"] if "why" in case)
        junit = xml.etree.ElementTree.parse(self.folder / "j.xml")
        failure = next(junit.iter("failure")).text
        markdown = (self.folder / "m.md").read_text()
        annotations = (self.folder / "a.txt").read_text().replace("%25", "%")
        verbose = self.run_tool("compare", self.slower(), "--baselines", "base", "--verbose", code=1).stdout
        for sentence in why:
            for text in (verbose, failure, markdown, annotations):
                self.assertIn("why: " + sentence, text)
        console = " ".join(done.stdout.split())
        for text in (console, markdown):
            self.assertIn(brief, text)
        # The sentence that all begin with is the same.
        self.assertIn(brief, verdict["summary"])
        self.assertTrue(console.startswith(verdict["summary"]), console)
        self.assertIn(f"**{verdict['summary']}**", markdown)
        self.assertIn(verdict["summary"], annotations)
        self.assertTrue(next(junit.iter("testsuite")).findtext("system-out").startswith(verdict["summary"]))
        self.assertTrue(annotations.startswith("::error file=suites/gemm.yaml,line="), annotations)

    def test_annotations_take_standard_output(self):
        done = self.run_tool("report", self.slower(), "--baselines", "base", "--report", "annotations:-")
        for line in done.stdout.splitlines():
            self.assertTrue(line.startswith("::"), line)
        self.assertIn("1 regressed", done.stderr)

    def test_what_it_cannot_use_is_named(self):
        run = RUNS / "gemm-1.run.json"
        done = self.run_tool("report", run, "--why", "--filter", "nothing/*", "--baselines", "base", code=2)
        self.assert_one_line(done.stderr, "nothing/*")
        done = self.run_tool("report", "absent.json", "--why", code=2)
        self.assert_one_line(done.stderr, "absent.json")
        done = self.run_tool("report", run, "--why", "--baselines", "base", "--report", "json:base", code=2)
        self.assert_one_line(done.stderr, "base: it is a folder")
        done = self.run_tool("report", run, "--why", "--config", "absent.yaml", code=2)
        self.assert_one_line(done.stderr, "absent.yaml")

    def test_a_profile_says_where_the_baselines_are(self):
        self.write("p.yaml", "baselines: base\n")
        done = self.run_tool("report", RUNS / "gemm-2.run.json", "--why", "--config", "p.yaml")
        self.assertEqual("nothing moved: 81 inconclusive (81 not shown)\n", done.stdout)

    def test_without_a_baseline_there_is_nothing_to_explain(self):
        done = self.run_tool("report", RUNS / "gemm-2.run.json", "--why")
        self.assertEqual("nothing moved: 81 no_baseline\n", done.stdout)

    def test_the_machine_code_that_is_kept_beside_a_run_is_compared_with_the_base(self):
        def case(load, waiting):
            instructions = [{"at": 0, "text": "LDC.64 R2, c[0x0][0x210]", "file": "k.cu", "line": 3},
                            {"at": 16, "text": f"{load} R4, desc[UR4][R2.64]", "file": "k.cu", "line": 4},
                            {"at": 32, "text": "EXIT", "file": "k.cu", "line": 5,
                             "samples": {"long_scoreboard": waiting}, "of_half": waiting // 2}]
            return {"suite": "gemm", "case": CASE,
                    "kernels": [{"name": "copy\x1b[31m", "code": load, "instructions": instructions, "launches": 10}]}

        def write(**sides):
            self.write("code.json", json.dumps({"schema": "perfgate.code", "version": 1, **sides}))

        def report(*words):
            return self.run_tool("report", "run.json", "--why", *words)

        run = json.loads((RUNS / "gemm-2.run.json").read_text())
        self.write("run.json", json.dumps(run))
        write(cases=[case("LDG.E.EF", 3000)])
        self.assertNotIn("instructions", report("--filter", CASE).stdout)  # the file is another run's
        next(each for each in run["suites"][0]["cases"] if each["id"] == CASE)["machine_code"] = {"change": "seen"}
        self.write("run.json", json.dumps(run))
        named = report("--filter", CASE).stdout
        self.assertIn("3 instructions; the base's are not at hand", named)
        self.assertIn("100 % of the samples are at k.cu:5, waiting for memory", named)
        write(cases=[case("LDG.E.EF", 3000)], base=[case("LDG.E", 1000)])
        named = report("--filter", CASE).stdout
        self.assertIn("LDG.E 1 → 0, LDG.E.EF 0 → 1 at k.cu:4", named)
        self.assertIn("100 % of the added samples are at k.cu:5", named)
        self.assertIn("- LDG.E R4, desc[UR4][R2.64]", named)
        self.assertIn("+ LDG.E.EF R4, desc[UR4][R2.64]", named)
        self.assertNotIn("\x1b", named)
        self.assertNotIn("LDG", report().stdout)  # no case is named
        self.write("code.json", '{"schema": "perfgate.code", "version": 1, "cases": [{}]}')
        done = report("--filter", CASE)
        self.assertNotIn("LDG", done.stdout)
        self.assert_one_line(done.stderr, "warning", "code.json")


if __name__ == "__main__":
    tool.main()
