# SPDX-License-Identifier: Apache-2.0
"""The table "Where things go" of CONTRIBUTING.md, held against the source by its own examples."""

import re

import tool

# What is added -> how its name is written in the source, where to look for it, the most files.
KINDS = {
    "a metric": (r'"{name}"', ["harness", "kernels"], 1),
    "a metric from a new source": (r'\bread_{name}\b|of_reading\("{name}"|\{{"{name}", When', ["harness", "kernels"], 4),
    "a report format": (r'\bwrite_{name}\b|"{name}"|\b{name}\.cpp\b', ["harness", "kernels"], 3),
    "a cause that `explain` knows": (r'"{name}"', ["harness", "tests/unit/explain_rules_test.cpp"], 2),
    "a benchmark's format": (r'\bread_{name}\b|"{name}"|\b{name}\.cpp\b', ["harness"], 3),
    "a verb": (r'\badd_{name}\b|"{name}"|\b{name}\.cpp\b', ["harness"], 2),
    # Other workloads have variants of the same names.
    "a CUDA variant of `gemm`": (r'\bprepare_{name}\b|"{name}"|\b{name}\.cu\b', ["harness", "kernels/gemm"], 3),
    "a host variant of `gemm`": (r'"{name}"|\b{name}\.cpp\b', ["harness", "kernels/gemm"], 3),
}
SOURCES = (".cpp", ".hpp", ".h", ".cu", ".cuh", ".cmake", ".ts", "CMakeLists.txt")


def rows(text):
    """Of the counted table: (what, number of files, files with the example's name, example, page)."""
    table = text.partition("| to add | files | edit | example | page |\n")[2].partition("\n\n")[0]
    for line in table.splitlines()[1:]:
        what, count, edit, example, page = (cell.strip() for cell in line.strip("|").split(" | "))
        name = example.strip("`")
        files = [path.replace("<name>", name) for path in re.findall(r"`([^`]+/[^`]+)`", edit)]
        yield what, int(count), files, name, re.search(r"\((.*)\)", page).group(1)


def places(pattern, files):
    """The files, of (name, text), that have the name in code, or are named after it."""
    return sorted(name for name, text in files
                  if re.search(pattern, re.sub(r"(?m)//.*$|^\s*#(?!\s*include).*$", "", text)))


def anchors(text):
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


class AddOne(tool.Case):
    def setUp(self):
        super().setUp()
        self.rows = list(rows((tool.SOURCE / "CONTRIBUTING.md").read_text()))

    def sources(self, folders):
        for folder in folders:
            root = tool.SOURCE / folder
            for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
                if path.name.endswith(SOURCES) and not {"node_modules", "templates"} & set(path.parts):
                    yield str(path.relative_to(tool.SOURCE)), path.read_text()

    def test_every_kind_has_a_row(self):
        self.assertEqual(sorted(KINDS), sorted(row[0] for row in self.rows))

    def test_an_example_is_in_the_files_of_its_row_and_in_no_other(self):
        for what, count, files, name, _ in self.rows:
            with self.subTest(what, example=name):
                pattern, folders, most = KINDS[what]
                found = set(places(pattern.format(name=name), self.sources(folders)))
                # A file that is named after the example need not repeat its name.
                own = {file for file in files if re.search(rf"/{name}\.[a-z]+$", file)}
                for file in own:
                    self.assertTrue((tool.SOURCE / file).is_file(), file)
                self.assertEqual(sorted(files), sorted(found | own))
                self.assertEqual(count, len(files))
                self.assertLessEqual(count, most)

    def test_a_further_place_is_found(self):
        files = [("a.cpp", 'add_demo(app);'), ("b.cpp", '// add_demo\n'), ("c.txt", "demo.cpp")]
        pattern = KINDS["a verb"][0].format(name="demo")
        self.assertEqual(["a.cpp", "c.txt"], places(pattern, files))

    def test_pages_exist(self):
        for what, _, _, _, page in self.rows:
            with self.subTest(what, page=page):
                file, _, anchor = page.partition("#")
                text = (tool.SOURCE / file).read_text()
                if anchor:
                    self.assertIn(anchor, anchors(text))

    def test_the_examples_are_what_the_program_has(self):
        names = {what: name for what, _, _, name, _ in self.rows}
        self.assertIn(names["a verb"], [words[0] for words in tool.verbs() if words])
        self.assertIn(f"{names['a report format']} (", tool.help_of(["run"]))
        self.assertIn(names["a metric"], self.run_tool("list", "--metrics", names["a metric"]).stdout)


if __name__ == "__main__":
    tool.main()
