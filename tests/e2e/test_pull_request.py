# SPDX-License-Identifier: Apache-2.0
"""The recorded pull request of tests/data/pull_request: both states offer the same cases."""

import os
import subprocess

import tool

FOLDER = tool.SOURCE / "tests/data/pull_request"


class PullRequest(tool.Case):
    def cases(self, state):
        self.run_tool("list", FOLDER / "suite.yaml", *self.plugin(state), "--json", "list.json")
        suite = self.read_json("list.json")["suites"][0]
        return [(case["id"], case["metrics"]) for case in suite["cases"]]

    def test_both_states_have_the_same_cases(self):
        base = self.cases("pr_base")
        self.assertEqual(7, len(base))
        self.assertEqual(base, self.cases("pr_head"))

    def test_only_what_the_pull_request_changes_is_in_both_folders(self):
        base = {path.name: path.read_text() for path in (FOLDER / "base").iterdir()}
        head = {path.name: path.read_text() for path in (FOLDER / "head").iterdir()}
        self.assertEqual(base.keys(), head.keys())
        self.assertEqual(5, len(base))
        for name, text in base.items():
            self.assertNotEqual(text, head[name], name)

    def test_recording_says_what_it_needs(self):
        environment = {**os.environ, "PERFGATE": ""}
        for words in ([], ["out"]):
            done = subprocess.run([FOLDER / "record", *words], cwd=self.folder, env=environment,
                                  capture_output=True, text=True, check=False)
            self.assertNotEqual(0, done.returncode)
            self.assertIn("PERFGATE", done.stderr + done.stdout)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    tool.main()
