# SPDX-License-Identifier: Apache-2.0
"""pytest --perfgate: suites as tests, one test a case, with perfgate's verdicts as outcomes.

perfgate runs once for each suite; the outcomes are those of the JUnit report that it writes. A case that the config's
policy lets go undecided is skipped, with a warning.
"""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path
from typing import Any, Iterator, List, Optional

import pytest

from ._command import binary, environment

# Verdicts that a person chose; what else is skipped was not decided.
CHOSEN = ("skipped", "acknowledged", "warned")


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("perfgate", "GPU performance gates")
    group.addoption("--perfgate", action="store_true", help="collect perfgate suites (*.yaml that name workloads)")
    group.addoption("--perfgate-args", default="", help="further arguments of `perfgate run`")


def pytest_collect_file(file_path: Path, parent: Any) -> Optional[pytest.Collector]:
    if not parent.config.getoption("--perfgate") or file_path.suffix not in (".yaml", ".yml"):
        return None
    text = file_path.read_text(encoding="utf-8", errors="replace")
    if "\nworkloads:" not in "\n" + text:
        return None
    return Suite.from_parent(parent, path=file_path)


class Suite(pytest.File):
    """The cases of a suite: those that a run of it reports."""

    def collect(self) -> Iterator[pytest.Item]:
        for reported in self.run():
            yield Case.from_parent(self, name=reported.get("name", "?"), reported=reported)

    def run(self) -> List[xml.etree.ElementTree.Element]:
        arguments = self.config.getoption("--perfgate-args").split()
        with tempfile.TemporaryDirectory(prefix="perfgate-pytest-") as out:
            ended = subprocess.run([str(binary()), "run", str(self.path), "--quiet", "--out", out, *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   env=environment(), check=False)
            report = Path(out) / "junit.xml"
            if not report.exists():
                raise self.CollectError(f"perfgate run {self.path}: exit code {ended.returncode}\n{ended.stdout}")
            cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
        if ended.returncode != 0 and not any(case.find(bad) is not None for case in cases
                                             for bad in ("failure", "error")):
            raise self.CollectError(f"perfgate run {self.path}: exit code {ended.returncode}\n{ended.stdout}")
        return cases


class Case(pytest.Item):
    """One case, with what the report says of it."""

    def __init__(self, *, reported: xml.etree.ElementTree.Element, **rest: Any) -> None:
        super().__init__(**rest)
        self._reported = reported

    def runtest(self) -> None:
        for kind in ("failure", "error"):
            found = self._reported.find(kind)
            if found is not None:
                message, text = found.get("message") or "", found.text or ""
                raise AssertionError(text if message in text else f"{message}\n{text}")
        skipped = self._reported.find("skipped")
        if skipped is not None:
            message = skipped.get("message") or "skipped"
            if self._verdict() not in CHOSEN:
                self.warn(pytest.PytestWarning(f"not decided, so neither passed nor failed: {message}"))
            pytest.skip(message)

    def _verdict(self) -> Optional[str]:
        """What the report says; None of a case that passed, and in JUnit's strict profile."""
        properties = {each.get("name"): each.get("value") for each in self._reported.iter("property")}
        return properties.get("verdict")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if excinfo.errisinstance(AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> Any:
        return self.path, int(self._reported.get("line") or 1) - 1, self.name
