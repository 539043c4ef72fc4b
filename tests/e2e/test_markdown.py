# SPDX-License-Identifier: Apache-2.0
"""The summary and the annotations of 10,000 cases with hostile names, as GitHub's readers take them:
the Markdown through cmark-gfm, the program that renders it there, the commands as the runner does."""

import copy
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import tool

RUN = tool.SOURCE / "tests/data/aa/nvidia-h100-80gb-hbm3/gemm-1.run.json"
CASES = 10_000
HOSTILE = [
    "| a | b |", "\\| c", "``` d `", "<script>e</script>", "</td></table><img src=x>", "**f** _g_ ~~h~~",
    "@someone", "owner/repository#1", "[i](http://host.example)", "![j](http://host.example/k)",
    "http://host.example www.host.example", "l@host.example", "::error file=x::forged",
    "%0A::error::forged", "x,line=1:y", "line\nbreak\r\n| m |", "\u202ereversed", "&lt;n&#124;", "$o$",
    "- p", "1. q", "# r", "<!-- s -->", "\x1b[31mt", "u" * 3000, "寸法 🚀",
]
TAGS = {"h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "br"}


class Page(html.parser.HTMLParser):
    """The tags of a page, and what each cell and piece of code shows."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells_of_rows, self.codes, self.open = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.cells_of_rows.append(0)
        if tag == "td":
            self.cells_of_rows[-1] += 1
        if tag == "code":
            self.codes.append("")
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "code" in self.open:
            self.codes[-1] += data


class Markdown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run = json.loads(RUN.read_text())
        case = run["suites"][0]["cases"][0]
        metrics = {name: case["metrics"][name] for name in ("gpu_time", "registers")}
        metrics["gpu_time"]["batches"][0]["samples"] = [metrics["gpu_time"]["value"]]
        case["metrics"], case["kernels"] = metrics, []
        case["gates"] = [gate for gate in case["gates"] if gate["metric"] in metrics]
        cases = []
        for i in range(CASES):
            named = copy.deepcopy(case)
            name = HOSTILE[i % len(HOSTILE)]
            named["workload"] = name
            named["params"] = {"name": name, "n": i}
            named["place"] = {"file": f"suites/{name}.yaml", "line": i + 1}
            named.pop("id", None)
            cases.append(named)
        run["suites"][0]["cases"] = cases
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "before.json").write_text(json.dumps(run))
        for case in cases:
            series = case["metrics"]["gpu_time"]
            series["value"] *= 3
            series["batches"][0]["samples"] = [series["value"]]
        (cls.folder / "after.json").write_text(json.dumps(run))
        for code, words in ((0, ["baseline", "refresh", "before.json", "--baselines", "base"]),
                            (1, ["compare", "after.json", "--baselines", "base", "--markdown",
                                 "summary.md", "--annotations", "annotations.txt"])):
            done = subprocess.run([tool.PERFGATE, *words], cwd=cls.folder, capture_output=True,
                                  text=True, timeout=tool.PATIENCE_S)
            assert done.returncode == code, done.stderr

    def test_it_is_under_the_limit_and_counts_the_rest(self):
        text = (self.folder / "summary.md").read_bytes()
        self.assertLess(len(text), 1024 * 1024)
        self.assertGreater(len(text), 512 * 1024)
        shown = text.count(b"\n| **regressed** |")
        self.assertIn(f"\n{CASES - shown} more that need attention".encode(), text)

    @unittest.skipUnless(shutil.which("cmark-gfm"), "cmark-gfm is missing")
    def test_nothing_in_a_name_is_markup(self):
        text = (self.folder / "summary.md").read_text()
        done = subprocess.run(
            ["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough",
             self.folder / "summary.md"],
            capture_output=True, text=True, timeout=tool.PATIENCE_S, check=True)
        page = Page(done.stdout)
        self.assertEqual(set(), page.tags - TAGS)
        rows = [cells for cells in page.cells_of_rows if cells]
        self.assertEqual(text.count("\n| **regressed** |"), len(rows))
        self.assertEqual({5}, set(rows))
        # What is shown is the name, not what it would have made of the page.
        shown = "\n".join(page.codes)
        for name in HOSTILE:
            if len(name) < 100 and name.isprintable():
                self.assertIn(f"{name}/naive[n=", shown)

    def test_no_name_mentions_anybody(self):
        text = (self.folder / "summary.md").read_text()
        outside_code = re.sub(r"`[^`\n]*`|<code>[^\n]*?</code>", "", text)
        for pattern in (r"@", r"#[0-9]", r"://", r"www\.", r"<(?!br>)"):
            self.assertIsNone(re.search(pattern, outside_code), pattern)

    def test_no_name_is_a_command(self):
        kinds = []
        # As bytes: the runner ends a line at no other character.
        for line in (self.folder / "annotations.txt").read_bytes().splitlines():
            command = re.fullmatch(rb"::(error|warning|notice) ([^:]*)::(.*)", line)
            self.assertIsNotNone(command, line[:200])
            kinds.append(command[1])
            for property in command[2].split(b","):
                self.assertRegex(property, rb"^(file|line|title)=")
            self.assertNotIn(b"\x1b", line)
        self.assertEqual([b"error"] * 10 + [b"notice"], kinds)


if __name__ == "__main__":
    tool.main()
