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


def command_table():
    """The commands as a table: what is typed, and the first sentence of help."""
    every = [verb for verb in tool.verbs() if verb]
    lines = ["| command | what it does |", "|---|---|"]
    for verb in every:
        if not any(other[:len(verb)] == verb for other in every if other != verb):
            text, usage = tool.help_of(verb).partition("\n\n")[0].split("\nUsage: ")
            lines.append(f"| `{usage.replace('[OPTIONS] ', '').removesuffix(' [OPTIONS]')}` | {' '.join(text.split())} |")
    return "\n".join(lines) + "\n"


def option_table():
    """The options of all commands as a table: a row for each text that help has of an option."""
    rows = {}
    for verb in (verb for verb in tool.verbs() if verb):
        for name, first, more in re.findall(r"^  (?:-\w,)?(--[a-z-]+) +(.*)\n((?: {6,}\S.*\n)*)", tool.help_of(verb), re.MULTILINE):
            text = " ".join(f"{first} {more}".split())
            value = re.match(r"\{.*?\}\S*|\S+", text).group() if tool.options(verb)[name] else ""
            rows.setdefault((name, value.replace(" ", ""), text[len(value):].strip()), []).append(" ".join(verb))
    lines = ["| option | of | what it does |", "|---|---|---|"]
    for (name, value, text), verbs in sorted(rows.items()):
        if name not in ("--help", "--help-all"):
            text = text.replace("<", "&lt;").replace("*", "\\*")
            cells = (f"`{name}{' ' * bool(value)}{value}`", ", ".join(verbs), text)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


MOST_WORDS = 16000
TABLES = {"commands": command_table, "options": option_table}


class Readme(tool.Case):
    def test_the_tables_of_commands_and_options_are_those_of_help(self):
        page = COMMAND_LINE
        for name, table in TABLES.items():
            page = re.sub(rf"(<!-- {name}: [^\n]*\n)(.*?)(\n<!-- end of {name} -->)",
                          lambda found, table=table: f"{found[1]}\n{table()}{found[3]}", page, flags=re.DOTALL)
        if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
            (tool.SOURCE / "docs/command-line.md").write_text(page)
        else:
            self.assertEqual(page, COMMAND_LINE)

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
        page = self.folder / "perfgate-demo/report.html"
        if page.exists():
            self.assertRegex(page.read_text(), r"head/blend\.cu:14")

    def test_it_says_how_the_tests_are_run(self):
        self.assertIn("`ci/test` builds perfgate and runs its tests", README)
        self.assertTrue(os.access(tool.SOURCE / "ci/test", os.X_OK))

    def test_its_length(self):
        self.assertLessEqual(len(README.splitlines()), 150)

    def test_it_shows_a_failing_pull_request_then_how_to_install_then_three_ways_in(self):
        # ci/site makes it the front page.
        places = [README.index(part) for part in ("$ perfgate demo", "docs/pictures/report.png", "\ncurl ", "\n## My kernel",
                                                  "Triton", "\n## My program", "\n## My benchmark", "\n## In your CI")]
        self.assertEqual(sorted(places), places)

    def test_how_much_users_have_to_read(self):
        words = 0
        for page in (*tool.SOURCE.glob("docs/*.md"), *map(tool.SOURCE.joinpath, ("README.md", "suites/README.md", "ci/runner.md"))):
            text = page.read_text()
            # Tables that are made from the program's own, and snippets, which other tests run.
            for made in (r"<!-- (\w+): .*?<!-- end of (?:keys|\1) -->", r"^\| metrics \| unit .*?\n\n", r"^ *```.*?^ *```$"):
                text = re.sub(made, "", text, flags=re.DOTALL | re.MULTILINE)
            words += len(text.split())
        print(f"\n{words} words for users to read")
        self.assertLess(words, MOST_WORDS)
        self.assertGreater(words, 10000)

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
        # What help says of an option may name those of other programs.
        rows = re.findall(r"^\| `(--[a-z-]+)", COMMAND_LINE, re.MULTILINE)
        prose = re.sub(r"<!-- options: .*<!-- end of options -->", "", COMMAND_LINE, flags=re.DOTALL)
        named = {*rows, *re.findall(r"(?<![\w-])--[a-z][a-z-]*", prose)}
        self.assertEqual(set(), named - known, "on the page alone")
        self.assertEqual(set(), known - named, "in --help alone")
        every = {" ".join(verb) for verb in tool.verbs() if verb}
        listed = set(re.findall(r"^\| `perfgate ([a-z ]*[a-z])", COMMAND_LINE, re.MULTILINE))
        self.assertEqual(every, listed | {words.split()[0] for words in listed})

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
