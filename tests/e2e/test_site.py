# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: ci/site builds every page, and each link between them leads to a page."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import tool

BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])


@unittest.skipUnless(shutil.which("npm"), "npm is missing: ci/test installs it")
class Site(tool.Case):
    def build(self, source, code=0):
        done = subprocess.run([source / "ci/site", self.folder / "site"], capture_output=True,
                              text=True, timeout=tool.PATIENCE_S,
                              env={**os.environ, "PERFGATE_SITE_DIR": str(BUILD / "site")})
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        return done

    def test_every_page_is_there_and_none_loads_from_elsewhere(self):
        self.build(tool.SOURCE)
        site = self.folder / "site"
        for page in ("index", "docs/index", "docs/command-line", "docs/programs", "suites/index",
                     "kernels/index", "ci/runner", "harness/gate/index"):
            self.assertTrue((site / f"{page}.html").exists(), page)
        front = (site / "index.html").read_text()
        self.assertIn("fails a CI job", front)
        for name in re.findall(r'href="(/[^"#]*\.html|/[^"#]*/)"', front):
            target = site / name.lstrip("/")
            self.assertTrue((target / "index.html" if name.endswith("/") else target).exists(), name)
        for page in site.rglob("*.html"):
            loaded = re.findall(r'(?:src|<link[^>]* href)="(https?:[^"]*)"', page.read_text())
            self.assertEqual([], loaded, page)
        self.assertTrue(list((site / "assets").rglob("*localSearchIndex*")), "there is no search")

    def test_a_link_to_a_page_that_is_absent_fails(self):
        source = self.folder / "source"
        for name in ("ci", "docs"):
            shutil.copytree(tool.SOURCE / name, source / name,
                            ignore=shutil.ignore_patterns("node_modules"))
        (source / "README.md").write_text("# perfgate\n\n[gone](docs/gone.md)\n")
        subprocess.run(["git", "init", "-q", source], check=True)
        self.assertIn("docs/gone", self.build(source, code=1).stderr)


if __name__ == "__main__":
    tool.main()
