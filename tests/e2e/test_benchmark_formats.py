# SPDX-License-Identifier: Apache-2.0
"""Results of any format: run as a suite's benchmark, and compared as stored files."""

import json
import shutil

import tool

DATA = tool.SOURCE / "tests/data/benchmarks"
HOST = ["--backend", "host"]


class Formats(tool.Case):
    def suite(self, text, name="suite.yaml"):
        return self.write(name, "name: s\nworkloads:\n" + text)

    def run_suite(self, **kwargs):
        return self.run_tool("run", "suite.yaml", *HOST, "--processes", 2, **kwargs)

    def cases(self):
        return {case["id"]: case for suite in self.read_json("perfgate-out/run.json")["suites"]
                for case in suite["cases"]}

    def values(self):
        return {id_: {name: metric["value"] for name, metric in case["metrics"].items()}
                for id_, case in self.cases().items() if case["status"] == "measured"}

    def verdicts(self):
        return {case["id"]: case["verdict"] for suite in self.read_json("perfgate-out/verdict.json")["suites"]
                for case in suite["cases"]}


TABLE = """
  - benchmark: [cat, r.csv]
    name: b
    format: csv
    case: name
    axes: {n: n}
    values: {real_time: {from: time_us, unit: us}}
    tolerances: {real_time: 5%}
"""


