# SPDX-License-Identifier: Apache-2.0
"""What pages give to be copied is built and run as it stands: a fence `file=NAME` is a file, a fence
`sh run=FOLDER` is run in that folder, byte for byte and in the page's order."""

import os
import re
import shutil
import subprocess
import unittest

import tool

FENCE = re.compile(r"^```(\w+) (file|run)=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(path for path in (*tool.SOURCE.glob("docs/*.md"), *tool.SOURCE.glob("*/README.md"),
                                 *tool.SOURCE.glob("harness/**/README.md"),
                                 *tool.SOURCE.glob("*.md")) if "node_modules" not in path.parts)


def snippets(text):
    """(language, "file" or "run", name, content) in the page's order."""
    return FENCE.findall(text)


class Snippets(tool.Case):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tool.installed(cls)

    def shell(self, text, folder):
        self.assertTrue(folder.is_dir(), folder)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, text=True,
                              capture_output=True, timeout=tool.PATIENCE_S * 3,
                              env={**os.environ, "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"})
        self.assertEqual(0, done.returncode, f"{text}\n{done.stdout}{done.stderr}")
        return done

    def test_every_page_does_what_it_says(self):
        run = 0
        for page in PAGES:
            for language, kind, name, content in snippets(page.read_text()):
                with self.subTest(page.name, kind=kind, name=name):
                    if kind == "file":
                        self.write(f"{page.stem}/{name}", content)
                        continue
                    self.assertEqual("sh", language)
                    if shutil.which("nvcc"):
                        self.shell(content, self.folder / page.stem / name)
                    run += 1
        self.assertGreaterEqual(run, 4)
        if not shutil.which("nvcc"):
            self.skipTest("needs nvcc: the commands of pages were not run")

    def test_plugins_of_one_host_file_verify(self):
        page = (tool.SOURCE / "docs/plugins.md").read_text()
        sources = [(name, content) for _, kind, name, content in snippets(page)
                   if kind == "file" and name.endswith(".cpp")]
        self.assertEqual(4, len(sources))
        for name, content in sources:
            stem = name.rpartition("/")[2].removesuffix(".cpp")
            self.write(name, content)
            for compiler in filter(shutil.which, ("g++", "clang++")):
                with self.subTest(name, compiler=compiler):
                    subprocess.run([compiler, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror",
                                    "-shared", "-fPIC", "-I", f"{self.prefix}/include/perfgate",
                                    "-o", f"{stem}.so", name], cwd=self.folder, check=True)
            variants = re.findall(r'host_variant<\w+>\("(\w+)"\)', content)
            workload = re.search(r'(?:one_workload\(|triple\.name = )"(\w+)"', content).group(1)
            self.write(f"{stem}.yaml", f"name: {stem}\nworkloads:\n  - workload: {workload}\n"
                                       f"    variants: [{', '.join(variants)}]\n"
                                       "    tolerances: {host_time: 50%}\n    params: {n: 3000000}\n"
                                       f"    deterministic: {str('outputs()' in content).lower()}\n")
            done = self.run_tool("run", f"{stem}.yaml", "--backend", "host", "--verify-only",
                                 "--plugin", f"{stem}.so")
            cases = self.read_json("perfgate-out/run.json")["suites"][0]["cases"]
            self.assertEqual(len(variants), len(cases))
            for case in cases:
                self.assertTrue(case["verification"]["passed"], done.stdout)
                self.assertEqual("outputs()" in content, "bit for bit" in case["verification"]["detail"])

    def test_an_edit_of_a_snippet_is_seen(self):
        text = "```sh run=.\nfalse\n```\n```cpp\nnot copied\n```\n"
        self.assertEqual([("sh", "run", ".", "false\n")], snippets(text))
        with self.assertRaises(AssertionError):
            self.shell("false\n", self.folder)


if __name__ == "__main__":
    tool.main()
