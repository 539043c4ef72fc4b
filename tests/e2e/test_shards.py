# SPDX-License-Identifier: Apache-2.0
"""A run divided among machines and merged: the same cases, judged as one run."""

import json

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
    matrix: {n: [1000, 2000, 3000, 4000, 5000]}
    params: {iterations: 10}
expect:
  "probe/host[n=1000].host_time": "<= 1000000 * probe/host[n=5000].host_time"
"""


class Shards(tool.Case):
    clock = "stated"

    def setUp(self):
        super().setUp()
        self.write("probe.yaml", SUITE)
        self.base = ["probe.yaml", "--backend", "host", *self.plugin("probe_base")]
        self.quick = [*self.base, "--processes", "1"]

    def shard(self, which, *words, code=0):
        out = f"shard-{which.split('/')[0]}"
        done = self.run_tool("run", *self.quick, "--shard", which, "--out", out, *words, code=code)
        return f"{out}/run.json" if code == 0 else done

    def ids(self, file):
        return [case["id"] for suite in self.read_json(file)["suites"] for case in suite["cases"]]

    def test_shards_are_merged_and_judged_as_one_run(self):
        self.run_tool("baseline", "refresh", *self.quick)
        parts = [self.shard("1/2"), self.shard("2/2")]
        self.assertEqual(5, len(self.ids(parts[0]) + self.ids(parts[1])))
        done = self.run_tool("compare", *reversed(parts), "--out", "merged")
        self.assertIn("5 inconclusive (5 not shown); 1 relation holds", done.stdout)
        self.assertEqual(sorted(self.ids(parts[0]) + self.ids(parts[1])),
                         self.ids("merged/run.json"))
        run = self.read_json("merged/run.json")
        self.assertFalse(run["suites"][0]["partial"])
        self.assertNotIn("shard", run)
        self.assertTrue((self.folder / "merged/junit.xml").exists())
        self.assertEqual(0, self.read_json("merged/verdict.json")["exit_code"])
        self.run_tool("compare", "merged/run.json")

        for wrong, part in (([parts[0]], "missing: 2"), ([*parts, parts[0]], "are both shard 1/2"),
                            (["merged/run.json", parts[0]], "is not a shard")):
            done = self.run_tool("compare", *wrong, "--out", "refused", code=2)
            self.assert_one_line(done.stderr, part)
        self.assertFalse((self.folder / "refused").exists())
        document = self.read_json(parts[1])
        document["environment"]["device"]["key"] = "another"
        self.write("other.json", json.dumps(document))
        done = self.run_tool("compare", parts[0], "other.json", code=2)
        self.assert_one_line(done.stderr, "device.key", "another", "other.json")

    def test_the_profiles_proof_is_of_the_merged_run(self):
        self.write("profile.yaml", "prove: true\ncanary: true")
        self.run_tool("baseline", "refresh", *self.quick)
        parts = [self.shard("1/2"), self.shard("2/2")]
        done = self.run_tool("compare", *parts, "--out", "merged", "--config", "profile.yaml")
        self.assertIn("perfgate: proof: 5 gates of 5 cases tried, 1 relation: ", done.stderr)
        self.assertIn("'canary: true' has no effect with compare: ", done.stderr)
        done = self.run_tool("compare", "merged/run.json", "--config", "profile.yaml")
        self.assertIn("'canary: true' has no effect with compare: ", done.stderr)
        self.assertEqual("", self.run_tool("compare", *parts, "--out", "merged").stderr)

    def test_what_cannot_be_divided_is_refused(self):
        self.assert_one_line(self.shard("3/2", code=2).stderr, "--shard '3/2'")
        self.assert_one_line(self.shard("1/6", code=2).stderr, "5 of the 5 cases")
        done = self.shard("1/2", "--costs", "costs.json", code=2)
        self.assert_one_line(done.stderr, "--costs is now left out: cases are dealt out")


if __name__ == "__main__":
    tool.main()
