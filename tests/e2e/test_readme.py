# SPDX-License-Identifier: Apache-2.0
"""What the README tells people to type works, and what it links to is there."""

import os
import re
import subprocess

import tool

README = (tool.SOURCE / "README.md").read_text()


class Readme(tool.Case):
    def test_the_first_command_gates_on_this_machine(self):
        self.assertIn("ci/perfgate run suites/gemm.yaml\n", README)
        done = subprocess.run(
            ["ci/perfgate", "run", "suites/gemm.yaml", "--out", self.folder / "out", "--filter",
             "*n=16]", "--filter", "*m=256*"],
            cwd=tool.SOURCE, capture_output=True, text=True, timeout=tool.PATIENCE_S,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertTrue((self.folder / "out/junit.xml").exists())

    def test_every_verb_and_option_that_it_names_exists(self):
        verbs = set(re.findall(r"`perfgate (\w+)", README)) - {"COMMAND"}
        self.assertGreaterEqual(len(verbs), 8)
        for verb in verbs:
            self.run_tool(verb, "--help")

    def test_it_names_each_option_of_each_verb_and_no_other(self):
        known = {option for verb in tool.verbs() for option in tool.options(verb)}
        # Docker's is no option of perfgate.
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README)) - {"--cap-add"}
        self.assertEqual(set(), named - known, "in the README alone")
        self.assertEqual(set(), known - named, "in --help alone")

    def test_the_readmes_former_name_of_devices_is_taken(self):
        done = self.run_tool("run", "suite.yaml", "--device", "", code=2)
        self.assertIn("--device: expected a value", done.stderr)

    def test_its_suite_is_valid(self):
        block = re.search(r"## Suites\n\n```yaml\n(.*?)```", README, re.DOTALL).group(1)
        self.write("readme.yaml", block)
        self.run_tool("validate", "readme.yaml")

    def test_its_links_lead_somewhere(self):
        for document in ("README.md", "CONTRIBUTING.md", "kernels/README.md", "harness/README.md",
                         "docs/benchmarks.md", "docs/commands.md", "suites/README.md",
                         "ci/runner.md", "ci/slurm/README.md"):
            path = tool.SOURCE / document
            prose = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
            for link in re.findall(r"\]\(([^)#]+)\)", prose):
                with self.subTest(document, link=link):
                    self.assertTrue(link.startswith("http") or (path.parent / link).exists())

    def test_the_profile_of_ci_never_falls_back(self):
        self.write("probe.yaml", "name: p\ndefaults: {metrics: [host_time], tolerances: "
                                 "{host_time: 50%}}\nworkloads:\n  - {workload: probe, variants: "
                                 "[host], params: {n: 10}}\n")
        done = self.run_tool("run", "probe.yaml", "--profile", tool.SOURCE / "configs/ci.yaml",
                             *self.plugin("probe_base"), env={"CUDA_VISIBLE_DEVICES": ""}, code=3)
        self.assertNotIn("host backend", done.stdout)


if __name__ == "__main__":
    tool.main()
