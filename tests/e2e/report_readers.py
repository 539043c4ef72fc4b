# SPDX-License-Identifier: Apache-2.0
"""What each report of one comparison says of a case and metric: numbers and texts, for comparing them."""

import csv
import html
import json
import re
import xml.etree.ElementTree as xml

FORMATS = {"csv": "all.csv", "junit": "junit.xml", "markdown": "some.md", "html": "page.html"}

SCALES = {
    "ns": {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9},
    "bytes": {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
}


def amount(text, unit):
    """The number in the metric's unit that a text says, such as 1536 for "1.500 KiB"."""
    number, _, scaled = text.partition(" ")
    number = float(number.replace(",", ""))
    return number * SCALES[unit][scaled] if unit in SCALES else number


def sentence_parts(sentence):
    """(baseline, measured, change, interval) as the gate's sentence has them; what is missing is empty."""
    change = r"(?: \(([^,)]+)(?:, 95 % interval ([^)]+))?\))?"
    found = re.search(rf": (\S+(?: \S+)?) → (\S+(?: \S+)?){change}, tolerance ", sentence)
    return tuple(part or "" for part in found.groups()) if found else None


def cells(line):
    return re.split(" {2,}", line.strip())


class Reports:
    """The reports of `compare --verbose` in a folder, as FORMATS names them, and what it printed."""

    def __init__(self, folder, console):
        self.console = console
        # Every case has a row with the values of its time.
        self.console_rows = {row[1]: row[2:6] for row in map(cells, console.splitlines()) if len(row) > 5}
        self._read_csv(folder / FORMATS["csv"])
        self._read_junit(folder / FORMATS["junit"])
        self._read_markdown((folder / FORMATS["markdown"]).read_text())
        self._read_html((folder / FORMATS["html"]).read_text())

    def _read_csv(self, path):
        with open(path, newline="") as file:
            self.csv = {(row["case"], row["metric"]): row for row in csv.DictReader(file)}

    def _read_junit(self, path):
        """Properties, "4.842 µs"; the rows of the tables for people: baseline, measured, change; and cut tables."""
        self.junit = {}
        self.junit_rows = {}
        self.junit_cut = set()
        for case in xml.parse(path).iter("testcase"):
            name = case.get("name")
            for property in case.iter("property"):
                self.junit[name, property.get("name")] = property.get("value")
            for line in (case.findtext("system-out") or "").splitlines():
                row = cells(line)
                if len(row) == 6:
                    self.junit_rows[name, row[0]] = row[1:4]
                elif line.endswith("left out)"):
                    self.junit_cut.add(name)

    def _read_markdown(self, text):
        """Of cases that need attention: metric, baseline, measured and change of what decides; and the lines about them."""
        self.markdown_rows = {}
        self.markdown_lines = {}
        case = None
        for line in text.splitlines():
            row = re.fullmatch(r"\| \*\*\w+\*\* \| (.+?) \| `(.+?)` \| (\w+) ([^,;|]+) → ([^,;|]+?)(?:[,;] .*)? \|", line)
            if row:
                self.markdown_rows[row[2]] = (row[3], row[4], row[5], html.unescape(row[1]))
            elif line.startswith("`"):
                case = line.split("`")[1]
            elif line.startswith("- "):
                self.markdown_lines.setdefault(case, []).append(html.unescape(line[2:]))

    def _read_html(self, page):
        """Of the data in the page: unit, baseline, measured, both and the change as texts, and interval."""
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
        self.html = {}
        for case in data["cases"]:
            for row in case.get("values", []):
                number, before, after, *texts, _verdict, _tolerance, interval = (row + [None] * 9)[:9]
                metric = data["metrics"][number]
                self.html[case["id"], metric["name"]] = (metric["unit"], before, after, texts, interval or "")
