# SPDX-License-Identifier: Apache-2.0
"""What pages give to be copied works as it stands: a fence `file=NAME` is a file, a fence `sh run=FOLDER` is run in
that folder, byte for byte and in the page's order; suites and parts of them are valid, and perfgate knows the words of
its commands."""

import os
import re
import shlex
import shutil
import subprocess
import textwrap
import unittest

import tool

FENCE = re.compile(r"^```(\w+) (file|run)=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(path for path in (*tool.SOURCE.glob("docs/*.md"), *tool.SOURCE.glob("*/README.md"),
                                 *tool.SOURCE.glob("harness/**/README.md"),
                                 *tool.SOURCE.glob("*.md")) if "node_modules" not in path.parts)

FENCES = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)

# The frame of a part of a suite, which replaces "...".
WHOLE = "..."
GEMM = """\
name: frame
workloads:
  - workload: gemm
    variants: [naive]
    params: {k: 64}
    tolerances: {gpu_time: 3%}
    ...
"""
SWIZZLED = """\
name: frame
defaults: {tolerances: {gpu_time: 3%}}
workloads:
  ...
    params: {rows: 512, cols: 512}
"""
OVERRIDDEN = """\
name: frame
defaults: {tolerances: {gpu_time: 3%}}
workloads:
  - {workload: gemm, variants: [naive], params: {n: 64, k: 64}, matrix: {m: [64, 4096]}}
  - {workload: gemm, variants: [naive], params: {m: 64, n: 64, k: 64}, cache: hot}
"""
SKIPPED = """\
name: frame
defaults: {tolerances: {gpu_time: 3%}}
workloads:
  - {workload: attention, variants: [flash_hopper], params: {batch: 4, heads: 16, sequence: 512}}
overrides:
  ...
"""
RELATED = """\
name: frame
defaults: {metrics: [core, gpu_span, ceiling_share], tolerances: {gpu_time: 3%}}
workloads:
  - {workload: transpose, variants: [naive, padded, swizzled], params: {rows: 512, cols: 512}}
  - workload: gemm
    variants: [hopper]
    params: {m: 512, n: 512, k: 512, dtype: bf16}
    matrix: {epilogue: [none, bias]}
  - {workload: interpolate, variants: [eager, fused], params: {gaussians: 10000}}
  - {workload: softmax, variants: [online], params: {rows: 512, width: 512}}
...
"""
DEFAULTS = """\
name: frame
workloads:
  - {workload: gemm, variants: [hopper], params: {m: 512, n: 512, k: 512, dtype: bf16}}
...
"""
SOURCE = """\
name: frame
defaults: {metrics: [gpu_time], tolerances: {gpu_time: 3%}}
workloads:
  - source: reduce.cu
    kernel: k
    launch: {grid: n, block: 64}
    arguments: [{out: f32, size: n}]
    matrix: {n: [1024]}
    ...
"""
COMMAND = """\
name: frame
workloads:
  - command: [./app]
    name: app
    ...
"""
HEALTHY = """\
name: frame
workloads:
  - command: [./app]
    name: app
    measure: {step: {nvtx: step}, decode: {nvtx: decode}}
    tolerances: {step.gpu_time: 2%}
    ...
"""
ENTRIES = "name: frame\nworkloads:\n  ...\n"
BENCHMARKS = """\
name: frame
workloads:
  - {benchmark: [./bench], name: bench, format: google-benchmark, tolerances: {real_time: 5%}}
  - {benchmark: [./solver], name: solver, format: hyperfine, tolerances: {real_time: 5%}}
...
"""
WORKFLOW = "workflow"

# Of each page the frames of its YAML, in its order.
FRAMES = {
    "README.md": [WHOLE, WHOLE, WHOLE],
    "suites/README.md": [WHOLE, GEMM, GEMM.replace("    params: {k: 64}\n", ""),
                         GEMM.replace("    variants: [naive]\n", "").replace("k: 64", "n: 64, k: 64"), SWIZZLED, OVERRIDDEN + "...", SKIPPED, RELATED],
    "docs/sources.md": [WHOLE, SOURCE, SOURCE],
    "docs/metrics.md": [DEFAULTS, DEFAULTS],
    "docs/programs.md": [WHOLE, COMMAND, COMMAND, HEALTHY, COMMAND, COMMAND],
    "docs/benchmarks.md": [WHOLE, ENTRIES, ENTRIES, ENTRIES, ENTRIES, ENTRIES, BENCHMARKS, WHOLE],
    "docs/moving.md": [WHOLE],
    "docs/back-to-back.md": [],
    "docs/github-actions.md": [WORKFLOW, WORKFLOW],
    "ci/runner.md": [WORKFLOW, WORKFLOW],
}


def snippets(text):
    """(language, "file" or "run", name, content) in the page's order."""
    return FENCE.findall(text)


def framed(part, frame):
    """Whole suites with this part. One that has a key several times shows alternatives."""
    part = textwrap.dedent(part)
    keys = re.findall(r"^(\w+):", part, re.MULTILINE)
    parts = part.splitlines() if len(keys) != len(set(keys)) else [part]
    indent = re.search(r"^( *)\.\.\.$", frame, re.MULTILINE).group(1)
    return [frame.replace(f"{indent}...", textwrap.indent(each.rstrip("\n"), indent)) + "\n" for each in parts]