class Tables(Formats):
    def test_a_row_that_could_not_run_costs_its_case(self):
        self.suite(TABLE)
        self.write("r.csv", "name,n,time_us\ngemm,4096,10.5\ngemm,8192,OOM\ngemm,2048,2.5\n")
        self.run_suite(code=3)
        self.assertEqual({"b/gemm[n=4096]": {"real_time": 10500}, "b/gemm[n=2048]": {"real_time": 2500}}, self.values())
        self.assertEqual("error", self.cases()["b/gemm[n=8192]"]["status"])

    def test_a_long_table_by_where_and_units_of_rows(self):
        self.write("r.csv", "kernel,provider,metric,unit,x,value\nrms,ours,speed,ms,4096,0.532\n"
                            "rms,ours,memory,MB,4096,512.3\n")
        guess = TABLE.replace("name\n    axes: {n: n}", "kernel\n    axes: {metric: metric, x: x}").replace(
            "from: time_us, unit: us", "from: value, unit: ms")
        self.suite(guess)
        self.run_suite(code=3)
        self.assertIn("line 3: column unit is 'MB'", self.cases()["b/*"]["reason"])
        self.suite("""
  - benchmark: [cat, r.csv]
    name: b
    format: csv
    case: kernel
    axes: {x: x}
    values:
      real_time: {from: value, where: {metric: speed}, unit: {from: unit}}
      memory: {from: value, where: {metric: memory}, unit: {from: unit, as: B}, better: lower}
    tolerances: {real_time: 5%, memory: 1%}
""")
        self.run_suite()
        values = self.values()
        self.assertEqual(["b/rms[x=4096]"], list(values))
        self.assertEqual({"real_time", "memory"}, set(values["b/rms[x=4096]"]))
        self.assertAlmostEqual(532000, values["b/rms[x=4096]"]["real_time"], places=6)
        self.assertAlmostEqual(512300000, values["b/rms[x=4096]"]["memory"], places=6)

    def test_what_differs_is_named_in_samples_or_refused(self):
        self.suite(TABLE)
        self.write("r.csv", "name,n,time_us,batch\na,1,1.1,8\na,1,2.2,16\n")
        self.run_suite(code=3)
        self.assertIn("differs in batch", self.cases()["b/*"]["reason"])
        self.suite(TABLE + "    samples: batch\n")
        self.run_suite()
        self.assertEqual([1100, 2200], self.cases()["b/a[n=1]"]["metrics"]["real_time"]["batches"][0]["samples"])

    def test_one_document_lines_and_text(self):
        self.write("r.json", json.dumps({"backend": "engine", "ttft": 690.1, "rate": 3483.6, "other": None}))
        one = """
  - benchmark: [cat, r.json]
    name: b
    format: json
    rows: ""
    case: /backend
    values: {real_time: {from: /ttft, unit: ms}, rate: {from: /rate, unit: tok/s}}
    tolerances: {real_time: 5%, rate: 5%}
"""
        for text, id_ in ((one, "b/engine"), (one.replace('    rows: ""\n', ""), "b/engine"),
                          (one.replace("    case: /backend\n", ""), "b/result")):
            self.suite(text)
            self.run_suite()
            self.assertEqual({id_: {"real_time": 690100000, "rate": 3483.6}}, self.values())
        definition = self.read_json("perfgate-out/run.json")["metric_definitions"]["rate"]
        self.assertEqual(("tok/s", "higher"), (definition["unit"], definition["direction"]))
        self.write("r.json", '{"backend": "a", "ttft": 1, "rate": 2}\n{"backend": "b", "ttft": 3, "rate": 4}\n')
        self.suite(one.replace("json\n    rows: \"\"", "jsonl"))
        self.run_suite()
        self.assertEqual({"b/a", "b/b"}, set(self.values()))
        self.write("say", "#!/bin/sh\nprintf 'pp 512 10.5 ms (480.5 tok/s)'\necho 'tg 128 20 ms (99 tok/s)' >&2\n").chmod(0o755)
        self.suite(r"""
  - benchmark: [./say]
    name: b
    format: text
    rows: '^(?<case>pp|tg) +(?<n>[0-9]+) +(?<ms>[0-9.]+) ms +[(](?<rate>[0-9.]+) tok/s[)]'
    values: {real_time: {from: ms, unit: ms}, rate: {from: rate, unit: tok/s}}
    tolerances: {real_time: 5%, rate: 5%}
""")
        self.run_suite()
        self.assertEqual({"b/pp[n=512]": {"real_time": 10500000, "rate": 480.5},
                          "b/tg[n=128]": {"real_time": 20000000, "rate": 99}}, self.values())
        self.write("say", "#!/bin/sh\necho nothing\n")
        self.run_suite(code=3)
        self.assertIn("matches nothing", self.cases()["b/*"]["reason"])

    def test_mistakes_in_the_suite(self):
        for old, new, message in (
                ("format: csv", "format: text", "'rows'"),
                ("from: time_us, unit: us", "from: time_us, unit: furlong", "furlong"),
                ("real_time: {from: time_us, unit: us}", "own: {from: time_us, unit: {from: u}, better: lower}", "'as'"),
                ("case: name", "case: name\n    rows: /x", "'rows' with the format csv"),
                ("format: csv\n    case: name\n    axes: {n: n}", "format: hyperfine\n    samples: x", "tables")):
            self.suite(TABLE.replace(old, new))
            self.assertIn(message, self.run_tool("validate", "suite.yaml", code=2).stderr, new)
        self.suite(TABLE.replace("[cat, r.csv]", '[cat, "{out}"]\n    check: [test, -s, "{out}"]'))
        self.assertIn("known only to 'benchmark' and 'env'", self.run_tool("validate", "suite.yaml", code=2).stderr)
        text = TABLE.replace("csv\n    case: name\n    axes: {n: n}", "text\n    rows: '{}'")
        self.suite(text.replace("{}", "(?<time_us>[0-9"))
        self.assertIn("no regular expression", self.run_tool("validate", "suite.yaml", code=2).stderr)
        self.suite(text.replace("{}", "(?<other>[0-9]+)"))
        self.assertIn("no group 'time_us'", self.run_tool("validate", "suite.yaml", code=2).stderr)

    def test_tools_need_no_places(self):
        shutil.copy(DATA / "ncu-raw.csv", self.folder / "r.csv")
        self.suite("""
  - benchmark: [cat, r.csv]
    name: k
    format: ncu
    values:
      read: {from: dram__bytes_read.sum, unit: B, better: lower}
      thread_registers: {from: launch__registers_per_thread, better: lower}
    tolerances: {real_time: 5%, read: 1%, thread_registers: 0}
""")
        self.run_suite()
        self.assertEqual(2, len(self.values()))
        self.assertTrue(all({"real_time", "read", "thread_registers"} == set(each) for each in self.values().values()))
        shutil.copy(DATA / "llama-bench.json", self.folder / "r.json")
        self.suite("""
  - benchmark: [cat, r.json]
    name: llama
    format: llama-bench
    axes: {batch: n_batch}
    tolerances: {real_time: 5%, items_per_second: 5%}
""")
        self.run_suite()
        self.assertEqual({'llama/qwen2 7B Q4_K - Medium[batch=2048,n_gen=0,n_prompt=512]',
                          'llama/qwen2 7B Q4_K - Medium[batch=2048,n_gen=128,n_prompt=0]'}, set(self.values()))


