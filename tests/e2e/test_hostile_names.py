# SPDX-License-Identifier: Apache-2.0
"""The summary, the annotations and the JUnit files of 10,000 cases with hostile names, as their readers
take them: the Markdown through cmark-gfm, the program that renders it at GitHub, the commands as the
runner does, JUnit through junitparser and, the strict profile, the schemas of Jenkins and Ant."""

import copy
import html.parser
import json
import os
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
TAGS = {"h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "br", "details",
        "summary", "pre"}


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


class HostileNames(unittest.TestCase):
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
        judge = ["compare", "after.json", "--baselines", "base"]
        for code, words in ((0, ["baseline", "refresh", "before.json", "--baselines", "base"]),
                            (1, [*judge, "--report", "summary.md", "--report",
                                 "annotations:annotations.txt", "--report", "github.xml"]),
                            (1, [*judge, "--report", "strict.xml", "--set", "junit_profile=strict"])):
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
        self.assertEqual({4}, set(rows))
        # What is shown is the name, not what it would have made of the page.
        shown = "\n".join(page.codes)
        for name in HOSTILE:
            if len(name) < 100 and name.isprintable():
                self.assertIn(f"{name}/naive[n=", shown)

    def test_no_name_mentions_anybody(self):
        text = (self.folder / "summary.md").read_text()
        outside_code = re.sub(r"`[^`\n]*`|<code>[^\n]*?</code>", "", text)
        for pattern in (r"@", r"#[0-9]", r"://", r"www\.", r"<(?!br>|/?details>|/?summary>)"):
            self.assertIsNone(re.search(pattern, outside_code), pattern)

    def test_junitparser_counts_every_case_under_a_name_of_its_own(self):
        # Debian's package belongs to the system's interpreter, which need not be the first in the path.
        count = """
import json, sys
import junit_readers
for path in sys.argv[1:]:
    (suite,) = junit_readers.read_with_junitparser(path)
    print(json.dumps([suite["counted"], suite["claimed"], len(set(suite["ids"]))]))
"""
        python = "/usr/bin/python3"
        if subprocess.run([python, "-c", "import junitparser"], capture_output=True).returncode:
            self.skipTest("junitparser is missing (Debian: python3-junitparser)")
        done = subprocess.run([python, "-c", count, "github.xml", "strict.xml"], cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)},
                              capture_output=True, text=True, timeout=tool.PATIENCE_S)
        self.assertEqual("", done.stderr)
        counts = {"tests": CASES, "failures": CASES, "errors": 0, "skipped": 0}
        self.assertEqual([[counts, counts, CASES]] * 2,
                         [json.loads(line) for line in done.stdout.splitlines()])

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint is missing")
    def test_the_strict_profile_is_valid_for_jenkins_and_ant(self):
        schemas = sorted((tool.SOURCE.parent / "shared/xsd").glob("*.xsd"))
        if not schemas:
            self.skipTest("the schemas are not here")
        for schema in schemas:
            done = subprocess.run(["xmllint", "--noout", "--huge", "--schema", schema, "strict.xml"],
                                  cwd=self.folder, capture_output=True, text=True,
                                  timeout=tool.PATIENCE_S)
            self.assertEqual(0, done.returncode, f"{schema}: {done.stderr[:2000]}")

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