def commands(text):
    """The words of each perfgate command in the fences of a page."""
    found = []
    for language, content in FENCES.findall(text):
        if language in ("yaml", "cpp", "cmake"):
            continue
        for line in re.findall(r"^ *(?:\$ )?(?:\S*/)?perfgate ([^:\n]*(?:\\\n[^\n]*)*)$", content, re.MULTILINE):
            found.append(shlex.split(line.replace("\\\n", " "), comments=True))
    return found


class Suites(tool.Case):
    """The suites of pages, and parts of them."""

    def setUp(self):
        super().setUp()
        self.write("reduce.cu", "template <int threads> __global__ void block_reduce(const float*, float*, int) {}\n"
                                "__global__ void reference(const float*, float*, int) {}\n")

    def suites(self):
        """(page, number, suite) of each fence with YAML."""
        for page, frames in FRAMES.items():
            parts = [content for language, content in FENCES.findall((tool.SOURCE / page).read_text())
                     if language == "yaml"]
            self.assertEqual(len(frames), len(parts), f"{page}: FRAMES needs a frame for each")
            for number, (part, frame) in enumerate(zip(parts, frames)):
                if frame != WORKFLOW:
                    yield from ((page, number, suite) for suite in framed(part, frame))

    def validate(self, suite, code=0):
        # Without a compiler nothing is valid for an architecture.
        self.write("s.yaml", suite if tool.has_nvrtc() else re.sub(r"(?m)^ *architectures:.*\n", "", suite))
        return self.run_tool("validate", "s.yaml", code=code)

    def test_are_valid(self):
        for page, number, suite in self.suites():
            with self.subTest(page, number=number):
                self.validate(suite)

    def test_a_wrong_letter_in_a_key_is_seen(self):
        keys = []
        for _, _, suite in self.suites():
            suite = re.sub(r"(^| +)#.*", "", suite)
            for key in re.finditer(r"(?<![\w\"{}./*\[-])([a-z_]+): ?(?=[\w\[{\"\n.])", suite):
                self.write(f"s{len(keys)}.yaml", f"{suite[:key.end(1) - 1]}q{suite[key.end(1):]}")
                keys.append(key.group(1))
        done = self.run_tool("validate", *(f"s{number}.yaml" for number in range(len(keys))), code=2)
        refused = {int(number) for number in re.findall(r"^perfgate: s(\d+)\.yaml:\d", done.stderr, re.MULTILINE)}
        not_seen = {key for number, key in enumerate(keys) if number not in refused}
        # Its user gives an axis of maps its name, and an axis of a table.
        self.assertEqual({"size", "x"}, not_seen)

    def test_actions_have_the_inputs_that_workflows_give(self):
        used = 0
        for page in FRAMES:
            for action, given in re.findall(r"uses: \S*\bci/(\w+)[@ \n].*\n? *with:\n((?:  +[\w-]+: .*\n)+)",
                                            (tool.SOURCE / page).read_text()):
                inputs = (tool.SOURCE / f"ci/{action}/action.yml").read_text().partition("\noutputs:")[0]
                known = set(re.findall(r"^  ([a-z-]+):$", inputs, re.MULTILINE))
                self.assertLessEqual(set(re.findall(r"^ *([\w-]+):", given, re.MULTILINE)), known)
                used += 1
        self.assertEqual(2, used)


class Commands(tool.Case):
    """The commands of pages, whose words the parser knows."""

    def test_are_known(self):
        count = 0
        for page in PAGES:
            for words in commands(page.read_text()):
                with self.subTest(page.relative_to(tool.SOURCE), words=words):
                    self.assertEqual("", tool.refused_words(words))
                count += 1
        self.assertGreater(count, 25)

    def test_a_wrong_letter_is_seen(self):
        for page in PAGES:
            for words in commands(page.read_text()):
                end = words.index("--") if "--" in words else len(words)
                for at, word in enumerate(words[:end]):
                    if at == 0 or word.startswith("--"):
                        option, given, value = word.partition("=")
                        wrong = [*words[:at], f"{option[:-1]}~{given}{value}", *words[at + 1:]]
                        self.assertNotEqual("", tool.refused_words(wrong), words)


class Snippets(tool.Case):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tool.installed(cls)

    def shell(self, text, folder):
        self.assertTrue(folder.is_dir(), folder)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, text=True,
                              capture_output=True, timeout=tool.PATIENCE_S * 3,
                              env={**os.environ, **tool.ONE_ARCHITECTURE,
                                   "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"})
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
        self.assertGreaterEqual(run, 3)
        if not shutil.which("nvcc"):
            self.skipTest("needs nvcc: the commands of pages were not run")

    def test_plugins_of_one_host_file_verify(self):
        page = (tool.SOURCE / "docs/plugins.md").read_text()
        sources = [(name, content) for _, kind, name, content in snippets(page)
                   if kind == "file" and name.endswith(".cpp")]
        self.assertEqual(2, len(sources))
        for name, content in sources:
            stem = name.rpartition("/")[2].removesuffix(".cpp")
            self.write(name, content)
            compilers = [["g++", "-O1", "-shared", "-fPIC", "-o", f"{stem}.so"], ["clang++", "-fsyntax-only"]]
            for compiler in (words for words in compilers if shutil.which(words[0])):
                with self.subTest(name, compiler=compiler):
                    subprocess.run([*compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I",
                                    f"{self.prefix}/include/perfgate", name], cwd=self.folder, check=True)
            variants = re.findall(r'host_variant<\w+>\("(\w+)"\)', content)
            workload = re.search(r'(?:one_workload\(|multiply\.name = )"(\w+)"', content).group(1)
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