class Stored(Formats):
    def setUp(self):
        super().setUp()
        self.suite(TABLE.replace("[cat, r.csv]", '["false"]'))

    def csv(self, side, factor=1.0, rows=("a", "b"), count=8):
        return [str(self.write(f"{side}{i}.csv", "name,n,time_us\n" + "".join(
            f"{name},1,{10 * factor * (1 + 0.001 * i):.4f}\n" for name in rows))) for i in range(count)]

    def compare(self, base, head, *words, **kwargs):
        return self.run_tool("compare", "--suite", "suite.yaml", "--base", *base, "--head", *head, "--out",
                             "perfgate-out", *words, **kwargs)

    def test_base_against_head_by_a_suite(self):
        base = self.csv("base")
        self.compare(base, self.csv("same", 1.0003))
        self.assertEqual({"b/a[n=1]": "pass", "b/b[n=1]": "pass"}, self.verdicts())
        self.compare(base, self.csv("slow", 1.3), code=1)
        self.assertEqual({"regressed"}, set(self.verdicts().values()))
        self.compare(base[:1], [str(self.folder / "slow7.csv")], code=1)
        # What is missing, and what only some files have, fails.
        self.compare(base, self.csv("fewer", rows=("a",)), code=1)
        self.assertEqual("missing", self.verdicts()["b/b[n=1]"])
        self.compare(base, self.csv("some", 1.0003, count=7) + self.csv("fewer1", 1.0001, rows=("a",), count=1), code=(1, 3))
        self.assertEqual("error", self.verdicts()["b/b[n=1]"])

    def test_a_constant_column_that_differs_between_the_sides_is_noted(self):
        def files(side, dtype, noise):
            return [str(self.write(f"{side}{i}.csv", f"name,n,dtype,run,time_us\na,1,{dtype},r{i},{10 + noise + 0.01 * i:.3f}\n"))
                    for i in range(8)]

        base = files("base", "bf16", 0)
        for dtype, noted in (("bf16", False), ("f32", True)):
            with self.subTest(dtype):
                self.compare(base, files("head", dtype, 0.003))
                notes = self.read_json("perfgate-out/verdict.json")["suites"][0].get("notes", [])
                self.assertEqual(["column dtype is 'bf16' in the base and 'f32' in the head, and the suite does not name it"]
                                 if noted else [], [note for note in notes if note.startswith("column")])

    def test_by_baselines_without_running_anything(self):
        words = ("--suite", "suite.yaml/b", "--device-key", "rented")
        self.run_tool("compare", *words, *self.csv("base"), "--out", "perfgate-out")
        self.run_tool("baseline", "refresh", "perfgate-out/run.json")
        self.assertTrue((self.folder / "baselines/rented/s.json").exists())
        self.run_tool("compare", *words, *self.csv("same", 1.0003), "--out", "perfgate-out")
        self.assertEqual({"pass"}, set(self.verdicts().values()))
        self.run_tool("compare", *words, *self.csv("slow", 1.3), "--out", "perfgate-out", code=1)
        self.run_tool("compare", *words, *self.csv("fewer", rows=("a",)), "--out", "perfgate-out", code=1)
        # Another reading of results measures something else.
        self.suite(TABLE.replace("[cat, r.csv]", '["false"]').replace("unit: us", "unit: ms"))
        self.run_tool("compare", *words, *self.csv("same", 1.0003), "--out", "perfgate-out", code=3)

    def test_one_of_several_benchmarks(self):
        self.suite(TABLE + TABLE.replace("name: b", "name: c"))
        base = self.csv("base")
        self.assertIn("name one", self.compare(base, base, code=2).stderr)
        self.assertIn("did you mean", self.run_tool("compare", "--suite", "suite.yaml/bb", *base, code=2).stderr)
        self.run_tool("compare", "--suite", "suite.yaml/c", "--base", *base, "--head", *self.csv("same", 1.0003),
                      "--out", "perfgate-out")
        self.assertEqual({"c/a[n=1]", "c/b[n=1]"}, set(self.verdicts()))

    def test_what_it_refuses(self):
        base = self.csv("base")
        for words in (("--format", "hyperfine"), ("--tolerance", "3%")):
            self.assertIn("the suite's to say", self.compare(base, base, *words, code=2).stderr)
        self.assertIn("same content", self.run_tool("compare", "--suite", "suite.yaml", base[0], base[0], code=2).stderr)
        self.run_tool("compare", "--suite", "suite.yaml", *base, "--device-key", "k", "--out", "o")
        for words in (("--base", "o/run.json", "--base", base[0], "--head", base[1]),
                      ("--suite", "suite.yaml", "--base", "o/run.json", "--head", base[0])):
            done = self.run_tool("compare", *words, code=2)
            self.assert_one_line(done.stderr, "o/run.json: a run document among results", "name it alone")
        self.write("bad.csv", "x,y\n1,2\n")
        self.assertIn("bad.csv: line 1: 0 columns", self.run_tool("compare", "--suite", "suite.yaml", "bad.csv", code=2).stderr)
        self.assertIn("absent.yaml", self.run_tool("compare", "--suite", "absent.yaml", base[0], code=2).stderr)
        self.suite(TABLE.replace("[cat, r.csv]", '[cat, "{n}.csv"]').replace("    axes: {n: n}\n", "    matrix: {n: [1, 2]}\n"))
        self.assertIn("matrix", self.run_tool("compare", "--suite", "suite.yaml", base[0], code=2).stderr)
        self.assertIn("--suite", self.run_tool("compare", "--format", "csv", base[0], code=2).stderr)


