# SPDX-License-Identifier: Apache-2.0
"""The wheel that ci/wheel packs: the same bytes each time, and pip installs what works in a venv, without network."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import test_python
import tool

WHEEL = tool.SOURCE / "ci" / "wheel"


class Wheel(tool.Case):
    def command(self, *words, code=0, **more):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True,
                              timeout=tool.PATIENCE_S, **more)
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def installed_tree(self):
        tree = self.folder / "tree"
        self.command("cmake", "--install", os.environ["PERFGATE_BUILD_DIR"], "--strip", "--prefix", tree)
        return tree

    def wheel(self, tree, version, out):
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        return self.folder / self.command(WHEEL, tree, version, out, env=environment).strip()

    def test_names_follow_the_version(self):
        tree = self.folder / "tree"
        module = tree / "lib/perfgate/python/perfgate"
        module.mkdir(parents=True)
        (module / "__init__.py").write_text("")
        for version, name in (("0.9.0", "0.9.0"), ("v0.9.0-rc1", "0.9.0rc1"), ("0.9.0+g0123456789ab", "0.9.0+g0123456789ab"),
                              ("0.9.0-3-gabc", "0.9.0+3.gabc")):
            self.assertEqual(f"perfgate-{name}-py3-none-manylinux_2_35_x86_64.whl", self.wheel(tree, version, "out").name)
        self.assertIn("no version", subprocess.run([WHEEL, tree, "nine", "out"], cwd=self.folder, capture_output=True,
                                                   text=True).stderr)
        compiled = tree / "share/__pycache__/kernels.pyc"
        compiled.parent.mkdir(parents=True)
        compiled.touch()
        with zipfile.ZipFile(self.wheel(tree, "1.0", "out")) as archive:
            self.assertFalse([name for name in archive.namelist() if name.endswith(".pyc")])
        (module / "__init__.py").unlink()
        self.assertNotEqual(0, subprocess.run([WHEEL, tree, "1.0", "out"], cwd=self.folder, capture_output=True).returncode)

    def test_it_is_installed_and_gates_without_root_and_network(self):
        tree = self.installed_tree()
        first = self.wheel(tree, "1.2.3", "first")
        moved = self.folder / "other place"
        shutil.copytree(tree, moved)
        self.assertEqual(first.read_bytes(), self.wheel(moved, "1.2.3", "second").read_bytes())
        shutil.rmtree(moved)
        shutil.rmtree(tree)  # nothing may look there
        with zipfile.ZipFile(first) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            self.assertEqual(len(names), len(set(names)))
            record = archive.read("perfgate-1.2.3.dist-info/RECORD").decode()
            self.assertEqual(sorted(names), sorted(line.split(",")[0] for line in record.splitlines()))

        venv = self.folder / "venv"
        self.command(sys.executable, "-m", "venv", "--system-site-packages", venv)
        self.command(venv / "bin/pip", "install", "--quiet", "--no-index", "--no-deps", first)
        environment = {"PATH": f"{venv}/bin:/usr/bin:/bin", "HOME": str(self.folder)}
        self.assertRegex(self.command(venv / "bin/perfgate", "--version", env=environment), r"perfgate \d")
        self.assertIn(str(venv), self.command(venv / "bin/python", "-c", "import perfgate; print(perfgate.__file__)", env=environment))

        said = self.command(venv / "bin/perfgate", "init", "--from", "torch", "project", env=environment)
        self.assertEqual([".gitignore", "kernels.py", "suites/kernels.yaml"], sorted(
            str(file.relative_to(self.folder / "project")) for file in (self.folder / "project").rglob("*") if file.is_file()))
        self.assertIn("  perfgate run suites/kernels.yaml", said)

        self.write("kernels.py", test_python.KERNELS)
        self.write("suites/python.yaml", re.sub(r"interpreter: .*", "interpreter: python3", test_python.SUITE))
        run = [venv / "bin/perfgate", "run", "suites/python.yaml", "--backend", "host", "--processes", "2"]
        self.command(*run, env=environment)
        self.write("kernels.py", test_python.KERNELS.replace("range(n)", "range(n - 1)"))
        self.command(*run, code=1, env=environment)
        self.check_pytest(venv, environment)

    def check_pytest(self, venv, environment):
        """Cases of a suite are tests; what is wrong fails, and what is right passes."""
        if subprocess.run([venv / "bin/python", "-c", "import pytest"], capture_output=True).returncode != 0:
            self.skipTest("needs pytest")
        pytest = [venv / "bin/python", "-m", "pytest", "-q", "--perfgate", "-p", "no:cacheprovider",
                  "--perfgate-args=--backend host --processes 2", "suites"]
        failed = self.command(*pytest, code=1, env=environment)
        self.assertIn("2 failed, 2 passed", failed.replace("skipped", "passed"))
        self.assertIn("double/loop", failed)
        self.assertEqual(2, sum(line.startswith("wrong result") for line in failed.splitlines()), failed)
        self.write("kernels.py", test_python.KERNELS)
        self.assertIn("4 skipped, 4 warnings", self.command(*pytest, env=environment))  # without a baseline nothing is decided
        self.command(*[word.replace("--processes 2", "--processes 2 --set no_baseline=fail") for word in map(str, pytest)],
                     code=1, env=environment)


if __name__ == "__main__":
    tool.main()
