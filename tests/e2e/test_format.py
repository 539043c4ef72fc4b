# SPDX-License-Identifier: Apache-2.0
"""The sources are formatted: clang-format of the version that ci/lib.sh names finds nothing."""

import os
import re
import shutil
import subprocess

import tool

FOLDERS = ("harness", "kernels", "tests", "cmake")
ENDINGS = (".cpp", ".hpp", ".h", ".cu", ".cuh")
VERSION = re.search(r"^clang_format_version=(\d+)$", (tool.SOURCE / "ci/lib.sh").read_text(), re.MULTILINE)[1]


class Format(tool.Case):
    def setUp(self):
        super().setUp()
        self.program = shutil.which(f"clang-format-{VERSION}")
        if self.program:
            return
        if os.environ.get("CI") == "true":
            self.fail(f"clang-format-{VERSION} is missing: ci/test installs it")
        self.skipTest(f"clang-format-{VERSION} is missing: ci/test installs it")

    def check(self, files):
        return subprocess.run([self.program, "--dry-run", "-Werror", "--style=file", *files],
                              capture_output=True, text=True, cwd=tool.SOURCE)

    def test_finds_a_line_that_is_not_formatted(self):
        bad = self.write("bad.cpp", "int  main( ) { return 0 ; }\n")
        shutil.copy(tool.SOURCE / ".clang-format", self.folder)
        self.assertEqual(1, self.check([bad]).returncode)

    def test_of_the_sources(self):
        files = [path for folder in FOLDERS for path in (tool.SOURCE / folder).rglob("*")
                 if path.suffix in ENDINGS and "node_modules" not in path.parts]
        self.assertGreater(len(files), 300)
        done = self.check(files)
        self.assertEqual(0, done.returncode, f"run ci/lint --fix\n{done.stderr[:4000]}")


if __name__ == "__main__":
    tool.main()
