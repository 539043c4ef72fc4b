# SPDX-License-Identifier: Apache-2.0
"""The analysis of programs that were recorded on a GPU: the same tables, and the counts that the programs state."""

import unittest

import tool

RECORDED = tool.SOURCE / "tests/data/activity"


class RecordedPrograms(tool.Case):
    def process(self, name):
        self.run_tool("profile", "--recording", RECORDED / name, "--report", "profile.json")
        process, = self.read_json("profile.json")["processes"]
        self.assertEqual([], process["incomplete"])
        return process

    def test_the_tables_are_those_beside_the_recording(self):
        folders = sorted(each.parent for each in RECORDED.glob("*/tables.txt"))
        self.assertGreaterEqual(len(folders), 2)
        for folder in folders:
            with self.subTest(folder.name):
                self.maxDiff = None
                done = self.run_tool("profile", "--recording", folder)
                self.assertEqual((folder / "tables.txt").read_text(), done.stdout)

    def test_streams_graphs_and_copies_are_counted_as_the_program_does(self):
        process = self.process("graphs")
        kernels = {each["name"].removeprefix("(anonymous namespace)::").split("(")[0]: each["count"]
                   for each in process["kernels"]}
        self.assertEqual({"spin": 1020, "node": 1200}, kernels)
        self.assertEqual(100, process["program"]["graph_launches"])
        self.assertEqual(4, process["program"]["memsets"])
        copies = {each["memory"]: (each["count"], each["bytes"]) for each in process["copies"]}
        self.assertEqual({"pinned": (20, 20 << 23), "pageable": (20, 20 << 23)}, copies)
        ranges = {each["name"]: each["work"]["kernels"] for each in process["ranges"]}
        self.assertEqual({"streams": 1000, "graph": 1200, "copies": 20}, ranges)

    def test_each_instance_of_a_range_has_its_launches(self):
        steps = {each["name"]: each for each in self.process("cupy")["ranges"]}["step"]
        self.assertEqual(30, steps["count"])
        self.assertEqual([4] * 30, [each["kernels"] for each in steps["instances"]])


if __name__ == "__main__":
    unittest.main()
