# SPDX-License-Identifier: Apache-2.0
"""What the README and the pages of docs/ tell people to type works, and what they link to is there."""

import os
import re
import subprocess

import tool

README = (tool.SOURCE / "README.md").read_text()
COMMAND_LINE = (tool.SOURCE / "docs/command-line.md").read_text()
PAGES = sorted(path.relative_to(tool.SOURCE) for path in
               (*tool.SOURCE.glob("*.md"), *tool.SOURCE.glob("docs/*.md"),
                *tool.SOURCE.glob("*/README.md"), *tool.SOURCE.glob("harness/**/README.md"),
                *tool.SOURCE.glob("kernels/*/README.md"), *tool.SOURCE.glob("ci/**/*.md"),
                *tool.SOURCE.glob("tests/**/*.md")) if "node_modules" not in path.parts)


def heading_ids(page):
    """The fragments that a page's headings can be linked by, as GitHub and the site make them."""
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", prose, re.MULTILINE)}


class Readme(tool.Case):
    def test_the_first_command_gates_on_this_machine(self):
        self.assertIn("\nci/perfgate run suites/gemm.yaml ", README)
        done = subprocess.run(
            ["ci/perfgate", "run", "suites/gemm.yaml", "--out", self.folder / "out", "--filter",
             "*n=16]", "--filter", "*m=256*"],
            cwd=tool.SOURCE, capture_output=True, text=True, timeout=tool.PATIENCE_S,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertTrue((self.folder / "out/junit.xml").exists())

    def test_the_second_command_shows_a_regression_without_a_gpu(self):
        self.assertLess(README.index("\nbin/perfgate demo "), README.index("\nci/perfgate demo\n"), "a release comes first")
        done = self.run_tool("demo")
        shown = re.search(r"```console\n\$ perfgate demo\n(.*?)…\n```", README, re.DOTALL).group(1)
        # Where the baselines are depends on the installation.
        there = re.sub(r"baseline\n?\s*\S*camera\.json", "", done.stdout).split()
        here = re.sub(r"baseline\n?\s*\S*camera\.json", "", shown).split()
        self.assertEqual(here, there[:len(here)])
        self.assertIn("5 regressed; exit 1", done.stdout)
        self.assertIn("recorded, not measured on this machine", done.stdout)
        cases = self.read_json("perfgate-demo/verdict.json")["suites"][0]["cases"]
        self.assertEqual(5, sum(case["verdict"] == "regressed" for case in cases))

    def test_it_says_how_the_tests_are_run(self):
        self.assertIn("`ci/test` builds perfgate and runs its tests", README)
        self.assertTrue(os.access(tool.SOURCE / "ci/test", os.X_OK))

    def test_its_length(self):
        self.assertLessEqual(len(README.splitlines()), 150)

    def test_every_verb_that_pages_name_exists(self):
        # CHANGELOG.md names old ones, too.
        verbs = {words for page in PAGES if page.name != "CHANGELOG.md" for words in
                 re.findall(r"`perfgate ([a-z]+)", (tool.SOURCE / page).read_text())} - {"worker"}
        self.assertGreaterEqual(len(verbs), 12)
        for verb in verbs:
            with self.subTest(verb):
                self.run_tool(verb, "--help")

    def test_the_page_names_each_verb_and_option_and_no_other(self):
        known = {option for verb in tool.verbs() for option in tool.options(verb)}
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", COMMAND_LINE))
        self.assertEqual(set(), named - known, "on the page alone")
        self.assertEqual(set(), known - named, "in --help alone")
        verbs = {" ".join(verb) for verb in tool.verbs() if verb} - {"baseline", "history"}
        listed = set(re.findall(r"^\| `perfgate ((?:(?:baseline|history) )?[a-z]+)", COMMAND_LINE, re.MULTILINE))
        self.assertEqual(verbs, listed)

    def test_links_lead_somewhere(self):
        self.assertGreater(len(PAGES), 30)
        for page in PAGES:
            path = tool.SOURCE / page
            prose = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
            for link in re.findall(r"\]\(([^)\s]+)\)", prose):
                if link.startswith("http"):
                    continue
                name, _, fragment = link.partition("#")
                target = path.parent / name if name else path
                with self.subTest(page, link=link):
                    self.assertTrue(target.exists())
                    if fragment and target.suffix == ".md":
                        self.assertIn(fragment, heading_ids(target))

    def test_the_profile_of_ci_never_falls_back(self):
        self.write("probe.yaml", "name: p\ndefaults: {metrics: [host_time], tolerances: "
                                 "{host_time: 50%}}\nworkloads:\n  - {workload: probe, variants: "
                                 "[host], params: {n: 10}}\n")
        done = self.run_tool("run", "probe.yaml", "--config", tool.SOURCE / "configs/ci.yaml",
                             *self.plugin("probe_base"), env={"CUDA_VISIBLE_DEVICES": ""}, code=3)
        self.assertNotIn("host backend", done.stdout)


if __name__ == "__main__":
    tool.main()