def google(names, factor=1.0, **more):
    return {"context": {"library_build_type": "release"}, "benchmarks": [
        {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
         "iterations": 100, "real_time": 10.0 * factor, "cpu_time": 10.0 * factor, "time_unit": "ns", **more}
        for name in names]}


class Names(Formats):
    def files(self, side, names, factor=1.0, count=8):
        return [str(self.write(f"{side}{i}.json", json.dumps(google(names, factor * (1 + 0.001 * i)))))
                for i in range(count)]

    def compare(self, base, head, *words, **kwargs):
        return self.run_tool("compare", "--base", *base, "--head", *head, "--out", "perfgate-out", *words, **kwargs)

    def test_other_settings_are_a_note(self):
        base = self.files("base", ["a/64/repeats:3", "b/min_time:0.500"])
        self.compare(base, self.files("head", ["a/64/repeats:10", "b/min_time:0.500s"], 1.0003))
        self.assertEqual({"bench/a[arg0=64]": "pass", "bench/b": "pass"}, self.verdicts())
        self.assertIn("measured with repeats 10", (self.folder / "perfgate-out/verdict.json").read_text())
        self.compare(base, self.files("slow", ["a/64/repeats:10", "b/min_time:0.500s"], 1.3), code=1)

    def old_baseline(self):
        """As older versions stored it, with the settings in the names."""
        words = ("--suite", "s/bench", "--device-key", "box")
        self.run_tool("compare", *self.files("base", ["a/64/repeats:3", "b/8"]), *words, "--out", "perfgate-out")
        run = self.read_json("perfgate-out/run.json")
        for case in run["suites"][0]["cases"]:
            if case["variant"] == "a":
                case["params"]["repeats"] = 3
                case["id"] = "bench/a[arg0=64,repeats=3]"
        self.write("old.json", json.dumps(run))
        self.run_tool("baseline", "refresh", "old.json")
        stored = self.folder / "baselines/box/s.json"
        self.assertIn("repeats=3", stored.read_text())
        return words, stored

    def test_old_baselines_still_match_and_are_renamed_by_a_refresh(self):
        words, stored = self.old_baseline()
        head = self.files("head", ["a/64/repeats:10", "b/8"], 1.0003)
        self.run_tool("compare", *head, *words, "--out", "perfgate-out")
        self.assertEqual({"bench/a[arg0=64]": "pass", "bench/b[arg0=8]": "pass"}, self.verdicts())
        self.run_tool("compare", *self.files("slow", ["a/64/repeats:10", "b/8"], 1.3), *words, "--out", "perfgate-out", code=1)
        self.run_tool("compare", *head, *words, "--out", "perfgate-out")
        self.run_tool("baseline", "refresh", "perfgate-out/run.json")
        self.assertNotIn("repeats=", stored.read_text())
        self.run_tool("baseline", "verify")

    def test_accepting_one_case_renames_that_case(self):
        words, stored = self.old_baseline()
        self.run_tool("compare", *self.files("slow", ["a/64/repeats:10", "b/8"], 1.3), *words, "--out", "perfgate-out", code=1)
        self.run_tool("baseline", "accept", "perfgate-out/run.json", "--filter", "bench/b*", "--reason", "tested", "--reset-anchor")
        self.assertIn("repeats=3", stored.read_text())
        self.run_tool("baseline", "verify")
        self.run_tool("baseline", "accept", "perfgate-out/run.json", "--filter", "bench/a*", "--reason", "tested", "--reset-anchor")
        self.assertNotIn("repeats=3", stored.read_text())
        self.run_tool("baseline", "verify")

    def test_a_stated_former_name_is_followed(self):
        self.suite(TABLE)
        self.write("r.csv", "name,n,time_us\nold,1,1.5\nold,2,2.5\n")
        self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 4)
        self.write("r.csv", "name,n,time_us\nnew,1,1.5\nnew,2,2.5\n")
        self.run_suite(code=1)
        self.assertEqual({"missing", "no_baseline"}, set(self.verdicts().values()))
        for was, first in (("b/old", "b/new"), ("b/old[n=1]", "b/new[n=1]")):
            only = "*" if was == "b/old" else "[n=1]"
            self.suite(TABLE + f'overrides: [{{match: "b/new{only}", was: "{was}"}}]\n')
            code = 0 if was == "b/old" else 1
            self.run_suite(code=(code, 3))
            self.assertNotIn(self.verdicts()["b/new[n=1]"], ("no_baseline", "missing"))
        # Until a refresh, the former names are not pruned.
        self.suite(TABLE + 'overrides: [{match: "b/new*", was: "b/old"}]\n')
        self.run_suite(code=(0, 3))
        self.run_tool("baseline", "prune", "suite.yaml", "perfgate-out/run.json")
        self.run_suite(code=(0, 3))
        self.assertFalse({"no_baseline", "missing"} & set(self.verdicts().values()))
        # A name that is still there is no former one, and two cases cannot have been one.
        self.suite(TABLE + 'overrides: [{match: "b/new*", was: "b/old[n=1]"}]\n')
        self.assertIn("were both", self.run_suite(code=2).stderr)
        self.suite(TABLE.replace("name: b", "name: c") + 'overrides: [{match: "c/*", was: b}]\n')
        self.write("r.csv", "name,n,time_us\nold,1,1.5\nold,2,2.5\n")
        self.run_suite(code=(0, 3))
        self.assertEqual({"c/old[n=1]", "c/old[n=2]"}, set(self.verdicts()))
        self.assertFalse({"no_baseline", "missing"} & set(self.verdicts().values()))
        # Nor is one that a filter leaves out.
        self.suite(TABLE + TABLE.replace("name: b", "name: c") + 'overrides: [{match: "c/*", was: b}]\n')
        done = self.run_tool("baseline", "refresh", "suite.yaml", *HOST, "--processes", 4, "--filter", "c/*")
        self.assertIn("2 accepted, 0 unchanged, 2 kept, 0 removed", done.stdout)


class Written(Formats):
    def test_the_documented_columns_are_those_of_the_report(self):
        shutil.copy(DATA / "google-benchmark-aggregates.json", self.folder / "a.json")
        self.run_tool("compare", "a.json", "--report", "all.csv", "--report", "smaller-is-better:small.json",
                      "--report", "bigger-is-better:big.json")
        columns = (self.folder / "all.csv").read_text().splitlines()[0].split(",")
        text = (tool.SOURCE / "docs/command-line.md").read_text()
        table = text.partition("<!-- columns of the csv report -->")[2].partition("<!-- end of the columns -->")[0]
        rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
        self.assertEqual(columns, [name.strip(" `") for row in rows for name in row.split(",")])
        small = self.read_json("small.json")
        self.assertEqual({"name", "unit", "value", "extra"}, set(small[0]))
        # It is what this perfgate reads, too.
        self.run_tool("compare", "small.json", "--format", "github-action-benchmark", "--out", "perfgate-out")
        self.assertEqual([], self.read_json("big.json"))


if __name__ == "__main__":
    tool.main()
